//! `setpoint check`: every analysis that fits the input.

use std::path::PathBuf;
use std::process::ExitCode;

use setpoint_project::{Session, UsageError};
use setpoint_source::Report;

use crate::cli::{CheckArgs, InputOptions, ReportFormat};
use crate::progress::Shown;
use crate::{languages, output};

pub(crate) fn run(mut session: Session<'_>, args: &CheckArgs) -> Result<ExitCode, UsageError> {
    let report =
        checked(&mut session, &args.inputs, &args.options, args.report.format == ReportFormat::Text)?;
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
    for path in named(inputs, options) {
        let language = languages::of(session, path, options)?;
        report.inputs.extend(language.check(session, path, options)?);
    }
    drop(shown);
    Ok(report)
}

/// The inputs that the user named; without any, the folder of the environment.
pub(super) fn named<'a>(inputs: &'a [PathBuf], options: &'a InputOptions) -> &'a [PathBuf] {
    if inputs.is_empty() { options.puppet.environment.as_slice() } else { inputs }
}
