//! The one way in which files are read: the disk, or a map in memory with the same behaviour.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::{Bounds, Limit, RAISE_LIMITS};

/// Larger files are refused: no source text is that long, and offsets stay within 32 bits.
pub const MAX_FILE_BYTES: Limit = Limit::new(64 << 20);

/// Why a file could not be read, as a sentence for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileError {
    pub path: PathBuf,
    pub reason: String,
    /// The file is not there; other causes mean that it is, and cannot be used.
    pub missing: bool,
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot read {}: {}", self.path.display(), self.reason)
    }
}

impl std::error::Error for FileError {}

/// An open file that is read piece by piece.
pub trait FileStream: io::Read + io::Seek + fmt::Debug + Send {}

impl<T: io::Read + io::Seek + fmt::Debug + Send> FileStream for T {}

/// Where files come from.
pub trait FileSystem: fmt::Debug + Send + Sync {
    fn read(&self, path: &Path) -> Result<Vec<u8>, FileError>;

    /// Opens a file of any size, such as an index of packages, that is never held as a whole.
    fn open(&self, path: &Path) -> Result<Box<dyn FileStream>, FileError> {
        Ok(Box::new(io::Cursor::new(self.read(path)?)))
    }

    fn is_file(&self, path: &Path) -> bool;
    fn is_dir(&self, path: &Path) -> bool;

    /// Whether there is a file under a name that is read wherever it exists. A folder in its place is recorded: whoever wrote it
    /// meant something, and Puppet fails to read it.
    fn has_file(&self, path: &Path) -> bool {
        let is_file = self.is_file(path);
        if !is_file && self.is_dir(path) {
            self.record(&FileError::of(path, &io::ErrorKind::IsADirectory.into()));
        }
        is_file
    }

    /// The names in a directory, sorted. Empty if there is no such directory.
    fn list(&self, path: &Path) -> Vec<String>;

    /// Where a path leads if it is itself a symbolic link, as the link says it.
    fn link_target(&self, _path: &Path) -> Option<PathBuf> {
        None
    }

    /// A name of a file's content, where one is known without reading: equal names are equal contents.
    fn content_name(&self, _path: &Path) -> Option<String> {
        None
    }

    /// What may be read, if not everything.
    fn bounds(&self) -> Option<&Bounds> {
        None
    }

    /// Whether a path may be looked at. What lies outside is neither a file nor a folder here, whatever it is.
    fn permits(&self, path: &Path) -> bool {
        self.bounds().is_none_or(|bounds| bounds.permit(path))
    }

    /// Permits an input that the user names after the start, with the project that it is a part of.
    fn allow_project_of(&self, input: &Path) {
        if let Some(bounds) = self.bounds() {
            bounds.allow_project_of(input);
        }
    }

    /// Takes note of something that is there and could not be used.
    fn record(&self, _error: &FileError) {}

    /// Files and folders that are there and could not be used so far, each once, by path.
    fn unreadable(&self) -> Vec<FileError> {
        Vec::new()
    }
}

/// Reads a text file; text that is not UTF-8 is an error that names the line.
pub fn read_text(files: &dyn FileSystem, path: &Path) -> Result<String, FileError> {
    String::from_utf8(files.read(path)?).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = memchr::memchr_iter(b'\n', valid).count() + 1;
        let reason = format!("line {line} is not valid UTF-8");
        let error = FileError { path: path.to_owned(), reason, missing: false };
        files.record(&error);
        error
    })
}

/// Opens a file that the user named, to be read piece by piece. To open a pipe is to wait for somebody who writes, and a
/// device has no end: both are refused. A folder fails in the words of the system.
fn open_stream(path: &Path) -> Result<std::fs::File, FileError> {
    let fail = |error: io::Error| FileError::of(path, &error);
    let found = std::fs::metadata(path).map_err(fail)?;
    if !found.is_file() && !found.is_dir() {
        return Err(not_regular(path));
    }
    std::fs::File::open(path).map_err(fail)
}

/// Returns the error of a pipe or a device.
fn not_regular(path: &Path) -> FileError {
    FileError { path: path.to_owned(), reason: "it is no regular file".to_owned(), missing: false }
}

/// Reads all of a file. What is too large is refused.
fn read_file(path: &Path) -> Result<Vec<u8>, FileError> {
    let fail = |error: io::Error| FileError::of(path, &error);
    let refuse = |reason: String| FileError { path: path.to_owned(), reason, missing: false };
    let file = open_stream(path)?;
    let found = file.metadata().map_err(fail)?;
    let limit = MAX_FILE_BYTES.get() / 1_000_000;
    if found.len() > MAX_FILE_BYTES {
        let size = found.len() / 1_000_000;
        return Err(refuse(format!(
            "it has {size} MB, and files over {limit} MB are refused; {RAISE_LIMITS}"
        )));
    }
    let mut bytes = Vec::with_capacity(found.len() as usize);
    // A file may grow while it is read; those of /proc have no size at all.
    file.take(MAX_FILE_BYTES.get() as u64 + 1).read_to_end(&mut bytes).map_err(fail)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(refuse(format!(
            "it has more than {limit} MB, and files over {limit} MB are refused; {RAISE_LIMITS}"
        )));
    }
    Ok(bytes)
}

/// All files of this machine, for tests and tasks. What reads the files of others is confined: see [`ConfinedFileSystem`].
#[derive(Debug, Clone, Copy, Default)]
pub struct OsFileSystem;

impl FileSystem for OsFileSystem {
    fn read(&self, path: &Path) -> Result<Vec<u8>, FileError> {
        read_file(path)
    }

    fn open(&self, path: &Path) -> Result<Box<dyn FileStream>, FileError> {
        // Opening a folder succeeds; reading it would fail without naming it.
        if path.is_dir() {
            return Err(FileError::of(path, &io::ErrorKind::IsADirectory.into()));
        }
        Ok(Box::new(open_stream(path)?))
    }

    fn is_file(&self, path: &Path) -> bool {
        path.is_file()
    }

    fn is_dir(&self, path: &Path) -> bool {
        path.is_dir()
    }

    fn list(&self, path: &Path) -> Vec<String> {
        list_folder(path).map(|(names, _)| names).unwrap_or_default()
    }

    fn link_target(&self, path: &Path) -> Option<PathBuf> {
        std::fs::read_link(path).ok()
    }
}

impl FileError {
    pub(crate) fn of(path: &Path, error: &io::Error) -> Self {
        // Something is there under this name, and nobody knows what it would say.
        let is_dangling = error.kind() == io::ErrorKind::NotFound && path.is_symlink();
        let reason = match error.kind() {
            _ if is_dangling => "it is a link that leads nowhere".to_owned(),
            io::ErrorKind::NotFound => "there is no such file".to_owned(),
            io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
            io::ErrorKind::IsADirectory => "it is a directory".to_owned(),
            _ => error.to_string(),
        };
        let missing = matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
        Self { path: path.to_owned(), reason, missing: missing && !is_dangling }
    }

    /// The path leads in a circle, and what it would lead to is found without it.
    pub(crate) fn circular(path: &Path) -> Self {
        Self { path: path.to_owned(), reason: "its links lead in a circle".to_owned(), missing: true }
    }

    /// The path lies outside of what may be read.
    pub fn outside(path: &Path) -> Self {
        let reason = "it lies outside of the inputs; `--allow-read DIR` permits it".to_owned();
        Self { path: path.to_owned(), reason, missing: false }
    }
}

/// The names in a folder, sorted, and whether there are others that are not UTF-8.
fn list_folder(path: &Path) -> io::Result<(Vec<String>, bool)> {
    let (mut names, mut has_others) = (Vec::new(), false);
    for entry in std::fs::read_dir(path)? {
        match entry?.file_name().into_string() {
            Ok(name) => names.push(name),
            Err(_) => has_others = true,
        }
    }
    names.sort();
    Ok((names, has_others))
}

/// The files of this machine that may be read: nothing outside of the bounds is opened, listed or looked at.
#[derive(Debug)]
pub struct ConfinedFileSystem {
    bounds: Arc<Bounds>,
}

impl ConfinedFileSystem {
    pub fn new(bounds: Arc<Bounds>) -> Self {
        Self { bounds }
    }

    /// What is at a path; what is there and cannot be looked at is an error that is not `missing`.
    fn metadata(&self, path: &Path) -> Result<std::fs::Metadata, FileError> {
        let real = self.bounds.resolve(path)?;
        std::fs::metadata(real).map_err(|error| FileError::of(path, &error))
    }

    /// The names in a folder, and whether there are others that are not UTF-8.
    fn names(&self, path: &Path) -> Result<(Vec<String>, bool), FileError> {
        let real = self.bounds.resolve(path)?;
        list_folder(&real).map_err(|error| FileError::of(path, &error))
    }
}

impl FileSystem for ConfinedFileSystem {
    fn read(&self, path: &Path) -> Result<Vec<u8>, FileError> {
        let real = self.bounds.resolve(path)?;
        read_file(&real).map_err(|error| FileError { path: path.to_owned(), ..error })
    }

    fn open(&self, path: &Path) -> Result<Box<dyn FileStream>, FileError> {
        let real = self.bounds.resolve(path)?;
        OsFileSystem.open(&real).map_err(|error| FileError { path: path.to_owned(), ..error })
    }

    fn is_file(&self, path: &Path) -> bool {
        self.metadata(path).is_ok_and(|found| found.is_file())
    }

    fn is_dir(&self, path: &Path) -> bool {
        self.metadata(path).is_ok_and(|found| found.is_dir())
    }

    fn list(&self, path: &Path) -> Vec<String> {
        self.names(path).map(|(names, _)| names).unwrap_or_default()
    }

    fn link_target(&self, path: &Path) -> Option<PathBuf> {
        let folder = self.bounds.resolve(path.parent()?).ok()?;
        let at = folder.join(path.file_name()?);
        std::fs::read_link(at).ok()
    }

    fn bounds(&self) -> Option<&Bounds> {
        Some(&self.bounds)
    }
}

/// Confined files, with a record of what is there and could not be used: whoever passes over such a file does not make it
/// unseen.
#[derive(Debug)]
pub struct RecordingFileSystem {
    disk: ConfinedFileSystem,
    unreadable: Mutex<BTreeMap<PathBuf, FileError>>,
}

impl RecordingFileSystem {
    pub fn new(bounds: Arc<Bounds>) -> Self {
        Self { disk: ConfinedFileSystem::new(bounds), unreadable: Mutex::default() }
    }

    /// Looks at a path; what is there and cannot be looked at is recorded.
    fn metadata(&self, path: &Path) -> Option<std::fs::Metadata> {
        self.disk.metadata(path).inspect_err(|error| self.record(error)).ok()
    }
}

impl FileSystem for RecordingFileSystem {
    fn read(&self, path: &Path) -> Result<Vec<u8>, FileError> {
        // Whoever tries a folder as a file goes on to list it.
        self.disk.read(path).inspect_err(|error| {
            if !self.disk.is_dir(path) {
                self.record(error);
            }
        })
    }

    fn open(&self, path: &Path) -> Result<Box<dyn FileStream>, FileError> {
        self.disk.open(path).inspect_err(|error| {
            if !self.disk.is_dir(path) {
                self.record(error);
            }
        })
    }

    fn is_file(&self, path: &Path) -> bool {
        let Some(found) = self.metadata(path) else { return false };
        if !found.is_file() && !found.is_dir() {
            self.record(&not_regular(path));
        }
        found.is_file()
    }

    fn is_dir(&self, path: &Path) -> bool {
        self.metadata(path).is_some_and(|found| found.is_dir())
    }

    fn list(&self, path: &Path) -> Vec<String> {
        match self.disk.names(path) {
            Ok((names, has_others)) => {
                if has_others {
                    let reason = "names in it are not UTF-8".to_owned();
                    self.record(&FileError { path: path.to_owned(), reason, missing: false });
                }
                names
            }
            Err(error) => {
                self.record(&error);
                Vec::new()
            }
        }
    }

    fn link_target(&self, path: &Path) -> Option<PathBuf> {
        self.disk.link_target(path)
    }

    fn bounds(&self) -> Option<&Bounds> {
        self.disk.bounds()
    }

    fn record(&self, error: &FileError) {
        if !error.missing {
            let mut known = self.unreadable.lock().unwrap_or_else(PoisonError::into_inner);
            known.entry(normal(&error.path)).or_insert_with(|| error.clone());
        }
    }

    fn unreadable(&self) -> Vec<FileError> {
        let known = self.unreadable.lock().unwrap_or_else(PoisonError::into_inner);
        // Nobody knows whether what is asked for below a closed folder is there.
        let is_topmost = |path: &&PathBuf| !path.ancestors().skip(1).any(|above| known.contains_key(above));
        known.iter().filter(|(path, _)| is_topmost(path)).map(|(_, error)| error.clone()).collect()
    }
}

/// Files in memory, for tests and editors.
#[derive(Debug, Clone, Default)]
pub struct MemoryFileSystem {
    files: BTreeMap<PathBuf, Vec<u8>>,
}

impl MemoryFileSystem {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn add(&mut self, path: impl AsRef<Path>, content: impl Into<Vec<u8>>) {
        self.files.insert(normal(path.as_ref()), content.into());
    }

    /// The first part of the way from a folder to each file in it, in the order of the paths.
    fn below(&self, folder: &Path) -> impl Iterator<Item = Component<'_>> {
        let folder = folder.to_owned();
        let from = self.files.range(folder.clone()..);
        from.map_while(move |(file, _)| Some(file.strip_prefix(&folder).ok()?.components().next())).flatten()
    }

    /// A file as text; empty if it is not there.
    pub fn text(&self, path: &Path) -> String {
        self.files
            .get(&normal(path))
            .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
            .unwrap_or_default()
    }
}

impl FileSystem for MemoryFileSystem {
    fn read(&self, path: &Path) -> Result<Vec<u8>, FileError> {
        self.files.get(&normal(path)).cloned().ok_or_else(|| FileError {
            path: path.to_owned(),
            reason: "there is no such file".to_owned(),
            missing: true,
        })
    }

    fn is_file(&self, path: &Path) -> bool {
        self.files.contains_key(&normal(path))
    }

    fn is_dir(&self, path: &Path) -> bool {
        self.below(&normal(path)).next().is_some()
    }

    fn list(&self, path: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            self.below(&normal(path)).map(|first| first.as_os_str().to_string_lossy().into_owned()).collect();
        names.dedup();
        names
    }
}

/// Some files in memory in front of another file system: what a change would make of it.
#[derive(Debug)]
pub struct OverlayFileSystem<'a> {
    pub over: MemoryFileSystem,
    pub base: &'a dyn FileSystem,
}

impl FileSystem for OverlayFileSystem<'_> {
    fn read(&self, path: &Path) -> Result<Vec<u8>, FileError> {
        if self.over.is_file(path) { self.over.read(path) } else { self.base.read(path) }
    }

    fn open(&self, path: &Path) -> Result<Box<dyn FileStream>, FileError> {
        if self.over.is_file(path) { self.over.open(path) } else { self.base.open(path) }
    }

    fn is_file(&self, path: &Path) -> bool {
        self.over.is_file(path) || self.base.is_file(path)
    }

    fn is_dir(&self, path: &Path) -> bool {
        self.over.is_dir(path) || self.base.is_dir(path)
    }

    fn link_target(&self, path: &Path) -> Option<PathBuf> {
        if self.over.is_file(path) { None } else { self.base.link_target(path) }
    }

    fn bounds(&self) -> Option<&Bounds> {
        self.base.bounds()
    }

    fn record(&self, error: &FileError) {
        self.base.record(error);
    }

    fn unreadable(&self) -> Vec<FileError> {
        self.base.unreadable()
    }

    fn list(&self, path: &Path) -> Vec<String> {
        let mut names = self.base.list(path);
        names.extend(self.over.list(path));
        names.sort();
        names.dedup();
        names
    }
}

/// A path without `.` and `..`, as far as they can be resolved without a disk.
pub fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if out.file_name().is_some() => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

/// A path as Ruby's `File.expand_path` makes it: an absolute one without `.`, `..`, doubled slashes and slashes at its end; `None` for any other text.
pub fn canonical_path(path: &str) -> Option<String> {
    if !path.starts_with('/') {
        return None;
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            name => parts.push(name),
        }
    }
    Some(format!("/{}", parts.join("/")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_canonical() {
        assert_eq!(canonical_path("/a//b/./c/../d/").as_deref(), Some("/a/b/d"));
        assert_eq!(canonical_path("/..").as_deref(), Some("/"));
        assert_eq!(canonical_path("a/b"), None);
    }

    #[test]
    fn memory_lists_each_name_once() {
        let mut files = MemoryFileSystem::new();
        files.add("m/a/x.pp", "x");
        files.add("m/a/y.pp", "y");
        files.add("m/b.pp", "b");
        assert_eq!(files.list(Path::new("./m")), ["a", "b.pp"]);
        assert!(files.is_dir(Path::new("m/a/../a")));
        assert!(!files.is_dir(Path::new("m/c")));
    }

    #[test]
    fn what_is_there_and_cannot_be_used_is_recorded() {
        let folder = std::env::temp_dir().join(format!("setpoint-files-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("latin.pp"), b"\xff").unwrap();
        std::os::unix::fs::symlink(folder.join("loop.pp"), folder.join("loop.pp")).unwrap();
        let files = RecordingFileSystem::new(Arc::new(Bounds::everywhere()));
        assert!(read_text(&files, &folder.join("latin.pp")).is_err());
        assert!(!files.is_file(&folder.join("loop.pp")));
        std::os::unix::fs::symlink("missing.pp", folder.join("nowhere.pp")).unwrap();
        std::fs::create_dir(folder.join("data.yaml")).unwrap();
        assert!(!files.is_file(&folder.join("missing.pp")));
        assert!(!files.is_file(&folder.join("nowhere.pp")));
        assert!(!files.is_file(&folder.join("data.yaml")));
        assert!(files.unreadable().iter().all(|error| error.path != folder.join("data.yaml")));
        assert!(!files.has_file(&folder.join("data.yaml")));
        assert!(!files.is_dir(&folder.join("latin.pp/below")));
        assert_eq!(files.list(&folder), ["data.yaml", "latin.pp", "loop.pp", "nowhere.pp"]);
        let found: Vec<PathBuf> = files.unreadable().into_iter().map(|error| error.path).collect();
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(found, ["data.yaml", "latin.pp", "loop.pp", "nowhere.pp"].map(|name| folder.join(name)));
    }

    #[test]
    fn text_that_is_not_utf8_names_its_line() {
        let mut files = MemoryFileSystem::new();
        files.add("x.pp", b"ok\n\xff".to_vec());
        let error = read_text(&files, Path::new("x.pp")).unwrap_err();
        assert_eq!(error.to_string(), "cannot read x.pp: line 2 is not valid UTF-8");
    }
}
