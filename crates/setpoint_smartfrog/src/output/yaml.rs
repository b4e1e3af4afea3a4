//! YAML as figure 3 of the paper has it: strings in quotes, data references without.

use super::{json, plain_number, reference};
use crate::store::{Store, Value};

pub fn yaml(store: &Store) -> String {
    let mut out = String::new();
    if store.is_empty() {
        out.push_str("{}\n");
    }
    write_store(store, 0, &mut out);
    out
}

fn write_store(store: &Store, indent: usize, out: &mut String) {
    for entry in store.iter() {
        out.extend(std::iter::repeat_n(' ', indent));
        key(entry.name.as_str(), out);
        out.push(':');
        match &entry.value {
            Value::Store(inner) if !inner.is_empty() => {
                out.push('\n');
                write_store(inner, indent + 2, out);
            }
            value => {
                out.push(' ');
                write(value, out);
                out.push('\n');
            }
        }
    }
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Boolean(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Number(number) => plain_number(number, out),
        Value::String(text) => json::string(text, out),
        Value::Bytes(digits) => json::string(&format!("#HEX#{digits}#"), out),
        Value::Data(parts) => plain(&reference(parts), out),
        Value::Lazy(text) => json::string(text, out),
        Value::Variable(number) => out.push_str(&format!("VAR{number}")),
        Value::Link(link) => plain(&crate::reference::shown(&link.names()), out),
        Value::Vector(elements) => {
            out.push('[');
            for (at, element) in elements.iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                write(element, out);
            }
            out.push(']');
        }
        // Only empty ones, or those in vectors, come here.
        Value::Store(store) => out.push_str(&json::json(store)),
    }
}

/// A reference without quotes, where YAML reads it back as the same string.
fn plain(text: &str, out: &mut String) {
    let safe = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | ' ');
    let starts_well = text.starts_with(|c: char| c.is_alphabetic() || c == '_');
    if starts_well
        && text.chars().all(safe)
        && !text.contains(": ")
        && !text.ends_with([':', ' '])
        && !is_word(text)
    {
        out.push_str(text);
    } else {
        json::string(text, out);
    }
}

fn key(name: &str, out: &mut String) {
    let safe = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    if name.starts_with(|c: char| c.is_alphabetic() || c == '_') && name.chars().all(safe) && !is_word(name) {
        out.push_str(name);
    } else {
        json::string(name, out);
    }
}

/// Words that YAML reads as something else than a string.
fn is_word(text: &str) -> bool {
    ["null", "true", "false", "yes", "no", "on", "off", "y", "n"].contains(&text.to_lowercase().as_str())
}
