//! What a resource stands for, among the cells that it writes.

use setpoint_catalog::Resource;
use setpoint_state::{CellKind, Manages, Program, Space};

use crate::attributes::Attributes;

/// A package brings files and accounts along, a command does what it does, a service loads its configuration, a user gets a
/// home: none of that is what the resource declares.
pub(crate) fn manages(resource: &Resource, apply: &Program, space: &Space) -> Manages {
    let declares: fn(CellKind) -> bool = match resource.type_name.as_str() {
        "Exec" => |_| false,
        "Package" if leaves_version_open(resource) => |_| false,
        "Package" => |kind| kind == CellKind::Package,
        "File" if leaves_content_open(resource) => |kind| kind != CellKind::Path,
        "Service" => |kind| kind != CellKind::Loaded,
        "User" => |kind| !matches!(kind, CellKind::Path | CellKind::Mode | CellKind::Owner | CellKind::Group),
        _ => return Manages::AllItWrites,
    };
    let mut cells = apply.written();
    cells.retain(|&cell| space.get(cell).is_some_and(|cell| declares(cell.key.kind)));
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
