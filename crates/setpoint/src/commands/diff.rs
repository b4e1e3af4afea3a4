//! `setpoint diff`: what a change of the source changes in what is compiled from it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use setpoint_diff::{About, NextRunForm, SideName};
use setpoint_project::{Older, Session, UsageError};
use setpoint_source::FileSystem;

use crate::cli::{DiffArgs, DiffFailOn, DiffFormat, NextRunHow};
use crate::commands::taken;
use crate::git::{self, Repository, RevisionFiles};
use crate::languages::DiffOutcome;
use crate::progress::Shown;
use crate::{languages, output};

pub(crate) fn run(session: &Session<'_>, args: &DiffArgs) -> Result<ExitCode, UsageError> {
    let (old, new) = sides(session, args)?;
    let mut old_files = match (&old.revision, &new.revision) {
        (Some((repository, commit)), None) => Some(repository.files_beside_work_tree(commit, session.files)?),
        _ => old.files(session.files)?,
    };
    let new_files = new.files(session.files)?;
    let not_compared = bumped_submodules(old_files.as_ref(), new_files.as_ref(), &old)?;
    let mut shared = Vec::new();
    if let Some(files) = &mut old_files {
        if let Some(folder) = &args.old_modulepath {
            files.take_modules_from(folder);
        }
        shared = files.shared_folders();
    }
    let shown = Shown::start(args.format == DiffFormat::Text);
    // What is new is the input; what is old is read beside it.
    let mut input = session.beside(new_files.as_ref().map_or(session.files, |files| files));
    input.jobs = session.jobs;
    input.progress = shown.progress();
    let before = Older {
        files: old_files.as_ref().map_or(session.files, |files| files),
        path: old.path.clone(),
        shared,
        modulepath: args.old_modulepath.as_ref().map(|folder| folder.display().to_string()),
        not_compared,
    };
    let language = languages::of(&input, &new.path, &args.options)?;
    let about = about(args, &old, &new);
    let outcome = language.diff(&input, &before, &new.path, &args.options, about)?;
    drop(shown);
    output::diagnostics(&outcome.diagnostics, &input.sources);
    let printed = (outcome.print)(args.format);
    if !printed.is_empty() {
        output::result(&printed);
    }
    for (format, path) in &args.output {
        setpoint_source::write_file(path, output::shown(&(outcome.print)(*format), false).as_bytes())
            .map_err(|error| UsageError::new(format!("cannot write {}: {error}", path.display())))?;
    }
    Ok(ExitCode::from(status(&outcome, args)))
}

/// 1 for what fails the call; else, if it is asked for, 2 for what changes.
fn status(outcome: &DiffOutcome, args: &DiffArgs) -> u8 {
    let has = |effect| outcome.effects.contains(&effect);
    let is_asked = |effect: &DiffFailOn| args.fail_on.contains(effect);
    let fails = has(DiffFailOn::Error) || outcome.effects.iter().any(is_asked);
    match (fails && !args.fail_on.contains(&DiffFailOn::Never), has(DiffFailOn::Change)) {
        (true, _) => 1,
        (false, true) if args.detailed_exitcodes => 2,
        _ => 0,
    }
}

/// What is compared with what.
fn sides(session: &Session<'_>, args: &DiffArgs) -> Result<(Named, Named), UsageError> {
    let files = session.files;
    if let (None, Some((from, to))) = (&args.new, args.old.split_once("...")) {
        let new = if to.is_empty() { Named::work_tree(session)? } else { Named::find(session, to, None)? };
        let old = Named::find(session, from, Some(&new.path))?;
        return Ok((old.at_merge_base(&new)?, new));
    }
    let new = match &args.new {
        Some(name) => Named::find(session, name, None)?,
        None => match inner_path(files, &args.old) {
            Some(path) => Named { path, revision: None, is_base: false },
            None => Named::work_tree(session)?,
        },
    };
    let old = Named::find(session, &args.old, Some(&new.path))?;
    if args.new.is_none() && old.revision.is_none() {
        return Err(UsageError::new(format!(
            "`{}` is a file or folder; name what to compare it with, or name a git revision",
            args.old
        )));
    }
    // Two revisions are compared as they are named, like `git diff A B`.
    let old = if args.direct || new.revision.is_some() { old } else { old.at_merge_base(&new)? };
    Ok((old, new))
}

/// The path in `REVISION:PATH`.
fn inner_path(files: &dyn FileSystem, name: &str) -> Option<PathBuf> {
    let is_path = files.is_file(Path::new(name)) || files.is_dir(Path::new(name));
    name.split_once(':').filter(|_| !is_path).map(|(_, path)| PathBuf::from(path))
}

/// What the two sides are called.
fn about(args: &DiffArgs, old: &Named, new: &Named) -> About {
    let repository = Repository::of(Path::new(".")).ok();
    let marker = args.marker.clone().or_else(|| repository.as_ref()?.origin());
    let path = |named: &Named| SideName { name: named.path.display().to_string(), ..SideName::default() };
    let commit = |commit: &str| SideName { name: git::short(commit).to_owned(), ..SideName::default() };
    let old_name = match &old.revision {
        Some((_, name)) => SideName { before: if old.is_base { "merge base " } else { "" }, ..commit(name) },
        None => path(old),
    };
    let head = || repository.as_ref()?.commit("HEAD");
    let new_name = match (&new.revision, old.revision.is_some().then(head).flatten()) {
        (Some((_, name)), _) => commit(name),
        (None, Some(head)) => {
            let is_changed = repository.as_ref().is_some_and(Repository::is_changed);
            SideName { after: if is_changed { " with uncommitted changes" } else { "" }, ..commit(&head) }
        }
        (None, None) => path(new),
    };
    let command = if new_name.after.is_empty() {
        format!("setpoint diff {} {}", old_name.name, new_name.name)
    } else {
        format!("setpoint diff --direct {}", old_name.name)
    };
    About {
        command,
        old: old_name,
        new: new_name,
        marker: marker.unwrap_or_else(|| "local".to_owned()),
        report: args.report_url.clone(),
        next_run: match args.next_run {
            Some(NextRunHow::Full) => Some(NextRunForm::Full),
            Some(NextRunHow::Short) => Some(NextRunForm::Short),
            None => args.fail_on.contains(&DiffFailOn::Restart).then_some(NextRunForm::Short),
        },
        ..About::default()
    }
}

/// A sentence for each submodule whose old commit is not the one that is read: one of them is checked out, for both sides.
fn bumped_submodules(
    old_files: Option<&RevisionFiles<'_>>,
    new_files: Option<&RevisionFiles<'_>>,
    old: &Named,
) -> Result<Vec<String>, UsageError> {
    let (Some(files), Some((repository, _))) = (old_files, &old.revision) else { return Ok(Vec::new()) };
    let wanted: BTreeMap<PathBuf, String> = match new_files {
        Some(files) => files.submodules.clone(),
        None => repository.submodules("HEAD")?,
    };
    let mut told = Vec::new();
    for (path, was) in &files.submodules {
        let Some(is) = wanted.get(path) else { continue };
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        // Of two revisions neither needs to be checked out; of the work tree, what is there is the new version.
        let here = if new_files.is_none() { repository.checked_out(path) } else { None };
        let is = match &here {
            Some(here) if here.commit != *was => &here.commit,
            _ => is,
        };
        if is != was {
            told.push(format!("{name} {} → {} was not compared", git::short(was), git::short(is)));
        } else if here.is_some_and(|here| here.is_changed) {
            told.push(format!("what is not committed in the submodule {name} was not compared"));
        }
    }
    Ok(told)
}

/// One side: a path, perhaps of a revision.
struct Named {
    path: PathBuf,
    revision: Option<(Repository, String)>,
    /// The revision is the last one that both sides have in common.
    is_base: bool,
}

impl Named {
    /// The repository or module around the current folder, as `check` takes it, or below it.
    fn work_tree(session: &Session<'_>) -> Result<Self, UsageError> {
        if Repository::of(Path::new(".")).is_ok_and(|repository| repository.is_bare()) {
            return Err(UsageError::new("this repository is bare: name both revisions"));
        }
        Ok(Self { path: taken::project(session)?, revision: None, is_base: false })
    }

    /// What a name stands for: a file or folder if there is one, else a revision, with the path that it names
    /// or the path of the other side.
    fn find(session: &Session<'_>, name: &str, other: Option<&Path>) -> Result<Self, UsageError> {
        let files = session.files;
        let path = Path::new(name);
        // The folder of a bare repository has a file `HEAD`, which nobody means.
        let is_bare = || Repository::of(Path::new(".")).is_ok_and(|repository| repository.is_bare());
        if (files.is_file(path) || files.is_dir(path)) && !is_bare() {
            return Ok(Self { path: path.to_owned(), revision: None, is_base: false });
        }
        let (revision, inner) =
            name.split_once(':').map_or((name, None), |(revision, path)| (revision, Some(path)));
        let path = match (inner, other) {
            (Some(inner), _) => PathBuf::from(inner),
            (None, Some(other)) => other.to_owned(),
            (None, None) => taken::project(session)?,
        };
        let repository = Repository::of(Path::new(".")).map_err(|_| {
            UsageError::new(format!("there is no file or folder `{name}`, and this is no git repository"))
        })?;
        let Some(commit) = repository.commit(revision) else {
            let hint = if repository.is_shallow() {
                "; this clone is shallow: fetch all history (`fetch-depth: 0` for actions/checkout)"
            } else {
                ""
            };
            return Err(UsageError::new(format!("there is no file, folder or git revision `{name}`{hint}")));
        };
        Ok(Self { path, revision: Some((repository, commit)), is_base: false })
    }

    /// The last commit that this side has in common with another one, or with what is checked out.
    fn at_merge_base(self, other: &Self) -> Result<Self, UsageError> {
        let Some((repository, commit)) = self.revision else { return Ok(self) };
        let head = match &other.revision {
            Some((_, commit)) => commit.clone(),
            None => repository
                .commit("HEAD")
                .ok_or_else(|| UsageError::new("nothing is committed here; compare by --direct"))?,
        };
        let base = repository.merge_base(&commit, &head)?;
        Ok(Self { revision: Some((repository, base)), is_base: true, ..self })
    }

    fn files<'a>(&self, others: &'a dyn FileSystem) -> Result<Option<RevisionFiles<'a>>, UsageError> {
        self.revision.as_ref().map(|(repository, commit)| repository.files_of(commit, others)).transpose()
    }
}
