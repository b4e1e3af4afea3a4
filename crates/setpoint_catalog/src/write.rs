//! The catalog as JSON, exactly as Puppet's rich-data format prints it, and as Puppet source for people.

mod json;
mod pp;
mod rich;

pub use json::{Json, quote};
pub use pp::{one_line, pp, resource_pp};
pub use rich::{reference, value as rich_value};

use crate::{Catalog, Resource, Shown};

/// The whole catalog as Puppet's `JSON.pretty_generate` lays it out. Virtual resources are left out, with their edges.
pub fn json(catalog: &Catalog) -> String {
    let mut out = Json::with_capacity(512 * catalog.resources().len() + 1024);
    out.open_object();
    out.key("tags");
    out.strings(catalog.tags.iter().map(|tag| tag.as_str()));
    out.key("name");
    out.string(&catalog.name);
    out.key("version");
    rich::value(&catalog.version, &mut out);
    out.key("code_id");
    out.optional_string(catalog.code_id.as_deref());
    if let Some(uuid) = &catalog.uuid {
        out.key("catalog_uuid");
        out.string(uuid);
    }
    out.key("catalog_format");
    out.integer(2);
    out.key("environment");
    out.string(&catalog.environment);
    out.key("resources");
    out.open_array();
    for resource in catalog.resources().iter().filter(|resource| !resource.virtual_) {
        write_resource(resource, &mut out);
    }
    out.close_array();
    out.key("edges");
    write_edges(catalog, &mut out);
    out.key("classes");
    out.strings(catalog.classified.iter().chain(&catalog.classes).map(|class| class.as_str()));
    out.close_object();
    out.finish()
}

/// One resource, as it stands in the catalog's `resources`.
pub fn resource_json(resource: &Resource) -> String {
    let mut out = Json::with_capacity(512);
    write_resource(resource, &mut out);
    out.finish()
}

fn write_resource(resource: &Resource, out: &mut Json) {
    out.open_object();
    out.key("type");
    out.string(&resource.type_name);
    out.key("title");
    out.string(&resource.title);
    out.key("tags");
    out.strings(resource.tags.iter().map(setpoint_source::Symbol::as_str));
    if let Some(file) = &resource.file {
        out.key("file");
        out.string(file);
    }
    if let Some(line) = resource.line {
        out.key("line");
        out.integer(i64::from(line));
    }
    out.key("exported");
    out.bool(resource.exported);
    if let Some(kind) = resource.kind {
        out.key("kind");
        out.string(kind.as_str());
    }
    write_parameters(resource, out);
    if !resource.sensitive.is_empty() {
        out.key("sensitive_parameters");
        out.strings(resource.sensitive.iter().map(|name| name.as_str()));
    }
    out.close_object();
}

fn write_parameters(resource: &Resource, out: &mut Json) {
    let mut printed = resource.printed().peekable();
    if printed.peek().is_none() {
        return;
    }
    out.key("parameters");
    out.open_object();
    for (name, shown) in printed {
        out.key(name.as_str());
        match shown {
            Shown::Title(text) => out.string(text),
            Shown::Given(parameter) => rich::value(&parameter.value, out),
        }
    }
    out.close_object();
}

fn write_edges(catalog: &Catalog, out: &mut Json) {
    out.open_array();
    for &(source, target) in &catalog.edges {
        let (Some(source), Some(target)) = (catalog.get(source), catalog.get(target)) else { continue };
        if source.virtual_ || target.virtual_ {
            continue;
        }
        out.open_object();
        out.key("source");
        out.display(source);
        out.key("target");
        out.display(target);
        out.close_object();
    }
    out.close_array();
}
