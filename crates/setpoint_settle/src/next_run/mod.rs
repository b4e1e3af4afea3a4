//! What the next run does: the old catalog has been applied, and the new one is applied for the first time.
//!
//! [`next_run`] follows the interpreter from the plainest machine: the old catalog until it has settled, then the new one. What
//! it tells is what Puppet reports, step by step. How certain each step is, is asked of every admissible machine ([`possible`]):
//! what holds for all of them is [`Certainty::Certain`], what holds where nothing but the old catalog has been at work is
//! [`Certainty::Expected`], and what another machine may do is [`Certainty::Possible`]. A resource that no model describes is
//! [`Certainty::Open`], and so is, to a degree that is told, all that it may reach.

mod effects;
mod possible;
mod print;

use std::collections::{BTreeMap, BTreeSet};

use setpoint_catalog::{Catalog, Resource};
use setpoint_resources::{Assumed, Assumption, Base, Modelled, ModelledPair, is_never_scheduled, plan_pair};
use setpoint_source::Position;
use setpoint_state::{
    CellId, CellKind, Event, Plan, Program, Reach, Run, Runner, Semantics, Space, State, Status, StepId,
    Test, Value,
};
use setpoint_verify::Options;

pub use effects::{Action, Effect, EffectKind, Reported};
pub use print::Row;

use crate::Question;
use crate::words::Words;
use possible::{Chance, Fate, Possible, sleeps};

/// The old catalog is applied so often before its state is taken for what it leaves.
pub const SETTLING_RUNS: usize = 2;

/// What the first run of the new catalog does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NextRun {
    /// The resources that do something, or may, in the order in which Puppet applies them.
    pub steps: Vec<NextStep>,
    /// How many resources do nothing for certain.
    pub idle: usize,
    /// What the old catalog has and the new one has not.
    pub dropped: Vec<Dropped>,
    /// What changes something in every run from now on.
    pub every_run: Vec<EveryRun>,
    /// What no model knows.
    pub open: Vec<Open>,
    /// What is taken for granted about the two catalogs, as clauses that follow `if`.
    pub assuming: Vec<Assuming>,
    /// The resources that fail in the last run of the old catalog already.
    pub failing_before: Vec<String>,
}

/// What becomes of one resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextStep {
    pub resource: String,
    pub place: Option<Declaration>,
    pub declared: Declared,
    pub outcome: Outcome,
    /// What it changes, in the order in which it does.
    pub effects: Vec<Effect>,
    pub refresh: Option<Refresh>,
    pub certainty: Certainty,
    /// It may fail, and these are skipped then; none if it cannot, or does for certain.
    pub may_fail: Option<Vec<String>>,
    /// The old catalog declares the same, and applied once more it would do the same.
    pub as_before: bool,
}

/// Where a resource is declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declaration {
    pub path: String,
    pub line: u32,
}

/// How a resource stands in the two catalogs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Declared {
    Added,
    /// These parameters differ.
    Changed(Vec<String>),
    Same,
}

/// How a resource ends the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Unchanged,
    Changed,
    Failed {
        reason: String,
    },
    /// A resource that it depends on failed or was skipped.
    Skipped {
        because: String,
    },
    /// A schedule keeps every run from applying it.
    Unscheduled,
}

/// A resource is refreshed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refresh {
    pub action: Action,
    /// From the resource whose change began it to this one.
    pub chain: Vec<String>,
    /// The refresh itself fails.
    pub fails: bool,
}

/// For which machines something holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Certainty {
    /// For every machine on which the last run of the old catalog succeeded.
    Certain,
    /// For a machine on which nothing but the old catalog has been at work.
    Expected,
    /// Not for that machine, but perhaps for another.
    Possible,
    /// No model says.
    Open { reason: String },
}

/// A resource that is no longer in the catalog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    pub resource: String,
    /// What it declared and is still so after the run.
    pub stays: Vec<String>,
    /// What it declared and is no longer so after the run.
    pub goes: Vec<String>,
    /// The resources of the new catalog that now declare the same.
    pub taken_over_by: Vec<String>,
    /// Whether it may have done more than is told: a command, or what no model knows.
    pub is_open: bool,
}

/// A resource that changes something in every run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EveryRun {
    pub resource: String,
    /// It did so before this change, too.
    pub already: bool,
}

/// Something that is taken for granted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assuming {
    pub words: String,
    pub resources: Vec<String>,
}

/// Something that no model knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Open {
    pub resource: String,
    pub reason: String,
    /// It may touch anything, so that nothing else is certain.
    pub reaches_everything: bool,
    /// It is in the old catalog only, and has been at work before.
    pub is_old: bool,
}

/// Returns what the first run of the new catalog of a node does, or none if no machine fits what is assumed of the start.
///
/// What one more run of the old catalog would do just so is marked: the change does not bring it.
pub fn next_run(old: &Question<'_>, new: &Question<'_>) -> Option<NextRun> {
    let mut run = follow(old, new)?;
    if run.steps.iter().any(|step| step.declared == Declared::Same) {
        let again = follow(old, old).unwrap_or_default();
        let known: BTreeMap<&str, &NextStep> =
            again.steps.iter().map(|step| (&*step.resource, step)).collect();
        // What a type without a model does with a served file may change with the file.
        let reads_served: BTreeSet<String> = new
            .catalog
            .iter()
            .filter(|(_, one)| one.type_name.as_str() != "File" && names_served_file(one))
            .map(|(_, one)| one.to_string())
            .collect();
        for step in run.steps.iter_mut().filter(|step| !reads_served.contains(&*step.resource)) {
            let is_as = |other: &&NextStep| {
                (&step.outcome, &step.effects, &step.refresh, &step.certainty)
                    == (&other.outcome, &other.effects, &other.refresh, &other.certainty)
            };
            step.as_before = step.declared == Declared::Same && known.get(&*step.resource).is_some_and(is_as);
        }
    }
    Some(run)
}

/// Whether a parameter is the address of a file of a module, or a list that has one.
fn names_served_file(resource: &Resource) -> bool {
    let is_address = |value: &setpoint_puppet_values::Value| {
        value.as_str().is_some_and(|text| text.starts_with("puppet:///"))
    };
    resource.parameters.iter().any(|one| match one.value.as_array() {
        Some(items) => items.iter().any(is_address),
        None => is_address(&one.value),
    })
}

/// Follows the new catalog on what the old one leaves.
fn follow(old: &Question<'_>, new: &Question<'_>) -> Option<NextRun> {
    let modelled = plan_pair((old.catalog, old.graph, old.world), (new.catalog, new.graph, new.world));
    let options = Options { semantics: Semantics::Puppet, ..new.options.clone() };
    let start =
        with_services_down(&modelled.old.plan, setpoint_verify::plain_start(&modelled.old.plan, &options)?);
    let before = settle_old(&modelled.old, &start);
    let runner = Runner::new(&modelled.new.plan, Semantics::Puppet);
    let run = runner.trace(&before.end, &runner.puppet_order());
    let second = runner.run(&run.end, &run.order);
    let third = runner.run(&second.end, &run.order);
    let mut machines = Possible::starts(&modelled.old.plan, &modelled.old.assumed_start);
    let old_runner = Runner::new(&modelled.old.plan, Semantics::Puppet);
    for at in 1..=SETTLING_RUNS {
        // Only the last run is taken to succeed: an earlier one may fail for a folder of `cwd` that it makes itself, so that
        // the folder need not have been there at the start.
        machines.run(&old_runner, &before.order, at == SETTLING_RUNS, &|step| {
            acts_as_told(&modelled.old, old.catalog, step)
        });
    }
    let fates =
        machines.run(&runner, &run.order, false, &|step| acts_as_told(&modelled.new, new.catalog, step));
    let mut open = open(&modelled, new.catalog, &fates);
    for (side, is_old) in [(new, false), (old, true)] {
        open_values(side.catalog, is_old, &mut open);
    }
    let failing_before = failing(&modelled.old, &before);
    let teller = Teller {
        before: old,
        question: new,
        old: &modelled.old,
        new: &modelled.new,
        words: Words::new(&modelled.new, new.catalog),
        runner: &runner,
        start: &before.end,
        run: &run,
        fates: &fates,
        open: &open,
        assumed: assumed(&modelled.old, old.catalog).chain(assumed(&modelled.new, new.catalog)).collect(),
    };
    let (steps, idle) = teller.steps();
    let (dropped, every_run) = (teller.dropped(), teller.every_run(&third, &before));
    Some(NextRun {
        steps,
        idle,
        dropped,
        every_run,
        assuming: assuming(&[(&modelled.old, old), (&modelled.new, new)]),
        open,
        failing_before,
    })
}

/// Nothing has been at work on a plain machine: no service runs, and none starts at boot, unless something says so.
fn with_services_down(plan: &Plan, mut start: State) -> State {
    let mut tests: BTreeMap<CellId, Vec<&Test>> = BTreeMap::new();
    for test in plan.start.iter().chain(&plan.laws) {
        let mut cells = Vec::new();
        test.cells(&mut cells);
        cells.sort_unstable();
        cells.dedup();
        for cell in cells {
            tests.entry(cell).or_default().push(test);
        }
    }
    for (id, cell) in plan.space.iter() {
        let down = match cell.key.kind {
            CellKind::Running => "stopped",
            CellKind::Enabled => "false",
            _ => continue,
        };
        // What does not run has loaded nothing.
        let loaded = plan.space.iter().filter(|(_, other)| {
            cell.key.kind == CellKind::Running
                && other.key.kind == CellKind::Loaded
                && other.key.name == cell.key.name
        });
        let loaded: Vec<CellId> = loaded.map(|(loaded, _)| loaded).collect();
        let mut other = start.clone();
        other.set(id, Value::text(down));
        for &loaded in &loaded {
            other.set(loaded, Value::Absent);
        }
        let touched = loaded.iter().chain([&id]).filter_map(|cell| tests.get(cell)).flatten();
        if touched.into_iter().all(|test| other.holds(test)) {
            start = other;
        }
    }
    start
}

/// Applies the old catalog as often as it takes to settle, and returns the last run.
fn settle_old(modelled: &Modelled, start: &State) -> Run {
    let runner = Runner::new(&modelled.plan, Semantics::Puppet);
    let order = runner.puppet_order();
    let mut run = runner.run(start, &order);
    for _ in 1..SETTLING_RUNS {
        run = runner.run(&run.end, &order);
    }
    run
}

fn failing(modelled: &Modelled, run: &Run) -> Vec<String> {
    let steps = modelled.plan.steps.iter().zip(&run.statuses);
    let failed = steps.filter(|(step, status)| !step.passes_on && **status == Status::Failed);
    failed.map(|(step, _)| step.name.to_string()).collect()
}

/// Whether it is known when a step acts, although not what it does then: a package that no index lists is installed if it is not
/// there.
fn acts_as_told(modelled: &Modelled, catalog: &Catalog, step: StepId) -> bool {
    let resource = modelled.resources.get(step.0 as usize).and_then(|&id| catalog.get(id));
    resource.is_some_and(|resource| resource.type_name.as_str() == "Package")
}

/// What no model knows: in the new catalog, unless it does nothing for certain; in the old one, if it may have touched anything.
/// What else the old one touched is a part of the machines that are asked about.
fn open(modelled: &ModelledPair, new: &Catalog, fates: &[Fate]) -> Vec<Open> {
    let mut found: Vec<Open> = Vec::new();
    for (side, is_old) in [(&modelled.new, false), (&modelled.old, true)] {
        for (at, step) in side.plan.steps.iter().enumerate() {
            let Some(unknown) = &step.unknown else { continue };
            let reaches_everything = unknown.reach == Reach::Everything;
            let is_idle = || {
                let acts = fates.get(at).is_none_or(|fate| fate.acts());
                !acts && (sleeps(step) || acts_as_told(side, new, StepId(at as u32)))
            };
            let is_plain = || side.plain.contains(&StepId(at as u32));
            let is_told = if is_old { reaches_everything } else { !is_idle() && !is_plain() };
            if !is_told || found.iter().any(|known| *known.resource == *step.name) {
                continue;
            }
            found.push(Open {
                resource: step.name.to_string(),
                reason: unknown.reason.to_string(),
                reaches_everything,
                is_old,
            });
        }
    }
    found
}

/// Values that were not computed leave it open what their resources do.
pub(crate) fn open_values(catalog: &Catalog, is_old: bool, found: &mut Vec<Open>) {
    for (_, resource) in catalog.iter().filter(|(_, resource)| !resource.virtual_) {
        let mut parameters = resource.parameters.iter();
        let unknown = parameters.find_map(|one| Some((one.name, one.value.why_unknown()?)));
        let Some((name, why)) = unknown else { continue };
        let resource = resource.reference();
        if !found.iter().any(|known| known.resource == resource) {
            let reason = format!("the value of `{name}` is not known: {why}");
            found.push(Open { resource, reason, reaches_everything: false, is_old });
        }
    }
}

/// The resources for which something is assumed that may not hold. That a path is there, or is no folder, is not counted: what
/// another machine does is asked.
fn assumed<'a>(modelled: &'a Modelled, catalog: &'a Catalog) -> impl Iterator<Item = String> + 'a {
    let is_counted = |one: &&Assumed| {
        !matches!(one.assumption, Assumption::PlainFile { .. } | Assumption::ExistingDirectory { .. })
    };
    let resources = modelled.assumptions.iter().filter(is_counted).flat_map(|one| &one.resources);
    resources.filter_map(|&id| catalog.get(id)).map(Resource::reference)
}

/// Returns what is taken for granted about catalogs, each with the resources for which it is.
pub(crate) fn assuming(sides: &[(&Modelled, &Question<'_>)]) -> Vec<Assuming> {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (modelled, question) in sides {
        for one in &modelled.assumptions {
            let names = one.resources.iter().filter_map(|&id| question.catalog.get(id));
            found
                .entry(crate::assumptions::words(&one.assumption))
                .or_default()
                .extend(names.map(Resource::reference));
        }
    }
    let told = found.into_iter();
    told.map(|(words, resources)| Assuming { words, resources: resources.into_iter().collect() }).collect()
}

/// Tells a run.
struct Teller<'a> {
    /// The old catalog and the new one.
    before: &'a Question<'a>,
    question: &'a Question<'a>,
    old: &'a Modelled,
    new: &'a Modelled,
    words: Words<'a>,
    runner: &'a Runner<'a>,
    /// The state in which the run begins.
    start: &'a State,
    run: &'a Run,
    fates: &'a [Fate],
    open: &'a [Open],
    /// The resources for which something is assumed.
    assumed: BTreeSet<String>,
}

impl Teller<'_> {
    fn resource(&self, step: StepId) -> Option<&Resource> {
        self.question.catalog.get(*self.new.resources.get(step.0 as usize)?)
    }

    fn name(&self, step: StepId) -> String {
        self.words.step(step).to_owned()
    }

    fn passes_on(&self, step: StepId) -> bool {
        self.new.plan.steps.get(step.0 as usize).is_none_or(|step| step.passes_on)
    }

    /// Returns the steps that do something or may, and how many others there are.
    fn steps(&self) -> (Vec<NextStep>, usize) {
        let (mut told, mut idle) = (Vec::new(), 0);
        for &step in &self.run.order {
            if self.passes_on(step) {
                continue;
            }
            match self.step(step) {
                Some(one) => told.push(one),
                None => idle += 1,
            }
        }
        (told, idle)
    }

    fn step(&self, id: StepId) -> Option<NextStep> {
        let at = id.0 as usize;
        let (step, fate) = (self.new.plan.steps.get(at)?, *self.fates.get(at)?);
        let status = self.run.statuses.get(at).copied().unwrap_or(Status::None);
        let resource = self.resource(id)?;
        let is_notified = self.run.refreshed.get(at).copied().unwrap_or(false);
        let is_refreshed = is_notified && !self.starts_in_its_turn(id, resource)
            || (effects::refreshes_itself(resource) && self.changes_by_itself(id));
        let outcome = match status {
            Status::Changed => Outcome::Changed,
            Status::Failed => Outcome::Failed { reason: self.failure(id) },
            Status::Skipped => Outcome::Skipped { because: self.obstacle(id) },
            Status::Ok | Status::None if is_never_scheduled(self.question.catalog, resource) => {
                Outcome::Unscheduled
            }
            Status::Ok | Status::None => Outcome::Unchanged,
        };
        let open = self.find_open(&step.name);
        if outcome == Outcome::Unchanged && !is_refreshed && !fate.acts() && open.is_none() {
            return None;
        }
        let refresh = is_refreshed.then(|| Refresh {
            action: self.action(id, resource),
            chain: self.chain(id),
            fails: self.fails_when_refreshed(id),
        });
        let certainty = match open {
            Some(open) => Certainty::Open { reason: open.reason.clone() },
            None if outcome == Outcome::Unchanged && !is_refreshed => Certainty::Possible,
            None => match self.why_open(id, fate, &outcome, refresh.as_ref()) {
                Some(reason) => Certainty::Open { reason },
                None if self.is_certain(id) && is_decided(fate, &outcome, is_refreshed) => Certainty::Certain,
                None => Certainty::Expected,
            },
        };
        let may_fail = (fate.failed == Chance::Maybe && !matches!(outcome, Outcome::Failed { .. }))
            .then(|| self.dependants(id));
        Some(NextStep {
            resource: step.name.to_string(),
            place: self.place(resource),
            declared: self.declared(resource),
            effects: self.effects(id, resource),
            refresh,
            outcome,
            certainty,
            may_fail,
            as_before: false,
        })
    }

    /// What is open about a resource of the new catalog.
    fn find_open(&self, name: &str) -> Option<&Open> {
        self.open.iter().find(|open| !open.is_old && *open.resource == *name)
    }

    /// Why it is open what becomes of a step that is known itself: what is told of it follows from a step that is open.
    fn why_open(
        &self,
        step: StepId,
        fate: Fate,
        outcome: &Outcome,
        refresh: Option<&Refresh>,
    ) -> Option<String> {
        if let Some(version) = effects::version_beside_latest(&self.new.plan.space, self.run, step) {
            return Some(format!("whether {version} is the latest version is not known"));
        }
        if let Outcome::Skipped { because } = outcome
            && self.find_open(because).is_some()
        {
            return Some(format!("whether {because} fails is open"));
        }
        let chain = refresh.filter(|_| fate.refreshed != Chance::Always)?.chain.split_last()?.1;
        let source = chain.iter().find(|name| self.find_open(name).is_some())?;
        Some(format!("whether {source} notifies it is open"))
    }

    fn action(&self, step: StepId, resource: &Resource) -> Action {
        let checks = self.new.checks.get(&step);
        if checks.is_some_and(|checks| !self.state_at_refresh(step).holds(checks)) {
            return Action::HeldBack;
        }
        effects::action(resource, self.machine(), self.run, step)
    }

    /// Whether a service is started before it would be refreshed: Puppet drops the notifications of such a service.
    fn starts_in_its_turn(&self, step: StepId, resource: &Resource) -> bool {
        let refresh = self.new.plan.steps.get(step.0 as usize).map(|step| &step.refresh);
        match refresh {
            Some(Program::If(test, _, otherwise)) if resource.type_name.as_str() == "Service" => {
                matches!(**otherwise, Program::Skip) && !self.state_at_refresh(step).holds(test)
            }
            _ => false,
        }
    }

    /// The state that a step finds when it is refreshed.
    fn state_at_refresh(&self, step: StepId) -> State {
        let mut state = self.start.clone();
        for event in self.run.events.iter().take_while(|event| **event != Event::Refresh(step)) {
            if let Event::Write { cell, to, .. } = event {
                state.set(*cell, to.clone());
            }
        }
        state
    }

    fn fails_when_refreshed(&self, step: StepId) -> bool {
        let after = self.run.events.iter().skip_while(|event| **event != Event::Refresh(step));
        after.into_iter().any(|event| matches!(event, Event::Failed(of, _) if *of == step))
    }

    /// Whether nothing is open that may reach the step, and nothing is assumed for it.
    fn is_certain(&self, step: StepId) -> bool {
        let is_assumed = self.assumed.contains(self.words.step(step));
        let before = self.run.order.iter().take_while(|&&other| other != step);
        let names: BTreeSet<&str> = before.map(|&other| self.words.step(other)).collect();
        // What the old catalog has, too, has been at work in every run before this one.
        let earlier: BTreeSet<&str> = self.old.plan.steps.iter().map(|step| &*step.name).collect();
        let reaches = |open: &Open| {
            open.reaches_everything
                && (open.is_old || names.contains(&*open.resource) || earlier.contains(&*open.resource))
        };
        !is_assumed && !self.open.iter().any(reaches)
    }

    fn place(&self, resource: &Resource) -> Option<Declaration> {
        // The place in the manifest; a stored catalog knows it, too.
        if let (Some(path), Some(line)) = (&resource.file, resource.line) {
            return Some(Declaration { path: path.to_string(), line });
        }
        let span = resource.span?;
        let Position { line, .. } = self.question.sources.position(span);
        Some(Declaration { path: self.question.sources.file(span.file).path().to_owned(), line })
    }

    fn declared(&self, resource: &Resource) -> Declared {
        let old = self.before.catalog;
        let Some(before) = old.find(resource.type_name, &resource.title).and_then(|id| old.get(id)) else {
            return Declared::Added;
        };
        let differing: BTreeSet<String> = before
            .parameters
            .iter()
            .chain(&resource.parameters)
            .map(|parameter| parameter.name)
            .filter(|&name| before.parameters.get(name) != resource.parameters.get(name))
            .map(|name| name.as_str().to_owned())
            .collect();
        if differing.is_empty() { Declared::Same } else { Declared::Changed(differing.into_iter().collect()) }
    }

    fn failure(&self, step: StepId) -> String {
        let reason = self.run.events.iter().find_map(|event| match event {
            Event::Failed(of, reason) if *of == step => Some(reason.to_string()),
            _ => None,
        });
        reason.unwrap_or_default()
    }

    /// The resource whose failure skips a step: containers pass it on.
    fn obstacle(&self, step: StepId) -> String {
        let mut at = step;
        let mut seen = BTreeSet::new();
        loop {
            let because = self.run.events.iter().find_map(|event| match event {
                Event::Skipped(of, because) if *of == at => Some(*because),
                _ => None,
            });
            match because {
                Some(because) if seen.insert(because) => at = because,
                _ => return self.name(at),
            }
        }
    }

    /// The resources that come after a step, and so are skipped if it fails.
    fn dependants(&self, step: StepId) -> Vec<String> {
        let mut seen = BTreeSet::from([step.0]);
        let mut work = vec![step];
        while let Some(at) = work.pop() {
            work.extend(
                self.runner.after(at).iter().filter(|&&next| seen.insert(next)).map(|&next| StepId(next)),
            );
        }
        let after = self.run.order.iter().filter(|&&other| other != step && seen.contains(&other.0));
        after.filter(|&&other| !self.passes_on(other)).map(|&other| self.name(other)).collect()
    }

    /// The way of a notification, from the change that began it. Of several the first in Puppet's order is told.
    fn chain(&self, step: StepId) -> Vec<String> {
        let mut sources: BTreeMap<u32, Vec<StepId>> = BTreeMap::new();
        for &(from, to) in &self.new.plan.notifies {
            sources.entry(to.0).or_default().push(from);
        }
        let rank: BTreeMap<StepId, usize> =
            self.run.order.iter().enumerate().map(|(at, &step)| (step, at)).collect();
        let mut chain = vec![self.name(step)];
        let mut seen = BTreeSet::from([step]);
        let mut at = step;
        loop {
            let active = |from: &&StepId| {
                let status = self.run.statuses.get(from.0 as usize);
                self.passes_on(**from) && self.reaches_change(**from, &sources, &mut BTreeSet::new())
                    || status == Some(&Status::Changed)
            };
            let from = sources.get(&at.0).into_iter().flatten().filter(active);
            let Some(&from) = from.min_by_key(|from| rank.get(from)) else { break };
            if !seen.insert(from) {
                break;
            }
            if !self.passes_on(from) {
                chain.push(self.name(from));
            }
            // What changes by itself began it; what was only refreshed passes it on.
            let own_change = self.changes_by_itself(from);
            at = from;
            if own_change {
                break;
            }
        }
        chain.reverse();
        chain
    }

    /// Whether a container passes on a change.
    fn reaches_change(
        &self,
        step: StepId,
        sources: &BTreeMap<u32, Vec<StepId>>,
        seen: &mut BTreeSet<StepId>,
    ) -> bool {
        let mut work = vec![step];
        while let Some(at) = work.pop() {
            for &from in sources.get(&at.0).into_iter().flatten() {
                if !seen.insert(from) {
                    continue;
                }
                if self.passes_on(from) {
                    work.push(from);
                } else if self.run.statuses.get(from.0 as usize) == Some(&Status::Changed) {
                    return true;
                }
            }
        }
        false
    }

    /// Whether a step reports a change before it is refreshed.
    fn changes_by_itself(&self, step: StepId) -> bool {
        let mut own = self.run.events.iter().filter(|event| match event {
            Event::Changed(of) | Event::Refresh(of) => *of == step,
            _ => false,
        });
        matches!(own.next(), Some(Event::Changed(_)))
    }

    fn effects(&self, step: StepId, resource: &Resource) -> Vec<Effect> {
        effects::of(&self.words, self.machine(), self.run, step, resource)
    }

    /// The cells of the new plan, and what every machine of its platform has.
    fn machine(&self) -> (&Space, &Base) {
        (&self.new.plan.space, self.question.world.base)
    }

    fn dropped(&self) -> Vec<Dropped> {
        let (old, new) = (self.before.catalog, self.question.catalog);
        let words = Words::new(self.old, old);
        let mut managed: BTreeMap<CellId, Vec<StepId>> = BTreeMap::new();
        for (at, step) in self.new.plan.steps.iter().enumerate() {
            for cell in step.apply.written().into_iter().filter(|&cell| step.manages(cell)) {
                managed.entry(cell).or_default().push(StepId(at as u32));
            }
        }
        let mut found = Vec::new();
        for (step, &id) in self.old.plan.steps.iter().zip(&self.old.resources) {
            let resource: &Resource = &old[id];
            if step.passes_on || new.find(resource.type_name, &resource.title).is_some() {
                continue;
            }
            let written: Vec<CellId> = step.apply.written();
            let cells: Vec<CellId> = written
                .iter()
                .copied()
                .filter(|&cell| self.is_told(step.manages(cell), cell, resource))
                .collect();
            let (mut stays, mut goes, mut taken_over_by) = (Vec::new(), Vec::new(), BTreeSet::new());
            for cell in cells {
                let (was, is) = (self.start.get(cell), self.run.end.get(cell));
                taken_over_by.extend(managed.get(&cell).into_iter().flatten().map(|&step| self.name(step)));
                if *was == Value::Absent {
                    continue;
                }
                let (list, fact) = if was == is {
                    (&mut stays, words.thing(cell, was))
                } else {
                    (&mut goes, words.fact(cell, is))
                };
                if let Some(fact) = fact.filter(|fact| !list.contains(fact)) {
                    list.push(fact);
                }
            }
            found.push(Dropped {
                resource: resource.reference(),
                stays,
                goes,
                taken_over_by: taken_over_by.into_iter().collect(),
                is_open: step.unknown.is_some() || resource.type_name.as_str() == "Exec",
            });
        }
        found
    }

    /// Whether a cell tells what a dropped resource leaves: what it stands for, and that a package or file is there whatever
    /// its version or content.
    fn is_told(&self, manages: bool, cell: CellId, resource: &Resource) -> bool {
        use setpoint_state::CellKind::{Package, Path};
        let Some(cell) = self.old.plan.space.get(cell) else { return false };
        let type_name = resource.type_name.as_str();
        manages
            || (type_name == "Package" && cell.key.kind == Package && *cell.key.name == *resource.title)
            || (type_name == "File" && cell.key.kind == Path && *cell.key.name == *resource.title)
    }

    fn every_run(&self, third: &Run, before: &Run) -> Vec<EveryRun> {
        let changed = |run: &Run, at: usize| run.statuses.get(at) == Some(&Status::Changed);
        let earlier: BTreeSet<&str> = self
            .old
            .plan
            .steps
            .iter()
            .enumerate()
            .filter(|(at, step)| !step.passes_on && changed(before, *at))
            .map(|(_, step)| &*step.name)
            .collect();
        // A command that nobody knows may well bring about what its checks ask for.
        let may_calm_down = |at: usize| {
            let resource = self.resource(StepId(at as u32));
            let is_checked =
                |one: &Resource| ["creates", "unless", "onlyif"].iter().any(|check| one.get(check).is_some());
            resource.is_some_and(is_checked)
        };
        let steps = self.new.plan.steps.iter().enumerate();
        let restless = steps.filter(|(at, step)| {
            !step.passes_on && changed(third, *at) && (step.unknown.is_none() || !may_calm_down(*at))
        });
        restless
            .map(|(_, step)| EveryRun {
                resource: step.name.to_string(),
                already: earlier.contains(&*step.name),
            })
            .collect()
    }
}

/// Whether what happens is what must happen.
fn is_decided(fate: Fate, outcome: &Outcome, is_refreshed: bool) -> bool {
    let decided = [fate.changed, fate.failed, fate.skipped, fate.refreshed];
    let matches = match outcome {
        Outcome::Changed => fate.changed == Chance::Always,
        Outcome::Failed { .. } => fate.failed == Chance::Always,
        Outcome::Skipped { .. } => fate.skipped == Chance::Always,
        Outcome::Unchanged | Outcome::Unscheduled => true,
    };
    matches && (!is_refreshed || fate.refreshed == Chance::Always) && !decided.contains(&Chance::Maybe)
}
