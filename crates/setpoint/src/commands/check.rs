//! `setpoint check`: every analysis that fits the input.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use setpoint_project::{Session, UsageError};
use setpoint_source::{
    Coverage, Diagnostic, Gap, InputReport, Nouns, Question, Range, Report, Rule, Severity,
};

use super::taken::{self, Taken};
use crate::cli::{CheckArgs, InputOptions, ReportFormat};
use crate::languages::Language;
use crate::progress::Shown;
use crate::{known, languages, output};

pub(crate) fn run(mut session: Session<'_>, args: &CheckArgs) -> Result<ExitCode, UsageError> {
    let taken = named(&session, &args.inputs, &args.options)?;
    let is_shown = args.report.format == ReportFormat::Text;
    let (mut report, is_usable) = checked(&mut session, &taken, &args.options, is_shown)?;
    let extent = known::Extent::of(&session, &taken.inputs, &args.options);
    known::silence(&session, &mut report, &args.baseline, extent)?;
    let status = output::report(&report, &session.sources, &args.report);
    Ok(if is_usable { status } else { ExitCode::from(output::WRONG_CALL) })
}

/// All inputs, each by its language, and whether each could be used.
pub(super) fn checked(
    session: &mut Session<'_>,
    taken: &Taken,
    options: &InputOptions,
    is_shown: bool,
) -> Result<(Report, bool), UsageError> {
    let mut report = Report::default();
    let inputs = taken.inputs.as_slice();
    session.inputs = inputs.to_vec();
    for named in &options.parameters {
        let file = named.split_once('=').map_or(named.as_str(), |(_, file)| file);
        session.read(Path::new(file))?;
    }
    for template in options.parameters.iter().filter_map(|named| Some(named.split_once('=')?.0)) {
        if !inputs.iter().any(|input| Path::new(template).starts_with(input)) {
            return Err(UsageError::new(format!("--parameters: {template} is none of the inputs")));
        }
    }
    let shown = Shown::start(is_shown);
    session.progress = shown.progress();
    let mut is_answered = false;
    let mut problems = Vec::new();
    for (path, answer) in inputs.iter().zip(answers(session, inputs, options)) {
        match answer {
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
    let is_usable = problems.is_empty();
    for (path, problem) in problems {
        let mut input = InputReport::new(path.display().to_string(), "unknown");
        input.findings.push(Diagnostic::new(Rule::UnreadableFile, problem.0).severity(Severity::Error));
        report.inputs.push(input);
    }
    tell_nothing_checked(&mut report);
    report.inputs.extend(tell_passed_over(session, taken));
    Ok((report, is_usable))
}

/// The answers for all inputs, in their order. Inputs of a language that joins them are checked together.
fn answers(
    session: &Session<'_>,
    inputs: &[PathBuf],
    options: &InputOptions,
) -> Vec<Result<Vec<InputReport>, UsageError>> {
    let kinds: Vec<_> = inputs.iter().map(|path| fenced(|| languages::of(session, path, options))).collect();
    let joined = kinds.iter().flatten().find(|language| language.joins()).copied();
    let is_joined = |kind: &Result<&dyn Language, UsageError>| matches!((joined, kind), (Some(joined), Ok(language)) if language.kind() == joined.kind());
    let paths = || inputs.iter().zip(&kinds);
    let together: Vec<PathBuf> =
        paths().filter(|(_, kind)| is_joined(kind)).map(|(path, _)| path.clone()).collect();
    let joint = joined.map(|language| fenced(|| Ok(language.check_together(session, &together, options))));
    let mut joint = joint
        .unwrap_or_else(|| Ok(Vec::new()))
        .unwrap_or_else(|error| together.iter().map(|_| Err(UsageError::new(error.0.clone()))).collect())
        .into_iter();
    let answer = |(path, kind): (&PathBuf, &Result<&dyn Language, UsageError>)| match kind {
        // An input without an answer must not look as if nothing were wrong with it.
        _ if is_joined(kind) => joint.next().unwrap_or_else(|| Err(internal_error("an input has no answer"))),
        Ok(language) => fenced(|| language.check(session, path, options)),
        Err(error) => Err(UsageError::new(error.0.clone())),
    };
    paths().map(answer).collect()
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

/// Data files of no kind that is known, which were found and not read.
fn tell_passed_over(session: &Session<'_>, taken: &Taken) -> Option<InputReport> {
    let nouns = Nouns { sources: "files", definitions: "definitions", resources: "resources" };
    let mut coverage = Coverage::new(nouns);
    for path in &taken.passed_over {
        coverage.add_unread(path.display().to_string());
    }
    let mut about = InputReport::new(taken.root.display().to_string(), "unknown");
    // Of a file that cannot be read nobody knows what it is.
    for path in &taken.passed_over {
        if let Err(error) = session.read(path) {
            let file = session.sources.add(path.display().to_string(), "");
            about
                .findings
                .push(Diagnostic::new(Rule::UnreadableFile, error.0).at(Range::new(0, 0).in_file(file)));
        }
    }
    about.coverage = Some(coverage);
    (!taken.passed_over.is_empty()).then_some(about)
}

/// Runs the analysis of one input. A panic is a mistake of Setpoint, and costs the answer for this input only.
fn fenced<T>(analyse: impl FnOnce() -> Result<T, UsageError>) -> Result<T, UsageError> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(analyse)).unwrap_or_else(|panic| {
        let words = panic.downcast_ref::<String>().cloned();
        let words = words.or_else(|| panic.downcast_ref::<&str>().map(|words| (*words).to_owned()));
        let words = words.unwrap_or_default();
        Err(internal_error(&words))
    })
}

fn internal_error(words: &str) -> UsageError {
    UsageError::new(format!("internal error, which is a mistake of Setpoint: {words}"))
}

/// The inputs that the user named; without any, the folder of the environment, else what is found around this folder.
pub(super) fn named(
    session: &Session<'_>,
    inputs: &[PathBuf],
    options: &InputOptions,
) -> Result<Taken, UsageError> {
    if !inputs.is_empty() {
        // With a kind or an environment, a folder is one input of that kind.
        let is_told = options.kind.is_some() || options.puppet.environment.is_some();
        return Ok(if is_told { Taken::named(inputs.to_vec()) } else { taken::expand(session, inputs) });
    }
    if let Some(environment) = &options.puppet.environment {
        return Ok(Taken::named(vec![environment.clone()]));
    }
    let taken = taken::find(session)?;
    output::note_line(&taken.words);
    Ok(taken)
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
