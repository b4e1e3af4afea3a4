//! CloudFormation templates: what waits for what, for every choice of parameters, and whether the stack can be made.
//!
//! Reads YAML and JSON through `setpoint_data`, unrolls loops and the common types of the serverless transform, turns
//! conditions into logic and references into a graph, and looks for cycles, documented orders that are missing,
//! references that a condition removes, signals that never come. It creates nothing and asks no service.

mod addresses;
mod artifacts;
mod assembly;
mod checks;
mod conditions;
mod cycles;
pub mod draw;
mod endings;
mod expressions;
mod fix;
mod foreach;
mod functions;
mod graph;
mod hazards;
mod instance;
mod naming;
mod nested;
mod omission;
mod parameters;
mod patterns;
mod properties;
mod sam;
mod same_names;
mod sat;
mod shapes;
mod system;
mod template;
mod text;
mod types;
mod update;
mod value;

pub use assembly::{Assembly, assembly, is_assembly};
pub use graph::{Edge, Graph, Via};
pub use hazards::{HAZARDS, Hazard};
pub use instance::instance;
pub use nested::{Checked, Options, check};
pub use omission::{Omission, Omitted};
pub use parameters::Given;
pub use sam::Made;
pub use system::check_together;
pub use template::{Parameter, Resource, Template};
pub use update::{Change, Update, update};
pub use value::{Guard, Value, ValueKind};

use setpoint_data::{Entry, Kind, Node, Style};
use setpoint_source::{
    Basis, Class, Coverage, Diagnostic, FileId, Gap, Judgement, Nouns, Range, Reached, Reason, Rule,
    Severity, Sources, Standing, Symbol, Witness,
};

use crate::conditions::Logic;
use crate::graph::Stack;

/// What is known about a template.
#[derive(Debug)]
pub struct Analysis {
    pub template: Template,
    pub graph: Graph,
    pub findings: Vec<Diagnostic>,
    /// Whether creation always comes to its end. Nested stacks count only where [`check`] reads them.
    pub reaches_final: Judgement,
    pub coverage: Coverage,
    /// What the findings say about the creation.
    judged: Judgement,
}

impl Analysis {
    /// Concludes from the findings and from what was passed over.
    fn conclude(&mut self) {
        let reasons = self.template.omissions.iter().map(|omission| omission.reason(self.template.file));
        self.reaches_final = reasons.fold(self.judged.clone(), Judgement::doubt);
    }

    /// Whether all of the template and of its nested stacks was read and has a model, whatever else has to be assumed.
    pub fn is_whole(&self) -> bool {
        self.reaches_final.reasons().iter().all(|reason| matches!(reason.gap, Gap::Assumed | Gap::Undecided))
    }

    /// Adds a finding that stops the creation.
    fn refute(&mut self, finding: Diagnostic) {
        self.judged = self.judged.clone().and(Judgement::refuted(Witness::of(&finding)));
        self.findings.push(finding);
    }

    /// Adds a finding that stops the creation if an assumption of the answer holds.
    fn suspect(&mut self, finding: Diagnostic) {
        self.judged = self.judged.clone().doubt(Reason::of(Gap::Undecided, &finding));
        self.findings.push(finding.severity(Severity::Warning));
    }
}

/// Whether a text is a template, or was meant to be one: the sections stand at its top. Schemas, events and the files of other
/// tools have them further inside, or have other things below these names.
pub fn is_template_text(file: FileId, text: &str) -> bool {
    let at_top = |section: &str| text.lines().any(|line| line.starts_with(section));
    if at_top("AWSTemplateFormatVersion:") {
        return true;
    }
    let names_type = text.contains("AWS::") || text.contains("Custom::");
    if !names_type && !at_top("Resources:") && !text.contains("AWSTemplateFormatVersion") {
        return false;
    }
    let document = setpoint_data::read(file, text);
    let Some(root) = document.root.filter(|root| root.is_mapping() && document.diagnostics.is_empty()) else {
        return at_top("Resources:") || text.contains("AWSTemplateFormatVersion");
    };
    let is_transformed =
        root.get("Transform").and_then(Node::text).is_some_and(|name| name.starts_with("AWS::"));
    match root.get("Resources") {
        // A table of types has their names below it, and the deployment of code a list.
        Some(resources) if resources.is_mapping() => {
            let is_name = |key: &str| key.contains("::") && !key.starts_with("Fn::");
            let is_type = |entry: &Entry| entry.key.text().is_some_and(is_name);
            resources.entries().is_empty() || !resources.entries().iter().all(is_type)
        }
        Some(_) => root.get("version").is_none(),
        None => is_transformed || root.get("AWSTemplateFormatVersion").is_some(),
    }
}

/// Reads a file and analyses it. The creation is proved to come to its end only if all of the file was read and understood
/// and no finding says otherwise.
pub fn analyse(file: FileId, sources: &Sources) -> Analysis {
    analyse_with(file, sources, &Given::default())
}

/// As [`analyse`], with values for the parameters.
pub(crate) fn analyse_with(file: FileId, sources: &Sources, given: &Given) -> Analysis {
    let source = sources.file(file);
    let document = setpoint_data::read(file, source.text());
    let nothing = Node {
        range: Range::default(),
        tag: None,
        kind: Kind::Scalar { text: "".into(), style: Style::Plain },
    };
    let mut template =
        Template::read(file, source.shared_text(), document.root.as_ref().unwrap_or(&nothing), given);
    for finding in &document.diagnostics {
        let place = finding.span.map(|span| span.range).unwrap_or_default();
        template.omit(Omitted::Data(finding.message.clone(), finding.rule), place);
    }
    if !document.diagnostics.is_empty() {
        // What looks like nothing may be what could not be read.
        template.omissions.retain(|omission| omission.what != Omitted::Null);
    }
    if let Some(second) = document.second {
        template.omit(Omitted::SecondDocument, second);
    }
    if let Some(alias) = document.alias {
        template.omit(Omitted::Alias, alias);
    }
    if template.omissions.iter().any(Omission::is_cut_off) {
        // What looks malformed beside that may be the rest that was not read.
        template.omissions.retain(Omission::is_cut_off);
        return cut_off(template, document.diagnostics);
    }
    let graph = Graph::new(&template);
    let logic = Logic::new(&template);
    let stack = Stack { template: &template, graph: &graph, logic: &logic };
    let opaque = template.is_opaque();
    // `beside` are findings that do not concern the creation.
    let (mut findings, mut beside, mut open) = (Vec::new(), Vec::new(), Vec::new());
    // What was passed over may define the name.
    if !opaque {
        checks::unknown_names(&stack, &mut findings, &mut open);
    }
    cycles::check(&stack, &mut findings);
    checks::signals(&stack, opaque, &mut findings, &mut open);
    checks::removed_references(&stack, &mut findings);
    expressions::check(&stack, &mut findings, &mut open);
    same_names::check(&stack, &mut findings, &mut open);
    addresses::check(&stack, &mut findings);
    endings::check(&stack, opaque, &mut findings, &mut beside);
    hazards::check(&stack, &mut findings, &mut beside, &mut open);
    checks::deletion(&stack, &mut findings);
    checks::redundant_depends_on(&stack, &mut findings);
    if let Some(rule) = template.rules.first().filter(|_| !opaque && !logic.is_consistent()) {
        let message = "no choice of parameters satisfies all `Rules`: no stack is ever made";
        let finding = Diagnostic::new(Rule::InvalidValue, message).severity(Severity::Error);
        findings.push(finding.at(template.span(rule.range)));
    }
    template.omissions.append(&mut open);
    let coverage = coverage(&template);
    findings.extend(given.check(&template));
    let judged = judge(&findings, template.is_serverless());
    findings.append(&mut beside);
    let mut all: Vec<Diagnostic> =
        template.omissions.iter().filter_map(|omission| omission.finding(file)).collect();
    all.extend(document.diagnostics);
    all.append(&mut findings);
    name_constructs(&template, &mut all);
    let mut analysis =
        Analysis { template, graph, findings: all, reaches_final: judged.clone(), coverage, judged };
    analysis.conclude();
    analysis
}

/// Names the CDK constructs of the resources that a finding is about: people look for these, not for logical names.
fn name_constructs(template: &Template, findings: &mut [Diagnostic]) {
    for finding in findings {
        let named = finding.resources.iter().filter_map(|name| {
            let construct = template.resources.get(&Symbol::new(name))?.construct()?;
            Some(format!("`{name}` is the construct {construct}."))
        });
        let notes: Vec<String> = named.collect();
        for note in notes {
            finding.note(note);
        }
    }
}

/// The analysis of a template of which a limit left out a part: nothing is asked of the rest.
fn cut_off(template: Template, findings: Vec<Diagnostic>) -> Analysis {
    let proved = Judgement::Proved(Basis::nothing());
    let mut analysis = Analysis {
        graph: Graph::new(&template),
        coverage: coverage(&template),
        template,
        findings,
        reaches_final: proved.clone(),
        judged: proved,
    };
    analysis.conclude();
    analysis
}

/// Returns what findings say about the creation of a stack: an error refutes that it comes to its end; a signal or an order
/// that may be missing leaves it open.
fn judge(findings: &[Diagnostic], is_serverless: bool) -> Judgement {
    let transform = is_serverless.then_some(Standing::TransformAccepts);
    let standing = [Standing::ServiceFollowsRules, Standing::CreationSucceeds].into_iter().chain(transform);
    let proved = Judgement::Proved(Basis::of(standing));
    findings.iter().fold(proved, |known, finding| match (finding.severity, finding.rule) {
        (Severity::Error, rule) if rule.class() == Class::Defect => {
            known.and(Judgement::refuted(Witness::of(finding)))
        }
        (_, Rule::NeverSignalled | Rule::MissingDependsOn) => {
            known.doubt(Reason::of(Gap::Undecided, finding))
        }
        _ => known,
    })
}

/// Counts the template, and those of its resources in which nothing was passed over.
fn coverage(template: &Template) -> Coverage {
    let mut coverage =
        Coverage::new(Nouns { sources: "templates", definitions: "types", resources: "resources" });
    coverage.sources.add(true, !template.omissions.iter().any(|one| matches!(one.what, Omitted::Data(..))));
    let mut places: Vec<u32> = template.omissions.iter().map(|one| one.range.start).collect();
    places.sort_unstable();
    let is_whole = |resource: &&Resource| {
        let next = places.partition_point(|&place| place < resource.name_range.start);
        places.get(next).is_none_or(|&place| place >= resource.range.end)
    };
    let own = || template.resources.values().filter(|resource| resource.made_from.is_none());
    let left_out = template.omissions.iter().filter(|one| one.leaves_out_resource()).count();
    coverage.resources = Reached::new(own().filter(is_whole).count(), own().count() + left_out);
    coverage.assumptions = template.omissions.iter().filter(|one| one.is_assumption()).count();
    coverage
}
