//! Git, asked by its own program: what a revision holds. It is run only where the user names a revision or asks for it.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Component, Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use setpoint_project::UsageError;
use setpoint_source::{FileError, FileSystem, MAX_FILE_BYTES, normal};

/// A repository of this machine.
#[derive(Debug, Clone)]
pub(crate) struct Repository {
    root: PathBuf,
}

impl Repository {
    /// The repository that a path lies in.
    pub(crate) fn of(path: &Path) -> Result<Self, UsageError> {
        let folder = if path.is_dir() { path } else { path.parent().unwrap_or(Path::new(".")) };
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let answer = ask(folder, &["rev-parse", "--show-toplevel"]).map_err(|error| {
            UsageError::new(format!("{} is in no git repository: {error}", path.display()))
        })?;
        Ok(Self { root: PathBuf::from(String::from_utf8_lossy(&answer).trim_end()) })
    }

    /// The commit that a name stands for, if it is one.
    pub(crate) fn commit(&self, name: &str) -> Option<String> {
        if name.starts_with('-') {
            return None;
        }
        let wanted = format!("{name}^{{commit}}");
        let answer = ask(&self.root, &["rev-parse", "--verify", "--quiet", &wanted]).ok()?;
        Some(String::from_utf8_lossy(&answer).trim_end().to_owned())
    }

    /// The files of a commit, in the place of those that are checked out; all other files as they are.
    pub(crate) fn files_of<'a>(
        &self,
        commit: &str,
        others: &'a dyn FileSystem,
    ) -> Result<RevisionFiles<'a>, UsageError> {
        let listing = ask(&self.root, &["ls-tree", "-r", "-z", "--full-tree", commit])
            .map_err(|error| UsageError::new(format!("git cannot list {commit}: {error}")))?;
        let mut entries = BTreeMap::new();
        for line in listing.split(|&byte| byte == 0) {
            let line = String::from_utf8_lossy(line);
            let Some((about, path)) = line.split_once('\t') else { continue };
            let mut words = about.split(' ');
            let (mode, kind, object) = (words.next(), words.next(), words.next());
            if kind == Some("blob")
                && let Some(object) = object
            {
                let entry = Entry { object: object.to_owned(), link: mode == Some("120000") };
                entries.insert(self.root.join(path), entry);
            }
        }
        let here = std::env::current_dir().unwrap_or_default();
        Ok(RevisionFiles {
            root: self.root.clone(),
            here,
            entries,
            reader: Mutex::new(Reader::start(&self.root)?),
            others,
        })
    }
}

/// Runs git and gives what it printed.
pub(crate) fn ask(folder: &Path, arguments: &[&str]) -> Result<Vec<u8>, String> {
    let output = Command::new("git")
        .arg("-C")
        .arg(folder)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("cannot run git: {error}"))?;
    if output.status.success() {
        Ok(output.stdout)
    } else {
        Err(String::from_utf8_lossy(&output.stderr).trim().to_owned())
    }
}

#[derive(Debug)]
struct Entry {
    object: String,
    link: bool,
}

/// A file system in which a repository stands at one of its commits. Files are read when they are asked for.
#[derive(Debug)]
pub(crate) struct RevisionFiles<'a> {
    root: PathBuf,
    here: PathBuf,
    entries: BTreeMap<PathBuf, Entry>,
    reader: Mutex<Reader>,
    others: &'a dyn FileSystem,
}

/// Links that are followed at most, so that a circle of them ends.
const MAX_LINKS: usize = 40;

impl RevisionFiles<'_> {
    /// The path inside the repository with every link followed; none if it lies outside.
    fn inside(&self, path: &Path) -> Option<PathBuf> {
        let mut at = normal(&self.here.join(path));
        for _ in 0..MAX_LINKS {
            if !at.starts_with(&self.root) {
                return None;
            }
            let Some((link, target)) = self.first_link(&at) else { return Some(at) };
            let rest = at.strip_prefix(&link).map(Path::to_owned).unwrap_or_default();
            let folder = link.parent().unwrap_or(&self.root).to_owned();
            at = normal(&folder.join(target).join(rest));
        }
        Some(at)
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
                return Some((prefix, PathBuf::from(String::from_utf8_lossy(&target).into_owned())));
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

impl FileSystem for RevisionFiles<'_> {
    fn read(&self, path: &Path) -> Result<Vec<u8>, FileError> {
        let Some(at) = self.inside(path) else { return self.others.read(path) };
        let fail =
            |reason: &str, missing| FileError { path: path.to_owned(), reason: reason.to_owned(), missing };
        let entry =
            self.entries.get(&at).ok_or_else(|| fail("there is no such file in the revision", true))?;
        self.object(&entry.object).ok_or_else(|| fail("git cannot give it, or it is over 64 MB", false))
    }

    fn is_file(&self, path: &Path) -> bool {
        match self.inside(path) {
            Some(at) => self.entries.contains_key(&at),
            None => self.others.is_file(path),
        }
    }

    fn is_dir(&self, path: &Path) -> bool {
        match self.inside(path) {
            Some(at) => self.below(&at).next().is_some(),
            None => self.others.is_dir(path),
        }
    }

    fn list(&self, path: &Path) -> Vec<String> {
        let Some(at) = self.inside(path) else { return self.others.list(path) };
        let first = |inner: &Path| {
            let name = inner.strip_prefix(&at).ok()?.components().next()?;
            Some(name.as_os_str().to_string_lossy().into_owned())
        };
        let mut names: Vec<String> = self.below(&at).filter_map(first).collect();
        names.sort();
        names.dedup();
        names
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
    fn start(root: &Path) -> Result<Self, UsageError> {
        let fail = |error: std::io::Error| UsageError::new(format!("cannot run git: {error}"));
        let mut child = Command::new("git")
            .arg("-C")
            .arg(root)
            .args(["cat-file", "--batch"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(fail)?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(UsageError::new("cannot talk to git"));
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
