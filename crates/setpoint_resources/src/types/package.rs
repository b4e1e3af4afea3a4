//! `package`.

use setpoint_catalog::{Catalog, Resource, ResourceId};
use setpoint_state::{CellId, CellKey, CellKind, Program, Reach, Test, Value};

use super::{Model, Type};
use crate::attributes::Attributes;
use crate::commands;
use crate::machine::{CONFIG_FILES, LATEST, Machine, absent, all, any, choose, installed, sequence, when};
use crate::mentions::Mentions;
use crate::settings;
use crate::table::{Row, Scope, Values};
use crate::{Assumption, World};

const OTHER_PLATFORM: &str = "only other platforms look at it";

const ROWS: &[Row] = &[
    Row::modelled("name").of(Values::Single),
    Row::open("ensure", Scope::Own).words(&["disabled"]),
    Row::modelled("ensure").of(Values::Single),
    Row::modelled("provider").of(Values::Single),
    Row::open("command", Scope::Everything),
    Row::modelled("source").of(Values::Path),
    Row::open("source", Scope::Own),
    Row::inert("instance", READ_ONLY),
    Row::inert("status", READ_ONLY),
    Row::moot("adminfile", OTHER_PLATFORM),
    Row::open("responsefile", Scope::Everything),
    Row::inert("configfiles", "what Puppet does anyway").words(&["keep"]),
    Row::open("configfiles", Scope::Own),
    Row::inert("category", READ_ONLY),
    Row::inert("platform", READ_ONLY),
    Row::inert("root", READ_ONLY),
    Row::inert("vendor", READ_ONLY),
    Row::inert("description", READ_ONLY),
    Row::inert("allowcdrom", "it permits an installation, and does nothing itself"),
    Row::open("enable_only", Scope::Own),
    Row::inert("install_only", "what Puppet does anyway").words(&["false", "no"]),
    Row::open("install_only", Scope::Own),
    Row::open("install_options", Scope::Own),
    Row::open("uninstall_options", Scope::Own),
    Row::inert("allow_virtual", "whether a name that several packages provide is looked up"),
    Row::inert("reinstall_on_refresh", "what Puppet does anyway").words(&["false"]),
    Row::open("reinstall_on_refresh", Scope::Own),
    Row::open("package_settings", Scope::Own),
    Row::open("flavor", Scope::Own),
    Row::open("mark", Scope::Own),
];

const READ_ONLY: &str = "only other providers look at it";

/// `package`.
pub(crate) struct Package;

impl Type for Package {
    fn name(&self) -> &'static str {
        "Package"
    }

    fn rows(&self) -> &'static [Row] {
        ROWS
    }

    fn mention(&self, mentions: &mut Mentions, _id: ResourceId, resource: &Resource, world: &World<'_>) {
        let name = name(resource);
        let ensure = resource.ensure();
        let removes = matches!(ensure.as_deref(), Some("absent" | "purged" | "false"));
        let versioned =
            !removes && !matches!(ensure.as_deref(), None | Some("present" | "installed" | "true"));
        mentions.package(&name, removes, ensure.as_deref() == Some("purged"), versioned);
        if let Some(tool) = resource.text("provider").and_then(|provider| manager(&provider)) {
            mentions.add_path(tool, world);
        }
        if let Some(source) = resource.text("source") {
            mentions.needs_file(&source, world);
        }
    }

    fn model(&self, machine: &mut Machine<'_>, _catalog: &Catalog, resource: &Resource) -> Model {
        model(machine, resource)
    }

    fn declares(&self, resource: &Resource, _path: Option<&str>, key: &CellKey) -> bool {
        let ensure = resource.ensure();
        // A package that is to be there is there in any version.
        let any_version = matches!(ensure.as_deref(), None | Some("present" | "installed" | "held" | "true"));
        !any_version && key.kind == CellKind::Package
    }
}

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
    let is_unknown = machine.packages.is_unknown(&asked);
    let archive = sequence(vec![
        archive_is_there(machine, resource),
        archive_is_known(machine, &name, &ensure, is_unknown),
        settings::read(machine, resource, &settings::of_package(&name)),
    ]);
    let change = match ensure.as_str() {
        "present" | "installed" | "true" => {
            let install = machine.install(&name, LATEST);
            when(there.negate(), sequence(vec![archive, install, Program::Change]))
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
            let install = sequence(vec![archive, machine.install(&name, version)]);
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
        let mut reach = machine.bearing(&asked);
        // A package does not bring the archive that it comes from.
        let source =
            resource.text("source").and_then(|path| machine.mentions.canonical(&path, machine.world));
        let source = source.and_then(|path| machine.path(&path));
        reach.retain(|cell| Some(*cell) != source);
        let reason = format!("no index knows what the package {asked} installs");
        if !reach.is_empty() {
            model = model.not_known(&reason, Reach::Cells(reach));
            model.is_chosen = machine.packages.is_open(&name);
        }
    }
    model
}

/// Fails where only an archive of the catalog has the package, and the machine has not read of it. Whether that is so, the start
/// chooses.
fn archive_is_known(machine: &mut Machine<'_>, name: &str, ensure: &str, is_unknown: bool) -> Program {
    let any_version = ["present", "installed", "true"].contains(&ensure);
    let repositories = machine.mentions.repositories(machine.world);
    if (any_version && !is_unknown) || repositories.is_empty() {
        return Program::Skip;
    }
    let only_there = machine.other(CellKind::Other, name, Some("(only a repository of the catalog has it)"));
    machine.assume_start(absent(only_there), Assumption::KnownArchive { package: name.to_owned() });
    let mut unread = Vec::new();
    for path in repositories {
        if let Some(cell) = machine.path(&path) {
            let read = machine.made_from(CellKind::Other, commands::LISTS, &path);
            unread.push(any(vec![absent(cell), Test::same(read, cell).negate()]));
        }
    }
    let failure = Program::fail("no archive that the machine has read of has it");
    when(all(vec![absent(only_there).negate(), any(unread)]), failure)
}

/// A package that is installed from an archive needs it then.
fn archive_is_there(machine: &mut Machine<'_>, resource: &Resource) -> Program {
    let source = resource.text("source").and_then(|path| machine.mentions.canonical(&path, machine.world));
    let Some(source) = source else { return Program::Skip };
    let there = machine.leads(&source);
    when(there.negate(), Program::fail(&format!("{source} does not exist")))
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
    // The manager itself may come with a package of the catalog.
    let tool = manager(provider).map_or(Test::True, |tool| machine.exists_if_provided(tool));
    if PATIENT.contains(&provider) {
        let mut model = Model::new(program).refreshed_by(Program::Change);
        model.suitable = tool;
        return model;
    }
    // Puppet asks for it when the package has its turn.
    let missing = Program::fail(&format!("the command of {provider} is not there"));
    Model::new(sequence(vec![when(tool.negate(), missing), program])).refreshed_by(Program::Change)
}

/// Providers that Puppet finds unsuitable without their command, so that it comes back to their packages later.
const PATIENT: [&str; 1] = ["npm"];

/// The program of a manager that is not the platform's own. `gem` comes with the Ruby that Puppet runs on.
fn manager(provider: &str) -> Option<&'static str> {
    Some(match provider {
        "pip" | "pip3" => "/usr/bin/pip3",
        "npm" => "/usr/bin/npm",
        _ => return None,
    })
}
