//! `String.new(value, format)`.

use std::sync::Arc;

use super::format::{Format, Formats, choose, default_elements, defaults, for_type, from_hash, merge};
use super::{puppet_double_quote, puppet_quote, type_of};
use crate::error::ValueError;
use crate::label::class_name;
use crate::ruby::base64;
use crate::ruby::text::inspect;
use crate::sprintf::sprintf;
use crate::types::{Type, parameter_text};
use crate::value::{Data, Hash, Value};

/// `String.new(value, format)`: `format` is `default`, a format such as `%p`, or a hash of them by type.
pub fn string_format(value: &Value, format: Option<&Value>) -> Result<String, ValueError> {
    let of = type_of(value);
    let formats = match format.map(|format| &format.data) {
        None | Some(Data::Default) => defaults(),
        Some(Data::String(text)) => {
            let key = if Type::Array(None).is_assignable(&of) {
                Type::Array(None)
            } else if Type::Hash(None).is_assignable(&of) {
                Type::Hash(None)
            } else {
                of.clone()
            };
            merge(&defaults(), &for_type(key, text)?)
        }
        Some(Data::Hash(entries)) => merge(&defaults(), &from_hash(entries)?),
        Some(_) => {
            let class = format.map(class_name).unwrap_or_default();
            return Err(ValueError::new(format!(
                "string conversion expects a Default value or a Hash of type to format mappings, got a '{class}'"
            )));
        }
    };
    convert(value, &of, &formats, Indent { level: 0, first: true, indenting: false })
}

#[derive(Clone, Copy)]
struct Indent {
    level: usize,
    first: bool,
    indenting: bool,
}

impl Indent {
    fn increase(self, indenting: bool) -> Self {
        Self { level: self.level + 1, first: true, indenting }
    }

    fn breaks(self) -> bool {
        self.indenting && self.level > 0 && !self.first
    }

    fn padding(self) -> String {
        "  ".repeat(self.level)
    }
}

fn illegal<T>(kind: &str, format: &Format, expected: &str) -> Result<T, ValueError> {
    Err(ValueError::new(format!(
        "Illegal format '{}' specified for value of {kind} type - expected one of the characters '{expected}'",
        format.letter
    )))
}

/// The value through Ruby's own format.
fn ruby(format: &str, value: impl Into<Value>) -> Result<String, ValueError> {
    sprintf(format, &[value.into()])
}

/// The format with another letter.
fn with_letter(format: &Format, letter: char) -> String {
    format.original.replace(format.letter, letter.encode_utf8(&mut [0; 4]))
}

/// A text with only width, precision and alignment applied.
fn flags(format: &Format, text: &str) -> Result<String, ValueError> {
    if !format.left && format.width.is_none() && format.precision.is_none() {
        return Ok(text.to_owned());
    }
    let left = if format.left { "-" } else { "" };
    let width = format.width.map(|width| width.to_string()).unwrap_or_default();
    let precision = format.precision.map(|precision| format!(".{precision}")).unwrap_or_default();
    ruby(&format!("%{left}{width}{precision}s"), text)
}

fn convert(value: &Value, of: &Type, formats: &Formats, indent: Indent) -> Result<String, ValueError> {
    let format = choose(formats, of);
    match &value.data {
        Data::Undef => undef(&format),
        Data::Default => default(&format),
        Data::Bool(truth) => boolean(*truth, &format, indent),
        Data::Integer(number) => integer(*number, &format),
        Data::Float(number) => float(*number, &format),
        Data::String(text) => string(text, &format),
        Data::Regex(regex) => match format.letter {
            'p' => ruby(&with_letter(&format, 's'), regex.with_delimiters()),
            's' => {
                let text =
                    if format.alternative { puppet_quote(regex.source()) } else { regex.source().to_owned() };
                if &*format.original == "%s" { Ok(text) } else { ruby(&format.original, text) }
            }
            _ => illegal("Regexp", &format, "sp"),
        },
        Data::Array(items) => array(items, &format, formats, indent),
        Data::Hash(entries) => hash(entries, &format, formats, indent),
        Data::Iterator(iterator) => {
            let items = Value::array(iterator.iter().collect());
            convert(&items, &type_of(&items), formats, indent)
        }
        Data::Type(of) => match format.letter {
            's' => {
                ruby(&format.original, if format.alternative { format!("\"{of}\"") } else { of.to_string() })
            }
            'p' => ruby(&with_letter(&format, 's'), of.to_string()),
            _ => illegal("Type", &format, "sp"),
        },
        Data::Uri(uri) => match format.letter {
            'p' => Ok(parameter_text(value)),
            's' => {
                let text = uri.to_string();
                ruby(&format.original, if format.alternative { puppet_quote(&text) } else { text })
            }
            _ => illegal("URI", &format, "sp"),
        },
        Data::Binary(bytes) => binary(bytes, &format),
        Data::Deferred(_) | Data::Object(_) => match format.letter {
            'p' | 's' => Ok(parameter_text(value)),
            'q' => Ok(inspect(value)),
            _ => illegal("Object", &format, "spq"),
        },
        _ => sprintf(&format.original, std::slice::from_ref(value)),
    }
}

fn undef(format: &Format) -> Result<String, ValueError> {
    let text = match (format.letter, format.alternative) {
        ('n', false) => "nil",
        ('n', true) => "null",
        ('u', false) => "undef",
        ('u', true) => "undefined",
        ('d' | 'x' | 'X' | 'o' | 'b' | 'B' | 'e' | 'E' | 'f' | 'g' | 'G' | 'a' | 'A', _) => "NaN",
        ('v', _) => "n/a",
        ('V', _) => "N/A",
        ('s', false) => "",
        ('s', true) => "\"\"",
        ('p', false) => "undef",
        ('p', true) => "\"undef\"",
        _ => return illegal("Undef", format, "nudxXobBeEfgGaAvVsp"),
    };
    flags(format, text)
}

fn default(format: &Format) -> Result<String, ValueError> {
    let text = match (format.letter, format.alternative) {
        ('d' | 's' | 'p', false) => "default",
        ('d' | 's' | 'p', true) => "\"default\"",
        ('D', false) => "Default",
        ('D', true) => "\"Default\"",
        _ => return illegal("Default", format, "dDsp"),
    };
    flags(format, text)
}

fn boolean(truth: bool, format: &Format, indent: Indent) -> Result<String, ValueError> {
    let text = match format.letter {
        't' => ["false", "true"],
        'T' => ["False", "True"],
        'y' => ["no", "yes"],
        'Y' => ["No", "Yes"],
        's' | 'p' => return flags(format, if truth { "true" } else { "false" }),
        'd' | 'x' | 'X' | 'o' | 'b' | 'B' => {
            let number = Value::from(i64::from(truth));
            let formats: Formats = Arc::new(vec![(Type::Integer(None), format.clone())]);
            return convert(&number, &type_of(&number), &formats, indent);
        }
        'e' | 'E' | 'f' | 'g' | 'G' | 'a' | 'A' => {
            let number = Value::from(if truth { 1.0 } else { 0.0 });
            let formats: Formats = Arc::new(vec![(Type::Float(None), format.clone())]);
            return convert(&number, &type_of(&number), &formats, indent);
        }
        _ => return illegal("Boolean", format, "tTyYdxXobBeEfgGaAsp"),
    }[usize::from(truth)];
    flags(format, if format.alternative { &text[..1] } else { text })
}

fn integer(number: i64, format: &Format) -> Result<String, ValueError> {
    match format.letter {
        'd' | 'x' | 'X' | 'o' | 'b' | 'B' | 'p' => ruby(&format.original, number),
        'e' | 'E' | 'f' | 'g' | 'G' | 'a' | 'A' => ruby(&format.original, number as f64),
        'c' => {
            let Some(letter) = u32::try_from(number).ok().and_then(char::from_u32) else {
                return Err(ValueError::new("pack(U): value out of range"));
            };
            let text = if format.alternative { format!("\"{letter}\"") } else { letter.to_string() };
            ruby(&with_letter(format, 's'), text)
        }
        's' => ruby(&with_letter(format, if format.alternative { 'p' } else { 's' }), number.to_string()),
        _ => illegal("Integer", format, "dxXobBeEfgGaAspc"),
    }
}

fn float(number: f64, format: &Format) -> Result<String, ValueError> {
    match format.letter {
        'd' | 'x' | 'X' | 'o' | 'b' | 'B' => {
            // Ruby's integers have no end; what leaves 128 bits here leaves every range of Puppet.
            sprintf(&format.original, &[Value::from(number)])
        }
        'e' | 'E' | 'f' | 'g' | 'G' | 'a' | 'A' | 'p' => ruby(&format.original, number),
        's' => {
            let text = crate::ruby::numbers::float_to_s(number);
            ruby(&format.original, if format.alternative { format!("\"{text}\"") } else { text })
        }
        _ => illegal("Float", format, "dxXobBeEfgGaAsp"),
    }
}

/// The first letter large, the others small.
fn capitalize(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters.flat_map(char::to_lowercase)).collect(),
        None => String::new(),
    }
}

fn string(text: &str, format: &Format) -> Result<String, ValueError> {
    let changed = match format.letter {
        's' => return ruby(&format.original, text),
        'p' => {
            return flags(
                format,
                &if format.alternative { puppet_double_quote(text) } else { puppet_quote(text) },
            );
        }
        'c' => capitalize(text),
        'C' => {
            let mut segments: Vec<String> = text.split("::").map(capitalize).collect();
            while segments.last().is_some_and(String::is_empty) {
                segments.pop();
            }
            segments.join("::")
        }
        'u' => text.to_uppercase(),
        'd' => text.to_lowercase(),
        't' => text
            .trim_matches(|letter: char| letter.is_ascii_whitespace() || letter == '\x0B' || letter == '\0')
            .to_owned(),
        _ => return illegal("String", format, "cCudspt"),
    };
    if format.alternative {
        flags(format, &puppet_quote(&changed))
    } else {
        ruby(&with_letter(format, 's'), changed)
    }
}

fn binary(bytes: &[u8], format: &Format) -> Result<String, ValueError> {
    let substitute = if format.alternative { 'p' } else { 's' };
    let text = match format.letter {
        's' => {
            if let Ok(text) = std::str::from_utf8(bytes) {
                text.to_owned()
            } else {
                let first = bytes.iter().find(|byte| !byte.is_ascii()).copied().unwrap_or(0);
                return Err(ValueError::new(format!("\"\\x{first:02X}\" from ASCII-8BIT to UTF-8")));
            }
        }
        'p' => {
            return Ok(format!(
                "Binary(\"{}\")",
                ruby(&with_letter(format, 's'), base64::strict_encode64(bytes))?
            ));
        }
        'b' => base64::encode64(bytes),
        'B' => base64::strict_encode64(bytes),
        'u' => base64::urlsafe_encode64(bytes),
        't' => "Binary".to_owned(),
        'T' => "BINARY".to_owned(),
        _ => return illegal("Binary", format, "bButTsp"),
    };
    ruby(&with_letter(format, substitute), text)
}

fn is_container(value: &Value) -> bool {
    matches!(value.data, Data::Array(_) | Data::Hash(_) | Data::Deferred(_) | Data::Object(_))
}

fn is_collection(value: &Value) -> bool {
    matches!(value.data, Data::Array(_) | Data::Hash(_))
}

/// Removes white space at the end.
fn strip_end(text: &mut String) {
    let end = text.trim_end_matches(|letter: char| letter.is_ascii_whitespace() || letter == '\0').len();
    text.truncate(end);
}

fn array(items: &[Value], format: &Format, formats: &Formats, indent: Indent) -> Result<String, ValueError> {
    if !matches!(format.letter, 'a' | 's' | 'p') {
        return illegal("Array", format, "asp");
    }
    let separator = format.separator.as_deref().unwrap_or(", ");
    let elements = format.elements.clone().unwrap_or_else(default_elements);
    let (open, close) = format.delimiters(("[", "]"));
    let indent = Indent { indenting: format.alternative || indent.indenting, ..indent };
    let mut out = String::new();
    if indent.breaks() {
        out.push('\n');
        out.push_str(&indent.padding());
    }
    out.push_str(open);
    let children = Indent { first: false, ..indent.increase(format.alternative) };
    let mut texts = Vec::with_capacity(items.len());
    for item in items {
        texts.push(convert(
            item,
            &type_of(item),
            if is_container(item) { formats } else { &elements },
            children,
        )?);
    }
    let breaks = format.alternative && format.width.is_some_and(|width| widest(items, &texts) > width);
    for (index, (item, text)) in items.iter().zip(&texts).enumerate() {
        let plain = !is_collection(item);
        if index == 0 {
            if breaks && plain {
                out.push(' ');
            }
        } else {
            out.push_str(separator);
            let after_collection = format.alternative && is_collection(&items[index - 1]);
            if plain && (breaks || after_collection) {
                if !out.ends_with('\n') {
                    strip_end(&mut out);
                }
                out.push('\n');
                out.push_str(&children.padding());
            }
        }
        if out.ends_with(' ') && text.starts_with('\n') {
            strip_end(&mut out);
        }
        out.push_str(text);
    }
    out.push_str(close);
    Ok(out)
}

/// The length of the longest run of plain elements.
fn widest(items: &[Value], texts: &[String]) -> usize {
    let mut runs = vec![0];
    for (item, text) in items.iter().zip(texts) {
        if is_collection(item) {
            runs.push(0);
        } else if let Some(run) = runs.last_mut() {
            *run += text.chars().count();
        }
    }
    runs.into_iter().max().unwrap_or(0)
}

fn hash(entries: &Hash, format: &Format, formats: &Formats, indent: Indent) -> Result<String, ValueError> {
    match format.letter {
        'a' => {
            let pairs =
                entries.iter().map(|(key, item)| Value::array(vec![key.0.clone(), item.clone()])).collect();
            let pairs = Value::array(pairs);
            return convert(&pairs, &type_of(&pairs), formats, indent);
        }
        'h' | 's' | 'p' => {}
        _ => return illegal("Hash", format, "hasp"),
    }
    let mut separator = format.separator.as_deref().unwrap_or(", ").to_owned();
    let association = format.separator2.as_deref().unwrap_or(" => ");
    let elements = format.elements.clone().unwrap_or_else(default_elements);
    let (open, close) = format.delimiters(("{", "}"));
    if format.alternative {
        if !separator.ends_with('\n') {
            strip_end(&mut separator);
        }
        separator.push('\n');
    }
    let indent = Indent { indenting: format.alternative || indent.indenting, ..indent };
    let mut out = String::new();
    if indent.breaks() {
        out.push('\n');
        out.push_str(&indent.padding());
    }
    let children = indent.increase(false);
    let padding = if format.alternative { children.padding() } else { String::new() };
    out.push_str(open);
    if format.alternative {
        out.push('\n');
    }
    for (index, (key, item)) in entries.iter().enumerate() {
        if index > 0 {
            out.push_str(&separator);
        }
        out.push_str(&padding);
        for (part, after) in [(&key.0, association), (item, "")] {
            let formats = if is_container(part) { formats } else { &elements };
            out.push_str(&convert(part, &type_of(part), formats, children)?);
            out.push_str(after);
        }
    }
    if format.alternative {
        out.push('\n');
        out.push_str(&indent.padding());
    }
    out.push_str(close);
    Ok(out)
}
