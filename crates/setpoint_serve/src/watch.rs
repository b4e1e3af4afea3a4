//! A file system that remembers what was asked of it, to find out whether the answers still hold.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use setpoint_source::{Bounds, FileError, FileSystem};
use sha2::{Digest, Sha256};

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Question {
    Read(PathBuf),
    IsFile(PathBuf),
    IsDir(PathBuf),
    List(PathBuf),
}

/// Remembers the digest of every answer.
#[derive(Debug)]
pub(crate) struct WatchedFiles<'a> {
    base: &'a dyn FileSystem,
    answers: Mutex<BTreeMap<Question, [u8; 32]>>,
}

impl<'a> WatchedFiles<'a> {
    pub(crate) fn new(base: &'a dyn FileSystem) -> Self {
        Self { base, answers: Mutex::default() }
    }

    /// Whether every question that was asked has the same answer now.
    pub(crate) fn is_unchanged(&self) -> bool {
        let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.iter().all(|(question, digest)| self.ask(question) == *digest)
    }

    fn ask(&self, question: &Question) -> [u8; 32] {
        let answer = match question {
            Question::Read(path) => self.base.read(path).unwrap_or_else(|_| b"unreadable".to_vec()),
            Question::IsFile(path) => vec![u8::from(self.base.is_file(path))],
            Question::IsDir(path) => vec![u8::from(self.base.is_dir(path))],
            Question::List(path) => self.base.list(path).join("\0").into_bytes(),
        };
        digest(&answer)
    }

    fn remember(&self, question: Question, answer: &[u8]) {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.entry(question).or_insert_with(|| digest(answer));
    }
}

fn digest(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

impl FileSystem for WatchedFiles<'_> {
    fn bounds(&self) -> Option<&Bounds> {
        self.base.bounds()
    }

    fn read(&self, path: &Path) -> Result<Vec<u8>, FileError> {
        let read = self.base.read(path);
        let bytes: &[u8] = read.as_deref().unwrap_or(b"unreadable");
        self.remember(Question::Read(path.to_owned()), bytes);
        read
    }

    fn is_file(&self, path: &Path) -> bool {
        let answer = self.base.is_file(path);
        self.remember(Question::IsFile(path.to_owned()), &[u8::from(answer)]);
        answer
    }

    fn is_dir(&self, path: &Path) -> bool {
        let answer = self.base.is_dir(path);
        self.remember(Question::IsDir(path.to_owned()), &[u8::from(answer)]);
        answer
    }

    fn list(&self, path: &Path) -> Vec<String> {
        let names = self.base.list(path);
        self.remember(Question::List(path.to_owned()), names.join("\0").as_bytes());
        names
    }

    fn link_target(&self, path: &Path) -> Option<PathBuf> {
        self.base.link_target(path)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use setpoint_source::{FileSystem, MemoryFileSystem, OverlayFileSystem};

    use super::WatchedFiles;

    #[test]
    fn a_changed_file_is_noticed() {
        let mut base = MemoryFileSystem::new();
        base.add("a.pp", "1".to_owned());
        let watched = WatchedFiles::new(&base);
        assert!(watched.read(Path::new("a.pp")).is_ok() && watched.is_unchanged());
        let answers = watched.answers.into_inner().unwrap_or_default();
        let mut over = MemoryFileSystem::new();
        over.add("a.pp", "2".to_owned());
        let changed = OverlayFileSystem { over, base: &base };
        let later = WatchedFiles { base: &changed, answers: answers.into() };
        assert!(!later.is_unchanged());
    }
}
