//! Every test of the workspace, with what was skipped said at the end.

use std::path::PathBuf;
use std::process::Command;

use setpoint_testing::repository;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Passed on to `cargo test`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<String>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let notes = repository().join("target/skipped-suites");
    let _ = std::fs::remove_dir_all(&notes);
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["test", "--workspace"])
        .args(&arguments.rest)
        .current_dir(repository())
        .status()
        .map_err(|error| error.to_string())?;
    let skipped = skipped(&notes);
    println!();
    if skipped.is_empty() {
        println!("no suite was skipped");
    } else {
        println!("skipped {} suites, for what this machine lacks:", skipped.len());
        for line in skipped {
            println!("  {line}");
        }
    }
    if status.success() { Ok(()) } else { Err("some tests failed".to_owned()) }
}

fn skipped(notes: &PathBuf) -> Vec<String> {
    let entries = std::fs::read_dir(notes).into_iter().flatten();
    let mut lines: Vec<String> = entries
        .filter_map(|entry| std::fs::read_to_string(entry.ok()?.path()).ok())
        .flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>())
        .collect();
    lines.sort();
    lines
}
