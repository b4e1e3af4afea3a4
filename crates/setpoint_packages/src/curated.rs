//! What maintainer scripts create: no published index lists it, so a table does.
//!
//! The tables are the files `curated/*.txt`. Their format is a line per fact:
//!
//! ```text
//! # A comment.
//! package postgresql postgresql-14 …      the packages that the lines below are about
//!   user postgres postgres /var/lib/postgresql
//!   group ssl-cert
//!   file /etc/default/x                   made by a script or at the first start
//!   dir /var/lib/postgresql
//!   installs /usr/sbin/httpd              a main file of the package itself
//!   config /etc/httpd/conf/httpd.conf     the same, and a changed one is kept
//!   service httpd                         a unit of that name, where systemd has it on that platform
//! ```
//!
//! `user NAME [GROUP [HOME]]`: with a group, the group is created too; `-` stands for none.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::Family;
use crate::facts::{ConffileKnowledge, Group, PackageFacts, Service, ServiceKind, User};

/// The curated facts of a family of platforms.
#[derive(Debug, Default)]
pub struct CuratedTable {
    packages: BTreeMap<Box<str>, Curated>,
}

/// The curated facts of a package.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Curated {
    pub users: Vec<User>,
    pub groups: Vec<Group>,
    pub files: Vec<Box<str>>,
    pub directories: Vec<Box<str>>,
    pub installs: Vec<Box<str>>,
    pub config: Vec<Box<str>>,
    pub services: Vec<Service>,
}

static DEBIAN: LazyLock<CuratedTable> =
    LazyLock::new(|| CuratedTable::read(include_str!("curated/debian.txt"), "/lib/systemd/system").0);
static REDHAT: LazyLock<CuratedTable> =
    LazyLock::new(|| CuratedTable::read(include_str!("curated/redhat.txt"), "/usr/lib/systemd/system").0);
static SUSE: LazyLock<CuratedTable> =
    LazyLock::new(|| CuratedTable::read(include_str!("curated/suse.txt"), "/usr/lib/systemd/system").0);

impl CuratedTable {
    /// The table that is built in.
    pub fn of(family: Family) -> &'static Self {
        match family {
            Family::Debian => &DEBIAN,
            Family::RedHat => &REDHAT,
            Family::Suse => &SUSE,
        }
    }

    pub fn get(&self, name: &str) -> Option<&Curated> {
        self.packages.get(name)
    }

    /// All names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.packages.keys().map(|name| &**name)
    }

    /// Reads a table; lines that say nothing are given back with what is wrong.
    pub fn read(text: &str, units: &str) -> (Self, Vec<String>) {
        let mut table = Self::default();
        let mut wrong = Vec::new();
        let mut current: Vec<&str> = Vec::new();
        for (at, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default();
            let mut words = line.split_whitespace();
            let Some(kind) = words.next() else { continue };
            let words: Vec<&str> = words.collect();
            let at = at + 1;
            if words.is_empty() {
                wrong.push(format!("line {at}: `{kind}` says nothing"));
                continue;
            }
            if kind == "package" {
                current = words;
                for name in &current {
                    table.packages.entry((*name).into()).or_default();
                }
                continue;
            }
            if current.is_empty() {
                wrong.push(format!("line {at}: no package is named yet"));
                continue;
            }
            let mut problem = None;
            for name in &current {
                let facts = table.packages.entry((*name).into()).or_default();
                problem = facts.add(kind, &words, units).err();
            }
            wrong.extend(problem.map(|problem| format!("line {at}: {problem}")));
        }
        (table, wrong)
    }
}

impl Curated {
    fn add(&mut self, kind: &str, words: &[&str], units: &str) -> Result<(), String> {
        let given = |at: usize| -> Option<Box<str>> {
            words.get(at).filter(|word| !matches!(**word, "-" | "/nonexistent")).map(|word| Box::from(*word))
        };
        match kind {
            "user" => {
                let group = given(1);
                if let Some(name) = &group {
                    self.groups.push(Group { name: name.clone() });
                }
                self.users.push(User { name: words[0].into(), group, home: given(2) });
                if words.len() > 3 {
                    return Err("a user has a name, a group and a home".to_owned());
                }
            }
            "group" => self.groups.extend(words.iter().map(|name| Group { name: (*name).into() })),
            "service" => self.services.extend(words.iter().map(|name| {
                let unit = if name.contains('.') { (*name).to_owned() } else { format!("{name}.service") };
                Service {
                    name: (*name).into(),
                    kind: ServiceKind::Systemd,
                    path: format!("{units}/{unit}").into(),
                }
            })),
            "file" | "dir" | "installs" | "config" => {
                if let Some(relative) = words.iter().find(|path| !path.starts_with('/')) {
                    return Err(format!("`{relative}` is no absolute path"));
                }
                let list = match kind {
                    "file" => &mut self.files,
                    "dir" => &mut self.directories,
                    "installs" => &mut self.installs,
                    _ => &mut self.config,
                };
                list.extend(words.iter().map(|path| Box::from(*path)));
            }
            _ => return Err(format!("`{kind}` is no kind of fact")),
        }
        Ok(())
    }

    /// Adds to what an index knows. Main files are added only where no index knows all of them.
    pub(crate) fn add_to(&self, facts: &mut PackageFacts) {
        // A package that brings nothing but its own documentation only stands for another: `ntp` is ntpsec today.
        if !facts.is_partial() && facts.files.iter().all(|path| path.starts_with("/usr/share/")) {
            return;
        }
        facts.users.extend(self.users.iter().cloned());
        facts.groups.extend(self.groups.iter().cloned());
        facts.generated.extend(self.files.iter().cloned());
        facts.generated_directories.extend(self.directories.iter().cloned());
        if facts.is_partial() {
            facts.files.extend(self.installs.iter().chain(&self.config).cloned());
            facts.files.extend(self.services.iter().map(|service| service.path.clone()));
            if !self.config.is_empty() {
                facts.conffiles.extend(self.config.iter().cloned());
                facts.conffile_knowledge = ConffileKnowledge::Recorded;
            }
        }
    }
}
