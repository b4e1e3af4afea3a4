//! Verifies one plan of a family, for benches: `order FAMILY SIZE puppet|paper`.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "it answers on the terminal")]

use std::process::ExitCode;

use setpoint_state::Semantics;
use setpoint_verify::{Answer, Options, family, verify};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [family, size, semantics] = &arguments[..] else {
        eprintln!("order FAMILY SIZE puppet|paper");
        return ExitCode::from(2);
    };
    let Ok(size) = size.parse::<usize>() else { return ExitCode::from(2) };
    let plan = match family.as_str() {
        "figure-13" => family::figure_13(size, false),
        "figure-13-overwrite" => family::figure_13(size, true),
        "writers" => family::writers(size, false),
        "writers-failing" => family::writers(size, true),
        "chain" => family::chain(size),
        "diamonds" => family::diamonds(size),
        "catalog" => family::catalog(size, 50.min(size / 4), 200, false),
        "catalog-bugs" => family::catalog(size, 50.min(size / 4), 200, true),
        _ => return ExitCode::from(2),
    };
    let semantics = if semantics == "paper" { Semantics::Paper } else { Semantics::Puppet };
    let verdicts = verify(&plan, &Options { semantics, ..Options::default() });
    println!(
        "order {}, idempotent {}, quiet {}, convergent {}; {} pairs of {} depend on the order, {} not proved",
        word(&verdicts.order),
        word(&verdicts.idempotent),
        word(&verdicts.quiet),
        word(&verdicts.convergent),
        verdicts.dependences().count(),
        verdicts.effort.candidates,
        verdicts.order.reasons().len()
    );
    ExitCode::SUCCESS
}

fn word<W, R>(answer: &Answer<W, R>) -> &'static str {
    match answer {
        Answer::Proved(_) => "proved",
        Answer::Refuted { .. } => "refuted",
        Answer::Unknown(_) => "unknown",
    }
}
