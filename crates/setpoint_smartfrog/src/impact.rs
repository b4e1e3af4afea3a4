//! Forwards from a line: the attributes of the compiled component that depend on it.

use std::fmt::Write as _;

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Value as Json, json};
use setpoint_provenance::{Node, Prov};
use setpoint_source::{FileId, Sources, Span};

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

/// Returns the attributes that are written on a line, or came through a prototype, link or function that is named on it, and
/// what is in a component of which this is true: the attributes whose `why --depends` names the line. A line with an `#include`
/// stands for all lines of the file.
pub fn impact(compiled: &Compiled, sources: &Sources, file: &str, line: usize) -> Vec<Reached> {
    let mut found = Vec::new();
    if let Some(store) = &compiled.store {
        let included = FxHashSet::default();
        let mut search = Search { compiled, sources, file, line, included, known: FxHashMap::default() };
        // A file is included before those that it includes itself are read, but noted after them.
        for &(span, brought) in compiled.includes.iter().rev() {
            if search.is_here(span) {
                search.included.insert(brought);
            }
        }
        search.store(store, &mut Vec::new(), false, &mut found);
    }
    found
}

/// Says why there is no such line, if there is none.
pub fn missing_line(sources: &Sources, file: &str, line: usize) -> Option<String> {
    let files = sources.files();
    let Some(known) = files.iter().find(|known| is_same_file(known.path(), file)) else {
        return Some(format!("`{file}` is not a file of this specification"));
    };
    let lines = known.text().lines().count();
    (line == 0 || line > lines).then(|| format!("`{file}` has {lines} lines, and no line {line}"))
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
    /// The files that the line includes, and those that these include.
    included: FxHashSet<FileId>,
    /// What [`Search::touches`] found so far.
    known: FxHashMap<Prov, bool>,
}

impl Search<'_> {
    fn store(&mut self, store: &Store, path: &mut Path, inherited: bool, found: &mut Vec<Reached>) {
        for entry in store.iter() {
            path.push(entry.name);
            let reached = inherited || self.touches(entry.provenance);
            match &entry.value {
                Value::Store(inner) if !inner.is_empty() => self.store(inner, path, reached, found),
                value if reached => found.push(Reached { path: path.clone(), value: value.clone() }),
                _ => {}
            }
            path.pop();
        }
    }

    /// Whether the value stands on the line or came through it. Each node is visited once: the values of a chain of links
    /// share their origins.
    fn touches(&mut self, provenance: Prov) -> bool {
        let mut work = vec![(provenance, false)];
        while let Some((at, ready)) = work.pop() {
            if self.known.contains_key(&at) {
                continue;
            }
            let Some(node) = self.compiled.arena.node(at) else {
                self.known.insert(at, false);
                continue;
            };
            let (one, two);
            let (inner, span): (&[Prov], Option<Span>) = match &node {
                Node::Leaf(leaf) => (&[], leaf.span),
                Node::Copy { of, span, .. } => {
                    one = [*of];
                    (&one, *span)
                }
                Node::Under { of, cause, .. } => {
                    two = [*of, *cause];
                    (&two, None)
                }
                Node::Shape { of } => {
                    one = [*of];
                    (&one, None)
                }
                Node::Operation { arguments, span, .. } => (arguments, *span),
            };
            if !ready && !inner.is_empty() {
                work.push((at, true));
                work.extend(inner.iter().map(|&inner| (inner, false)));
                continue;
            }
            let below = inner.iter().any(|inner| self.known.get(inner) == Some(&true));
            let touched = below || span.is_some_and(|span| self.is_here(span));
            self.known.insert(at, touched);
        }
        self.known.get(&provenance) == Some(&true)
    }

    /// A component begins on one line, and its attributes have lines of their own; any other value has all its lines.
    fn is_here(&self, span: Span) -> bool {
        if self.included.contains(&span.file) {
            return true;
        }
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
