//! JSON in the order of the store, on one line.

use super::{plain_number, reference};
use crate::store::{Store, Value};

pub fn json(store: &Store) -> String {
    let mut out = String::new();
    write_store(store, &mut out);
    out
}

pub fn json_value(value: &Value) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

fn write_store(store: &Store, out: &mut String) {
    out.push('{');
    for (at, entry) in store.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        string(entry.name.as_str(), out);
        out.push(':');
        write(&entry.value, out);
    }
    out.push('}');
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Boolean(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Number(number) => plain_number(number, out),
        Value::String(text) => string(text, out),
        Value::Bytes(digits) => string(&format!("#HEX#{digits}#"), out),
        Value::Data(parts) => string(&format!("$.{}", reference(parts)), out),
        Value::Lazy(text) => string(text, out),
        Value::Variable(number) => string(&format!("VAR{number}"), out),
        Value::Link(link) => string(&crate::reference::shown(&link.names()), out),
        Value::Vector(elements) => {
            out.push('[');
            for (at, element) in elements.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write(element, out);
            }
            out.push(']');
        }
        Value::Store(store) => write_store(store, out),
    }
}

pub(super) fn string(text: &str, out: &mut String) {
    use std::fmt::Write as _;
    out.push('"');
    let mut plain = 0;
    for (at, byte) in text.bytes().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.push_str(&text[plain..at]);
        plain = at + 1;
        let _ = match byte {
            b'"' => write!(out, "\\\""),
            b'\\' => write!(out, "\\\\"),
            b'\n' => write!(out, "\\n"),
            b'\t' => write!(out, "\\t"),
            b'\r' => write!(out, "\\r"),
            _ => write!(out, "\\u{byte:04x}"),
        };
    }
    out.push_str(&text[plain..]);
    out.push('"');
}
