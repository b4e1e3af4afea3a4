//! Puppet's values and data types, and the operations over them.
//!
//! The evaluator and the functions stand on this crate: what a value is, when two are equal, what type it has,
//! how it is written as text, how one is converted into another, and what Puppet says when it does not fit. It
//! knows no scope, no file and no catalog.

mod value;

pub use value::{Data, Deferred, Hash, Key, Opaque, Value};
