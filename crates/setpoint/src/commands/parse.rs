//! `setpoint parse`: only syntax.

use std::process::ExitCode;

use setpoint_project::{Session, UsageError};
use setpoint_source::Report;

use crate::cli::{ParseArgs, ReportFormat};
use crate::{languages, output};

pub(crate) fn run(session: &Session<'_>, args: &ParseArgs) -> Result<ExitCode, UsageError> {
    let mut report = Report::default();
    for path in &args.inputs {
        let language = languages::of(session, path, &args.options)?;
        report.inputs.push(language.parse(session, path, &args.options)?);
    }
    if args.report.format == ReportFormat::Json {
        let mut trees = Vec::new();
        for path in &args.inputs {
            trees.push(languages::of(session, path, &args.options)?.tree(session, path, &args.options)?);
        }
        return Ok(output::report_with_trees(&report, trees, &session.sources, &args.report));
    }
    Ok(output::report(&report, &session.sources, &args.report))
}
