//! `setpoint prove`: a rule set proved for any number of objects.

use std::process::ExitCode;

use setpoint_project::{Session, UsageError};

use crate::cli::ProveArgs;
use crate::{languages, output};

pub(crate) fn run(session: &Session, args: &ProveArgs) -> Result<ExitCode, UsageError> {
    let language = languages::of(session, &args.input, &args.options)?;
    Ok(output::outcome(&language.prove(session, args)?, &session.sources))
}
