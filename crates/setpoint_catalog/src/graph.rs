//! The relationship graph: what Puppet applies before what, and what refreshes what.
//!
//! As in Puppet, a container (a class, an instance of a define, a stage) becomes two nodes, between which its contents
//! lie; relationships of the container hang on these. Automatic relationships are added to those that the
//! parameters say, unless the two resources have a direct relationship already. Resources that only a run generates (by
//! `recurse`, `purge` or `tidy`) are no part of it.

mod auto;
mod build;
mod cycles;
mod draw;
mod json;
mod order;
mod paths;
mod ruby;
mod suitable;

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use setpoint_puppet_functions::{NotRun, TypeAnswer};
use setpoint_source::Symbol;

use crate::{Catalog, NativeType, Relation, Resource, ResourceId, native_type};

pub use build::BuildError;
pub use cycles::Cycle;
pub use draw::diagram;
pub use json::json;
pub use order::Order;
pub use suitable::is_suitable;

/// A node of one [`Graph`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct NodeId(pub u32);

impl NodeId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Node {
    Resource(ResourceId),
    /// A container begins: all that it depends on is done.
    Begin(ResourceId),
    /// A container ends: all that it contains is done.
    End(ResourceId),
    /// A resource that Puppet adds to every catalog: its schedules and a file bucket.
    Default(&'static str, &'static str),
}

impl Node {
    /// The resource of the catalog that the node stands for.
    pub fn resource(self) -> Option<ResourceId> {
        match self {
            Self::Resource(id) | Self::Begin(id) | Self::End(id) => Some(id),
            Self::Default(..) => None,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Edge {
    pub source: NodeId,
    pub target: NodeId,
    pub cause: Cause,
}

/// Why an edge is there.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Cause {
    /// One contains the other.
    Contains,
    /// A container without contents ends after it began.
    Empty,
    /// A parameter of `by` says so. Arrows are such parameters by now.
    Parameter { relation: Relation, by: ResourceId },
    /// The type of `by` says so.
    Auto { relation: Relation, by: ResourceId },
}

impl Edge {
    /// Whether a change of the source refreshes the target. Containers pass on what reaches them.
    pub fn refreshes(&self) -> bool {
        match self.cause {
            Cause::Contains => true,
            Cause::Empty => false,
            Cause::Parameter { relation, .. } | Cause::Auto { relation, .. } => relation.refreshes(),
        }
    }

    pub fn is_automatic(&self) -> bool {
        matches!(self.cause, Cause::Auto { .. })
    }
}

impl Relation {
    pub fn refreshes(self) -> bool {
        matches!(self, Self::Subscribe | Self::Notify)
    }

    /// Whether the resource that says it comes first.
    pub fn is_forward(self) -> bool {
        matches!(self, Self::Before | Self::Notify)
    }

    /// The name of the parameter.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Require => "require",
            Self::Subscribe => "subscribe",
            Self::Before => "before",
            Self::Notify => "notify",
        }
    }
}

/// Finds the types that are no part of the Puppet language.
pub trait Types {
    /// By a name in any case.
    fn native(&self, name: &str) -> Option<&NativeType>;

    /// Lets the code of a module's type judge resources of it: what it refuses, and what is not known, of each. `None` if no such
    /// code declares the type.
    fn judge(&self, _name: &str, _resources: &[&Resource]) -> Option<Result<Vec<Vec<TypeAnswer>>, NotRun>> {
        None
    }

    /// The providers of a type that modules bring.
    fn providers(&self, _name: &str) -> Arc<Providers> {
        Arc::new(Providers { features: BTreeMap::new(), is_whole: true })
    }
}

/// The providers of a type that modules bring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Providers {
    /// What each claims to be able to do; `*` if it inherits from another, which may claim more.
    pub features: BTreeMap<String, Vec<String>>,
    /// Whether there are no others.
    pub is_whole: bool,
}

/// The types that Puppet's agent ships.
#[derive(Clone, Copy, Debug, Default)]
pub struct ShippedTypes;

impl Types for ShippedTypes {
    fn native(&self, name: &str) -> Option<&NativeType> {
        native_type(name)
    }
}

/// The relationship graph of a catalog.
#[derive(Clone, Debug)]
pub struct Graph {
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    /// The edges that leave a node, and those that reach it.
    outgoing: Vec<Vec<u32>>,
    incoming: Vec<Vec<u32>>,
    /// The first node of a resource; the end of a container comes right after its begin.
    first: FxHashMap<ResourceId, NodeId>,
    /// What is applied first of what could be applied: the place of the resource in the catalog.
    priority: Vec<u32>,
}

impl Graph {
    /// The graph that Puppet would build of the resources that are not virtual.
    pub fn new(catalog: &Catalog, types: &dyn Types) -> Result<Self, BuildError> {
        build::graph(catalog, types, false)
    }

    /// The graph of a run: with the relationships of the files that resources generate before anything is applied.
    pub fn of_a_run(catalog: &Catalog, types: &dyn Types) -> Result<Self, BuildError> {
        build::graph(catalog, types, true)
    }

    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    pub fn ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.nodes.len() as u32).map(NodeId)
    }

    pub fn node(&self, id: NodeId) -> Node {
        self.nodes[id.index()]
    }

    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    pub fn outgoing(&self, id: NodeId) -> impl Iterator<Item = &Edge> {
        self.outgoing[id.index()].iter().map(|&at| &self.edges[at as usize])
    }

    pub fn incoming(&self, id: NodeId) -> impl Iterator<Item = &Edge> {
        self.incoming[id.index()].iter().map(|&at| &self.edges[at as usize])
    }

    /// Where a resource begins: its only node, or the begin of a container.
    pub fn begin(&self, resource: ResourceId) -> Option<NodeId> {
        self.first.get(&resource).copied()
    }

    /// Where a resource ends: its only node, or the end of a container.
    pub fn end(&self, resource: ResourceId) -> Option<NodeId> {
        let begin = self.begin(resource)?;
        Some(if self.is_container(begin) { NodeId(begin.0 + 1) } else { begin })
    }

    fn is_container(&self, begin: NodeId) -> bool {
        matches!(self.nodes.get(begin.index()), Some(Node::Begin(_)))
    }

    /// The sequence in which Puppet applies the nodes, if every provider works. With cycles, what lies on them or
    /// behind them is missing.
    pub fn order(&self) -> Vec<NodeId> {
        order::order(self, &|_| true).applied
    }

    /// The sequence in which Puppet applies the nodes where some resources have a provider that does not work.
    pub fn order_where(&self, suitable: impl Fn(ResourceId) -> bool) -> Order {
        order::order(self, &|id| match self.node(id) {
            Node::Resource(resource) => suitable(resource),
            _ => true,
        })
    }

    /// The resources in the sequence in which Puppet applies them, without containers and defaults.
    pub fn resource_order(&self) -> Vec<ResourceId> {
        let resource = |id: NodeId| if let Node::Resource(id) = self.node(id) { Some(id) } else { None };
        self.order().into_iter().filter_map(resource).collect()
    }

    /// The dependency cycles, each as a set of nodes that all depend on each other.
    pub fn cycles(&self) -> Vec<Cycle> {
        cycles::cycles(self)
    }
}

/// The graph for Graphviz.
pub fn dot(graph: &Graph, catalog: &Catalog) -> String {
    setpoint_diagram::dot(&diagram(graph, catalog))
}

/// The graph as a drawing.
pub fn svg(graph: &Graph, catalog: &Catalog) -> String {
    setpoint_diagram::svg(&diagram(graph, catalog))
}

/// Whether a resource is a container in the graph: a class, a stage, or an instance of a define.
pub fn is_container(resource: &Resource, types: &dyn Types) -> bool {
    match resource.kind {
        Some(crate::Kind::CompilableType) => resource.type_name.as_str() == "Stage",
        Some(_) => true,
        None => match resource.type_name.as_str() {
            "Class" | "Stage" => true,
            name => types.native(name).is_none(),
        },
    }
}

/// A reference as it stands in a parameter, resolved as Puppet resolves it.
pub(crate) fn resolve(
    catalog: &Catalog,
    types: &dyn Types,
    type_name: &str,
    title: &str,
) -> Option<ResourceId> {
    let symbol = Symbol::new(&crate::display_name(type_name));
    let title = if symbol.as_str() == "Class" { class_title(title) } else { title.to_owned() };
    catalog.find(symbol, &title).or_else(|| {
        let native = types.native(type_name)?;
        let unique = native.unique_name(&Resource::new(symbol, title.as_str()))?;
        catalog.find(symbol, &unique)
    })
}

/// The title of a class as the catalog has it. The class that Puppet makes itself is called `main`.
fn class_title(title: &str) -> String {
    let name = title.trim_start_matches(':');
    if name.is_empty() || name.eq_ignore_ascii_case("main") {
        "main".to_owned()
    } else {
        crate::display_name(name)
    }
}
