//! Every catalog before and after.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::{Map, Value as Json};
use setpoint_project::{Job, Options, Project, Session, UsageError, parallel, threads};
use setpoint_puppet::Compilation;
use setpoint_puppet_values::{Data, Hash, Key, Value, to_text};
use setpoint_source::{OverlayFileSystem, Range, Severity};

use crate::change::{Change, Effect, Kind, ReachedBy, Standing};
use crate::facts::structured;
use crate::overlay;

/// What came of one catalog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Compiled before and after, and equal.
    Same,
    /// Equal as far as it is known; some values are not.
    SameAsFarAsKnown,
    /// Compiled before and after, and not equal: the first difference.
    Differs(String),
    /// Compiled before, and not after.
    Fails(String),
    /// Did not compile before: nothing can be said.
    FailedBefore(String),
}

/// One catalog, and what came of it.
#[derive(Debug, Clone)]
pub struct Comparison {
    pub name: String,
    pub outcome: Outcome,
}

/// What the comparison of one catalog tells about rewrites.
struct Compared {
    outcome: Outcome,
    /// Whether the rewrites alone, under the old version, change the catalog.
    is_changed_by_rewrites: bool,
    reads: BTreeSet<(PathBuf, Range)>,
    files: BTreeSet<PathBuf>,
    data_reads: BTreeSet<String>,
    /// What the old version warns of and the new one refuses, and what fails afterwards.
    found: Vec<Change>,
}

/// Compiles every catalog before and after all rewrites, decides how each rewrite stands, and adds what only a compilation shows.
pub(crate) fn prove(
    session: &Session<'_>,
    before: &Project<'_>,
    options: &Options,
    custom_facts: &BTreeSet<String>,
    changes: &mut Vec<Change>,
) -> Result<Vec<Comparison>, UsageError> {
    let mut plan = match before.plan() {
        Ok(plan) => plan,
        // Without a node there is nothing to compare; the text is looked at all the same.
        Err(_) if matches!(before.kind, setpoint_project::ProjectKind::Repository { .. }) => {
            return Ok(Vec::new());
        }
        Err(error) => return Err(error),
    };
    for job in &mut plan.jobs {
        add_legacy_facts(&mut job.node.facts);
    }
    let files = OverlayFileSystem { over: overlay(session, changes), base: session.files };
    let mut after_session = Session::new(&files);
    after_session.jobs = session.jobs;
    let mut new_options = options.clone();
    new_options.puppet.record_reads = false;
    let old_options = new_options.clone();
    let rewritten = Project::open(&after_session, &before.input, &old_options)?;
    new_options.puppet.puppet = Some("8".to_owned());
    let after = Project::open(&after_session, &before.input, &new_options)?;
    // Entries hold facts and paths only, so that a job of one project can be compiled in another.
    let mut pairs: Vec<(&Job, Job)> = Vec::new();
    let mut modern = before.plan()?.jobs;
    for job in &mut modern {
        remove_legacy_facts(&mut job.node.facts, custom_facts);
    }
    pairs.extend(plan.jobs.iter().zip(modern));
    let compared =
        parallel(&pairs, threads(session.jobs), |(old, new)| compare(before, &rewritten, &after, old, new));
    let mut comparisons = Vec::new();
    let named: Vec<(String, Compared)> = plan.jobs.iter().map(Job::label).zip(compared).collect();
    for change in changes.iter_mut().filter(|change| change.is_applied()) {
        stand(session, change, &named);
    }
    for (name, one) in named {
        changes.extend(one.found);
        comparisons.push(Comparison { name, outcome: one.outcome });
    }
    Ok(comparisons)
}

/// Decides how a rewrite stands by the catalogs that evaluate it.
fn stand(session: &Session<'_>, change: &mut Change, compared: &[(String, Compared)]) {
    let mut proved = Vec::new();
    for (name, one) in compared {
        let is_reached = match &change.reached_by {
            ReachedBy::Read(span) => {
                let path = PathBuf::from(session.sources.file(span.file).path());
                one.reads.contains(&(path, span.range))
            }
            ReachedBy::File => one.files.contains(&change.path),
            ReachedBy::Data(name) => one.data_reads.contains(name),
            ReachedBy::Nothing => false,
        };
        if is_reached && one.is_changed_by_rewrites {
            change.standing = Standing::Proposal;
            change.message.push_str(&format!(
                "; the rewrites change the catalog of {name}, so this one is left to you"
            ));
            return;
        }
        if is_reached && one.outcome == Outcome::Same && !proved.contains(name) {
            proved.push(name.clone());
        }
    }
    if !proved.is_empty() {
        change.standing = Standing::Proved(proved);
    }
}

fn compare(
    before: &Project<'_>,
    rewritten: &Project<'_>,
    after: &Project<'_>,
    old: &Job,
    new: &Job,
) -> Compared {
    let first = before.compile(old);
    let sources = &before.session.sources;
    let reads = first.trace.reads.iter();
    let reads = reads.map(|span| (PathBuf::from(sources.file(span.file).path()), span.range)).collect();
    let mut one = Compared {
        outcome: Outcome::Same,
        is_changed_by_rewrites: false,
        reads,
        files: first.trace.files.clone(),
        data_reads: first.trace.data_reads.clone(),
        found: warnings(before, &first),
    };
    let Some(catalog) = &first.catalog else {
        one.outcome = Outcome::FailedBefore(first_error(&first));
        return one;
    };
    let catalog = comparable(catalog);
    let second = after.compile(new);
    if let Some(changed) = &second.catalog {
        let difference = first_difference(&catalog, &comparable(changed));
        let is_known = first.gaps.is_empty() && second.gaps.is_empty();
        one.outcome = match difference {
            None if is_known => Outcome::Same,
            None => Outcome::SameAsFarAsKnown,
            Some(difference) => Outcome::Differs(difference),
        };
    } else {
        one.outcome = Outcome::Fails(first_error(&second));
        one.found.extend(errors(after, before, &second));
    }
    if !matches!(one.outcome, Outcome::Same | Outcome::SameAsFarAsKnown) {
        let same_version = rewritten.compile(old);
        one.is_changed_by_rewrites = match &same_version.catalog {
            Some(changed) => first_difference(&catalog, &comparable(changed)).is_some(),
            None => true,
        };
    }
    one
}

fn first_error(compilation: &Compilation) -> String {
    let error = compilation.diagnostics.iter().find(|found| found.severity == Severity::Error);
    error.map_or_else(String::new, |error| error.message.clone())
}

/// What Puppet 7 warns of and Puppet 8 refuses.
fn warnings(project: &Project<'_>, compilation: &Compilation) -> Vec<Change> {
    let mut found = Vec::new();
    for warning in compilation.diagnostics.iter().filter(|found| found.severity == Severity::Warning) {
        let kind = match warning.rule.name() {
            "unknown-variable" => Kind::UnknownVariable,
            "questionable-construct" => Kind::StrictValidation,
            _ => continue,
        };
        let Some(span) = warning.span else { continue };
        let path = PathBuf::from(project.session.sources.file(span.file).path());
        if project.owns(&path) {
            let message = format!("{}: a warning in Puppet 7, an error in Puppet 8", warning.message);
            found.push(Change::new(kind, path, span, message));
        }
    }
    found
}

/// What fails after the rewrites, at its place in the files as they are.
fn errors(after: &Project<'_>, before: &Project<'_>, compilation: &Compilation) -> Vec<Change> {
    let mut found = Vec::new();
    for error in compilation.diagnostics.iter().filter(|found| found.severity == Severity::Error) {
        let Some(span) = error.span else { continue };
        let source = after.session.sources.file(span.file);
        let path = PathBuf::from(source.path());
        if !before.owns(&path) {
            continue;
        }
        let Ok(text) = setpoint_source::read_text(before.session.files, &path) else { continue };
        // Rewrites keep lines, and so does the place: its line is shown.
        let line = source.line(span.range.start);
        let start: usize =
            text.split_inclusive('\n').take(line.saturating_sub(1) as usize).map(str::len).sum();
        let length = text[start..].lines().next().unwrap_or("").len();
        let file = before.session.sources.add(path.display().to_string(), text.as_str());
        let (kind, message) = match error.rule.name() {
            "unknown-variable" => (Kind::UnknownVariable, error.message.clone()),
            _ if error.message.contains("coerced") => (Kind::StringArithmetic, error.message.clone()),
            _ => (Kind::FailsAfterwards, error.message.clone()),
        };
        let place = Range::new(start, start + length).in_file(file);
        let mut change = Change::new(kind, path, place, format!("Under Puppet 8: {message}"));
        change.effect = Effect::Breaks;
        found.push(change);
    }
    found
}

/// A catalog as data, without what depends on the place of the code.
fn comparable(catalog: &setpoint_catalog::Catalog) -> Json {
    let mut json: Json = serde_json::from_str(&setpoint_catalog::write::json(catalog)).unwrap_or(Json::Null);
    if let Some(top) = json.as_object_mut() {
        top.shift_remove("version");
        for resource in top.get_mut("resources").and_then(Json::as_array_mut).into_iter().flatten() {
            if let Some(resource) = resource.as_object_mut() {
                resource.shift_remove("line");
                resource.shift_remove("file");
            }
        }
    }
    json
}

/// The first thing in which two catalogs differ, in words without values: they may be secrets.
fn first_difference(old: &Json, new: &Json) -> Option<String> {
    if old == new {
        return None;
    }
    let resources = |json: &Json| json.get("resources").and_then(Json::as_array).cloned().unwrap_or_default();
    let named = |resource: &Json| {
        let part = |name: &str| resource.get(name).and_then(Json::as_str).unwrap_or("").to_owned();
        format!("{}[{}]", part("type"), part("title"))
    };
    let (old, new) = (resources(old), resources(new));
    for resource in &old {
        let name = named(resource);
        let Some(other) = new.iter().find(|other| named(other) == name) else {
            return Some(format!("{name} is no longer there"));
        };
        if resource != other {
            let parameters = |resource: &Json| {
                resource.get("parameters").and_then(Json::as_object).cloned().unwrap_or_default()
            };
            let (before, after) = (parameters(resource), parameters(other));
            let changed = before.keys().chain(after.keys()).find(|key| before.get(*key) != after.get(*key));
            return Some(match changed {
                Some(parameter) => format!("{name} has another `{parameter}`"),
                None => format!("{name} has other tags"),
            });
        }
    }
    let added = new.iter().map(named).find(|name| !old.iter().any(|one| named(one) == *name));
    Some(added.map_or_else(|| "the edges differ".to_owned(), |name| format!("{name} is new")))
}

/// Adds the legacy facts that follow from the structured ones, as an agent of Puppet 7 sends them.
fn add_legacy_facts(facts: &mut Hash) {
    let json: Map<String, Json> =
        facts.iter().map(|(name, fact)| (to_text(&name.0).to_string(), to_json(fact))).collect();
    for (name, fact) in setpoint_platforms::values(&setpoint_platforms::legacy_facts(&json)) {
        facts.entry(name).or_insert(fact);
    }
}

fn remove_legacy_facts(facts: &mut Hash, custom: &BTreeSet<String>) {
    let is_kept =
        |name: &Key| name.0.as_str().is_none_or(|name| structured(name).is_none() || custom.contains(name));
    facts.retain(|name, _| is_kept(name));
}

fn to_json(value: &Value) -> Json {
    match &value.data {
        Data::Bool(truth) => Json::Bool(*truth),
        Data::Integer(number) => Json::from(*number),
        Data::Float(number) => Json::from(*number),
        Data::String(text) => Json::from(&**text),
        Data::Array(items) => items.iter().map(to_json).collect(),
        Data::Hash(entries) => Json::Object(
            entries.iter().map(|(key, value)| (to_text(&key.0).to_string(), to_json(value))).collect(),
        ),
        _ => Json::Null,
    }
}
