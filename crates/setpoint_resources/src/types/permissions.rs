//! What another user than root may do on a plain machine.
//!
//! Whoever may write where is not modelled, so that what such a command does is not known. But on a machine on which nothing
//! but the catalogs has been at work, the folders of the platform are root's: a command of another user fails where it would
//! change something in them.

use std::collections::BTreeSet;

use setpoint_state::{CellId, Program};

use super::perform::canonical;
use crate::Assumption;
use crate::commands::Effect;
use crate::machine::{Machine, choose, parent, sequence};
use crate::mentions::{ATTRIBUTES, ancestors, is_below};

/// Folders of the platform in which others than root may write, or whose owner differs between releases.
const SHARED: [&str; 13] = [
    "/dev",
    "/proc",
    "/run",
    "/sys",
    "/tmp",
    "/usr/local",
    "/var/cache",
    "/var/local",
    "/var/lock",
    "/var/log",
    "/var/mail",
    "/var/spool",
    "/var/tmp",
];

/// Whether a command that has these effects fails on a plain machine wherever it would change something, because it runs as
/// this user. Then that is assumed, and told. It is asked only of two catalogs of which one follows the other.
pub(super) fn are_denied<'e>(
    machine: &mut Machine<'_>,
    user: &str,
    effects: impl Iterator<Item = &'e Effect>,
) -> bool {
    let Some(declared) = &machine.declared_paths else { return false };
    let mut folders = Vec::new();
    for leaf in effects.flat_map(Effect::leaves) {
        let path = match leaf {
            Effect::Check(_) | Effect::Need(_) => continue,
            Effect::Touch(path)
            | Effect::Write { path, .. }
            | Effect::Append { path, .. }
            | Effect::MakeDirectory { path, .. }
            | Effect::RemoveDirectory(path)
            | Effect::Remove { path, .. } => canonical(machine, path),
            _ => return false,
        };
        let Some(folder) = parent(&path).map(str::to_owned) else { return false };
        let is_roots = machine.world.base.directories.contains(&folder)
            && !SHARED.iter().any(|shared| folder == *shared || is_below(&folder, shared));
        if !is_roots || declared.contains(&path) || declared.contains(&folder) {
            return false;
        }
        folders.push(folder);
    }
    for folder in folders {
        machine.assume(Assumption::NoPermission { user: user.to_owned(), path: folder });
    }
    true
}

/// Whether what decides that a user may do one thing is the same whenever the command runs, and in every run: all that it names and
/// all that lies above is declared by files that come before it, or managed by nothing; and nothing puts the user into groups.
/// Only who does one thing either does it or not. It is not asked of two catalogs.
pub(super) fn are_settled<'e>(
    machine: &mut Machine<'_>,
    user: &str,
    effects: impl Iterator<Item = &'e Effect>,
) -> bool {
    if machine.declared_paths.is_some() || !machine.mentions.memberships(user).is_empty() {
        return false;
    }
    let mut paths = BTreeSet::new();
    let mut things = BTreeSet::new();
    for leaf in effects.flat_map(Effect::leaves) {
        match leaf {
            Effect::Check(_) | Effect::Need(_) | Effect::NeedProgram(_) => {}
            Effect::Touch(path)
            | Effect::Write { path, .. }
            | Effect::Append { path, .. }
            | Effect::MakeDirectory { path, .. }
            | Effect::Create { path }
            | Effect::Clone { path, .. } => {
                things.insert(canonical(machine, path));
            }
            _ => return false,
        }
        for path in leaf.paths() {
            let path = canonical(machine, path);
            paths.extend(ancestors(&path).map(str::to_owned));
            paths.insert(path);
        }
    }
    let is_settled = |path: &String| {
        let is_managed = ATTRIBUTES.iter().any(|(kind, _)| machine.mentions.manages(*kind, path));
        let owner = machine.mentions.files.get(path);
        let is_packaged = machine.packages.provides(path) || machine.packages.provides_directory(path);
        if machine.mentions.is_given_by_many(path) || (is_managed && is_packaged) {
            return false;
        }
        match owner {
            Some(&owner) => machine.comes_before(owner),
            None => !is_managed,
        }
    };
    things.len() == 1 && paths.iter().all(is_settled)
}

/// What is left of the program of an effect for a user who may not write.
pub(super) fn deny(effect: &Effect, program: Program, user: &str) -> Program {
    let reason = |path: &str| format!("the user {user} may not write {path}");
    match effect {
        // Also what is there already is opened for writing.
        Effect::Touch(path) | Effect::Write { path, .. } | Effect::Append { path, .. } => {
            Program::fail(&reason(path))
        }
        Effect::MakeDirectory { path, .. } | Effect::RemoveDirectory(path) | Effect::Remove { path, .. } => {
            without_writes(program, &reason(path))
        }
        _ => program,
    }
}

/// The program that fails where another would write.
fn without_writes(program: Program, reason: &str) -> Program {
    match program {
        Program::Write(..) => Program::fail(reason),
        Program::If(test, yes, no) => choose(test, without_writes(*yes, reason), without_writes(*no, reason)),
        Program::Sequence(programs) => {
            sequence(programs.into_iter().map(|program| without_writes(program, reason)).collect())
        }
        other => other,
    }
}

/// The modes and owners that decide whether a command may do what it does: those of all that it names, and of all that lies
/// above.
pub(super) fn decided_by<'e>(
    machine: &mut Machine<'_>,
    effects: impl Iterator<Item = &'e Effect>,
) -> Vec<CellId> {
    let leaves: Vec<&Effect> = effects.flat_map(Effect::leaves).collect();
    let mut paths = BTreeSet::new();
    for path in leaves.iter().flat_map(|leaf| leaf.paths()) {
        let path = canonical(machine, path);
        paths.extend(ancestors(&path).map(str::to_owned));
        paths.insert(path);
    }
    let mut cells = Vec::new();
    for path in paths {
        for (kind, _) in ATTRIBUTES {
            cells.extend(machine.attribute(kind, &path));
        }
    }
    cells
}
