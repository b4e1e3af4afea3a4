//! What a change of the source changes in catalogs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use setpoint_diff::{Differences, NodeResult, Root, SourceChanges, Version};
use setpoint_puppet::Compilation;
use setpoint_source::{Diagnostic, FileSystem, Severity, read_text};

use crate::jobs::Job;
use crate::options::Options;
use crate::project::Project;
use crate::run::{run_in_order, threads};
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
    /// What the compiler says about the nodes of the new version if some do not compile, each message once.
    pub diagnostics: Vec<Diagnostic>,
}

/// Compiles every node in both versions and compares its catalogs. The compilations of a node are dropped before its thread
/// takes the next one; the result does not depend on the number of threads.
pub fn diff(
    session: &Session<'_>,
    old: &Older<'_>,
    new: &Path,
    options: &Options,
) -> Result<Compared, UsageError> {
    let before = Session::new(old.files);
    let old_project = Project::open(&before, &old.path, options)?;
    let new_project = Project::open(session, new, options)?;
    let (old_plan, new_plan) = (old_project.plan()?, new_project.plan()?);
    let old_jobs: IndexMap<JobKey, &Job> = old_plan.jobs.iter().map(|job| (key_of(job), job)).collect();
    let new_keys: BTreeSet<JobKey> = new_plan.jobs.iter().map(key_of).collect();
    let mut compared = Compared::default();
    let mut pairs: Vec<(&Job, &Job)> = Vec::new();
    for job in &new_plan.jobs {
        match old_jobs.get(&key_of(job)) {
            Some(was) => pairs.push((was, job)),
            None => compared.differences.added_nodes.push(job.label()),
        }
    }
    let removed = old_jobs.iter().filter(|(key, _)| !new_keys.contains(*key));
    compared.differences.removed_nodes.extend(removed.map(|(_, job)| job.label()));
    let (old_root, new_root) = (root(old.files, &old.path, new), root(session.files, new, new));
    let text = |files: &dyn FileSystem, root: &Root, name: &str, is_inside: bool| {
        read_text(files, Path::new(&root.path_of(name, is_inside))).unwrap_or_default()
    };
    let texts = |name: &str, is_inside: bool| {
        (text(old.files, &old_root, name, is_inside), text(session.files, &new_root, name, is_inside))
    };
    let changes = SourceChanges::new(&texts);
    session.progress.expect(pairs.len());
    let compare = |&(was, is): &(&Job, &Job)| {
        let node = is.label();
        session.progress.begin(&node);
        let (was, is) = (old_project.compile(was), new_project.compile(is));
        let mut found = Differences::default();
        match (versioned(&was, &before, &old_root), versioned(&is, session, &new_root)) {
            (Ok(was), Ok(is)) => found.add(&node, &was, &is, &changes),
            (_, Err(message)) => found.add_failed(&node, NodeResult::Fails(message)),
            (Err(message), Ok(_)) => found.add_failed(&node, NodeResult::Mended(message)),
        }
        (found, is.diagnostics)
    };
    run_in_order(&pairs, threads(session.jobs), compare, |(found, diagnostics)| {
        compared.differences.merge(found);
        // What several nodes have in common is said once.
        for found in diagnostics {
            if !compared.diagnostics.contains(&found) {
                compared.diagnostics.push(found);
            }
        }
    });
    if !compared.differences.fails() {
        compared.diagnostics.clear();
    }
    Ok(compared)
}

/// A case and a label: entries of a module share labels, nodes have no case.
type JobKey = (Option<String>, String);

fn key_of(job: &Job) -> JobKey {
    (job.case.clone(), job.label())
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

#[cfg(test)]
mod tests {
    use super::*;
    use setpoint_source::MemoryFileSystem;

    fn versions() -> (MemoryFileSystem, MemoryFileSystem) {
        let (mut old, mut new) = (MemoryFileSystem::new(), MemoryFileSystem::new());
        let site = |nodes: &[&str]| {
            let node = |name: &&str| format!("node '{name}' {{ include of_{name} }}\n");
            nodes.iter().map(node).collect::<String>()
        };
        old.add("repo/manifests/site.pp", site(&["a", "b", "c", "d", "gone"]));
        new.add("repo/manifests/site.pp", site(&["new", "d", "c", "b", "a"]));
        for name in ["a", "b", "c", "d", "gone", "new"] {
            let class = |text: &str| format!("class of_{name} {{ notify {{ 'n': message => '{text}' }} }}\n");
            old.add(format!("repo/modules/of_{name}/manifests/init.pp"), class("before"));
            let text = if name == "b" { "before" } else { "after" };
            new.add(format!("repo/modules/of_{name}/manifests/init.pp"), class(text));
        }
        old.add("repo/environment.conf", "");
        new.add("repo/environment.conf", "");
        (old, new)
    }

    #[test]
    fn threads_do_not_change_the_result_and_lone_nodes_are_named() {
        let (old, new) = versions();
        let printed = |jobs| {
            let mut session = Session::new(&new);
            session.jobs = Some(jobs);
            let older = Older { files: &old, path: "repo".into() };
            let compared = diff(&session, &older, Path::new("repo"), &Options::default());
            compared.map(|compared| setpoint_diff::text(&compared.differences)).map_err(|error| error.0)
        };
        let alone = printed(1);
        assert_eq!(alone, printed(4));
        let text = alone.unwrap_or_default();
        assert!(text.contains("gone is only in the old version\nnew is only in the new version\n"), "{text}");
        assert!(text.contains("modules/of_d/manifests/init.pp:1"), "{text}");
        assert!(text.ends_with("the catalogs of 3 of 4 nodes change\n"), "{text}");
    }
}
