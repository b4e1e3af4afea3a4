//! Git, asked by its own program: what a revision holds, and which two sides a comparison has.
//!
//! It is run only where the user names a revision or asks for it, and by one function, which overrules every setting with which a
//! repository could name a program. [`Repository`] answers about revisions, [`RevisionFiles`] has the files of one, and a [`Side`]
//! is what a name means that stands for one side of a comparison.

mod files;
mod sides;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use setpoint_source::FileSystem;

use files::{Entries, Entry, Submodules};

pub use files::RevisionFiles;
pub use sides::{Side, bumped_submodules, is_bare_here};

/// Why git gave no answer, as a sentence for the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitError(pub String);

impl GitError {
    fn new(words: impl Into<String>) -> Self {
        Self(words.into())
    }
}

/// A repository of this machine.
#[derive(Debug, Clone)]
pub struct Repository {
    root: PathBuf,
}

impl Repository {
    /// The repository that a path lies in.
    pub fn of(path: &Path) -> Result<Self, GitError> {
        let folder = if path.is_dir() { path } else { path.parent().unwrap_or(Path::new(".")) };
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        match ask(folder, &["rev-parse", "--show-toplevel"]) {
            Ok(answer) => Ok(Self { root: path_of(answer.strip_suffix(b"\n").unwrap_or(&answer)) }),
            // A bare repository has commits and no work tree: its own folder stands for the root of each.
            Err(_) if is_bare(folder) => {
                Ok(Self { root: std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned()) })
            }
            Err(error) => Err(GitError::new(format!("{} is in no git repository: {error}", path.display()))),
        }
    }

    /// Whether there are commits and no work tree.
    pub fn is_bare(&self) -> bool {
        is_bare(&self.root)
    }

    /// The commit that a name stands for, if it is one.
    pub fn commit(&self, name: &str) -> Option<String> {
        if name.starts_with('-') {
            return None;
        }
        let wanted = format!("{name}^{{commit}}");
        let answer = ask(&self.root, &["rev-parse", "--verify", "--quiet", &wanted]).ok()?;
        Some(String::from_utf8_lossy(&answer).trim_end().to_owned())
    }

    /// The last commit that two commits have in common. That there is none is an error, and says what to do.
    pub fn merge_base(&self, one: &str, other: &str) -> Result<String, GitError> {
        if let Ok(answer) = ask(&self.root, &["merge-base", one, other]) {
            return Ok(String::from_utf8_lossy(&answer).trim_end().to_owned());
        }
        let names = format!("{} and {}", short(one), short(other));
        Err(GitError::new(if self.is_shallow() {
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
    pub fn is_shallow(&self) -> bool {
        let answer = ask(&self.root, &["rev-parse", "--is-shallow-repository"]).unwrap_or_default();
        answer.starts_with(b"true")
    }

    /// Whether tracked files of the work tree differ from what is committed.
    pub fn is_changed(&self) -> bool {
        let asked = ["status", "--porcelain", "--untracked-files=normal", "--ignore-submodules=dirty"];
        ask(&self.root, &asked).is_ok_and(|answer| !answer.is_empty())
    }

    /// `owner/name` of the repository that this one was cloned from.
    pub fn origin(&self) -> Option<String> {
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
    pub fn files_of<'a>(
        &self,
        commit: &str,
        others: &'a dyn FileSystem,
    ) -> Result<RevisionFiles<'a>, GitError> {
        let (entries, submodules) = self.tree(commit)?;
        RevisionFiles::new(&self.root, entries, self.ignored(), submodules, others)
    }

    /// The files of a commit, to be compared with the work tree: what git calls unchanged is read from there, so that line ends
    /// that git converts and filters that it runs are no change.
    pub fn files_beside_work_tree<'a>(
        &self,
        commit: &str,
        others: &'a dyn FileSystem,
    ) -> Result<RevisionFiles<'a>, GitError> {
        let mut files = self.files_of(commit, others)?;
        files.unchanged = self.unchanged_since(commit, &files.entries);
        Ok(files)
    }

    /// What is checked out of a submodule; nothing if its folder is empty.
    pub fn checked_out(&self, submodule: &Path) -> Option<CheckedOut> {
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
    pub fn submodules(&self, commit: &str) -> Result<Submodules, GitError> {
        self.tree(commit).map(|(_, submodules)| submodules)
    }

    /// The files of a commit, and the commits of its submodules.
    fn tree(&self, commit: &str) -> Result<(Entries, Submodules), GitError> {
        let listing = ask(&self.root, &["ls-tree", "-r", "-z", "--full-tree", commit])
            .map_err(|error| GitError::new(format!("git cannot list {commit}: {error}")))?;
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
#[derive(Debug)]
pub struct CheckedOut {
    pub commit: String,
    /// Its files differ from those of the commit.
    pub is_changed: bool,
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
pub fn short(commit: &str) -> &str {
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
pub fn ask(folder: &Path, arguments: &[&str]) -> Result<Vec<u8>, String> {
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
