//! Pairs of catalogs that Puppet applies one after the other, beside what Setpoint says that the second run does.

use std::process::Command;

use setpoint_testing::repository;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// How many pairs are compared, or which: `500`, `500..600`; without it, those whose answers are kept
    pairs: Option<String>,
}

/// Asks Puppet about pairs without an answer, keeps what it says, and compares.
pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .args(["test", "-p", "setpoint_settle", "--test", "next_run", "--", "--nocapture"])
        .env("SETPOINT_NEXT_RUN_ASK", "1")
        .current_dir(repository());
    if let Some(pairs) = &arguments.pairs {
        command.env("SETPOINT_NEXT_RUN_PAIRS", pairs);
    }
    let status = command.status().map_err(|error| error.to_string())?;
    if status.success() { Ok(()) } else { Err("Puppet does something else".to_owned()) }
}
