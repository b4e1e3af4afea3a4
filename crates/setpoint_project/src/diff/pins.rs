//! Modules that the Puppetfile pins otherwise, and of which only one version is here.

use std::collections::BTreeMap;
use std::path::Path;

use setpoint_source::{normal, read_text};

use crate::project::{Kind, Project};
use crate::puppetfile;

use super::Older;

/// How a module is wanted: which one, and from where.
type Pin = (Option<String>, Option<String>);

/// A sentence for each module that both versions want, and that was read from one place for both, or from none.
pub(super) fn not_compared(old: &Project<'_>, new: &Project<'_>, older: &Older<'_>) -> Vec<String> {
    let (before, after) = (pins(old), pins(new));
    let mut names: Vec<&String> = before.keys().chain(after.keys()).collect();
    names.sort_unstable();
    names.dedup();
    let shown = |pin: Option<&Pin>| match pin {
        Some((Some(version), _)) => version.clone(),
        Some((None, _)) => "no version".to_owned(),
        None => "not in the Puppetfile".to_owned(),
    };
    let mut found = Vec::new();
    for name in names {
        let (was, is) = (before.get(name), after.get(name));
        if was == is || are_apart(name, old, new, older) {
            continue;
        }
        let (mut was_shown, mut is_shown) = (shown(was), shown(is));
        // The same version from elsewhere.
        if let (Some((_, from)), Some((_, to))) = (was, is)
            && was_shown == is_shown
        {
            was_shown = from.clone().unwrap_or_else(|| "the Forge".to_owned());
            is_shown = to.clone().unwrap_or_else(|| "the Forge".to_owned());
        }
        found.push(format!("{name} {was_shown} → {is_shown} was not compared"));
    }
    found
}

/// Whether each version has a module of its own, or needs none.
fn are_apart(name: &str, old: &Project<'_>, new: &Project<'_>, older: &Older<'_>) -> bool {
    let is_shared = |folder: &Path| {
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        older.shared.iter().any(|shared| normal(&folder).starts_with(shared))
    };
    match (old.environment.module(name), new.environment.module(name)) {
        (Some(was), Some(is)) => !is_shared(&was) && !is_shared(&is),
        _ => false,
    }
}

fn pins(project: &Project<'_>) -> BTreeMap<String, Pin> {
    let Kind::Repository { folder, .. } = &project.kind else { return BTreeMap::new() };
    let text = read_text(project.session.files, &folder.join("Puppetfile")).unwrap_or_default();
    let modules = puppetfile::read(&text).modules.into_iter();
    modules.map(|module| (module.name, (module.pin, module.origin))).collect()
}
