//! Data files: read and parsed once, and shared by all nodes.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap};
use setpoint_provenance::{Arena, Leaf, LeafKind};
use setpoint_puppet_values::types::infer;
use setpoint_puppet_values::{Data, Hash, Key, Value};
use setpoint_source::{FileId, FileSystem, Range, Sources, Symbol, read_text};

use crate::{hocon, psych};

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Format {
    Yaml,
    Json,
    Hocon,
}

/// A piece of data that knows its place.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    pub(crate) range: Range,
    pub(crate) kind: Kind,
}

#[derive(Debug, Clone)]
pub(crate) enum Kind {
    Scalar(Value),
    /// A symbol of Ruby: a key may be one, a value may not.
    Symbol(Arc<str>),
    Array(Vec<Item>),
    Hash(Entries),
}

pub(crate) type Entries = IndexMap<Key, Item, FxBuildHasher>;

/// A key at the top of a file.
#[derive(Debug)]
pub(crate) struct Entry {
    item: Item,
    /// The value without provenance and interpolation.
    pub(crate) plain: Value,
    pub(crate) interpolates: bool,
    /// The type of a value that data may not have.
    pub(crate) wrong: Option<String>,
}

/// What a file holds.
#[derive(Debug)]
pub(crate) struct DataFile {
    pub(crate) file: FileId,
    pub(crate) content: Content,
}

/// The keys at the top of a file.
pub(crate) type FileEntries = IndexMap<Key, Entry, FxBuildHasher>;

#[derive(Debug)]
pub(crate) enum Content {
    Hash(FileEntries),
    /// Something else; an empty file is `false` to Ruby.
    NotAHash(Value),
    /// What the reader of the format says.
    Malformed(String),
    /// Why the file cannot be read at all.
    Unreadable(String),
}

impl Entry {
    fn new(item: Item) -> Self {
        let plain = plain(&item);
        let wrong = (!is_rich(&item)).then(|| wrong_type(&item, &plain));
        Self { interpolates: interpolates(&plain), plain, wrong, item }
    }

    /// The value; each part has a leaf of its own.
    pub(crate) fn value(&self, key: Symbol, file: FileId, arena: &mut Arena) -> Value {
        if arena.enabled() { explained(&self.item, key, file, arena) } else { self.plain.clone() }
    }
}

/// The type of a value that holds something of Ruby's own, as Puppet names it.
fn wrong_type(item: &Item, plain: &Value) -> String {
    const SYMBOL: &str = "Runtime[ruby, 'Symbol']";
    let is_symbol = |item: &Item| matches!(item.kind, Kind::Symbol(_));
    match &item.kind {
        Kind::Symbol(_) => SYMBOL.to_owned(),
        Kind::Array(items) if items.iter().any(is_symbol) => {
            let element = if items.iter().all(is_symbol) { SYMBOL } else { "Any" };
            let count = items.len();
            format!("Array[{element}, {count}, {count}]")
        }
        _ => infer(plain).to_string(),
    }
}

fn plain(item: &Item) -> Value {
    match &item.kind {
        Kind::Scalar(value) => value.clone(),
        Kind::Symbol(name) if &**name == "default" => Value::new(Data::Default),
        Kind::Symbol(name) => Value::string(Arc::clone(name)),
        Kind::Array(items) => Value::array(items.iter().map(plain).collect()),
        Kind::Hash(entries) => {
            Value::hash(entries.iter().map(|(key, item)| (key.clone(), plain(item))).collect())
        }
    }
}

fn explained(item: &Item, key: Symbol, file: FileId, arena: &mut Arena) -> Value {
    let leaf =
        arena.leaf(Leaf { kind: LeafKind::Hiera, name: Some(key), span: Some(item.range.in_file(file)) });
    let value = match &item.kind {
        Kind::Scalar(_) | Kind::Symbol(_) => plain(item),
        Kind::Array(items) => {
            Value::array(items.iter().map(|item| explained(item, key, file, arena)).collect())
        }
        Kind::Hash(entries) => {
            let mut hash = Hash::default();
            for (name, item) in entries {
                hash.insert(name.clone(), explained(item, key, file, arena));
            }
            Value::hash(hash)
        }
    };
    value.with(leaf)
}

fn interpolates(value: &Value) -> bool {
    match &value.data {
        Data::String(text) => text.contains("%{"),
        Data::Array(items) => items.iter().any(interpolates),
        Data::Hash(entries) => entries.iter().any(|(key, value)| interpolates(&key.0) || interpolates(value)),
        _ => false,
    }
}

/// Whether data may have such a value.
fn is_rich(item: &Item) -> bool {
    match &item.kind {
        Kind::Scalar(_) => true,
        Kind::Symbol(name) => &**name == "default",
        Kind::Array(items) => items.iter().all(is_rich),
        Kind::Hash(entries) => entries.iter().all(|(key, item)| {
            matches!(key.0.data, Data::String(_) | Data::Integer(_) | Data::Float(_)) && is_rich(item)
        }),
    }
}

/// The files that were read so far.
#[derive(Debug, Default)]
pub(crate) struct DataFiles {
    known: RwLock<FxHashMap<(PathBuf, Format), Arc<DataFile>>>,
}

impl DataFiles {
    pub(crate) fn get(
        &self,
        path: &Path,
        format: Format,
        files: &dyn FileSystem,
        sources: &Sources,
    ) -> Arc<DataFile> {
        let place = (path.to_owned(), format);
        if let Some(known) = self.known.read().unwrap_or_else(PoisonError::into_inner).get(&place) {
            return Arc::clone(known);
        }
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let loaded = known.entry(place).or_insert_with(|| Arc::new(load(path, format, files, sources)));
        Arc::clone(loaded)
    }
}

fn load(path: &Path, format: Format, files: &dyn FileSystem, sources: &Sources) -> DataFile {
    let name = path.to_string_lossy().into_owned();
    let text = match read_text(files, path) {
        Ok(text) => text,
        Err(error) => {
            let file = sources.add(name, "");
            return DataFile { file, content: Content::Unreadable(error.to_string()) };
        }
    };
    let file = sources.add(name.as_str(), text.as_str());
    let read = match format {
        Format::Yaml => psych::read(file, &text, &name),
        Format::Json => psych::read_json(file, &text),
        Format::Hocon => hocon::read(&text),
    };
    let content = match read {
        Err(problem) => Content::Malformed(problem),
        Ok(Item { kind: Kind::Hash(entries), .. }) => {
            Content::Hash(entries.into_iter().map(|(key, item)| (key, Entry::new(item))).collect())
        }
        Ok(item) => Content::NotAHash(plain(&item)),
    };
    DataFile { file, content }
}
