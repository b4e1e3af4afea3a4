//! The verdict on one instance.

use super::explain::{Explanation, explain};
use super::ground::Ground;
use super::run::{Run, maximal_run};
use super::search::{LeadsTo, leads_to};
use super::timeline::{Timeline, timeline};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Yes,
    No,
    Unknown,
}

impl Answer {
    /// As the JSON of `check` says it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::Unknown => "unknown",
        }
    }
}

/// What was proved about a model for all its instances; see the parametric engine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Any two enabled steps stay enabled and lead to the same state in both orders, in all states that the
    /// invariants allow.
    pub confluent: bool,
    /// A measure decreases with every step.
    pub terminating: bool,
}

impl Facts {
    /// One maximal run decides: every run ends, and all end in the same state.
    pub fn one_run_decides(&self) -> bool {
        self.confluent && self.terminating
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// States that search visits before it gives up.
    pub states: usize,
    /// Steps of one run.
    pub steps: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { states: 2_000_000, steps: 50_000_000 }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// One maximal run, since the model's facts make all runs end alike.
    OneRun,
    /// Search with reduction.
    Search { states: usize },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The run ends in a state that is not final.
    Deadlock(Explanation),
    /// The run comes back to where it was after `prefix` steps.
    Endless { prefix: usize },
}

#[derive(Clone, Debug)]
pub struct Outcome {
    /// Whether every run reaches a final state.
    pub reaches_final: Answer,
    pub method: Method,
    /// A run that shows it: to the final state, or to the failure. Absent if the search gave up.
    pub run: Option<Run>,
    pub failure: Option<Failure>,
    /// Of a run that reaches the final state.
    pub timeline: Option<Timeline>,
    /// Why the search gave up.
    pub limit: Option<Limit>,
}

/// What a search does not go beyond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    States,
    /// Messages at one place are counted up to 255.
    Messages,
}

/// Decides whether every run of the instance reaches a final state.
pub fn check(ground: &Ground<'_>, facts: &Facts, limits: Limits) -> Outcome {
    if facts.one_run_decides()
        && ground.malformed.is_empty()
        && let Some(outcome) = by_one_run(ground, limits)
    {
        return outcome;
    }
    by_search(ground, limits)
}

/// No answer if the run passes a final state and leaves it again: then the order may matter.
fn by_one_run(ground: &Ground<'_>, limits: Limits) -> Option<Outcome> {
    let run = maximal_run(ground, limits.steps);
    if !run.maximal {
        return None;
    }
    if ground.is_final(&run.end) {
        return Some(success(ground, run, Method::OneRun));
    }
    if passes_final(ground, &run) {
        return None;
    }
    let explanation = explain(ground, &run.end);
    Some(Outcome {
        reaches_final: Answer::No,
        method: Method::OneRun,
        run: Some(run),
        failure: Some(Failure::Deadlock(explanation)),
        timeline: None,
        limit: None,
    })
}

/// Whether the run passes a final state before its end. The look at a state mostly ends at its first object that is
/// not final, so this costs little.
fn passes_final(ground: &Ground<'_>, run: &Run) -> bool {
    let mut state = ground.start.clone();
    run.steps.iter().any(|&step| {
        let passed = ground.is_final(&state);
        Ground::apply(&ground.steps[step], &mut state);
        passed
    })
}

fn success(ground: &Ground<'_>, run: Run, method: Method) -> Outcome {
    let timeline = Some(timeline(ground, &run));
    Outcome { reaches_final: Answer::Yes, method, run: Some(run), failure: None, timeline, limit: None }
}

fn by_search(ground: &Ground<'_>, limits: Limits) -> Outcome {
    match leads_to(ground, limits.states) {
        LeadsTo::Holds { states } => {
            let run = maximal_run(ground, limits.steps);
            success(ground, run, Method::Search { states })
        }
        LeadsTo::Stuck { run, states } => {
            let explanation = explain(ground, &run.end);
            Outcome {
                reaches_final: Answer::No,
                method: Method::Search { states },
                run: Some(run),
                failure: Some(Failure::Deadlock(explanation)),
                timeline: None,
                limit: None,
            }
        }
        LeadsTo::Endless { run, prefix, states } => Outcome {
            reaches_final: Answer::No,
            method: Method::Search { states },
            run: Some(run),
            failure: Some(Failure::Endless { prefix }),
            timeline: None,
            limit: None,
        },
        LeadsTo::Unknown { states, crowded } => Outcome {
            reaches_final: Answer::Unknown,
            method: Method::Search { states },
            run: None,
            failure: None,
            timeline: None,
            limit: Some(if crowded { Limit::Messages } else { Limit::States }),
        },
    }
}
