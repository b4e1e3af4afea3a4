//! Forwards from a line: the attributes of the compiled component that depend on it.

use std::fmt::Write as _;

use rustc_hash::FxHashMap;
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
        let mut search = Search { compiled, sources, file, line, known: FxHashMap::default() };
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
    /// What [`Search::touches`] found so far.
    known: FxHashMap<Prov, (bool, bool)>,
}

impl Search<'_> {
    fn store(&mut self, store: &Store, path: &mut Path, inherited: bool, found: &mut Vec<Reached>) {
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
    /// Each node is visited once: the values of a chain of links share their origins.
    fn touches(&mut self, provenance: Prov) -> (bool, bool) {
        let mut work = vec![(provenance, false)];
        while let Some((at, ready)) = work.pop() {
            if self.known.contains_key(&at) {
                continue;
            }
            let Some(node) = self.compiled.arena.node(at) else {
                self.known.insert(at, (false, false));
                continue;
            };
            let one;
            let inner: &[Prov] = match &node {
                Node::Leaf(_) => &[],
                Node::Copy { of, .. } | Node::Under { of, .. } | Node::Shape { of } => {
                    one = [*of];
                    &one
                }
                Node::Operation { arguments, .. } => arguments,
            };
            if !ready && !inner.is_empty() {
                work.push((at, true));
                work.extend(inner.iter().map(|&inner| (inner, false)));
                continue;
            }
            let (mut touched, mut through) = (false, false);
            for inner in inner {
                let &(below, through_below) = self.known.get(inner).unwrap_or(&(false, false));
                touched |= below;
                through |= through_below;
            }
            match node {
                Node::Leaf(leaf) => touched |= leaf.span.is_some_and(|span| self.is_here(span)),
                Node::Copy { span, .. } => through |= span.is_some_and(|span| self.is_here(span)),
                Node::Operation { span, .. } => touched |= span.is_some_and(|span| self.is_here(span)),
                Node::Under { .. } | Node::Shape { .. } => {}
            }
            self.known.insert(at, (touched || through, through));
        }
        self.known.get(&provenance).copied().unwrap_or((false, false))
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
