//! One file a command.

mod check;
mod compile;
mod diff;
mod explain;
mod fix;
mod fleet;
mod fmt;
mod generate;
mod graph;
mod impact;
mod init;
mod lookup;
mod lsp;
mod migrate;
mod packages;
mod parity;
mod parse;
mod prove;
mod report;
mod serve;
mod simulate;
mod taken;
mod why;

use std::process::ExitCode;
use std::sync::Arc;

use setpoint_project::Session;
use setpoint_source::RecordingFileSystem;

use crate::cli::{Cli, Command};
use crate::{inputs, output};

pub(crate) fn run(cli: Cli) -> ExitCode {
    let bounds = Arc::new(inputs::bounds(&cli));
    let files = RecordingFileSystem::new(Arc::clone(&bounds));
    let over = match inputs::with_standard_input(&cli.command, &files) {
        Ok(over) => over,
        Err(problem) => {
            output::error_line(&problem);
            return ExitCode::from(output::WRONG_CALL);
        }
    };
    let mut session = match &over {
        Some(over) => Session::new(over),
        None => Session::new(&files),
    };
    output::set_color(cli.color);
    output::set_secrets(Arc::clone(session.sources.secrets()));
    match &cli.command {
        Command::Check(args) => session.jobs = args.jobs,
        Command::Report(args) => session.jobs = args.jobs,
        Command::Fleet(args) => session.jobs = args.jobs,
        Command::Parity(args) => session.jobs = args.jobs,
        Command::Migrate(args) => session.jobs = args.jobs,
        Command::Diff(args) => session.jobs = args.jobs,
        _ => {}
    }
    // As `puppet agent` has it, so that 2 is free for what changed.
    let usage = match &cli.command {
        Command::Diff(args) if args.detailed_exitcodes => 64,
        _ => 2,
    };
    let done = match cli.command {
        Command::Check(args) => check::run(session, &args),
        Command::Report(args) => report::run(session, &args),
        Command::Compile(args) => compile::run(&session, &args),
        Command::Why(args) => why::run(&session, &args),
        Command::Impact(args) => impact::run(&session, &args),
        Command::Diff(args) => diff::run(&session, &args),
        Command::Parity(args) => parity::run(&session, &args),
        Command::Migrate(args) => migrate::run(&session, &args),
        Command::Serve => Ok(serve::run(&session)),
        Command::Parse(args) => parse::run(&session, &args),
        Command::Graph(args) => graph::run(&session, &args),
        Command::Fix(args) => fix::run(&session, &args),
        Command::Fleet(args) => fleet::run(session, &args),
        Command::Simulate(args) => simulate::run(&session, &args),
        Command::Prove(args) => prove::run(&session, &args),
        Command::Fmt(args) => fmt::run(&session, &args),
        Command::Packages(args) => packages::run(&session, &args),
        Command::Lookup(args) => lookup::run(&session, &args),
        Command::Lsp(args) => lsp::run(args, bounds),
        Command::Explain(args) => explain::run(&args),
        Command::Init(args) => init::run(&session, &args),
        Command::Completions(args) => Ok(generate::completions(&args)),
        Command::Man(args) => generate::man(&args),
    };
    done.unwrap_or_else(|error| {
        output::error_line(&error.0);
        ExitCode::from(usage)
    })
}
