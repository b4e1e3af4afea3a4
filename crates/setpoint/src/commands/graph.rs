//! `setpoint graph`: the resource or dependency graph.

use std::process::ExitCode;

use setpoint_project::{Session, UsageError};

use crate::cli::GraphArgs;
use crate::{languages, output};

pub(crate) fn run(session: &Session<'_>, args: &GraphArgs) -> Result<ExitCode, UsageError> {
    let language = languages::of(session, &args.input, &args.options)?;
    let outcome = language.graph(session, &args.input, &args.options, &args.format)?;
    Ok(output::outcome(&outcome, &session.sources))
}
