//! Formulas as literals: each gate becomes a variable and the clauses that define it.

use rustc_hash::FxHashMap;

use crate::{AnySolver, Backend, Limits, Lit, Outcome, Solver, Var};

/// Builds clauses from gates, and is a solver itself. Equal gates are built once; constants disappear.
#[derive(Debug)]
pub struct Circuit<S = AnySolver> {
    solver: S,
    truth: Lit,
    gates: FxHashMap<Vec<Lit>, Lit>,
}

impl Circuit {
    pub fn new() -> Self {
        Self::with_backend(Backend::default(), Limits::default())
    }

    /// Gives up after so many conflicts in one call.
    pub fn with_limit(conflicts: u64) -> Self {
        Self::with_backend(Backend::default(), Limits { conflicts: Some(conflicts), ..Limits::default() })
    }

    /// Asks this solver, and gives up at these limits.
    pub fn with_backend(backend: Backend, limits: Limits) -> Self {
        Self::with_solver(backend.solver(limits))
    }
}

impl Default for Circuit {
    fn default() -> Self {
        Self::new()
    }
}

impl<S: Solver> Circuit<S> {
    pub fn with_solver(mut solver: S) -> Self {
        let truth = Lit::new(solver.new_var(), true);
        solver.add_clause(&[truth]);
        Self { solver, truth, gates: FxHashMap::default() }
    }

    pub fn constant(&self, value: bool) -> Lit {
        self.truth.signed(value)
    }

    pub fn fresh(&mut self) -> Lit {
        Lit::new(self.solver.new_var(), true)
    }

    /// At least one of the literals holds.
    pub fn assert(&mut self, clause: &[Lit]) {
        if !clause.contains(&self.truth) {
            self.solver.add_clause(clause);
        }
    }

    /// All of them hold.
    pub fn and(&mut self, inputs: &[Lit]) -> Lit {
        let mut lits: Vec<Lit> = inputs.iter().copied().filter(|&lit| lit != self.truth).collect();
        lits.sort_unstable();
        lits.dedup();
        let contradicts = lits.windows(2).any(|pair| pair[0] == !pair[1]);
        if contradicts || lits.contains(&!self.truth) {
            return !self.truth;
        }
        match lits[..] {
            [] => return self.truth,
            [only] => return only,
            _ => {}
        }
        if let Some(&known) = self.gates.get(&lits) {
            return known;
        }
        let gate = self.fresh();
        let mut long: Vec<Lit> = lits.iter().map(|&lit| !lit).collect();
        long.push(gate);
        for &lit in &lits {
            self.solver.add_clause(&[!gate, lit]);
        }
        self.solver.add_clause(&long);
        self.gates.insert(lits, gate);
        gate
    }

    /// At least one of them holds.
    pub fn or(&mut self, inputs: &[Lit]) -> Lit {
        let negated: Vec<Lit> = inputs.iter().map(|&lit| !lit).collect();
        !self.and(&negated)
    }

    pub fn implies(&mut self, premise: Lit, conclusion: Lit) -> Lit {
        self.or(&[!premise, conclusion])
    }

    pub fn equal(&mut self, left: Lit, right: Lit) -> Lit {
        let both = self.and(&[left, right]);
        let neither = self.and(&[!left, !right]);
        self.or(&[both, neither])
    }

    /// `then` if `condition` holds, else `otherwise`.
    pub fn choose(&mut self, condition: Lit, then: Lit, otherwise: Lit) -> Lit {
        if then == otherwise {
            return then;
        }
        let yes = self.and(&[condition, then]);
        let no = self.and(&[!condition, otherwise]);
        self.or(&[yes, no])
    }

    pub fn solve(&mut self, assumptions: &[Lit]) -> Outcome {
        self.solver.solve(assumptions)
    }

    pub fn is_true(&self, lit: Lit) -> bool {
        self.solver.is_true(lit)
    }

    pub fn core(&self) -> Vec<Lit> {
        self.solver.core()
    }

    /// A smallest core by leaving out: no assumption of it can be dropped. `None` if the assumptions can hold
    /// together, or the solver gave up.
    pub fn minimal_core(&mut self, assumptions: &[Lit]) -> Option<Vec<Lit>> {
        if !self.solve(assumptions).is_unsat() {
            return None;
        }
        let mut core: Vec<Lit> = self.core();
        core.sort_by_key(|lit| assumptions.iter().position(|given| given == lit));
        let mut at = 0;
        while at < core.len() {
            let mut fewer = core.clone();
            fewer.remove(at);
            if self.solve(&fewer).is_unsat() {
                let smaller = self.core();
                core = fewer.into_iter().filter(|lit| smaller.contains(lit)).collect();
            } else {
                at += 1;
            }
        }
        Some(core)
    }
}

impl<S: Solver> Solver for Circuit<S> {
    fn new_var(&mut self) -> Var {
        self.solver.new_var()
    }

    fn add_clause(&mut self, clause: &[Lit]) {
        self.assert(clause);
    }

    fn solve(&mut self, assumptions: &[Lit]) -> Outcome {
        self.solver.solve(assumptions)
    }

    fn is_true(&self, lit: Lit) -> bool {
        self.solver.is_true(lit)
    }

    fn core(&self) -> Vec<Lit> {
        self.solver.core()
    }
}
