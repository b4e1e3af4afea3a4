//! What the serverless transform makes, beside what AWS's own translator makes of the same template.
//!
//! The answers in the cases are the translator's: `tests/sam/translate.py` writes them. Where the package `aws-sam-translator` is
//! installed, it is asked again.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use libtest_mimic::Trial;
use setpoint_cloudformation::{Analysis, analyse};
use setpoint_source::Sources;
use setpoint_testing::{Answers, Case, files_below, run_tests, trials};

fn main() -> ExitCode {
    if let Some(folder) = std::env::var_os("SETPOINT_SAM_TEMPLATES") {
        return survey(Path::new(&folder));
    }
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
    vec![("graph".to_owned(), graph(&analysis))]
}

fn graph(analysis: &Analysis) -> String {
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
    nodes.into_iter().chain(edges).collect()
}

/// Compares the templates of a folder with the answers of the translator beside them (`translate.py --survey`), and prints the
/// graphs that differ. A template that is proved must have the translator's graph.
#[expect(clippy::print_stdout, reason = "a survey is read by the person who asked for it")]
fn survey(folder: &Path) -> ExitCode {
    let (mut equal, mut open, mut wrong) = (0, 0, 0);
    for path in files_below(folder) {
        let answer = PathBuf::from(format!("{}.graph", path.display()));
        let Ok(expected) = std::fs::read_to_string(answer) else { continue };
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let sources = Sources::new();
        let analysis = analyse(sources.add(path.display().to_string(), text.as_str()), &sources);
        let found = graph(&analysis);
        for error in analysis.findings.iter().filter(|one| one.severity == setpoint_source::Severity::Error) {
            println!("error {}: {}", path.display(), error.message);
        }
        for one in &analysis.template.omissions {
            println!("omits {}: {:?}", path.display(), one.what);
        }
        if found == expected {
            equal += 1;
            continue;
        }
        let omissions: Vec<String> =
            analysis.template.omissions.iter().map(|one| format!("{:?}", one.what)).collect();
        let word = if omissions.is_empty() { "DIFFERS" } else { "open" };
        *if omissions.is_empty() { &mut wrong } else { &mut open } += 1;
        println!("{word} {}: {}", path.display(), omissions.join(", "));
        let missing = expected.lines().filter(|line| !found.lines().any(|other| other == *line));
        let surplus = found.lines().filter(|line| !expected.lines().any(|other| other == *line));
        for line in missing.map(|line| format!("- {line}")).chain(surplus.map(|line| format!("+ {line}"))) {
            println!("    {line}");
        }
    }
    println!("{equal} equal, {open} differ and say why, {wrong} differ without a word");
    if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
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
    for (script, cases) in [("facts.py", Vec::new()), ("translate.py", cases)] {
        let script = folder.join(script);
        let output = Command::new(&python).arg("-B").arg(script).arg("--check").args(cases).output()?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
        }
    }
    Ok(())
}
