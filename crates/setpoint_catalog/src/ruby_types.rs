//! Resource types that modules declare in Ruby, read without running Ruby.
//!
//! The reader is tolerant: it understands the declarations of parameters, properties, namevars, allowed values, title
//! patterns and automatic relationships as people write them, and passes over all other code. What it could not read is
//! told in [`RubyType::unread`]; a type whose parameters it does not all know accepts any.

mod lexer;
mod names;
mod resource_api;
mod tree;
mod type_file;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use setpoint_puppet_functions::{GivenResource, NotRun, RubyFile, TypeAnswer, judge_resources};
use setpoint_puppet_values::Value;
use setpoint_source::{FileSystem, read_text};

use crate::graph::{Providers, Types};
use crate::{NativeType, Resource, is_metaparameter, native_type};

/// A type of a module, and what of it is not understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RubyType {
    pub native: NativeType,
    pub unread: Vec<Unread>,
}

/// Something that the reader passed over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    pub line: u32,
    /// In a few words: `an automatic require of file`.
    pub what: String,
}

/// Reads the file of a type (`lib/puppet/type/NAME.rb`). `None` if it declares none that can be found.
pub fn read(text: &str) -> Option<RubyType> {
    let tree = tree::Tree::new(lexer::tokens(text));
    type_file::read(&tree).or_else(|| resource_api::read(&tree))
}

/// A type of a module as it was found.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    pub native: &'static NativeType,
    pub path: &'static Path,
    pub unread: &'static [Unread],
    /// The code that judges resources; a type of the Resource API has none.
    code: Option<&'static RubyFile>,
}

/// The native types of a module path: what Puppet's agent ships, and what the modules declare. Files are read when a
/// type is asked for, each once.
#[derive(Debug)]
pub struct ModuleTypes<'a> {
    files: &'a dyn FileSystem,
    modulepath: Vec<PathBuf>,
    /// The folders of modules that are on no path.
    modules: Vec<PathBuf>,
    /// Modules are missing that may bring types and providers.
    lacks_modules: bool,
    /// The folders `lib/puppet/type` of all modules, in the order of the path.
    folders: OnceLock<Vec<PathBuf>>,
    /// By name in lower case. Types live as long as the program does; there are as many as files in the modules.
    known: Mutex<BTreeMap<String, Option<Found>>>,
    /// What the modules provide, by the name of the type.
    providers: Mutex<BTreeMap<String, Arc<Providers>>>,
}

impl<'a> ModuleTypes<'a> {
    pub fn new(files: &'a dyn FileSystem, modulepath: Vec<PathBuf>) -> Self {
        Self {
            files,
            modulepath,
            modules: Vec::new(),
            lacks_modules: false,
            folders: OnceLock::new(),
            known: Mutex::default(),
            providers: Mutex::default(),
        }
    }

    /// Folders of single modules, which come before those of the path.
    pub fn with_modules(mut self, modules: Vec<PathBuf>) -> Self {
        self.modules = modules;
        self
    }

    /// Modules are missing that may bring providers of any type.
    pub fn lacking_modules(mut self, are_missing: bool) -> Self {
        self.lacks_modules = are_missing;
        self
    }

    /// A type of a module, by a name in any case.
    pub fn find(&self, name: &str) -> Option<Found> {
        let name = name.to_lowercase();
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            return None;
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known.get(&name) {
            return *found;
        }
        let found = self.load(&name);
        known.insert(name, found);
        found
    }

    /// The types that were found in modules so far, by name.
    pub fn loaded(&self) -> Vec<Found> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.values().flatten().copied().collect()
    }

    fn load(&self, name: &str) -> Option<Found> {
        let file = format!("{name}.rb");
        let path =
            self.folders().iter().map(|folder| folder.join(&file)).find(|path| self.files.has_file(path))?;
        let text = read_text(self.files, &path).ok()?;
        let tree = tree::Tree::new(lexer::tokens(&text));
        let declared = type_file::read(&tree);
        let code = declared.is_some().then(|| &*Box::leak(Box::new(RubyFile::parse(&path, &text))));
        let read = declared.or_else(|| resource_api::read(&tree));
        // Puppet finds no type in a file that declares one of another name, unless other code declares it.
        let read = read.filter(|read| read.native.name == name);
        let RubyType { native, unread } = read.unwrap_or_else(|| unreadable(name));
        let native = Box::leak(Box::new(native));
        Some(Found { native, path: leak_path(path), unread: Vec::leak(unread), code })
    }

    fn all_modules(&self) -> impl Iterator<Item = PathBuf> {
        let listed = self
            .modulepath
            .iter()
            .flat_map(|folder| self.files.list(folder).into_iter().map(move |name| folder.join(name)));
        self.modules.iter().cloned().chain(listed)
    }

    /// A resource as an agent hands it to its type: with what its title says, and without metaparameters of Puppet's own.
    fn given<'r>(&self, native: &NativeType, resource: &'r Resource) -> GivenResource<'r> {
        let is_own = |name: &str| native.attribute(name).is_some() || !is_metaparameter(name);
        let given =
            resource.parameters.iter().filter(|one| !one.value.is_undef() && is_own(one.name.as_str()));
        let mut parameters: Vec<(String, Value)> = given
            .map(|one| {
                let name = one.name.as_str();
                let is_alias = name == "name" && native.attribute(name).is_none();
                (if is_alias { native.namevar() } else { name }.to_owned(), one.value.clone())
            })
            .collect();
        for name in native.namevars.iter() {
            if parameters.iter().all(|(given, _)| given != name)
                && let Some(text) = native.key_value(resource, name)
            {
                parameters.push(((*name).to_owned(), Value::string(text)));
            }
        }
        let provider = resource.get("provider").and_then(Value::as_str);
        let known = self.providers(native.name);
        let features = provider.and_then(|provider| known.features.get(provider).cloned());
        GivenResource { title: &resource.title, parameters, features }
    }

    /// Reads the providers of a type that modules have, and those that its own file declares.
    fn read_providers(&self, of: &str) -> Providers {
        let mut found = Providers { features: BTreeMap::new(), is_whole: !self.lacks_modules };
        let type_file = format!("{of}.rb");
        let own = self.folders().iter().map(|folder| folder.join(&type_file));
        for path in own.filter(|path| self.files.has_file(path)) {
            found.read(self.files, &path, true);
        }
        let folder = Path::new("lib/puppet/provider").join(of);
        for folder in self.all_modules().map(|module| module.join(&folder)) {
            for name in self.files.list(&folder).iter().filter(|name| is_ruby(name)) {
                found.read(self.files, &folder.join(name), false);
            }
        }
        found
    }

    /// A file that Ruby finds by a name: in the `lib` of some module.
    fn library_file(&self, name: &str) -> Option<PathBuf> {
        let name = if is_ruby(name) { name.to_owned() } else { format!("{name}.rb") };
        self.all_modules().map(|module| module.join("lib").join(&name)).find(|path| self.files.has_file(path))
    }

    fn folders(&self) -> &[PathBuf] {
        self.folders.get_or_init(|| {
            self.all_modules()
                .map(|module| module.join("lib/puppet/type"))
                .filter(|folder| self.files.is_dir(folder))
                .collect()
        })
    }
}

impl Providers {
    /// Reads a file; that of a type need not have a provider.
    fn read(&mut self, files: &dyn FileSystem, path: &Path, is_type: bool) {
        let Ok(text) = read_text(files, path) else {
            self.is_whole = false;
            return;
        };
        let tree = tree::Tree::new(lexer::tokens(&text));
        let (names, is_whole) = tree.provided();
        self.is_whole &= is_whole && (is_type || !names.is_empty());
        let features = tree.claimed_features();
        self.features.extend(names.into_iter().map(|name| (name, features.clone())));
    }
}

/// A file that is there and declares nothing that can be read: its type takes any parameter.
fn unreadable(name: &str) -> RubyType {
    let native = NativeType {
        name: setpoint_source::Symbol::new(name).as_str(),
        module: None,
        attributes: std::borrow::Cow::Borrowed(&[]),
        namevars: std::borrow::Cow::Borrowed(&["name"]),
        title_patterns: std::borrow::Cow::Borrowed(&[]),
        isomorphic: true,
        refreshes: false,
        providers: std::borrow::Cow::Borrowed(&[]),
        auto: std::borrow::Cow::Borrowed(&[]),
        open: true,
    };
    RubyType { native, unread: vec![Unread { line: 1, what: "the whole type".to_owned() }] }
}

fn is_ruby(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|end| end == "rb")
}

fn leak_path(path: PathBuf) -> &'static Path {
    Box::leak(path.into_boxed_path())
}

impl Types for ModuleTypes<'_> {
    fn native(&self, name: &str) -> Option<&NativeType> {
        native_type(name).or_else(|| self.find(name).map(|found| found.native))
    }

    fn judge(&self, name: &str, resources: &[&Resource]) -> Option<Result<Vec<Vec<TypeAnswer>>, NotRun>> {
        let found = self.find(name).filter(|_| native_type(name).is_none())?;
        let given: Vec<GivenResource<'_>> =
            resources.iter().map(|resource| self.given(found.native, resource)).collect();
        let library = |name: &str| self.library_file(name);
        Some(judge_resources(found.code?, self.files, &library, &given))
    }

    fn providers(&self, name: &str) -> Arc<Providers> {
        let mut known = self.providers.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(known.entry(name.to_owned()).or_insert_with(|| Arc::new(self.read_providers(name))))
    }
}
