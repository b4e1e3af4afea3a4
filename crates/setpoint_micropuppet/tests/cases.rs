//! Manifests of the paper, with their traces.

use std::process::ExitCode;

use setpoint_puppet_syntax::parse;
use setpoint_source::Sources;
use setpoint_testing::{Answers, Case, repository, run_folder};

fn main() -> ExitCode {
    run_folder(&repository().join("crates/setpoint_micropuppet/tests/cases"), answers)
}

fn answers(case: &Case) -> Answers {
    case.answers.iter().map(|answer| (answer.name.clone(), ask(case, &answer.name))).collect()
}

fn ask(case: &Case, question: &str) -> String {
    let sources = Sources::new();
    let input = &case.inputs[0];
    let file = sources.add(input.name.clone(), input.text.clone());
    let evaluated = setpoint_micropuppet::trace(&parse(file, &input.text).program, "localhost");
    match question {
        "trace" => setpoint_trace::text(&evaluated.trace, &sources),
        _ => evaluated.catalog.iter().flat_map(|resource| [resource.to_string(), "\n".to_owned()]).collect(),
    }
}
