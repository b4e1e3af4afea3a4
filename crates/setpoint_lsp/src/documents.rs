//! The texts that are open in the editor.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lsp_types::{TextDocumentContentChangeEvent, Uri};
use setpoint_source::{MemoryFileSystem, Range};

use crate::positions::{Encoding, Lines};

/// One open file.
#[derive(Debug)]
pub(crate) struct Document {
    /// As the editor spells it.
    pub(crate) uri: Uri,
    pub(crate) version: i32,
    pub(crate) text: Arc<str>,
    /// It has changed since it was parsed last.
    pub(crate) is_dirty: bool,
}

/// The open files, by path.
#[derive(Debug, Default)]
pub(crate) struct Documents(pub(crate) BTreeMap<PathBuf, Document>);

impl Documents {
    pub(crate) fn get(&self, path: &Path) -> Option<&Document> {
        self.0.get(path)
    }

    /// What stands in front of the disk.
    pub(crate) fn unsaved(&self) -> MemoryFileSystem {
        let mut files = MemoryFileSystem::new();
        for (path, document) in &self.0 {
            files.add(path, document.text.as_bytes());
        }
        files
    }
}

/// A text after the changes of the editor, each made to what the one before it left.
pub(crate) fn changed(text: &str, changes: &[TextDocumentContentChangeEvent], encoding: Encoding) -> String {
    let mut text = text.to_owned();
    for change in changes {
        match change.range {
            None => text.clone_from(&change.text),
            Some(range) => {
                let Range { start, end } = Lines::new(&text, encoding).offsets(range);
                text.replace_range(start as usize..end as usize, &change.text);
            }
        }
    }
    text
}

/// What differs between two texts, as one stretch: where it lies in the old text, and how long it is in the new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shift {
    old: Range,
    new_length: u32,
}

impl Shift {
    /// Nothing if the texts are the same.
    pub(crate) fn between(old: &str, new: &str) -> Option<Self> {
        if old == new {
            return None;
        }
        let (a, b) = (old.as_bytes(), new.as_bytes());
        let before = a.iter().zip(b).take_while(|(x, y)| x == y).count();
        let after =
            a[before..].iter().rev().zip(b[before..].iter().rev()).take_while(|(x, y)| x == y).count();
        Some(Self { old: Range::new(before, a.len() - after), new_length: (b.len() - after - before) as u32 })
    }

    /// Where a range of the old text is in the new one; nothing if it was touched.
    pub(crate) fn moved(self, range: Range) -> Option<Range> {
        if range.end <= self.old.start && range.start < self.old.start {
            Some(range)
        } else if range.start >= self.old.end {
            let by = |offset: u32| offset - self.old.end + self.old.start + self.new_length;
            Some(Range { start: by(range.start), end: by(range.end.max(range.start)) })
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use lsp_types::Position;

    use super::*;

    #[test]
    fn changes_are_made_one_after_the_other() {
        let at = |line, character| Position { line, character };
        let replace = |start, end, text: &str| TextDocumentContentChangeEvent {
            range: Some(lsp_types::Range { start, end }),
            range_length: None,
            text: text.to_owned(),
        };
        let changes = [
            replace(at(0, 1), at(0, 3), "b"),
            replace(at(0, 2), at(0, 2), "\nc"),
            replace(at(1, 0), at(9, 9), "d"),
        ];
        assert_eq!(changed("a😀\nrest", &changes, Encoding::Utf16), "ab\nd");
    }

    #[test]
    fn what_lies_around_a_change_moves_and_what_it_touches_is_gone() {
        let (old, new) = ("one two three", "one 22222 three");
        let shift = Shift::between(old, new).expect("a difference");
        let moved = |word: &str| {
            let start = old.find(word).expect(word);
            shift.moved(Range::new(start, start + word.len()))
        };
        assert_eq!(moved("one"), Some(Range::new(0, 3)));
        assert_eq!(moved("two"), None);
        assert_eq!(moved("three").map(|range| &new[range.start as usize..range.end as usize]), Some("three"));
        assert_eq!(moved("one two"), None);
        assert_eq!(Shift::between(old, old), None);
    }
}
