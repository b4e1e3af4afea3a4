//! Why a lookup has no answer, other than that nothing has the key.

use std::path::PathBuf;

use setpoint_provenance::Prov;

/// An error of a lookup, in Puppet's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub message: String,
    pub kind: FailureKind,
    /// The configuration at fault, if one is, and the line.
    pub config: Option<(PathBuf, Option<u32>)>,
    /// The value at fault, if it is one of the data.
    pub of: Option<Prov>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// Something about the data. The global level puts the name of the key in front.
    Data,
    /// Something about a configuration or an interpolation.
    Issue,
    /// A value that does not fit. Within the search for another key it becomes something about the data.
    Puppet,
    /// A bound of Setpoint, which Puppet does not have.
    Limit,
    /// Anything else.
    Other,
}

impl Failure {
    pub(crate) fn data(message: impl Into<String>) -> Self {
        Self { message: message.into(), kind: FailureKind::Data, config: None, of: None }
    }

    pub(crate) fn issue(message: impl Into<String>) -> Self {
        Self { message: message.into(), kind: FailureKind::Issue, config: None, of: None }
    }

    pub(crate) fn puppet(message: impl Into<String>) -> Self {
        Self { message: message.into(), kind: FailureKind::Puppet, config: None, of: None }
    }

    pub(crate) fn other(message: impl Into<String>) -> Self {
        Self { message: message.into(), kind: FailureKind::Other, config: None, of: None }
    }

    pub(crate) fn limit(message: impl Into<String>) -> Self {
        Self { message: message.into(), kind: FailureKind::Limit, config: None, of: None }
    }

    pub(crate) fn of_value(mut self, prov: Prov) -> Self {
        self.of = Some(prov);
        self
    }

    pub(crate) fn in_config(mut self, path: &std::path::Path, line: Option<u32>) -> Self {
        self.config = Some((path.to_owned(), line));
        self
    }
}
