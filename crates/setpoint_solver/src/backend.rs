//! Which solver answers.

use crate::{BatSolver, Limits, Lit, Outcome, Solver, Var};

/// The solvers that were built in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Backend {
    #[default]
    Batsat,
    /// To check one solver by another. It knows no limits.
    #[cfg(feature = "varisat")]
    Varisat,
}

impl Backend {
    /// All of them, the usual one first.
    pub const ALL: &'static [Self] = &[
        Self::Batsat,
        #[cfg(feature = "varisat")]
        Self::Varisat,
    ];

    pub fn solver(self, limits: Limits) -> AnySolver {
        match self {
            Self::Batsat => AnySolver::Batsat(BatSolver::with_limits(limits)),
            #[cfg(feature = "varisat")]
            Self::Varisat => AnySolver::Varisat(Box::default()),
        }
    }
}

/// One of the solvers that were built in.
#[derive(Debug)]
pub enum AnySolver {
    Batsat(BatSolver),
    #[cfg(feature = "varisat")]
    Varisat(Box<crate::VariSolver>),
}

impl AnySolver {
    fn get(&self) -> &dyn Solver {
        match self {
            Self::Batsat(solver) => solver,
            #[cfg(feature = "varisat")]
            Self::Varisat(solver) => &**solver,
        }
    }

    fn get_mut(&mut self) -> &mut dyn Solver {
        match self {
            Self::Batsat(solver) => solver,
            #[cfg(feature = "varisat")]
            Self::Varisat(solver) => &mut **solver,
        }
    }
}

impl Solver for AnySolver {
    fn new_var(&mut self) -> Var {
        self.get_mut().new_var()
    }

    fn add_clause(&mut self, clause: &[Lit]) {
        self.get_mut().add_clause(clause);
    }

    fn solve(&mut self, assumptions: &[Lit]) -> Outcome {
        self.get_mut().solve(assumptions)
    }

    fn is_true(&self, lit: Lit) -> bool {
        self.get().is_true(lit)
    }

    fn core(&self) -> Vec<Lit> {
        self.get().core()
    }
}
