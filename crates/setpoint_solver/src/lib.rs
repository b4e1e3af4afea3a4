//! Propositional solving: one small trait, a solver behind it, and circuits that become clauses.
//!
//! Verifiers build their questions as [`Circuit`]s over literals, ask a [`Solver`] whether they can be true under
//! assumptions, and read a model or the assumptions that were to blame. Nothing here knows what a literal means:
//! not resources, not rules, not orders.
//!
//! ```
//! use setpoint_solver::{Circuit, Solver};
//!
//! let mut circuit = Circuit::new();
//! let (a, b) = (circuit.fresh(), circuit.fresh());
//! let both = circuit.and(&[a, b]);
//! circuit.assert(&[both]);
//! assert!(circuit.solve(&[]).is_sat());
//! assert!(circuit.is_true(a));
//! assert!(!circuit.solve(&[!b]).is_sat());
//! assert_eq!(circuit.core(), [!b]);
//! ```

mod backend;
mod bat;
mod choice;
mod circuit;
mod lit;
#[cfg(feature = "varisat")]
mod vari;

pub use backend::{AnySolver, Backend};
pub use bat::BatSolver;
pub use choice::Choice;
pub use circuit::Circuit;
pub use lit::{Limits, Lit, Meter, Outcome, Solver, Var};
#[cfg(feature = "varisat")]
pub use vari::VariSolver;

#[cfg(test)]
mod tests;
