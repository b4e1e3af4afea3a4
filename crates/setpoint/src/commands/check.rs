//! `setpoint check`: every analysis that fits the input.

use std::path::PathBuf;
use std::process::ExitCode;

use setpoint_project::{Session, UsageError};
use setpoint_source::Report;

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
    for path in inputs {
        let language = languages::of(session, path, options)?;
        report.inputs.extend(language.check(session, path, options)?);
    }
    drop(shown);
    Ok(report)
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
