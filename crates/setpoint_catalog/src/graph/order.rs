//! The sequence in which Puppet applies resources.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Edge, Graph, NodeId};

/// What happens to the nodes of a graph.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Order {
    /// In the sequence of their application. With cycles, what lies on them or behind them is missing.
    pub applied: Vec<NodeId>,
    /// Given up in the end, for their provider never worked.
    pub given_up: Vec<NodeId>,
}

/// Of all nodes whose predecessors are done, the one that entered the catalog first comes next. A node that is not
/// suitable waits until nothing else is left to do, is tried once more if anything was done since, and then given up.
pub(super) fn order(graph: &Graph, suitable: &dyn Fn(NodeId) -> bool) -> Order {
    let mut queue = Queue::new(graph);
    let mut order = Order::default();
    let mut waiting = Vec::new();
    let mut progress = false;
    while let Some(id) = queue.next() {
        if suitable(id) {
            progress = true;
            order.applied.push(id);
            queue.finish(id);
        } else {
            waiting.push(id);
        }
        if queue.ready.is_empty() && !waiting.is_empty() {
            for id in std::mem::take(&mut waiting) {
                if progress {
                    queue.ready.push(queue.key(id));
                } else {
                    order.given_up.push(id);
                    queue.finish(id);
                }
            }
            progress = false;
        }
    }
    order
}

struct Queue<'a> {
    graph: &'a Graph,
    /// How many nodes have to be done before each node.
    blockers: Vec<usize>,
    ready: BinaryHeap<Reverse<(u32, NodeId)>>,
}

impl<'a> Queue<'a> {
    fn new(graph: &'a Graph) -> Self {
        let sources = |id: NodeId| distinct(graph.incoming(id), |edge| edge.source).len();
        let blockers: Vec<usize> = graph.ids().map(sources).collect();
        let mut queue = Self { graph, blockers, ready: BinaryHeap::new() };
        for id in graph.ids().filter(|id| queue.blockers[id.index()] == 0) {
            queue.ready.push(queue.key(id));
        }
        queue
    }

    fn key(&self, id: NodeId) -> Reverse<(u32, NodeId)> {
        Reverse((self.graph.priority[id.index()], id))
    }

    fn next(&mut self) -> Option<NodeId> {
        self.ready.pop().map(|Reverse((_, id))| id)
    }

    fn finish(&mut self, id: NodeId) {
        for next in distinct(self.graph.outgoing(id), |edge| edge.target) {
            let left = &mut self.blockers[next.index()];
            *left = left.saturating_sub(1);
            if *left == 0 {
                self.ready.push(self.key(next));
            }
        }
    }
}

/// Two nodes may have several edges between them.
fn distinct<'a>(edges: impl Iterator<Item = &'a Edge>, end: fn(&Edge) -> NodeId) -> Vec<NodeId> {
    let mut ends: Vec<NodeId> = edges.map(end).collect();
    ends.sort_unstable();
    ends.dedup();
    ends
}
