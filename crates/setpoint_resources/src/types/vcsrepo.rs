//! `vcsrepo`.

use setpoint_catalog::{Catalog, Resource, ResourceId};
use setpoint_state::{CellKind, Kind, Program, Test, Value};

use super::small::no_path;
use super::{Model, Type};
use crate::attributes::{Attributes, shared};
use crate::machine::{Machine, absent, all, any, choose, sequence, when};
use crate::mentions::Mentions;
use crate::table::{Row, Scope, Values};
use crate::{Assumption, World, settings};

const REMOTE: &str = "how the repository is asked for";

const ROWS: &[Row] = &[
    Row::modelled("ensure").words(&["present", "absent"]),
    Row::open("ensure", Scope::Own),
    Row::modelled("revision").of(Values::Single),
    Row::modelled("path"),
    Row::modelled("source").of(Values::Single),
    Row::open("source", Scope::Own),
    Row::open("fstype", Scope::Own),
    Row::modelled("owner").of(Values::Single),
    Row::modelled("group").of(Values::Single),
    Row::modelled("user").of(Values::Single),
    Row::open("excludes", Scope::Own),
    Row::modelled("force").words(&["true", "false"]),
    Row::inert("compression", REMOTE),
    Row::inert("basic_auth_username", REMOTE),
    Row::inert("basic_auth_password", REMOTE),
    Row::open("identity", Scope::Everything),
    Row::open("module", Scope::Own),
    Row::inert("remote", REMOTE).words(&["origin"]),
    Row::open("remote", Scope::Own),
    Row::open("configuration", Scope::Everything),
    Row::inert("cvs_rsh", REMOTE),
    Row::inert("depth", "how much of the history is fetched"),
    Row::open("branch", Scope::Own),
    Row::open("p4config", Scope::Everything),
    Row::inert("submodules", "what else the checkout has, of which nothing is read"),
    Row::open("conflict", Scope::Own),
    Row::modelled("provider").words(&["git", "hg", "svn", "bzr", "cvs"]),
    Row::open("provider", Scope::Everything),
];

pub(crate) struct Vcsrepo;

impl Type for Vcsrepo {
    fn name(&self) -> &'static str {
        "Vcsrepo"
    }

    fn rows(&self) -> &'static [Row] {
        ROWS
    }

    fn mention(&self, mentions: &mut Mentions, _id: ResourceId, resource: &Resource, world: &World<'_>) {
        let path = resource.name_or_title("path");
        mentions.provide(&path, world);
        mentions.add_deep(&path, world);
        mentions.declare(&path, &[Kind::Absent, Kind::Directory], world);
    }

    fn model(&self, machine: &mut Machine<'_>, _catalog: &Catalog, resource: &Resource) -> Model {
        vcsrepo(machine, resource)
    }
}

/// `vcsrepo`: a directory with a checkout.
fn vcsrepo(machine: &mut Machine<'_>, resource: &Resource) -> Model {
    let Some(path) = machine.mentions.canonical(&resource.name_or_title("path"), machine.world) else {
        return no_path();
    };
    let Some(cell) = machine.path(&path) else { return no_path() };
    let provider = resource.text("provider").unwrap_or_else(|| "git".to_owned());
    let tool = match provider.as_str() {
        "hg" => "/usr/bin/hg",
        "svn" => "/usr/bin/svn",
        "bzr" => "/usr/bin/bzr",
        "cvs" => "/usr/bin/cvs",
        _ => "/usr/bin/git",
    };
    let checkout = machine.other(CellKind::Other, &path, Some("checkout"));
    machine.laws.push(Test::Any(vec![Test::Kind(cell, Kind::Directory), absent(checkout)]));
    let wanted = Value::Text(shared(&format!(
        "{} {}",
        resource.text("source").unwrap_or_default(),
        resource.text("revision").unwrap_or_default()
    )));
    let apply = if resource.ensure().as_deref() == Some("absent") {
        let remove = machine.remove_tree(&path);
        let gone = sequence(vec![remove, Program::set(checkout, Value::Absent)]);
        // It says so in every run, also if there was nothing.
        sequence(vec![when(absent(cell).negate(), gone), Program::Change])
    } else {
        let source = resource.text("source").unwrap_or_default();
        // Git makes what is missing above a clone; for a repository of its own nobody does.
        let above = if source.is_empty() {
            let parent = machine.parent_is_directory(&path);
            when(parent.negate(), Program::fail("the directory above does not exist"))
        } else {
            super::perform::make_directories(machine, &path)
        };
        let make = machine.make_directory(&path, "0755");
        let user = resource.text("user");
        let mut clone = vec![settings::read_to_fetch(machine, resource, &source, user.as_deref())];
        if let Some(from) = super::file::local_source(&source)
            .and_then(|from| machine.mentions.canonical(from, machine.world))
        {
            let there = machine.exists(&from);
            clone.push(when(there.negate(), Program::fail(&format!("{from} does not exist"))));
        }
        let mut full = Vec::new();
        let stand_ins: Vec<String> = machine.mentions.stand_ins().collect();
        if machine.below(&path).iter().any(|child| !stand_ins.contains(child)) {
            machine.assume(Assumption::Checkout { path: path.clone() });
        }
        for child in machine.below(&path) {
            full.extend(machine.path(&child).map(|child| absent(child).negate()));
        }
        if !machine.world.any_start {
            // A directory that is there has the checkout, or is empty.
            let empty = any(full.clone()).negate();
            machine.start.push(Test::Any(vec![absent(cell), absent(checkout).negate(), empty]));
        }
        let in_the_way = if resource.flag("force") == Some(true) {
            machine.remove_tree(&path)
        } else {
            Program::fail("what is there is no repository")
        };
        let make_room =
            when(all(vec![Test::Kind(cell, Kind::Directory), absent(checkout), any(full)]), in_the_way);
        clone.extend([
            when(Test::Kind(cell, Kind::File), Program::fail(&format!("{path} is no directory"))),
            make_room,
            when(absent(cell), sequence(vec![above, make])),
            Program::set(checkout, wanted.clone()),
            owned(machine, resource),
            Program::Change,
        ]);
        let clone = sequence(clone);
        let differs =
            if resource.has("revision") { Test::is(checkout, wanted).negate() } else { absent(checkout) };
        choose(differs, clone, Program::Skip)
    };
    let mut model = Model::new(apply);
    model.suitable = machine.exists_if_provided(tool);
    if let Some(user) = resource.text("user") {
        let known = machine.user_exists(&user);
        let failure = Program::fail(&format!("the user {user} does not exist"));
        model.apply = sequence(vec![when(known.negate(), failure), model.apply]);
    }
    model
}

/// The owner and group of a checkout are set once it is there.
fn owned(machine: &mut Machine<'_>, resource: &Resource) -> Program {
    let mut steps = Vec::new();
    if let Some(owner) = resource.text("owner") {
        let known = machine.user_exists(&owner);
        steps.push(when(known.negate(), Program::fail(&format!("the user {owner} does not exist"))));
    }
    if let Some(group) = resource.text("group") {
        let known = machine.group_exists(&group);
        steps.push(when(known.negate(), Program::fail(&format!("the group {group} does not exist"))));
    }
    sequence(steps)
}
