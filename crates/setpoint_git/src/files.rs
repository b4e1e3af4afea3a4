//! A file system in which a repository stands at one of its commits.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Component, Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::{Mutex, PoisonError};

use setpoint_source::{Bounds, FileError, FileStream, FileSystem, MAX_FILE_BYTES, normal};

use super::{GitError, command, path_of};

#[derive(Debug)]
pub(super) struct Entry {
    pub(super) object: String,
    pub(super) link: bool,
}

/// The files of a commit, by path.
pub(super) type Entries = BTreeMap<PathBuf, Entry>;
/// The commits of submodules, by path.
pub(super) type Submodules = BTreeMap<PathBuf, String>;

/// A file system in which a repository stands at one of its commits. Files are read when they are asked for.
#[derive(Debug)]
pub struct RevisionFiles<'a> {
    root: PathBuf,
    here: PathBuf,
    pub(super) entries: Entries,
    /// What git does not keep: its place in the repository, and where it is read from.
    shared: BTreeMap<PathBuf, PathBuf>,
    /// The commit of each submodule.
    pub submodules: Submodules,
    /// Files that are read from the work tree, since git calls them the same.
    pub(super) unchanged: BTreeSet<PathBuf>,
    /// What is in the revision and could not be used.
    unreadable: Mutex<BTreeMap<PathBuf, FileError>>,
    reader: Mutex<Reader>,
    others: &'a dyn FileSystem,
}

/// Where something is read from.
#[derive(Debug)]
enum Place {
    /// A path of the repository, with every link followed.
    Revision(PathBuf),
    /// A path of the work tree, or outside of the repository.
    Others(PathBuf),
}

/// Links that are followed at most, so that a circle of them ends.
const MAX_LINKS: usize = 40;

impl<'a> RevisionFiles<'a> {
    /// The files of a commit. What git ignores, and its submodules, come from the work tree.
    pub(super) fn new(
        root: &Path,
        entries: Entries,
        ignored: Vec<PathBuf>,
        submodules: Submodules,
        others: &'a dyn FileSystem,
    ) -> Result<Self, GitError> {
        let shared = ignored.into_iter().chain(submodules.keys().cloned());
        Ok(Self {
            root: root.to_owned(),
            here: std::env::current_dir().unwrap_or_default(),
            entries,
            shared: shared.map(|path| (path.clone(), path)).collect(),
            submodules,
            unchanged: BTreeSet::new(),
            unreadable: Mutex::default(),
            reader: Mutex::new(Reader::start(root)?),
            others,
        })
    }
}

impl RevisionFiles<'_> {
    /// The folders that this revision shares with the work tree.
    pub fn shared_folders(&self) -> Vec<PathBuf> {
        self.shared.iter().filter(|(at, from)| at == from).map(|(at, _)| at.clone()).collect()
    }

    /// Reads the modules that git does not keep from another folder, which has one folder a module.
    pub fn take_modules_from(&mut self, folder: &Path) {
        let is_module = |path: &Path| {
            let has = |name: &str| self.others.is_dir(&path.join(name));
            has("manifests") || has("lib") || self.others.is_file(&path.join("metadata.json"))
        };
        let mut found = Vec::new();
        for at in self.shared.keys() {
            if is_module(at) {
                found.extend(at.file_name().map(|name| (at.clone(), folder.join(name))));
            } else if self.others.list(at).iter().any(|name| is_module(&at.join(name))) {
                found.push((at.clone(), folder.to_owned()));
            }
        }
        self.shared.extend(found);
    }

    /// Where a path is read from.
    fn locate(&self, path: &Path) -> Place {
        let mut at = normal(&self.here.join(path));
        if !at.starts_with(&self.root) {
            return Place::Others(path.to_owned());
        }
        for _ in 0..MAX_LINKS {
            if !at.starts_with(&self.root) {
                return Place::Others(at);
            }
            if let Some(from) = self.shared_place(&at) {
                return Place::Others(from);
            }
            let Some((link, target)) = self.first_link(&at) else { break };
            let rest = at.strip_prefix(&link).map(Path::to_owned).unwrap_or_default();
            let folder = link.parent().unwrap_or(&self.root).to_owned();
            at = normal(&folder.join(target).join(rest));
        }
        if self.unchanged.contains(&at) { Place::Others(at) } else { Place::Revision(at) }
    }

    /// Where a path is read from that git does not keep. What the commit has comes from the commit.
    fn shared_place(&self, path: &Path) -> Option<PathBuf> {
        let (at, from) = path.ancestors().find_map(|above| self.shared.get_key_value(above))?;
        let is_kept = self.entries.contains_key(path) || self.below(path).next().is_some();
        (!is_kept).then(|| from.join(path.strip_prefix(at).unwrap_or(Path::new(""))))
    }

    /// The outermost part of a path that is a link, and where it leads.
    fn first_link(&self, path: &Path) -> Option<(PathBuf, PathBuf)> {
        let mut prefix = self.root.clone();
        for part in path.strip_prefix(&self.root).ok()?.components() {
            if let Component::Normal(name) = part {
                prefix.push(name);
            }
            if let Some(entry) = self.entries.get(&prefix)
                && entry.link
            {
                let target = self.object(&entry.object)?;
                return Some((prefix, path_of(&target)));
            }
        }
        None
    }

    fn object(&self, name: &str) -> Option<Vec<u8>> {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner).read(name)
    }

    /// What lies below a folder, in the order of the paths.
    fn below<'s>(&'s self, folder: &'s Path) -> impl Iterator<Item = &'s Path> {
        self.entries
            .range(folder.to_owned()..)
            .map(|(path, _)| path.as_path())
            .take_while(move |path| path.starts_with(folder))
            .filter(move |path| *path != folder)
    }
}

impl RevisionFiles<'_> {
    /// What git does not keep, below a folder of the repository.
    fn shared_below<'s>(&'s self, folder: &'s Path) -> impl Iterator<Item = &'s Path> {
        self.shared.keys().map(PathBuf::as_path).filter(move |at| at.starts_with(folder) && *at != folder)
    }
}

impl FileSystem for RevisionFiles<'_> {
    fn bounds(&self) -> Option<&Bounds> {
        self.others.bounds()
    }

    /// Links lead as they do in the revision, whatever the work tree has in their places.
    fn permits(&self, path: &Path) -> bool {
        match self.locate(path) {
            Place::Revision(at) => self.bounds().is_none_or(|bounds| bounds.permit_by_name(&at)),
            Place::Others(at) => self.others.permits(&at),
        }
    }

    fn read(&self, path: &Path) -> Result<Vec<u8>, FileError> {
        let at = match self.locate(path) {
            Place::Revision(at) => at,
            Place::Others(at) => return self.others.read(&at),
        };
        let fail =
            |reason: &str, missing| FileError { path: path.to_owned(), reason: reason.to_owned(), missing };
        let entry =
            self.entries.get(&at).ok_or_else(|| fail("there is no such file in the revision", true))?;
        self.object(&entry.object).ok_or_else(|| {
            let error = fail("git cannot give it, or it is over 64 MB", false);
            self.record(&error);
            error
        })
    }

    fn content_name(&self, path: &Path) -> Option<String> {
        match self.locate(path) {
            Place::Revision(at) => self.entries.get(&at).map(|entry| entry.object.clone()),
            Place::Others(at) => self.others.content_name(&at),
        }
    }

    fn open(&self, path: &Path) -> Result<Box<dyn FileStream>, FileError> {
        match self.locate(path) {
            Place::Revision(_) => Ok(Box::new(std::io::Cursor::new(self.read(path)?))),
            Place::Others(at) => self.others.open(&at),
        }
    }

    fn is_file(&self, path: &Path) -> bool {
        match self.locate(path) {
            Place::Revision(at) => self.entries.contains_key(&at),
            Place::Others(at) => self.others.is_file(&at),
        }
    }

    fn is_dir(&self, path: &Path) -> bool {
        match self.locate(path) {
            Place::Revision(at) => {
                self.below(&at).next().is_some() || self.shared_below(&at).next().is_some()
            }
            Place::Others(at) => self.others.is_dir(&at),
        }
    }

    fn list(&self, path: &Path) -> Vec<String> {
        let at = match self.locate(path) {
            Place::Revision(at) => at,
            Place::Others(at) => return self.others.list(&at),
        };
        let first =
            |inner: &Path| Some(inner.strip_prefix(&at).ok()?.components().next()?.as_os_str().to_owned());
        let (mut names, mut has_others) = (Vec::new(), false);
        for name in self.below(&at).chain(self.shared_below(&at)).filter_map(first) {
            match name.into_string() {
                Ok(name) => names.push(name),
                Err(_) => has_others = true,
            }
        }
        if has_others {
            let reason = "names in it are not UTF-8".to_owned();
            self.record(&FileError { path: path.to_owned(), reason, missing: false });
        }
        names.sort();
        names.dedup();
        names
    }

    fn record(&self, error: &FileError) {
        if !error.missing {
            let mut known = self.unreadable.lock().unwrap_or_else(PoisonError::into_inner);
            known.entry(normal(&error.path)).or_insert_with(|| error.clone());
        }
    }

    fn unreadable(&self) -> Vec<FileError> {
        let known = self.unreadable.lock().unwrap_or_else(PoisonError::into_inner);
        known.values().cloned().chain(self.others.unreadable()).collect()
    }

    fn link_target(&self, path: &Path) -> Option<PathBuf> {
        let (folder, name) = (path.parent()?, path.file_name()?);
        match self.locate(folder) {
            Place::Revision(at) => {
                let at = at.join(name);
                if let Some(from) = self.shared_place(&at) {
                    return self.others.link_target(&from);
                }
                let entry = self.entries.get(&at).filter(|entry| entry.link)?;
                Some(path_of(&self.object(&entry.object)?))
            }
            Place::Others(at) => self.others.link_target(&at.join(name)),
        }
    }
}

/// One `git cat-file --batch`, which answers as long as it is asked.
#[derive(Debug)]
struct Reader {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Reader {
    fn start(root: &Path) -> Result<Self, GitError> {
        let fail = |error: std::io::Error| GitError::new(format!("cannot run git: {error}"));
        let mut child = command(root)
            .args(["cat-file", "--batch"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(fail)?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(GitError::new("cannot talk to git"));
        };
        Ok(Self { child, input, output: BufReader::new(output) })
    }

    /// The bytes of an object; none if git does not have it or if it is too large.
    fn read(&mut self, object: &str) -> Option<Vec<u8>> {
        writeln!(self.input, "{object}").ok()?;
        self.input.flush().ok()?;
        let mut header = String::new();
        self.output.read_line(&mut header).ok()?;
        let size: u64 = header.trim_end().rsplit(' ').next()?.parse().ok()?;
        // The content is followed by a line end.
        let mut whole = (&mut self.output).take(size + 1);
        if size > MAX_FILE_BYTES {
            std::io::copy(&mut whole, &mut std::io::sink()).ok()?;
            return None;
        }
        let mut bytes = Vec::with_capacity(size as usize + 1);
        whole.read_to_end(&mut bytes).ok()?;
        bytes.pop();
        Some(bytes)
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
