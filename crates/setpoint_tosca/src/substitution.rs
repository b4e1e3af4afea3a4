//! Topologies that stand for one node: what `substitution_mappings` says, and whether it fits.

use setpoint_data::Node;
use setpoint_source::{Diagnostic, FileId, Rule, Severity, Span, Symbol};

use crate::omission::{Omission, Omitted};
use crate::service::{NodeTemplate, Service};
use crate::types::{ancestors, derives, full_name, inherited, named_items, symbol};

/// How a topology stands for a node of a type.
#[derive(Debug, Clone)]
pub struct Substitution {
    pub node_type: Symbol,
    pub span: Span,
    pub capabilities: Vec<Mapped>,
    pub requirements: Vec<Mapped>,
    /// Properties of the type, each with the input that gets its value, if one is named.
    pub properties: Vec<(Symbol, Span, Option<Symbol>)>,
}

/// A capability or requirement of the type, and the node of the topology that has it.
#[derive(Debug, Clone)]
pub struct Mapped {
    pub name: Symbol,
    pub span: Span,
    pub node: Symbol,
    pub inner: Symbol,
}

impl Substitution {
    pub(crate) fn read(file: FileId, topology: &Node, omissions: &mut Vec<Omission>) -> Option<Self> {
        let entry = topology.entry("substitution_mappings")?;
        let mappings = &entry.value;
        let node_type = mappings.get("node_type").filter(|kind| symbol(Some(kind)).is_some())?;
        let mut mapped = |section: &str| -> Vec<Mapped> {
            let read = |(key, value): (&Node, &Node)| {
                let [node, inner, ..] = value.get("mapping").unwrap_or(value).items() else { return None };
                Some(Mapped {
                    name: symbol(Some(key))?,
                    span: key.range.to(value.range).in_file(file),
                    node: symbol(Some(node))?,
                    inner: symbol(Some(inner))?,
                })
            };
            let mut out = Vec::new();
            for (key, value) in named_items(mappings.get(section)) {
                if let Some(mapped) = read((key, value)) {
                    out.push(mapped);
                    continue;
                }
                let name = key.text().unwrap_or(section);
                // TOSCA 2.0 has more forms: several nodes, an index, a node that is to be selected.
                let what = Omitted::Mapping(Symbol::new(name));
                omissions.push(Omission::new(what, key.range.to(value.range).in_file(file)));
            }
            out
        };
        let properties = named_items(mappings.get("properties"))
            .into_iter()
            .filter_map(|(key, value)| {
                let input = match value.get("mapping").unwrap_or(value).items() {
                    [input] => symbol(Some(input)),
                    _ => None,
                };
                Some((symbol(Some(key))?, key.range.to(value.range).in_file(file), input))
            })
            .collect();
        Some(Self {
            node_type: symbol(Some(node_type))?,
            span: node_type.range.in_file(file),
            capabilities: mapped("capabilities"),
            requirements: mapped("requirements"),
            properties,
        })
    }
}

/// What does not fit between the type and the topology that stands for it.
pub(crate) fn check(service: &Service, out: &mut Vec<Diagnostic>) {
    let Some(substitution) = &service.substitution else { return };
    let types = &service.types;
    let is_known = |kind: Symbol| {
        !service.incomplete && ancestors(&types.nodes, kind).iter().all(|name| types.nodes.contains_key(name))
    };
    let finding = |message: String, span: Span| Diagnostic::new(Rule::SubstitutionMapping, message).at(span);
    let kind = substitution.node_type;
    if !types.nodes.contains_key(&full_name(&types.nodes, kind)) {
        let mut unknown = Diagnostic::new(Rule::UnknownType, format!("the type `{kind}` is not defined"))
            .severity(Severity::Error)
            .at(substitution.span);
        if service.incomplete {
            unknown = unknown.severity(Severity::Note);
        }
        out.push(unknown);
        return;
    }
    let (capabilities, requirements) = (types.capabilities_of(kind), types.requirements_of(kind));
    for (section, mapped) in
        [("capability", &substitution.capabilities), ("requirement", &substitution.requirements)]
    {
        for one in mapped {
            let of_type = match section {
                "capability" => capabilities.get(&one.name).map(|found| Some(found.kind)),
                _ => requirements.iter().find(|found| found.name == one.name).map(|found| found.capability),
            };
            if of_type.is_none() && is_known(kind) {
                out.push(
                    finding(format!("a {kind} has no {section} `{}`", one.name), one.span)
                        .with_help("Map what the type defines, or add it to the type."),
                );
            }
            let Some(node) = service.nodes.get(&one.node) else {
                out.push(finding(
                    format!(
                        "the {section} `{}` is mapped to `{}`, and there is no such node",
                        one.name, one.node
                    ),
                    one.span,
                ));
                continue;
            };
            let inner = match section {
                "capability" => capability_of(service, node, one.inner),
                _ => requirement_of(service, node, one.inner),
            };
            let Some(inner) = inner else {
                if is_known(node.kind) {
                    out.push(
                        finding(format!("`{}` has no {section} `{}`", node.name, one.inner), one.span)
                            .with_label(node.kind_span, format!("a {} does not have it", node.kind))
                            .with_resources([node.name.to_string()]),
                    );
                }
                continue;
            };
            if let (Some(Some(wanted)), Some(given)) = (of_type, inner)
                && [wanted, given]
                    .iter()
                    .all(|kind| types.capabilities.contains_key(&full_name(&types.capabilities, *kind)))
                && !derives(&types.capabilities, given, wanted)
                && !derives(&types.capabilities, wanted, given)
            {
                out.push(
                    finding(
                        format!(
                            "the {section} `{}` of a {kind} is a `{wanted}`, and that of `{}` is a `{given}`",
                            one.name, node.name
                        ),
                        one.span,
                    )
                    .with_resources([node.name.to_string()]),
                );
            }
        }
    }
    let properties = inherited(&types.nodes, kind, |kind| &kind.properties);
    for (name, span, input) in &substitution.properties {
        if !properties.contains_key(name) && is_known(kind) {
            out.push(finding(format!("a {kind} has no property `{name}`"), *span));
        }
        if let Some(input) = input.filter(|input| !service.inputs.contains(input)) {
            out.push(
                finding(
                    format!("the property `{name}` is mapped to `{input}`, and there is no such input"),
                    *span,
                )
                .with_help("Map it to an input of the topology."),
            );
        }
    }
}

/// The type of a capability of a node; `None` if the node has no such capability.
#[allow(clippy::option_option)]
fn capability_of(service: &Service, node: &NodeTemplate, name: Symbol) -> Option<Option<Symbol>> {
    match service.types.capabilities_of(node.kind).get(&name) {
        Some(found) => Some(Some(found.kind)),
        None => node.capabilities.contains(&name).then_some(None),
    }
}

#[allow(clippy::option_option)]
fn requirement_of(service: &Service, node: &NodeTemplate, name: Symbol) -> Option<Option<Symbol>> {
    let defined = service.types.requirements_of(node.kind).into_iter().find(|found| found.name == name);
    match defined {
        Some(found) => Some(found.capability),
        None => node.requirements.iter().any(|one| one.name == name).then_some(None),
    }
}
