//! Modules that the Puppetfile pins otherwise, and of which only one version is here.

use std::collections::BTreeMap;
use std::path::Path;

use setpoint_source::{normal, read_text};

use crate::project::{Kind, Project};
use crate::puppetfile::{self, Puppetfile};

use super::Older;

/// How a module is wanted: which one, from where, and whether some of it is computed.
type Pin = (Option<String>, Option<String>, bool);

/// A sentence for each module that both versions want, and that was read from one place for both, or from none.
pub(super) fn not_compared(old: &Project<'_>, new: &Project<'_>, older: &Older<'_>) -> Vec<String> {
    let (old_file, new_file) = (puppetfile_of(old), puppetfile_of(new));
    // What is computed may differ wherever the code around it does.
    let is_recomputed = old_file.other_code != new_file.other_code;
    let computes_names = old_file.computes_names || new_file.computes_names;
    let (before, after) = (pins(old_file), pins(new_file));
    let mut names: Vec<&String> = before.keys().chain(after.keys()).collect();
    names.sort_unstable();
    names.dedup();
    let shown = |pin: Option<&Pin>| match pin {
        Some((_, _, true)) => "a computed version".to_owned(),
        Some((Some(version), ..)) => version.clone(),
        Some((None, ..)) => "no version".to_owned(),
        None => "not in the Puppetfile".to_owned(),
    };
    let mut found = Vec::new();
    for name in names {
        let (was, is) = (before.get(name), after.get(name));
        let is_computed = [was, is].into_iter().flatten().any(|pin| pin.2);
        if (was == is && !(is_computed && is_recomputed)) || are_apart(name, old, new, older) {
            continue;
        }
        let (mut was_shown, mut is_shown) = (shown(was), shown(is));
        // The same version from elsewhere.
        if let (Some((_, from, false)), Some((_, to, false))) = (was, is)
            && was_shown == is_shown
        {
            was_shown = from.clone().unwrap_or_else(|| "the Forge".to_owned());
            is_shown = to.clone().unwrap_or_else(|| "the Forge".to_owned());
        }
        found.push(format!("{name} {was_shown} → {is_shown} was not compared"));
    }
    if is_recomputed && computes_names {
        found.push("modules whose names the Puppetfile computes were not compared".to_owned());
    }
    found
}

/// Whether each version has a module of its own, or needs none.
fn are_apart(name: &str, old: &Project<'_>, new: &Project<'_>, older: &Older<'_>) -> bool {
    let is_shared = |folder: &Path| {
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        older.shared.iter().any(|shared| normal(&folder).starts_with(shared))
    };
    // A folder that neither version keeps, as `--modulepath` names it, is one place for both.
    let is_kept = |project: &Project<'_>, folder: &Path| match &project.kind {
        Kind::Repository { folder: root, .. } => {
            let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
            normal(&absolute(folder)).starts_with(normal(&absolute(root)))
        }
        _ => false,
    };
    match (old.environment.module(name), new.environment.module(name)) {
        (Some(was), Some(is)) if was == is && !is_kept(new, &is) => false,
        (Some(was), Some(is)) => !is_shared(&was) && !is_shared(&is),
        _ => false,
    }
}

fn puppetfile_of(project: &Project<'_>) -> Puppetfile {
    let Kind::Repository { folder, .. } = &project.kind else { return Puppetfile::default() };
    let text = read_text(project.session.files, &folder.join("Puppetfile")).unwrap_or_default();
    puppetfile::read(&text)
}

fn pins(puppetfile: Puppetfile) -> BTreeMap<String, Pin> {
    let modules = puppetfile.modules.into_iter();
    modules.map(|module| (module.name, (module.pin, module.origin, module.is_computed))).collect()
}
