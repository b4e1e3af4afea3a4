//! Manifests of the paper, with their traces.

use std::process::ExitCode;

use setpoint_micropuppet::Value;
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
    // Further inputs are facts: their names, and their values as strings.
    let facts: Vec<(String, Value)> = case.inputs[1..]
        .iter()
        .map(|fact| (fact.name.clone(), Value::String(fact.text.trim().to_owned())))
        .collect();
    let node = question.split_once(" for ").map_or("localhost", |(_, node)| node);
    let evaluated = setpoint_micropuppet::trace(&parse(file, &input.text).program, node, &facts);
    match question.split(' ').next() {
        Some("trace") => setpoint_trace::text(&evaluated.trace, &sources),
        _ => evaluated.catalog.iter().flat_map(|resource| [resource.to_string(), "\n".to_owned()]).collect(),
    }
}
