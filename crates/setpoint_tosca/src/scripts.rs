//! Files that operations run and artifacts bring.

use std::path::{Path, PathBuf};

use setpoint_data::{Entry, Node};
use setpoint_source::{FileId, FileSystem, Range, Span, Symbol, normal};

use crate::grammar::is_call;
use crate::omission::{Omission, Omitted};
use crate::types::{named_items, operation_entries};

/// A file that a template or a type of nodes or relationships names.
#[derive(Debug, Clone)]
pub(crate) struct Script {
    /// The template or type.
    pub(crate) of: Symbol,
    pub(crate) target: String,
    /// Where it was looked for; nothing if a repository has it, or a function gives its name.
    path: Option<PathBuf>,
    span: Span,
}

/// Finds the files of the operations and artifacts of a template or a type, and of the relationships inside its requirements.
pub(crate) fn find(file: FileId, folder: &Path, of: Symbol, node: &Node) -> Vec<Script> {
    let mut out = Vec::new();
    let mut add = |target: &str, elsewhere: bool, range: Range| {
        let path = (!elsewhere && !target.contains("://")).then(|| normal(&folder.join(target)));
        out.push(Script { of, target: target.to_owned(), path, span: range.in_file(file) });
    };
    let artifacts = node.get("artifacts").map(Node::entries).unwrap_or_default();
    for Entry { value, .. } in artifacts {
        let named = value.get("file").unwrap_or(value);
        if let Some(target) = named.text().filter(|text| !text.is_empty()) {
            add(target, value.get("repository").is_some(), named.range);
        } else if let [Entry { key, .. }] = named.entries()
            && is_call(named)
        {
            add(&format!("{{ {}: … }}", key.text().unwrap_or_default()), true, named.range);
        }
    }
    let mut interfaces: Vec<&Node> = node.get("interfaces").into_iter().collect();
    for (_, requirement) in named_items(node.get("requirements")) {
        interfaces.extend(requirement.get("relationship").and_then(|one| one.get("interfaces")));
    }
    for interface in interfaces.into_iter().flat_map(Node::entries) {
        for implementation in implementations(&interface.value) {
            let named = implementation.get("file").unwrap_or(implementation);
            let is_elsewhere = implementation.get("repository").is_some();
            if let Some(target) = named.text().filter(|text| !text.is_empty()) {
                add(target, is_elsewhere, named.range);
            }
        }
    }
    out
}

/// What the operations of an interface run: each a name, or a mapping with a `file`.
fn implementations(interface: &Node) -> Vec<&Node> {
    let mut out = Vec::new();
    for Entry { value, .. } in operation_entries(interface) {
        let named = value.get("implementation").or_else(|| value.text().map(|_| value));
        let Some(named) = named.filter(|named| !named.is_null()) else { continue };
        match named.get("primary") {
            Some(primary) => out.push(primary),
            None if named.get("dependencies").is_none() => out.push(named),
            None => {}
        }
        out.extend(named.get("dependencies").map(Node::items).unwrap_or_default());
    }
    out
}

impl Script {
    /// Returns what is in the file, if it is there.
    pub(crate) fn content(&self, files: &dyn FileSystem, root: &Path) -> Option<Vec<u8>> {
        let beside = self.path.as_ref().and_then(|path| files.read(path).ok());
        beside.or_else(|| files.read(&self.of_root(root)).ok())
    }

    /// The path from the folder of the service template; a leading `/` means that folder.
    fn of_root(&self, root: &Path) -> PathBuf {
        normal(&root.join(self.target.trim_start_matches('/')))
    }

    /// Returns what is not there of it: beside its file, or in the folder of the service template, where some tools look.
    pub(crate) fn check(&self, files: &dyn FileSystem, root: &Path) -> Option<Omission> {
        let is_there = |path: &Path| files.is_file(path) || files.is_dir(path);
        let what = match &self.path {
            None => Omitted::ScriptElsewhere(self.of, self.target.clone()),
            Some(path) if is_there(path) || is_there(&self.of_root(root)) => return None,
            Some(path) => Omitted::ScriptMissing {
                of: self.of,
                target: self.target.clone(),
                path: path.display().to_string(),
            },
        };
        Some(Omission::new(what, self.span))
    }
}
