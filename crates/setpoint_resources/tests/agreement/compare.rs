//! The prediction beside what Puppet did.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::PathBuf;

use serde_json::Value as Json;
use setpoint_catalog::Catalog;
use setpoint_catalog::graph::Graph;
use setpoint_catalog::ruby_types::ModuleTypes;
use setpoint_judge as judge;
use setpoint_packages::Family;
use setpoint_resources::{Base, Entry, Modelled, World, plan};
use setpoint_source::OsFileSystem;
use setpoint_state::{
    CellId, CellKey, CellKind, Kind, Lifetime, Reach, Runner, Semantics, State, Status, Value,
};

use crate::notation::{Start, index};
use crate::observe::{Eyes, UNIT_OF_THE_PLATFORM, follow, without};

/// The root of a trial before anything is placed there.
fn base() -> Base {
    Base::bare(Family::Debian, &judge::ROOT_FOLDERS, &judge::ROOT_USERS, &judge::ROOT_GROUPS)
}

/// Where Puppet and the models differ, one a line.
pub(crate) fn differences(catalog: &Json, start: &Start, outcome: &judge::Outcome) -> String {
    match compared(catalog, start, outcome, false) {
        Ok(compared) => compared.broken + &compared.differences,
        Err(problem) => format!("  {problem}\n"),
    }
}

/// What a comparison finds.
#[derive(Debug)]
pub(crate) struct Compared {
    /// The laws that the start breaks, one a line.
    pub(crate) broken: String,
    /// Whether the start is one that the plan assumes.
    pub(crate) is_admissible: bool,
    /// Why the model says of a step that it does not know.
    pub(crate) unknown: Option<String>,
    /// Where Puppet and the models differ, one a line.
    pub(crate) differences: String,
}

/// The prediction beside what Puppet did; an error says why there is no prediction.
pub(crate) fn compared(
    catalog: &Json,
    start: &Start,
    outcome: &judge::Outcome,
    any_start: bool,
) -> Result<Compared, String> {
    let catalog = setpoint_catalog::read::json(&catalog.to_string())
        .map_err(|error| format!("the catalog cannot be read: {error}"))?;
    let types = ModuleTypes::new(&OsFileSystem, vec![PathBuf::from(setpoint_oracle::MODULES)]);
    let graph = Graph::of_a_run(&catalog, &types).map_err(|error| format!("there is no graph: {error}"))?;
    if !graph.cycles().is_empty() {
        return Err("there is a circle of dependencies".to_owned());
    }
    let index = index(start);
    let world = World {
        base: &base(),
        packages: &index,
        sources: &start.served,
        config: &start.config,
        semantics: Semantics::Puppet,
        any_start,
        packages_start_services: start.packages_start_services,
    };
    let modelled = plan(&catalog, &graph, &world);
    let eyes = Eyes::new(&modelled, start);
    let runner = Runner::new(&modelled.plan, Semantics::Puppet);
    let mut state = eyes.state(&outcome.before);
    // The archives of packages lie there, and are no part of what is looked at.
    for (id, cell) in modelled.plan.space.iter() {
        if cell.key.kind == CellKind::Path && cell.key.name.starts_with("/repository") {
            let is_archive = cell.key.name.ends_with(".deb");
            state.set(id, if is_archive { Value::file("(a package)") } else { Value::Directory });
        }
    }
    let mut broken = String::new();
    for law in &modelled.plan.laws {
        if !state.holds(law) {
            let _ = writeln!(broken, "  a law does not hold at the start: {}", told(law, &modelled));
        }
    }
    let is_admissible = modelled.plan.start.iter().all(|test| state.holds(test));
    let unknown = modelled.plan.steps.iter().find_map(|step| step.unknown.as_ref());
    let unknown = unknown.map(|unknown| unknown.reason.to_string());
    let mut out = String::new();
    let unseen = unseen(&modelled);
    let mut before = &outcome.before;
    for (number, run) in outcome.runs.iter().enumerate() {
        if let Some(error) = &run.error {
            let _ = writeln!(out, "  Puppet does not apply the catalog: {error}");
            break;
        }
        let predicted = runner.run(&state, &runner.puppet_order());
        statuses(&catalog, &modelled, &predicted.statuses, run, number + 1, &mut out);
        cells(&catalog, &modelled, &eyes, &predicted.end, &run.after, &unseen, number + 1, &mut out);
        let all_known = modelled
            .plan
            .steps
            .iter()
            .all(|step| step.unknown.as_ref().is_none_or(|unknown| unknown.reach != Reach::Everything));
        if all_known {
            unexplained(&catalog, &modelled, start, before, &run.after, number + 1, &mut out);
        }
        state = predicted.end;
        before = &run.after;
    }
    Ok(Compared { broken, is_admissible, unknown, differences: out })
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
pub(crate) fn unseen(modelled: &Modelled) -> BTreeSet<CellId> {
    let mut unseen = BTreeSet::new();
    for step in &modelled.plan.steps {
        match step.unknown.as_ref().map(|unknown| &unknown.reach) {
            Some(Reach::Everything) => unseen.extend(modelled.plan.space.iter().map(|(id, _)| id)),
            Some(Reach::Cells(cells)) => unseen.extend(cells),
            None => {}
        }
    }
    for (id, cell) in modelled.plan.space.iter() {
        let detail = cell.key.detail.as_deref().unwrap_or_default();
        // What stands in for systemd says what it has loaded of configurations, and not of units or entries.
        let is_unit = detail.starts_with("/etc/init.d/") || detail.starts_with("/etc/systemd/");
        let is_untold = cell.key.kind == CellKind::Loaded && (is_unit || detail.contains('\n'));
        if detail == UNIT_OF_THE_PLATFORM || is_untold {
            unseen.insert(id);
        }
    }
    // Nor can anyone see what a file was made from, or when its lines were put there.
    for entry in &modelled.entries {
        if matches!(entry.entry, Entry::MadeFrom(_) | Entry::Last | Entry::After(_)) {
            unseen.insert(entry.cell);
        }
    }
    let archives = modelled.plan.space.iter().filter(|(_, cell)| cell.key.name.starts_with("/repository"));
    unseen.extend(archives.map(|(id, _)| id));
    // What `tidy` selects is something of a file that nobody sees.
    for (id, cell) in modelled.plan.space.iter() {
        if cell.key.detail.as_deref().is_some_and(|detail| detail.starts_with("(selected by tidy)")) {
            unseen.insert(id);
            unseen.extend(modelled.plan.space.find(&CellKey::path(&cell.key.name)));
        }
    }
    unseen
}

pub(crate) fn statuses(
    catalog: &Catalog,
    modelled: &Modelled,
    predicted: &[Status],
    run: &judge::Run,
    number: usize,
    out: &mut String,
) {
    let declared: BTreeSet<&str> = modelled.plan.steps.iter().map(|step| &*step.name).collect();
    let steps = modelled.plan.steps.iter().zip(&modelled.resources);
    for ((step, resource), predicted) in steps.zip(predicted) {
        if step.passes_on || step.unknown.is_some() {
            continue;
        }
        let name = &*step.name;
        let purges_keys = catalog[*resource].get("purge_ssh_keys").is_some();
        // A type with several names is reported by its full one.
        let found = run.resources.get(name).or_else(|| {
            let stem = name.strip_suffix(']')?;
            run.resources
                .iter()
                .find(|(other, _)| other.starts_with(&format!("{stem}@")))
                .map(|(_, status)| status)
        });
        let Some(mut status) = found.cloned() else {
            let _ = writeln!(out, "  run {number}: Puppet does not report {name}");
            continue;
        };
        // What recursion and concat generate is a part of the resource that generates it.
        let generated = |other: &str| -> bool {
            if declared.contains(other) {
                return false;
            }
            let below = name.strip_suffix(']').map(|stem| format!("{stem}/"));
            let path = catalog[*resource].get("path").and_then(|path| path.as_str());
            let own = (name.starts_with("Concat_file["))
                .then(|| format!("File[{}]", path.unwrap_or(&catalog[*resource].title)));
            let purged = name.strip_prefix("Resources[").and_then(|rest| rest.strip_suffix(']'));
            let purged = purged.map(|kind| format!("{}{}[", kind[..1].to_uppercase(), &kind[1..]));
            below.is_some_and(|below| name.starts_with("File[") && other.starts_with(&below))
                || own.as_deref() == Some(other)
                || purged.is_some_and(|purged| other.starts_with(&purged))
                || (purges_keys && other.starts_with("Ssh_authorized_key["))
        };
        for (other, part) in &run.resources {
            if generated(other) {
                status.failed |= part.failed;
                status.changed |= part.changed;
            }
        }
        let seen = match status {
            // What its schedule keeps back skips nothing that comes after it.
            judge::Status { skipped: true, .. } if catalog[*resource].get("schedule").is_some() => Status::Ok,
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

#[allow(clippy::too_many_arguments, reason = "the two sides, and where to say it")]
pub(crate) fn cells(
    catalog: &Catalog,
    modelled: &Modelled,
    eyes: &Eyes<'_>,
    predicted: &State,
    seen: &judge::State,
    unseen: &BTreeSet<CellId>,
    number: usize,
    out: &mut String,
) {
    let observed = eyes.state(seen);
    let repositories: Vec<&str> = catalog
        .iter()
        .filter(|(_, resource)| resource.type_name.as_str() == "Vcsrepo")
        .map(|(_, resource)| &*resource.title)
        .collect();
    let entries: BTreeSet<CellId> = modelled.entries.iter().map(|entry| entry.cell).collect();
    for (id, cell) in modelled.plan.space.iter() {
        if cell.lifetime != Lifetime::Machine || unseen.contains(&id) {
            continue;
        }
        if eyes.value(cell, seen).is_none() && !entries.contains(&id) {
            continue;
        }
        // Of a repository it is told that it is there; what is in it is not.
        let name = &*cell.key.name;
        if repositories.iter().any(|path| name.starts_with(&format!("{path}/(another "))) {
            continue;
        }
        let (want, have) = (predicted.get(id), observed.get(id));
        if cell.key.kind == CellKind::Other && (*want == Value::Absent) == (*have == Value::Absent) {
            continue;
        }
        // The stand-in of systemd loads files, and no directories, links and mounts.
        let is_file = matches!(want, Value::File(_) | Value::Fresh(Kind::File, _) | Value::Absent);
        if cell.key.kind == CellKind::Loaded && !is_file {
            continue;
        }
        if want == have
            || is_made_up(predicted, modelled, want, have)
            || same_content(modelled, &cell.key, want, have)
        {
            continue;
        }
        let _ = writeln!(out, "  run {number}: {}: predicted {want:?}, on the machine {have:?}", cell.key);
    }
}

/// A content that is not known but by its name: that of a declared effect, of an address, or of what an archive has, which
/// may be a directory, too.
fn is_made_up(predicted: &State, modelled: &Modelled, want: &Value, have: &Value) -> bool {
    let Value::File(name) = want else { return false };
    let named = name.starts_with('(') && name.ends_with(')') && matches!(have, Value::File(_));
    let out_of_archive = modelled.plan.space.iter().any(|(id, cell)| {
        let is_archive = cell.key.kind == CellKind::Path && cell.key.name.ends_with(".tar");
        is_archive && predicted.get(id) == want
    });
    let from_archive = name.starts_with("(out of ") || out_of_archive;
    named || (from_archive && !matches!(have, Value::Absent))
}

/// Two contents that differ in their entries only, for those have cells of their own.
fn same_content(modelled: &Modelled, key: &CellKey, want: &Value, have: &Value) -> bool {
    let (Value::File(want), Value::File(have)) = (want, have) else { return false };
    let path = if key.kind == CellKind::Loaded { key.detail.as_deref() } else { Some(&*key.name) };
    let entries: Vec<_> = modelled.entries.iter().filter(|entry| Some(entry.path.as_str()) == path).collect();
    !entries.is_empty() && without(want, &entries) == without(have, &entries)
}

/// Where users, services and the rest keep their state: seen through cells of their own.
const BOOKS: [&str; 13] = [
    "/etc/passwd",
    "/etc/group",
    "/etc/shadow",
    "/etc/gshadow",
    "/run/services",
    "/run/mounts",
    "/run/mounts.new",
    "/run/behind",
    "/etc/systemd/system/multi-user.target.wants",
    "/var/spool/mail",
    "/var/mail",
    "/root/.puppetlabs",
    "/etc/mtab",
];

/// What changed and no cell tells.
fn unexplained(
    catalog: &Catalog,
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
        // What a repository keeps, and what an archive has.
        let inside = catalog.iter().any(|(_, resource)| {
            let folder = match resource.type_name.as_str() {
                "Vcsrepo" => Some(&*resource.title),
                "Archive" => resource.get("extract_path").and_then(|value| value.as_str()),
                "Exec" => resource.get("creates").and_then(|value| value.as_str()),
                _ => None,
            };
            folder.is_some_and(|folder| path.starts_with(&format!("{folder}/")))
        });
        let masked = new.is_some_and(|node| node.target.as_deref() == Some("/dev/null"));
        // A new home has these files; they have cells where a resource or a command names them.
        let of_skeleton = old.or(new).and_then(|node| node.content.as_deref());
        let of_skeleton = of_skeleton.is_some_and(|content| content.starts_with("(as in /etc/skel/"));
        if same
            || known
            || stands_for
            || packaged
            || masked
            || of_skeleton
            || inside
            || path.ends_with(".dpkg-dist")
            || BOOKS.iter().any(is_book)
        {
            continue;
        }
        let _ = writeln!(out, "  run {number}: {path} changed, and no cell tells: {old:?} became {new:?}");
    }
}
