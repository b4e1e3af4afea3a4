//! `tidy`.

use setpoint_catalog::{Catalog, Resource, ResourceId};
use setpoint_state::{CellId, CellKind, Kind, Program, Reach, Test};

use super::file::matches_glob;
use super::small::no_path;
use super::{Model, Type};
use crate::World;
use crate::attributes::Attributes;
use crate::machine::{Machine, absent, all, any, sequence, when};
use crate::mentions::{Mentions, ancestors, is_below};
use crate::table::{Row, Scope};

const ROWS: &[Row] = &[
    Row::modelled("path"),
    Row::inert("backup", "where copies are kept that nobody reads").words(&["false", "puppet", "main"]),
    Row::open("backup", Scope::Everything),
    Row::modelled("recurse"),
    Row::inert("max_files", "how many files it warns about").words(&["0", "-1"]),
    Row::open("max_files", Scope::Own),
    Row::modelled("matches"),
    Row::inert("age", "which files are old is a question that no resource decides"),
    Row::inert("size", "which files are large is a question that no resource decides"),
    Row::inert("type", "by which time the age is counted"),
    Row::modelled("rmdirs").words(&["true", "false", "yes", "no"]),
];

pub(crate) struct Tidy;

impl Type for Tidy {
    fn name(&self) -> &'static str {
        "Tidy"
    }

    fn rows(&self) -> &'static [Row] {
        ROWS
    }

    fn mention(&self, mentions: &mut Mentions, _id: ResourceId, resource: &Resource, world: &World<'_>) {
        mentions.add_tidied(&resource.name_or_title("path"), world);
    }

    fn model(&self, machine: &mut Machine<'_>, catalog: &Catalog, resource: &Resource) -> Model {
        tidy(machine, catalog, resource)
    }
}

/// Whether a file is old, large or named so that it goes.
const SELECTED: &str = "(selected by tidy)";

/// `tidy` removes files below a directory by age, size or name. What nothing names is removed once, if it is old: that is
/// something of the file that no resource decides. What others name may be young again.
///
/// Without `age` and `size` the name decides. Puppet looks at the files before the first resource is applied, so that what is
/// written earlier in the same run is not known to go; in two catalogs of which one follows the other the order is known.
fn tidy(machine: &mut Machine<'_>, catalog: &Catalog, resource: &Resource) -> Model {
    let Some(path) = machine.mentions.canonical(&resource.name_or_title("path"), machine.world) else {
        return no_path();
    };
    let stand_ins: Vec<String> = machine.mentions.stand_ins().collect();
    let mut steps = Vec::new();
    let mut doubtful: Vec<CellId> = Vec::new();
    let mut below = machine.below(&path);
    below.push(path.clone());
    for target in below {
        let Some(cell) = machine.path(&target) else { continue };
        if is_spared(machine, catalog, resource, (&path, &target)) {
            continue;
        }
        let is_named = !stand_ins.contains(&target);
        if is_named && !is_found(resource, &path, &target) {
            continue;
        }
        if is_named && machine.declared_paths.is_some() && takes_all(resource) {
            if machine.written_before.contains(&cell) {
                doubtful.push(cell);
            }
            steps.push(remove(machine, resource, cell, &target));
            continue;
        }
        if target != path && is_named {
            doubtful.push(cell);
            continue;
        }
        let selected = machine.other(CellKind::Other, &target, Some(&selection(resource)));
        let remove_file = sequence(vec![machine.remove_one(&target), Program::Change]);
        steps.push(when(all(vec![Test::Kind(cell, Kind::File), absent(selected).negate()]), remove_file));
        if resource.flag("rmdirs") == Some(true) {
            // A directory goes when it is empty.
            let mut conditions = vec![Test::Kind(cell, Kind::Directory), absent(selected).negate()];
            for child in machine.below(&target) {
                conditions.extend(machine.path(&child).map(absent));
            }
            let remove = sequence(vec![machine.remove_one(&target), Program::Change]);
            steps.push(when(all(conditions), remove));
        }
    }
    let model = Model::new(sequence(steps));
    if doubtful.is_empty() {
        return model;
    }
    model.not_known("what it removes depends on age and size", Reach::Cells(doubtful))
}

/// What decides whether a file goes, so that another age is another question.
fn selection(resource: &Resource) -> String {
    let asked = ["age", "size", "type"].iter().filter_map(|&name| Some((name, resource.text(name)?)));
    asked.fold(SELECTED.to_owned(), |text, (name, value)| format!("{text} {name} {value}"))
}

/// Whether a file of this name goes, whatever it is: neither age nor size is asked about, or every file has them.
fn takes_all(resource: &Resource) -> bool {
    let is_zero =
        |value: String| value.trim_start_matches('0').chars().next().is_none_or(char::is_alphabetic);
    let asked = ["age", "size"].iter().filter_map(|name| resource.text(name)).collect::<Vec<_>>();
    asked.is_empty() || asked.into_iter().any(is_zero)
}

/// Whether Puppet comes to a path at all: it lies deep enough, and its name matches.
fn is_found(resource: &Resource, path: &str, target: &str) -> bool {
    let depth = target.strip_prefix(path).unwrap_or_default().matches('/').count();
    let limit = match resource.text("recurse").as_deref() {
        None | Some("false" | "no") => Some(0),
        Some(text) => text.parse::<usize>().ok(),
    };
    let name = target.rsplit('/').next().unwrap_or_default();
    let globs = resource.texts("matches");
    limit.is_none_or(|limit| depth <= limit)
        && (globs.is_empty() || globs.iter().any(|glob| matches_glob(glob, name)))
}

/// A file or link goes, and with `rmdirs` also a folder, with all that is in it.
fn remove(machine: &mut Machine<'_>, resource: &Resource, cell: CellId, target: &str) -> Program {
    let is_file = any(vec![Test::Kind(cell, Kind::File), Test::Kind(cell, Kind::Link)]);
    let mut steps = vec![when(is_file, sequence(vec![machine.remove_one(target), Program::Change]))];
    if resource.flag("rmdirs") == Some(true) {
        let gone = sequence(vec![machine.remove_tree(target), Program::Change]);
        steps.push(when(Test::Kind(cell, Kind::Directory), gone));
    }
    sequence(steps)
}

/// Whether Puppet leaves a path alone because a file of the catalog manages it. A folder that goes takes with it what is below.
fn is_spared(
    machine: &Machine<'_>,
    catalog: &Catalog,
    resource: &Resource,
    (path, target): (&str, &str),
) -> bool {
    // Puppet compares paths as they are written.
    let is_file = |of: &str| {
        let managed = machine.mentions.files.get(of).and_then(|&id| catalog.get(id));
        managed.is_some_and(|file| {
            file.type_name.as_str() == "File" && file.name_or_title("path").trim_end_matches('/') == of
        })
    };
    let is_written_so = resource.name_or_title("path").trim_end_matches('/') == path;
    let goes_with_folder = || {
        ancestors(target)
            .take_while(|above| *above == path || is_below(above, path))
            .any(|above| !is_file(above))
    };
    is_written_so && is_file(target) && (resource.flag("rmdirs") != Some(true) || !goes_with_folder())
}
