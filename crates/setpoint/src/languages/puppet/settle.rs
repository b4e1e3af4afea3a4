//! Does a catalog settle: what the question needs besides the catalog.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use setpoint_catalog::Catalog;
use setpoint_catalog::graph::Graph;
use setpoint_config::Config;
use setpoint_packages::{Family, Index, Platform};
use setpoint_puppet_values::{Data, Hash, Key};
use setpoint_resources::{Base, Source, Sources as FileServers, World};
use setpoint_settle::{Question, Settled};
use setpoint_source::{FileSystem, read_text};
use setpoint_state::Semantics;
use setpoint_verify::Options;

use crate::cli::InputOptions;
use crate::session::{Session, UsageError};

/// What is assumed where nothing says which platform a node has.
const DEFAULT_PLATFORM: &str = "debian-12";

/// What is known of a machine besides its catalog.
pub(in crate::languages) struct Surroundings<'a> {
    base: Base,
    packages: Index,
    servers: ModuleFiles<'a>,
    config: Config,
    options: Options,
    any_start: bool,
}

impl<'a> Surroundings<'a> {
    pub(in crate::languages) fn new(
        session: &Session<'a>,
        modulepath: Vec<PathBuf>,
        config: Config,
        options: &InputOptions,
        facts: &Hash,
    ) -> Result<Self, UsageError> {
        let platform = platform(options, facts)?;
        let packages = match (&options.packages, platform) {
            (Some(path), platform) => {
                let given = Index::open(path).map_err(|error| UsageError::new(error.to_string()))?;
                platform.map_or_else(|| given.clone(), |platform| given.over(&Index::builtin(platform)))
            }
            (None, Some(platform)) => Index::builtin(platform),
            (None, None) => Index::empty(),
        };
        let semantics = match options.semantics.as_deref() {
            None | Some("puppet") => Semantics::Puppet,
            Some("paper") => Semantics::Paper,
            Some(other) => {
                return Err(UsageError::new(format!(
                    "there is no semantics `{other}` for Puppet; there are `puppet` and `paper`"
                )));
            }
        };
        let deadline =
            options.timeout.and_then(|seconds| Instant::now().checked_add(Duration::from_secs(seconds)));
        Ok(Self {
            base: Base::new(platform.map_or(Family::Debian, Platform::family)),
            packages,
            servers: ModuleFiles { files: session.files, modulepath },
            config,
            options: Options { semantics, any_start: options.any_start, deadline, ..Options::default() },
            any_start: options.any_start,
        })
    }

    /// Judges one catalog.
    pub(in crate::languages) fn settle(
        &self,
        session: &Session<'_>,
        catalog: &Catalog,
        graph: &Graph,
        may_change: &dyn Fn(&str) -> bool,
    ) -> Settled {
        let world = World {
            base: &self.base,
            packages: &self.packages,
            sources: &self.servers,
            config: &self.config,
            semantics: self.options.semantics,
            any_start: self.any_start,
            packages_start_services: self.base.family == Family::Debian,
        };
        setpoint_settle::settle(&Question {
            catalog,
            graph,
            world: &world,
            options: &self.options,
            sources: &session.sources,
            may_change,
        })
    }
}

/// The platform that is named, else the one of the facts, else a common one. A platform whose packages are not known has
/// none.
fn platform(options: &InputOptions, facts: &Hash) -> Result<Option<Platform>, UsageError> {
    if let Some(name) = &options.puppet.platform {
        return Ok(Platform::parse(name));
    }
    let text = |from: &Hash, name: &str| match from.get(&Key::from(name)).map(|value| &value.data) {
        Some(Data::String(text)) => Some(text.to_string()),
        _ => None,
    };
    let inner = |from: &Hash, name: &str| match from.get(&Key::from(name)).map(|value| &value.data) {
        Some(Data::Hash(inner)) => Some((**inner).clone()),
        _ => None,
    };
    let Some(os) = inner(facts, "os") else { return Ok(Platform::parse(DEFAULT_PLATFORM)) };
    let release = inner(&os, "release").and_then(|release| text(&release, "full")).unwrap_or_default();
    Ok(text(&os, "name").and_then(|name| Platform::of(&name, &release)))
}

/// The files of modules, as `puppet:///modules/…` names them.
#[derive(Debug)]
struct ModuleFiles<'a> {
    files: &'a dyn FileSystem,
    modulepath: Vec<PathBuf>,
}

/// Folders that are followed at most below a source.
const MAX_DEPTH: usize = 32;

impl FileServers for ModuleFiles<'_> {
    fn get(&self, address: &str) -> Option<Source> {
        let rest = address.strip_prefix("puppet:///modules/")?;
        let (module, path) = rest.split_once('/')?;
        let folder = self.modulepath.iter().map(|folder| folder.join(module)).find(|path| self.files.is_dir(path))?;
        self.source(&folder.join("files").join(path), 0)
    }
}

impl ModuleFiles<'_> {
    fn source(&self, path: &Path, depth: usize) -> Option<Source> {
        if self.files.is_dir(path) {
            if depth > MAX_DEPTH {
                return None;
            }
            let inside = self.files.list(path).into_iter();
            let entries = inside.filter_map(|name| Some((name.clone(), self.source(&path.join(&name), depth + 1)?)));
            return Some(Source::Directory(entries.collect()));
        }
        read_text(self.files, path).ok().map(|text| Source::File(text.into()))
    }
}
