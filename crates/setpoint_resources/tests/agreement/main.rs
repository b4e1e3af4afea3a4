//! The models do what Puppet does. Each case is a manifest; Puppet itself applies it, in the order of the manifest and
//! with its resources the other way round, twice each. The interpreter, started from what was there, must end with the same
//! cells, failures, skips and changes.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a case that cannot be read fails the test"
)]

mod compare;
mod generate;
mod generated;
mod notation;
mod observe;

use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};

use libtest_mimic::{Failed, Trial as Test};
use notation::Start;
use serde_json::Value as Json;
use setpoint_judge::{Judge, Outcome, Trial};
use setpoint_oracle::compile_manifest;
use setpoint_source::Sources;
use setpoint_testing::{Case, cases, run_tests, skip};

/// As many judges as there are cores to use.
const JUDGES: usize = 2;

fn main() -> ExitCode {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/agreement/cases");
    let paths = cases(&folder);
    if let Some(obstacle) = Judge::obstacle() {
        skip("agreement with Puppet", obstacle);
        return ExitCode::SUCCESS;
    }
    let judges: Arc<Vec<Mutex<Judge>>> = Arc::new((0..JUDGES).map(|_| Mutex::default()).collect());
    let count = paths.len();
    let mut tests: Vec<Test> = paths
        .into_iter()
        .map(|path| {
            let name = path.strip_prefix(&folder).unwrap_or(&path).with_extension("").display().to_string();
            let judges = Arc::clone(&judges);
            Test::test(name, move || check(&path, &judges))
        })
        .collect();
    tests.push(Test::test("there are at least 600 cases", move || {
        if count >= 600 { Ok(()) } else { Err(Failed::from(format!("there are {count}"))) }
    }));
    let tally = Arc::new(generated::Tally::default());
    tests.extend(generated::tests(&judges, &tally));
    let code = run_tests(tests);
    tally.tell();
    // The processes end, and clean up after themselves.
    for judge in judges.iter() {
        *judge.lock().unwrap() = Judge::default();
    }
    code
}

fn check(path: &Path, judges: &[Mutex<Judge>]) -> Result<(), Failed> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let case = Case::parse(&text);
    let start = notation::read(&case)?;
    let catalog = catalog(case.input("main.pp").unwrap_or_default())?;
    let mut problems = String::new();
    let other = turned(&catalog);
    // A catalog with one order is asked about once.
    let orders = if other == catalog { 1 } else { 2 };
    for (order, catalog) in [("as written", catalog), ("the other way round", other)].into_iter().take(orders)
    {
        let outcome = applied(judges, &catalog, &start)?;
        let found = compare::differences(&catalog, &start, &outcome);
        if !found.is_empty() {
            problems += &format!("{order}:\n{found}");
            for run in &outcome.runs {
                for line in &run.logs {
                    problems += &format!("    Puppet: {}\n", line.lines().next().unwrap_or_default());
                }
            }
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(Failed::from(format!("{}\n{problems}", path.display()))) }
}

/// Any judge that is free applies a catalog twice, from a start.
fn applied(judges: &[Mutex<Judge>], catalog: &Json, start: &Start) -> Result<Outcome, String> {
    let trial = Trial {
        catalog: catalog.clone(),
        earlier: Vec::new(),
        start: start.nodes.clone(),
        then: start.then.clone(),
        packages: start.packages.clone(),
        runs: 2,
    };
    let mut judge = judges
        .iter()
        .find_map(|judge| judge.try_lock().ok())
        .unwrap_or_else(|| judges[0].lock().unwrap_or_else(std::sync::PoisonError::into_inner));
    judge.apply(&trial)
}

/// The catalog of a manifest, as a server would send it.
fn catalog(manifest: &str) -> Result<Json, String> {
    let compilation = compile_manifest(manifest, &Sources::new());
    let catalog = compilation.catalog.ok_or_else(|| {
        let said: Vec<String> = compilation.diagnostics.iter().map(|said| said.message.clone()).collect();
        format!("the manifest does not compile: {}", said.join("; "))
    })?;
    serde_json::from_str(&setpoint_catalog::write::json(&catalog)).map_err(|error| error.to_string())
}

/// The same catalog with its resources the other way round; containers stay where they are.
fn turned(catalog: &Json) -> Json {
    let mut catalog = catalog.clone();
    if let Some(resources) = catalog["resources"].as_array_mut() {
        let is_container = |resource: &Json| matches!(resource["type"].as_str(), Some("Class" | "Stage"));
        let (containers, mut others): (Vec<Json>, Vec<Json>) =
            resources.drain(..).partition(|resource| is_container(resource));
        others.reverse();
        resources.extend(containers);
        resources.extend(others);
    }
    catalog
}
