//! Answers about real catalogs, each checked by hand. The name of an answer is what is asked for; the option `node` says of
//! which node of the example control repository, or `code` which code is compiled with Debian's modules.

#![allow(clippy::panic, clippy::unwrap_used, clippy::expect_used, reason = "a test may fail anywhere")]

#[path = "shop/mod.rs"]
mod shop;

use std::path::Path;
use std::process::ExitCode;

use setpoint_source::Sources;
use setpoint_testing::{Answers, Case, repository, run_folder, skip};
use setpoint_why::{Query, Target, Writer, parse};

fn main() -> ExitCode {
    std::env::set_current_dir(repository()).expect("the root of the repository");
    run_folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/answers"), answers)
}

fn answers(case: &Case) -> Answers {
    let sources = Sources::new();
    let (environment, compilation) = match (case.option("node"), case.option("code")) {
        (Some(node), _) => shop::shop(&sources, node),
        (None, Some(code)) if Path::new(shop::MODULES).join("apache").is_dir() => {
            shop::apache(&sources, code)
        }
        (None, Some(_)) => {
            skip("why: apache", "the module is not on this machine");
            return case.answers.iter().map(|answer| (answer.name.clone(), answer.text.clone())).collect();
        }
        (None, None) => panic!("the case says neither `node` nor `code`"),
    };
    let catalog =
        compilation.catalog.as_ref().unwrap_or_else(|| panic!("{:?}", compilation.diagnostics.first()));
    let mut query = Query::new(&compilation, &environment).expect("it compiled");
    let writer = Writer { compilation: &compilation, sources: &sources, notes: &|_| None };
    case.answers
        .iter()
        .map(|answer| (answer.name.clone(), told(&answer.name, catalog, &mut query, &writer)))
        .collect()
}

fn told(
    text: &str,
    catalog: &setpoint_catalog::Catalog,
    query: &mut Query<'_>,
    writer: &Writer<'_>,
) -> String {
    let target: Target = match parse(catalog, text) {
        Ok(target) => target,
        Err(unknown) => return unknown.message + "\n",
    };
    let answer = query.answer(&target);
    // How much an answer depends on is another question: see the theorems.
    let text = writer.short(&answer);
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("It depends on")).collect();
    lines.join("\n") + "\n"
}
