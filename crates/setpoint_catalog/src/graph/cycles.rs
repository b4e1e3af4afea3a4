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
    let mut found: Vec<Cycle> = components(graph)
        .into_iter()
        .filter(|nodes| nodes.len() > 1 || nodes.first().is_some_and(|&only| has_loop(graph, only)))
        .map(|mut nodes| {
            nodes.sort_unstable();
            let path = shortest_way_round(graph, &nodes);
            Cycle { nodes, path }
        })
        .collect();
    found.sort_unstable_by(|a, b| a.nodes.cmp(&b.nodes));
    found
}

fn has_loop(graph: &Graph, node: NodeId) -> bool {
    graph.outgoing(node).any(|edge| edge.target == node)
}

/// Tarjan's strongly connected components, without recursion.
fn components(graph: &Graph) -> Vec<Vec<NodeId>> {
    const UNSEEN: u32 = u32::MAX;
    let count = graph.nodes.len();
    let (mut index, mut low) = (vec![UNSEEN; count], vec![0; count]);
    let mut open = vec![false; count];
    let (mut next, mut stack, mut found) = (0, Vec::new(), Vec::new());
    let mut frames: Vec<(usize, usize)> = Vec::new();
    for root in 0..count {
        if index[root] != UNSEEN {
            continue;
        }
        frames.push((root, 0));
        while let Some(&mut (node, ref mut at)) = frames.last_mut() {
            if *at == 0 {
                (index[node], low[node]) = (next, next);
                next += 1;
                stack.push(node);
                open[node] = true;
            }
            if let Some(&edge) = graph.outgoing[node].get(*at) {
                *at += 1;
                let child = graph.edges[edge as usize].target.index();
                if index[child] == UNSEEN {
                    frames.push((child, 0));
                } else if open[child] {
                    low[node] = low[node].min(index[child]);
                }
                continue;
            }
            frames.pop();
            if let Some(&(parent, _)) = frames.last() {
                low[parent] = low[parent].min(low[node]);
            }
            if low[node] == index[node] {
                let mut component = Vec::new();
                while let Some(member) = stack.pop() {
                    open[member] = false;
                    component.push(NodeId(member as u32));
                    if member == node {
                        break;
                    }
                }
                found.push(component);
            }
        }
    }
    found
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
