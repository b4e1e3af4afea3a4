//! `setpoint parity`: compiles every node for which a server's catalog is given, and says where the two differ and why.

use std::path::PathBuf;
use std::process::ExitCode;

use setpoint_parity::{Agreement, Comparison, compare_with_server};
use setpoint_project::{Session, UsageError};

use crate::cli::{ParityArgs, ResultFormat};
use crate::output;

pub(crate) fn run(session: &Session<'_>, args: &ParityArgs) -> Result<ExitCode, UsageError> {
    let input: PathBuf =
        args.input.clone().or_else(|| args.options.puppet.environment.clone()).unwrap_or_else(|| ".".into());
    let comparison = Comparison { input, catalogs: &args.catalogs, facts: args.facts_dir.as_deref() };
    let parity = compare_with_server(session, &comparison, &args.options.for_project())?;
    match args.format {
        ResultFormat::Text => output::result(&parity.text()),
        ResultFormat::Json => output::result(&output::pretty(&parity.json(output::VERSION))),
    }
    Ok(ExitCode::from(u8::from(parity.count(Agreement::Differs) > 0)))
}
