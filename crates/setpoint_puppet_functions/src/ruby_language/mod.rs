//! The Ruby language and its library, as far as templates and functions of modules use them.
//!
//! Code becomes tokens, a tree, and is walked. Where it goes beyond what is known here, the walk ends with [`Beyond`];
//! nothing is guessed, and nothing is run outside of it.

mod ast;
mod interpreter;
mod lexer;
mod methods;
mod parser;
mod things;

pub(crate) use interpreter::render;

use crate::Stop;

/// Why code cannot be run here, for people.
#[derive(Debug)]
pub(crate) struct Beyond {
    pub(crate) reason: String,
}

impl Beyond {
    fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into() }
    }
}

/// How a run ends without a result.
pub(crate) enum Failure {
    Beyond(Beyond),
    /// Ruby's complaint.
    Failed(String),
    /// A function that the code called.
    Stopped(Stop),
}
