//! The compiled component as a store: what is temporary is gone, and what is lazy is text for the runtime.

use std::fmt::Write as _;

use rustc_hash::FxHashMap;
use setpoint_source::Span;

use super::Production;
use super::tree::{Key, Node, NodeId, Tree, Value};
use super::types::has_tag;
use crate::error::{Fail, Number, limit, numbered};
use crate::reference::shown;
use crate::store::{Entry, Store, Value as Compiled};
use crate::{MAX_DEPTH, check_size, output};

impl Production<'_> {
    /// The compiled component, if it has an end and is of reasonable size.
    pub(super) fn finish(&mut self, main: NodeId, span: Span) -> Result<Store, Fail> {
        let mut measure = Measure { tree: &self.tree, open: Vec::new(), known: FxHashMap::default() };
        check_size(measure.extent(main, false)?.attributes, span)?;
        Ok(self.finished(main, &mut FxHashMap::default()))
    }

    /// Components that occur more than once become one store.
    fn finished(&mut self, node: NodeId, done: &mut FxHashMap<NodeId, Store>) -> Store {
        if let Some(store) = done.get(&node) {
            return store.clone();
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
                Value::Component(inner) => Compiled::Store(self.finished(*inner, done)),
                other => Compiled::Lazy(self.text(other, true).into()),
            };
            store.put(entry);
        }
        store.set_data(self.tree.node(node).data);
        store.set_orders(self.tree.node(node).orders.clone());
        // A component with variables is not shared: wherever it lands, they are variables of their own.
        if self.variables == variables {
            done.insert(node, store.clone());
        }
        store
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

    /// A value in the notation of the production compiler; with all that is in its components, if it is to be whole.
    fn text(&mut self, value: &Value, is_whole: bool) -> String {
        let mut out = String::new();
        self.write(value, is_whole, &mut out);
        out
    }

    /// A value as a trace shows it: what is in a component has steps of its own.
    pub(super) fn shown_value(&mut self, value: &Value) -> String {
        let variables = self.variables;
        let text = self.text(value, false);
        self.variables = variables;
        // A line end in a string is written `\n`.
        text.replace('\n', " ")
    }

    fn write(&mut self, value: &Value, is_whole: bool, out: &mut String) {
        match value {
            Value::Basic(value) => out.push_str(&output::sf_value(&self.numbered(value))),
            Value::Component(_) if !is_whole => out.push_str("extends {…}"),
            Value::Component(node) => {
                out.push_str(if self.tree.node(*node).data { "extends DATA {\n" } else { "extends {\n" });
                self.write_attributes(*node, is_whole, out);
                out.push('}');
            }
            Value::Link(link) => {
                if link.lazy {
                    out.push_str("LAZY ");
                }
                match &link.default {
                    None => {}
                    Some((Compiled::Null, _)) => out.push_str("OPTIONAL "),
                    Some((default, _)) => {
                        let _ = write!(out, "OPTIONAL ({}) ", output::sf_value(default));
                    }
                }
                out.push_str(&output::reference(&link.reference.parts));
            }
            Value::Apply { node, lazy } => self.write_call("APPLY", *node, *lazy, is_whole, out),
            Value::Assert { node, lazy } => self.write_call("ASSERT", *node, *lazy, is_whole, out),
            Value::ToBeDefined => out.push_str("TBD"),
            Value::Nothing => out.push_str("NULL"),
        }
    }

    fn write_call(&mut self, keyword: &str, node: NodeId, lazy: bool, is_whole: bool, out: &mut String) {
        let _ = write!(out, "{}{keyword} {{", if lazy { "LAZY " } else { "" });
        self.write_attributes(node, is_whole, out);
        out.push('}');
    }

    fn write_attributes(&mut self, node: NodeId, is_whole: bool, out: &mut String) {
        for at in 0..self.tree.node(node).attributes.len() {
            let Some((Key::Name(name), attribute)) = self.tree.node(node).attributes.get_index(at) else {
                continue;
            };
            if let Some(tags) = &attribute.tags {
                out.push_str(&output::tags(tags));
            }
            let (name, value) = (*name, attribute.value.clone());
            let _ = write!(out, "{} ", output::name(&name));
            self.write(&value, is_whole, out);
            out.push_str(if matches!(value, Value::Component(_)) { "\n" } else { ";\n" });
        }
    }
}

/// The size of a component or function when all that it refers to is written out.
#[derive(Clone, Copy)]
struct Extent {
    attributes: u64,
    depth: usize,
}

/// Measures components and functions before they are written out: those that are left to the runtime hold what they refer to.
struct Measure<'t> {
    tree: &'t Tree,
    /// What is being measured, outermost first, and whether it is a function.
    open: Vec<(NodeId, bool)>,
    known: FxHashMap<NodeId, Extent>,
}

impl Measure<'_> {
    fn extent(&mut self, node: NodeId, is_function: bool) -> Result<Extent, Fail> {
        if let Some(&known) = self.known.get(&node) {
            return Ok(known);
        }
        if let Some(at) = self.open.iter().position(|(open, _)| *open == node) {
            let function = self.open[at..].iter().find(|(_, is_function)| *is_function);
            let node = function.map_or(node, |(node, _)| *node);
            let message = format!(
                "`{}` is left to the runtime with all that it refers to, and in the end that contains it: it would expand \
                 without end",
                shown(&self.tree.path(node))
            );
            return Err(numbered(Number::ImplicitCycle, self.tree.node(node).span, message));
        }
        self.open.push((node, is_function));
        let Node { attributes, span, .. } = self.tree.node(node);
        let mut extent = Extent { attributes: attributes.len() as u64, depth: 1 };
        for attribute in attributes.values() {
            let inner = match attribute.value {
                Value::Component(_) if !is_function && has_tag(attribute, "sfTemp") => continue,
                Value::Component(inner) => self.extent(inner, false)?,
                Value::Apply { node, .. } | Value::Assert { node, .. } => self.extent(node, true)?,
                _ => continue,
            };
            extent.attributes = extent.attributes.saturating_add(inner.attributes);
            extent.depth = extent.depth.max(inner.depth + 1);
        }
        if extent.depth > MAX_DEPTH || self.open.len() > MAX_DEPTH {
            let message = format!("the compiled components would be nested more than {MAX_DEPTH} deep");
            return Err(limit(Some(*span), message));
        }
        self.open.pop();
        self.known.insert(node, extent);
        Ok(extent)
    }
}
