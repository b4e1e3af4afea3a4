//! `setpoint why`: where a value came from.

use std::process::ExitCode;

use setpoint_project::{Session, UsageError};

use crate::cli::WhyArgs;
use crate::{languages, output};

pub(crate) fn run(session: &Session, args: &WhyArgs) -> Result<ExitCode, UsageError> {
    let language = languages::of(session, &args.input, &args.options)?;
    let outcome = language.why(session, args)?;
    Ok(output::outcome(&outcome, &session.sources))
}
