//! `setpoint check`: every analysis that fits the input.

use std::path::PathBuf;
use std::process::ExitCode;

use setpoint_project::{Session, UsageError};
use setpoint_source::{Diagnostic, Gap, InputReport, Question, Report, Rule, Severity};

use super::taken;
use crate::cli::{CheckArgs, InputOptions, ReportFormat};
use crate::progress::Shown;
use crate::{known, languages, output};

pub(crate) fn run(mut session: Session<'_>, args: &CheckArgs) -> Result<ExitCode, UsageError> {
    let inputs = named(&session, &args.inputs, &args.options)?;
    let is_shown = args.report.format == ReportFormat::Text;
    let mut report = checked(&mut session, &inputs, &args.options, is_shown)?;
    let extent = known::Extent::of(&session, &inputs, &args.options);
    known::silence(&session, &mut report, &args.baseline, extent)?;
    Ok(output::report(&report, &session.sources, &args.report))
}

/// All inputs, each by its language.
pub(super) fn checked(
    session: &mut Session<'_>,
    inputs: &[PathBuf],
    options: &InputOptions,
    is_shown: bool,
) -> Result<Report, UsageError> {
    let mut report = Report::default();
    let shown = Shown::start(is_shown);
    session.progress = shown.progress();
    let mut is_answered = false;
    let mut problems = Vec::new();
    for path in inputs {
        match fenced(|| languages::of(session, path, options)?.check(session, path, options)) {
            Ok(found) => {
                is_answered = true;
                report.inputs.extend(found);
            }
            Err(problem) => problems.push((path, problem)),
        }
    }
    drop(shown);
    // What cannot be used costs its own answer only; if nothing can be used, there is nothing to report.
    if !is_answered && let Some((_, problem)) = problems.pop() {
        for (_, problem) in &problems {
            output::error_line(&problem.0);
        }
        return Err(problem);
    }
    for (path, problem) in problems {
        let mut input = InputReport::new(path.display().to_string(), "unknown");
        input.findings.push(Diagnostic::new(Rule::UnreadableFile, problem.0).severity(Severity::Error));
        report.inputs.push(input);
    }
    tell_nothing_checked(&mut report);
    Ok(report)
}

/// Manifests that only define things are parts of something, and one of several inputs may be such a part. If no input enters
/// anything, nothing was checked.
fn tell_nothing_checked(report: &mut Report) {
    let is_empty = |input: &InputReport| {
        let answer = input.verdict().get(Question::Catalog);
        answer.is_some_and(|answer| answer.reasons().iter().any(|reason| reason.gap == Gap::NothingEntered))
    };
    let is_about_all = |input: &InputReport| input.verdict().iter().next().is_none();
    let is_told = report
        .inputs
        .iter()
        .flat_map(|input| &input.findings)
        .any(|finding| finding.severity == Severity::Error);
    if is_told || !report.inputs.iter().all(|input| is_empty(input) || is_about_all(input)) {
        return;
    }
    let Some(input) = report.inputs.iter_mut().find(|input| is_empty(input)) else { return };
    let message = "Nothing was checked: no manifest declares a resource";
    input.findings.push(Diagnostic::new(Rule::NothingChecked, message).with_help(
        "Declare a class or a define of it, or check the folder of the module or repository that it belongs to.",
    ));
}

/// Runs the analysis of one input. A panic is a mistake of Setpoint, and costs the answer for this input only.
fn fenced<T>(analyse: impl FnOnce() -> Result<T, UsageError>) -> Result<T, UsageError> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(analyse)).unwrap_or_else(|panic| {
        let words = panic.downcast_ref::<String>().cloned();
        let words = words.or_else(|| panic.downcast_ref::<&str>().map(|words| (*words).to_owned()));
        let words = words.unwrap_or_default();
        Err(UsageError::new(format!("internal error, which is a mistake of Setpoint: {words}")))
    })
}

/// The inputs that the user named; without any, the folder of the environment, else what is found around this folder.
pub(super) fn named(
    session: &Session<'_>,
    inputs: &[PathBuf],
    options: &InputOptions,
) -> Result<Vec<PathBuf>, UsageError> {
    if !inputs.is_empty() {
        return Ok(inputs.to_vec());
    }
    if let Some(environment) = &options.puppet.environment {
        return Ok(vec![environment.clone()]);
    }
    let taken = taken::find(session)?;
    output::note_line(&taken.words);
    Ok(taken.inputs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_of_its_input() {
        let hit: Result<(), UsageError> = fenced(|| panic!("at {}", 7));
        assert!(hit.is_err_and(|error| error.0.ends_with("mistake of Setpoint: at 7")));
    }
}
