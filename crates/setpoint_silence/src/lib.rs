//! Findings that the user knows already.
//!
//! [`finding_key`] names a finding so that it is recognised in another run, on other nodes and after code was moved. The
//! baseline holds such names, and `setpoint diff` matches the findings of its two sides by them. This crate stands between the
//! analyses, which find, and the printers; it finds nothing wrong itself, reads no file and prints nothing.

mod key;

pub use key::{FindingKey, finding_key};
