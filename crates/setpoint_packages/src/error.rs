//! Why an index cannot be used.

use std::fmt;

/// Why an index, or a file that one is built from, cannot be used: a sentence for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexError {
    /// What was read; empty for bytes that have no name.
    pub origin: String,
    pub reason: String,
}

impl IndexError {
    pub fn new(origin: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { origin: origin.into(), reason: reason.into() }
    }

    /// The same reason, with the name of what was read.
    pub(crate) fn of(mut self, origin: &str) -> Self {
        if self.origin.is_empty() {
            origin.clone_into(&mut self.origin);
        }
        self
    }
}

impl fmt::Display for IndexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.origin.is_empty() {
            f.write_str(&self.reason)
        } else {
            write!(f, "{}: {}", self.origin, self.reason)
        }
    }
}

impl std::error::Error for IndexError {}
