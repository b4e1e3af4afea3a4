//! Hiera 5: the data that parameters of classes and `lookup()` find, and the search that finds it.
//!
//! A [`Hiera`] stands for one environment. It reads and parses each `hiera.yaml` and each data file once, and is shared by
//! all nodes that are compiled over the environment, in parallel if wanted. What belongs to one node (paths after
//! interpolation, `lookup_options`) is in its [`Session`]. The evaluator is a [`Scope`]: it knows variables, modules and
//! types, and this crate knows nothing else of it. Every value that is found carries the place in its file.
//!
//! Where to look: `config` has `hiera.yaml`, `hierarchy` what it means for a node, `data` the files, `psych` and `hocon`
//! their readers, `eyaml` the encrypted values, `key` dotted keys, `interpolate` the `%{…}`, `merge` the strategies, `search` the
//! order of it all with `levels`, `options` and `backends`, `contexts` what functions of hierarchies keep, and `explain` the text of `--explain`. Functions of hierarchies are run by the scope, as
//! far as it can; the values of others are opaque.

mod backends;
mod config;
mod contexts;
mod data;
mod explain;
mod eyaml;
mod failure;
mod glob;
mod hierarchy;
mod hocon;
mod interpolate;
mod key;
mod levels;
mod merge;
mod options;
mod psych;
mod search;

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use rustc_hash::FxHashMap;
use setpoint_provenance::Arena;
use setpoint_puppet_functions::{DataAnswer, DataRequest};
use setpoint_puppet_values::{Strictness, Value};
use setpoint_source::{FileSystem, Sources, normal};

use config::Configs;
pub use config::{DATADIR_3, usual_ending};
use data::DataFiles;
pub use failure::{Failure, FailureKind};
pub use glob::{glob, name_fits};
pub use search::Session;

/// Where the levels above the modules are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Levels {
    /// The global `hiera.yaml`.
    pub global: Option<PathBuf>,
    /// The folder of the environment. Its `hiera.yaml` counts if it is there.
    pub environment: Option<PathBuf>,
    /// Folders of the server that lie somewhere else here.
    pub mounts: Vec<Mount>,
    /// A level that the server has and that was not given here, in words. A key that no other level has may be there.
    pub unread: Option<Arc<str>>,
}

/// A folder of the server, and the folder that holds its content here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    pub server: PathBuf,
    pub here: PathBuf,
}

impl Levels {
    /// Returns where a folder that a configuration names lies here. A folder that is there under its own name stays, and one that
    /// is not here at all.
    pub fn locate(&self, folder: &Path, files: &dyn FileSystem) -> PathBuf {
        if files.permits(folder) && files.is_dir(folder) {
            return folder.to_owned();
        }
        let named = normal(folder);
        let below = |mount: &Mount| Some(mount.here.join(named.strip_prefix(&mount.server).ok()?));
        let here = self.mounts.iter().filter_map(below).find(|path| files.is_dir(path));
        here.unwrap_or_else(|| folder.to_owned())
    }
}

/// The configurations and the data of an environment, shared by all nodes.
#[derive(Debug)]
pub struct Hiera<'a> {
    files: &'a dyn FileSystem,
    sources: &'a Sources,
    levels: Levels,
    configs: Configs,
    data: DataFiles,
    /// The files below folders whose paths have unknown parts: every node asks for the same.
    listings: RwLock<FxHashMap<String, Arc<Vec<PathBuf>>>>,
}

impl<'a> Hiera<'a> {
    /// Nothing is read before it is asked for. The data of modules needs no mention: [`Scope::module`] finds them.
    pub fn new(files: &'a dyn FileSystem, sources: &'a Sources, levels: Levels) -> Self {
        Self {
            files,
            sources,
            levels,
            configs: Configs::default(),
            data: DataFiles::default(),
            listings: RwLock::default(),
        }
    }

    /// All files below a folder.
    pub(crate) fn files_below(&self, folder: &str) -> Arc<Vec<PathBuf>> {
        let known = self.listings.read().unwrap_or_else(PoisonError::into_inner).get(folder).cloned();
        known.unwrap_or_else(|| {
            let listed = Arc::new(glob(&format!("{folder}/**/*"), self.files));
            let mut listings = self.listings.write().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(listings.entry(folder.to_owned()).or_insert(listed))
        })
    }

    pub fn levels(&self) -> &Levels {
        &self.levels
    }

    /// The span of a line of a configuration, for a message about it.
    pub fn place(&self, path: &Path, line: Option<u32>) -> Option<setpoint_source::Span> {
        let layer = config::Layer::Global;
        let file = match self.configs.get(path, &layer, self.files, self.sources) {
            Ok(config) => config.file?,
            Err(_) => self.data.get(path, data::Format::Yaml, self.files, self.sources).file,
        };
        let source = self.sources.file(file);
        let wanted = line.unwrap_or(1).saturating_sub(1) as usize;
        let start: usize = source.text().split_inclusive('\n').take(wanted).map(str::len).sum();
        let length = source.text().get(start..)?.lines().next().map_or(0, str::len);
        Some(setpoint_source::Range::new(start, start + length).in_file(file))
    }
}

/// The evaluation that asks for data.
pub trait Scope {
    fn arena(&mut self) -> &mut Arena;
    /// A variable as the asking scope sees it; the error says why there is none, and may be empty.
    fn variable(&mut self, name: &str) -> Result<Value, String>;
    /// A key of a hash is looked for by an interpolation.
    fn note_key_read(&mut self, _hash: &Value, _key: &str) {}
    /// The class whose code asks, or that is around it.
    fn calling_class(&self) -> Option<String>;
    /// The folder of a module.
    fn module(&self, name: &str) -> Option<PathBuf>;
    /// The type that a text names, or what Puppet says about the text.
    fn parse_type(&mut self, text: &str) -> Result<Value, String>;
    /// `new(type, arguments…)`.
    fn convert(&mut self, of: Value, arguments: Vec<Value>) -> Result<Value, String>;
    /// Whether there is a function of this name.
    fn has_function(&mut self, name: &str) -> bool;
    /// The name of the environment.
    fn environment_name(&self) -> String;
    /// Calls a function that an entry of a hierarchy names. It may look for other keys, in the same session.
    fn call_backend(&mut self, session: &mut Session, name: &str, arguments: Vec<Value>) -> Backend;
    fn strict(&self) -> Strictness;
    fn warn(&mut self, message: String);
    /// A warning that is given once per `key` and node: about a configuration, or about what is asked for.
    fn warn_once(&mut self, key: &str, message: String, config: Option<&Path>);
}

/// What a function of a hierarchy gives.
#[derive(Debug)]
pub enum Backend {
    Found(Value),
    NotFound,
    /// It could not be run to its end.
    Unknown,
    /// It may be in a module that is not installed.
    Absent,
    Failed(String),
}

impl Hiera<'_> {
    /// Looks for a key in all levels.
    pub fn lookup(
        &self,
        session: &mut Session,
        scope: &mut dyn Scope,
        request: &DataRequest<'_>,
    ) -> Result<DataAnswer, Failure> {
        search::run(self, session, scope, request)
    }

    /// The value with its `%{…}` resolved, for the function of a hierarchy that runs.
    pub fn interpolate(
        &self,
        session: &mut Session,
        scope: &mut dyn Scope,
        value: &Value,
    ) -> Result<Value, Failure> {
        search::interpolate(self, session, scope, value)
    }

    /// The text that `puppet lookup --explain` prints for these keys, and what was found. The keys are tried in
    /// order, until one is found.
    pub fn explain(
        &self,
        session: &mut Session,
        scope: &mut dyn Scope,
        keys: &[&str],
        merge: Option<&Value>,
        how: Explain,
    ) -> Explanation {
        search::explain(self, session, scope, keys, merge, how)
    }
}

/// What is to be explained.
#[derive(Debug, Clone, Copy, Default)]
pub struct Explain {
    /// Only where `lookup_options` come from.
    pub options_only: bool,
    /// There is a default, so that a key that is missing is no error.
    pub has_default: bool,
}

/// A search that was explained.
#[derive(Debug)]
pub struct Explanation {
    pub text: String,
    pub answer: Result<DataAnswer, Failure>,
}
