//! Puppet's syntax: text in, a tree and diagnostics out.
//!
//! First stage of the Puppet line. Parsing never fails: every text gives a [`ast::Program`], ill-formed parts as
//! [`ast::ExprKind::Error`], and a list of diagnostics. The crate knows nothing of values, scopes or catalogs.

pub mod ast;
mod rules;

use setpoint_source::{Diagnostic, FileId};

pub use rules::RULES;

/// What a text is: its tree, and what is wrong with it. The tree is fit for evaluation if no diagnostic is an error.
#[derive(Debug, Clone)]
pub struct Parse {
    pub program: ast::Program,
    pub diagnostics: Vec<Diagnostic>,
}

/// Parses a manifest.
pub fn parse(file: FileId, _text: &str) -> Parse {
    Parse { program: ast::Program { file, body: Vec::new() }, diagnostics: Vec::new() }
}

/// Parses an EPP template: the body of the program is one [`ast::ExprKind::Epp`].
pub fn parse_epp(file: FileId, _text: &str) -> Parse {
    Parse { program: ast::Program { file, body: Vec::new() }, diagnostics: Vec::new() }
}
