//! Plain values with places.

use indexmap::IndexMap;
use setpoint_source::{FileId, Range, Span};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Something that was written, and where.
#[derive(Debug, Clone, PartialEq)]
pub struct Placed<T> {
    pub value: T,
    pub span: Span,
}

impl<T> std::ops::Deref for Placed<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

/// A value as TOML has it. Dates are texts.
#[derive(Debug, Clone, PartialEq)]
pub struct Value {
    pub kind: ValueKind,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ValueKind {
    Text(String),
    Integer(i64),
    Float(f64),
    Boolean(bool),
    List(Vec<Value>),
    Table(Table),
}

/// The entries in the order in which they are written.
pub type Table = IndexMap<String, Entry>;

#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Where the name stands.
    pub key: Span,
    pub value: Value,
}

impl Value {
    pub fn text(&self) -> Option<&str> {
        if let ValueKind::Text(text) = &self.kind { Some(text) } else { None }
    }

    pub fn table(&self) -> Option<&Table> {
        if let ValueKind::Table(table) = &self.kind { Some(table) } else { None }
    }

    /// What it is, for messages.
    pub(crate) fn noun(&self) -> &'static str {
        match self.kind {
            ValueKind::Text(_) => "a text",
            ValueKind::Integer(_) => "an integer",
            ValueKind::Float(_) => "a number",
            ValueKind::Boolean(_) => "a boolean",
            ValueKind::List(_) => "a list",
            ValueKind::Table(_) => "a table",
        }
    }
}

pub(crate) fn table(file: FileId, table: &DeTable<'_>) -> Table {
    table
        .iter()
        .map(|(key, entry)| {
            let entry = Entry { key: span(file, &key.span()), value: value(file, entry) };
            (key.get_ref().to_string(), entry)
        })
        .collect()
}

fn value(file: FileId, of: &Spanned<DeValue<'_>>) -> Value {
    let kind = match of.get_ref() {
        DeValue::String(text) => ValueKind::Text(text.to_string()),
        DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => ValueKind::Integer(number),
            Err(_) => ValueKind::Text(number.to_string()),
        },
        DeValue::Float(number) => ValueKind::Float(number.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(value) => ValueKind::Boolean(*value),
        DeValue::Datetime(date) => ValueKind::Text(date.to_string()),
        DeValue::Array(items) => ValueKind::List(items.iter().map(|item| value(file, item)).collect()),
        DeValue::Table(entries) => ValueKind::Table(table(file, entries)),
    };
    Value { kind, span: span(file, &of.span()) }
}

pub(crate) fn span(file: FileId, range: &std::ops::Range<usize>) -> Span {
    Range::new(range.start, range.end).in_file(file)
}
