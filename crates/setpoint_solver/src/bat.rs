//! Batsat behind the trait.

use std::cell::Cell;

use batsat::{Callbacks, ClauseKind, Solver as Inner, SolverInterface, lbool};

use crate::{Limits, Lit, Outcome, Solver, Var};

/// A solver in pure Rust. The same questions in the same order give the same answers.
///
/// Batsat takes 4 MB for its clauses before the first one, and many formulas turn out to be constant: it is made when it is
/// first asked.
pub struct BatSolver {
    inner: Option<Inner<Budget>>,
    waiting: Waiting,
}

/// What was said before anything was asked.
#[derive(Default)]
struct Waiting {
    limits: Limits,
    variables: u32,
    /// Clauses, one after the other, and where each ends.
    literals: Vec<Lit>,
    ends: Vec<usize>,
}

/// Gives up at its limits. Conflicts are counted in each call, so that answers can be repeated.
#[derive(Default)]
struct Budget {
    limits: Limits,
    used: u64,
    /// How often this call was asked whether it shall stop: once a decision or conflict at most.
    asked: Cell<u64>,
    /// How often it may be asked: each time something is propagated.
    most: u64,
    late: Cell<bool>,
}

impl Callbacks for Budget {
    fn on_start(&mut self) {
        self.used = 0;
        self.asked.set(0);
        let most = self.limits.most_work.unwrap_or(u64::MAX);
        self.most = most.saturating_sub(self.limits.meter.read());
    }

    fn on_new_clause(&mut self, _clause: &[batsat::Lit], source: ClauseKind) {
        if source == ClauseKind::Learnt {
            self.used += 1;
        }
    }

    fn stop(&self) -> bool {
        let asked = self.asked.get() + 1;
        self.asked.set(asked);
        // Reading a clock costs more than a step of the search.
        if asked.is_multiple_of(256) && self.limits.is_over() {
            self.late.set(true);
        }
        self.late.get() || asked > self.most || self.limits.conflicts.is_some_and(|limit| self.used > limit)
    }
}

impl BatSolver {
    pub fn new() -> Self {
        Self::with_limits(Limits::default())
    }

    /// A solver that answers [`Outcome::Unknown`] at its limits.
    pub fn with_limits(limits: Limits) -> Self {
        Self { inner: None, waiting: Waiting { limits, ..Waiting::default() } }
    }

    fn inner(&mut self) -> &mut Inner<Budget> {
        self.inner.get_or_insert_with(|| std::mem::take(&mut self.waiting).solver())
    }
}

impl Waiting {
    fn solver(self) -> Inner<Budget> {
        let budget = Budget { limits: self.limits, ..Budget::default() };
        let mut inner = Inner::new(batsat::SolverOpts::default(), budget);
        for _ in 0..self.variables {
            inner.new_var_default();
        }
        inner.cb().limits.meter.add(self.literals.len() as u64);
        let mut begin = 0;
        for end in self.ends {
            add(&mut inner, &self.literals[begin..end]);
            begin = end;
        }
        inner
    }
}

fn inner_lit(inner: &mut Inner<Budget>, lit: Lit) -> batsat::Lit {
    let var = inner.var_of_int(lit.var().0);
    batsat::Lit::new(var, lit.is_positive())
}

fn add(inner: &mut Inner<Budget>, clause: &[Lit]) {
    let mut lits: Vec<batsat::Lit> = clause.iter().map(|&lit| inner_lit(inner, lit)).collect();
    inner.add_clause_reuse(&mut lits);
}

impl Default for BatSolver {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for BatSolver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (variables, clauses) = match &self.inner {
            Some(inner) => (inner.num_vars(), inner.num_clauses()),
            None => (self.waiting.variables, self.waiting.ends.len() as u64),
        };
        write!(f, "BatSolver({variables} variables, {clauses} clauses)")
    }
}

impl Solver for BatSolver {
    fn new_var(&mut self) -> Var {
        if let Some(inner) = &mut self.inner {
            return Var(inner.new_var_default().idx());
        }
        self.waiting.variables += 1;
        Var(self.waiting.variables - 1)
    }

    fn add_clause(&mut self, clause: &[Lit]) {
        if let Some(inner) = &mut self.inner {
            inner.cb().limits.meter.add(clause.len() as u64);
            return add(inner, clause);
        }
        self.waiting.literals.extend_from_slice(clause);
        self.waiting.ends.push(self.waiting.literals.len());
    }

    fn solve(&mut self, assumptions: &[Lit]) -> Outcome {
        let inner = self.inner();
        if inner.cb().limits.is_over() {
            return Outcome::Unknown;
        }
        let lits: Vec<batsat::Lit> = assumptions.iter().map(|&lit| inner_lit(inner, lit)).collect();
        let before = inner.num_propagations();
        let answer = inner.solve_limited(&lits);
        let work = inner.num_propagations() - before;
        inner.cb().limits.meter.add(work);
        match answer {
            answer if answer == lbool::TRUE => Outcome::Sat,
            answer if answer == lbool::FALSE => Outcome::Unsat,
            _ => Outcome::Unknown,
        }
    }

    fn is_true(&self, lit: Lit) -> bool {
        let var = batsat::Var::unsafe_from_idx(lit.var().0);
        let lit = batsat::Lit::new(var, lit.is_positive());
        self.inner.as_ref().is_some_and(|inner| inner.value_lit(lit) == lbool::TRUE)
    }

    fn core(&self) -> Vec<Lit> {
        let core = self.inner.iter().flat_map(SolverInterface::unsat_core);
        let mut core: Vec<Lit> = core.map(|lit| !Lit::new(Var(lit.var().idx()), lit.sign())).collect();
        core.sort_unstable();
        core
    }
}
