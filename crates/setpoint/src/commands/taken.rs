//! What `setpoint check` takes without an argument: the repository or module around the current folder, and everything of
//! every kind below it. And what it takes for a folder that is no project: the files in it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use setpoint_project::{Session, UsageError, find_project_above, is_data_file, is_repository};
use setpoint_source::{FileSystem, few};

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

/// Takes the inputs that the user named. A folder that is no input of its own stands for the projects and files in it of a known
/// kind; the other data files in it are passed over.
pub(super) fn expand(session: &Session<'_>, inputs: &[PathBuf]) -> Taken {
    let mut taken = Taken::named(Vec::new());
    for input in inputs {
        let is_looked_through = session.files.is_dir(input) && !languages::recognises_folder(session, input);
        let mut files = Vec::new();
        if is_looked_through {
            walk(session, input, 0, &mut files);
        }
        let found = sort_out(session, input, files);
        // A folder in which nothing is known is told as it was named.
        if found.projects.is_empty() && found.files.is_empty() {
            taken.inputs.push(input.clone());
            continue;
        }
        if taken.root.as_os_str().is_empty() {
            taken.root.clone_from(input);
        }
        taken.inputs.extend(found.projects);
        taken.inputs.extend(found.files);
        taken.passed_over.extend(found.passed_over);
    }
    taken
}

/// What is in a folder.
#[derive(Debug, Default)]
struct Found {
    /// The control repositories and modules, the outermost ones only.
    projects: Vec<PathBuf>,
    /// Files of a known kind, without those that a project stands for.
    files: Vec<PathBuf>,
    /// Other data files.
    passed_over: Vec<PathBuf>,
}

/// Sorts the files of a folder into projects, inputs of their own, and data files that nobody reads.
fn sort_out(session: &Session<'_>, root: &Path, files: Vec<PathBuf>) -> Found {
    let projects = projects_among(session, root, &files);
    let mut found = Found { projects: projects.iter().cloned().collect(), ..Found::default() };
    for path in files {
        let is_part = is_in(&projects, &path);
        if !(is_part && is_puppet_code(&path)) && languages::recognises_file(session, &path) {
            found.files.push(path);
        } else if !is_part && is_data_file(&path) && !is_hidden(&path) {
            // A project counts its own.
            found.passed_over.push(path);
        }
    }
    found
}

/// The outermost control repositories and modules of which a folder has code. One that was found before the repository around it is
/// a part of that.
fn projects_among(session: &Session<'_>, root: &Path, files: &[PathBuf]) -> BTreeSet<PathBuf> {
    let mut projects: BTreeSet<PathBuf> = BTreeSet::new();
    if languages::recognises_folder(session, root) {
        projects.insert(root.to_owned());
    }
    for path in files.iter().filter(|path| is_puppet_code(path)) {
        if !is_in(&projects, path)
            && let Some(project) = find_project_above(session, path, Some(root))
        {
            projects.insert(project);
        }
    }
    let is_inner = |project: &PathBuf| is_in(&projects, project);
    projects.iter().filter(|project| !is_inner(project)).cloned().collect()
}

fn is_puppet_code(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "pp" || ending == "epp")
}

/// Whether a file lies in one of the folders.
fn is_in(folders: &BTreeSet<PathBuf>, path: &Path) -> bool {
    path.ancestors().skip(1).any(|above| folders.contains(above))
}

/// Folders are followed so far.
const MAX_DEPTH: usize = 32;

/// Finds the inputs around the current folder.
pub(crate) fn find(session: &Session<'_>) -> Result<Taken, UsageError> {
    let (root, why) = root(session.files);
    let (files, source) = if let Some(files) = tracked(&root) {
        (files, "tracked by git")
    } else {
        let mut files = Vec::new();
        walk(session, &root, 0, &mut files);
        (files, "outside of hidden folders")
    };
    let Found { projects, files, passed_over } = sort_out(session, &root, files);
    if projects.is_empty() && files.is_empty() {
        return Err(UsageError::new(format!(
            "there is nothing to check in {} ({why}): name a file or folder",
            root.display()
        )));
    }
    let is_project = projects.contains(&root);
    let names: Vec<String> = projects.iter().map(|project| project.display().to_string()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let inner = if is_project { String::new() } else { few(&names, 3) };
    let others = match (files.len(), projects.is_empty()) {
        (0, _) => String::new(),
        (count, true) => format!("{count} file{} {source}", plural(count)),
        (count, false) => format!("{count} other file{} {source}", plural(count)),
    };
    let parts: Vec<&str> =
        [inner.as_str(), others.as_str()].into_iter().filter(|part| !part.is_empty()).collect();
    let what = match parts.as_slice() {
        [] => String::new(),
        parts if is_project => format!(" and {}", parts.join(" and ")),
        parts => format!(": {}", parts.join(" and ")),
    };
    let words = format!("checking {} ({why}){what}", root.display());
    Ok(Taken { inputs: projects.into_iter().chain(files).collect(), words, root, passed_over })
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
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
    let tracked = tracked(&folder).unwrap_or_default();
    let is_test = |path: &Path| {
        let mut names = path.components().map(|part| part.as_os_str().to_string_lossy());
        names.any(|name| matches!(name.as_ref(), "spec" | "test" | "tests" | "fixtures" | "examples"))
    };
    let below = projects_among(session, &folder, &tracked).into_iter();
    let below = below.filter(|project| is_repository(session, project) && !is_test(project));
    let below: Vec<PathBuf> =
        below.map(|project| project.strip_prefix(".").map(Path::to_owned).unwrap_or(project)).collect();
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

/// The folder so many steps above, as people write it.
fn relative(up: usize) -> PathBuf {
    if up == 0 { PathBuf::from(".") } else { std::iter::repeat_n("..", up).collect() }
}

/// The files below a folder that git tracks; nothing if it is in no repository.
fn tracked(root: &Path) -> Option<Vec<PathBuf>> {
    let listed = setpoint_git::ask(root, &["ls-files", "-z", "--cached", "."]).ok()?;
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
