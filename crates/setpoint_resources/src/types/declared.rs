//! Models that the user declares in `setpoint.toml`.

use setpoint_catalog::Resource;
use setpoint_config::{Effects, Placed, Type};
use setpoint_state::{Program, Reach, Test, Value};

use super::Model;
use super::perform::perform;
use crate::World;
use crate::attributes::{Attributes, shared};
use crate::commands::Effect;
use crate::entries::Entry;
use crate::machine::{Machine, absent, sequence, when};

/// What the user says about an exec.
pub(crate) fn exec(resource: &Resource, command: &str, world: &World<'_>) -> Option<Vec<Effect>> {
    let declared = world.config.execs.iter().find(|exec| exec.matches(&resource.title, command))?;
    Some(read(&declared.effects, &|text| text.to_owned(), &format!("(as {} makes it)", resource.reference())))
}

/// Whether the user says what an exec does, and then whether a second run changes nothing more.
pub(crate) fn is_idempotent(resource: &Resource, command: &str, world: &World<'_>) -> Option<bool> {
    let declared = world.config.execs.iter().find(|exec| exec.matches(&resource.title, command));
    declared.map(|exec| exec.idempotent)
}

fn declared<'a>(resource: &Resource, world: &World<'a>) -> Option<&'a Type> {
    let name = resource.type_name.as_str().to_lowercase();
    world.config.types.iter().find(|declared| *declared.name == name)
}

pub(crate) fn is_declared(resource: &Resource, world: &World<'_>) -> bool {
    declared(resource, world).is_some()
}

/// The key of a file that the user says a resource sets.
pub(crate) fn edited(resource: &Resource, world: &World<'_>) -> Option<(String, Entry)> {
    let declared = declared(resource, world)?;
    let (path, key) = (declared.edits.as_ref()?, declared.key.as_ref()?);
    Some((fill(path, resource), Entry::Other(shared(&fill(key, resource)))))
}

/// All effects that the user declares for a resource of a type.
pub(crate) fn effects(resource: &Resource, world: &World<'_>) -> Vec<Effect> {
    let Some(declared) = declared(resource, world) else { return Vec::new() };
    let mut found = read(&declared.effects, &|text| fill(text, resource), &content(declared, resource));
    if let (Some(path), Some(_)) = (&declared.edits, &declared.key) {
        found.push(Effect::Touch(fill(path, resource)));
    }
    found
}

/// The content that a resource writes.
fn content(declared: &Type, resource: &Resource) -> String {
    if let Some(text) = &declared.content {
        return fill(text, resource);
    }
    let mut parameters: Vec<String> = resource
        .parameters
        .iter()
        .filter(|parameter| !resource.hides(parameter.name.as_str()))
        .map(|parameter| {
            format!("{} => {}", parameter.name, resource.texts(parameter.name.as_str()).join(","))
        })
        .collect();
    parameters.sort();
    format!("(as {} makes it: {})", resource.reference(), parameters.join(", "))
}

/// Puts the title and parameters of a resource into a text.
fn fill(text: &str, resource: &Resource) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        let Some((name, after)) = after.split_once('}') else {
            out.push('{');
            rest = after;
            continue;
        };
        if name == "title" {
            out.push_str(&resource.title);
        } else {
            out.push_str(&resource.text(name).unwrap_or_default());
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

fn read(effects: &Effects, text: &dyn Fn(&str) -> String, content: &str) -> Vec<Effect> {
    let texts = |list: &[Placed<String>]| list.iter().map(|entry| text(entry)).collect::<Vec<_>>();
    let mut found = Vec::new();
    found.extend(texts(&effects.needs).into_iter().map(Effect::Need));
    found.extend(texts(&effects.needs_packages).into_iter().map(Effect::NeedPackage));
    found.extend(texts(&effects.reads).into_iter().map(Effect::Read));
    found.extend(texts(&effects.directories).into_iter().map(|path| Effect::MakeDirectory {
        path,
        parents: true,
        mode: None,
    }));
    found.extend(texts(&effects.creates).into_iter().map(|path| Effect::Create { path }));
    found.extend(
        texts(&effects.writes).into_iter().map(|path| Effect::Set { path, name: content.to_owned() }),
    );
    found.extend(texts(&effects.removes).into_iter().map(|path| Effect::Remove {
        path,
        recursive: true,
        force: true,
    }));
    let packages = texts(&effects.packages);
    if !packages.is_empty() {
        found.push(Effect::InstallPackages(packages));
    }
    let packages = texts(&effects.removes_packages);
    if !packages.is_empty() {
        found.push(Effect::RemovePackages { names: packages, purge: false });
    }
    found.extend(texts(&effects.users).into_iter().map(|name| Effect::AddUser {
        name,
        group: None,
        groups: Vec::new(),
        home: None,
        system: false,
    }));
    found.extend(texts(&effects.groups).into_iter().map(|name| Effect::AddGroup { name, force: false }));
    found.extend(
        texts(&effects.restarts).into_iter().map(|name| Effect::Service { name, verb: "restart".to_owned() }),
    );
    found
}

/// The model that the user declares for a type.
pub(crate) fn model(machine: &mut Machine<'_>, resource: &Resource) -> Option<Model> {
    let declared = declared(resource, machine.world)?.clone();
    let absent_wanted = declared.ensurable && resource.ensure().as_deref() == Some("absent");
    let mut steps = Vec::new();
    let mut has_more = false;
    for effect in effects(resource, machine.world) {
        steps.push(if absent_wanted {
            let undone = undo(machine, &effect);
            has_more |= undone.is_none();
            undone.unwrap_or(Program::Skip)
        } else {
            redo(machine, &effect)
        });
    }
    if let (Some(path), Some(key)) = (&declared.edits, &declared.key) {
        let path = fill(path, resource);
        if let Some(path) = machine.mentions.canonical(&path, machine.world) {
            let cell = machine.track(&path, Entry::Other(shared(&fill(key, resource))));
            let value =
                declared.value.as_ref().map_or_else(|| "present".to_owned(), |value| fill(value, resource));
            let wanted = if absent_wanted { Value::Absent } else { Value::text(&value) };
            let write = sequence(vec![Program::set(cell, wanted.clone()), Program::Change]);
            steps.push(when(Test::is(cell, wanted).negate(), write));
        }
    }
    let model = Model::new(sequence(steps));
    let reads = effects(resource, machine.world).into_iter().filter_map(|effect| match effect {
        Effect::Read(path) => machine.mentions.canonical(&path, machine.world),
        _ => None,
    });
    let read: Vec<String> = reads.collect();
    let read: Vec<_> = read.iter().filter_map(|path| machine.path(path)).collect();
    Some(if has_more {
        model.not_known("what its absence takes away is not declared", Reach::Everything)
    } else if !read.is_empty() {
        model.not_known("what it makes of what it reads is not declared", Reach::Cells(read))
    } else {
        model
    })
}

/// Does what is declared where it is not done, and says so.
fn redo(machine: &mut Machine<'_>, effect: &Effect) -> Program {
    let done = match effect {
        Effect::Create { path } | Effect::Touch(path) | Effect::MakeDirectory { path, .. } => {
            let Some(path) = machine.mentions.canonical(path, machine.world) else { return Program::Skip };
            machine.exists(&path)
        }
        Effect::Set { path, name } => {
            let Some(path) = machine.mentions.canonical(path, machine.world) else { return Program::Skip };
            match machine.path(&path) {
                Some(cell) => Test::is(cell, Value::file(name)),
                None => Test::True,
            }
        }
        Effect::Remove { path, .. } => {
            let Some(path) = machine.mentions.canonical(path, machine.world) else { return Program::Skip };
            machine.exists(&path).negate()
        }
        Effect::AddUser { name, .. } => {
            let cell = machine.user(name);
            absent(cell).negate()
        }
        Effect::AddGroup { name, .. } => {
            let cell = machine.group(name);
            absent(cell).negate()
        }
        _ => return perform(machine, effect),
    };
    let program = perform(machine, effect);
    when(done.negate(), sequence(vec![program, Program::Change]))
}

/// Removes what would otherwise be written; `None` if that is more than paths.
fn undo(machine: &mut Machine<'_>, effect: &Effect) -> Option<Program> {
    match effect {
        Effect::Create { path } | Effect::MakeDirectory { path, .. } | Effect::Set { path, .. } => {
            let path = machine.mentions.canonical(path, machine.world)?;
            let cell = machine.path(&path)?;
            let remove = machine.remove_tree(&path);
            Some(when(absent(cell).negate(), sequence(vec![remove, Program::Change])))
        }
        // What is needed or read stays; the entry of a file is taken away beside.
        Effect::Need(_) | Effect::NeedPackage(_) | Effect::Read(_) | Effect::Touch(_) => Some(Program::Skip),
        _ => None,
    }
}
