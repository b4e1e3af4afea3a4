//! Strongly connected components: nodes of which each leads to each other.

/// The components of a graph of `count` nodes, each with its nodes in order, and in the order of their first nodes.
/// `next` gives the successors of a node one by one: the target of its edge number `at`, or `None` after the last.
///
/// Tarjan's algorithm without recursion: long chains need no deep stack.
pub fn components(count: usize, next: impl Fn(usize, usize) -> Option<usize>) -> Vec<Vec<usize>> {
    const UNSEEN: usize = usize::MAX;
    let (mut index, mut low) = (vec![UNSEEN; count], vec![0; count]);
    let mut open = vec![false; count];
    let (mut seen, mut stack, mut found) = (0, Vec::new(), Vec::new());
    let mut frames: Vec<(usize, usize)> = Vec::new();
    for root in 0..count {
        if index[root] != UNSEEN {
            continue;
        }
        frames.push((root, 0));
        while let Some(&mut (node, ref mut at)) = frames.last_mut() {
            if *at == 0 {
                (index[node], low[node]) = (seen, seen);
                seen += 1;
                stack.push(node);
                open[node] = true;
            }
            if let Some(child) = next(node, *at) {
                *at += 1;
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
                    component.push(member);
                    if member == node {
                        break;
                    }
                }
                component.sort_unstable();
                found.push(component);
            }
        }
    }
    found.sort_unstable();
    found
}

#[cfg(test)]
mod tests {
    use super::components;

    fn of(edges: &[&[usize]]) -> Vec<Vec<usize>> {
        components(edges.len(), |node, at| edges[node].get(at).copied())
    }

    #[test]
    fn circles_are_one_component_each() {
        assert_eq!(of(&[&[1], &[2], &[0, 3], &[4], &[3], &[]]), [vec![0, 1, 2], vec![3, 4], vec![5]]);
        assert_eq!(of(&[&[0], &[0]]), [[0], [1]]);
        assert!(of(&[]).is_empty());
    }

    #[test]
    fn a_long_chain_needs_no_deep_stack() {
        let count = 200_000;
        let chain = components(count, |node, at| (at == 0 && node + 1 < count).then_some(node + 1));
        assert_eq!(chain.len(), count);
        let ring = components(count, |node, at| (at == 0).then_some((node + 1) % count));
        assert_eq!(ring.len(), 1);
    }
}
