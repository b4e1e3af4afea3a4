//! µPuppet: the rules of *µPuppet: A Declarative Subset of the Puppet Configuration Language*, one by one, to be watched.
//!
//! [`trace`] evaluates a manifest by the rules of the paper (and, for what it calls standard, by those of the thesis that extends
//! it), and records every application. It is a reading of the rules, not the compiler: `setpoint_puppet` compiles all of
//! Puppet. A construct outside of the fragment ends the trace, which says where.

mod evaluate;
mod tree;
mod value;

use setpoint_puppet_syntax::ast::Program;
use setpoint_trace::Trace;

pub use tree::tree;
pub use value::{Resource, Value};

/// A manifest, evaluated by the rules as far as they go.
#[derive(Debug)]
pub struct Evaluated {
    pub trace: Trace,
    /// v_C: the resources in the order in which they were declared. It is whole only if the trace has no end of its own.
    pub catalog: Vec<Resource>,
}

/// Evaluates a manifest for a node, which provides facts.
pub fn trace(program: &Program, node: &str, facts: &[(String, Value)]) -> Evaluated {
    evaluate::Machine::new(program.file, node, facts).run(&program.body)
}
