//! Forwards from a line: the attributes of the compiled component that depend on it.

use std::fmt::Write as _;

use rustc_hash::FxHashSet;
use serde_json::{Value as Json, json};
use setpoint_provenance::{Node, Prov};
use setpoint_source::{Sources, Span};

use crate::Compiled;
use crate::check::short;
use crate::output;
use crate::reference::{Path, shown};
use crate::store::{Store, Value};

/// An attribute that a line reaches.
#[derive(Debug)]
pub struct Reached {
    pub path: Path,
    pub value: Value,
}

/// Returns the attributes that are written on a line, or came through a prototype, link or function that is named on it. What
/// is in a component that the line brought as a whole is reached with it.
pub fn impact(compiled: &Compiled, sources: &Sources, file: &str, line: usize) -> Vec<Reached> {
    let mut found = Vec::new();
    if let Some(store) = &compiled.store {
        let search = Search { compiled, sources, file, line };
        search.store(store, &mut Vec::new(), false, &mut found);
    }
    found
}

pub fn text(found: &[Reached], place: &str) -> String {
    let mut out = String::new();
    for Reached { path, value } in found {
        let _ = writeln!(out, "{} = {}", shown(path), short(value).trim_matches('`'));
    }
    let count = match found.len() {
        0 => "no attribute depends".to_owned(),
        1 => "1 attribute depends".to_owned(),
        many => format!("{many} attributes depend"),
    };
    let _ = writeln!(out, "{count} on {place}");
    out
}

pub fn json(found: &[Reached], place: &str) -> Json {
    let attributes = found.iter().map(|Reached { path, value }| {
        let value: Json = serde_json::from_str(&output::json_value(value)).unwrap_or(Json::Null);
        json!({"attribute": shown(path), "value": value})
    });
    json!({"line": place, "attributes": attributes.collect::<Vec<_>>()})
}

struct Search<'s> {
    compiled: &'s Compiled,
    sources: &'s Sources,
    file: &'s str,
    line: usize,
}

impl Search<'_> {
    fn store(&self, store: &Store, path: &mut Path, inherited: bool, found: &mut Vec<Reached>) {
        for entry in store.iter() {
            path.push(entry.name);
            let (reached, through) = self.touches(entry.provenance);
            let reached = reached || inherited;
            match &entry.value {
                Value::Store(inner) if !inner.is_empty() => {
                    let before = found.len();
                    self.store(inner, path, inherited || through, found);
                    if reached && found.len() == before {
                        found.push(Reached { path: path.clone(), value: entry.value.clone() });
                    }
                }
                value if reached => found.push(Reached { path: path.clone(), value: value.clone() }),
                _ => {}
            }
            path.pop();
        }
    }

    /// Whether the value stands on the line or came through it, and whether it came through a prototype or link there.
    fn touches(&self, provenance: Prov) -> (bool, bool) {
        let arena = &self.compiled.arena;
        let (mut touched, mut through) = (false, false);
        let mut seen = FxHashSet::default();
        let mut work = vec![provenance];
        while let Some(at) = work.pop() {
            if !seen.insert(at) {
                continue;
            }
            match arena.node(at) {
                None => {}
                Some(Node::Leaf(leaf)) => touched |= leaf.span.is_some_and(|span| self.is_here(span)),
                Some(Node::Copy { of, span, .. }) => {
                    through |= span.is_some_and(|span| self.is_here(span));
                    work.push(of);
                }
                Some(Node::Under { of, .. } | Node::Shape { of }) => work.push(of),
                Some(Node::Operation { span, arguments, .. }) => {
                    touched |= span.is_some_and(|span| self.is_here(span));
                    work.extend_from_slice(arguments);
                }
            }
        }
        (touched || through, through)
    }

    /// A component begins on one line, and its attributes have lines of their own; any other value has all its lines.
    fn is_here(&self, span: Span) -> bool {
        let file = self.sources.file(span.file);
        let first = file.position(span.range.start).line as usize;
        let is_component = file.slice(span.range).starts_with("extends");
        let last = if is_component { first } else { file.position(span.range.end).line as usize };
        (first..=last).contains(&self.line) && is_same_file(file.path(), self.file)
    }
}

/// The path on the command line may be shorter than the one by which the file was read.
fn is_same_file(path: &str, named: &str) -> bool {
    let (path, named) = (std::path::Path::new(path), std::path::Path::new(named));
    let named = named.strip_prefix(".").unwrap_or(named);
    path == named || path.ends_with(named)
}
