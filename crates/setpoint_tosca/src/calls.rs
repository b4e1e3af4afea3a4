//! Calls of TOSCA's functions, and whether what they name is there.

use setpoint_data::{Entry, Node};
use setpoint_source::{Diagnostic, FileId, Rule, Severity, Span, Symbol};

use crate::service::Service;
use crate::types::ancestors;

/// A call of a function that names something of the topology.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    function: Function,
    /// The leading arguments that are text.
    arguments: Vec<Symbol>,
    /// The node template in which it stands.
    within: Option<Symbol>,
    span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Function {
    Input,
    /// `get_property`, `get_attribute` and `get_operation_output`: their first argument is a template.
    Entity,
    Artifact,
}

/// What a function may name instead of a template.
const ENTITIES: [&str; 6] = ["SELF", "SOURCE", "TARGET", "HOST", "ORCHESTRATOR", "MODEL"];

/// Finds the calls in the templates and outputs of a topology.
pub(crate) fn find(file: FileId, topology: &Node) -> Vec<Call> {
    let mut out = Vec::new();
    for Entry { key, value } in topology.entries() {
        match key.text() {
            // Expressions in the definition of an input, and in what stands for a node, have other scopes.
            Some("inputs" | "substitution_mappings" | "metadata" | "description") => {}
            Some("node_templates") => {
                for Entry { key, value } in value.entries() {
                    collect(file, value, key.text().map(Symbol::new), &mut out);
                }
            }
            _ => collect(file, value, None, &mut out),
        }
    }
    out
}

fn collect(file: FileId, node: &Node, within: Option<Symbol>, out: &mut Vec<Call>) {
    if let [Entry { key, value }] = node.entries()
        && let Some(function) = key.text().and_then(function)
    {
        let items = if value.is_sequence() { value.items() } else { std::slice::from_ref(value) };
        let arguments = items.iter().map_while(Node::text).map(Symbol::new).collect();
        out.push(Call { function, arguments, within, span: key.range.to(value.range).in_file(file) });
    }
    for entry in node.entries() {
        collect(file, &entry.value, within, out);
    }
    for item in node.items() {
        collect(file, item, within, out);
    }
}

fn function(name: &str) -> Option<Function> {
    Some(match name.strip_prefix('$').unwrap_or(name) {
        "get_input" => Function::Input,
        "get_property" | "get_attribute" | "get_operation_output" => Function::Entity,
        "get_artifact" => Function::Artifact,
        _ => return None,
    })
}

impl Call {
    /// Returns the finding about a call that names nothing.
    fn check(&self, topology: &Service, service: &Service) -> Option<Diagnostic> {
        let first = *self.arguments.first()?;
        let message = match self.function {
            Function::Input if !topology.inputs.contains(&first) => format!("there is no input `{first}`"),
            Function::Input => return None,
            Function::Entity | Function::Artifact if !is_template(topology, first) => {
                format!("there is no template `{first}`")
            }
            Function::Entity => return None,
            Function::Artifact => {
                let node = if &*first == "SELF" { self.within? } else { first };
                let artifact = *self.arguments.get(1)?;
                let template = topology.nodes.get(&node)?;
                let types = &service.types.nodes;
                let chain = ancestors(types, template.kind);
                let known = chain.iter().all(|kind| types.contains_key(kind));
                let is_there = template.artifacts.contains(&artifact)
                    || chain
                        .iter()
                        .filter_map(|kind| types.get(kind))
                        .any(|kind| kind.artifacts.contains(&artifact));
                if is_there || !known {
                    return None;
                }
                format!("`{node}` has no artifact `{artifact}`")
            }
        };
        let mut finding = Diagnostic::new(Rule::UnknownReference, message)
            .at(self.span)
            .with_help("Mend the name, or define it.")
            .with_resources(self.within.map(|node| node.to_string()));
        if service.incomplete {
            finding = finding
                .severity(Severity::Warning)
                .with_note("An import that could not be followed may define it.");
        }
        Some(finding)
    }
}

/// Whether a name is that of a template of a topology, or stands for one.
fn is_template(topology: &Service, name: Symbol) -> bool {
    ENTITIES.contains(&name.as_str())
        || topology.nodes.contains_key(&name)
        || topology.relationships.contains_key(&name)
        || topology.other_templates.contains(&name)
}

/// Returns the findings about all calls of a service template and of the topologies that stand for its nodes.
pub(crate) fn check(service: &Service) -> Vec<Diagnostic> {
    let topologies = std::iter::once(service).chain(service.inner.values());
    topologies
        .flat_map(|topology| topology.calls.iter().filter_map(|call| call.check(topology, service)))
        .collect()
}
