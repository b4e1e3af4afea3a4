//! A run of a catalog, step by step.

use serde_json::{Value as Json, json};
use setpoint_source::{Random, Sources};
use setpoint_state::{CellId, Event, Runner, State, Status, StepId, Value};

use crate::Question;
use crate::findings::FindingBuilder;

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
    simulation.again = restless.map(|step| builder.words.step(step).to_owned()).collect();
    Some(simulation)
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
        match self.again.as_slice() {
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
        json!({"steps": steps, "second_run_changes": self.again})
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
