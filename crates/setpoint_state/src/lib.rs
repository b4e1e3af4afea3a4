//! The state of a machine as cells, resources as small programs over them, and the interpreter that runs them.
//!
//! `setpoint_resources` turns a catalog into a [`Plan`]; `setpoint_verify` asks questions about it. This crate is what both
//! agree on: what a cell can hold ([`Value`]), what a step can do ([`Program`]), what a run is. It knows no type of
//! resource, no catalog and no solver.

mod cell;
mod plan;
mod program;

pub use cell::{Cell, CellId, CellKey, CellKind, Kind, Lifetime, Space, Value};
pub use plan::{Plan, Reach, Step, StepId, Unknown};
pub use program::{Program, Term, Test};
