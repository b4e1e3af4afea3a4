//! What differs between two compiled specifications, with the place that made the difference.

use std::fmt::Write as _;

use serde_json::{Value as Json, json};
use setpoint_provenance::Arena;
use setpoint_source::{Sources, Symbol};

use crate::check::short;
use crate::compare::same_value;
use crate::output;
use crate::reference::{Path, shown};
use crate::store::{Entry, Store, Value};

/// One attribute that differs.
#[derive(Debug)]
pub struct Change {
    pub path: Path,
    pub kind: ChangeKind,
    /// Where the new value was written; for one that is gone, the old.
    pub place: Option<setpoint_source::Span>,
}

#[derive(Debug)]
pub enum ChangeKind {
    Added(Value),
    Removed(Value),
    Changed(Value, Value),
    /// The attributes that both have stand in another order.
    Reordered(Vec<Symbol>, Vec<Symbol>),
}

/// Two compiled components, each with the provenance of its values.
pub fn diff(old: (&Store, &Arena), new: (&Store, &Arena)) -> Vec<Change> {
    let mut changes = Vec::new();
    stores(&mut Vec::new(), old, new, &mut changes);
    changes
}

fn stores(
    path: &mut Path,
    (old, old_arena): (&Store, &Arena),
    (new, new_arena): (&Store, &Arena),
    changes: &mut Vec<Change>,
) {
    let place = |arena: &Arena, entry: &Entry| arena.origin(entry.provenance).and_then(|leaf| leaf.span);
    let add = |path: &Path, name: Symbol, kind: ChangeKind, place| {
        let path = path.iter().copied().chain([name]).collect();
        Change { path, kind, place }
    };
    for entry in old.iter().filter(|entry| new.entry(entry.name).is_none()) {
        changes.push(add(
            path,
            entry.name,
            ChangeKind::Removed(entry.value.clone()),
            place(old_arena, entry),
        ));
    }
    for entry in new.iter() {
        match old.entry(entry.name) {
            None => {
                changes.push(add(
                    path,
                    entry.name,
                    ChangeKind::Added(entry.value.clone()),
                    place(new_arena, entry),
                ));
            }
            Some(before) => match (&before.value, &entry.value) {
                (Value::Store(before), Value::Store(after)) => {
                    path.push(entry.name);
                    stores(path, (before, old_arena), (after, new_arena), changes);
                    path.pop();
                }
                (before, after) if same_value(before, after) => {}
                (before, after) => {
                    let kind = ChangeKind::Changed(before.clone(), after.clone());
                    changes.push(add(path, entry.name, kind, place(new_arena, entry)));
                }
            },
        }
    }
    let common = |store: &Store, other: &Store| -> Vec<Symbol> {
        store.iter().map(|entry| entry.name).filter(|&name| other.entry(name).is_some()).collect()
    };
    let (before, after) = (common(old, new), common(new, old));
    if before != after {
        changes.push(Change { path: path.clone(), kind: ChangeKind::Reordered(before, after), place: None });
    }
}

pub fn text(changes: &[Change], sources: &Sources) -> String {
    let mut out = String::new();
    for Change { path, kind, place } in changes {
        let path = if path.is_empty() { crate::MAIN.to_owned() } else { shown(path) };
        let place = place.map_or(String::new(), |span| format!("  ({})", sources.place(span)));
        let list = |names: &[Symbol]| names.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ");
        let _ = match kind {
            ChangeKind::Added(value) => writeln!(out, "+ {path}: {}{place}", short(value)),
            ChangeKind::Removed(value) => writeln!(out, "- {path}: {}{place}", short(value)),
            ChangeKind::Changed(old, new) => {
                writeln!(out, "~ {path}: {} → {}{place}", short(old), short(new))
            }
            ChangeKind::Reordered(old, new) => {
                writeln!(out, "~ {path}: the order changes from {} to {}", list(old), list(new))
            }
        };
    }
    if changes.is_empty() {
        out.push_str("no difference\n");
    }
    out
}

pub fn json(changes: &[Change], sources: &Sources) -> Json {
    let value = |value: &Value| serde_json::from_str(&output::json_value(value)).unwrap_or(Json::Null);
    let changes: Vec<Json> = changes
        .iter()
        .map(|Change { path, kind, place }| {
            let names = |names: &[Symbol]| Json::from(names.iter().map(|name| name.as_str()).collect::<Vec<_>>());
            let (kind, old, new) = match kind {
                ChangeKind::Added(new) => ("added", Json::Null, value(new)),
                ChangeKind::Removed(old) => ("removed", value(old), Json::Null),
                ChangeKind::Changed(old, new) => ("changed", value(old), value(new)),
                ChangeKind::Reordered(old, new) => ("reordered", names(old), names(new)),
            };
            let place = place.map(|span| {
                let file = sources.file(span.file);
                let at = file.position(span.range.start);
                json!({"path": file.path(), "line": at.line, "column": at.column, "text": file.slice(span.range)})
            });
            json!({"path": shown(path), "kind": kind, "old": old, "new": new, "where": place})
        })
        .collect();
    json!({"changes": changes})
}
