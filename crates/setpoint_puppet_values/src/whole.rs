//! Provenance of collections: the node of an array or a hash stands for all that is in it.
//!
//! Whoever takes a collection whole takes its node, and so depends on every element, however deep. This holds because
//! every collection that is made goes through here: a value that has a node of its own was copied, and its node stands for
//! it already; one that has none, or that was changed, is new, and gets a node over its parts.

use std::sync::Arc;

use setpoint_provenance::{Arena, Control, Prov};
use setpoint_source::{Span, Symbol};

use crate::value::{Data, Value};

/// What makes values: an operation, its place, and what everything depends on that it makes.
#[derive(Debug, Clone, Copy)]
pub struct Maker<'a> {
    pub name: Symbol,
    pub span: Option<Span>,
    pub of: &'a [Prov],
    /// What decides how many elements a collection has, and in which order; `None` if all does.
    pub shape: Option<&'a [Prov]>,
}

impl Maker<'_> {
    /// Gives a value that was made its nodes. One that was copied keeps its own, seen under the operation that chose it.
    pub fn explain(self, value: Value, arena: &mut Arena) -> Value {
        if !arena.enabled() {
            return value;
        }
        let is_copy = !value.prov.is_none() && !value.prov.is_changed();
        if is_copy {
            let call = arena.operation(self.name, self.span, self.of);
            let prov = arena.under(value.prov, Control::Selection, call, self.span);
            return value.with(prov);
        }
        if !is_collection(&value) {
            let prov = arena.operation(self.name, self.span, self.of);
            return value.with(prov);
        }
        let mut parts = Parts { maker: self, arena, element: Prov::NONE };
        let mut value = value;
        let (keys, values) = parts.of(&mut value);
        let shape = match self.shape {
            Some(shape) => [shape, &keys].concat(),
            None => [self.of, &keys].concat(),
        };
        // What is not part of the shape is part of the elements.
        let rest = if self.shape.is_some() && parts.element.is_none() { &[][..] } else { self.of };
        let values = if self.shape.is_some() { [rest, &values].concat() } else { values };
        let prov = parts.arena.collection(self.name, self.span, &shape, &values);
        value.with(prov)
    }
}

/// The parts of a value that is being explained.
struct Parts<'m, 'a> {
    maker: Maker<'m>,
    arena: &'a mut Arena,
    /// The node of all parts that were made of all that the operation was given.
    element: Prov,
}

impl Parts<'_, '_> {
    /// Gives the parts of a collection their nodes: those of keys, and those of elements.
    fn of(&mut self, value: &mut Value) -> (Vec<Prov>, Vec<Prov>) {
        let (mut keys, mut values) = (Vec::new(), Vec::new());
        match &mut value.data {
            Data::Array(items) => {
                if items.iter().any(is_new) {
                    for item in Arc::make_mut(items) {
                        self.explain(item);
                    }
                }
                values.extend(items.iter().map(|item| item.prov));
            }
            Data::Hash(entries) => {
                if entries.values().any(is_new) {
                    for item in Arc::make_mut(entries).values_mut() {
                        self.explain(item);
                    }
                }
                keys.extend(entries.keys().map(|key| key.0.prov).filter(|prov| !prov.is_none()));
                values.extend(entries.values().map(|item| item.prov));
            }
            Data::Sensitive(inner) => {
                if is_new(inner) {
                    self.explain(Arc::make_mut(inner));
                }
                values.push(inner.prov);
            }
            _ => {}
        }
        values.dedup();
        (keys, values)
    }

    fn explain(&mut self, part: &mut Value) {
        if !is_new(part) {
            return;
        }
        let of = part.prov;
        if !is_collection(part) {
            part.prov = self.element(of);
            return;
        }
        let (keys, values) = self.of(part);
        let own = self.element(of);
        let is_plain = keys.is_empty() && values.iter().all(|value| *value == own);
        part.prov = if is_plain {
            own
        } else {
            let keys = [&[own][..], &keys].concat();
            self.arena.collection("element".into(), self.maker.span, &keys, &values)
        };
    }

    /// The node of an element that was made of a part, or of everything.
    fn element(&mut self, of: Prov) -> Prov {
        if !of.is_none() {
            return self.arena.operation("element".into(), self.maker.span, &[of]);
        }
        if self.element.is_none() {
            let call = self.arena.operation(self.maker.name, self.maker.span, self.maker.of);
            self.element = self.arena.operation("element".into(), self.maker.span, &[call]);
        }
        self.element
    }
}

/// Whether a value was made just now, and has no node that stands for it.
fn is_new(value: &Value) -> bool {
    value.prov.is_none() || value.prov.is_changed()
}

fn is_collection(value: &Value) -> bool {
    matches!(value.data, Data::Array(_) | Data::Hash(_) | Data::Sensitive(_))
}
