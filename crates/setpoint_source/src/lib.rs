//! Files, places in them, and what is to be said about them.
//!
//! Every other crate stands on this one: it reads text through a [`FileSystem`], keeps it in [`Sources`], points
//! into it with [`Span`]s, and describes what it found as [`Diagnostic`]s gathered in a [`Report`]. Only the
//! printers in [`print`] turn these into text; nothing here writes to a terminal or knows any input language.

mod diagnostic;
mod files;
mod invariant;
pub mod print;
mod report;
mod span;
mod suggest;
mod symbol;

pub use diagnostic::{Diagnostic, Edit, Fix, Label};
pub use files::{
    FileError, FileSystem, MAX_FILE_BYTES, MemoryFileSystem, OsFileSystem, OverlayFileSystem, normal,
    read_text,
};
#[doc(hidden)]
pub use invariant::report_broken_invariant;
pub use report::{Drawing, InputReport, Report, Verdict};
pub use setpoint_rules::{Class, Rule, Severity};
pub use span::{FileId, Position, Range, SourceFile, Sources, Span};
pub use suggest::{distance, few, nearest};
pub use symbol::Symbol;
