//! The repository's own tasks: `cargo xtask test` runs every test, `cargo xtask answer` asks the oracles,
//! `cargo xtask bench` measures Setpoint beside its peers.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a task prints what it does")]

mod answer;
mod bench;
mod compare;
mod functions;
mod fuzz;
mod measure;
mod modules;
mod next_run;
mod packages;
mod release;
mod soak;
mod supply;
mod test;
mod trust;
mod types;
mod why;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "The repository's own tasks")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Ask an oracle and write its answers into the cases
    Answer(answer::Arguments),
    /// Put generated manifests to an oracle and to Setpoint
    Compare(compare::Arguments),
    /// Make the table of the files of modules whose functions are known
    Functions(functions::Arguments),
    /// Fuzz every reader and evaluator, led by coverage
    Fuzz(fuzz::Arguments),
    /// Enter every class of the installed modules, and compare with Puppet
    Modules(modules::Arguments),
    /// Have Puppet apply pairs of catalogs, and compare what the next run does
    NextRun(next_run::Arguments),
    /// Measure Setpoint beside its peers
    Bench(bench::Arguments),
    /// Make the package indexes that are built in
    Packages(packages::Arguments),
    /// Make what a release has: archive, Debian package, wheel; and try each
    Release(release::Arguments),
    /// Make the table of CloudFormation's resource types
    Types(types::Arguments),
    /// Check licences, sources, doubles and advisories of the crates, and write the bill of materials
    Supply(supply::Arguments),
    /// Ask servers for minutes while their inputs change: memory, handles and answers stay the same
    Soak(soak::Arguments),
    /// Make the figures of docs/trust.md
    Trust(trust::Arguments),
    /// Run every test, and say at the end what was skipped
    Test(test::Arguments),
    /// Change the inputs of generated programs, and see that provenance lists what was changed
    Why(why::Arguments),
    /// Run a command and print what it cost
    #[command(hide = true)]
    Measure(measure::Arguments),
}

fn main() -> ExitCode {
    let done = match Cli::parse().task {
        Task::Answer(arguments) => answer::run(&arguments),
        Task::Compare(arguments) => compare::run(&arguments),
        Task::Functions(arguments) => functions::run(&arguments),
        Task::Fuzz(arguments) => fuzz::run(&arguments),
        Task::Modules(arguments) => modules::run(&arguments),
        Task::NextRun(arguments) => next_run::run(&arguments),
        Task::Bench(arguments) => bench::run(&arguments),
        Task::Packages(arguments) => packages::run(&arguments),
        Task::Release(arguments) => release::run(&arguments),
        Task::Types(arguments) => types::run(&arguments),
        Task::Supply(arguments) => supply::run(&arguments),
        Task::Soak(arguments) => soak::run(&arguments),
        Task::Trust(arguments) => trust::run(&arguments),
        Task::Test(arguments) => test::run(&arguments),
        Task::Why(arguments) => why::run(&arguments),
        Task::Measure(arguments) => measure::run(&arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("error: {problem}");
            ExitCode::FAILURE
        }
    }
}
