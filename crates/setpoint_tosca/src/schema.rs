//! Definitions of properties, attributes and parameters.

use indexmap::IndexMap;
use setpoint_data::Node;
use setpoint_source::{FileId, Span, Symbol};

use crate::types::Scope;

/// What a property, an attribute, a parameter or an element may hold.
#[derive(Debug, Clone, Default)]
pub struct Schema {
    /// The data type; nothing if a refinement leaves it to the type that it derives from.
    pub kind: Option<Symbol>,
    pub required: bool,
    pub default: Option<Node>,
    /// A value that cannot be changed.
    pub value: Option<Node>,
    /// `constraints` of the Simple Profile, each a mapping with one key.
    pub constraints: Vec<Node>,
    /// `validation` of TOSCA 2.0.
    pub validation: Option<Node>,
    pub key: Option<Box<Schema>>,
    pub entry: Option<Box<Schema>>,
    /// The short form, which names a type; in a refinement it is a value.
    pub short: Option<Node>,
    pub span: Option<Span>,
}

impl Schema {
    /// Reads a definition, or the name of a type that stands for one.
    pub(crate) fn read(node: &Node, file: FileId, scope: Scope) -> Self {
        let inner = |key: &str| node.get(key).map(|node| Box::new(Self::read(node, file, scope)));
        Self {
            kind: scope.name(Some(node)).or_else(|| scope.name(node.get("type"))),
            required: !node.get("required").and_then(Node::text).is_some_and(|text| {
                ["false", "no", "off"].iter().any(|word| text.eq_ignore_ascii_case(word))
            }),
            default: node.get("default").cloned(),
            value: node.get("value").cloned(),
            constraints: node.get("constraints").map(|list| list.items().to_vec()).unwrap_or_default(),
            validation: node.get("validation").cloned(),
            key: inner("key_schema"),
            entry: inner("entry_schema"),
            short: node.text().map(|_| node.clone()),
            span: Some(node.range.in_file(file)),
        }
    }

    /// Takes what this one leaves out from the definition that it refines.
    pub(crate) fn refine(&mut self, inherited: &Self) {
        if let Some(value) = self.short.take() {
            self.kind = None;
            self.default = Some(value);
        }
        self.kind = self.kind.or(inherited.kind);
        self.default = self.default.take().or_else(|| inherited.default.clone());
        self.value = self.value.take().or_else(|| inherited.value.clone());
        self.entry = self.entry.take().or_else(|| inherited.entry.clone());
        self.key = self.key.take().or_else(|| inherited.key.clone());
    }

    /// Whether someone has to give a value.
    pub(crate) fn must_be_given(&self) -> bool {
        self.required && self.default.is_none() && self.value.is_none()
    }
}

/// Reads definitions by name.
pub(crate) fn schemas(node: Option<&Node>, file: FileId, scope: Scope) -> IndexMap<Symbol, Schema> {
    let entries = node.map(Node::entries).unwrap_or_default();
    let read = |entry: &setpoint_data::Entry| {
        let schema = Schema::read(&entry.value, file, scope);
        let span = Some(entry.key.range.in_file(file));
        Some((Symbol::new(entry.key.text()?), Schema { span, ..schema }))
    };
    entries.iter().filter_map(read).collect()
}

/// Adds inherited definitions to those of a derived type.
pub(crate) fn inherit(own: &mut IndexMap<Symbol, Schema>, inherited: &IndexMap<Symbol, Schema>) {
    for (name, schema) in inherited {
        match own.get_mut(name) {
            Some(known) => known.refine(schema),
            None => {
                own.insert(*name, schema.clone());
            }
        }
    }
}
