//! Figure 19: `order a < b;`, constraints on the order of the attributes of a component.
//!
//! Constraints are inherited as attributes are. A constraint of a component overrides an inherited one on the same two
//! attributes; all others hold together. The compiled order is the one that the constraints demand, and where they
//! demand nothing, the order of the store.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::{FxHashMap, FxHashSet};
use setpoint_source::{Diagnostic, Rule, Symbol};

use crate::error::Fail;
use crate::store::{Entry, Store, Value};
use crate::syntax::OrderConstraint;

/// The constraints that a component writes.
pub(crate) fn declare(store: &mut Store, own: &[OrderConstraint]) {
    let all = overridden_by(store.orders(), own);
    store.set_orders(all);
}

/// All constraints, without those inherited ones that a constraint of the component's own contradicts.
pub(crate) fn overridden_by(inherited: &[OrderConstraint], own: &[OrderConstraint]) -> Vec<OrderConstraint> {
    let reversed: FxHashSet<(Symbol, Symbol)> = own.iter().map(|order| (order.after, order.before)).collect();
    let inherited = inherited.iter().filter(|order| !reversed.contains(&(order.before, order.after)));
    inherited.chain(own).copied().collect()
}

/// The constraints of a prototype: they override those of prototypes before it.
pub(crate) fn inherit(store: &mut Store, prototype: &[OrderConstraint]) {
    if !prototype.is_empty() {
        declare(store, prototype);
    }
}

/// Whether a constraint speaks of these two attributes.
pub(crate) fn states(orders: &[OrderConstraint], first: Symbol, second: Symbol) -> bool {
    orders.iter().any(|order| {
        (order.before, order.after) == (first, second) || (order.before, order.after) == (second, first)
    })
}

/// The store with every component in the order that its constraints demand.
pub(crate) fn apply(store: &Store) -> Result<Store, Fail> {
    Sorter::default().sorted(store)
}

#[derive(Default)]
struct Sorter {
    /// Components that are shared are sorted once, and stay shared.
    done: FxHashMap<usize, Store>,
    keep: Vec<Store>,
}

impl Sorter {
    fn sorted(&mut self, store: &Store) -> Result<Store, Fail> {
        if let Some(done) = self.done.get(&store.address()) {
            return Ok(done.clone());
        }
        let mut changed = Vec::new();
        for entry in store.iter() {
            if let Value::Store(child) = &entry.value {
                let sorted = self.sorted(child)?;
                if !sorted.is_same(child) {
                    changed.push(Entry { value: Value::Store(sorted), ..entry.clone() });
                }
            }
        }
        let mut result = store.clone();
        for entry in changed {
            result.put(entry);
        }
        if !store.orders().is_empty() {
            let order = topological(&result)?;
            if order.windows(2).any(|pair| pair[0] > pair[1]) {
                let mut sorted = Store::new();
                sorted.set_data(result.is_data());
                for at in order {
                    if let Some(entry) = result.entry_at(at) {
                        sorted.put(entry.clone());
                    }
                }
                result = sorted;
            }
        }
        // The original is kept alive with its copy, so that its address stays its own.
        self.keep.push(store.clone());
        self.done.insert(store.address(), result.clone());
        Ok(result)
    }
}

/// The positions of a store in an order that satisfies its constraints and is otherwise the order of the store.
fn topological(store: &Store) -> Result<Vec<usize>, Fail> {
    let mut after: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
    let mut waiting = vec![0_usize; store.len()];
    for order in store.orders() {
        let (Some(first), Some(second)) = (store.position(order.before), store.position(order.after)) else {
            continue;
        };
        after.entry(first).or_default().push(second);
        waiting[second] += 1;
    }
    let mut ready: BinaryHeap<Reverse<usize>> =
        (0..store.len()).filter(|&at| waiting[at] == 0).map(Reverse).collect();
    let mut result = Vec::with_capacity(store.len());
    while let Some(Reverse(at)) = ready.pop() {
        result.push(at);
        for &next in after.get(&at).into_iter().flatten() {
            waiting[next] -= 1;
            if waiting[next] == 0 {
                ready.push(Reverse(next));
            }
        }
    }
    if result.len() == store.len() { Ok(result) } else { Err(cycle(store, &waiting)) }
}

/// The constraints of one circle among the attributes that wait for each other.
fn cycle(store: &Store, waiting: &[usize]) -> Fail {
    let blocked =
        |name: Symbol| store.position(name).is_some_and(|at| waiting.get(at).is_some_and(|&left| left > 0));
    // Each blocked attribute waits for a blocked one: going back along them must come round.
    let mut before: FxHashMap<Symbol, &OrderConstraint> = FxHashMap::default();
    for order in store.orders() {
        if blocked(order.before) && blocked(order.after) {
            before.entry(order.after).or_insert(order);
        }
    }
    let Some(mut at) = store.orders().iter().map(|order| order.after).find(|&name| blocked(name)) else {
        return Box::new(Diagnostic::new(Rule::OrderCycle, "the order of attributes is contradictory"));
    };
    let mut seen = FxHashSet::default();
    while seen.insert(at) {
        let Some(order) = before.get(&at) else { break };
        at = order.before;
    }
    let start = at;
    let mut circle: Vec<&OrderConstraint> = Vec::new();
    while let Some(&order) = before.get(&at) {
        circle.push(order);
        at = order.before;
        if at == start {
            break;
        }
    }
    circle.reverse();
    let mut names: Vec<String> = circle.iter().map(|order| format!("`{}`", order.before)).collect();
    names.extend(names.first().cloned());
    let message = format!("the order of attributes is contradictory: {}", names.join(" before "));
    let mut diagnostic = Diagnostic::new(Rule::OrderCycle, message);
    for order in &circle {
        let text = format!("`{}` before `{}`", order.before, order.after);
        diagnostic = if diagnostic.span.is_none() {
            diagnostic.at(order.span).labelled(text)
        } else {
            diagnostic.with_label(order.span, text)
        };
    }
    Box::new(
        diagnostic
            .with_help("remove one of these constraints, or override it by its opposite in the component"),
    )
}
