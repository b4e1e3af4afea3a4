//! Small manifests with known answers, most of them confirmed by Puppet: no answer is proved that is wrong, no alarm is false, and
//! few questions stay open. They lie beside the repository.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a corpus that cannot be read fails the test"
)]

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

const MODULES: &str = "/usr/share/puppet/modules";
/// Of a hundred questions so many may be open.
const MOST_UNKNOWN: usize = 5;

#[derive(Default)]
struct Count {
    asked: usize,
    unknown: usize,
    /// One line for each answer that is wrong and each finding that is missing or false.
    wrong: String,
}

#[test]
fn known_answers() {
    let corpus = setpoint_testing::shared().map(|shared| shared.join("corpus/verify"));
    let Some(corpus) = corpus.filter(|corpus| corpus.is_dir() && Path::new(MODULES).is_dir()) else {
        return setpoint_testing::skip("known answers", "the corpora are not beside the repository");
    };
    let table = std::fs::read_to_string(corpus.join("verdicts.tsv")).unwrap();
    let mut lines = table.lines();
    let names: Vec<&str> = lines.next().unwrap().split('\t').collect();
    let mut count = Count::default();
    for line in lines {
        let fields: Vec<&str> = line.split('\t').collect();
        let field = |name: &str| {
            let at = names.iter().position(|known| *known == name).unwrap();
            fields.get(at).copied().unwrap_or("-")
        };
        let manifest = corpus.join(format!("{}.pp", field("case").trim_end_matches(".pp")));
        let input = checked(&manifest, field("platform"));
        compare(&mut count, field("case"), &input, &field);
    }
    assert!(count.asked > 200, "only {} questions were asked", count.asked);
    assert!(count.wrong.is_empty(), "\n{}", count.wrong);
    assert!(
        count.unknown * 100 <= count.asked * MOST_UNKNOWN,
        "{} of {} are open",
        count.unknown,
        count.asked
    );
}

fn checked(manifest: &Path, platform: &str) -> Value {
    let run = Command::new(env!("CARGO_BIN_EXE_setpoint"))
        .args(["check", "--puppet", "7", "--platform", platform, "--modulepath", MODULES, "--format", "json"])
        .arg(manifest)
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&run.stdout).unwrap_or_else(|error| {
        panic!("{}: {error}: {}", manifest.display(), String::from_utf8_lossy(&run.stderr))
    });
    report["inputs"][0].clone()
}

fn compare<'a>(count: &mut Count, case: &str, input: &Value, field: &dyn Fn(&str) -> &'a str) {
    for question in ["order", "idempotent", "quiet", "convergent"] {
        let wanted = field(question);
        if wanted == "-" {
            continue;
        }
        count.asked += 1;
        match input["verdict"][question].as_str().unwrap_or("unknown") {
            "unknown" => count.unknown += 1,
            "dependent" | "fails" if wanted == "depends" => {}
            found if found == wanted => {}
            found => writeln!(count.wrong, "{case}: {question} is {found}, not {wanted}").unwrap(),
        }
    }
    let findings = input["findings"].as_array().unwrap();
    let is_found = |names: &str, by_severity: bool| {
        names.split(',').any(|name| {
            findings.iter().any(|one| one["rule"] == name || (by_severity && one["severity"] == name))
        })
    };
    let (must, must_not) = (field("must_find"), field("must_not_find"));
    if must != "-" && !is_found(must, false) {
        writeln!(count.wrong, "{case}: {must} is not found").unwrap();
    }
    if must_not != "-" && is_found(must_not, true) {
        writeln!(count.wrong, "{case}: {must_not} is found").unwrap();
    }
}
