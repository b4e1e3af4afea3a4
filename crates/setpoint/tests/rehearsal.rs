//! The manifests of Rehearsal with Puppet's semantics: docs/rehearsal.md has a row for each, and every row is found out
//! again. Puppet itself applies the catalogs in a root of their own, in the orders that the verdict speaks of, and so it does with
//! what `setpoint fix` makes of them.
//!
//! `SETPOINT_BLESS=1` writes the rows anew.

#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

#[allow(dead_code, reason = "shared with the cases of agreement")]
#[path = "../../setpoint_resources/tests/agreement/compare.rs"]
mod compare;
#[path = "rehearsal/confirm.rs"]
mod confirm;
#[allow(dead_code, reason = "shared with the cases of agreement")]
#[path = "../../setpoint_resources/tests/agreement/notation.rs"]
mod notation;
#[path = "../../setpoint_resources/tests/agreement/observe.rs"]
mod observe;
#[path = "rehearsal/stage.rs"]
mod stage;
#[path = "rehearsal/subject.rs"]
mod subject;
#[path = "rehearsal/table.rs"]
mod table;

use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::{Arc, Mutex, PoisonError};

use libtest_mimic::{Failed, Trial as Test};
use setpoint_judge::Judge;
use setpoint_oracle::Puppet;
use setpoint_testing::{repository, run_tests, shared, skip};

use confirm::{Witnesses, examine};
use subject::Places;
use table::Table;

/// The modules of the machine.
const MODULES: &str = "/usr/share/puppet/modules";
const SUITE: &str = "the manifests of Rehearsal, applied by Puppet";

fn main() -> ExitCode {
    let Some(shared) = shared() else {
        skip(SUITE, "the corpora are not beside the repository");
        return ExitCode::SUCCESS;
    };
    if let Some(obstacle) = Judge::obstacle() {
        skip(SUITE, obstacle);
        return ExitCode::SUCCESS;
    }
    let scratch = std::env::temp_dir().join(format!("setpoint-rehearsal-{}", std::process::id()));
    std::fs::create_dir_all(&scratch).expect("a temporary folder");
    let corpus = shared.join("corpus/puppet/rehearsal");
    let index = scratch.join("packages.idx");
    let built = Command::new(env!("CARGO_BIN_EXE_setpoint"))
        .args(["packages", "build", "--listings"])
        .arg(corpus.join("packages/ubuntu-trusty"))
        .arg("-o")
        .arg(&index)
        .output()
        .expect("the program runs");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let facts = shared.join("corpus/puppet/facts/debian12.json");
    let places = Arc::new(Places { corpus, facts, index, scratch: scratch.clone() });
    let file = repository().join("docs/rehearsal.md");
    let table = Arc::new(Mutex::new(Table::read(&file)));
    let witnesses: Arc<Mutex<Option<Witnesses>>> = Arc::default();
    let bless = std::env::var_os("SETPOINT_BLESS").is_some();

    let mut names: Vec<String> = std::fs::read_dir(places.corpus.join("manifests"))
        .expect("the corpus")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| Path::new(name).extension().is_some_and(|ending| ending == "pp"))
        .collect();
    names.retain(|name| !table.lock().unwrap_or_else(PoisonError::into_inner).is_explained(name));
    names.sort();
    let tests = names.into_iter().map(|name| {
        let (places, table, witnesses) = (Arc::clone(&places), Arc::clone(&table), Arc::clone(&witnesses));
        let file = file.clone();
        Test::test(name.clone(), move || {
            let mut held = witnesses.lock().unwrap_or_else(PoisonError::into_inner);
            let mut both = match held.take() {
                Some(both) => both,
                None => Witnesses { judge: Judge::default(), puppet: Puppet::start()? },
            };
            let found = examine(&places, &name, &mut both);
            *held = Some(both);
            let found = found?;
            let mut table = table.lock().unwrap_or_else(PoisonError::into_inner);
            if bless {
                table.set(&name, &found);
                table.write(&file);
                return Ok(());
            }
            table.compare(&name, &found).map_err(Failed::from)
        })
    });
    let code = run_tests(tests.collect());
    // The processes end, and clean up after themselves.
    witnesses.lock().unwrap_or_else(PoisonError::into_inner).take();
    let _ = std::fs::remove_dir_all(&scratch);
    code
}
