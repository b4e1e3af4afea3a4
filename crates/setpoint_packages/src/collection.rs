//! Facts of many packages, gathered from their sources and not yet written.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use crate::facts::{Clause, Group, User};
use crate::file::coding::Paths;
use crate::{IndexError, file, is_trimmed};

/// Facts of many packages, from which an index is made.
#[derive(Debug, Clone, Default)]
pub struct Collection {
    entries: Vec<Entry>,
    by_name: FxHashMap<Box<str>, u32>,
}

/// One package.
#[derive(Debug, Clone, Default)]
pub(crate) struct Entry {
    pub(crate) name: Box<str>,
    pub(crate) files: Paths,
    pub(crate) directories: Paths,
    pub(crate) conffiles: Vec<Box<str>>,
    pub(crate) conffiles_recorded: bool,
    /// Its files were listed, even if there are none.
    pub(crate) listed: bool,
    /// Files in places that nobody manages were left out.
    pub(crate) trimmed: bool,
    pub(crate) users: Vec<User>,
    pub(crate) groups: Vec<Group>,
    pub(crate) generated: Vec<Box<str>>,
    pub(crate) generated_directories: Vec<Box<str>>,
    pub(crate) depends: Vec<Clause>,
    pub(crate) recommends: Vec<Clause>,
    pub(crate) provides: Vec<Box<str>>,
}

impl Collection {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// How many packages there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// How many paths were read; a path that two sources list counts twice.
    pub fn paths(&self) -> usize {
        self.entries.iter().map(|entry| entry.files.len()).sum()
    }

    /// The names of all packages, sorted.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.entries.iter().map(|entry| &*entry.name).collect();
        names.sort_unstable();
        names
    }

    pub fn contains(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    /// A file or link of a package; relative paths are taken from `/`.
    pub fn add_file(&mut self, package: &str, path: &str) {
        let path = absolute(path);
        if path.len() > 1 {
            self.entry(package).files.push(&path);
        }
    }

    pub fn add_directory(&mut self, package: &str, path: &str) {
        let path = absolute(path);
        if path.len() > 1 {
            self.entry(package).directories.push(&path);
        }
    }

    /// Says that all files of a package are listed.
    pub fn set_listed(&mut self, package: &str) {
        self.entry(package).listed = true;
    }

    /// The conffiles of a package, as the package itself has them.
    pub fn set_conffiles<'a>(&mut self, package: &str, paths: impl IntoIterator<Item = &'a str>) {
        let entry = self.entry(package);
        entry.conffiles_recorded = true;
        entry.conffiles.extend(paths.into_iter().map(|path| Box::from(&*absolute(path))));
    }

    pub fn add_user(&mut self, package: &str, user: User) {
        self.entry(package).users.push(user);
    }

    pub fn add_group(&mut self, package: &str, name: &str) {
        self.entry(package).groups.push(Group { name: name.into() });
    }

    pub fn add_depends(&mut self, package: &str, clause: Clause) {
        let depends = &mut self.entry(package).depends;
        if !clause.is_empty() && !depends.contains(&clause) {
            depends.push(clause);
        }
    }

    pub fn add_recommends(&mut self, package: &str, clause: Clause) {
        let recommends = &mut self.entry(package).recommends;
        if !clause.is_empty() && !recommends.contains(&clause) {
            recommends.push(clause);
        }
    }

    pub fn add_provides(&mut self, package: &str, name: &str) {
        let entry = self.entry(package);
        if *entry.name != *name && !entry.provides.iter().any(|known| **known == *name) {
            entry.provides.push(name.into());
        }
    }

    /// Forgets dependencies of a package: a newer index has other ones.
    pub fn clear_relations(&mut self, package: &str) {
        let entry = self.entry(package);
        entry.depends.clear();
        entry.recommends.clear();
        entry.provides.clear();
    }

    /// Says that there is such a package, though nothing else is known of it.
    pub fn touch(&mut self, package: &str) {
        self.entry(package);
    }

    /// Forgets the files of a package: a newer version has other ones.
    pub fn clear_listing(&mut self, package: &str) {
        let entry = self.entry(package);
        entry.files = Paths::default();
        entry.directories = Paths::default();
    }

    /// RPM packages require files by their paths, and provide names that nobody requires: paths become the packages that
    /// have them, and what is of no use is dropped.
    pub fn resolve_required_files(&mut self) {
        let mut owners: BTreeMap<Box<str>, Option<Box<str>>> = self
            .entries
            .iter()
            .flat_map(|entry| entry.depends.iter().chain(&entry.recommends).flatten())
            .filter(|name| name.starts_with('/'))
            .map(|path| (path.clone(), None))
            .collect();
        if !owners.is_empty() {
            for entry in self.sorted() {
                for path in entry.files.sorted().iter().chain(&entry.directories.sorted()) {
                    // `/bin/sh` is required and `/usr/bin/sh` is installed, or the other way round.
                    let merged = path.strip_prefix("/usr").unwrap_or_default();
                    for path in [&**path, merged, &*format!("/usr{path}")] {
                        if let Some(owner @ None) = owners.get_mut(path) {
                            *owner = Some(entry.name.clone());
                        }
                    }
                }
            }
        }
        for entry in &mut self.entries {
            for clauses in [&mut entry.depends, &mut entry.recommends] {
                for name in clauses.iter_mut().flatten() {
                    if let Some(Some(owner)) = owners.get(name) {
                        name.clone_from(owner);
                    }
                }
                let own = &entry.name;
                clauses.retain(|clause| !clause.contains(own));
                clauses.sort_unstable();
                clauses.dedup();
            }
        }
        let required: BTreeSet<Box<str>> = self
            .entries
            .iter()
            .flat_map(|entry| entry.depends.iter().chain(&entry.recommends).flatten())
            .cloned()
            .collect();
        for entry in &mut self.entries {
            entry.provides.retain(|name| !name.contains(['(', '/']) || required.contains(name));
            // What a package provides for itself needs nobody else.
            let provides: BTreeSet<&Box<str>> = entry.provides.iter().collect();
            entry.depends.retain(|clause| !clause.iter().any(|name| provides.contains(name)));
        }
    }

    /// Leaves out the files of a package that the condition does not hold for; their directories stay. All that is left out
    /// must be [trimmed](crate::is_trimmed), else the package would lack files that it is said to have.
    pub fn trim(&mut self, package: &str, keep: impl Fn(&str) -> bool) {
        let entry = self.entry(package);
        let mut files = Paths::default();
        let mut directories = BTreeSet::new();
        for path in entry.files.sorted() {
            if !is_trimmed(&path) || keep(&path) {
                files.push(&path);
            } else {
                entry.trimmed = true;
                let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
                if keep(parent) {
                    directories.insert(Box::<str>::from(parent));
                }
            }
        }
        entry.files = files;
        for directory in directories {
            entry.directories.push(&directory);
        }
    }

    /// Keeps only the packages that the condition holds for.
    pub fn retain(&mut self, keep: impl Fn(&str) -> bool) {
        self.entries.retain(|entry| keep(&entry.name));
        self.by_name =
            self.entries.iter().enumerate().map(|(at, entry)| (entry.name.clone(), at as u32)).collect();
    }

    /// The index file. The same facts give the same bytes, in whatever order they were added.
    pub fn to_bytes(&self) -> Vec<u8> {
        file::write(self)
    }

    /// Writes the index file; a file that is there is replaced only when the new one is complete.
    pub fn write(&self, path: &std::path::Path) -> Result<u64, IndexError> {
        let bytes = self.to_bytes();
        let failed = |error: std::io::Error| IndexError::new(path.display().to_string(), error.to_string());
        setpoint_source::write_file(path, &bytes).map_err(failed)?;
        Ok(bytes.len() as u64)
    }

    pub(crate) fn entry(&mut self, package: &str) -> &mut Entry {
        let at = if let Some(at) = self.by_name.get(package) {
            *at
        } else {
            let at = self.entries.len() as u32;
            self.by_name.insert(package.into(), at);
            self.entries.push(Entry { name: package.into(), ..Entry::default() });
            at
        };
        &mut self.entries[at as usize]
    }

    pub(crate) fn sorted(&self) -> Vec<&Entry> {
        let mut entries: Vec<&Entry> = self.entries.iter().collect();
        entries.sort_unstable_by(|one, other| one.name.cmp(&other.name));
        entries
    }
}

/// A path from `/`, without `./` at its start and without a slash at its end.
fn absolute(path: &str) -> std::borrow::Cow<'_, str> {
    let inner = path.strip_prefix("./").unwrap_or(path).trim_end_matches('/');
    if inner.starts_with('/') && !inner.starts_with("//") {
        return inner.into();
    }
    format!("/{}", inner.trim_start_matches('/')).into()
}
