//! The forms of provenance, read off the arena.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{Arena, Leaf, LeafKind, Node, Prov};

/// A leaf that a value depends on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Dependency {
    pub node: Prov,
    pub leaf: Leaf,
    /// Only which elements it has matters, not what they are.
    pub shape: bool,
}

impl Arena {
    /// Where-provenance: the leaf that the value was copied from, if it was copied and not computed.
    pub fn origin(&self, prov: Prov) -> Option<Leaf> {
        match self.node(self.made_by(prov))? {
            Node::Leaf(leaf) => Some(leaf),
            _ => None,
        }
    }

    /// The leaf or operation that made a value, however often it was copied since.
    pub fn made_by(&self, prov: Prov) -> Prov {
        let mut at = prov;
        while let Some(Node::Copy { of, .. } | Node::Under { of, .. }) = self.node(at) {
            at = of;
        }
        at
    }

    /// The leaves of the expression that made a value: what it is made of, whatever led to its making.
    pub fn made_of(&self, prov: Prov) -> Vec<(Prov, Leaf)> {
        let mut seen = FxHashSet::default();
        let mut work = vec![prov];
        let mut found = Vec::new();
        while let Some(at) = work.pop() {
            if !seen.insert(at) {
                continue;
            }
            match self.node(at) {
                None => {}
                Some(Node::Leaf(leaf)) => found.push((at, leaf)),
                Some(Node::Copy { of, .. } | Node::Under { of, .. } | Node::Shape { of }) => work.push(of),
                Some(Node::Operation { arguments, .. }) => work.extend_from_slice(arguments),
            }
        }
        found.sort_by_key(|(at, _)| *at);
        found
    }

    /// Which nodes depend on some of the leaves: by number of the node. `known` says it of nodes beforehand.
    pub fn reached(&self, mut known: impl FnMut(Prov, Option<&Leaf>) -> bool) -> Vec<bool> {
        let mut reached = vec![false; self.len() + 1];
        // A node is made of older ones.
        for index in 1..reached.len() {
            let at = Prov::at(index as u32);
            let is = |prov: Prov| reached.get(prov.index() as usize).copied().unwrap_or(false);
            let node = self.node(at);
            let own = match &node {
                None => false,
                Some(Node::Leaf(leaf)) => known(at, Some(leaf)),
                Some(Node::Copy { of, .. } | Node::Shape { of }) => is(*of),
                Some(Node::Under { of, cause, .. }) => is(*of) || is(*cause),
                Some(Node::Operation { arguments, .. }) => arguments.iter().any(|argument| is(*argument)),
            };
            reached[index] = own;
        }
        reached
    }

    /// Dependency-provenance: every leaf that could change the value, control included, in the order in which the
    /// evaluation met them.
    pub fn depends(&self, prov: Prov) -> Vec<Leaf> {
        self.dependencies([(prov, false)], |_| Vec::new()).into_iter().map(|found| found.leaf).collect()
    }

    /// The same for several values at once, of some perhaps only the shape. `further` tells what a leaf stands for besides itself: what an observation
    /// that found nothing depends on is not known before somebody asks.
    pub fn dependencies(
        &self,
        of: impl IntoIterator<Item = (Prov, bool)>,
        mut further: impl FnMut(&Dependency) -> Vec<Prov>,
    ) -> Vec<Dependency> {
        let mut walk = Walk { arena: self, seen: FxHashMap::default(), work: Vec::new() };
        of.into_iter().for_each(|(prov, shape)| walk.add(prov, shape));
        let mut found: Vec<Dependency> = Vec::new();
        while let Some(dependency) = walk.next() {
            for prov in further(&dependency) {
                walk.add(prov, false);
            }
            found.push(dependency);
        }
        found.sort_by_key(|dependency| (dependency.node, dependency.shape));
        // A leaf that is read as a whole is read for its shape, too.
        found.dedup_by_key(|dependency| dependency.node);
        found
    }
}

struct Walk<'a> {
    arena: &'a Arena,
    /// Nodes that were visited, and whether only for their shape.
    seen: FxHashMap<Prov, bool>,
    work: Vec<(Prov, bool)>,
}

impl Walk<'_> {
    fn add(&mut self, prov: Prov, shape: bool) {
        let prov = prov.unchanged();
        if prov.is_none() {
            return;
        }
        match self.seen.get_mut(&prov) {
            Some(only_shape) if *only_shape && !shape => *only_shape = false,
            Some(_) => return,
            None => {
                self.seen.insert(prov, shape);
            }
        }
        self.work.push((prov, shape));
    }

    /// The next leaf.
    fn next(&mut self) -> Option<Dependency> {
        while let Some((at, shape)) = self.work.pop() {
            match self.arena.node(at) {
                None => {}
                // A plain value has no elements: its shape is all of it.
                Some(Node::Leaf(leaf)) => {
                    let shape = shape && leaf.kind != LeafKind::Literal;
                    return Some(Dependency { node: at, leaf, shape });
                }
                Some(Node::Copy { of, .. }) => self.add(of, shape),
                Some(Node::Under { of, cause, .. }) => {
                    self.add(of, shape);
                    self.add(cause, false);
                }
                Some(Node::Shape { of }) => self.add(of, true),
                Some(Node::Operation { arguments, shape: decisive, .. }) => {
                    let read = if shape { arguments.get(..decisive).unwrap_or(arguments) } else { arguments };
                    for argument in read {
                        self.add(*argument, false);
                    }
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use crate::{Arena, Control, Leaf, LeafKind, Prov};
    use setpoint_source::{Range, Sources};

    #[test]
    fn a_copied_value_has_an_origin_and_a_computed_one_has_dependencies() {
        let sources = Sources::new();
        let file = sources.add("a.pp", "1 + 2");
        let mut arena = Arena::new(true);
        let one = arena.literal(Range::new(0, 1).in_file(file));
        let two = arena.literal(Range::new(4, 5).in_file(file));
        let sum = arena.operation("+".into(), None, &[one, two]);
        let guard = arena.leaf(Leaf { kind: LeafKind::Fact, name: Some("os".into()), span: None });
        let copied = arena.copy(one, None, Some("x".into()));
        let under = arena.under(copied, Control::Condition, guard, None);
        assert_eq!(arena.origin(under).unwrap().span, Some(Range::new(0, 1).in_file(file)));
        assert_eq!(arena.origin(sum), None);
        assert_eq!(arena.depends(sum).len(), 2);
        assert_eq!(arena.depends(under).len(), 2);
    }

    #[test]
    fn an_element_depends_on_the_keys_of_its_collection_and_not_on_the_other_elements() {
        let sources = Sources::new();
        let file = sources.add("a.pp", "{a => 1, b => 2}[a]");
        let mut arena = Arena::new(true);
        let mut literal = |start| arena.literal(Range::new(start, start + 1).in_file(file));
        let (a, one, b, two, key) = (literal(1), literal(6), literal(9), literal(14), literal(17));
        let hash = arena.collection("hash".into(), None, &[a, b], &[one, two]);
        let shape = arena.shape(hash);
        let selection = arena.operation("[]".into(), None, &[shape, key]);
        let element = arena.under(one, Control::Selection, selection, None);
        let starts = |prov| {
            let leaves = arena.depends(prov);
            leaves.iter().filter_map(|leaf| Some(leaf.span?.range.start)).collect::<Vec<_>>()
        };
        assert_eq!(starts(element), [1, 6, 9, 17]);
        assert_eq!(starts(hash), [1, 6, 9, 14]);
    }

    #[test]
    fn switched_off_it_records_nothing() {
        let mut arena = Arena::new(false);
        assert_eq!(arena.operation("+".into(), None, &[Prov::NONE]), Prov::NONE);
        assert!(arena.is_empty());
    }
}
