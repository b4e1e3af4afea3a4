//! What a resource stands for, among the cells that it writes.

use setpoint_catalog::Resource;
use setpoint_state::{CellKey, CellKind, Manages, Program, Space};

use crate::attributes::Attributes;

/// A package brings files and accounts along, a command does what it does, a service loads its configuration, a user gets a
/// home: none of that is what the resource declares.
pub(crate) fn manages(resource: &Resource, apply: &Program, space: &Space) -> Manages {
    let declares: fn(&CellKey) -> bool = match resource.type_name.as_str() {
        "Exec" => |_| false,
        "Package" if leaves_version_open(resource) => |_| false,
        "Package" => |key| key.kind == CellKind::Package,
        "File" if leaves_content_open(resource) => |key| key.kind != CellKind::Path,
        "Service" => |key| key.kind != CellKind::Loaded,
        // Its groups, but not the existence of its own.
        "User" => |key| match key.kind {
            CellKind::UserGroup => key.detail.is_some(),
            kind => kind == CellKind::User,
        },
        // An entry stands for itself, not for the file that it is in.
        "Augeas" | "Cron" | "File_line" | "Host" | "Ini_setting" | "Ini_subsetting" | "Mount"
        | "Ssh_authorized_key" | "Sshkey" => |key| key.kind != CellKind::Path,
        _ => return Manages::AllItWrites,
    };
    let mut cells = apply.written();
    cells.retain(|&cell| space.get(cell).is_some_and(|cell| declares(&cell.key)));
    Manages::Only(cells)
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
