//! The two sides of a comparison, as they are named on a command line.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use setpoint_source::FileSystem;

use super::{GitError, Repository, RevisionFiles, short};

/// A sentence for each submodule whose old commit is not the one that is read: one of them is checked out, for both sides.
pub fn bumped_submodules(
    old_files: Option<&RevisionFiles<'_>>,
    new_files: Option<&RevisionFiles<'_>>,
    old: &Side,
) -> Result<Vec<String>, GitError> {
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
            told.push(format!("{name} {} → {} was not compared", short(was), short(is)));
        } else if here.is_some_and(|here| here.is_changed) {
            told.push(format!("what is not committed in the submodule {name} was not compared"));
        }
    }
    Ok(told)
}

/// Whether the repository around the current folder has commits and no work tree.
pub fn is_bare_here() -> bool {
    Repository::of(Path::new(".")).is_ok_and(|repository| repository.is_bare())
}

/// One side: a path, perhaps of a revision.
#[derive(Debug, Clone)]
pub struct Side {
    pub path: PathBuf,
    pub revision: Option<(Repository, String)>,
    /// The revision is the last one that both sides have in common.
    pub is_base: bool,
}

impl Side {
    /// A file or folder as it is now.
    pub fn of_work_tree(path: PathBuf) -> Self {
        Self { path, revision: None, is_base: false }
    }

    /// What a name stands for: a file or folder if there is one, else a revision, with the path that it names or the path of the
    /// other side.
    pub fn find(files: &dyn FileSystem, name: &str, other: &Path) -> Result<Self, GitError> {
        let path = Path::new(name);
        // The folder of a bare repository has a file `HEAD`, which nobody means.
        if (files.is_file(path) || files.is_dir(path)) && !is_bare_here() {
            return Ok(Self::of_work_tree(path.to_owned()));
        }
        let (revision, inner) =
            name.split_once(':').map_or((name, None), |(revision, path)| (revision, Some(path)));
        let path = inner.map_or_else(|| other.to_owned(), PathBuf::from);
        let repository = Repository::of(Path::new(".")).map_err(|_| {
            GitError::new(format!("there is no file or folder `{name}`, and this is no git repository"))
        })?;
        let Some(commit) = repository.commit(revision) else {
            let hint = if repository.is_shallow() {
                "; this clone is shallow: fetch all history (`fetch-depth: 0` for actions/checkout)"
            } else if name.contains("..") {
                "; name two revisions with a space between them, or `A...B` for what B changed since their merge base"
            } else {
                ""
            };
            return Err(GitError::new(format!("there is no file, folder or git revision `{name}`{hint}")));
        };
        Ok(Self { path, revision: Some((repository, commit)), is_base: false })
    }

    /// The last commit that this side has in common with another one, or with what is checked out.
    pub fn at_merge_base(self, other: &Self) -> Result<Self, GitError> {
        let Some((repository, commit)) = self.revision else { return Ok(self) };
        let head = match &other.revision {
            Some((_, commit)) => commit.clone(),
            None => repository
                .commit("HEAD")
                .ok_or_else(|| GitError::new("nothing is committed here; compare by --direct"))?,
        };
        let base = repository.merge_base(&commit, &head)?;
        Ok(Self { revision: Some((repository, base)), is_base: true, ..self })
    }

    /// The files of its revision, to be compared with another side; nothing if it is as it is now.
    pub fn files_beside<'a>(
        &self,
        other: &Self,
        others: &'a dyn FileSystem,
    ) -> Result<Option<RevisionFiles<'a>>, GitError> {
        match (&self.revision, &other.revision) {
            (Some((repository, commit)), None) => repository.files_beside_work_tree(commit, others).map(Some),
            _ => self.files(others),
        }
    }

    /// The files of its revision; nothing if it is as it is now.
    pub fn files<'a>(&self, others: &'a dyn FileSystem) -> Result<Option<RevisionFiles<'a>>, GitError> {
        self.revision.as_ref().map(|(repository, commit)| repository.files_of(commit, others)).transpose()
    }
}
