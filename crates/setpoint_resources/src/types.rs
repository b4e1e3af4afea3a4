//! The models, a file for each kind of resource.

pub(crate) mod accounts;
pub(crate) mod archive;
pub(crate) mod concat;
pub(crate) mod declared;
pub(crate) mod exec;
pub(crate) mod file;
pub(crate) mod package;
pub(crate) mod parsed;
pub(crate) mod perform;
mod permissions;
pub(crate) mod purge;
pub(crate) mod service;
pub(crate) mod small;
pub(crate) mod tidy;
pub(crate) mod vcsrepo;

use setpoint_catalog::{Catalog, Resource, ResourceId};
use setpoint_state::{CellId, CellKey, Manages, Program, Reach, Test, Unknown};

use crate::World;
use crate::attributes::Attributes;
use crate::machine::Machine;
use crate::mentions::Mentions;
use crate::table::Row;

/// All that is known of a type of resource.
pub(crate) trait Type: Sync {
    /// Its name, as references have it.
    fn name(&self) -> &'static str;

    /// What each of its parameters does.
    fn rows(&self) -> &'static [Row];

    /// Notes what a resource names: only that becomes cells.
    fn mention(&self, _mentions: &mut Mentions, _id: ResourceId, _resource: &Resource, _world: &World<'_>) {}

    fn model(&self, machine: &mut Machine<'_>, catalog: &Catalog, resource: &Resource) -> Model;

    /// Whether a cell that a resource writes is what it declares, rather than what comes along. `path`: that of a file,
    /// without links.
    fn declares(&self, _resource: &Resource, _path: Option<&str>, _key: &CellKey) -> bool {
        true
    }
}

/// The types that have a model.
static TYPES: &[&dyn Type] = &[
    &file::File,
    &package::Package,
    &service::Service,
    &accounts::User,
    &accounts::Group,
    &exec::Exec,
    &concat::ConcatFile,
    &concat::ConcatFragment,
    &tidy::Tidy,
    &purge::Resources,
    &archive::Archive,
    &vcsrepo::Vcsrepo,
    &parsed::Host,
    &parsed::Mount,
    &parsed::Cron,
    &parsed::SshAuthorizedKey,
    &parsed::Sshkey,
    &parsed::Mailalias,
    &parsed::FileLine,
    &parsed::IniSetting,
    &parsed::IniSubsetting,
    &parsed::Augeas,
    &parsed::Shellvar,
    &small::Notify,
    &small::Anchor,
    &small::Stage,
    &small::Schedule,
    &small::Filebucket,
];

/// Returns the type of a resource, if it has a model.
pub(crate) fn of(resource: &Resource) -> Option<&'static dyn Type> {
    let known = TYPES.iter().copied().find(|one| one.name() == resource.type_name.as_str());
    known.or_else(|| parsed::configuration(resource).map(|_| &parsed::Configuration as &dyn Type))
}

/// Returns every type that has a model, with its table.
pub fn tables() -> impl Iterator<Item = (&'static str, &'static [Row])> {
    let settings: &dyn Type = &parsed::Configuration;
    TYPES.iter().copied().chain([settings]).map(|one| (one.name(), one.rows()))
}

/// What a resource does.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    pub(crate) apply: Program,
    pub(crate) refresh: Program,
    /// Whether it can be refreshed at all.
    pub(crate) refreshable: bool,
    /// Does nothing but pass notifications on.
    pub(crate) passes_on: bool,
    pub(crate) suitable: Test,
    pub(crate) unknown: Option<Unknown>,
    /// Whether what is unknown is chosen by the start, too, so that it need not be unknown if every start is asked about.
    pub(crate) is_chosen: bool,
    /// Whether what is unknown is known of a plain machine: there the program is right.
    pub(crate) is_plain: bool,
    pub(crate) manages: Manages,
    /// What must hold for the command of an exec to run.
    pub(crate) checks: Option<Test>,
}

impl Model {
    pub(crate) fn new(apply: Program) -> Self {
        Self {
            apply,
            refresh: Program::Skip,
            refreshable: false,
            passes_on: false,
            suitable: Test::True,
            unknown: None,
            is_chosen: false,
            is_plain: false,
            manages: Manages::AllItWrites,
            checks: None,
        }
    }

    pub(crate) fn nothing() -> Self {
        Self::new(Program::Skip)
    }

    /// Does nothing, and passes on.
    pub(crate) fn pass() -> Self {
        Self { refreshable: true, passes_on: true, ..Self::nothing() }
    }

    pub(crate) fn refreshed_by(mut self, refresh: Program) -> Self {
        self.refresh = refresh;
        self.refreshable = true;
        self
    }

    /// The cells that it reads and writes.
    pub(crate) fn touched(&self) -> Vec<CellId> {
        let mut cells = Vec::new();
        for program in [&self.apply, &self.refresh] {
            cells.extend(program.written());
            program.reads(&mut cells);
        }
        self.suitable.cells(&mut cells);
        cells.sort_unstable();
        cells.dedup();
        cells
    }

    /// Adds that something is not known, and how far that reaches.
    pub(crate) fn not_known(mut self, reason: &str, reach: Reach) -> Self {
        self.is_chosen = false;
        self.is_plain = false;
        self.unknown = Some(match self.unknown.take() {
            None => Unknown { reason: reason.into(), reach },
            Some(known) => Unknown {
                reason: format!("{}; {reason}", known.reason).into(),
                reach: match (known.reach, reach) {
                    (Reach::Cells(mut cells), Reach::Cells(more)) => {
                        cells.extend(more);
                        Reach::Cells(cells)
                    }
                    _ => Reach::Everything,
                },
            },
        });
        self
    }
}

/// What a schedule makes of a resource.
enum Scheduled {
    Always,
    Never,
    /// By the time of the day, or by when it was applied before.
    Sometimes,
    /// Puppet ends the run when it comes to the resource.
    Missing(String),
}

fn scheduled(catalog: &Catalog, resource: &Resource) -> Scheduled {
    let Some(name) = resource.text("schedule") else { return Scheduled::Always };
    let is_it = |other: &Resource| {
        other.type_name.as_str() == "Schedule" && !other.virtual_ && other.name_or_title("name") == name
    };
    match catalog.iter().find(|(_, other)| is_it(other)) {
        Some((_, schedule)) if schedule.text("period").as_deref() == Some("never") => Scheduled::Never,
        Some((_, schedule))
            if !["period", "range", "weekday", "repeat"].iter().any(|one| schedule.has(one)) =>
        {
            Scheduled::Always
        }
        Some(_) => Scheduled::Sometimes,
        None => match name.as_str() {
            "never" => Scheduled::Never,
            "puppet" | "hourly" | "daily" | "weekly" | "monthly" => Scheduled::Sometimes,
            _ => Scheduled::Missing(name),
        },
    }
}

/// Returns whether a schedule keeps every run from applying a resource.
pub fn is_never_scheduled(catalog: &Catalog, resource: &Resource) -> bool {
    matches!(scheduled(catalog, resource), Scheduled::Never)
}

/// The model of one resource.
pub(crate) fn model(machine: &mut Machine<'_>, catalog: &Catalog, resource: &Resource) -> Model {
    // It says what it would do, and does nothing; nor does it obey or pass on a notification. Checks are asked all the same.
    if resource.flag("noop") == Some(true) {
        let asks = resource.type_name.as_str() == "Exec" && resource.flag("refreshonly") != Some(true);
        return if asks { exec::checks_alone(machine, resource) } else { Model::nothing() };
    }
    match scheduled(catalog, resource) {
        Scheduled::Always => unscheduled(machine, catalog, resource),
        Scheduled::Never => Model::nothing(),
        Scheduled::Sometimes => {
            let model = unscheduled(machine, catalog, resource);
            let cells = model.touched();
            model.not_known("its schedule decides whether a run applies it", Reach::Cells(cells))
        }
        Scheduled::Missing(name) => {
            let reason = format!("there is no schedule {name}, so that Puppet ends the run with an error");
            Model::new(Program::fail(&reason)).not_known(&reason, Reach::Everything)
        }
    }
}

fn unscheduled(machine: &mut Machine<'_>, catalog: &Catalog, resource: &Resource) -> Model {
    // What the user says wins.
    if let Some(model) = declared::model(machine, resource) {
        return model;
    }
    match (of(resource), resource.type_name.as_str()) {
        (Some(known), _) => known.model(machine, catalog, resource),
        (None, "Whit" | "Class") => Model::pass(),
        (None, "Component") => Model::nothing(),
        _ => small::unmodelled(machine, resource),
    }
}
