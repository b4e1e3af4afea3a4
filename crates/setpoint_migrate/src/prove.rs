//! Every catalog before and after.

use std::collections::BTreeSet;
use std::path::PathBuf;

use indexmap::IndexMap;
use serde_json::{Map, Value as Json};
use setpoint_project::{Job, Options, Project, Session, UsageError, parallel, threads};
use setpoint_puppet::{Compilation, Questionable};
use setpoint_puppet_values::{Data, Hash, Key, Value, to_text};
use setpoint_source::{OverlayFileSystem, Range, Severity, Span};

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
/// Rewrites that only a compilation shows are tried in a second round.
pub(crate) fn prove(
    session: &Session<'_>,
    before: &Project<'_>,
    options: &Options,
    wanted: &Target<'_>,
    changes: &mut Vec<Change>,
) -> Result<Vec<Comparison>, UsageError> {
    // What fails after the rewrites is known by its line only.
    let key = |change: &Change| {
        let line = session.sources.position(change.span).line;
        let column = if change.kind == Kind::UnknownVariable { 0 } else { change.span.range.start };
        (change.kind, change.path.clone(), line, column)
    };
    let is_new = |known: &[Change], change: &Change| !known.iter().any(|one| key(one) == key(change));
    let mut tried = changes.clone();
    let (mut comparisons, mut found) = try_all(session, before, options, wanted, &mut tried)?;
    if found.iter().any(Change::is_applied) {
        for change in found.iter().filter(|change| change.is_applied()) {
            if is_new(changes, change) {
                changes.push(change.clone());
            }
        }
        (comparisons, found) = try_all(session, before, options, wanted, changes)?;
    } else {
        *changes = tried;
    }
    for change in found {
        if is_new(changes, &change) {
            changes.push(change);
        }
    }
    Ok(comparisons)
}

/// What the code moves to: the version, and the facts that it makes itself.
pub(crate) struct Target<'t> {
    pub(crate) version: &'static str,
    pub(crate) custom_facts: &'t BTreeSet<String>,
}

fn try_all(
    session: &Session<'_>,
    before: &Project<'_>,
    options: &Options,
    wanted: &Target<'_>,
    changes: &mut [Change],
) -> Result<(Vec<Comparison>, Vec<Change>), UsageError> {
    let mut plan = match before.plan() {
        Ok(plan) => plan,
        // Without a node there is nothing to compare; the text is looked at all the same.
        Err(_) if matches!(before.kind, setpoint_project::ProjectKind::Repository { .. }) => {
            return Ok((Vec::new(), Vec::new()));
        }
        Err(error) => return Err(error),
    };
    for job in &mut plan.jobs {
        add_legacy_facts(&mut job.node.facts);
    }
    let files = OverlayFileSystem { over: overlay(session, changes), base: session.files };
    let mut after_session = session.beside(&files);
    after_session.jobs = session.jobs;
    let mut new_options = options.clone();
    new_options.puppet.record_reads = false;
    let old_options = new_options.clone();
    let rewritten = Project::open(&after_session, &before.input, &old_options)?;
    new_options.puppet.puppet = Some(wanted.version.to_owned());
    let after = Project::open(&after_session, &before.input, &new_options)?;
    // Entries hold facts and paths only, so that a job of one project can be compiled in another.
    let mut pairs: Vec<(&Job, Job)> = Vec::new();
    let mut modern = before.plan()?.jobs;
    for job in &mut modern {
        remove_legacy_facts(&mut job.node.facts, wanted.custom_facts);
    }
    pairs.extend(plan.jobs.iter().zip(modern));
    let compared =
        parallel(&pairs, threads(session.jobs), |(old, new)| compare(before, &rewritten, &after, old, new));
    let (mut comparisons, mut found) = (Vec::new(), Vec::new());
    let named: Vec<(String, Compared)> = plan.jobs.iter().map(Job::label).zip(compared).collect();
    for change in changes.iter_mut().filter(|change| change.is_applied()) {
        stand(session, change, &named);
    }
    for (name, one) in named {
        found.extend(one.found);
        comparisons.push(Comparison { name, outcome: one.outcome });
    }
    Ok((comparisons, found))
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
    // `+` also joins arrays and hashes: only catalogs show that an operand is a number on every node.
    let is_doubtful = change.kind == Kind::StringArithmetic
        && (proved.is_empty() || compared.iter().any(|(_, one)| one.is_changed_by_rewrites));
    change.standing = match (is_doubtful, proved.is_empty()) {
        (true, _) => Standing::Proposal,
        (false, false) => Standing::Proved(proved),
        (false, true) => Standing::Form,
    };
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
    let reads = first.trace.reads.iter().chain(&first.trace.coerced);
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
    let own = |span: Span| {
        let path = PathBuf::from(project.session.sources.file(span.file).path());
        project.owns(&path).then_some(path)
    };
    let mut found = Vec::new();
    for (question, span) in &compilation.trace.questions {
        let Some(path) = own(*span) else { continue };
        let (kind, message) = match question {
            // Legacy facts have their own rules.
            Questionable::UnknownVariable(name) if structured(name.trim_start_matches("::")).is_some() => {
                continue;
            }
            Questionable::UnknownVariable(name) => (
                Kind::UnknownVariable,
                format!("Nothing sets `${name}`: undef in Puppet 7, an error in Puppet 8"),
            ),
            Questionable::OverrideOfEvaluated { .. } => (
                Kind::StrictValidation,
                "This override comes too late: a warning in Puppet 7, an error in Puppet 8".to_owned(),
            ),
        };
        found.push(Change::new(kind, path, *span, message));
    }
    for span in &compilation.trace.coerced {
        let Some(path) = own(*span) else { continue };
        let operand = crate::slice(project.session, *span);
        let message = "A text is taken for a number: a warning in Puppet 7, an error in Puppet 8";
        let change = Change::new(Kind::StringArithmetic, path, *span, message);
        found.push(change.same(*span, format!("Numeric({operand})"), ReachedBy::Read(*span)));
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
    let by_name = |json: &Json| -> IndexMap<String, Json> {
        resources(json).into_iter().map(|resource| (named(&resource), resource)).collect()
    };
    let (old, new) = (by_name(old), by_name(new));
    for (name, resource) in &old {
        let Some(other) = new.get(name) else { return Some(format!("{name} is no longer there")) };
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
    let added = new.keys().find(|name| !old.contains_key(*name));
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
