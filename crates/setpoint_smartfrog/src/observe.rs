//! What is noticed while a specification is evaluated, and is worth a finding even though it compiles.

use rustc_hash::FxHashMap;
use setpoint_provenance::Arena;
use setpoint_source::{Span, Symbol};

use crate::core::Evaluator;
use crate::reference::{Path, concatenation, is_prefix, prefix};
use crate::store::{Store, Value};
use crate::syntax::Body;

/// Two attributes whose order in a component is not the one in which they are written.
#[derive(Debug)]
pub struct OrderChange {
    pub component: Path,
    /// Written before `second`, compiled after it.
    pub first: Symbol,
    pub second: Symbol,
    pub source: OrderSource,
    /// Where the value of `second` was inherited from, which fixed its position.
    pub inherited: Option<Span>,
    /// All attributes that were written, as they are written and as they are compiled.
    pub written: Vec<Symbol>,
    pub compiled: Vec<Symbol>,
}

/// Who wrote the order.
#[derive(Debug)]
pub enum OrderSource {
    /// The body of the component, with the places of the two attributes.
    Body { first: Span, second: Span },
    /// A prototype, with the place where it is named.
    Prototype(Span),
}

/// A prototype that is not the one that its name suggests.
#[derive(Debug)]
pub struct Shadowed {
    pub component: Path,
    pub reference: Path,
    pub found: Path,
    pub span: Span,
    /// The component that is hidden, further out.
    pub outer: Option<Path>,
    /// The prototype is the component itself, or one around it.
    pub itself: bool,
}

/// How one component refers to another.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum EdgeKind {
    Extends,
    Link,
}

/// A reference, with both ends as paths from the root.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Edge {
    pub from: Path,
    pub to: Path,
    pub kind: EdgeKind,
}

#[derive(Debug, Default)]
pub struct Observations {
    pub order_changes: Vec<OrderChange>,
    pub shadowed: Vec<Shadowed>,
    pub edges: Vec<Edge>,
}

impl Observations {
    pub(crate) fn refers(&mut self, from: &[Symbol], to: Path, kind: EdgeKind) {
        self.edges.push(Edge { from: from.to_vec(), to, kind });
    }

    pub(crate) fn prototype_used(
        &mut self,
        evaluator: &Evaluator,
        namespace: &[Symbol],
        names: &[Symbol],
        found_in: &[Symbol],
        target: &[Symbol],
        span: Span,
    ) {
        let found = concatenation(found_in, names);
        self.refers(target, found.clone(), EdgeKind::Extends);
        let itself = is_prefix(&found, target);
        let outer = (!found_in.is_empty() && is_prefix(found_in, namespace))
            .then(|| evaluator.resolve(prefix(found_in), names))
            .flatten()
            .filter(|outer| matches!(outer.value, Value::Store(_)))
            .map(|outer| concatenation(&outer.namespace, names));
        if itself || outer.is_some() {
            let component = target.to_vec();
            self.shadowed.push(Shadowed { component, reference: names.to_vec(), found, span, outer, itself });
        }
    }

    /// A prototype is copied over attributes that are there already.
    pub(crate) fn inherited_order(
        &mut self,
        before: &Store,
        prototype: &Store,
        target: &[Symbol],
        span: Span,
        arena: &Arena,
    ) {
        if before.is_empty() {
            return;
        }
        let names: Vec<Symbol> = prototype.iter().map(|entry| entry.name).collect();
        let position = |name: Symbol| before.position(name).unwrap_or(usize::MAX);
        if let Some((first, second)) = inversion(&names, position, before) {
            let inherited = before.entry(second).and_then(|entry| arena.origin(entry.provenance)?.span);
            let mut compiled = names.clone();
            compiled.sort_by_key(|&name| position(name));
            self.order_changes.push(OrderChange {
                component: target.to_vec(),
                first,
                second,
                source: OrderSource::Prototype(span),
                inherited,
                written: names,
                compiled,
            });
        }
    }

    /// A body was evaluated in a component that had inherited attributes.
    pub(crate) fn written_order(
        &mut self,
        body: &Body,
        before: &Store,
        after: &Store,
        component: &[Symbol],
        arena: &Arena,
    ) {
        if before.is_empty() {
            return;
        }
        let mut places: FxHashMap<Symbol, Span> = FxHashMap::default();
        let mut written = Vec::new();
        for assignment in &body.assignments {
            if let [name] = assignment.target[..] {
                places.entry(name).or_insert_with(|| {
                    written.push(name);
                    assignment.span
                });
            }
        }
        let position = |name: Symbol| after.position(name).unwrap_or(usize::MAX);
        let Some((first, second)) = inversion(&written, position, after) else { return };
        let (Some(&first_span), Some(&second_span)) = (places.get(&first), places.get(&second)) else {
            return;
        };
        let inherited = before.entry(second).and_then(|entry| arena.origin(entry.provenance)?.span);
        let mut compiled = written.clone();
        compiled.sort_by_key(|&name| position(name));
        self.order_changes.push(OrderChange {
            component: component.to_vec(),
            first,
            second,
            source: OrderSource::Body { first: first_span, second: second_span },
            inherited,
            written,
            compiled,
        });
    }
}

/// The first two neighbours of a list that stand in the opposite order in a store, and whose order no constraint states.
fn inversion(
    names: &[Symbol],
    position: impl Fn(Symbol) -> usize,
    store: &Store,
) -> Option<(Symbol, Symbol)> {
    names.windows(2).map(|pair| (pair[0], pair[1])).find(|&(first, second)| {
        position(second) < position(first) && !crate::order::states(store.orders(), first, second)
    })
}
