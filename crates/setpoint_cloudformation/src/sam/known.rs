//! What AWS's translator knows by name: types and their properties, `Globals`, events, policy templates.
//!
//! `facts.txt` is made by `tests/sam/facts.py` out of the translator. What it lacks may be newer, and is therefore not known.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;
use setpoint_source::Symbol;

use super::refusals;
use crate::omission::{Omission, Omitted, describe_kinds};
use crate::template::Template;
use crate::value::{Field, Value, ValueKind};

/// The names of a line of the table: `Name:kinds!`, where the kinds may be missing and `!` says that it must be given.
#[derive(Debug, Clone, Copy)]
struct Names(&'static str);

impl Names {
    fn cells(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.0
            .split(' ')
            .filter(|cell| !cell.is_empty())
            .map(|cell| cell.split_once(':').unwrap_or((cell, "")))
    }

    /// The kinds of value that a name takes, empty if the translator does not look; nothing if it does not know the name.
    fn kinds(self, wanted: &str) -> Option<&'static str> {
        let known = self.cells().find(|(name, _)| name.trim_end_matches('!') == wanted);
        known.map(|(_, kinds)| kinds.trim_end_matches('!'))
    }

    fn has(self, name: &str) -> bool {
        self.kinds(name).is_some()
    }

    fn required(self) -> impl Iterator<Item = &'static str> {
        let is_required = |(name, kinds): &(&str, &str)| name.ends_with('!') || kinds.ends_with('!');
        self.cells().filter(is_required).map(|(name, _)| name.trim_end_matches('!'))
    }
}

/// The line of a kind (`type`, `globals`, `event`, `policy`) and a name.
fn names(kind: &'static str, name: &str) -> Option<Names> {
    static TABLE: OnceLock<FxHashMap<(&'static str, &'static str), Names>> = OnceLock::new();
    let table = TABLE.get_or_init(|| {
        let lines = include_str!("facts.txt").lines();
        lines
            .filter_map(|line| {
                let (kind, rest) = line.split_once(' ')?;
                let (name, names) = rest.split_once(' ').unwrap_or((rest, ""));
                Some(((kind, name), Names(names)))
            })
            .collect()
    });
    table.get(&(kind, name)).copied()
}

/// Records what the translator would refuse, or does not know: it makes nothing of the template then.
pub(crate) fn check(template: &mut Template) {
    if !template.is_serverless() || template.has_macro() {
        return;
    }
    let mut found = Vec::new();
    for (kind, values) in &template.globals {
        for value in values {
            check_globals(*kind, value, &mut found);
        }
    }
    for resource in template.resources.values() {
        let (name, kind) = (resource.name, resource.kind);
        if !kind.starts_with("AWS::Serverless::") {
            continue;
        }
        let Some(known) = names("type", &kind) else {
            found.push(Omission::new(Omitted::UnknownType(kind), resource.type_ranges.1));
            continue;
        };
        let fields = resource.properties.fields();
        check_names(name, known, &resource.properties, resource.name_range, &mut found);
        let get = |property: &str| fields.iter().find(|field| &*field.name == property);
        let owner = kind.trim_start_matches("AWS::Serverless::");
        for event in get("Events").into_iter().flat_map(|events| events.value.fields()) {
            check_event(name, owner, event, &mut found);
        }
        // The translator knows policy templates for functions only; it takes what it does not know for names of policies.
        if let Some(policies) = get("Policies").filter(|_| owner == "Function") {
            for policy in policies.value.items() {
                check_policy(policy, &mut found);
            }
        }
        match owner {
            "Function" => check_package(name, &resource.properties, &mut found),
            "SimpleTable" => {
                let key = resource.property(&["PrimaryKey", "Type"]).filter(|kind| {
                    kind.text().is_some_and(|kind| !["String", "Number", "Binary"].contains(&kind))
                });
                found.extend(key.map(|key| {
                    let wanted = "String, Number or Binary".to_owned();
                    let what = Omitted::PropertyValue(name, Symbol::new("PrimaryKey.Type"), wanted);
                    Omission::new(what, key.range)
                }));
            }
            _ => {}
        }
    }
    refusals::check(template, &mut found);
    template.omissions.append(&mut found);
}

/// Looks for names that are not known, and for those that are missing.
fn check_names(
    name: Symbol,
    known: Names,
    value: &Value,
    place: setpoint_source::Range,
    out: &mut Vec<Omission>,
) {
    let fields = value.fields();
    // What a transform puts in may be any property.
    if fields.iter().any(|field| field.name.starts_with("Fn::")) {
        return;
    }
    for field in fields {
        match known.kinds(&field.name) {
            None => out.push(Omission::new(Omitted::UnknownProperty(name, field.name), field.range)),
            Some(kinds) if !kinds.is_empty() && !takes(kinds, &field.value) => {
                let what = Omitted::PropertyValue(name, field.name, describe_kinds(kinds));
                out.push(Omission::new(what, field.value.range));
            }
            Some(_) => {}
        }
    }
    for property in known.required() {
        if !fields.iter().any(|field| &*field.name == property) {
            out.push(Omission::new(Omitted::MissingProperty(name, Symbol::new(property)), place));
        }
    }
}

/// Whether the translator takes a value that is written out. It does not look at what a function gives.
fn takes(kinds: &str, value: &Value) -> bool {
    match &value.kind {
        ValueKind::Text(_) => kinds.contains('t'),
        ValueKind::List(_) => kinds.contains('l'),
        ValueKind::Map(fields) => {
            kinds.contains('m') || fields.iter().any(|field| field.name.starts_with("Fn::"))
        }
        _ => true,
    }
}

fn check_globals(kind: Symbol, value: &Value, out: &mut Vec<Omission>) {
    let Some(known) = names("globals", &kind) else {
        let section = kind.trim_start_matches("AWS::Serverless::");
        let words = format!("`Globals` has no section `{section}` that is known here");
        return out.push(Omission::new(Omitted::Unmodelled(words), value.range));
    };
    for field in value.fields().iter().filter(|field| !known.has(&field.name)) {
        let words = format!("`Globals` cannot give the property `{}` to {kind}", field.name);
        out.push(Omission::new(Omitted::Unmodelled(words), field.range));
    }
}

fn check_event(name: Symbol, owner: &str, event: &Field, out: &mut Vec<Omission>) {
    let Some(kind) = event.value.get("Type") else { return };
    let Some(known) = kind.text().and_then(|kind| names("event", &format!("{owner}/{kind}"))) else {
        let words = format!("`{}` is no type of event that is known here", kind.text().unwrap_or("this"));
        return out.push(Omission::new(Omitted::Unmodelled(words), kind.range));
    };
    let nothing = Value { range: event.range, kind: ValueKind::Null };
    let properties = event.value.get("Properties").unwrap_or(&nothing);
    check_names(name, known, properties, event.range, out);
}

/// A policy that has one key and is no document of statements is a template with parameters.
fn check_policy(policy: &Value, out: &mut Vec<Omission>) {
    if let ValueKind::If { then, otherwise, .. } = &policy.kind {
        check_policy(then, out);
        return check_policy(otherwise, out);
    }
    if policy.text().is_some_and(|text| text.trim().parse::<f64>().is_ok()) {
        let words = "a policy is a name, a document or a policy template".to_owned();
        return out.push(Omission::new(Omitted::Unmodelled(words), policy.range));
    }
    let fields = policy.fields();
    if fields.is_empty() || policy.get("Statement").is_some() {
        return;
    }
    for field in fields {
        let Some(known) = names("policy", &field.name) else {
            let words = format!("there is no policy template `{}` that is known here", field.name);
            out.push(Omission::new(Omitted::Unmodelled(words), field.range));
            continue;
        };
        let given = field.value.fields();
        for parameter in known.0.split(' ').filter(|one| !one.is_empty()) {
            if !given.iter().any(|one| &*one.name == parameter) {
                let words = format!("the policy template `{}` needs the parameter `{parameter}`", field.name);
                out.push(Omission::new(Omitted::Unmodelled(words), field.range));
            }
        }
    }
}

/// A function is an image, or code with a runtime and a handler.
fn check_package(name: Symbol, properties: &Value, out: &mut Vec<Omission>) {
    let kind = properties.get("PackageType");
    let is_image = match kind.map(Value::text) {
        None => false,
        Some(Some(text)) => text == "Image",
        Some(None) => return,
    };
    let range = kind.map_or(properties.range, |kind| kind.range);
    for property in ["Runtime", "Handler"] {
        let given = properties.get(property);
        match given {
            Some(value) if is_image => {
                let wanted = "absent for a function whose package is an image".to_owned();
                out.push(Omission::new(
                    Omitted::PropertyValue(name, Symbol::new(property), wanted),
                    value.range,
                ));
            }
            None if !is_image => {
                out.push(Omission::new(Omitted::MissingProperty(name, Symbol::new(property)), range));
            }
            _ => {}
        }
    }
}
