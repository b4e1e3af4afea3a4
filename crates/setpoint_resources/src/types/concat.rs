//! `concat`: a file made of fragments. The catalog has all of them, so the content is known before anything is applied.

use setpoint_catalog::{Catalog, Resource};
use setpoint_puppet_values::Value as PuppetValue;
use setpoint_state::{Program, Reach};

use super::{Model, file as files};
use crate::attributes::Attributes;
use crate::machine::Machine;
use crate::world::Source;
use crate::{Assumption, Origin};

/// The file that the fragments make.
pub(crate) fn file(machine: &mut Machine<'_>, catalog: &Catalog, resource: &Resource) -> Model {
    let path = resource.name_or_title("path");
    let mut made = Resource::new(setpoint_source::Symbol::new("File"), path.as_str());
    for name in ["owner", "group", "mode", "replace", "validate_cmd"] {
        if let Some(value) = resource.get(name) {
            made.parameters.set(setpoint_source::Symbol::new(name), value.clone(), None);
        }
    }
    let mut set = |name: &str, value: &str| {
        made.parameters.set(setpoint_source::Symbol::new(name), PuppetValue::from(value), None);
    };
    if resource.ensure().as_deref() == Some("absent") {
        set("ensure", "absent");
        return files::model(machine, &made);
    }
    set("ensure", "file");
    let plain = resource.text("format").is_none_or(|format| format == "plain");
    let (content, secret) = content(machine, catalog, resource);
    match content {
        Ok(content) => set("content", &content),
        Err(named) => {
            machine.origins.add(&named, Origin::Elsewhere);
            set("content", &named);
        }
    }
    if secret {
        made.sensitive.push(setpoint_source::Symbol::new("content"));
    }
    let model = files::model(machine, &made);
    if plain {
        return model;
    }
    let cell = machine.mentions.canonical(&path, machine.world).and_then(|path| machine.path(&path));
    match cell {
        Some(cell) => model.not_known("its fragments are merged", Reach::Cells(vec![cell])),
        None => Model::new(Program::Skip),
    }
}

/// The content, or a name for it if a fragment comes from a source that is not known; and whether a fragment is secret.
fn content(
    machine: &mut Machine<'_>,
    catalog: &Catalog,
    resource: &Resource,
) -> (Result<String, String>, bool) {
    let path = resource.name_or_title("path");
    let tag = resource.text("tag");
    let mut fragments: Vec<(String, String, Result<String, String>)> = Vec::new();
    let mut secret = false;
    for (_, fragment) in catalog.iter() {
        if fragment.virtual_ || fragment.type_name.as_str() != "Concat_fragment" {
            continue;
        }
        let target = fragment.text("target").unwrap_or_default();
        let same_tag = tag.is_some() && fragment.text("tag") == tag;
        if target != path && *target != *resource.title && !same_tag {
            continue;
        }
        secret |= fragment.hides("content");
        let order = fragment.text("order").unwrap_or_else(|| "10".to_owned());
        let text = match fragment.text("content") {
            Some(text) => Ok(text),
            None => source(machine, fragment),
        };
        fragments.push((order, fragment.name_or_title("name"), text));
    }
    if resource.text("order").as_deref() == Some("numeric") {
        let key = |order: &str| {
            order.parse::<u64>().map_or((1, 0, order.to_owned()), |number| (0, number, String::new()))
        };
        fragments.sort_by(|one, other| (key(&one.0), &one.1).cmp(&(key(&other.0), &other.1)));
    } else {
        fragments.sort_by(|one, other| (&one.0, &one.1).cmp(&(&other.0, &other.1)));
    }
    let newline = resource.flag("ensure_newline") == Some(true);
    let mut all = String::new();
    let mut known = true;
    for (_, _, text) in fragments {
        match text {
            Ok(text) => {
                all.push_str(&text);
                if newline && !text.ends_with('\n') {
                    all.push('\n');
                }
            }
            Err(name) => {
                known = false;
                all.push_str(&name);
            }
        }
    }
    (if known { Ok(all) } else { Err(all) }, secret)
}

fn source(machine: &mut Machine<'_>, fragment: &Resource) -> Result<String, String> {
    let Some(source) = fragment.text("source") else { return Ok(String::new()) };
    if let Some(Source::File(text)) = machine.world.sources.get(&source) {
        return Ok(text.to_string());
    }
    machine.assume(Assumption::UnreadSource { address: source.clone() });
    Err(format!("(as in {source})"))
}
