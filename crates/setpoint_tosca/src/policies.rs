//! What policies and their triggers may do while a topology is set up.

use setpoint_data::{Entry, Node};
use setpoint_source::Symbol;

use crate::omission::{Omission, Omitted};
use crate::service::Service;
use crate::types::{ancestors, named_items, symbol};

/// The normative policies: where nodes are placed, and what is done with nodes that run.
const INERT: [&str; 4] = ["Placement", "Scaling", "Update", "Performance"];

/// The operations of `Standard` and `Configure`, with which an orchestrator sets nodes and relationships up and removes them.
const LIFE_CYCLE: [&str; 13] = [
    "create",
    "configure",
    "start",
    "stop",
    "delete",
    "pre_configure_source",
    "pre_configure_target",
    "post_configure_source",
    "post_configure_target",
    "add_target",
    "add_source",
    "target_changed",
    "remove_target",
];

/// Returns the policies that may change the order of the set-up: those of which nothing is known, and those whose triggers may
/// change the state of a node.
pub(crate) fn check(service: &Service) -> Vec<Omission> {
    let table = &service.types.policies;
    let mut out = Vec::new();
    for topology in std::iter::once(service).chain(service.inner.values()) {
        let Some((file, node)) = &topology.topology else { continue };
        for (key, value) in named_items(node.get("policies")) {
            let Some(name) = symbol(Some(key)) else { continue };
            let chain = symbol(value.get("type")).map(|kind| ancestors(table, kind)).unwrap_or_default();
            let is_inert =
                INERT.iter().any(|one| chain.contains(&Symbol::new(&format!("tosca.policies.{one}"))));
            let is_known = !chain.is_empty() && chain.iter().all(|kind| table.contains_key(kind));
            let definitions = chain.iter().filter_map(|kind| table.get(kind)?.written.as_ref());
            let may_act = std::iter::once(value)
                .chain(definitions)
                .flat_map(|one| named_items(one.get("triggers")))
                .any(|(_, trigger)| !keeps_states(trigger));
            let what = match (is_known, may_act) {
                (true, true) => Omitted::Triggered(name),
                (true, false) if is_inert => continue,
                _ => Omitted::Policy(name),
            };
            out.push(Omission::new(what, key.range.in_file(*file)));
        }
    }
    out
}

/// Whether a trigger only calls operations outside of the life cycle: no such call changes the state of a node, whenever it
/// comes.
fn keeps_states(trigger: &Node) -> bool {
    let actions = trigger.get("action").map(Node::items).unwrap_or_default();
    let calls_another = |action: &Node| {
        let [Entry { key, value }] = action.entries() else { return false };
        let called = value.get("operation").unwrap_or(value).text();
        key.text() == Some("call_operation")
            && called.is_some_and(|called| {
                called.rsplit('.').next().is_some_and(|operation| !LIFE_CYCLE.contains(&operation))
            })
    };
    !actions.is_empty() && actions.iter().all(calls_another)
}
