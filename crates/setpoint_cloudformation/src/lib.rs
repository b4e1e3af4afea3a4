//! CloudFormation templates: what waits for what, for every choice of parameters, and whether the stack can be made.
//!
//! Reads YAML and JSON through `setpoint_data`, unrolls loops and the common types of the serverless transform, turns
//! conditions into logic and references into a graph, and looks for cycles, documented orders that are missing,
//! references that a condition removes, signals that never come. It creates nothing and asks no service.

mod checks;
mod conditions;
mod cycles;
pub mod draw;
mod endings;
mod fix;
mod foreach;
mod graph;
mod hazards;
mod instance;
mod naming;
mod nested;
mod sam;
mod sat;
mod template;
mod update;
mod value;

pub use graph::{Edge, Graph, Via};
pub use hazards::{HAZARDS, Hazard};
pub use instance::instance;
pub use nested::nested_stacks;
pub use sam::Made;
pub use template::{Parameter, Resource, Template};
pub use update::{Change, Update, update};
pub use value::{Guard, Value, ValueKind};

use setpoint_data::Node;
use setpoint_source::{
    Basis, Diagnostic, FileId, Gap, Judgement, Reason, Rule, Severity, Sources, Standing, Witness,
};

use crate::conditions::Logic;
use crate::graph::Stack;

/// What is known about a template.
#[derive(Debug)]
pub struct Analysis {
    pub template: Template,
    pub graph: Graph,
    pub findings: Vec<Diagnostic>,
    /// Whether creation always comes to its end.
    pub reaches_final: Judgement,
}

/// Whether a tree looks like a template.
pub fn is_template(root: &Node) -> bool {
    root.get("AWSTemplateFormatVersion").is_some()
        || root.get("Resources").is_some_and(|resources| {
            resources.entries().iter().any(|entry| {
                let kind = entry.value.get("Type").and_then(Node::text).unwrap_or("");
                kind.starts_with("AWS::") || kind.starts_with("Custom::") || kind.ends_with("::MODULE")
            })
        })
}

/// Reads a file and analyses it.
pub fn analyse(file: FileId, sources: &Sources) -> Analysis {
    let source = sources.file(file);
    let document = setpoint_data::read(file, source.text());
    let nothing = Node {
        range: setpoint_source::Range::default(),
        tag: None,
        kind: setpoint_data::Kind::Mapping(std::sync::Arc::default()),
    };
    let template = Template::read(file, source.shared_text(), document.root.as_ref().unwrap_or(&nothing));
    let graph = Graph::new(&template);
    let logic = Logic::new(&template);
    let mut findings = document.diagnostics;
    let stack = Stack { template: &template, graph: &graph, logic: &logic };
    let opaque = notes(&stack, &mut findings);
    checks::unknown_names(&stack, opaque, &mut findings);
    cycles::check(&stack, &mut findings);
    checks::signals(&stack, opaque, &mut findings);
    checks::removed_references(&stack, &mut findings);
    endings::check(&stack, opaque, &mut findings);
    let stopping = [
        Rule::DependencyCycle,
        Rule::Deadlock,
        Rule::ConditionalReference,
        Rule::UnknownReference,
        Rule::NameTaken,
        Rule::OwnImport,
    ];
    hazards::check(&stack, &mut findings);
    checks::deletion(&stack, &mut findings);
    checks::redundant_depends_on(&stack, &mut findings);
    let broken = findings
        .iter()
        .any(|finding| finding.rule == Rule::InvalidData && finding.severity == Severity::Error);
    let shown = findings.iter().find(|finding| stopping.contains(&finding.rule)).map(Witness::of);
    let reaches_final = match shown {
        Some(witness) => Judgement::refuted(witness),
        None if opaque || broken => {
            Judgement::unknown(Reason::new(Gap::NotModelled, "a part of the template is not known"))
        }
        None => Judgement::Proved(Basis::of([Standing::ServiceFollowsRules, Standing::CreationSucceeds])),
    };
    let mut own = template.diagnostics.clone();
    own.append(&mut findings);
    Analysis { template, graph, findings: own, reaches_final }
}

/// Says what a macro or a module may add; true if there is one.
fn notes(stack: &Stack<'_>, out: &mut Vec<Diagnostic>) -> bool {
    let known = [
        "AWS::LanguageExtensions",
        "AWS::Serverless-2016-10-31",
        "AWS::SecretsManager-2020-07-23",
        "AWS::SecretsManager-2024-09-16",
        "AWS::CodeDeployBlueGreen",
    ];
    let mut opaque = false;
    for name in stack.template.transforms.iter().filter(|name| !known.contains(&name.as_str())) {
        opaque = true;
        out.push(Diagnostic::new(
            Rule::NotModelled,
            format!("the transform `{name}` may add or change resources when the stack is deployed"),
        ));
    }
    for module in &stack.template.modules {
        opaque = true;
        let message = "this module stands for resources that are not in this file";
        out.push(Diagnostic::new(Rule::NotModelled, message).at(stack.template.span(*module)));
    }
    for resource in stack.template.resources.values().filter(|one| one.kind.ends_with("::MODULE")) {
        opaque = true;
        out.push(
            Diagnostic::new(
                Rule::NotModelled,
                format!("the module `{}` may add resources when the stack is deployed", resource.kind),
            )
            .at(stack.template.span(resource.type_ranges.1))
            .with_resources([resource.name.to_string()]),
        );
    }
    opaque
}
