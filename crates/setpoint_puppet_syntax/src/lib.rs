//! Puppet's syntax: text in, a tree and diagnostics out.
//!
//! First stage of the Puppet line. Parsing never fails: every text gives a [`ast::Program`], ill-formed parts as
//! [`ast::ExprKind::Error`], and a list of diagnostics. The crate knows nothing of values, scopes or catalogs.
//!
//! Where to look: `lexer` makes tokens (strings, heredocs and templates have files of their own), `parser` makes the
//! tree, `validate` finds what fits the grammar and is refused by Puppet all the same, `place` knows at which token
//! Puppet reports an expression, `dump` writes a tree as text.
//!
//! ```
//! use setpoint_puppet_syntax::{dump, parse};
//! use setpoint_source::Sources;
//!
//! let text = "notify { 'hello': message => \"on ${facts['os']}\" }";
//! let file = Sources::new().add("site.pp", text);
//! let parsed = parse(file, text);
//! assert!(parsed.diagnostics.is_empty());
//! assert!(dump(&parsed.program).starts_with("(resource"));
//! ```

pub mod ast;
mod dump;
mod lexer;
mod parser;
mod place;
mod token;
mod validate;
mod visit;

use setpoint_source::{Diagnostic, FileId};

pub use dump::{dump, dump_with_places};
pub use place::puppet_start;
pub use visit::{children, everywhere};

use lexer::Lexer;
use parser::{Outcome, Parser};

/// What a text is: its tree, and what is wrong with it. The tree is fit for evaluation if no diagnostic is an error.
#[derive(Debug, Clone)]
pub struct Parse {
    pub program: ast::Program,
    pub diagnostics: Vec<Diagnostic>,
}

/// Parses a manifest.
pub fn parse(file: FileId, text: &str) -> Parse {
    judge(text, Parser::new(file, text, Lexer::new(text)).manifest())
}

/// Parses an EPP template: the body of the program is one [`ast::ExprKind::Epp`].
pub fn parse_epp(file: FileId, text: &str) -> Parse {
    judge(text, Parser::new(file, text, Lexer::new_epp(text)).template())
}

/// Parses a single expression, such as a type that is given as a string.
pub fn parse_expression(file: FileId, text: &str) -> Parse {
    judge(text, Parser::new(file, text, Lexer::new(text)).lone_expression())
}

/// Puppet validates only what is well-formed, and so do we: one mistake is told once.
fn judge(text: &str, outcome: Outcome) -> Parse {
    let Outcome { program, errors, mut warnings, semantic } = outcome;
    let mut diagnostics = errors;
    if diagnostics.is_empty() {
        diagnostics = semantic;
        diagnostics.extend(validate::validate(text, &program));
    }
    diagnostics.append(&mut warnings);
    diagnostics.sort_by_key(|diagnostic| diagnostic.span.map(|span| span.range.start));
    Parse { program, diagnostics }
}
