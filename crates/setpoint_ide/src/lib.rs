//! What an editor asks about a file: its outline, what stands at a place, where that is defined, and what is checked with it.
//!
//! It stands between the languages and the language server: it answers in the words of `setpoint_lsp`, and knows nothing of
//! its protocol, of a terminal, or of what is wrong with a file. One file a language; `cursor` finds what stands at a place of
//! a manifest.

mod cursor;
mod model;
mod outline;
mod puppet;
mod smartfrog;
mod smartfrog_scope;

use std::path::{Path, PathBuf};

use setpoint_lsp::{At, Hover, Symbol, Target};
use setpoint_project::Session;

/// The kinds of input, as an editor tells them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputKind {
    Puppet,
    SmartFrog,
    RuleModel,
    Tosca,
    CloudFormation,
    /// A file without an outline, such as a catalog.
    Other,
}

/// What compilations need that answer a question.
#[derive(Debug, Clone, Default)]
pub struct Options {
    pub project: setpoint_project::Options,
    /// `None` answers no question about SmartFrog that needs a compilation.
    pub smartfrog: Option<setpoint_smartfrog::Options>,
}

impl InputKind {
    /// Returns the kind that reports call by this word.
    pub fn named(word: &str) -> Self {
        match word {
            "puppet" => Self::Puppet,
            "smartfrog" => Self::SmartFrog,
            "model" => Self::RuleModel,
            "tosca" => Self::Tosca,
            "cloudformation" => Self::CloudFormation,
            _ => Self::Other,
        }
    }

    /// Returns the folder that a file is checked with, not above `limit`, or the file itself; `None` for a file that has no
    /// meaning by itself.
    pub fn find_scope(self, session: &Session<'_>, path: &Path, limit: Option<&Path>) -> Option<PathBuf> {
        match self {
            Self::Puppet => puppet::scope(session, path, limit),
            _ => Some(path.to_owned()),
        }
    }

    /// Returns the outline of a file: its definitions, the outer ones first.
    pub fn list_symbols(self, session: &Session<'_>, path: &Path) -> Vec<Symbol> {
        match self {
            Self::Puppet => puppet::symbols(session, path),
            Self::SmartFrog => smartfrog::symbols(session, path),
            Self::RuleModel => model::symbols(session, path),
            Self::Tosca => outline::symbols(session, path, outline::OF_TOPOLOGY),
            Self::CloudFormation => outline::symbols(session, path, outline::OF_TEMPLATE),
            Self::Other => Vec::new(),
        }
    }

    /// Returns a description of the thing at a place.
    pub fn describe(self, session: &Session<'_>, at: &At<'_>, options: &Options) -> Option<Hover> {
        match self {
            Self::Puppet => puppet::hover(session, at, &options.project),
            Self::SmartFrog => smartfrog::hover(session, at, options.smartfrog.as_ref()?),
            _ => None,
        }
    }

    /// Returns the places that define the thing at a place.
    pub fn find_definitions(self, session: &Session<'_>, at: &At<'_>, options: &Options) -> Vec<Target> {
        match self {
            Self::Puppet => puppet::definition(session, at, &options.project),
            Self::SmartFrog => {
                let options = options.smartfrog.as_ref();
                options.and_then(|options| smartfrog::definition(session, at, options)).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }
}
