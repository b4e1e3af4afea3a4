//! Folders of plain listings: a file is named as its package and has a path a line.

use std::path::{Path, PathBuf};

use setpoint_source::{FileSystem, read_text};

use crate::{Collection, IndexError};

/// What a folder of listings has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listings {
    /// How many listings were read.
    pub packages: usize,
    /// The folders of platforms in it, if it has no listings of its own.
    pub platforms: Vec<String>,
}

/// Reads a folder of listings. Paths that end with a slash are directories. A folder that has only folders (one a platform)
/// is read as one, if all of them say the same of a package.
pub fn listings(
    into: &mut Collection,
    files: &dyn FileSystem,
    folder: &Path,
) -> Result<Listings, IndexError> {
    let named = |path: &Path, reason: &str| IndexError::new(path.display().to_string(), reason);
    if !files.is_dir(folder) {
        return Err(named(folder, "there is no such folder"));
    }
    let (own, folders): (Vec<PathBuf>, Vec<PathBuf>) = files
        .list(folder)
        .iter()
        .filter(|name| !name.starts_with('.'))
        .map(|name| folder.join(name))
        .partition(|path| files.is_file(path));
    let mut found = Listings::default();
    if !own.is_empty() {
        for path in own {
            let text = read_text(files, &path).map_err(|error| named(&path, &error.reason))?;
            add(into, &path, &text);
            found.packages += 1;
        }
        return Ok(found);
    }
    let mut seen: std::collections::BTreeMap<String, (PathBuf, String)> = std::collections::BTreeMap::new();
    for platform in folders {
        found.platforms.push(platform.file_name().unwrap_or_default().to_string_lossy().into_owned());
        for name in files.list(&platform).into_iter().filter(|name| !name.starts_with('.')) {
            let path = platform.join(&name);
            if !files.is_file(&path) {
                continue;
            }
            let text = read_text(files, &path).map_err(|error| named(&path, &error.reason))?;
            match seen.get(&name) {
                None => {
                    add(into, &path, &text);
                    found.packages += 1;
                    seen.insert(name, (path, text));
                }
                Some((_, known)) if *known == text => {}
                Some((other, _)) => {
                    let reason = format!(
                        "`{name}` has other files than in {}; give the folder of one platform: --listings {}",
                        other.display(),
                        platform.display()
                    );
                    return Err(named(&path, &reason));
                }
            }
        }
    }
    if found.packages == 0 {
        return Err(named(
            folder,
            "there are no listings in it: a listing is a file named as its package, with a path a line",
        ));
    }
    Ok(found)
}

fn add(into: &mut Collection, path: &Path, text: &str) {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    into.set_listed(&name);
    for line in text.lines().map(str::trim_end).filter(|line| !line.is_empty() && *line != "/.") {
        if line.ends_with('/') {
            into.add_directory(&name, line);
        } else {
            into.add_file(&name, line);
        }
    }
}
