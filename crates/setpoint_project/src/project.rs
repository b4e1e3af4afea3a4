//! What a folder or file of Puppet code is, and where its modules are.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use setpoint_config::Config;
use setpoint_puppet::{Compilation, Entry, Environment, Looked, LookupOptions, PuppetVersion};
use setpoint_puppet_syntax::Parse;
use setpoint_puppet_values::{Hash, Key, Value};
use setpoint_source::{Diagnostic, FileId, Reason, Rule, read_text};

use crate::custom_facts::CustomFacts;
use crate::jobs::{Job, Origin};
use crate::node::{self, Known, NodeData};
use crate::options::Options;
use crate::session::{Session, UsageError};
use crate::sibling::Home;
use crate::{environment_conf, facts, hierarchy, module_files, platforms, puppetfile};

/// What an input is.
#[derive(Debug)]
pub enum Kind {
    /// A manifest, or a folder of manifests.
    Manifests(PathBuf),
    /// A control repository or an environment: nodes, manifests, modules and data.
    Repository {
        folder: PathBuf,
        manifest: PathBuf,
    },
    Module {
        folder: PathBuf,
        name: String,
        platforms: Vec<&'static str>,
    },
}

/// An input, ready to be compiled for any number of nodes.
#[derive(Debug)]
pub struct Project<'s> {
    pub session: &'s Session<'s>,
    pub(super) options: &'s Options,
    /// As the user named it.
    pub input: PathBuf,
    pub kind: Kind,
    /// The folder of the environment.
    pub(super) folder: Option<PathBuf>,
    /// The environments beside this one that classifiers name; none for those that are not there.
    pub(super) siblings: Mutex<BTreeMap<String, Option<Arc<Project<'s>>>>>,
    pub environment: Environment<'s>,
    pub config: Arc<Config>,
    /// What is wrong with the files that describe the project.
    pub diagnostics: Vec<Diagnostic>,
    puppet: PuppetVersion,
    stubs: Hash,
    custom_facts: OnceLock<CustomFacts>,
    /// The names of the facts that every machine has, or is known not to have.
    known_names: OnceLock<Arc<BTreeSet<String>>>,
    likely_platforms: OnceLock<Vec<&'static str>>,
    /// The file that was taken for the server's `hiera.yaml`, and what that assumes.
    assumed_hierarchy: Option<Reason>,
    /// Modules that the Puppetfile names.
    installed: BTreeSet<String>,
}

/// What was found out about an environment before any manifest is read.
#[derive(Debug, Default)]
struct Found {
    modulepath: Vec<PathBuf>,
    modules: BTreeMap<String, PathBuf>,
    expected: BTreeMap<String, String>,
    /// Modules that the Puppetfile names.
    installed: BTreeSet<String>,
    diagnostics: Vec<Diagnostic>,
}

impl<'s> Project<'s> {
    /// Whether a file is the user's own, and no part of a module of somebody else: repairs are written into no other.
    pub fn owns(&self, path: &Path) -> bool {
        match &self.kind {
            Kind::Manifests(input) => {
                path.starts_with(input)
                    || !self.environment.modulepath().iter().any(|folder| path.starts_with(folder))
            }
            Kind::Repository { folder, .. } => path.starts_with(folder) && !self.is_installed(path),
            Kind::Module { folder, .. } => path.starts_with(folder) && !path.starts_with(folder.join("spec")),
        }
    }

    /// The folder or file that the project is.
    pub(crate) fn top(&self) -> &Path {
        match &self.kind {
            Kind::Manifests(path)
            | Kind::Repository { folder: path, .. }
            | Kind::Module { folder: path, .. } => path,
        }
    }

    /// Whether a path lies in a module that the Puppetfile brings.
    fn is_installed(&self, path: &Path) -> bool {
        let module_in = |folder: &PathBuf| {
            let name = path.strip_prefix(folder).ok()?.components().next()?;
            Some(name.as_os_str().to_string_lossy().into_owned())
        };
        self.environment.modulepath().iter().filter_map(module_in).any(|name| self.installed.contains(&name))
    }

    /// The folders of the modules that are the user's own, and of those that the Puppetfile brings.
    pub fn modules(&self) -> (Vec<PathBuf>, Vec<PathBuf>) {
        let folders = self.environment.module_names().iter().filter_map(|name| self.environment.module(name));
        let folders = folders.map(|folder| folder.to_path_buf());
        folders
            .filter(|folder| self.owns(folder) || self.is_installed(folder))
            .partition(|folder| self.owns(folder))
    }

    pub fn open(session: &'s Session<'_>, input: &Path, options: &'s Options) -> Result<Self, UsageError> {
        Self::open_in(session, input, options, options.puppet.environment.as_deref())
    }

    /// The same, in this environment.
    pub(super) fn open_in(
        session: &'s Session<'_>,
        input: &Path,
        options: &'s Options,
        explicit: Option<&Path>,
    ) -> Result<Self, UsageError> {
        let (config, mut diagnostics) = session.config(input, options)?;
        let mut found = Found::default();
        let mut name = "production".to_owned();
        let given = options.puppet.modulepath(&config);
        let kind = if explicit.is_some_and(|folder| folder != input) {
            Kind::Manifests(input.to_owned())
        } else {
            kind_of(session, input, explicit.is_some())
        };
        let folder = explicit.map(Path::to_owned).or_else(|| match &kind {
            Kind::Repository { folder, .. } => Some(folder.clone()),
            Kind::Manifests(path) => repository_above(session, path).filter(|_| given.is_empty()),
            Kind::Module { folder, .. } => repository_above(session, folder),
        });
        let mut kind = kind;
        if let Some(folder) = &folder {
            name = environment_name(folder);
            let conf = environment_conf::read(session, folder, &name, &given);
            diagnostics.extend(conf.diagnostics);
            found.modulepath = match (&config.puppet.modulepath, conf.modulepath) {
                (Some(_), _) => given.clone(),
                (None, Some(modulepath)) => modulepath,
                (None, None) => usual_folders(session, folder),
            };
            if let (Kind::Repository { manifest, .. }, Some(path)) = (&mut kind, conf.manifest) {
                *manifest = path;
            }
            read_puppetfile(session, folder, &given, &mut found);
        }
        for folder in &given {
            if !found.modulepath.contains(folder) {
                found.modulepath.push(folder.clone());
            }
        }
        if let Kind::Module { folder, name, platforms } = &mut kind {
            read_module(session, folder, name, platforms, &mut found);
        }
        diagnostics.append(&mut found.diagnostics);
        let given = options.puppet.hiera.clone();
        let given = given.or_else(|| Some(config.resolve(config.puppet.hiera.as_ref()?)));
        let above = folder.as_deref().map(|folder| (folder, name.as_str()));
        let hierarchy = hierarchy::find(session, above, &found.modulepath, given);
        diagnostics.extend(hierarchy.diagnostics);
        let mut environment = Environment::new(session.files, &session.sources)
            .with_modulepath(found.modulepath)
            .with_modules(found.modules)
            .with_expected_modules(found.expected)
            .with_hiera(hierarchy.levels);
        environment.name = name;
        let version = options.puppet.puppet.as_deref().and_then(PuppetVersion::parse);
        let is_7 = config.puppet.version.as_ref().is_some_and(|version| version.value == 7);
        let version = version.or(is_7.then_some(PuppetVersion::V7));
        let stubs = config.stubs.iter().map(|(name, entry)| (Key::from(name.as_str()), plain(&entry.value)));
        Ok(Self {
            session,
            options,
            input: input.to_owned(),
            kind,
            folder,
            siblings: Mutex::default(),
            environment,
            stubs: stubs.collect(),
            custom_facts: OnceLock::new(),
            known_names: OnceLock::new(),
            likely_platforms: OnceLock::new(),
            installed: found.installed,
            assumed_hierarchy: hierarchy.assumed,
            config,
            diagnostics,
            puppet: version.unwrap_or_default(),
        })
    }

    /// Modules that other modules depend on, and that are not there.
    pub(super) fn missing_dependencies(&self) -> Option<Diagnostic> {
        let Kind::Repository { .. } = self.kind else { return None };
        let names = self.environment.module_names();
        let mut missing: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for name in names {
            let Some(folder) = self.environment.module(name) else { continue };
            for dependency in module_files::metadata(self.session, &folder).dependencies {
                if !names.contains(&dependency) && self.environment.expected_module(&dependency).is_none() {
                    missing.entry(dependency).or_default().push(name);
                }
            }
        }
        let listed: Vec<&str> = missing.keys().map(String::as_str).collect();
        let message = format!(
            "Modules depend on {} not on the module path: {}",
            are_modules(listed.len()),
            and(&listed)
        );
        let found = Diagnostic::new(Rule::MissingModules, message);
        let found = missing
            .iter()
            .fold(found, |found, (name, by)| found.with_note(format!("{} needs {name}.", and(by))));
        (!missing.is_empty()).then(|| found.with_help("Name a folder that has them with --modulepath."))
    }

    /// The version of Puppet whose rules count.
    pub(crate) fn puppet_version(&self) -> &'static str {
        match self.puppet {
            PuppetVersion::V7 => "7",
            PuppetVersion::V8 => "8",
            PuppetVersion::V9 => "9",
        }
    }

    /// What the compiler is told of a node.
    fn options_for(&self, node: &NodeData) -> setpoint_puppet::Options {
        let given = &self.options.puppet;
        setpoint_puppet::Options {
            puppet: self.puppet,
            strict_variables: given.strict_variables || self.config.puppet.strict_variables == Some(true),
            node: node.name.clone(),
            facts: self.facts_of(node),
            facts_are_partial: node.has_partial_facts(),
            trusted: node.trusted.clone(),
            classes: node.classes.clone(),
            parameters: node.parameters.clone(),
            environment: node.environment.clone(),
            stubs: self.stubs.clone(),
            provenance: !given.no_provenance,
            record_reads: given.record_reads,
            known_names: self.known_names(node),
            variables_are_partial: matches!(self.kind, Kind::Repository { .. }) && given.enc.is_none(),
            ..setpoint_puppet::Options::default()
        }
    }

    /// The facts of a node. A file that has those of a machine has all of them; those of a platform lack what modules compute.
    fn facts_of(&self, node: &NodeData) -> Hash {
        if !node.has_partial_facts() {
            return node.facts.clone();
        }
        let custom = self.custom_facts.get_or_init(|| CustomFacts::of_modules(&self.environment));
        custom.complete(&node.facts, &node.told)
    }

    /// The facts of which it is known whether a node has them. In an environment, a classifier or a fact of the user's own may set
    /// others. The facts of old that Puppet 8 has no longer are known to be missing.
    fn known_names(&self, node: &NodeData) -> Option<Arc<BTreeSet<String>>> {
        let is_open = node.has_partial_facts();
        let find = || Arc::new(facts::names_under_7());
        is_open.then(|| Arc::clone(self.known_names.get_or_init(find)))
    }

    /// Whether every machine has a fact of that name, or is known not to have it.
    pub(crate) fn is_known_fact(&self, name: &str) -> bool {
        self.known_names.get_or_init(|| Arc::new(facts::names_under_7())).contains(name)
    }

    /// The platforms that nodes without facts may have, the likeliest first.
    pub(crate) fn likely_platforms(&self, folder: &Path) -> &[&'static str] {
        self.likely_platforms.get_or_init(|| {
            platforms::likely_platforms(self, folder).into_iter().map(|platform| platform.name).collect()
        })
    }

    /// What the catalogs of this project rest on besides their nodes.
    pub(crate) fn assumed_hierarchy(&self) -> Option<Reason> {
        self.assumed_hierarchy.clone()
    }

    /// Looks for keys in the data of the node that the command line names.
    pub fn look_up(&self, wanted: &LookupOptions) -> Result<Looked, UsageError> {
        let given = &self.options.puppet;
        let is_asked = |job: &Job| given.node.as_ref() == Some(&job.node.name);
        // A repository may know the facts of the node.
        let known = match &given.node {
            Some(_) => self.plan().ok().and_then(|plan| plan.jobs.into_iter().find(is_asked)),
            None => None,
        };
        let node = match known {
            Some(job) => job.node,
            None => node::node(self.session, given, &Known::default())?,
        };
        let home = self.home(&node).map_err(UsageError::new)?;
        Ok(setpoint_puppet::lookup(&home.environment, &self.options_for(&node), wanted))
    }

    /// Whether a job that fails under version 8, which nobody asked for, compiles under version 7.
    pub(crate) fn compiles_under_7_only(&self, job: &Job) -> bool {
        let is_asked_for = self.options.puppet.puppet.is_some() || self.config.puppet.version.is_some();
        if is_asked_for || !matches!(self.home(&job.node), Ok(Home::Here(_))) {
            return false;
        }
        let mut options = self.options_for(&job.node);
        options.puppet = PuppetVersion::V7;
        options.provenance = false;
        options.fact_comments = job.origin == Origin::Manifest;
        setpoint_puppet::compile(&self.environment, &job.entry, &options).catalog.is_some()
    }

    /// The catalog of one job, in this environment.
    pub(super) fn compile_here(&self, job: &Job, entry: &Entry) -> Compilation {
        let mut options = self.options_for(&job.node);
        // Comments of a manifest that is compiled by itself may say what facts it needs.
        options.fact_comments = job.origin == Origin::Manifest;
        // A class that is entered alone lacks what its nodes give it.
        options.parameters_are_partial =
            job.origin == Origin::Class && matches!(self.kind, Kind::Repository { .. });
        let first = setpoint_puppet::compile(&self.environment, entry, &options);
        // A part of a module is often meant to be declared by the class above it.
        if let (None, Some(second)) = (&first.catalog, &job.second) {
            let second = setpoint_puppet::compile(&self.environment, second, &options);
            if second.catalog.is_some() {
                return second;
            }
        }
        first
    }
}

/// Parses a template if its name ends in `.epp`, else a manifest.
pub fn parse_file(path: &Path, file: FileId, text: &str) -> Parse {
    if path.extension().is_some_and(|extension| extension == "epp") {
        setpoint_puppet_syntax::parse_epp(file, text)
    } else {
        setpoint_puppet_syntax::parse(file, text)
    }
}

/// Whether a folder is something that this language takes.
pub fn is_project(session: &Session<'_>, path: &Path) -> bool {
    is_repository(session, path)
        || is_module(session, path)
        || session
            .files
            .list(path)
            .iter()
            .any(|name| Path::new(name).extension().is_some_and(|end| end == "pp"))
}

/// The control repository that a file lies in, not above `limit` if it lies in that; else the module.
pub fn find_project_above(session: &Session<'_>, path: &Path, limit: Option<&Path>) -> Option<PathBuf> {
    let limit = limit.filter(|limit| path.starts_with(limit));
    let is_within =
        |folder: &&Path| limit.is_none_or(|limit| folder.starts_with(limit)) && session.files.permits(folder);
    let folders = || path.ancestors().skip(1).take_while(is_within);
    let repository = folders().find(|folder| is_repository(session, folder));
    repository.or_else(|| folders().find(|folder| is_module(session, folder))).map(Path::to_owned)
}

fn kind_of(session: &Session<'_>, path: &Path, environment: bool) -> Kind {
    if !session.files.is_dir(path) {
        return Kind::Manifests(path.to_owned());
    }
    if environment || is_repository(session, path) {
        return Kind::Repository { folder: path.to_owned(), manifest: path.join("manifests") };
    }
    if is_module(session, path) {
        return Kind::Module { folder: path.to_owned(), name: folder_name(path), platforms: Vec::new() };
    }
    Kind::Manifests(path.to_owned())
}

/// Whether a folder is a control repository or a module.
pub(crate) fn is_project_folder(session: &Session<'_>, path: &Path) -> bool {
    is_repository(session, path) || is_module(session, path)
}

/// Whether a folder is a control repository.
pub fn is_repository(session: &Session<'_>, path: &Path) -> bool {
    let file = |name: &str| session.files.has_file(&path.join(name));
    let folder = |name: &str| session.files.is_dir(&path.join(name));
    if file("environment.conf") {
        return true;
    }
    // A module, too, may have manifests, a hiera.yaml and even a Puppetfile.
    if file("metadata.json") || file("manifests/init.pp") {
        return false;
    }
    file("Puppetfile")
        || file("manifests/site.pp")
        || (folder("manifests") && (file("hiera.yaml") || folder("modules")))
}

fn is_module(session: &Session<'_>, path: &Path) -> bool {
    let manifests = path.join("manifests");
    if session.files.has_file(&path.join("metadata.json")) {
        return session.files.is_dir(&manifests) || session.files.is_dir(&path.join("lib/puppet"));
    }
    // Other tools have folders of this name: an empty one may be a module's, one with other files alone is not.
    session.files.is_dir(&manifests)
        && (session.files.list(&manifests).is_empty() || has_manifest(session, &manifests, 0))
}

/// Whether a manifest lies in a folder, or below it.
fn has_manifest(session: &Session<'_>, folder: &Path, depth: usize) -> bool {
    const MAX_DEPTH: usize = 16;
    let names = session.files.list(folder);
    let is_manifest = |name: &String| Path::new(name).extension().is_some_and(|ending| ending == "pp");
    names.iter().any(is_manifest)
        || (depth < MAX_DEPTH
            && names.iter().map(|name| folder.join(name)).any(|path| {
                session.files.is_dir(&path)
                    && session.files.link_target(&path).is_none()
                    && has_manifest(session, &path, depth + 1)
            }))
}

/// The control repository that a file or folder lies in.
fn repository_above(session: &Session<'_>, path: &Path) -> Option<PathBuf> {
    let absolute = std::path::absolute(path).ok()?;
    let above = path.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
    let mut all = above.map(Path::to_owned).chain(absolute.ancestors().skip(1).map(Path::to_owned));
    all.find(|folder| {
        let path = folder.join("environment.conf");
        session.files.permits(&path) && session.files.has_file(&path)
    })
}

/// Environments lie side by side in a folder of that name; a repository alone is the usual one.
fn environment_name(folder: &Path) -> String {
    let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let absolute = setpoint_source::normal(&absolute);
    let among_others = absolute.parent().and_then(Path::file_name).is_some_and(|name| name == "environments");
    let name = absolute.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let fits = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if among_others && fits { name } else { "production".to_owned() }
}

/// Without a word in environment.conf.
fn usual_folders(session: &Session<'_>, folder: &Path) -> Vec<PathBuf> {
    let names = ["modules", "site-modules", "site"];
    names.iter().map(|name| folder.join(name)).filter(|path| session.files.is_dir(path)).collect()
}

fn read_puppetfile(session: &Session<'_>, folder: &Path, given: &[PathBuf], found: &mut Found) {
    let path = folder.join("Puppetfile");
    if !session.files.has_file(&path) {
        return;
    }
    let Ok(text) = read_text(session.files, &path) else { return };
    let puppetfile = puppetfile::read(&text);
    for (range, message) in &puppetfile.errors {
        let file = session.sources.add(path.display().to_string(), text.as_str());
        let help = "Which modules follow is not known. Mend the Puppetfile.";
        let error = Diagnostic::new(Rule::SyntaxError, *message).at(range.in_file(file)).with_help(help);
        found.diagnostics.push(error);
    }
    if let Some(range) = puppetfile.unread.first() {
        let file = session.sources.add(path.display().to_string(), text.as_str());
        let message = "Setpoint does not run this Ruby, which may name modules";
        let told = Diagnostic::new(Rule::InvalidSetting, message).at(range.in_file(file));
        found.diagnostics.push(told.severity(setpoint_source::Severity::Warning));
    }
    found.installed = puppetfile.modules.iter().map(|module| module.name.clone()).collect();
    if let Some(moduledir) = &puppetfile.moduledir {
        let moduledir = folder.join(moduledir);
        if session.files.is_dir(&moduledir) && !found.modulepath.contains(&moduledir) {
            found.modulepath.push(moduledir);
        }
    }
    let missing: Vec<&puppetfile::Module> = puppetfile
        .modules
        .iter()
        .filter(|module| {
            let own = module.install_path.as_ref().map(|path| folder.join(path));
            let folders = found.modulepath.iter().chain(given).chain(&own);
            !folders.into_iter().any(|folder| session.files.is_dir(&folder.join(&module.name)))
        })
        .collect();
    let Some(first) = missing.first() else { return };
    let run = format!(
        "Run `r10k puppetfile install` in {}, or name a folder that has them with --modulepath.",
        folder.display()
    );
    let names: Vec<&str> = missing.iter().map(|module| module.name.as_str()).collect();
    let message = format!("The Puppetfile names {} not installed: {}", are_modules(names.len()), and(&names));
    let file = session.sources.add(path.display().to_string(), text.as_str());
    found
        .diagnostics
        .push(Diagnostic::new(Rule::MissingModules, message).at(first.range.in_file(file)).with_help(run));
    for module in missing {
        let hint = format!(
            "The Puppetfile names the module {}, and it is not installed: run `r10k puppetfile install`.",
            module.name
        );
        found.expected.insert(module.name.clone(), hint);
    }
}

fn read_module(
    session: &Session<'_>,
    folder: &Path,
    name: &mut String,
    platforms: &mut Vec<&'static str>,
    found: &mut Found,
) {
    let metadata = module_files::metadata(session, folder);
    if let Some(known) = metadata.name {
        *name = known;
    }
    *platforms = metadata.platforms;
    found.diagnostics.extend(metadata.diagnostics.into_iter().chain(metadata.unknown_systems));
    let (fixtures, problems) = module_files::fixtures(session, folder);
    found.diagnostics.extend(problems);
    let fixture_folder = folder.join("spec/fixtures/modules");
    if session.files.is_dir(&fixture_folder) {
        found.modulepath.push(fixture_folder);
    }
    // Modules mostly lie beside those that they depend on.
    let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let parent = match folder.parent() {
        Some(parent) if !parent.as_os_str().is_empty() && folder.file_name().is_some() => Some(parent),
        _ => absolute.parent(),
    };
    let beside = absolute.parent().and_then(Path::file_name);
    let beside = beside.is_some_and(|name| name == "modules" || name == "site-modules" || name == "site");
    if let (Some(parent), true) = (parent, beside)
        && !found.modulepath.iter().any(|known| known == parent)
    {
        found.modulepath.push(parent.to_owned());
    }
    let is_there = |name: &String| found.modulepath.iter().any(|path| session.files.is_dir(&path.join(name)));
    let mut missing: Vec<String> = Vec::new();
    for (name, path) in &fixtures {
        if session.files.is_dir(path) {
            found.modules.insert(name.clone(), path.clone());
        } else if !is_there(name) {
            missing.push(name.clone());
        }
    }
    for name in metadata.dependencies {
        if !found.modules.contains_key(&name) && !is_there(&name) && !missing.contains(&name) {
            missing.push(name);
        }
    }
    missing.retain(|missing| missing != name);
    found.modules.insert(name.clone(), folder.to_owned());
    if missing.is_empty() {
        return;
    }
    let names: Vec<&str> = missing.iter().map(String::as_str).collect();
    let message = format!(
        "The module {name} depends on {} not on the module path: {}",
        are_modules(names.len()),
        and(&names)
    );
    let help = if fixtures.is_empty() {
        "Name a folder that has them with --modulepath, or put them beside this module."
    } else {
        "Run `rake spec_prep`, or name a folder that has them with --modulepath."
    };
    found.diagnostics.push(Diagnostic::new(Rule::MissingModules, message).with_help(help));
    for missing in missing {
        let hint =
            format!("The module {name} depends on the module {missing}, which is not on the module path.");
        found.expected.insert(missing, hint);
    }
}

fn are_modules(count: usize) -> String {
    if count == 1 { "a module that is".to_owned() } else { format!("{count} modules that are") }
}

/// `a, b and c`; the first ones of many, which a tool fetches anyway.
fn and(names: &[&str]) -> String {
    setpoint_source::few(names, 8)
}

fn folder_name(path: &Path) -> String {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let name = setpoint_source::normal(&absolute).file_name().map(|name| name.to_string_lossy().into_owned());
    // A checkout is often called `puppetlabs-ntp`.
    name.map(|name| puppetfile::short(&name).to_owned()).unwrap_or_default()
}

/// A value of `setpoint.toml` as one of the language.
pub(super) fn plain(value: &setpoint_config::Value) -> Value {
    use setpoint_config::ValueKind;
    match &value.kind {
        ValueKind::Text(text) => text.as_str().into(),
        ValueKind::Integer(number) => (*number).into(),
        ValueKind::Float(number) => (*number).into(),
        ValueKind::Boolean(truth) => (*truth).into(),
        ValueKind::List(items) => Value::array(items.iter().map(plain).collect()),
        ValueKind::Table(table) => Value::hash(plain_hash(table)),
    }
}

pub(super) fn plain_hash(table: &setpoint_config::Table) -> Hash {
    table.iter().map(|(name, entry)| (Key::from(name.as_str()), plain(&entry.value))).collect()
}
