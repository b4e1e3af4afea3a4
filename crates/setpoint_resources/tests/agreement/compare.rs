//! The prediction beside what Puppet did.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::PathBuf;

use serde_json::Value as Json;
use setpoint_catalog::graph::Graph;
use setpoint_catalog::ruby_types::ModuleTypes;
use setpoint_config::Config;
use setpoint_judge as judge;
use setpoint_packages::Family;
use setpoint_resources::{Base, Modelled, NoSources, World, plan};
use setpoint_source::OsFileSystem;
use setpoint_state::{CellId, CellKey, Lifetime, Reach, Runner, Semantics, State, Status, Value};

use crate::notation::{Start, index};
use crate::observe::{Eyes, follow, without};

/// The root of a trial before anything is placed there.
fn base() -> Base {
    let directories = [
        "/",
        "/etc",
        "/etc/default",
        "/etc/init.d",
        "/etc/systemd",
        "/etc/systemd/system",
        "/home",
        "/opt",
        "/root",
        "/run",
        "/srv",
        "/tmp",
        "/usr",
        "/usr/bin",
        "/usr/lib",
        "/usr/local",
        "/usr/local/bin",
        "/usr/sbin",
        "/usr/share",
        "/var",
        "/var/lib",
        "/var/log",
        "/var/mail",
        "/var/spool",
        "/var/spool/cron",
        "/var/spool/cron/crontabs",
        "/var/tmp",
    ];
    Base::bare(
        Family::Debian,
        &directories,
        &["root", "daemon", "_apt", "nobody"],
        &["root", "daemon", "adm", "shadow", "staff", "nogroup"],
    )
}

/// Where Puppet and the models differ, one a line.
pub(crate) fn differences(catalog: &Json, start: &Start, outcome: &judge::Outcome) -> String {
    let catalog = match setpoint_catalog::read::json(&catalog.to_string()) {
        Ok(catalog) => catalog,
        Err(error) => return format!("  the catalog cannot be read: {error}\n"),
    };
    let types = ModuleTypes::new(&OsFileSystem, vec![PathBuf::from(crate::MODULES)]);
    let graph = match Graph::new(&catalog, &types) {
        Ok(graph) => graph,
        Err(error) => return format!("  there is no graph: {error}\n"),
    };
    let index = index(start);
    let world = World {
        base: &base(),
        packages: &index,
        sources: &NoSources,
        config: &Config::default(),
        semantics: Semantics::Puppet,
        any_start: false,
        packages_start_services: false,
    };
    let modelled = plan(&catalog, &graph, &world);
    let eyes = Eyes::new(&modelled, start);
    let runner = Runner::new(&modelled.plan, Semantics::Puppet);
    let mut state = eyes.state(&outcome.before);
    let mut out = String::new();
    for law in &modelled.plan.laws {
        if !state.holds(law) {
            let _ = writeln!(out, "  a law does not hold at the start: {}", told(law, &modelled));
        }
    }
    let unseen = unseen(&modelled);
    let mut before = &outcome.before;
    for (number, run) in outcome.runs.iter().enumerate() {
        if let Some(error) = &run.error {
            let _ = writeln!(out, "  Puppet does not apply the catalog: {error}");
            return out;
        }
        let predicted = runner.run(&state, &runner.puppet_order());
        statuses(&modelled, &predicted.statuses, run, number + 1, &mut out);
        cells(&modelled, &eyes, &predicted.end, &run.after, &unseen, number + 1, &mut out);
        let all_known = modelled
            .plan
            .steps
            .iter()
            .all(|step| step.unknown.as_ref().is_none_or(|unknown| unknown.reach != Reach::Everything));
        if all_known {
            unexplained(&modelled, start, before, &run.after, number + 1, &mut out);
        }
        state = predicted.end;
        before = &run.after;
    }
    out
}

fn told(test: &setpoint_state::Test, modelled: &Modelled) -> String {
    let mut cells = Vec::new();
    test.cells(&mut cells);
    let names: Vec<String> = cells
        .iter()
        .filter_map(|cell| modelled.plan.space.get(*cell))
        .map(|cell| cell.key.to_string())
        .collect();
    format!("{test:?} about {}", names.join(", "))
}

/// What an unknown step may have touched.
fn unseen(modelled: &Modelled) -> BTreeSet<CellId> {
    let mut unseen = BTreeSet::new();
    for step in &modelled.plan.steps {
        match step.unknown.as_ref().map(|unknown| &unknown.reach) {
            Some(Reach::Everything) => unseen.extend(modelled.plan.space.iter().map(|(id, _)| id)),
            Some(Reach::Cells(cells)) => unseen.extend(cells),
            None => {}
        }
    }
    unseen
}

fn statuses(modelled: &Modelled, predicted: &[Status], run: &judge::Run, number: usize, out: &mut String) {
    let declared: BTreeSet<&str> = modelled.plan.steps.iter().map(|step| &*step.name).collect();
    for (step, predicted) in modelled.plan.steps.iter().zip(predicted) {
        if step.passes_on || step.unknown.is_some() {
            continue;
        }
        let name = &*step.name;
        // A type with several names is reported by its full one.
        let found = run.resources.get(name).or_else(|| {
            let stem = name.strip_suffix(']')?;
            run.resources
                .iter()
                .find(|(other, _)| other.starts_with(&format!("{stem}@")))
                .map(|(_, status)| status)
        });
        let Some(mut status) = found.copied() else {
            let _ = writeln!(out, "  run {number}: Puppet does not report {name}");
            continue;
        };
        // What recursion and concat generate is a part of the resource that generates it.
        let generated = |other: &str| -> bool {
            if declared.contains(other) {
                return false;
            }
            let below = name.strip_suffix(']').map(|stem| format!("{stem}/"));
            let own = name.strip_prefix("Concat_file").map(|rest| format!("File{rest}"));
            below.is_some_and(|below| name.starts_with("File[") && other.starts_with(&below))
                || own.as_deref() == Some(other)
        };
        for (other, part) in &run.resources {
            if generated(other) {
                status.failed |= part.failed;
                status.changed |= part.changed;
            }
        }
        let seen = match status {
            judge::Status { skipped: true, .. } => Status::Skipped,
            judge::Status { failed: true, .. } | judge::Status { failed_to_restart: true, .. } => {
                Status::Failed
            }
            judge::Status { changed: true, .. } => Status::Changed,
            _ => Status::Ok,
        };
        if seen != *predicted {
            let _ = writeln!(out, "  run {number}: {name}: predicted {predicted:?}, Puppet {seen:?}");
        }
    }
}

fn cells(
    modelled: &Modelled,
    eyes: &Eyes<'_>,
    predicted: &State,
    seen: &judge::State,
    unseen: &BTreeSet<CellId>,
    number: usize,
    out: &mut String,
) {
    let observed = eyes.state(seen);
    let entries: BTreeSet<CellId> = modelled.entries.iter().map(|entry| entry.cell).collect();
    for (id, cell) in modelled.plan.space.iter() {
        if cell.lifetime != Lifetime::Machine || unseen.contains(&id) {
            continue;
        }
        if eyes.value(cell, seen).is_none() && !entries.contains(&id) {
            continue;
        }
        let (want, have) = (predicted.get(id), observed.get(id));
        if want == have || same_content(modelled, &cell.key, want, have) {
            continue;
        }
        let _ = writeln!(out, "  run {number}: {}: predicted {want:?}, on the machine {have:?}", cell.key);
    }
}

/// Two contents that differ in their entries only, for those have cells of their own.
fn same_content(modelled: &Modelled, key: &CellKey, want: &Value, have: &Value) -> bool {
    let (Value::File(want), Value::File(have)) = (want, have) else { return false };
    let path =
        if key.kind == setpoint_state::CellKind::Loaded { key.detail.as_deref() } else { Some(&*key.name) };
    let entries: Vec<_> = modelled.entries.iter().filter(|entry| Some(entry.path.as_str()) == path).collect();
    !entries.is_empty() && without(want, &entries) == without(have, &entries)
}

/// Where users, services and the rest keep their state: seen through cells of their own.
const BOOKS: [&str; 12] = [
    "/etc/passwd",
    "/etc/group",
    "/etc/shadow",
    "/etc/gshadow",
    "/run/services",
    "/run/mounts",
    "/run/mounts.new",
    "/etc/systemd/system/multi-user.target.wants",
    "/var/spool/mail",
    "/var/mail",
    "/root/.puppetlabs",
    "/etc/mtab",
];

/// What changed and no cell tells.
fn unexplained(
    modelled: &Modelled,
    start: &Start,
    before: &judge::State,
    after: &judge::State,
    number: usize,
    out: &mut String,
) {
    let paths: BTreeSet<&String> = before.tree.keys().chain(after.tree.keys()).collect();
    for path in paths {
        let (old, new) = (before.tree.get(path), after.tree.get(path));
        let same = match (old, new) {
            (Some(old), Some(new)) => {
                old.kind == new.kind && old.content == new.content && old.target == new.target
            }
            (None, None) => true,
            _ => false,
        };
        let is_book = |book: &&str| path == *book || path.starts_with(&format!("{book}/"));
        let packaged = start.packages.iter().any(|package| {
            let own = |file: &String| {
                let file = follow(file);
                file == *path || file.starts_with(&format!("{path}/"))
            };
            package.files.keys().any(own) || package.directories.iter().any(own)
        });
        let known = modelled.plan.space.find(&CellKey::path(path)).is_some();
        let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
        // Below a directory whose contents are not named, one name stands for all.
        let stands_for =
            std::iter::successors(Some(parent), |above| above.rsplit_once('/').map(|(above, _)| above)).any(
                |above| {
                    modelled.plan.space.find(&CellKey::path(&format!("{above}/(another file)"))).is_some()
                },
            );
        let masked = new.is_some_and(|node| node.target.as_deref() == Some("/dev/null"));
        if same
            || known
            || stands_for
            || packaged
            || masked
            || path.ends_with(".dpkg-dist")
            || BOOKS.iter().any(is_book)
        {
            continue;
        }
        let _ = writeln!(out, "  run {number}: {path} changed, and no cell tells: {old:?} became {new:?}");
    }
}
