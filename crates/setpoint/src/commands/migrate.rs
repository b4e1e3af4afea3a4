//! `setpoint migrate`: what a newer version of Puppet changes, and the rewrites that keep every catalog.

use std::path::PathBuf;
use std::process::ExitCode;

use setpoint_migrate::{Request, migrate};
use setpoint_project::{Session, UsageError};

use crate::cli::MigrateArgs;
use crate::output;

pub(crate) fn run(session: &Session<'_>, args: &MigrateArgs) -> Result<ExitCode, UsageError> {
    let input: PathBuf =
        args.input.clone().or_else(|| args.options.puppet.environment.clone()).unwrap_or_else(|| ".".into());
    let request = Request { to_9: args.to == "9", hiera_functions: args.hiera_functions };
    let migration = migrate(session, &input, &args.options.for_project(), &request)?;
    match args.format.as_str() {
        "json" => output::result(&output::pretty(&migration.json(session, output::VERSION))),
        "patch" => output::source_text(&migration.patch(session)),
        _ => output::result(&migration.text(session)),
    }
    if args.write {
        for (path, (_, text)) in &migration.rewritten {
            setpoint_source::write_file(path, text.as_bytes())
                .map_err(|error| UsageError::new(format!("cannot write {}: {error}", path.display())))?;
        }
        return Ok(ExitCode::from(u8::from(migration.is_unfinished())));
    }
    Ok(ExitCode::from(u8::from(migration.has_work())))
}
