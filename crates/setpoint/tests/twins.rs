//! Small manifests as people write them, most of them twice: once right, and once with a small thing missing. No answer is proved
//! that is wrong, no alarm is false, and few questions stay open.
//!
//! A part of `twins.txt` is a name, the answers and a manifest. `order depends` is answered by `dependent` and by `fails`;
//! `finds RULE` and `silent RULE` ask for a finding.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a manifest that cannot be read fails the test"
)]

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

const MODULES: &str = "/usr/share/puppet/modules";
/// Of a hundred questions so many may be open.
const MOST_UNKNOWN: usize = 20;

#[test]
fn twins_differ_where_they_should() {
    if !Path::new(MODULES).is_dir() {
        return setpoint_testing::skip("twins", "the modules of Debian's packages are not installed");
    }
    let folder = Folder(std::env::temp_dir().join(format!("setpoint-twins-{}", std::process::id())));
    std::fs::create_dir_all(&folder.0).unwrap();
    let (mut asked, mut unknown, mut wrong) = (0, 0, String::new());
    for part in include_str!("twins.txt").split("=== ").skip(1) {
        let (name, rest) = part.split_once('\n').unwrap();
        let (answers, manifest) = rest.split_once('\n').unwrap();
        let path = folder.0.join("site.pp");
        std::fs::write(&path, manifest).unwrap();
        let input = checked(&path);
        for answer in answers.split(", ") {
            let (question, wanted) = answer.split_once(' ').unwrap();
            asked += 1;
            if question == "finds" || question == "silent" {
                let findings = input["findings"].as_array().unwrap();
                let is_found = findings.iter().any(|one| one["rule"] == wanted);
                if is_found != (question == "finds") {
                    let verb = if is_found { "is found" } else { "is not found" };
                    writeln!(wrong, "{name}: {wanted} {verb}").unwrap();
                }
                continue;
            }
            match (input["verdict"][question].as_str().unwrap_or("unknown"), wanted) {
                ("unknown", _) => unknown += 1,
                ("dependent" | "fails", "depends") => {}
                (found, wanted) if found == wanted => {}
                (found, _) => writeln!(wrong, "{name}: {question} is {found}, not {wanted}").unwrap(),
            }
        }
    }
    assert!(asked > 500, "only {asked} questions were asked");
    assert!(wrong.is_empty(), "\n{wrong}");
    assert!(unknown * 100 <= asked * MOST_UNKNOWN, "{unknown} of {asked} are open");
}

/// A folder that goes with the test.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn checked(manifest: &Path) -> Value {
    let run = Command::new(env!("CARGO_BIN_EXE_setpoint"))
        .args([
            "check",
            "--puppet",
            "7",
            "--platform",
            "debian-12",
            "--modulepath",
            MODULES,
            "--format",
            "json",
        ])
        .arg(manifest)
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&run.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&run.stderr)));
    report["inputs"][0].clone()
}
