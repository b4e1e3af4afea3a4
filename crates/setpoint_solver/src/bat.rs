//! Batsat behind the trait.

use std::cell::Cell;

use batsat::{Callbacks, ClauseKind, Solver as Inner, SolverInterface, lbool};

use crate::{Limits, Lit, Outcome, Solver, Var};

/// A solver in pure Rust. The same questions in the same order give the same answers.
pub struct BatSolver {
    inner: Inner<Budget>,
}

/// Gives up at its limits. Conflicts are counted in each call, so that answers can be repeated.
#[derive(Default)]
struct Budget {
    limits: Limits,
    used: u64,
    /// Asking for the time costs more than a step of the search.
    asked: Cell<u32>,
    late: Cell<bool>,
}

impl Callbacks for Budget {
    fn on_start(&mut self) {
        self.used = 0;
    }

    fn on_new_clause(&mut self, _clause: &[batsat::Lit], source: ClauseKind) {
        if source == ClauseKind::Learnt {
            self.used += 1;
        }
    }

    fn stop(&self) -> bool {
        let asked = self.asked.get().wrapping_add(1);
        self.asked.set(asked);
        if asked.is_multiple_of(256) && self.limits.is_late() {
            self.late.set(true);
        }
        self.late.get() || self.limits.conflicts.is_some_and(|limit| self.used > limit)
    }
}

impl BatSolver {
    pub fn new() -> Self {
        Self::with_limits(Limits::default())
    }

    /// A solver that answers [`Outcome::Unknown`] at its limits.
    pub fn with_limits(limits: Limits) -> Self {
        let budget = Budget { limits, ..Budget::default() };
        Self { inner: Inner::new(batsat::SolverOpts::default(), budget) }
    }

    fn inner_lit(&mut self, lit: Lit) -> batsat::Lit {
        let var = self.inner.var_of_int(lit.var().0);
        batsat::Lit::new(var, lit.is_positive())
    }
}

impl Default for BatSolver {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for BatSolver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "BatSolver({} variables, {} clauses)", self.inner.num_vars(), self.inner.num_clauses())
    }
}

impl Solver for BatSolver {
    fn new_var(&mut self) -> Var {
        Var(self.inner.new_var_default().idx())
    }

    fn add_clause(&mut self, clause: &[Lit]) {
        let mut lits: Vec<batsat::Lit> = clause.iter().map(|&lit| self.inner_lit(lit)).collect();
        self.inner.add_clause_reuse(&mut lits);
    }

    fn solve(&mut self, assumptions: &[Lit]) -> Outcome {
        if self.inner.cb().limits.is_late() {
            return Outcome::Unknown;
        }
        let lits: Vec<batsat::Lit> = assumptions.iter().map(|&lit| self.inner_lit(lit)).collect();
        match self.inner.solve_limited(&lits) {
            answer if answer == lbool::TRUE => Outcome::Sat,
            answer if answer == lbool::FALSE => Outcome::Unsat,
            _ => Outcome::Unknown,
        }
    }

    fn is_true(&self, lit: Lit) -> bool {
        let var = batsat::Var::unsafe_from_idx(lit.var().0);
        self.inner.value_lit(batsat::Lit::new(var, lit.is_positive())) == lbool::TRUE
    }

    fn core(&self) -> Vec<Lit> {
        let mut core: Vec<Lit> =
            self.inner.unsat_core().iter().map(|lit| !Lit::new(Var(lit.var().idx()), lit.sign())).collect();
        core.sort_unstable();
        core
    }
}
