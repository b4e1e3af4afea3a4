//! Many jobs at once, and one report of them.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use indexmap::IndexMap;
use setpoint_puppet::{Collected, Compilation, Failure, FailureKind};
use setpoint_source::{Diagnostic, InputReport, Rule, Severity, Span};

use super::collectors;
use super::jobs::{Job, Origin, Plan, few};
use super::project::{Kind, Project};

/// Does the work for each item on several threads; the results have the order of the items.
pub(crate) fn parallel<T: Sync, R: Send>(
    items: &[T],
    threads: usize,
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let threads = threads.clamp(1, items.len().max(1));
    if threads == 1 {
        return items.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let results: Mutex<BTreeMap<usize, R>> = Mutex::default();
    let take = || {
        let at = next.fetch_add(1, Ordering::Relaxed);
        items.get(at).map(|item| (at, item))
    };
    let run = || {
        while let Some((at, item)) = take() {
            let result = work(item);
            results.lock().unwrap_or_else(PoisonError::into_inner).insert(at, result);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            // Analyses recurse over their input, as they do on the main thread. Without another thread, this one
            // does all of the work.
            let _ = std::thread::Builder::new().stack_size(crate::STACK_BYTES).spawn_scoped(scope, run);
        }
        run();
    });
    results.into_inner().unwrap_or_else(PoisonError::into_inner).into_values().collect()
}

/// As many threads as were asked for, else as the machine has.
pub(crate) fn threads(asked: Option<usize>) -> usize {
    asked.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, NonZero::get)).max(1)
}

/// What came of one job.
#[derive(Debug)]
pub(crate) struct Checked {
    pub(crate) report: InputReport,
    /// Whether there is a catalog.
    pub(crate) compiled: bool,
    /// How many resources it has.
    pub(crate) resources: usize,
    /// The classes in it, where that is of interest.
    classes: Vec<String>,
    /// What came of its collectors.
    collected: Vec<Collected>,
    /// Why there is no catalog.
    failures: Vec<Failure>,
}

/// Compiles and analyses all jobs of a plan.
pub(crate) fn all(
    project: &Project<'_>,
    plan: &Plan,
    threads: usize,
    analyse: impl Fn(&Job, &Compilation, &mut InputReport) + Sync,
) -> Vec<Checked> {
    let progress = &project.session.progress;
    progress.expect(plan.jobs.len());
    parallel(&plan.jobs, threads, |job| {
        progress.begin(&job.label());
        check_one(project, job, &analyse)
    })
}

/// One report of all jobs: what is wrong with the project itself, what was left out, and what each job has that no
/// other has.
pub(crate) fn reports(project: &Project<'_>, plan: &Plan, mut checked: Vec<Checked>) -> Vec<InputReport> {
    let all = checked.iter().flat_map(|one| &one.collected);
    let busy: BTreeSet<Span> = all.filter(|one| one.count > 0).map(|one| one.span).collect();
    for one in checked.iter_mut().filter(|one| one.compiled) {
        one.report.findings.extend(collectors::idle(project, &one.collected, &busy));
    }
    let mut about = InputReport {
        path: project.input.display().to_string(),
        kind: "puppet",
        findings: project.diagnostics.clone(),
        ..InputReport::default()
    };
    about.findings.extend(plan.diagnostics.iter().cloned());
    let failed = checked.iter().any(|one| !one.compiled);
    about.findings.extend(failed.then(|| project.missing_dependencies()).flatten());
    // What is missing is the likely cause; it comes first, and counts as much as what it caused.
    if failed && !matches!(project.kind, Kind::Module { .. }) {
        for found in &mut about.findings {
            if found.rule == Rule::MissingModules && found.span.is_some() {
                found.severity = Severity::Error;
            }
        }
    }
    let mut reports = settle(plan, checked, &mut about);
    once(&mut reports);
    if !about.findings.is_empty() || reports.is_empty() {
        reports.insert(0, about);
    }
    reports
}

fn check_one(
    project: &Project<'_>,
    job: &Job,
    analyse: &(impl Fn(&Job, &Compilation, &mut InputReport) + Sync),
) -> Checked {
    let compilation = project.compile(job);
    let mut report = InputReport {
        path: job.path.clone(),
        kind: "puppet",
        node: Some(job.label()),
        ..InputReport::default()
    };
    report.findings.extend(compilation.diagnostics.iter().cloned());
    let compiled = compilation.catalog.is_some();
    let resources = compilation.catalog.as_ref().map_or(0, |catalog| catalog.resources().len());
    analyse(job, &compilation, &mut report);
    let classes = match (&compilation.catalog, &project.kind) {
        (Some(catalog), Kind::Module { .. }) => catalog.classes.iter().map(ToString::to_string).collect(),
        _ => Vec::new(),
    };
    let Compilation { collected, failures, .. } = compilation;
    Checked { report, compiled, resources, classes, collected, failures }
}

/// Decides what a failure means: a class that was merely tried is left out with the reason; an example that compiles
/// somewhere is not for the other platforms.
fn settle(plan: &Plan, checked: Vec<Checked>, about: &mut InputReport) -> Vec<InputReport> {
    let mut works: BTreeMap<(&str, Option<&str>), bool> = BTreeMap::new();
    for (job, one) in plan.jobs.iter().zip(&checked) {
        *works.entry((&job.path, job.case.as_deref())).or_default() |= one.compiled;
    }
    // A class that another one declares was checked there.
    let covered: BTreeSet<String> = checked.iter().flat_map(|one| one.classes.iter().cloned()).collect();
    let mut skipped = Skipped::default();
    for (class, _, parameters) in &plan.need_parameters {
        if covered.contains(class) {
            continue;
        }
        let parameters: Vec<String> = parameters.iter().map(|name| format!("`{name}`")).collect();
        let parameters: Vec<&str> = parameters.iter().map(String::as_str).collect();
        skipped.add(Reason::Parameters, class, &format!("{class} needs {}", few(&parameters)), None);
    }
    let mut reports = Vec::new();
    let mut entered: BTreeMap<&str, bool> = BTreeMap::new();
    for (job, Checked { mut report, compiled, failures, .. }) in plan.jobs.iter().zip(checked) {
        if let (Origin::Class, Some(class)) = (job.origin, &job.case) {
            *entered.entry(class).or_default() |= compiled || covered.contains(class);
        }
        if compiled || !matches!(job.origin, Origin::Class | Origin::Example) {
            if job.origin == Origin::Class {
                excuse(&mut report);
            }
            reports.push(report);
            continue;
        }
        let case = job.case.as_deref().unwrap_or("");
        let works = works.get(&(job.path.as_str(), Some(case))).copied().unwrap_or(false);
        if job.origin == Origin::Example && !works {
            reports.push(report);
            continue;
        }
        if job.origin == Origin::Class && covered.contains(case) {
            continue;
        }
        let on = job.node.platform.clone().unwrap_or_else(|| job.node.name.clone());
        for failure in failures {
            let found = failure.to_diagnostic();
            let reason = classify_failure(&failure.kind, case);
            skipped.add(reason, case, &found.message.clone(), Some((on.clone(), found)));
        }
    }
    let total = entered.len() + plan.need_parameters.len();
    if total > 0 {
        let more = plan.need_parameters.iter().filter(|(class, ..)| covered.contains(class)).count();
        let count = entered.values().filter(|entered| **entered).count() + more;
        skipped.report(count, total, about);
    }
    reports
}

/// A class that was tried with its defaults alone may well lack what makes its resources valid.
fn excuse(report: &mut InputReport) {
    for found in &mut report.findings {
        if found.severity == Severity::Error && found.rule == Rule::InvalidResource {
            found.severity = Severity::Warning;
            found.notes.push("The class was tried with the defaults of its parameters.".to_owned());
        }
    }
}

/// Why something was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reason {
    Parameters,
    Private,
    Part,
    Refused,
    Dependency,
    Unknown,
    Failed,
}

/// Returns why a class could not be entered. Only parameters of the class itself are for its user to give; a parameter
/// that its body forgets is a failure of the code.
fn classify_failure(failure: &FailureKind, class: &str) -> Reason {
    match failure {
        FailureKind::Private { .. } => Reason::Private,
        FailureKind::FailCalled(_) => Reason::Refused,
        FailureKind::UnknownValue { .. }
        | FailureKind::UnsupportedFunction(_)
        | FailureKind::UnsupportedTemplate { .. } => Reason::Unknown,
        // It reads or orders what the class has that is meant to declare it.
        FailureKind::UnknownVariable { name } if name.contains("::") => Reason::Part,
        FailureKind::DanglingReference(_) => Reason::Part,
        kind if kind.lacks_parameter().is_some_and(|of| of.is_class(class)) => Reason::Parameters,
        kind if kind.missing_module().is_some() => Reason::Dependency,
        _ => Reason::Failed,
    }
}

/// What was left out, by reason, and then by what was said.
#[derive(Debug, Default)]
struct Skipped {
    reasons: BTreeMap<Reason, IndexMap<String, One>>,
}

#[derive(Debug, Default)]
struct One {
    classes: indexmap::IndexSet<String>,
    platforms: indexmap::IndexSet<String>,
    example: Option<Diagnostic>,
}

impl Skipped {
    fn add(&mut self, reason: Reason, class: &str, said: &str, found: Option<(String, Diagnostic)>) {
        let one = self.reasons.entry(reason).or_default().entry(said.to_owned()).or_default();
        one.classes.insert(class.to_owned());
        if let Some((platform, found)) = found {
            one.platforms.insert(platform);
            one.example.get_or_insert(found);
        }
    }

    fn report(self, entered: usize, total: usize, about: &mut InputReport) {
        for (reason, said) in self.reasons {
            if reason == Reason::Failed {
                about.findings.extend(said.into_iter().filter_map(|(_, one)| failed(one)));
                continue;
            }
            let classes: indexmap::IndexSet<&String> = said.values().flat_map(|one| &one.classes).collect();
            let (class, are) = if classes.len() == 1 { ("class", "is") } else { ("classes", "are") };
            let why = match reason {
                Reason::Parameters => "for want of parameters",
                Reason::Private => "alone: private to the module",
                Reason::Part => "alone: part of another class",
                Reason::Refused => "where the code itself refuses",
                Reason::Dependency => "for want of a module",
                Reason::Unknown | Reason::Failed => "for want of a value that cannot be computed here",
            };
            let message = format!("{} {class} {are} not entered {why}", classes.len());
            let mut found = Diagnostic::new(Rule::NotEntered, message);
            for (text, one) in &said {
                let on: Vec<&str> = one.platforms.iter().map(String::as_str).collect();
                let classes: Vec<&str> = one.classes.iter().map(String::as_str).collect();
                found = found.with_note(match reason {
                    Reason::Parameters if on.is_empty() => text.clone(),
                    _ => format!("{}: {text} (on {})", few(&classes), few(&on)),
                });
            }
            about.findings.push(found);
        }
        let message = format!("{entered} of {total} classes were entered");
        if entered < total {
            about.findings.push(Diagnostic::new(Rule::NotEntered, message).with_help(
                "Give the others what they need by a [[case]] in setpoint.toml: docs/configuration.md shows how.",
            ));
        }
    }
}

/// A class that needs nothing and yet cannot be compiled. It may not be meant to stand alone, so this is no error.
fn failed(one: One) -> Option<Diagnostic> {
    let classes: Vec<&str> = one.classes.iter().map(String::as_str).collect();
    let platforms: Vec<&str> = one.platforms.iter().map(String::as_str).collect();
    let found = one.example?;
    let note = format!("So {} cannot be entered alone on {}.", few(&classes), few(&platforms));
    Some(found.severity(Severity::Warning).with_note(note))
}

/// What several nodes have in common is said once, with all of them.
fn once(reports: &mut [InputReport]) {
    let mut first: BTreeMap<(Option<setpoint_source::Span>, Rule, String), (usize, usize)> = BTreeMap::new();
    let mut nodes: BTreeMap<(usize, usize), Vec<String>> = BTreeMap::new();
    for (at, report) in reports.iter_mut().enumerate() {
        let node = report.node.clone().unwrap_or_default();
        for finding in std::mem::take(&mut report.findings) {
            // Puppet puts the name of the node into some messages.
            let bare = node.split(' ').next_back().unwrap_or(&node);
            let message =
                if bare.is_empty() { finding.message.clone() } else { finding.message.replace(bare, "\0") };
            let key = (finding.span, finding.rule, message);
            if let Some(place) = first.get(&key) {
                let known = nodes.entry(*place).or_default();
                if known.last() != Some(&node) {
                    known.push(node.clone());
                }
                continue;
            }
            let place = (at, report.findings.len());
            first.insert(key, place);
            nodes.insert(place, vec![node.clone()]);
            report.findings.push(finding);
        }
    }
    for ((report, at), nodes) in nodes {
        if nodes.len() > 1 {
            reports[report].findings[at].nodes = nodes;
        }
    }
}
