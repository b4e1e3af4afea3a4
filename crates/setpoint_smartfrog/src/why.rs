//! Where a value came from: the prototypes and links that carried it, and what it overrode.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use rustc_hash::FxHashSet;
use serde_json::{Value as Json, json};
use setpoint_provenance::{Leaf, LeafKind, Node, Prov};
use setpoint_source::{Sources, Span, Symbol};

use crate::output;
use crate::reference::{Path, shown};
use crate::store::{Entry, Store};
use crate::syntax::{Body, Prototype, Value as Syntax};
use crate::{Compiled, MAIN};

/// Why an attribute has its value.
#[derive(Debug)]
pub struct Why {
    /// From the compiled component.
    pub target: Path,
    /// The attribute itself last; before it the components that it is in.
    pub levels: Vec<Level>,
}

/// One attribute on the way to the value.
#[derive(Debug)]
pub struct Level {
    pub path: Path,
    pub entry: Entry,
    /// How the value came here, and then, how each value came that it overrode.
    pub histories: Vec<History>,
}

/// The way of one value, from where it stands back to where it was written.
#[derive(Debug)]
pub struct History {
    pub provenance: Prov,
    pub steps: Vec<Step>,
    /// Nothing for a value that was computed.
    pub origin: Option<Leaf>,
}

/// A copy: `extends s1`, or a link.
#[derive(Debug)]
pub struct Step {
    pub name: Option<Symbol>,
    pub span: Option<Span>,
}

/// Explains a path in a specification that was compiled with provenance; or says what there is instead.
pub fn why(compiled: &Compiled, target: &str) -> Result<Why, String> {
    let Some(store) = &compiled.store else { return Err("the specification does not compile".to_owned()) };
    let mut names: Vec<Symbol> = target.split(':').map(str::trim).map(Symbol::new).collect();
    if names.first().is_some_and(|name| name.as_str() == MAIN) && store.entry(names[0]).is_none() {
        names.remove(0);
    }
    let found = walk(compiled, store, &names);
    // Prototypes are not compiled, and can be explained all the same.
    let result = found.or_else(|message| walk(compiled, &compiled.root, &names).map_err(|_| message));
    Ok(Why { levels: result?, target: names })
}

fn walk(compiled: &Compiled, store: &Store, names: &[Symbol]) -> Result<Vec<Level>, String> {
    let mut store = store;
    let mut levels = Vec::new();
    for (at, &name) in names.iter().enumerate() {
        let Some(entry) = store.entry(name) else {
            let place = if at == 0 { "`sfConfig`".to_owned() } else { format!("`{}`", shown(&names[..at])) };
            let there: Vec<&str> = store.iter().take(10).map(|entry| entry.name.as_str()).collect();
            let there = if there.is_empty() { "nothing".to_owned() } else { there.join(", ") };
            return Err(format!("there is no `{name}` in {place}; it has {there}"));
        };
        levels.push(Level {
            path: names[..=at].to_vec(),
            entry: entry.clone(),
            histories: histories(compiled, entry.provenance),
        });
        match entry.value.as_store() {
            Some(inner) => store = inner,
            None if at + 1 < names.len() => {
                return Err(format!("`{}` is a plain value and has no attributes", shown(&names[..=at])));
            }
            None => {}
        }
    }
    if levels.is_empty() { Err("which value?".to_owned()) } else { Ok(levels) }
}

fn histories(compiled: &Compiled, provenance: Prov) -> Vec<History> {
    let mut histories = Vec::new();
    let mut at = Some(provenance);
    while let Some(provenance) = at {
        let mut steps = Vec::new();
        let mut next = provenance;
        // What a value overrode is noted where it was put, which may be before it was copied.
        let mut overridden = compiled.overridden.get(&next).copied();
        while let Some(node @ (Node::Copy { of, .. } | Node::Under { of, .. })) = compiled.arena.node(next) {
            if let Node::Copy { span, name, .. } = node {
                steps.push(Step { name, span });
            }
            next = of;
            overridden = overridden.or_else(|| compiled.overridden.get(&next).copied());
        }
        histories.push(History { provenance, steps, origin: compiled.arena.origin(provenance) });
        at = overridden.filter(|_| histories.len() < MAX_HISTORIES);
    }
    histories
}

/// An attribute that is overridden more often is explained by the last of them.
const MAX_HISTORIES: usize = 100;

impl Why {
    pub fn text(&self, compiled: &Compiled, sources: &Sources) -> String {
        let mut out = String::new();
        let Some((last, above)) = self.levels.split_last() else { return out };
        let _ = writeln!(out, "{} = {}", shown(&last.path), shorten(&output::sf_value(&last.entry.value)));
        write_histories(last, compiled, sources, &mut out);
        for level in
            above.iter().rev().filter(|level| level.histories.iter().any(|history| !history.steps.is_empty()))
        {
            let _ = writeln!(out, "in {}", shown(&level.path));
            write_histories(level, compiled, sources, &mut out);
        }
        out
    }

    /// The form that all languages share, with the components on the way and what was overridden.
    pub fn json(&self, compiled: &Compiled, sources: &Sources) -> Json {
        let Some((last, above)) = self.levels.split_last() else { return Json::Null };
        let value: Json = serde_json::from_str(&output::json_value(&last.entry.value)).unwrap_or(Json::Null);
        let Some(first) = last.histories.first() else { return Json::Null };
        let history = |history: &History| {
            json!({
                "where": history.origin.map(|leaf| place(&leaf, sources)),
                "through": history.steps.iter().take(MAX_JSON_STEPS).map(|step| step_json(step, sources)).collect::<Vec<_>>(),
            })
        };
        json!({
            "target": shown(&self.target),
            "value": value,
            "where": first.origin.map(|leaf| place(&leaf, sources)),
            "expression": Tree { compiled, sources, nodes: 0 }.of(first.provenance, 0),
            "depends": self.dependencies(compiled).into_iter().map(|leaf| place(&leaf, sources)).collect::<Vec<_>>(),
            "overrides": last.histories[1..].iter().map(history).collect::<Vec<_>>(),
            "components": above.iter().map(|level| json!({
                "path": shown(&level.path),
                "histories": level.histories.iter().map(history).collect::<Vec<_>>(),
            })).collect::<Vec<_>>(),
        })
    }
}

/// The forms of an answer besides the short one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    Where,
    Expression,
    Depends,
}

impl Why {
    /// One form of the answer, for people.
    pub fn form(&self, form: Form, compiled: &Compiled, sources: &Sources) -> String {
        let mut out = String::new();
        let Some(last) = self.levels.last() else { return out };
        let Some(first) = last.histories.first() else { return out };
        match form {
            Form::Where => match first.origin.and_then(|leaf| leaf.span) {
                Some(span) => {
                    let _ = writeln!(out, "{}: {}", sources.place(span), source_line(span, sources));
                }
                None => {
                    let _ = writeln!(out, "{} was computed; `--expression` says how", shown(&last.path));
                }
            },
            Form::Expression => {
                let _ = writeln!(
                    out,
                    "{} = {}",
                    shown(&last.path),
                    shorten(&output::sf_value(&last.entry.value))
                );
                Tree { compiled, sources, nodes: 0 }.write(first.provenance, 1, &mut out);
            }
            Form::Depends => {
                for span in self.dependencies(compiled).into_iter().filter_map(|leaf| leaf.span) {
                    let _ = writeln!(out, "{}: {}", sources.place(span), source_line(span, sources));
                }
            }
        }
        out
    }

    /// Every place whose text could change the value: literals and properties, and the prototypes, links and functions through
    /// which it came, or through which a component came that it is in. A component depends on what its attributes depend on.
    fn dependencies(&self, compiled: &Compiled) -> Vec<Leaf> {
        let mut work: Vec<Prov> =
            self.levels.iter().filter_map(|level| Some(level.histories.first()?.provenance)).collect();
        if let Some(store) = self.levels.last().and_then(|last| last.entry.value.as_store()) {
            provenances_in(store, &mut FxHashSet::default(), &mut work);
        }
        let mut seen = FxHashSet::default();
        let mut leaves: BTreeMap<Option<Span>, Leaf> = BTreeMap::new();
        while let Some(at) = work.pop() {
            if !seen.insert(at) {
                continue;
            }
            let mut through = |span: Option<Span>| {
                if span.is_some() {
                    leaves.entry(span).or_insert(Leaf { kind: LeafKind::Literal, name: None, span });
                }
            };
            match compiled.arena.node(at) {
                None => {}
                Some(Node::Leaf(leaf)) => {
                    leaves.insert(leaf.span, leaf);
                }
                Some(Node::Copy { of, span, .. }) => {
                    through(span);
                    work.push(of);
                }
                Some(Node::Under { of, cause, .. }) => work.extend([of, cause]),
                Some(Node::Shape { of }) => work.push(of),
                Some(Node::Operation { span, arguments, .. }) => {
                    through(span);
                    work.extend_from_slice(arguments);
                }
            }
        }
        leaves.into_values().collect()
    }
}

/// The provenance of all that is in a component; parts that are shared are visited once.
fn provenances_in(store: &Store, seen: &mut FxHashSet<usize>, found: &mut Vec<Prov>) {
    if !seen.insert(store.address()) {
        return;
    }
    for entry in store.iter() {
        found.push(entry.provenance);
        if let Some(inner) = entry.value.as_store() {
            provenances_in(inner, seen, found);
        }
    }
}

/// Says what kept an attribute out that is not there; or that it is there.
pub fn why_not(compiled: &Compiled, body: &Body, target: &str, sources: &Sources) -> String {
    let Some(store) = &compiled.store else { return "the specification does not compile\n".to_owned() };
    let mut names: Vec<Symbol> = target.split(':').map(str::trim).map(Symbol::new).collect();
    if names.first().is_some_and(|name| name.as_str() == MAIN) {
        names.remove(0);
    }
    let mut out = String::new();
    let mut at = store;
    // Where the component is written that is looked into.
    let mut compiled_at = main_component(body);
    for (index, &name) in names.iter().enumerate() {
        let component = if index == 0 { MAIN.to_owned() } else { shown(&names[..index]) };
        #[allow(clippy::single_match_else, reason = "both ways are long")]
        match at.entry(name) {
            Some(entry) => match entry.value.as_store() {
                Some(inner) => {
                    at = inner;
                    compiled_at = compiled.arena.origin(entry.provenance).and_then(|leaf| leaf.span);
                }
                None if index + 1 < names.len() => {
                    let value = shorten(&output::sf_value(&entry.value));
                    let _ = writeln!(out, "`{}` is {value}, and has no attributes", shown(&names[..=index]));
                    return out;
                }
                None => {}
            },
            None => {
                let there: Vec<&str> = at.iter().take(20).map(|entry| entry.name.as_str()).collect();
                let there = if there.is_empty() { "nothing".to_owned() } else { there.join(", ") };
                let _ = writeln!(out, "`{component}` has no `{name}`; it has {there}");
                let mut written = Vec::new();
                written_in(body, name, &mut Vec::new(), None, &mut written);
                // By the place in words: the body may be of another reading of the file.
                let begins = |span: Option<Span>| span.map(|span| sources.place(span));
                for Written { place, within, span, is_temporary } in written.iter().take(MAX_HISTORIES) {
                    let is_here = place
                        .split_first()
                        .is_some_and(|(first, rest)| first.as_str() == MAIN && rest == &names[..index]);
                    let why = if *is_temporary {
                        "tagged `sfTemp`, which is not compiled".to_owned()
                    } else if place.is_empty() {
                        "at the top level, of which only `sfConfig` is compiled".to_owned()
                    } else if is_here && begins(*within).is_some() && begins(*within) == begins(compiled_at) {
                        "an assertion or a schema that holds, which is not compiled".to_owned()
                    } else if is_here {
                        let instead =
                            compiled_at.map_or(String::new(), |span| format!(" at {}", sources.place(span)));
                        format!("in a definition of `{component}` that another one{instead} replaces")
                    } else {
                        format!("in `{}`, and `{component}` does not inherit it", shown(place))
                    };
                    let _ = writeln!(out, "  `{name}` is written at {}, {why}", sources.place(*span));
                }
                if written.is_empty() {
                    let _ = writeln!(out, "  no `{name}` is written anywhere");
                }
                return out;
            }
        }
    }
    let _ = writeln!(out, "`{}` is there: ask without `--why-not`", shown(&names));
    out
}

/// An assignment to a name.
struct Written {
    /// The component that it is an attribute of.
    place: Path,
    /// The component that it stands in; none where a placement leads into another.
    within: Option<Span>,
    span: Span,
    is_temporary: bool,
}

fn written_in(body: &Body, name: Symbol, path: &mut Path, within: Option<Span>, found: &mut Vec<Written>) {
    for assignment in &body.assignments {
        if let Some((_, above)) = assignment.target.split_last().filter(|(last, _)| **last == name) {
            let place = [path.as_slice(), above].concat();
            let within = within.filter(|_| above.is_empty());
            let is_temporary = assignment.tags.iter().any(|tag| tag.as_str() == "sfTemp");
            found.push(Written { place, within, span: assignment.span, is_temporary });
        }
        if let Syntax::Component(component) = &assignment.value {
            path.extend(&assignment.target);
            for prototype in &component.prototypes {
                if let Prototype::Body(inner, _) = prototype {
                    written_in(inner, name, path, Some(component.span), found);
                }
            }
            path.truncate(path.len() - assignment.target.len());
        }
    }
}

/// The definition of `sfConfig` that is compiled: the last.
fn main_component(body: &Body) -> Option<Span> {
    let mut last = body.assignments.iter().rev();
    let main = last.find(|one| matches!(one.target[..], [name] if name.as_str() == MAIN))?;
    match &main.value {
        Syntax::Component(component) => Some(component.span),
        Syntax::Expression(_) => None,
    }
}

fn source_line(span: Span, sources: &Sources) -> String {
    first_line(sources.file(span.file).slice(span.range))
}

/// The operation that made a value, and what it depends on.
fn write_operation(provenance: Prov, compiled: &Compiled, sources: &Sources, out: &mut String) {
    let mut at = provenance;
    while let Some(Node::Copy { of, .. } | Node::Under { of, .. }) = compiled.arena.node(at) {
        at = of;
    }
    if let Some(Node::Operation { name, span: Some(span), .. }) = compiled.arena.node(at) {
        let text = sources.file(span.file).slice(span.range).to_owned();
        let _ = writeln!(out, "    by {name} at {}: {}", sources.place(span), first_line(&text));
    }
    for leaf in compiled.arena.depends(at).iter().take(MAX_HISTORIES) {
        if let Some(span) = leaf.span {
            let text = sources.file(span.file).slice(span.range).to_owned();
            let _ = writeln!(out, "    from {}: {}", sources.place(span), first_line(&text));
        }
    }
}

fn write_histories(level: &Level, compiled: &Compiled, sources: &Sources, out: &mut String) {
    for (at, History { steps, origin, provenance }) in level.histories.iter().enumerate() {
        let verb = if at == 0 { "" } else { "overrides the value " };
        if let Some(Leaf { span: Some(span), kind, name }) = origin {
            let text = sources.file(span.file).slice(span.range).to_owned();
            let what = match (kind, name) {
                (LeafKind::External, Some(name)) => format!("given as `{name}`, read"),
                _ => "written".to_owned(),
            };
            let _ = writeln!(out, "  {verb}{what} at {}: {}", sources.place(*span), first_line(&text));
        } else {
            let _ = writeln!(out, "  {verb}computed");
            write_operation(*provenance, compiled, sources, out);
        }
        for (number, Step { name, span }) in steps.iter().rev().enumerate() {
            if number >= MAX_STEPS && number + MAX_STEPS < steps.len() {
                if number == MAX_STEPS {
                    let _ = writeln!(out, "    … {} more of these …", steps.len() - 2 * MAX_STEPS);
                }
                continue;
            }
            let name = name.map_or("", |name| name.as_str());
            let how = if name.starts_with("extends ") {
                format!("inherited through `{name}`")
            } else {
                format!("copied by the link `{name}`")
            };
            let place = span.map_or(String::new(), |span| format!(" at {}", sources.place(span)));
            let _ = writeln!(out, "    {how}{place}");
        }
    }
}

/// Of a long way, so many steps are shown at either end.
const MAX_STEPS: usize = 20;

/// Source text on one line, and not too long.
fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or("").trim_end();
    let cut = line.len() < text.trim_end().len();
    if cut {
        format!("`{}…`", line.trim_end_matches('{').trim_end())
    } else {
        format!("`{}`", shorten(line))
    }
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(200) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

fn place(leaf: &Leaf, sources: &Sources) -> Json {
    let name = leaf.name.map(Symbol::as_str);
    let Some(span) = leaf.span else { return json!({"kind": leaf.kind.as_str(), "text": name}) };
    let mut place = span_json(span, sources);
    place["kind"] = leaf.kind.as_str().into();
    place
}

fn span_json(span: Span, sources: &Sources) -> Json {
    let file = sources.file(span.file);
    let position = file.position(span.range.start);
    json!({"path": file.path(), "line": position.line, "column": position.column, "text": file.slice(span.range)})
}

fn step_json(step: &Step, sources: &Sources) -> Json {
    let mut place = step.span.map_or_else(|| json!({}), |span| span_json(span, sources));
    let name = step.name.map_or("", |name| name.as_str());
    place["kind"] = if name.starts_with("extends ") { "prototype" } else { "link" }.into();
    place["name"] = name.strip_prefix("extends ").unwrap_or(name).into();
    place
}

/// The expression that made a value. What is deeper, or more, than people read is left out.
struct Tree<'c> {
    compiled: &'c Compiled,
    sources: &'c Sources,
    nodes: usize,
}

impl Tree<'_> {
    /// The expression as an outline.
    fn write(&mut self, provenance: Prov, depth: usize, out: &mut String) {
        self.nodes += 1;
        let indent = "  ".repeat(depth);
        if self.nodes > MAX_TREE_NODES || depth > MAX_TREE_DEPTH {
            let _ = writeln!(out, "{indent}…");
            return;
        }
        let place = |span: Option<Span>| {
            span.map_or(String::new(), |span| {
                format!(" at {}: {}", self.sources.place(span), source_line(span, self.sources))
            })
        };
        match self.compiled.arena.node(provenance) {
            None => {}
            Some(Node::Leaf(leaf)) => {
                let _ = writeln!(out, "{indent}{}{}", leaf.kind.as_str(), place(leaf.span));
            }
            Some(Node::Copy { of, span, name }) => {
                let name = name.map_or("", |name| name.as_str());
                let kind = if name.starts_with("extends ") { "" } else { "link " };
                let at = span.map_or(String::new(), |span| format!(" at {}", self.sources.place(span)));
                let _ = writeln!(out, "{indent}{kind}{name}{at}");
                self.write(of, depth + 1, out);
            }
            Some(Node::Under { of, .. } | Node::Shape { of }) => self.write(of, depth, out),
            Some(Node::Operation { name, span, arguments, .. }) => {
                let _ = writeln!(out, "{indent}{name}{}", place(span));
                for argument in arguments.iter().copied() {
                    self.write(argument, depth + 1, out);
                }
            }
        }
    }

    fn of(&mut self, provenance: Prov, depth: usize) -> Json {
        self.nodes += 1;
        if self.nodes > MAX_TREE_NODES || depth > MAX_TREE_DEPTH {
            return json!({"kind": "elided"});
        }
        match self.compiled.arena.node(provenance) {
            None => Json::Null,
            Some(Node::Leaf(leaf)) => json!({"kind": "leaf", "place": place(&leaf, self.sources)}),
            Some(Node::Copy { of, span, name }) => {
                let place = step_json(&Step { name, span }, self.sources);
                json!({"kind": "copy", "place": place, "of": self.of(of, depth + 1)})
            }
            Some(Node::Under { of, .. } | Node::Shape { of }) => self.of(of, depth + 1),
            Some(Node::Operation { name, span, arguments, .. }) => {
                let place = span.map(|span| span_json(span, self.sources));
                let arguments: Vec<Json> =
                    arguments.iter().map(|argument| self.of(*argument, depth + 1)).collect();
                json!({"kind": "operation", "name": name.as_str(), "place": place, "arguments": arguments})
            }
        }
    }
}

const MAX_JSON_STEPS: usize = 1_000;
const MAX_TREE_NODES: usize = 10_000;
const MAX_TREE_DEPTH: usize = 100;
