//! Places in source text.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use crate::secrets::{Secrets, blot_out, secret_literals};

/// A file in [`Sources`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct FileId(pub u32);

/// A stretch of bytes in one file that the context names.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Range {
    pub start: u32,
    pub end: u32,
}

impl Range {
    pub fn new(start: usize, end: usize) -> Self {
        Self { start: start as u32, end: end as u32 }
    }

    /// The shortest range that covers both.
    pub fn to(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    pub fn in_file(self, file: FileId) -> Span {
        Span { file, range: self }
    }
}

/// A stretch of bytes in a file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Span {
    pub file: FileId,
    pub range: Range,
}

/// A line and a column, both counted from 1; columns count characters.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Position {
    pub line: u32,
    pub column: u32,
}

/// The text of one file, with the path by which the user knows it.
#[derive(Debug)]
pub struct SourceFile {
    path: String,
    text: Arc<str>,
    line_starts: OnceLock<Vec<u32>>,
}

impl SourceFile {
    pub fn path(&self) -> &str {
        &self.path
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn shared_text(&self) -> Arc<str> {
        Arc::clone(&self.text)
    }

    fn line_starts(&self) -> &[u32] {
        self.line_starts.get_or_init(|| {
            std::iter::once(0)
                .chain(memchr::memchr_iter(b'\n', self.text.as_bytes()).map(|at| at as u32 + 1))
                .collect()
        })
    }

    /// The line of an offset, counted from 1.
    pub fn line(&self, offset: u32) -> u32 {
        self.line_starts().partition_point(|&start| start <= offset) as u32
    }

    pub fn position(&self, offset: u32) -> Position {
        let line = self.line(offset);
        let start = self.line_starts().get(line as usize - 1).copied().unwrap_or(0) as usize;
        let end = (offset as usize).clamp(start, self.text.len());
        let column = String::from_utf8_lossy(&self.text.as_bytes()[start..end]).chars().count() as u32 + 1;
        Position { line, column }
    }

    /// The text of a line counted from 1, without its line end.
    pub fn line_text(&self, line: u32) -> &str {
        let starts = self.line_starts();
        let Some(&start) = (line as usize).checked_sub(1).and_then(|index| starts.get(index)) else {
            return "";
        };
        let end = starts.get(line as usize).map_or(self.text.len(), |&next| next as usize);
        self.text.get(start as usize..end).unwrap_or("").trim_end_matches(['\n', '\r'])
    }

    /// The text of a range; empty where the range is not one of this file.
    pub fn slice(&self, range: Range) -> &str {
        self.text.get(range.start as usize..range.end as usize).unwrap_or("")
    }
}

/// All files that were read, in the order in which they were read. Adding needs no exclusive access, so that
/// nodes can be compiled in parallel over one set of sources.
#[derive(Debug, Default)]
pub struct Sources {
    files: RwLock<Vec<Arc<SourceFile>>>,
    secrets: Arc<Secrets>,
    /// The places that secrets were written at.
    secret_places: RwLock<BTreeMap<FileId, BTreeSet<Range>>>,
    /// Files as they may be shown, each with the number of places that are blotted out in it.
    blotted: RwLock<BTreeMap<FileId, (usize, Arc<SourceFile>)>>,
}

impl Sources {
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns empty sources that know the secrets of others: what was read beside them is printed with them.
    #[must_use]
    pub fn beside(&self) -> Self {
        Self { secrets: Arc::clone(&self.secrets), ..Self::default() }
    }

    pub fn add(&self, path: impl Into<String>, text: impl Into<Arc<str>>) -> FileId {
        let file = SourceFile { path: path.into(), text: text.into(), line_starts: OnceLock::new() };
        let literals = secret_literals(&file.text);
        for range in &literals {
            // An example in a comment is hidden where it stands, and is nobody's password.
            let line = file.line_text(file.line(range.start));
            if !line.trim_start().starts_with('#') {
                self.secrets.add_text(file.slice(*range));
            }
        }
        let mut files = self.files.write().unwrap_or_else(PoisonError::into_inner);
        files.push(Arc::new(file));
        let id = FileId(files.len() as u32 - 1);
        drop(files);
        for range in literals {
            self.hide(range.in_file(id));
        }
        id
    }

    /// Takes a place that a secret was written at.
    pub fn hide(&self, span: Span) {
        let mut places = self.secret_places.write().unwrap_or_else(PoisonError::into_inner);
        places.entry(span.file).or_default().insert(span.range);
    }

    /// Whether a place has text of a secret.
    pub fn is_hidden(&self, span: Span) -> bool {
        let places = self.secret_places.read().unwrap_or_else(PoisonError::into_inner);
        let overlaps = |range: &Range| range.start < span.range.end && span.range.start < range.end;
        places.get(&span.file).is_some_and(|ranges| ranges.iter().any(overlaps))
    }

    /// What nobody may see of the files, and of what was made of them.
    pub fn secrets(&self) -> &Arc<Secrets> {
        &self.secrets
    }

    /// Returns a file as it may be shown: of the same length, with asterisks where secrets are written.
    pub fn shown(&self, id: FileId) -> Arc<SourceFile> {
        let file = self.file(id);
        let places = self.secret_places.read().unwrap_or_else(PoisonError::into_inner);
        let Some(places) = places.get(&id) else { return file };
        let known = self.blotted.read().unwrap_or_else(PoisonError::into_inner);
        if let Some((count, blotted)) = known.get(&id)
            && *count == places.len()
        {
            return Arc::clone(blotted);
        }
        drop(known);
        let text = blot_out(&file.text, places.iter()).into();
        let blotted = Arc::new(SourceFile { path: file.path.clone(), text, line_starts: OnceLock::new() });
        let mut known = self.blotted.write().unwrap_or_else(PoisonError::into_inner);
        known.insert(id, (places.len(), Arc::clone(&blotted)));
        blotted
    }

    /// The file of an id that [`Sources::add`] returned; an empty file for any other id.
    pub fn file(&self, id: FileId) -> Arc<SourceFile> {
        let files = self.files.read().unwrap_or_else(PoisonError::into_inner);
        files.get(id.0 as usize).cloned().unwrap_or_else(|| {
            Arc::new(SourceFile { path: String::new(), text: Arc::from(""), line_starts: OnceLock::new() })
        })
    }

    /// All files, in the order in which they were read.
    pub fn files(&self) -> Vec<Arc<SourceFile>> {
        self.files.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The paths of all files, in the order in which they were read.
    pub fn paths(&self) -> Vec<String> {
        let files = self.files.read().unwrap_or_else(PoisonError::into_inner);
        files.iter().map(|file| file.path.clone()).collect()
    }

    pub fn position(&self, span: Span) -> Position {
        self.file(span.file).position(span.range.start)
    }

    /// `path:line:column` of the start of a span.
    pub fn place(&self, span: Span) -> String {
        let file = self.file(span.file);
        let Position { line, column } = file.position(span.range.start);
        format!("{}:{line}:{column}", file.path())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters_from_one() {
        let sources = Sources::new();
        let id = sources.add("a.pp", "x\nÄÖ = 1\n");
        let file = sources.file(id);
        assert_eq!(file.position(0), Position { line: 1, column: 1 });
        assert_eq!(file.position(6), Position { line: 2, column: 3 });
        assert_eq!(file.line_text(2), "ÄÖ = 1");
        assert_eq!(file.position(999).line, 3);
    }
}
