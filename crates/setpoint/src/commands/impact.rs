//! `setpoint impact`: what depends on a line.

use std::process::ExitCode;

use setpoint_project::{Session, UsageError};

use crate::cli::ImpactArgs;
use crate::{languages, output};

pub(crate) fn run(session: &Session, args: &ImpactArgs) -> Result<ExitCode, UsageError> {
    let language = languages::of(session, &args.input(), &args.options)?;
    let outcome = language.impact(session, args)?;
    Ok(output::outcome(&outcome, &session.sources))
}
