//! The verdict on one instance.

use setpoint_source::{Answer, Basis};

use super::explain::{Explanation, explain};
use super::ground::Ground;
use super::run::{Run, maximal_run};
use super::search::{LeadsTo, leads_to};

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

/// A run that shows that not every run reaches a final state.
#[derive(Clone, Debug)]
pub struct Failure {
    pub run: Run,
    pub end: FailureEnd,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FailureEnd {
    /// The run ends in a state that is not final.
    Deadlock(Explanation),
    /// The run comes back to where it was after `prefix` steps.
    Endless { prefix: usize },
}

/// Why it is not known whether every run reaches a final state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Open {
    /// The search looked at as many states as it may.
    States,
    /// Messages at one place are counted up to 255.
    Messages,
    /// The instance breaks what the rule set requires of every instance.
    Malformed,
    /// The instance has no objects, so that nothing runs.
    Empty,
}

#[derive(Clone, Debug)]
pub struct Outcome {
    /// Whether every run reaches a final state.
    pub answer: Answer<Failure, Open>,
    pub method: Method,
}

/// Decides whether every run of the instance reaches a final state. Proved only if the instance has objects and is one of
/// the rule set's, and every run was followed or is known to end as the one that was.
pub fn check(ground: &Ground<'_>, facts: &Facts, limits: Limits) -> Outcome {
    let by_one_run = if facts.one_run_decides() && ground.malformed.is_empty() {
        by_one_run(ground, limits)
    } else {
        None
    };
    let mut outcome = by_one_run.unwrap_or_else(|| by_search(ground, limits));
    if ground.instance.objects.is_empty() {
        outcome.answer = outcome.answer.doubt(Open::Empty);
    }
    if !ground.malformed.is_empty() {
        outcome.answer = outcome.answer.doubt(Open::Malformed);
    }
    outcome
}

/// No answer if the run passes a final state and leaves it again: then the order may matter.
fn by_one_run(ground: &Ground<'_>, limits: Limits) -> Option<Outcome> {
    let run = maximal_run(ground, limits.steps);
    if !run.maximal {
        return None;
    }
    let answer = if ground.is_final(&run.end) {
        Answer::Proved(Basis::nothing())
    } else if passes_final(ground, &run) {
        return None;
    } else {
        stuck(ground, run)
    };
    Some(Outcome { answer, method: Method::OneRun })
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

fn stuck(ground: &Ground<'_>, run: Run) -> Answer<Failure, Open> {
    let end = FailureEnd::Deadlock(explain(ground, &run));
    Answer::refuted(Failure { run, end })
}

fn by_search(ground: &Ground<'_>, limits: Limits) -> Outcome {
    let (answer, states) = match leads_to(ground, limits.states) {
        LeadsTo::Holds { states } => (Answer::Proved(Basis::nothing()), states),
        LeadsTo::Stuck { run, states } => (stuck(ground, run), states),
        LeadsTo::Endless { run, prefix, states } => {
            (Answer::refuted(Failure { run, end: FailureEnd::Endless { prefix } }), states)
        }
        LeadsTo::Unknown { states, crowded } => {
            (Answer::unknown(if crowded { Open::Messages } else { Open::States }), states)
        }
    };
    Outcome { answer, method: Method::Search { states } }
}
