//! From the model of a solver to runs that the interpreter repeats.

pub(crate) mod witness;
