//! The questions, and how each is answered: proved, refuted by a run, or unknown for a reason.

pub(crate) mod contradiction;
pub(crate) mod converge;
pub(crate) mod ends;
pub(crate) mod harm;
pub(crate) mod order;
pub(crate) mod pair;
pub mod repair;
pub(crate) mod twice;
