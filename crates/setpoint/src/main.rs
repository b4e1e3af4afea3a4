//! The command line: it reads arguments, calls the stages, prints what they found, and exits with a promised status.
//!
//! One file a command in `commands`, one file an input language in `languages`. Nothing is decided here that a
//! library could decide.

mod cli;
mod commands;
mod git;
mod languages;
mod output;
mod paths;
mod progress;

use std::process::ExitCode;

use clap::Parser;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let cli = cli::Cli::parse();
    let worker = setpoint_source::thread_builder().spawn(move || commands::run(cli));
    match worker.map(std::thread::JoinHandle::join) {
        Ok(Ok(code)) => code,
        Ok(Err(_)) => ExitCode::from(101),
        Err(error) => {
            output::error_line(&format!("cannot start: {error}"));
            ExitCode::from(2)
        }
    }
}
