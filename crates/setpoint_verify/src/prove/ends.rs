//! What must hold at the end: invariants, declared contents, services that have loaded what the files say; and what fails.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use setpoint_solver::{Lit, Outcome};
use setpoint_state::{
    CellId, CellKey, CellKind, Reach, Run, Semantics, State, Status, StepId, Term, Test, Value,
};

use crate::facts::context::{Context, Lens};
use crate::prove::pair::{Held, PairProver};
use crate::reduce::flow::GaveUp;
use crate::reduce::sub::{Moment, Sub, Tests, Values, embed, moved};
use crate::symbolic::runs::Runs;
use crate::{Answer, Basis, Broken, Failure, Invariant, Stale, Unproved, Why, conclude};

/// More steps than this are not put into one question about an end.
const LARGEST: usize = 300;

/// More steps than this are not put into one question about every order.
const LARGEST_UNORDERED: usize = 32;

/// A start whose run, without failure, ends where the test does not hold.
struct Shown {
    start: State,
    runs: Vec<Run>,
    failing: Option<StepId>,
    /// The cells that the question was about.
    cells: Vec<CellId>,
}

/// The orders in which the last run may be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Orders {
    Puppets,
    Any,
}

/// Looks for a start, in which `holds` holds too, whose clean run ends with `bad`. With candidates for a transient failure, one
/// of them fails in a first run, and a second run is clean.
fn ask(
    prover: &PairProver<'_, '_>,
    seeds: &[StepId],
    holds: &Test,
    bad: &Test,
    transient: Option<&[StepId]>,
    orders: Orders,
) -> Result<Option<Shown>, GaveUp> {
    let context = prover.context;
    if !context.unsettled.is_empty() {
        return Err(GaveUp);
    }
    let largest = if orders == Orders::Any { LARGEST_UNORDERED } else { LARGEST };
    let also = [holds.clone(), bad.clone()];
    let lens = lens_for(context, &also);
    let mut members = prover
        .closure(lens, seeds.iter().copied().chain(transient.into_iter().flatten().copied()))
        .filter(|members| members.len() <= largest)
        .ok_or(GaveUp)?;
    for _ in 0..6 {
        if context.is_over() {
            return Err(GaveUp);
        }
        let sub = Sub::through(context, lens, &members, Moment::Start, Tests::Also(&also));
        let place = sub.places();
        let mut sub = sub;
        let (holds_here, bad_here) = (moved(holds, &place), moved(bad, &place));
        sub.hold(Values::With([holds_here.clone(), bad_here.clone()]));
        let (mut key, names) = sub.named_shape_with(&[&holds_here, &bad_here]);
        key.extend([u32::MAX, orders as u32]);
        if let Some(candidates) = transient {
            key.extend(members.iter().map(|step| u32::from(candidates.contains(step))));
        }
        if prover.proved.borrow().contains(&key) {
            return Ok(None);
        }
        let mut machine = sub.machine(context);
        let start = machine.any_start();
        let wishes = prover.witness.plain(&machine, &start, &sub.cells);
        // Other plans ask the same. Which start is found depends on what is wished, too.
        let mut shared_key = key.clone();
        shared_key.push(context.semantics as u32);
        shared_key.extend(wishes.iter().map(|lit| lit.var().0 << 1 | u32::from(lit.is_positive())));
        let is_shared = transient.is_none() && orders == Orders::Puppets;
        let known = if is_shared { context.memory.end(&shared_key) } else { None };
        if let Some((found, work)) = known {
            context.meter.add(work);
            if context.is_over() {
                return Err(GaveUp);
            }
            let Some(held) = found else {
                prover.proved.borrow_mut().insert(key);
                return Ok(None);
            };
            let part = Held::embed(&sub, &names, &held);
            match show(prover, &members, (holds, bad), &part, None, &context.order)? {
                Replayed::Shows(whole, runs) => {
                    return Ok(Some(Shown { start: whole, runs, failing: None, cells: sub.cells }));
                }
                Replayed::Fails(failed) => {
                    members = prover
                        .closure(lens, members.iter().copied().chain(failed))
                        .filter(|members| members.len() <= largest)
                        .ok_or(GaveUp)?;
                    continue;
                }
            }
        }
        let before = context.meter.read();
        let runs = Runs::new(&sub, context.semantics, &[]);
        runs.assume(&mut machine, &start);
        let at_start = machine.test(&start, &holds_here);
        machine.circuit.assert(&[at_start]);
        let mut trips: Vec<(StepId, Lit)> = Vec::new();
        let mut state = start.clone();
        if let Some(candidates) = transient {
            let lits: Vec<Lit> = members
                .iter()
                .map(|step| {
                    if candidates.contains(step) {
                        let lit = machine.circuit.fresh();
                        trips.push((*step, lit));
                        lit
                    } else {
                        machine.no()
                    }
                })
                .collect();
            machine.circuit.assert(&trips.iter().map(|(_, lit)| *lit).collect::<Vec<_>>());
            for (at, (_, one)) in trips.iter().enumerate() {
                for (_, other) in &trips[..at] {
                    machine.circuit.assert(&[!*one, !*other]);
                }
            }
            let first = runs.tripping(&mut machine, state, &lits);
            state = machine.next_run(first.state);
        }
        let (last, moments) = match orders {
            Orders::Puppets => (runs.in_order(&mut machine, state), None),
            Orders::Any => {
                let (last, moments) = runs.in_any_order(&mut machine, state);
                (last, Some(moments))
            }
        };
        for &bad in last.failed.iter().chain(&last.skipped) {
            machine.circuit.assert(&[!bad]);
        }
        machine.circuit.assert(&[!last.error]);
        let wrong = machine.test(&last.state, &bad_here);
        let outcome = machine.solve_near(&[wrong], &wishes);
        let found = match outcome {
            Outcome::Unknown => return Err(GaveUp),
            Outcome::Unsat => None,
            Outcome::Sat => Some(Held::of(&sub, &names, &machine.decode(&start))),
        };
        if is_shared {
            context.memory.add_end(shared_key, found, context.meter.read() - before);
        }
        if context.is_over() {
            return Err(GaveUp);
        }
        if outcome.is_unsat() {
            prover.proved.borrow_mut().insert(key);
            return Ok(None);
        }
        let failing = trips.iter().find(|(_, lit)| machine.circuit.is_true(*lit)).map(|(step, _)| *step);
        let order = match &moments {
            None => context.order.clone(),
            Some(moments) => {
                let chosen: Vec<StepId> =
                    Runs::decode(&machine, moments).into_iter().map(|at| members[at]).collect();
                prover.witness.order(&chosen, None).ok_or(GaveUp)?
            }
        };
        let part = embed(&sub, &machine.decode(&start));
        let failed = match show(prover, &members, (holds, bad), &part, failing, &order)? {
            Replayed::Shows(whole, runs) => {
                return Ok(Some(Shown { start: whole, runs, failing, cells: sub.cells }));
            }
            Replayed::Fails(failed) => failed,
        };
        members = prover
            .closure(lens, members.iter().copied().chain(failed))
            .filter(|members| members.len() <= largest)
            .ok_or(GaveUp)?;
    }
    Err(GaveUp)
}

/// What the interpreter makes of a start.
enum Replayed {
    /// The start of the whole machine, and its runs, the last of which is clean and ends badly.
    Shows(State, Vec<Run>),
    /// These steps outside of the question fail.
    Fails(Vec<StepId>),
}

/// Runs the whole plan from what the cells of a part hold.
fn show(
    prover: &PairProver<'_, '_>,
    members: &[StepId],
    (holds, bad): (&Test, &Test),
    part: &[(CellId, Value)],
    failing: Option<StepId>,
    order: &[StepId],
) -> Result<Replayed, GaveUp> {
    let context = prover.context;
    let whole = prover.witness.complete(part).ok_or(GaveUp)?;
    if !prover.witness.is_admissible(&whole) || !whole.holds(holds) {
        return Err(GaveUp);
    }
    let mut all = Vec::new();
    let mut from = whole.clone();
    if let Some(step) = failing {
        let run = context.runner.run_failing(&from, &context.order, step);
        from = run.end.clone();
        all.push(run);
    }
    let run = context.runner.run(&from, order);
    let clean = run.statuses.iter().all(|status| !status.is_bad());
    let shows = clean && run.end.holds(bad);
    let outside = context.order.iter().copied().filter(|step| !members.contains(step));
    let failed: Vec<StepId> =
        outside.filter(|step| run.statuses[step.0 as usize] == Status::Failed).take(12).collect();
    all.push(run);
    match (shows, failed.is_empty()) {
        (true, _) => Ok(Replayed::Shows(whole, all)),
        (false, true) => Err(GaveUp),
        (false, false) => Ok(Replayed::Fails(failed)),
    }
}

/// What a question about these tests has to look at.
fn lens_for(context: &Context<'_>, tests: &[Test]) -> Lens {
    let mut cells = Vec::new();
    for test in tests {
        test.cells(&mut cells);
    }
    cells.retain(|&cell| context.is_sink(cell));
    cells.sort_unstable();
    cells.dedup();
    match cells[..] {
        [] => Lens::Read,
        [only] => Lens::With(only),
        _ => Lens::All,
    }
}

fn writers_of(context: &Context<'_>, test: &Test) -> Vec<StepId> {
    let mut cells = Vec::new();
    test.cells(&mut cells);
    let mut steps: Vec<StepId> =
        cells.iter().filter_map(|cell| context.writers.get(cell.0 as usize)).flatten().copied().collect();
    steps.sort_unstable();
    steps.dedup();
    steps
}

/// Decides what the user states, asked of every order, and what steps declare.
pub(crate) fn invariants(
    prover: &PairProver<'_, '_>,
    stated: &[Invariant],
    independent: bool,
    basis: &Basis,
    tell: &dyn Fn(usize, usize),
) -> (Vec<Answer<Broken, Unproved>>, Answer<Broken, Unproved>) {
    let context = prover.context;
    let (mut found, mut unproved) = (Vec::new(), Vec::new());
    let implied = implied(context).unwrap_or_else(|| {
        unproved.push(Unproved { steps: Vec::new(), why: Why::Time });
        Vec::new()
    });
    let count = stated.len() + implied.len();
    let mut answers = Vec::new();
    for (at, invariant) in stated.iter().enumerate() {
        tell(at, count);
        answers.push(holds_always(prover, invariant, independent, basis));
    }
    for (at, (name, test, step)) in implied.into_iter().enumerate() {
        tell(stated.len() + at, count);
        let seeds = writers_of(context, &test);
        match ask(prover, &seeds, &Test::True, &test.clone().negate(), None, Orders::Puppets) {
            Ok(None) => {}
            Ok(Some(shown)) => found.extend(broken(prover, name, test, Some(step), shown)),
            Err(GaveUp) => {
                let why = if context.is_over() { Why::Time } else { Why::Invariant };
                unproved.push(Unproved { steps: [step].into_iter().chain(seeds).collect(), why });
            }
        }
    }
    (answers, conclude(found, unproved, basis))
}

/// Decides whether a stated invariant holds after every clean run, from any start and in any order. Proved only if a clean run is
/// known and no step of unknown effect may touch what the invariant looks at.
fn holds_always(
    prover: &PairProver<'_, '_>,
    invariant: &Invariant,
    independent: bool,
    basis: &Basis,
) -> Answer<Broken, Unproved> {
    let context = prover.context;
    let test = &invariant.test;
    let (seeds, bad) = (writers_of(context, test), test.clone().negate());
    let mut cells = Vec::new();
    test.cells(&mut cells);
    let steps = (0..context.plan.steps.len() as u32).map(StepId);
    let blind = steps.into_iter().find(|&step| match context.reach(step) {
        None => false,
        Some(Reach::Everything) => !cells.is_empty(),
        Some(Reach::Cells(reached)) => reached.iter().any(|cell| cells.contains(cell)),
    });
    let open = |why: Why| Unproved { steps: Vec::new(), why };
    // Puppet's own order first: it is the story that users know.
    for orders in [Orders::Puppets, Orders::Any] {
        if orders == Orders::Any && independent {
            break;
        }
        match ask(prover, &seeds, &Test::True, &bad, None, orders) {
            Ok(None) => {}
            Ok(Some(shown)) => {
                let found = broken(prover, invariant.name.clone(), test.clone(), None, shown);
                return match found {
                    Some(found) => Answer::refuted(Broken { unless: blind, ..found }),
                    None => Answer::unknown(open(Why::NotReplayed)),
                };
            }
            Err(GaveUp) => {
                return Answer::unknown(open(if context.is_over() { Why::Time } else { Why::Hard }));
            }
        }
    }
    let mut doubts: Vec<Unproved> = blind.map(|step| open(Why::Step(step))).into_iter().collect();
    if doubts.is_empty() && !prover.witness.has_clean_run() {
        doubts.push(open(if context.is_over() { Why::Time } else { Why::NeverClean }));
    }
    conclude(Vec::new(), doubts, basis)
}

/// The story of a broken invariant, with as plain a start as still shows it.
fn broken(
    prover: &PairProver<'_, '_>,
    name: Arc<str>,
    test: Test,
    step: Option<StepId>,
    shown: Shown,
) -> Option<Broken> {
    let context = prover.context;
    let Shown { start, mut runs, cells, .. } = shown;
    let run = runs.pop()?;
    let shows = |start: &State| {
        if !prover.witness.is_admissible(start) {
            return None;
        }
        let again = context.runner.run(start, &run.order);
        (again.statuses.iter().all(|status| !status.is_bad()) && !again.end.holds(&test)).then_some(again)
    };
    let (start, matters, run) = prover.witness.plainer(start, &cells, run.clone(), shows);
    Some(Broken { name, test, step, start, matters, run, unless: None })
}

/// What steps declare: whenever one ends well, a cell holds this value. Asked only where others write the cell too. Nothing if
/// the time is over before all are known.
fn implied(context: &Context<'_>) -> Option<Vec<(Arc<str>, Test, StepId)>> {
    let is_shared = |writers: &[StepId]| (2..=30).contains(&writers.len());
    let mut shared: BTreeMap<StepId, Vec<CellId>> = BTreeMap::new();
    for (at, writers) in context.writers.iter().enumerate().filter(|(_, writers)| is_shared(writers)) {
        for &step in writers {
            shared.entry(step).or_default().push(CellId(at as u32));
        }
    }
    let mut memo: FxHashMap<Vec<u32>, Vec<bool>> = FxHashMap::default();
    let mut values: FxHashMap<(StepId, CellId), Value> = FxHashMap::default();
    for (step, cells) in shared {
        if context.is_over() {
            return None;
        }
        let declared = declared(context, step, &cells, &mut memo);
        values.extend(declared.into_iter().map(|(cell, value)| ((step, cell), value)));
    }
    let mut found = Vec::new();
    for (at, writers) in context.writers.iter().enumerate().filter(|(_, writers)| is_shared(writers)) {
        let cell = CellId(at as u32);
        let values: Vec<Option<&Value>> = writers.iter().map(|&step| values.get(&(step, cell))).collect();
        // All of them leave the same there.
        if values.windows(2).all(|pair| pair[0] == pair[1]) {
            continue;
        }
        for (&step, value) in writers.iter().zip(values) {
            if let Some(value) = value {
                found.push((context.step(step).name.clone(), Test::is(cell, value.clone()), step));
            }
        }
    }
    Some(found)
}

/// The values that cells have whenever a step ends well, whatever they were before.
fn declared(
    context: &Context<'_>,
    step: StepId,
    cells: &[CellId],
    memo: &mut FxHashMap<Vec<u32>, Vec<bool>>,
) -> Vec<(CellId, Value)> {
    // What the step writes there, if that is one value.
    let mut written: FxHashMap<CellId, Option<Value>> = FxHashMap::default();
    context.step(step).apply.writes(&mut |cell, term| {
        if cells.binary_search(&cell).is_err() {
            return;
        }
        let value = match term {
            Term::Is(value) => Some(value.clone()),
            Term::Cell(_) => None,
        };
        let known = written.entry(cell).or_insert_with(|| value.clone());
        if *known != value {
            *known = None;
        }
    });
    let sub = Sub::new(context, &[step], Moment::Any, Tests::Inside);
    let places = sub.places();
    let asked: Vec<(CellId, CellId, Value)> =
        cells.iter().filter_map(|&cell| Some((cell, *places.get(&cell)?, written.remove(&cell)??))).collect();
    if asked.is_empty() {
        return Vec::new();
    }
    let tests: Vec<Test> = asked.iter().map(|(_, at, value)| Test::is(*at, value.clone())).collect();
    let key = sub.shape_with(&tests.iter().collect::<Vec<_>>());
    let always = memo.entry(key).or_insert_with(|| {
        let mut machine = sub.machine(context);
        let mut state = machine.any_start();
        let (yes, no) = (machine.yes(), machine.no());
        let ended = machine.step(&sub.plan.steps[0], &mut state, yes, no, no);
        let differs: Vec<Lit> =
            asked.iter().map(|(_, at, value)| !machine.holds(&state, *at, value)).collect();
        let mut always = vec![true; asked.len()];
        // A run that shows one of them wrong often shows others wrong, too.
        loop {
            let open: Vec<Lit> = differs
                .iter()
                .zip(&always)
                .filter(|(_, always)| **always)
                .map(|(differs, _)| *differs)
                .collect();
            let any = machine.circuit.or(&open);
            match machine.solve(&[!ended.failed, any]) {
                Outcome::Unsat => return always,
                Outcome::Sat if open.iter().any(|differs| machine.circuit.is_true(*differs)) => {
                    for (always, differs) in always.iter_mut().zip(&differs) {
                        *always &= !machine.circuit.is_true(*differs);
                    }
                }
                // Too much at once: one by one.
                Outcome::Sat | Outcome::Unknown => {
                    for (always, differs) in always.iter_mut().zip(&differs).filter(|(always, _)| **always) {
                        *always = machine.solve(&[!ended.failed, *differs]) == Outcome::Unsat;
                    }
                    return always;
                }
            }
        }
    });
    let kept = asked.into_iter().zip(always.iter()).filter(|(_, always)| **always);
    kept.map(|((cell, _, value), _)| (cell, value)).collect()
}

/// A service and a file that it has loaded.
struct Load {
    loaded: CellId,
    file: CellId,
    /// While this holds the service runs with what it has loaded.
    fresh: Test,
    services: Vec<StepId>,
}

fn loads(context: &Context<'_>) -> Vec<Load> {
    let space = &context.plan.space;
    let mut found = Vec::new();
    for (loaded, cell) in space.iter() {
        let (CellKind::Loaded, Some(path)) = (cell.key.kind, &cell.key.detail) else { continue };
        // An entry of a file has the name of the file and its own, on two lines.
        let key = match path.split_once('\n') {
            Some((path, entry)) => CellKey::with_detail(CellKind::Entry, path, entry),
            None => CellKey::path(path),
        };
        let Some(file) = space.find(&key) else { continue };
        let services = context.writers[loaded.0 as usize].clone();
        // Only what this plan writes can leave a service behind, and only a service of this plan.
        if services.is_empty() || context.writers[file.0 as usize].iter().all(|step| services.contains(step))
        {
            continue;
        }
        let mut fresh = Test::same(loaded, file);
        if let Some(running) = space.find(&CellKey::new(CellKind::Running, &cell.key.name)) {
            fresh = Test::Any(vec![Test::is(running, Value::text("running")).negate(), fresh]);
        }
        found.push(Load { loaded, file, fresh, services });
    }
    found
}

/// Looks for services that run with an old configuration after a clean run: never told, or, if that is asked, told in a run in
/// which something else failed.
pub(crate) fn stale(
    prover: &PairProver<'_, '_>,
    basis: &Basis,
    also_lost: bool,
    tell: &dyn Fn(usize, usize),
) -> Answer<Stale, Unproved> {
    let context = prover.context;
    let (mut found, mut unproved) = (Vec::new(), Vec::new());
    if context.semantics == Semantics::Paper {
        return conclude(found, unproved, basis);
    }
    let loads = loads(context);
    for (at, load) in loads.iter().enumerate() {
        tell(at, loads.len());
        let bad = load.fresh.clone().negate();
        let mut seeds = writers_of(context, &load.fresh);
        seeds.extend(&load.services);
        let stale = |Shown { start, runs, failing, .. }: Shown| Stale {
            loaded: load.loaded,
            file: load.file,
            services: load.services.clone(),
            start,
            failing,
            runs,
        };
        match ask(prover, &seeds, &load.fresh, &bad, None, Orders::Puppets) {
            Ok(Some(shown)) => {
                found.push(stale(shown));
                continue;
            }
            Ok(None) => {}
            Err(GaveUp) => {
                let why = if context.is_over() { Why::Time } else { Why::Refresh };
                unproved.push(Unproved { steps: load.services.clone(), why });
                continue;
            }
        }
        if !also_lost {
            continue;
        }
        // Whatever else the service waits for may fail once.
        let mut candidates: Vec<StepId> =
            load.services.iter().flat_map(|&service| waits_for(context, service)).collect();
        candidates.sort_unstable();
        candidates.dedup();
        if candidates.is_empty() {
            continue;
        }
        match ask(prover, &seeds, &load.fresh, &bad, Some(&candidates), Orders::Puppets) {
            Ok(Some(shown)) => found.push(stale(shown)),
            Ok(None) => {}
            Err(GaveUp) => {
                let why = if context.is_over() { Why::Time } else { Why::Refresh };
                unproved.push(Unproved { steps: load.services.clone(), why });
            }
        }
    }
    conclude(found, unproved, basis)
}

/// Transient failures that are tried for one service.
const MAX_TRANSIENT: usize = 12;

/// The steps that a service waits for, the nearest first. Containers do not fail themselves: what is in them does.
fn waits_for(context: &Context<'_>, service: StepId) -> Vec<StepId> {
    let mut found = Vec::new();
    let mut seen = FxHashSet::default();
    let mut work = VecDeque::from([service]);
    while let Some(step) = work.pop_front() {
        for &before in context.runner.before(step) {
            let before = StepId(before);
            if found.len() == MAX_TRANSIENT {
                return found;
            }
            if seen.insert(before) {
                if context.step(before).passes_on {
                    work.push_back(before);
                } else {
                    found.push(before);
                }
            }
        }
    }
    found
}

/// Returns the steps that fail in Puppet's order on a plain machine, and whether they fail on every one.
pub(crate) fn failures(prover: &PairProver<'_, '_>, independent: bool, basis: &Basis) -> Vec<Failure> {
    let context = prover.context;
    let Some(base) = prover.witness.base() else { return Vec::new() };
    let run = context.runner.run(base, &context.order);
    let mut found = Vec::new();
    for (at, status) in run.statuses.iter().enumerate() {
        if *status != Status::Failed {
            continue;
        }
        let step = StepId(at as u32);
        let always = always_fails(prover, step, basis).unwrap_or_else(|GaveUp| {
            let why = if context.is_over() { Why::Time } else { Why::Hard };
            Answer::unknown(Unproved { steps: vec![step], why })
        });
        found.push(Failure { step, start: base.clone(), run: run.clone(), always, every_order: independent });
    }
    found
}

/// Decides whether a step fails from every admissible start, in Puppet's order. Refuted only by a start from which the
/// interpreter ran it without a failure.
fn always_fails(
    prover: &PairProver<'_, '_>,
    step: StepId,
    basis: &Basis,
) -> Result<Answer<State, Unproved>, GaveUp> {
    let context = prover.context;
    let members =
        prover.closure(Lens::All, [step]).filter(|members| members.len() <= LARGEST).ok_or(GaveUp)?;
    if !context.unsettled.is_empty() {
        return Err(GaveUp);
    }
    let sub = Sub::new(context, &members, Moment::Start, Tests::Inside);
    let runs = Runs::new(&sub, context.semantics, &[]);
    let mut machine = sub.machine(context);
    let start = machine.any_start();
    runs.assume(&mut machine, &start);
    let track = runs.in_order(&mut machine, start.clone());
    let at = members.iter().position(|&member| member == step).ok_or(GaveUp)?;
    match machine.solve(&[!track.failed[at]]) {
        Outcome::Unsat => Ok(Answer::Proved(basis.clone())),
        Outcome::Unknown => Err(GaveUp),
        Outcome::Sat => {
            let other = prover.witness.complete(&embed(&sub, &machine.decode(&start))).ok_or(GaveUp)?;
            let run = context.runner.run(&other, &context.order);
            if run.statuses[step.0 as usize] == Status::Failed {
                return Err(GaveUp);
            }
            Ok(Answer::refuted(other))
        }
    }
}

/// Edges without which every start ends as before, failures included: those that others imply, and those of which the first of
/// the two can neither fail nor be skipped and without which the order still does not matter. And whether all were asked about.
pub(crate) fn redundant(
    prover: &PairProver<'_, '_>,
    asked: &[(StepId, StepId)],
    tell: &dyn Fn(usize, usize),
) -> (Vec<(StepId, StepId)>, bool) {
    let context = prover.context;
    let original = context.runner.plan();
    let (mut found, mut all) = (Vec::new(), true);
    for (at, &(one, two)) in asked.iter().enumerate() {
        tell(at, asked.len());
        if original.notifies.contains(&(one, two)) {
            continue;
        }
        if is_implied(context, one, two) {
            found.push((one, two));
            continue;
        }
        if context.can_be_bad[one.0 as usize] {
            continue;
        }
        if context.is_over() {
            all = false;
            continue;
        }
        let mut plan = original.clone();
        plan.edges.retain(|&edge| edge != (one, two));
        let mut without = Context::new(&plan, context.semantics, context.any_start);
        if !without.unsettled.is_empty() {
            continue;
        }
        without.ask_as(context);
        let orders = crate::prove::order::decide(&mut PairProver::new(&without), &|_, _| {});
        if orders.is_independent() {
            found.push((one, two));
        }
    }
    (found, all)
}

/// Whether other edges lead from one step to another.
fn is_implied(context: &Context<'_>, one: StepId, two: StepId) -> bool {
    let mut seen: FxHashSet<u32> = FxHashSet::default();
    let mut work: Vec<u32> =
        context.runner.after(one).iter().copied().filter(|&step| step != two.0).collect();
    while let Some(step) = work.pop() {
        if step == two.0 {
            return true;
        }
        if seen.insert(step) {
            work.extend(context.runner.after(StepId(step)));
        }
    }
    false
}
