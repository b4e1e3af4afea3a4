//! What is known of a plan without asking a solver.

pub(crate) mod context;
pub(crate) mod found;
pub(crate) mod kinds;
pub(crate) mod laws;
pub(crate) mod looks;
pub(crate) mod needs;
pub(crate) mod walk;
