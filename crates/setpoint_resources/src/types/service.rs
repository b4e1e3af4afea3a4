//! `service`.

use setpoint_catalog::{Catalog, Resource, ResourceId};
use setpoint_commands::Surroundings;
use setpoint_state::{CellId, CellKey, CellKind, Kind, Program, Reach, Test, Value};

use super::perform::perform;
use super::{Model, Type};
use crate::attributes::Attributes;
use crate::commands;
use crate::machine::{Machine, absent, all, any, choose, sequence, when};
use crate::mentions::Mentions;
use crate::table::{Row, Scope, Values};
use crate::{Unit, World, settings};

pub(crate) const RUNNING: &str = "running";
const STOPPED: &str = "stopped";

const OTHER_PLATFORM: &str = "only other platforms look at it";
const BY_SYSTEMD: &str = "systemd is asked, and not the process table or a script";

const ROWS: &[Row] = &[
    Row::modelled("name").of(Values::Single),
    Row::modelled("ensure").words(&["running", "stopped", "true", "false"]),
    Row::modelled("enable").words(&["true", "false", "mask"]),
    Row::open("enable", Scope::Own),
    Row::moot("logonaccount", OTHER_PLATFORM),
    Row::moot("logonpassword", OTHER_PLATFORM),
    Row::moot("flags", OTHER_PLATFORM),
    Row::moot("binary", BY_SYSTEMD),
    Row::moot("hasstatus", BY_SYSTEMD),
    Row::moot("path", BY_SYSTEMD),
    Row::moot("pattern", BY_SYSTEMD),
    Row::modelled("restart").of(Values::Single),
    Row::modelled("start").of(Values::Single),
    Row::modelled("status").of(Values::Single),
    Row::modelled("stop").of(Values::Single),
    Row::moot("control", OTHER_PLATFORM),
    Row::moot("hasrestart", BY_SYSTEMD),
    Row::moot("manifest", OTHER_PLATFORM),
    Row::inert("timeout", "how long Puppet waits"),
    Row::inert("provider", "what Puppet does anyway").words(&["systemd"]),
    Row::open("provider", Scope::Own),
];

/// `service`.
pub(crate) struct Service;

impl Type for Service {
    fn name(&self) -> &'static str {
        "Service"
    }

    fn rows(&self) -> &'static [Row] {
        ROWS
    }

    fn mention(&self, mentions: &mut Mentions, _id: ResourceId, resource: &Resource, world: &World<'_>) {
        mentions.service(&unit_of(resource, world), world);
        for command in ["start", "stop", "restart"].iter().filter_map(|name| resource.text(name)) {
            for effect in commands::effects(&command, Surroundings::default()).unwrap_or_default() {
                for leaf in effect.leaves() {
                    mentions.effect(leaf, world);
                }
            }
        }
        if let Some(Ok(question)) =
            resource.text("status").map(|check| commands::question(&check, Surroundings::default()))
        {
            mentions.question(&question, world);
        }
    }

    fn model(&self, machine: &mut Machine<'_>, catalog: &Catalog, resource: &Resource) -> Model {
        model(machine, catalog, resource)
    }

    fn declares(&self, _resource: &Resource, _path: Option<&str>, key: &CellKey) -> bool {
        matches!(key.kind, CellKind::Running | CellKind::Enabled)
    }
}

/// The service that a resource manages.
pub(crate) fn unit_of(resource: &Resource, world: &World<'_>) -> Unit {
    Unit::named(&resource.name_or_title("name"), world.base.family)
}

pub(crate) fn running_cell(machine: &mut Machine<'_>, name: &Unit) -> CellId {
    let key = CellKey::new(CellKind::Running, name.as_str());
    let new = machine.space.find(&key).is_none();
    let cell = machine.space.cell(key, &[Kind::Text]);
    if new {
        let running = Test::is(cell, Value::text(RUNNING));
        machine.laws.push(Test::Any(vec![running.clone(), Test::is(cell, Value::text(STOPPED))]));
        machine.space.set_plain(cell, Value::text(STOPPED));
        if !machine.world.any_start {
            let unit = unit_exists(machine, name);
            if unit != Test::True {
                machine.start.push(Test::Any(vec![running.negate(), unit]));
            }
        }
        for (part, file) in loaded_parts(machine, name) {
            loaded_cell(machine, name, &part, file, cell);
        }
    }
    cell
}

pub(crate) fn enabled_cell(machine: &mut Machine<'_>, name: &Unit) -> CellId {
    let key = CellKey::new(CellKind::Enabled, name.as_str());
    let new = machine.space.find(&key).is_none();
    let cell = machine.space.cell(key, &[Kind::Text]);
    if new {
        let is = |value: &str| Test::is(cell, Value::text(value));
        machine.laws.push(Test::Any(vec![is("true"), is("false"), is("mask")]));
        if !machine.world.any_start {
            machine.start.push(Test::Any(vec![is("true"), is("false")]));
            let unit = unit_exists(machine, name);
            if unit != Test::True {
                machine.start.push(Test::Any(vec![is("true").negate(), unit]));
            }
        }
    }
    cell
}

/// What a service has loaded of a file, or of an entry of it. A service that is stopped has loaded nothing; one that runs at the
/// start has loaded what is there.
fn loaded_cell(machine: &mut Machine<'_>, name: &Unit, part: &str, file: CellId, running: CellId) -> CellId {
    let key = CellKey::with_detail(CellKind::Loaded, name.as_str(), part);
    let known = machine.space.find(&key);
    let kinds = [Kind::Absent, Kind::File, Kind::Directory, Kind::Link, Kind::Text];
    let cell = machine.space.cell(key, &kinds);
    if known.is_none() {
        let is_running = Test::is(running, Value::text(RUNNING));
        machine.laws.push(Test::Any(vec![is_running.clone(), absent(cell)]));
        if !machine.world.any_start {
            machine.start.push(Test::Any(vec![is_running.negate(), Test::same(cell, file)]));
        }
    }
    cell
}

/// What a service loads: files, and the entries of them that others edit, each with the name of what is loaded. The name of an
/// entry is that of its file and its own, on two lines.
fn loaded_parts(machine: &mut Machine<'_>, name: &Unit) -> Vec<(String, CellId)> {
    let mut found = Vec::new();
    for path in loads(machine, name) {
        found.extend(machine.path(&path).map(|file| (path.clone(), file)));
        for tracked in machine.tracked(&path) {
            let key = tracked.entry.key(&path);
            if let (CellKind::Entry, Some(detail)) = (key.kind, &key.detail) {
                found.push((format!("{path}\n{detail}"), tracked.cell));
            }
        }
    }
    // What it has opened stays where it was before something was mounted there.
    for (point, mount) in machine.mentions.mount_points.clone() {
        if machine.packages.service_has_below(name, &point) {
            let mounted = super::parsed::mounted_cell(machine, &mount);
            found.push((format!("what is mounted at {point}"), mounted));
        }
    }
    found
}

/// The managed files that a service loads.
pub(crate) fn loads(machine: &Machine<'_>, name: &Unit) -> Vec<String> {
    machine.loads.get(name).cloned().unwrap_or_default()
}

/// A unit or script is there. Without one in the catalog the platform has it or not.
pub(crate) fn unit_exists(machine: &mut Machine<'_>, name: &Unit) -> Test {
    let all = name.paths();
    let mut paths: Vec<String> = all.iter().filter(|path| machine.is_provided(path)).cloned().collect();
    if paths.is_empty() {
        if !all.iter().any(|path| machine.mentions.files.contains_key(path)) {
            return machine.unit_of_the_platform(name);
        }
        // One may be taken away, and another still be there.
        paths = all;
    }
    any(paths.iter().map(|path| machine.exists(path)).collect())
}

/// The service runs, and has loaded what is there; it does not where something is missing that its unit names and that the
/// catalog brings.
pub(crate) fn load(machine: &mut Machine<'_>, name: &Unit) -> Vec<Program> {
    let running = running_cell(machine, name);
    let mut writes = vec![Program::set(running, Value::text(RUNNING))];
    for (part, file) in loaded_parts(machine, name) {
        let loaded = loaded_cell(machine, name, &part, file, running);
        writes.push(Program::copy(loaded, file));
    }
    let unit = machine.mentions.unit_file(name);
    if unit.ends {
        writes = vec![stop(machine, name)];
    }
    let environments = brought(machine, &unit.environments);
    let mut needs = brought(machine, &unit.paths);
    needs.extend(unit.programs.iter().map(|path| super::exec::may_be_run(machine, path)));
    needs.retain(|test| *test != Test::True);
    if let Some(user) = unit.user.filter(|user| is_brought_user(machine, user)) {
        needs.push(absent(machine.user(&user)).negate());
    }
    for group in unit.groups.iter().filter(|group| is_brought_group(machine, group)).collect::<Vec<_>>() {
        needs.push(absent(machine.group(group)).negate());
    }
    let mut steps = Vec::new();
    let named = |one: &String| Unit::named(one, machine.world.base.family);
    let others: Vec<Unit> = unit.triggers.iter().chain(&unit.requires).map(named).collect();
    for other in others {
        // One that the catalog does not bring the platform has.
        if other.paths().iter().any(|path| machine.is_provided(path)) {
            let there = unit_exists(machine, &other);
            let failure = format!("the unit {other} that it needs is not there");
            steps.push(when(there.negate(), Program::fail(&failure)));
        }
    }
    if !environments.is_empty() {
        let failure = Program::fail("a file that its unit names as its environment is not there");
        steps.push(when(all(environments).negate(), failure));
    }
    if needs.is_empty() {
        steps.extend(writes);
        return steps;
    }
    // A simple service counts as started once there is a process for it, and is found dead a moment later.
    let broken = if unit.tells_failures {
        Program::fail("a program, a folder or a user that its unit names is not there")
    } else {
        stop(machine, name)
    };
    steps.push(choose(all(needs), sequence(writes), broken));
    steps
}

/// Those of the paths that the catalog brings are there.
fn brought(machine: &mut Machine<'_>, paths: &[String]) -> Vec<Test> {
    let canonical = |path: &String| machine.mentions.canonical(path, machine.world);
    let paths: Vec<String> =
        paths.iter().filter_map(canonical).filter(|path| machine.is_provided(path)).collect();
    paths.iter().map(|path| machine.leads(path)).collect()
}

fn is_brought_user(machine: &Machine<'_>, user: &str) -> bool {
    !machine.is_base_user(user)
        && (machine.mentions.users.contains(user) || machine.packages.users.contains(user))
}

fn is_brought_group(machine: &Machine<'_>, group: &str) -> bool {
    !machine.is_base_group(group)
        && (machine.mentions.groups.contains(group)
            || machine.mentions.users.contains(group)
            || machine.packages.groups.contains(group))
}

/// Starts a service that does not run.
pub(crate) fn start(machine: &mut Machine<'_>, name: &Unit) -> Program {
    let running = running_cell(machine, name);
    let load = load(machine, name);
    when(Test::is(running, Value::text(RUNNING)).negate(), sequence(load))
}

pub(crate) fn stop(machine: &mut Machine<'_>, name: &Unit) -> Program {
    let running = running_cell(machine, name);
    let mut writes = vec![Program::set(running, Value::text(STOPPED))];
    for (part, file) in loaded_parts(machine, name) {
        let loaded = loaded_cell(machine, name, &part, file, running);
        writes.push(Program::set(loaded, Value::Absent));
    }
    sequence(writes)
}

/// A command that the resource has in place of one of systemd's.
enum Command {
    /// Systemd is asked.
    Systemd,
    Own(Program),
    /// What it does is not understood.
    Unread(String),
}

impl Command {
    fn of(machine: &mut Machine<'_>, resource: &Resource, name: &str) -> Self {
        match resource.text(name).map(|command| commands::effects(&command, Surroundings::default())) {
            None => Self::Systemd,
            Some(Ok(effects)) => {
                Self::Own(sequence(effects.iter().map(|one| perform(machine, one)).collect()))
            }
            Some(Err(reason)) => Self::Unread(reason),
        }
    }

    fn or(self, systemd: Program) -> Program {
        match self {
            Self::Systemd => systemd,
            Self::Own(program) => program,
            Self::Unread(_) => Program::Skip,
        }
    }

    fn unread(&self) -> Option<String> {
        match self {
            Self::Unread(reason) => Some(reason.clone()),
            _ => None,
        }
    }
}

fn model(machine: &mut Machine<'_>, catalog: &Catalog, resource: &Resource) -> Model {
    let name = unit_of(resource, machine.world);
    let running = running_cell(machine, &name);
    let mut unread = None;
    let is_running =
        match resource.text("status").map(|check| commands::question(&check, Surroundings::default())) {
            None => Test::is(running, Value::text(RUNNING)),
            Some(Ok(question)) => super::exec::ask(machine, &question),
            Some(Err(reason)) => {
                unread = Some(reason);
                Test::is(running, Value::text(RUNNING))
            }
        };
    let unit = unit_exists(machine, &name);
    let own = |verb: &str| Command::of(machine, resource, verb);
    let [start_by, stop_by, restart_by] = ["start", "stop", "restart"].map(own);
    let unread =
        [&start_by, &stop_by, &restart_by].into_iter().filter_map(Command::unread).chain(unread).next();
    let by_own_start = !matches!(start_by, Command::Systemd);
    // Whether a command of one's own starts what systemd is asked about is not known.
    let unrelated = !resource.has("status") && (by_own_start || resource.has("stop"));
    let started = machine.scratch("started", name.as_str(), Value::Absent);
    let missing = || Program::fail("it has no unit and no script");
    let named = settings::read_for_service(machine, catalog, resource, &name);
    let load = sequence(vec![named, sequence(load(machine, &name))]);
    let mut steps = Vec::new();
    match resource.ensure().as_deref() {
        Some("running" | "true") => {
            let by_systemd = sequence(vec![when(unit.clone().negate(), missing()), load.clone()]);
            // What is started in its turn is not restarted.
            let start =
                vec![start_by.or(by_systemd), Program::set(started, Value::text("yes")), Program::Change];
            steps.push(when(is_running.clone().negate(), sequence(start)));
        }
        Some("stopped" | "false") => {
            let by_systemd = stop(machine, &name);
            steps.push(when(is_running.clone(), sequence(vec![stop_by.or(by_systemd), Program::Change])));
        }
        _ => {}
    }
    if let Some(enable) = resource.text("enable") {
        let enabled = enabled_cell(machine, &name);
        let wanted = if ["true", "mask"].contains(&enable.as_str()) { enable } else { "false".to_owned() };
        let write = sequence(vec![Program::set(enabled, Value::text(&wanted)), Program::Change]);
        let differs = Test::is(enabled, Value::text(&wanted)).negate();
        let set = match wanted.as_str() {
            "true" => sequence(vec![when(unit.clone().negate(), missing()), write]),
            // Without a unit it is not enabled.
            "false" => when(unit.clone(), write),
            _ => write,
        };
        // A service that could not be started is not enabled either: Puppet does that as part of the start.
        steps.push(when(differs, set));
    }
    let by_systemd = sequence(vec![
        when(unit.negate(), Program::fail("it cannot be restarted: it has no unit and no script")),
        load,
    ]);
    let reload = restart_by.or(by_systemd);
    let refresh = choose(
        all(vec![absent(started)]),
        sequence(vec![when(is_running, reload), Program::Change]),
        Program::Skip,
    );
    let model = Model::new(sequence(steps)).refreshed_by(refresh);
    match unread {
        Some(reason) => model.not_known(&reason, Reach::Everything),
        None if unrelated => {
            let cells = model.touched();
            model.not_known(
                "whether its own command starts what systemd sees is not known",
                Reach::Cells(cells),
            )
        }
        None => model,
    }
}
