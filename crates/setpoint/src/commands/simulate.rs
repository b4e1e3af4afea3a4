//! `setpoint simulate`: one run, or all runs, step by step; of two versions, what the next run does.

use std::process::ExitCode;

use setpoint_project::{Session, UsageError};

use crate::cli::{RunFormat, SimulateArgs};
use crate::{languages, output};

pub(crate) fn run(session: &Session, args: &SimulateArgs) -> Result<ExitCode, UsageError> {
    let language = languages::of(session, &args.input, &args.options)?;
    let outcome = match &args.new {
        Some(new) => language.next_run(session, new, args)?,
        None if args.format == RunFormat::Markdown => {
            return Err(UsageError::new("`--format markdown` needs two versions of the input"));
        }
        None => language.simulate(session, args)?,
    };
    Ok(output::outcome(&outcome, &session.sources))
}
