//! Findings that the user knows already: by a comment beside the code, or by a baseline.
//!
//! [`silence`] takes the report of any command and any language, after the verdicts were taken, and moves what comments and a
//! [`Baseline`] cover from the findings to what is silenced: it is counted, and no verdict becomes better by it.
//! [`finding_key`] names a finding so that it is recognised in another run, on other nodes and after code was moved; the
//! baseline holds such names, and `setpoint diff` matches the findings of its two sides by them. This crate stands between the
//! analyses, which find, and the printers; it finds nothing wrong but in silencing itself, reads no file and prints nothing.

mod baseline;
mod comments;
mod extent;
mod key;

use std::collections::{BTreeMap, BTreeSet};

use setpoint_source::{
    Diagnostic, FileId, Report, Rule, Severity, Silenced, SilencedBy, SourceFile, Sources, Span, nearest,
};

pub use baseline::{Baseline, BaselineError};
pub use key::{FindingKey, finding_key};

use comments::{Allow, FIRST_LINES, Scope};
use extent::Definition;

/// Silences what comments in the files of the report cover, and then what the baseline lists. Findings about silencing itself
/// are added: comments without a reason, comments that silence nothing although their code was entered, entries of the baseline
/// that no longer occur.
pub fn silence(report: &mut Report, sources: &Sources, baseline: Option<&Baseline>) {
    let mut comments = AllowedByComments::find(report, sources);
    for input in &mut report.inputs {
        let findings = std::mem::take(&mut input.findings);
        for finding in findings {
            if comments.cover(&finding, sources) {
                input.silenced.push(Silenced { finding, by: SilencedBy::Comment });
            } else {
                input.findings.push(finding);
            }
        }
    }
    let told = comments.complaints(report, sources);
    if let Some(baseline) = baseline {
        baseline.silence(report, sources);
    }
    if let Some(first) = report.inputs.first_mut() {
        first.findings.extend(told);
    }
}

/// Returns the reason of a comment that covers any place of a finding. For findings that are in no report, as those of
/// `setpoint diff`.
pub fn reason_of_comment(finding: &Diagnostic, sources: &Sources) -> Option<String> {
    let mut spans = finding.span.into_iter().chain(finding.labels.iter().map(|label| label.span));
    let reason = spans.find_map(|span| {
        let file = sources.file(span.file);
        let allows = comments::allows(span.file, &file).into_iter();
        let mut covering = allows.filter(|one| one.has_reason() && one.covers(finding.rule, span, &file));
        covering.next().map(|allow| allow.reason)
    });
    reason.filter(|_| finding.rule.may_be_silenced(finding.severity))
}

/// Whether two texts of a file silence the same: their comments are the same, in the same order.
pub fn are_silenced_alike(old: &str, new: &str) -> bool {
    let comments = |text: &'_ str| -> Vec<String> {
        let marked = text.lines().filter(|line| line.contains("setpoint:allow"));
        marked.map(|line| line.trim().to_owned()).collect()
    };
    comments(old) == comments(new)
}

/// The comments of all files that silence nothing because they have no reason.
pub fn comments_without_reason(sources: &Sources) -> Vec<Diagnostic> {
    let mut seen: BTreeSet<String> = BTreeSet::new();
    let all = (0..sources.paths().len() as u32).map(FileId);
    let files = all.map(|id| (id, sources.file(id))).filter(|(_, file)| seen.insert(file.path().to_owned()));
    let allows = files.flat_map(|(id, file)| {
        let lacking = comments::allows(id, &file).into_iter().filter(|allow| !allow.has_reason());
        lacking.map(|allow| without_reason(allow.range.in_file(id))).collect::<Vec<_>>()
    });
    allows.collect()
}

/// The comments of all files that a report is about.
struct AllowedByComments {
    files: BTreeMap<FileId, Vec<Allowing>>,
}

/// A comment, and whether it has silenced anything.
struct Allowing {
    allow: Allow,
    used: BTreeSet<Rule>,
}

impl AllowedByComments {
    fn find(report: &Report, sources: &Sources) -> Self {
        let mut files = BTreeMap::new();
        let mut seen: BTreeSet<String> = BTreeSet::new();
        // Files that a finding is in come first, so that spans and comments are of the same copy of a file.
        let spans = report.findings().flat_map(|finding| {
            finding.span.into_iter().chain(finding.labels.iter().map(|label| label.span))
        });
        let named: BTreeSet<FileId> = spans.map(|span| span.file).collect();
        let all = (0..sources.paths().len() as u32).map(FileId);
        for id in named.iter().copied().chain(all.filter(|id| !named.contains(id))) {
            let file = sources.file(id);
            // A second copy without findings has the comments of the first.
            if !named.contains(&id) && !seen.insert(file.path().to_owned()) {
                continue;
            }
            seen.insert(file.path().to_owned());
            let found = comments::allows(id, &file);
            if !found.is_empty() {
                let found = found.into_iter().map(|allow| Allowing { allow, used: BTreeSet::new() });
                files.insert(id, found.collect());
            }
        }
        Self { files }
    }

    /// Whether a comment covers any place of a finding.
    fn cover(&mut self, finding: &Diagnostic, sources: &Sources) -> bool {
        if !finding.rule.may_be_silenced(finding.severity) {
            return false;
        }
        let places = finding.span.into_iter().chain(finding.labels.iter().map(|label| label.span));
        let mut is_covered = false;
        for span in places {
            let file = sources.file(span.file);
            for one in self.files.get_mut(&span.file).into_iter().flatten() {
                if one.allow.has_reason() && one.allow.covers(finding.rule, span, &file) {
                    one.used.insert(finding.rule);
                    is_covered = true;
                }
            }
        }
        is_covered
    }

    /// What is wrong with the comments.
    fn complaints(&self, report: &Report, sources: &Sources) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        // The same comment may have been read in several copies of its file.
        let mut used: BTreeSet<(String, u32, Rule)> = BTreeSet::new();
        for (id, all) in &self.files {
            let path = sources.file(*id).path().to_owned();
            for one in all {
                let place = |rule: &Rule| (path.clone(), one.allow.range.start, *rule);
                used.extend(one.used.iter().map(place));
            }
        }
        let mut told: BTreeSet<(String, u32)> = BTreeSet::new();
        for (id, all) in &self.files {
            let file = sources.file(*id);
            for one in all.iter().filter(|one| told.insert((file.path().to_owned(), one.allow.range.start))) {
                let span = one.allow.range.in_file(*id);
                if !one.allow.has_reason() {
                    found.push(without_reason(span));
                } else if one.allow.scope == Scope::TooLate {
                    found.push(too_late(span, file.line(span.range.start)));
                } else if is_entered(report, &file, *id, &one.allow) {
                    let is_used =
                        |rule: Rule| used.contains(&(file.path().to_owned(), one.allow.range.start, rule));
                    found.extend(one.allow.names.iter().filter_map(|name| unused(name, span, is_used)));
                }
            }
        }
        found
    }
}

fn without_reason(span: Span) -> Diagnostic {
    Diagnostic::new(
        Rule::AllowWithoutReason,
        "This comment silences findings and does not say why, so it silences nothing",
    )
    .at(span)
    .with_help("Write the reason after the parenthesis.")
}

fn too_late(span: Span, line: u32) -> Diagnostic {
    let message = format!(
        "A comment for the whole file counts in its first {FIRST_LINES} lines; this is line {line}, so it silences nothing"
    );
    Diagnostic::new(Rule::UnusedAllow, message).at(span).with_help(format!(
        "Move it to the first {FIRST_LINES} lines, or write `setpoint:allow(…)` before the statement."
    ))
}

/// What a name in a comment is good for.
fn unused(name: &str, span: Span, is_used: impl Fn(Rule) -> bool) -> Option<Diagnostic> {
    let finding = |message: String| Diagnostic::new(Rule::UnusedAllow, message).at(span);
    let Some(rule) = Rule::named(name) else {
        let told = finding(format!("There is no rule `{name}`, so this comment silences nothing"));
        let near = nearest(name, Rule::ALL.iter().map(|rule| rule.name()));
        return Some(match near {
            Some(near) => told.with_help(format!("Did you mean `{near}`?")),
            None => told,
        });
    };
    if is_used(rule) {
        return None;
    }
    if !rule.may_be_silenced(Severity::Error) {
        return Some(finding(format!("An error of `{name}` cannot be silenced")));
    }
    Some(
        finding(format!("Nothing here is found by `{name}`, so this comment silences nothing"))
            .with_help("Remove it."),
    )
}

/// Whether the code that a comment is about was looked at in this run.
fn is_entered(report: &Report, file: &SourceFile, id: FileId, allow: &Allow) -> bool {
    let path = file.path();
    let is_input = || report.inputs.iter().any(|input| input.path == path);
    // Lines that a value came from stand among the names as `path:line`.
    let is_evaluated = |is_wanted: &dyn Fn(u32) -> bool| {
        report.inputs.iter().flat_map(|input| &input.entered).any(|name| {
            let line = name.strip_prefix(path).and_then(|rest| rest.strip_prefix(':'));
            line.and_then(|line| line.parse().ok()).is_some_and(is_wanted)
        })
    };
    match path.rsplit_once('.').map(|(_, extension)| extension) {
        Some("pp") => {
            let definitions = extent::definitions_around(id, file.text(), &allow.scope);
            let was_entered = |one: &Definition| {
                if let Some(name) = &one.name {
                    return report.inputs.iter().any(|input| input.entered.contains(name));
                }
                let last = one.range.end.saturating_sub(1).max(one.range.start);
                is_evaluated(&|line| (file.line(one.range.start)..=file.line(last)).contains(&line))
            };
            if definitions.is_empty() { is_input() } else { definitions.iter().any(was_entered) }
        }
        Some("epp" | "erb") => is_evaluated(&|_| true),
        _ => is_input(),
    }
}
