//! Calls of TOSCA's functions, and whether what they name is there.

use indexmap::IndexMap;
use setpoint_data::{Entry, Node};
use setpoint_source::{Diagnostic, FileId, Rule, Severity, Span, Symbol};

use crate::service::Service;
use crate::templates::Shapes;
use crate::types::{ancestors, keys};

/// A call of a function that names something of the topology.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    function: Function,
    /// The leading arguments that are text.
    arguments: Vec<Symbol>,
    /// The number of all arguments.
    given: usize,
    /// The node template in which it stands.
    within: Option<Symbol>,
    span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Function {
    Input,
    /// Its first argument is a template.
    Entity(Part),
    Artifact,
    /// A function that needs at least so many arguments.
    Of(&'static str, usize),
}

/// What a function asks of a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Property,
    Attribute,
    Output,
}

/// The functions of TOSCA 2.0.
const FUNCTIONS: [&str; 46] = [
    "and",
    "or",
    "not",
    "xor",
    "equal",
    "greater_than",
    "greater_or_equal",
    "less_than",
    "less_or_equal",
    "valid_values",
    "matches",
    "has_suffix",
    "has_prefix",
    "contains",
    "has_entry",
    "has_key",
    "has_all_entries",
    "has_all_keys",
    "has_any_entry",
    "has_any_key",
    "length",
    "concat",
    "join",
    "token",
    "union",
    "intersection",
    "sum",
    "difference",
    "product",
    "quotient",
    "remainder",
    "round",
    "floor",
    "ceil",
    "get_input",
    "get_property",
    "get_attribute",
    "get_artifact",
    "value",
    "node_index",
    "relationship_index",
    "available_allocation",
    "get_operation_output",
    "get_nodes_of_type",
    "get_relationship_of",
    "get_target_name",
];

/// Whether TOSCA 2.0 has a function.
pub(crate) fn is_function(name: &str) -> bool {
    FUNCTIONS.contains(&name)
}

/// Collects the names of the functions that a file of TOSCA 2.0 calls.
pub(crate) fn names(file: FileId, node: &Node, out: &mut IndexMap<Symbol, Span>) {
    for Entry { key, value } in node.entries() {
        let Some(name) = key.text() else { continue };
        match name.strip_prefix('$') {
            Some(name) if !name.starts_with('$') && !name.is_empty() => {
                out.entry(Symbol::new(name)).or_insert(key.range.in_file(file));
            }
            _ => {}
        }
        // Examples in the text of others.
        if !matches!(name, "metadata" | "dsl_definitions") {
            names(file, value, out);
        }
    }
    for item in node.items() {
        names(file, item, out);
    }
}

/// What a function may name instead of a template.
const ENTITIES: [&str; 6] = ["SELF", "SOURCE", "TARGET", "HOST", "ORCHESTRATOR", "MODEL"];

/// Finds the calls in the templates and outputs of a topology.
pub(crate) fn find(file: FileId, topology: &Node) -> Vec<Call> {
    let mut out = Vec::new();
    for Entry { key, value } in topology.entries() {
        match key.text() {
            // Expressions in the definition of an input, and in what stands for a node, have other scopes.
            Some("inputs" | "substitution_mappings" | "metadata" | "description" | "workflows") => {}
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
        out.push(Call {
            function,
            arguments,
            given: items.len(),
            within,
            span: key.range.to(value.range).in_file(file),
        });
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
        "get_property" => Function::Entity(Part::Property),
        "get_attribute" => Function::Entity(Part::Attribute),
        "get_operation_output" => Function::Entity(Part::Output),
        "concat" => Function::Of("concat", 1),
        "token" => Function::Of("token", 3),
        "get_artifact" => Function::Artifact,
        _ => return None,
    })
}

impl Call {
    /// Returns the finding about a property or attribute that its node does not have.
    pub(crate) fn check_name(
        &self,
        topology: &Service,
        service: &Service,
        shapes: &mut Shapes,
    ) -> Option<Diagnostic> {
        let Function::Entity(part) = self.function else { return None };
        let [first, name, ..] = self.arguments.as_slice() else { return None };
        let node = if &**first == "SELF" { self.within? } else { *first };
        let template = topology.nodes.get(&node)?;
        let shape = shapes.of(service, template.kind);
        // What stands inside an interface of a requirement has another SELF.
        if part == Part::Output
            || !shape.whole
            || template.selected
            || template.substituted
            || &**first == "SELF"
        {
            return None;
        }
        let is_attribute = part == Part::Attribute
            && (shape.attributes.contains_key(name)
                || keys(template.node.get("attributes")).contains(name)
                || ["tosca_id", "tosca_name", "state"].contains(&name.as_str()));
        let is_there = is_attribute
            || shape.properties.contains_key(name)
            || shape.capabilities.contains_key(name)
            || template.requirements.iter().any(|one| one.name == *name)
            || service.types.requirements_of(template.kind).iter().any(|one| one.name == *name)
            || ["CAPABILITY", "RELATIONSHIP"].contains(&name.as_str());
        if is_there {
            return None;
        }
        let what = if part == Part::Property { "property" } else { "attribute" };
        Some(
            Diagnostic::new(Rule::UnknownReference, format!("`{node}` has no {what} `{name}`"))
                .at(self.span)
                .with_label(template.kind_span, format!("a {} does not define it", template.kind))
                .with_resources([node.to_string()]),
        )
    }

    /// Returns the finding about a call that names nothing.
    fn check(&self, topology: &Service, service: &Service) -> Option<Diagnostic> {
        if let Function::Of(name, least) = self.function {
            let message = format!("`{name}` needs {least} arguments at least, and has {}", self.given);
            return (self.given < least).then(|| Diagnostic::new(Rule::InvalidValue, message).at(self.span));
        }
        let first = *self.arguments.first()?;
        let message = match self.function {
            Function::Of(..) => return None,
            Function::Input if !topology.inputs.contains(&first) => format!("there is no input `{first}`"),
            Function::Input => return None,
            Function::Entity(_) | Function::Artifact if !is_template(topology, first) => {
                format!("there is no template `{first}`")
            }
            Function::Entity(_) => return None,
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
