//! One specification in the three semantics side by side: what differs, and why.

use std::fmt::Write as _;
use std::path::Path as FilePath;

use indexmap::IndexMap;
use serde_json::{Value as Json, json};
use setpoint_source::{Diagnostic, FileSystem, Severity, Sources};

use crate::output;
use crate::reference::{Path, shown};
use crate::store::{Store, Value};
use crate::{Compiled, Options, Semantics, compile_text};

const ALL: [Semantics; 3] = [Semantics::Core, Semantics::Forward, Semantics::Production];

/// The results of the three semantics.
#[derive(Debug)]
pub struct SideBySide {
    pub results: [Compiled; 3],
    pub differences: Vec<Difference>,
}

/// An attribute that has not one value in all semantics that compile.
#[derive(Debug)]
pub struct Difference {
    pub path: String,
    /// The value in each semantics; none if it does not exist there, or nothing was compiled.
    pub values: [Option<String>; 3],
    pub why: &'static str,
}

/// Compiles a text in each semantics.
pub fn compile_all(
    path: &FilePath,
    text: &str,
    files: &dyn FileSystem,
    sources: &Sources,
    options: &Options,
) -> SideBySide {
    let results = ALL.map(|semantics| {
        let options = Options { semantics, ..options.clone() };
        compile_text(path, text.to_owned(), files, sources, &options)
    });
    let differences = differences(&results);
    SideBySide { results, differences }
}

fn differences(results: &[Compiled; 3]) -> Vec<Difference> {
    let mut values: IndexMap<String, [Option<String>; 3]> = IndexMap::new();
    for (at, compiled) in results.iter().enumerate() {
        if let Some(store) = &compiled.store {
            flatten(store, &mut Vec::new(), at, &mut values);
        }
    }
    let compiled = [0, 1, 2].map(|at: usize| results.get(at).is_some_and(|result| result.store.is_some()));
    let differing = values.into_iter().filter(|(_, values)| {
        let mut known = (0..3).filter(|&at| compiled[at]).map(|at| &values[at]);
        let first = known.next();
        known.any(|value| Some(value) != first)
    });
    differing.map(|(path, values)| Difference { why: reason(&values, compiled), path, values }).collect()
}

/// Every attribute that is no component, by its path, with its value; an empty component is one, too. The order of a component
/// is a value of its own.
fn flatten(store: &Store, path: &mut Path, at: usize, values: &mut IndexMap<String, [Option<String>; 3]>) {
    let order = store.iter().map(|entry| entry.name.as_str()).collect::<Vec<_>>().join(", ");
    values.entry(format!("{} (its order)", shown(path))).or_default()[at] = Some(order);
    for entry in store.iter() {
        path.push(entry.name);
        match &entry.value {
            Value::Store(inner) => flatten(inner, path, at, values),
            value => values.entry(shown(path)).or_default()[at] = Some(output::sf_value(value)),
        }
        path.pop();
    }
}

/// Which rule makes the difference.
fn reason([core, forward, production]: &[Option<String>; 3], compiled: [bool; 3]) -> &'static str {
    if compiled[0] && compiled[1] && core != forward {
        return "a link is its value where it is written in core; with forward links it is resolved at the end, \
                where it lands (definition 24, §9.2.2)";
    }
    if compiled[0] && production.is_some() && core.is_none() {
        return "production looks ahead: prototypes, placements and links may be defined later (§9.2.1)";
    }
    if compiled[2] && production.is_none() {
        return "production evaluates functions, assertions and schemas, and drops what is temporary; in the paper's \
                semantics they are attributes like any other";
    }
    let _ = forward;
    "production resolves prototypes, placements, functions and links in phases, each over the whole specification"
}

impl SideBySide {
    /// Returns what is to be said beside the comparison: the errors of the production semantics if no semantics compiles, and what
    /// that leaves unchecked.
    pub fn into_diagnostics(self) -> Vec<Diagnostic> {
        let none_compiles = self.results.iter().all(|result| result.store.is_none());
        let [.., production] = self.results;
        let mut found = production.diagnostics;
        found.retain(|finding| none_compiles || finding.severity < Severity::Error);
        found
    }

    pub fn text(&self, sources: &Sources) -> String {
        let mut out = String::new();
        for (semantics, result) in ALL.iter().zip(&self.results) {
            let name = semantics.name();
            if let Some(store) = &result.store {
                let _ = writeln!(out, "{name:<11}{}", output::json(store));
                continue;
            }
            let Failure { error, why } = failure(result, sources);
            let _ = writeln!(out, "{name:<11}{error}");
            if let Some(why) = why {
                let _ = writeln!(out, "{:<11}{why}", "");
            }
        }
        let compiled = self.results.iter().filter(|result| result.store.is_some()).count();
        if self.differences.is_empty() {
            let _ = writeln!(
                out,
                "\n{}",
                match compiled {
                    3 => "all three give the same",
                    2 => "the two that compile give the same",
                    1 => "there is nothing to compare: only one compiles",
                    _ => "there is nothing to compare: none compiles",
                }
            );
        }
        for Difference { path, values, why } in &self.differences {
            let _ = writeln!(out, "\n{path}");
            for (at, semantics) in ALL.iter().enumerate().filter(|(at, _)| self.results[*at].store.is_some())
            {
                let _ = writeln!(out, "  {:<11}{}", semantics.name(), values[at].as_deref().unwrap_or("–"));
            }
            let _ = writeln!(out, "  {why}");
        }
        out
    }

    pub fn json(&self, sources: &Sources) -> Json {
        let result = |compiled: &Compiled| {
            if let Some(store) = &compiled.store {
                return json!({"result": serde_json::from_str::<Json>(&output::json(store)).unwrap_or(Json::Null)});
            }
            let Failure { error, why } = failure(compiled, sources);
            json!({"error": error, "why": why})
        };
        let differences = self.differences.iter().map(|one| {
            let [core, forward, production] = &one.values;
            json!({"path": one.path, "core": core, "forward": forward, "production": production, "why": one.why})
        });
        json!({
            "core": result(&self.results[0]),
            "forward": result(&self.results[1]),
            "production": result(&self.results[2]),
            "differences": differences.collect::<Vec<_>>(),
        })
    }
}

/// Why a semantics has no result: its first error, and what that says of the semantics.
struct Failure {
    error: String,
    why: Option<String>,
}

fn failure(compiled: &Compiled, sources: &Sources) -> Failure {
    let error = compiled.diagnostics.iter().find(|found| found.severity == Severity::Error);
    let Some(error) = error else { return Failure { error: "no result".to_owned(), why: None } };
    let place = error.span.map_or(String::new(), |span| format!(" [{}]", sources.place(span)));
    Failure { error: format!("{}{place}", error.message), why: error.helps.first().cloned() }
}
