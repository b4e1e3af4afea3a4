//! What a resource stands for, among the cells that it writes.

use setpoint_catalog::Resource;
use setpoint_state::{CellId, CellKey, CellKind, Manages, Program, Space};

use crate::attributes::Attributes;

/// A package brings files and accounts along, a command does what it does, a service loads its configuration, a user gets a
/// home, an entry stands in a file: none of that is what the resource declares. `path` is that of a file, without links.
pub(crate) fn manages(resource: &Resource, path: Option<&str>, apply: &Program, space: &Space) -> Manages {
    let written = apply.written();
    let key = |cell: CellId| space.get(cell).map(|cell| &cell.key);
    let has_entries = || written.iter().any(|&cell| key(cell).is_some_and(|key| key.kind == CellKind::Entry));
    let declares: Box<dyn Fn(&CellKey) -> bool> = match resource.type_name.as_str() {
        "Exec" => Box::new(|_| false),
        "Package" if leaves_version_open(resource) => Box::new(|_| false),
        "Package" => Box::new(|key| key.kind == CellKind::Package),
        "File" => {
            let open = leaves_content_open(resource);
            // What else is in a folder is there or not: only that it is purged is declared.
            Box::new(move |key| match key.kind {
                CellKind::Path => !open,
                CellKind::Mode | CellKind::Owner | CellKind::Group => {
                    path.is_none_or(|path| *key.name == *path)
                }
                _ => true,
            })
        }
        "Service" => Box::new(|key| key.kind != CellKind::Loaded),
        // Its groups, but not the existence of its own.
        "User" => Box::new(|key| match key.kind {
            CellKind::UserGroup => key.detail.is_some(),
            kind => kind == CellKind::User,
        }),
        "Cron" | "Host" | "Mailalias" | "Mount" | "Ssh_authorized_key" | "Sshkey" => {
            Box::new(|key| key.kind != CellKind::Path)
        }
        "Concat_file" => return Manages::AllItWrites,
        _ if has_entries() => Box::new(|key| key.kind != CellKind::Path),
        _ => return Manages::AllItWrites,
    };
    Manages::Only(written.into_iter().filter(|&cell| key(cell).is_some_and(&declares)).collect())
}

fn leaves_version_open(package: &Resource) -> bool {
    let ensure = package.ensure();
    matches!(ensure.as_deref(), None | Some("present" | "installed" | "held" | "true"))
}

/// A file that is only to be there, with whatever content.
fn leaves_content_open(file: &Resource) -> bool {
    let ensure = file.ensure();
    let is_file = matches!(ensure.as_deref(), None | Some("present" | "file"));
    let replaces = file.flag("replace") != Some(false);
    is_file && !(replaces && ["content", "source", "target"].iter().any(|name| file.has(name)))
}
