//! What models take for granted about one catalog: nobody looked, so that nothing that rests on it is proved.

use std::collections::{BTreeMap, BTreeSet};

use setpoint_catalog::ResourceId;

/// Something that holds for this catalog alone, if it holds.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Assumption {
    /// No index knows the package: it installs only what is named after it.
    UnknownPackage {
        package: String,
    },
    /// Several packages provide the name: whichever is installed brings only what is named after it.
    VirtualPackage {
        package: String,
        providers: Vec<String>,
    },
    /// The index lists a part of the package: the rest matters to nothing.
    PartialPackage {
        package: String,
    },
    /// The index lists all files of the package and no empty directories: it has none that matter, and neither do its scripts.
    EmptyDirectories {
        package: String,
    },
    /// A part of what the package depends on is not known: it installs nothing that matters.
    Dependencies {
        package: String,
    },
    /// An archive that the machine knows already has the package, or has it in that version.
    KnownArchive {
        package: String,
    },
    /// The package of another manager installs nothing that matters.
    ForeignPackage {
        package: String,
        provider: String,
    },
    /// A file that a package brings has none of the entries that resources manage in it.
    PackagedEntries {
        path: String,
    },
    /// The type has no model: it touches only what its parameters name and what is of its own type.
    UnmodelledType {
        type_name: String,
    },
    /// The checks of a command are not understood: they look only at what they name.
    UnreadCheck {
        resource: String,
    },
    /// A script that a resource declares, and that need not come first, is there as it is declared or not at all.
    DeclaredScript {
        path: String,
    },
    /// Something listens at a socket that a command waits for.
    Listening {
        path: String,
    },
    ExistingDirectory {
        path: String,
    },
    ExistingFile {
        path: String,
    },
    /// What is at a path that nothing manages is a file, if anything.
    PlainFile {
        path: String,
    },
    ExistingUser {
        name: String,
    },
    ExistingGroup {
        name: String,
    },
    /// A service that nothing in the catalog brings has a unit or a script.
    ExistingUnit {
        service: String,
    },
    /// A source that was not read is a file with a content of its own.
    UnreadSource {
        address: String,
    },
    /// A source that was not found does not exist, so that the next one is taken.
    MissingSource {
        address: String,
    },
    /// The command that checks a content accepts it.
    AcceptedContent {
        path: String,
    },
    /// Of what packages bring below a directory some paths are left out: they matter to nothing.
    ManyPaths {
        path: String,
        left_out: usize,
    },
    /// A checkout brings none of the paths that the catalog names below it.
    Checkout {
        path: String,
    },
    /// What a purge removes matters to no other resource.
    Purged {
        type_name: String,
    },
    /// A resource edits this file: its parameters do not say which.
    GuessedFile {
        path: String,
    },
    /// What a file says that tools read while they make a resource changes nothing of it.
    Settings {
        path: String,
        resource: String,
    },
    /// A service starts without something that its configuration names.
    NamedByConfiguration {
        what: String,
        service: String,
    },
    /// A user may change nothing in a folder of the platform.
    NoPermission {
        user: String,
        path: String,
    },
    /// A chain of links is no longer than those that are followed.
    LongLinks {
        path: String,
    },
}

/// An assumption, and the resources that it is made for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Assumed {
    pub assumption: Assumption,
    pub resources: Vec<ResourceId>,
    /// Whether it is about the start alone, so that the same can be asked of every start.
    pub is_about_start: bool,
}

/// The assumptions while a plan is built.
#[derive(Default)]
pub(crate) struct Assumptions {
    found: BTreeMap<Assumption, BTreeSet<ResourceId>>,
    about_start: BTreeSet<Assumption>,
    /// The resource whose model is being made.
    pub(crate) current: Option<ResourceId>,
}

impl Assumptions {
    /// Adds an assumption that the model of the current resource makes.
    pub(crate) fn add(&mut self, assumption: Assumption) {
        self.found.entry(assumption).or_default().extend(self.current);
    }

    /// Adds an assumption that the plan has as a test of its start.
    pub(crate) fn add_about_start(&mut self, assumption: Assumption) {
        self.about_start.insert(assumption.clone());
        self.add(assumption);
    }

    pub(crate) fn finish(self) -> Vec<Assumed> {
        let about_start = self.about_start;
        let assumed = |(assumption, all): (Assumption, BTreeSet<ResourceId>)| {
            let is_about_start = about_start.contains(&assumption);
            Assumed { assumption, resources: all.into_iter().collect(), is_about_start }
        };
        self.found.into_iter().map(assumed).collect()
    }
}
