//! Whether a project or a catalog is right: every analysis, and the verdict.

use std::collections::BTreeSet;
use std::path::Path;

use setpoint_catalog::findings::System;
use setpoint_catalog::graph::{self, Graph, Types};
use setpoint_catalog::ruby_types::ModuleTypes;
use setpoint_catalog::{Catalog, Resource, ResourceId, findings, read};
use setpoint_config::Config;
use setpoint_data::Node;
use setpoint_packages::Platform;
use setpoint_puppet::{Compilation, CompileGap, CompileGapKind};
use setpoint_puppet_values::{Hash, Value, to_text};
use setpoint_settle::{NextRun, Simulation, Turn};
use setpoint_source::{
    Basis, Class, Coverage, Diagnostic, Drawing, FileId, Gap, InputReport, Judgement, Nouns, Question, Range,
    Reason, Reasons, Rule, Severity, Sources, Symbol, Verdict, Witness,
};

use crate::entries::EntryClasses;
use crate::flows;
use crate::jobs::{Job, Origin, Plan};
use crate::options::Options;
use crate::project::{Kind, Project};
use crate::run;
use crate::session::{Session, UsageError};
use crate::settle::{self, Surroundings};
use crate::sibling::Home;
use crate::survey::{NOUNS, survey};

/// Compiles and judges every job of a project.
pub fn check(session: &Session<'_>, path: &Path, options: &Options) -> Result<Vec<InputReport>, UsageError> {
    let project = Project::open(session, path, options)?;
    let mut plan = project.plan()?;
    let threads = run::threads(session.jobs);
    let surroundings =
        Surroundings::new(session, project.environment.modulepath(), &project.config, options)?
            .with_threads(threads, plan.jobs.len());
    let analyse = |job: &Job, compilation: &Compilation, report: &mut InputReport| {
        analyse(&project, &surroundings, job, compilation, report);
    };
    let mut checked = run::all(&project, &mut plan.jobs, threads, analyse);
    let survey = survey(&project);
    if project.may_have_other_nodes(&plan, &checked) {
        let steps: [Step<'_>; 4] = [
            &|entered, plan| project.plan_data(&survey, entered, plan),
            &|entered, plan| project.plan_classes(&survey, entered, EntryClasses::Roles, plan),
            &|entered, plan| project.plan_classes(&survey, entered, EntryClasses::Unnamed, plan),
            &|entered, plan| project.plan_classes(&survey, entered, EntryClasses::Others, plan),
        ];
        for step in steps {
            let known = plan.jobs.len();
            let entered = checked.iter().flat_map(run::Checked::entered).cloned().collect();
            step(&entered, &mut plan)?;
            checked.extend(run::all(&project, &mut plan.jobs[known..], threads, analyse));
        }
    }
    let about = run::conclude(&project, &plan, &survey, &mut checked);
    Ok(run::reports(&project, &plan, checked, survey, about))
}

/// Adds jobs for code that was not entered yet.
type Step<'s> = &'s dyn Fn(&BTreeSet<String>, &mut Plan) -> Result<usize, UsageError>;

impl Project<'_> {
    /// Whether the repository may well have nodes that lead elsewhere than those that are known: of one of them facts had to be
    /// assumed, or none has a resource.
    fn may_have_other_nodes(&self, plan: &Plan, checked: &[run::Checked]) -> bool {
        let given = &self.options.puppet;
        let is_asked = given.node.is_some() || given.nodes.is_some() || given.case.is_some();
        let is_open = |job: &Job| job.origin == Origin::Node && job.node.platform.is_some();
        let is_repository = matches!(self.kind, Kind::Repository { .. });
        !is_asked
            && is_repository
            && (plan.jobs.iter().any(is_open) || checked.iter().all(run::Checked::is_empty))
    }
}

/// Every analysis of a catalog, and the verdict.
pub(crate) fn analyse(
    project: &Project<'_>,
    surroundings: &Surroundings<'_>,
    job: &Job,
    compilation: &Compilation,
    report: &mut InputReport,
) {
    let Some(catalog) = &compilation.catalog else {
        conclude_without_catalog(job, compilation, report);
        return;
    };
    let Ok(home) = project.home(&job.node) else { return };
    if let Home::There(other) = &home {
        let message =
            format!("The classifier puts {} into the environment {}", job.node.name, other.environment.name);
        report.findings.push(Diagnostic::new(Rule::OtherEnvironment, message));
    }
    let platform = settle::platform(job.node.platform.as_deref(), &job.node.facts);
    let mut gaps: Vec<Reason> = compilation.gaps.iter().map(reason_of_gap).collect();
    gaps.extend(job.node.assumed.iter().cloned());
    gaps.extend(project.assumed_environment(&job.node));
    gaps.extend(project.assumed_hierarchy());
    gaps.extend(home.environment.types_not_understood(catalog).into_iter().map(|path| {
        Reason::new(Gap::NotModelled, "the file declares a type in Ruby that is not understood")
            .in_file(path.display().to_string())
    }));
    gaps.extend(home.environment.replaced_types(catalog).into_iter().map(|(name, path)| {
        let words = format!("the file declares the type `{name}` anew, in the place of Puppet's own");
        Reason::new(Gap::NotModelled, words).in_file(path.display().to_string())
    }));
    let own = |path: &str| home.owns(Path::new(path));
    let surroundings = &surroundings.with_modules(home.environment.modulepath());
    let types = home.environment.module_types();
    let sources = &project.session.sources;
    let system = settle::system(job.node.platform.as_deref(), &job.node.facts);
    Subject { catalog, types, surroundings, platform, system, sources }.judge(&own, report);
    // After the verdict: an agent applies a catalog in which values flow where they should not.
    let policies = &project.config.policies;
    report.findings.extend(flows::find(compilation, catalog, sources, &job.node.facts, policies));
    for reason in &gaps {
        report.doubt(reason);
    }
    for (of, path) in home.environment.module_providers(catalog) {
        let words = format!(
            "a module brings a provider of `{of}` that Puppet may choose, and what it does is not known"
        );
        let reason = Reason::new(Gap::NotModelled, words).in_file(path.display().to_string());
        for question in [Question::Order, Question::Idempotent, Question::Quiet, Question::Convergent] {
            report.doubt_answer(question, reason.clone());
        }
    }
    count_assumptions(report);
}

/// Counts the assumptions that the answers name: no more and no less are told of.
fn count_assumptions(report: &mut InputReport) {
    let named = report.verdict().reasons().iter().filter(|(reason, _)| reason.gap == Gap::Assumed).count();
    if let Some(coverage) = &mut report.coverage {
        coverage.assumptions = named;
    }
}

/// Returns notes of what a compilation passed over, for commands that give no verdict.
pub fn assumed_by(compilation: &Compilation) -> Vec<Diagnostic> {
    let gaps = compilation.gaps.iter().map(|gap| (reason_of_gap(gap).words, gap.span));
    let told = gaps.map(|(words, span)| {
        let note = Diagnostic::new(Rule::Assumption, format!("assumed: {words}")).severity(Severity::Note);
        match span {
            Some(span) => note.at(span),
            None => note,
        }
    });
    told.collect()
}

/// What a compilation passed over, as what is assumed of it.
fn reason_of_gap(gap: &CompileGap) -> Reason {
    let words = match &gap.kind {
        CompileGapKind::NotComputed(reason) => {
            format!("this call, which was not computed ({reason}), succeeds")
        }
        CompileGapKind::OtherNodes => {
            "no node, this one included, exports what this collector takes".to_owned()
        }
        CompileGapKind::UnreadData(place) => format!("no value that counts comes from {place}"),
        CompileGapKind::AbsentFact(words) => words.clone(),
    };
    Reason::new(Gap::Assumed, words).at(gap.span)
}

/// Concludes about a node that has no catalog: what Setpoint itself could not do refutes nothing.
pub(crate) fn conclude_without_catalog(job: &Job, compilation: &Compilation, report: &mut InputReport) {
    let failures = &compilation.failures;
    let is_own_limit = !failures.is_empty() && failures.iter().all(|one| one.kind.is_limit_of_setpoint());
    let mut errors = report.findings.iter().filter(|finding| finding.severity == Severity::Error).peekable();
    let answer = match errors.peek() {
        None => Judgement::unknown(Reason::new(Gap::Undecided, "it was not compiled")),
        Some(first) if !is_own_limit => Judgement::refuted(Witness::of(first)),
        Some(first) => {
            let reasons = failures.iter().map(|failure| {
                let gap = if failure.kind.is_bound_of_setpoint() { Gap::Limit } else { Gap::NotModelled };
                Reason::of(gap, &failure.to_diagnostic())
            });
            let reasons = Reasons::from_vec(reasons.collect());
            Judgement::Unknown(reasons.unwrap_or_else(|| Reasons::new(Reason::of(Gap::NotModelled, first))))
        }
    };
    if is_own_limit && job.origin != Origin::Example {
        for finding in report.findings.iter_mut().filter(|finding| finding.severity == Severity::Error) {
            finding.severity = Severity::Warning;
        }
    }
    report.conclude(Verdict::of(Question::Catalog, answer));
}

/// A catalog, whoever compiled it, and all that its analyses need.
#[derive(Clone, Copy)]
#[allow(missing_debug_implementations, reason = "the types and surroundings have no such form")]
pub struct Subject<'a> {
    pub catalog: &'a Catalog,
    pub types: &'a dyn Types,
    pub surroundings: &'a Surroundings<'a>,
    pub platform: Option<Platform>,
    pub system: System,
    pub sources: &'a Sources,
}

impl Subject<'_> {
    /// What is wrong with a catalog before anything is applied; if nothing is, whether it settles.
    pub fn judge(&self, may_change: &dyn Fn(&str) -> bool, report: &mut InputReport) {
        let Self { catalog, types, surroundings, platform, sources, .. } = *self;
        let graph = Graph::new(catalog, types);
        if let (Ok(graph), Some(limit)) = (&graph, surroundings.drawn) {
            let mut diagram = graph::diagram(graph, catalog);
            // Reports name the node beside it, and nodes with the same resources share one.
            "Resources".clone_into(&mut diagram.title);
            report.drawing = Some(Drawing::within(limit, diagram));
        }
        let refusals = findings::of_conversion(catalog, types, self.system);
        report.findings.extend(refusals.findings);
        report.findings.extend(findings::of_graph(catalog, &graph));
        let error = report.findings.iter().find(|finding| finding.severity == Severity::Error);
        let fails = error.is_some();
        let answer = error.map_or_else(
            || Judgement::Proved(Basis::nothing()),
            |finding| Judgement::refuted(Witness::of(finding)),
        );
        let mut verdict = Verdict::of(Question::Catalog, answer);
        // The paper's semantics knows nothing of what an agent refuses.
        if self.system == System::Windows && !fails {
            let unknown = Reason::new(Gap::NotModelled, "what resources do on Windows is not known");
            for question in [Question::Order, Question::Idempotent, Question::Quiet, Question::Convergent] {
                verdict.give(question, Judgement::unknown(unknown.clone()));
            }
        } else if let Ok(graph) = &graph
            && (!fails || surroundings.is_paper())
        {
            let settled = surroundings.settle(sources, catalog, graph, types, platform, may_change);
            for (question, answer) in settled.verdict.iter() {
                verdict.give(question, answer.clone());
            }
            report.findings.extend(settled.findings);
            let coverage = report.coverage.get_or_insert_with(|| Coverage::new(NOUNS));
            coverage.resources = settled.resources;
        }
        report.findings.extend(self.missing_sources());
        self.doubt_unknown_values(&mut verdict, report);
        let unknown = self.doubt_unknown_types(&mut verdict);
        if let Some(coverage) = &mut report.coverage {
            coverage.resources.found += unknown;
        }
        for (words, place) in refusals.doubts {
            verdict.doubt(&Reason::new(Gap::NotModelled, words).at(place));
        }
        report.conclude(verdict);
        count_assumptions(report);
        catalog.note_secrets(sources.secrets());
        report.mask(sources.secrets());
    }

    /// Files whose sources are all missing from modules that are there: the agent fails at each.
    fn missing_sources(&self) -> Vec<Diagnostic> {
        let files = self.catalog.iter().map(|(_, resource)| resource);
        let files = files.filter(|one| one.type_name.as_str() == "File" && !one.virtual_);
        let is = |resource: &Resource, name: &str, value: &str| {
            resource.get(name).is_some_and(|given| &*to_text(given) == value)
        };
        // An absent file has no content, and one that is not replaced may be there already.
        let files = files.filter(|one| !is(one, "ensure", "absent") && !is(one, "replace", "false"));
        files
            .filter_map(|resource| {
                let source = resource.get("source")?;
                let given = source.as_array().unwrap_or(std::slice::from_ref(source));
                let addresses: Vec<&str> = given.iter().filter_map(Value::as_str).collect();
                let is_lacking = !addresses.is_empty()
                    && addresses.len() == given.len()
                    && addresses.iter().all(|address| self.surroundings.lacks_source(address))
                    // The name of the node may be made up.
                    && !addresses.iter().any(|address| address.contains(&*self.catalog.name));
                let message =
                    format!("{resource} fails in every run: {} is not there", addresses.join(" or "));
                let found = Diagnostic::new(Rule::AlwaysFails, message).severity(Severity::Error);
                let found = match resource.span {
                    Some(span) => found.at(span),
                    None => found,
                };
                is_lacking.then(|| found.with_help("Add the file to the folder `files` of the module."))
            })
            .collect()
    }

    /// A resource of a type that nobody knows and that contains nothing may be an empty define, or a native type that is not here.
    /// Returns how many there are.
    fn doubt_unknown_types(&self, verdict: &mut Verdict) -> usize {
        let mut unknown = 0;
        let containers: BTreeSet<ResourceId> = self.catalog.edges.iter().map(|(from, _)| *from).collect();
        for (id, resource) in self.catalog.iter() {
            let is_unknown = resource.kind.is_none()
                && !["Class", "Stage", "Node"].contains(&resource.type_name.as_str())
                && self.types.native(resource.type_name.as_str()).is_none()
                && !containers.contains(&id);
            let native = self.types.native(resource.type_name.as_str());
            if native.is_some_and(|native| native.open && native.attributes.is_empty()) {
                let words = format!("the Ruby of the type of {} cannot be read", resource.reference());
                verdict.doubt(&Reason::new(Gap::NotModelled, words).at(resource.span));
            }
            if is_unknown {
                unknown += 1;
                let words = format!("nothing is known of the type of {}", resource.reference());
                verdict.doubt(&Reason::new(Gap::NotModelled, words).at(resource.span));
            }
        }
        unknown
    }

    /// Values that were not computed leave every answer open. That a content nobody knows differs from start to start shows
    /// nothing.
    fn doubt_unknown_values(&self, verdict: &mut Verdict, report: &mut InputReport) {
        for (_, resource) in self.catalog.iter() {
            let unknown = resource
                .parameters
                .iter()
                .find_map(|parameter| Some((parameter.name, parameter.value.why_unknown()?)));
            let Some((name, why)) = unknown else { continue };
            let words = format!(
                "`{name}` of {}, which is not known ({why}), is valid and the same in every run",
                resource.reference()
            );
            let reason = Reason::new(Gap::Assumed, words).at(resource.span);
            let is_shown_here =
                |finding: &Diagnostic| finding.rule == Rule::NotConvergent && finding.span == resource.span;
            if report.findings.iter().any(is_shown_here) {
                report.findings.retain(|finding| !is_shown_here(finding));
                verdict.replace(Question::Convergent, Judgement::unknown(reason.clone()));
            }
            verdict.doubt(&reason);
            if let Some(coverage) = &mut report.coverage {
                coverage.resources.reached = coverage.resources.reached.saturating_sub(1);
            }
        }
    }

    /// Returns what the first run of this catalog does on a node that had the old one; findings instead, if an agent
    /// refuses one of them.
    pub fn next_run(&self, old: &Self) -> Result<Result<NextRun, Vec<Diagnostic>>, UsageError> {
        let (old_graph, graph) = match (old.graph_of_run(), self.graph_of_run()) {
            (Ok(old), Ok(new)) => (old, new),
            (Err(findings), _) | (_, Err(findings)) => return Ok(Err(findings)),
        };
        let run = old.ask(&old_graph, |old| self.ask(&graph, |new| setpoint_settle::next_run(old, new)));
        let Some(mut run) = run else { return Err(no_start()) };
        for side in [old, self] {
            side.catalog.note_secrets(side.sources.secrets());
            run.mask(side.sources.secrets());
        }
        Ok(Ok(run))
    }

    /// Returns the graph that an agent applies; findings instead, if it refuses the catalog.
    fn graph_of_run(&self) -> Result<Graph, Vec<Diagnostic>> {
        let refused = findings::of_conversion(self.catalog, self.types, self.system).findings;
        // The paper's semantics knows nothing of what an agent refuses.
        if !refused.is_empty() && !self.surroundings.is_paper() {
            return Err(refused);
        }
        match Graph::of_a_run(self.catalog, self.types) {
            Ok(graph) if graph.cycles().is_empty() => Ok(graph),
            graph => Err(findings::of_graph(self.catalog, &graph)),
        }
    }

    fn ask<R>(&self, graph: &Graph, asked: impl FnOnce(&setpoint_settle::Question<'_>) -> R) -> R {
        let Self { catalog, surroundings, platform, sources, .. } = *self;
        surroundings.ask(sources, catalog, (graph, None), platform, &|_| false, asked)
    }

    /// One run of a catalog, on a machine that nothing was installed on; findings instead, if an agent refuses it.
    pub fn simulate(&self, turn: Turn) -> Result<Result<Simulation, Vec<Diagnostic>>, UsageError> {
        let graph = match self.graph_of_run() {
            Ok(graph) => graph,
            Err(findings) => return Ok(Err(findings)),
        };
        let run = self.ask(&graph, |question| setpoint_settle::simulate(question, turn));
        run.map(Ok).ok_or_else(no_start)
    }
}

fn no_start() -> UsageError {
    UsageError::new("no machine fits what is assumed of the start; `--any-start` drops the assumptions")
}

/// Returns the catalog in a file, with the places of its resources there, or why it is none.
pub fn read_catalog(session: &Session<'_>, path: &Path) -> Result<Result<Catalog, Diagnostic>, UsageError> {
    Ok(read_stored(session, path)?.map(|stored| stored.catalog))
}

/// A catalog of a file.
struct Stored {
    catalog: Catalog,
    /// The file says what contains what.
    has_edges: bool,
    file: FileId,
}

fn read_stored(session: &Session<'_>, path: &Path) -> Result<Result<Stored, Diagnostic>, UsageError> {
    let (file, text) = session.load(path)?;
    let document = setpoint_data::read_json(file, &text);
    if let Some(twice) = document.diagnostics.iter().find(|found| found.rule == Rule::DuplicateKey) {
        return Ok(Err(twice.clone().severity(Severity::Error)));
    }
    let read = read::json(&text).map_err(|error| {
        let finding = findings::of_read_error(&error, file, &text);
        let place = document.root.as_ref().map(|root| place_of(root, &error.path).in_file(file));
        match place.filter(|_| finding.span.is_none()) {
            Some(place) => finding.at(place),
            None => finding,
        }
    });
    Ok(read.map(|mut catalog| {
        if let Some(root) = &document.root {
            place_resources(&mut catalog, root, file);
        }
        catalog.note_secrets(session.sources.secrets());
        let edges = document.root.as_ref().and_then(|root| catalog_root(root).get("edges"));
        Stored { catalog, has_edges: edges.is_some_and(|edges| !edges.is_null()), file }
    }))
}

/// Where the way `resources[3].title` leads in a catalog, or as far as it leads.
fn place_of(root: &Node, way: &str) -> Range {
    let mut at = catalog_root(root);
    for step in way.split(['.', '[', ']']).filter(|step| !step.is_empty()) {
        // PuppetDB's queries wrap lists.
        let list = at.get("data").unwrap_or(at);
        let next =
            step.parse().ok().and_then(|index: usize| list.items().get(index)).or_else(|| at.get(step));
        let Some(next) = next else { break };
        at = next;
    }
    Range { end: at.range.start, ..at.range }
}

/// What newer and very old servers wrap around a catalog is taken away.
fn catalog_root(root: &Node) -> &Node {
    if root.get("resources").is_some() {
        return root;
    }
    ["catalog", "data"].into_iter().find_map(|key| root.get(key)).unwrap_or(root)
}

/// Gives resources and their parameters the places that they have in the file of the catalog.
fn place_resources(catalog: &mut Catalog, root: &Node, file: FileId) {
    let Some(list) = catalog_root(root).get("resources") else { return };
    let list = list.get("data").unwrap_or(list);
    for (resource, node) in catalog.resources_mut().iter_mut().zip(list.items()) {
        resource.span = node.get("title").map(|title| title.range.in_file(file));
        let given = ["parameters", "ext_parameters"].into_iter().filter_map(|key| node.get(key));
        for entry in given.flat_map(Node::entries) {
            let name = entry.key.text().map(Symbol::new);
            if let Some(parameter) = name.and_then(|name| resource.parameters.get_mut(name)) {
                parameter.span = Some(entry.value.range.in_file(file));
            }
        }
    }
}

/// Judges a catalog that somebody else compiled.
pub fn check_catalog(
    session: &Session<'_>,
    path: &Path,
    options: &Options,
) -> Result<InputReport, UsageError> {
    let mut report = InputReport::new(path.display().to_string(), "catalog");
    let read = read_stored(session, path)?;
    let mut coverage = Coverage::new(Nouns { sources: "catalogs", ..NOUNS });
    coverage.sources.add(true, read.is_ok());
    report.coverage = Some(coverage);
    match read {
        Ok(Stored { catalog, has_edges, file }) => {
            report.node = Some(catalog.name.to_string());
            let (config, problems) = session.config(path, options)?;
            report.findings.clone_from(&problems);
            let threads = run::threads(session.jobs);
            with_subject(session, &catalog, &config, options, threads, |subject| {
                // The sources of such a catalog are not here: there is nothing to change.
                subject.judge(&|_| false, &mut report);
            })?;
            for problem in problems.iter().filter(|problem| problem.rule.class() == Class::Syntax) {
                report.doubt(&Reason::of(Gap::Malformed, problem));
            }
            if !has_edges {
                let words = "the catalog has no `edges`, so that nobody knows what its classes contain";
                report.doubt(&Reason::new(Gap::Unread, words).at(Some(Range::new(0, 0).in_file(file))));
            }
            report.findings.splice(..problems.len(), session.tell_once(&problems));
        }
        Err(finding) => {
            let answer = Judgement::unknown(Reason::of(Gap::Malformed, &finding));
            report.findings.push(finding);
            report.conclude(Verdict::of(Question::Catalog, answer));
        }
    }
    Ok(report)
}

/// Asks about a catalog that somebody else compiled, with the modules and the platform that the options name.
pub fn with_subject<R>(
    session: &Session<'_>,
    catalog: &Catalog,
    config: &Config,
    options: &Options,
    threads: usize,
    ask: impl FnOnce(&Subject<'_>) -> R,
) -> Result<R, UsageError> {
    let modulepath = options.puppet.modulepath(config);
    let surroundings = &Surroundings::new(session, &modulepath, config, options)?.with_threads(threads, 1);
    let platform = settle::platform(options.puppet.platform.as_deref(), &Hash::default());
    let types = &module_types(session, config, options);
    let system = settle::system(options.puppet.platform.as_deref(), &Hash::default());
    Ok(ask(&Subject { catalog, types, surroundings, platform, system, sources: &session.sources }))
}

/// The native types of Puppet and of the modules.
pub fn module_types<'a>(session: &Session<'a>, config: &Config, options: &Options) -> ModuleTypes<'a> {
    ModuleTypes::new(session.files, options.puppet.modulepath(config))
}
