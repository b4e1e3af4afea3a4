//! The graph as people want to see it: resources and what orders them. Begins and ends of containers are left out where
//! they would not make the drawing smaller.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};
use setpoint_diagram::{Diagram, Edge as Line, Group, Legend, Node as Shape, Style};

use super::{Cause, Edge, Graph, Node, NodeId};
use crate::{Catalog, Resource, ResourceId};

/// The drawing of a graph.
pub fn diagram(graph: &Graph, catalog: &Catalog) -> Diagram {
    let parents: FxHashMap<ResourceId, ResourceId> =
        catalog.edges.iter().rev().map(|(container, contained)| (*contained, *container)).collect();
    let wrong: FxHashSet<NodeId> = graph.cycles().into_iter().flat_map(|cycle| cycle.nodes).collect();
    let lines = contracted(graph, &parents, &wrong);
    let resources = graph.ids().filter(|id| matches!(graph.node(*id), Node::Resource(_)));
    let ends = lines.keys().flat_map(|(source, target)| [*source, *target]);
    let mut drawn: BTreeMap<NodeId, usize> = resources.chain(ends).map(|id| (id, 0)).collect();
    let legend = Legend { plain: "before", strong: "before, and refreshes", implied: "before, by itself" };
    let mut out = Diagram { title: format!("Resources of {}", catalog.name), legend, ..Diagram::default() };
    let mut groups = Groups { catalog, parents: &parents, known: FxHashMap::default() };
    for (id, at) in &mut drawn {
        *at = out.nodes.len();
        let shape = shape(graph.node(*id), wrong.contains(id), &mut groups, &mut out.groups);
        out.nodes.push(shape);
    }
    for ((source, target), line) in lines {
        let (Some(&from), Some(&to)) = (drawn.get(&source), drawn.get(&target)) else { continue };
        out.edges.push(Line {
            source: from,
            target: to,
            style: line.style,
            details: line.details,
            wrong: line.wrong,
        });
    }
    out
}

/// Containers as groups, made when they are first needed.
struct Groups<'a> {
    catalog: &'a Catalog,
    parents: &'a FxHashMap<ResourceId, ResourceId>,
    known: FxHashMap<ResourceId, usize>,
}

impl Groups<'_> {
    /// The group of a container, after those of all containers around it.
    fn of(&mut self, container: ResourceId, groups: &mut Vec<Group>) -> usize {
        let mut chain = vec![container];
        while let Some(&outer) = chain.last().and_then(|inner| self.parents.get(inner)) {
            // The catalog of another program may hold a cycle of containers.
            if self.known.contains_key(&outer) || chain.contains(&outer) {
                chain.push(outer);
                break;
            }
            chain.push(outer);
        }
        let mut parent = None;
        for id in chain.into_iter().rev() {
            let at = *self.known.entry(id).or_insert_with(|| {
                groups.push(Group { label: self.catalog[id].reference(), parent });
                groups.len() - 1
            });
            parent = Some(at);
        }
        parent.unwrap_or(0)
    }
}

fn shape(node: Node, wrong: bool, groups: &mut Groups<'_>, out: &mut Vec<Group>) -> Shape {
    let catalog = groups.catalog;
    let (kind, name, minor) = match node {
        Node::Resource(id) => (catalog[id].type_name.to_string(), catalog[id].title.to_string(), false),
        Node::Begin(id) => ("begin of".to_owned(), catalog[id].reference(), true),
        Node::End(id) => ("end of".to_owned(), catalog[id].reference(), true),
        Node::Default(type_name, title) => (type_name.to_owned(), title.to_owned(), false),
    };
    let container = match node {
        Node::Begin(id) | Node::End(id) => Some(id),
        other => other.resource().and_then(|id| groups.parents.get(&id).copied()),
    };
    let mut details = Vec::new();
    if let Some(container) = container.filter(|_| !minor) {
        details.push(format!("in {}", catalog[container]));
    }
    details.extend(node.resource().and_then(|id| place(&catalog[id])));
    let group = container.map(|container| groups.of(container, out));
    Shape { kind, name, details, group, minor, wrong }
}

fn place(resource: &Resource) -> Option<String> {
    let file = resource.file.as_ref()?;
    Some(resource.line.map_or_else(|| file.to_string(), |line| format!("{file}:{line}")))
}

/// What is drawn between two nodes.
#[derive(Clone, Debug)]
struct Drawn {
    style: Style,
    details: String,
    wrong: bool,
    /// It only says that something lies inside a container.
    contains: bool,
}

impl Drawn {
    fn of(edge: &Edge, wrong: bool) -> Self {
        let style = match edge.cause {
            Cause::Auto { relation, .. } if !relation.refreshes() => Style::Implied,
            Cause::Contains | Cause::Empty => Style::Plain,
            _ if edge.refreshes() => Style::Strong,
            _ => Style::Plain,
        };
        let details = match edge.cause {
            Cause::Parameter { relation, .. } => relation.as_str().to_owned(),
            Cause::Auto { relation, .. } => format!("automatic {}", relation.as_str()),
            Cause::Contains | Cause::Empty => String::new(),
        };
        let contains = matches!(edge.cause, Cause::Contains | Cause::Empty);
        Self { style, details, wrong, contains }
    }

    /// Two edges one after the other, seen as one. Containment passes on what comes through it.
    fn then(&self, next: &Self) -> Self {
        let style = match (self.contains, next.contains) {
            (true, _) => next.style,
            (_, true) => self.style,
            _ if self.style == next.style => self.style,
            _ => Style::Plain,
        };
        let details = if self.details.is_empty() { &next.details } else { &self.details };
        Self {
            style,
            details: details.clone(),
            wrong: self.wrong && next.wrong,
            contains: self.contains && next.contains,
        }
    }

    /// Two edges between the same nodes, seen as one: what passes something on is seen first, then what was written.
    fn or(self, other: Self) -> Self {
        let rank = |line: &Self| match line.style {
            Style::Strong => 2,
            Style::Plain => 1,
            Style::Implied => 0,
        };
        if rank(&other) > rank(&self) { other } else { self }
    }
}

/// The edges of the drawing. A node of a container is passed over if that gives no more edges than it had.
fn contracted(
    graph: &Graph,
    parents: &FxHashMap<ResourceId, ResourceId>,
    wrong: &FxHashSet<NodeId>,
) -> BTreeMap<(NodeId, NodeId), Drawn> {
    let count = graph.nodes().len();
    let mut after: Vec<BTreeMap<NodeId, Drawn>> = vec![BTreeMap::new(); count];
    let mut before: Vec<BTreeSet<NodeId>> = vec![BTreeSet::new(); count];
    for edge in graph.edges().iter().filter(|edge| !is_needless(graph, parents, edge)) {
        let in_cycle = wrong.contains(&edge.source) && wrong.contains(&edge.target);
        connect(&mut after, &mut before, edge.source, edge.target, Drawn::of(edge, in_cycle));
    }
    let is_bar = |id: NodeId| matches!(graph.node(id), Node::Begin(_) | Node::End(_));
    let mut work: Vec<NodeId> = graph.ids().filter(|id| is_bar(*id)).collect();
    let mut gone = vec![false; count];
    while let Some(id) = work.pop() {
        let at = id.index();
        if gone[at] || (before[at].len() > 1 && after[at].len() > 1) || after[at].contains_key(&id) {
            continue;
        }
        gone[at] = true;
        let sources: Vec<NodeId> = std::mem::take(&mut before[at]).into_iter().collect();
        let targets = std::mem::take(&mut after[at]);
        for target in targets.keys() {
            before[target.index()].remove(&id);
        }
        for source in sources {
            let Some(first) = after[source.index()].remove(&id) else { continue };
            for (target, second) in &targets {
                connect(&mut after, &mut before, source, *target, first.then(second));
            }
            work.extend(is_bar(source).then_some(source));
        }
        work.extend(targets.into_keys().filter(|target| is_bar(*target)));
    }
    reduce(&mut after);
    let mut lines = BTreeMap::new();
    for (at, targets) in after.into_iter().enumerate() {
        let source = NodeId(at as u32);
        lines.extend(targets.into_iter().map(|(target, line)| ((source, target), line)));
    }
    lines
}

/// The most nodes for which it is worked out who can reach whom.
const MOST: usize = 20_000;

/// Leaves out what says no more than other edges together, unless it passes something on or is wrong.
fn reduce(after: &mut [BTreeMap<NodeId, Drawn>]) {
    let count = after.len();
    let Some(order) = topological(after).filter(|_| count <= MOST) else { return };
    let mut place = vec![0; count];
    for (at, &node) in order.iter().enumerate() {
        place[node] = at;
    }
    let words = count.div_ceil(64);
    let mut reached = vec![0_u64; words * count];
    let bit = |at: usize, node: usize| (at * words + node / 64, 1_u64 << (node % 64));
    for &at in order.iter().rev() {
        // From the nearest target to the farthest: what an earlier one reaches needs no edge of its own.
        let mut targets: Vec<usize> = after[at].keys().map(|target| target.index()).collect();
        targets.sort_by_key(|target| place[*target]);
        for target in targets {
            let (word, mask) = bit(at, target);
            let line = after[at].get(&NodeId(target as u32));
            if reached[word] & mask != 0
                && line.is_some_and(|line| line.style != Style::Strong && !line.wrong)
            {
                after[at].remove(&NodeId(target as u32));
                continue;
            }
            reached[word] |= mask;
            for index in 0..words {
                reached[at * words + index] |= reached[target * words + index];
            }
        }
    }
}

/// The nodes so that every edge leads to a later one; `None` if there is a cycle.
fn topological(after: &[BTreeMap<NodeId, Drawn>]) -> Option<Vec<usize>> {
    let mut waiting = vec![0_usize; after.len()];
    for target in after.iter().flat_map(BTreeMap::keys) {
        waiting[target.index()] += 1;
    }
    let mut order: Vec<usize> = (0..after.len()).filter(|at| waiting[*at] == 0).collect();
    let mut next = 0;
    while let Some(&at) = order.get(next) {
        next += 1;
        for target in after[at].keys() {
            waiting[target.index()] -= 1;
            if waiting[target.index()] == 0 {
                order.push(target.index());
            }
        }
    }
    (order.len() == after.len()).then_some(order)
}

fn connect(
    after: &mut [BTreeMap<NodeId, Drawn>],
    before: &mut [BTreeSet<NodeId>],
    source: NodeId,
    target: NodeId,
    line: Drawn,
) {
    let known = after[source.index()].remove(&target);
    after[source.index()].insert(target, known.map_or(line.clone(), |known| known.or(line)));
    before[target.index()].insert(source);
}

/// Containment need not be drawn to something that has to wait for its sibling anyway, nor from something that a sibling
/// waits for.
fn is_needless(graph: &Graph, parents: &FxHashMap<ResourceId, ResourceId>, edge: &Edge) -> bool {
    if edge.cause != Cause::Contains {
        return false;
    }
    let inside = |id: NodeId, container: ResourceId| {
        let mut at = graph.node(id).resource();
        // Bounded, for a catalog from elsewhere may hold a cycle of containers.
        for _ in 0..64 {
            at = at.and_then(|id| parents.get(&id).copied());
            if at == Some(container) {
                return true;
            }
        }
        false
    };
    match (graph.node(edge.source), graph.node(edge.target)) {
        (Node::Begin(container), _) => graph
            .incoming(edge.target)
            .any(|other| other.cause != Cause::Contains && inside(other.source, container)),
        (_, Node::End(container)) => graph
            .outgoing(edge.source)
            .any(|other| other.cause != Cause::Contains && inside(other.target, container)),
        _ => false,
    }
}
