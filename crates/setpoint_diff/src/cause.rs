//! Which changed lines a difference comes from.

use rustc_hash::FxHashSet;
use setpoint_catalog::Catalog;
use setpoint_provenance::{Arena, Leaf, Node, Prov};
use setpoint_source::Sources;

use crate::SourceChanges;

/// One version of a node: its catalog, and where the values in it came from. A catalog that somebody else compiled has
/// an empty arena.
#[derive(Clone, Copy, Debug)]
pub struct Version<'a> {
    pub catalog: &'a Catalog,
    pub arena: &'a Arena,
    pub sources: &'a Sources,
    /// The folder of this version, as its paths begin; the rest of a path names the file in both versions.
    pub root: &'a str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Old,
    New,
}

impl Version<'_> {
    /// The path of a file as both versions name it.
    pub(crate) fn shared_path<'p>(&self, path: &'p str) -> &'p str {
        path.strip_prefix(self.root).map_or(path, |rest| rest.trim_start_matches('/'))
    }

    /// The changed pieces of source that a value comes from: the one that it was copied from; else those that it was
    /// computed from; else those that decided about it.
    pub(crate) fn causes(&self, side: Side, prov: Prov, changes: &SourceChanges) -> Vec<usize> {
        let copied = self.hunks(side, self.arena.origin(prov), changes);
        if !copied.is_empty() {
            return copied;
        }
        let computed = self.hunks(side, self.operands(prov), changes);
        if !computed.is_empty() {
            return computed;
        }
        self.hunks(side, self.arena.depends(prov), changes)
    }

    fn hunks(&self, side: Side, leaves: impl IntoIterator<Item = Leaf>, changes: &SourceChanges) -> Vec<usize> {
        let mut found: Vec<usize> = Vec::new();
        for span in leaves.into_iter().filter_map(|leaf| leaf.span) {
            let file = self.sources.file(span.file);
            let (first, last) =
                (file.line(span.range.start), file.line(span.range.end.saturating_sub(1).max(span.range.start)));
            let path = self.shared_path(file.path());
            found.extend(match side {
                Side::Old => changes.in_old(path, first, last),
                Side::New => changes.in_new(path, first, last),
            });
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The leaves that a value was computed from, without what only decided that it was computed.
    fn operands(&self, prov: Prov) -> Vec<Leaf> {
        let mut seen = FxHashSet::default();
        let mut work = vec![prov];
        let mut found = Vec::new();
        while let Some(at) = work.pop() {
            if !seen.insert(at) {
                continue;
            }
            match self.arena.node(at) {
                Some(Node::Leaf(leaf)) => found.push(leaf),
                Some(Node::Copy { of, .. } | Node::Under { of, .. }) => work.push(of),
                Some(Node::Operation { arguments, .. }) => work.extend_from_slice(arguments),
                None => {}
            }
        }
        found
    }
}
