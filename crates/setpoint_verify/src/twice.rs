//! Two runs one after the other, and runs from two starts: idempotent, quiet, convergent. In Puppet's order.

use rustc_hash::{FxHashMap, FxHashSet};
use setpoint_solver::{Lit, Outcome};
use setpoint_state::{CellId, Lifetime, Semantics, State, Status, StepId};

use crate::context::Context;
use crate::flow::GaveUp;
use crate::machine::Machine;
use crate::order::embed;
use crate::runs::{Runs, Track};
use crate::sub::{Moment, Sub, Tests};
use crate::witness::Witness;
use crate::{Answer, Differs, Twice, TwoStarts, Unproved, Why};

/// More steps than this are not put into one question about two runs.
const LARGEST: usize = 3_000;

pub(crate) struct Twices {
    pub(crate) idempotent: Answer,
    pub(crate) quiet: Answer,
    pub(crate) convergent: Answer,
    pub(crate) not_idempotent: Option<Twice>,
    pub(crate) not_quiet: Option<Twice>,
    pub(crate) not_convergent: Option<TwoStarts>,
    pub(crate) unproved: Vec<Unproved>,
}

/// The cells that steps write and that outlast a run. What is known to have its value already, or stands where no run comes,
/// is not among them.
pub(crate) fn managed(context: &Context<'_>) -> Vec<CellId> {
    (0..context.plan.space.len() as u32)
        .map(CellId)
        .filter(|cell| !context.writers[cell.0 as usize].is_empty())
        .filter(|&cell| context.plan.space.get(cell).is_some_and(|cell| cell.lifetime == Lifetime::Machine))
        .collect()
}

fn find(parent: &mut [u32], mut at: u32) -> u32 {
    while parent[at as usize] != at {
        parent[at as usize] = parent[parent[at as usize] as usize];
        at = parent[at as usize];
    }
    at
}

/// Steps that share a cell which one of them writes, or of which one can skip or notify the other, belong together.
fn parts(context: &Context<'_>, with_edges: bool) -> Vec<Vec<StepId>> {
    let count = context.plan.steps.len();
    let mut parent: Vec<u32> = (0..count as u32).collect();
    let mut join = |one: u32, two: u32| {
        let (one, two) = (find(&mut parent, one), find(&mut parent, two));
        parent[one.max(two) as usize] = one.min(two);
    };
    for (writers, readers) in context.writers.iter().zip(&context.readers) {
        if let Some(&first) = writers.first() {
            for other in writers.iter().chain(readers) {
                join(first.0, other.0);
            }
        }
    }
    if with_edges {
        for &step in &context.order {
            for &before in context.runner.before(step) {
                let matters = context.can_be_bad[before as usize]
                    || (context.semantics == Semantics::Puppet
                        && context.runner.notified_by(StepId(before)).contains(&step.0));
                if matters {
                    join(before, step.0);
                }
            }
        }
    }
    let mut parts: Vec<Vec<StepId>> = Vec::new();
    let mut number: FxHashMap<u32, usize> = FxHashMap::default();
    for &step in &context.order {
        let lead = find(&mut parent, step.0);
        let at = *number.entry(lead).or_insert_with(|| {
            parts.push(Vec::new());
            parts.len() - 1
        });
        parts[at].push(step);
    }
    parts
}

/// What a part shows.
#[derive(Clone, Copy, Default)]
struct Shown {
    idempotent: bool,
    quiet: bool,
}

pub(crate) fn decide(
    context: &Context<'_>,
    witness: &Witness<'_, '_>,
    tell: &dyn Fn(usize, usize),
) -> Twices {
    let mut found = Twices {
        idempotent: Answer::Yes,
        quiet: Answer::Yes,
        convergent: Answer::Yes,
        not_idempotent: None,
        not_quiet: None,
        not_convergent: None,
        unproved: Vec::new(),
    };
    if witness.base().is_none() {
        return found;
    }
    // First without edges: whatever is skipped or notified, as long as it is the same in both runs.
    let mut memo: FxHashMap<Vec<u32>, Shown> = FxHashMap::default();
    let mut convergent_memo: FxHashSet<Vec<u32>> = FxHashSet::default();
    let small = parts(context, false);
    let mut open: Vec<(usize, Shown)> = Vec::new();
    for (at, part) in small.iter().enumerate() {
        tell(at, small.len());
        if part.len() > LARGEST || context.is_late() {
            open.push((at, Shown::default()));
            continue;
        }
        let shown = alone(context, part, &mut memo);
        if !(shown.idempotent && shown.quiet) {
            open.push((at, shown));
        }
    }
    if !open.is_empty() {
        let open_steps: FxHashSet<StepId> =
            open.iter().flat_map(|(at, _)| small[*at].iter().copied()).collect();
        whole(context, witness, &open_steps, &mut found);
    }
    converge(context, witness, &mut convergent_memo, &mut found);
    name_unknown(context, &mut found);
    found
}

/// A verdict that holds only of the modelled part is no verdict.
fn name_unknown(context: &Context<'_>, found: &mut Twices) {
    let Some(step) =
        (0..context.plan.steps.len() as u32).map(StepId).find(|&step| context.reach(step).is_some())
    else {
        return;
    };
    for answer in [&mut found.idempotent, &mut found.quiet, &mut found.convergent] {
        if *answer == Answer::Yes {
            *answer = Answer::Unknown;
        }
    }
    found.unproved.push(Unproved { steps: vec![step], why: Why::Step(step) });
}

/// A part by itself: skipped and notified as it may be. Sound for yes.
fn alone(context: &Context<'_>, part: &[StepId], memo: &mut FxHashMap<Vec<u32>, Shown>) -> Shown {
    let unsettled = part.iter().any(|step| context.unsettled.binary_search(step).is_ok());
    if unsettled {
        return Shown::default();
    }
    let sub = Sub::new(context, part, Moment::Start, Tests::Inside);
    let mut key = sub.shape();
    for &step in part {
        key.push(u32::from(context.can_be_skipped(step)) + 2 * u32::from(context.is_notified(step)));
    }
    if let Some(known) = memo.get(&key) {
        return *known;
    }
    let runs = Runs::new(&sub, context.semantics, &[]);
    let mut machine = Machine::new(&sub.plan, &sub.domains, context.semantics, Some(context.conflicts));
    let start = machine.any_start();
    runs.assume(&mut machine, &start);
    let inside: FxHashSet<StepId> = part.iter().copied().collect();
    // What stands outside may skip a step; then it does so in both runs. A notification from outside may come in the first.
    let mut skips = Vec::new();
    let mut notified = Vec::new();
    for &step in part {
        let outside_skips = context.semantics == Semantics::Puppet
            && context
                .runner
                .before(step)
                .iter()
                .any(|&other| !inside.contains(&StepId(other)) && context.can_be_bad[other as usize]);
        skips.push(if outside_skips { machine.circuit.fresh() } else { machine.no() });
        let outside_notifies = context.semantics == Semantics::Puppet
            && context.runner.before(step).iter().any(|&other| {
                !inside.contains(&StepId(other))
                    && context.runner.notified_by(StepId(other)).contains(&step.0)
            });
        notified.push(if outside_notifies { machine.circuit.fresh() } else { machine.no() });
    }
    let mut first = runs.begin(&machine, start);
    first.notified = notified;
    runs.with_skips(&mut machine, &mut first, &skips);
    let state = machine.next_run(first.state.clone());
    let mut second = runs.begin(&machine, state);
    runs.with_skips(&mut machine, &mut second, &skips);
    let (different, loud) = compare(&runs, &mut machine, &first, &second);
    let shown = Shown {
        idempotent: machine.solve(&[different]) == Outcome::Unsat,
        quiet: machine.solve(&[loud]) == Outcome::Unsat,
    };
    memo.insert(key, shown);
    shown
}

/// The second run is not as the first; the second run reports something.
fn compare(runs: &Runs<'_>, machine: &mut Machine<'_>, first: &Track, second: &Track) -> (Lit, Lit) {
    let mut different = Vec::new();
    for cell in runs.cells() {
        different.push(!machine.equal(first.state.get(cell), second.state.get(cell)));
    }
    let mut loud: Vec<Lit> = second.changed.iter().chain(&second.refreshed).copied().collect();
    if runs.semantics == Semantics::Paper {
        let any = machine.circuit.or(&different);
        let more = machine.circuit.or(&[any, second.error]);
        let different = machine.circuit.and(&[!first.error, more]);
        // Steps after an error do not run.
        let loud = loud_paper(runs, machine, second);
        let loud = machine.circuit.and(&[!first.error, loud]);
        return (different, loud);
    }
    for at in 0..runs.sub.steps.len() {
        different.push(machine.circuit.and(&[second.failed[at], !first.failed[at]]));
        different.push(machine.circuit.and(&[second.skipped[at], !first.skipped[at]]));
    }
    let different = machine.circuit.or(&different);
    loud.sort_unstable();
    let loud = machine.circuit.or(&loud);
    (different, loud)
}

fn loud_paper(runs: &Runs<'_>, machine: &mut Machine<'_>, second: &Track) -> Lit {
    let mut loud = Vec::new();
    let mut error = machine.no();
    for at in 0..runs.sub.steps.len() {
        loud.push(machine.circuit.and(&[!error, second.changed[at], !second.failed[at]]));
        error = machine.circuit.or(&[error, second.failed[at]]);
    }
    machine.circuit.or(&loud)
}

/// The parts that are open, with everything that bears on them.
fn whole(context: &Context<'_>, witness: &Witness<'_, '_>, open: &FxHashSet<StepId>, found: &mut Twices) {
    let mut undecided = false;
    let mut why = Why::Hard;
    for part in parts(context, true) {
        if !part.iter().any(|step| open.contains(step)) {
            continue;
        }
        if context.is_late() || part.len() > LARGEST {
            undecided = true;
            why = if context.is_late() { Why::Time } else { Why::Large };
            continue;
        }
        if let Err(GaveUp) = both(context, witness, &part, found) {
            undecided = true;
            why = if context.is_late() { Why::Time } else { Why::Hard };
        }
        if found.not_idempotent.is_some() && found.not_quiet.is_some() {
            break;
        }
    }
    if found.not_idempotent.is_some() {
        found.idempotent = Answer::No;
    } else if undecided {
        found.idempotent = Answer::Unknown;
    }
    if found.not_quiet.is_some() {
        found.quiet = Answer::No;
    } else if undecided {
        found.quiet = Answer::Unknown;
    }
    if found.idempotent == Answer::Unknown || found.quiet == Answer::Unknown {
        let mut steps: Vec<StepId> = open.iter().copied().collect();
        steps.sort_unstable();
        steps.truncate(20);
        found.unproved.push(Unproved { steps, why });
    }
}

fn both(
    context: &Context<'_>,
    witness: &Witness<'_, '_>,
    part: &[StepId],
    found: &mut Twices,
) -> Result<(), GaveUp> {
    // In the paper's semantics an error anywhere ends both runs, so parts are not apart.
    let all: &[StepId] = if context.semantics == Semantics::Paper { &context.order } else { part };
    let mut last = Ok(());
    for tests in [Tests::Inside, Tests::Connected] {
        let sub = Sub::new(context, all, Moment::Start, tests);
        let runs = Runs::new(&sub, context.semantics, &context.unsettled);
        let mut machine = Machine::new(&sub.plan, &sub.domains, context.semantics, Some(context.conflicts));
        let start = machine.any_start();
        runs.assume(&mut machine, &start);
        let first = runs.in_order(&mut machine, start.clone());
        let state = machine.next_run(first.state.clone());
        let second = runs.in_order(&mut machine, state);
        let (different, loud) = compare(&runs, &mut machine, &first, &second);
        last = Ok(());
        for (question, quiet) in [(different, false), (loud, true)] {
            if if quiet { found.not_quiet.is_some() } else { found.not_idempotent.is_some() } {
                continue;
            }
            match machine.solve(&[question]) {
                Outcome::Unknown => return Err(GaveUp),
                Outcome::Unsat => continue,
                Outcome::Sat => {}
            }
            let fixed = embed(&sub, &machine.decode(&start));
            let replayed = witness.complete(&fixed).and_then(|whole| replay(context, witness, &whole, quiet));
            match replayed {
                Some(twice) => {
                    let twice = shrink(context, witness, twice, quiet, &sub.cells);
                    if quiet {
                        found.not_quiet = Some(twice);
                    } else {
                        found.not_idempotent = Some(twice);
                    }
                }
                None => last = Err(GaveUp),
            }
        }
        if last.is_ok() {
            return Ok(());
        }
    }
    last
}

fn replay(context: &Context<'_>, witness: &Witness<'_, '_>, start: &State, quiet: bool) -> Option<Twice> {
    if !witness.is_admissible(start) {
        return None;
    }
    let first = context.runner.run(start, &context.order);
    if context.semantics == Semantics::Paper && first.statuses.contains(&Status::Failed) {
        return None;
    }
    let second = context.runner.run(&first.end, &context.order);
    let cells = first.end.differences(&second.end);
    let steps: Vec<StepId> = first
        .statuses
        .iter()
        .zip(&second.statuses)
        .enumerate()
        .filter(|(_, (one, two))| {
            two.is_bad() && one.outcome() != two.outcome() || (quiet && **two == Status::Changed)
        })
        .map(|(at, _)| StepId(at as u32))
        .collect();
    let shows = if quiet { !second.is_quiet() } else { !cells.is_empty() || !steps.is_empty() };
    shows.then(|| Twice {
        start: start.clone(),
        matters: Vec::new(),
        first_run: first,
        second_run: second,
        differs: Differs { cells, steps },
    })
}

fn shrink(
    context: &Context<'_>,
    witness: &Witness<'_, '_>,
    found: Twice,
    quiet: bool,
    cells: &[CellId],
) -> Twice {
    let mut best = found;
    let mut matters = Vec::new();
    for &cell in cells.iter().take(100) {
        let held = best.start.get(cell).clone();
        let mut needed = false;
        for value in context.domains.start_values(cell).take(3) {
            if *value == held {
                continue;
            }
            let mut start = best.start.clone();
            start.set(cell, value.clone());
            needed |= replay(context, witness, &start, quiet).is_none();
        }
        if needed {
            matters.push(cell);
        }
    }
    best.matters = matters;
    best
}

/// Every managed cell has one end, whatever the start, if nothing failed.
fn converge(
    context: &Context<'_>,
    witness: &Witness<'_, '_>,
    memo: &mut FxHashSet<Vec<u32>>,
    found: &mut Twices,
) {
    let managed: FxHashSet<CellId> = managed(context).into_iter().collect();
    let mut unknown = false;
    for part in parts(context, false) {
        if context.is_late() {
            unknown = true;
            break;
        }
        match converges(context, witness, &part, &managed, memo) {
            Ok(None) => {}
            Ok(Some(two)) => {
                found.convergent = Answer::No;
                found.not_convergent = Some(two);
                return;
            }
            Err(GaveUp) => unknown = true,
        }
    }
    if unknown {
        found.convergent = Answer::Unknown;
        let why = if context.is_late() { Why::Time } else { Why::Hard };
        found.unproved.push(Unproved { steps: Vec::new(), why });
    }
}

fn converges(
    context: &Context<'_>,
    witness: &Witness<'_, '_>,
    part: &[StepId],
    managed: &FxHashSet<CellId>,
    memo: &mut FxHashSet<Vec<u32>>,
) -> Result<Option<TwoStarts>, GaveUp> {
    // Nothing fails, so nothing is skipped, and only notifications connect a part with the rest; where those matter the
    // whole is asked.
    let inside: FxHashSet<StepId> = part.iter().copied().collect();
    let notified_from_outside = context.semantics == Semantics::Puppet
        && part.iter().any(|&step| {
            context.step(step).refresh != setpoint_state::Program::Skip
                && context.runner.before(step).iter().any(|&other| {
                    !inside.contains(&StepId(other))
                        && context.runner.notified_by(StepId(other)).contains(&step.0)
                })
        });
    let unsettled = !context.unsettled.is_empty();
    let mut scopes: Vec<Vec<StepId>> = Vec::new();
    if !notified_from_outside && !unsettled {
        scopes.push(part.to_vec());
    }
    if context.order.len() <= LARGEST {
        scopes.push(context.order.clone());
    }
    for scope in &scopes {
        for tests in [Tests::Inside, Tests::Connected] {
            let sub = Sub::new(context, scope, Moment::StartTwo, tests);
            let place: FxHashMap<CellId, usize> =
                sub.cells.iter().enumerate().map(|(at, &cell)| (cell, at)).collect();
            let mut key = sub.shape();
            key.push(u32::MAX);
            let touched: FxHashSet<CellId> =
                part.iter().flat_map(|&step| context.footprint(step).writes.iter().copied()).collect();
            let mut asked: Vec<CellId> =
                managed.iter().copied().filter(|cell| touched.contains(cell)).collect();
            asked.sort_unstable();
            key.extend(asked.iter().filter_map(|cell| place.get(cell).map(|&at| at as u32)));
            if memo.contains(&key) {
                return Ok(None);
            }
            let runs = Runs::new(&sub, context.semantics, &context.unsettled);
            let mut machine =
                Machine::new(&sub.plan, &sub.domains, context.semantics, Some(context.conflicts));
            let mut ends = Vec::new();
            let mut begins = Vec::new();
            for _ in 0..2 {
                let start = machine.any_start();
                runs.assume(&mut machine, &start);
                let track = runs.in_order(&mut machine, start.clone());
                for &bad in track.failed.iter().chain(&track.skipped) {
                    machine.circuit.assert(&[!bad]);
                }
                machine.circuit.assert(&[!track.error]);
                begins.push(start);
                ends.push(track);
            }
            let mut differ = Vec::new();
            for cell in &asked {
                if let Some(&at) = place.get(cell) {
                    let cell = CellId(at as u32);
                    differ.push(!machine.equal(ends[0].state.get(cell), ends[1].state.get(cell)));
                }
            }
            let differ = machine.circuit.or(&differ);
            match machine.solve(&[differ]) {
                Outcome::Unknown => return Err(GaveUp),
                Outcome::Unsat => {
                    memo.insert(key);
                    return Ok(None);
                }
                Outcome::Sat => {}
            }
            let complete = |at: usize| witness.complete(&embed(&sub, &machine.decode(&begins[at])));
            let (Some(one), Some(two)) = (complete(0), complete(1)) else { continue };
            let runs = [context.runner.run(&one, &context.order), context.runner.run(&two, &context.order)];
            let good = |run: &setpoint_state::Run| run.statuses.iter().all(|status| !status.is_bad());
            if !witness.is_admissible(&one)
                || !witness.is_admissible(&two)
                || !good(&runs[0])
                || !good(&runs[1])
            {
                continue;
            }
            if let Some(&cell) = asked.iter().find(|&&cell| runs[0].end.get(cell) != runs[1].end.get(cell)) {
                return Ok(Some(TwoStarts { starts: [one, two], runs, cell }));
            }
        }
    }
    Err(GaveUp)
}
