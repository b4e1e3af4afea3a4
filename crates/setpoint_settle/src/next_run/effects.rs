//! What a step changes, as the properties that Puppet reports.

use setpoint_catalog::Resource;
use setpoint_puppet_values::{Data, Value as PuppetValue};
use setpoint_resources::{Base, Unit};
use setpoint_source::Symbol;
use setpoint_state::{CellId, CellKey, CellKind, Event, Lifetime, Run, Space, Status, StepId, Value};

use crate::words::Words;

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    pub reported: Reported,
    pub kind: EffectKind,
    /// What is so afterwards; empty where the property says it all.
    pub words: String,
}

/// How Puppet reports a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reported {
    /// As an event of this property.
    Property(String),
    /// As an event of a property that the model does not tell apart from others.
    SomeProperty,
    /// Not at all, or as an event of another resource: it comes along.
    No,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EffectKind {
    Created,
    Removed,
    Changed,
    /// A command runs.
    Ran,
}

/// What a refresh does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// A service is restarted, by this command if one is declared.
    Restart { command: Option<String> },
    /// A service reads its configuration again.
    Reload { command: String },
    /// A service is not running, so there is nothing to restart; or it was started in this run.
    NothingToRestart,
    /// A command runs.
    Run { command: String },
    /// A command does not run: its checks hold it back. Puppet reports a refresh all the same.
    HeldBack,
    /// Whatever else the type does.
    Other,
}

const ENSURE: &str = "ensure";
/// What models say of a package that is as new as can be.
const LATEST: &str = "latest";
/// What is put in the place of a command that holds a secret.
const HIDDEN: &str = "(a command that holds a secret)";

/// Returns what a step changes before it is refreshed. If `ensure` changes, Puppet reports nothing else.
pub(super) fn of(
    words: &Words<'_>,
    (space, base): (&Space, &Base),
    run: &Run,
    step: StepId,
    resource: &Resource,
) -> Vec<Effect> {
    let (writes, has_changed) = own_writes(run, step);
    let mut found: Vec<Effect> = Vec::new();
    if has_changed && let Some(effect) = of_type(resource) {
        found.push(effect);
    }
    for (cell, from, to) in writes {
        let Some(known) = space.get(cell) else { continue };
        let is_inner = matches!(known.key.kind, CellKind::Snapshot | CellKind::Loaded);
        if from == to || known.lifetime != Lifetime::Machine || is_inner {
            continue;
        }
        let kind = match (&from, &to) {
            (Value::Absent, _) => EffectKind::Created,
            (_, Value::Absent) => EffectKind::Removed,
            _ => EffectKind::Changed,
        };
        let reported = reported(resource, base, &known.key, &from, &to);
        let effect = Effect { reported, kind, words: words.fact(cell, &to).unwrap_or_default() };
        if !found.contains(&effect) {
            found.push(effect);
        }
    }
    if found.iter().any(|effect| effect.reported == Reported::Property(ENSURE.to_owned())) {
        for effect in &mut found {
            if !matches!(&effect.reported, Reported::Property(name) if name == ENSURE) {
                effect.reported = Reported::No;
            }
        }
    }
    if has_changed && found.iter().all(|effect| effect.reported == Reported::No) {
        let (reported, words) = (Reported::SomeProperty, String::new());
        found.push(Effect { reported, kind: EffectKind::Changed, words });
    }
    found
}

/// The cells that a step writes before it is refreshed, each with its first and last value, and whether it reports a change.
fn own_writes(run: &Run, step: StepId) -> (Vec<(CellId, Value, Value)>, bool) {
    let mut writes: Vec<(CellId, Value, Value)> = Vec::new();
    let mut has_changed = false;
    for event in &run.events {
        match event {
            Event::Write { step: of, cell, from, to } if *of == step => {
                match writes.iter_mut().find(|(known, ..)| known == cell) {
                    Some((_, _, last)) => *last = to.clone(),
                    None => writes.push((*cell, from.clone(), to.clone())),
                }
            }
            Event::Changed(of) if *of == step => has_changed = true,
            Event::Refresh(of) if *of == step => break,
            _ => {}
        }
    }
    (writes, has_changed)
}

/// Returns the version of a package that a step replaces by the latest one, or the other way round: they may be the same.
pub(super) fn version_beside_latest(space: &Space, run: &Run, step: StepId) -> Option<String> {
    let (writes, _) = own_writes(run, step);
    writes.into_iter().find_map(|(cell, from, to)| {
        let is_package = space.get(cell).is_some_and(|cell| cell.key.kind == CellKind::Package);
        let latest = Value::text(LATEST);
        let other = match (from == latest, to == latest) {
            (true, false) => to,
            (false, true) => from,
            _ => return None,
        };
        let Value::Text(version) = other else { return None };
        // Versions begin with a digit; a package may also be there in part.
        let is_version = version.starts_with(|char: char| char.is_ascii_digit());
        (is_package && is_version).then(|| version.to_string())
    })
}

/// What types report that change by what they do, and not by what they find.
fn of_type(resource: &Resource) -> Option<Effect> {
    let property = |name: &str| Reported::Property(name.to_owned());
    match resource.type_name.as_str() {
        "Exec" => {
            let words = command(resource, "command").unwrap_or_else(|| resource.title.to_string());
            Some(Effect { reported: property("returns"), kind: EffectKind::Ran, words })
        }
        "Notify" => {
            Some(Effect { reported: property("message"), kind: EffectKind::Changed, words: String::new() })
        }
        _ => None,
    }
}

/// The property of a resource that a change of a cell is.
fn reported(resource: &Resource, base: &Base, key: &CellKey, from: &Value, to: &Value) -> Reported {
    let property = |name: &str| Reported::Property(name.to_owned());
    let comes_or_goes = *from == Value::Absent || *to == Value::Absent;
    let own = own_name(resource, base);
    let is_own = *key.name == *own;
    match (resource.type_name.as_str(), key.kind) {
        ("File" | "Concat_file", CellKind::Path) if is_own => match (from, to) {
            (Value::File(_) | Value::Fresh(..), Value::File(_)) => property("content"),
            (Value::Link(_) | Value::Fresh(..), Value::Link(_)) => property("target"),
            _ => property(ENSURE),
        },
        ("File" | "Concat_file", CellKind::Mode) if is_own => property("mode"),
        ("File" | "Concat_file", CellKind::Owner) if is_own => property("owner"),
        ("File" | "Concat_file", CellKind::Group) if is_own => property("group"),
        ("Package", CellKind::Package) if is_own => property(ENSURE),
        ("Service", CellKind::Running) if is_own => property(ENSURE),
        ("Service", CellKind::Enabled) if is_own => property("enable"),
        ("User", CellKind::User) if is_own => property(key.detail.as_deref().unwrap_or(ENSURE)),
        ("User", CellKind::UserGroup) if key.detail.as_deref() == Some(own.as_str()) => property("groups"),
        ("Group", CellKind::UserGroup) if is_own => {
            property(if key.detail.is_some() { "members" } else { ENSURE })
        }
        ("Group", CellKind::GroupNumber) if is_own => property("gid"),
        ("Mount", CellKind::Mount) if is_own && key.detail.is_none() => property(ENSURE),
        ("File_line", CellKind::Entry) => property(ENSURE),
        ("Ini_setting" | "Ini_subsetting", CellKind::Entry) => {
            property(if comes_or_goes { ENSURE } else { "value" })
        }
        (
            "Cron" | "Host" | "Mount" | "Sshkey" | "Ssh_authorized_key" | "Mailalias",
            CellKind::Entry | CellKind::Cron | CellKind::Host | CellKind::Mount | CellKind::Key,
        ) => {
            if comes_or_goes {
                property(ENSURE)
            } else {
                Reported::SomeProperty
            }
        }
        _ => Reported::No,
    }
}

/// The name by which a resource is known on the machine.
fn own_name(resource: &Resource, base: &Base) -> String {
    let named = ["path", "name"].iter().find_map(|name| text(resource, name));
    let name = named.unwrap_or_else(|| resource.title.to_string());
    if resource.type_name.as_str() == "Service" {
        return Unit::named(&name, base.family).to_string();
    }
    let trimmed = name.trim_end_matches('/');
    if trimmed.is_empty() { name } else { trimmed.to_owned() }
}

fn text(resource: &Resource, name: &str) -> Option<String> {
    match &resource.get(name)?.data {
        Data::String(text) => Some(text.to_string()),
        _ => None,
    }
}

/// The text of a command; none if the resource does not have the parameter.
fn command(resource: &Resource, name: &'static str) -> Option<String> {
    fn joined(value: &PuppetValue) -> Option<String> {
        match &value.data {
            Data::String(text) => Some(text.to_string()),
            Data::Array(items) => {
                let words: Option<Vec<String>> = items.iter().map(joined).collect();
                Some(words?.join(" "))
            }
            Data::Sensitive(_) => Some(HIDDEN.to_owned()),
            _ => None,
        }
    }
    let value = resource.get(name)?;
    if resource.is_secret(Symbol::new(name)) { Some(HIDDEN.to_owned()) } else { joined(value) }
}

/// Whether a resource of this type is refreshed by its own change: Puppet remounts what has changed, unless it removes it.
pub(super) fn refreshes_itself(resource: &Resource) -> bool {
    resource.type_name.as_str() == "Mount" && text(resource, ENSURE).as_deref() != Some("absent")
}

/// Returns what the refresh of a step does.
pub(super) fn action(resource: &Resource, (space, base): (&Space, &Base), run: &Run, step: StepId) -> Action {
    match resource.type_name.as_str() {
        "Service" => {
            let key = CellKey::new(CellKind::Running, &own_name(resource, base));
            let runs = space.find(&key).is_some_and(|cell| *run.end.get(cell) == Value::text("running"));
            let has_refreshed = run
                .events
                .iter()
                .skip_while(|event| **event != Event::Refresh(step))
                .any(|event| matches!(event, Event::Changed(of) if *of == step));
            let failed = run.statuses.get(step.0 as usize) == Some(&Status::Failed);
            if !runs || !(has_refreshed || failed) {
                return Action::NothingToRestart;
            }
            match command(resource, "restart") {
                Some(command) if command.split_whitespace().any(|word| word.contains("reload")) => {
                    Action::Reload { command }
                }
                command => Action::Restart { command },
            }
        }
        "Exec" => {
            let command = command(resource, "refresh").or_else(|| command(resource, "command"));
            Action::Run { command: command.unwrap_or_else(|| resource.title.to_string()) }
        }
        _ => Action::Other,
    }
}
