//! The command line: it reads arguments, calls the stages, prints what they found, and exits with a promised status.
//!
//! One file a command in `commands`, one file an input language in `languages`. Nothing is decided here that a
//! library could decide.

mod cli;
mod commands;
mod inputs;
mod known;
mod languages;
mod output;
mod paths;
mod progress;

use std::process::ExitCode;

use clap::Parser;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Help and versions are no mistakes; a wrong call has a status of its own where 2 means something else.
fn wrong_call(error: &clap::Error) -> ExitCode {
    let is_printed = error.print().is_ok();
    let is_detailed = std::env::args().any(|argument| argument == "--detailed-exitcodes");
    match error.exit_code() {
        0 if is_printed => ExitCode::SUCCESS,
        _ if is_detailed => ExitCode::from(64),
        _ => ExitCode::from(output::WRONG_CALL),
    }
}

fn main() -> ExitCode {
    let cli = match cli::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return wrong_call(&error),
    };
    setpoint_source::raise_limits(cli.raise_limits);
    let worker = setpoint_source::thread_builder().spawn(move || commands::run(cli));
    match worker.map(std::thread::JoinHandle::join) {
        Ok(Ok(_)) if !output::is_complete() => ExitCode::from(output::WRONG_CALL),
        Ok(Ok(code)) => code,
        Ok(Err(_)) => ExitCode::from(101),
        Err(error) => {
            output::error_line(&format!("cannot start: {error}"));
            ExitCode::from(output::WRONG_CALL)
        }
    }
}
