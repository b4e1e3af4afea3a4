//! Profiles: types that files import by the name of a profile.

use std::path::{Path, PathBuf};

use setpoint_data::Node;
use setpoint_source::{FileSystem, normal, read_text};

/// A folder with more files than these is no folder of a profile.
const MAX_FILES: usize = 500;

/// Whether the types of a profile are built in.
pub(crate) fn is_built_in(name: &str) -> bool {
    let name = name.strip_prefix("org.oasis-open.").unwrap_or(name);
    let name = name.strip_prefix("tosca.").unwrap_or(name);
    ["simple:1.0", "simple:1.1", "simple:1.2", "simple:1.3", "simple:2.0"].contains(&name)
}

/// Returns the file that defines a profile: one with `profile: NAME` beside the file that imports it, in a folder of the search
/// path, or below such a folder by the parts of its name: `org.example.cloud:1.0` may be in `org/example/cloud/1.0`.
pub(crate) fn find(files: &dyn FileSystem, folder: &Path, path: &[PathBuf], name: &str) -> Option<PathBuf> {
    let (base, version) = name.split_once(':').unwrap_or((name, ""));
    let below: PathBuf = base.split('.').collect();
    let folders = path.iter().flat_map(|root| {
        [
            root.join(&below).join(version),
            root.join(&below),
            root.join(base).join(version),
            root.join(base),
            root.clone(),
        ]
    });
    folders.chain([folder.to_owned()]).find_map(|folder| in_folder(files, &folder, name))
}

fn in_folder(files: &dyn FileSystem, folder: &Path, name: &str) -> Option<PathBuf> {
    let mut names = files.list(folder);
    names.sort();
    let is_yaml = |name: &String| {
        Path::new(name).extension().is_some_and(|extension| extension == "yaml" || extension == "yml")
    };
    names.into_iter().filter(is_yaml).take(MAX_FILES).find_map(|file| {
        let path = normal(&folder.join(file));
        let text = read_text(files, &path).ok()?;
        // Most files define another profile or none: only those that have the name are parsed.
        if !text.contains(name) {
            return None;
        }
        let root = setpoint_data::read_yaml(crate::definitions::BUILT_IN, &text).root?;
        (root.get("profile").and_then(Node::text) == Some(name)).then_some(path)
    })
}
