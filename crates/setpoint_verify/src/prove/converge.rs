//! Runs from two starts: after every run without failure each managed cell is the same. In Puppet's order.

use rustc_hash::{FxHashMap, FxHashSet};
use setpoint_solver::Outcome;
use setpoint_state::{CellId, Semantics, Status, StepId};

use crate::facts::context::{Context, sorted};
use crate::facts::kinds::{Held, Known};
use crate::prove::twice::{LARGEST_PART, managed};
use crate::reduce::flow::GaveUp;
use crate::reduce::sub::{Moment, Sub, Tests, embed, lasting};
use crate::replay::witness::Witness;
use crate::symbolic::machine::Machine;
use crate::symbolic::runs::{Runs, Track};
use crate::{Answer, Basis, TwoStarts, Unproved, Why, conclude};

/// So many groups that may not bring their cells to one end are asked from real starts.
const MOST_TRIES: usize = 20;

/// Decides whether every managed cell has one end, whatever the start, if nothing failed. Proved only if a run without failure
/// is known: of no run at all everything holds.
pub(crate) fn converge(
    context: &Context<'_>,
    witness: &Witness<'_, '_>,
    groups: &[Vec<StepId>],
    basis: &Basis,
) -> Answer<TwoStarts, Unproved> {
    let mut open: Vec<CellId> = Vec::new();
    if context.unsettled.is_empty() {
        let mut apart = Apart::new(context);
        let mut tries = 0;
        for group in groups {
            let left = apart.open(group);
            if left.is_empty() {
                continue;
            }
            // One group that shows it is enough.
            if group.len() <= LARGEST_PART && tries < MOST_TRIES && !context.is_over() {
                tries += 1;
                if let Ok(Some(two)) = converges(context, witness, group, &left) {
                    return Answer::refuted(two);
                }
            }
            open.extend(left);
        }
        open.sort_unstable();
        open.dedup();
    } else {
        open = managed(context);
    }
    if !open.is_empty() {
        // Then everything is asked from real starts.
        let answer = if context.order.len() <= LARGEST_PART && !context.is_over() {
            converges(context, witness, &context.order, &open)
        } else {
            Err(GaveUp)
        };
        match answer {
            Ok(None) => {}
            Ok(Some(two)) => return Answer::refuted(two),
            Err(GaveUp) => {
                let why = if context.is_over() { Why::Time } else { Why::Large };
                let writers = open.iter().flat_map(|cell| context.writers[cell.0 as usize].iter().copied());
                let mut steps = sorted(writers);
                steps.truncate(20);
                return Answer::unknown(Unproved { steps, why });
            }
        }
    }
    let vacuous = (!witness.has_clean_run()).then(|| Unproved {
        steps: Vec::new(),
        why: if context.is_over() { Why::Time } else { Why::NeverClean },
    });
    conclude(Vec::new(), vacuous.into_iter().collect(), basis)
}

/// What groups show by themselves, one after the other in the order of the run.
struct Apart<'c, 'p> {
    context: &'c Context<'p>,
    managed: FxHashSet<CellId>,
    /// Cells that have one end.
    settled: FxHashSet<CellId>,
    /// What is known right after a step.
    ends: FxHashMap<StepId, FxHashMap<CellId, Known>>,
    /// The cells, by their places, that parts of a shape may leave apart.
    memo: FxHashMap<Vec<u32>, Vec<CellId>>,
}

impl<'c, 'p> Apart<'c, 'p> {
    fn new(context: &'c Context<'p>) -> Self {
        let managed = managed(context).into_iter().collect();
        Self {
            context,
            managed,
            settled: FxHashSet::default(),
            ends: FxHashMap::default(),
            memo: FxHashMap::default(),
        }
    }

    /// Whether a cell holds one and the same value whenever its last writer has succeeded, as far as that is seen without a
    /// solver.
    fn has_one_value(&mut self, cell: CellId) -> bool {
        let context = self.context;
        if context.unknown_writers(cell).next().is_some() {
            return false;
        }
        let Some(last) = context.last_writer(cell) else { return false };
        self.ends.entry(last).or_insert_with(|| context.ends(last)).known(cell).is_one()
    }

    /// The cells that a group manages of which it is not shown that they have one end.
    fn open(&mut self, group: &[StepId]) -> Vec<CellId> {
        let context = self.context;
        let inside: FxHashSet<StepId> = group.iter().copied().collect();
        let mut mine: Vec<CellId> = group
            .iter()
            .flat_map(|&step| context.footprint(step).writes.iter().copied())
            .filter(|cell| self.managed.contains(cell) && !self.settled.contains(cell))
            .collect();
        mine.sort_unstable();
        mine.dedup();
        if context.is_over() {
            return mine;
        }
        let (one, mut mine): (Vec<_>, Vec<_>) = mine.into_iter().partition(|&cell| self.has_one_value(cell));
        self.settled.extend(one);
        if mine.is_empty() || group.len() > LARGEST_PART {
            return mine;
        }
        let mut sub = Sub::new(context, group, Moment::AnyTwo, Tests::Inside);
        sub.assume(lasting(context, &sub));
        // What earlier groups have brought to one end is the same in both runs.
        let first_turn = context.rank[group[0].0 as usize];
        let shared: Vec<bool> = sub
            .cells
            .iter()
            .map(|cell| {
                self.settled.contains(cell)
                    && context.writers[cell.0 as usize].iter().all(|&writer| {
                        !inside.contains(&writer) && context.rank[writer.0 as usize] < first_turn
                    })
            })
            .collect();
        let outside: Vec<bool> =
            group.iter().map(|&step| context.notifiers(step).any(|other| !inside.contains(&other))).collect();
        let mut key = sub.shape();
        let asked: Vec<bool> = sub.cells.iter().map(|cell| mine.binary_search(cell).is_ok()).collect();
        key.extend(shared.iter().chain(&outside).chain(&asked).map(|&flag| u32::from(flag)));
        let bad = self.memo.entry(key).or_insert_with(|| {
            let runs = Runs::new(&sub, context.semantics, &[]);
            let mut machine = sub.machine(context);
            let mut ends: Vec<Track> = Vec::new();
            let mut first_start = None;
            for _ in 0..2 {
                let mut start = machine.any_start();
                if let Some(first) = &first_start {
                    for (at, _) in shared.iter().enumerate().filter(|(_, shared)| **shared) {
                        Machine::share(first, &mut start, CellId(at as u32));
                    }
                } else {
                    first_start = Some(start.clone());
                }
                runs.assume(&mut machine, &start);
                let mut track = runs.begin(&machine, start);
                if context.semantics == Semantics::Puppet {
                    track.notified = outside
                        .iter()
                        .map(|&yes| if yes { machine.circuit.fresh() } else { machine.no() })
                        .collect();
                }
                runs.go_through(&mut machine, &mut track);
                for &bad in track.failed.iter().chain(&track.skipped) {
                    machine.circuit.assert(&[!bad]);
                }
                ends.push(track);
            }
            let mut bad = Vec::new();
            for (at, _) in asked.iter().enumerate().filter(|(_, asked)| **asked) {
                let cell = CellId(at as u32);
                let same = machine.equal(ends[0].state.get(cell), ends[1].state.get(cell));
                if same != machine.yes() && machine.solve(&[!same]) != Outcome::Unsat {
                    bad.push(cell);
                }
            }
            bad
        });
        let bad: FxHashSet<CellId> = bad.iter().map(|cell| sub.cells[cell.0 as usize]).collect();
        // Others that ensure a cell later bring it to the same value, or fail.
        self.settled.extend(mine.iter().filter(|cell| !bad.contains(cell)));
        mine.retain(|cell| bad.contains(cell));
        mine
    }
}

/// Two real starts of a part whose clean runs end differently in one of these cells.
fn converges(
    context: &Context<'_>,
    witness: &Witness<'_, '_>,
    scope: &[StepId],
    open: &[CellId],
) -> Result<Option<TwoStarts>, GaveUp> {
    let mut scope = scope.to_vec();
    let mut tests = Tests::Inside;
    for _ in 0..8 {
        let sub = Sub::new(context, &scope, Moment::StartTwo, tests);
        let places = sub.places();
        let runs = Runs::new(&sub, context.semantics, &context.unsettled);
        let mut machine = sub.machine(context);
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
        for cell in open {
            if let Some(&cell) = places.get(cell) {
                differ.push(!machine.equal(ends[0].state.get(cell), ends[1].state.get(cell)));
            }
        }
        let differ = machine.circuit.or(&differ);
        let mut wishes = witness.plain(&machine, &begins[0], &sub.cells);
        wishes.extend(witness.plain(&machine, &begins[1], &sub.cells));
        match machine.solve_near(&[differ], &wishes) {
            Outcome::Unknown => return Err(GaveUp),
            Outcome::Unsat => return Ok(None),
            Outcome::Sat => {}
        }
        let complete = |at: usize| witness.complete(&embed(&sub, &machine.decode(&begins[at])));
        let (Some(one), Some(two)) = (complete(0), complete(1)) else {
            tests = Tests::Connected;
            continue;
        };
        let runs = [context.runner.run(&one, &context.order), context.runner.run(&two, &context.order)];
        let good = |run: &setpoint_state::Run| run.statuses.iter().all(|status| !status.is_bad());
        if !witness.is_admissible(&one) || !witness.is_admissible(&two) {
            tests = Tests::Connected;
            continue;
        }
        if !good(&runs[0]) || !good(&runs[1]) {
            // The steps that failed take part in the next try.
            let failed: Vec<StepId> = context
                .order
                .iter()
                .copied()
                .filter(|step| {
                    runs.iter().any(|run| run.statuses[step.0 as usize] == Status::Failed)
                        && !scope.contains(step)
                })
                .take(16)
                .collect();
            if failed.is_empty() || scope.len() > LARGEST_PART {
                if matches!(tests, Tests::Connected) {
                    return Err(GaveUp);
                }
                tests = Tests::Connected;
            }
            scope.extend(failed);
            scope.sort_unstable_by_key(|step| context.rank[step.0 as usize]);
            continue;
        }
        if let Some(&cell) = open.iter().find(|&&cell| runs[0].end.get(cell) != runs[1].end.get(cell)) {
            return Ok(Some(TwoStarts { starts: [one, two], runs, cell }));
        }
    }
    Err(GaveUp)
}
