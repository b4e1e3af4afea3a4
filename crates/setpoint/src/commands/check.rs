//! `setpoint check`: every analysis that fits the input.

use std::process::ExitCode;

use setpoint_source::Report;

use crate::cli::{CheckArgs, ReportFormat};
use crate::progress::Shown;
use crate::session::{Session, UsageError};
use crate::{languages, output};

pub(crate) fn run(session: &Session<'_>, args: &CheckArgs) -> Result<ExitCode, UsageError> {
    let mut report = Report::default();
    let inputs =
        if args.inputs.is_empty() { args.options.puppet.environment.as_slice() } else { &args.inputs };
    let shown = Shown::start(&session.progress, args.report.format == ReportFormat::Text);
    for path in inputs {
        let language = languages::of(session, path, &args.options)?;
        report.inputs.extend(language.check(session, path, &args.options)?);
    }
    drop(shown);
    Ok(output::report(&report, &session.sources, &args.report))
}
