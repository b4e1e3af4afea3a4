//! YAML as Ruby's Psych reads it for Puppet, and JSON as Ruby reads it.

use std::sync::Arc;

use setpoint_data::{Entry, Kind as NodeKind, Node, Style};
use setpoint_puppet_functions::{Meaning, meaning};
use setpoint_puppet_values::ruby::base64::decode64;
use setpoint_puppet_values::{Data, Key, Value};
use setpoint_source::{Diagnostic, FileId, Severity};

use crate::data::{Entries, Item, Kind};

/// What a text means, or what Psych says about it. `name` is the file, as Puppet names it.
pub(crate) fn read(file: FileId, text: &str, name: &str) -> Result<Item, String> {
    let document = setpoint_data::read_yaml_as_written(file, text);
    if let Some(error) = first_error(&document.diagnostics) {
        if error.message.ends_with(setpoint_data::UNKNOWN_ALIAS) {
            let at = error.span.map_or(0, |span| span.range.start as usize);
            let rest = text.get(at..).unwrap_or("");
            let rest = rest.get(rest.find('*').map_or(0, |star| star + 1)..).unwrap_or("");
            let end = rest.find(|letter: char| letter.is_whitespace() || ",]}".contains(letter));
            return Err(format!("Unknown alias: {}", &rest[..end.unwrap_or(rest.len())]));
        }
        return Err(format!("({name}): {}", placed(error, text)));
    }
    let nothing = || Item { range: setpoint_source::Range::default(), kind: Kind::Scalar(false.into()) };
    let Some(root) = &document.root else { return Ok(nothing()) };
    let item = Reader { text }.item(root).map_err(|problem| format!("({name}): {problem}"))?;
    // Puppet takes nothing for `false`.
    Ok(if matches!(&item.kind, Kind::Scalar(value) if value.is_undef()) { nothing() } else { item })
}

fn first_error(diagnostics: &[Diagnostic]) -> Option<&Diagnostic> {
    diagnostics.iter().find(|found| found.severity >= Severity::Error)
}

/// The message with line and column, as Psych writes them.
fn placed(error: &Diagnostic, text: &str) -> String {
    let at = error.span.map_or(0, |span| span.range.start as usize).min(text.len());
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
    let message = error.message.trim_start_matches("this is not valid YAML: ");
    let known = LIBYAML.iter().find(|(ours, _)| message.starts_with(ours));
    let message = known.map_or(message, |(_, theirs)| theirs);
    format!("{message} at line {line} column {column}")
}

/// What the library that Psych stands on says in other words.
const LIBYAML: [(&str, &str); 8] = [
    (
        "while parsing a node, did not find expected node content",
        "did not find expected node content while parsing a flow node",
    ),
    (
        "while parsing a flow sequence, expected ',' or ']'",
        "did not find expected ',' or ']' while parsing a flow sequence",
    ),
    (
        "while parsing a flow mapping, did not find expected ',' or '}'",
        "did not find expected ',' or '}' while parsing a flow mapping",
    ),
    (
        "while parsing a block mapping, did not find expected key",
        "did not find expected key while parsing a block mapping",
    ),
    (
        "while parsing a block collection, did not find expected '-' indicator",
        "did not find expected '-' indicator while parsing a block collection",
    ),
    (
        "tabs disallowed within this context",
        "found character that cannot start any token while scanning for the next token",
    ),
    (
        "while scanning a quoted scalar, found unexpected end of stream",
        "found unexpected end of stream while scanning a quoted scalar",
    ),
    ("simple key expected", "could not find expected ':' while scanning a simple key"),
];

struct Reader<'a> {
    text: &'a str,
}

impl Reader<'_> {
    fn item(&self, node: &Node) -> Result<Item, String> {
        let kind = match &node.kind {
            NodeKind::Scalar { text, style } => scalar(text, *style, node.tag.as_deref())?,
            NodeKind::Sequence(items) => {
                items.iter().try_for_each(|item| self.check_flow(node, item))?;
                Kind::Array(items.iter().map(|item| self.item(item)).collect::<Result<_, _>>()?)
            }
            NodeKind::Mapping(entries) => {
                if let Some(class) = node.tag.as_deref().and_then(class_of_tag) {
                    return Err(format!("Tried to load unspecified class: {class}"));
                }
                entries.iter().try_for_each(|entry| {
                    self.check_flow(node, &entry.key)?;
                    self.check_flow(node, &entry.value)
                })?;
                Kind::Hash(self.entries(entries)?)
            }
        };
        Ok(Item { range: node.range, kind })
    }

    /// A later key replaces an earlier one in its place; `<<` does so, too, at the place where it stands.
    fn entries(&self, nodes: &[Entry]) -> Result<Entries, String> {
        let mut entries = Entries::default();
        for Entry { key, value } in nodes {
            let item = self.item(value)?;
            let is_merge = key.text() == Some("<<") && key.tag.as_deref() != Some("!str");
            if is_merge {
                match item.kind {
                    Kind::Hash(more) => {
                        entries.extend(more);
                        continue;
                    }
                    Kind::Array(ref maps) if !self.is_alias(value) && all_hashes(maps) => {
                        let mut joined = Entries::default();
                        for map in maps.iter().rev() {
                            if let Kind::Hash(more) = &map.kind {
                                joined.extend(more.iter().map(|(key, item)| (key.clone(), item.clone())));
                            }
                        }
                        entries.extend(joined);
                        continue;
                    }
                    _ => {}
                }
            }
            let key = self.item(key)?;
            entries.insert(Key(as_key(&key)), item);
        }
        Ok(entries)
    }

    /// Psych takes no scalar that begins with a colon between brackets.
    fn check_flow(&self, collection: &Node, item: &Node) -> Result<(), String> {
        let starts = |node: &Node, with: &[char]| {
            self.text.get(node.range.start as usize..).is_some_and(|rest| rest.starts_with(with))
        };
        if item.plain().is_some_and(|text| text.starts_with(':'))
            && starts(item, &[':'])
            && starts(collection, &['{', '['])
        {
            let before = self.text.get(..item.range.start as usize).unwrap_or("");
            let line = before.matches('\n').count() + 1;
            let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
            return Err(format!(
                "did not find expected node content while parsing a flow node at line {line} column {column}"
            ));
        }
        Ok(())
    }

    fn is_alias(&self, node: &Node) -> bool {
        self.text.get(node.range.start as usize..).is_some_and(|rest| rest.starts_with('*'))
    }
}

fn all_hashes(items: &[Item]) -> bool {
    items.iter().all(|item| matches!(item.kind, Kind::Hash(_)))
}

/// Puppet makes strings of symbols that are keys.
fn as_key(item: &Item) -> Value {
    match &item.kind {
        Kind::Scalar(value) => value.clone(),
        Kind::Symbol(name) => Value::string(Arc::clone(name)),
        Kind::Array(items) => Value::array(items.iter().map(as_key).collect()),
        Kind::Hash(entries) => {
            Value::hash(entries.iter().map(|(key, item)| (key.clone(), as_key(item))).collect())
        }
    }
}

/// The class of Ruby that a tag asks for, and that data may not have.
fn class_of_tag(tag: &str) -> Option<&str> {
    match tag {
        "ruby/object" => Some("Object"),
        "ruby/range" => Some("Range"),
        "ruby/regexp" => Some("Regexp"),
        "ruby/exception" => Some("Exception"),
        "ruby/struct" => Some("Struct"),
        "set" | "!set" => Some("Psych::Set"),
        "omap" | "!omap" => Some("Psych::Omap"),
        "ruby/object:Hash" => None,
        _ => ["ruby/object:", "ruby/struct:", "ruby/hash:", "ruby/array:", "map:", "ruby/exception:"]
            .iter()
            .find_map(|start| tag.strip_prefix(start)),
    }
}

fn scalar(text: &str, style: Style, tag: Option<&str>) -> Result<Kind, String> {
    let string = || Ok(Kind::Scalar(Value::from(text)));
    // A quoted scalar is its text, whatever its tag says.
    if style != Style::Plain && !tag.is_some_and(|tag| tag == "binary" || tag == "!binary") {
        return string();
    }
    match tag {
        None => {}
        Some("!str" | "str" | "ruby/string") => return string(),
        Some("binary" | "!binary") if style != Style::Quoted => return Ok(binary(text)),
        Some("binary" | "!binary") => return string(),
        Some("!float" | "float") => {
            return match meaning(text) {
                Meaning::Data(Value { data: Data::Integer(number), .. }) => {
                    Ok(Kind::Scalar(Value::from(number as f64)))
                }
                Meaning::Data(value @ Value { data: Data::Float(_), .. }) => Ok(Kind::Scalar(value)),
                _ => Err(format!(
                    "invalid value for Float(): {}",
                    setpoint_puppet_values::ruby::text::inspect_text(text)
                )),
            };
        }
        Some("ruby/sym" | "ruby/symbol") => return Ok(Kind::Symbol(text.into())),
        Some(tag) => {
            if let Some(class) = class_of_tag(tag) {
                return Err(format!("Tried to load unspecified class: {class}"));
            }
        }
    }
    match meaning(text) {
        Meaning::Text => string(),
        Meaning::Data(value) => Ok(Kind::Scalar(value)),
        Meaning::Symbol => Ok(Kind::Symbol(symbol(text).into())),
        Meaning::Date => Err("Tried to load unspecified class: Date".to_owned()),
        Meaning::Time => Err("Tried to load unspecified class: Time".to_owned()),
    }
}

/// `:name`, `:"name"`.
fn symbol(text: &str) -> &str {
    let name = text.strip_prefix(':').unwrap_or(text);
    for quote in ['"', '\''] {
        if let Some(inner) = name.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)) {
            return inner.strip_prefix(':').unwrap_or(inner);
        }
    }
    name
}

/// Base64, as a text of bytes.
fn binary(text: &str) -> Kind {
    let bytes = decode64(text);
    Kind::Scalar(String::from_utf8(bytes).map_or_else(
        |error| Value::string(String::from_utf8_lossy(error.as_bytes()).into_owned()),
        Value::from,
    ))
}

/// JSON, or why it is none.
pub(crate) fn read_json(file: FileId, text: &str) -> Result<Item, String> {
    let document = setpoint_data::read_json(file, text);
    if let Some(error) = first_error(&document.diagnostics) {
        return Err(placed(error, text));
    }
    document.root.as_ref().map_or(Err("the file is empty".to_owned()), |root| Ok(json(root)))
}

fn json(node: &Node) -> Item {
    let kind = match &node.kind {
        NodeKind::Scalar { text, style: Style::Plain } => Kind::Scalar(match &**text {
            "null" => Value::UNDEF,
            "true" => true.into(),
            "false" => false.into(),
            number => number
                .parse::<i64>()
                .map_or_else(|_| Value::from(number.parse::<f64>().unwrap_or_default()), Value::from),
        }),
        NodeKind::Scalar { text, .. } => Kind::Scalar(Value::string(Arc::clone(text))),
        NodeKind::Sequence(items) => Kind::Array(items.iter().map(json).collect()),
        NodeKind::Mapping(entries) => Kind::Hash(
            entries
                .iter()
                .map(|entry| (Key::from(entry.key.text().unwrap_or_default()), json(&entry.value)))
                .collect(),
        ),
    };
    Item { range: node.range, kind }
}
