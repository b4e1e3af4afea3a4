//! What `setpoint check` takes without an argument: the repository or module around the current folder, and everything of
//! every kind below it. And what it takes for a folder that is no project: the files in it.

use std::path::{Path, PathBuf};

use setpoint_project::{Session, UsageError, is_data_file};
use setpoint_source::FileSystem;

use crate::git;
use crate::languages;

/// The inputs of a call.
#[derive(Debug)]
pub(crate) struct Taken {
    pub(crate) inputs: Vec<PathBuf>,
    /// What was taken that nobody named, and why, in one line.
    pub(crate) words: String,
    /// The folder that was looked through.
    pub(crate) root: PathBuf,
    /// Data files in it of no kind that is known.
    pub(crate) passed_over: Vec<PathBuf>,
}

impl Taken {
    /// Inputs that the user named: nothing was looked for.
    pub(super) fn named(inputs: Vec<PathBuf>) -> Self {
        Self { inputs, words: String::new(), root: PathBuf::new(), passed_over: Vec::new() }
    }
}

/// Takes the inputs that the user named. A folder that is no input of its own stands for the files in it of a known kind; the
/// other data files in it are passed over.
pub(super) fn expand(session: &Session<'_>, inputs: &[PathBuf]) -> Taken {
    let mut taken = Taken::named(Vec::new());
    for input in inputs {
        let is_looked_through = session.files.is_dir(input) && !languages::recognises_folder(session, input);
        let mut files = Vec::new();
        if is_looked_through {
            walk(session, input, 0, &mut files);
        }
        let (known, others): (Vec<PathBuf>, Vec<PathBuf>) =
            files.into_iter().partition(|path| languages::recognises_file(session, path));
        // A folder in which nothing is known is told as it was named.
        if known.is_empty() {
            taken.inputs.push(input.clone());
            continue;
        }
        if taken.root.as_os_str().is_empty() {
            taken.root.clone_from(input);
        }
        taken.inputs.extend(known);
        taken.passed_over.extend(others.into_iter().filter(|path| is_data_file(path)));
    }
    taken
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
    let mut passed_over = Vec::new();
    for path in files {
        // The project stands for its manifests.
        let is_part = is_project && path.extension().is_some_and(|ending| ending == "pp" || ending == "epp");
        if !is_part && languages::recognises_file(session, &path) {
            inputs.push(path);
        } else if !is_project && is_data_file(&path) && !is_hidden(&path) {
            // A project counts its own.
            passed_over.push(path);
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
    let words = format!("checking {} ({why}){what}", root.display());
    Ok(Taken { inputs, words, root, passed_over })
}

/// Whether a file is one of a tool, by a name on the way to it.
fn is_hidden(path: &Path) -> bool {
    path.components().any(
        |part| matches!(part, std::path::Component::Normal(name) if name.to_string_lossy().starts_with('.')),
    )
}

/// The first folder at or above the current one that is a control repository or a module, else the current one; and why.
fn root(files: &dyn FileSystem) -> (PathBuf, &'static str) {
    let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
    for (up, folder) in here.ancestors().take_while(|folder| files.permits(folder)).enumerate() {
        let file = |name: &str| files.has_file(&folder.join(name));
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

/// The control repository or module around the current folder; else the only control repository that git tracks below it.
pub(super) fn project(session: &Session<'_>) -> Result<PathBuf, UsageError> {
    let (folder, _) = root(session.files);
    if languages::recognises_folder(session, &folder) {
        return Ok(folder);
    }
    let below = repositories_below(&tracked(&folder).unwrap_or_default());
    match below.as_slice() {
        [] => Ok(folder),
        [only] => Ok(only.clone()),
        [first, ..] => {
            let names: Vec<String> = below.iter().map(|path| path.display().to_string()).collect();
            Err(UsageError::new(format!(
                "there are several control repositories here: {}; name one, as in `setpoint diff REVISION:{}`",
                names.join(", "),
                first.display()
            )))
        }
    }
}

/// The outermost folders of control repositories among files, tests apart.
fn repositories_below(files: &[PathBuf]) -> Vec<PathBuf> {
    let is_test = |path: &Path| {
        let mut names = path.components().map(|part| part.as_os_str().to_string_lossy());
        names.any(|name| matches!(name.as_ref(), "spec" | "test" | "tests" | "fixtures" | "examples"))
    };
    let has_manifests = |folder: &Path| {
        let manifests = folder.join("manifests");
        files.iter().any(|path| path.starts_with(&manifests))
    };
    let mut found: Vec<PathBuf> = Vec::new();
    for file in files {
        let (Some(folder), Some(name)) = (file.parent(), file.file_name()) else { continue };
        let is_repository = name == "environment.conf" || (name == "Puppetfile" && has_manifests(folder));
        if is_repository && !is_test(folder) && !found.iter().any(|known| folder.starts_with(known)) {
            found.retain(|known| !known.starts_with(folder));
            let folder = folder.strip_prefix(".").unwrap_or(folder);
            found.push(folder.to_owned());
        }
    }
    found
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
    for name in session.files.list(folder).into_iter().filter(|name| !name.starts_with('.')) {
        let path = folder.join(&name);
        if session.files.is_dir(&path) {
            if depth < MAX_DEPTH {
                walk(session, &path, depth + 1, out);
            }
        } else {
            out.push(path);
        }
    }
}
