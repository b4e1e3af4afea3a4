//! µPuppet: the rules of *µPuppet: A Declarative Subset of the Puppet Configuration Language*, one by one, to be watched.
//!
//! [`trace`] evaluates a manifest by the rules of the paper (and, for what it calls standard, by those of the thesis that extends
//! it), and records every application. It is a reading of the rules, not the compiler: `setpoint_puppet` compiles all of
//! Puppet. A construct outside of the fragment ends the trace, which says where.

mod evaluate;
mod expressions;
mod tree;
mod value;

use setpoint_puppet_syntax::ast::Program;
use setpoint_source::Span;
use setpoint_trace::Trace;

pub use tree::tree;
pub use value::{Resource, Value};

/// A manifest, evaluated by the rules as far as they go.
#[derive(Debug)]
pub struct Evaluated {
    pub trace: Trace,
    /// v_C: the resources in the order in which they were declared. It is whole only if the evaluation has no end of its own.
    pub catalog: Vec<Resource>,
    pub end: Option<End>,
}

/// Why the evaluation ended before the manifest did.
#[derive(Debug)]
pub struct End {
    pub why: String,
    pub span: Span,
    /// The fragment does not have what stands there. Otherwise it has, and no rule applies: by the rules there is no catalog.
    pub is_outside: bool,
}

/// Evaluates a manifest for a node, which provides facts.
pub fn trace(program: &Program, node: &str, facts: &[(String, Value)]) -> Evaluated {
    evaluate::Machine::new(program.file, node, facts).run(&program.body)
}
