//! `setpoint compile`: the compiled result on standard output.

use std::process::ExitCode;

use crate::cli::CompileArgs;
use crate::session::{Session, UsageError};
use crate::{languages, output};

pub(crate) fn run(session: &Session<'_>, args: &CompileArgs) -> Result<ExitCode, UsageError> {
    let language = languages::of(session, &args.input, &args.options)?;
    let outcome = language.compile(session, &args.input, &args.options, &args.format)?;
    Ok(output::outcome(&outcome, &session.sources))
}
