//! `tidy`.

use setpoint_catalog::{Catalog, Resource, ResourceId};
use setpoint_state::{CellId, CellKind, Kind, Program, Reach, Test};

use super::small::no_path;
use super::{Model, Type};
use crate::World;
use crate::attributes::Attributes;
use crate::machine::{Machine, absent, all, sequence, when};
use crate::mentions::Mentions;
use crate::table::{Row, Scope};

const ROWS: &[Row] = &[
    Row::modelled("path"),
    Row::inert("backup", "where copies are kept that nobody reads").words(&["false", "puppet", "main"]),
    Row::open("backup", Scope::Everything),
    Row::inert("recurse", "how deep it looks; all that is below is taken to be in its reach"),
    Row::inert("max_files", "how many files it warns about").words(&["0", "-1"]),
    Row::open("max_files", Scope::Own),
    Row::inert("matches", "which names match is a question that no resource decides"),
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
        mentions.add_deep(&resource.name_or_title("path"), world);
    }

    fn model(&self, machine: &mut Machine<'_>, _catalog: &Catalog, resource: &Resource) -> Model {
        tidy(machine, resource)
    }
}

/// Whether a file is old, large or named so that it goes.
const SELECTED: &str = "(selected by tidy)";

/// `tidy` removes files below a directory by age, size or name. What nothing names is removed once, if it is old: that is
/// something of the file that no resource decides. What others name may be young again.
fn tidy(machine: &mut Machine<'_>, resource: &Resource) -> Model {
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
        let is_own = target == path && !machine.mentions.files.contains_key(&path);
        if !is_own && !stand_ins.contains(&target) {
            doubtful.push(cell);
            continue;
        }
        let selected = machine.other(CellKind::Other, &target, Some(SELECTED));
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
