//! A topology as an instance of its rule set.

use rustc_hash::FxHashSet;
use setpoint_orchestra::{Instance, InstanceBuilder, InstanceError, Model};
use setpoint_source::Symbol;

use crate::service::Service;
use crate::topology::{Relationship, Topology};
use crate::types::ancestors;

/// A node object for each node; for each relationship a capability, a requirement and the relationship itself:
/// a capability that several relationships use is split, one for each.
pub fn instance(
    service: &Service,
    topology: &Topology,
    model: &Model,
) -> Result<Instance, Vec<InstanceError>> {
    instance_of(service, topology, &topology.relationships, model)
}

/// The nodes of a topology with some of its relationships.
pub(crate) fn instance_of<'a>(
    service: &Service,
    topology: &Topology,
    relationships: impl IntoIterator<Item = &'a Relationship>,
    model: &Model,
) -> Result<Instance, Vec<InstanceError>> {
    let mut builder = InstanceBuilder::new(model, "topology");
    for (name, node) in &topology.nodes {
        let object = builder.object("node", name.as_str(), Some(node.span));
        let brought = brought_kind(model, "node", &ancestors(&service.types.nodes, node.kind));
        builder.kind(object, brought.unwrap_or_else(|| node_kind(service, node.kind)));
    }
    let mut seen = FxHashSet::default();
    for (index, one) in relationships.into_iter().enumerate() {
        if one.source == one.target {
            continue;
        }
        let chain = one.kind.map(|kind| ancestors(&service.types.relationships, kind)).unwrap_or_default();
        let brought = brought_kind(model, "relationship", &chain);
        let (span, kind) = (Some(one.span), brought.unwrap_or(one.behaviour.as_str()));
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

/// The types of the built-in rule set: which of them a type has is told by what it derives from, not by its name.
const BUILT_IN: [&str; 7] = ["hostedOn", "dependsOn", "connectsTo", "VM", "OS", "MW", "SC"];

/// The type of a class that a rule file brings for a type or one that it derives from: `replicates` for
/// `my.relationships.Replicates`.
fn brought_kind<'m>(model: &'m Model, class: &str, chain: &[Symbol]) -> Option<&'m str> {
    let types = &model.class(model.class_named(class)?).types;
    chain.iter().find_map(|name| {
        let short = name.rsplit(['.', ':']).next()?;
        let mut letters = short.chars();
        let first = letters.next()?.to_lowercase();
        let lower = first.chain(letters).collect::<String>();
        let brought = types.iter().map(|known| known.as_str()).filter(|known| !BUILT_IN.contains(known));
        brought.into_iter().find(|known| *known == short || *known == lower)
    })
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
