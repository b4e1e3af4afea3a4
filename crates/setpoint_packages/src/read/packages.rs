//! Debian's Packages: stanzas of fields.

use std::io::BufRead;

use super::{lines, newer};
use crate::relations::{Bound, Relation};
use crate::{Collection, IndexError};

/// A stanza: the fields that matter, by their names in lower case.
#[derive(Debug, Default)]
pub(super) struct Stanza {
    fields: Vec<(Box<str>, String)>,
    seen: bool,
}

const FIELDS: [&str; 12] = [
    "package",
    "version",
    "status",
    "architecture",
    "depends",
    "pre-depends",
    "recommends",
    "provides",
    "conflicts",
    "breaks",
    "replaces",
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

/// Reads a Packages index: dependencies, recommendations, provided names, conflicts. The newest version of a package counts.
pub fn packages(into: &mut Collection, reader: impl BufRead, origin: &str) -> Result<(), IndexError> {
    stanzas(reader, origin, |stanza| {
        relations(into, stanza);
    })
}

/// Adds the relations of a stanza, unless the same or a newer version of the package is known.
pub(super) fn relations(into: &mut Collection, stanza: &Stanza) {
    let Some(name) = stanza.get("package").filter(|name| !name.is_empty()) else { return };
    let version = stanza.get("version").unwrap_or_default();
    if into.version(name).is_some_and(|known| !newer(version, known)) {
        return;
    }
    into.clear_relations(name);
    into.set_version(name, version);
    let field = |field: &str| clauses(stanza.get(field).unwrap_or_default());
    let names = |clause: Vec<Relation>| clause.into_iter().map(|relation| relation.name).collect();
    for clause in field("pre-depends").into_iter().chain(field("depends")) {
        into.add_depends(name, names(clause));
    }
    for clause in field("recommends") {
        into.add_recommends(name, names(clause));
    }
    for provided in field("provides").into_iter().flatten() {
        into.add_provides(name, &provided.name);
        if let Some((_, version)) = &provided.version {
            into.add_provided_version(name, &provided.name, version);
        }
    }
    for excluded in field("conflicts").into_iter().chain(field("breaks")).flatten() {
        into.add_excludes(name, excluded);
    }
    for replaced in field("replaces").into_iter().flatten() {
        into.add_replaces(name, replaced);
    }
}

/// `a (>= 1) | b, c:any [amd64]` as names with versions.
pub(super) fn clauses(text: &str) -> Vec<Vec<Relation>> {
    text.split(',')
        .map(|clause| {
            let mut found: Vec<Relation> = Vec::new();
            for alternative in clause.split('|') {
                let Some(relation) = relation(alternative) else { continue };
                if !found.iter().any(|known| known.name == relation.name) {
                    found.push(relation);
                }
            }
            found
        })
        .filter(|clause| !clause.is_empty())
        .collect()
}

fn relation(text: &str) -> Option<Relation> {
    let text = text.trim();
    let name = text.split(['(', '[', '<', ' ', '\t', '\n']).next().unwrap_or_default();
    // `python3:any` is met by the package of any architecture.
    let name = name.split(':').next().unwrap_or(name);
    let within = text.split_once('(').and_then(|(_, rest)| rest.split_once(')'));
    let version = within.and_then(|(within, _)| {
        let at = within.find(|c: char| !matches!(c, '<' | '>' | '=' | ' '))?;
        Some((Bound::parse(within[..at].trim())?, within[at..].trim().into()))
    });
    (!name.is_empty()).then(|| Relation { name: name.into(), version })
}
