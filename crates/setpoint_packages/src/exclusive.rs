//! Packages that exclude each other: no installation has both, so that a package manager takes one away to install the other.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashSet;

use crate::relations::Relations;

/// What an installation of some packages must have and cannot have, as far as it follows step by step.
struct Installation<'a> {
    relations: &'a Relations,
    members: FxHashSet<u32>,
    forbidden: FxHashSet<u32>,
    /// Dependencies that several packages can still meet.
    open: Vec<&'a [u32]>,
    is_possible: bool,
}

impl<'a> Installation<'a> {
    /// The least that follows from having these packages: what they need and only one package can meet, what that excludes,
    /// and again. `is_possible` is false only if no installation has all of them; it may be true without one.
    fn of(relations: &'a Relations, packages: &[u32]) -> Self {
        let mut found = Self {
            relations,
            members: FxHashSet::default(),
            forbidden: FxHashSet::default(),
            open: Vec::new(),
            is_possible: true,
        };
        let mut arriving: Vec<u32> = packages.to_vec();
        loop {
            while let Some(package) = arriving.pop() {
                if found.members.insert(package) {
                    found.is_possible &= !found.forbidden.contains(&package);
                    found.forbidden.extend(&relations.excluded()[package as usize]);
                    found.open.extend(relations.depends(package));
                }
            }
            found.is_possible &= found.members.is_disjoint(&found.forbidden);
            if !found.is_possible {
                return found;
            }
            let open = std::mem::take(&mut found.open);
            for clause in open {
                match found.ways(clause) {
                    Ways::Met => {}
                    Ways::None => found.is_possible = false,
                    Ways::One(package) => arriving.push(package),
                    Ways::Several => found.open.push(clause),
                }
            }
            if arriving.is_empty() {
                return found;
            }
        }
    }

    fn ways(&self, clause: &[u32]) -> Ways {
        let mut only = None;
        let mut several = false;
        for name in clause {
            let mut is_known = false;
            for package in self.relations.candidates(*name) {
                is_known = true;
                if self.members.contains(&package) {
                    return Ways::Met;
                }
                if !self.forbidden.contains(&package) {
                    several |= only.is_some_and(|known| known != package);
                    only = Some(package);
                }
            }
            // Another index may have a package of that name.
            several |= !is_known;
        }
        match only {
            _ if several => Ways::Several,
            Some(package) => Ways::One(package),
            None => Ways::None,
        }
    }
}

/// In how many ways a dependency can still be met.
enum Ways {
    Met,
    None,
    One(u32),
    Several,
}

/// The pairs of places of packages that exclude each other, sorted, the smaller place first. Packages that no installation can have
/// at all exclude nothing.
pub(crate) fn exclusions(relations: &Relations, packages: &[u32]) -> Vec<(usize, usize)> {
    let alone: Vec<Installation<'_>> =
        packages.iter().map(|package| Installation::of(relations, &[*package])).collect();
    // Two packages can exclude each other only if one forbids what the other has, or could choose.
    let mut touching: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (at, installation) in alone.iter().enumerate() {
        let chosen = installation.open.iter().copied().flatten();
        let chosen = chosen.flat_map(|name| relations.candidates(*name));
        let touched: BTreeSet<u32> = installation.members.iter().copied().chain(chosen).collect();
        for package in touched {
            touching.entry(package).or_default().push(at);
        }
    }
    let mut suspected: Vec<(usize, usize)> = Vec::new();
    for (at, installation) in alone.iter().enumerate() {
        let others = installation.forbidden.iter().filter_map(|package| touching.get(package)).flatten();
        suspected.extend(others.filter(|other| **other != at).map(|other| (at.min(*other), at.max(*other))));
    }
    suspected.sort_unstable();
    suspected.dedup();
    suspected.retain(|(one, other)| {
        alone[*one].is_possible
            && alone[*other].is_possible
            && !Installation::of(relations, &[packages[*one], packages[*other]]).is_possible
    });
    suspected
}
