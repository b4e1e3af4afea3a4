//! What the file server gives for resources with a `source`.

use std::collections::{BTreeMap, HashMap};

use setpoint_catalog::{Resource, ResourceId};

use crate::cause::Side;
use crate::collect::{Told, ToldKind, ToldValue, hides_contents, place};
use crate::lines::HunkId;
use crate::{SourceChanges, Version};

/// One file that is copied to the machine.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ServedFile {
    /// Where it lies in its version.
    pub path: String,
    pub content: ServedContent,
}

/// What is compared of a file.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum ServedContent {
    /// The SHA-256 of its bytes, and how many there are.
    Bytes { sha256: [u8; 32], size: u64 },
    /// Where a link leads that is copied as a link.
    Link(String),
    /// It is there and cannot be read; with the reason.
    Unread(String),
}

/// The files of a resource: by the path below its target, which is empty for the target itself.
pub type Served = BTreeMap<String, ServedFile>;

/// The files of each resource of a catalog that has a source here.
pub type ServedFiles = HashMap<ResourceId, Served>;

/// Whether two versions of a resource get the same bytes, so that it makes no difference where they lie.
pub(crate) fn are_alike(
    (old_id, was, old): (ResourceId, &Resource, &Version<'_>),
    (new_id, is, new): (ResourceId, &Resource, &Version<'_>),
) -> bool {
    // Other types may make a name of the source, and a file that is compared by its times is copied again.
    let compares_bytes = |one: &Resource| one.type_name.as_str() == "File" && one.get("checksum").is_none();
    let (Some(before), Some(after)) = (old.served.get(&old_id), new.served.get(&new_id)) else {
        return false;
    };
    let are_read = before.values().all(|file| !matches!(file.content, ServedContent::Unread(_)));
    let contents = |served: &Served| -> Vec<(String, ServedContent)> {
        served.iter().map(|(name, file)| (name.clone(), file.content.clone())).collect()
    };
    compares_bytes(was) && compares_bytes(is) && are_read && contents(before) == contents(after)
}

/// What differs in the files that two versions of a resource get, each with the changed lines.
pub(crate) fn differences(
    (old_id, was, old): (ResourceId, &Resource, &Version<'_>),
    (new_id, is, new): (ResourceId, &Resource, &Version<'_>),
    changes: &SourceChanges<'_>,
) -> Vec<(Vec<HunkId>, Told)> {
    let nothing = Served::new();
    let before = old.served.get(&old_id).unwrap_or(&nothing);
    let after = new.served.get(&new_id).unwrap_or(&nothing);
    // Where one version says the content itself, the parameters tell the difference.
    if before.is_empty() || after.is_empty() {
        return Vec::new();
    }
    let secret = hides_contents(was) || hides_contents(is);
    let mut names: Vec<&String> = before.keys().chain(after.keys()).collect();
    names.sort_unstable();
    names.dedup();
    let mut told = Vec::new();
    for name in names {
        let (from, to) = (before.get(name), after.get(name));
        if from.map(|file| &file.content) == to.map(|file| &file.content) {
            continue;
        }
        let mut causes = Vec::new();
        for (side, version, file) in [(Side::Old, old, from), (Side::New, new, to)] {
            if let Some(file) = file {
                causes.extend(changes.of_file(side, version.root.locate(&file.path)));
            }
        }
        causes.sort_unstable();
        causes.dedup();
        let value = |file: Option<&ServedFile>, version: &Version<'_>| {
            let shown = |file: &ServedFile| {
                let path = version.root.shared_name(&file.path).to_owned();
                ToldValue::Served(ServedFile { path, content: file.content.clone() })
            };
            file.map(|file| if secret { ToldValue::Secret } else { shown(file) })
        };
        told.push((
            causes,
            Told {
                kind: ToldKind::Changed,
                resource: is.reference(),
                parameter: Some("source".to_owned()),
                before: value(from, old),
                after: value(to, new),
                place: place(is, new),
            },
        ));
    }
    told
}
