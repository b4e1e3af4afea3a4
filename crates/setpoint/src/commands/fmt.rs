//! `setpoint fmt`: files in the one layout of their language.

use std::process::ExitCode;

use setpoint_project::{Session, UsageError};

use crate::cli::FmtArgs;
use crate::{languages, output};

pub(crate) fn run(session: &Session, args: &FmtArgs) -> Result<ExitCode, UsageError> {
    let mut status = ExitCode::SUCCESS;
    for path in &args.inputs {
        let language = languages::of(session, path, &args.options)?;
        let outcome = language.format(session, path)?;
        output::diagnostics(&outcome.diagnostics, &session.sources);
        let Some(text) = outcome.result else {
            status = ExitCode::FAILURE;
            continue;
        };
        if !args.write && !args.check {
            output::source_text(&text);
            continue;
        }
        if session.read(path)? == text {
            continue;
        }
        if args.check {
            output::error_line(&format!("{} has another layout", path.display()));
            status = ExitCode::FAILURE;
        } else {
            setpoint_source::write_file(path, text.as_bytes())
                .map_err(|error| UsageError::new(format!("cannot write {}: {error}", path.display())))?;
        }
    }
    Ok(status)
}
