//! The class path: folders and archives, below which files are included by name, as Java finds its resources.

use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

use setpoint_source::{FileError, FileSystem, MAX_FILE_BYTES, normal};

type Archive = zip::ZipArchive<Cursor<Vec<u8>>>;

/// A file that was found, with the path that stands for it.
pub(super) struct OnPath {
    pub(super) path: PathBuf,
    pub(super) bytes: Vec<u8>,
    /// Whether it lies in an archive.
    pub(super) is_packed: bool,
}

/// A class path whose archives are opened when they are first looked into.
#[derive(Debug)]
pub(super) struct ClassPath<'p> {
    entries: Vec<(&'p Path, Option<Archive>)>,
}

impl<'p> ClassPath<'p> {
    pub(super) fn new(entries: &'p [PathBuf]) -> Self {
        Self { entries: entries.iter().map(|entry| (entry.as_path(), None)).collect() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the first file of a name; none if no entry has it.
    pub(super) fn find(&mut self, name: &str, files: &dyn FileSystem) -> Result<Option<OnPath>, FileError> {
        let name = name.trim_start_matches('/');
        for (entry, archive) in &mut self.entries {
            let path = entry.join(name);
            if files.is_dir(entry) {
                match files.read(&path) {
                    Ok(bytes) => return Ok(Some(OnPath { path, bytes, is_packed: false })),
                    Err(error) if error.missing => continue,
                    Err(error) => return Err(error),
                }
            }
            if let Some(bytes) = read_from_archive(entry, archive, name, files)? {
                return Ok(Some(OnPath { path, bytes, is_packed: true }));
            }
        }
        Ok(None)
    }
}

/// Reads a file of an archive; none if the archive has none of that name.
fn read_from_archive(
    path: &Path,
    archive: &mut Option<Archive>,
    name: &str,
    files: &dyn FileSystem,
) -> Result<Option<Vec<u8>>, FileError> {
    let fail = |reason: String| FileError { path: path.to_owned(), reason, missing: false };
    if archive.is_none() {
        let opened = zip::ZipArchive::new(Cursor::new(files.read(path)?));
        *archive = Some(opened.map_err(|error| fail(format!("it is no folder, jar or zip: {error}")))?);
    }
    let name = normal(Path::new(name)).display().to_string();
    let entry = match archive.as_mut().map(|archive| archive.by_name(&name)) {
        None | Some(Err(zip::result::ZipError::FileNotFound)) => return Ok(None),
        Some(Err(error)) => return Err(fail(format!("`{name}` cannot be read: {error}"))),
        Some(Ok(entry)) => entry,
    };
    let mut bytes = Vec::new();
    let read = entry.take(MAX_FILE_BYTES.get() as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|error| fail(format!("`{name}` cannot be unpacked: {error}")))?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(fail(format!("`{name}` unpacks to more than {} MB", MAX_FILE_BYTES.get() / 1_000_000)));
    }
    Ok(Some(bytes))
}
