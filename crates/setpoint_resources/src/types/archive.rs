//! `archive`.

use setpoint_catalog::{Catalog, Resource, ResourceId};
use setpoint_state::{CellId, Program, Reach};

use super::small::no_path;
use super::{Model, Type};
use crate::attributes::Attributes;
use crate::commands::Effect;
use crate::machine::{Machine, absent, sequence, when};
use crate::mentions::Mentions;
use crate::table::{Row, Scope, Values};
use crate::{Origin, World, settings};

const FETCHED: &str = "how the file is fetched; its content is not read";

const ROWS: &[Row] = &[
    Row::modelled("ensure").words(&["present", "absent"]),
    Row::modelled("path"),
    Row::open("filename", Scope::Own),
    Row::modelled("creates").of(Values::Single),
    Row::modelled("extract").words(&["true", "false"]),
    Row::modelled("extract_path"),
    Row::open("target", Scope::Everything),
    Row::open("extract_command", Scope::Everything),
    Row::open("extract_flags", Scope::Own),
    Row::inert("temp_dir", "where the file lies before it is moved"),
    Row::modelled("cleanup").words(&["true", "false"]),
    Row::modelled("source").of(Values::Single),
    Row::open("url", Scope::Everything),
    Row::inert("cookie", FETCHED),
    Row::open("checksum", Scope::Own),
    Row::open("digest_string", Scope::Own),
    Row::open("checksum_url", Scope::Own),
    Row::open("digest_url", Scope::Own),
    Row::inert("checksum_type", FETCHED).words(&["none"]),
    Row::open("checksum_type", Scope::Own),
    Row::inert("digest_type", FETCHED).words(&["none"]),
    Row::open("digest_type", Scope::Own),
    Row::open("checksum_verify", Scope::Own),
    Row::inert("username", FETCHED),
    Row::inert("password", FETCHED),
    Row::modelled("user").of(Values::Single),
    Row::modelled("group").of(Values::Single),
    Row::inert("proxy_type", FETCHED),
    Row::inert("proxy_server", FETCHED),
    Row::inert("allow_insecure", FETCHED),
    Row::inert("download_options", FETCHED),
    Row::inert("provider", FETCHED).words(&["ruby"]),
    Row::open("provider", Scope::Own),
];

pub(crate) struct Archive;

impl Type for Archive {
    fn name(&self) -> &'static str {
        "Archive"
    }

    fn rows(&self) -> &'static [Row] {
        ROWS
    }

    fn mention(&self, mentions: &mut Mentions, _id: ResourceId, resource: &Resource, world: &World<'_>) {
        for name in ["path", "creates", "extract_path"] {
            if let Some(path) = resource.text(name) {
                mentions.add_path(&path, world);
            }
        }
        mentions.provide(&resource.name_or_title("path"), world);
        mentions.looks_for(unpacker(resource).into_iter().collect());
        for path in resource.texts("creates") {
            mentions.provide(&path, world);
        }
    }

    fn model(&self, machine: &mut Machine<'_>, _catalog: &Catalog, resource: &Resource) -> Model {
        archive(machine, resource)
    }
}

/// `archive`: a file that is fetched, and extracted.
fn archive(machine: &mut Machine<'_>, resource: &Resource) -> Model {
    let canonical = |machine: &Machine<'_>, path: &str| machine.mentions.canonical(path, machine.world);
    let Some(path) = canonical(machine, &resource.name_or_title("path")) else { return no_path() };
    let Some(cell) = machine.path(&path) else { return no_path() };
    if resource.ensure().as_deref() == Some("absent") {
        let remove = machine.remove_one(&path);
        return Model::new(when(absent(cell).negate(), sequence(vec![remove, Program::Change])));
    }
    let source = resource.text("source").unwrap_or_default();
    let creates = resource.text("creates").and_then(|path| canonical(machine, &path));
    let cleanup = resource.flag("cleanup") != Some(false) && resource.flag("extract") == Some(true);
    let done = match &creates {
        Some(created) => machine.exists(created),
        None => absent(cell).negate(),
    };
    // What is missing above is made.
    let mut steps =
        vec![owners_are_known(machine, resource), super::perform::make_directories(machine, &path)];
    let local = super::file::local_source(&source).and_then(|local| canonical(machine, local));
    if let Some(from) = local {
        let there = machine.exists(&from);
        steps.push(when(there.negate(), Program::fail(&format!("{from} does not exist"))));
        steps.push(machine.copy_file(&path, &from));
    } else {
        let user = resource.text("user");
        steps.push(settings::read_to_fetch(machine, resource, &source, user.as_deref()));
        steps.push(machine.write_named(&path, &format!("(as in {source})"), Origin::Elsewhere));
    }
    steps.extend(machine.set_attributes(&path, "0644", "root", "root"));
    let mut unknown = None;
    if resource.flag("extract") == Some(true) {
        if let Some(program) = unpacker(resource) {
            let needed = Effect::NeedProgram(vec![program]);
            steps.push(super::perform::perform(machine, &needed));
        }
        if let Some(folder) = resource.text("extract_path").and_then(|path| canonical(machine, &path)) {
            let there = machine.is_directory(&folder);
            steps.push(when(there.negate(), Program::fail(&format!("{folder} does not exist"))));
            let mut cells: Vec<CellId> = Vec::new();
            for below in machine.below(&folder) {
                if creates.as_ref() != Some(&below) {
                    cells.extend(machine.path(&below));
                }
            }
            unknown = (!cells.is_empty()).then_some(cells);
        }
        if let Some(created) = &creates
            && let Some(at) = machine.path(created)
        {
            let make = machine.write_named(created, &format!("(out of {source})"), Origin::Elsewhere);
            steps.push(when(absent(at), make));
        }
        if cleanup {
            steps.push(machine.remove_one(&path));
        }
    }
    steps.push(Program::Change);
    let model = Model::new(when(done.negate(), sequence(steps)));
    match unknown {
        Some(cells) => model.not_known("what the archive contains is not known", Reach::Cells(cells)),
        None => model,
    }
}

/// The program that unpacks an archive, where it is none that every machine has.
fn unpacker(resource: &Resource) -> Option<String> {
    if resource.flag("extract") != Some(true) || resource.has("extract_command") {
        return None;
    }
    let path = resource.name_or_title("path");
    let (_, ending) = path.rsplit_once('.')?;
    let name = match ending {
        "zip" | "war" | "jar" => "unzip",
        "bz2" | "tbz" | "tbz2" => "bzip2",
        "xz" | "txz" => "xz",
        "7z" => "7za",
        _ => return None,
    };
    Some(format!("/usr/bin/{name}"))
}

/// What is fetched and extracted is given to a user and a group, who must be there.
fn owners_are_known(machine: &mut Machine<'_>, resource: &Resource) -> Program {
    let mut steps = Vec::new();
    if let Some(user) = resource.text("user") {
        let known = machine.user_exists(&user);
        steps.push(when(known.negate(), Program::fail(&format!("the user {user} does not exist"))));
    }
    if let Some(group) = resource.text("group") {
        let known = machine.group_exists(&group);
        steps.push(when(known.negate(), Program::fail(&format!("the group {group} does not exist"))));
    }
    sequence(steps)
}
