//! CPU time and peak memory of a command, by the system's own accounting.
//!
//! `xtask measure RUNS -- COMMAND` runs in a process of its own, since the system keeps only the sum of the times and the
//! largest memory of *all* children that a process has waited for.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use serde_json::{Value, json};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    runs: u32,
    /// What the command reads from its standard input
    #[arg(long)]
    input: Option<PathBuf>,
    #[arg(last = true)]
    command: Vec<String>,
}

/// What one run of a command cost.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cost {
    /// User and system time, the median of the runs: a shared machine has slow moments.
    pub(crate) cpu_ms: f64,
    /// The largest resident memory of any run.
    pub(crate) peak_mb: f64,
}

/// Runs a command several times in a measuring process.
pub(crate) fn measure(
    runs: u32,
    input: Option<&std::path::Path>,
    command: &[String],
) -> Result<Cost, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut measuring = Command::new(own);
    measuring.arg("measure").arg(runs.to_string());
    if let Some(input) = input {
        measuring.arg("--input").arg(input);
    }
    let output = measuring.arg("--").args(command).output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
    }
    let cost: Value = serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?;
    match (cost["cpu_ms"].as_f64(), cost["peak_mb"].as_f64()) {
        (Some(cpu_ms), Some(peak_mb)) => Ok(Cost { cpu_ms, peak_mb }),
        _ => Err("the measuring process gave no figures".to_owned()),
    }
}

/// The measuring process.
pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let (program, rest) = arguments.command.split_first().ok_or("no command to measure")?;
    let mut spent = cpu_of_children()?;
    let mut runs = Vec::new();
    for _ in 0..arguments.runs.max(1) {
        let input = match &arguments.input {
            None => Stdio::null(),
            Some(path) => {
                let file =
                    std::fs::File::open(path).map_err(|error| format!("{}: {error}", path.display()))?;
                Stdio::from(file)
            }
        };
        let output = Command::new(program)
            .args(rest)
            .stdin(input)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .output()
            .map_err(|error| format!("{program}: {error}"))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(format!("{program} failed: {}", said.lines().next().unwrap_or("without a word")));
        }
        let now = cpu_of_children()?;
        runs.push(now - spent);
        spent = now;
    }
    runs.sort_unstable();
    let cpu_ms = runs[runs.len() / 2] as f64 / 1000.0;
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).map_err(|error| error.to_string())?;
    println!("{}", json!({ "cpu_ms": cpu_ms, "peak_mb": usage.max_rss() as f64 / 1024.0 }));
    Ok(())
}

/// Microseconds of user and system time of all children so far.
fn cpu_of_children() -> Result<i64, String> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).map_err(|error| error.to_string())?;
    Ok(usage.user_time().num_microseconds() + usage.system_time().num_microseconds())
}
