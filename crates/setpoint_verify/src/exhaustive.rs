//! Verdicts by trying everything: all starts over the closed domain, all orders. For small plans, and to judge the prover.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;
use setpoint_state::{Domains, Plan, Progress, Run, Runner, Semantics, State, Status, StepId, Test};

use crate::{Answer, OrderWitness, Unproved, Verdicts, Why};

/// What trying everything shows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Truth {
    pub order: Shown,
    pub idempotent: Shown,
    pub quiet: Shown,
    pub convergent: Shown,
}

/// What trying everything shows about one question.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shown {
    Holds,
    Fails,
    /// For order: it matters, and Puppet's own order is one in which a step fails that another would not fail.
    FailsToday,
    /// There is no run that the question is about.
    NothingToShow,
}

impl Truth {
    /// Returns what the prover says, or what it could not decide.
    fn said(verdicts: &Verdicts) -> Result<Self, Vec<Unproved>> {
        let order = match verdicts.order.witness() {
            Some(OrderWitness::Fails(_)) => Shown::FailsToday,
            _ => said(&verdicts.order)?,
        };
        Ok(Self {
            order,
            idempotent: said(&verdicts.idempotent)?,
            quiet: said(&verdicts.quiet)?,
            convergent: said(&verdicts.convergent)?,
        })
    }
}

fn said<W>(answer: &Answer<W, Unproved>) -> Result<Shown, Vec<Unproved>> {
    let is_vacuous = |one: &Unproved| matches!(one.why, Why::NoStart | Why::NeverClean);
    match answer {
        Answer::Proved(_) => Ok(Shown::Holds),
        Answer::Refuted { .. } => Ok(Shown::Fails),
        Answer::Unknown(reasons) if reasons.as_slice().iter().all(is_vacuous) => Ok(Shown::NothingToShow),
        Answer::Unknown(reasons) => Err(reasons.as_slice().to_vec()),
    }
}

/// All admissible starts; `None` if there are more than `limit` states to look through.
pub fn starts(plan: &Plan, semantics: Semantics, any_start: bool, limit: u64) -> Option<Vec<State>> {
    starts_over(plan, &Domains::of(plan), semantics, any_start, limit)
}

fn starts_over(
    plan: &Plan,
    domains: &Domains,
    semantics: Semantics,
    any_start: bool,
    limit: u64,
) -> Option<Vec<State>> {
    let mut tests: Vec<&Test> = plan.laws.iter().collect();
    if !any_start && semantics == Semantics::Puppet {
        tests.extend(&plan.start);
    }
    let mut count: u64 = 1;
    for (cell, _) in plan.space.iter() {
        count = count.checked_mul(domains.start_places(cell).len() as u64)?;
        if count > limit {
            return None;
        }
    }
    let mut found = vec![State::empty(&plan.space)];
    for (cell, _) in plan.space.iter() {
        found = found
            .into_iter()
            .flat_map(|state| {
                domains.start_values(cell).cloned().map(move |value| {
                    let mut next = state.clone();
                    next.set(cell, value);
                    next
                })
            })
            .collect();
    }
    found.retain(|state| tests.iter().all(|test| state.holds(test)));
    Some(found)
}

/// One end of a run, as an outcome.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct End {
    /// None for the paper's error.
    state: Option<State>,
    statuses: Vec<Status>,
}

fn end(progress: Progress, plan: &Plan, semantics: Semantics) -> End {
    if semantics == Semantics::Paper {
        if progress.error {
            return End { state: None, statuses: Vec::new() };
        }
        let mut state = progress.state;
        state.reset_scratch(&plan.space);
        return End { state: Some(state), statuses: Vec::new() };
    }
    let mut state = progress.state;
    state.reset_scratch(&plan.space);
    End { state: Some(state), statuses: progress.statuses.into_iter().map(Status::outcome).collect() }
}

/// All outcomes from one start, over all orders.
pub fn outcomes(runner: &Runner<'_>, start: &State) -> BTreeSet<End> {
    let plan = runner.plan();
    let mut ends = BTreeSet::new();
    let mut seen: FxHashSet<Progress> = FxHashSet::default();
    let mut work = vec![runner.begin(start)];
    while let Some(progress) = work.pop() {
        let ready: Vec<StepId> = (0..plan.steps.len() as u32)
            .map(StepId)
            .filter(|&step| runner.is_ready(&progress, step))
            .collect();
        if ready.is_empty() || progress.error {
            ends.insert(end(progress, plan, runner.semantics()));
            continue;
        }
        let (suitable, not): (Vec<StepId>, Vec<StepId>) =
            ready.into_iter().partition(|&step| runner.is_suitable(&progress, step));
        if suitable.is_empty() {
            let mut next = progress;
            for step in not {
                next.give_up(step);
            }
            if seen.insert(next.clone()) {
                work.push(next);
            }
            continue;
        }
        for step in suitable {
            let mut next = progress.clone();
            runner.perform(&mut next, step);
            // What changed and what was refreshed is no part of the outcome, and has been passed on already.
            next.refreshed.iter_mut().for_each(|refreshed| *refreshed = false);
            for status in &mut next.statuses {
                *status = status.outcome();
            }
            if seen.insert(next.clone()) {
                work.push(next);
            }
        }
    }
    ends
}

fn twice_same(first: &Run, second: &Run, semantics: Semantics) -> bool {
    match semantics {
        Semantics::Paper => first.statuses.contains(&Status::Failed) || second.same_outcome(first, semantics),
        Semantics::Puppet => {
            first.end == second.end
                && first
                    .statuses
                    .iter()
                    .zip(&second.statuses)
                    .all(|(one, two)| !two.is_bad() || one.outcome() == two.outcome())
        }
    }
}

/// Tries everything; `None` if there is too much to try.
pub fn truth(plan: &Plan, semantics: Semantics, any_start: bool, limit: u64) -> Option<Truth> {
    let starts = starts(plan, semantics, any_start, limit)?;
    let runner = Runner::new(plan, semantics);
    let order = runner.puppet_order();
    let before = if starts.is_empty() { Shown::NothingToShow } else { Shown::Holds };
    let mut truth =
        Truth { order: before, idempotent: before, quiet: before, convergent: Shown::NothingToShow };
    let mut context = crate::facts::context::Context::new(plan, semantics, any_start);
    context.trim();
    let managed = crate::prove::twice::managed(&context);
    let mut reached: Option<State> = None;
    for start in &starts {
        let first = runner.run(start, &order);
        let ends = outcomes(&runner, start);
        if ends.len() > 1 {
            if truth.order == Shown::Holds {
                truth.order = Shown::Fails;
            }
            if semantics == Semantics::Puppet {
                let worse = first.statuses.iter().enumerate().any(|(at, status)| {
                    *status == Status::Failed && ends.iter().any(|end| end.statuses[at] == Status::Ok)
                });
                if worse {
                    truth.order = Shown::FailsToday;
                }
            }
        }
        let failed = first.statuses.contains(&Status::Failed);
        if !(semantics == Semantics::Paper && failed) {
            let second = runner.run(&first.end, &order);
            if !twice_same(&first, &second, semantics) {
                truth.idempotent = Shown::Fails;
            }
            if !second.is_quiet() {
                truth.quiet = Shown::Fails;
            }
        }
    }
    // Two starts may differ in values that no program knows.
    for start in &starts_over(plan, &Domains::for_two(plan), semantics, any_start, limit.saturating_mul(16))?
    {
        let run = runner.run(start, &order);
        if run.statuses.iter().all(|status| !status.is_bad()) {
            match &reached {
                None => {
                    reached = Some(run.end);
                    truth.convergent = Shown::Holds;
                }
                Some(known) => {
                    if managed.iter().any(|&cell| known.get(cell) != run.end.get(cell)) {
                        truth.convergent = Shown::Fails;
                        break;
                    }
                }
            }
        }
    }
    Some(truth)
}

/// Puts the contradictions that are found beside those that trying every start of every pair shows: the pairs that are found,
/// and the pairs that there are. `None` if there is too much to try.
pub fn contradictions(plan: &Plan, limit: u64) -> Option<[BTreeSet<(StepId, StepId)>; 2]> {
    let verdicts = crate::verify(plan, &crate::Options::default());
    let found = verdicts.contradictions.iter().map(|one| (one.one.min(one.two), one.one.max(one.two)));
    let steps = plan.steps.len() as u32;
    let mut there = BTreeSet::new();
    for one in (0..steps).map(StepId) {
        for two in (one.0 + 1..steps).map(StepId) {
            if crate::prove::contradiction::by_trying(plan, one, two, limit)? {
                there.insert((one, two));
            }
        }
    }
    Some([found.collect(), there])
}

/// How the prover compares with trying everything.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Judged {
    /// There is too much to try.
    TooLarge,
    Agrees(Truth),
    Differs(String),
}

/// Puts the prover beside trying everything: verdicts, and that each counterexample is one.
pub fn judge(plan: &Plan, semantics: Semantics, limit: u64) -> Judged {
    let Some(truth) = truth(plan, semantics, false, limit) else { return Judged::TooLarge };
    let options = crate::Options { semantics, ..crate::Options::default() };
    let verdicts = crate::ask(plan, &options, false);
    match Truth::said(&verdicts) {
        Ok(said) if said == truth => {}
        Ok(said) => return Judged::Differs(format!("said {said:?}, true is {truth:?}")),
        Err(open) => return Judged::Differs(format!("true is {truth:?}; not proved: {open:?}")),
    }
    let runner = Runner::new(plan, semantics);
    let permitted = |order: &[StepId]| {
        let mut seen: FxHashSet<u32> = FxHashSet::default();
        order.iter().all(|&step| {
            seen.insert(step.0) && runner.before(step).iter().all(|before| seen.contains(before))
        }) && seen.len() == plan.steps.len()
    };
    let examples = verdicts.order.witnesses().map(OrderWitness::counterexample);
    for example in examples {
        let (one, two) =
            (runner.run(&example.start, &example.first), runner.run(&example.start, &example.second));
        let admissible = plan.laws.iter().all(|test| example.start.holds(test))
            && (semantics == Semantics::Paper || plan.start.iter().all(|test| example.start.holds(test)));
        if one.same_outcome(&two, semantics)
            || !permitted(&example.first)
            || !permitted(&example.second)
            || !admissible
        {
            return Judged::Differs("a counterexample is none".to_owned());
        }
    }
    Judged::Agrees(truth)
}
