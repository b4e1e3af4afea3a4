//! Many jobs at once, and one report of them.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use indexmap::IndexMap;
use setpoint_puppet::{Collected, Compilation, CompileGapKind, Entry, Failure, FailureKind};
use setpoint_puppet_values::to_text;
use setpoint_source::{
    Class, Diagnostic, FileId, Gap, InputReport, Judgement, Question, Range, Rule, Severity, SourceFile,
    Sources, Span, Verdict, normal, thread_builder,
};

use crate::flows;
use crate::jobs::{Job, Origin, Plan, few};
use crate::project::{Kind, Project};
use crate::survey::{Survey, unreadable_file};
use crate::{collectors, entries, platforms};

/// Does the work for each item on several threads; the results have the order of the items.
pub fn parallel<T: Sync, R: Send>(items: &[T], threads: usize, work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let mut results = Vec::with_capacity(items.len());
    run_in_order(items, threads, work, |result| results.push(result));
    results
}

/// Does the work for each item on several threads, and takes each result as soon as all before it are taken.
pub fn run_in_order<T: Sync, R: Send>(
    items: &[T],
    threads: usize,
    work: impl Fn(&T) -> R + Sync,
    mut take: impl FnMut(R) + Send,
) {
    let threads = threads.clamp(1, items.len().max(1));
    if threads == 1 {
        return items.iter().for_each(|item| take(work(item)));
    }
    let next = AtomicUsize::new(0);
    let done = Mutex::new((BTreeMap::new(), 0, take));
    let run = || {
        while let at = next.fetch_add(1, Ordering::Relaxed)
            && let Some(item) = items.get(at)
        {
            let result = work(item);
            // Held while results are taken, so that nobody takes a later one first.
            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
            let (waiting, taken, take) = &mut *done;
            waiting.insert(at, result);
            while let Some(result) = waiting.remove(taken) {
                *taken += 1;
                take(result);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            // Analyses recurse over their input, as they do on the main thread. Without another thread, this one
            // does all of the work.
            let _ = thread_builder().spawn_scoped(scope, run);
        }
        run();
    });
}

/// As many threads as were asked for, else as the machine has.
pub fn threads(asked: Option<usize>) -> usize {
    asked.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, NonZero::get)).max(1)
}

/// What came of one job.
#[derive(Debug)]
pub(crate) struct Checked {
    pub report: InputReport,
    /// Whether there is a catalog.
    pub compiled: bool,
    /// How many resources it has.
    pub resources: usize,
    /// How many of them are no classes and stages.
    resources_of_code: usize,
    /// The names of the classes and of the types of resources in it.
    entered: BTreeSet<String>,
    /// Which of the `[[exec]]` of the configuration speak of commands in it.
    pub(crate) execs: BTreeSet<usize>,
    /// What came of its collectors.
    collected: Vec<Collected>,
    /// Why there is no catalog.
    failures: Vec<Failure>,
    /// The job on the platform that its node was found to have.
    settled: Option<Job>,
    /// Whether another platform may bring another answer, and whether a fact or variable was taken to be missing.
    may_differ: bool,
    lacks_facts: bool,
    /// Whether code that was met after something had been passed over fails in a way in which it may not on another system.
    refuses: bool,
}

impl Checked {
    /// Whether there is a catalog, and nothing in it that a proof could be about.
    pub(crate) fn is_empty(&self) -> bool {
        self.compiled && self.resources_of_code == 0
    }

    /// The names of the classes and of the types of resources in its catalog, or of those whose code was evaluated in part.
    pub(crate) fn entered(&self) -> impl Iterator<Item = &String> {
        self.entered.iter()
    }

    fn is_refused(&self) -> bool {
        self.refuses || self.report.verdict().get(Question::Catalog).is_some_and(Judgement::is_refuted)
    }

    /// The mistakes that keep it from being compiled or applied.
    fn mistakes(&self) -> BTreeSet<(Rule, Option<Span>)> {
        let errors = self.report.findings.iter().filter(|found| found.severity == Severity::Error);
        errors.map(|found| (found.rule, found.span)).collect()
    }

    /// Makes mistakes that may rest on the assumed facts warnings, and the answer unknown.
    fn doubt_platform(&mut self, job: &Job) {
        if !self.report.verdict().get(Question::Catalog).is_some_and(Judgement::is_refuted) {
            return;
        }
        let tried = job.node.platform.as_deref().into_iter().chain(job.node.other_platforms.iter().copied());
        let tried: Vec<&str> = tried.collect();
        let note = format!(
            "No facts are known of {}, and it can be compiled with those of none of {}.",
            job.node.name,
            few(&tried)
        );
        let mut reason = None;
        for found in self.report.findings.iter_mut().filter(|found| found.severity == Severity::Error) {
            found.severity = Severity::Warning;
            found.note(note.clone());
            found.help(
                "Put the output of `puppet facts` into facts/NODE.json, or name a platform with --platform.",
            );
            reason.get_or_insert_with(|| setpoint_source::Reason::of(Gap::Undecided, found));
        }
        if let Some(reason) = reason {
            self.report.replace_answer(Question::Catalog, Judgement::unknown(reason));
        }
    }
}

/// Compiles and analyses jobs. A job whose node was found to have another platform than the one that was assumed gets that.
pub(crate) fn all(
    project: &Project<'_>,
    jobs: &mut [Job],
    threads: usize,
    analyse: impl Fn(&Job, &Compilation, &mut InputReport) + Sync,
) -> Vec<Checked> {
    let progress = &project.session.progress;
    progress.expect(jobs.len());
    let mut checked = parallel(jobs, threads, |job| {
        progress.begin(&job.label());
        check_somewhere(project, job, &analyse)
    });
    for (job, one) in jobs.iter_mut().zip(&mut checked) {
        if let Some(settled) = one.settled.take() {
            *job = settled;
        }
    }
    checked
}

/// Checks a job on the platform that was assumed for its node. If it is refused there, the others are tried that the node may have;
/// if it is refused on all of them, that is a mistake only if it is the same one everywhere.
fn check_somewhere(
    project: &Project<'_>,
    job: &Job,
    analyse: &(impl Fn(&Job, &Compilation, &mut InputReport) + Sync),
) -> Checked {
    let first = check_one(project, job, analyse);
    if job.node.other_platforms.is_empty() || !first.is_refused() || !first.may_differ {
        return first;
    }
    let mut mistakes = BTreeSet::from([first.mistakes()]);
    let mut best = first;
    for platform in &job.node.other_platforms {
        let Ok(other) = project.on_platform(job, platform) else { continue };
        let one = check_one(project, &other, analyse);
        mistakes.insert(one.mistakes());
        // The one on which most code is looked at says most.
        if !one.is_refused() || one.entered.len() > best.entered.len() {
            best = Checked { settled: Some(other), ..one };
        }
        if !best.is_refused() {
            return best;
        }
    }
    // What a class lacks that is entered alone is told otherwise.
    let may_rest_on_facts = mistakes.len() > 1 || best.lacks_facts || hangs_on_facts(&best.failures);
    if job.origin != Origin::Class && may_rest_on_facts {
        best.doubt_platform(job);
    }
    best
}

/// Whether the code may say so for what the machine is.
fn hangs_on_facts(failures: &[Failure]) -> bool {
    failures.iter().any(|failure| failure.kind.hangs_on_facts())
}

/// What is wrong with the project itself and what was left out, and with that the last word on each job.
pub(crate) fn conclude(
    project: &Project<'_>,
    plan: &Plan,
    survey: &Survey,
    checked: &mut [Checked],
) -> InputReport {
    let all = checked.iter().flat_map(|one| &one.collected);
    let busy: BTreeSet<Span> = all.filter(|one| one.count > 0).map(|one| one.span).collect();
    for one in checked.iter_mut().filter(|one| one.compiled) {
        one.report.findings.extend(collectors::idle(project, &one.collected, &busy));
    }
    tell_older_version(project, plan, checked);
    let mut about = InputReport::new(project.input.display().to_string(), "puppet");
    let failed = checked.iter().any(|one| !one.compiled);
    about.findings = project.session.tell_once(&weigh_missing_modules(project, failed));
    about.findings.extend(platforms::tell_assumed(&plan.jobs));
    about.findings.extend(plan.diagnostics.iter().cloned());
    about.findings.extend(entries::settings_of_projects(project));
    about.findings.extend(flows::secrets_by_facts(project));
    about.findings.extend(failed.then(|| project.missing_dependencies()).flatten());
    let mut idle = entries::idle_role_patterns(project, survey);
    if !plan.is_part {
        idle.extend(entries::idle_invariants(project, &plan.jobs));
    }
    // What a lone manifest has nothing to do with says nothing about it.
    let doubted: Vec<Diagnostic> = idle.iter().filter(|one| one.severity > Severity::Note).cloned().collect();
    doubt_what_was_not_read(project, survey, &doubted, checked, &mut about);
    if !plan.is_part {
        idle.extend(entries::idle_execs(project, checked));
    }
    doubt_empty_catalogs(project, plan, checked, &mut about);
    about.findings.extend(idle);
    about
}

/// The findings about the project's own files. If a node failed, modules that are missing are the likely cause: they come first
/// and count as much as what they caused.
fn weigh_missing_modules(project: &Project<'_>, failed: bool) -> Vec<Diagnostic> {
    let is_cause = failed && !matches!(project.kind, Kind::Module { .. });
    let mut findings = project.diagnostics.clone();
    for found in &mut findings {
        if is_cause && found.rule == Rule::MissingModules && found.span.is_some() {
            found.severity = Severity::Error;
        }
    }
    findings
}

/// One report of all jobs, after what there is to say about the project: what each job has that no other has.
pub(crate) fn reports(
    project: &Project<'_>,
    plan: &Plan,
    checked: Vec<Checked>,
    survey: Survey,
    mut about: InputReport,
) -> Vec<InputReport> {
    let entered = checked.iter().flat_map(|one| &one.entered);
    let entered: BTreeSet<&String> = entered.filter(|name| survey.definitions.contains(*name)).collect();
    let mut coverage = survey.coverage;
    coverage.definitions.reached = entered.len();
    for path in unread_data(project, &survey.other_data) {
        coverage.add_unread(path.display().to_string());
    }
    let broken = survey.findings.into_iter().chain(survey.broken_metadata);
    let in_modules = survey.findings_in_modules;
    add_untold(project, plan, &checked, broken.collect(), &mut about);
    let mut reports = classify_failures(project, plan, checked, &mut about);
    merge_findings_of_nodes(&mut reports);
    fold_findings_in_modules(project, &mut reports, in_modules, &mut about);
    match (&project.kind, reports.first_mut()) {
        // One manifest is told in one line.
        (Kind::Manifests(_), Some(first)) => match &mut first.coverage {
            Some(known) => known.join(&coverage),
            None => first.coverage = Some(coverage),
        },
        _ => about.coverage = Some(coverage),
    }
    about.conclude(Verdict::nothing_asked());
    if !about.findings.is_empty() || about.coverage.is_some() || reports.is_empty() {
        reports.insert(0, about);
    }
    reports
}

/// Those of the data files of a project that nothing has read, and that are no inputs of their own.
fn unread_data<'f>(project: &Project<'_>, found: &'f [PathBuf]) -> Vec<&'f PathBuf> {
    let session = project.session;
    let read: BTreeSet<PathBuf> =
        session.sources.paths().iter().map(|path| normal(Path::new(path))).collect();
    let others: Vec<PathBuf> =
        session.inputs.iter().filter(|path| **path != project.input).map(|path| normal(path)).collect();
    let is_unread = |path: &&PathBuf| {
        let path = normal(path);
        !read.contains(&path) && !others.iter().any(|input| path.starts_with(input))
    };
    found.iter().filter(is_unread).collect()
}

/// Files that are there and could not be read, and descriptions of the project that are not understood, leave every verdict
/// open: nobody knows what they would have changed.
fn doubt_what_was_not_read(
    project: &Project<'_>,
    survey: &Survey,
    idle_settings: &[Diagnostic],
    checked: &mut [Checked],
    about: &mut InputReport,
) {
    let mut reasons: Vec<setpoint_source::Reason> = Vec::new();
    for finding in project.diagnostics.iter().chain(&survey.broken_metadata).chain(idle_settings) {
        if finding.rule.class() == Class::Syntax {
            let reason = setpoint_source::Reason::of(Gap::Malformed, finding);
            // The module of the project is among those that are surveyed.
            if !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
    }
    let mut unread = None;
    for error in project.session.files.unreadable() {
        let finding = unreadable_file(project, &error);
        let reason = setpoint_source::Reason::of(Gap::Unread, &finding);
        unread.get_or_insert_with(|| reason.clone());
        reasons.push(reason);
        // The compiler tells the same, without a place.
        let is_other = |told: &Diagnostic| told.rule != finding.rule || told.message != finding.message;
        for one in checked.iter_mut() {
            one.report.findings.retain(is_other);
        }
        about.findings.push(finding);
    }
    // What fails may be in what could not be read.
    if let Some(reason) = unread {
        for one in checked.iter_mut().filter(|one| !one.compiled) {
            one.report.replace_answer(Question::Catalog, Judgement::unknown(reason.clone()));
        }
    }
    for one in checked {
        for reason in &reasons {
            one.report.doubt(reason);
        }
    }
}

/// A catalog without a resource proves nothing about the code; if no catalog has one, nothing was checked at all.
fn doubt_empty_catalogs(
    project: &Project<'_>,
    plan: &Plan,
    checked: &mut [Checked],
    about: &mut InputReport,
) {
    // A class that is merely tried and fails is left out, and so is not checked.
    let is_repository = matches!(project.kind, Kind::Repository { .. });
    let is_left_out = |job: &Job, one: &Checked| {
        let is_looked_at =
            is_repository && one.report.verdict().get(Question::Catalog).is_some_and(Judgement::is_unknown);
        job.origin == Origin::Class && !one.compiled && !is_looked_at
    };
    let is_nothing = !matches!(project.kind, Kind::Manifests(_))
        && !plan.is_part
        && plan.jobs.iter().zip(checked.iter()).all(|(job, one)| one.is_empty() || is_left_out(job, one));
    for one in checked.iter_mut().filter(|one| one.is_empty()) {
        let reason = setpoint_source::Reason::new(Gap::NothingEntered, "the catalog has no resources");
        let path = one.report.path.clone();
        one.report.doubt_answer(Question::Catalog, reason.in_file(path));
    }
    if is_nothing {
        let message = if checked.iter().all(|one| one.compiled) {
            "Nothing was checked: no node and no class of this input has a resource"
        } else {
            "Nothing was checked: no catalog with a resource could be compiled"
        };
        let file = project.session.sources.add(project.input.display().to_string(), "");
        let finding = Diagnostic::new(Rule::NothingChecked, message).at(Range::new(0, 0).in_file(file)).with_help(
            "Name a node with --node, list nodes or roles in setpoint.toml, or check a folder that has manifests.",
        );
        about.findings.push(finding);
    }
}

/// Adds what is wrong with files of the project, unless a job or the project tells it already.
fn add_untold(
    project: &Project<'_>,
    plan: &Plan,
    checked: &[Checked],
    findings: Vec<Diagnostic>,
    about: &mut InputReport,
) {
    let sources = &project.session.sources;
    let key = |finding: &Diagnostic| (finding.rule, finding.span.map(|span| sources.place(span)));
    // What keeps a class from being entered that was merely tried is not told as it is.
    let jobs = plan.jobs.iter().zip(checked);
    let told = jobs.filter(|(job, one)| one.compiled || job.origin != Origin::Class).map(|(_, one)| one);
    let of_jobs = told.flat_map(|one| &one.report.findings);
    let mut told: BTreeSet<_> = of_jobs.chain(&about.findings).map(key).collect();
    about.findings.extend(findings.into_iter().filter(|finding| told.insert(key(finding))));
}

/// Findings that lie in modules which somebody else wrote become one line, unless they are asked for. What keeps a node from
/// being compiled is told in any case.
fn fold_findings_in_modules(
    project: &Project<'_>,
    reports: &mut [InputReport],
    unreached: Vec<Diagnostic>,
    about: &mut InputReport,
) {
    if project.options.include_modules || matches!(project.kind, Kind::Manifests(_)) {
        about.findings.extend(unreached);
        return;
    }
    let module_of = |finding: &Diagnostic| {
        let path = finding.span.map(|span| path_of(project, span)).unwrap_or_default();
        project.environment.module_of(&path).map(|(name, _)| name)
    };
    let told: BTreeSet<_> =
        reports.iter().flat_map(|report| &report.findings).map(|found| (found.rule, found.span)).collect();
    let unreached = unreached.iter().filter(|found| !told.contains(&(found.rule, found.span)));
    let mut modules: BTreeSet<_> = unreached.clone().filter_map(module_of).collect();
    let mut count = unreached.count();
    for report in reports.iter_mut() {
        let fails = report.verdict().get(Question::Catalog).is_some_and(Judgement::is_refuted);
        if fails {
            continue;
        }
        report.findings.retain(|finding| {
            let keeps = is_own(project, finding);
            if !keeps {
                count += 1;
                modules.extend(module_of(finding));
            }
            keeps
        });
    }
    if count > 0 {
        let (count, modules) = (counted(count, "finding"), counted(modules.len(), "installed module"));
        let finding = Diagnostic::new(Rule::FindingsInModules, format!("{count} in {modules}"));
        about.findings.push(finding.with_help("`--include-modules` lists them."));
    }
}

/// Says once, at the first error, that nodes which fail compile under Puppet 7.
fn tell_older_version(project: &Project<'_>, plan: &Plan, checked: &mut [Checked]) {
    let jobs = plan.jobs.iter().zip(checked.iter()).enumerate();
    let failed = jobs.filter(|(_, (job, one))| {
        !one.compiled && matches!(job.origin, Origin::Node | Origin::Manifest | Origin::Case)
    });
    let failed: Vec<(usize, &Job)> = failed.map(|(at, (job, _))| (at, job)).collect();
    let threads = threads(project.session.jobs);
    let older = parallel(&failed, threads, |(at, job)| project.compiles_under_7_only(job).then_some(*at));
    let older: Vec<usize> = older.into_iter().flatten().collect();
    let Some(first) = older.first() else { return };
    let findings = &mut checked[*first].report.findings;
    let Some(error) = findings.iter_mut().find(|found| found.severity == Severity::Error) else { return };
    error.note(match (older.len(), failed.len()) {
        (1, 1) => "It compiles under Puppet 7.".to_owned(),
        (count, all) => format!(
            "Of {} that fail under Puppet 8, {count} compile under Puppet 7.",
            counted(all, "catalog")
        ),
    });
    error
        .help("`--puppet 7` checks by the rules of Puppet 7; `setpoint migrate` shows what to change for 8.");
}

fn path_of(project: &Project<'_>, span: Span) -> PathBuf {
    PathBuf::from(project.session.sources.file(span.file).path())
}

/// Whether a finding is about the user's own files, or about no file.
pub(crate) fn is_own(project: &Project<'_>, finding: &Diagnostic) -> bool {
    let mut places = finding.span.into_iter().chain(finding.labels.iter().map(|label| label.span)).peekable();
    places.peek().is_none() || places.any(|span| project.owns(&path_of(project, span)))
}

fn counted_classes(count: usize) -> String {
    if count == 1 { "1 class".to_owned() } else { format!("{count} classes") }
}

fn counted(count: usize, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}

fn check_one(
    project: &Project<'_>,
    job: &Job,
    analyse: &(impl Fn(&Job, &Compilation, &mut InputReport) + Sync),
) -> Checked {
    let compilation = project.compile_any_run(job);
    let mut report = InputReport::new(job.path.clone(), "puppet");
    report.node = Some(job.label());
    report.findings.extend(compilation.diagnostics.iter().cloned());
    place_errors(project, job, &mut report);
    let compiled = compilation.catalog.is_some();
    let resources = compilation.catalog.as_ref().map_or(0, |catalog| catalog.resources().len());
    analyse(job, &compilation, &mut report);
    let mut resources_of_code = 0;
    let mut execs = BTreeSet::new();
    for (_, resource) in compilation.catalog.iter().flat_map(setpoint_catalog::Catalog::iter) {
        match resource.type_name.as_str() {
            "Class" | "Stage" | "Node" => {}
            type_name => {
                if type_name == "Exec" {
                    let (title, command) = (
                        &resource.title,
                        resource
                            .get("command")
                            .map_or_else(|| resource.title.to_string(), |given| to_text(given).to_string()),
                    );
                    let declared = project.config.execs.iter().enumerate();
                    execs.extend(declared.filter(|(_, one)| one.matches(title, &command)).map(|(at, _)| at));
                }
                resources_of_code += 1;
            }
        }
    }
    let entered: BTreeSet<String> = compilation.entered.iter().map(|name| name.to_lowercase()).collect();
    // Code that was evaluated in part may lack what a comment there silences.
    if compiled {
        report.entered.clone_from(&entered);
    }
    report.entered.extend(evaluated_lines(project, &compilation));
    let lacks_facts = compilation.gaps.iter().any(|gap| matches!(gap.kind, CompileGapKind::AbsentFact(_)));
    let Compilation { collected, failures, doubtful, .. } = compilation;
    Checked {
        report,
        compiled,
        resources,
        resources_of_code,
        entered,
        execs,
        collected,
        may_differ: !failures.iter().any(|failure| failure.kind.is_about_texts()),
        refuses: doubtful.iter().any(|failure| failure.kind.may_hang_on_system()),
        failures,
        settled: None,
        lacks_facts,
    }
}

/// The lines of nodes, functions and templates that values came from, in files with comments that silence: whether such a
/// comment is used is asked only where its code was evaluated.
fn evaluated_lines(project: &Project<'_>, compilation: &Compilation) -> BTreeSet<String> {
    let sources = &project.session.sources;
    let mut silencing: BTreeMap<FileId, Option<Arc<SourceFile>>> = BTreeMap::new();
    let mut found = BTreeSet::new();
    // A walk over all leaves; what they reach is not asked.
    compilation.arena.reached(|_, leaf| {
        let Some(span) = leaf.and_then(|leaf| leaf.span) else { return false };
        let file = silencing.entry(span.file).or_insert_with(|| {
            let file = sources.file(span.file);
            file.text().contains("setpoint:allow").then_some(file)
        });
        if let Some(file) = file {
            found.insert(format!("{}:{}", file.path(), file.line(span.range.start)));
        }
        false
    });
    found
}

/// Moves a finding about code that Setpoint made up to enter a class to the data at fault, else to the class.
fn move_to_class(sources: &Sources, job: &Job, finding: &mut Diagnostic) {
    let (Some(class), Entry::Code { name, .. }) = (job.class_at, &job.entry) else { return };
    let is_ours = |span: Span| sources.file(span.file).path() == name;
    if !finding.span.is_some_and(is_ours) {
        return;
    }
    finding.labels.retain(|label| !is_ours(label.span));
    let data = (!finding.labels.is_empty()).then(|| finding.labels.remove(0).span);
    finding.span = Some(data.unwrap_or(class));
}

/// Puts errors without a place at the file that asks for what fails: a classifier or the configuration declares classes, too.
fn place_errors(project: &Project<'_>, job: &Job, report: &mut InputReport) {
    for finding in &mut report.findings {
        move_to_class(&project.session.sources, job, finding);
    }
    let asking = match (job.origin, &project.options.puppet.enc) {
        (Origin::Case, _) => PathBuf::from(&job.path),
        (_, Some(classifier)) => classifier.clone(),
        (_, None) => return,
    };
    for finding in &mut report.findings {
        if finding.span.is_none() && finding.severity == Severity::Error {
            let text = setpoint_source::read_text(project.session.files, &asking).unwrap_or_default();
            let file = project.session.sources.add(asking.display().to_string(), text);
            finding.span = Some(Range::new(0, 0).in_file(file));
        }
    }
}

/// Decides what a failure means: a class that was merely tried is left out with the reason; an example that compiles
/// somewhere is not for the other platforms.
fn classify_failures(
    project: &Project<'_>,
    plan: &Plan,
    checked: Vec<Checked>,
    about: &mut InputReport,
) -> Vec<InputReport> {
    let sources = &project.session.sources;
    let about_repository = matches!(project.kind, Kind::Repository { .. });
    let mut works: BTreeMap<(&str, Option<&str>), bool> = BTreeMap::new();
    for (job, one) in plan.jobs.iter().zip(&checked) {
        *works.entry((&job.path, job.case.as_deref())).or_default() |= one.compiled;
    }
    let entered_by = |one: &Checked| one.entered.iter().cloned().collect::<Vec<_>>();
    // A class that another one declares was checked there, if that one has a catalog. Its own failure is told otherwise.
    let covered: BTreeSet<String> = checked.iter().filter(|one| one.compiled).flat_map(entered_by).collect();
    let reached: BTreeSet<String> = checked.iter().flat_map(entered_by).collect();
    let mut skipped = Skipped::default();
    for (class, _, parameters) in &plan.need_parameters {
        if reached.contains(class) {
            continue;
        }
        let parameters: Vec<String> = parameters.iter().map(|name| format!("`{name}`")).collect();
        let parameters: Vec<&str> = parameters.iter().map(String::as_str).collect();
        skipped.add(Reason::Parameters, class, &format!("{class} needs {}", few(&parameters)), None);
    }
    let mut reports = Vec::new();
    let mut entered: BTreeMap<&str, bool> = BTreeMap::new();
    for (job, Checked { mut report, compiled, failures, lacks_facts, .. }) in plan.jobs.iter().zip(checked) {
        if let (Origin::Class, Some(class)) = (job.origin, &job.case) {
            *entered.entry(class).or_default() |=
                compiled || covered.contains(class) || about_repository && reached.contains(class);
        }
        // A class of a repository that Setpoint cannot compile to its end was looked at all the same.
        let is_open =
            about_repository && report.verdict().get(Question::Catalog).is_some_and(Judgement::is_unknown);
        if compiled || is_open || !matches!(job.origin, Origin::Class | Origin::Example) {
            if job.origin == Origin::Class {
                demote_errors(&mut report, about_repository);
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
            let mut found = failure.to_diagnostic();
            move_to_class(sources, job, &mut found);
            if failure.kind.is_about_texts() && about_repository {
                if !about.findings.iter().any(|told| told.rule == found.rule && told.span == found.span) {
                    about.findings.push(found);
                }
                continue;
            }
            let reason = classify_failure(&failure.kind, case, lacks_facts);
            skipped.add(reason, case, &found.message.clone(), Some((on.clone(), found)));
        }
    }
    let total = entered.len() + plan.need_parameters.len();
    if total > 0 {
        let more = plan.need_parameters.iter().filter(|(class, ..)| reached.contains(class)).count();
        let count = entered.values().filter(|entered| **entered).count() + more;
        skipped.report(count, total, about);
    }
    reports
}

/// A class that was tried with its defaults alone may well lack what makes its resources valid; one that a repository's nodes declare
/// with others may lack what those bring, too.
fn demote_errors(report: &mut InputReport, is_repository: bool) {
    for found in &mut report.findings {
        if found.severity == Severity::Error && (is_repository || found.rule == Rule::InvalidResource) {
            found.severity = Severity::Warning;
            found.note(if is_repository {
                "The class was entered alone."
            } else {
                "The class was tried with the defaults of its parameters."
            });
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
    Facts,
    Unknown,
    Failed,
}

/// Returns why a class could not be entered. Only parameters of the class itself are for its user to give; a parameter
/// that its body forgets is a failure of the code.
fn classify_failure(failure: &FailureKind, class: &str, lacks_facts: bool) -> Reason {
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
        kind if lacks_facts && kind.may_hang_on_system() => Reason::Facts,
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
            let why = match reason {
                Reason::Parameters => "parameters are missing",
                Reason::Private => "private to the module",
                Reason::Part => "part of another class",
                Reason::Refused => "refused by the code itself",
                Reason::Dependency => "a module is missing",
                Reason::Facts => "facts are missing",
                Reason::Unknown | Reason::Failed => "Setpoint cannot compute a value",
            };
            let message = format!("Skipped {}: {why}", counted_classes(classes.len()));
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
        let message = format!("Entered {entered} of {}", counted_classes(total));
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
    let note = format!("So Setpoint cannot enter {} alone on {}.", few(&classes), few(&platforms));
    Some(found.severity(Severity::Warning).with_note(note))
}

/// What several nodes have in common is said once, with all of them: findings of one rule at one place, the first of a node
/// with the first of another.
fn merge_findings_of_nodes(reports: &mut [InputReport]) {
    type Key = (Rule, Option<Span>, Vec<String>, usize);
    let mut first: BTreeMap<Key, (usize, usize)> = BTreeMap::new();
    let mut nodes: BTreeMap<(usize, usize), Vec<String>> = BTreeMap::new();
    for (at, report) in reports.iter_mut().enumerate() {
        let node = report.node.clone().unwrap_or_default();
        let mut counts: BTreeMap<(Rule, Option<Span>, Vec<String>), usize> = BTreeMap::new();
        for finding in std::mem::take(&mut report.findings) {
            // Without a place, what a finding is about tells it from others.
            let about = if finding.span.is_none() { finding.resources.clone() } else { Vec::new() };
            let count = counts.entry((finding.rule, finding.span, about.clone())).or_default();
            *count += 1;
            let key = (finding.rule, finding.span, about, *count);
            if let Some(place) = first.get(&key) {
                nodes.entry(*place).or_default().push(node.clone());
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
