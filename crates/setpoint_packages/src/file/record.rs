//! One package as bytes.

use super::coding::{Broken, Reader, list, put_list, put_number, put_text};
use crate::collection::{Entry, Listing};
use crate::facts::{ConffileKnowledge, Coverage, Group, PackageFacts, User};

const PARTIAL: u8 = 1;
const CONFFILES_RECORDED: u8 = 2;
const SCRIPTED: u8 = 4;
const TRIMMED: u8 = 8;
const EMPTY_DIRECTORIES: u8 = 16;

/// The body of a record, and how many paths are in it.
pub(super) fn body(entry: &Entry) -> (Vec<u8>, usize) {
    let mut out = Vec::new();
    let files = entry.files.sorted();
    let mut directories = entry.directories.sorted();
    // Parents of files are known from the files.
    directories.retain(|directory| !is_parent(directory, &files) && files.binary_search(directory).is_err());
    let scripted = !(entry.users.is_empty()
        && entry.groups.is_empty()
        && entry.generated.is_empty()
        && entry.generated_directories.is_empty()
        && entry.conditional.is_empty());
    let mut flags = 0;
    match entry.listing {
        Listing::None => flags |= PARTIAL,
        Listing::Files => {}
        Listing::All => flags |= EMPTY_DIRECTORIES,
    }
    if entry.trimmed {
        flags |= TRIMMED;
    }
    if entry.conffiles_recorded {
        flags |= CONFFILES_RECORDED;
    }
    if scripted {
        flags |= SCRIPTED;
    }
    out.push(flags);
    put_list(&mut out, &files);
    put_list(&mut out, &directories);
    if entry.conffiles_recorded {
        let mut places: Vec<usize> =
            entry.conffiles.iter().filter_map(|path| files.binary_search(path).ok()).collect();
        places.sort_unstable();
        places.dedup();
        put_number(&mut out, places.len() as u64);
        let mut next = 0;
        for place in places {
            put_number(&mut out, (place - next) as u64);
            next = place;
        }
    }
    if scripted {
        let mut users: Vec<&User> = entry.users.iter().collect();
        users.sort_unstable();
        users.dedup();
        put_number(&mut out, users.len() as u64);
        for user in users {
            put_text(&mut out, &user.name);
            put_text(&mut out, user.group.as_deref().unwrap_or_default());
            put_text(&mut out, user.home.as_deref().unwrap_or_default());
        }
        let mut groups: Vec<&str> = entry.groups.iter().map(|group| &*group.name).collect();
        groups.sort_unstable();
        groups.dedup();
        put_list(&mut out, &groups);
        for paths in [&entry.generated, &entry.generated_directories, &entry.conditional] {
            let mut paths = paths.clone();
            paths.sort_unstable();
            paths.dedup();
            put_list(&mut out, &paths);
        }
    }
    (out, files.len())
}

/// Whether some path is below the directory. Paths are sorted.
fn is_parent(directory: &str, files: &[Box<str>]) -> bool {
    let start = format!("{}/", directory.trim_end_matches('/'));
    let at = files.partition_point(|path| **path < *start);
    files.get(at).is_some_and(|path| path.starts_with(&start))
}

pub(super) fn facts(name: &str, body: &[u8]) -> Result<PackageFacts, Broken> {
    let mut reader = Reader::new(body);
    let flags = reader.byte()?;
    let mut facts = PackageFacts { name: name.into(), ..PackageFacts::default() };
    if flags & PARTIAL != 0 {
        facts.coverage = Coverage::Partial;
    } else if flags & TRIMMED != 0 {
        facts.coverage = Coverage::Trimmed;
    }
    facts.lists_empty_directories = flags & EMPTY_DIRECTORIES != 0;
    facts.files = list(&mut reader)?;
    facts.directories = list(&mut reader)?;
    if flags & CONFFILES_RECORDED != 0 {
        facts.conffile_knowledge = ConffileKnowledge::Recorded;
        let count = reader.count()?;
        let mut place = 0usize;
        for _ in 0..count {
            place = place.saturating_add(reader.small()? as usize);
            let path = facts.files.get(place).ok_or("a conffile is no file of its package")?;
            facts.conffiles.push(path.clone());
        }
    }
    if flags & SCRIPTED != 0 {
        for _ in 0..reader.count()? {
            let name = reader.text()?.into();
            let mut optional = || -> Result<Option<Box<str>>, Broken> {
                Ok(Some(reader.text()?).filter(|text| !text.is_empty()).map(Box::from))
            };
            facts.users.push(User { name, group: optional()?, home: optional()? });
        }
        facts.groups = list(&mut reader)?.into_iter().map(|name| Group { name }).collect();
        facts.generated = list(&mut reader)?;
        facts.generated_directories = list(&mut reader)?;
        facts.conditional = list(&mut reader)?;
    }
    if !reader.is_empty() {
        return Err("a record is longer than what it says");
    }
    Ok(facts)
}
