//! `setpoint diff`: what a change of the source changes in what is compiled from it.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use setpoint_diff::{About, NextRunForm, SideName};
use setpoint_git::{GitError, Repository, Side, bumped_submodules, is_bare_here, short};
use setpoint_project::{Older, Session, UsageError};
use setpoint_source::FileSystem;

use crate::cli::{DiffArgs, DiffFailOn, DiffFormat, NextRunHow};
use crate::commands::taken;
use crate::languages::DiffOutcome;
use crate::progress::Shown;
use crate::{languages, output};

pub(crate) fn run(session: &Session<'_>, args: &DiffArgs) -> Result<ExitCode, UsageError> {
    let (old, new) = sides(session, args)?;
    let mut old_files = old.files_beside(&new, session.files).map_err(usage)?;
    let new_files = new.files(session.files).map_err(usage)?;
    let not_compared = bumped_submodules(old_files.as_ref(), new_files.as_ref(), &old).map_err(usage)?;
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
fn sides(session: &Session<'_>, args: &DiffArgs) -> Result<(Side, Side), UsageError> {
    let files = session.files;
    // Only a side that names no path is looked for.
    let find = |name: &str, other: Option<&Path>| {
        let other = match other {
            Some(other) => other.to_owned(),
            None if is_path(files, name) || inner_path(files, name).is_some() => PathBuf::new(),
            None => taken::project(session)?,
        };
        Side::find(files, name, &other).map_err(usage)
    };
    if let (None, Some((from, to))) = (&args.new, args.old.split_once("...")) {
        let new = if to.is_empty() { work_tree(session)? } else { find(to, None)? };
        let old = find(from, Some(&new.path))?;
        return Ok((old.at_merge_base(&new).map_err(usage)?, new));
    }
    let new = match &args.new {
        Some(name) => find(name, None)?,
        None => match inner_path(files, &args.old) {
            Some(path) => Side::of_work_tree(path),
            None => work_tree(session)?,
        },
    };
    let old = find(&args.old, Some(&new.path))?;
    if args.new.is_none() && old.revision.is_none() {
        return Err(UsageError::new(format!(
            "`{}` is a file or folder; name what to compare it with, or name a git revision",
            args.old
        )));
    }
    // Two revisions are compared as they are named, like `git diff A B`.
    let old =
        if args.direct || new.revision.is_some() { old } else { old.at_merge_base(&new).map_err(usage)? };
    Ok((old, new))
}

/// The control repository or module around the current folder, as `check` takes it, or below it.
fn work_tree(session: &Session<'_>) -> Result<Side, UsageError> {
    if is_bare_here() {
        return Err(UsageError::new("this repository is bare: name both revisions"));
    }
    Ok(Side::of_work_tree(taken::project(session)?))
}

/// The path in `REVISION:PATH`.
fn inner_path(files: &dyn FileSystem, name: &str) -> Option<PathBuf> {
    name.split_once(':').filter(|_| !is_path(files, name)).map(|(_, path)| PathBuf::from(path))
}

fn is_path(files: &dyn FileSystem, name: &str) -> bool {
    files.is_file(Path::new(name)) || files.is_dir(Path::new(name))
}

fn usage(error: GitError) -> UsageError {
    UsageError::new(error.0)
}

/// What the two sides are called.
fn about(args: &DiffArgs, old: &Side, new: &Side) -> About {
    let repository = Repository::of(Path::new(".")).ok();
    let marker = args.marker.clone().or_else(|| repository.as_ref()?.origin());
    let path = |named: &Side| SideName { name: named.path.display().to_string(), ..SideName::default() };
    let commit = |commit: &str| SideName { name: short(commit).to_owned(), ..SideName::default() };
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
