//! The catalog as Puppet source for people: every resource with all its parameters, and what contains it.

use std::fmt::Write;

use rustc_hash::FxHashMap;
use setpoint_puppet_values::text::puppet_quote;
use setpoint_puppet_values::{Data, Value, to_text};

use crate::read::split_reference;
use crate::{Catalog, Parameter, Resource, ResourceId};

/// The longest line in which an array or a hash stays on one line.
const WIDTH: usize = 100;

/// The resources in the order in which they entered the catalog. Virtual ones are left out, secrets are not shown.
pub fn pp(catalog: &Catalog) -> String {
    let mut containers: FxHashMap<ResourceId, ResourceId> = FxHashMap::default();
    for &(container, contained) in &catalog.edges {
        containers.entry(contained).or_insert(container);
    }
    let mut out = String::new();
    let mut current = None;
    for (id, resource) in catalog.iter().filter(|(_, resource)| !resource.virtual_) {
        let container = containers.get(&id).copied();
        if !out.is_empty() {
            out.push('\n');
        }
        if container != current
            && let Some(outer) = container.and_then(|container| catalog.get(container))
        {
            let _ = writeln!(out, "# In {outer}");
        }
        current = container;
        resource_pp(resource, &mut out);
    }
    out
}

/// One resource, with the place of its declaration.
pub fn resource_pp(resource: &Resource, out: &mut String) {
    if let Some(file) = &resource.file {
        match resource.line {
            Some(line) => _ = writeln!(out, "# {file}:{line}"),
            None => _ = writeln!(out, "# {file}"),
        }
    }
    let type_name = resource.type_name.to_lowercase();
    let title = if resource.is_class() { resource.title.to_lowercase() } else { resource.title.to_string() };
    let mark = if resource.exported { "@@" } else { "" };
    let _ = write!(out, "{mark}{type_name} {{ {}:", puppet_quote(&title));
    let mut parameters: Vec<&Parameter> = resource.parameters.iter().collect();
    parameters.sort_by_key(|parameter| parameter.name.as_str() != "ensure");
    let width = parameters.iter().map(|parameter| parameter.name.len()).max().unwrap_or(0);
    for parameter in &parameters {
        let _ = write!(out, "\n  {:width$} => ", parameter.name.as_str());
        if resource.sensitive.contains(&parameter.name) {
            out.push_str("Sensitive('(not shown)')");
        } else if is_relationship(parameter) {
            references(&parameter.value, out);
        } else {
            literal(&parameter.value, 1, width + 8, out);
        }
        out.push(',');
    }
    out.push_str(if parameters.is_empty() { " }\n" } else { "\n}\n" });
}

fn is_relationship(parameter: &Parameter) -> bool {
    matches!(parameter.name.as_str(), "require" | "before" | "notify" | "subscribe")
}

/// `File['/etc/motd']`, or an array of such.
fn references(value: &Value, out: &mut String) {
    match &value.data {
        Data::String(text) => match split_reference(text) {
            Some((type_name, title)) => _ = write!(out, "{type_name}[{}]", puppet_quote(title)),
            None => out.push_str(&puppet_quote(text)),
        },
        Data::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                references(item, out);
            }
            out.push(']');
        }
        _ => literal(value, 1, 0, out),
    }
}

/// A value as it is written in a manifest. `column` is where it begins.
fn literal(value: &Value, depth: usize, column: usize, out: &mut String) {
    let mut line = String::new();
    one_line(value, &mut line);
    if column + line.len() <= WIDTH {
        out.push_str(&line);
        return;
    }
    let inner = depth + 1;
    let indent = "  ".repeat(inner);
    match &value.data {
        Data::Array(items) if !items.is_empty() => {
            out.push('[');
            for item in items.iter() {
                let _ = write!(out, "\n{indent}");
                literal(item, inner, indent.len(), out);
                out.push(',');
            }
            let _ = write!(out, "\n{}]", "  ".repeat(depth));
        }
        Data::Hash(entries) if !entries.is_empty() => {
            out.push('{');
            for (key, item) in entries.iter() {
                let mut name = String::new();
                one_line(&key.0, &mut name);
                let _ = write!(out, "\n{indent}{name} => ");
                literal(item, inner, indent.len() + name.len() + 4, out);
                out.push(',');
            }
            let _ = write!(out, "\n{}}}", "  ".repeat(depth));
        }
        _ => out.push_str(&line),
    }
}

pub fn one_line(value: &Value, out: &mut String) {
    match &value.data {
        Data::Undef => out.push_str("undef"),
        Data::Default => out.push_str("default"),
        Data::String(text) => out.push_str(&puppet_quote(text)),
        Data::Sensitive(_) => out.push_str("Sensitive('(not shown)')"),
        Data::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                one_line(item, out);
            }
            out.push(']');
        }
        Data::Hash(entries) => {
            out.push('{');
            for (at, (key, item)) in entries.iter().enumerate() {
                out.push_str(if at > 0 { ", " } else { " " });
                one_line(&key.0, out);
                out.push_str(" => ");
                one_line(item, out);
            }
            out.push_str(if entries.is_empty() { "}" } else { " }" });
        }
        Data::Deferred(call) => {
            let _ = write!(out, "Deferred({}", puppet_quote(&call.name));
            if !call.arguments.is_empty() {
                out.push_str(", ");
                one_line(&Value::array(call.arguments.clone()), out);
            }
            out.push(')');
        }
        Data::Opaque(opaque) => {
            _ = write!(out, "undef /* not known: {} */", opaque.reason.replace("*/", "* /"));
        }
        _ => out.push_str(&to_text(value)),
    }
}
