//! What dpkg knows of a machine: `/var/lib/dpkg`.

use std::collections::BTreeSet;
use std::path::Path;

use setpoint_source::FileSystem;

use super::packages::{relations, stanzas};
use super::{Script, script, sysusers, tmpfiles};
use crate::{Collection, IndexError};

/// Reads dpkg's folder: the listings, conffiles and scripts of `info`, the relations of `status`. Where the folder is that of
/// a machine (`ROOT/var/lib/dpkg`), its files tell directories from files, and `sysusers.d` tells users.
pub fn dpkg(into: &mut Collection, files: &dyn FileSystem, folder: &Path) -> Result<usize, IndexError> {
    let info = folder.join("info");
    if !files.is_dir(&info) {
        let reason = "it has no folder `info`; dpkg's folder is /var/lib/dpkg";
        return Err(IndexError::new(folder.display().to_string(), reason));
    }
    let root = folder
        .ends_with("var/lib/dpkg")
        .then(|| folder.ancestors().nth(3))
        .flatten()
        .map(|root| if root.as_os_str().is_empty() { Path::new(".") } else { root });
    let names = files.list(&info);
    let read = |path: &Path| -> Result<String, IndexError> {
        let bytes = files
            .read(path)
            .map_err(|error| IndexError::new(error.path.display().to_string(), error.reason))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    let mut packages = 0;
    for name in &names {
        let Some((stem, kind)) = name.rsplit_once('.') else { continue };
        // Of packages that several architectures may have side by side: `libc6:amd64.list`.
        let package = stem.split(':').next().unwrap_or(stem);
        match kind {
            "list" => {
                packages += 1;
                listing(into, files, root, package, &read(&info.join(name))?);
            }
            "conffiles" => conffiles(into, package, &read(&info.join(name))?),
            "postinst" => script(into, package, Script::Postinst, &read(&info.join(name))?),
            "preinst" => script(into, package, Script::Preinst, &read(&info.join(name))?),
            _ => {}
        }
        if kind == "list" && !names.contains(&format!("{stem}.conffiles")) {
            into.set_conffiles(package, []);
        }
    }
    let status_file = folder.join("status");
    if files.is_file(&status_file) {
        status(into, read(&status_file)?.as_bytes(), &status_file.display().to_string())?;
    }
    Ok(packages)
}

fn listing(into: &mut Collection, files: &dyn FileSystem, root: Option<&Path>, package: &str, text: &str) {
    // Of an empty directory the listing has a line as of a file: the machine tells them apart.
    if root.is_some() {
        into.set_listed(package);
    } else {
        into.set_files_listed(package);
    }
    let paths: BTreeSet<&str> =
        text.lines().map(str::trim_end).filter(|path| path.len() > 1 && *path != "/.").collect();
    for path in &paths {
        // A directory stands before what is in it; an empty one is known only where the machine can be looked at.
        let below = format!("{path}/");
        let parent = paths.range(&*below..).next().is_some_and(|next| next.starts_with(&below));
        let real = root.is_some_and(|root| files.is_dir(&root.join(path.trim_start_matches('/'))));
        if parent || real {
            into.add_directory(package, path);
            continue;
        }
        into.add_file(package, path);
        let is_sysusers = path.contains("/sysusers.d/");
        if let Some(root) = root
            && (is_sysusers || path.contains("/tmpfiles.d/"))
            && let Ok(bytes) = files.read(&root.join(path.trim_start_matches('/')))
        {
            let read = if is_sysusers { sysusers } else { tmpfiles };
            read(into, package, &String::from_utf8_lossy(&bytes));
        }
    }
}

/// Lines of a `conffiles`; a flag may stand before a path that is to be removed.
fn conffiles(into: &mut Collection, package: &str, text: &str) {
    into.set_conffiles(package, text.lines().map(str::trim).filter(|path| path.starts_with('/')));
}

/// Reads dpkg's `status`: relations and conffiles of what is installed.
pub fn status(into: &mut Collection, reader: impl std::io::BufRead, origin: &str) -> Result<(), IndexError> {
    stanzas(reader, origin, |stanza| {
        if stanza.get("status").is_some_and(|status| !status.ends_with(" installed")) {
            return;
        }
        relations(into, stanza);
        if let (Some(name), Some(conffiles)) = (stanza.get("package"), stanza.get("conffiles")) {
            let kept = conffiles
                .lines()
                .filter(|line| !line.ends_with(" obsolete") && !line.ends_with(" remove-on-upgrade"))
                .filter_map(|line| line.split_whitespace().next());
            into.set_conffiles(name, kept);
        }
    })
}
