//! What is known of one package.

/// What is known of one package. All lists are sorted and without duplicates.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PackageFacts {
    /// The package itself: the name that was asked for without its architecture or version, or the one package that
    /// provides it.
    pub name: Box<str>,
    /// Files and links that the package brings, as absolute paths.
    pub files: Vec<Box<str>>,
    /// The files that the package manager keeps when they were changed: a subset of `files`.
    pub conffiles: Vec<Box<str>>,
    /// Directories that the package brings, parents of its files included; never `/`.
    pub directories: Vec<Box<str>>,
    /// Users and groups that its scripts create.
    pub users: Vec<User>,
    pub groups: Vec<Group>,
    /// Files that its scripts create, or that its service writes when it is started for the first time.
    pub generated: Vec<Box<str>>,
    /// Directories of the same kind.
    pub generated_directories: Vec<Box<str>>,
    /// Paths that its scripts create under conditions that were not decided: a question of the machine.
    pub conditional: Vec<Box<str>>,
    /// What can be started: units and init scripts. Two entries may have one name (`ssh` as a unit and as a script).
    pub services: Vec<Service>,
    /// Whether `files` is all that the package brings.
    pub coverage: Coverage,
    /// Whether `directories` has the empty ones too: Contents indexes do not list them.
    pub lists_empty_directories: bool,
    /// How `conffiles` is known.
    pub conffile_knowledge: ConffileKnowledge,
}

/// Whether all files of a package are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Coverage {
    /// All files that the package contains.
    #[default]
    Complete,
    /// All files but those in places where libraries and documentation are: see [`PackageFacts::covers`].
    Trimmed,
    /// Only the main files: whatever is said about other paths is a guess.
    Partial,
}

/// How the conffiles of a package are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum ConffileKnowledge {
    /// No file is marked, and none is below `/etc`.
    #[default]
    None,
    /// The source of the index marks no conffiles; those below `/etc` are taken for conffiles, as packaging tools do.
    Presumed,
    /// The package itself says so.
    Recorded,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct User {
    pub name: Box<str>,
    /// Its primary group, where known.
    pub group: Option<Box<str>>,
    pub home: Option<Box<str>>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Group {
    pub name: Box<str>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Service {
    /// As Puppet's `service` names it: `ssh`, `getty@`, `fstrim.timer`.
    pub name: Box<str>,
    pub kind: ServiceKind,
    /// The unit or script.
    pub path: Box<str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ServiceKind {
    Systemd,
    Init,
}

/// One dependency: any of these names, in order of preference.
pub type Clause = Vec<Box<str>>;

impl PackageFacts {
    /// Whether the package brings or creates this path, as a file or as a directory.
    pub fn has_path(&self, path: &str) -> bool {
        [&self.files, &self.directories, &self.generated, &self.generated_directories]
            .iter()
            .any(|paths| paths.binary_search_by(|known| (**known).cmp(path)).is_ok())
    }

    /// Directories that the package brings and that it puts nothing into.
    pub fn empty_directories(&self) -> impl Iterator<Item = &str> + '_ {
        let is_empty = |directory: &&str| {
            let start = format!("{directory}/");
            ![&self.files, &self.directories].iter().any(|paths| {
                let at = paths.partition_point(|path| **path < *start);
                paths.get(at).is_some_and(|path| path.starts_with(&start))
            })
        };
        self.directories.iter().map(|path| &**path).filter(is_empty)
    }

    pub fn is_conffile(&self, path: &str) -> bool {
        self.conffiles.binary_search_by(|known| (**known).cmp(path)).is_ok()
    }

    /// Whether the package certainly brings no file at a path that is not listed here. It may bring an empty directory
    /// unless [`lists_empty_directories`](Self::lists_empty_directories).
    pub fn covers(&self, path: &str) -> bool {
        let is_listed = match self.coverage {
            Coverage::Complete => true,
            Coverage::Trimmed => !is_trimmed(path),
            Coverage::Partial => false,
        };
        is_listed && self.conditional.binary_search_by(|known| (**known).cmp(path)).is_err()
    }

    pub fn is_partial(&self) -> bool {
        self.coverage == Coverage::Partial
    }

    /// What can be derived from the rest: directories from files, services from paths, conffiles below `/etc`.
    pub(crate) fn complete(&mut self) {
        for (files, directories) in
            [(&self.files, &mut self.directories), (&self.generated, &mut self.generated_directories)]
        {
            let above = parents(files.iter().chain(&*directories));
            directories.extend(above);
        }
        for list in [
            &mut self.files,
            &mut self.conffiles,
            &mut self.directories,
            &mut self.generated,
            &mut self.generated_directories,
            &mut self.conditional,
        ] {
            list.sort_unstable();
            list.dedup();
        }
        let (files, directories) = (&self.files, &self.directories);
        self.generated.retain(|path| files.binary_search(path).is_err());
        self.generated_directories.retain(|path| directories.binary_search(path).is_err());
        let made = [files, directories, &self.generated, &self.generated_directories];
        self.conditional.retain(|path| made.iter().all(|list| list.binary_search(path).is_err()));
        if self.conffile_knowledge == ConffileKnowledge::Recorded {
            self.conffiles.retain(|path| files.binary_search(path).is_ok());
        } else {
            self.conffiles = files.iter().filter(|path| path.starts_with("/etc/")).cloned().collect();
            self.conffile_knowledge =
                if self.conffiles.is_empty() { ConffileKnowledge::None } else { ConffileKnowledge::Presumed };
        }
        self.services.extend(self.files.iter().filter_map(|path| service_of(path)));
        self.services.sort_unstable();
        self.services.dedup();
        self.users.sort_unstable();
        self.users.dedup_by(|one, other| one.name == other.name);
        self.groups.sort_unstable();
        self.groups.dedup();
    }
}

/// Places of which a trimmed listing says nothing: libraries, documentation, data that no manifest manages. Units and what
/// systemd reads beside them are listed.
const TRIMMED: [&str; 7] =
    ["/usr/share/", "/usr/lib", "/usr/libexec/", "/usr/include/", "/usr/src/", "/lib", "/boot/"];
const NOT_TRIMMED: [&str; 6] = [
    "/lib/systemd/system/",
    "/lib/udev/rules.d/",
    "/usr/lib/systemd/system/",
    "/usr/lib/sysusers.d/",
    "/usr/lib/tmpfiles.d/",
    "/usr/lib/udev/rules.d/",
];

/// Whether a path is in a place of which a trimmed listing says nothing.
pub fn is_trimmed(path: &str) -> bool {
    TRIMMED.iter().any(|start| path.starts_with(start))
        && !NOT_TRIMMED.iter().any(|start| path.starts_with(start))
}

/// All directories above these paths, but `/`.
fn parents<'a>(paths: impl Iterator<Item = &'a Box<str>>) -> Vec<Box<str>> {
    let mut found = Vec::new();
    let mut last: &str = "";
    for path in paths {
        let Some((parent, _)) = path.rsplit_once('/') else { continue };
        // Paths are sorted, so neighbours mostly share their directory.
        if parent == last {
            continue;
        }
        last = parent;
        let mut above = parent;
        while !above.is_empty() {
            found.push(Box::from(above));
            above = above.rsplit_once('/').map_or("", |(above, _)| above);
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

const UNIT_FOLDERS: [&str; 3] = ["/lib/systemd/system/", "/usr/lib/systemd/system/", "/etc/systemd/system/"];
const INIT_FOLDERS: [&str; 2] = ["/etc/init.d/", "/etc/rc.d/init.d/"];
/// Files among the init scripts that start nothing.
const NO_SCRIPTS: [&str; 4] = ["README", "skeleton", "functions", "skeleton.compat"];

/// Whether a path is a unit or an init script.
pub fn is_service_path(path: &str) -> bool {
    service_of(path).is_some()
}

fn service_of(path: &str) -> Option<Service> {
    for folder in UNIT_FOLDERS {
        let Some(unit) = path.strip_prefix(folder) else { continue };
        let (stem, kind) = unit.rsplit_once('.')?;
        if unit.contains('/') || stem.is_empty() {
            return None;
        }
        let name = match kind {
            "service" => stem,
            "socket" | "timer" | "path" | "target" | "mount" | "automount" => unit,
            _ => return None,
        };
        return Some(Service { name: name.into(), kind: ServiceKind::Systemd, path: path.into() });
    }
    for folder in INIT_FOLDERS {
        let Some(script) = path.strip_prefix(folder) else { continue };
        if script.is_empty()
            || script.contains('/')
            || script.starts_with('.')
            || NO_SCRIPTS.contains(&script)
        {
            return None;
        }
        return Some(Service { name: script.into(), kind: ServiceKind::Init, path: path.into() });
    }
    None
}
