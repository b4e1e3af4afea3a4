//! From text to a tree: one lexer and one parser for the paper's core language and for the production language.
//!
//! Parsing never fails: it returns a tree of what could be understood, and diagnostics for the rest.

use setpoint_source::Limit;

mod ast;
mod classpath;
mod format;
mod include;
mod lexer;
mod parser;
mod reader;
mod tree;

pub use ast::{
    Assignment, Body, Component, Expression, ExpressionKind, Number, Operator, OrderConstraint, Part,
    Prototype, Reference, Value,
};
pub use format::format;
pub use include::{Parsed, Reading, parse_file, parse_in_either, parse_text, read_specification};
pub use tree::tree;

/// Which words are keywords, and how comments nest. The core language of the paper has few keywords: there,
/// `PARENT` is an identifier like any other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dialect {
    /// Appendix A. Comments nest, as in the reference compiler.
    Core,
    /// Appendix A; comments end at the first `*/`.
    Forward,
    /// The grammar of the production compiler, with all its keywords.
    Production,
}

/// Components and expressions that are nested deeper are refused, so that no input can exhaust the stack.
pub const MAX_NESTING: Limit = Limit::new(500);
