//! The files behind `source => 'puppet:///modules/…'`: what is copied to the machine counts as much as what is in the catalog.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use setpoint_catalog::{Catalog, Kind, Resource};
use setpoint_diff::{Served, ServedContent, ServedFile, ServedFiles};
use setpoint_hiera::name_fits;
use setpoint_puppet::{Environment, split_module};
use setpoint_puppet_values::{Data, Value};
use setpoint_source::FileSystem;
use sha2::{Digest, Sha256};

/// Folders are followed so far.
const MAX_DEPTH: usize = 32;

/// The files of one version. What many nodes are given is read once.
#[derive(Debug)]
pub(super) struct FileServer<'a> {
    files: &'a dyn FileSystem,
    known: Mutex<BTreeMap<PathBuf, ServedContent>>,
}

/// How a resource wants its source to be copied.
struct Copying {
    recurses: bool,
    depth: usize,
    ignored: Vec<String>,
    /// Links are followed, and not copied as links.
    follows: bool,
    /// Every source counts, and not only the first that is there.
    takes_all: bool,
}

impl Copying {
    fn of(resource: &Resource) -> Self {
        let text = |name: &str| resource.get(name).map(plain_text).unwrap_or_default();
        let recurse = text("recurse");
        Self {
            recurses: matches!(recurse.as_str(), "true" | "remote"),
            depth: text("recurselimit").parse().unwrap_or(MAX_DEPTH).min(MAX_DEPTH),
            ignored: resource.get("ignore").map(texts).unwrap_or_default(),
            follows: text("links") == "follow",
            takes_all: text("sourceselect") == "all",
        }
    }
}

impl<'a> FileServer<'a> {
    pub(super) fn new(files: &'a dyn FileSystem) -> Self {
        Self { files, known: Mutex::default() }
    }

    /// What each resource of a catalog is given. Sources of modules that are not here, and those of other servers, are
    /// not known and count for nothing.
    pub(super) fn files_of(&self, catalog: &Catalog, environment: &Environment<'_>) -> ServedFiles {
        let mut found = ServedFiles::default();
        for (id, resource) in catalog.iter() {
            // What a define is given, it hands on to resources of its own.
            let is_native = matches!(resource.kind, None | Some(Kind::CompilableType));
            if !is_native || resource.virtual_ {
                continue;
            }
            let Some(sources) = resource.get("source").map(texts) else { continue };
            let copying = Copying::of(resource);
            let mut served = Served::new();
            let mut missing = None;
            for source in sources {
                let Some(path) = module_file(&source, environment) else { continue };
                missing.get_or_insert_with(|| path.display().to_string());
                if !self.files.is_file(&path)
                    && !self.files.is_dir(&path)
                    && self.files.link_target(&path).is_none()
                {
                    continue;
                }
                let mut of_source = Served::new();
                self.add(&path, String::new(), &copying, 0, &mut of_source);
                for (name, file) in of_source {
                    // Of two sources, the first counts.
                    served.entry(name).or_insert(file);
                }
                if !copying.takes_all {
                    break;
                }
            }
            // A module that lacks the file fails the resource, which is no "nothing".
            if let Some(path) = missing.filter(|_| served.is_empty()) {
                let content = ServedContent::Unread("there is no such file".to_owned());
                served.insert(String::new(), ServedFile { path, content });
            }
            if !served.is_empty() {
                found.insert(id, served);
            }
        }
        found
    }

    fn add(&self, path: &Path, name: String, copying: &Copying, depth: usize, served: &mut Served) {
        let file = |content| ServedFile { path: path.display().to_string(), content };
        if !copying.follows
            && let Some(target) = self.files.link_target(path)
        {
            served.insert(name, file(ServedContent::Link(target.display().to_string())));
            return;
        }
        if !self.files.is_dir(path) {
            served.insert(name, file(self.content(path)));
            return;
        }
        if !copying.recurses || depth >= copying.depth {
            return;
        }
        for inner in self.files.list(path) {
            if copying.ignored.iter().any(|pattern| name_fits(pattern, &inner)) {
                continue;
            }
            let below = if name.is_empty() { inner.clone() } else { format!("{name}/{inner}") };
            self.add(&path.join(&inner), below, copying, depth + 1, served);
        }
    }

    fn content(&self, path: &Path) -> ServedContent {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(content) = known.get(path) {
            return content.clone();
        }
        let content = match self.files.read(path) {
            Ok(bytes) => content_of(&bytes),
            Err(error) => ServedContent::Unread(error.reason),
        };
        known.insert(path.to_owned(), content.clone());
        content
    }
}

/// The digest of a file. Where git keeps a pointer in the place of a large file, the pointer says it.
fn content_of(bytes: &[u8]) -> ServedContent {
    pointed_to(bytes).unwrap_or_else(|| ServedContent::Bytes {
        sha256: Sha256::digest(bytes).into(),
        size: bytes.len() as u64,
    })
}

fn pointed_to(bytes: &[u8]) -> Option<ServedContent> {
    let text = bytes.starts_with(b"version https://git-lfs.github.com/spec/").then_some(bytes)?;
    let text = std::str::from_utf8(text).ok()?;
    let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name));
    let digits = field("oid sha256:").filter(|digits| digits.len() == 64 && digits.is_ascii())?;
    let mut sha256 = [0; 32];
    for (at, byte) in sha256.iter_mut().enumerate() {
        *byte = u8::from_str_radix(digits.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(ServedContent::Bytes { sha256, size: field("size ")?.parse().ok()? })
}

/// The text of a file, or a line that tells one content from another; nothing if it is not there.
pub(super) fn readable_text(files: &dyn FileSystem, path: &Path) -> String {
    let Ok(bytes) = files.read(path) else { return String::new() };
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => text,
        Ok(text) => described(text.as_bytes()),
        Err(error) => described(error.as_bytes()),
    }
}

/// A file that nobody reads as text, in one line.
fn described(bytes: &[u8]) -> String {
    let digest = setpoint_diff::hexadecimal(Sha256::digest(bytes).get(..8).unwrap_or_default());
    format!("(binary, {} bytes, sha256 {digest}…)\n", bytes.len())
}

/// The file of a module that a source names.
fn module_file(source: &str, environment: &Environment<'_>) -> Option<PathBuf> {
    let rest = source.strip_prefix("puppet://")?;
    let (_server, path) = rest.split_once('/')?;
    let (module, path) = split_module(path.strip_prefix("modules/")?)?;
    Some(environment.module(module)?.join("files").join(path))
}

fn texts(value: &Value) -> Vec<String> {
    match &value.data {
        Data::Array(items) => items.iter().map(plain_text).collect(),
        _ => vec![plain_text(value)],
    }
}

fn plain_text(value: &Value) -> String {
    match &value.data {
        Data::String(text) => text.to_string(),
        Data::Bool(truth) => truth.to_string(),
        Data::Integer(number) => number.to_string(),
        Data::Sensitive(inner) => plain_text(inner),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pointer_stands_for_the_file_that_it_names() {
        let digits = setpoint_diff::hexadecimal(&Sha256::digest(b"large"));
        let pointer = format!("version https://git-lfs.github.com/spec/v1\noid sha256:{digits}\nsize 5\n");
        assert_eq!(content_of(pointer.as_bytes()), content_of(b"large"));
        assert_ne!(content_of(b"version https://git-lfs.github.com/spec/v1\n"), content_of(b"large"));
    }
}
