//! The state of a machine as cells, resources as small programs over them, and the interpreter that runs them.
//!
//! `setpoint_resources` turns a catalog into a [`Plan`]; `setpoint_verify` asks questions about it. This crate is what both
//! agree on: what a cell can hold ([`Value`]), what a step can do ([`Program`]), what a run is ([`Runner`]), and which
//! values are enough to stand for all ([`Domains`]). It knows no type of resource, no catalog and no solver.

mod cell;
mod domain;
mod plan;
mod program;
mod run;
mod state;

pub use cell::{Cell, CellId, CellKey, CellKind, Kind, Lifetime, Space, Value};
pub use domain::Domains;
pub use plan::{Manages, Plan, Reach, Step, StepId, Unknown};
pub use program::{Program, Term, Test};
pub use run::{Event, Progress, Run, Runner, Semantics, Status, run};
pub use state::State;

#[cfg(test)]
mod tests;
