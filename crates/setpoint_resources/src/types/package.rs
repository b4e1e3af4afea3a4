//! `package`.

use setpoint_catalog::Resource;
use setpoint_state::{CellId, Program, Reach, Test, Value};

use super::Model;
use crate::Assumption;
use crate::attributes::Attributes;
use crate::machine::{CONFIG_FILES, LATEST, Machine, absent, any, choose, installed, sequence, when};

/// The package that a resource names.
pub(crate) fn name(resource: &Resource) -> String {
    resource.name_or_title("name")
}

/// The providers of the platform's own packages; others (`gem`, `pip`) keep books of their own.
fn is_of_the_platform(provider: Option<&str>) -> bool {
    provider.is_none_or(|provider| {
        ["apt", "aptitude", "dpkg", "yum", "dnf", "rpm", "zypper", "dnfmodule"].contains(&provider)
    })
}

pub(crate) fn model(machine: &mut Machine<'_>, resource: &Resource) -> Model {
    let asked = name(resource);
    let provider = resource.text("provider");
    if !is_of_the_platform(provider.as_deref()) {
        return foreign(machine, &asked, provider.as_deref().unwrap_or_default(), resource);
    }
    let name = machine.packages.real_name(&asked);
    let cell = machine.package(&name);
    let ensure = resource.ensure().unwrap_or_else(|| "present".to_owned());
    // Providers list what is installed once, before the first package; what is not listed is asked for in its turn.
    let (prefetch, seen) = snapshot(machine, &name, cell);
    let there = any(vec![installed(seen), installed(cell)]);
    let change = match ensure.as_str() {
        "present" | "installed" | "true" => {
            let install = machine.install(&name, LATEST);
            when(there.negate(), sequence(vec![install, Program::Change]))
        }
        "absent" | "false" => {
            let remove = machine.uninstall(&name, false);
            // What the list has is removed, also if it has gone since.
            when(there, sequence(vec![remove, Program::Change]))
        }
        "purged" => {
            let remove = machine.uninstall(&name, true);
            let left = any(vec![
                there,
                Test::is(seen, Value::text(CONFIG_FILES)),
                Test::is(cell, Value::text(CONFIG_FILES)),
            ]);
            when(left, sequence(vec![remove, Program::Change]))
        }
        // A word of older Puppets; now it is a version that no package has.
        "held" => Program::fail("no package has the version `held`"),
        version => {
            let version = if version == "latest" { LATEST } else { version };
            let install = machine.install(&name, version);
            let at = |cell: CellId| Test::is(cell, Value::text(version));
            choose(
                installed(seen),
                when(at(seen).negate(), sequence(vec![install.clone(), Program::Change])),
                when(at(cell).negate(), sequence(vec![install, Program::Change])),
            )
        }
    };
    // A notification does nothing to a package, and is passed on all the same.
    let mut model = Model::new(sequence(vec![prefetch, change])).refreshed_by(Program::Change);
    machine.assume_package(&name);
    if machine.packages.is_unknown(&asked) {
        let reach = machine.bearing(&asked);
        let reason = format!("no index knows what the package {asked} installs");
        model = model.not_known(&reason, Reach::Cells(reach));
    }
    model
}

/// What the provider read when the first package had its turn.
fn snapshot(machine: &mut Machine<'_>, name: &str, cell: CellId) -> (Program, CellId) {
    // Only another resource that installs or removes the package makes the list differ from the machine.
    if !machine.is_shared_package(name) {
        return (Program::Skip, cell);
    }
    let seen = machine.scratch("package", name, Value::Absent);
    let taken = machine.scratch("package", "(read)", Value::Absent);
    let mut reads = vec![Program::set(taken, Value::text("yes"))];
    for other in machine.shared_packages() {
        let cell = machine.package(&other);
        let seen = machine.scratch("package", &other, Value::Absent);
        reads.push(Program::copy(seen, cell));
    }
    (when(absent(taken), sequence(reads)), seen)
}

/// A package of another manager: only its own state is known.
fn foreign(machine: &mut Machine<'_>, name: &str, provider: &str, resource: &Resource) -> Model {
    let cell = machine.other(setpoint_state::CellKind::Package, name, Some(provider));
    let ensure = resource.ensure().unwrap_or_else(|| "present".to_owned());
    let program = match ensure.as_str() {
        "present" | "installed" | "true" => {
            when(absent(cell), sequence(vec![Program::set(cell, Value::text(LATEST)), Program::Change]))
        }
        "absent" | "purged" | "false" => {
            when(absent(cell).negate(), sequence(vec![Program::set(cell, Value::Absent), Program::Change]))
        }
        version => when(
            Test::is(cell, Value::text(version)).negate(),
            sequence(vec![Program::set(cell, Value::text(version)), Program::Change]),
        ),
    };
    machine.assume(Assumption::ForeignPackage { package: name.to_owned(), provider: provider.to_owned() });
    let mut model = Model::new(program).refreshed_by(Program::Change);
    // The manager itself may come with a package of the catalog.
    let tool = match provider {
        "gem" | "puppet_gem" => "/usr/bin/gem",
        "pip" | "pip3" => "/usr/bin/pip3",
        "npm" => "/usr/bin/npm",
        _ => return model,
    };
    model.suitable = machine.exists_if_provided(tool);
    model
}
