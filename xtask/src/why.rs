//! Inputs of generated programs, changed one by one: what changes must list them, and most of what is listed must matter.

use std::process::Command;

use setpoint_testing::repository;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// How many changes are compared, of each family of programs
    #[arg(long, default_value_t = 50_000)]
    changes: usize,
    /// Of how many programs it is measured how much of what they list matters
    #[arg(long, default_value_t = 100)]
    programs: usize,
    /// How often each literal is changed for that
    #[arg(long, default_value_t = 50)]
    times: usize,
    /// The first program
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["test", "-p", "setpoint_why", "--test", "theorems", "--", "--nocapture"])
        .env("SETPOINT_MUTATIONS", arguments.changes.to_string())
        .env("SETPOINT_PROGRAMS", arguments.programs.to_string())
        .env("SETPOINT_TIMES", arguments.times.to_string())
        .env("SETPOINT_SEED", arguments.seed.to_string())
        .current_dir(repository())
        .status()
        .map_err(|error| error.to_string())?;
    if status.success() { Ok(()) } else { Err("provenance lacks something".to_owned()) }
}
