//! Calls of TOSCA's functions, and whether what they name is there.

use indexmap::IndexMap;
use rustc_hash::FxHashMap;
use setpoint_data::{Entry, Node};
use setpoint_source::{Diagnostic, FileId, Rule, Severity, Span, Symbol};

use crate::service::Service;
use crate::templates::Shapes;
use crate::types::{ancestors, derives, is_whole, keys, symbol};
use crate::values::primitive;

/// A call of a function that names something of the topology.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    function: Function,
    /// The leading arguments that are text.
    arguments: Vec<Symbol>,
    /// The number of all arguments.
    given: usize,
    is_list: bool,
    /// The node template in which it stands.
    within: Option<Symbol>,
    /// It stands in a requirement, where `SELF` may be the relationship.
    in_requirement: bool,
    span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Function {
    Input,
    /// Its first argument is a template.
    Entity(Part),
    Artifact,
    /// Its argument is a type of nodes.
    Nodes,
    /// A function that needs a list of at least so many arguments.
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
            // A key with other characters is a text that happens to begin with `$`.
            Some(name) if is_identifier(name) => {
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

fn is_identifier(name: &str) -> bool {
    name.starts_with(|first: char| first.is_alphabetic() || first == '_')
        && name.chars().all(|one| one.is_alphanumeric() || "_-:.".contains(one))
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
                    collect(file, value, (key.text().map(Symbol::new), false), &mut out);
                }
            }
            _ => collect(file, value, (None, false), &mut out),
        }
    }
    out
}

fn collect(file: FileId, node: &Node, within: (Option<Symbol>, bool), out: &mut Vec<Call>) {
    if let [Entry { key, value }] = node.entries()
        && let Some(function) = key.text().and_then(function)
    {
        let items = if value.is_sequence() { value.items() } else { std::slice::from_ref(value) };
        let arguments = items.iter().map_while(Node::text).map(Symbol::new).collect();
        out.push(Call {
            function,
            arguments,
            given: items.len(),
            is_list: value.is_sequence(),
            within: within.0,
            in_requirement: within.1,
            span: key.range.to(value.range).in_file(file),
        });
    }
    for entry in node.entries() {
        let in_requirement = within.1 || entry.key.text() == Some("requirements");
        collect(file, &entry.value, (within.0, in_requirement), out);
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
        "join" => Function::Of("join", 1),
        "token" => Function::Of("token", 3),
        "get_nodes_of_type" => Function::Nodes,
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
            || (&**first == "SELF" && self.in_requirement)
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
            let schema = shape.properties.get(name).or_else(|| shape.attributes.get(name));
            return self.part_of_scalar(2, schema?.kind?, service);
        }
        let what = if part == Part::Property { "property" } else { "attribute" };
        Some(
            Diagnostic::new(Rule::UnknownReference, format!("`{node}` has no {what} `{name}`"))
                .at(self.span)
                .with_label(template.kind_span, format!("a {} does not define it", template.kind))
                .with_resources([node.to_string()]),
        )
    }

    /// Returns the finding about a call with more than so many arguments that asks for a part of a value that has none.
    fn part_of_scalar(&self, named: usize, kind: Symbol, service: &Service) -> Option<Diagnostic> {
        const SCALARS: [&str; 6] = ["string", "integer", "float", "boolean", "timestamp", "version"];
        let last = *ancestors(&service.types.data, kind).last()?;
        let is_scalar = primitive(last).is_some_and(|name| SCALARS.contains(&name));
        if self.given <= named || !is_scalar || service.types.data.contains_key(&last) {
            return None;
        }
        let value = self.arguments.get(named - 1)?;
        let message = format!("`{value}` is a `{kind}`, of which there is no part to take");
        Some(Diagnostic::new(Rule::InvalidValue, message).at(self.span))
    }

    /// Returns the finding about a call that names nothing.
    fn check(&self, topology: &Service, service: &Service) -> Option<Diagnostic> {
        if let Function::Of(name, least) = self.function {
            let message = if !self.is_list {
                format!("`{name}` takes a list of arguments")
            } else if self.given < least {
                format!("`{name}` needs {least} arguments at least, and has {}", self.given)
            } else {
                self.missing_token()?
            };
            return Some(Diagnostic::new(Rule::InvalidValue, message).at(self.span));
        }
        if matches!(self.function, Function::Entity(_)) && self.given < 2 {
            let message = format!("a template and a name are needed, and there are {} arguments", self.given);
            return Some(Diagnostic::new(Rule::InvalidValue, message).at(self.span));
        }
        let Some(first) = self.arguments.first().copied() else {
            let message = "the name of what the function asks for is needed here";
            return Some(Diagnostic::new(Rule::InvalidValue, message).at(self.span));
        };
        let message = match self.function {
            Function::Of(..) => return None,
            Function::Nodes if service.types.nodes.contains_key(&first) => return None,
            Function::Nodes => format!("there is no type of nodes `{first}`"),
            Function::Input if !topology.inputs.contains(&first) => format!("there is no input `{first}`"),
            Function::Input => {
                let (_, node) = topology.topology.as_ref()?;
                let kind = symbol(node.get("inputs")?.get(&first)?.get("type"))?;
                return self.part_of_scalar(1, kind, service);
            }
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

impl Call {
    /// Returns what is wrong with a `token` that is written out: a text has no such piece.
    fn missing_token(&self) -> Option<String> {
        let [text, delimiters, position] = self.arguments.as_slice() else { return None };
        if !matches!(self.function, Function::Of("token", _)) {
            return None;
        }
        let count = text.split(|letter| delimiters.contains(letter)).count();
        match position.parse::<usize>() {
            Ok(position) if position < count => None,
            Ok(position) => Some(format!("`token` asks for piece {position} of `{text}`, which has {count}")),
            Err(_) => Some(format!("`token` asks for piece `{position}`, which is no number")),
        }
    }
}

/// Whether a name is that of a template of a topology, or stands for one.
fn is_template(topology: &Service, name: Symbol) -> bool {
    ENTITIES.contains(&name.as_str())
        || topology.nodes.contains_key(&name)
        || topology.relationships.contains_key(&name)
        || topology.other_templates.contains(&name)
}

/// Returns a finding for each call that asks for the host of a node whose type cannot have one.
pub(crate) fn without_host(service: &Service, hosts: &FxHashMap<Symbol, Symbol>) -> Vec<Diagnostic> {
    let types = &service.types;
    let hosted_on = Symbol::new("tosca.relationships.HostedOn");
    let mut found = Vec::new();
    for call in &service.calls {
        let is_host = matches!(call.function, Function::Entity(_))
            && call.arguments.first().is_some_and(|first| &**first == "HOST");
        let Some(template) = call.within.filter(|_| is_host).and_then(|node| service.nodes.get(&node)) else {
            continue;
        };
        let may_have_one = hosts.contains_key(&template.name)
            || service.incomplete
            || !is_whole(&types.nodes, template.kind)
            || types.requirements_of(template.kind).iter().any(|one| {
                one.relationship.is_none_or(|kind| derives(&types.relationships, kind, hosted_on))
            });
        if !may_have_one {
            let message = format!("`{}` asks for its HOST, and has none", template.name);
            found.push(
                Diagnostic::new(Rule::UnknownReference, message)
                    .at(call.span)
                    .with_label(template.kind_span, format!("a {} is not hosted", template.kind))
                    .with_resources([template.name.to_string()]),
            );
        }
    }
    found
}

/// Returns the findings about all calls of a service template and of the topologies that stand for its nodes.
pub(crate) fn check(service: &Service) -> Vec<Diagnostic> {
    let topologies = std::iter::once(service).chain(service.inner.values());
    topologies
        .flat_map(|topology| topology.calls.iter().filter_map(|call| call.check(topology, service)))
        .collect()
}
