//! The files that a migration looks at.

use std::path::{Path, PathBuf};

use setpoint_source::FileSystem;

/// How a file is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sort {
    Manifest,
    Epp,
    Erb,
    /// A `hiera.yaml`.
    Hierarchy,
    Data,
    Ruby,
    /// A `puppet.conf`.
    Settings,
}

/// Folders are followed so far.
const MAX_DEPTH: usize = 32;

/// Folders that hold no code of catalogs: tests, what was installed for them, plans and tasks.
const PASSED_OVER: [&str; 6] = ["spec", "vendor", "node_modules", "tests", "tasks", "acceptance"];

/// Every file below a folder, or the file itself; what `skip` says is left out with all below it.
pub(crate) fn below(
    files: &dyn FileSystem,
    path: &Path,
    skip: &dyn Fn(&Path) -> bool,
) -> Vec<(PathBuf, Sort)> {
    let mut found = Vec::new();
    walk(files, path, skip, 0, &mut found);
    found
}

fn walk(
    files: &dyn FileSystem,
    path: &Path,
    skip: &dyn Fn(&Path) -> bool,
    depth: usize,
    found: &mut Vec<(PathBuf, Sort)>,
) {
    if skip(path) || depth > MAX_DEPTH {
        return;
    }
    if files.is_dir(path) {
        // A link to a folder above would be followed for ever.
        if depth > 0 && files.link_target(path).is_some() {
            return;
        }
        let is_wanted = |name: &String| !name.starts_with('.') && !PASSED_OVER.contains(&name.as_str());
        for name in files.list(path).into_iter().filter(is_wanted) {
            walk(files, &path.join(name), skip, depth + 1, found);
        }
    } else if let Some(sort) = sort_of(path) {
        found.push((path.to_owned(), sort));
    }
}

fn sort_of(path: &Path) -> Option<Sort> {
    let name = path.file_name()?.to_str()?;
    let is_below = |folder: &str| path.components().any(|part| part.as_os_str() == folder);
    Some(match path.extension()?.to_str()? {
        "pp" => Sort::Manifest,
        "epp" => Sort::Epp,
        "erb" => Sort::Erb,
        "conf" if name == "puppet.conf" => Sort::Settings,
        "rb" if is_below("lib") => Sort::Ruby,
        "yaml" if name == "hiera.yaml" => Sort::Hierarchy,
        // What is served or rendered as a file is no data of Hiera.
        "yaml" | "yml" | "json" | "eyaml" if !is_below("files") && !is_below("templates") => Sort::Data,
        _ => return None,
    })
}
