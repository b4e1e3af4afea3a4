//! What a change of the source changes on many nodes, and which lines it comes from.
//!
//! Two versions of a source tree are compiled for every node; [`Differences`] collects what differs between the catalogs
//! (`setpoint_catalog::compare`) and between the files that are copied (`served`), finds the changed lines that each difference
//! depends on by its provenance, and puts together what has one cause. [`Comparison`] adds what becomes of each node and which
//! findings the change brings. The printers write it for a terminal, for a program or for a pull request; what is secret
//! (`secrets`) is written by none. The crate reads no files and compiles nothing.

mod cause;
mod collect;
mod comparison;
mod lines;
mod print;
mod secrets;
mod served;

pub use cause::{Root, Side, Version};
pub use collect::{Differences, Group, Told, ToldKind, ToldValue, hexadecimal};
pub use comparison::{
    About, Comparison, Fate, FindingStory, FixStory, Frame, FrameLine, NextRunForm, NextRunStory, NodeStory,
    Presence, SideName,
};
pub use lines::{Hunk, Lines, SourceChanges, Texts, as_sentence, changed_lines};
pub use print::{GITHUB_LIMIT, GITLAB_LIMIT, github, json, markdown, text};
pub use secrets::Secrets;
pub use served::{Served, ServedContent, ServedFile, ServedFiles};
