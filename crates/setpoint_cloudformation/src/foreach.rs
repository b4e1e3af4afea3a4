//! `Fn::ForEach` of the language extensions: a loop over a list that makes several keys out of one.

use std::sync::Arc;

use setpoint_data::{Entry, Kind, MAX_NODES, Node};
use setpoint_source::{Limit, Symbol};

use crate::omission::{Omission, Omitted};
use crate::template::{Parameter, Table};

/// How the key of a loop begins.
pub(crate) const LOOP: &str = "Fn::ForEach";

/// Loops may nest, and each may be long: a loop that would make more copies is left out.
const MAX_COPIES: Limit = Limit::new(100_000);

/// Unrolls all loops of a tree. A loop that cannot be unrolled is left out and recorded.
pub(crate) fn expand(root: &Node, parameters: &Table<Parameter>, omissions: &mut Vec<Omission>) -> Node {
    Unroller { parameters, mappings: root.get("Mappings"), omissions, copies: 0, nodes: 0 }.node(root)
}

struct Unroller<'a> {
    parameters: &'a Table<Parameter>,
    mappings: Option<&'a Node>,
    omissions: &'a mut Vec<Omission>,
    copies: usize,
    nodes: usize,
}

impl Unroller<'_> {
    fn node(&mut self, node: &Node) -> Node {
        let kind = match &node.kind {
            Kind::Scalar { .. } => return node.clone(),
            Kind::Sequence(items) => {
                Kind::Sequence(Arc::new(items.iter().map(|item| self.node(item)).collect()))
            }
            Kind::Mapping(entries) => {
                let mut out: Vec<Entry> = Vec::with_capacity(entries.len());
                for entry in entries.iter() {
                    let name = entry.key.text().filter(|name| name.starts_with(LOOP)).map(Symbol::new);
                    let Some(name) = name else {
                        out.push(Entry { key: entry.key.clone(), value: self.node(&entry.value) });
                        continue;
                    };
                    match self.unroll(name, &entry.value) {
                        Ok(more) => out.extend(more),
                        Err(what) => self.omit(what, entry),
                    }
                }
                Kind::Mapping(Arc::new(out))
            }
        };
        Node { kind, ..node.clone() }
    }

    fn omit(&mut self, what: Omitted, entry: &Entry) {
        let omission = Omission::new(what, entry.key.range);
        if !self.omissions.contains(&omission) {
            self.omissions.push(omission);
        }
    }

    fn unroll(&mut self, name: Symbol, argument: &Node) -> Result<Vec<Entry>, Omitted> {
        let [identifier, collection, body] = argument.items() else { return Err(Omitted::Loop(name)) };
        let Some(identifier) = identifier.text().filter(|_| body.is_mapping()) else {
            return Err(Omitted::Loop(name));
        };
        let values = self.values(name, collection)?;
        self.copies = self.copies.saturating_add(values.len());
        self.nodes = self.nodes.saturating_add(values.len().saturating_mul(size(body)));
        if self.copies > MAX_COPIES || self.nodes > MAX_NODES {
            return Err(Omitted::LoopLimit(name, MAX_COPIES.get()));
        }
        let mut out: Vec<Entry> = Vec::new();
        for value in values {
            let replaced = replace(body, identifier, &value);
            out.extend(self.node(&replaced).entries().iter().cloned());
        }
        Ok(out)
    }

    /// Returns the list that `Fn::FindInMap` gives, if its keys are text: an outer loop may have put them in.
    fn found_in_map(&self, node: &Node) -> Option<&Node> {
        let arguments = match node.tag.as_deref() {
            Some("FindInMap") => node,
            None => node.get("Fn::FindInMap")?,
            Some(_) => return None,
        };
        let [map, first, second] = arguments.items() else { return None };
        let text = |node: &Node| node.text().filter(|_| node.tag.is_none()).map(str::to_owned);
        self.mappings?.get(&text(map)?)?.get(&text(first)?)?.get(&text(second)?)
    }

    /// Returns the values of a literal list or of one in a mapping, or of the default of a parameter, which is then assumed.
    fn values(&mut self, name: Symbol, node: &Node) -> Result<Vec<String>, Omitted> {
        let parameter = match (node.tag.as_deref(), node.get("Ref")) {
            (Some("Ref"), _) => node.text(),
            (None, Some(name)) => name.text(),
            _ => None,
        };
        if let Some(text) = parameter {
            let parameter = Symbol::new(text);
            let known = self.parameters.get(&parameter);
            let Some(default) = known.and_then(|parameter| parameter.default.as_deref()) else {
                return Err(Omitted::LoopValues(name));
            };
            let assumed = Omission::new(Omitted::LoopDefault(parameter), node.range);
            if !self.omissions.contains(&assumed) {
                self.omissions.push(assumed);
            }
            return Ok(default.split(',').map(|value| value.trim().to_owned()).collect());
        }
        let node = self.found_in_map(node).unwrap_or(node);
        if node.tag.is_some() || node.is_mapping() {
            return Err(Omitted::LoopValues(name));
        }
        if !node.is_sequence() {
            return Err(Omitted::Loop(name));
        }
        let values =
            node.items().iter().map(|item| item.text().filter(|_| item.tag.is_none()).map(str::to_owned));
        values.collect::<Option<_>>().ok_or(Omitted::LoopValues(name))
    }
}

/// Counts the nodes of a tree.
fn size(node: &Node) -> usize {
    let below: usize = match &node.kind {
        Kind::Scalar { .. } => 0,
        Kind::Sequence(items) => items.iter().map(size).sum(),
        Kind::Mapping(entries) => entries.iter().map(|entry| 1 + size(&entry.value)).sum(),
    };
    1 + below
}

fn replace(node: &Node, identifier: &str, value: &str) -> Node {
    let kind = match &node.kind {
        Kind::Scalar { text, style } => {
            if node.tag.as_deref() == Some("Ref") && &**text == identifier {
                return Node {
                    tag: None,
                    kind: Kind::Scalar { text: value.into(), style: *style },
                    ..node.clone()
                };
            }
            Kind::Scalar { text: substitute(text, identifier, value).into(), style: *style }
        }
        Kind::Sequence(items) => {
            Kind::Sequence(Arc::new(items.iter().map(|item| replace(item, identifier, value)).collect()))
        }
        Kind::Mapping(entries) => {
            if let [Entry { key, value: target }] = entries.as_slice()
                && key.text() == Some("Ref")
                && target.text() == Some(identifier)
            {
                return replace_text(target, value);
            }
            let replaced = entries.iter().map(|entry| Entry {
                key: replace(&entry.key, identifier, value),
                value: replace(&entry.value, identifier, value),
            });
            Kind::Mapping(Arc::new(replaced.collect()))
        }
    };
    let mut replaced = Node { kind, ..node.clone() };
    // `!Sub S3Bucket${Identifier}` with nothing left to substitute is plain text, and so may name a resource.
    if replaced.tag.as_deref() == Some("Sub") && replaced.text().is_some_and(|text| !text.contains("${")) {
        replaced.tag = None;
    }
    if let [Entry { key, value }] = replaced.entries()
        && key.text() == Some("Fn::Sub")
        && value.text().is_some_and(|text| !text.contains("${"))
    {
        return value.clone();
    }
    replaced
}

fn replace_text(node: &Node, value: &str) -> Node {
    Node {
        tag: None,
        kind: Kind::Scalar { text: value.into(), style: setpoint_data::Style::Quoted },
        ..node.clone()
    }
}

/// `${Id}` becomes the value, `&{Id}` the value with what is not a letter or a digit left out.
fn substitute(text: &str, identifier: &str, value: &str) -> String {
    let plain: String = value.chars().filter(char::is_ascii_alphanumeric).collect();
    text.replace(&format!("${{{identifier}}}"), value).replace(&format!("&{{{identifier}}}"), &plain)
}
