//! Does the order matter? Every unordered pair is asked about, and then what Puppet's own order makes of the answers.

use std::cell::Cell;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustc_hash::{FxHashMap, FxHashSet};
use setpoint_solver::{Meter, Outcome};
use setpoint_source::thread_builder;
use setpoint_state::{CellId, Reach, Semantics, Status, StepId};

use crate::facts::context::{Bits, Context, Lens, put, sorted};
use crate::prove::pair::PairProver;
use crate::reduce::flow::{GaveUp, Local};
use crate::reduce::slice::LARGEST_SLICE;
use crate::reduce::sub::{Moment, Sub, Tests, embed};
use crate::symbolic::runs::Runs;
use crate::{Answer, Basis, Counterexample, Dependence, FailsToday, OrderWitness, Unproved, Why, conclude};

/// Fewer pairs than this are asked by one thread.
const FEWEST_PAIRS: usize = 4;

/// A thread reads the plan anew. Only pairs that take longer than this are worth others; tests have them help at once.
const WORTH_A_THREAD: Duration = Duration::from_millis(if cfg!(test) { 0 } else { 200 });

/// What helpers may do together: no limit but the end of those that they help.
const HELPERS_WORK: u64 = u64::MAX / 4;

/// Everything about the order of a plan.
#[derive(Default)]
pub(crate) struct Orders {
    pub(crate) dependent: Vec<Dependence>,
    fails: Option<FailsToday>,
    pub(crate) unproved: Vec<Unproved>,
    /// Pairs that touch the same cells.
    pub(crate) candidates: usize,
    /// Pairs of those that do not commute.
    pub(crate) conflicts: usize,
}

impl Orders {
    /// Whether every unordered pair was asked about, and none matters.
    pub(crate) fn is_independent(&self) -> bool {
        self.dependent.is_empty() && self.unproved.is_empty()
    }

    /// Returns the answer about the order. A failure of Puppet's own order is the first witness.
    pub(crate) fn into_answer(self, basis: &Basis) -> Answer<OrderWitness, Unproved> {
        let fails = self.fails.map(OrderWitness::Fails);
        let witnesses = fails.into_iter().chain(self.dependent.into_iter().map(OrderWitness::Dependent));
        conclude(witnesses.collect(), self.unproved, basis)
    }
}

/// Returns the unordered pairs that touch a common cell which one of them writes; those that only ensure it alike are left out.
/// The proof of order rests on it: two steps that are not returned commute in every state, unless the effect of one is unknown.
pub(crate) fn candidates(context: &Context<'_>) -> Vec<(StepId, StepId)> {
    #[derive(Clone, Copy, PartialEq)]
    enum Access {
        Read,
        Ensure(u64),
        Write,
    }
    // `seen[a]` dedupes pairs that share several cells. Allocated lazily: most steps never conflict.
    let mut seen: Vec<Bits> = vec![Bits::new(); context.plan.steps.len()];
    let mut found = Vec::new();
    let ensures: Vec<FxHashMap<CellId, u64>> = context
        .footprints
        .iter()
        .map(|footprint| footprint.ensures.iter().map(|ensure| (ensure.cell, ensure.way)).collect())
        .collect();
    for at in 0..context.plan.space.len() {
        let cell = CellId(at as u32);
        if context.writers[at].is_empty() {
            continue;
        }
        let users = sorted(context.writers[at].iter().chain(&context.readers[at]).copied());
        let access: Vec<Access> = users
            .iter()
            .map(|step| {
                if let Some(&way) = ensures[step.0 as usize].get(&cell) {
                    Access::Ensure(way)
                } else if context.footprint(*step).writes.binary_search(&cell).is_ok() {
                    Access::Write
                } else {
                    Access::Read
                }
            })
            .collect();
        let writing: Vec<usize> = (0..users.len()).filter(|&user| access[user] != Access::Read).collect();
        // All ensure it in one way and nobody else looks: nothing to ask.
        if writing.len() == users.len()
            && access.iter().all(|way| *way == access[0])
            && matches!(access[0], Access::Ensure(_))
        {
            continue;
        }
        for &one in &writing {
            for two in 0..users.len() {
                if one == two || (access[two] != Access::Read && two < one) {
                    continue;
                }
                if let (Access::Ensure(left), Access::Ensure(right)) = (access[one], access[two])
                    && left == right
                {
                    continue;
                }
                let rank = |step: StepId| context.rank[step.0 as usize];
                let (a, b) = (users[one], users[two]);
                let pair = if rank(a) <= rank(b) { (a, b) } else { (b, a) };
                let met = &mut seen[pair.0.0 as usize];
                if met.is_empty() {
                    met.resize(context.plan.steps.len().div_ceil(64), 0);
                }
                if put(met, pair.1.0) && context.unordered(pair.0, pair.1) {
                    found.push(pair);
                }
            }
        }
    }
    found.sort_unstable_by_key(|(one, two)| (context.rank[one.0 as usize], context.rank[two.0 as usize]));
    found
}

impl PairProver<'_, '_> {
    /// Looks for two orders of these steps that end differently: steps whose provider others make usable, with all that
    /// matters to them.
    fn compare_any_orders(&mut self, members: &[StepId]) -> Result<Option<Counterexample>, GaveUp> {
        let context = self.context;
        for tests in [Tests::Inside, Tests::Connected] {
            let sub = Sub::new(context, members, Moment::Start, tests);
            let runs = Runs::new(&sub, context.semantics, &context.unsettled);
            let mut machine = sub.machine(context);
            let start = machine.any_start();
            runs.assume(&mut machine, &start);
            let (left, left_order) = runs.in_any_order(&mut machine, start.clone());
            let (right, right_order) = runs.in_any_order(&mut machine, start.clone());
            let differ = runs.differ(&mut machine, &left, &right);
            let wishes = self.witness.plain(&machine, &start, &sub.cells);
            match machine.solve_near(&[differ], &wishes) {
                Outcome::Unknown => return Err(GaveUp),
                Outcome::Unsat => return Ok(None),
                Outcome::Sat => {}
            }
            let fixed = embed(&sub, &machine.decode(&start));
            let order = |moments| -> Vec<StepId> {
                Runs::decode(&machine, moments).into_iter().map(|at| members[at]).collect()
            };
            if let Some(whole) = self.witness.complete(&fixed)
                && let (Some(first), Some(second)) = (
                    self.witness.order(&order(&left_order), None),
                    self.witness.order(&order(&right_order), None),
                )
                && let Some(found) = self.witness.replay(&whole, &first, &second)
            {
                return Ok(Some(self.witness.shrink(found, None, &sub.cells)));
            }
        }
        Err(GaveUp)
    }

    /// Looks for a step that fails in Puppet's order and does not in another.
    fn find_failure_of_today(&mut self, members: &[StepId]) -> Result<Option<FailsToday>, GaveUp> {
        let context = self.context;
        for tests in [Tests::Inside, Tests::Connected] {
            let sub = Sub::new(context, members, Moment::Start, tests);
            let runs = Runs::new(&sub, context.semantics, &context.unsettled);
            let mut machine = sub.machine(context);
            let start = machine.any_start();
            runs.assume(&mut machine, &start);
            let puppet = runs.in_order(&mut machine, start.clone());
            let (other, other_order) = runs.in_any_order(&mut machine, start.clone());
            let mut worse = Vec::new();
            for at in 0..members.len() {
                worse.push(machine.circuit.and(&[puppet.failed[at], !other.failed[at], !other.skipped[at]]));
            }
            let worse = machine.circuit.or(&worse);
            let wishes = self.witness.plain(&machine, &start, &sub.cells);
            match machine.solve_near(&[worse], &wishes) {
                Outcome::Unknown => return Err(GaveUp),
                Outcome::Unsat => return Ok(None),
                Outcome::Sat => {}
            }
            let fixed = embed(&sub, &machine.decode(&start));
            let order: Vec<StepId> =
                Runs::decode(&machine, &other_order).into_iter().map(|at| members[at]).collect();
            if let Some(whole) = self.witness.complete(&fixed)
                && let Some(second) = self.witness.order(&order, None)
                && let Some(counterexample) = self.witness.replay(&whole, &context.order, &second)
                && let Some(step) = failed_only_first(&counterexample)
            {
                return Ok(Some(FailsToday { step, counterexample }));
            }
        }
        Err(GaveUp)
    }
}

/// Returns the first step that fails in the first run and is fine in the second.
fn failed_only_first(found: &Counterexample) -> Option<StepId> {
    let mut pairs = found.first_run.statuses.iter().zip(&found.second_run.statuses);
    let at = pairs.position(|(one, two)| *one == Status::Failed && two.outcome() == Status::Ok)?;
    Some(StepId(at as u32))
}

/// Decides about the order of a whole plan. Nothing is left open only if every unordered pair that may touch the same cells
/// was proved harmless, and no step of unknown effect is unordered with one that it may touch.
pub(crate) fn decide(prover: &mut PairProver<'_, '_>, tell: &dyn Fn(usize, usize)) -> Orders {
    let context = prover.context;
    let mut found = Orders::default();
    // Without any admissible start there is nothing that could differ, and nothing is shown.
    let is_impossible = prover.witness.is_impossible();
    if is_impossible && !context.narrowed {
        found.unproved.push(Unproved { steps: Vec::new(), why: Why::NoStart });
    }
    unknown_pairs(context, &mut found.unproved);
    let mut pairs = if is_impossible { Vec::new() } else { candidates(context) };
    found.candidates = pairs.len();
    // A step that may touch anything, and that is unordered with some, leaves the order open. To prove other pairs would prove
    // nothing; those of which one fails for want of the other before that step has its turn matter whatever it does.
    let is_open =
        context.unknown_everywhere().any(|step| found.unproved.iter().any(|one| one.why == Why::Step(step)));
    if is_open {
        let can_fail = |step: StepId| context.footprint(step).can_fail;
        pairs.retain(|&(one, two)| {
            let is_unknown = context.reach(one).is_some() || context.reach(two).is_some();
            let is_clear = || context.is_known_before(one) && context.is_known_before(two);
            is_unknown || ((can_fail(one) || can_fail(two)) && is_clear())
        });
    }
    let mut open: FxHashSet<StepId> = FxHashSet::default();
    let mut conflicting: Vec<(StepId, StepId)> = Vec::new();
    // Steps that are tried again later have no place of their own in an order: they are asked about all at once.
    let mut postponed: Vec<StepId> = Vec::new();
    if !context.unsettled.is_empty() && !is_impossible {
        let seeds = context.unsettled.iter().flat_map(|&step| {
            let mut cells = Vec::new();
            context.step(step).suitable.cells(&mut cells);
            let mut all: Vec<StepId> =
                cells.iter().flat_map(|cell| context.writers[cell.0 as usize].iter().copied()).collect();
            all.push(step);
            all
        });
        // Whatever reads or writes what they touch, and what comes after them, may see when they run.
        let mut seeds: Vec<StepId> = seeds.collect();
        let mut at = 0;
        let mut seen: FxHashSet<StepId> = seeds.iter().copied().collect();
        while at < seeds.len() && seeds.len() <= LARGEST_SLICE * 4 {
            let step = seeds[at];
            at += 1;
            let mut more: Vec<StepId> = context.runner.after(step).iter().map(|&step| StepId(step)).collect();
            for cell in context.footprint(step).touches() {
                more.extend(&context.writers[cell.0 as usize]);
                if context.footprint(step).writes.binary_search(&cell).is_ok() {
                    more.extend(&context.readers[cell.0 as usize]);
                }
            }
            seeds.extend(more.into_iter().filter(|&step| seen.insert(step)));
        }
        postponed = prover.closure(Lens::All, seeds).unwrap_or_else(|| context.order.clone());
    }
    let inside: FxHashSet<StepId> = postponed.iter().copied().collect();
    with_helpers(context, &pairs, |reached| {
        for (at, &(one, two)) in pairs.iter().enumerate() {
            tell(at + 1, pairs.len());
            reached(at);
            if inside.contains(&one) && inside.contains(&two) {
                continue;
            }
            if context.reach(one).is_some() || context.reach(two).is_some() {
                // Named already, or not: the models of the two are not the whole truth.
                let step = if context.reach(one).is_some() { one } else { two };
                // Two steps that may touch each other's cells are open, whatever their models say.
                if !may_touch(context, step, if step == one { two } else { one })
                    && matches!(prover.local.commutes(context, one, two), Ok(true))
                {
                    continue;
                }
                found.unproved.push(Unproved { steps: vec![one, two], why: Why::Step(step) });
                continue;
            }
            if found.dependent.len() >= prover.most {
                // Enough to act on; the rest is asked again when these are mended.
                found.unproved.push(Unproved { steps: vec![one, two], why: Why::Enough });
                continue;
            }
            match prover.decide_pair(one, two) {
                Answer::Proved(_) => {}
                Answer::Refuted { witness, .. } => {
                    conflicting.push((one, two));
                    found.dependent.push(*witness);
                }
                // Said already, of the step to blame.
                Answer::Unknown(_) if is_open => {}
                Answer::Unknown(reasons) => found.unproved.extend(reasons.into_vec()),
            }
        }
    });
    found.conflicts = conflicting.len() + found.unproved.len();
    // One entry for all pairs that were left out, not one for each.
    let (left, mut rest): (Vec<Unproved>, Vec<Unproved>) =
        std::mem::take(&mut found.unproved).into_iter().partition(|unproved| unproved.why == Why::Enough);
    if !left.is_empty() {
        rest.push(Unproved { steps: sorted(left.into_iter().flat_map(|left| left.steps)), why: Why::Enough });
    }
    found.unproved = rest;
    if !postponed.is_empty() {
        let answer =
            if postponed.len() > LARGEST_SLICE { Err(GaveUp) } else { prover.compare_any_orders(&postponed) };
        match answer {
            Ok(None) => {}
            Ok(Some(counterexample)) => {
                let (one, two) = apart(&counterexample).unwrap_or((postponed[0], context.unsettled[0]));
                open.extend(&postponed);
                found.dependent.push(Dependence { one, two, counterexample });
            }
            Err(GaveUp) => {
                let why = if context.is_over() { Why::Time } else { Why::Postponed };
                found.unproved.push(Unproved { steps: context.unsettled.clone(), why });
            }
        }
    }
    if !found.dependent.is_empty() && context.semantics == Semantics::Puppet {
        decide_fails(prover, &conflicting, &open, &mut found);
    }
    found
}

/// Decides pairs while other threads ask about them from the last to the first, if that takes long. Helpers fill the memory and answer nothing: the
/// answers, what they cost and the counterexamples are those of one thread.
fn with_helpers(context: &Context<'_>, pairs: &[(StepId, StepId)], decide: impl FnOnce(&dyn Fn(usize))) {
    if context.jobs < 2 || pairs.len() < FEWEST_PAIRS {
        return decide(&|_| {});
    }
    let plan = context.runner.plan();
    let (semantics, any_start, conflicts) = (context.semantics, context.any_start, context.conflicts);
    let (solver, deadline, memory) = (context.solver, context.deadline, &context.memory);
    // What nobody has taken yet.
    let left = Mutex::new(0..pairs.len());
    let (left, meter) = (&left, Meter::default());
    let help = |meter: Meter| {
        let mut context = Context::of_ends(plan, semantics, any_start);
        (context.solver, context.deadline, context.conflicts) = (solver, deadline, conflicts);
        (context.memory, context.meter) = (Arc::clone(memory), meter);
        context.most_work.set(Some(HELPERS_WORK));
        context.trim();
        let mut local = Local::new(Arc::clone(memory));
        loop {
            let next = left.lock().unwrap_or_else(PoisonError::into_inner).next_back();
            let Some(&(one, two)) = next.and_then(|at| pairs.get(at)) else { return };
            // An error is met again by whoever answers.
            let _ = local.look_ahead(&context, one, two);
        }
    };
    std::thread::scope(|scope| {
        let (begun, is_helped) = (Instant::now(), Cell::new(false));
        decide(&|at| {
            let mut left = left.lock().unwrap_or_else(PoisonError::into_inner);
            left.start = left.start.max(at + 1).min(left.end);
            drop(left);
            if !is_helped.get() && begun.elapsed() >= WORTH_A_THREAD {
                is_helped.set(true);
                for _ in 1..context.jobs.min(64) {
                    let meter = meter.clone();
                    // Without another thread, this one asks all.
                    let _ = thread_builder().spawn_scoped(scope, move || help(meter));
                }
            }
        });
        // Nobody waits for what helpers are asking now.
        meter.add(HELPERS_WORK + 1);
    });
}

/// Two steps whose places differ between the orders of a counterexample.
fn apart(found: &Counterexample) -> Option<(StepId, StepId)> {
    let at = found.first_run.order.iter().zip(&found.second_run.order).position(|(one, two)| one != two)?;
    Some((found.first_run.order[at], found.second_run.order[at]))
}

fn decide_fails(
    prover: &mut PairProver<'_, '_>,
    conflicting: &[(StepId, StepId)],
    open: &FxHashSet<StepId>,
    found: &mut Orders,
) {
    let context = prover.context;
    // What is unknown and comes first may mend or break it.
    let is_clear = |step: StepId, order: &[StepId]| {
        let before = order.iter().take_while(|other| **other != step);
        !before.into_iter().any(|&other| may_touch(context, other, step))
    };
    // The counterexamples at hand often show it.
    for dependence in &found.dependent {
        let example = &dependence.counterexample;
        for other in [&example.first, &example.second] {
            if let Some(again) = prover.witness.replay(&example.start, &context.order, other)
                && let Some(step) = failed_only_first(&again)
                && is_clear(step, &context.order)
                && is_clear(step, other)
            {
                let counterexample = Counterexample { matters: example.matters.clone(), ..again };
                found.fails = Some(FailsToday { step, counterexample });
                return;
            }
        }
    }
    if context.unknown_everywhere().next().is_some() {
        return;
    }
    // Pairs whose slices have a step in common are asked about together.
    let mut clusters: Vec<FxHashSet<StepId>> = Vec::new();
    let mut parts: Vec<Vec<StepId>> = vec![open.iter().copied().collect()];
    for &(one, two) in conflicting {
        let reached = prover
            .local
            .pair(context, one, two)
            .and_then(|difference| prover.local.follow(context, one, two, &difference));
        let Some(more) = reached.ok().and_then(|reached| prover.members(Lens::All, one, two, &reached))
        else {
            found.unproved.push(Unproved { steps: vec![one, two], why: Why::WhetherItFails });
            return;
        };
        parts.push(more);
    }
    for part in parts {
        let mut joined: FxHashSet<StepId> = part.into_iter().collect();
        clusters.retain(|cluster| {
            let apart = cluster.is_disjoint(&joined);
            if !apart {
                joined.extend(cluster);
            }
            apart
        });
        clusters.push(joined);
    }
    let mut asked: FxHashSet<Vec<u32>> = FxHashSet::default();
    for cluster in clusters {
        if cluster.is_empty() {
            continue;
        }
        let members = prover.closure(Lens::All, sorted(cluster)).filter(|members| {
            // A question about every order grows with the square of the steps.
            let size: usize = members.iter().map(|&step| 1 + context.footprint(step).touches().count()).sum();
            members.len() <= LARGEST_SLICE && size * members.len() <= 40_000
        });
        let Some(members) = members else {
            found.unproved.push(Unproved { steps: Vec::new(), why: Why::WhetherItFails });
            continue;
        };
        if !asked.insert(Sub::new(context, &members, Moment::Start, Tests::Inside).shape()) {
            continue;
        }
        match prover.find_failure_of_today(&members) {
            Ok(Some(fails)) => {
                found.fails = Some(fails);
                return;
            }
            Ok(None) => {}
            Err(GaveUp) => found.unproved.push(Unproved { steps: Vec::new(), why: Why::WhetherItFails }),
        }
    }
}

/// Whether a step of unknown effect may touch what another step touches.
fn may_touch(context: &Context<'_>, unknown: StepId, other: StepId) -> bool {
    match context.reach(unknown) {
        None => false,
        Some(Reach::Everything) => {
            context.footprint(other).touches().next().is_some() || context.reach(other).is_some()
        }
        Some(Reach::Cells(cells)) => {
            cells.iter().any(|cell| context.footprint(other).touches().any(|touched| touched == *cell))
                || context.reach(other).is_some_and(|reach| match reach {
                    Reach::Everything => true,
                    Reach::Cells(more) => more.iter().any(|cell| cells.contains(cell)),
                })
        }
    }
}

/// Pairs of which one has an unknown effect that may touch the other: one entry for each such step.
fn unknown_pairs(context: &Context<'_>, unproved: &mut Vec<Unproved>) {
    for step in (0..context.plan.steps.len() as u32).map(StepId) {
        let Some(reach) = context.reach(step) else { continue };
        let others: Vec<StepId> = match reach {
            Reach::Everything => (0..context.plan.steps.len() as u32).map(StepId).collect(),
            Reach::Cells(cells) => {
                let known = cells.iter().flat_map(|cell| {
                    context
                        .writers
                        .get(cell.0 as usize)
                        .into_iter()
                        .chain(context.readers.get(cell.0 as usize))
                        .flatten()
                        .copied()
                });
                let unknown = (0..context.plan.steps.len() as u32)
                    .map(StepId)
                    .filter(|&other| context.reach(other).is_some());
                sorted(known.chain(unknown))
            }
        };
        let mut steps: Vec<StepId> = others
            .into_iter()
            .filter(|&other| {
                other != step && context.unordered(step, other) && may_touch(context, step, other)
            })
            .collect();
        if !steps.is_empty() {
            steps.insert(0, step);
            unproved.push(Unproved { steps, why: Why::Step(step) });
        }
    }
}

#[cfg(test)]
mod tests {
    use setpoint_state::Semantics;

    use crate::{Options, family, verify};

    /// Threads that help from the first pair on change neither a verdict nor a story.
    #[test]
    fn helpers_change_nothing() {
        let plans = [
            family::figure_13(9, false),
            family::writers(9, false),
            family::writers(9, true),
            family::catalog(200, 20, 10, true),
        ];
        for plan in plans {
            for semantics in [Semantics::Paper, Semantics::Puppet] {
                let told = |jobs: usize| {
                    let verdicts = verify(&plan, &Options { semantics, jobs, ..Options::default() });
                    let fails = verdicts.fails_today().map(|found| {
                        let example = &found.counterexample;
                        (found.step, example.start.clone(), example.first.clone(), example.second.clone())
                    });
                    let pairs: Vec<String> = verdicts
                        .dependences()
                        .map(|found| {
                            let example = &found.counterexample;
                            let story = (&example.start, &example.matters, &example.first, &example.second);
                            format!("{:?} {:?} {story:?}", found.one, found.two)
                        })
                        .collect();
                    (fails, pairs, verdicts.order.reasons().to_vec())
                };
                let alone = told(1);
                assert!(alone == told(2), "two threads");
                assert!(alone == told(5), "five threads");
            }
        }
    }
}
