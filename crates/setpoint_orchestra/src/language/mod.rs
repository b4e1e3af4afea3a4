//! The rule language: text to tree, tree to text, tree to [`Model`](crate::Model).
//!
//! Parsing never fails: it returns a tree and diagnostics. Resolving names turns the trees of a file and of the
//! files that it uses into a model, if nothing in them is wrong.

mod format;
mod lexer;
mod load;
mod parser;
mod resolve;
pub mod syntax;

pub use format::format;
pub use load::{LoadedModel, load_model, load_model_text, load_models};
pub use parser::{Parsed, parse};
