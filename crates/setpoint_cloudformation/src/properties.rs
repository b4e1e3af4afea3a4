//! The values of properties beside what AWS's schemas allow: kinds of values, required properties, names.
//!
//! `types.txt` is made by `cargo xtask types` and holds facts of the published schemas. It has a date; what it lacks may be
//! newer, and is therefore not wrong but not known.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;
use setpoint_source::Symbol;

use crate::omission::{Omission, Omitted};
use crate::template::{Resource, Template};
use crate::value::{Value, ValueKind};

/// A property of a resource type.
#[derive(Debug, Clone, Copy)]
struct Property {
    name: &'static str,
    /// Letters of `types.txt`: string, number, boolean, list, mapping; `?` is any.
    kinds: &'static str,
    required: bool,
    /// AWS gives it a value; a template cannot.
    given: bool,
}

/// The line of a type in the table.
fn line(kind: &str) -> Option<&'static str> {
    static TABLE: OnceLock<FxHashMap<&'static str, &'static str>> = OnceLock::new();
    let table = TABLE.get_or_init(|| {
        let lines = include_str!("types.txt").lines();
        lines.map(|line| line.split_once(' ').unwrap_or((line, ""))).collect()
    });
    table.get(kind).copied()
}

fn properties(line: &'static str) -> impl Iterator<Item = Property> {
    line.split(' ').filter_map(|cell| {
        let (name, rest) = cell.split_once(':')?;
        let marks = rest.find(['!', '^', '=']).unwrap_or(rest.len());
        let (kinds, marks) = rest.split_at(marks);
        Some(Property { name, kinds, required: marks.contains('!'), given: marks.contains('=') })
    })
}

/// Records what a template gives to properties that no resource of the type takes.
pub(crate) fn check(template: &mut Template) {
    // A macro may take properties of its own and put others in their place.
    if template.omissions.iter().any(|one| matches!(one.what, Omitted::Transform(_) | Omitted::Include)) {
        return;
    }
    let mut found = Vec::new();
    for resource in template.resources.values().filter(|one| is_documented(one)) {
        match line(&resource.kind) {
            Some(line) => check_resource(resource, line, &mut found),
            None => found.push(Omission::new(Omitted::UnknownType(resource.kind), resource.type_ranges.1)),
        }
    }
    template.omissions.append(&mut found);
}

/// Whether AWS publishes the schema of a type: not those of custom resources, modules and the serverless transform.
fn is_documented(resource: &Resource) -> bool {
    resource.kind.starts_with("AWS::")
        && !resource.kind.starts_with("AWS::Serverless::")
        && !resource.kind.ends_with("::MODULE")
        && !["AWS::CloudFormation::CustomResource", "AWS::CloudFormation::Stack"]
            .contains(&resource.kind.as_str())
}

fn check_resource(resource: &Resource, line: &'static str, out: &mut Vec<Omission>) {
    let fields = match &resource.properties.kind {
        ValueKind::Map(fields) => fields.as_slice(),
        ValueKind::Null => &[],
        // A function gives all of them.
        _ => return,
    };
    // What a transform puts in may be any property.
    if fields.iter().any(|field| field.name.starts_with("Fn::")) {
        return;
    }
    for field in fields {
        match properties(line).find(|one| *one.name == *field.name) {
            None => out.push(Omission::new(Omitted::UnknownProperty(resource.name, field.name), field.range)),
            Some(property) => check_value(resource, &property, field.name, &field.value, out),
        }
    }
    for property in properties(line).filter(|one| one.required && !one.given) {
        if !fields.iter().any(|field| *field.name == *property.name) {
            let what = Omitted::MissingProperty(resource.name, Symbol::new(property.name));
            out.push(Omission::new(what, resource.name_range));
        }
    }
}

fn check_value(
    resource: &Resource,
    property: &Property,
    name: Symbol,
    value: &Value,
    out: &mut Vec<Omission>,
) {
    if let ValueKind::If { then, otherwise, .. } = &value.kind {
        check_value(resource, property, name, then, out);
        return check_value(resource, property, name, otherwise, out);
    }
    if !fits(property.kinds, value) {
        out.push(Omission::new(Omitted::PropertyValue(resource.name, name), value.range));
    }
}

/// Whether a value may be of one of the kinds. What a function or a parameter gives is not known, and may be.
fn fits(kinds: &str, value: &Value) -> bool {
    let takes = |kind: char| kinds.contains(kind);
    if takes('?') {
        return true;
    }
    match &value.kind {
        ValueKind::List(_) => takes('l'),
        ValueKind::Map(fields) => takes('m') || fields.iter().any(|field| field.name.starts_with("Fn::")),
        ValueKind::Text(text) => {
            takes('s')
                || (takes('n') && text.trim().parse::<f64>().is_ok())
                || (takes('b') && is_boolean(text))
                // JSON in a text is read where a mapping or a list is wanted.
                || (takes('m') && text.trim_start().starts_with('{'))
                || (takes('l') && text.trim_start().starts_with('['))
        }
        _ => true,
    }
}

/// YAML 1.1's words, as CloudFormation reads them.
fn is_boolean(text: &str) -> bool {
    ["true", "false", "yes", "no", "on", "off"].iter().any(|word| text.eq_ignore_ascii_case(word))
}
