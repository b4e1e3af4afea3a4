//! Files, places in them, and what is to be said about them.
//!
//! Every other crate stands on this one: it reads text through a [`FileSystem`], keeps it in [`Sources`], points
//! into it with [`Span`]s, and describes what it found as [`Diagnostic`]s gathered in a [`Report`]. Only the
//! printers in [`print`] turn these into text; nothing here writes to a terminal or knows any input language.

mod bounds;
mod coverage;
mod diagnostic;
mod files;
mod invariant;
mod limits;
pub mod print;
mod random;
mod report;
mod secrets;
mod span;
mod spoken;
mod story;
mod suggest;
mod symbol;
mod threads;
mod verdict;
mod write;

pub use bounds::Bounds;
pub use coverage::{Counted, Coverage, Nouns, Reached};
pub use diagnostic::{Diagnostic, Edit, Fix, Flow, FlowStep, Label};
pub use files::{
    ConfinedFileSystem, FileError, FileStream, FileSystem, MAX_FILE_BYTES, MemoryFileSystem, OsFileSystem,
    OverlayFileSystem, RecordingFileSystem, canonical_path, normal, read_text,
};
#[doc(hidden)]
pub use invariant::report_broken_invariant;
pub use limits::{Limit, MAX_TIMES, RAISE_LIMITS, raise_limits};
pub use random::Random;
pub use report::{Drawing, InputReport, Report, Silenced, SilencedBy};
pub use secrets::{MASK, Secrets, has_secret_literal};
pub use setpoint_answer::{Answer, Basis, Reasons, Standing};
pub use setpoint_rules::{Class, Rule, Severity};
pub use span::{FileId, Position, Range, SourceFile, Sources, Span};
pub use spoken::spoken;
pub use story::{RunTitle, Story, StoryFact, StoryRun, StoryStep};
pub use suggest::{distance, few, nearest};
pub use symbol::Symbol;
pub use threads::thread_builder;
pub use verdict::{Gap, Judgement, Place, Plural, Question, Reason, Verdict, Witness, conditional};
pub use write::write_file;
