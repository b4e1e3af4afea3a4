//! Varisat behind the trait: another solver, to check the first.

use varisat::{ExtendFormula, Lit as Inner};

use crate::{Lit, Outcome, Solver, Var};

/// A solver in pure Rust. It knows no limits.
pub struct VariSolver {
    inner: varisat::Solver<'static>,
    /// What the last model says of each variable.
    model: Vec<bool>,
    core: Vec<Lit>,
}

impl Default for VariSolver {
    fn default() -> Self {
        Self { inner: varisat::Solver::new(), model: Vec::new(), core: Vec::new() }
    }
}

impl std::fmt::Debug for VariSolver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "VariSolver({} variables in its model)", self.model.len())
    }
}

fn inner(lit: Lit) -> Inner {
    Inner::from_index(lit.var().0 as usize, lit.is_positive())
}

fn outer(lit: Inner) -> Lit {
    Lit::new(Var(lit.index() as u32), lit.is_positive())
}

impl Solver for VariSolver {
    fn new_var(&mut self) -> Var {
        Var(self.inner.new_var().index() as u32)
    }

    fn add_clause(&mut self, clause: &[Lit]) {
        let lits: Vec<Inner> = clause.iter().map(|&lit| inner(lit)).collect();
        self.inner.add_clause(&lits);
    }

    fn solve(&mut self, assumptions: &[Lit]) -> Outcome {
        let lits: Vec<Inner> = assumptions.iter().map(|&lit| inner(lit)).collect();
        self.inner.assume(&lits);
        match self.inner.solve() {
            Ok(true) => {
                self.model.clear();
                for lit in self.inner.model().unwrap_or_default() {
                    if self.model.len() <= lit.index() {
                        self.model.resize(lit.index() + 1, false);
                    }
                    self.model[lit.index()] = lit.is_positive();
                }
                Outcome::Sat
            }
            Ok(false) => {
                self.core =
                    self.inner.failed_core().unwrap_or_default().iter().map(|&lit| outer(lit)).collect();
                self.core.sort_unstable();
                Outcome::Unsat
            }
            Err(_) => Outcome::Unknown,
        }
    }

    fn is_true(&self, lit: Lit) -> bool {
        self.model.get(lit.var().0 as usize).copied().unwrap_or(false) == lit.is_positive()
    }

    fn core(&self) -> Vec<Lit> {
        self.core.clone()
    }
}
