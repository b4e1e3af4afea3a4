//! Keys with dots: `users.0.'first.name'`.

use std::sync::Arc;

use setpoint_puppet_values::ruby::text::{class, no_method};
use setpoint_puppet_values::{Data, Key, Value};
use setpoint_source::Symbol;

use crate::failure::Failure;

/// One part of a dotted key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Segment {
    Name(Arc<str>),
    Index(i64),
}

impl Segment {
    pub(crate) fn value(&self) -> Value {
        match self {
            Self::Name(name) => Value::from(&**name),
            Self::Index(index) => Value::from(*index),
        }
    }

    pub(crate) fn text(&self) -> String {
        match self {
            Self::Name(name) => name.to_string(),
            Self::Index(index) => index.to_string(),
        }
    }
}

/// A key as it was asked for, taken apart.
#[derive(Debug, Clone)]
pub(crate) struct LookupKey {
    pub(crate) text: Arc<str>,
    pub(crate) root: Arc<str>,
    /// The root, as provenance names it.
    pub(crate) symbol: Symbol,
    pub(crate) module: Option<Arc<str>>,
    pub(crate) segments: Vec<Segment>,
}

impl LookupKey {
    pub(crate) fn new(text: &str) -> Result<Self, Failure> {
        let mut segments =
            split(text).ok_or_else(|| Failure::data(format!("Syntax error in key: '{text}'")))?;
        let Segment::Name(root) = segments.remove(0) else {
            return Err(Failure::other(format!("the key '{text}' begins with a number")));
        };
        // A leading `::` makes the whole key the name of a module, as Puppet reads it.
        let module = root.find("::").map(|at| if at == 0 { Arc::clone(&root) } else { root[..at].into() });
        Ok(Self { text: text.into(), symbol: Symbol::new(&root), root, module, segments })
    }
}

impl LookupKey {
    /// What holds a value where the segments of the key lead.
    pub(crate) fn undig(&self, value: Value) -> Value {
        let prov = value.prov;
        let around = |inner: Value, segment: &Segment| match segment {
            Segment::Index(index) => {
                let before = usize::try_from(*index).unwrap_or_default().min(MOST_BEFORE);
                let mut items = vec![Value::UNDEF; before];
                items.push(inner);
                Value::array(items).with(prov)
            }
            Segment::Name(name) => {
                Value::hash(std::iter::once((Key::from(&**name), inner)).collect()).with(prov)
            }
        };
        self.segments.iter().rev().fold(value, around)
    }
}

/// An element with a higher index is not put back.
const MOST_BEFORE: usize = 100_000;

/// The segments of a key; quotes keep dots together. Nothing if it is not well formed.
pub(crate) fn split(key: &str) -> Option<Vec<Segment>> {
    if !key.contains(['\'', '"', '.']) {
        return Some(vec![Segment::Name(key.into())]);
    }
    let mut segments = Vec::new();
    let mut rest = key;
    loop {
        let (part, after) = segment(rest)?;
        let part = part.trim();
        segments.push(if part.starts_with(['"', '\'']) {
            Segment::Name(part[1..part.len() - 1].into())
        } else {
            number(part).map_or_else(|| Segment::Name(part.into()), Segment::Index)
        });
        if after.is_empty() {
            return Some(segments);
        }
        rest = after.strip_prefix('.')?;
    }
}

/// A segment at the start of a text, and what follows it.
fn segment(text: &str) -> Option<(&str, &str)> {
    let trimmed = text.trim_start();
    if let Some(quote) = trimmed.chars().next().filter(|first| matches!(first, '"' | '\'')) {
        let length = trimmed[1..].find(quote)?;
        if length == 0 {
            return None;
        }
        let after = trimmed[length + 2..].trim_start();
        return Some((&text[..text.len() - after.len()], after));
    }
    let end = text.find(['\'', '"', '.']).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

fn number(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

/// What a step into a value finds.
pub(crate) enum Step {
    Found(Value),
    Missing,
    Unknown(Value),
}

/// Goes one segment deeper; `key` is for the error.
pub(crate) fn step(value: &Value, segment: &Segment, key: &str) -> Result<Step, Failure> {
    let found = match (&value.data, segment) {
        (Data::Opaque(_), _) => return Ok(Step::Unknown(value.clone())),
        (Data::Undef, _) => None,
        (Data::Array(items), Segment::Index(index)) => {
            usize::try_from(*index).ok().and_then(|index| items.get(index)).cloned()
        }
        (Data::Hash(entries), Segment::Name(name)) => entries.get(&Key::from(&**name)).cloned(),
        (Data::Hash(entries), Segment::Index(index)) => entries.get(&Key(Value::from(*index))).cloned(),
        // Ruby's integers can be indexed, but do not know whether they include something.
        (Data::Integer(_), _) => return Err(Failure::other(no_method("include?", value))),
        _ => {
            return Err(Failure::data(format!(
                "Data Provider type mismatch: Got {} when a hash-like object was expected to access value using '{}' from key '{key}'",
                class(value),
                segment.text()
            )));
        }
    };
    Ok(found.map_or(Step::Missing, Step::Found))
}

#[cfg(test)]
mod tests {
    use super::{Segment, split};

    fn texts(key: &str) -> Option<Vec<String>> {
        split(key).map(|segments| segments.iter().map(Segment::text).collect())
    }

    #[test]
    fn quotes_keep_dots_together() {
        assert_eq!(texts("a.b.0"), Some(vec!["a".into(), "b".into(), "0".into()]));
        assert_eq!(texts("'a.b'. \"c d\" .e"), Some(vec!["a.b".into(), "c d".into(), "e".into()]));
        assert_eq!(split("a.0").map(|all| all[1].clone()), Some(Segment::Index(0)));
        assert_eq!(split("a.'0'").map(|all| all[1].clone()), Some(Segment::Name("0".into())));
        assert_eq!(texts("plain::key"), Some(vec!["plain::key".into()]));
    }

    #[test]
    fn what_is_not_well_formed_has_no_segments() {
        for key in ["a.", ".a", "a..b", "a 'b'", "'a", "''", "a.''", "."] {
            assert_eq!(texts(key), None, "{key}");
        }
    }
}
