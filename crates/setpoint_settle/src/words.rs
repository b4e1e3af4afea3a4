//! Cells, values and runs in plain words.
//!
//! The content of a file is never quoted: it may hold a secret. It is called by what declares it.

use rustc_hash::FxHashMap;
use setpoint_catalog::Catalog;
use setpoint_puppet_values::Data;
use setpoint_resources::{Modelled, Origin, RECOMMENDED};
use setpoint_source::StoryFact;
use setpoint_state::{CellId, CellKey, CellKind, Event, Kind, Plan, Run, State, Status, StepId, Value};

/// Says what cells hold.
pub(crate) struct Words<'a> {
    plan: &'a Plan,
    modelled: &'a Modelled,
    /// Which resource declares a content.
    declared: FxHashMap<&'a str, String>,
}

/// Facts about a start or an end that are told at most; more are counted.
const MAX_FACTS: usize = 4;

impl<'a> Words<'a> {
    pub(crate) fn new(modelled: &'a Modelled, catalog: &'a Catalog) -> Self {
        let mut declared = FxHashMap::default();
        for (_, resource) in catalog.iter() {
            if let Some(Data::String(text)) = resource.get("content").map(|value| &value.data) {
                declared.entry(&**text).or_insert_with(|| resource.reference());
            }
        }
        Self { plan: &modelled.plan, modelled, declared }
    }

    pub(crate) fn step(&self, step: StepId) -> &str {
        self.plan.steps.get(step.0 as usize).map_or("", |step| &*step.name)
    }

    /// What cells hold, in one sentence: `/etc/x does not exist, and the user app does`.
    pub(crate) fn state(&self, state: &State, cells: &[CellId]) -> String {
        match self.chosen_facts(state, cells).as_slice() {
            [] => "any".to_owned(),
            [one] => one.clone(),
            [rest @ .., last] => format!("{}, and {last}", rest.join(", ")),
        }
    }

    /// What cells hold, a fact each: those that people think of first, and not too many.
    pub(crate) fn chosen_facts(&self, state: &State, cells: &[CellId]) -> Vec<String> {
        let mut cells: Vec<CellId> = cells.to_vec();
        cells.sort_by_key(|&cell| self.weight(cell));
        let plain = |cell: &CellId| self.is_beside_the_point(*cell, state.get(*cell));
        // Unless there is nothing else to tell.
        if !cells.iter().all(plain) {
            cells.retain(|cell| !plain(cell));
        }
        let mut facts = self.facts(state, &cells);
        facts.truncate(MAX_FACTS);
        facts
    }

    /// What cells hold, each fact once: a file that is not there has no mode and no owner either.
    pub(crate) fn facts(&self, state: &State, cells: &[CellId]) -> Vec<String> {
        let mut facts: Vec<String> = Vec::new();
        for fact in cells.iter().filter_map(|&cell| self.fact(cell, state.get(cell))) {
            if !facts.contains(&fact) {
                facts.push(fact);
            }
        }
        facts
    }

    /// What exists has a mode, an owner and a group: that they are some others tells nothing.
    fn is_beside_the_point(&self, cell: CellId, value: &Value) -> bool {
        let kind = self.plan.space.get(cell).map(|cell| cell.key.kind);
        matches!(kind, Some(CellKind::Mode | CellKind::Owner | CellKind::Group))
            && matches!(value, Value::Fresh(..))
    }

    /// What people think of first comes first.
    fn weight(&self, cell: CellId) -> u8 {
        // What stands for something that nobody thought of is the point of the story.
        if self.modelled.stand_ins.contains(&cell) {
            return 0;
        }
        match self.plan.space.get(cell).map(|cell| cell.key.kind) {
            Some(CellKind::Package) => 0,
            Some(CellKind::User | CellKind::UserGroup) => 1,
            Some(CellKind::Path | CellKind::Entry) => 2,
            Some(CellKind::Running) => 3,
            _ => 4,
        }
    }

    /// What one cell holds; none for cells that no user knows.
    pub(crate) fn fact(&self, cell: CellId, value: &Value) -> Option<String> {
        let CellKey { kind, name, detail } = &self.plan.space.get(cell)?.key;
        let detail = detail.as_deref().unwrap_or("");
        let absent = *value == Value::Absent;
        Some(match kind {
            CellKind::Path => self.path(name, value),
            CellKind::Mode | CellKind::Owner | CellKind::Group if absent => format!("{name} does not exist"),
            CellKind::Mode => format!("the mode of {name} is {}", self.value(value)),
            CellKind::Owner => format!("the owner of {name} is {}", self.value(value)),
            CellKind::Group => format!("the group of {name} is {}", self.value(value)),
            CellKind::Entry if absent => format!("{name} has no {detail}"),
            CellKind::Entry => format!("{name} has {detail}: {}", self.value(value)),
            CellKind::Package if absent => format!("the package {name} is not installed"),
            CellKind::Package => match value {
                Value::Text(text) if &**text == "config-files" => {
                    format!("the package {name} is removed, with its configuration left")
                }
                Value::Text(text) if !matches!(&**text, "present" | "installed") => {
                    format!("the package {name} is installed ({text})")
                }
                _ => format!("the package {name} is installed"),
            },
            CellKind::Running => match value {
                Value::Text(text) => format!("the service {name} is {text}"),
                _ => format!("the service {name} is not running"),
            },
            CellKind::Enabled if *value == Value::text("true") => {
                format!("the service {name} starts at boot")
            }
            CellKind::Enabled => format!("the service {name} does not start at boot"),
            CellKind::Loaded if detail.contains('\n') => {
                let (path, entry) = detail.split_once('\n').unwrap_or_default();
                format!("the service {name} runs with {entry} in {path} as it was when it was started")
            }
            CellKind::Loaded if absent => format!("the service {name} has not loaded {detail}"),
            CellKind::Loaded => format!("the service {name} runs with {} as {detail}", self.value(value)),
            CellKind::User if !detail.is_empty() => match value {
                Value::Absent => format!("the user {name} has no {detail}"),
                value if self.modelled.origins.of(value) == Some(&Origin::Secret) => {
                    format!("the {detail} of the user {name} is as declared")
                }
                _ => format!("the {detail} of the user {name} is {}", self.value(value)),
            },
            CellKind::UserGroup if !detail.is_empty() => {
                let is = if absent { "is not" } else { "is" };
                format!("the user {detail} {is} in the group {name}")
            }
            CellKind::GroupNumber => format!("the gid of the group {name} is {}", self.value(value)),
            CellKind::User if absent => format!("the user {name} does not exist"),
            CellKind::User => format!("the user {name} exists"),
            CellKind::UserGroup if absent => format!("the group {name} does not exist"),
            CellKind::UserGroup => format!("the group {name} exists"),
            CellKind::Snapshot => return None,
            CellKind::Other if detail == RECOMMENDED => {
                let what =
                    if absent { "no packages that others recommend" } else { "what packages recommend" };
                format!("the package manager installs {what}")
            }
            CellKind::Cron | CellKind::Host | CellKind::Mount | CellKind::Key | CellKind::Other => {
                let noun = match kind {
                    CellKind::Cron => "the cron job",
                    CellKind::Host => "the host entry",
                    CellKind::Mount => "the mount",
                    CellKind::Key => "the key",
                    _ => "the state of",
                };
                let of = if detail.is_empty() { String::new() } else { format!(" ({detail})") };
                if absent {
                    format!("{noun} {name}{of} does not exist")
                } else {
                    format!("{noun} {name}{of} is {}", self.value(value))
                }
            }
        })
    }

    /// What a cell stands for, as a thing that stays; none for what goes along with another cell.
    pub(crate) fn thing(&self, cell: CellId, value: &Value) -> Option<String> {
        let CellKey { kind, name, detail } = &self.plan.space.get(cell)?.key;
        Some(match (kind, value.kind()) {
            (_, Kind::Absent)
            | (CellKind::Mode | CellKind::Owner | CellKind::Group | CellKind::Snapshot, _) => {
                return None;
            }
            (CellKind::Path, Kind::Directory) => format!("the directory {name}"),
            (CellKind::Path, Kind::Link) => format!("the link {name}"),
            (CellKind::Path, _) => format!("the file {name}"),
            (CellKind::Package, _) => format!("the package {name}"),
            (CellKind::User, _) if detail.is_none() => format!("the user {name}"),
            (CellKind::UserGroup, _) if detail.is_none() => format!("the group {name}"),
            (CellKind::User | CellKind::UserGroup | CellKind::GroupNumber, _) => return None,
            (CellKind::Cron, _) => format!("the cron job {name}"),
            (CellKind::Host, _) => format!("the host entry {name}"),
            (CellKind::Mount, _) => format!("the mount {name}"),
            (CellKind::Key, _) => format!("the key {name}"),
            (CellKind::Entry, _) => format!("{} in {name}", detail.as_deref().unwrap_or("the entry")),
            (CellKind::Running | CellKind::Enabled | CellKind::Loaded | CellKind::Other, _) => {
                return self.fact(cell, value);
            }
        })
    }

    /// The path, package, service or account of a cell.
    pub(crate) fn name(&self, cell: CellId) -> &str {
        self.plan.space.get(cell).map_or("", |cell| &*cell.key.name)
    }

    /// Whether a content is known only by where it comes from.
    pub(crate) fn is_unread(&self, value: &Value) -> bool {
        let Value::File(text) = value else { return false };
        !self.declared.contains_key(&**text)
            && matches!(self.modelled.origins.of(value), Some(Origin::Package(_) | Origin::Elsewhere))
    }

    fn path(&self, path: &str, value: &Value) -> String {
        match value.kind() {
            Kind::Absent => format!("{path} does not exist"),
            Kind::Directory => format!("{path} is a directory"),
            Kind::Link => format!("{path} is a link to {}", self.value(value)),
            Kind::File | Kind::Text => format!("{path} is {}", self.value(value)),
        }
    }

    fn value(&self, value: &Value) -> String {
        match value {
            Value::Absent => "absent".to_owned(),
            Value::Directory => "a directory".to_owned(),
            Value::File(content) => match (self.declared.get(&**content), self.modelled.origins.of(value)) {
                (Some(resource), _) => format!("a file as {resource} declares it"),
                (None, Some(Origin::Package(package))) => {
                    format!("a file as the package {package} brings it")
                }
                (None, _) => "a file with a content of its own".to_owned(),
            },
            Value::Link(target) => target.to_string(),
            Value::Text(_) if self.modelled.origins.of(value) == Some(&Origin::Secret) => {
                "as declared".to_owned()
            }
            Value::Text(text) => format!("`{text}`"),
            Value::Fresh(Kind::File, _) => "a file with some other content".to_owned(),
            Value::Fresh(..) => "something else".to_owned(),
        }
    }

    /// How a run ends, as far as it differs from another: who fails or is skipped, and what the cells hold.
    pub(crate) fn end(&self, run: &Run, cells: &[CellId], steps: &[StepId]) -> Vec<StoryFact> {
        let mut facts: Vec<StoryFact> = Vec::new();
        let real = |step: &&StepId| self.plan.steps.get(step.0 as usize).is_some_and(|step| !step.passes_on);
        for &step in steps.iter().filter(real).take(MAX_FACTS) {
            let name = self.step(step);
            match run.statuses.get(step.0 as usize) {
                Some(Status::Failed) => {
                    let reason = run.events.iter().find_map(|event| match event {
                        Event::Failed(of, reason) if *of == step => Some(reason),
                        _ => None,
                    });
                    facts.push(StoryFact::bad(match reason {
                        Some(reason) => format!("{name} fails: {reason}"),
                        None => format!("{name} fails"),
                    }));
                }
                Some(Status::Skipped) => facts.push(StoryFact::bad(format!("{name} is skipped"))),
                Some(Status::Ok | Status::Changed) => facts.push(StoryFact::new(format!("{name} succeeds"))),
                Some(Status::None) | None => {}
            }
        }
        facts.extend(self.facts(&run.end, cells).into_iter().take(MAX_FACTS).map(StoryFact::new));
        facts
    }
}
