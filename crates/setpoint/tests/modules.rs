//! Real modules: what `check` says about their catalogs is what docs/findings.md says it says.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use libtest_mimic::{Failed, Trial};
use serde_json::Value as Json;
use setpoint_testing::{run_tests, shared, skip};

const TABLE: &str = include_str!("../../../docs/findings.md");

/// The heading of the table of verdicts.
const HEADING: [&str; 6] = ["catalog", "order", "idempotent", "quiet", "convergent", "findings"];

fn main() -> ExitCode {
    let Some(shared) = shared() else {
        skip("catalogs of modules", "they are not beside the repository");
        return run_tests(Vec::new());
    };
    let folder = shared.join("corpus/puppet/modules");
    let rows = rows();
    let mut trials = vec![Trial::test("every catalog has a row", {
        let (folder, names) = (folder.clone(), rows.iter().map(|row| row[0].clone()).collect::<Vec<_>>());
        move || same(&names, &catalogs(&folder)?)
    })];
    trials.extend(rows.into_iter().map(|row| {
        let folder = folder.clone();
        Trial::test(row[0].clone(), move || same(&row, &answer(&folder, &row[0])?))
    }));
    run_tests(trials)
}

/// The rows of the table of verdicts, cell by cell.
fn rows() -> Vec<Vec<String>> {
    let cells = |line: &str| -> Vec<String> {
        let inner = line.trim().trim_start_matches('|').trim_end_matches('|');
        inner.split('|').map(|cell| cell.trim().replace('`', "")).collect()
    };
    TABLE
        .lines()
        .skip_while(|line| cells(line) != HEADING)
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .map(cells)
        .collect()
}

fn catalogs(folder: &Path) -> Result<Vec<String>, Failed> {
    let files = std::fs::read_dir(folder)?;
    let paths: Vec<PathBuf> = files.map(|file| Ok(file?.path())).collect::<Result<_, std::io::Error>>()?;
    let name = |path: &PathBuf| Some(path.file_name()?.to_str()?.strip_suffix(".catalog.json")?.to_owned());
    let mut names: Vec<String> = paths.iter().filter_map(name).collect();
    names.sort();
    Ok(names)
}

/// The row that the program gives.
fn answer(folder: &Path, name: &str) -> Result<Vec<String>, Failed> {
    let run = Command::new(env!("CARGO_BIN_EXE_setpoint"))
        .arg("check")
        .arg(folder.join(format!("{name}.catalog.json")))
        // What is decided must not depend on how fast the machine is.
        .args(["--platform", "debian-12", "--timeout", "600", "--fail-on", "never", "--format", "json"])
        .output()?;
    if !run.status.success() {
        return Err(String::from_utf8_lossy(&run.stderr).into_owned().into());
    }
    let report: Json = serde_json::from_slice(&run.stdout)?;
    let input = &report["inputs"][0];
    let text = |value: &Json| value.as_str().unwrap_or("?").to_owned();
    let mut row = vec![name.to_owned()];
    // What holds under assumptions stands in parentheses.
    row.extend(HEADING[1..5].iter().map(|question| match &input["conditional"][question] {
        Json::Null => text(&input["verdict"][question]),
        word => format!("({})", text(word)),
    }));
    let findings = input["findings"].as_array().ok_or("no findings")?;
    let grave =
        findings.iter().filter(|finding| ["warning", "error"].contains(&&*text(&finding["severity"])));
    let rules: Vec<String> = grave.map(|finding| text(&finding["rule"])).collect();
    row.push(rules.join(", "));
    Ok(row)
}

fn same(want: &[String], have: &[String]) -> Result<(), Failed> {
    if want == have { Ok(()) } else { Err(format!("expected {want:?}\n   found {have:?}").into()) }
}
