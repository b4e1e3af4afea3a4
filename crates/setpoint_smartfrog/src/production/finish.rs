//! The compiled component as a store: what is temporary is gone, and what is lazy is text for the runtime.

use std::fmt::Write as _;

use rustc_hash::FxHashMap;

use super::Production;
use super::tree::{Key, NodeId, Value};
use super::types::has_tag;
use crate::error::{Fail, limit};
use crate::store::{Entry, Store, Value as Compiled};
use crate::{MAX_DEPTH, output};

impl Production<'_> {
    /// Components that occur more than once become one store.
    pub(super) fn finished(
        &mut self,
        node: NodeId,
        done: &mut FxHashMap<NodeId, Store>,
    ) -> Result<Store, Fail> {
        if let Some(store) = done.get(&node) {
            return Ok(store.clone());
        }
        let mut store = Store::new();
        let variables = self.variables;
        for at in 0..self.tree.node(node).attributes.len() {
            let Some((Key::Name(name), attribute)) = self.tree.node(node).attributes.get_index(at) else {
                continue;
            };
            let name = *name;
            if has_tag(attribute, "sfTemp") {
                let span = attribute.span;
                self.watch_removed((node, name), span, "is tagged `sfTemp`, and is left out");
                continue;
            }
            let mut entry = Entry::new(name, Compiled::Null, attribute.provenance);
            entry.tags.clone_from(&attribute.tags);
            let value = attribute.value.clone();
            entry.value = match &value {
                Value::Nothing => continue,
                Value::Basic(value) => self.numbered(value),
                Value::Component(inner) => Compiled::Store(self.finished(*inner, done)?),
                other => Compiled::Lazy(self.text(other).into()),
            };
            store.put(entry);
        }
        if store.depth() as usize > MAX_DEPTH {
            let message = format!("the compiled components would be nested more than {MAX_DEPTH} deep");
            return Err(limit(Some(self.tree.node(node).span), message));
        }
        store.set_data(self.tree.node(node).data);
        store.set_orders(self.tree.node(node).orders.clone());
        // A component with variables is not shared: wherever it lands, they are variables of their own.
        if self.variables == variables {
            done.insert(node, store.clone());
        }
        Ok(store)
    }

    /// A value whose variables have their numbers.
    fn numbered(&mut self, value: &Compiled) -> Compiled {
        match value {
            Compiled::Variable(_) => {
                self.variables += 1;
                Compiled::Variable(self.variables)
            }
            Compiled::Vector(elements) => {
                Compiled::Vector(elements.iter().map(|element| self.numbered(element)).collect())
            }
            other => other.clone(),
        }
    }

    /// A value in the notation of the production compiler.
    fn text(&mut self, value: &Value) -> String {
        match value {
            Value::Basic(value) => output::sf_value(&self.numbered(value)),
            Value::Component(node) => {
                let data = if self.tree.node(*node).data { "DATA " } else { "" };
                format!("extends {data}{{\n{}}}", self.attributes_text(*node))
            }
            Value::Link(link) => {
                let mut text = if link.lazy { "LAZY ".to_owned() } else { String::new() };
                match &link.default {
                    None => {}
                    Some((Compiled::Null, _)) => text.push_str("OPTIONAL "),
                    Some((default, _)) => {
                        let _ = write!(text, "OPTIONAL ({}) ", output::sf_value(default));
                    }
                }
                text + &output::reference(&link.reference.parts)
            }
            Value::Apply { node, lazy } => self.call_text("APPLY", *node, *lazy),
            Value::Assert { node, lazy } => self.call_text("ASSERT", *node, *lazy),
            Value::ToBeDefined => "TBD".to_owned(),
            Value::Nothing => "NULL".to_owned(),
        }
    }

    /// A value as a trace shows it: what is in a component has steps of its own.
    pub(super) fn shown_value(&mut self, value: &Value) -> String {
        match value {
            Value::Component(_) => "extends {…}".to_owned(),
            other => {
                let variables = self.variables;
                let text = self.text(other);
                self.variables = variables;
                text.split_whitespace().collect::<Vec<_>>().join(" ")
            }
        }
    }

    fn call_text(&mut self, keyword: &str, node: NodeId, lazy: bool) -> String {
        format!("{}{keyword} {{{}}}", if lazy { "LAZY " } else { "" }, self.attributes_text(node))
    }

    fn attributes_text(&mut self, node: NodeId) -> String {
        let mut out = String::new();
        for at in 0..self.tree.node(node).attributes.len() {
            let Some((Key::Name(name), attribute)) = self.tree.node(node).attributes.get_index(at) else {
                continue;
            };
            if let Some(tags) = &attribute.tags {
                out.push_str(&output::tags(tags));
            }
            let (name, value) = (*name, attribute.value.clone());
            let end = if matches!(value, Value::Component(_)) { "" } else { ";" };
            let _ = writeln!(out, "{} {}{end}", output::name(&name), self.text(&value));
        }
        out
    }
}
