//! `setpoint diff`: what a change of the source changes in what is compiled from it.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use setpoint_project::{Older, Session, UsageError};
use setpoint_source::FileSystem;

use crate::cli::DiffArgs;
use crate::git::{Repository, RevisionFiles};
use crate::{languages, output};

pub(crate) fn run(session: &Session<'_>, args: &DiffArgs) -> Result<ExitCode, UsageError> {
    let new = match &args.new {
        Some(name) => Named::find(session.files, name, None)?,
        None => Named { path: PathBuf::from("."), revision: None },
    };
    let old = Named::find(session.files, &args.old, Some(&new.path))?;
    if args.new.is_none() && old.revision.is_none() {
        return Err(UsageError::new(format!(
            "`{}` is a file or folder; name what to compare it with, or name a git revision",
            args.old
        )));
    }
    let old_files = old.files(session.files)?;
    let new_files = new.files(session.files)?;
    // What is new is the input; what is old is read beside it.
    let session = Session::new(new_files.as_ref().map_or(session.files, |files| files));
    let before =
        Older { files: old_files.as_ref().map_or(session.files, |files| files), path: old.path.clone() };
    let language = languages::of(&session, &new.path, &args.options)?;
    let outcome = language.diff(&session, &before, &new.path, &args.options, &args.format)?;
    Ok(output::outcome(&outcome, &session.sources))
}

/// One side: a path, perhaps of a revision.
struct Named {
    path: PathBuf,
    revision: Option<(Repository, String)>,
}

impl Named {
    /// What a name stands for: a file or folder if there is one, else a revision, with the path that it names
    /// or the path of the other side.
    fn find(files: &dyn FileSystem, name: &str, other: Option<&Path>) -> Result<Self, UsageError> {
        let path = Path::new(name);
        if files.is_file(path) || files.is_dir(path) {
            return Ok(Self { path: path.to_owned(), revision: None });
        }
        let (revision, inner) =
            name.split_once(':').map_or((name, None), |(revision, path)| (revision, Some(path)));
        let path = inner
            .map(PathBuf::from)
            .or_else(|| other.map(Path::to_owned))
            .unwrap_or_else(|| PathBuf::from("."));
        let repository = Repository::of(Path::new(".")).map_err(|_| {
            UsageError::new(format!("there is no file or folder `{name}`, and this is no git repository"))
        })?;
        let Some(commit) = repository.commit(revision) else {
            return Err(UsageError::new(format!("there is no file, folder or git revision `{name}`")));
        };
        Ok(Self { path, revision: Some((repository, commit)) })
    }

    fn files<'a>(&self, others: &'a dyn FileSystem) -> Result<Option<RevisionFiles<'a>>, UsageError> {
        self.revision.as_ref().map(|(repository, commit)| repository.files_of(commit, others)).transpose()
    }
}
