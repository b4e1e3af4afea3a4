//! Types with little to say.

use setpoint_catalog::{Catalog, Resource};
use setpoint_puppet_values::Data;
use setpoint_state::{CellKey, CellKind, Kind, Program, Reach};

use super::{Model, Type};
use crate::Assumption;
use crate::machine::Machine;
use crate::table::Row;

/// `notify` says its message in every run, which is a change.
pub(crate) struct Notify;

impl Type for Notify {
    fn name(&self) -> &'static str {
        "Notify"
    }

    fn rows(&self) -> &'static [Row] {
        const WORDS: &str = "the words of a report";
        const { &[Row::inert("name", WORDS), Row::inert("message", WORDS), Row::inert("withpath", WORDS)] }
    }

    fn model(&self, _machine: &mut Machine<'_>, _catalog: &Catalog, _resource: &Resource) -> Model {
        Model::new(Program::Change)
    }
}

/// `anchor` of stdlib: it holds others in their order.
pub(crate) struct Anchor;

impl Type for Anchor {
    fn name(&self) -> &'static str {
        "Anchor"
    }

    fn rows(&self) -> &'static [Row] {
        const { &[Row::inert("name", "a name")] }
    }

    fn model(&self, _machine: &mut Machine<'_>, _catalog: &Catalog, _resource: &Resource) -> Model {
        // Puppet reports its refresh, unlike that of a container.
        Model::nothing().refreshed_by(Program::Change)
    }
}

/// `stage`: an order of classes.
pub(crate) struct Stage;

impl Type for Stage {
    fn name(&self) -> &'static str {
        "Stage"
    }

    fn rows(&self) -> &'static [Row] {
        const { &[Row::inert("name", "a name")] }
    }

    fn model(&self, _machine: &mut Machine<'_>, _catalog: &Catalog, _resource: &Resource) -> Model {
        Model::pass()
    }
}

/// `schedule`: read by the resources that name it.
pub(crate) struct Schedule;

impl Type for Schedule {
    fn name(&self) -> &'static str {
        "Schedule"
    }

    fn rows(&self) -> &'static [Row] {
        const {
            &[
                Row::modelled("name"),
                Row::modelled("period"),
                Row::modelled("range"),
                Row::modelled("weekday"),
                Row::modelled("repeat"),
                Row::inert(
                    "periodmatch",
                    "how a period is measured; a schedule with a period is not modelled",
                ),
            ]
        }
    }

    fn model(&self, _machine: &mut Machine<'_>, _catalog: &Catalog, _resource: &Resource) -> Model {
        Model::nothing()
    }
}

/// `filebucket`: where copies of old files are kept, which no resource reads.
pub(crate) struct Filebucket;

impl Type for Filebucket {
    fn name(&self) -> &'static str {
        "Filebucket"
    }

    fn rows(&self) -> &'static [Row] {
        const COPIES: &str = "where copies are kept that nobody reads";
        const {
            &[
                Row::inert("name", COPIES),
                Row::inert("path", COPIES),
                Row::inert("server", COPIES),
                Row::inert("port", COPIES),
            ]
        }
    }

    fn model(&self, _machine: &mut Machine<'_>, _catalog: &Catalog, _resource: &Resource) -> Model {
        Model::nothing()
    }
}

/// A resource without a path that can be followed.
pub(crate) fn no_path() -> Model {
    Model::nothing()
        .not_known("its path is not absolute, or is a directory of the platform", Reach::Everything)
}

/// A type that nothing is known of: it may touch what its parameters name, and what is of its own type.
pub(crate) fn unmodelled(machine: &mut Machine<'_>, resource: &Resource) -> Model {
    let type_name = resource.type_name.as_str();
    machine.assume(Assumption::UnmodelledType { type_name: type_name.to_owned() });
    let mut cells = vec![machine.space.cell(CellKey::new(CellKind::Other, type_name), &[Kind::Text])];
    for parameter in &resource.parameters {
        if let Data::String(text) = &parameter.value.data
            && text.starts_with('/')
            && let Some(path) = machine.mentions.canonical(text, machine.world)
            && machine.mentions.is_named(&path)
        {
            cells.extend(machine.path(&path));
        }
    }
    cells.sort_unstable();
    cells.dedup();
    Model::nothing().not_known(&format!("the type {type_name} has no model"), Reach::Cells(cells))
}
