//! Does a catalog settle? The verdicts of the benchmarks of Rehearsal, in the paper's semantics, by the program itself.

#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;

use libtest_mimic::{Failed, Trial};
use serde_json::Value as Json;
use setpoint_testing::{run_tests, shared, skip};

fn main() -> ExitCode {
    let Some(shared) = shared() else {
        skip("the verdicts of Rehearsal", "the corpora are not beside the repository");
        return run_tests(Vec::new());
    };
    let corpus = Arc::new(shared.join("corpus/puppet/rehearsal"));
    let table = std::fs::read_to_string(corpus.join("verdicts.tsv")).expect("the table of verdicts");
    let indexes = Arc::new(Indexes::build(&corpus));
    let trials = table.lines().skip(1).filter_map(|line| {
        let row = Row::parse(line)?;
        let (corpus, indexes) = (Arc::clone(&corpus), Arc::clone(&indexes));
        Some(Trial::test(format!("paper: {}", row.manifest), move || check(&row, &corpus, &indexes)))
    });
    run_tests(trials.collect())
}

/// A line of the table: what the paper says about a manifest on a platform.
struct Row {
    manifest: String,
    platform: String,
    deterministic: String,
    idempotent: String,
    note: String,
}

impl Row {
    fn parse(line: &str) -> Option<Self> {
        let mut cells = line.split('\t').map(str::to_owned);
        Some(Self {
            manifest: cells.next()?,
            platform: cells.next()?,
            deterministic: cells.next()?,
            idempotent: cells.next()?,
            note: cells.next().unwrap_or_default(),
        })
    }
}

/// What the packages of each platform install, built by the program from the listings of the corpus.
struct Indexes(PathBuf);

impl Indexes {
    fn build(corpus: &Path) -> Self {
        let folder = std::env::temp_dir().join(format!("setpoint-settle-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a temporary folder");
        for platform in ["ubuntu-trusty", "centos-6"] {
            let built = Command::new(env!("CARGO_BIN_EXE_setpoint"))
                .args(["packages", "build", "--listings"])
                .arg(corpus.join("packages").join(platform))
                .arg("-o")
                .arg(folder.join(platform))
                .output()
                .expect("the program runs");
            assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        }
        Self(folder)
    }
}

impl Drop for Indexes {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn check(row: &Row, corpus: &Path, indexes: &Indexes) -> Result<(), Failed> {
    let catalog = corpus.join("manifests").join(&row.manifest).with_extension("catalog.json");
    let done = Command::new(env!("CARGO_BIN_EXE_setpoint"))
        .arg("check")
        .arg(&catalog)
        .args(["--semantics", "paper", "--format", "json", "--packages"])
        .arg(indexes.0.join(&row.platform))
        .output()
        .map_err(|error| error.to_string())?;
    let report: Json = serde_json::from_slice(&done.stdout)
        .map_err(|error| format!("{error}: {}", String::from_utf8_lossy(&done.stderr)))?;
    let input = &report["inputs"][0];
    let word = |name: &str| input["verdict"][name].as_str().unwrap_or("missing").to_owned();
    let has = |rule: &str| {
        input["findings"].as_array().is_some_and(|all| all.iter().any(|one| one["rule"] == rule))
    };
    let mut wrong = Vec::new();
    let mut expect = |what: &str, good: bool| {
        if !good {
            wrong.push(what.to_owned());
        }
    };
    match row.deterministic.as_str() {
        "yes" => expect("independent", word("order") == "independent" && !has("always-fails")),
        // An order of its own may make today's run right or wrong; the paper knows one answer for both.
        "no" if row.note.contains("decide by replay") => {}
        "no" => expect("dependent", matches!(word("order").as_str(), "dependent" | "fails")),
        // Each order fails: that is the same end for all of them.
        "always-error" => expect("every order fails alike", word("order") == "independent"),
        _ => {}
    }
    match row.idempotent.as_str() {
        "yes" => expect("idempotent", word("idempotent") == "yes"),
        "no" => expect("not idempotent", word("idempotent") == "no"),
        _ => {}
    }
    if wrong.is_empty() {
        return Ok(());
    }
    let found = format!("{}\n{:#}", input["verdict"], input["findings"]);
    Err(Failed::from(format!("the paper says: {}\nthe program says: {found}", wrong.join(", "))))
}
