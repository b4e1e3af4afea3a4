//! Runs on a machine whose cells hold formulas.

pub(crate) mod machine;
pub(crate) mod runs;
