//! Paths on the command line: one that is not there is a wrong call, and never an option that does nothing.

use std::path::{Path, PathBuf};

/// A file that is there.
pub(crate) fn file(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    if path.is_dir() {
        return Err("it is a folder".to_owned());
    }
    match path.metadata() {
        Ok(found) if found.is_file() => Ok(path),
        // To open a pipe is to wait for somebody who writes; a device has no end.
        Ok(_) => Err("it is no regular file".to_owned()),
        Err(_) => Err("there is no such file".to_owned()),
    }
}

/// A file or folder that is there.
pub(crate) fn present(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    if path.exists() { Ok(path) } else { Err("there is no such file or folder".to_owned()) }
}

/// A folder that is there.
pub(crate) fn folder(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    if path.is_dir() { Ok(path) } else { Err("there is no such folder".to_owned()) }
}

/// Folders that are all there, separated by `:`.
pub(crate) fn folders(text: &str) -> Result<String, String> {
    let missing = text.split(':').find(|part| !part.is_empty() && !Path::new(part).is_dir());
    missing.map_or_else(|| Ok(text.to_owned()), |part| Err(format!("there is no folder {part}")))
}

/// Folders and archives that are all there, separated by `:`.
pub(crate) fn classpath(text: &str) -> Result<String, String> {
    let missing = text.split(':').find(|part| !part.is_empty() && !Path::new(part).exists());
    missing.map_or_else(|| Ok(text.to_owned()), |part| Err(format!("there is no folder or archive {part}")))
}

/// A file, or a folder with data files of nodes.
pub(crate) fn file_or_folder_of_files(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    if !path.is_dir() {
        return file(text);
    }
    let entries = path.read_dir().map_err(|error| error.to_string())?;
    let is_data = |path: &Path| {
        path.extension().is_some_and(|end| ["yaml", "yml", "json"].iter().any(|one| end == *one))
    };
    if entries.flatten().any(|entry| is_data(&entry.path())) {
        return Ok(path);
    }
    Err("the folder has no file NODE.yaml, NODE.yml or NODE.json".to_owned())
}
