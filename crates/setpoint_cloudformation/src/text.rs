//! Texts that a template puts together: the same text in two spellings is one text.

use setpoint_source::Symbol;

use crate::conditions::canonical;
use crate::template::{Parameter, Template};
use crate::value::{Piece, Value, ValueKind};

/// A piece of a text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Part {
    Text(String),
    /// The value of a parameter, or the name that a resource gets.
    Ref(Symbol),
    /// An expression that is equal to another one of the same spelling.
    Other(String),
}

/// A text as its pieces. Two neighbours are never both plain text.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(crate) struct Text(pub(crate) Vec<Part>);

impl Text {
    /// Puts a value together, as far as the template decides it.
    pub(crate) fn of(value: &Value, template: &Template) -> Self {
        let mut text = Self::default();
        text.add(value, template);
        text
    }

    /// The whole text, if nothing of it is left open.
    pub(crate) fn plain(&self) -> Option<&str> {
        match self.0.as_slice() {
            [] => Some(""),
            [Part::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// The text with `\0` in the place of each piece that is not known.
    pub(crate) fn with_gaps(&self) -> String {
        self.0.iter().map(|part| if let Part::Text(text) = part { text } else { "\0" }).collect()
    }

    /// Whether the two differ for every value of what is open in them.
    pub(crate) fn always_differs(&self, other: &Self) -> bool {
        let (mut left, mut right) = (self.0.as_slice(), other.0.as_slice());
        while let ([first, rest @ ..], [twin, others @ ..]) = (left, right)
            && first == twin
        {
            (left, right) = (rest, others);
        }
        while let ([rest @ .., last], [others @ .., twin]) = (left, right)
            && last == twin
        {
            (left, right) = (rest, others);
        }
        if left.is_empty() || right.is_empty() {
            // One side is empty: the other one is, too, unless it has text.
            return left.iter().chain(right).any(|part| matches!(part, Part::Text(_)));
        }
        let ends_differ = |one: Option<&Part>, two: Option<&Part>, at_end: bool| match (one, two) {
            (Some(Part::Text(one)), Some(Part::Text(two))) if at_end => {
                one.chars().rev().zip(two.chars().rev()).any(|(one, two)| one != two)
            }
            (Some(Part::Text(one)), Some(Part::Text(two))) => {
                one.chars().zip(two.chars()).any(|(one, two)| one != two)
            }
            _ => false,
        };
        let is_plain = |parts: &[Part]| parts.iter().all(|part| matches!(part, Part::Text(_)));
        (is_plain(left) && is_plain(right))
            || ends_differ(left.first(), right.first(), false)
            || ends_differ(left.last(), right.last(), true)
    }

    /// Puts values in the place of parameters.
    pub(crate) fn with(&self, value_of: &dyn Fn(Symbol) -> Option<String>) -> Self {
        let mut out = Self::default();
        for part in &self.0 {
            match part {
                Part::Ref(name) => match value_of(*name) {
                    Some(text) => out.push_text(&text),
                    None => out.0.push(part.clone()),
                },
                Part::Text(text) => out.push_text(text),
                Part::Other(_) => out.0.push(part.clone()),
            }
        }
        out
    }

    /// The names of parameters and resources in it.
    pub(crate) fn names(&self) -> impl Iterator<Item = Symbol> {
        self.0.iter().filter_map(|part| if let Part::Ref(name) = part { Some(*name) } else { None })
    }

    fn push_text(&mut self, text: &str) {
        match self.0.last_mut() {
            _ if text.is_empty() => {}
            Some(Part::Text(last)) => last.push_str(text),
            _ => self.0.push(Part::Text(text.to_owned())),
        }
    }

    fn push_ref(&mut self, name: Symbol, template: &Template) {
        match template.parameters.get(&name).and_then(Parameter::only_value) {
            Some(text) => self.push_text(&text),
            None => self.0.push(Part::Ref(name)),
        }
    }

    fn add(&mut self, value: &Value, template: &Template) {
        match &value.kind {
            ValueKind::Text(text) => self.push_text(text),
            ValueKind::Ref(name) => self.push_ref(*name, template),
            ValueKind::Sub { pieces, variables } => {
                for piece in pieces {
                    match piece {
                        Piece::Text(text) => self.push_text(text),
                        Piece::Ref(name) => match variables.iter().find(|own| own.name == *name) {
                            Some(own) => self.add(&own.value, template),
                            None => self.push_ref(*name, template),
                        },
                        Piece::GetAtt { resource, attribute } => {
                            self.0.push(Part::Other(format!("GetAtt({resource},{attribute})")));
                        }
                    }
                }
            }
            ValueKind::GetAtt { resource, attribute: Some(attribute), .. } => {
                self.0.push(Part::Other(format!("GetAtt({resource},{attribute})")));
            }
            ValueKind::Call { name, argument } => match (name.as_str(), argument.items()) {
                ("Fn::Join", [delimiter, list]) if is_literal_list(list) && delimiter.text().is_some() => {
                    for (at, item) in list.items().iter().enumerate() {
                        if at > 0 {
                            self.push_text(delimiter.text().unwrap_or_default());
                        }
                        self.add(item, template);
                    }
                }
                ("Fn::FindInMap", [map, first, second]) => {
                    let key = |value: &Value| Self::of(value, template).plain().map(Symbol::new);
                    let found = key(map)
                        .and_then(|map| template.mappings.get(&map))
                        .and_then(|table| table.get(&key(first)?)?.get(&key(second)?)?.text());
                    match found {
                        Some(text) => self.push_text(text),
                        None => self.0.push(Part::Other(canonical(value))),
                    }
                }
                _ => self.0.push(Part::Other(canonical(value))),
            },
            _ => self.0.push(Part::Other(canonical(value))),
        }
    }
}

/// Whether each item of a list stands for one text: `AWS::NoValue` stands for none.
fn is_literal_list(value: &Value) -> bool {
    let ValueKind::List(items) = &value.kind else { return false };
    items.iter().all(|item| match &item.kind {
        ValueKind::Ref(name) => &**name != "AWS::NoValue",
        ValueKind::If { .. } | ValueKind::List(_) | ValueKind::Map(_) | ValueKind::Null => false,
        _ => true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(parts: &[&str]) -> Text {
        let part = |text: &&str| match text.strip_prefix('$') {
            Some(name) => Part::Ref(Symbol::new(name)),
            None => Part::Text((*text).to_owned()),
        };
        Text(parts.iter().map(part).collect())
    }

    #[test]
    fn texts_differ_only_if_no_value_makes_them_equal() {
        let differ = |left: &[&str], right: &[&str]| text(left).always_differs(&text(right));
        assert!(differ(&["a"], &["b"]));
        assert!(differ(&["$P", "-a"], &["$P", "-b"]));
        assert!(differ(&["a-", "$P"], &["b-", "$Q"]));
        assert!(differ(&["$P", "-a"], &["$P"]));
        assert!(!differ(&["$P"], &["$Q"]));
        assert!(!differ(&["$P", "-a"], &["$Q", "-a"]));
        assert!(!differ(&["a", "$P"], &["ab"]));
        assert!(!differ(&["$P", "x", "$Q"], &["$Q", "x", "$P"]));
        assert!(!differ(&["$P", "$Q"], &["$P"]));
    }
}
