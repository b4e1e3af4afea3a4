//! Values against what an attribute allows.

use setpoint_puppet_values::{Data, Key, Type, Value};

use crate::{Attribute, Check, Role, ValueKind};

/// Against the allowed values and patterns of an attribute.
pub(super) fn check(attribute: &Attribute, value: &Value) -> Result<(), String> {
    match attribute.check {
        Check::Own if is_boolean(attribute) => boolean(value),
        Check::Own | Check::DataType => Ok(()),
        Check::Text => match value.data {
            Data::String(_) => Ok(()),
            _ => Err(format!("must be a string, not {}", shown(value))),
        },
        Check::Path => each(value, absolute),
        Check::Values if attribute.values.is_empty() && attribute.patterns.is_empty() => Ok(()),
        // Each value of a property is checked for itself; a parameter has one.
        Check::Values if attribute.role == Role::Property => each(value, |one| allowed(attribute, one)),
        Check::Values => allowed(attribute, value),
    }
}

/// Puppet's own kind of parameter for booleans.
fn is_boolean(attribute: &Attribute) -> bool {
    let words = ["true", "false", "yes", "no"];
    attribute.values.len() == words.len() && attribute.values.iter().all(|(word, _)| words.contains(word))
}

fn boolean(value: &Value) -> Result<(), String> {
    match text(value).to_lowercase().as_str() {
        "true" | "false" | "yes" | "no" => Ok(()),
        _ => Err(format!("must be true or false, not {}", shown(value))),
    }
}

fn allowed(attribute: &Attribute, value: &Value) -> Result<(), String> {
    let text = text(value);
    let spelled = attribute.values.iter().any(|(spelling, _)| *spelling == text);
    let matches = |pattern: &&'static str| matches_pattern(pattern, &text);
    if spelled || attribute.patterns.iter().any(matches) {
        return Ok(());
    }
    let words: Vec<&str> = attribute.values.iter().map(|(spelling, _)| *spelling).collect();
    let patterns: Vec<String> = attribute
        .patterns
        .iter()
        .map(|pattern| format!("/{}/", pattern.trim_start_matches("(?m)")))
        .collect();
    let wanted = match (words.as_slice(), patterns.as_slice()) {
        ([], patterns) => format!("match {}", patterns.join(" or ")),
        (words, []) => format!("be one of {}", words.join(", ")),
        (words, patterns) => format!("be one of {}, or match {}", words.join(", "), patterns.join(" or ")),
    };
    Err(format!("must {wanted}, not {}", shown(value)))
}

/// A pattern that our regular expressions do not know refuses nothing.
pub(super) fn matches_pattern(pattern: &'static str, text: &str) -> bool {
    crate::patterns::compiled(pattern).is_none_or(|regex| regex.is_match(text).unwrap_or(true))
}

/// Each element of an array, or the value itself.
pub(super) fn each(value: &Value, mut check: impl FnMut(&Value) -> Result<(), String>) -> Result<(), String> {
    match &value.data {
        Data::Array(items) => items.iter().try_for_each(|item| check(super::settled(item))),
        _ => check(value),
    }
}

pub(super) fn absolute(value: &Value) -> Result<(), String> {
    match &value.data {
        Data::String(text) if is_absolute(text) => Ok(()),
        Data::Deferred(_) | Data::Opaque(_) => Ok(()),
        _ => Err(format!("must be an absolute path, not {}", shown(value))),
    }
}

/// On POSIX systems or on Windows.
pub(super) fn is_absolute(path: &str) -> bool {
    path.starts_with('/')
}

/// What a value is; `None` for what Puppet was never asked about.
pub(super) fn kind(value: &Value) -> Option<ValueKind> {
    Some(match &value.data {
        Data::Integer(number) if *number < 0 => ValueKind::Negative,
        Data::Integer(_) => ValueKind::Integer,
        Data::Float(_) => ValueKind::Float,
        Data::Bool(true) => ValueKind::True,
        Data::Bool(false) => ValueKind::False,
        Data::String(_) => ValueKind::String,
        Data::Default => ValueKind::Default,
        Data::Type(Type::Resource(Some(_)) | Type::Class(_)) => ValueKind::Reference,
        Data::Hash(entries) if entries.is_empty() => ValueKind::NoPairs,
        Data::Hash(entries) => {
            let is_plain = |(key, item): (&Key, &Value)| is_plain(&key.0) && is_plain(item);
            return entries.iter().all(is_plain).then_some(ValueKind::Pairs);
        }
        Data::Array(items) if items.is_empty() => ValueKind::NoItems,
        Data::Array(items) if items.iter().all(|item| matches!(item.data, Data::String(_))) => {
            ValueKind::Strings
        }
        Data::Array(items) if items.iter().all(|item| matches!(item.data, Data::Integer(_))) => {
            ValueKind::Integers
        }
        Data::Array(items) => return items.iter().all(is_plain).then_some(ValueKind::OtherItems),
        _ => return None,
    })
}

/// Whether a value is data that JSON could say.
fn is_plain(value: &Value) -> bool {
    match &value.data {
        Data::Array(items) => items.iter().all(is_plain),
        Data::Hash(entries) => entries.iter().all(|(key, item)| is_plain(&key.0) && is_plain(item)),
        Data::Undef | Data::Default | Data::Bool(_) | Data::Integer(_) | Data::Float(_) | Data::String(_) => {
            true
        }
        _ => false,
    }
}

/// A value as Ruby turns it into text.
pub(super) fn text(value: &Value) -> String {
    match &value.data {
        Data::String(text) => text.to_string(),
        Data::Bool(value) => value.to_string(),
        Data::Integer(number) => number.to_string(),
        Data::Float(number) => format!("{number:?}"),
        Data::Default => "default".to_owned(),
        Data::Array(_) => "[…]".to_owned(),
        Data::Hash(_) => "{…}".to_owned(),
        _ => String::new(),
    }
}

/// A value for a message.
pub(super) fn shown(value: &Value) -> String {
    match &value.data {
        Data::String(text) => format!("'{text}'"),
        Data::Integer(number) => format!("the number {number}"),
        Data::Float(number) => format!("the number {number}"),
        Data::Bool(value) => format!("the boolean {value}"),
        Data::Array(_) => "an array".to_owned(),
        Data::Hash(_) => "a hash".to_owned(),
        Data::Default => "`default`".to_owned(),
        Data::Type(Type::Resource(_) | Type::Class(_)) => "a reference".to_owned(),
        _ => "a value of another kind".to_owned(),
    }
}

pub(super) fn is_empty(value: &Value) -> bool {
    matches!(&value.data, Data::String(text) if text.is_empty())
}

/// What Ruby's `Integer` takes: signs, prefixes, a zero for octal digits, single underscores between digits.
pub(super) fn is_ruby_integer(text: &str) -> bool {
    let pattern = r"\A\s*[-+]?(0[xX][0-9a-fA-F]+(_[0-9a-fA-F]+)*|0[bB][01]+(_[01]+)*|0[oO]?_?[0-7]+(_[0-7]+)*|(0[dD])?[0-9]|(0[dD]|[1-9])[0-9]*(_?[0-9]+)*)\s*\z";
    !text.contains('\0') && matches_pattern(pattern, text)
}

pub(super) fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
