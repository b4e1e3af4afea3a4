//! The forms of provenance, read off the arena.

use crate::{Arena, Leaf, Node, Prov};
use rustc_hash::FxHashSet;

impl Arena {
    /// Where-provenance: the leaf that the value was copied from, if it was copied and not computed.
    pub fn origin(&self, prov: Prov) -> Option<Leaf> {
        let mut at = prov;
        loop {
            match self.node(at)? {
                Node::Leaf(leaf) => return Some(leaf),
                Node::Copy { of, .. } | Node::Under { of, .. } => at = of,
                Node::Operation { .. } => return None,
            }
        }
    }

    /// Dependency-provenance: every leaf that could change the value, control included, in the order in which the
    /// evaluation met them.
    pub fn depends(&self, prov: Prov) -> Vec<Leaf> {
        let mut seen = FxHashSet::default();
        let mut work = vec![prov];
        let mut found: Vec<(Prov, Leaf)> = Vec::new();
        while let Some(at) = work.pop() {
            if !seen.insert(at) {
                continue;
            }
            match self.node(at) {
                None => {}
                Some(Node::Leaf(leaf)) => found.push((at, leaf)),
                Some(Node::Copy { of, .. }) => work.push(of),
                Some(Node::Under { of, cause, .. }) => work.extend([of, cause]),
                Some(Node::Operation { arguments, .. }) => work.extend_from_slice(arguments),
            }
        }
        found.sort_by_key(|(at, _)| *at);
        found.into_iter().map(|(_, leaf)| leaf).collect()
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
    fn switched_off_it_records_nothing() {
        let mut arena = Arena::new(false);
        assert_eq!(arena.operation("+".into(), None, &[Prov::NONE]), Prov::NONE);
        assert!(arena.is_empty());
    }
}
