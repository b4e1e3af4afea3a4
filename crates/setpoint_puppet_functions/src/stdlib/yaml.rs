//! YAML as Ruby's Psych reads and writes it.

use setpoint_data::{Entry, Kind, Node, Style};
use setpoint_puppet_values::{Data, Hash, Key, Value, to_text};
use setpoint_source::Severity;

use super::emitter::Emitter;
use super::psych::{Meaning, meaning};
use crate::context::Context;
use crate::ruby::numbers;

/// What a text means, or Psych's words on why it means nothing.
pub(super) fn read(context: &Context<'_, '_>, text: &str) -> Result<Value, String> {
    let document = setpoint_data::read_yaml(context.span().file, text);
    if let Some(error) = document.diagnostics.iter().find(|found| found.severity >= Severity::Error) {
        return Err(format!("(<unknown>): {}", error.message));
    }
    document.root.as_ref().map_or(Ok(Value::from(false)), from_node)
}

fn from_node(node: &Node) -> Result<Value, String> {
    match &node.kind {
        Kind::Scalar { text, style } => scalar(text, *style, node.tag.as_deref()),
        Kind::Sequence(items) => items.iter().map(from_node).collect::<Result<Vec<_>, _>>().map(Value::array),
        Kind::Mapping(entries) => mapping(entries).map(Value::hash),
    }
}

fn scalar(text: &str, style: Style, tag: Option<&str>) -> Result<Value, String> {
    match tag {
        Some("!str" | "str") => return Ok(Value::from(text)),
        Some("!int" | "!float" | "!bool" | "!null") | None => {}
        Some(other) => return Err(format!("Tried to load unspecified class: {other}")),
    }
    if style != Style::Plain {
        return Ok(Value::from(text));
    }
    match meaning(text) {
        Meaning::Text => Ok(Value::from(text)),
        Meaning::Data(value) => Ok(value),
        Meaning::Symbol => Ok(Value::from(text.trim_start_matches(':').trim_matches(['"', '\'']))),
        Meaning::Date => Err("Tried to load unspecified class: Date".to_owned()),
        Meaning::Time => Err("Tried to load unspecified class: Time".to_owned()),
    }
}

fn mapping(entries: &[Entry]) -> Result<Hash, String> {
    entries.iter().map(|Entry { key, value }| Ok((Key(from_node(key)?), from_node(value)?))).collect()
}

/// A document with one value.
pub(super) fn write(value: &Value, options: Option<&Hash>) -> String {
    let number =
        |name: &str| options.and_then(|options| options.get(&Key::from(name))).and_then(Value::as_integer);
    let mut emitter = Emitter::new(number("indentation"), number("line_width"));
    emitter.document(value);
    emitter.finish()
}

/// How a scalar is to be written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Wish {
    Plain,
    SingleQuoted,
    DoubleQuoted,
    Literal,
    Folded,
}

/// The text of a scalar, the style that Psych wishes for it, and whether it needs the tag of a string.
pub(super) fn scalar_text(value: &Value, line_width: Option<usize>) -> (String, Wish, bool) {
    match &value.data {
        Data::Undef => (String::new(), Wish::Plain, false),
        Data::Float(number) if number.is_nan() => (".nan".to_owned(), Wish::Plain, false),
        Data::Float(number) if number.is_infinite() => {
            let text = if *number < 0.0 { "-.inf" } else { ".inf" };
            (text.to_owned(), Wish::Plain, false)
        }
        Data::Float(number) => (numbers::float_to_s(*number), Wish::Plain, false),
        Data::Integer(_) | Data::Bool(_) => (to_text(value).to_string(), Wish::Plain, false),
        Data::Default => (":default".to_owned(), Wish::Plain, false),
        _ => {
            let text = to_text(value).to_string();
            let (wish, tagged) = string_wish(&text, line_width);
            (text, wish, tagged)
        }
    }
}

fn string_wish(text: &str, line_width: Option<usize>) -> (Wish, bool) {
    let wish = if has_inner_break(text) {
        Wish::Literal
    } else if text == "<<" {
        return (Wish::SingleQuoted, true);
    } else if matches!(text, "y" | "n") {
        Wish::DoubleQuoted
    } else if line_width.is_some_and(|width| text.chars().count() > width) {
        Wish::Folded
    } else if starts_with_a_sign(text) {
        Wish::DoubleQuoted
    } else if !matches!(meaning(text), Meaning::Text) || octal_with_wrong_digits(text) {
        Wish::SingleQuoted
    } else {
        Wish::Plain
    };
    (wish, false)
}

/// A line break with more behind it than one final break.
fn has_inner_break(text: &str) -> bool {
    text.char_indices().any(|(at, letter)| letter == '\n' && !matches!(&text[at + 1..], "" | "\n"))
}

/// A line that starts with something else than a letter, a digit or `_`, and has no double quote after it.
fn starts_with_a_sign(text: &str) -> bool {
    let mut starts = vec![0];
    starts.extend(text.char_indices().filter(|(_, letter)| *letter == '\n').map(|(at, _)| at + 1));
    starts.into_iter().any(|at| {
        let mut rest = text[at..].chars();
        let Some(first) = rest.next() else { return false };
        let line = rest.as_str();
        // The rest up to some end of a line must be free of quotes.
        let end = line.find('\n').unwrap_or(line.len());
        !(first.is_alphanumeric() || first == '_' || line[..end].contains('"'))
    })
}

fn octal_with_wrong_digits(text: &str) -> bool {
    text.starts_with('0')
        && text.trim_start_matches(|letter: char| ('0'..='7').contains(&letter)).starts_with(['8', '9'])
}
