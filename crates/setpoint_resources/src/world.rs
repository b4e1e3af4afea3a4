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
    File(Arc<str>),
    /// By name, sorted.
    Directory(Vec<(String, Source)>),
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

/// What the user should know about the model: said once for each cause.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Note {
    /// No index knows the package; what it installs is not known.
    UnknownPackage { package: String },
    /// Several packages provide the name.
    VirtualPackage { package: String, providers: Vec<String> },
    /// The package is known by its main files only.
    PartialPackage { package: String },
    /// The type has no model; it is taken to touch what its parameters name and what is of its own type.
    UnmodelledType { type_name: String },
    /// The effects of the command are not known.
    UnknownCommand { resource: String, reason: String },
    /// A directory that nothing in the catalog creates is taken to exist.
    AssumedDirectory { path: String },
    /// Only a part of what lies below a directory is modelled.
    ManyPaths { path: String, left_out: usize },
}

impl std::fmt::Display for Note {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::UnknownPackage { package } => write!(
                out,
                "no index knows the package {package}: it is taken to bring what bears its name, and nothing else"
            ),
            Self::VirtualPackage { package, providers } => write!(
                out,
                "{package} is no package by itself; {} provide it, and which one is installed is not known",
                providers.join(", ")
            ),
            Self::PartialPackage { package } => {
                write!(out, "of the package {package} only the main files are known")
            }
            Self::UnmodelledType { type_name } => write!(
                out,
                "the type {type_name} has no model: it is taken to touch what its parameters name and what is of its \
                 own type; setpoint.toml can say what it does"
            ),
            Self::UnknownCommand { resource, reason } => {
                write!(out, "the effect of {resource} is not known: {reason}")
            }
            Self::AssumedDirectory { path } => {
                write!(out, "nothing in the catalog creates {path}: it is taken to exist")
            }
            Self::ManyPaths { path, left_out } => {
                write!(out, "of what packages bring below {path}, {left_out} paths are left out")
            }
        }
    }
}
