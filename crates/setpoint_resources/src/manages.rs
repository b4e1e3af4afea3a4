//! What a resource stands for, among the cells that it writes.

use setpoint_catalog::Resource;
use setpoint_state::{CellId, CellKey, CellKind, Manages, Program, Space};

use crate::types;

/// A package brings files and accounts along, a command does what it does, a service loads its configuration, a user gets a
/// home, an entry stands in a file: none of that is what the resource declares. `path` is that of a file, without links.
pub(crate) fn manages(resource: &Resource, path: Option<&str>, apply: &Program, space: &Space) -> Manages {
    let written = apply.written();
    let key = |cell: CellId| space.get(cell).map(|cell| &cell.key);
    let has_entries = written.iter().any(|&cell| key(cell).is_some_and(|key| key.kind == CellKind::Entry));
    let declares = |key: &CellKey| match types::of(resource) {
        Some(known) => known.declares(resource, path, key),
        None => !has_entries || key.kind != CellKind::Path,
    };
    Manages::Only(written.iter().copied().filter(|&cell| key(cell).is_some_and(declares)).collect())
}
