//! The index that is asked: several layers, the first that knows a package decides.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use setpoint_source::FileSystem;

use crate::curated::CuratedTable;
use crate::exclusive::exclusions;
use crate::facts::{Clause, ConffileKnowledge, Coverage, PackageFacts};
use crate::file::IndexFile;
use crate::names::candidates;
use crate::relations::{List, Relations};
use crate::{IndexError, Platform, builtin};

/// What packages install. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Index {
    /// From the one that decides first.
    files: Vec<Arc<IndexFile>>,
    curated: Vec<&'static CuratedTable>,
    relations: Arc<OnceLock<Result<Relations, IndexError>>>,
}

/// What a name is.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(clippy::large_enum_variant, reason = "it is taken apart where it is asked for, and never kept")]
pub enum Found {
    Package(PackageFacts),
    /// No package has the name; these provide it, and none can be chosen for the user.
    Virtual(Vec<Box<str>>),
    /// No layer knows it.
    Unknown,
}

/// The packages that an installation brings.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Dependencies {
    /// The packages that must be there, the asked one included, sorted by name.
    pub packages: Vec<Box<str>>,
    /// Dependencies of which no alternative is known.
    pub unknown: Vec<Clause>,
    /// Dependencies that several packages could meet, none of them named first: another one may be installed.
    pub uncertain: Vec<Clause>,
    /// Packages among them that were chosen, and those that would do as well if they were installed before.
    pub choices: Vec<Choice>,
}

/// A package that meets a dependency which others could meet, too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    pub chosen: Box<str>,
    pub instead: Vec<Box<str>>,
}

/// The packages that a removal takes away, the asked one not included, sorted by name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Dependants {
    /// They cannot stay: nothing else can meet one of their dependencies.
    pub certain: Vec<Box<str>>,
    /// They go too unless another alternative of their dependency is installed.
    pub possible: Vec<Box<str>>,
}

/// How much an index knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Summary {
    pub packages: u64,
    pub paths: u64,
}

impl Index {
    /// An index that knows nothing.
    pub fn empty() -> Self {
        Self::default()
    }

    /// An index file. Only its table is read; packages are read when they are asked for.
    pub fn open(files: &dyn FileSystem, path: &Path) -> Result<Self, IndexError> {
        Ok(Self::of(IndexFile::open(files, path)?))
    }

    /// The bytes of an index file.
    pub fn from_bytes(bytes: impl Into<Cow<'static, [u8]>>) -> Result<Self, IndexError> {
        Ok(Self::of(IndexFile::from_bytes(bytes.into())?))
    }

    fn of(file: IndexFile) -> Self {
        Self { files: vec![Arc::new(file)], ..Self::default() }
    }

    /// What is built in for a platform: an index of common packages where there is one, and the curated table. All that ask share it,
    /// with what it has unpacked: an editor or a server asks again and again.
    pub fn builtin(platform: Platform) -> Self {
        static KNOWN: Mutex<BTreeMap<&'static str, Index>> = Mutex::new(BTreeMap::new());
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let index = known.entry(platform.name()).or_insert_with(|| {
            let mut index = builtin::index(platform);
            index.curated.push(CuratedTable::of(platform.family()));
            index
        });
        index.clone()
    }

    /// This index, and below it another that is asked for what this one does not know.
    #[must_use]
    pub fn over(&self, below: &Self) -> Self {
        let mut curated = self.curated.clone();
        curated.extend(
            below.curated.iter().filter(|table| !self.curated.iter().any(|own| std::ptr::eq(*own, **table))),
        );
        Self {
            files: self.files.iter().chain(&below.files).cloned().collect(),
            curated,
            relations: Arc::default(),
        }
    }

    pub fn summary(&self) -> Summary {
        let mut summary = Summary::default();
        for file in &self.files {
            summary.packages += u64::from(file.packages());
            summary.paths += file.paths();
        }
        summary
    }

    /// What is known of a package; `None` if nothing is, or if several packages provide the name.
    pub fn lookup(&self, name: &str) -> Result<Option<PackageFacts>, IndexError> {
        Ok(match self.find(name)? {
            Found::Package(facts) => Some(facts),
            Found::Virtual(_) | Found::Unknown => None,
        })
    }

    /// What a name is: a package, also with its architecture or version in the name; or what provides it.
    pub fn find(&self, name: &str) -> Result<Found, IndexError> {
        let names = candidates(name);
        for name in &names {
            if let Some(facts) = self.exactly(name)? {
                return Ok(Found::Package(facts));
            }
        }
        for name in &names {
            let relations = self.relations()?;
            let Some(number) = relations.number(name) else { continue };
            let providers: Vec<Box<str>> =
                relations.providers(number).iter().map(|provider| relations.name(*provider).into()).collect();
            if let [only] = &providers[..] {
                if let Some(facts) = self.exactly(only)? {
                    return Ok(Found::Package(facts));
                }
            } else if !providers.is_empty() {
                return Ok(Found::Virtual(providers));
            }
        }
        Ok(Found::Unknown)
    }

    fn exactly(&self, name: &str) -> Result<Option<PackageFacts>, IndexError> {
        let mut found: Option<PackageFacts> = None;
        for file in &self.files {
            let Some(facts) = file.lookup(name)? else { continue };
            match &mut found {
                None => found = Some(facts),
                Some(found) => below(found, facts),
            }
        }
        for curated in self.curated.iter().filter_map(|table| table.get(name)) {
            let found = found.get_or_insert_with(|| PackageFacts {
                name: name.into(),
                coverage: Coverage::Partial,
                ..PackageFacts::default()
            });
            curated.add_to(found);
        }
        if let Some(found) = &mut found {
            found.complete();
        }
        Ok(found)
    }

    /// What a package depends on, each with its alternatives; empty for what is not known.
    pub fn depends(&self, name: &str) -> Result<Vec<Clause>, IndexError> {
        let relations = self.relations()?;
        Ok(package_of(relations, name)
            .map(|package| relations.depends(package).map(|clause| relations.clause(clause)).collect())
            .unwrap_or_default())
    }

    /// What a package recommends: apt installs it too unless it is told not to.
    pub fn recommends(&self, name: &str) -> Result<Vec<Clause>, IndexError> {
        let relations = self.relations()?;
        Ok(package_of(relations, name)
            .map(|package| relations.recommends(package).map(|clause| relations.clause(clause)).collect())
            .unwrap_or_default())
    }

    /// The packages that provide a name and are not called so.
    pub fn providers(&self, name: &str) -> Result<Vec<Box<str>>, IndexError> {
        let relations = self.relations()?;
        let providers = relations.number(name).map_or(&[][..], |number| relations.providers(number));
        Ok(providers.iter().map(|provider| relations.name(*provider).into()).collect())
    }

    /// The names that a package provides besides its own.
    pub fn provides(&self, name: &str) -> Result<Vec<Box<str>>, IndexError> {
        self.names_in(name, List::Provides)
    }

    /// All packages that must be there once this one is installed, itself included. Nothing if it is not known.
    pub fn dependencies(&self, name: &str) -> Result<Dependencies, IndexError> {
        self.closure(name, None, false)
    }

    /// The same on a machine that has another package already: what that one meets is not installed.
    pub fn dependencies_beside(&self, name: &str, present: &str) -> Result<Dependencies, IndexError> {
        self.closure(name, Some(present), false)
    }

    /// The same with what is recommended, as apt installs it by default.
    pub fn dependencies_with_recommended(&self, name: &str) -> Result<Dependencies, IndexError> {
        self.closure(name, None, true)
    }

    /// The same on a machine that has another package already.
    pub fn recommended_beside(&self, name: &str, present: &str) -> Result<Dependencies, IndexError> {
        self.closure(name, Some(present), true)
    }

    fn closure(
        &self,
        name: &str,
        present: Option<&str>,
        recommended: bool,
    ) -> Result<Dependencies, IndexError> {
        let relations = self.relations()?;
        let Some(start) = package_of(relations, name) else { return Ok(Dependencies::default()) };
        let mut closure = Closure::new(relations);
        closure.present = present.and_then(|present| package_of(relations, present));
        closure.add(start);
        closure.run(recommended);
        let mut packages: Vec<Box<str>> =
            closure.order.iter().map(|package| relations.name(*package).into()).collect();
        packages.sort_unstable();
        let clauses = |found: &[&[u32]]| found.iter().map(|clause| relations.clause(clause)).collect();
        Ok(Dependencies {
            packages,
            unknown: clauses(&closure.unknown),
            uncertain: clauses(&closure.uncertain),
            choices: closure.choices.iter().map(|(clause, chosen)| closure.choice(clause, *chosen)).collect(),
        })
    }

    /// The pairs of places in a list of packages of which no installation has both, sorted, the smaller place first: one of
    /// them, or what it needs, conflicts with the other. Names that are not known exclude nothing.
    pub fn exclusions(&self, names: &[&str]) -> Result<Vec<(usize, usize)>, IndexError> {
        let relations = self.relations()?;
        let known: Vec<(usize, u32)> = names
            .iter()
            .enumerate()
            .filter_map(|(at, name)| Some((at, package_of(relations, name)?)))
            .collect();
        let packages: Vec<u32> = known.iter().map(|(_, package)| *package).collect();
        let pairs = exclusions(relations, &packages);
        Ok(pairs.into_iter().map(|(one, other)| (known[one].0, known[other].0)).collect())
    }

    /// The names that a package conflicts with or breaks, in the versions of its release.
    pub fn excludes(&self, name: &str) -> Result<Vec<Box<str>>, IndexError> {
        self.names_in(name, List::Excludes)
    }

    /// The packages whose files a package takes over.
    pub fn replaces(&self, name: &str) -> Result<Vec<Box<str>>, IndexError> {
        self.names_in(name, List::Replaces)
    }

    fn names_in(&self, name: &str, list: List) -> Result<Vec<Box<str>>, IndexError> {
        let relations = self.relations()?;
        let names = package_of(relations, name).map_or(&[][..], |package| relations.list(package, list));
        Ok(names.iter().map(|name| relations.name(*name).into()).collect())
    }

    /// All packages that cannot stay once this one is removed.
    pub fn dependants(&self, name: &str) -> Result<Dependants, IndexError> {
        let relations = self.relations()?;
        let Some(start) = package_of(relations, name) else { return Ok(Dependants::default()) };
        let reverse = relations.reverse();
        let certain = removal(relations, reverse, start, true);
        let all = removal(relations, reverse, start, false);
        let names = |packages: &mut dyn Iterator<Item = u32>| {
            let mut names: Vec<Box<str>> = packages.map(|package| relations.name(package).into()).collect();
            names.sort_unstable();
            names
        };
        let mut sorted = certain.clone();
        sorted.sort_unstable();
        Ok(Dependants {
            certain: names(&mut certain.iter().copied()),
            possible: names(&mut all.iter().copied().filter(|one| sorted.binary_search(one).is_err())),
        })
    }

    fn relations(&self) -> Result<&Relations, IndexError> {
        self.relations
            .get_or_init(|| {
                let mut layers = self.files.iter();
                let mut all =
                    layers.next().map_or_else(|| Ok(Relations::default()), |file| file.relations())?;
                for file in layers {
                    all.extend(&file.relations()?);
                }
                Ok(all)
            })
            .as_ref()
            .map_err(Clone::clone)
    }
}

/// The number of the package that a name stands for.
fn package_of(relations: &Relations, name: &str) -> Option<u32> {
    let names = candidates(name);
    let numbers = || names.iter().filter_map(|name| relations.number(name));
    numbers().find(|number| relations.is_package(*number)).or_else(|| {
        numbers().find_map(|number| match relations.providers(number) {
            [only] => Some(*only),
            _ => None,
        })
    })
}

/// What a lower layer adds to a package that a higher one knows: conffiles and scripts' work, never files.
fn below(found: &mut PackageFacts, lower: PackageFacts) {
    if found.coverage == Coverage::Partial && lower.coverage != Coverage::Partial {
        found.files = lower.files;
        found.directories = lower.directories;
        found.coverage = lower.coverage;
        found.lists_empty_directories = lower.lists_empty_directories;
    } else if !found.lists_empty_directories && lower.lists_empty_directories {
        found.directories.extend(lower.directories);
        found.lists_empty_directories = true;
    }
    if found.conffile_knowledge != ConffileKnowledge::Recorded
        && lower.conffile_knowledge == ConffileKnowledge::Recorded
    {
        found.conffiles = lower.conffiles;
        found.conffile_knowledge = ConffileKnowledge::Recorded;
    }
    found.users.extend(lower.users);
    found.groups.extend(lower.groups);
    found.generated.extend(lower.generated);
    found.generated_directories.extend(lower.generated_directories);
    found.conditional.extend(lower.conditional);
}

/// What is installed with a package, as apt chooses: what has one answer first, then the first alternative that exists.
pub(crate) struct Closure<'a> {
    relations: &'a Relations,
    inside: Vec<bool>,
    pub(crate) order: Vec<u32>,
    /// A package that the machine has already.
    present: Option<u32>,
    unknown: Vec<&'a [u32]>,
    uncertain: Vec<&'a [u32]>,
    choices: Vec<(&'a [u32], u32)>,
}

impl<'a> Closure<'a> {
    pub(crate) fn new(relations: &'a Relations) -> Self {
        let inside = vec![false; relations.count()];
        Self {
            relations,
            inside,
            order: Vec::new(),
            present: None,
            unknown: Vec::new(),
            uncertain: Vec::new(),
            choices: Vec::new(),
        }
    }

    pub(crate) fn add(&mut self, package: u32) {
        if !std::mem::replace(&mut self.inside[package as usize], true) {
            self.order.push(package);
        }
    }

    pub(crate) fn run(&mut self, recommended: bool) {
        let mut next = 0;
        let mut later: Vec<(&'a [u32], bool)> = Vec::new();
        let mut at_later = 0;
        loop {
            if let Some(package) = self.order.get(next).copied() {
                next += 1;
                for clause in self.relations.depends(package) {
                    match clause {
                        [only] if self.relations.is_package(*only) => self.add(*only),
                        _ => later.push((clause, true)),
                    }
                }
                if recommended {
                    later.extend(self.relations.recommends(package).map(|clause| (clause, false)));
                }
            } else if let Some((clause, needed)) = later.get(at_later).copied() {
                at_later += 1;
                self.choose(clause, needed);
            } else {
                break;
            }
        }
    }

    fn choose(&mut self, clause: &'a [u32], needed: bool) {
        let mut candidates = clause.iter().flat_map(|name| self.relations.candidates(*name));
        if candidates.any(|package| self.inside[package as usize] || self.present == Some(package)) {
            return;
        }
        for name in clause {
            let first = if self.relations.is_package(*name) {
                *name
            } else {
                match self.relations.providers(*name) {
                    [] => continue,
                    [only] => *only,
                    [first, ..] => {
                        self.uncertain.push(clause);
                        *first
                    }
                }
            };
            self.choices.push((clause, first));
            self.add(first);
            return;
        }
        if needed {
            self.unknown.push(clause);
        }
    }

    fn choice(&self, clause: &[u32], chosen: u32) -> Choice {
        let candidates = clause.iter().flat_map(|name| self.relations.candidates(*name));
        let mut instead: Vec<Box<str>> = candidates
            .filter(|package| *package != chosen)
            .map(|package| self.relations.name(package).into())
            .collect();
        instead.sort_unstable();
        instead.dedup();
        Choice { chosen: self.relations.name(chosen).into(), instead }
    }
}

/// The packages that go with one: with `certain`, those of which a dependency can be met by nothing that stays; else all
/// that name it, or what goes with it, in a dependency.
fn removal(relations: &Relations, reverse: &[Vec<u32>], start: u32, certain: bool) -> Vec<u32> {
    let mut gone = vec![false; relations.count()];
    gone[start as usize] = true;
    let mut order = vec![start];
    let mut next = 0;
    while let Some(package) = order.get(next).copied() {
        next += 1;
        let names = std::iter::once(package).chain(relations.provides(package).iter().copied());
        for dependant in names.flat_map(|name| &reverse[name as usize]) {
            if gone[*dependant as usize] {
                continue;
            }
            let stays = |name: u32| {
                (relations.is_package(name) && !gone[name as usize])
                    || relations.providers(name).iter().any(|provider| !gone[*provider as usize])
            };
            let concerned = |clause: &[u32]| {
                clause.iter().any(|name| {
                    (relations.is_package(*name) && gone[*name as usize])
                        || relations.providers(*name).iter().any(|provider| gone[*provider as usize])
                })
            };
            let goes = relations.depends(*dependant).any(|clause| {
                if certain {
                    concerned(clause) && !clause.iter().any(|name| stays(*name))
                } else {
                    concerned(clause)
                }
            });
            if goes {
                gone[*dependant as usize] = true;
                order.push(*dependant);
            }
        }
    }
    order.remove(0);
    order
}
