//! Values as text: interpolated into strings, quoted, printed as Ruby would, and by the formats of `String.new`.

mod convert;
mod format;

use std::fmt::Write as _;
use std::sync::Arc;

pub use crate::ruby::text::inspect_text as ruby_inspect;
pub use convert::string_format;

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
        Data::Binary(bytes) => write!(out, "{}", base64(bytes)),
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

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Bytes in base 64, on one line.
pub fn base64(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for position in 0..4 {
            if position <= chunk.len() {
                out.push(char::from(BASE64[(bits >> (18 - 6 * position) & 63) as usize]));
            } else {
                out.push('=');
            }
        }
    }
    out
}

/// Bytes in base 64 with a line end after each 60 characters, as Ruby's `encode64` has it.
pub fn base64_lines(bytes: &[u8]) -> String {
    let mut out = String::new();
    for chunk in bytes.chunks(45) {
        out.push_str(&base64(chunk));
        out.push('\n');
    }
    out
}

/// Bytes from base 64. `strict`: nothing but the alphabet, and padding where it belongs.
pub fn decode_base64(text: &str, strict: bool) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let mut bits: u32 = 0;
    let mut count = 0;
    let mut digits = 0_usize;
    let mut padding = 0_usize;
    for byte in text.bytes() {
        if byte == b'=' {
            padding += 1;
            if strict {
                continue;
            }
            break;
        }
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ if strict => return None,
            _ => continue,
        };
        if strict && padding > 0 {
            return None;
        }
        digits += 1;
        bits = bits << 6 | u32::from(digit);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count & 0xFF) as u8);
        }
    }
    if strict {
        let leftover = bits & ((1 << count) - 1);
        if !(digits + padding).is_multiple_of(4) || padding > 2 || digits % 4 == 1 || leftover != 0 {
            return None;
        }
    }
    Some(bytes)
}
