//! Types and their derivation.

use indexmap::IndexMap;
use rustc_hash::FxHashSet;
use setpoint_data::{Entry, Node};
use setpoint_source::{FileId, Span, Symbol};

use crate::schema::{Schema, inherit, schemas};

/// A type of any kind; most kinds leave most of it empty.
#[derive(Debug, Clone, Default)]
pub struct Type {
    pub parent: Option<Symbol>,
    /// The place of its name; the built-in types have none in the user's files.
    pub span: Option<Span>,
    pub capabilities: IndexMap<Symbol, Capability>,
    pub requirements: Vec<Requirement>,
    pub properties: IndexMap<Symbol, Schema>,
    pub attributes: IndexMap<Symbol, Schema>,
    pub interfaces: IndexMap<Symbol, Interface>,
    pub artifacts: Vec<Symbol>,
    /// Types that it names: `members` of a group type, `targets` of a policy type, `valid_…_types` of the others.
    pub named: Vec<(Symbol, Span, Names)>,
    /// A data type's own constraints and the schema of its elements.
    pub schema: Schema,
    /// The rule file that says how relationships of this type behave, and where the type names it.
    pub rules: Option<(String, Span)>,
    /// The definition as it is written.
    pub(crate) written: Option<Node>,
}

/// What a list of type names holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Names {
    Nodes,
    NodesOrGroups,
    NodesOrCapabilities,
    Capabilities,
    Relationships,
}

#[derive(Debug, Clone)]
pub struct Capability {
    pub kind: Symbol,
    pub span: Span,
    /// Empty: nodes of any type may use it.
    pub valid_sources: Vec<Symbol>,
    /// So many relationships may use it, if that is limited.
    pub most: Option<usize>,
    /// Refinements of what its type defines, and additions to it.
    pub properties: IndexMap<Symbol, Schema>,
    pub attributes: IndexMap<Symbol, Schema>,
}

/// What a node type needs.
#[derive(Debug, Clone)]
pub struct Requirement {
    pub name: Symbol,
    pub span: Span,
    pub capability: Option<Symbol>,
    pub node: Option<Symbol>,
    pub relationship: Option<Symbol>,
    /// At least so many must be assigned.
    pub least: usize,
    /// So many may be assigned, if that is said.
    pub most: Option<usize>,
}

/// An interface of a type, or the interface type itself.
#[derive(Debug, Clone, Default)]
pub struct Interface {
    pub kind: Option<Symbol>,
    pub span: Option<Span>,
    pub inputs: IndexMap<Symbol, Schema>,
    pub operations: IndexMap<Symbol, IndexMap<Symbol, Schema>>,
    pub notifications: Vec<Symbol>,
}

/// A table of types of one kind.
pub(crate) type Table = IndexMap<Symbol, Type>;

/// All types that a service template knows: its own, what it imports, and the normative ones.
#[derive(Debug, Clone, Default)]
pub struct Types {
    pub nodes: IndexMap<Symbol, Type>,
    pub relationships: IndexMap<Symbol, Type>,
    pub capabilities: IndexMap<Symbol, Type>,
    pub data: IndexMap<Symbol, Type>,
    pub artifacts: IndexMap<Symbol, Type>,
    pub interfaces: IndexMap<Symbol, Type>,
    pub groups: IndexMap<Symbol, Type>,
    pub policies: IndexMap<Symbol, Type>,
    /// Functions that TOSCA 2.0 files define.
    pub functions: Vec<Symbol>,
}

/// The namespace that a file was imported into: names in it are names in that namespace.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Scope {
    pub(crate) namespace: Option<Symbol>,
}

impl Scope {
    /// A name of this file as other files see it.
    pub(crate) fn name(self, node: Option<&Node>) -> Option<Symbol> {
        symbol(node).map(|name| self.qualify(name))
    }

    pub(crate) fn qualify(self, name: Symbol) -> Symbol {
        match self.namespace {
            Some(namespace) => Symbol::new(&format!("{namespace}:{name}")),
            None => name,
        }
    }
}

/// What stands before the short names of the normative types.
const PREFIXES: [&str; 14] = [
    "tosca.nodes.",
    "tosca.relationships.",
    "tosca.capabilities.",
    "tosca.datatypes.",
    "tosca.artifacts.",
    "tosca.interfaces.",
    "tosca.groups.",
    "tosca.policies.",
    "tosca.nodes.network.",
    "tosca.datatypes.network.",
    "tosca.interfaces.node.lifecycle.",
    "tosca.interfaces.relationship.",
    "tosca.interfaces.node.",
    "tosca.",
];

/// What a name stands for: short names of the normative types are spelled out, and a name that its namespace does not have is
/// looked for in the one around it.
pub(crate) fn full_name(table: &Table, name: Symbol) -> Symbol {
    if table.contains_key(&name) {
        return name;
    }
    // `prefix.Name` is another spelling of `prefix:Name` in the Simple Profile.
    if let Some((prefix, rest)) = name.split_once('.').filter(|(prefix, _)| *prefix != "tosca") {
        let spelled = Symbol::new(&format!("{prefix}:{rest}"));
        if table.contains_key(&spelled) {
            return spelled;
        }
    }
    let mut rest: &str = &name;
    loop {
        let found = Symbol::new(rest);
        // `prefix:name` may be a name of a built-in profile, whatever else has that name here.
        if !rest.contains(':') {
            for prefix in PREFIXES {
                let long = Symbol::new(&format!("{prefix}{rest}"));
                if table.contains_key(&long) {
                    return long;
                }
            }
        }
        if table.contains_key(&found) {
            return found;
        }
        match rest.split_once(':') {
            Some((_, inner)) => rest = inner,
            None => return name,
        }
    }
}

/// A type and those that it derives from, itself first. A circle of derivations ends where it closes.
pub(crate) fn ancestors(table: &Table, name: Symbol) -> Vec<Symbol> {
    let mut out = Vec::new();
    let mut seen: FxHashSet<Symbol> = FxHashSet::default();
    let mut next = Some(full_name(table, name));
    while let Some(name) = next {
        if !seen.insert(name) {
            break;
        }
        out.push(name);
        next = table.get(&name).and_then(|found| found.parent).map(|parent| full_name(table, parent));
    }
    out
}

pub(crate) fn derives(table: &Table, name: Symbol, from: Symbol) -> bool {
    ancestors(table, name).contains(&full_name(table, from))
}

/// Whether a type and all that it derives from are known.
pub(crate) fn is_whole(table: &Table, name: Symbol) -> bool {
    ancestors(table, name).iter().all(|name| table.contains_key(name))
}

/// The definitions of a type, inherited ones included.
pub(crate) fn inherited(
    table: &Table,
    name: Symbol,
    part: impl Fn(&Type) -> &IndexMap<Symbol, Schema>,
) -> IndexMap<Symbol, Schema> {
    let mut out = IndexMap::new();
    for found in ancestors(table, name).iter().filter_map(|name| table.get(name)) {
        inherit(&mut out, part(found));
    }
    out
}

impl Types {
    /// The capabilities of a node type, inherited ones included.
    pub fn capabilities_of(&self, node: Symbol) -> IndexMap<Symbol, Capability> {
        let mut out: IndexMap<Symbol, Capability> = IndexMap::new();
        for name in ancestors(&self.nodes, node) {
            for (capability, value) in self.nodes.get(&name).into_iter().flat_map(|found| &found.capabilities)
            {
                match out.get_mut(capability) {
                    Some(known) => {
                        inherit(&mut known.properties, &value.properties);
                        inherit(&mut known.attributes, &value.attributes);
                        if &*known.kind == "tosca.capabilities.Root" {
                            known.kind = value.kind;
                        }
                    }
                    None => {
                        out.insert(*capability, value.clone());
                    }
                }
            }
        }
        out
    }

    /// The properties of a capability of a node: those of its type, and what the node type says of them.
    pub(crate) fn capability_properties(&self, capability: &Capability) -> IndexMap<Symbol, Schema> {
        let mut out = capability.properties.clone();
        inherit(&mut out, &inherited(&self.capabilities, capability.kind, |kind| &kind.properties));
        out
    }

    pub(crate) fn capability_attributes(&self, capability: &Capability) -> IndexMap<Symbol, Schema> {
        let mut out = capability.attributes.clone();
        inherit(&mut out, &inherited(&self.capabilities, capability.kind, |kind| &kind.attributes));
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

    /// The interfaces of a type, inherited ones included, each with what its interface type has.
    pub(crate) fn interfaces_of(&self, table: &Table, name: Symbol) -> IndexMap<Symbol, Interface> {
        let mut out: IndexMap<Symbol, Interface> = IndexMap::new();
        for found in ancestors(table, name).iter().filter_map(|name| table.get(name)) {
            for (name, interface) in &found.interfaces {
                out.entry(*name).or_default().inherit(interface);
            }
        }
        for interface in out.values_mut() {
            let Some(kind) = interface.kind else { continue };
            for found in ancestors(&self.interfaces, kind) {
                let of_type = self.interfaces.get(&found).and_then(|kind| kind.interfaces.first());
                if let Some((_, of_type)) = of_type {
                    interface.inherit(of_type);
                }
            }
        }
        out
    }

    /// Adds the types of a document. Types that are there already stay: the template's own come first.
    pub(crate) fn add(&mut self, root: &Node, file: FileId, scope: Scope) {
        for (section, table) in [
            ("node_types", &mut self.nodes),
            ("relationship_types", &mut self.relationships),
            ("capability_types", &mut self.capabilities),
            ("data_types", &mut self.data),
            ("artifact_types", &mut self.artifacts),
            ("interface_types", &mut self.interfaces),
            ("group_types", &mut self.groups),
            ("policy_types", &mut self.policies),
        ] {
            for entry in root.get(section).map(Node::entries).unwrap_or_default() {
                let Some(name) = scope.name(Some(&entry.key)) else { continue };
                table.entry(name).or_insert_with(|| read_type(section, entry, file, scope));
            }
        }
        self.functions.extend(keys(root.get("functions")).into_iter().map(|name| scope.qualify(name)));
    }
}

impl Interface {
    fn inherit(&mut self, inherited: &Self) {
        self.kind = self.kind.or(inherited.kind);
        self.span = self.span.or(inherited.span);
        inherit(&mut self.inputs, &inherited.inputs);
        for (name, inputs) in &inherited.operations {
            inherit(self.operations.entry(*name).or_default(), inputs);
        }
        self.notifications.extend(inherited.notifications.iter().copied());
    }

    fn read(node: &Node, span: Span, file: FileId, scope: Scope) -> Self {
        let mut operations = IndexMap::new();
        for Entry { key, value } in operation_entries(node) {
            let Some(name) = symbol(Some(key)) else { continue };
            operations.insert(name, schemas(value.get("inputs"), file, scope));
        }
        Self {
            kind: scope.name(node.get("type")),
            span: Some(span),
            inputs: schemas(node.get("inputs"), file, scope),
            operations,
            notifications: keys(node.get("notifications")),
        }
    }
}

/// The operations of an interface: below `operations`, or beside its other keys.
pub(crate) fn operation_entries(interface: &Node) -> Vec<&Entry> {
    const OTHER: [&str; 8] = [
        "type",
        "inputs",
        "operations",
        "notifications",
        "description",
        "derived_from",
        "metadata",
        "version",
    ];
    let mut out: Vec<&Entry> =
        interface.get("operations").map(Node::entries).unwrap_or_default().iter().collect();
    let is_operation = |entry: &&Entry| entry.key.text().is_some_and(|name| !OTHER.contains(&name));
    out.extend(interface.entries().iter().filter(is_operation));
    out
}

fn read_type(section: &str, entry: &Entry, file: FileId, scope: Scope) -> Type {
    let (node, span) = (&entry.value, entry.key.range.in_file(file));
    let mut named = Vec::new();
    for (key, of) in [
        ("valid_source_types", Names::Nodes),
        ("valid_source_node_types", Names::Nodes),
        ("valid_target_node_types", Names::Nodes),
        ("valid_target_types", Names::NodesOrCapabilities),
        ("valid_capability_types", Names::Capabilities),
        ("valid_relationship_types", Names::Relationships),
        ("members", Names::Nodes),
        ("targets", Names::NodesOrGroups),
    ] {
        for item in node.get(key).map(Node::items).unwrap_or_default() {
            named.extend(scope.name(Some(item)).map(|name| (name, item.range.in_file(file), of)));
        }
    }
    let mut interfaces: IndexMap<Symbol, Interface> = IndexMap::new();
    if section == "interface_types" {
        // The interface itself, so that interfaces of this type have one place to take it from.
        let itself = Interface { kind: None, ..Interface::read(node, span, file, scope) };
        interfaces.insert(Symbol::new(""), itself);
    }
    for Entry { key, value } in node.get("interfaces").map(Node::entries).unwrap_or_default() {
        let Some(name) = symbol(Some(key)) else { continue };
        interfaces.insert(name, Interface::read(value, key.range.in_file(file), file, scope));
    }
    Type {
        parent: scope.name(node.get("derived_from")),
        span: Some(span),
        capabilities: capabilities(node.get("capabilities"), file, scope),
        requirements: requirements(node.get("requirements"), file, scope),
        properties: schemas(node.get("properties"), file, scope),
        attributes: schemas(node.get("attributes"), file, scope),
        interfaces,
        artifacts: named_items(node.get("artifacts"))
            .iter()
            .filter_map(|(key, _)| symbol(Some(key)))
            .collect(),
        named,
        schema: Schema { kind: None, span: Some(span), ..Schema::read(node, file, scope) },
        written: Some(node.clone()),
        rules: node
            .get("metadata")
            .and_then(|metadata| metadata.get("setpoint_rules"))
            .and_then(|named| Some((named.text()?.to_owned(), named.range.in_file(file)))),
    }
}

pub(crate) fn symbol(node: Option<&Node>) -> Option<Symbol> {
    node.and_then(Node::text).filter(|text| !text.is_empty()).map(Symbol::new)
}

/// The keys of a mapping that are names.
pub(crate) fn keys(node: Option<&Node>) -> Vec<Symbol> {
    let entries = node.map(Node::entries).unwrap_or_default();
    entries.iter().filter_map(|entry| symbol(Some(&entry.key))).collect()
}

fn capabilities(node: Option<&Node>, file: FileId, scope: Scope) -> IndexMap<Symbol, Capability> {
    let mut out = IndexMap::new();
    for (key, value) in named_items(node) {
        let Some(name) = key.text() else { continue };
        let kind = scope.name(Some(value)).or_else(|| scope.name(value.get("type")));
        let sources = value.get("valid_source_types").or_else(|| value.get("valid_source_node_types"));
        let sources = sources.map(Node::items).unwrap_or_default();
        let capability = Capability {
            kind: kind.unwrap_or_else(|| Symbol::new("tosca.capabilities.Root")),
            span: key.range.to(value.range).in_file(file),
            valid_sources: sources.iter().filter_map(|source| scope.name(Some(source))).collect(),
            most: bounds(value).1,
            properties: schemas(value.get("properties"), file, scope),
            attributes: schemas(value.get("attributes"), file, scope),
        };
        out.insert(Symbol::new(name), capability);
    }
    out
}

/// The least and greatest number that `occurrences` or `count_range` says, where it says one.
fn bounds(node: &Node) -> (Option<usize>, Option<usize>) {
    let range = node.get("occurrences").or_else(|| node.get("count_range"));
    // One number is both bounds.
    if let Some(only) = range.and_then(Node::text).and_then(|text| text.parse().ok()) {
        return (Some(only), Some(only));
    }
    let number = |at: usize| range.and_then(|range| range.items().get(at)).and_then(Node::text)?.parse().ok();
    (number(0), number(1))
}

/// Requirements are a list of mappings with one key, or one mapping.
pub(crate) fn named_items(node: Option<&Node>) -> Vec<(&Node, &Node)> {
    let Some(node) = node else { return Vec::new() };
    let entries = node.entries().iter().chain(node.items().iter().flat_map(Node::entries));
    entries.map(|entry| (&entry.key, &entry.value)).collect()
}

fn requirements(node: Option<&Node>, file: FileId, scope: Scope) -> Vec<Requirement> {
    named_items(node)
        .into_iter()
        .filter_map(|(key, value)| {
            let relationship = value.get("relationship");
            let relationship =
                scope.name(relationship).or_else(|| scope.name(relationship.and_then(|one| one.get("type"))));
            let (least, most) = bounds(value);
            Some(Requirement {
                name: Symbol::new(key.text()?),
                span: key.range.to(value.range).in_file(file),
                capability: scope.name(Some(value)).or_else(|| scope.name(value.get("capability"))),
                node: scope.name(value.get("node")),
                relationship,
                least: least.unwrap_or(1),
                most,
            })
        })
        .collect()
}
