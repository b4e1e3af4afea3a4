//! What `check` says about a topology: one case a file, with the template, its imports and the findings together.

use std::path::Path;
use std::process::ExitCode;

use setpoint_orchestra::concrete::Facts;
use setpoint_orchestra::models::TOSCA_SETUP;
use setpoint_source::{MemoryFileSystem, Question, Sources, print};
use setpoint_testing::{Answers, Case, run_folder};
use setpoint_tosca::{Checked, can_start, check, instance};

fn main() -> ExitCode {
    run_folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases"), answer)
}

fn answer(case: &Case) -> Answers {
    let mut files = MemoryFileSystem::new();
    for input in &case.inputs {
        files.add(&input.name, input.text.as_bytes());
    }
    let Some(first) = case.inputs.first() else { return Vec::new() };
    let sources = Sources::new();
    let file = sources.add(&first.name, first.text.as_str());
    let Checked { service, topology, findings, answer, .. } =
        check(&files, &sources, file, Path::new(&first.name), &[]);
    let Some(model) = TOSCA_SETUP.load(&sources) else { return Vec::new() };
    let word = |answer| Question::ReachesFinal.word(answer);
    let mut answers = vec![("starts".to_owned(), word(&answer).to_owned())];
    if let Ok(instance) = instance(&service, &topology, &model) {
        let (by_search, _) = can_start(&model, &instance, &Facts::default(), &sources);
        let (by_run, _) =
            can_start(&model, &instance, &Facts { confluent: true, terminating: true }, &sources);
        assert_eq!(word(&by_search), word(&by_run), "one run and search agree");
    }
    let joined: Vec<String> = topology
        .relationships
        .iter()
        .map(|one| {
            format!("{} {} {} ({})\n", one.source, one.behaviour.as_str(), one.target, one.requirement)
        })
        .collect();
    answers.push(("relationships".to_owned(), joined.concat()));
    let shown: Vec<String> = findings.iter().map(|one| print::diagnostic(one, &sources, false)).collect();
    answers
        .push(("findings".to_owned(), if shown.is_empty() { "none\n".to_owned() } else { shown.concat() }));
    answers
}
