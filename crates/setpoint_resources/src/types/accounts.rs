//! `user` and `group`.

use setpoint_catalog::{Catalog, Resource, ResourceId};
use setpoint_state::{CellId, CellKey, CellKind, Kind, Program, Test, Value};

use super::{Model, Type};
use crate::attributes::{Attributes, is_number};
use crate::machine::{Machine, PRESENT, absent, choose, parent, sequence, when};
use crate::mentions::Mentions;
use crate::settings;
use crate::table::{Row, Scope, Values};
use crate::{Origin, World};

const OTHER_PLATFORM: &str = "only other platforms look at it";
const CHOSEN_NUMBER: &str = "it decides which number is chosen where none is given";

const USER_ROWS: &[Row] = &[
    Row::modelled("name").of(Values::Single),
    Row::modelled("ensure").words(&["present", "absent"]),
    Row::open("ensure", Scope::Everything),
    Row::modelled("home").of(Values::Single),
    Row::modelled("uid").of(Values::Single),
    Row::modelled("gid").of(Values::Single),
    Row::modelled("comment").of(Values::Single),
    Row::modelled("shell").of(Values::Single),
    Row::modelled("password").of(Values::Single),
    Row::moot("password_min_age", GONE).with(&["absent"]),
    Row::moot("password_max_age", GONE).with(&["absent"]),
    Row::moot("password_warn_days", GONE).with(&["absent"]),
    Row::moot("expiry", GONE).with(&["absent"]),
    Row::kept("password_min_age"),
    Row::kept("password_max_age"),
    Row::kept("password_warn_days"),
    Row::kept("expiry"),
    Row::modelled("groups"),
    Row::modelled("membership").words(&["minimum", "inclusive"]),
    Row::moot("roles", OTHER_PLATFORM),
    Row::moot("auths", OTHER_PLATFORM),
    Row::moot("profiles", OTHER_PLATFORM),
    Row::moot("keys", OTHER_PLATFORM),
    Row::moot("project", OTHER_PLATFORM),
    Row::moot("attributes", OTHER_PLATFORM),
    Row::moot("salt", OTHER_PLATFORM),
    Row::moot("iterations", OTHER_PLATFORM),
    Row::moot("loginclass", OTHER_PLATFORM),
    Row::inert("system", CHOSEN_NUMBER),
    Row::modelled("allowdupe").words(&["true", "false", "yes", "no"]),
    Row::modelled("managehome").words(&["true", "false", "yes", "no"]),
    Row::moot("role_membership", OTHER_PLATFORM),
    Row::moot("auth_membership", OTHER_PLATFORM),
    Row::moot("profile_membership", OTHER_PLATFORM),
    Row::moot("key_membership", OTHER_PLATFORM),
    Row::moot("ia_load_module", OTHER_PLATFORM),
    Row::moot("attribute_membership", OTHER_PLATFORM),
    Row::inert("forcelocal", "what Puppet does anyway").words(&["false", "no"]),
    Row::open("forcelocal", Scope::Own),
    Row::modelled("purge_ssh_keys").words(&["true", "false"]),
    Row::open("purge_ssh_keys", Scope::Everything),
    Row::inert("provider", "what Puppet does anyway").words(&["useradd"]),
    Row::open("provider", Scope::Everything),
];

const GONE: &str = "a user who is absent has no properties";

const GROUP_ROWS: &[Row] = &[
    Row::modelled("name").of(Values::Single),
    Row::modelled("ensure").words(&["present", "absent"]),
    Row::modelled("gid").of(Values::Single),
    Row::open("members", Scope::Everything),
    Row::moot("attributes", OTHER_PLATFORM),
    Row::inert("auth_membership", "whether `members` are all, and that is not modelled"),
    Row::modelled("allowdupe").words(&["true", "false", "yes", "no"]),
    Row::moot("ia_load_module", OTHER_PLATFORM),
    Row::moot("attribute_membership", OTHER_PLATFORM),
    Row::inert("system", CHOSEN_NUMBER),
    Row::inert("forcelocal", "what Puppet does anyway").words(&["false", "no"]),
    Row::open("forcelocal", Scope::Own),
    Row::inert("provider", "what Puppet does anyway").words(&["groupadd"]),
    Row::open("provider", Scope::Everything),
];

/// `user`.
pub(crate) struct User;

impl Type for User {
    fn name(&self) -> &'static str {
        "User"
    }

    fn rows(&self) -> &'static [Row] {
        USER_ROWS
    }

    fn mention(&self, mentions: &mut Mentions, _id: ResourceId, resource: &Resource, world: &World<'_>) {
        let name = resource.name_or_title("name");
        if resource.flag("purge_ssh_keys") == Some(true) {
            let (path, entry) = mentions.other_keys(&name);
            mentions.add_entry(&path, entry, world);
        }
        if resource.flag("managehome") == Some(true) {
            let home = mentions.home(&name);
            mentions.provide(&home, world);
            mentions.made_homes.push(home.clone());
            // The first of them makes it, and owns it.
            if mentions.shares_home(&name) {
                mentions.manage(CellKind::Owner, &home, world);
            }
            if resource.ensure().as_deref() == Some("absent") {
                mentions.add_deep(&home, world);
                mentions.add_path(&mailbox(&name), world);
            }
            mentions.declare(&home, &[Kind::Absent, Kind::Directory], world);
        }
        // A shell that a package brings must be there first.
        if let Some(shell) = resource.text("shell") {
            mentions.add_path(&shell, world);
        }
        for group in groups_of(resource) {
            mentions.add_membership(&name, &group);
        }
        mentions.users.insert(name);
    }

    fn model(&self, machine: &mut Machine<'_>, catalog: &Catalog, resource: &Resource) -> Model {
        user(machine, catalog, resource)
    }

    fn declares(&self, _resource: &Resource, _path: Option<&str>, key: &CellKey) -> bool {
        match key.kind {
            // Its groups, but not the existence of its own.
            CellKind::UserGroup => key.detail.is_some(),
            kind => kind == CellKind::User,
        }
    }
}

/// Where the mail of a user is kept.
fn mailbox(user: &str) -> String {
    format!("/var/mail/{user}")
}

/// `group`.
pub(crate) struct Group;

impl Type for Group {
    fn name(&self) -> &'static str {
        "Group"
    }

    fn rows(&self) -> &'static [Row] {
        GROUP_ROWS
    }

    fn mention(&self, mentions: &mut Mentions, _id: ResourceId, resource: &Resource, _world: &World<'_>) {
        mentions.groups.insert(resource.name_or_title("name"));
    }

    fn model(&self, machine: &mut Machine<'_>, catalog: &Catalog, resource: &Resource) -> Model {
        group(machine, catalog, resource)
    }
}

/// What else of a user is managed, as far as it is declared.
const PROPERTIES: [&str; 6] = ["uid", "gid", "home", "shell", "comment", "password"];

pub(crate) fn user(machine: &mut Machine<'_>, catalog: &Catalog, resource: &Resource) -> Model {
    let name = resource.name_or_title("name");
    let cell = machine.user(&name);
    let program = match resource.ensure().as_deref() {
        Some("absent") => {
            let remove = remove_user(machine, catalog, resource, &name, cell);
            when(absent(cell).negate(), remove)
        }
        // Without `ensure` a user is created all the same, if any of its properties is managed.
        ensure => {
            let sync = sync_user(machine, resource, &name);
            let managed = ensure.is_some() || has_properties(resource);
            let create =
                if managed { create_user(machine, catalog, resource, &name, cell) } else { Program::Skip };
            choose(absent(cell), create, sync)
        }
    };
    Model::new(sequence(vec![program, purge_keys(machine, resource, &name)]))
}

/// Takes the keys away that no resource declares.
fn purge_keys(machine: &mut Machine<'_>, resource: &Resource, name: &str) -> Program {
    if resource.flag("purge_ssh_keys") != Some(true) {
        return Program::Skip;
    }
    let (path, entry) = machine.mentions.other_keys(name);
    let Some(path) = machine.mentions.canonical(&path, machine.world) else { return Program::Skip };
    let cell = machine.track(&path, entry);
    when(absent(cell).negate(), sequence(vec![Program::set(cell, Value::Absent), Program::Change]))
}

/// Fails if another user or group of the catalog has the number already.
fn number_is_free(
    machine: &mut Machine<'_>,
    catalog: &Catalog,
    resource: &Resource,
    number: Option<&str>,
) -> Vec<Program> {
    let allows_twice = resource.flag("allowdupe") == Some(true);
    let Some(number) = number else {
        // useradd and groupadd take `-o` only together with a number.
        let failure = allows_twice.then(|| Program::fail("`allowdupe` needs a number"));
        return failure.into_iter().collect();
    };
    let (kind, property) = match resource.type_name.as_str() {
        "User" => (CellKind::User, "uid"),
        _ => (CellKind::UserGroup, "gid"),
    };
    if allows_twice {
        return Vec::new();
    }
    let mut steps = Vec::new();
    for (_, other) in catalog.iter().filter(|(_, other)| !other.virtual_) {
        let same = other.type_name == resource.type_name && other.text(property).as_deref() == Some(number);
        let name = other.name_or_title("name");
        if !same || name == resource.name_or_title("name") {
            continue;
        }
        let cell = if kind == CellKind::User {
            machine.other(kind, &name, Some(property))
        } else {
            machine.other(CellKind::GroupNumber, &name, None)
        };
        let taken = Test::is(cell, Value::text(number));
        steps.push(when(taken, Program::fail(&format!("{name} has the number {number}"))));
    }
    steps
}

fn has_properties(resource: &Resource) -> bool {
    PROPERTIES.iter().chain(&["groups", "expiry", "members"]).any(|property| resource.has(property))
}

fn properties(machine: &mut Machine<'_>, resource: &Resource, name: &str) -> Vec<(CellId, String, String)> {
    let mut found = Vec::new();
    for property in PROPERTIES {
        let Some(value) = resource.text(property) else { continue };
        let value =
            if resource.hides(property) || property == "password" { machine.secret(&value) } else { value };
        let cell = property_cell(machine, name, property);
        found.push((cell, property.to_owned(), value));
    }
    found
}

/// A property of a user: who is not there has none.
fn property_cell(machine: &mut Machine<'_>, name: &str, property: &str) -> CellId {
    let known = machine.space.find(&CellKey::with_detail(CellKind::User, name, property));
    let cell = machine.other(CellKind::User, name, Some(property));
    if known.is_none() {
        let user = machine.user(name);
        machine.laws.push(Test::Any(vec![absent(user).negate(), absent(cell)]));
    }
    cell
}

fn groups_of(resource: &Resource) -> Vec<String> {
    let mut groups: Vec<String> = resource
        .texts("groups")
        .iter()
        .flat_map(|text| text.split(','))
        .map(|group| group.trim().to_owned())
        .collect();
    groups.retain(|group| !group.is_empty());
    groups.sort();
    groups.dedup();
    groups
}

/// What useradd asks for first.
fn needs(machine: &mut Machine<'_>, resource: &Resource) -> Vec<Program> {
    let mut steps = Vec::new();
    for group in resource.text("gid").into_iter().filter(|gid| !is_number(gid)).chain(groups_of(resource)) {
        let known = machine.group_exists(&group);
        steps.push(when(known.negate(), Program::fail(&format!("the group {group} does not exist"))));
    }
    if let Some(shell) = resource.text("shell")
        && let Some(shell) = machine.mentions.canonical(&shell, machine.world)
    {
        let there = machine.exists_if_provided(&shell);
        steps.push(when(there.negate(), Program::fail(&format!("the shell {shell} does not exist"))));
    }
    steps
}

fn create_user(
    machine: &mut Machine<'_>,
    catalog: &Catalog,
    resource: &Resource,
    name: &str,
    cell: CellId,
) -> Program {
    let mut steps = needs(machine, resource);
    let uid = resource.text("uid");
    steps.extend(number_is_free(machine, catalog, resource, uid.as_deref()));
    steps.push(settings::read(machine, resource, settings::USERS));
    steps.push(machine.made_by(name, "useradd"));
    steps.push(Program::set(cell, Value::text(PRESENT)));
    for (cell, _, value) in properties(machine, resource, name) {
        steps.push(Program::set(cell, Value::text(&value)));
    }
    let gid = resource.text("gid");
    if gid.is_none() && !machine.is_base_group(name) {
        let group = machine.group(name);
        steps.push(when(absent(group), Program::set(group, Value::text(PRESENT))));
    }
    for group in groups_of(resource) {
        let member = machine.member(name, &group);
        steps.push(Program::set(member, Value::text("member")));
    }
    if resource.flag("managehome") == Some(true)
        && let Some(home) = machine.mentions.canonical(&machine.mentions.home(name), machine.world)
    {
        steps.push(make_home(machine, &home, name, gid.as_deref()));
    }
    steps.push(Program::Change);
    sequence(steps)
}

/// The home, and what is missing above it.
pub(crate) fn make_home(machine: &mut Machine<'_>, home: &str, user: &str, gid: Option<&str>) -> Program {
    let mut above: Vec<String> = Vec::new();
    let mut at = home;
    while let Some(folder) = parent(at) {
        above.push(folder.to_owned());
        at = folder;
    }
    let mut steps = Vec::new();
    for folder in above.iter().rev() {
        if let Some(cell) = machine.path(folder) {
            let make = machine.make_directory(folder, "0755");
            steps.push(when(absent(cell), make));
        }
    }
    if let Some(cell) = machine.path(home) {
        let mut make = vec![Program::set(cell, Value::Directory)];
        make.extend(machine.set_attributes(home, "0755", user, gid.unwrap_or(user)));
        make.extend(copy_skeleton(machine, home, user, gid));
        steps.push(when(absent(cell), sequence(make)));
    }
    sequence(steps)
}

/// What a new home gets of /etc/skel, as far as the catalog names it.
fn copy_skeleton(machine: &mut Machine<'_>, home: &str, user: &str, gid: Option<&str>) -> Vec<Program> {
    let mut steps = Vec::new();
    for path in machine.below(home) {
        let Some(name) = path.strip_prefix(home).and_then(|rest| rest.strip_prefix('/')) else { continue };
        let source = format!("/etc/skel/{name}");
        let is_usual = machine.world.base.skeleton().contains(&name);
        let put = if machine.mentions.files.contains_key(&source) {
            let Some(from) = machine.path(&source) else { continue };
            let copy = machine.copy_file(&path, &source);
            (Test::Kind(from, Kind::File), copy)
        } else if is_usual {
            (Test::True, machine.write_named(&path, &format!("(as in {source})"), Origin::Elsewhere))
        } else {
            continue;
        };
        let (there, copy) = put;
        let mut steps_of_one = vec![copy];
        steps_of_one.extend(machine.set_attributes(&path, "0644", user, gid.unwrap_or(user)));
        steps.push(when(there, sequence(steps_of_one)));
    }
    steps
}

fn sync_user(machine: &mut Machine<'_>, resource: &Resource, name: &str) -> Program {
    let mut steps = Vec::new();
    let mut failures = Vec::new();
    for (cell, property, value) in properties(machine, resource, name) {
        let differs = Test::is(cell, Value::text(&value)).negate();
        let write = sequence(vec![Program::set(cell, Value::text(&value)), Program::Change]);
        if property == "gid" && !is_number(&value) {
            let known = machine.group_exists(&value);
            steps.push(when(differs.clone(), when(known.clone(), write)));
            let failure = Program::fail(&format!("the group {value} does not exist"));
            failures.push(when(differs, when(known.negate(), failure)));
        } else {
            steps.push(when(differs, write));
        }
    }
    // All groups are set with one command: one that is missing fails it.
    let groups = groups_of(resource);
    if !groups.is_empty() {
        let mut known = Vec::new();
        let mut missing = Vec::new();
        let mut writes = Vec::new();
        for group in &groups {
            known.push(machine.group_exists(group));
            let member = machine.member(name, group);
            missing.push(absent(member));
            writes.push(Program::set(member, Value::text("member")));
        }
        for group in groups_to_leave(machine, resource, name, &groups) {
            let member = machine.member(name, &group);
            missing.push(absent(member).negate());
            writes.push(Program::set(member, Value::Absent));
        }
        let known = crate::machine::all(known);
        let missing = crate::machine::any(missing);
        writes.push(Program::Change);
        steps.push(when(missing.clone(), when(known.clone(), sequence(writes))));
        failures.push(when(missing, when(known.negate(), Program::fail("one of its groups does not exist"))));
    }
    steps.extend(failures);
    sequence(steps)
}

/// Stands for the groups that nothing names.
const ANOTHER_GROUP: &str = "(another group)";

/// The groups that a user leaves whose groups are given as all.
fn groups_to_leave(
    machine: &mut Machine<'_>,
    resource: &Resource,
    name: &str,
    groups: &[String],
) -> Vec<String> {
    if resource.text("membership").as_deref() != Some("inclusive") {
        return Vec::new();
    }
    let mut found = machine.mentions.memberships(name);
    found.retain(|group| !groups.contains(group));
    let cell = machine.member(name, ANOTHER_GROUP);
    machine.stand_ins.insert(cell);
    found.push(ANOTHER_GROUP.to_owned());
    found
}

fn remove_user(
    machine: &mut Machine<'_>,
    catalog: &Catalog,
    resource: &Resource,
    name: &str,
    cell: CellId,
) -> Program {
    let mut steps = vec![Program::set(cell, Value::Absent)];
    for property in PROPERTIES {
        let key = setpoint_state::CellKey::with_detail(CellKind::User, name, property);
        if let Some(cell) = machine.space.find(&key) {
            steps.push(Program::set(cell, Value::Absent));
        }
    }
    for group in memberships(catalog, name) {
        let member = machine.member(name, &group);
        steps.push(Program::set(member, Value::Absent));
    }
    // The group of the same name goes with it.
    if !machine.is_base_group(name) {
        let group = machine.group(name);
        steps.push(Program::set(group, Value::Absent));
    }
    if resource.flag("managehome") == Some(true)
        && let Some(home) = machine.mentions.canonical(&machine.mentions.home(name), machine.world)
        && let Some(at) = machine.path(&home)
    {
        let remove = machine.remove_tree(&home);
        steps.push(when(Test::Kind(at, Kind::Directory), remove));
        let mail = mailbox(name);
        if let Some(at) = machine.path(&mail) {
            let remove = machine.remove_one(&mail);
            steps.push(when(Test::Kind(at, Kind::File), remove));
        }
    }
    steps.push(Program::Change);
    sequence(steps)
}

/// The groups that the catalog puts a user into.
fn memberships(catalog: &Catalog, user: &str) -> Vec<String> {
    catalog
        .iter()
        .filter(|(_, resource)| {
            resource.type_name.as_str() == "User" && resource.name_or_title("name") == user
        })
        .flat_map(|(_, resource)| groups_of(resource))
        .collect()
}

pub(crate) fn group(machine: &mut Machine<'_>, catalog: &Catalog, resource: &Resource) -> Model {
    let name = resource.name_or_title("name");
    let cell = machine.group(&name);
    let gid = resource.text("gid").map(|gid| (machine.other(CellKind::GroupNumber, &name, None), gid));
    let program = if resource.ensure().as_deref() == Some("absent") {
        let mut steps = Vec::new();
        for (user, has_group) in primary_users(catalog, &name) {
            let user_cell = machine.user(&user);
            let failure = Program::fail(&format!("it is the primary group of {user}"));
            let is_primary = if has_group {
                absent(user_cell).negate()
            } else {
                let group = property_cell(machine, &user, "gid");
                Test::is(group, Value::text(&name))
            };
            steps.push(when(is_primary, failure));
        }
        steps.push(Program::set(cell, Value::Absent));
        for user in machine.mentions.users.clone() {
            let key = setpoint_state::CellKey::with_detail(CellKind::UserGroup, &name, &user);
            if machine.space.find(&key).is_some() || memberships(catalog, &user).contains(&name) {
                let member = machine.member(&user, &name);
                steps.push(Program::set(member, Value::Absent));
            }
        }
        if let Some((gid, _)) = &gid {
            steps.push(Program::set(*gid, Value::Absent));
        }
        steps.push(Program::Change);
        when(absent(cell).negate(), sequence(steps))
    } else {
        let wanted = gid.as_ref().map(|(_, wanted)| wanted.as_str());
        let mut create = number_is_free(machine, catalog, resource, wanted);
        if wanted.is_none() {
            create.push(settings::read(machine, resource, settings::GROUPS));
        }
        create.push(Program::set(cell, Value::text(PRESENT)));
        let mut sync = Vec::new();
        if let Some((gid, wanted)) = &gid {
            create.push(Program::set(*gid, Value::text(wanted)));
            let write = sequence(vec![Program::set(*gid, Value::text(wanted)), Program::Change]);
            sync.push(when(Test::is(*gid, Value::text(wanted)).negate(), write));
        }
        create.push(Program::Change);
        choose(absent(cell), sequence(create), sequence(sync))
    };
    Model::new(program)
}

/// The users of the catalog whose primary group it is or may have been, and whether it is that of everyone of that name: a
/// user who is to get another one may still have it.
fn primary_users(catalog: &Catalog, group: &str) -> Vec<(String, bool)> {
    let mut users: Vec<(String, bool)> = catalog
        .iter()
        .filter(|(_, resource)| resource.type_name.as_str() == "User" && !resource.virtual_)
        .filter_map(|(_, resource)| {
            let name = resource.name_or_title("name");
            match resource.text("gid") {
                Some(primary) if primary == group => Some((name, true)),
                Some(_) if resource.ensure().as_deref() != Some("absent") => Some((name, false)),
                Some(_) => None,
                None => (name == group).then_some((name, true)),
            }
        })
        .collect();
    users.sort();
    users
}
