//! The functions that Puppet itself has, as far as they need no catalog.
//!
//! Each function takes values and gives a value; what it needs of its caller (blocks, variables, files, the log) it
//! asks of a [`Host`], which the evaluator is. Functions that declare classes and resources live with the evaluator.

#![allow(clippy::unnecessary_wraps, reason = "all functions have one shape, also those that cannot fail")]

mod builtin;
mod context;
mod function;
mod host;
mod legacy;
mod ruby;
mod rules;
mod signature;

pub use builtin::builtin;
pub use function::Function;
pub use host::{Block, Call, Host, LogLevel, Stop};
pub use rules::RULES;
pub use setpoint_puppet_values::Strictness;
