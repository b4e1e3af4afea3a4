//! `Fn::ForEach` of the language extensions: a loop over a list that makes several keys out of one.

use std::sync::Arc;

use setpoint_data::{Entry, Kind, Node};

use crate::template::Template;

/// Loops may nest, and each may be long: beyond so many copies the template is left as it is.
const MAX_COPIES: usize = 100_000;

/// The tree with all loops unrolled. A loop over a value that is known only at deployment stays as it is.
pub(crate) fn expand(root: &Node, template: &Template) -> Node {
    let mut copies = 0;
    expand_node(root, template, &mut copies)
}

fn expand_node(node: &Node, template: &Template, copies: &mut usize) -> Node {
    let kind = match &node.kind {
        Kind::Scalar { .. } => return node.clone(),
        Kind::Sequence(items) => {
            Kind::Sequence(Arc::new(items.iter().map(|item| expand_node(item, template, copies)).collect()))
        }
        Kind::Mapping(entries) => {
            let mut out = Vec::with_capacity(entries.len());
            for entry in entries.iter() {
                match unrolled(entry, template, copies) {
                    Some(more) => out.extend(more),
                    None => out.push(Entry {
                        key: entry.key.clone(),
                        value: expand_node(&entry.value, template, copies),
                    }),
                }
            }
            Kind::Mapping(Arc::new(out))
        }
    };
    Node { kind, ..node.clone() }
}

fn unrolled(entry: &Entry, template: &Template, copies: &mut usize) -> Option<Vec<Entry>> {
    entry.key.text()?.strip_prefix("Fn::ForEach::")?;
    let [identifier, collection, body] = entry.value.items() else { return None };
    let identifier = identifier.text()?;
    let values = collection_values(collection, template)?;
    *copies += values.len();
    if *copies > MAX_COPIES {
        return None;
    }
    let mut out = Vec::new();
    for value in values {
        let replaced = replace(body, identifier, &value);
        out.extend(expand_node(&replaced, template, copies).entries().iter().cloned());
    }
    Some(out)
}

/// The values of a literal list, or of a parameter that holds one.
fn collection_values(node: &Node, template: &Template) -> Option<Vec<String>> {
    let parameter = match (node.tag.as_deref(), node.get("Ref")) {
        (Some("Ref"), _) => node.text(),
        (None, Some(name)) => name.text(),
        _ => None,
    };
    if let Some(name) = parameter {
        let parameter = template.parameters.get(&setpoint_source::Symbol::new(name))?;
        return Some(parameter.default.as_deref()?.split(',').map(|value| value.trim().to_owned()).collect());
    }
    if !node.is_sequence() || node.tag.is_some() {
        return None;
    }
    node.items().iter().map(|item| item.text().map(str::to_owned)).collect()
}

fn replace(node: &Node, identifier: &str, value: &str) -> Node {
    let kind = match &node.kind {
        Kind::Scalar { text, style } => {
            if node.tag.as_deref() == Some("Ref") && &**text == identifier {
                return Node {
                    tag: None,
                    kind: Kind::Scalar { text: value.into(), style: *style },
                    ..node.clone()
                };
            }
            Kind::Scalar { text: substitute(text, identifier, value).into(), style: *style }
        }
        Kind::Sequence(items) => {
            Kind::Sequence(Arc::new(items.iter().map(|item| replace(item, identifier, value)).collect()))
        }
        Kind::Mapping(entries) => {
            if let [Entry { key, value: target }] = entries.as_slice()
                && key.text() == Some("Ref")
                && target.text() == Some(identifier)
            {
                return replace_text(target, value);
            }
            let replaced = entries.iter().map(|entry| Entry {
                key: replace(&entry.key, identifier, value),
                value: replace(&entry.value, identifier, value),
            });
            Kind::Mapping(Arc::new(replaced.collect()))
        }
    };
    let mut replaced = Node { kind, ..node.clone() };
    // `!Sub S3Bucket${Identifier}` with nothing left to substitute is plain text, and so may name a resource.
    if replaced.tag.as_deref() == Some("Sub") && replaced.text().is_some_and(|text| !text.contains("${")) {
        replaced.tag = None;
    }
    if let [Entry { key, value }] = replaced.entries()
        && key.text() == Some("Fn::Sub")
        && value.text().is_some_and(|text| !text.contains("${"))
    {
        return value.clone();
    }
    replaced
}

fn replace_text(node: &Node, value: &str) -> Node {
    Node {
        tag: None,
        kind: Kind::Scalar { text: value.into(), style: setpoint_data::Style::Quoted },
        ..node.clone()
    }
}

/// `${Id}` becomes the value, `&{Id}` the value with what is not a letter or a digit left out.
fn substitute(text: &str, identifier: &str, value: &str) -> String {
    let plain: String = value.chars().filter(char::is_ascii_alphanumeric).collect();
    text.replace(&format!("${{{identifier}}}"), value).replace(&format!("&{{{identifier}}}"), &plain)
}
