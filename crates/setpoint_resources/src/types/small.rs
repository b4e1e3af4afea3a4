//! Types with little to say.

use setpoint_catalog::Resource;
use setpoint_puppet_values::Data;
use setpoint_state::{CellId, CellKey, CellKind, Kind, Program, Reach, Test, Value};

use super::Model;
use crate::attributes::{Attributes, shared};
use crate::machine::{Machine, absent, all, any, choose, sequence, when};
use crate::{Assumption, Origin};

/// `notify` says its message in every run, which is a change.
pub(crate) fn notify() -> Model {
    Model::new(Program::Change)
}

/// A resource without a path that can be followed.
fn no_path() -> Model {
    Model::nothing()
        .not_known("its path is not absolute, or is a directory of the platform", Reach::Everything)
}

/// `tidy` removes files below a directory by age, size or name.
pub(crate) fn tidy(machine: &mut Machine<'_>, resource: &Resource) -> Model {
    let Some(path) = machine.mentions.canonical(&resource.name_or_title("path"), machine.world) else {
        return no_path();
    };
    let mut cells: Vec<CellId> = machine.path(&path).into_iter().collect();
    for below in machine.below(&path) {
        cells.extend(machine.path(&below));
    }
    Model::nothing().not_known("what it removes depends on age and size", Reach::Cells(cells))
}

/// `resources { 'host': purge => true }` removes what no resource of the type declares.
pub(crate) fn resources(machine: &mut Machine<'_>, resource: &Resource) -> Model {
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
    machine.assume(Assumption::Purged { type_name: purged });
    let remove = sequence(vec![Program::set(cell, Value::Absent), Program::Change]);
    Model::new(when(absent(cell).negate(), remove))
}

/// `archive`: a file that is fetched, and extracted.
pub(crate) fn archive(machine: &mut Machine<'_>, resource: &Resource) -> Model {
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
    let mut steps = vec![super::perform::make_directories(machine, &path)];
    match super::file::local_source(&source).and_then(|local| canonical(machine, local)) {
        Some(from) => {
            let there = machine.exists(&from);
            steps.push(when(there.negate(), Program::fail(&format!("{from} does not exist"))));
            steps.push(machine.copy_file(&path, &from));
        }
        None => steps.push(machine.write_named(&path, &format!("(as in {source})"), Origin::Elsewhere)),
    }
    steps.extend(machine.set_attributes(&path, "0644", "root", "root"));
    let mut unknown = None;
    if resource.flag("extract") == Some(true) {
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

/// `vcsrepo`: a directory with a checkout.
pub(crate) fn vcsrepo(machine: &mut Machine<'_>, resource: &Resource) -> Model {
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
        let mut clone = Vec::new();
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

/// The owner of a checkout is set once it is there.
fn owned(machine: &mut Machine<'_>, resource: &Resource) -> Program {
    let Some(owner) = resource.text("owner") else { return Program::Skip };
    let known = machine.user_exists(&owner);
    when(known.negate(), Program::fail(&format!("the user {owner} does not exist")))
}

/// A type that nothing is known of: it may touch what its parameters name, and what is of its own type.
pub(crate) fn unmodelled(machine: &mut Machine<'_>, resource: &Resource) -> Model {
    let type_name = resource.type_name.as_str();
    machine.assume(Assumption::UnmodelledType { type_name: type_name.to_owned() });
    let mut cells = vec![machine.space.cell(CellKey::new(CellKind::Other, type_name), &[Kind::Text])];
    for parameter in &resource.parameters {
        if let Data::String(text) = &parameter.value.data
            && text.starts_with('/')
            && let Some(path) = machine.mentions.canonical(text, machine.world)
            && machine.mentions.is_named(&path)
        {
            cells.extend(machine.path(&path));
        }
    }
    cells.sort_unstable();
    cells.dedup();
    Model::nothing().not_known(&format!("the type {type_name} has no model"), Reach::Cells(cells))
}
