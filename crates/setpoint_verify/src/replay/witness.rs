//! From a model to a story that holds: a start of the whole plan, orders of all steps, and a replay.

use std::cell::OnceCell;

use rustc_hash::FxHashSet;
use setpoint_solver::{Lit, Outcome};
use setpoint_state::{CellId, State, StepId, Value};

use crate::facts::context::{Context, has};
use crate::facts::kinds::{Held, HeldMut, Known, Laws, at_start, follow};
use crate::reduce::flow::GaveUp;
use crate::reduce::sub::{Moment, Sub, Tests, embed};
use crate::symbolic::machine::{Machine, Symbols};
use crate::symbolic::runs::Runs;
use crate::{Counterexample, Differs};

fn in_order(cells: &FxHashSet<CellId>) -> Vec<CellId> {
    let mut list: Vec<CellId> = cells.iter().copied().collect();
    list.sort_unstable();
    list
}

/// Completes starts, and replays.
pub(crate) struct Witness<'c, 'p> {
    context: &'c Context<'p>,
    base: OnceCell<Result<Option<State>, GaveUp>>,
    good: OnceCell<Option<State>>,
    clean: OnceCell<bool>,
}

/// A run of more steps is not searched for a start from which nothing fails.
const LARGEST_RUN: usize = 1_000;

impl<'c, 'p> Witness<'c, 'p> {
    pub(crate) fn new(context: &'c Context<'p>) -> Self {
        Self { context, base: OnceCell::new(), good: OnceCell::new(), clean: OnceCell::new() }
    }

    /// Some admissible start of the whole plan, if one is known.
    pub(crate) fn base(&self) -> Option<&State> {
        self.search().as_ref().ok()?.as_ref()
    }

    /// Whether it is proved that no start is admissible: then nothing can go wrong. That none was found in time proves nothing.
    pub(crate) fn is_impossible(&self) -> bool {
        matches!(self.search(), Ok(None))
    }

    fn search(&self) -> &Result<Option<State>, GaveUp> {
        self.base.get_or_init(|| {
            let mut state = State::empty(&self.context.plan.space);
            for (id, _) in self.context.plan.space.iter() {
                if let Some(first) = self.plain_values(id).next() {
                    state.set(id, first.clone());
                }
            }
            if self.is_admissible(&state) {
                return Ok(Some(state));
            }
            if let Some(near) = self.near(&state) {
                return Ok(Some(near));
            }
            let cells: Vec<CellId> = self.context.plan.space.iter().map(|(id, _)| id).collect();
            self.solve(&cells, &[], state)
        })
    }

    /// The values with which a cell may start, that of a plain machine first.
    fn plain_values(&self, cell: CellId) -> impl Iterator<Item = &Value> {
        let values = || self.context.domains.start_values(cell);
        let plain = self.context.plan.space.plain(cell);
        let is_plain = move |value: &&Value| Some(*value) == plain;
        values().filter(is_plain).chain(values().filter(move |value| !is_plain(value)))
    }

    /// An admissible start near a plain state, if it is found by choosing cell by cell what the assumptions leave open.
    fn near(&self, plain: &State) -> Option<State> {
        let context = self.context;
        let laws = Laws { tests: &context.assumptions, looks: &context.looks, kept: None };
        let mut known = at_start(&context.plan);
        for test in &context.assumptions {
            let mut said = Vec::new();
            follow(test, true, &known, &mut said);
            for (cell, more) in said {
                if !laws.suppose(&mut known, cell, more, &mut Vec::new()) {
                    return None;
                }
            }
        }
        let mut state = plain.clone();
        for (cell, _) in context.plan.space.iter().filter(|(cell, _)| !context.looks.tests(*cell).is_empty())
        {
            let chosen = self.plain_values(cell).find(|value| {
                if known.known(cell).excludes(value) {
                    return false;
                }
                let mut before = Vec::new();
                let possible = laws.suppose(&mut known, cell, Known::is(value), &mut before);
                if !possible {
                    for (cell, old) in before.into_iter().rev() {
                        known.set(cell, old);
                    }
                }
                possible
            });
            state.set(cell, chosen?.clone());
        }
        self.is_admissible(&state).then_some(state)
    }

    /// A start from which no step fails in Puppet's order, if one is found.
    fn good(&self) -> Option<&State> {
        let context = self.context;
        self.good
            .get_or_init(|| {
                let base = self.base()?;
                if context.order.len() > LARGEST_RUN || !context.unsettled.is_empty() {
                    return None;
                }
                // A plain start often is one.
                if context.runner.run(base, &context.order).is_clean() {
                    return Some(base.clone());
                }
                self.search_clean(Tests::Inside)
            })
            .as_ref()
    }

    /// Whether a run without failure is known, in Puppet's order: shown by the interpreter on the whole plan.
    pub(crate) fn has_clean_run(&self) -> bool {
        *self.clean.get_or_init(|| self.find_clean_run())
    }

    fn find_clean_run(&self) -> bool {
        let context = self.context;
        let is_clean =
            |start: &State| self.is_admissible(start) && context.runner.run(start, &context.order).is_clean();
        let Some(base) = self.base() else { return false };
        if is_clean(base) {
            return true;
        }
        let searched = [Tests::Inside, Tests::Connected]
            .into_iter()
            .filter(|_| context.order.len() <= LARGEST_RUN && !context.is_over());
        searched.filter_map(|tests| self.search_clean(tests)).any(|start| is_clean(&start))
    }

    /// Asks the solver for a start from which no step fails or is skipped in Puppet's order.
    fn search_clean(&self, tests: Tests<'_>) -> Option<State> {
        let context = self.context;
        let sub = Sub::new(context, &context.order, Moment::Start, tests);
        let runs = Runs::new(&sub, context.semantics, &context.unsettled);
        let mut machine = sub.machine(context);
        let start = machine.any_start();
        runs.assume(&mut machine, &start);
        let end = runs.in_order(&mut machine, start.clone());
        for bad in end.failed.into_iter().chain(end.skipped).chain([end.error]) {
            machine.circuit.assert(&[!bad]);
        }
        if !machine.solve(&[]).is_sat() {
            return None;
        }
        self.complete_from(self.base()?, &embed(&sub, &machine.decode(&start)))
    }

    /// Starts of the whole plan in which these cells hold these values: a plain one, then one from which little else fails.
    pub(crate) fn completions(&self, fixed: &[(CellId, Value)]) -> impl Iterator<Item = State> {
        let good = move || self.good().and_then(|good| self.complete_from(good, fixed));
        self.complete(fixed).into_iter().chain(std::iter::once_with(good).flatten())
    }

    /// What these cells hold in a plain start, as wishes for a question about them.
    pub(crate) fn plain(&self, machine: &Machine<'_>, symbols: &Symbols, cells: &[CellId]) -> Vec<Lit> {
        let Some(base) = self.base() else { return Vec::new() };
        machine.as_in(
            symbols,
            cells.iter().enumerate().map(|(at, &cell)| (CellId(at as u32), base.get(cell).clone())),
        )
    }

    pub(crate) fn is_admissible(&self, state: &State) -> bool {
        self.context.assumptions.iter().all(|test| state.holds(test))
            && self.context.plan.space.iter().all(|(id, cell)| {
                !matches!(cell.lifetime, setpoint_state::Lifetime::Machine)
                    || cell.kinds.contains(&state.get(id).kind())
            })
    }

    fn solve(
        &self,
        cells: &[CellId],
        fixed: &[(CellId, Value)],
        onto: State,
    ) -> Result<Option<State>, GaveUp> {
        let all: Vec<u32> = (0..self.context.assumptions.len() as u32).collect();
        self.solve_some(cells, &all, fixed, onto)
    }

    /// Values of these cells with which these assumptions hold, as near as may be to a state.
    fn solve_some(
        &self,
        cells: &[CellId],
        tests: &[u32],
        fixed: &[(CellId, Value)],
        mut onto: State,
    ) -> Result<Option<State>, GaveUp> {
        let context = self.context;
        let mut machine = Machine::new(&context.plan, &context.domains, context.semantics, context.limits());
        let start = machine.start_of(cells);
        for &test in tests {
            let holds = machine.test(&start, &context.assumptions[test as usize]);
            machine.circuit.assert(&[holds]);
        }
        for (cell, value) in fixed {
            let holds = machine.holds(&start, *cell, value);
            machine.circuit.assert(&[holds]);
        }
        let wishes = machine.as_in(&start, cells.iter().map(|&cell| (cell, onto.get(cell).clone())));
        match machine.solve_near(&[], &wishes) {
            Outcome::Sat => {}
            Outcome::Unsat => return Ok(None),
            Outcome::Unknown => return Err(GaveUp),
        }
        let found = machine.decode_of(&start, cells);
        for (cell, value) in found {
            onto.set(cell, value);
        }
        Ok(Some(onto))
    }

    /// An admissible start of the whole plan in which these cells hold these values.
    pub(crate) fn complete(&self, fixed: &[(CellId, Value)]) -> Option<State> {
        self.complete_from(self.base()?, fixed)
    }

    /// The same, as near as may be to a given start.
    fn complete_from(&self, base: &State, fixed: &[(CellId, Value)]) -> Option<State> {
        let mut state = base.clone();
        for (cell, value) in fixed {
            state.set(*cell, value.clone());
        }
        let context = self.context;
        let fixed_cells: FxHashSet<CellId> = fixed.iter().map(|(cell, _)| *cell).collect();
        let tests_of = |cells: &mut dyn Iterator<Item = CellId>| -> Vec<u32> {
            let mut tests: Vec<u32> = cells.flat_map(|cell| context.looks.tests(cell)).copied().collect();
            tests.sort_unstable();
            tests.dedup();
            tests
        };
        let cells_of = |tests: &[u32]| -> Vec<CellId> {
            let mut cells: Vec<CellId> =
                tests.iter().flat_map(|&test| context.looks.cells(test)).copied().collect();
            cells.sort_unstable();
            cells.dedup();
            cells
        };
        let violated: Vec<u32> = tests_of(&mut in_order(&fixed_cells).into_iter())
            .into_iter()
            .filter(|&test| !state.holds(&context.assumptions[test as usize]))
            .collect();
        if violated.is_empty() {
            return Some(state);
        }
        // What the violated assumptions look at may change, then what is connected with that, ring by ring.
        let mut free: FxHashSet<CellId> = cells_of(&violated).into_iter().collect();
        loop {
            let tests = tests_of(&mut in_order(&free).into_iter().chain(in_order(&fixed_cells)));
            let cells = cells_of(&tests);
            let mut given: Vec<(CellId, Value)> = Vec::new();
            for &cell in &cells {
                if fixed_cells.contains(&cell) || !free.contains(&cell) {
                    given.push((cell, state.get(cell).clone()));
                }
            }
            if let Ok(Some(found)) = self.solve_some(&cells, &tests, &given, state.clone()) {
                return Some(found);
            }
            let before = free.len();
            free.extend(cells);
            if free.len() == before {
                return None;
            }
        }
    }

    /// An order of the whole plan in which the given steps come in the given order; each is preceded only by what it waits
    /// for. `None` if edges forbid it.
    pub(crate) fn order(
        &self,
        sequence: &[StepId],
        together: Option<(StepId, StepId)>,
    ) -> Option<Vec<StepId>> {
        let context = self.context;
        let mut done: FxHashSet<StepId> = FxHashSet::default();
        let mut order = Vec::with_capacity(context.order.len());
        let inside: FxHashSet<StepId> = sequence.iter().copied().collect();
        for &step in sequence {
            let mut needed: Vec<StepId> = Vec::new();
            let mut wants = vec![step];
            if let Some((one, two)) = together
                && (step == one || step == two)
            {
                wants = vec![one, two];
            }
            for &before in &context.order {
                if !done.contains(&before) && wants.iter().any(|&step| has(context.before(step), before.0)) {
                    needed.push(before);
                }
            }
            for before in needed {
                if inside.contains(&before) && before != step {
                    return None;
                }
                done.insert(before);
                order.push(before);
            }
            if done.insert(step) {
                order.push(step);
            }
        }
        order.extend(context.order.iter().copied().filter(|step| !done.contains(step)));
        Some(order)
    }

    /// Runs both orders and says what differs at the end; `None` if nothing does, or if the start may not be.
    pub(crate) fn replay(
        &self,
        start: &State,
        first: &[StepId],
        second: &[StepId],
    ) -> Option<Counterexample> {
        if !self.is_admissible(start) {
            return None;
        }
        let context = self.context;
        let (one, two) = (context.runner.run(start, first), context.runner.run(start, second));
        if one.same_outcome(&two, context.semantics) {
            return None;
        }
        let cells = if context.semantics == setpoint_state::Semantics::Paper
            && (one.statuses.contains(&setpoint_state::Status::Failed)
                || two.statuses.contains(&setpoint_state::Status::Failed))
        {
            Vec::new()
        } else {
            one.end.differences(&two.end)
        };
        let steps = one
            .statuses
            .iter()
            .zip(&two.statuses)
            .enumerate()
            .filter(|(_, (one, two))| one.outcome() != two.outcome())
            .map(|(at, _)| StepId(at as u32))
            .collect();
        Some(Counterexample {
            start: start.clone(),
            matters: Vec::new(),
            first: first.to_vec(),
            second: second.to_vec(),
            first_run: one,
            second_run: two,
            differs: Differs { cells, steps },
        })
    }

    /// Makes a counterexample simpler as long as it stays one: cells go back to a plain start, and the order to Puppet's.
    pub(crate) fn shrink(
        &self,
        found: Counterexample,
        pair: Option<(StepId, StepId)>,
        cells: &[CellId],
    ) -> Counterexample {
        let mut best = found;
        if let Some((one, two)) = pair {
            // The order that Puppet takes, with the two brought together as late as they can be.
            if let Some((first, second)) = self.natural(one, two)
                && let Some(simpler) = self.replay(&best.start, &first, &second)
            {
                best = simpler;
            }
        }
        self.shrink_where(best, cells, |_| true)
    }

    /// The same with the orders as they are, as long as what is found shows what it has to.
    pub(crate) fn shrink_where(
        &self,
        found: Counterexample,
        cells: &[CellId],
        shows: impl Fn(&Counterexample) -> bool,
    ) -> Counterexample {
        let (first, second) = (found.first.clone(), found.second.clone());
        let start = found.start.clone();
        let replay = |start: &State| self.replay(start, &first, &second).filter(|found| shows(found));
        let (_, matters, mut best) = self.plainer(start, cells, found, replay);
        best.matters = matters;
        best
    }

    /// A start nearer to a plain one that still shows something, the cells in which it is not plain, and what it shows:
    /// cells go back to the plain start, many at once while that works.
    pub(crate) fn plainer<T>(
        &self,
        start: State,
        cells: &[CellId],
        shown: T,
        shows: impl Fn(&State) -> Option<T>,
    ) -> (State, Vec<CellId>, T) {
        let Some(base) = self.base() else { return (start, Vec::new(), shown) };
        let (mut best, mut shown) = (start, shown);
        let mut odd: Vec<CellId> =
            cells.iter().copied().filter(|&cell| best.get(cell) != base.get(cell)).collect();
        let mut tries = 0;
        // Each try is a run of everything.
        let most = if self.context.plan.steps.len() > 200 { 16 } else { 60 };
        let mut size = odd.len();
        while size > 0 && tries < most {
            let mut at = 0;
            while at < odd.len() && tries < most {
                tries += 1;
                let part = &odd[at..(at + size).min(odd.len())];
                let mut start = best.clone();
                for &cell in part {
                    start.set(cell, base.get(cell).clone());
                }
                if let Some(simpler) = shows(&start) {
                    (best, shown) = (start, simpler);
                    odd.drain(at..(at + size).min(odd.len()));
                } else {
                    at += size;
                }
            }
            size /= 2;
        }
        (best, odd, shown)
    }

    /// Puppet's order with both neighbours together, in either order.
    fn natural(&self, one: StepId, two: StepId) -> Option<(Vec<StepId>, Vec<StepId>)> {
        let context = self.context;
        let rank = |step: StepId| context.rank[step.0 as usize];
        let (first, second) = if rank(one) < rank(two) { (one, two) } else { (two, one) };
        // What must come between the two in no case can come before both.
        let mut order: Vec<StepId> = Vec::new();
        let mut held: Vec<StepId> = Vec::new();
        for &step in &context.order {
            if step == first {
                held.push(step);
            } else if step == second {
                order.push(first);
                order.push(second);
                order.extend(held.drain(1..));
                held.clear();
            } else if held.first() == Some(&first) && has(context.after(first), step.0) {
                held.push(step);
            } else {
                order.push(step);
            }
        }
        if order.len() != context.order.len() {
            return None;
        }
        let at = order.iter().position(|&step| step == first)?;
        let mut swapped = order.clone();
        swapped.swap(at, at + 1);
        Some((order, swapped))
    }
}
