//! The models, a file for each kind of resource.

pub(crate) mod accounts;
pub(crate) mod concat;
pub(crate) mod declared;
pub(crate) mod exec;
pub(crate) mod file;
pub(crate) mod package;
pub(crate) mod parsed;
pub(crate) mod perform;
pub(crate) mod service;
pub(crate) mod small;

use setpoint_catalog::{Catalog, Resource};
use setpoint_state::{Manages, Program, Reach, Test, Unknown};

use crate::attributes::Attributes;
use crate::machine::Machine;

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
    pub(crate) manages: Manages,
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
            manages: Manages::AllItWrites,
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

    pub(crate) fn not_known(mut self, reason: &str, reach: Reach) -> Self {
        self.unknown = Some(Unknown { reason: reason.into(), reach });
        self
    }
}

/// A parameter whose value was not computed, unless it is a text that a model only hands on.
fn unknown_parameter(resource: &Resource) -> Option<(&str, &str)> {
    const HANDED_ON: [&str; 5] = ["content", "message", "password", "comment", "key"];
    let mut asked = resource.parameters.iter().filter(|one| !HANDED_ON.contains(&one.name.as_str()));
    asked.find_map(|one| Some((one.name.as_str(), &*one.value.unknown_part()?.reason)))
}

/// Whether a schedule keeps a resource from ever being applied.
fn schedule_never(catalog: &Catalog, resource: &Resource) -> bool {
    let Some(name) = resource.text("schedule") else { return false };
    let named = catalog
        .iter()
        .find(|(_, other)| other.type_name.as_str() == "Schedule" && other.name_or_title("name") == name);
    match named {
        Some((_, schedule)) => schedule.text("period").as_deref() == Some("never"),
        None => name == "never",
    }
}

/// The model of one resource.
pub(crate) fn model(machine: &mut Machine<'_>, catalog: &Catalog, resource: &Resource) -> Model {
    // It says what it would do, and does nothing; nor does it obey or pass on a notification.
    if resource.flag("noop") == Some(true) || schedule_never(catalog, resource) {
        return Model::nothing();
    }
    // What the user says wins.
    if let Some(model) = declared::model(machine, resource) {
        return model;
    }
    if let Some((name, reason)) = unknown_parameter(resource) {
        let words = format!("`{name}` is not known: {reason}");
        return Model::nothing().not_known(&words, Reach::Everything);
    }
    match resource.type_name.as_str() {
        "File" => file::model(machine, resource),
        "Package" => package::model(machine, resource),
        "Service" => service::model(machine, resource),
        "User" => accounts::user(machine, catalog, resource),
        "Group" => accounts::group(machine, catalog, resource),
        "Exec" => exec::model(machine, resource),
        "Notify" => small::notify(),
        "Anchor" | "Whit" | "Stage" | "Class" => Model::pass(),
        "Schedule" | "Filebucket" | "Component" => Model::nothing(),
        "Concat_file" => concat::file(machine, catalog, resource),
        "Concat_fragment" => Model::nothing(),
        "Tidy" => small::tidy(machine, resource),
        "Resources" => small::resources(machine, resource),
        "Archive" => small::archive(machine, resource),
        "Vcsrepo" => small::vcsrepo(machine, resource),
        _ => parsed::model(machine, resource).unwrap_or_else(|| small::unmodelled(machine, resource)),
    }
}
