//! `setpoint compile`: the compiled result on standard output.

use std::process::ExitCode;

use setpoint_project::{Session, UsageError};

use crate::cli::CompileArgs;
use crate::{languages, output};

pub(crate) fn run(session: &Session<'_>, args: &CompileArgs) -> Result<ExitCode, UsageError> {
    let input = args.input.as_ref().or(args.options.puppet.environment.as_ref());
    let input =
        input.ok_or_else(|| UsageError::new("name an input, or an environment with --environment"))?;
    let language = languages::of(session, input, &args.options)?;
    let outcome = if args.trace {
        language.trace(session, input, &args.options, args.format.as_deref().unwrap_or("text"))?
    } else {
        language.compile(session, input, &args.options, args.format.as_deref().unwrap_or("json"))?
    };
    // A catalog is printed as Puppet gives it to an agent, unless that is not wanted.
    let is_catalog = !args.redact && !args.trace;
    Ok(output::outcome_with(
        &outcome,
        &session.sources,
        if is_catalog { output::verbatim } else { output::result },
    ))
}
