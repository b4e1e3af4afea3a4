//! A topology as an instance of its rule set.

use rustc_hash::FxHashSet;
use setpoint_orchestra::{Instance, InstanceBuilder, InstanceError, Model};
use setpoint_source::Symbol;

use crate::service::Service;
use crate::topology::Topology;
use crate::types::ancestors;

/// A node object for each node; for each relationship a capability, a requirement and the relationship itself:
/// a capability that several relationships use is split, one for each.
pub fn instance(
    service: &Service,
    topology: &Topology,
    model: &Model,
) -> Result<Instance, Vec<InstanceError>> {
    let mut builder = InstanceBuilder::new(model, "topology");
    for (name, node) in &topology.nodes {
        let object = builder.object("node", name.as_str(), Some(node.span));
        builder.kind(object, node_kind(service, node.kind));
    }
    let mut seen = FxHashSet::default();
    for (index, one) in topology.relationships.iter().enumerate() {
        if one.source == one.target {
            continue;
        }
        let (span, kind) = (Some(one.span), one.behaviour.as_str());
        let id = format!("{}.{} -> {}", one.source, one.requirement, one.target);
        let is_first = seen.insert((one.source, one.requirement, one.target));
        let id = if is_first { id } else { format!("{id} #{index}") };
        for (class, node) in [("capability", one.target), ("requirement", one.source)] {
            let object = builder.object(class, id.as_str(), span);
            builder.kind(object, kind);
            builder.link(object, "node", node.as_str(), span);
        }
        let object = builder.object("relationship", id.as_str(), span);
        builder.kind(object, kind);
        builder.link(object, "cap", id.as_str(), span);
        builder.link(object, "req", id.as_str(), span);
    }
    builder.finish()
}

/// The layer of a node: they behave alike.
fn node_kind(service: &Service, kind: Symbol) -> &'static str {
    let chain = ancestors(&service.types.nodes, kind);
    let is = |name: &str| chain.contains(&Symbol::new(name));
    if is("tosca.nodes.Compute") {
        "VM"
    } else if is("tosca.nodes.SoftwareComponent") {
        "MW"
    } else {
        "SC"
    }
}
