//! What is known besides the catalog.

use std::sync::Arc;

use setpoint_config::Config;
use setpoint_packages::Index;
use setpoint_state::Semantics;

use crate::Base;

/// What models need to know besides the catalog.
#[derive(Clone, Copy)]
#[allow(missing_debug_implementations, reason = "sources are a trait")]
pub struct World<'a> {
    /// What every machine of the platform has.
    pub base: &'a Base,
    /// What packages install.
    pub packages: &'a Index,
    /// The files behind `puppet:///`.
    pub sources: &'a dyn Sources,
    /// Models that the user declares.
    pub config: &'a Config,
    pub semantics: Semantics,
    /// Nothing is assumed of the start but that it is a tree.
    pub any_start: bool,
    /// Whether packages start their services when they are installed, as Debian's do.
    pub packages_start_services: bool,
}

/// A file or folder that a file server gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Its content.
    File(Arc<str>),
    /// By name, sorted.
    Directory(Vec<(String, Source)>),
    /// A link, by the text of its target, and what it leads to.
    Link { target: String, to: Option<Box<Source>> },
    /// It is there, and could not be read.
    Unread,
}

impl Source {
    /// Returns what is there for who follows links; none where a link leads to nothing.
    #[must_use]
    pub fn followed(self) -> Option<Self> {
        match self {
            Self::Link { to, .. } => (*to?).followed(),
            Self::Directory(children) => {
                let children = children.into_iter();
                let followed = children.filter_map(|(name, child)| Some((name, child.followed()?)));
                Some(Self::Directory(followed.collect()))
            }
            source @ (Self::File(_) | Self::Unread) => Some(source),
        }
    }
}

/// The file servers that `source` names.
pub trait Sources {
    /// What is behind an address as `puppet:///modules/ntp/ntp.conf`; `None` if that is not known.
    fn get(&self, address: &str) -> Option<Source>;
}

/// Knows no file: the content of a source is one that only its address decides.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSources;

impl Sources for NoSources {
    fn get(&self, _address: &str) -> Option<Source> {
        None
    }
}
