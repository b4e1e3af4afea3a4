//! What a command does, as data.

use std::fmt;

use crate::Syntax;

/// What a command does. `steps` run one after another, whether or not the one before fails; the last one decides whether
/// the command fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effects {
    /// Empty if the command is not understood.
    pub steps: Vec<Step>,
    pub understood: bool,
    pub reason: Option<NotUnderstood>,
}

/// Why a command is not understood, and the word that stopped it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotUnderstood {
    pub word: String,
    pub why: String,
}

impl NotUnderstood {
    pub(crate) fn new(word: impl Into<String>, why: impl Into<String>) -> Self {
        Self { word: word.into(), why: why.into() }
    }
}

impl fmt::Display for NotUnderstood {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.word, self.why)
    }
}

/// One thing that a command does. Paths are absolute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// One after another, as long as none fails: `a && b`.
    And(Vec<Step>),
    /// The next one only if the one before fails: `a || b`.
    Or(Vec<Step>),
    /// One after another, whatever happens: `a; b`.
    Sequence(Vec<Step>),
    /// Each of them, whatever becomes of the others; a failure of one is a failure of all: `rm a b`.
    Each(Vec<Step>),
    /// Fails if the condition does not hold; changes nothing.
    Guard(Condition),
    /// Changes nothing that is known, and does not fail.
    Nothing,
    Touch(String),
    Mkdir {
        path: String,
        parents: bool,
        mode: Option<String>,
    },
    /// An empty directory.
    Rmdir(String),
    Remove {
        path: String,
        recursive: bool,
        force: bool,
    },
    /// If `to` is a directory when it runs, the copy goes into it, unless `into` says for certain.
    Copy {
        from: String,
        to: String,
        into: Option<bool>,
        recursive: bool,
    },
    /// Puts the content of one file into another that is there.
    Fill {
        from: String,
        to: String,
    },
    Move {
        from: String,
        to: String,
        into: Option<bool>,
    },
    Link {
        target: String,
        path: String,
        symbolic: bool,
        force: bool,
        /// What is a link to a directory is replaced, and not entered.
        replaces: bool,
    },
    /// Unpacks an archive into a directory.
    Extract {
        archive: String,
        into: String,
    },
    Chmod {
        path: String,
        mode: String,
        recursive: bool,
    },
    Chown {
        path: String,
        owner: Option<String>,
        group: Option<String>,
        recursive: bool,
    },
    /// Sets or extends a file; without content, what is written is not known.
    Write {
        path: String,
        content: Option<String>,
        append: bool,
    },
    /// Sets or extends a file with what only the contents of others decide; those that are missing count as empty. A path may be
    /// a pattern. A `volatile` content is another one each time.
    Make {
        path: String,
        from: Vec<String>,
        append: bool,
        volatile: bool,
    },
    /// Changes something that no resource manages: a table of the kernel, a cache, a database of answers. It has this value, and
    /// what it was made from: files, and folders that end with a slash.
    Record {
        name: String,
        value: String,
        from: Vec<String>,
    },
    /// Makes a directory and fills it with what is fetched; fails if something is in it.
    Clone {
        path: String,
        address: String,
    },
    /// Some path matches the pattern, or else it fails.
    ReadMatching(String),
    /// Edits a file in place by a program, such as that of `sed -i`.
    EditFile {
        path: String,
        program: String,
        extended: bool,
    },
    /// Fetches a content from elsewhere: what it is, only the address decides.
    Fetch {
        path: String,
        address: String,
    },
    /// May change a path, in a way that is not known.
    Disturb {
        path: String,
    },
    /// Reads a file, and fails without it.
    Read(String),
    /// Runs a program that is at one of these places, and fails if it is at none.
    Program(Vec<String>),
    InstallPackage(String),
    RemovePackage {
        name: String,
        purge: bool,
    },
    /// Fetches the lists of the package manager.
    UpdatePackageLists,
    Service {
        name: String,
        action: String,
    },
    /// The service manager reads its units again.
    ReloadUnits,
    CreateUser {
        name: String,
        group: Option<String>,
        groups: Vec<String>,
        home: Option<String>,
        create_home: bool,
        /// Its number is below those of people.
        system: bool,
    },
    /// `usermod`: what is given is changed.
    ChangeUser {
        name: String,
        group: Option<String>,
        groups: Vec<String>,
        append_groups: bool,
        home: Option<String>,
    },
    RemoveUser(String),
    /// With `force` it does not mind if it is there.
    CreateGroup {
        name: String,
        force: bool,
    },
    RemoveGroup(String),
}

/// What a command asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    Constant(bool),
    Exists(String),
    IsFile(String),
    IsDirectory(String),
    IsLink(String),
    /// A running program listens there.
    IsSocket(String),
    /// There, and not empty.
    HasContent(String),
    IsExecutable(String),
    /// A line of the file matches, or a `whole` line does.
    Matches {
        path: String,
        pattern: String,
        syntax: Syntax,
        whole: bool,
        ignore_case: bool,
    },
    SameContent(String, String),
    ProgramExists(String),
    PackageInstalled(String),
    ServiceActive(String),
    ServiceEnabled(String),
    UserExists(String),
    GroupExists(String),
    Not(Box<Condition>),
    All(Vec<Condition>),
    Any(Vec<Condition>),
}
