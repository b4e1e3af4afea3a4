//! Which node stands in which layer, and in which order within it.

use std::collections::VecDeque;

/// A graph over vertices that are layered already; edges go from one layer to the next.
#[derive(Debug)]
pub(super) struct Layered {
    /// The vertices of each layer, from top to bottom.
    pub(super) layers: Vec<Vec<usize>>,
    /// The vertices in the next layer that a vertex leads to.
    pub(super) after: Vec<Vec<usize>>,
    pub(super) before: Vec<Vec<usize>>,
}

/// The layer of each vertex: behind all that lead to it, and as near as can be to what it leads to. `edges` have no
/// cycle.
pub(super) fn assign(count: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    let mut after = vec![Vec::new(); count];
    let mut waiting = vec![0_usize; count];
    for &(source, target) in edges {
        after[source].push(target);
        waiting[target] += 1;
    }
    let has_before: Vec<bool> = waiting.iter().map(|&number| number > 0).collect();
    let mut layer = vec![0_usize; count];
    let mut ready: VecDeque<usize> = (0..count).filter(|vertex| waiting[*vertex] == 0).collect();
    let mut order = Vec::with_capacity(count);
    while let Some(vertex) = ready.pop_front() {
        order.push(vertex);
        for &next in &after[vertex] {
            layer[next] = layer[next].max(layer[vertex] + 1);
            waiting[next] -= 1;
            if waiting[next] == 0 {
                ready.push_back(next);
            }
        }
    }
    for &vertex in order.iter().rev() {
        let nearest = after[vertex].iter().map(|next| layer[*next]).min();
        if let Some(nearest) = nearest.filter(|_| !has_before[vertex]) {
            layer[vertex] = layer[vertex].max(nearest.saturating_sub(1));
        }
    }
    layer
}

/// Turns some edges round so that no cycle is left: those that lead back in a depth-first walk.
pub(super) fn without_cycles(count: usize, edges: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let mut after: Vec<Vec<(usize, usize)>> = vec![Vec::new(); count];
    for (at, &(source, target)) in edges.iter().enumerate() {
        after[source].push((target, at));
    }
    let mut turned = vec![false; edges.len()];
    // 0: not seen, 1: on the way, 2: done.
    let mut state = vec![0_u8; count];
    for root in 0..count {
        if state[root] != 0 {
            continue;
        }
        state[root] = 1;
        let mut stack = vec![(root, 0)];
        while let Some(&mut (vertex, ref mut next)) = stack.last_mut() {
            let Some(&(target, edge)) = after[vertex].get(*next) else {
                state[vertex] = 2;
                stack.pop();
                continue;
            };
            *next += 1;
            match state[target] {
                0 => {
                    state[target] = 1;
                    stack.push((target, 0));
                }
                1 => turned[edge] = true,
                _ => {}
            }
        }
    }
    let turn = |(at, &(source, target)): (usize, &(usize, usize))| {
        if turned[at] { (target, source) } else { (source, target) }
    };
    edges.iter().enumerate().map(turn).collect()
}

impl Layered {
    /// Reorders the layers so that few edges cross: each vertex goes to the middle of its neighbours, sweeping forth and
    /// back, as long as it helps.
    pub(super) fn reduce_crossings(&mut self) {
        let mut best = self.layers.clone();
        let mut fewest = self.crossings();
        let mut idle = 0;
        for round in 0..24 {
            if fewest == 0 || idle > 5 {
                break;
            }
            self.sweep(round % 2 == 0);
            let crossings = self.crossings();
            if crossings < fewest {
                (fewest, idle) = (crossings, 0);
                best.clone_from(&self.layers);
            } else {
                idle += 1;
            }
        }
        self.layers = best;
    }

    fn positions(&self) -> Vec<usize> {
        let mut position = vec![0; self.after.len()];
        for layer in &self.layers {
            for (at, &vertex) in layer.iter().enumerate() {
                position[vertex] = at;
            }
        }
        position
    }

    fn sweep(&mut self, forward: bool) {
        let mut position = self.positions();
        let count = self.layers.len();
        for step in 1..count {
            let at = if forward { step } else { count - 1 - step };
            let neighbours = if forward { &self.before } else { &self.after };
            let middle = |vertex: usize| {
                let around = &neighbours[vertex];
                let sum: usize = around.iter().map(|other| position[*other]).sum();
                (!around.is_empty()).then(|| sum as f64 / around.len() as f64)
            };
            // A vertex without neighbours on that side keeps its place among the others.
            let mut keyed: Vec<(f64, usize)> = self.layers[at]
                .iter()
                .enumerate()
                .map(|(place, &vertex)| (middle(vertex).unwrap_or(place as f64), vertex))
                .collect();
            keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
            self.layers[at] = keyed.into_iter().map(|(_, vertex)| vertex).collect();
            for (place, &vertex) in self.layers[at].iter().enumerate() {
                position[vertex] = place;
            }
        }
    }

    /// How many pairs of edges cross, by counting inversions with a tree of sums.
    fn crossings(&self) -> usize {
        let position = self.positions();
        let mut total = 0;
        for (at, layer) in self.layers.iter().enumerate() {
            let Some(next) = self.layers.get(at + 1) else { break };
            let mut sums = vec![0_usize; next.len() + 1];
            let mut seen = 0;
            for &vertex in layer {
                let mut targets: Vec<usize> =
                    self.after[vertex].iter().map(|target| position[*target]).collect();
                targets.sort_unstable();
                for &target in &targets {
                    total += seen - prefix(&sums, target + 1);
                }
                for &target in &targets {
                    let mut index = target + 1;
                    while index < sums.len() {
                        sums[index] += 1;
                        index += index & index.wrapping_neg();
                    }
                    seen += 1;
                }
            }
        }
        total
    }
}

fn prefix(sums: &[usize], mut index: usize) -> usize {
    let mut sum = 0;
    while index > 0 {
        sum += sums[index];
        index &= index - 1;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_are_opened() {
        let edges = without_cycles(3, &[(0, 1), (1, 2), (2, 0), (1, 1)]);
        let kept: Vec<_> = edges.iter().filter(|(a, b)| a != b).copied().collect();
        assert_eq!(kept, [(0, 1), (1, 2), (0, 2)]);
        assert_eq!(assign(3, &kept), [0, 1, 2]);
    }

    #[test]
    fn crossings_are_counted_and_removed() {
        let mut layered = Layered {
            layers: vec![vec![0, 1], vec![2, 3]],
            after: vec![vec![3], vec![2], vec![], vec![]],
            before: vec![vec![], vec![], vec![1], vec![0]],
        };
        assert_eq!(layered.crossings(), 1);
        layered.reduce_crossings();
        assert_eq!(layered.crossings(), 0);
    }
}
