//! Git, asked by its own program: what a revision holds. It is run only where the user names a revision or asks for it.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Component, Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use setpoint_project::UsageError;
use setpoint_source::{Bounds, FileError, FileStream, FileSystem, MAX_FILE_BYTES, normal};

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
        match ask(folder, &["rev-parse", "--show-toplevel"]) {
            Ok(answer) => Ok(Self { root: path_of(answer.strip_suffix(b"\n").unwrap_or(&answer)) }),
            // A bare repository has commits and no work tree: its own folder stands for the root of each.
            Err(_) if is_bare(folder) => {
                Ok(Self { root: std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned()) })
            }
            Err(error) => {
                Err(UsageError::new(format!("{} is in no git repository: {error}", path.display())))
            }
        }
    }

    /// Whether there are commits and no work tree.
    pub(crate) fn is_bare(&self) -> bool {
        is_bare(&self.root)
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

    /// The last commit that two commits have in common. That there is none is an error, and says what to do.
    pub(crate) fn merge_base(&self, one: &str, other: &str) -> Result<String, UsageError> {
        if let Ok(answer) = ask(&self.root, &["merge-base", one, other]) {
            return Ok(String::from_utf8_lossy(&answer).trim_end().to_owned());
        }
        let names = format!("{} and {}", short(one), short(other));
        Err(UsageError::new(if self.is_shallow() {
            format!(
                "this clone is shallow, and the merge base of {names} is not in it: fetch all history \
                 (`fetch-depth: 0` for actions/checkout, `GIT_DEPTH: 0` in GitLab, `git fetch --unshallow`), \
                 or compare with the revision itself by --direct"
            )
        } else {
            format!("{names} have no commit in common: compare with the revision itself by --direct")
        }))
    }

    /// Whether the history was fetched in part only.
    pub(crate) fn is_shallow(&self) -> bool {
        let answer = ask(&self.root, &["rev-parse", "--is-shallow-repository"]).unwrap_or_default();
        answer.starts_with(b"true")
    }

    /// Whether tracked files of the work tree differ from what is committed.
    pub(crate) fn is_changed(&self) -> bool {
        let asked = ["status", "--porcelain", "--untracked-files=normal", "--ignore-submodules=dirty"];
        ask(&self.root, &asked).is_ok_and(|answer| !answer.is_empty())
    }

    /// `owner/name` of the repository that this one was cloned from.
    pub(crate) fn origin(&self) -> Option<String> {
        let answer = ask(&self.root, &["config", "--get", "remote.origin.url"]).ok()?;
        let url = String::from_utf8_lossy(&answer);
        let url = url.trim_end().trim_end_matches('/').trim_end_matches(".git");
        // A path of this machine says nothing to others.
        if !url.contains("://") && !url.contains(':') {
            return None;
        }
        let mut parts = url.rsplit(['/', ':']);
        let (name, owner) = (parts.next()?, parts.next()?);
        Some(format!("{owner}/{name}")).filter(|_| !name.is_empty() && !owner.is_empty())
    }

    /// The files of a commit, in the place of those that are checked out; all other files as they are. What git does not keep
    /// (ignored folders, submodules) comes from the work tree.
    pub(crate) fn files_of<'a>(
        &self,
        commit: &str,
        others: &'a dyn FileSystem,
    ) -> Result<RevisionFiles<'a>, UsageError> {
        let (entries, submodules) = self.tree(commit)?;
        let unchanged = BTreeSet::new();
        let shared = self.ignored().into_iter().chain(submodules.keys().cloned());
        let here = std::env::current_dir().unwrap_or_default();
        Ok(RevisionFiles {
            root: self.root.clone(),
            here,
            entries,
            shared: shared.map(|path| (path.clone(), path)).collect(),
            submodules,
            unchanged,
            unreadable: Mutex::default(),
            reader: Mutex::new(Reader::start(&self.root)?),
            others,
        })
    }

    /// The files of a commit, to be compared with the work tree: what git calls unchanged is read from there, so that line ends
    /// that git converts and filters that it runs are no change.
    pub(crate) fn files_beside_work_tree<'a>(
        &self,
        commit: &str,
        others: &'a dyn FileSystem,
    ) -> Result<RevisionFiles<'a>, UsageError> {
        let mut files = self.files_of(commit, others)?;
        files.unchanged = self.unchanged_since(commit, &files.entries);
        Ok(files)
    }

    /// What is checked out of a submodule; nothing if its folder is empty.
    pub(crate) fn checked_out(&self, submodule: &Path) -> Option<CheckedOut> {
        // Without a `.git` of its own, git would answer for the repository around it.
        if !submodule.join(".git").exists() {
            return None;
        }
        let commit = Self { root: submodule.to_owned() }.commit("HEAD")?;
        let status = ask(submodule, &["status", "--porcelain", "--ignore-submodules=dirty"]);
        Some(CheckedOut { commit, is_changed: status.map_or(true, |answer| !answer.is_empty()) })
    }

    /// The files of the work tree that are those of a commit, whatever bytes they have: line ends and filters may differ.
    fn unchanged_since(&self, commit: &str, entries: &Entries) -> BTreeSet<PathBuf> {
        let asked =
            ["diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--ignore-submodules=all", commit];
        let Ok(answer) = ask(&self.root, &asked) else { return BTreeSet::new() };
        let changed: BTreeSet<PathBuf> =
            answer.split(|&byte| byte == 0).map(|name| self.root.join(path_of(name))).collect();
        let is_unchanged = |(path, entry): &(&PathBuf, &Entry)| !entry.link && !changed.contains(*path);
        // A sparse work tree lacks files that are not changed.
        let found = entries.iter().filter(is_unchanged).map(|(path, _)| path.clone());
        found.filter(|path| path.symlink_metadata().is_ok_and(|found| found.is_file())).collect()
    }

    /// The commit of each submodule in a commit, by path.
    pub(crate) fn submodules(&self, commit: &str) -> Result<Submodules, UsageError> {
        self.tree(commit).map(|(_, submodules)| submodules)
    }

    /// The files of a commit, and the commits of its submodules.
    fn tree(&self, commit: &str) -> Result<(Entries, Submodules), UsageError> {
        let listing = ask(&self.root, &["ls-tree", "-r", "-z", "--full-tree", commit])
            .map_err(|error| UsageError::new(format!("git cannot list {commit}: {error}")))?;
        let (mut entries, mut submodules) = (BTreeMap::new(), BTreeMap::new());
        for line in listing.split(|&byte| byte == 0) {
            let Some(tab) = line.iter().position(|&byte| byte == b'\t') else { continue };
            let (about, path) = (String::from_utf8_lossy(&line[..tab]), path_of(&line[tab + 1..]));
            let mut words = about.split(' ');
            let (mode, kind, object) = (words.next(), words.next(), words.next());
            let Some(object) = object.map(str::to_owned) else { continue };
            match kind {
                Some("blob") => {
                    let entry = Entry { object, link: mode == Some("120000") };
                    entries.insert(self.root.join(&path), entry);
                }
                Some("commit") => {
                    submodules.insert(self.root.join(&path), object);
                }
                _ => {}
            }
        }
        Ok((entries, submodules))
    }

    /// What the work tree has and git ignores: files, and folders as a whole.
    fn ignored(&self) -> Vec<PathBuf> {
        let asked = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"];
        let answer = ask(&self.root, &asked).unwrap_or_default();
        let names = answer.split(|&byte| byte == 0).filter(|name| !name.is_empty());
        names.map(|name| self.root.join(path_of(name.strip_suffix(b"/").unwrap_or(name)))).collect()
    }
}

/// What a folder has of a submodule.
pub(crate) struct CheckedOut {
    pub(crate) commit: String,
    /// Its files differ from those of the commit.
    pub(crate) is_changed: bool,
}

fn is_bare(folder: &Path) -> bool {
    ask(folder, &["rev-parse", "--is-bare-repository"]).is_ok_and(|answer| answer.starts_with(b"true"))
}

/// A path as git prints it after `-z`: any bytes.
#[cfg(unix)]
fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(<OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(bytes))
}

#[cfg(not(unix))]
fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::new(String::from_utf8_lossy(bytes).as_ref()))
}

/// A commit as people write it.
pub(crate) fn short(commit: &str) -> &str {
    commit.get(..7).unwrap_or(commit)
}

/// Settings of git that name programs or other repositories; each is overruled. What the configuration of a repository names
/// besides belongs to commands that are not called here.
const HARMLESS: &[&str] = &[
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "core.attributesFile=/dev/null",
    "core.alternateRefsCommand=",
    "core.sshCommand=false",
    "core.askPass=false",
    "core.gitProxy=",
    "diff.external=",
    "protocol.allow=never",
    "credential.helper=",
    "log.showSignature=false",
    "trace2.eventTarget=0",
    "trace2.normalTarget=0",
    "trace2.perfTarget=0",
];

/// Git in a folder, such that nothing is run that its configuration, its attributes or its hooks name, and nothing is fetched.
/// Filters are named by attributes under any name: each that the configuration knows becomes one that changes nothing.
fn command(folder: &Path) -> Command {
    let mut git = bare_command(folder);
    for name in drivers(folder) {
        git.arg("-c").arg(format!("{name}="));
    }
    git
}

fn bare_command(folder: &Path) -> Command {
    let mut git = Command::new("git");
    git.arg("--no-pager").arg("--no-replace-objects").arg("--no-optional-locks");
    for setting in HARMLESS {
        git.arg("-c").arg(setting);
    }
    git.arg("-C").arg(folder);
    // Objects that a partial clone lacks are missing, and not fetched.
    git.envs([("GIT_NO_LAZY_FETCH", "1"), ("GIT_TERMINAL_PROMPT", "0"), ("GIT_ATTR_NOSYSTEM", "1")]);
    for name in
        ["GIT_EXTERNAL_DIFF", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_PAGER", "GIT_ASKPASS", "GIT_PROXY_COMMAND"]
    {
        git.env_remove(name);
    }
    git
}

/// The settings of a repository that name programs for filters, conversions and comparisons. To read the configuration runs
/// nothing.
fn drivers(folder: &Path) -> Vec<String> {
    let asked = bare_command(folder)
        .args(["config", "--null", "--name-only", "--get-regexp"])
        .arg(
            r"^(filter\..*\.(clean|smudge|process|required)|diff\..*\.(command|textconv)|merge\..*\.driver)$",
        )
        .stdin(Stdio::null())
        .output();
    let names = asked.map(|answer| answer.stdout).unwrap_or_default();
    let mut names: Vec<String> = names
        .split(|byte| *byte == 0)
        .filter(|name| !name.is_empty())
        .map(|name| String::from_utf8_lossy(name).into_owned())
        .collect();
    names.sort();
    names.dedup();
    names
}

/// Runs git and gives what it printed.
pub(crate) fn ask(folder: &Path, arguments: &[&str]) -> Result<Vec<u8>, String> {
    let output = command(folder)
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

/// The files of a commit, by path.
type Entries = BTreeMap<PathBuf, Entry>;
/// The commits of submodules, by path.
type Submodules = BTreeMap<PathBuf, String>;

/// A file system in which a repository stands at one of its commits. Files are read when they are asked for.
#[derive(Debug)]
pub(crate) struct RevisionFiles<'a> {
    root: PathBuf,
    here: PathBuf,
    entries: Entries,
    /// What git does not keep: its place in the repository, and where it is read from.
    shared: BTreeMap<PathBuf, PathBuf>,
    /// The commit of each submodule.
    pub(crate) submodules: Submodules,
    /// Files that are read from the work tree, since git calls them the same.
    unchanged: BTreeSet<PathBuf>,
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

impl RevisionFiles<'_> {
    /// The folders that this revision shares with the work tree.
    pub(crate) fn shared_folders(&self) -> Vec<PathBuf> {
        self.shared.iter().filter(|(at, from)| at == from).map(|(at, _)| at.clone()).collect()
    }

    /// Reads the modules that git does not keep from another folder, which has one folder a module.
    pub(crate) fn take_modules_from(&mut self, folder: &Path) {
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
    fn start(root: &Path) -> Result<Self, UsageError> {
        let fail = |error: std::io::Error| UsageError::new(format!("cannot run git: {error}"));
        let mut child = command(root)
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
