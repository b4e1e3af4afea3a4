//! Which lines of the source changed.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};

/// Lines, counted from 1. `count` may be 0: the place before which something was added or removed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Lines {
    pub first: u32,
    pub count: u32,
}

impl Lines {
    pub fn contains(self, line: u32) -> bool {
        self.first <= line && line < self.first + self.count
    }

    /// Whether any of the lines from `first` to `last` is among them.
    fn touches(self, first: u32, last: u32) -> bool {
        self.first <= last && first < self.first + self.count
    }
}

/// A piece of a file that changed.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Hunk {
    /// As it is named in both versions.
    pub path: String,
    pub old: Lines,
    pub new: Lines,
    pub removed: Vec<String>,
    pub added: Vec<String>,
}

/// All changed lines of the files that a comparison knows.
#[derive(Debug, Default)]
pub struct SourceChanges {
    hunks: Vec<Hunk>,
    by_path: BTreeMap<String, std::ops::Range<usize>>,
}

/// A comparison of two texts that takes longer falls back to a coarser answer.
const PATIENCE: Duration = Duration::from_secs(2);

impl SourceChanges {
    /// Adds a file with its text in either version; a file that is missing in one is empty there.
    pub fn add(&mut self, path: &str, old: &str, new: &str) {
        if old == new || self.by_path.contains_key(path) {
            return;
        }
        let (before, after): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
        let start = self.hunks.len();
        let deadline = Instant::now() + PATIENCE;
        for op in capture_diff_slices_deadline(Algorithm::Myers, &before, &after, Some(deadline)) {
            if matches!(op, DiffOp::Equal { .. }) {
                continue;
            }
            let (from, to) = (op.old_range(), op.new_range());
            let owned = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
            self.hunks.push(Hunk {
                path: path.to_owned(),
                old: Lines { first: from.start as u32 + 1, count: from.len() as u32 },
                new: Lines { first: to.start as u32 + 1, count: to.len() as u32 },
                removed: owned(before.get(from).unwrap_or(&[])),
                added: owned(after.get(to).unwrap_or(&[])),
            });
        }
        self.by_path.insert(path.to_owned(), start..self.hunks.len());
    }

    pub fn hunks(&self) -> &[Hunk] {
        &self.hunks
    }

    /// The hunks of the old version that hold some of these lines.
    pub(crate) fn in_old(&self, path: &str, first: u32, last: u32) -> Vec<usize> {
        self.of(path).filter(|&at| self.hunks[at].old.touches(first, last)).collect()
    }

    /// The hunks of the new version that hold some of these lines.
    pub(crate) fn in_new(&self, path: &str, first: u32, last: u32) -> Vec<usize> {
        self.of(path).filter(|&at| self.hunks[at].new.touches(first, last)).collect()
    }

    fn of(&self, path: &str) -> std::ops::Range<usize> {
        self.by_path.get(path).cloned().unwrap_or(0..0)
    }
}

#[cfg(test)]
mod tests {
    use super::SourceChanges;

    #[test]
    fn each_changed_piece_is_found_by_its_lines() {
        let mut changes = SourceChanges::default();
        changes.add("a.pp", "one\ntwo\nthree\n", "one\n2\nthree\nfour\n");
        assert_eq!(changes.hunks().len(), 2);
        assert_eq!(changes.in_old("a.pp", 2, 2), [0]);
        assert_eq!(changes.in_new("a.pp", 4, 4), [1]);
        assert!(changes.in_new("a.pp", 1, 1).is_empty());
        assert!(changes.in_new("b.pp", 1, 1).is_empty());
    }
}
