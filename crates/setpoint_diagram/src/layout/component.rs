//! The parts of a graph that no edge connects.

use crate::Diagram;

/// The sets of connected nodes, and the nodes without edges; all in the order of the nodes.
pub(super) fn components(diagram: &Diagram) -> (Vec<Vec<usize>>, Vec<usize>) {
    let mut roots: Vec<usize> = (0..diagram.nodes.len()).collect();
    for edge in &diagram.edges {
        let (a, b) = (find(&mut roots, edge.source), find(&mut roots, edge.target));
        let (low, high) = (a.min(b), a.max(b));
        roots[high] = low;
    }
    let mut sets: Vec<Vec<usize>> = vec![Vec::new(); diagram.nodes.len()];
    for node in 0..diagram.nodes.len() {
        let root = find(&mut roots, node);
        sets[root].push(node);
    }
    let mut touched = vec![false; diagram.nodes.len()];
    for edge in &diagram.edges {
        (touched[edge.source], touched[edge.target]) = (true, true);
    }
    sets.retain(|set| !set.is_empty());
    let (connected, alone): (Vec<_>, Vec<_>) =
        sets.into_iter().partition(|set| set.iter().any(|node| touched[*node]));
    (connected, alone.into_iter().flatten().collect())
}

fn find(roots: &mut [usize], mut node: usize) -> usize {
    while roots[node] != node {
        roots[node] = roots[roots[node]];
        node = roots[node];
    }
    node
}
