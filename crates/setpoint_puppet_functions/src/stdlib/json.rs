//! JSON as Ruby's library reads and writes it.

use std::fmt::Write;

use setpoint_puppet_values::{Data, Hash, Key, Value, to_text};

use crate::context::Context;
use crate::ruby::{numbers, text};

pub(crate) fn compact(value: &Value) -> String {
    let mut out = String::new();
    write(value, &Layout::COMPACT, 0, &mut out);
    out
}

pub(super) fn pretty(value: &Value, options: Option<&Hash>) -> String {
    let option = |name: &str, usual: &str| {
        let given = options.and_then(|options| options.get(&Key::from(name)));
        given.and_then(Value::as_str).unwrap_or(usual).to_owned()
    };
    let layout = Layout {
        indent: option("indent", "  "),
        space: option("space", " "),
        space_before: option("space_before", ""),
        object_end: option("object_nl", "\n"),
        array_end: option("array_nl", "\n"),
    };
    let mut out = String::new();
    write(value, &layout, 0, &mut out);
    out
}

struct Layout {
    indent: String,
    space: String,
    space_before: String,
    object_end: String,
    array_end: String,
}

impl Layout {
    const COMPACT: Self = Self {
        indent: String::new(),
        space: String::new(),
        space_before: String::new(),
        object_end: String::new(),
        array_end: String::new(),
    };
}

fn write(value: &Value, layout: &Layout, depth: usize, out: &mut String) {
    let indented = |out: &mut String, depth: usize| (0..depth).for_each(|_| out.push_str(&layout.indent));
    match &value.data {
        Data::Undef => out.push_str("null"),
        Data::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Data::Integer(number) => {
            let _ = write!(out, "{number}");
        }
        Data::Float(number) => out.push_str(&numbers::float_to_s(*number)),
        Data::String(text) => quote(text, out),
        Data::Array(items) => {
            out.push('[');
            out.push_str(&layout.array_end);
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                    out.push_str(&layout.array_end);
                }
                indented(out, depth + 1);
                write(item, layout, depth + 1, out);
            }
            out.push_str(&layout.array_end);
            if !layout.array_end.is_empty() {
                indented(out, depth);
            }
            out.push(']');
        }
        Data::Hash(entries) => {
            out.push('{');
            out.push_str(&layout.object_end);
            for (at, (key, item)) in entries.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                    out.push_str(&layout.object_end);
                }
                indented(out, depth + 1);
                quote(&text::to_s(&key.0), out);
                out.push_str(&layout.space_before);
                out.push(':');
                out.push_str(&layout.space);
                write(item, layout, depth + 1, out);
            }
            if !entries.is_empty() {
                out.push_str(&layout.object_end);
            }
            if !layout.object_end.is_empty() {
                indented(out, depth);
            }
            out.push('}');
        }
        _ => quote(&to_text(value), out),
    }
}

fn quote(text: &str, out: &mut String) {
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{c}' => out.push_str("\\f"),
            '\u{8}' => out.push_str("\\b"),
            control if control < ' ' => {
                let _ = write!(out, "\\u{:04x}", u32::from(control));
            }
            other => out.push(other),
        }
    }
    out.push('"');
}

/// What a text means, or the words of Ruby's library on why it means nothing.
pub(super) fn read(_: &Context<'_, '_>, text: &str) -> Result<Value, String> {
    serde_json::from_str::<serde_json::Value>(text).map(|value| from_json(&value)).map_err(|_| {
        if text.trim().is_empty() {
            "unexpected token at ''".to_owned()
        } else {
            format!("unexpected token at '{}'", text.trim_start())
        }
    })
}

pub(crate) fn from_json(value: &serde_json::Value) -> Value {
    match value {
        serde_json::Value::Null => Value::UNDEF,
        serde_json::Value::Bool(flag) => Value::from(*flag),
        serde_json::Value::Number(number) => match number.as_i64() {
            Some(integer) => Value::from(integer),
            None => Value::from(number.as_f64().unwrap_or(f64::NAN)),
        },
        serde_json::Value::String(text) => Value::from(text.as_str()),
        serde_json::Value::Array(items) => Value::array(items.iter().map(from_json).collect()),
        serde_json::Value::Object(entries) => Value::hash(
            entries.iter().map(|(key, item)| (Key::from(key.as_str()), from_json(item))).collect(),
        ),
    }
}
