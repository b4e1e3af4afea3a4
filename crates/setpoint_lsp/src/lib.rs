//! The language server: it talks to an editor, keeps the unsaved texts, and asks an [`Analyst`] what is to be shown.
//!
//! The only crate that knows the protocol. An analyst answers in the words of an editor (files, offsets, findings), reads
//! through the [`FileSystem`] that it is given, in which unsaved text stands in front of the disk, and knows nothing of
//! messages, positions in UTF-16 or addresses. The crate knows no input language.
//!
//! Where to look: `server` has the loop and the state, `requests` the answers, `work` the threads on which an analyst works,
//! `findings` what was found and how it moves while somebody types, `documents` the texts, `positions` and `address` the
//! conversions of places and paths.

mod address;
mod documents;
mod findings;
mod positions;
mod requests;
mod server;
mod transport;
mod work;

use std::fmt;
use std::path::{Path, PathBuf};

use setpoint_source::{Diagnostic, FileSystem, Range, Sources};

pub use server::{Ended, serve, serve_standard_streams};

/// What an editor can ask about files. All calls are made on threads with a large stack; none may take long but `check`.
pub trait Analyst: fmt::Debug + Send + Sync {
    /// What is wrong with the text of one file by itself; nothing if it is of no known kind.
    fn parse(&self, files: &dyn FileSystem, path: &Path) -> Option<Found>;

    /// The file or folder that is checked as a whole for this file: a control repository, a module, or the file itself.
    /// Nothing above `limit` is looked at, if the file lies in it.
    fn scope(&self, files: &dyn FileSystem, path: &Path, limit: Option<&Path>) -> Option<PathBuf>;

    /// Everything that is wrong with a scope; a message if it cannot be checked at all.
    fn check(&self, files: &dyn FileSystem, scope: &Path) -> Result<Found, String>;

    /// What is known of the thing at an offset, as Markdown.
    fn hover(&self, files: &dyn FileSystem, at: &At<'_>) -> Option<Hover>;

    /// Where the thing at an offset is defined.
    fn definition(&self, files: &dyn FileSystem, at: &At<'_>) -> Vec<Target>;

    /// What a file defines, the outer things first.
    fn symbols(&self, files: &dyn FileSystem, path: &Path) -> Vec<Symbol>;

    /// The text of a file in the one layout of its language, if there is one and the text can be read.
    fn format(&self, files: &dyn FileSystem, path: &Path) -> Option<String>;
}

/// What was found, and the texts that it points into.
#[derive(Debug, Default)]
pub struct Found {
    pub sources: Sources,
    pub diagnostics: Vec<Diagnostic>,
}

/// A place that is asked about.
#[derive(Debug, Clone, Copy)]
pub struct At<'a> {
    pub scope: &'a Path,
    pub path: &'a Path,
    /// In bytes.
    pub offset: u32,
}

/// What is told of a thing, and where the thing is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hover {
    pub range: Range,
    pub markdown: String,
}

/// A place in a file that may be another one than that which was asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    pub path: PathBuf,
    pub range: Range,
}

/// A thing that a file defines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    pub name: String,
    /// A word on what it is: `class`, `file`; may be empty.
    pub detail: String,
    pub kind: SymbolKind,
    pub range: Range,
    /// The name alone; within `range`.
    pub name_range: Range,
    pub children: Vec<Symbol>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SymbolKind {
    Class,
    /// A defined type, a type alias, a kind of object.
    Type,
    Function,
    /// A node, an instance, a component.
    Object,
    Resource,
    Section,
    Value,
}
