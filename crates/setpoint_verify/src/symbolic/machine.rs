//! A machine whose cells hold symbols: programs run on it and leave formulas.

use std::rc::Rc;

use rustc_hash::FxHashSet;
use setpoint_solver::{Backend, Circuit, Limits, Lit, Outcome};
use setpoint_state::{CellId, Domains, Plan, Program, Semantics, State, Step, Term, Test, Value};

/// One literal a value of the cell's domain; exactly one of them holds.
type Symbol = Rc<[Lit]>;

/// What all cells hold, as formulas.
#[derive(Clone)]
pub(crate) struct Symbols {
    cells: Vec<Symbol>,
}

impl Symbols {
    pub(crate) fn get(&self, cell: CellId) -> &[Lit] {
        &self.cells[cell.0 as usize]
    }

    /// Whether both are the very same formulas.
    fn same(&self, other: &Self, at: usize) -> bool {
        Rc::ptr_eq(&self.cells[at], &other.cells[at]) || self.cells[at] == other.cells[at]
    }
}

/// How a step ended, as formulas.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended {
    pub(crate) failed: Lit,
    pub(crate) skipped: Lit,
    /// It reported a change, or its refresh did.
    pub(crate) changed: Lit,
    pub(crate) refreshed: Lit,
    /// What it notifies is notified.
    pub(crate) notify: Lit,
}

pub(crate) struct Machine<'p> {
    pub(crate) circuit: Circuit,
    plan: &'p Plan,
    domains: &'p Domains,
    semantics: Semantics,
    /// For every write of a value that is executed, in order, that it makes a difference; if that is wanted.
    pub(crate) changes: Option<Vec<Lit>>,
}

struct Flags {
    failed: Lit,
    changed: Lit,
}

impl<'p> Machine<'p> {
    pub(crate) fn new(
        plan: &'p Plan,
        domains: &'p Domains,
        semantics: Semantics,
        (backend, limits): (Backend, Limits),
    ) -> Self {
        let circuit = Circuit::with_backend(backend, limits);
        Self { circuit, plan, domains, semantics, changes: None }
    }

    pub(crate) fn yes(&self) -> Lit {
        self.circuit.constant(true)
    }

    pub(crate) fn no(&self) -> Lit {
        self.circuit.constant(false)
    }

    /// Any state in which each cell holds one of the values with which it may start.
    pub(crate) fn any_start(&mut self) -> Symbols {
        let cells = (0..self.plan.space.len() as u32).map(|cell| self.any_value(CellId(cell))).collect();
        Symbols { cells }
    }

    /// A state of which only these cells matter.
    pub(crate) fn start_of(&mut self, cells: &[CellId]) -> Symbols {
        let nothing: Symbol = Vec::new().into();
        let mut state = Symbols { cells: vec![nothing; self.plan.space.len()] };
        for &cell in cells {
            state.cells[cell.0 as usize] = self.any_value(cell);
        }
        state
    }

    /// This cell holds this value.
    pub(crate) fn holds(&self, state: &Symbols, cell: CellId, value: &Value) -> Lit {
        self.place(cell, value).and_then(|at| state.get(cell).get(at).copied()).unwrap_or(self.no())
    }

    pub(crate) fn any_value(&mut self, cell: CellId) -> Symbol {
        let places = self.domains.start_places(cell);
        let mut symbol = vec![self.no(); self.domains.of_cell(cell).len()];
        match places {
            // A cell that can hold nothing at all is left without a value; no plan has one.
            [] => {}
            [only] => symbol[*only as usize] = self.yes(),
            [one, two] => {
                let first = self.circuit.fresh();
                symbol[*one as usize] = first;
                symbol[*two as usize] = !first;
            }
            many => {
                let lits: Vec<Lit> = many.iter().map(|_| self.circuit.fresh()).collect();
                self.circuit.assert(&lits);
                for (at, &one) in lits.iter().enumerate() {
                    for &other in &lits[..at] {
                        self.circuit.assert(&[!one, !other]);
                    }
                    symbol[many[at] as usize] = one;
                }
            }
        }
        symbol.into()
    }

    pub(crate) fn put(state: &mut Symbols, cell: CellId, symbol: Symbol) {
        state.cells[cell.0 as usize] = symbol;
    }

    /// Gives a cell a value where a condition holds.
    pub(crate) fn give(&mut self, state: &mut Symbols, cell: CellId, value: &Value, condition: Lit) {
        let mut symbol = vec![self.no(); self.domains.of_cell(cell).len()];
        if let Some(at) = self.place(cell, value) {
            symbol[at] = self.yes();
            let old = state.cells[cell.0 as usize].clone();
            state.cells[cell.0 as usize] = self.choose(condition, &symbol, &old);
        }
    }

    /// Gives a cell these formulas where a condition holds.
    pub(crate) fn change(&mut self, state: &mut Symbols, cell: CellId, to: &[Lit], condition: Lit) {
        let old = state.cells[cell.0 as usize].clone();
        state.cells[cell.0 as usize] = self.choose(condition, to, &old);
    }

    /// Makes a cell hold the same in two states.
    pub(crate) fn share(from: &Symbols, to: &mut Symbols, cell: CellId) {
        to.cells[cell.0 as usize] = from.cells[cell.0 as usize].clone();
    }

    /// The state with which the next run starts: scratch cells are as at the start of each run.
    pub(crate) fn next_run(&mut self, mut state: Symbols) -> Symbols {
        for (id, cell) in self.plan.space.iter() {
            if matches!(cell.lifetime, setpoint_state::Lifetime::Run(_)) {
                state.cells[id.0 as usize] = self.any_value(id);
            }
        }
        state
    }

    fn place(&self, cell: CellId, value: &Value) -> Option<usize> {
        self.domains.of_cell(cell).binary_search(value).ok()
    }

    pub(crate) fn test(&mut self, state: &Symbols, test: &Test) -> Lit {
        match test {
            Test::True => self.yes(),
            Test::Equal(Term::Is(one), Term::Is(two)) => self.circuit.constant(one == two),
            Test::Equal(Term::Cell(cell), Term::Is(value))
            | Test::Equal(Term::Is(value), Term::Cell(cell)) => {
                self.place(*cell, value).map_or(self.no(), |at| state.get(*cell)[at])
            }
            Test::Equal(Term::Cell(one), Term::Cell(two)) => self.equal(state.get(*one), state.get(*two)),
            Test::Kind(cell, kind) => {
                let inside: Vec<Lit> = self
                    .domains
                    .of_cell(*cell)
                    .iter()
                    .zip(state.get(*cell))
                    .filter(|(value, _)| value.kind() == *kind)
                    .map(|(_, &lit)| lit)
                    .collect();
                self.circuit.or(&inside)
            }
            Test::Not(inner) => !self.test(state, inner),
            Test::All(tests) => {
                let all: Vec<Lit> = tests.iter().map(|test| self.test(state, test)).collect();
                self.circuit.and(&all)
            }
            Test::Any(tests) => {
                let any: Vec<Lit> = tests.iter().map(|test| self.test(state, test)).collect();
                self.circuit.or(&any)
            }
        }
    }

    /// Only states in which these tests hold.
    pub(crate) fn assume(&mut self, state: &Symbols, tests: &[Test]) {
        for test in tests {
            let holds = self.test(state, test);
            self.circuit.assert(&[holds]);
        }
    }

    /// Two symbols of one group have the same value.
    pub(crate) fn equal(&mut self, one: &[Lit], two: &[Lit]) -> Lit {
        if one == two {
            return self.yes();
        }
        let both: Vec<Lit> = one.iter().zip(two).map(|(&one, &two)| self.circuit.and(&[one, two])).collect();
        self.circuit.or(&both)
    }

    /// Two symbols of a cell have values of the same kind.
    pub(crate) fn equal_kind(&mut self, cell: CellId, one: &[Lit], two: &[Lit]) -> Lit {
        if one == two {
            return self.yes();
        }
        let values = self.domains.of_cell(cell);
        let mut kinds: Vec<_> = values.iter().map(Value::kind).collect();
        kinds.sort_unstable();
        kinds.dedup();
        let mut same = Vec::new();
        for kind in kinds {
            let of = |symbol: &[Lit]| -> Vec<Lit> {
                values
                    .iter()
                    .zip(symbol)
                    .filter(|(value, _)| value.kind() == kind)
                    .map(|(_, &lit)| lit)
                    .collect()
            };
            let (left, right) = (of(one), of(two));
            let (left, right) = (self.circuit.or(&left), self.circuit.or(&right));
            same.push(self.circuit.and(&[left, right]));
        }
        self.circuit.or(&same)
    }

    fn choose(&mut self, condition: Lit, then: &[Lit], otherwise: &[Lit]) -> Symbol {
        then.iter()
            .zip(otherwise)
            .map(|(&then, &otherwise)| self.circuit.choose(condition, then, otherwise))
            .collect()
    }

    fn execute(&mut self, program: &Program, guard: Lit, state: &mut Symbols, flags: &mut Flags) {
        let guard = self.circuit.and(&[guard, !flags.failed]);
        if guard == self.no() && self.changes.is_none() {
            return;
        }
        match program {
            Program::Skip => {}
            Program::Fail(_) => flags.failed = self.circuit.or(&[flags.failed, guard]),
            Program::Change => flags.changed = self.circuit.or(&[flags.changed, guard]),
            Program::Write(cell, term) => {
                let new: Symbol = match term {
                    Term::Cell(from) => state.cells[from.0 as usize].clone(),
                    Term::Is(value) => {
                        if self.changes.is_some() {
                            let holds = self.holds(state, *cell, value);
                            let changes = self.circuit.and(&[guard, !holds]);
                            self.changes.get_or_insert_default().push(changes);
                        }
                        let mut symbol = vec![self.no(); self.domains.of_cell(*cell).len()];
                        if let Some(at) = self.place(*cell, value) {
                            symbol[at] = self.yes();
                        }
                        symbol.into()
                    }
                };
                let at = cell.0 as usize;
                state.cells[at] = if guard == self.yes() {
                    new
                } else {
                    self.choose(guard, &new, &state.cells[at].clone())
                };
            }
            Program::If(test, then, otherwise) => {
                let test = self.test(state, test);
                let (yes, no) = (self.circuit.and(&[guard, test]), self.circuit.and(&[guard, !test]));
                // The test was asked before either branch ran, and only one of them runs.
                self.execute(then, yes, state, flags);
                self.execute(otherwise, no, state, flags);
            }
            Program::Sequence(programs) => {
                for program in programs {
                    self.execute(program, guard, state, flags);
                }
            }
        }
    }

    /// Gives a step its turn, if `go`.
    pub(crate) fn step(
        &mut self,
        step: &Step,
        state: &mut Symbols,
        go: Lit,
        bad_before: Lit,
        notified: Lit,
    ) -> Ended {
        let no = self.no();
        let mut applied = Flags { failed: no, changed: no };
        if self.semantics == Semantics::Paper {
            self.execute(&step.apply, go, state, &mut applied);
            return Ended {
                failed: applied.failed,
                skipped: no,
                changed: applied.changed,
                refreshed: no,
                notify: no,
            };
        }
        let skipped = self.circuit.and(&[go, bad_before]);
        let runs = self.circuit.and(&[go, !bad_before]);
        self.execute(&step.apply, runs, state, &mut applied);
        let mut notify = self.circuit.and(&[applied.changed, !applied.failed]);
        let mut failed = applied.failed;
        let mut changed = applied.changed;
        let mut refreshes = self.circuit.and(&[runs, notified]);
        if step.passes_on {
            notify = self.circuit.or(&[notify, refreshes]);
            refreshes = no;
        } else {
            let mut refresh = Flags { failed: no, changed: no };
            self.execute(&step.refresh, refreshes, state, &mut refresh);
            failed = self.circuit.or(&[failed, refresh.failed]);
            changed = self.circuit.or(&[changed, refresh.changed]);
            let more = self.circuit.and(&[refresh.changed, !refresh.failed]);
            notify = self.circuit.or(&[notify, more]);
        }
        let changed = self.circuit.and(&[changed, !failed]);
        Ended { failed, skipped, changed, refreshed: refreshes, notify }
    }

    /// The state after one of several alternatives, of which at most one is chosen; the state itself if none is.
    pub(crate) fn merge(&mut self, base: &Symbols, alternatives: &[(Lit, Symbols)]) -> Symbols {
        let mut merged = base.clone();
        for at in 0..base.cells.len() {
            let touching: Vec<&(Lit, Symbols)> = alternatives
                .iter()
                .filter(|(chosen, after)| *chosen != self.no() && !after.same(base, at))
                .collect();
            if touching.is_empty() {
                continue;
            }
            let chosen: Vec<Lit> = touching.iter().map(|(chosen, _)| *chosen).collect();
            let any = self.circuit.or(&chosen);
            merged.cells[at] = (0..base.cells[at].len())
                .map(|value| {
                    let mut cases: Vec<Lit> = touching
                        .iter()
                        .map(|(chosen, after)| self.circuit.and(&[*chosen, after.cells[at][value]]))
                        .collect();
                    cases.push(self.circuit.and(&[!any, base.cells[at][value]]));
                    self.circuit.or(&cases)
                })
                .collect();
        }
        merged
    }

    pub(crate) fn solve(&mut self, assumptions: &[Lit]) -> Outcome {
        self.circuit.solve(assumptions)
    }

    /// Looks for a model in which the conditions hold, and as many of the wishes as it takes no trouble to keep.
    pub(crate) fn solve_near(&mut self, conditions: &[Lit], wishes: &[Lit]) -> Outcome {
        let mut wishes: Vec<Lit> =
            wishes.iter().copied().filter(|&lit| lit != self.yes() && lit != self.no()).collect();
        // Most questions have no model at all: that is asked first.
        let plain = self.circuit.solve(conditions);
        if !plain.is_sat() || wishes.is_empty() {
            return plain;
        }
        for _ in 0..40 {
            let mut all = conditions.to_vec();
            all.extend(&wishes);
            let outcome = self.circuit.solve(&all);
            if !outcome.is_unsat() || wishes.is_empty() {
                return outcome;
            }
            let core: FxHashSet<Lit> = self.circuit.core().into_iter().collect();
            let before = wishes.len();
            wishes.retain(|lit| !core.contains(lit));
            if wishes.len() == before {
                // The conditions alone are to blame.
                return outcome;
            }
        }
        self.circuit.solve(conditions)
    }

    /// That cells hold what they hold in this state.
    pub(crate) fn as_in(&self, symbols: &Symbols, cells: impl Iterator<Item = (CellId, Value)>) -> Vec<Lit> {
        cells.map(|(cell, value)| self.holds(symbols, cell, &value)).filter(|&lit| lit != self.no()).collect()
    }

    /// What these cells hold in the last model.
    pub(crate) fn decode_of(&self, state: &Symbols, cells: &[CellId]) -> Vec<(CellId, Value)> {
        cells
            .iter()
            .filter_map(|&cell| {
                let at = state.get(cell).iter().position(|&lit| self.circuit.is_true(lit))?;
                Some((cell, self.domains.of_cell(cell).get(at)?.clone()))
            })
            .collect()
    }

    /// The state in the last model.
    pub(crate) fn decode(&self, state: &Symbols) -> State {
        let mut found = State::empty(&self.plan.space);
        for (id, _) in self.plan.space.iter() {
            let value = state.get(id).iter().position(|&lit| self.circuit.is_true(lit));
            if let Some(value) = value.and_then(|at| self.domains.of_cell(id).get(at)) {
                found.set(id, value.clone());
            }
        }
        found
    }
}
