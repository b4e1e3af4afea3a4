//! `service`.

use setpoint_catalog::Resource;
use setpoint_state::{CellId, CellKey, CellKind, Kind, Program, Test, Value};

use super::Model;
use crate::Assumption;
use crate::attributes::Attributes;
use crate::machine::{Machine, absent, all, any, choose, sequence, when};

pub(crate) const RUNNING: &str = "running";
const STOPPED: &str = "stopped";

/// Where a unit or a script of a service may be.
pub(crate) fn unit_paths(name: &str) -> Vec<String> {
    let unit = if name.rsplit_once('.').is_some_and(|(_, kind)| UNITS.contains(&kind)) {
        name.to_owned()
    } else {
        format!("{name}.service")
    };
    vec![
        format!("/etc/systemd/system/{unit}"),
        format!("/usr/lib/systemd/system/{unit}"),
        format!("/etc/init.d/{name}"),
    ]
}

const UNITS: [&str; 6] = ["service", "socket", "timer", "path", "target", "mount"];

pub(crate) fn running_cell(machine: &mut Machine<'_>, name: &str) -> CellId {
    let key = CellKey::new(CellKind::Running, name);
    let new = machine.space.find(&key).is_none();
    let cell = machine.space.cell(key, &[Kind::Text]);
    if new {
        let running = Test::is(cell, Value::text(RUNNING));
        machine.laws.push(Test::Any(vec![running.clone(), Test::is(cell, Value::text(STOPPED))]));
        if !machine.world.any_start {
            let unit = unit_exists(machine, name);
            if unit != Test::True {
                machine.start.push(Test::Any(vec![running.negate(), unit]));
            }
        }
        for path in loads(machine, name) {
            loaded_cell(machine, name, &path, cell);
        }
    }
    cell
}

pub(crate) fn enabled_cell(machine: &mut Machine<'_>, name: &str) -> CellId {
    let key = CellKey::new(CellKind::Enabled, name);
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

/// What a service has loaded of a file. A service that is stopped has loaded nothing; one that runs at the start has loaded
/// what is there.
fn loaded_cell(machine: &mut Machine<'_>, name: &str, path: &str, running: CellId) -> CellId {
    let key = CellKey::with_detail(CellKind::Loaded, name, path);
    let known = machine.space.find(&key);
    let cell = machine.space.cell(key, &[Kind::Absent, Kind::File, Kind::Directory, Kind::Link]);
    if known.is_none() {
        let is_running = Test::is(running, Value::text(RUNNING));
        machine.laws.push(Test::Any(vec![is_running.clone(), absent(cell)]));
        if !machine.world.any_start
            && let Some(file) = machine.path(path)
        {
            machine.start.push(Test::Any(vec![is_running.negate(), Test::same(cell, file)]));
        }
    }
    cell
}

/// The managed files that a service loads.
pub(crate) fn loads(machine: &Machine<'_>, name: &str) -> Vec<String> {
    machine.loads.get(name).cloned().unwrap_or_default()
}

/// A unit or script is there. Without one in the catalog the platform is taken to have it.
pub(crate) fn unit_exists(machine: &mut Machine<'_>, name: &str) -> Test {
    let all = unit_paths(name);
    let mut paths: Vec<String> = all.iter().filter(|path| machine.is_provided(path)).cloned().collect();
    if paths.is_empty() {
        if !all.iter().any(|path| machine.mentions.files.contains_key(path)) {
            return Test::True;
        }
        // One may be taken away, and another still be there.
        paths = all;
    }
    any(paths.iter().map(|path| machine.exists(path)).collect())
}

/// Adds the assumption that a service has a unit, where its existence is no question.
pub(crate) fn assume_unit(machine: &mut Machine<'_>, name: &str, exists: &Test) {
    if *exists == Test::True {
        machine.assume(Assumption::ExistingUnit { service: name.to_owned() });
    }
}

/// The service runs, and has loaded what is there.
pub(crate) fn load(machine: &mut Machine<'_>, name: &str) -> Vec<Program> {
    let running = running_cell(machine, name);
    let mut writes = vec![Program::set(running, Value::text(RUNNING))];
    for path in loads(machine, name) {
        let loaded = loaded_cell(machine, name, &path, running);
        if let Some(file) = machine.path(&path) {
            writes.push(Program::copy(loaded, file));
        }
    }
    writes
}

/// Starts a service that does not run.
pub(crate) fn start(machine: &mut Machine<'_>, name: &str) -> Program {
    let running = running_cell(machine, name);
    let load = load(machine, name);
    when(Test::is(running, Value::text(RUNNING)).negate(), sequence(load))
}

pub(crate) fn stop(machine: &mut Machine<'_>, name: &str) -> Program {
    let running = running_cell(machine, name);
    let mut writes = vec![Program::set(running, Value::text(STOPPED))];
    for path in loads(machine, name) {
        let loaded = loaded_cell(machine, name, &path, running);
        writes.push(Program::set(loaded, Value::Absent));
    }
    sequence(writes)
}

pub(crate) fn model(machine: &mut Machine<'_>, resource: &Resource) -> Model {
    let name = resource.name_or_title("name");
    let running = running_cell(machine, &name);
    let is_running = Test::is(running, Value::text(RUNNING));
    let unit = unit_exists(machine, &name);
    let started = machine.scratch("started", &name, Value::Absent);
    let missing = || Program::fail("it has no unit and no script");
    if matches!(resource.ensure().as_deref(), Some("running" | "true"))
        || matches!(resource.text("enable").as_deref(), Some("true"))
    {
        assume_unit(machine, &name, &unit);
    }
    let mut steps = Vec::new();
    match resource.ensure().as_deref() {
        Some("running" | "true") => {
            let mut start = vec![when(unit.clone().negate(), missing())];
            start.extend(load(machine, &name));
            // What is started in its turn is not restarted.
            start.extend([Program::set(started, Value::text("yes")), Program::Change]);
            steps.push(when(is_running.clone().negate(), sequence(start)));
        }
        Some("stopped" | "false") => {
            let stop = stop(machine, &name);
            steps.push(when(is_running.clone(), sequence(vec![stop, Program::Change])));
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
    let reload = sequence(vec![
        when(unit.negate(), Program::fail("it cannot be restarted: it has no unit and no script")),
        sequence(load(machine, &name)),
    ]);
    let refresh = choose(
        all(vec![absent(started)]),
        sequence(vec![when(is_running, reload), Program::Change]),
        Program::Skip,
    );
    let apply = sequence(steps);
    Model::new(apply).refreshed_by(refresh)
}
