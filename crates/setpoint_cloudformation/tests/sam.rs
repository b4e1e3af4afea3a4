//! What the serverless transform makes, beside what AWS's own translator makes of the same template.
//!
//! The answers in the cases are the translator's: `tests/sam/translate.py` writes them. Where the package `aws-sam-translator` is
//! installed, it is asked again.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use libtest_mimic::Trial;
use setpoint_cloudformation::analyse;
use setpoint_source::Sources;
use setpoint_testing::{Answers, Case, files_below, run_tests, trials};

fn main() -> ExitCode {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sam");
    let mut all = trials(&folder, answer);
    all.push(Trial::test("the translator says the same", move || ask_translator(&folder)));
    run_tests(all)
}

/// The resources with their conditions, and which refers to which.
fn answer(case: &Case) -> Answers {
    let Some(input) = case.inputs.first() else { return Vec::new() };
    let sources = Sources::new();
    let analysis = analyse(sources.add(&input.name, input.text.as_str()), &sources);
    let resources = analysis.template.resources.values();
    let mut nodes: Vec<String> = resources
        .map(|one| {
            let condition = one.condition.map(|(name, _)| format!(" if {name}")).unwrap_or_default();
            format!("{}: {}{condition}\n", one.name, one.kind)
        })
        .collect();
    let mut edges: Vec<String> =
        analysis.graph.edges.iter().map(|edge| format!("{} -> {}\n", edge.from, edge.to)).collect();
    nodes.sort();
    edges.sort();
    edges.dedup();
    vec![("graph".to_owned(), nodes.into_iter().chain(edges).collect())]
}

fn ask_translator(folder: &Path) -> Result<(), libtest_mimic::Failed> {
    let python = std::env::var("SETPOINT_SAM_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let is_installed = Command::new(&python).args(["-c", "import samtranslator.yaml_helper"]).output();
    if !is_installed.is_ok_and(|output| output.status.success()) {
        setpoint_testing::skip("AWS's translator", "aws-sam-translator or pyyaml is not installed");
        return Ok(());
    }
    let is_case = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "case");
    let cases: Vec<PathBuf> = files_below(folder).into_iter().filter(is_case).collect();
    let script = folder.join("translate.py");
    let output = Command::new(&python).arg("-B").arg(script).arg("--check").args(cases).output();
    match output {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr).into_owned().into()),
        Err(error) => Err(error.to_string().into()),
    }
}
