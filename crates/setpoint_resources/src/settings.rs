//! The settings of tools that work for resources: useradd reads /etc/login.defs, dpkg and apt read their own. Who changes them
//! before a resource is made may change what becomes of it; what they say is not read, so that it is assumed not to matter.

use setpoint_catalog::Resource;
use setpoint_state::{CellKind, Program};

use crate::Assumption;
use crate::machine::{Machine, absent, sequence, when};

/// What useradd and adduser read.
pub(crate) const USERS: &[&str] = &["/etc/login.defs", "/etc/default/useradd", "/etc/adduser.conf"];
/// What groupadd reads.
pub(crate) const GROUPS: &[&str] = &["/etc/login.defs"];
/// What package managers read besides their archives; folders end with a slash.
pub(crate) const PACKAGES: &[&str] = &[
    "/etc/apt/apt.conf",
    "/etc/apt/apt.conf.d/",
    "/etc/apt/preferences",
    "/etc/apt/preferences.d/",
    "/etc/dnf/dnf.conf",
    "/etc/dpkg/dpkg.cfg",
    "/etc/dpkg/dpkg.cfg.d/",
    "/etc/yum.conf",
    "/usr/sbin/policy-rc.d",
];

/// Whether the catalog names any of them.
pub(crate) fn are_named(machine: &Machine<'_>) -> bool {
    let places = USERS.iter().chain(PACKAGES);
    let mut found = places.flat_map(|place| machine.mentions.matching(place, machine.world));
    found.any(|path| machine.mentions.is_named(&path))
}

/// Remembers with which settings a resource was made, where they matter and need not come first.
pub(crate) fn read(machine: &mut Machine<'_>, resource: &Resource, places: &[&str]) -> Program {
    let found = places.iter().flat_map(|place| machine.mentions.matching(place, machine.world));
    let found: Vec<String> = found.filter(|path| machine.mentions.is_named(path)).collect();
    let mut steps = Vec::new();
    for path in found {
        let owner = machine.mentions.files.get(&path).copied();
        if owner.is_some_and(|owner| machine.comes_before(owner)) {
            continue;
        }
        let Some(source) = machine.path(&path) else { continue };
        let name = resource.reference();
        let matters = machine.other(CellKind::Other, &name, Some(&format!("({path} matters to it)")));
        machine.assume_start(
            absent(matters),
            Assumption::Settings { path: path.clone(), resource: name.clone() },
        );
        let made = machine.made_from(CellKind::Other, &format!("how {name} was made"), &path);
        let mut copies = vec![Program::copy(made, source)];
        for tracked in machine.tracked(&path) {
            let part = format!("{path}: {:?}", tracked.entry);
            let made = machine.other(CellKind::Other, &format!("how {name} was made"), Some(&part));
            copies.push(Program::copy(made, tracked.cell));
        }
        steps.push(when(absent(matters).negate(), sequence(copies)));
    }
    sequence(steps)
}
