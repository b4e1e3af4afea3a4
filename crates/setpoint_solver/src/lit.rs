//! Literals, and what every solver can do.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// A propositional variable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Var(pub u32);

/// A variable or its negation; `!` negates.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Lit(u32);

impl Lit {
    pub fn new(var: Var, positive: bool) -> Self {
        Self(var.0 << 1 | u32::from(!positive))
    }

    pub fn var(self) -> Var {
        Var(self.0 >> 1)
    }

    pub fn is_positive(self) -> bool {
        self.0 & 1 == 0
    }

    /// The literal itself, or its negation.
    pub fn signed(self, positive: bool) -> Self {
        if positive { self } else { !self }
    }
}

impl std::ops::Not for Lit {
    type Output = Self;

    fn not(self) -> Self {
        Self(self.0 ^ 1)
    }
}

impl fmt::Debug for Lit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.is_positive() { "" } else { "-" }, self.var().0)
    }
}

impl fmt::Debug for Var {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// There is a model; [`Solver::is_true`] reads it.
    Sat,
    /// There is none; [`Solver::core`] says which assumptions are to blame.
    Unsat,
    /// The solver gave up at its limit.
    Unknown,
}

impl Outcome {
    pub fn is_sat(self) -> bool {
        self == Self::Sat
    }

    pub fn is_unsat(self) -> bool {
        self == Self::Unsat
    }
}

/// Counts work in units that are the same on every machine: the literals of clauses, and what a search propagates.
#[derive(Clone, Debug, Default)]
pub struct Meter(Arc<AtomicU64>);

impl Meter {
    pub fn add(&self, work: u64) {
        self.0.fetch_add(work, Ordering::Relaxed);
    }

    pub fn read(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// When a search ends without an answer.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// So many conflicts in one call: a limit that is the same on every machine.
    pub conflicts: Option<u64>,
    /// Counts the work of all calls.
    pub meter: Meter,
    /// No call begins or goes on when the meter has come so far.
    pub most_work: Option<u64>,
    /// A moment after which no call goes on.
    pub deadline: Option<Instant>,
}

impl Limits {
    /// Whether no more work may be done.
    pub fn is_over(&self) -> bool {
        self.most_work.is_some_and(|most| self.meter.read() >= most)
            || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

/// An incremental SAT solver.
pub trait Solver {
    fn new_var(&mut self) -> Var;
    fn add_clause(&mut self, clause: &[Lit]);
    /// Looks for a model in which all assumptions hold.
    fn solve(&mut self, assumptions: &[Lit]) -> Outcome;
    /// The value in the model of the last answer, which was [`Outcome::Sat`].
    fn is_true(&self, lit: Lit) -> bool;
    /// Assumptions that cannot hold together, after [`Outcome::Unsat`]; sorted.
    fn core(&self) -> Vec<Lit>;
}
