//! `resources`.

use setpoint_catalog::{Catalog, Resource, ResourceId};
use setpoint_state::{CellId, CellKind, Program, Reach, Value};

use super::small::no_path;
use super::{Model, Type};
use crate::Assumption;
use crate::World;
use crate::attributes::{Attributes, is_number};
use crate::machine::{Machine, absent, sequence, when};
use crate::mentions::Mentions;
use crate::table::{Row, Values};

const ROWS: &[Row] = &[
    Row::modelled("name"),
    Row::modelled("purge").words(&["true", "false", "yes", "no"]),
    Row::modelled("unless_system_user").of(Values::Single),
    Row::modelled("unless_uid"),
];

pub(crate) struct Resources;

impl Type for Resources {
    fn name(&self) -> &'static str {
        "Resources"
    }

    fn rows(&self) -> &'static [Row] {
        ROWS
    }

    fn mention(&self, mentions: &mut Mentions, _id: ResourceId, resource: &Resource, world: &World<'_>) {
        let purged = resource.name_or_title("name").to_lowercase();
        if resource.flag("purge") == Some(true)
            && let Some((path, entry)) = mentions.rest(&purged)
        {
            mentions.add_entry(&path, entry, world);
        }
    }

    fn model(&self, machine: &mut Machine<'_>, catalog: &Catalog, resource: &Resource) -> Model {
        resources(machine, catalog, resource)
    }
}

/// `resources { 'host': purge => true }` removes what no resource of the type declares.
fn resources(machine: &mut Machine<'_>, catalog: &Catalog, resource: &Resource) -> Model {
    if resource.flag("purge") != Some(true) {
        return Model::nothing();
    }
    let purged = resource.name_or_title("name").to_lowercase();
    if let Some((path, entry)) = machine.mentions.rest(&purged) {
        let Some(path) = machine.mentions.canonical(&path, machine.world) else { return no_path() };
        let cell = machine.track(&path, entry);
        let remove = sequence(vec![Program::set(cell, Value::Absent), Program::Change]);
        let model = Model::new(when(absent(cell).negate(), remove));
        return match machine.seen_twice(&path, cell) {
            Some(cells) => model.not_known("others see the same line in another way", Reach::Cells(cells)),
            None => model,
        };
    }
    let kind = match purged.as_str() {
        "user" => CellKind::User,
        "group" => CellKind::UserGroup,
        "package" => CellKind::Package,
        "ssh_authorized_key" => CellKind::Key,
        _ => CellKind::Other,
    };
    // One that no resource declares stands for all.
    let cell = machine.other(kind, &format!("(another {purged})"), None);
    machine.stand_ins.insert(cell);
    // Accounts that the catalog names are followed, and without `unless_system_user` those of the platform go, too.
    let is_followed =
        matches!(kind, CellKind::User | CellKind::UserGroup) && resource.has("unless_system_user");
    if !is_followed {
        machine.assume(Assumption::Purged { type_name: purged.clone() });
    }
    let remove = |cell| {
        let remove = sequence(vec![Program::set(cell, Value::Absent), Program::Change]);
        when(absent(cell).negate(), remove)
    };
    let mut steps = vec![remove(cell)];
    let spares = |name: &str| {
        resource.flag("unless_system_user") != Some(false)
            && resource.has("unless_system_user")
            && machine.mentions.system_users.contains(name)
    };
    let spared: Vec<String> = machine.mentions.users.iter().filter(|name| spares(name)).cloned().collect();
    let others = undeclared(machine, catalog, kind, &spared);
    steps.extend(others.iter().copied().map(remove));
    let model = Model::new(sequence(steps));
    if !others.is_empty() && resource.has("unless_uid") {
        return model.not_known("which numbers its users have is not known", Reach::Cells(others));
    }
    model
}

/// The users or groups that commands make and no resource declares.
fn undeclared(
    machine: &mut Machine<'_>,
    catalog: &Catalog,
    kind: CellKind,
    spared: &[String],
) -> Vec<CellId> {
    let (type_name, named) = match kind {
        CellKind::User => ("User", machine.mentions.users.clone()),
        CellKind::UserGroup => ("Group", machine.mentions.groups.clone()),
        _ => return Vec::new(),
    };
    let parameters: &[&str] =
        if kind == CellKind::User { &["owner", "user"] } else { &["group", "gid", "groups"] };
    let mut named = named;
    for (_, resource) in catalog.iter().filter(|(_, resource)| !resource.virtual_) {
        named.extend(parameters.iter().flat_map(|name| resource.texts(name)).filter(|name| !is_number(name)));
    }
    let is_declared = |name: &String| {
        catalog
            .iter()
            .any(|(_, one)| one.type_name.as_str() == type_name && one.name_or_title("name") == *name)
    };
    let mut found = Vec::new();
    for name in named {
        let is_base =
            if kind == CellKind::User { machine.is_base_user(&name) } else { machine.is_base_group(&name) };
        if !is_base && !is_declared(&name) && !spared.contains(&name) {
            found.push(if kind == CellKind::User { machine.user(&name) } else { machine.group(&name) });
        }
    }
    found
}
