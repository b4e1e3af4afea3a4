//! Which packages need, recommend, provide, exclude and replace which names.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::OnceLock;

use crate::collection::Entry;
use crate::facts::Clause;
use crate::file::coding::{Broken, Reader, put_list, put_number};
use crate::read::compare;

/// A name in a field such as `Conflicts`, and the versions of it that are meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Relation {
    pub(crate) name: Box<str>,
    pub(crate) version: Option<(Bound, Box<str>)>,
}

/// How a version is compared with the one that a relation names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bound {
    Earlier,
    AtMost,
    Exactly,
    AtLeast,
    Later,
}

impl Bound {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "<<" => Self::Earlier,
            // The signs of old packages mean what their doubles with `=` mean.
            "<=" | "<" => Self::AtMost,
            "=" => Self::Exactly,
            ">=" | ">" => Self::AtLeast,
            ">>" => Self::Later,
            _ => return None,
        })
    }

    fn holds(self, version: &str, bound: &str) -> bool {
        let found = compare(version, bound);
        match self {
            Self::Earlier => found == Ordering::Less,
            Self::AtMost => found != Ordering::Greater,
            Self::Exactly => found == Ordering::Equal,
            Self::AtLeast => found != Ordering::Less,
            Self::Later => found == Ordering::Greater,
        }
    }
}

/// The packages of a collection by the names that they have or provide, and in which version.
struct KnownVersions<'a>(BTreeMap<&'a str, Vec<(&'a str, &'a str)>>);

impl<'a> KnownVersions<'a> {
    fn of(entries: &[&'a Entry]) -> Self {
        let mut found: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
        for entry in entries {
            found.entry(&entry.name).or_default().push((&entry.name, &entry.version));
            for (name, version) in &entry.provided_versions {
                found.entry(name).or_default().push((&entry.name, version));
            }
        }
        Self(found)
    }

    /// The names that relations mean, sorted; where versions are given, the packages of the collection in these versions. Most
    /// relations name older versions: they guard an upgrade, and say nothing of packages of one release.
    fn met(&self, relations: &'a [Relation]) -> Vec<&'a str> {
        let mut names: Vec<&str> = Vec::new();
        for relation in relations {
            let Some((bound, wanted)) = &relation.version else {
                names.push(&relation.name);
                continue;
            };
            let known = self.0.get(&*relation.name).map_or(&[][..], Vec::as_slice);
            let meant = |version: &str| !version.is_empty() && bound.holds(version, wanted);
            names.extend(known.iter().filter(|(_, version)| meant(version)).map(|(package, _)| *package));
        }
        names.sort_unstable();
        names.dedup();
        names
    }
}

/// The lists of names that a package has besides its clauses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum List {
    Provides,
    /// What cannot be installed beside it.
    Excludes,
    /// Whose files it takes over.
    Replaces,
}

const LISTS: [List; 3] = [List::Provides, List::Excludes, List::Replaces];

/// Names are numbers here: packages first, then names that are only needed or provided.
#[derive(Debug, Clone, Default)]
pub(crate) struct Relations {
    /// All names as one text.
    text: String,
    names: Vec<Range<u32>>,
    /// Numbers sorted by name; names from other layers are looked for in `added`.
    sorted: Range<u32>,
    sorted_rest: Range<u32>,
    added: BTreeMap<Box<str>, u32>,
    /// Of each name: its clauses in `clauses`, dependencies first, then recommendations. Empty for what is no package.
    needs: Vec<Range<u32>>,
    recommends_from: Vec<u32>,
    is_package: Vec<bool>,
    clauses: Vec<Range<u32>>,
    alternatives: Vec<u32>,
    /// Of each name and each of its lists: the names in `members`.
    lists: Vec<[Range<u32>; 3]>,
    members: Vec<u32>,
    /// Of each name: the packages that provide it, sorted by name.
    providers: Vec<Vec<u32>>,
    reverse: OnceLock<Vec<Vec<u32>>>,
    excluded: OnceLock<Vec<Vec<u32>>>,
}

const EMPTY_LISTS: [Range<u32>; 3] = [0..0, 0..0, 0..0];

/// What `from_bytes` reads.
pub(crate) fn to_bytes(entries: &[&Entry]) -> Vec<u8> {
    let packages: Vec<&str> = entries.iter().map(|entry| &*entry.name).collect();
    let versions = KnownVersions::of(entries);
    let lists: Vec<[Vec<&str>; 3]> = entries
        .iter()
        .map(|entry| {
            let provides = entry.provides.iter().map(|name| &**name).collect();
            [provides, versions.met(&entry.excludes), versions.met(&entry.replaces)]
        })
        .collect();
    let mut others: Vec<&str> = entries
        .iter()
        .flat_map(|entry| entry.depends.iter().chain(&entry.recommends).flatten().map(|name| &**name))
        .chain(lists.iter().flatten().flatten().copied())
        .filter(|name| packages.binary_search(name).is_err())
        .collect();
    others.sort_unstable();
    others.dedup();
    let number = |name: &str| -> u64 {
        let at = packages.binary_search(&name);
        at.unwrap_or_else(|_| packages.len() + others.binary_search(&name).unwrap_or_default()) as u64
    };
    let mut out = Vec::new();
    put_list(&mut out, &packages);
    put_list(&mut out, &others);
    for (entry, lists) in entries.iter().zip(&lists) {
        for clauses in [&entry.depends, &entry.recommends] {
            put_number(&mut out, clauses.len() as u64);
            for clause in clauses {
                if let [only] = &clause[..] {
                    put_number(&mut out, number(only) << 1);
                } else {
                    put_number(&mut out, (clause.len() as u64) << 1 | 1);
                    for name in clause {
                        put_number(&mut out, number(name));
                    }
                }
            }
        }
        for list in lists {
            put_number(&mut out, list.len() as u64);
            for name in list {
                put_number(&mut out, number(name));
            }
        }
    }
    out
}

impl Relations {
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self, Broken> {
        let mut found = Self::default();
        if bytes.is_empty() {
            return Ok(found);
        }
        let mut reader = Reader::new(bytes);
        for _ in 0..2 {
            let count = reader.count()?;
            let start = found.names.len() as u32;
            reader.start_list();
            let mut before = String::new();
            for at in 0..count {
                let name = reader.next_in_list()?;
                if at > 0 && name <= before.as_str() {
                    return Err("its names are not in order");
                }
                name.clone_into(&mut before);
                found.push_name(&before)?;
            }
            let end = found.names.len() as u32;
            if found.sorted.is_empty() && start == 0 && found.is_package.is_empty() {
                found.sorted = start..end;
                found.is_package = vec![true; count];
            } else {
                found.sorted_rest = start..end;
                found.is_package.resize(end as usize, false);
            }
        }
        let total = found.names.len() as u32;
        let valid = |number: u64| -> Result<u32, Broken> {
            u32::try_from(number)
                .ok()
                .filter(|number| *number < total)
                .ok_or("it names a package that it does not have")
        };
        let nothing = |list: usize| list as u32..list as u32;
        for _ in found.sorted.clone() {
            let first = found.clauses.len() as u32;
            let mut recommends_from = first;
            for kind in 0..2 {
                if kind == 1 {
                    recommends_from = found.clauses.len() as u32;
                }
                for _ in 0..reader.count()? {
                    let start = found.alternatives.len() as u32;
                    let head = reader.number()?;
                    if head & 1 == 0 {
                        found.alternatives.push(valid(head >> 1)?);
                    } else {
                        for _ in 0..head >> 1 {
                            found.alternatives.push(valid(reader.number()?)?);
                        }
                    }
                    found.clauses.push(start..found.alternatives.len() as u32);
                }
            }
            found.needs.push(first..found.clauses.len() as u32);
            found.recommends_from.push(recommends_from);
            let mut lists = EMPTY_LISTS;
            for list in &mut lists {
                let start = found.members.len() as u32;
                for _ in 0..reader.count()? {
                    found.members.push(valid(reader.number()?)?);
                }
                *list = start..found.members.len() as u32;
            }
            found.lists.push(lists);
        }
        for _ in found.sorted_rest.clone() {
            found.needs.push(nothing(found.clauses.len()));
            found.recommends_from.push(found.clauses.len() as u32);
            found.lists.push(EMPTY_LISTS);
        }
        found.providers = vec![Vec::new(); total as usize];
        for package in found.sorted.clone() {
            for at in found.lists[package as usize][List::Provides as usize].clone() {
                found.providers[found.members[at as usize] as usize].push(package);
            }
        }
        Ok(found)
    }

    fn push_name(&mut self, name: &str) -> Result<u32, Broken> {
        let start = u32::try_from(self.text.len()).map_err(|_| "its names are longer than any index has")?;
        self.text.push_str(name);
        let end = u32::try_from(self.text.len()).map_err(|_| "its names are longer than any index has")?;
        let number = self.names.len() as u32;
        self.names.push(start..end);
        Ok(number)
    }

    pub(crate) fn name(&self, number: u32) -> &str {
        self.names
            .get(number as usize)
            .and_then(|range| self.text.get(range.start as usize..range.end as usize))
            .unwrap_or_default()
    }

    pub(crate) fn number(&self, name: &str) -> Option<u32> {
        for range in [&self.sorted, &self.sorted_rest] {
            let (mut low, mut high) = (range.start, range.end);
            while low < high {
                let middle = low + (high - low) / 2;
                match self.name(middle).cmp(name) {
                    std::cmp::Ordering::Less => low = middle + 1,
                    std::cmp::Ordering::Equal => return Some(middle),
                    std::cmp::Ordering::Greater => high = middle,
                }
            }
        }
        self.added.get(name).copied()
    }

    pub(crate) fn count(&self) -> usize {
        self.names.len()
    }

    pub(crate) fn is_package(&self, number: u32) -> bool {
        self.is_package.get(number as usize).copied().unwrap_or_default()
    }

    /// All packages, by number.
    pub(crate) fn packages(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.names.len() as u32).filter(|number| self.is_package(*number))
    }

    pub(crate) fn depends(&self, package: u32) -> impl Iterator<Item = &[u32]> + '_ {
        let at = package as usize;
        let range = self.needs.get(at).map_or(0..0, |needs| needs.start..self.recommends_from[at]);
        self.clauses_in(range)
    }

    pub(crate) fn recommends(&self, package: u32) -> impl Iterator<Item = &[u32]> + '_ {
        let at = package as usize;
        let range = self.needs.get(at).map_or(0..0, |needs| self.recommends_from[at]..needs.end);
        self.clauses_in(range)
    }

    fn clauses_in(&self, range: Range<u32>) -> impl Iterator<Item = &[u32]> + '_ {
        self.clauses[range.start as usize..range.end as usize]
            .iter()
            .map(|clause| &self.alternatives[clause.start as usize..clause.end as usize])
    }

    pub(crate) fn providers(&self, name: u32) -> &[u32] {
        self.providers.get(name as usize).map_or(&[], Vec::as_slice)
    }

    /// One of the lists of a package.
    pub(crate) fn list(&self, package: u32, list: List) -> &[u32] {
        self.lists.get(package as usize).map_or(&[], |lists| {
            let range = &lists[list as usize];
            &self.members[range.start as usize..range.end as usize]
        })
    }

    pub(crate) fn provides(&self, package: u32) -> &[u32] {
        self.list(package, List::Provides)
    }

    /// The packages that a name stands for: the package itself, and those that provide it.
    pub(crate) fn candidates(&self, name: u32) -> impl Iterator<Item = u32> + '_ {
        self.is_package(name).then_some(name).into_iter().chain(self.providers(name).iter().copied())
    }

    /// Of each package: those that say that they cannot be installed beside it, or that it cannot be installed beside.
    pub(crate) fn excluded(&self) -> &[Vec<u32>] {
        self.excluded.get_or_init(|| {
            let mut excluded: Vec<Vec<u32>> = vec![Vec::new(); self.count()];
            for package in self.packages() {
                for name in self.list(package, List::Excludes) {
                    // A package may exclude all others that provide what it provides itself.
                    for other in self.candidates(*name).filter(|other| *other != package) {
                        excluded[package as usize].push(other);
                        excluded[other as usize].push(package);
                    }
                }
            }
            for list in &mut excluded {
                list.sort_unstable();
                list.dedup();
            }
            excluded
        })
    }

    pub(crate) fn clause(&self, numbers: &[u32]) -> Clause {
        numbers.iter().map(|number| self.name(*number).into()).collect()
    }

    /// Of each name: the packages that name it in a dependency.
    pub(crate) fn reverse(&self) -> &[Vec<u32>] {
        self.reverse.get_or_init(|| {
            let mut reverse = vec![Vec::new(); self.count()];
            for package in self.packages() {
                for name in self.depends(package).flatten() {
                    let dependants: &mut Vec<u32> = &mut reverse[*name as usize];
                    if dependants.last() != Some(&package) {
                        dependants.push(package);
                    }
                }
            }
            reverse
        })
    }

    /// Adds the packages of a lower layer that this one does not have.
    pub(crate) fn extend(&mut self, lower: &Self) {
        let mut numbers: Vec<Option<u32>> = vec![None; lower.count()];
        let new: Vec<u32> = lower
            .packages()
            .filter(|package| !self.number(lower.name(*package)).is_some_and(|known| self.is_package(known)))
            .collect();
        for package in new {
            let Some(own) = self.import(lower, &mut numbers, package) else { return };
            let first = self.clauses.len() as u32;
            let mut recommends_from = first;
            for kind in 0..2 {
                let clauses: Vec<&[u32]> = if kind == 0 {
                    lower.depends(package).collect()
                } else {
                    lower.recommends(package).collect()
                };
                if kind == 1 {
                    recommends_from = self.clauses.len() as u32;
                }
                for clause in clauses {
                    let start = self.alternatives.len() as u32;
                    for name in clause {
                        let Some(name) = self.import(lower, &mut numbers, *name) else { return };
                        self.alternatives.push(name);
                    }
                    self.clauses.push(start..self.alternatives.len() as u32);
                }
            }
            let mut lists = EMPTY_LISTS;
            for list in LISTS {
                let start = self.members.len() as u32;
                for name in lower.list(package, list) {
                    let Some(name) = self.import(lower, &mut numbers, *name) else { return };
                    self.members.push(name);
                    if list == List::Provides {
                        self.providers[name as usize].push(own);
                    }
                }
                lists[list as usize] = start..self.members.len() as u32;
            }
            let at = own as usize;
            self.needs[at] = first..self.clauses.len() as u32;
            self.recommends_from[at] = recommends_from;
            self.lists[at] = lists;
            self.is_package[at] = true;
        }
    }

    /// The number here of a name there. None if there is no room for more names.
    fn import(&mut self, lower: &Self, numbers: &mut [Option<u32>], theirs: u32) -> Option<u32> {
        if let Some(known) = numbers[theirs as usize] {
            return Some(known);
        }
        let name = lower.name(theirs);
        let own = if let Some(own) = self.number(name) {
            own
        } else {
            let own = self.push_name(name).ok()?;
            self.added.insert(name.into(), own);
            self.needs.push(0..0);
            self.recommends_from.push(0);
            self.lists.push(EMPTY_LISTS);
            self.is_package.push(false);
            self.providers.push(Vec::new());
            own
        };
        numbers[theirs as usize] = Some(own);
        Some(own)
    }
}
