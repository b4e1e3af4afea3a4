//! Changed files that decide what a node does and that no value's provenance names: settings, and Ruby code.

use std::collections::BTreeSet;
use std::path::Path;

use setpoint_silence::are_silenced_alike;
use setpoint_source::FileSystem;

use super::Opened;

/// The findings that are known.
pub(super) const BASELINE: &str = "setpoint-baseline.json";
/// Folders are followed so far.
const MAX_DEPTH: usize = 32;
/// Files that one sentence names at most.
const MAX_NAMES: usize = 3;

/// What differs between the two versions beside manifests, templates and data.
#[derive(Debug, Default)]
pub(super) struct Unseen {
    /// Shared names of changed files that decide what is compiled, whatever the node: settings and Ruby functions.
    settings: Vec<String>,
    /// Shared names of changed files that may hold the facts of one node.
    descriptions: Vec<String>,
    /// What changed and is not run, a sentence each without its full stop.
    pub(super) not_compared: Vec<String>,
    /// Whether a comment or the baseline silences otherwise, so that findings of equal catalogs may come and go.
    pub(super) silences_otherwise: bool,
    /// Shared names of changed manifests, templates, files and data, which a node may use or not.
    pub(super) edited: Vec<String>,
    /// Shared names of all changed code and data.
    code: Vec<String>,
}

/// What a file of a repository is for.
enum Purpose {
    Settings,
    Description,
    /// Ruby that an agent runs.
    AgentCode(&'static str),
}

impl Unseen {
    /// Compares the files of the two versions by their names in both.
    pub(super) fn find<'s>(old: &Opened<'s>, new: &Opened<'s>) -> Self {
        let mut names = BTreeSet::new();
        for opened in [old, new] {
            let folder = Path::new(if opened.root.path.is_empty() { "." } else { &opened.root.path });
            if opened.session.files.is_dir(folder) {
                walk(opened.session.files, folder, "", 0, &mut names);
            }
        }
        let mut found = Self::default();
        for name in names {
            if are_alike(old, new, &name) {
                continue;
            }
            found.silences_otherwise = found.silences_otherwise || silences_otherwise(old, new, &name);
            if is_code(&name) {
                found.code.push(name.clone());
            }
            let Some(purpose) = purpose(&name) else {
                if may_be_used(&name) {
                    found.edited.push(name);
                }
                continue;
            };
            match purpose {
                Purpose::Settings => found.settings.push(name),
                Purpose::Description => found.descriptions.push(name),
                Purpose::AgentCode(words) => {
                    found.not_compared.push(format!("{words}: `{name}` changed and was not compared"));
                }
            }
        }
        found
    }

    /// What the change edits, for an error that lies in lines that it does not touch.
    pub(super) fn edited_code(&self) -> Option<String> {
        let (first, rest) = self.code.split_at(self.code.len().min(MAX_NAMES));
        let names: Vec<String> = first.iter().map(|name| format!("`{name}`")).collect();
        let more = if rest.is_empty() { String::new() } else { format!(" and {} more files", rest.len()) };
        (!names.is_empty()).then(|| format!("The change edits {}{more}.", names.join(", ")))
    }

    /// The files that explain what no line explains on a node.
    pub(super) fn of_node(&self, node: &str) -> Vec<(String, bool)> {
        let is_of_node = |name: &&String| {
            let stem = Path::new(name.as_str()).file_stem().unwrap_or_default().to_string_lossy();
            node.split(' ').next().is_some_and(|node| stem.eq_ignore_ascii_case(node))
        };
        let of_node = self.descriptions.iter().filter(is_of_node);
        self.settings.iter().chain(of_node).map(|name| (name.clone(), true)).collect()
    }
}

fn silences_otherwise<'s>(old: &Opened<'s>, new: &Opened<'s>, name: &str) -> bool {
    let texts = || (old.text(name, true), new.text(name, true));
    if name == BASELINE {
        let (was, is) = texts();
        return was != is;
    }
    let ending = Path::new(name).extension().unwrap_or_default();
    let has_comments = ["pp", "epp", "erb", "yaml", "yml", "eyaml"].iter().any(|known| ending == *known);
    has_comments && {
        let (was, is) = texts();
        !are_silenced_alike(&was, &is)
    }
}

fn purpose(name: &str) -> Option<Purpose> {
    let base = name.rsplit('/').next().unwrap_or(name);
    let has = |part: &str| name.starts_with(part) || name.contains(&format!("/{part}"));
    let is_ruby = Path::new(base).extension().is_some_and(|ending| ending == "rb");
    let is_function = is_ruby && (has("lib/puppet/functions/") || has("lib/puppet/parser/functions/"));
    Some(if is_function || matches!(base, "hiera.yaml" | "environment.conf" | "setpoint.toml") {
        Purpose::Settings
    } else if has("spec/") || has("test/") {
        return None;
    } else if has("lib/facter/") || has("facts.d/") {
        Purpose::AgentCode("A fact, whose values here come from fact files and not from its code")
    } else if is_ruby && (has("lib/puppet/provider/") || has("lib/puppet_x/") || has("lib/puppet/util/")) {
        Purpose::AgentCode("What a provider does to a machine")
    } else if is_ruby && has("lib/puppet/type/") {
        Purpose::AgentCode("What a type makes of its parameters")
    } else if has("lib/augeas/lenses/") {
        Purpose::AgentCode("How Augeas reads a file")
    } else if has("facts/") {
        Purpose::Description
    } else {
        return None;
    })
}

/// Whether a changed file is one that a catalog may depend on: a manifest, template or file of a module, or Hiera data.
fn may_be_used(name: &str) -> bool {
    let has = |part: &str| name.starts_with(part) || name.contains(&format!("/{part}"));
    if ["spec/", "test/", "tests/", "examples/", "fixtures/"].into_iter().any(has) {
        return false;
    }
    let ending = Path::new(name).extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let is_data = matches!(ending, "yaml" | "yml" | "json" | "eyaml");
    (ending == "pp" && class_of(name).is_some())
        || name.contains("/templates/")
        || name.contains("/files/")
        || (is_data && (has("data/") || has("hieradata/")))
}

/// Whether a file holds code or data of Puppet, tests apart.
fn is_code(name: &str) -> bool {
    let has = |part: &str| name.starts_with(part) || name.contains(&format!("/{part}"));
    let ending = Path::new(name).extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    matches!(ending, "pp" | "epp" | "erb" | "rb" | "yaml" | "yml" | "json" | "eyaml" | "conf")
        && !["spec/", "test/", "tests/", "examples/"].into_iter().any(has)
}

/// The class or define that a manifest of a module is named for.
pub(super) fn class_of(name: &str) -> Option<String> {
    let (folder, rest) = name.rsplit_once("/manifests/")?;
    let module = folder.rsplit('/').next()?;
    let rest = rest.strip_suffix(".pp")?.replace('/', "::");
    Some(if rest == "init" { module.to_owned() } else { format!("{module}::{rest}") })
}

/// Whether a file is the same in both versions.
fn are_alike<'s>(old: &Opened<'s>, new: &Opened<'s>, name: &str) -> bool {
    let paths = (old.root.path_of(name, true), new.root.path_of(name, true));
    let (old_path, new_path) = (Path::new(&paths.0), Path::new(&paths.1));
    let (old_files, new_files) = (old.session.files, new.session.files);
    let content_names = (old_files.content_name(old_path), new_files.content_name(new_path));
    if content_names.0.is_some() && content_names.0 == content_names.1 {
        return true;
    }
    match (old_files.read(old_path), new_files.read(new_path)) {
        (Ok(was), Ok(is)) => was == is,
        // Two contents that nobody can read may differ. A file that is in neither version is no file.
        (Err(was), Err(is)) => was.missing && is.missing,
        _ => false,
    }
}

/// Adds the names of all files below a folder, hidden folders apart.
fn walk(files: &dyn FileSystem, folder: &Path, prefix: &str, depth: usize, names: &mut BTreeSet<String>) {
    for name in files.list(folder) {
        let path = folder.join(&name);
        let shared = if prefix.is_empty() { name.clone() } else { format!("{prefix}/{name}") };
        if files.is_dir(&path) {
            if depth < MAX_DEPTH && !name.starts_with('.') && files.link_target(&path).is_none() {
                walk(files, &path, &shared, depth + 1, names);
            }
        } else {
            names.insert(shared);
        }
    }
}
