//! Why one resource comes before another: a path through containers, relationships and what types require by themselves.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;

use serde_json::{Value as Json, json};
use setpoint_catalog::graph::{Cause, Edge, Graph, Node, NodeId};
use setpoint_catalog::{Catalog, ResourceId};
use setpoint_provenance::{Arena, Node as ArenaNode};
use setpoint_puppet_values::{Data, Value, to_text};
use setpoint_source::Span;

use crate::text::Writer;

/// Whether one resource comes before another.
#[derive(Debug)]
pub struct OrderAnswer {
    pub from: ResourceId,
    pub to: ResourceId,
    /// A shortest path; empty if there is none.
    pub path: Vec<OrderStep>,
    /// The path the other way round, if only that exists.
    pub reverse: Vec<OrderStep>,
    /// What comes right after the first, and what comes right before the second.
    pub after: Vec<OrderStep>,
    pub before: Vec<OrderStep>,
}

/// One edge of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderStep {
    pub from: String,
    pub to: String,
    /// `contains`, `contained`, `require`, `before`, `notify`, `subscribe`, `autorequire`, …
    pub kind: String,
    /// Who says so.
    pub by: String,
    pub span: Option<Span>,
}

/// So many neighbours are named where there is no path.
const MOST_NEAR: usize = 5;

/// Looks for a path in the graph that Puppet would follow.
pub fn order(
    catalog: &Catalog,
    graph: &Graph,
    arena: &Arena,
    from: ResourceId,
    to: ResourceId,
) -> OrderAnswer {
    let map = Map { catalog, graph, arena };
    let path = map.path(from, to);
    let reverse = if path.is_empty() { map.path(to, from) } else { Vec::new() };
    let near = |edges: Vec<&Edge>| -> Vec<OrderStep> {
        edges.into_iter().filter(|edge| !is_inner(edge)).take(MOST_NEAR).map(|edge| map.step(edge)).collect()
    };
    let (after, before) = if path.is_empty() && reverse.is_empty() {
        let after = graph.end(from).map(|end| graph.outgoing(end).collect()).unwrap_or_default();
        let before = graph.begin(to).map(|begin| graph.incoming(begin).collect()).unwrap_or_default();
        (near(after), near(before))
    } else {
        (Vec::new(), Vec::new())
    };
    OrderAnswer { from, to, path, reverse, after, before }
}

fn is_inner(edge: &Edge) -> bool {
    matches!(edge.cause, Cause::Contains | Cause::Empty)
}

/// What steps are read from.
struct Map<'a> {
    catalog: &'a Catalog,
    graph: &'a Graph,
    arena: &'a Arena,
}

impl Map<'_> {
    /// A shortest path from the end of one resource to the beginning of another. A container comes before what it contains.
    fn path(&self, from: ResourceId, to: ResourceId) -> Vec<OrderStep> {
        let graph = self.graph;
        let (Some(begin), Some(end), Some(target)) = (graph.begin(from), graph.end(from), graph.begin(to))
        else {
            return Vec::new();
        };
        let mut reached: BTreeMap<NodeId, Option<Edge>> = BTreeMap::from([(end, None)]);
        let mut work = VecDeque::from([end]);
        // What a container has in it begins after the container began.
        if begin != end && contains(graph, begin, target) {
            reached.insert(begin, None);
            work.push_back(begin);
        }
        while let Some(at) = work.pop_front() {
            if at == target {
                let mut edges = Vec::new();
                let mut back = at;
                while let Some(Some(edge)) = reached.get(&back) {
                    edges.push(*edge);
                    back = edge.source;
                }
                edges.reverse();
                return edges.iter().map(|edge| self.step(edge)).collect();
            }
            for edge in graph.outgoing(at) {
                if let std::collections::btree_map::Entry::Vacant(entry) = reached.entry(edge.target) {
                    entry.insert(Some(*edge));
                    work.push_back(edge.target);
                }
            }
        }
        Vec::new()
    }

    fn step(&self, edge: &Edge) -> OrderStep {
        let (catalog, graph) = (self.catalog, self.graph);
        let name = |node: NodeId| match graph.node(node) {
            Node::Resource(id) | Node::Begin(id) | Node::End(id) => catalog[id].reference(),
            Node::Default(of, title) => format!("{of}[{title}]"),
        };
        let declared = |node: NodeId| graph.node(node).resource().and_then(|id| catalog[id].span);
        let (from, to) = (name(edge.source), name(edge.target));
        let (kind, by, span) = match edge.cause {
            Cause::Contains if matches!(graph.node(edge.target), Node::End(_)) => {
                ("contained".to_owned(), to.clone(), declared(edge.source))
            }
            Cause::Contains => ("contains".to_owned(), from.clone(), declared(edge.target)),
            Cause::Empty => ("empty".to_owned(), from.clone(), declared(edge.source)),
            Cause::Parameter { relation, by } => {
                let resource = &catalog[by];
                let entry = resource.parameters.iter().find(|one| one.name.as_str() == relation.as_str());
                let other = if relation.is_forward() { &to } else { &from };
                let arrow = entry.and_then(|entry| self.arrow(&entry.value, other));
                let span = arrow.or_else(|| entry.and_then(|entry| entry.span)).or(resource.span);
                (relation.as_str().to_owned(), resource.reference(), span)
            }
            Cause::Auto { relation, by } => {
                (format!("auto{}", relation.as_str()), catalog[by].reference(), catalog[by].span)
            }
        };
        OrderStep { from, to, kind, by, span }
    }

    /// The place of the arrow that made a relationship with another resource.
    fn arrow(&self, value: &Value, other: &str) -> Option<Span> {
        if let Data::Array(items) = &value.data {
            return items.iter().find_map(|item| self.arrow(item, other));
        }
        if !to_text(value).eq_ignore_ascii_case(other) {
            return None;
        }
        match self.arena.node(self.arena.made_by(value.prov)) {
            Some(ArenaNode::Operation { name, span, .. }) if name.as_str() == "arrow" => span,
            _ => None,
        }
    }
}

/// Whether a node lies inside of a container, however deep.
fn contains(graph: &Graph, begin: NodeId, target: NodeId) -> bool {
    let mut work = vec![target];
    let mut seen = std::collections::BTreeSet::new();
    while let Some(at) = work.pop() {
        if at == begin {
            return true;
        }
        if !seen.insert(at) {
            continue;
        }
        let holders = graph.incoming(at).filter(|edge| edge.cause == Cause::Contains);
        work.extend(
            holders.map(|edge| edge.source).filter(|source| matches!(graph.node(*source), Node::Begin(_))),
        );
    }
    false
}

impl Writer<'_> {
    /// The path as people read it; without one, what there is instead.
    pub fn order(&self, catalog: &Catalog, answer: &OrderAnswer) -> String {
        let (from, to) = (catalog[answer.from].reference(), catalog[answer.to].reference());
        let mut out = String::new();
        if !answer.path.is_empty() {
            let _ = writeln!(out, "{from} comes before {to}\n");
            self.order_steps(&answer.path, &mut out);
            return out;
        }
        let _ = writeln!(out, "No: nothing makes {from} come before {to}");
        if !answer.reverse.is_empty() {
            let _ = writeln!(out, "\n{to} comes before {from}:");
            self.order_steps(&answer.reverse, &mut out);
        }
        for (words, steps) in [("right after", &answer.after), ("right before", &answer.before)] {
            if !steps.is_empty() {
                let of = if words == "right after" { &from } else { &to };
                let _ = writeln!(out, "\n{words} {of}:");
                self.order_steps(steps, &mut out);
            }
        }
        out
    }

    fn order_steps(&self, steps: &[OrderStep], out: &mut String) {
        for step in steps {
            let why = match step.kind.as_str() {
                "contains" => format!("{} contains it", step.by),
                "contained" => format!("{} contains it, and ends after it", step.by),
                "empty" => format!("{} contains nothing", step.by),
                kind if kind.starts_with("auto") => format!("{kind} of {}", step.by),
                kind => format!("{kind} of {}", step.by),
            };
            let place = step.span.map(|span| format!(" at {}", self.sources.place(span))).unwrap_or_default();
            let _ = writeln!(out, "  {} -> {}: {why}{place}", step.from, step.to);
            if let Some(note) = step.span.and_then(|span| (self.notes)(span)) {
                let _ = writeln!(out, "      {note}");
            }
        }
    }

    /// `{"target", "ordered", "path", "reverse", "after", "before"}`.
    pub fn order_json(&self, catalog: &Catalog, answer: &OrderAnswer) -> Json {
        let nothing = &self.nothing_secret();
        let steps = |steps: &[OrderStep]| -> Vec<Json> {
            let json = |step: &OrderStep| {
                let place = step.span.map_or(Json::Null, |span| self.place_of(span, nothing));
                json!({"from": step.from, "to": step.to, "kind": step.kind, "by": step.by, "place": place})
            };
            steps.iter().map(json).collect()
        };
        json!({
            "target": format!("{} -> {}", catalog[answer.from].reference(), catalog[answer.to].reference()),
            "ordered": !answer.path.is_empty(),
            "path": steps(&answer.path),
            "reverse": steps(&answer.reverse),
            "after": steps(&answer.after),
            "before": steps(&answer.before),
        })
    }
}
