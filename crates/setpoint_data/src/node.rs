//! The tree.

use std::sync::Arc;

use setpoint_source::{Diagnostic, Range};

/// What a file holds, and what is wrong with it.
#[derive(Debug, Clone, Default)]
pub struct Document {
    /// Absent if the file is empty or nothing could be read.
    pub root: Option<Node>,
    /// The start of a second YAML document, which is not read.
    pub second: Option<Range>,
    /// The first alias or `<<` that was put in: some readers of YAML know neither.
    pub alias: Option<Range>,
    pub diagnostics: Vec<Diagnostic>,
}

#[derive(Debug, Clone)]
pub struct Node {
    pub range: Range,
    /// A tag of the text as it is written, without the leading `!`: `Ref`, `Sub`; core tags as `!str`.
    pub tag: Option<Arc<str>>,
    pub kind: Kind,
}

/// Children are shared, because an alias is the same node again.
#[derive(Debug, Clone)]
pub enum Kind {
    Scalar { text: Arc<str>, style: Style },
    Sequence(Arc<Vec<Node>>),
    Mapping(Arc<Vec<Entry>>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Without quotes: may mean a number, a boolean or nothing. JSON's numbers, `true`, `false` and `null` too.
    Plain,
    Quoted,
    /// `|` or `>`
    Block,
}

#[derive(Debug, Clone)]
pub struct Entry {
    pub key: Node,
    pub value: Node,
}

impl Node {
    /// The text of a scalar.
    pub fn text(&self) -> Option<&str> {
        if let Kind::Scalar { text, .. } = &self.kind { Some(text) } else { None }
    }

    /// Whether this is YAML's or JSON's nothing.
    pub fn is_null(&self) -> bool {
        self.plain().is_some_and(|text| matches!(text, "" | "~" | "null" | "Null" | "NULL"))
    }

    /// The text of a scalar without quotes and tag, whose meaning depends on its spelling.
    pub fn plain(&self) -> Option<&str> {
        match &self.kind {
            Kind::Scalar { text, style: Style::Plain } if self.tag.is_none() => Some(text),
            _ => None,
        }
    }

    pub fn items(&self) -> &[Node] {
        if let Kind::Sequence(items) = &self.kind { items } else { &[] }
    }

    pub fn entries(&self) -> &[Entry] {
        if let Kind::Mapping(entries) = &self.kind { entries } else { &[] }
    }

    pub fn is_mapping(&self) -> bool {
        matches!(self.kind, Kind::Mapping(_))
    }

    pub fn is_sequence(&self) -> bool {
        matches!(self.kind, Kind::Sequence(_))
    }

    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().find(|entry| entry.key.text() == Some(key))
    }

    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.value)
    }
}
