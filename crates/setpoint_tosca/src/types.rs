//! Types and their derivation.

use indexmap::IndexMap;
use setpoint_data::Node;
use setpoint_source::{FileId, Span, Symbol};

use crate::omission::{Omission, Omitted};

/// A node, relationship or capability type, as far as it decides what may be joined.
#[derive(Debug, Clone, Default)]
pub struct Type {
    pub parent: Option<Symbol>,
    pub span: Option<Span>,
    pub capabilities: IndexMap<Symbol, Capability>,
    pub requirements: Vec<Requirement>,
    pub properties: Vec<Symbol>,
    pub artifacts: Vec<Symbol>,
    /// The rule file that says how relationships of this type behave.
    pub rules: Option<String>,
}

#[derive(Debug, Clone)]
pub struct Capability {
    pub kind: Symbol,
    /// Empty: nodes of any type may use it.
    pub valid_sources: Vec<Symbol>,
    /// So many relationships may use it, if that is limited.
    pub most: Option<usize>,
}

/// What a node type needs.
#[derive(Debug, Clone)]
pub struct Requirement {
    pub name: Symbol,
    pub capability: Option<Symbol>,
    pub node: Option<Symbol>,
    pub relationship: Option<Symbol>,
    /// Whether at least one is needed.
    pub needed: bool,
    /// So many may be assigned, if that is said.
    pub most: Option<usize>,
}

/// All types that a service template knows: its own, what it imports, and the normative ones.
#[derive(Debug, Clone, Default)]
pub struct Types {
    pub nodes: IndexMap<Symbol, Type>,
    pub relationships: IndexMap<Symbol, Type>,
    pub capabilities: IndexMap<Symbol, Type>,
}

/// What a name stands for: short names and prefixes of the normative types are spelled out.
pub(crate) fn full_name(table: &IndexMap<Symbol, Type>, name: Symbol) -> Symbol {
    if table.contains_key(&name) {
        return name;
    }
    let bare = name.strip_prefix("tosca:").unwrap_or(&name);
    for prefix in ["tosca.nodes.", "tosca.relationships.", "tosca.capabilities.", "tosca.nodes.network."] {
        let long = Symbol::new(&format!("{prefix}{bare}"));
        if table.contains_key(&long) {
            return long;
        }
    }
    // `prefix:name` of an import with a namespace prefix.
    match name.split_once(':') {
        Some((_, rest)) if table.contains_key(&Symbol::new(rest)) => Symbol::new(rest),
        _ => name,
    }
}

/// A type and those that it derives from, itself first. A circle of derivations ends where it closes.
pub(crate) fn ancestors(table: &IndexMap<Symbol, Type>, name: Symbol) -> Vec<Symbol> {
    let mut out = Vec::new();
    let mut next = Some(full_name(table, name));
    while let Some(name) = next {
        if out.contains(&name) {
            break;
        }
        out.push(name);
        next = table.get(&name).and_then(|found| found.parent).map(|parent| full_name(table, parent));
    }
    out
}

pub(crate) fn derives(table: &IndexMap<Symbol, Type>, name: Symbol, from: Symbol) -> bool {
    ancestors(table, name).contains(&full_name(table, from))
}

impl Types {
    /// The capabilities of a node type, inherited ones included.
    pub fn capabilities_of(&self, node: Symbol) -> IndexMap<Symbol, Capability> {
        let mut out = IndexMap::new();
        for name in ancestors(&self.nodes, node) {
            for (capability, value) in self.nodes.get(&name).into_iter().flat_map(|found| &found.capabilities)
            {
                out.entry(*capability).or_insert_with(|| value.clone());
            }
        }
        out
    }

    /// The requirements of a node type, inherited ones included.
    pub fn requirements_of(&self, node: Symbol) -> Vec<Requirement> {
        let mut out: Vec<Requirement> = Vec::new();
        for name in ancestors(&self.nodes, node) {
            for requirement in self.nodes.get(&name).into_iter().flat_map(|found| &found.requirements) {
                match out.iter_mut().find(|known| known.name == requirement.name) {
                    // What the derived type leaves out, it inherits.
                    Some(known) => {
                        known.capability = known.capability.or(requirement.capability);
                        known.node = known.node.or(requirement.node);
                        known.relationship = known.relationship.or(requirement.relationship);
                    }
                    None => out.push(requirement.clone()),
                }
            }
        }
        out
    }

    /// The properties of a node type, inherited ones included.
    pub(crate) fn properties_of(&self, node: Symbol) -> Vec<Symbol> {
        ancestors(&self.nodes, node)
            .iter()
            .filter_map(|name| self.nodes.get(name))
            .flat_map(|found| found.properties.iter().copied())
            .collect()
    }

    /// Adds the types of a document. Types that are there already stay: the template's own come first.
    pub(crate) fn add(&mut self, root: &Node, file: FileId, omissions: &mut Vec<Omission>) {
        for (section, table) in [
            ("node_types", &mut self.nodes),
            ("relationship_types", &mut self.relationships),
            ("capability_types", &mut self.capabilities),
        ] {
            for entry in root.get(section).map(Node::entries).unwrap_or_default() {
                let span = entry.key.range.in_file(file);
                let Some(name) = entry.key.text() else {
                    omissions.push(Omission::new(Omitted::Key, span));
                    continue;
                };
                if !is_type(&entry.value) {
                    omissions.push(Omission::new(Omitted::TypeDefinition(Symbol::new(name)), span));
                }
                table.entry(Symbol::new(name)).or_insert_with(|| Type {
                    parent: symbol(entry.value.get("derived_from")),
                    span: Some(span),
                    capabilities: capabilities(entry.value.get("capabilities")),
                    requirements: requirements(entry.value.get("requirements")),
                    properties: keys(entry.value.get("properties")),
                    artifacts: keys(entry.value.get("artifacts")),
                    rules: entry
                        .value
                        .get("metadata")
                        .and_then(|metadata| metadata.get("setpoint_rules"))
                        .and_then(Node::text)
                        .map(str::to_owned),
                });
            }
        }
    }
}

/// Whether the parts of a type that decide what may be joined have the shape that TOSCA wants.
fn is_type(node: &Node) -> bool {
    node.is_mapping()
        && node.get("derived_from").is_none_or(|parent| symbol(Some(parent)).is_some())
        && node.get("capabilities").is_none_or(|part| are_named_items(part) || part.is_null())
        && node.get("requirements").is_none_or(|part| are_named_items(part) || part.is_null())
}

pub(crate) fn symbol(node: Option<&Node>) -> Option<Symbol> {
    node.and_then(Node::text).filter(|text| !text.is_empty()).map(Symbol::new)
}

/// The keys of a mapping that are names.
pub(crate) fn keys(node: Option<&Node>) -> Vec<Symbol> {
    let entries = node.map(Node::entries).unwrap_or_default();
    entries.iter().filter_map(|entry| symbol(Some(&entry.key))).collect()
}

fn capabilities(node: Option<&Node>) -> IndexMap<Symbol, Capability> {
    let mut out = IndexMap::new();
    for entry in node.map(Node::entries).unwrap_or_default() {
        let Some(name) = entry.key.text() else { continue };
        let kind = symbol(Some(&entry.value)).or_else(|| symbol(entry.value.get("type")));
        let sources = entry.value.get("valid_source_types").map(Node::items).unwrap_or_default();
        let valid_sources = sources.iter().filter_map(|source| symbol(Some(source))).collect();
        let kind = kind.unwrap_or_else(|| Symbol::new("tosca.capabilities.Root"));
        let most = bounds(&entry.value).1;
        out.insert(Symbol::new(name), Capability { kind, valid_sources, most });
    }
    out
}

/// The least and greatest number that `occurrences` or `count_range` says, where it says one.
fn bounds(node: &Node) -> (Option<usize>, Option<usize>) {
    let range = node.get("occurrences").or_else(|| node.get("count_range"));
    let number = |at: usize| range.and_then(|range| range.items().get(at)).and_then(Node::text)?.parse().ok();
    (number(0), number(1))
}

/// Whether a node is what [`named_items`] reads in full.
pub(crate) fn are_named_items(node: &Node) -> bool {
    node.is_mapping() || (node.is_sequence() && node.items().iter().all(Node::is_mapping))
}

/// Requirements are a list of mappings with one key, or one mapping.
pub(crate) fn named_items(node: Option<&Node>) -> Vec<(&Node, &Node)> {
    let Some(node) = node else { return Vec::new() };
    let entries = node.entries().iter().chain(node.items().iter().flat_map(Node::entries));
    entries.map(|entry| (&entry.key, &entry.value)).collect()
}

fn requirements(node: Option<&Node>) -> Vec<Requirement> {
    named_items(node)
        .into_iter()
        .filter_map(|(key, value)| {
            let relationship = value.get("relationship");
            let relationship =
                symbol(relationship).or_else(|| symbol(relationship.and_then(|one| one.get("type"))));
            let (least, most) = bounds(value);
            Some(Requirement {
                name: Symbol::new(key.text()?),
                capability: symbol(Some(value)).or_else(|| symbol(value.get("capability"))),
                node: symbol(value.get("node")),
                relationship,
                needed: least != Some(0),
                most,
            })
        })
        .collect()
}
