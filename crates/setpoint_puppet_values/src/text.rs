//! Values as text: interpolated into strings, quoted, printed as Ruby would, and by the formats of `String.new`.

mod convert;
mod format;

use std::fmt::Write as _;
use std::sync::Arc;

pub use crate::ruby::text::inspect_text as ruby_inspect;
pub use convert::string_format;

use crate::ruby::base64::strict_encode64;
use crate::ruby::numbers::float_to_s;
use crate::types::Type;
use crate::value::{Data, Value};

/// A value as it is interpolated into a string.
pub fn to_text(value: &Value) -> Arc<str> {
    if let Data::String(text) = &value.data {
        return Arc::clone(text);
    }
    let mut text = String::new();
    write_text(value, &mut text);
    text.into()
}

/// Appends a value as it is interpolated into a string.
pub fn write_text(value: &Value, out: &mut String) {
    match &value.data {
        Data::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                write_text(item, out);
            }
            out.push(']');
        }
        Data::Hash(entries) => {
            out.push('{');
            for (index, (key, item)) in entries.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                write_text(&key.0, out);
                out.push_str(" => ");
                write_text(item, out);
            }
            out.push('}');
        }
        Data::Regex(regex) => out.push_str(&regex.with_delimiters()),
        _ => write_plain(value, out),
    }
}

/// A value that is no collection, as Ruby's `to_s` prints it.
pub(crate) fn write_plain(value: &Value, out: &mut String) {
    // Writing into a string cannot fail.
    let _ = match &value.data {
        Data::Undef => Ok(()),
        Data::Default => write!(out, "default"),
        Data::Bool(value) => write!(out, "{value}"),
        Data::Integer(number) => write!(out, "{number}"),
        Data::Float(number) => write!(out, "{}", float_to_s(*number)),
        Data::String(text) => write!(out, "{text}"),
        Data::Sensitive(_) => write!(out, "Sensitive [value redacted]"),
        Data::Type(of) => write!(out, "{of}"),
        Data::Regex(regex) => write!(out, "(?-mix:{})", regex.source()),
        Data::Timestamp(time) => write!(out, "{time}"),
        Data::Timespan(span) => write!(out, "{span}"),
        Data::SemVer(version) => write!(out, "{version}"),
        Data::SemVerRange(range) => write!(out, "{range}"),
        Data::Uri(uri) => write!(out, "{uri}"),
        Data::Binary(bytes) => write!(out, "{}", strict_encode64(bytes)),
        Data::Iterator(iterator) => write!(out, "Iterator[{}]-Value", iterator.element_type().generalize()),
        Data::Deferred(_) | Data::Object(_) => write!(out, "{}", crate::types::parameter_text(value)),
        Data::Opaque(opaque) => write!(out, "(unknown: {})", opaque.reason),
        Data::Array(_) | Data::Hash(_) => Ok(()),
    };
}

/// A string in quotes as Puppet source would have it: single ones where they suffice.
pub fn puppet_quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('\'');
    let mut escaped = false;
    for letter in text.chars() {
        if u32::from(letter) < 0x20 {
            return puppet_double_quote(text);
        }
        if escaped {
            out.push('\\');
            out.push(letter);
            escaped = false;
        } else {
            match letter {
                '\'' => out.push_str("\\'"),
                '\\' => escaped = true,
                letter => out.push(letter),
            }
        }
    }
    if escaped {
        out.push('\\');
    }
    out.push('\'');
    out
}

/// A string in double quotes as Puppet source would have it.
pub fn puppet_double_quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for letter in text.chars() {
        match letter {
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '"' => out.push_str("\\\""),
            '$' => out.push_str("\\$"),
            '\\' => out.push_str("\\\\"),
            letter if u32::from(letter) < 0x20 => {
                let _ = write!(out, "\\u{{{:X}}}", u32::from(letter));
            }
            letter => out.push(letter),
        }
    }
    out.push('"');
    out
}

/// The type of a value, for choosing a format.
fn type_of(value: &Value) -> Type {
    crate::types::infer_set(value)
}
