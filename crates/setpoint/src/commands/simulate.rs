//! `setpoint simulate`: one run, or all runs, step by step.

use std::process::ExitCode;

use setpoint_project::{Session, UsageError};

use crate::cli::SimulateArgs;
use crate::{languages, output};

pub(crate) fn run(session: &Session, args: &SimulateArgs) -> Result<ExitCode, UsageError> {
    let language = languages::of(session, &args.input, &args.options)?;
    Ok(output::outcome(&language.simulate(session, args)?, &session.sources))
}
