//! Debian's Packages: stanzas of fields.

use std::io::BufRead;

use rustc_hash::FxHashMap;

use super::{lines, newer};
use crate::facts::Clause;
use crate::{Collection, IndexError};

/// A stanza: the fields that matter, by their names in lower case.
#[derive(Debug, Default)]
pub(super) struct Stanza {
    fields: Vec<(Box<str>, String)>,
    seen: bool,
}

const FIELDS: [&str; 9] = [
    "package",
    "version",
    "status",
    "architecture",
    "depends",
    "pre-depends",
    "recommends",
    "provides",
    "conffiles",
];

impl Stanza {
    pub(super) fn get(&self, field: &str) -> Option<&str> {
        self.fields.iter().find(|(name, _)| **name == *field).map(|(_, value)| value.as_str())
    }
}

/// Calls a function with each stanza.
pub(super) fn stanzas(
    reader: impl BufRead,
    origin: &str,
    mut each: impl FnMut(&Stanza),
) -> Result<(), IndexError> {
    let mut stanza = Stanza::default();
    // Whether the field that continuation lines go on is one that matters.
    let mut keeping = false;
    lines(reader, origin, |line| {
        if line.trim().is_empty() {
            if stanza.seen {
                each(&stanza);
            }
            stanza = Stanza::default();
            keeping = false;
        } else if line.starts_with([' ', '\t']) {
            if let Some((_, value)) = stanza.fields.last_mut().filter(|_| keeping) {
                value.push('\n');
                value.push_str(line.trim());
            }
        } else if !line.starts_with('#') {
            let (name, value) = line
                .split_once(':')
                .ok_or("this is no Packages index: a line is a field, a colon and a value")?;
            let name = name.trim().to_ascii_lowercase();
            stanza.seen = true;
            keeping = FIELDS.contains(&name.as_str());
            if keeping {
                stanza.fields.push((name.into(), value.trim().to_owned()));
            }
        }
        Ok(())
    })?;
    if stanza.seen {
        each(&stanza);
    }
    Ok(())
}

/// Versions of the packages that were read, so that the newest of several indexes counts.
pub type Versions = FxHashMap<Box<str>, Box<str>>;

/// Reads a Packages index: dependencies, recommendations, provided names.
pub fn packages(
    into: &mut Collection,
    versions: &mut Versions,
    reader: impl BufRead,
    origin: &str,
) -> Result<(), IndexError> {
    stanzas(reader, origin, |stanza| {
        relations(into, versions, stanza);
    })
}

/// Adds the relations of a stanza, unless a newer version of the package is known.
pub(super) fn relations(into: &mut Collection, versions: &mut Versions, stanza: &Stanza) {
    let Some(name) = stanza.get("package").filter(|name| !name.is_empty()) else { return };
    let version = stanza.get("version").unwrap_or_default();
    if let Some(known) = versions.get(name) {
        if !newer(version, known) {
            return;
        }
        into.clear_relations(name);
    }
    versions.insert(name.into(), version.into());
    into.touch(name);
    for field in ["pre-depends", "depends"] {
        for clause in clauses(stanza.get(field).unwrap_or_default()) {
            into.add_depends(name, clause);
        }
    }
    for clause in clauses(stanza.get("recommends").unwrap_or_default()) {
        into.add_recommends(name, clause);
    }
    for provided in clauses(stanza.get("provides").unwrap_or_default()).iter().flatten() {
        into.add_provides(name, provided);
    }
}

/// `a (>= 1) | b, c:any [amd64]` as names.
pub(super) fn clauses(text: &str) -> Vec<Clause> {
    text.split(',')
        .map(|clause| {
            let mut names: Clause = Vec::new();
            for alternative in clause.split('|') {
                let name =
                    alternative.trim().split(['(', '[', '<', ' ', '\t', '\n']).next().unwrap_or_default();
                // `python3:any` is met by the package of any architecture.
                let name = name.split(':').next().unwrap_or(name);
                if !name.is_empty() && !names.iter().any(|known| **known == *name) {
                    names.push(name.into());
                }
            }
            names
        })
        .filter(|clause| !clause.is_empty())
        .collect()
}
