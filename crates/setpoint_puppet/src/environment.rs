//! The files that nodes are compiled from, each read and parsed once.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use rustc_hash::FxHashMap;
use setpoint_catalog::ruby_types::ModuleTypes;
use setpoint_catalog::{Catalog, NativeType};
use setpoint_hiera::{Hiera, Levels};
use setpoint_puppet_functions::{FailureKind, Function, RubyFile, Stop};
use setpoint_puppet_syntax::ast::{self, ExprKind, Program};
use setpoint_puppet_values::Value;
use setpoint_source::{
    Diagnostic, FileError, FileId, FileSystem, Rule, Severity, Sources, Symbol, normal, read_text,
};

/// A manifest, parsed. It is shared by all nodes that are compiled from it.
#[derive(Debug)]
pub struct Manifest {
    pub file: FileId,
    pub program: Program,
    /// Inner definitions come before the class that holds them, as Puppet registers them.
    pub definitions: Vec<Definition>,
    pub diagnostics: Vec<Diagnostic>,
}

impl Manifest {
    /// Whether the text can be evaluated.
    pub fn is_sound(&self) -> bool {
        self.diagnostics.iter().all(|diagnostic| diagnostic.severity < Severity::Error)
    }
}

/// What a manifest defines, as opposed to what it does.
#[derive(Debug, Clone)]
pub enum Definition {
    Class(Arc<ast::ClassDef>),
    Define(Arc<ast::DefineDef>),
    Node(Arc<ast::NodeDef>),
    Function(Arc<ast::FunctionDef>),
    TypeAlias(Arc<ast::TypeAliasDef>),
}

/// Where manifests and modules come from. Nodes can be compiled over one environment in parallel.
#[derive(Debug)]
pub struct Environment<'a> {
    pub files: &'a dyn FileSystem,
    pub sources: &'a Sources,
    pub name: String,
    modulepath: Vec<PathBuf>,
    /// Modules that lie elsewhere, or under another name.
    given: BTreeMap<String, PathBuf>,
    /// Modules that are not there, though something says that they should be, and what to do about each.
    expected: BTreeMap<String, String>,
    names: OnceLock<Vec<String>>,
    types: ModuleTypes<'a>,
    /// Providers of core types that modules bring along, by type.
    providers: OnceLock<Vec<Provider>>,
    manifests: RwLock<FxHashMap<PathBuf, Parsed>>,
    /// Templates and other texts that functions read, each once for all nodes: what they have in common is at one place.
    texts: RwLock<FxHashMap<String, (Arc<str>, FileId)>>,
    modules: RwLock<FxHashMap<String, Option<Arc<Path>>>>,
    hiera: Hiera<'a>,
    /// The functions of modules in Ruby, by name.
    functions: RwLock<FxHashMap<String, Option<RubyFunction>>>,
    /// Files of Ruby, parsed.
    ruby: RwLock<FxHashMap<PathBuf, Arc<RubyFile>>>,
    stand_in: StandIn,
}

/// Where a function that is known here stands for that of a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StandIn {
    /// Where the file of the module is one that it was compared with.
    WhereCompared,
    /// Whatever the file says: to compare what is known with Puppet.
    Always,
    /// Nowhere: to compare what the files do with Puppet.
    Never,
}

/// A function that a module has in Ruby.
#[derive(Debug, Clone)]
pub struct RubyFunction {
    pub module: Arc<str>,
    /// The file that defines it.
    pub path: Arc<Path>,
    /// What is known here to do the same as that file.
    pub known: Option<&'static Function>,
}

/// A file of a module with a provider of one of Puppet's own types.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Provider {
    of: String,
    path: PathBuf,
    /// Puppet may choose it where no resource names it.
    may_be_default: bool,
}

impl Provider {
    fn name(&self) -> &str {
        self.path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default()
    }
}

/// Where functions in Ruby are: those of Puppet's present interface, and those of the older one.
const RUBY_FOLDERS: [&str; 2] = ["lib/puppet/functions", "lib/puppet/parser/functions"];

type Parsed = Result<Arc<Manifest>, FileError>;

impl<'a> Environment<'a> {
    pub fn new(files: &'a dyn FileSystem, sources: &'a Sources) -> Self {
        Self {
            files,
            sources,
            name: "production".to_owned(),
            types: ModuleTypes::new(files, Vec::new()),
            providers: OnceLock::new(),
            modulepath: Vec::new(),
            given: BTreeMap::new(),
            expected: BTreeMap::new(),
            names: OnceLock::new(),
            manifests: RwLock::default(),
            texts: RwLock::default(),
            modules: RwLock::default(),
            functions: RwLock::default(),
            ruby: RwLock::default(),
            stand_in: StandIn::WhereCompared,
            hiera: Hiera::new(files, sources, Levels::default()),
        }
    }

    pub fn with_modulepath(mut self, modulepath: Vec<PathBuf>) -> Self {
        self.modulepath = modulepath;
        self.types = self.new_types();
        self
    }

    /// The data above the modules: the global `hiera.yaml`, and that of the environment. Modules bring their own data.
    pub fn with_hiera(mut self, levels: Levels) -> Self {
        self.hiera = Hiera::new(self.files, self.sources, levels);
        self
    }

    /// Where parameters of classes and `lookup()` find data.
    pub fn hiera(&self) -> &Hiera<'a> {
        &self.hiera
    }

    /// Modules by name that come before those of the module path.
    pub fn with_modules(mut self, modules: BTreeMap<String, PathBuf>) -> Self {
        self.given = modules;
        self.types = self.new_types();
        self
    }

    /// Modules that something names and that are not there; messages about their classes say what is to be done.
    pub fn with_expected_modules(mut self, expected: BTreeMap<String, String>) -> Self {
        self.expected = expected;
        self.types = self.new_types();
        self
    }

    fn new_types(&self) -> ModuleTypes<'a> {
        ModuleTypes::new(self.files, self.modulepath.clone())
            .with_modules(self.given.values().cloned().collect())
            .lacking_modules(!self.expected.is_empty())
    }

    /// The names of the modules that something names and that are not there.
    pub fn expected_modules(&self) -> impl Iterator<Item = &str> {
        self.expected.keys().map(String::as_str)
    }

    /// What to do about a module that should be there and is not.
    pub fn expected_module(&self, name: &str) -> Option<&str> {
        self.expected.get(name).map(String::as_str)
    }

    /// The names of all modules, each once, in the order in which they are found.
    pub fn module_names(&self) -> &[String] {
        self.names.get_or_init(|| self.list_modules())
    }

    fn list_modules(&self) -> Vec<String> {
        let listed = self.modulepath.iter().flat_map(|folder| {
            let is_module = |name: &String| is_module_name(name) && self.files.is_dir(&folder.join(name));
            self.files.list(folder).into_iter().filter(is_module)
        });
        let mut names: Vec<String> = Vec::new();
        for name in self.given.keys().cloned().chain(listed) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// The module that a file belongs to, and its path below the folder of the module.
    pub fn module_of<'p>(&self, path: &'p Path) -> Option<(String, &'p Path)> {
        let given = self.given.iter().filter_map(|(name, folder)| {
            path.strip_prefix(folder).ok().map(|relative| (name.clone(), relative))
        });
        let on_path = self.modulepath.iter().filter_map(|folder| {
            let relative = path.strip_prefix(folder).ok()?;
            let name = relative.iter().next()?;
            Some((name.to_string_lossy().into_owned(), relative.strip_prefix(name).ok()?))
        });
        // A module may hold others, as its fixtures: the innermost counts.
        given.chain(on_path).min_by_key(|(_, relative)| relative.as_os_str().len())
    }

    pub fn modulepath(&self) -> &[PathBuf] {
        &self.modulepath
    }

    /// The manifest at a path; parsed on first use.
    pub fn manifest(&self, path: &Path) -> Parsed {
        let known = self.manifests.read().unwrap_or_else(PoisonError::into_inner).get(path).cloned();
        if let Some(parsed) = known {
            return parsed;
        }
        let parsed = read_text(self.files, path).map(|text| self.parse(&path.to_string_lossy(), &text));
        let mut manifests = self.manifests.write().unwrap_or_else(PoisonError::into_inner);
        manifests.entry(path.to_owned()).or_insert(parsed).clone()
    }

    /// The source that a text is, which another node may have read before.
    pub(crate) fn source_of(&self, name: &str, text: &str) -> FileId {
        let known = self.texts.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned();
        if let Some((known, file)) = known
            && *known == *text
        {
            return file;
        }
        let mut texts = self.texts.write().unwrap_or_else(PoisonError::into_inner);
        let (known, file) = texts.entry(name.to_owned()).or_insert_with(|| {
            let text: Arc<str> = text.into();
            (Arc::clone(&text), self.sources.add(name, text))
        });
        // Another text of that name: pieces of code have none of their own.
        if **known == *text { *file } else { self.sources.add(name, text) }
    }

    /// A manifest that is no file: a piece of code from a command line or an editor.
    pub fn parse(&self, name: &str, text: &str) -> Arc<Manifest> {
        let file = self.sources.add(name, text);
        let parse = setpoint_puppet_syntax::parse(file, text);
        let mut definitions = Vec::new();
        collect_definitions(&parse.program.body, &mut definitions);
        Arc::new(Manifest { file, program: parse.program, definitions, diagnostics: parse.diagnostics })
    }

    /// The folder of a module: the first of its name on the module path.
    pub fn module(&self, name: &str) -> Option<Arc<Path>> {
        let known = self.modules.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned();
        if let Some(found) = known {
            return found;
        }
        let found = is_module_name(name)
            .then(|| {
                let on_path = || self.modulepath.iter().map(|folder| folder.join(name));
                let given = self.given.get(name).cloned();
                given.or_else(|| on_path().find(|path| self.files.is_dir(path)))
            })
            .flatten()
            .map(Arc::from);
        let mut modules = self.modules.write().unwrap_or_else(PoisonError::into_inner);
        modules.entry(name.to_owned()).or_insert(found).clone()
    }

    /// Where functions that are known here stand for those of modules.
    pub fn with_stand_in(mut self, stand_in: StandIn) -> Self {
        self.stand_in = stand_in;
        self
    }

    /// The function of this name that a module on the path has in Ruby.
    pub fn ruby_function(&self, name: &str) -> Option<RubyFunction> {
        let known = self.functions.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned();
        if let Some(found) = known {
            return found;
        }
        let found = self.find_ruby_function(name, &RUBY_FOLDERS);
        let mut functions = self.functions.write().unwrap_or_else(PoisonError::into_inner);
        functions.entry(name.to_owned()).or_insert(found).clone()
    }

    /// The same among the functions of Puppet's older interface.
    pub fn legacy_function(&self, name: &str) -> Option<RubyFunction> {
        self.find_ruby_function(name, &RUBY_FOLDERS[1..])
    }

    fn find_ruby_function(&self, name: &str, folders: &[&str]) -> Option<RubyFunction> {
        if let Some((module, _)) = name.split_once("::") {
            return self.ruby_function_in(module, name, folders);
        }
        // All modules are asked for a function of the present interface before one is asked for an older one.
        let find = |folder: &&str| {
            let mut modules = self.module_names().iter();
            modules.find_map(|module| self.ruby_function_in(module, name, &[folder]))
        };
        let hidden = || folders.contains(&RUBY_FOLDERS[1]).then(|| self.hidden_function(name)).flatten();
        folders.iter().find_map(find).or_else(hidden)
    }

    /// A function of the older interface in a module that another one of its name hides: Puppet's loader of that interface looks
    /// into every folder of the module path.
    fn hidden_function(&self, name: &str) -> Option<RubyFunction> {
        let file = format!("{}/{name}.rb", RUBY_FOLDERS[1]);
        let in_folder = |folder: &PathBuf| {
            let modules = self.files.list(folder).into_iter();
            let mut found = modules.map(|module| (folder.join(&module).join(&file), module));
            found.find(|(path, _)| self.files.has_file(path))
        };
        let (path, module) = self.modulepath.iter().find_map(in_folder)?;
        let known = self.known_function(&module, name, &path);
        Some(RubyFunction { module: Arc::from(module.as_str()), path: Arc::from(path), known })
    }

    fn ruby_function_in(&self, module: &str, name: &str, folders: &[&str]) -> Option<RubyFunction> {
        let folder = if module == "environment" {
            self.hiera.levels().environment.clone()?
        } else {
            self.module(module)?.to_path_buf()
        };
        let file = format!("{}.rb", name.replace("::", "/"));
        let mut paths = folders.iter().map(|kind| folder.join(kind).join(&file));
        let path = paths.find(|path| self.files.has_file(path))?;
        let known = self.known_function(module, name, &path);
        Some(RubyFunction { module: Arc::from(module), path: Arc::from(path), known })
    }

    /// What is known here to do the same as a file of a module.
    fn known_function(&self, module: &str, name: &str, path: &Path) -> Option<&'static Function> {
        // This one asks for the environment of the process, and others call it.
        if self.stand_in == StandIn::Never && name != "deprecation" {
            return None;
        }
        // Most functions of modules are not known by any name, and their files need not be read for that.
        let candidate = setpoint_puppet_functions::candidate(module, name)?;
        if self.stand_in != StandIn::WhereCompared {
            return Some(candidate);
        }
        let text = read_text(self.files, path).ok()?;
        let folder = path.parent()?;
        let beside = setpoint_puppet_functions::required_beside(&text).map(|name| {
            let file = folder.join(name.strip_suffix(".rb").unwrap_or(name)).with_extension("rb");
            read_text(self.files, &file).ok()
        });
        let beside = beside.collect::<Option<Vec<String>>>()?;
        let texts: Vec<String> = std::iter::once(text).chain(beside).collect();
        setpoint_puppet_functions::module_function(module, name, &texts)
    }

    /// A file of Ruby, parsed on first use.
    pub fn ruby_file(&self, path: &Path) -> Result<Arc<RubyFile>, FileError> {
        let known = self.ruby.read().unwrap_or_else(PoisonError::into_inner).get(path).cloned();
        if let Some(parsed) = known {
            return Ok(parsed);
        }
        let text = read_text(self.files, path)?;
        let parsed = Arc::new(RubyFile::parse(path, &text));
        let mut files = self.ruby.write().unwrap_or_else(PoisonError::into_inner);
        Ok(Arc::clone(files.entry(path.to_owned()).or_insert(parsed)))
    }

    /// A file that Ruby would find by this name in the `lib` of some module, or of the environment.
    pub fn library_file(&self, name: &str) -> Option<PathBuf> {
        let file = format!("{}.rb", name.strip_suffix(".rb").unwrap_or(name));
        let of_environment = self.hiera.levels().environment.iter().map(|folder| folder.join("lib"));
        let of_modules =
            self.module_names().iter().filter_map(|module| Some(self.module(module)?.join("lib")));
        of_environment.chain(of_modules).map(|lib| lib.join(&file)).find(|path| self.files.is_file(path))
    }

    /// A native type that a module brings along. A file that ends in the middle of a construct is refused by Ruby, and so by
    /// Puppet where the type is first used.
    pub fn module_type(&self, name: &str) -> Result<Option<&'static NativeType>, Stop> {
        let Some(found) = self.types.find(name) else { return Ok(None) };
        if self.ruby_file(found.path).is_ok_and(|file| file.is_cut_off()) {
            let message = format!(
                "Could not autoload puppet/type/{name}: {} ends in the middle of a construct: an `end` is missing",
                found.path.display()
            );
            let broken = Diagnostic::new(Rule::SyntaxError, message);
            return Err(FailureKind::Reported(Box::new(broken)).unplaced());
        }
        Ok(Some(found.native))
    }

    /// The files of the types of a catalog that hold Ruby which is not understood: what they do is not known, nor whether Ruby
    /// takes them.
    pub fn types_not_understood(&self, catalog: &Catalog) -> BTreeSet<&'static Path> {
        let names: BTreeSet<Symbol> = catalog.iter().map(|(_, resource)| resource.type_name).collect();
        let of_modules = names.iter().filter(|name| setpoint_catalog::native_type(name).is_none());
        let paths = of_modules.filter_map(|name| self.types.find(name)).map(|found| found.path);
        paths.filter(|path| !self.ruby_file(path).is_ok_and(|file| file.is_sound())).collect()
    }

    /// The files of modules that Puppet takes for its own types of the catalog. The modules that Puppet's agent ships are its own.
    pub fn replaced_types(&self, catalog: &Catalog) -> Vec<(&'static str, &'static Path)> {
        let names: BTreeSet<Symbol> = catalog.iter().map(|(_, resource)| resource.type_name).collect();
        let natives = names.iter().filter_map(|name| setpoint_catalog::native_type(name));
        let replaced = natives.filter_map(|native| {
            let path = self.types.find(native.name)?.path;
            let is_own = native.module.is_some_and(|module| self.is_shipped_in(module, path));
            (!is_own).then_some((native.name, path))
        });
        replaced.collect()
    }

    /// The files of modules that bring a provider of a core type of the catalog which Puppet may choose: what the resources of
    /// that type do is then theirs to decide.
    pub fn module_providers(&self, catalog: &Catalog) -> Vec<(&str, &Path)> {
        let mut used: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
        for (_, resource) in catalog.iter() {
            let chosen = used.entry(resource.type_name.to_lowercase()).or_default();
            chosen.extend(resource.get("provider").and_then(Value::as_str));
        }
        let all = self.providers.get_or_init(|| self.find_providers()).iter();
        let may_be_chosen = |one: &&Provider| {
            let is_asked = |chosen: &BTreeSet<&str>| one.may_be_default || chosen.contains(one.name());
            used.get(&one.of).is_some_and(is_asked)
        };
        all.filter(may_be_chosen).map(|one| (one.of.as_str(), one.path.as_path())).collect()
    }

    fn find_providers(&self) -> Vec<Provider> {
        let folders = self
            .module_names()
            .iter()
            .filter_map(|name| Some(self.module(name)?.join("lib/puppet/provider")));
        let mut found = Vec::new();
        for folder in folders.filter(|folder| self.files.is_dir(folder)) {
            for of in self.files.list(&folder) {
                let Some(native) = setpoint_catalog::native_type(&of) else { continue };
                // Types that the agent ships in modules have their providers there.
                if native.module.is_some_and(|module| self.is_shipped_in(module, &folder)) {
                    continue;
                }
                for file in self.files.list(&folder.join(&of)) {
                    let path = folder.join(&of).join(file);
                    if path.extension().is_none_or(|ending| ending != "rb") {
                        continue;
                    }
                    let one = Provider { of: of.clone(), path, may_be_default: false };
                    // A file with the name of one of Puppet's own providers takes its place.
                    let may_be_default = native.providers.contains(&one.name())
                        || read_text(self.files, &one.path).is_ok_and(|text| text.contains("defaultfor"));
                    found.push(Provider { may_be_default, ..one });
                }
            }
        }
        found.sort();
        found
    }

    /// Whether a path lies in a module that Puppet's agent ships: `mount_core`, also called `mount`.
    fn is_shipped_in(&self, module: &str, path: &Path) -> bool {
        [module.to_owned(), format!("{module}_core")]
            .iter()
            .any(|module| self.module(module).is_some_and(|folder| path.starts_with(&*folder)))
    }

    /// The native types of the modules.
    pub fn module_types(&self) -> &ModuleTypes<'a> {
        &self.types
    }

    /// Whether a path lies in the environment or in a module, with all links followed, or is permitted besides.
    pub fn is_input(&self, path: &Path) -> bool {
        // A relative folder is below no absolute one, and the empty one is no prefix of everything.
        let path = &normal(path);
        let is_below = |folder: &Path| {
            folder.is_absolute() == path.is_absolute()
                && path.starts_with(normal(folder))
                && !path.components().any(|part| part == Component::ParentDir)
        };
        let is_of_project = self.modulepath.iter().chain(self.given.values()).any(|folder| is_below(folder))
            || self.hiera.levels().environment.as_deref().is_some_and(is_below);
        (is_of_project && self.files.permits(path))
            || self.files.bounds().is_some_and(|bounds| bounds.permit_besides(path))
    }

    /// Whether `module/path` in a folder of the module, or an absolute path, leads outside, by `..` or by a link.
    pub fn is_outside(&self, folder: &str, name: &str) -> bool {
        if Path::new(name).is_absolute() {
            return !self.is_input(Path::new(name));
        }
        self.path_in_module(folder, name).is_some_and(|path| !self.files.permits(&path))
    }

    /// A file of a folder of a module: `module/path`, or an absolute path, if it exists.
    pub fn module_file(&self, folder: &str, name: &str) -> Option<PathBuf> {
        self.path_in_module(folder, name).filter(|path| self.files.is_file(path))
    }

    /// The same for a file or a folder.
    pub fn module_path(&self, folder: &str, name: &str) -> Option<PathBuf> {
        let exists = |path: &PathBuf| self.files.is_file(path) || self.files.is_dir(path);
        self.path_in_module(folder, name).filter(exists)
    }

    fn path_in_module(&self, folder: &str, name: &str) -> Option<PathBuf> {
        let path = Path::new(name);
        if path.is_absolute() {
            return self.is_input(path).then(|| path.to_owned());
        }
        let (module, rest) = split_module(name)?;
        Some(self.module(module)?.join(folder).join(rest))
    }

    /// Every manifest under a folder, in the order in which Puppet reads them.
    pub fn manifests_under(&self, folder: &Path) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for name in self.files.list(folder) {
            let path = folder.join(&name);
            if self.files.is_dir(&path) {
                found.extend(self.manifests_under(&path));
            } else if path.extension().is_some_and(|extension| extension == "pp") {
                found.push(path);
            }
        }
        found
    }
}

fn is_module_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

/// Definitions stand at the top of a manifest or directly in a class.
fn collect_definitions(body: &[ast::Expr], found: &mut Vec<Definition>) {
    for statement in body {
        match &statement.kind {
            ExprKind::Class(class) => {
                collect_definitions(&class.body, found);
                found.push(Definition::Class(Arc::clone(class)));
            }
            ExprKind::Define(define) => found.push(Definition::Define(Arc::clone(define))),
            ExprKind::Node(node) => found.push(Definition::Node(Arc::clone(node))),
            ExprKind::Function(function) => found.push(Definition::Function(Arc::clone(function))),
            ExprKind::TypeAlias(alias) => found.push(Definition::TypeAlias(Arc::clone(alias))),
            _ => {}
        }
    }
}

/// Splits `module/path`. An empty variable leaves `//` behind, which Puppet takes for one separator.
pub fn split_module(name: &str) -> Option<(&str, &str)> {
    name.split_once('/').map(|(module, path)| (module, path.trim_start_matches('/')))
}
