//! The values of properties beside what AWS's schemas allow: kinds of values, required properties, names.

use setpoint_source::Symbol;

use crate::omission::{Omission, Omitted};
use crate::template::{Resource, Template};
use crate::types::{Property, TypeFacts};
use crate::value::{Value, ValueKind};

/// Records what a template gives to properties that no resource of the type takes.
pub(crate) fn check(template: &mut Template) {
    // A macro may take properties of its own and put others in their place.
    if template.has_macro() {
        return;
    }
    let mut found = Vec::new();
    for resource in template.resources.values().filter(|one| is_custom(&one.kind)) {
        let fields = resource.properties.fields();
        if !fields.iter().any(|field| &*field.name == "ServiceToken" || field.name.starts_with("Fn::")) {
            let what = Omitted::MissingProperty(resource.name, Symbol::new("ServiceToken"));
            found.push(Omission::new(what, resource.name_range));
        }
    }
    for resource in template.resources.values().filter(|one| is_documented(one)) {
        match TypeFacts::of(&resource.kind) {
            Some(facts) => check_resource(resource, facts, &mut found),
            None => found.push(Omission::new(Omitted::UnknownType(resource.kind), resource.type_ranges.1)),
        }
    }
    template.omissions.append(&mut found);
}

/// Whether resources of a type are made by code that `ServiceToken` names.
pub(crate) fn is_custom(kind: &str) -> bool {
    kind == "AWS::CloudFormation::CustomResource" || kind.starts_with("Custom::")
}

/// Whether AWS publishes the schema of a type: not those of custom resources, modules and the serverless transform.
pub(crate) fn is_documented(resource: &Resource) -> bool {
    resource.kind.starts_with("AWS::")
        && !resource.kind.starts_with("AWS::Serverless::")
        && !resource.kind.ends_with("::MODULE")
        && !["AWS::CloudFormation::CustomResource", "AWS::CloudFormation::Stack"]
            .contains(&resource.kind.as_str())
}

fn check_resource(resource: &Resource, facts: TypeFacts, out: &mut Vec<Omission>) {
    let fields = match &resource.properties.kind {
        ValueKind::Map(fields) => fields.as_slice(),
        ValueKind::Null => &[],
        // The reader of attributes tells of it.
        _ => return,
    };
    // What a transform puts in may be any property.
    if fields.iter().any(|field| field.name.starts_with("Fn::")) {
        return;
    }
    for field in fields {
        match facts.property(&field.name) {
            // What AWS gives, a template cannot set.
            Some(property) if !property.is_given() => {
                check_value(resource, &property, field.name, &field.value, out);
            }
            _ => out.push(Omission::new(Omitted::UnknownProperty(resource.name, field.name), field.range)),
        }
    }
    for property in facts.properties().filter(Property::is_required) {
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
