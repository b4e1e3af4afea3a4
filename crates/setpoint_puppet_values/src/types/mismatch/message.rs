//! A difference in words.

use std::fmt::Write as _;

use super::{Kind, Mismatch, Step};
use crate::types::{IntRange, StringType, Type};

impl Mismatch {
    /// The difference in words, with a blank before it.
    pub(super) fn text(&self) -> String {
        let (variant, path) = match self.path.split_first() {
            Some((Step::Signature(index), rest)) => (format!(" {}.", index + 1), rest),
            _ => (String::new(), self.path.as_slice()),
        };
        let mut place = variant;
        for step in path {
            place.push(' ');
            step.write(&mut place);
        }
        match &self.kind {
            Kind::MissingKey(key) => format!("{place} expects a value for key '{key}'"),
            Kind::MissingParameter(name) => format!("{place} expects a value for parameter '{name}'"),
            Kind::ExtraneousKey(key) => format!("{place} unrecognized key '{key}'"),
            Kind::InvalidParameter(name) => format!("{place} has no parameter named '{name}'"),
            Kind::UnexpectedBlock => format!("{place} does not expect a block"),
            Kind::MissingBlock => format!("{place} expects a block"),
            Kind::Unresolved(name) => format!("{place} references an unresolved type '{name}'"),
            Kind::Type { expected, actual } => place + &type_text(expected, actual),
            Kind::Pattern { expected, actual } => place + &pattern_text(expected, actual),
            Kind::Size { expected, actual } => {
                format!(
                    "{place} expects size to be {}, got {}",
                    range_text(expected, "0"),
                    range_text(actual, "0")
                )
            }
            Kind::Count { expected, actual } => {
                let single = matches!(
                    (expected.from, expected.to),
                    (Some(1), Some(1) | None) | (Some(0) | None, Some(1))
                );
                let plural = if single { "" } else { "s" };
                let (expected, actual) = (range_text(expected, "no"), range_text(actual, "none"));
                format!("{place} expects {expected} argument{plural}, got {actual}")
            }
        }
    }
}

impl Step {
    fn write(&self, text: &mut String) {
        // Writing into a string cannot fail.
        let _ = match self {
            Self::Subject(name) => write!(text, "{name}"),
            Self::Entry(key) => write!(text, "entry '{key}'"),
            Self::KeyOfEntry(key) => write!(text, "key of entry '{key}'"),
            Self::Parameter(name) => write!(text, "parameter '{name}'"),
            Self::Return => write!(text, "return"),
            Self::Block => write!(text, "block"),
            Self::Index(index) => write!(text, "index {index}"),
            Self::Variant(index) => write!(text, "variant {index}"),
            Self::Signature(index) => write!(text, "{}.", index + 1),
        };
    }
}

fn range_text(range: &IntRange, zero: &str) -> String {
    match (range.from.unwrap_or(0), range.to) {
        (0, Some(0)) => zero.to_owned(),
        (from, Some(to)) if from == to => from.to_string(),
        (0, None) => "unlimited".to_owned(),
        (0, Some(to)) => format!("at most {to}"),
        (from, None) => format!("at least {from}"),
        (from, Some(to)) => format!("between {from} and {to}"),
    }
}

fn pattern_text(expected: &Type, actual: &Type) -> String {
    let (prefix, expected) = match expected {
        Type::Optional(Some(of)) => ("an undef value or ", of.as_ref()),
        of => ("", of),
    };
    let actual = match actual {
        Type::String(Some(of)) => match of.as_ref() {
            StringType::Value(value) => format!("'{value}'"),
            StringType::Size(_) => short_name(actual),
        },
        of => short_name(of),
    };
    format!(" expects {prefix}a match for {}, got {actual}", expected.expanded())
}

fn type_text(expected: &Type, actual: &Type) -> String {
    let (optional, expected) = match expected {
        Type::Optional(Some(of)) => (true, of.as_ref()),
        of => (false, of),
    };
    let alternatives: Vec<&Type> = match expected {
        Type::Variant(types) => types.iter().flat_map(|types| types.iter()).collect(),
        of => vec![of],
    };
    let detailed = alternatives.iter().any(|of| is_alike(of, actual))
        || alternatives.iter().any(|of| of.resolved().default_of_kind().is_assignable(actual));
    let (mut names, got) = if detailed {
        let names: Vec<String> = alternatives.iter().map(|of| of.expanded()).collect();
        (names, detailed_actual(&alternatives, actual))
    } else {
        let mut names: Vec<String> = Vec::new();
        for name in alternatives.iter().map(|of| short_name(of)) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        (names, short_name(actual))
    };
    if optional {
        names.insert(0, "Undef".to_owned());
    }
    match names.as_slice() {
        [] => format!(" expects a value of type , got {got}"),
        [one] => format!(" expects {} {one} value, got {got}", article(one)),
        [one, other] => format!(" expects a value of type {one} or {other}, got {got}"),
        [first @ .., last] => format!(" expects a value of type {}, or {last}, got {got}", first.join(", ")),
    }
}

/// Both are of one kind, so that only details tell them apart.
fn is_alike(expected: &Type, actual: &Type) -> bool {
    std::mem::discriminant(expected) == std::mem::discriminant(actual)
        || matches!(expected, Type::Alias(_))
        || matches!(actual, Type::Alias(_))
        || matches!((expected, actual), (Type::Struct(_), Type::Hash(_)) | (Type::Tuple(_), Type::Array(_)))
}

fn detailed_actual(expected: &[&Type], actual: &Type) -> String {
    let resolved: Vec<&Type> = expected.iter().map(|of| of.resolved()).collect();
    let general = actual.generalize();
    if resolved.iter().any(|of| is_alike(of, actual)) || resolved.iter().any(|of| of.is_assignable(&general))
    {
        actual.expanded()
    } else {
        actual.simple_name().to_owned()
    }
}

fn short_name(of: &Type) -> String {
    let contained = match of {
        Type::Type(of)
        | Type::NotUndef(of)
        | Type::Iterable(of)
        | Type::Iterator(of)
        | Type::Optional(of)
        | Type::Sensitive(of) => of.as_deref(),
        Type::Init(of) => of.as_ref().map(|of| &of.of),
        _ => None,
    };
    match contained {
        Some(inner) if !matches!(inner, Type::Any) => format!("{}[{}]", of.name(), inner.name()),
        _ => of.name(),
    }
}

/// `a` or `an`, as Puppet chooses: `y` is a vowel, a quote does not count.
pub(crate) fn article(word: &str) -> &'static str {
    let mut letters = word.chars();
    let first = match letters.next() {
        Some('"' | '\'') => letters.next(),
        first => first,
    };
    match first.map(|letter| letter.to_ascii_lowercase()) {
        Some('a' | 'e' | 'i' | 'o' | 'u' | 'y') => "an",
        _ => "a",
    }
}

impl Type {
    /// The type of the same kind without parameters.
    fn default_of_kind(&self) -> Self {
        match self {
            Self::Integer(_) => Self::Integer(None),
            Self::Float(_) => Self::Float(None),
            Self::Boolean(_) => Self::Boolean(None),
            Self::String(_) => Self::String(None),
            Self::Enum(_) => Self::Enum(None),
            Self::Pattern(_) => Self::Pattern(None),
            Self::Regexp(_) => Self::Regexp(None),
            Self::Collection(_) => Self::Collection(None),
            Self::Array(_) => Self::Array(None),
            Self::Hash(_) => Self::Hash(None),
            Self::Tuple(_) => Self::Tuple(None),
            Self::Struct(_) => Self::Struct(None),
            Self::Optional(_) => Self::Optional(None),
            Self::NotUndef(_) => Self::NotUndef(None),
            Self::Type(_) => Self::Type(None),
            Self::Iterable(_) => Self::Iterable(None),
            Self::Iterator(_) => Self::Iterator(None),
            Self::Sensitive(_) => Self::Sensitive(None),
            Self::Variant(_) => Self::Variant(None),
            Self::Callable(_) => Self::Callable(None),
            Self::Init(_) => Self::Init(None),
            Self::Timestamp(_) => Self::Timestamp(None),
            Self::Timespan(_) => Self::Timespan(None),
            Self::SemVer(_) => Self::SemVer(None),
            Self::Uri(_) => Self::Uri(None),
            Self::Resource(_) => Self::Resource(None),
            Self::Class(_) => Self::Class(None),
            Self::Runtime(_) => Self::Runtime(None),
            Self::Object(_) => Self::Object(None),
            Self::TypeSet(_) => Self::TypeSet(None),
            other => other.clone(),
        }
    }
}
