//! From the catalog to the graph.

use std::fmt;

use rustc_hash::{FxHashMap, FxHashSet};
use setpoint_puppet_values::{Data, Value};
use setpoint_source::Symbol;

use super::auto::Names;
use super::{Cause, Edge, Graph, Node, NodeId, Types, is_container, resolve};
use crate::read::split_reference;
use crate::write::reference;
use crate::{Catalog, Relation, ResourceId};

/// Why there is no graph: a resource names another that is not in the catalog.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BuildError {
    pub resource: ResourceId,
    pub relation: Relation,
    /// What is named, as it stands there.
    pub reference: String,
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let role = if self.relation.is_forward() { "dependent" } else { "dependency" };
        write!(f, "could not find {role} {} in the catalog", self.reference)
    }
}

impl std::error::Error for BuildError {}

/// The parameters that relate resources.
const RELATIONS: [Relation; 4] = [Relation::Require, Relation::Subscribe, Relation::Before, Relation::Notify];

/// A relationship between two resources, before containers are taken apart.
struct Relationship {
    source: ResourceId,
    target: ResourceId,
    cause: Cause,
}

pub(super) fn graph(catalog: &Catalog, types: &dyn Types, of_a_run: bool) -> Result<Graph, BuildError> {
    let mut relationships = manual(catalog, types)?;
    add_automatic(catalog, &Names::new(catalog, types, of_a_run), types, &mut relationships);
    let mut graph = vertices(catalog, types);
    for relationship in &relationships {
        let (Some(source), Some(target)) = (graph.end(relationship.source), graph.begin(relationship.target))
        else {
            continue;
        };
        graph.edges.push(Edge { source, target, cause: relationship.cause });
    }
    add_containment(catalog, &mut graph);
    graph.outgoing = vec![Vec::new(); graph.nodes.len()];
    graph.incoming = vec![Vec::new(); graph.nodes.len()];
    for (at, edge) in graph.edges.iter().enumerate() {
        graph.outgoing[edge.source.index()].push(at as u32);
        graph.incoming[edge.target.index()].push(at as u32);
    }
    Ok(graph)
}

/// What the parameters say.
fn manual(catalog: &Catalog, types: &dyn Types) -> Result<Vec<Relationship>, BuildError> {
    let names = RELATIONS.map(|relation| (relation, Symbol::new(relation.as_str())));
    let mut found = Vec::new();
    for (id, resource) in catalog.iter().filter(|(_, resource)| !resource.virtual_) {
        for (relation, name) in names {
            let Some(value) = resource.parameters.get(name) else { continue };
            let mut references = Vec::new();
            collect_references(value, &mut references);
            for reference in references {
                let other = split_reference(&reference)
                    .and_then(|(type_name, title)| resolve(catalog, types, type_name, title))
                    .filter(|other| catalog.get(*other).is_some_and(|resource| !resource.virtual_));
                let Some(other) = other else {
                    return Err(BuildError { resource: id, relation, reference });
                };
                let cause = Cause::Parameter { relation, by: id };
                found.push(relationship(relation, id, other, cause));
            }
        }
    }
    Ok(found)
}

fn relationship(relation: Relation, by: ResourceId, other: ResourceId, cause: Cause) -> Relationship {
    let (source, target) = if relation.is_forward() { (by, other) } else { (other, by) };
    Relationship { source, target, cause }
}

/// The references in the value of a relationship parameter, as `File[/etc/motd]`.
fn collect_references(value: &Value, out: &mut Vec<String>) {
    match &value.data {
        Data::String(text) => out.push(text.to_string()),
        Data::Array(items) => items.iter().for_each(|item| collect_references(item, out)),
        Data::Type(named) => out.extend(reference(named)),
        _ => {}
    }
}

/// An automatic relationship is left out if the two have a direct one, in whatever direction. Only direct ones count: a
/// longer way back makes a cycle.
fn add_automatic(
    catalog: &Catalog,
    names: &Names<'_>,
    types: &dyn Types,
    relationships: &mut Vec<Relationship>,
) {
    let mut related: FxHashSet<(ResourceId, ResourceId)> =
        relationships.iter().map(|relationship| (relationship.source, relationship.target)).collect();
    for (id, resource) in catalog.iter().filter(|(_, resource)| !resource.virtual_) {
        let Some(native) = types.native(&resource.type_name) else { continue };
        for (relation, other) in names.automatic(id, native) {
            if catalog[other].virtual_ {
                continue;
            }
            let new = relationship(relation, id, other, Cause::Auto { relation, by: id });
            let known =
                related.contains(&(new.source, new.target)) || related.contains(&(new.target, new.source));
            if !known {
                related.insert((new.source, new.target));
                relationships.push(new);
            }
        }
    }
}

/// What Puppet adds to every catalog that does not declare it.
const DEFAULTS: [(&str, &str); 7] = [
    ("Schedule", "puppet"),
    ("Schedule", "hourly"),
    ("Schedule", "daily"),
    ("Schedule", "weekly"),
    ("Schedule", "monthly"),
    ("Schedule", "never"),
    ("Filebucket", "puppet"),
];

fn vertices(catalog: &Catalog, types: &dyn Types) -> Graph {
    let mut graph = Graph {
        nodes: Vec::with_capacity(catalog.resources().len() + DEFAULTS.len()),
        edges: Vec::new(),
        outgoing: Vec::new(),
        incoming: Vec::new(),
        first: FxHashMap::default(),
        priority: Vec::new(),
    };
    for (id, resource) in catalog.iter().filter(|(_, resource)| !resource.virtual_) {
        graph.first.insert(id, NodeId(graph.nodes.len() as u32));
        if is_container(resource, types) {
            graph.nodes.extend([Node::Begin(id), Node::End(id)]);
            graph.priority.extend([id.0, id.0]);
        } else {
            graph.nodes.push(Node::Resource(id));
            graph.priority.push(id.0);
        }
    }
    let mut priority = catalog.resources().len() as u32;
    for (type_name, title) in DEFAULTS {
        if catalog.find(Symbol::new(type_name), title).is_none() {
            graph.nodes.push(Node::Default(type_name, title));
            graph.priority.push(priority);
            priority += 1;
        }
    }
    graph
}

fn add_containment(catalog: &Catalog, graph: &mut Graph) {
    let mut contents: FxHashSet<(ResourceId, ResourceId)> = FxHashSet::default();
    let mut filled: FxHashSet<ResourceId> = FxHashSet::default();
    for &(container, contained) in &catalog.edges {
        let Some(begin) = graph.begin(container).filter(|begin| graph.is_container(*begin)) else { continue };
        let (Some(first), Some(last)) = (graph.begin(contained), graph.end(contained)) else { continue };
        if !contents.insert((container, contained)) {
            continue;
        }
        filled.insert(container);
        let end = NodeId(begin.0 + 1);
        graph.edges.push(Edge { source: begin, target: first, cause: Cause::Contains });
        graph.edges.push(Edge { source: last, target: end, cause: Cause::Contains });
    }
    for id in graph.ids() {
        if let Node::Begin(resource) = graph.node(id)
            && !filled.contains(&resource)
        {
            graph.edges.push(Edge { source: id, target: NodeId(id.0 + 1), cause: Cause::Empty });
        }
    }
}
