//! The Ruby language and its library, as far as templates and functions of modules use them.
//!
//! Code becomes tokens, a tree, and is walked. Where it goes beyond what is known here, the walk ends with [`Beyond`];
//! nothing is guessed, and nothing is run outside of it.

#![allow(
    clippy::unused_self,
    clippy::needless_pass_by_value,
    clippy::single_match_else,
    clippy::wrong_self_convention,
    clippy::case_sensitive_file_extension_comparisons,
    clippy::manual_let_else,
    clippy::assigning_clones,
    reason = "methods have the shapes and the names that Ruby gives them"
)]

mod ast;
mod classes;
mod interpreter;
mod lexer;
mod library;
mod methods;
mod parser;
mod program;
mod template;
mod things;

use std::path::PathBuf;

use crate::Stop;

pub(crate) use interpreter::{Definition, DispatchDefinition, Interpreter, Legacy, parse_template, render};
pub use program::RubyFile;
pub(crate) use program::{definitions, load_type, same_code};
pub(crate) use things::{Seen, Thing};

/// Why code cannot be run here, for people.
#[derive(Debug, Clone)]
pub(crate) struct Beyond {
    pub(crate) reason: String,
    /// Where, as far as it is known.
    pub(crate) line: Option<u32>,
    pub(crate) file: Option<PathBuf>,
    /// Whether the text ends in the middle of a construct, which Ruby refuses as well.
    pub(crate) is_cut_off: bool,
}

impl Beyond {
    fn at(reason: impl Into<String>, line: u32) -> Self {
        Self { reason: reason.into(), line: Some(line), file: None, is_cut_off: false }
    }
}

/// How a run ends without a result.
#[derive(Debug)]
pub(crate) enum RubyFailure {
    Beyond(Beyond),
    /// Ruby's complaint.
    Failed(String),
    /// A function that the code called.
    Stopped(Stop),
}
