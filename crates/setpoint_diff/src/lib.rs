//! What a change of the source changes in the catalogs of many nodes, and which lines it comes from.
//!
//! Two versions of a source tree are compiled for every node; [`Differences`] collects what differs
//! (`setpoint_catalog::compare`), finds the changed lines that each difference depends on by its provenance, and puts
//! together what has one cause. The printers write it for a terminal, for a program or for a pull request. The crate reads
//! no files and compiles nothing.

mod cause;
mod collect;
mod lines;
mod print;

pub use cause::{Root, Version};
pub use collect::{Differences, Group, NodeResult, Told, ToldKind, ToldValue};
pub use lines::{Hunk, Lines, SourceChanges, Texts};
pub use print::{json, markdown, text};
