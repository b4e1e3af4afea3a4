//! Does a catalog settle: what the question needs besides the catalog.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use setpoint_catalog::Catalog;
use setpoint_catalog::findings::System;
use setpoint_catalog::graph::{Graph, Types};
use setpoint_config::Config;
use setpoint_packages::{Family, Index, Platform};
use setpoint_puppet::split_module;
use setpoint_puppet_values::{Data, Hash, Key, Value};
use setpoint_resources::{Base, Source, Sources as FileServers, World};
use setpoint_settle::{Question, Settled};
use setpoint_source::{FileSystem, Sources};
use setpoint_state::Semantics;
use setpoint_verify::{Memory, WORK_A_SECOND};

use crate::options::Options;
use crate::progress::Progress;
use crate::session::{Session, UsageError, enables};

/// What is assumed where nothing says which platform a node has.
const USUAL_PLATFORM: &str = "debian-12";

/// What is known besides catalogs: the same for all nodes of a call, but for what platforms have.
#[allow(missing_debug_implementations, reason = "an index of packages has no such form")]
pub struct Surroundings<'a> {
    /// The index that the user named.
    given: Option<Index>,
    servers: ModuleFiles<'a>,
    config: &'a Config,
    semantics: Semantics,
    any_start: bool,
    /// How much work the questions about one catalog may take.
    work: Option<u64>,
    /// When the questions about all catalogs must be done.
    deadline: Option<Instant>,
    /// Answers that catalogs share.
    memory: Arc<Memory>,
    repair: bool,
    /// Draw graphs that have no more nodes than that.
    pub(crate) drawn: Option<usize>,
    /// Look for relationships that change nothing, too.
    redundant: bool,
    lost_refresh: bool,
    progress: Arc<dyn Progress>,
    /// How many threads ask about one catalog.
    threads: usize,
}

impl<'a> Surroundings<'a> {
    pub fn new(
        session: &Session<'a>,
        modulepath: &'a [PathBuf],
        config: &'a Config,
        options: &Options,
    ) -> Result<Self, UsageError> {
        let open = |path: &PathBuf| {
            Index::open(session.files, path).map_err(|error| UsageError::new(error.to_string()))
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
        Ok(Self {
            given: options.packages.as_ref().map(open).transpose()?,
            servers: ModuleFiles { files: session.files, modulepath },
            config,
            semantics,
            any_start: options.any_start,
            work: options.timeout.map(|seconds| seconds.saturating_mul(WORK_A_SECOND)),
            deadline: session.deadline,
            memory: Arc::clone(&session.memory),
            repair: session.repair,
            drawn: session.drawn,
            progress: Arc::clone(&session.progress),
            threads: 1,
            redundant: enables(config, options, "redundant-edge"),
            lost_refresh: enables(config, options, "lost-refresh"),
        })
    }

    /// The threads of the call, shared among so many catalogs that are judged at once.
    #[must_use]
    pub fn with_threads(self, threads: usize, catalogs: usize) -> Self {
        Self { threads: (threads / catalogs.max(1)).max(1), ..self }
    }

    /// The same for an environment with these modules.
    pub fn with_modules<'b>(&'b self, modulepath: &'b [PathBuf]) -> Surroundings<'b> {
        Surroundings {
            given: self.given.clone(),
            memory: Arc::clone(&self.memory),
            servers: ModuleFiles { files: self.servers.files, modulepath },
            progress: Arc::clone(&self.progress),
            ..*self
        }
    }

    /// Whether the questions about all catalogs must be done by now.
    pub(crate) fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| deadline <= Instant::now())
    }

    pub fn is_paper(&self) -> bool {
        self.semantics == Semantics::Paper
    }

    /// Judges the catalog of a node of a platform.
    pub fn settle(
        &self,
        sources: &Sources,
        catalog: &Catalog,
        graph: &Graph,
        types: &dyn Types,
        platform: Option<Platform>,
        may_change: &dyn Fn(&str) -> bool,
    ) -> Settled {
        let automatic = self.redundant.then(|| automatic(catalog, types)).flatten();
        self.ask(sources, catalog, (graph, automatic.as_ref()), platform, may_change, setpoint_settle::settle)
    }

    /// Puts the question together, and asks it.
    pub fn ask<R>(
        &self,
        sources: &Sources,
        catalog: &Catalog,
        (graph, automatic): (&Graph, Option<&Graph>),
        platform: Option<Platform>,
        may_change: &dyn Fn(&str) -> bool,
        asked: impl FnOnce(&Question<'_>) -> R,
    ) -> R {
        let base = Base::new(platform.map_or(Family::Debian, Platform::family));
        let packages = self.packages(platform);
        let world = World {
            base: &base,
            packages: &packages,
            sources: &self.servers,
            config: self.config,
            semantics: self.semantics,
            any_start: self.any_start,
            packages_start_services: base.family == Family::Debian,
        };
        let options = setpoint_verify::Options {
            semantics: self.semantics,
            any_start: self.any_start,
            work: self.work,
            deadline: self.deadline,
            memory: Arc::clone(&self.memory),
            jobs: self.threads,
            lost_refresh: self.lost_refresh,
            progress: Some(told(&self.progress, &catalog.name)),
            ..setpoint_verify::Options::default()
        };
        asked(&Question {
            catalog,
            graph,
            world: &world,
            options: &options,
            sources,
            may_change,
            repair: self.repair,
            automatic,
            platform: platform.map(Platform::name),
        })
    }

    /// What packages install: by the index that was given, then by what is built in. The paper's semantics knows the given
    /// one alone.
    fn packages(&self, platform: Option<Platform>) -> Index {
        let given = self.given.clone();
        let Some(platform) = platform.filter(|_| self.semantics == Semantics::Puppet || given.is_none())
        else {
            return given.unwrap_or_else(Index::empty);
        };
        let built_in = Index::builtin(platform);
        given.map_or_else(|| built_in.clone(), |given| given.over(&built_in))
    }
}

/// Passes on how far the questions about a node are.
fn told(progress: &Arc<dyn Progress>, node: &str) -> setpoint_verify::Progress {
    let (progress, node) = (Arc::clone(progress), node.to_owned());
    Arc::new(move |stage, decided, of| progress.tell(&node, stage, decided, of))
}

/// The relationships that Puppet makes by itself: those of a catalog that states none.
fn automatic(catalog: &Catalog, types: &dyn Types) -> Option<Graph> {
    let mut bare = catalog.clone();
    for resource in bare.resources_mut() {
        for name in ["before", "notify", "require", "subscribe"] {
            resource.parameters.remove(name.into());
        }
    }
    Graph::of_a_run(&bare, types).ok()
}

/// The platform of a node: the one that is named, else that of the facts, else a usual one. Of some platforms it is not
/// known what packages install.
pub fn platform(name: Option<&str>, facts: &Hash) -> Option<Platform> {
    if let Some(name) = name {
        return Platform::parse(name);
    }
    let inner = |from: &Hash, name: &str| from.get(&Key::from(name)).map(|value| value.data.clone());
    let text = |data: Option<Data>| match data {
        Some(Data::String(text)) => text.to_string(),
        _ => String::new(),
    };
    let Some(Data::Hash(os)) = inner(facts, "os") else { return Platform::parse(USUAL_PLATFORM) };
    let release = match inner(&os, "release") {
        Some(Data::Hash(release)) => text(inner(&release, "full")),
        _ => String::new(),
    };
    Platform::of(&text(inner(&os, "name")), &release)
}

/// The kind of system that a node has: that of its platform, else that of its facts.
pub fn system(platform: Option<&str>, facts: &Hash) -> System {
    let os = facts.get(&Key::from("os")).and_then(Value::as_hash);
    let family = os.and_then(|os| os.get(&Key::from("family"))).and_then(Value::as_str);
    let is_windows = platform.is_some_and(|name| name.starts_with("windows")) || family == Some("windows");
    if is_windows { System::Windows } else { System::Posix }
}

impl Surroundings<'_> {
    /// Whether an address names a file that a module which is there does not have.
    pub(crate) fn lacks_source(&self, address: &str) -> bool {
        let is_missing = |path: PathBuf| {
            let files = self.servers.files;
            !files.is_dir(&path) && !files.is_file(&path) && files.link_target(&path).is_none()
        };
        self.servers.path(address).is_some_and(is_missing)
    }
}

/// The files of modules, as `puppet:///modules/…` names them.
struct ModuleFiles<'a> {
    files: &'a dyn FileSystem,
    modulepath: &'a [PathBuf],
}

/// Folders that are followed at most below a source.
const MAX_DEPTH: usize = 32;

impl FileServers for ModuleFiles<'_> {
    fn get(&self, address: &str) -> Option<Source> {
        self.source(&self.path(address)?, 0)
    }
}

impl ModuleFiles<'_> {
    /// The path that an address names in a module that is there.
    fn path(&self, address: &str) -> Option<PathBuf> {
        let rest = address.strip_prefix("puppet:///modules/")?;
        let (module, path) = split_module(rest)?;
        let folder =
            self.modulepath.iter().map(|folder| folder.join(module)).find(|path| self.files.is_dir(path))?;
        Some(folder.join("files").join(path))
    }

    /// Returns what is at a path; nothing if nothing is there. What is there and cannot be read says so.
    fn source(&self, path: &Path, depth: usize) -> Option<Source> {
        match self.files.link_target(path) {
            Some(target) => {
                let target = target.to_string_lossy().into_owned();
                Some(Source::Link { target, to: self.followed(path, depth).map(Box::new) })
            }
            None => self.followed(path, depth),
        }
    }

    /// Returns what a path leads to.
    fn followed(&self, path: &Path, depth: usize) -> Option<Source> {
        if self.files.is_dir(path) {
            if depth > MAX_DEPTH {
                return Some(Source::Unread);
            }
            let inside = self.files.list(path).into_iter();
            let entries =
                inside.filter_map(|name| Some((name.clone(), self.source(&path.join(&name), depth + 1)?)));
            return Some(Source::Directory(entries.collect()));
        }
        match self.files.read(path) {
            Ok(bytes) => Some(Source::File(as_text(bytes).into())),
            Err(error) if error.missing => None,
            Err(_) => Some(Source::Unread),
        }
    }
}

/// Returns a content as text, another one for each content: what is no UTF-8 becomes a mark and a letter for each byte.
fn as_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| {
        std::iter::once('\u{fdd0}').chain(error.as_bytes().iter().map(|&byte| char::from(byte))).collect()
    })
}
