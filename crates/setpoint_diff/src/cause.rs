//! Which changed lines a difference comes from.

use setpoint_catalog::Catalog;
use setpoint_provenance::{Arena, Leaf, Prov};
use setpoint_source::Sources;

use crate::lines::HunkId;
use crate::{ServedFiles, SourceChanges};

/// One version of a node: its catalog, and where the values in it came from. A catalog that somebody else compiled has
/// an empty arena.
#[derive(Clone, Copy, Debug)]
pub struct Version<'a> {
    pub catalog: &'a Catalog,
    pub arena: &'a Arena,
    pub sources: &'a Sources,
    pub root: &'a Root,
    pub served: &'a ServedFiles,
}

/// What is compared, as it is called in one version: a folder or a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Root {
    /// As paths begin in this version.
    pub path: String,
    /// What a file is called if it is compared by itself; the same in both versions.
    pub file: Option<String>,
}

impl Root {
    /// The name of a file in both versions: its path inside the folder that is compared, or the whole path if it lies
    /// elsewhere.
    pub fn shared_name<'p>(&'p self, path: &'p str) -> &'p str {
        // The current folder has two names.
        let path = if self.path.is_empty() { path.trim_start_matches("./") } else { path };
        match path.strip_prefix(self.path.as_str()) {
            Some("") => self.file.as_deref().unwrap_or(path),
            Some(rest) if self.path.is_empty() || self.path.ends_with('/') => rest,
            Some(rest) => rest.strip_prefix('/').unwrap_or(path),
            None => path,
        }
    }

    /// The same, and whether the file lies inside what is compared.
    pub fn locate<'p>(&'p self, path: &'p str) -> (&'p str, bool) {
        let name = self.shared_name(path);
        (name, name != path || self.path.is_empty() || self.path == path)
    }

    /// Where a file of a shared name lies in this version.
    pub fn path_of(&self, name: &str, inside: bool) -> String {
        if !inside {
            name.to_owned()
        } else if self.file.as_deref() == Some(name) {
            self.path.clone()
        } else if self.path.is_empty() {
            name.to_owned()
        } else {
            format!("{}/{name}", self.path.trim_end_matches('/'))
        }
    }
}

/// Which of the two versions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Side {
    Old,
    New,
}

impl Version<'_> {
    /// The changed pieces of source that a value comes from: the one that it was copied from; else those that it was
    /// computed from; else those that decided about it.
    pub(crate) fn causes(&self, side: Side, prov: Prov, changes: &SourceChanges<'_>) -> Vec<HunkId> {
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

    fn hunks(
        &self,
        side: Side,
        leaves: impl IntoIterator<Item = Leaf>,
        changes: &SourceChanges<'_>,
    ) -> Vec<HunkId> {
        let mut found: Vec<HunkId> = Vec::new();
        for span in leaves.into_iter().filter_map(|leaf| leaf.span) {
            let file = self.sources.file(span.file);
            let (first, last) = (
                file.line(span.range.start),
                file.line(span.range.end.saturating_sub(1).max(span.range.start)),
            );
            found.extend(changes.touched(side, self.root.locate(file.path()), first, last));
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The changed pieces of source that a value depends on in any way.
    pub(crate) fn all_causes(&self, side: Side, prov: Prov, changes: &SourceChanges<'_>) -> Vec<HunkId> {
        self.hunks(side, self.arena.depends(prov), changes)
    }

    /// The leaves that a value was computed from, without what only decided that it was computed.
    pub(crate) fn operands(&self, prov: Prov) -> Vec<Leaf> {
        self.arena.made_of(prov).into_iter().map(|(_, leaf)| leaf).collect()
    }
}
