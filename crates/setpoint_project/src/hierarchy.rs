//! The `hiera.yaml` files of a project: which hold for it, and where the folders that they name lie here.
//!
//! A server reads the data of an environment below `/etc/puppetlabs/code/environments/NAME`; here the environment is the
//! repository. Many repositories have no `hiera.yaml` of their own: the server's lies among the files that a module installs on it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use setpoint_data::Node;
use setpoint_hiera::{DATADIR_3, Levels, Mount, usual_ending};
use setpoint_source::{
    Diagnostic, FileId, FileSystem, Gap, Range, Reason, Rule, Severity, normal, read_text,
};

use crate::project::Project;
use crate::session::Session;

/// Folders of a server that have a folder `environments`.
const ABOVE_ENVIRONMENTS: [&str; 4] =
    ["/etc/puppetlabs/code", "/etc/puppetlabs/puppet", "/etc/puppet/code", "/etc/puppet"];
/// Folders of a repository that hold data.
const DATA_FOLDERS: [&str; 4] = ["hieradata", "data", "hiera", "hiera-data"];
/// How deep a configuration may lie below the files of a module.
const MAX_DEPTH: usize = 4;

/// A text of a hierarchy that names files of data.
pub(crate) struct DataPath<'c> {
    /// With the ending that the backend adds.
    pub(crate) text: Cow<'c, str>,
    pub(crate) node: &'c Node,
    /// The folder that it lies below, as it is written.
    pub(crate) datadir: &'c str,
    /// A path or a pattern of paths; else another text of the entry.
    pub(crate) is_path: bool,
}

/// A `hiera.yaml` as a tree.
#[derive(Debug)]
pub(crate) struct Configuration {
    path: PathBuf,
    pub(crate) file: FileId,
    root: Node,
}

impl Configuration {
    pub(crate) fn read(session: &Session<'_>, path: &Path) -> Option<Self> {
        let text = read_text(session.files, path).ok()?;
        let file = session.sources.add(path.display().to_string(), text.as_str());
        let root = setpoint_data::read_yaml(file, &text).root?;
        Some(Self { path: path.to_owned(), file, root })
    }

    /// A setting of the whole configuration. Hiera 3 names them by symbols.
    fn setting(&self, name: &str) -> Option<&Node> {
        self.root.get(name).or_else(|| self.root.get(&format!(":{name}")))
    }

    /// Whether it is one of Hiera 3, which says no version.
    fn is_version_3(&self) -> bool {
        self.setting("version").is_none_or(|version| version.text() == Some("3"))
            && self.setting("hierarchy").is_some()
    }

    /// The texts of the hierarchy that name files, each with the folder that they lie below.
    pub(crate) fn paths(&self) -> Vec<DataPath<'_>> {
        if self.is_version_3() {
            return self.paths_of_version_3();
        }
        let default = self.root.get("defaults").and_then(|defaults| defaults.get("datadir"));
        let default = default.and_then(Node::text).unwrap_or("data");
        let mut paths = Vec::new();
        for entry in self.root.get("hierarchy").into_iter().flat_map(Node::items) {
            let datadir = entry.get("datadir").and_then(Node::text).unwrap_or(default);
            for pair in entry.entries() {
                let key = pair.key.text().unwrap_or_default();
                let is_path = matches!(key, "path" | "paths" | "glob" | "globs");
                for node in std::iter::once(&pair.value).chain(pair.value.items()) {
                    let text = node.text().map(Cow::Borrowed);
                    paths.extend(text.map(|text| DataPath { text, node, datadir, is_path }));
                }
            }
        }
        paths
    }

    /// Every backend has the whole hierarchy, below a folder and with an ending of its own.
    fn paths_of_version_3(&self) -> Vec<DataPath<'_>> {
        let list =
            |name: &str| self.setting(name).into_iter().flat_map(|it| std::iter::once(it).chain(it.items()));
        let backends: Vec<&str> = list("backends").filter_map(Node::text).collect();
        let mut paths = Vec::new();
        for backend in if backends.is_empty() { vec!["yaml"] } else { backends } {
            let own = self.setting(backend);
            let of = |name: &str| own.and_then(|own| own.get(name).or_else(|| own.get(&format!(":{name}"))));
            let datadir = of("datadir").and_then(Node::text).unwrap_or(DATADIR_3);
            let ending = of("extension").and_then(Node::text).unwrap_or_else(|| usual_ending(backend));
            for node in list("hierarchy") {
                let text = node.text().map(|text| Cow::Owned(format!("{text}.{ending}")));
                paths.extend(text.map(|text| DataPath { text, node, datadir, is_path: true }));
            }
        }
        paths
    }

    /// The folder that an entry names, as the server calls it; nothing if its name has other variables than the environment.
    fn named_folder(&self, datadir: &str, environment: &str) -> Option<PathBuf> {
        let text = datadir.replace("%{environment}", environment).replace("%{::environment}", environment);
        let above = self.path.parent().unwrap_or(Path::new(""));
        (!text.contains("%{")).then(|| normal(&above.join(text)))
    }

    fn named_folders(&self, environment: &str) -> BTreeSet<PathBuf> {
        self.paths().iter().filter_map(|path| self.named_folder(path.datadir, environment)).collect()
    }

    /// Whether it is one of Hiera 5, 4 or 3, as far as its shape tells.
    fn is_hierarchy(&self) -> bool {
        let version = self.root.get("version").and_then(Node::text);
        let is_named = version.is_some_and(|version| version == "5" || version == "4");
        (is_named || self.is_version_3()) && self.paths().iter().any(|path| path.is_path)
    }
}

impl Project<'_> {
    /// The configurations whose data counts for a folder: its own, and for the environment the global one.
    pub(crate) fn configurations(&self, folder: &Path) -> Vec<Configuration> {
        let levels = self.environment.hiera().levels();
        let global = levels.global.iter().filter(|_| levels.environment.as_deref() == Some(folder)).cloned();
        let paths: BTreeSet<PathBuf> = std::iter::once(folder.join("hiera.yaml")).chain(global).collect();
        paths.iter().filter_map(|path| Configuration::read(self.session, path)).collect()
    }

    /// Where the folder of an entry lies here; nothing if it lies outside of the inputs.
    pub(crate) fn data_folder(&self, configuration: &Configuration, datadir: &str) -> Option<PathBuf> {
        let named = configuration.named_folder(datadir, &self.environment.name)?;
        let here = self.environment.hiera().levels().locate(&named, self.session.files);
        self.session.files.permits(&here).then_some(here)
    }

    /// The folders of data that the configurations of a folder name, as far as they can be told without a node.
    pub(crate) fn data_folders(&self, folder: &Path) -> BTreeSet<PathBuf> {
        let mut folders = BTreeSet::new();
        for configuration in self.configurations(folder) {
            let named = configuration.paths().iter().map(|path| path.datadir).collect::<BTreeSet<_>>();
            folders.extend(named.into_iter().filter_map(|datadir| self.data_folder(&configuration, datadir)));
        }
        folders
    }
}

/// What holds above the modules.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) levels: Levels,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// What was taken for the server's configuration.
    pub(crate) assumed: Option<Reason>,
}

/// What a user can do about a configuration that was assumed.
const NAME_IT: &str =
    "Name the server's configuration with --hiera, or as `hiera` under `[puppet]` in setpoint.toml.";

impl Found {
    /// Takes a configuration for the server's.
    fn assume(&mut self, configuration: &Configuration, message: String) {
        let place = Range::new(0, 0).in_file(configuration.file);
        let told = Diagnostic::new(Rule::AssumedHierarchy, message).at(place).with_help(NAME_IT);
        self.diagnostics.push(told);
        let reason = format!("the server's hiera.yaml is {}", configuration.path.display());
        self.assumed = Some(Reason::new(Gap::Assumed, reason).at(Some(place)));
        self.levels.global = Some(configuration.path.clone());
    }
}

/// Finds the levels above the modules: the configuration that the user names, that of the environment, or the one that a
/// module of the repository installs on the server.
pub(crate) fn find(
    session: &Session<'_>,
    environment: Option<(&Path, &str)>,
    modulepath: &[PathBuf],
    given: Option<PathBuf>,
) -> Found {
    let mut found = Found::default();
    found.levels.global = given;
    let Some((folder, name)) = environment else { return found };
    found.levels.environment = Some(folder.to_owned());
    let of_environment = |above: &&str| {
        let server = Path::new(above).join("environments").join(name);
        Mount { server, here: folder.to_owned() }
    };
    found.levels.mounts = ABOVE_ENVIRONMENTS.iter().map(of_environment).collect();
    if found.levels.global.is_none() {
        match Configuration::read(session, &folder.join("hiera.yaml")) {
            Some(own) if own.is_version_3() => {
                let message = format!(
                    "{} is of version 3, which no environment may have: it is taken for the server's",
                    own.path.display()
                );
                found.assume(&own, message);
            }
            Some(_) => {}
            None if session.files.has_file(&folder.join("hiera.yaml")) => {}
            None => take_from_modules(session, (folder, name), modulepath, &mut found),
        }
    }
    if let Some(path) = &found.levels.global
        && let Some(configuration) = Configuration::read(session, path)
    {
        found
            .levels
            .mounts
            .extend(mount_of(session.files, &configuration, folder, name).map(|(mount, _)| mount));
    }
    found
}

/// Takes the configuration that a module installs, if there is one that finds data in the repository.
fn take_from_modules(
    session: &Session<'_>,
    (folder, name): (&Path, &str),
    modulepath: &[PathBuf],
    found: &mut Found,
) {
    let data: Vec<&str> =
        DATA_FOLDERS.into_iter().filter(|name| has_data(session.files, &folder.join(name), 0)).collect();
    let Some(first) = data.first() else { return };
    let mut candidates: BTreeMap<usize, Vec<Configuration>> = BTreeMap::new();
    let of_modules = configurations_in_files(session.files, modulepath);
    for path in configurations_beside(session.files, folder).chain(of_modules) {
        let Some(configuration) = Configuration::read(session, &path) else { continue };
        if !configuration.is_hierarchy() {
            continue;
        }
        if let Some((_, matches)) = mount_of(session.files, &configuration, folder, name) {
            candidates.entry(matches).or_default().push(configuration);
        }
    }
    let mut best = candidates.pop_last().map(|(_, best)| best).unwrap_or_default();
    if best.len() > 1 {
        let is_usual = |one: &Configuration| one.path.file_stem().is_some_and(|stem| stem == name);
        if best.iter().filter(|one| is_usual(one)).count() == 1 {
            best.retain(is_usual);
        }
    }
    if let [only] = best.as_slice() {
        let path = only.path.display();
        let message = format!("The repository has no hiera.yaml: {path} is taken for the server's");
        found.assume(only, message);
        return;
    }
    found.levels.unread = Some("the server's hiera.yaml, which was not given".into());
    let message = format!("The repository has data in {first} and no hiera.yaml that says how it is read");
    let told = Diagnostic::new(Rule::AssumedHierarchy, message).severity(Severity::Warning);
    let told = match best.as_slice() {
        [] => told,
        several => {
            let names: Vec<String> = several.iter().map(|one| one.path.display().to_string()).collect();
            told.with_note(format!("It may be one of {}.", names.join(", ")))
        }
    };
    found.diagnostics.push(told.with_note("Keys that no module has are not known.").with_help(NAME_IT));
}

/// The files of the repository's own folder that may be a configuration of Hiera, by their names.
fn configurations_beside(files: &dyn FileSystem, folder: &Path) -> impl Iterator<Item = PathBuf> {
    let names = files.list(folder).into_iter().filter(|name| name.contains("hiera"));
    names.map(|name| folder.join(name)).filter(|path| is_yaml(path)).collect::<Vec<_>>().into_iter()
}

fn is_yaml(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "yaml" || ending == "yml")
}

/// The files below the `files` of all modules that may be a configuration of Hiera, by their name or their folder's.
fn configurations_in_files(files: &dyn FileSystem, modulepath: &[PathBuf]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in modulepath {
        for module in files.list(folder) {
            collect_configurations(files, &folder.join(module).join("files"), 0, &mut found);
        }
    }
    found
}

fn collect_configurations(files: &dyn FileSystem, folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    let in_hiera = folder.file_name().is_some_and(|name| name.to_string_lossy().contains("hiera"));
    for name in files.list(folder) {
        let path = folder.join(&name);
        if is_yaml(&path) && (in_hiera || name.contains("hiera")) {
            found.push(path);
        } else if !is_yaml(&path) && depth < MAX_DEPTH && files.is_dir(&path) {
            collect_configurations(files, &path, depth + 1, found);
        }
    }
}

/// The folder of the server that the repository stands for, and how many folders of data it finds so. A folder `/a/b/hieradata` that
/// exists here as `hieradata` says that `/a/b` is the repository. Of several the one that most folders lie below counts.
fn mount_of(
    files: &dyn FileSystem,
    configuration: &Configuration,
    folder: &Path,
    name: &str,
) -> Option<(Mount, usize)> {
    let named = configuration.named_folders(name);
    let mut roots: BTreeMap<PathBuf, usize> = BTreeMap::new();
    for path in &named {
        for root in path.ancestors().skip(1).filter(|root| root.as_os_str().len() > 1) {
            let Ok(rest) = path.strip_prefix(root) else { continue };
            if files.is_dir(&folder.join(rest)) {
                *roots.entry(root.to_owned()).or_default() += 1;
            }
        }
    }
    let below = |root: &Path| named.iter().filter(|path| path.starts_with(root)).count();
    let length = |root: &Path| std::cmp::Reverse(root.components().count());
    let (root, matches) = roots.into_iter().max_by_key(|(root, _)| (below(root), length(root)))?;
    Some((Mount { server: root, here: folder.to_owned() }, matches))
}

fn has_data(files: &dyn FileSystem, folder: &Path, depth: usize) -> bool {
    files.list(folder).into_iter().any(|name| {
        let path = folder.join(&name);
        let is_yaml =
            path.extension().is_some_and(|ending| ending == "yaml" || ending == "yml" || ending == "eyaml");
        is_yaml
            || (depth < MAX_DEPTH
                && files.permits(&path)
                && files.is_dir(&path)
                && has_data(files, &path, depth + 1))
    })
}
