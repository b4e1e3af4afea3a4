//! `concat`: a file made of fragments. The catalog has all of them, so the content is known before anything is applied.

use setpoint_catalog::{Catalog, Resource, ResourceId};
use setpoint_puppet_values::Value as PuppetValue;
use setpoint_state::{CellId, Kind, Program, Reach};

use super::{Model, Type, file as files};
use crate::attributes::Attributes;
use crate::machine::Machine;
use crate::mentions::{ATTRIBUTES, Mentions};
use crate::table::{Row, Scope, Values};
use crate::world::Source;
use crate::{Assumption, Origin, World};

const FILE_ROWS: &[Row] = &[
    Row::modelled("ensure").words(&["present", "absent"]),
    Row::modelled("path"),
    Row::modelled("tag"),
    Row::modelled("owner").of(Values::Single),
    Row::modelled("group").of(Values::Single),
    Row::modelled("mode").of(Values::Single),
    Row::modelled("order").words(&["alpha", "numeric"]),
    Row::modelled("backup").words(&["true"]),
    Row::modelled("backup").of(Values::Beginning(".")),
    Row::inert("backup", "copies in a bucket are read by no resource").of(Values::Single),
    Row::modelled("replace").words(&["true", "false", "yes", "no"]),
    Row::modelled("validate_cmd").of(Values::Single),
    Row::modelled("ensure_newline").words(&["true", "false", "yes", "no"]),
    Row::modelled("format").of(Values::Single),
    Row::open("force", Scope::Own).words(&["true", "yes"]),
    Row::inert("force", "what Puppet does anyway"),
    Row::inert("selinux_ignore_defaults", "it decides how the context is chosen that is given to new files"),
    Row::kept("selrange"),
    Row::kept("selrole"),
    Row::kept("seltype"),
    Row::kept("seluser"),
    Row::inert("show_diff", "the words of a report"),
];

const FRAGMENT_ROWS: &[Row] = &[
    Row::modelled("name"),
    Row::modelled("target").of(Values::Single),
    Row::modelled("content").of(Values::Single),
    Row::modelled("source").of(Values::Single),
    Row::modelled("order").of(Values::Single),
    Row::modelled("tag"),
];

/// `concat_file`.
pub(crate) struct ConcatFile;

impl Type for ConcatFile {
    fn name(&self) -> &'static str {
        "Concat_file"
    }

    fn rows(&self) -> &'static [Row] {
        FILE_ROWS
    }

    fn mention(&self, mentions: &mut Mentions, id: ResourceId, resource: &Resource, world: &World<'_>) {
        let path = resource.name_or_title("path");
        mentions.provide(&path, world);
        mentions.declare(&path, &[Kind::Absent, Kind::File], world);
        // It generates a file resource before anything is applied, so that a purge spares it.
        mentions.generate_file(&path, id, world);
        if let Some(ending) = files::backup_ending(resource) {
            mentions.provide(&format!("{path}{ending}"), world);
        }
        for (kind, name) in ATTRIBUTES {
            if resource.has(name) {
                mentions.manage(kind, &path, world);
            }
        }
    }

    fn model(&self, machine: &mut Machine<'_>, catalog: &Catalog, resource: &Resource) -> Model {
        file(machine, catalog, resource)
    }
}

/// `concat_fragment`: what `concat_file` is made of.
pub(crate) struct ConcatFragment;

impl Type for ConcatFragment {
    fn name(&self) -> &'static str {
        "Concat_fragment"
    }

    fn rows(&self) -> &'static [Row] {
        FRAGMENT_ROWS
    }

    fn model(&self, _machine: &mut Machine<'_>, _catalog: &Catalog, _resource: &Resource) -> Model {
        Model::nothing()
    }
}

/// The file that the fragments make.
pub(crate) fn file(machine: &mut Machine<'_>, catalog: &Catalog, resource: &Resource) -> Model {
    let path = resource.name_or_title("path");
    let mut made = Resource::new(setpoint_source::Symbol::new("File"), path.as_str());
    for name in ["owner", "group", "mode", "replace", "validate_cmd", "backup"] {
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
    let mut model = files::model(machine, &made);
    let read = local_sources(machine, catalog, resource);
    if !read.is_empty() {
        let cells = model.touched().into_iter().chain(read).collect();
        model = model.not_known("a fragment is a file that another resource manages", Reach::Cells(cells));
    }
    if plain {
        return model;
    }
    let cell = machine.mentions.canonical(&path, machine.world).and_then(|path| machine.path(&path));
    match cell {
        Some(cell) => model.not_known("its fragments are merged", Reach::Cells(vec![cell])),
        None => Model::new(Program::Skip),
    }
}

/// The files of the catalog that are fragments, and that need not come first.
fn local_sources(machine: &mut Machine<'_>, catalog: &Catalog, resource: &Resource) -> Vec<CellId> {
    let fragments = fragments(catalog, resource);
    let sources: Vec<String> = fragments.iter().flat_map(|fragment| fragment.texts("source")).collect();
    let mut cells = Vec::new();
    for source in sources {
        let local =
            files::local_source(&source).and_then(|path| machine.mentions.canonical(path, machine.world));
        let Some(path) = local else { continue };
        let owner = machine.mentions.files.get(&path).copied();
        if machine.is_provided(&path) && !owner.is_some_and(|owner| machine.comes_before(owner)) {
            cells.extend(machine.path(&path));
            cells.extend(machine.tracked(&path).into_iter().map(|tracked| tracked.cell));
        }
    }
    cells
}

/// The fragments of a file.
fn fragments<'c>(catalog: &'c Catalog, resource: &Resource) -> Vec<&'c Resource> {
    let path = resource.name_or_title("path");
    let tag = resource.text("tag");
    let is_of = |fragment: &&Resource| {
        let target = fragment.text("target").unwrap_or_default();
        let same_tag = tag.is_some() && fragment.text("tag") == tag;
        !fragment.virtual_
            && fragment.type_name.as_str() == "Concat_fragment"
            && (target == path || *target == *resource.title || same_tag)
    };
    catalog.iter().map(|(_, fragment)| fragment).filter(is_of).collect()
}

/// The content, or a name for it if a fragment comes from a source that is not known; and whether a fragment is secret.
fn content(
    machine: &mut Machine<'_>,
    catalog: &Catalog,
    resource: &Resource,
) -> (Result<String, String>, bool) {
    let mut texts: Vec<(String, String, Result<String, String>)> = Vec::new();
    let mut secret = false;
    for fragment in fragments(catalog, resource) {
        secret |= fragment.hides("content");
        let order = fragment.text("order").unwrap_or_else(|| "10".to_owned());
        let text = match fragment.text("content") {
            Some(text) => Ok(text),
            None => source(machine, fragment),
        };
        texts.push((order, fragment.name_or_title("name"), text));
    }
    if resource.text("order").as_deref() == Some("numeric") {
        let key = |order: &str| {
            order.parse::<u64>().map_or((1, 0, order.to_owned()), |number| (0, number, String::new()))
        };
        texts.sort_by(|one, other| (key(&one.0), &one.1).cmp(&(key(&other.0), &other.1)));
    } else {
        texts.sort_by(|one, other| (&one.0, &one.1).cmp(&(&other.0, &other.1)));
    }
    let newline = resource.flag("ensure_newline") == Some(true);
    let mut all = String::new();
    let mut known = true;
    for (_, _, text) in texts {
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
    if let Some(Source::File(text)) = machine.world.sources.get(&source).and_then(Source::followed) {
        return Ok(text.to_string());
    }
    machine.assume(Assumption::UnreadSource { address: source.clone() });
    Err(format!("(as in {source})"))
}
