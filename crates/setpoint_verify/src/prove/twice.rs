//! Two runs one after the other: idempotent, quiet. In Puppet's order.

use rustc_hash::{FxHashMap, FxHashSet};
use setpoint_solver::{Lit, Outcome};
use setpoint_state::{CellId, Lifetime, Program, Reach, Semantics, State, Status, StepId, Test};

use crate::facts::context::Context;
use crate::facts::kinds::Kinds;
use crate::prove::converge;
use crate::reduce::flow::{GaveUp, found_in, mark_found};
use crate::reduce::sub::{Moment, Sub, Tests, embed, lasting};
use crate::replay::witness::Witness;
use crate::symbolic::machine::Machine;
use crate::symbolic::runs::{Runs, Track};
use crate::{Answer, Basis, Differs, Twice, TwoStarts, Unproved, Why, conclude};

/// More steps than this are not put into one question about two runs.
const LARGEST: usize = 200;

/// The same for a group of steps that disturb each other.
pub(crate) const LARGEST_PART: usize = 120;

/// A second run of more steps is not followed from step to step: that is seldom answered.
const LARGEST_CHAIN: usize = 24;

/// The answers about a second run and about other starts.
pub(crate) struct Twices {
    pub(crate) idempotent: Answer<Twice, Unproved>,
    pub(crate) quiet: Answer<Twice, Unproved>,
    pub(crate) convergent: Answer<TwoStarts, Unproved>,
}

impl Twices {
    fn open(unproved: &Unproved) -> Self {
        Self {
            idempotent: Answer::unknown(unproved.clone()),
            quiet: Answer::unknown(unproved.clone()),
            convergent: Answer::unknown(unproved.clone()),
        }
    }

    fn doubt(self, unproved: &Unproved) -> Self {
        Self {
            idempotent: self.idempotent.doubt(unproved.clone()),
            quiet: self.quiet.doubt(unproved.clone()),
            convergent: self.convergent.doubt(unproved.clone()),
        }
    }
}

/// What was found about a second run so far.
#[derive(Default)]
struct Search {
    /// It is shown that every second run leaves what the first left.
    is_idempotent: bool,
    not_idempotent: Option<Twice>,
    not_quiet: Option<Twice>,
    /// Why a question is open that has no witness.
    open: Option<Unproved>,
}

impl Search {
    /// Whether both questions are answered.
    fn is_over(&self) -> bool {
        (self.is_idempotent || self.not_idempotent.is_some()) && self.not_quiet.is_some()
    }
}

/// The cells that steps write, stand for, and that outlast a run. What is known to have its value already, or stands where no
/// run comes, is not among them.
pub(crate) fn managed(context: &Context<'_>) -> Vec<CellId> {
    (0..context.plan.space.len() as u32)
        .map(CellId)
        .filter(|&cell| {
            context.writers[cell.0 as usize].iter().any(|&writer| context.step(writer).manages(cell))
        })
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
fn parts(context: &Context<'_>) -> Vec<Vec<StepId>> {
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
    {
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

/// Steps that disturb each other's second run: one writes, after the other has had its turn, what the other touches.
/// Steps that only ensure a cell alike do not.
fn groups(context: &Context<'_>) -> Vec<Vec<StepId>> {
    let mut parent: Vec<u32> = (0..context.plan.steps.len() as u32).collect();
    for (at, writers) in context.writers.iter().enumerate() {
        let cell = CellId(at as u32);
        let mut last: Option<StepId> = None;
        let mut users: Vec<StepId> = writers.iter().chain(&context.readers[at]).copied().collect();
        users.sort_unstable_by_key(|step| (context.rank[step.0 as usize], step.0));
        users.dedup();
        // All that touch the cell before its last writer belong together, unless all of them ensure it alike.
        let way = |step: StepId| context.footprint(step).ensure(cell).map(|ensure| ensure.way);
        let Some(last_writer) = context.last_writer(cell) else { continue };
        let until = context.rank[last_writer.0 as usize];
        let before: Vec<StepId> =
            users.into_iter().filter(|step| context.rank[step.0 as usize] <= until).collect();
        if let Some(first) = before.first().and_then(|&step| way(step))
            && before.iter().all(|&step| way(step) == Some(first))
        {
            continue;
        }
        for step in before {
            if let Some(last) = last {
                let (one, two) = (find(&mut parent, last.0), find(&mut parent, step.0));
                parent[one.max(two) as usize] = one.min(two);
            }
            last = Some(step);
        }
    }
    let mut groups: Vec<Vec<StepId>> = Vec::new();
    let mut number: FxHashMap<u32, usize> = FxHashMap::default();
    for &step in &context.order {
        let lead = find(&mut parent, step.0);
        let at = *number.entry(lead).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[at].push(step);
    }
    groups
}

/// What a group shows by itself.
#[derive(Clone, Default)]
struct Shown {
    idempotent: bool,
    /// The steps, by their place in the group, that may report something in a second run.
    loud: Vec<usize>,
}

/// Decides about a second run and about other starts. `every_start`: the same plan, if the context leaves starts out.
///
/// An answer is proved only if every part of the plan was asked about and the effect of every step is known. What a step of
/// unknown effect may touch is left out of the proof, and the step is a reason for doubt.
pub(crate) fn decide<'e, 'p: 'e>(
    context: &Context<'_>,
    witness: &Witness<'_, '_>,
    every_start: impl Fn() -> Option<&'e Context<'p>>,
    basis: &Basis,
    tell: &dyn Fn(usize, usize),
) -> Twices {
    let nothing = |why: Why| Unproved { steps: Vec::new(), why };
    // Starts that are left out all end in an error, and the paper asks nothing more of them.
    let is_impossible = witness.is_impossible();
    if is_impossible && !context.narrowed {
        return Twices::open(&nothing(Why::NoStart));
    }
    if !is_impossible && witness.base().is_none() {
        return Twices::open(&nothing(if context.is_over() { Why::Time } else { Why::Hard }));
    }
    let groups = groups(context);
    let search = if is_impossible {
        Search { is_idempotent: true, ..Search::default() }
    } else {
        second_run(context, witness, &groups, tell)
    };
    let open = |known: bool| search.open.clone().filter(|_| !known).into_iter().collect::<Vec<_>>();
    let (open_idempotent, open_quiet) = (open(search.is_idempotent), open(false));
    // A run without failure has a start that is not left out.
    let mut convergent = converge::converge(context, witness, &groups, basis);
    if !convergent.is_refuted()
        && let Some(every) = every_start()
    {
        // What is managed is told of every machine.
        convergent = converge::converge(every, witness, &self::groups(every), basis);
    }
    let found = Twices {
        idempotent: conclude(search.not_idempotent.into_iter().collect(), open_idempotent, basis),
        quiet: conclude(search.not_quiet.into_iter().collect(), open_quiet, basis),
        convergent,
    };
    doubt_unknown(context, found)
}

/// Looks for a start whose second run is not as the first, or reports something.
fn second_run(
    context: &Context<'_>,
    witness: &Witness<'_, '_>,
    groups: &[Vec<StepId>],
    tell: &dyn Fn(usize, usize),
) -> Search {
    let mut search = Search::default();
    let mut open: Vec<usize> = Vec::new();
    let mut quiet = true;
    if context.unsettled.is_empty() {
        let mut memo: FxHashMap<Vec<u32>, Shown> = FxHashMap::default();
        let mut group_of = vec![0; context.plan.steps.len()];
        for (at, group) in groups.iter().enumerate() {
            for step in group {
                group_of[step.0 as usize] = at;
            }
        }
        // Who may be notified in a second run is found together with who may report something there.
        let mut notified: FxHashSet<StepId> = FxHashSet::default();
        let mut work: Vec<usize> = (0..groups.len()).rev().collect();
        let mut shown: Vec<Shown> = vec![Shown::default(); groups.len()];
        let mut asked = 0;
        while let Some(at) = work.pop() {
            asked += 1;
            tell(asked.min(groups.len()), groups.len());
            if context.is_over() {
                quiet = false;
                work.push(at);
                break;
            }
            shown[at] = alone(context, &groups[at], &notified, &mut memo);
            for &loud in &shown[at].loud {
                quiet = false;
                let targets =
                    context.runner.notified_by(groups[at][loud]).iter().map(|&target| StepId(target));
                // Within the group it is known who is notified, and when.
                for target in targets.filter(|target| group_of[target.0 as usize] != at) {
                    if notified.insert(target) {
                        work.push(group_of[target.0 as usize]);
                    }
                }
            }
        }
        // If no group changes anything, nothing disturbs another.
        search.is_idempotent = work.is_empty() && shown.iter().all(|shown| shown.idempotent);
        open = (0..groups.len()).filter(|&at| !shown[at].idempotent || !shown[at].loud.is_empty()).collect();
    } else {
        open.extend(0..groups.len());
        quiet = false;
    }
    if open.is_empty() && quiet {
        return search;
    }
    let open_steps: FxHashSet<StepId> = open.iter().flat_map(|at| groups[*at].iter().copied()).collect();
    // The groups alone first: that is where it shows most often.
    if context.unsettled.is_empty() {
        for &at in &open {
            if search.is_over() || context.is_over() {
                break;
            }
            if groups[at].len() <= LARGEST_PART {
                let _ = both(context, witness, &groups[at], &mut search);
            }
        }
    }
    if !search.is_over() {
        whole(context, witness, &open_steps, &mut search);
    }
    search
}

/// Makes each step of unknown effect a reason for doubt. If something of the plan lies beyond the reach of all of them, the
/// answers hold provided that they do nothing beyond their programs.
fn doubt_unknown(context: &Context<'_>, mut found: Twices) -> Twices {
    let reached: Vec<Vec<StepId>> = context.unknown.iter().map(|&step| may_touch(context, step)).collect();
    let mut blurred = vec![false; context.plan.steps.len()];
    for other in reached.iter().flatten() {
        blurred[other.0 as usize] = true;
    }
    let is_left = context
        .order
        .iter()
        .any(|step| !blurred[step.0 as usize] && !context.footprint(*step).writes.is_empty());
    for (&step, steps) in context.unknown.iter().zip(reached) {
        let why = if is_left { Why::BeyondProgram(step) } else { Why::Step(step) };
        found = found.doubt(&Unproved { steps, why });
    }
    found
}

/// The steps that may see what a step of unknown effect does, itself first: they share a cell with it or with one that
/// does, or are notified by one.
fn may_touch(context: &Context<'_>, unknown: StepId) -> Vec<StepId> {
    let mut steps = vec![unknown];
    let mut seen: FxHashSet<StepId> = steps.iter().copied().collect();
    let mut cells: FxHashSet<CellId> = FxHashSet::default();
    let mut at = 0;
    while let Some(&step) = steps.get(at) {
        at += 1;
        let mut touched: Vec<CellId> = context.footprint(step).writes.clone();
        match context.reach(step) {
            None => {}
            Some(Reach::Cells(more)) => touched.extend(more),
            Some(Reach::Everything) => touched.extend(context.plan.space.iter().map(|(cell, _)| cell)),
        }
        let mut more: Vec<StepId> =
            context.runner.notified_by(step).iter().map(|&target| StepId(target)).collect();
        for cell in touched.into_iter().filter(|&cell| cells.insert(cell)) {
            more.extend(&context.writers[cell.0 as usize]);
            more.extend(&context.readers[cell.0 as usize]);
        }
        steps.extend(more.into_iter().filter(|&step| seen.insert(step)));
    }
    steps[1..].sort_unstable();
    steps
}

/// A group by itself, whatever state it finds: skipped as it may be, but alike in both runs; notified as it may be in the
/// first run, and in the second those that are named.
///
/// That is enough for the whole: whoever writes what a member touches comes before the member or is a member itself, so
/// nothing disturbs the group between its first turn and the second run. Sound for yes.
fn alone(
    context: &Context<'_>,
    group: &[StepId],
    notified_again: &FxHashSet<StepId>,
    memo: &mut FxHashMap<Vec<u32>, Shown>,
) -> Shown {
    let everything = || Shown { idempotent: false, loud: (0..group.len()).collect() };
    if group.len() > LARGEST_PART {
        return everything();
    }
    // What does nothing at all does it twice.
    let is_idle = |&step: &StepId| {
        let step = context.step(step);
        step.apply == Program::Skip && step.refresh == Program::Skip && step.suitable == Test::True
    };
    if group.iter().all(is_idle) {
        return Shown { idempotent: true, loud: Vec::new() };
    }
    let mut sub = Sub::new(context, group, Moment::Any, Tests::Inside);
    sub.assume(lasting(context, &sub));
    let inside: FxHashSet<StepId> = group.iter().copied().collect();
    let puppet = context.semantics == Semantics::Puppet;
    let mut flags: Vec<(bool, bool, bool)> = Vec::new();
    for &step in group {
        let outside =
            || context.runner.before(step).iter().filter(|&&other| !inside.contains(&StepId(other)));
        let skips = puppet && outside().any(|&other| context.can_be_bad[other as usize]);
        let notified = context.notifiers(step).any(|other| !inside.contains(&other));
        flags.push((skips, notified, puppet && context.is_notified(step) && notified_again.contains(&step)));
    }
    // Cells that later steps may ensure after the group has had its turn.
    let mut later: Vec<(CellId, &crate::reduce::ensure::Ensure)> = Vec::new();
    for (at, &cell) in sub.cells.iter().enumerate() {
        let ensures = group.iter().find_map(|&step| context.footprint(step).ensure(cell));
        if let Some(ensure) = ensures
            && context.writers[cell.0 as usize].iter().any(|writer| !inside.contains(writer))
        {
            later.push((CellId(at as u32), ensure));
        }
    }
    let mut key = sub.shape();
    key.extend(flags.iter().map(|flag| u32::from(flag.0) + 2 * u32::from(flag.1) + 4 * u32::from(flag.2)));
    key.push(u32::MAX);
    key.extend(later.iter().map(|(cell, _)| cell.0));
    // Alone, a step seldom needs it.
    let found: Vec<Vec<(CellId, Kinds)>> = match group {
        [_] => vec![Vec::new()],
        _ => group.iter().map(|&step| found_in(context, &sub, step)).collect(),
    };
    mark_found(&mut key, &found);
    if let Some(known) = memo.get(&key) {
        return known.clone();
    }
    let mut runs = Runs::new(&sub, context.semantics, &[]);
    runs.found = found;
    let mut machine = sub.machine(context);
    let start = machine.any_start();
    runs.assume(&mut machine, &start);
    let free =
        |machine: &mut Machine<'_>, yes: bool| if yes { machine.circuit.fresh() } else { machine.no() };
    let skips: Vec<Lit> = flags.iter().map(|flag| free(&mut machine, flag.0)).collect();
    let mut first = runs.begin(&machine, start);
    first.notified = flags.iter().map(|flag| free(&mut machine, flag.1)).collect();
    first.barred.clone_from(&skips);
    runs.go_through(&mut machine, &mut first);
    let mut state = first.state.clone();
    for (cell, ensure) in &later {
        let can: Vec<Lit> = ensure.from.iter().map(|value| machine.holds(&state, *cell, value)).collect();
        let can = machine.circuit.or(&can);
        let now = machine.circuit.fresh();
        let now = machine.circuit.and(&[can, now]);
        machine.give(&mut state, *cell, &ensure.value, now);
    }
    first.state = state.clone();
    // Scratch cells start anew; between turns they are as others left them, and `Moment::Any` knows them as plain cells.
    for (at, cell) in sub.cells.iter().enumerate() {
        if context.plan.space.get(*cell).is_some_and(|cell| cell.lifetime != Lifetime::Machine) {
            let anything = machine.any_value(CellId(at as u32));
            Machine::put(&mut state, CellId(at as u32), anything);
        }
    }
    let mut second = runs.begin(&machine, state);
    second.notified = flags.iter().map(|flag| free(&mut machine, flag.2)).collect();
    second.barred = skips;
    if let Some(loud) = steady(context, &runs, &mut machine, &first, &second) {
        let mut shown = Shown { idempotent: true, loud };
        pass_on(context, group, &flags, &mut shown);
        memo.insert(key, shown.clone());
        return shown;
    }
    if group.len() > LARGEST_CHAIN {
        return everything();
    }
    runs.go_through(&mut machine, &mut second);
    let mut different = Vec::new();
    for (at, cell) in sub.cells.iter().enumerate() {
        if context.plan.space.get(*cell).is_some_and(|cell| cell.lifetime == Lifetime::Machine) {
            let cell = CellId(at as u32);
            different.push(!machine.equal(first.state.get(cell), second.state.get(cell)));
        }
    }
    for (at, &step) in group.iter().enumerate() {
        different.push(machine.circuit.and(&[second.failed[at], !first.failed[at]]));
        different.push(machine.circuit.and(&[second.skipped[at], !first.skipped[at]]));
        // A step that failed and fails no more lets others run that were skipped.
        if context.can_be_bad[step.0 as usize] {
            different.push(machine.circuit.and(&[first.failed[at], !second.failed[at]]));
        }
    }
    let alive = !first.error;
    let any = machine.circuit.or(&different);
    let any = machine.circuit.and(&[alive, any]);
    let mut shown = Shown { idempotent: machine.solve(&[any]) == Outcome::Unsat, loud: Vec::new() };
    for at in 0..group.len() {
        let loud = machine.circuit.or(&[second.changed[at], second.refreshed[at]]);
        let loud = machine.circuit.and(&[alive, loud]);
        if loud != machine.no() && machine.solve(&[loud]) != Outcome::Unsat {
            shown.loud.push(at);
        }
    }
    pass_on(context, group, &flags, &mut shown);
    memo.insert(key, shown.clone());
    shown
}

/// Containers pass on what comes from outside.
fn pass_on(context: &Context<'_>, group: &[StepId], flags: &[(bool, bool, bool)], shown: &mut Shown) {
    for (at, &step) in group.iter().enumerate() {
        if context.step(step).passes_on && flags[at].2 && !shown.loud.contains(&at) {
            shown.loud.push(at);
        }
    }
}

/// Whether each step by itself leaves what the first run left, and ends as in the first run: then so do all of them one
/// after the other, and the questions are small. Gives the steps that may report something. `second`: as the second run
/// begins.
fn steady(
    context: &Context<'_>,
    runs: &Runs<'_>,
    machine: &mut Machine<'_>,
    first: &Track,
    second: &Track,
) -> Option<Vec<usize>> {
    let sub = runs.sub;
    let alive = !first.error;
    let go = machine.yes();
    let mut loud = Vec::new();
    let mut track = second.clone();
    for (at, &step) in sub.steps.iter().enumerate() {
        runs.assume_found(machine, &track, at, go);
        let mut after = track.clone();
        runs.turn(machine, &mut after, at, go);
        let mut different = vec![machine.circuit.and(&[after.failed[at], !first.failed[at]])];
        if context.can_be_bad[step.0 as usize] {
            different.push(machine.circuit.and(&[first.failed[at], !after.failed[at]]));
        }
        for (place, &cell) in sub.cells.iter().enumerate() {
            let place = CellId(place as u32);
            if context.plan.space.get(cell).is_some_and(|cell| cell.lifetime != Lifetime::Machine) {
                // What lasts for the run only is as this step leaves it.
                Machine::share(&after.state, &mut track.state, place);
            } else if after.state.get(place) != track.state.get(place) {
                different.push(!machine.equal(after.state.get(place), track.state.get(place)));
            }
        }
        let any = machine.circuit.or(&different);
        let any = machine.circuit.and(&[alive, any]);
        if any != machine.no() && machine.solve(&[any]) != Outcome::Unsat {
            return None;
        }
        let reports = machine.circuit.or(&[after.changed[at], after.refreshed[at]]);
        let reports = machine.circuit.and(&[alive, reports]);
        if reports != machine.no() && machine.solve(&[reports]) != Outcome::Unsat {
            loud.push(at);
        }
        // Those that come after it go by how it ended in the first run, and are told what it reports.
        track.failed[at] = first.failed[at];
        track.skipped[at] = first.skipped[at];
        track.notified = after.notified;
    }
    Some(loud)
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

/// Asks about the parts that are open, with everything that bears on them.
fn whole(context: &Context<'_>, witness: &Witness<'_, '_>, open: &FxHashSet<StepId>, search: &mut Search) {
    let mut undecided = None;
    for part in parts(context) {
        if !part.iter().any(|step| open.contains(step)) {
            continue;
        }
        if context.is_over() || part.len() > LARGEST {
            undecided = Some(if context.is_over() { Why::Time } else { Why::Large });
            continue;
        }
        if let Err(GaveUp) = both(context, witness, &part, search) {
            undecided = Some(if context.is_over() { Why::Time } else { Why::Hard });
        }
        if search.is_over() {
            return;
        }
    }
    search.open = undecided.map(|why| {
        let mut steps: Vec<StepId> = open.iter().copied().collect();
        steps.sort_unstable();
        steps.truncate(20);
        Unproved { steps, why }
    });
}

/// Looks for starts whose second run is not as the first, unless it is shown that there are none, and for those whose second
/// run reports something. Returns `Ok` only if no start of the part shows what the search has no witness of.
fn both(
    context: &Context<'_>,
    witness: &Witness<'_, '_>,
    part: &[StepId],
    found: &mut Search,
) -> Result<(), GaveUp> {
    // In the paper's semantics an error anywhere ends both runs, so parts are not apart.
    let all: &[StepId] = if context.semantics == Semantics::Paper { &context.order } else { part };
    let mut last = Ok(());
    for tests in [Tests::Inside, Tests::Connected] {
        let sub = Sub::new(context, all, Moment::Start, tests);
        let runs = Runs::new(&sub, context.semantics, &context.unsettled);
        let mut machine = sub.machine(context);
        let start = machine.any_start();
        runs.assume(&mut machine, &start);
        let first = runs.in_order(&mut machine, start.clone());
        let state = machine.next_run(first.state.clone());
        let second = runs.in_order(&mut machine, state);
        let (different, loud) = compare(&runs, &mut machine, &first, &second);
        last = Ok(());
        for (question, quiet) in [(different, false), (loud, true)] {
            let is_known = if quiet {
                found.not_quiet.is_some()
            } else {
                found.is_idempotent || found.not_idempotent.is_some()
            };
            if is_known {
                continue;
            }
            let wishes = witness.plain(&machine, &start, &sub.cells);
            match machine.solve_near(&[question], &wishes) {
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

/// What matters of a start is where it is not plain; cells go back to plain while it still shows.
fn shrink(
    context: &Context<'_>,
    witness: &Witness<'_, '_>,
    found: Twice,
    quiet: bool,
    cells: &[CellId],
) -> Twice {
    let mut best = found;
    let Some(base) = witness.base() else { return best };
    let mut odd: Vec<CellId> =
        cells.iter().copied().filter(|&cell| best.start.get(cell) != base.get(cell)).collect();
    let mut tries = 0;
    // Each try is a run of everything.
    let most = if context.plan.steps.len() > 200 { 16 } else { 60 };
    let mut size = odd.len();
    while size > 0 && tries < most {
        let mut at = 0;
        while at < odd.len() && tries < most {
            tries += 1;
            let mut start = best.start.clone();
            for &cell in &odd[at..(at + size).min(odd.len())] {
                start.set(cell, base.get(cell).clone());
            }
            if let Some(simpler) = replay(context, witness, &start, quiet) {
                best = simpler;
                odd.drain(at..(at + size).min(odd.len()));
            } else {
                at += size;
            }
        }
        size /= 2;
    }
    best.matters = odd;
    best
}
