//! What a change of the source changes in catalogs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use setpoint_diff::{Differences, NodeResult, Root, SourceChanges, Version};
use setpoint_puppet::Compilation;
use setpoint_source::{Diagnostic, FileSystem, Severity, read_text};

use crate::jobs::Job;
use crate::options::Options;
use crate::project::Project;
use crate::session::{Session, UsageError};

/// The version that a newer one is compared with.
#[derive(Debug)]
pub struct Older<'a> {
    pub files: &'a dyn FileSystem,
    pub path: PathBuf,
}

/// What differs between two versions of a project.
#[derive(Debug, Default)]
pub struct Compared {
    pub differences: Differences,
    pub changes: SourceChanges,
    /// Why nodes of the new version do not compile, each message once.
    pub diagnostics: Vec<Diagnostic>,
}

/// Compiles every node that both versions know, and compares its catalogs.
pub fn diff(
    session: &Session<'_>,
    old: &Older<'_>,
    new: &Path,
    options: &Options,
) -> Result<Compared, UsageError> {
    let before = Session::new(old.files);
    let old_project = Project::open(&before, &old.path, options)?;
    let new_project = Project::open(session, new, options)?;
    let old_jobs: BTreeMap<String, Job> =
        old_project.plan()?.jobs.into_iter().map(|job| (job.label(), job)).collect();
    let mut compiled = Vec::new();
    for job in new_project.plan()?.jobs {
        // A node that only one version knows has nothing to be compared with.
        if let Some(was) = old_jobs.get(&job.label()) {
            compiled.push((job.label(), old_project.compile(was), new_project.compile(&job)));
        }
    }
    let (old_root, new_root) = (root(old.files, &old.path, new), root(session.files, new, new));
    let changes = source_changes((&before, &old_root), (session, &new_root));
    let mut found = Differences::default();
    for (node, was, is) in &compiled {
        match (versioned(was, &before, &old_root), versioned(is, session, &new_root)) {
            (Ok(was), Ok(is)) => found.add(node, &was, &is, &changes),
            (_, Err(message)) => found.add_failed(node, NodeResult::Fails(message)),
            (Err(message), Ok(_)) => found.add_failed(node, NodeResult::Mended(message)),
        }
    }
    let mut diagnostics = Vec::new();
    if found.fails() {
        // What several nodes have in common is said once.
        for found in compiled.into_iter().flat_map(|(_, _, is)| is.diagnostics) {
            if !diagnostics.contains(&found) {
                diagnostics.push(found);
            }
        }
    }
    Ok(Compared { differences: found, changes, diagnostics })
}

/// What is compared, in one version. A file by itself is called as the new one is.
fn root(files: &dyn FileSystem, path: &Path, new: &Path) -> Root {
    let shown = |path: &Path| path.display().to_string();
    let file = (!files.is_dir(path)).then(|| shown(new));
    let path = if file.is_none() && path == Path::new(".") { String::new() } else { shown(path) };
    Root { path, file }
}

/// A compiled version, or why there is none.
fn versioned<'a>(
    compilation: &'a Compilation,
    session: &'a Session<'_>,
    root: &'a Root,
) -> Result<Version<'a>, String> {
    match &compilation.catalog {
        Some(catalog) => Ok(Version { catalog, arena: &compilation.arena, sources: &session.sources, root }),
        None => Err(first_error(compilation, session)),
    }
}

fn first_error(compilation: &Compilation, session: &Session<'_>) -> String {
    let errors = compilation.diagnostics.iter().filter(|one| one.severity == Severity::Error);
    let told = errors.map(|error| match error.span {
        Some(span) => format!("{} ({})", error.message, session.sources.place(span)),
        None => error.message.clone(),
    });
    told.into_iter().next().unwrap_or_else(|| "there is no catalog".to_owned())
}

/// The changed lines of every file that either version read.
fn source_changes(old: (&Session<'_>, &Root), new: (&Session<'_>, &Root)) -> SourceChanges {
    // Each by its name in both versions, and whether it lies inside what is compared.
    let names = |(session, root): (&Session<'_>, &Root)| -> BTreeSet<(String, bool)> {
        let named = |path: String| {
            let name = root.shared_name(&path).to_owned();
            let inside = name != path || root.path.is_empty() || root.path == path;
            (name, inside)
        };
        session.sources.paths().into_iter().map(named).collect()
    };
    let text = |(session, root): (&Session<'_>, &Root), name: &str, inside: bool| {
        read_text(session.files, Path::new(&root.path_of(name, inside))).unwrap_or_default()
    };
    let mut changes = SourceChanges::default();
    for (name, inside) in names(old).union(&names(new)) {
        changes.add(name, &text(old, name, *inside), &text(new, name, *inside));
    }
    changes
}
