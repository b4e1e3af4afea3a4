//! What `setpoint check` takes without an argument: the repository or module around the current folder, and everything of
//! every kind below it.

use std::path::{Path, PathBuf};

use setpoint_project::{Session, UsageError};
use setpoint_source::FileSystem;

use crate::git;
use crate::languages;

/// Inputs that nobody named.
#[derive(Debug)]
pub(crate) struct Taken {
    pub(crate) inputs: Vec<PathBuf>,
    /// What was taken, and why, in one line.
    pub(crate) words: String,
}

/// Folders are followed so far.
const MAX_DEPTH: usize = 32;

/// Finds the inputs around the current folder.
pub(crate) fn find(session: &Session<'_>) -> Result<Taken, UsageError> {
    let (root, why) = root(session.files);
    let mut inputs = Vec::new();
    let is_project = languages::recognises_folder(session, &root);
    if is_project {
        inputs.push(root.clone());
    }
    let (files, source) = if let Some(files) = tracked(&root) {
        (files, "tracked by git")
    } else {
        let mut files = Vec::new();
        walk(session, &root, 0, &mut files);
        (files, "outside of hidden folders")
    };
    for path in files {
        // The project stands for its manifests.
        let is_part = is_project && path.extension().is_some_and(|ending| ending == "pp" || ending == "epp");
        if !is_part && languages::recognises_file(session, &path) {
            inputs.push(path);
        }
    }
    if inputs.is_empty() {
        return Err(UsageError::new(format!(
            "there is nothing to check in {} ({why}): name a file or folder",
            root.display()
        )));
    }
    let others = inputs.len() - usize::from(is_project);
    let count = format!(
        "{others} {}file{} {source}",
        if is_project { "other " } else { "" },
        if others == 1 { "" } else { "s" }
    );
    let what = match (is_project, others) {
        (true, 0) => String::new(),
        (true, _) => format!(" and {count}"),
        (false, _) => format!(": {count}"),
    };
    Ok(Taken { inputs, words: format!("checking {} ({why}){what}", root.display()) })
}

/// The first folder at or above the current one that is a control repository or a module, else the current one; and why.
pub(super) fn root(files: &dyn FileSystem) -> (PathBuf, &'static str) {
    let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
    for (up, folder) in here.ancestors().take_while(|folder| files.permits(folder)).enumerate() {
        let file = |name: &str| files.is_file(&folder.join(name));
        let is_repository =
            file("environment.conf") || (file("Puppetfile") && files.is_dir(&folder.join("manifests")));
        let why = match (is_repository, file("metadata.json")) {
            (true, _) => "a control repository",
            (false, true) => "a module",
            (false, false) => continue,
        };
        return (relative(up), why);
    }
    (PathBuf::from("."), "the current folder")
}

/// The folder so many steps above, as people write it.
fn relative(up: usize) -> PathBuf {
    if up == 0 { PathBuf::from(".") } else { std::iter::repeat_n("..", up).collect() }
}

/// The files below a folder that git tracks; nothing if it is in no repository.
fn tracked(root: &Path) -> Option<Vec<PathBuf>> {
    let listed = git::ask(root, &["ls-files", "-z", "--cached", "."]).ok()?;
    let names = listed.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    let paths = names.map(|name| root.join(String::from_utf8_lossy(name).as_ref()));
    Some(paths.collect())
}

fn walk(session: &Session<'_>, folder: &Path, depth: usize, out: &mut Vec<PathBuf>) {
    for name in session.files.list(folder) {
        let path = folder.join(&name);
        if session.files.is_dir(&path) {
            if depth < MAX_DEPTH && !name.starts_with('.') {
                walk(session, &path, depth + 1, out);
            }
        } else {
            out.push(path);
        }
    }
}
