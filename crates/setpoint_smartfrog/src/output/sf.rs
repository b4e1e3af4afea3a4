//! The notation in which the production compiler prints a compiled component.

use setpoint_source::Symbol;

use super::reference;
use crate::store::{Store, Value};
use crate::syntax::Number;

/// The attributes of the component, without a name for it.
pub fn sf(store: &Store) -> String {
    let mut out = String::new();
    write_store(store, 0, &mut out);
    out
}

pub fn sf_value(value: &Value) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

fn write_store(store: &Store, indent: usize, out: &mut String) {
    for entry in store.iter() {
        out.extend(std::iter::repeat_n(' ', indent));
        if let Some(tags) = &entry.tags {
            out.push_str(&self::tags(tags));
        }
        out.push_str(&name(&entry.name));
        out.push(' ');
        match &entry.value {
            Value::Store(inner) => {
                out.push_str(if inner.is_data() { "extends DATA " } else { "extends " });
                if inner.is_empty() {
                    out.push_str(" {}\n");
                } else {
                    out.push_str(" {\n");
                    write_store(inner, indent + 2, out);
                    out.extend(std::iter::repeat_n(' ', indent));
                    out.push_str("}\n");
                }
            }
            value => {
                write(value, out);
                out.push_str(";\n");
            }
        }
    }
}

/// `[ sfFinal sfTemp ] `
pub fn tags(tags: &[Symbol]) -> String {
    let names: Vec<&str> = tags.iter().map(|tag| tag.as_str()).collect();
    format!("[ {} ] ", names.join(" "))
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("NULL"),
        Value::Boolean(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Number(number) => out.push_str(&shown(number)),
        Value::String(text) => out.push_str(&quoted(text)),
        Value::Bytes(digits) => {
            out.push_str("#HEX#");
            out.push_str(digits);
            out.push('#');
        }
        Value::Data(parts) => {
            out.push_str("DATA ");
            out.push_str(&reference(parts));
        }
        Value::Lazy(text) => out.push_str(text),
        Value::Variable(number) => {
            out.push_str("VAR");
            out.push_str(&number.to_string());
        }
        Value::Link(link) => out.push_str(&crate::reference::shown(&link.names())),
        Value::Vector(elements) => {
            out.push_str("[|");
            for (at, element) in elements.iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                write(element, out);
            }
            out.push_str("|]");
        }
        Value::Store(store) => {
            out.push_str("extends  {\n");
            write_store(store, 2, out);
            out.push('}');
        }
    }
}

fn shown(number: &Number) -> String {
    match number {
        Number::Integer(value) => value.to_string(),
        Number::Long(value) => format!("{value}L"),
        Number::Big(digits) => digits.to_string(),
        Number::Float(value) => real(*value),
        Number::Double(value) => format!("{}D", real(*value)),
    }
}

/// As Java prints it: with an exponent for the very large and the very small.
fn real(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 || (1e-3..1e7).contains(&size) {
        return format!("{value:?}");
    }
    let text = format!("{value:E}");
    match text.split_once('E') {
        Some((digits, exponent)) if !digits.contains('.') => format!("{digits}.0E{exponent}"),
        _ => text,
    }
}

/// A name, in quotes if it is no word of the language.
pub fn name(text: &str) -> String {
    let word = text.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '$')
        && text.chars().all(|c| c.is_alphanumeric() || "._-+@#~$%^&".contains(c));
    if word { text.to_owned() } else { quoted(text) }
}

/// A string with its escapes. Characters beyond Latin-1 are written by number, as the production compiler does.
pub fn quoted(text: &str) -> String {
    use std::fmt::Write as _;
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            c if (c as u32) < 0x20 => {
                let _ = write!(out, "\\{:03o}", c as u32);
            }
            c if (c as u32) > 0xff => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04X}");
                }
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
