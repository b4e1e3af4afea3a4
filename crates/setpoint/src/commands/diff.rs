//! `setpoint diff`: what a change of the source changes in what is compiled from it.

use std::process::ExitCode;

use crate::cli::DiffArgs;
use crate::session::{Session, UsageError};
use crate::{languages, output};

pub(crate) fn run(session: &Session, args: &DiffArgs) -> Result<ExitCode, UsageError> {
    let language = languages::of(session, &args.new, &args.options)?;
    let outcome = language.diff(session, &args.old, &args.new, &args.options, &args.format)?;
    Ok(output::outcome(&outcome, &session.sources))
}
