//! What `check` says about a template: one case a file, with the template and the findings together.

use std::path::Path;
use std::process::ExitCode;

use setpoint_cloudformation::{HAZARDS, analyse, update};
use setpoint_orchestra::models::CLOUDFORMATION_LIFECYCLE;
use setpoint_source::{Edit, Fix, Rule, Sources, print};
use setpoint_testing::{Answers, Case, Section, run_tests, trials};

fn main() -> ExitCode {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut all = trials(&folder, answer);
    all.push(libtest_mimic::Trial::test("every hazard has both examples", move || {
        for hazard in HAZARDS {
            for example in ["found", "absent"] {
                let path = folder.join("hazards").join(format!("{}-{example}.case", hazard.name));
                if !path.is_file() {
                    return Err(format!("{} is missing", path.display()).into());
                }
            }
        }
        Ok(())
    }));
    run_tests(all)
}

/// Two templates are an update from the first to the second.
fn update_answer(sources: &Sources, old: &Section, new: &Section) -> Answers {
    let read = |input: &Section| analyse(sources.add(&input.name, input.text.as_str()), sources);
    let Some(lifecycle) = CLOUDFORMATION_LIFECYCLE.load(sources) else { return Vec::new() };
    let update = update(&read(old), &read(new), &lifecycle);
    let mut findings: String =
        update.findings.iter().map(|finding| print::diagnostic(finding, sources, false)).collect();
    if findings.is_empty() {
        findings.push_str("none\n");
    }
    vec![("findings".to_owned(), findings), ("update".to_owned(), update.text())]
}

fn answer(case: &Case) -> Answers {
    let sources = Sources::new();
    if let [old, new] = &case.inputs[..] {
        return update_answer(&sources, old, new);
    }
    let Some(input) = case.inputs.first() else { return Vec::new() };
    let file = sources.add(&input.name, input.text.as_str());
    let analysis = analyse(file, &sources);
    let mut findings: String =
        analysis.findings.iter().map(|finding| print::diagnostic(finding, &sources, false)).collect();
    if findings.is_empty() {
        findings.push_str("none\n");
    }
    let mut edits: Vec<Edit> = Vec::new();
    for edit in analysis.findings.iter().filter_map(|finding| finding.fix.as_ref()).flat_map(|fix| &fix.edits)
    {
        if !edits.contains(edit) {
            edits.push(edit.clone());
        }
    }
    let mut answers = vec![
        ("findings".to_owned(), findings),
        (
            "reaches_final".to_owned(),
            setpoint_source::Question::ReachesFinal.word(&analysis.reaches_final).to_owned(),
        ),
    ];
    if !edits.is_empty() {
        let mended = Fix::apply(&edits, &input.text);
        let again = analyse(sources.add(&input.name, mended.as_str()), &sources);
        let left = again.findings.iter().filter(|finding| finding.rule == Rule::MissingDependsOn).count();
        answers.push(("mended".to_owned(), mended));
        answers.push(("left after mending".to_owned(), left.to_string()));
    }
    answers
}
