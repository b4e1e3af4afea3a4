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
mod validation;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use setpoint_source::{FileSystem, read_text};

use crate::graph::Types;
use crate::{NativeType, native_type};

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
}

/// The native types of a module path: what Puppet's agent ships, and what the modules declare. Files are read when a
/// type is asked for, each once.
#[derive(Debug)]
pub struct ModuleTypes<'a> {
    files: &'a dyn FileSystem,
    modulepath: Vec<PathBuf>,
    /// The folders of modules that are on no path.
    modules: Vec<PathBuf>,
    /// The folders `lib/puppet/type` of all modules, in the order of the path.
    folders: OnceLock<Vec<PathBuf>>,
    /// By name in lower case. Types live as long as the program does; there are as many as files in the modules.
    known: Mutex<BTreeMap<String, Option<Found>>>,
}

impl<'a> ModuleTypes<'a> {
    pub fn new(files: &'a dyn FileSystem, modulepath: Vec<PathBuf>) -> Self {
        Self { files, modulepath, modules: Vec::new(), folders: OnceLock::new(), known: Mutex::default() }
    }

    /// Folders of single modules, which come before those of the path.
    pub fn with_modules(mut self, modules: Vec<PathBuf>) -> Self {
        self.modules = modules;
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
        let RubyType { native, unread } = read(&text).unwrap_or_else(|| unreadable(name));
        Some(Found { native: Box::leak(Box::new(native)), path: leak_path(path), unread: Vec::leak(unread) })
    }

    fn all_modules(&self) -> impl Iterator<Item = PathBuf> {
        let listed = self
            .modulepath
            .iter()
            .flat_map(|folder| self.files.list(folder).into_iter().map(move |name| folder.join(name)));
        self.modules.iter().cloned().chain(listed)
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
        code: None,
    };
    RubyType { native, unread: vec![Unread { line: 1, what: "the whole type".to_owned() }] }
}

fn leak_path(path: PathBuf) -> &'static Path {
    Box::leak(path.into_boxed_path())
}

impl Types for ModuleTypes<'_> {
    fn native(&self, name: &str) -> Option<&NativeType> {
        native_type(name).or_else(|| self.find(name).map(|found| found.native))
    }

    fn has_more_providers(&self, name: &str) -> bool {
        let folder = Path::new("lib/puppet/provider").join(name);
        self.all_modules().any(|module| self.files.is_dir(&module.join(&folder)))
    }
}
