//! The graph as JSON.

use std::collections::BTreeMap;

use super::{Cause, Graph, Node};
use crate::write::Json;
use crate::{Catalog, ResourceId};

/// `{"resources": […], "edges": […], "order": […], "cycles": […]}`: the resources in the order of the catalog, each with
/// the one that contains it; the relationships between them; the sequence in which Puppet applies those that are no
/// containers; and the sets of resources that depend on each other.
pub fn json(graph: &Graph, catalog: &Catalog) -> String {
    let mut out = Json::with_capacity(256 * graph.nodes().len() + 256);
    out.open_object();
    out.key("resources");
    write_resources(graph, catalog, &mut out);
    out.key("edges");
    write_edges(graph, catalog, &mut out);
    out.key("order");
    out.open_array();
    for id in graph.resource_order() {
        out.display(&catalog[id]);
    }
    out.close_array();
    out.key("cycles");
    out.open_array();
    for cycle in graph.cycles() {
        out.open_array();
        let mut members: Vec<ResourceId> =
            cycle.nodes.iter().filter_map(|node| graph.node(*node).resource()).collect();
        members.dedup();
        for id in members {
            out.display(&catalog[id]);
        }
        out.close_array();
    }
    out.close_array();
    out.close_object();
    out.finish()
}

fn write_resources(graph: &Graph, catalog: &Catalog, out: &mut Json) {
    let containers: BTreeMap<ResourceId, ResourceId> =
        catalog.edges.iter().rev().map(|(container, contained)| (*contained, *container)).collect();
    out.open_array();
    for node in graph.nodes() {
        let (Node::Resource(id) | Node::Begin(id)) = *node else { continue };
        let resource = &catalog[id];
        out.open_object();
        out.key("resource");
        out.display(resource);
        out.key("container");
        match containers.get(&id).and_then(|container| catalog.get(*container)) {
            Some(container) => out.display(container),
            None => out.null(),
        }
        if let Some(file) = &resource.file {
            out.key("file");
            out.string(file);
        }
        if let Some(line) = resource.line {
            out.key("line");
            out.integer(i64::from(line));
        }
        out.close_object();
    }
    out.close_array();
}

fn write_edges(graph: &Graph, catalog: &Catalog, out: &mut Json) {
    out.open_array();
    for edge in graph.edges() {
        let (Cause::Parameter { relation, by } | Cause::Auto { relation, by }) = edge.cause else { continue };
        let ends = graph.node(edge.source).resource().zip(graph.node(edge.target).resource());
        let Some((source, target)) = ends else { continue };
        out.open_object();
        out.key("source");
        out.display(&catalog[source]);
        out.key("target");
        out.display(&catalog[target]);
        out.key("relation");
        out.string(relation.as_str());
        out.key("by");
        out.display(&catalog[by]);
        out.key("automatic");
        out.bool(edge.is_automatic());
        out.key("refresh");
        out.bool(edge.refreshes());
        out.close_object();
    }
    out.close_array();
}
