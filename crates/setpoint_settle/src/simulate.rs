//! A run of a catalog, step by step.

use serde_json::{Value as Json, json};
use setpoint_resources::Modelled;
use setpoint_source::{Random, Sources};
use setpoint_state::{CellId, Event, Reach, Runner, State, Status, StepId, Value};

use crate::Question;
use crate::findings::FindingBuilder;
use crate::next_run::{Assuming, Open, assuming, open_values};

/// Which order is run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Turn {
    /// The one that Puppet takes.
    Puppet,
    /// Any that is permitted, drawn by this seed.
    Random(u64),
}

/// What one resource did.
#[derive(Clone, Debug)]
pub struct Done {
    pub name: String,
    /// `path:line:column` of its declaration.
    pub place: Option<String>,
    pub status: Status,
    pub refreshed: bool,
    /// What it changed, and why it failed or was skipped, in words.
    pub effects: Vec<String>,
}

/// A run from the plainest admissible start, and how much a second one does.
#[derive(Clone, Debug, Default)]
pub struct Simulation {
    pub steps: Vec<Done>,
    /// The names of resources that change something in a second run.
    pub again: Vec<String>,
    /// What no model knows.
    pub open: Vec<Open>,
    /// What is taken for granted about the catalog.
    pub assuming: Vec<Assuming>,
}

/// Runs a catalog on a machine that nothing has been installed on. None if no start is admissible.
pub fn simulate(question: &Question<'_>, turn: Turn) -> Option<Simulation> {
    let modelled = setpoint_resources::plan(question.catalog, question.graph, question.world);
    let start = setpoint_verify::plain_start(&modelled.plan, question.options)?;
    let builder = FindingBuilder::new(question, &modelled, &[], None);
    let runner = Runner::new(&modelled.plan, question.options.semantics);
    let order = match turn {
        Turn::Puppet => runner.puppet_order(),
        Turn::Random(seed) => shuffled(modelled.plan.steps.len(), seed),
    };
    let run = runner.trace(&start, &order);
    let mut simulation = Simulation::default();
    let shown = |step: StepId| modelled.plan.steps.get(step.0 as usize).is_some_and(|step| !step.passes_on);
    let mut now = start;
    let mut at: Option<usize> = None;
    for event in &run.events {
        let step = step_of(event);
        if let Event::Turn(step) = event
            && shown(*step)
        {
            simulation.steps.push(Done {
                name: builder.words.step(*step).to_owned(),
                place: builder.resource(*step).and_then(|id| place(question.sources, question, id)),
                status: run.statuses.get(step.0 as usize).copied().unwrap_or(Status::None),
                refreshed: run.refreshed.get(step.0 as usize).copied().unwrap_or(false),
                effects: Vec::new(),
            });
            at = Some(simulation.steps.len() - 1);
        }
        if !shown(step) {
            continue;
        }
        let told = tell(&builder, event, &mut now);
        if let (Some(at), Some(told)) = (at, told)
            && let Some(done) = simulation.steps.get_mut(at)
        {
            done.effects.push(told);
        }
    }
    let second = runner.run(&run.end, &order);
    let changed = second.statuses.iter().enumerate().filter(|(_, status)| **status == Status::Changed);
    let restless = changed.map(|(at, _)| StepId(at as u32)).filter(|&step| shown(step));
    simulation.open = open(&modelled, question);
    simulation.assuming = assuming(&[(&modelled, question)]);
    simulation.again = restless.map(|step| builder.words.step(step).to_owned()).collect();
    Some(simulation)
}

/// Returns what no model knows on a plain machine, and what was not computed.
fn open(modelled: &Modelled, question: &Question<'_>) -> Vec<Open> {
    let steps = modelled.plan.steps.iter().enumerate();
    let unknown = steps.filter(|(at, _)| !modelled.plain.contains(&StepId(*at as u32)));
    let told = unknown.filter_map(|(_, step)| {
        let unknown = step.unknown.as_ref()?;
        Some(Open {
            resource: step.name.to_string(),
            reason: unknown.reason.to_string(),
            reaches_everything: unknown.reach == Reach::Everything,
            is_old: false,
        })
    });
    let mut found = told.collect();
    open_values(question.catalog, false, &mut found);
    found
}

fn step_of(event: &Event) -> StepId {
    match event {
        Event::Turn(step)
        | Event::Postponed(step)
        | Event::Skipped(step, _)
        | Event::Write { step, .. }
        | Event::Changed(step)
        | Event::Refresh(step)
        | Event::Failed(step, _) => *step,
    }
}

fn tell(builder: &FindingBuilder<'_>, event: &Event, now: &mut State) -> Option<String> {
    match event {
        Event::Write { cell, to, .. } => {
            now.set(*cell, to.clone());
            told_write(builder, *cell, to)
        }
        Event::Skipped(_, because) => {
            Some(format!("skipped, for {} failed or was skipped", builder.words.step(*because)))
        }
        Event::Refresh(_) => Some("refreshed".to_owned()),
        Event::Failed(_, reason) => Some(format!("fails: {reason}")),
        Event::Postponed(_) => Some("postponed: its provider cannot be used yet".to_owned()),
        Event::Turn(_) | Event::Changed(_) => None,
    }
}

fn told_write(builder: &FindingBuilder<'_>, cell: CellId, to: &Value) -> Option<String> {
    builder.words.fact(cell, to)
}

fn place(sources: &Sources, question: &Question<'_>, id: setpoint_catalog::ResourceId) -> Option<String> {
    Some(sources.place(question.catalog.get(id)?.span?))
}

/// A wish of an order that the seed alone decides.
fn shuffled(count: usize, seed: u64) -> Vec<StepId> {
    let mut order: Vec<StepId> = (0..count as u32).map(StepId).collect();
    Random::new(seed).shuffle(&mut order);
    order
}

impl Simulation {
    pub fn text(&self) -> String {
        let mut out = String::new();
        let width = self.steps.len().to_string().len();
        for (at, step) in self.steps.iter().enumerate() {
            let place = step.place.as_deref().map(|place| format!("  ({place})")).unwrap_or_default();
            out.push_str(&format!("{:>width$}. {}: {}{place}\n", at + 1, step.name, word(step)));
            for effect in &step.effects {
                out.push_str(&format!("{:width$}  {effect}\n", ""));
            }
        }
        for one in &self.open {
            out.push_str(&format!("Open: {}: {}.\n", one.resource, one.reason));
        }
        for one in &self.assuming {
            out.push_str(&format!("Assumed: {}.\n", one.words));
        }
        match self.again.as_slice() {
            [] if !self.open.is_empty() => {
                out.push_str("A second run changes nothing of which Setpoint knows.\n");
            }
            [] => out.push_str("A second run changes nothing.\n"),
            names => out.push_str(&format!("A second run changes again: {}.\n", names.join(", "))),
        }
        out
    }

    pub fn json(&self) -> Json {
        let steps: Vec<Json> = self
            .steps
            .iter()
            .map(|step| {
                json!({
                    "resource": step.name,
                    "location": step.place,
                    "status": word(step),
                    "refreshed": step.refreshed,
                    "effects": step.effects,
                })
            })
            .collect();
        let open: Vec<Json> =
            self.open.iter().map(|one| json!({"resource": one.resource, "reason": one.reason})).collect();
        let assuming: Vec<Json> =
            self.assuming.iter().map(|one| json!({"words": one.words, "resources": one.resources})).collect();
        json!({"steps": steps, "second_run_changes": self.again, "open": open, "assuming": assuming})
    }

    /// Whether a step failed.
    pub fn fails(&self) -> bool {
        self.steps.iter().any(|step| step.status == Status::Failed)
    }
}

fn word(step: &Done) -> &'static str {
    match step.status {
        Status::Changed => "changed",
        Status::Failed => "failed",
        Status::Skipped => "skipped",
        Status::Ok => "ok",
        Status::None => "not run",
    }
}
