//! Which expressions give a text, a list or a mapping, and where CloudFormation takes only one of them.

use setpoint_source::Symbol;

use crate::template::{Parameter, Template};
use crate::text::{Part, Text};
use crate::types::TypeFacts;
use crate::value::{Piece, Value, ValueKind};

/// The kind of value that an expression gives, as far as the template and the table of types decide it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Text,
    List,
    Map,
    Open,
}

/// Returns the kind of value that an expression gives; `Open` unless all that it may choose from is of one kind.
pub(crate) fn of(value: &Value, template: &Template) -> Shape {
    match &value.kind {
        ValueKind::Null => Shape::Open,
        ValueKind::Text(_) => Shape::Text,
        ValueKind::Sub { .. } => of_built_text(value, template),
        ValueKind::List(_) => Shape::List,
        ValueKind::Map(fields) if fields.iter().any(|field| field.name.starts_with("Fn::")) => Shape::Open,
        ValueKind::Map(_) => Shape::Map,
        ValueKind::Ref(name) => of_reference(*name, template),
        ValueKind::GetAtt { resource, attribute: Some(attribute), argument } if argument.len() < 2 => {
            of_attribute(*resource, attribute, template)
        }
        ValueKind::GetAtt { .. } => Shape::Open,
        ValueKind::If { then, otherwise, .. } => join(of(then, template), of(otherwise, template)),
        ValueKind::Call { name, .. } if &**name == "Fn::Join" => of_built_text(value, template),
        ValueKind::Call { name, argument } => of_call(name, argument, template),
    }
}

fn join(one: Shape, other: Shape) -> Shape {
    if one == other { one } else { Shape::Open }
}

/// The identifier of a resource is a text; so is the value of a parameter, unless its type is a list.
fn of_reference(name: Symbol, template: &Template) -> Shape {
    match (name.as_str(), template.parameters.get(&name)) {
        ("AWS::NotificationARNs", _) => Shape::List,
        ("AWS::NoValue", _) => Shape::Open,
        (_, Some(parameter)) if parameter.is_list() => Shape::List,
        // A text may be JSON.
        (_, Some(parameter)) if may_be_json(parameter) => Shape::Open,
        (_, Some(_)) => Shape::Text,
        (pseudo, None) if pseudo.starts_with("AWS::") => Shape::Text,
        (_, None) if template.resources.contains_key(&name) => Shape::Text,
        _ => Shape::Open,
    }
}

/// A text that is put together, unless it begins as JSON does, which is read where a mapping or a list is wanted.
fn of_built_text(value: &Value, template: &Template) -> Shape {
    let is_json = match Text::of(value, template).0.first() {
        Some(Part::Text(text)) => begins_json(text),
        Some(Part::Ref(name)) => template.parameters.get(name).is_some_and(may_be_json),
        _ => false,
    };
    if is_json { Shape::Open } else { Shape::Text }
}

fn begins_json(text: &str) -> bool {
    text.trim_start().starts_with(['[', '{'])
}

/// Whether a value that a parameter is known to have is JSON of a list or a mapping.
fn may_be_json(parameter: &Parameter) -> bool {
    parameter.default.iter().chain(&parameter.allowed).any(|text| begins_json(text))
}

fn of_attribute(resource: Symbol, attribute: &str, template: &Template) -> Shape {
    let Some(resource) = template.resources.get(&resource) else { return Shape::Open };
    if &*resource.kind == "AWS::CloudFormation::Stack" && attribute.starts_with("Outputs.") {
        return Shape::Text;
    }
    let facts = TypeFacts::of(&resource.kind);
    match facts.and_then(|facts| facts.property(attribute)).map(|property| property.kinds) {
        Some("l") => Shape::List,
        Some(kinds) if !kinds.is_empty() && kinds.chars().all(|kind| "snb".contains(kind)) => Shape::Text,
        _ => Shape::Open,
    }
}

fn of_call(name: &str, argument: &Value, template: &Template) -> Shape {
    match (name, argument.items()) {
        ("Fn::Base64" | "Fn::ImportValue" | "Fn::ToJsonString" | "Fn::Length", _) => Shape::Text,
        ("Fn::GetAZs" | "Fn::Split" | "Fn::Cidr", _) => Shape::List,
        // What a list of texts holds; a list that is written out may hold anything.
        ("Fn::Select", [_, list]) => match &list.kind {
            ValueKind::Ref(_) | ValueKind::Call { .. } if of(list, template) == Shape::List => Shape::Text,
            _ => Shape::Open,
        },
        ("Fn::FindInMap", [map, first, second]) => of_mapping([map, first, second], template),
        _ => Shape::Open,
    }
}

/// What all values of a mapping that the keys may name are.
fn of_mapping([map, first, second]: [&Value; 3], template: &Template) -> Shape {
    let Some(table) = map.text().and_then(|map| template.mappings.get(&Symbol::new(map))) else {
        return Shape::Open;
    };
    let fits = |wanted: &Value, key: Symbol| wanted.text().is_none_or(|text| text == key.as_str());
    let rows = table.iter().filter(|(key, _)| fits(first, **key)).map(|(_, row)| row);
    let cells = rows.flat_map(|row| row.iter().filter(|(key, _)| fits(second, **key)));
    cells.map(|(_, value)| of(value, template)).reduce(join).unwrap_or(Shape::Open)
}

/// What a function does not take: the part of it, and what it wants there instead.
pub(crate) struct Misfit<'a> {
    pub(crate) part: &'a Value,
    pub(crate) words: String,
}

/// Returns the parts of a function, not of those below it, that are a list where a text is wanted or the other way round. What is
/// written out and has the wrong form is told where the arguments of functions are looked at.
pub(crate) fn misfits<'a>(value: &'a Value, template: &Template) -> Vec<Misfit<'a>> {
    let mut out = Vec::new();
    match &value.kind {
        ValueKind::Sub { pieces, variables } => {
            for field in variables {
                want_text("Fn::Sub", &field.value, template, &mut out);
            }
            let is_list = |piece: &&Piece| match piece {
                Piece::Ref(name) if !variables.iter().any(|own| own.name == *name) => {
                    of_reference(*name, template) == Shape::List
                }
                Piece::GetAtt { resource, attribute } => {
                    of_attribute(*resource, attribute, template) == Shape::List
                }
                _ => false,
            };
            for piece in pieces.iter().filter(is_list) {
                let name = match piece {
                    Piece::Ref(name) => name.to_string(),
                    Piece::GetAtt { resource, attribute } => format!("{resource}.{attribute}"),
                    Piece::Text(_) => continue,
                };
                let words = format!("`${{{name}}}` in `Fn::Sub`, which is a list, where a text is wanted");
                out.push(Misfit { part: value, words });
            }
        }
        ValueKind::Call { name, argument } => match (name.as_str(), argument.items()) {
            ("Fn::Join", [_, list]) => {
                if let ValueKind::List(items) = &list.kind {
                    for item in items {
                        want_text(name, item, template, &mut out);
                    }
                } else if list.text().is_none() {
                    want_list(name, list, template, &mut out);
                }
            }
            ("Fn::Select", [index, list]) => {
                want_text(name, index, template, &mut out);
                // A text that is written out has no position at all.
                if list.text().is_none() {
                    want_list(name, list, template, &mut out);
                }
            }
            ("Fn::Split", [_, text]) => want_text(name, text, template, &mut out),
            ("Fn::Equals", sides) => {
                for side in sides {
                    want_text(name, side, template, &mut out);
                }
            }
            ("Fn::FindInMap", [map, first, second, ..]) => {
                for key in [map, first, second] {
                    want_text(name, key, template, &mut out);
                }
            }
            ("Fn::Base64" | "Fn::ImportValue" | "Fn::GetAZs", _)
                if !matches!(argument.kind, ValueKind::List(_)) =>
            {
                want_text(name, argument, template, &mut out);
            }
            _ => {}
        },
        _ => {}
    }
    out
}

/// The values that an expression may choose.
fn choices<'a>(value: &'a Value, out: &mut Vec<&'a Value>) {
    if let ValueKind::If { then, otherwise, .. } = &value.kind {
        choices(then, out);
        choices(otherwise, out);
    } else {
        out.push(value);
    }
}

/// Collects what of a value, whichever branch is chosen, is a list.
pub(crate) fn lists_in<'a>(value: &'a Value, template: &Template, out: &mut Vec<&'a Value>) {
    let mut all = Vec::new();
    choices(value, &mut all);
    out.extend(all.into_iter().filter(|part| of(part, template) == Shape::List));
}

fn want_text<'a>(function: &str, value: &'a Value, template: &Template, out: &mut Vec<Misfit<'a>>) {
    want(function, value, (Shape::List, "a list, where a text is wanted"), template, out);
    want(function, value, (Shape::Map, "a mapping, where a text is wanted"), template, out);
}

fn want_list<'a>(function: &str, value: &'a Value, template: &Template, out: &mut Vec<Misfit<'a>>) {
    want(function, value, (Shape::Text, "a text, where a list is wanted"), template, out);
}

fn want<'a>(
    function: &str,
    value: &'a Value,
    (refused, words): (Shape, &str),
    template: &Template,
    out: &mut Vec<Misfit<'a>>,
) {
    let mut all = Vec::new();
    choices(value, &mut all);
    for part in all.into_iter().filter(|part| of(part, template) == refused) {
        out.push(Misfit { part, words: format!("{words} by `{function}`") });
    }
}
