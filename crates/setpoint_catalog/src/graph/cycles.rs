//! Dependency cycles.

use rustc_hash::FxHashSet;

use super::{Edge, Graph, NodeId};

/// A set of nodes that all depend on each other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cycle {
    /// All nodes of the set, in the order of the catalog.
    pub nodes: Vec<NodeId>,
    /// One shortest way round, beginning at the first node: each edge starts where the one before it ended.
    pub path: Vec<Edge>,
}

pub(super) fn cycles(graph: &Graph) -> Vec<Cycle> {
    let next = |node: usize, at: usize| {
        graph.outgoing[node].get(at).map(|&edge| graph.edges[edge as usize].target.index())
    };
    setpoint_diagram::components(graph.nodes.len(), next)
        .into_iter()
        .map(|nodes| nodes.into_iter().map(|node| NodeId(node as u32)).collect::<Vec<_>>())
        .filter(|nodes| nodes.len() > 1 || nodes.first().is_some_and(|&only| has_loop(graph, only)))
        .map(|nodes| {
            let path = shortest_way_round(graph, &nodes);
            Cycle { nodes, path }
        })
        .collect()
}

fn has_loop(graph: &Graph, node: NodeId) -> bool {
    graph.outgoing(node).any(|edge| edge.target == node)
}

/// A breadth-first search from the first node back to itself.
fn shortest_way_round(graph: &Graph, nodes: &[NodeId]) -> Vec<Edge> {
    let Some(&start) = nodes.first() else { return Vec::new() };
    let members: FxHashSet<NodeId> = nodes.iter().copied().collect();
    let mut reached: Vec<(NodeId, Option<usize>, Option<Edge>)> = vec![(start, None, None)];
    let mut seen = FxHashSet::default();
    let mut at = 0;
    while let Some(&(node, ..)) = reached.get(at) {
        for edge in graph.outgoing(node).filter(|edge| members.contains(&edge.target)) {
            if edge.target == start {
                let mut path = vec![*edge];
                let mut back = at;
                while let Some(&(_, Some(before), Some(edge))) = reached.get(back) {
                    path.push(edge);
                    back = before;
                }
                path.reverse();
                return path;
            }
            if seen.insert(edge.target) {
                reached.push((edge.target, Some(at), Some(*edge)));
            }
        }
        at += 1;
    }
    Vec::new()
}
