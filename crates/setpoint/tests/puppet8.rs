//! OpenVox 8's own suite: of every source Setpoint makes what OpenVox made of it, but for the exceptions of
//! `puppet8/exceptions.txt`, which are argued there.

#![allow(clippy::expect_used, clippy::panic)]

use std::collections::BTreeMap;
use std::process::Command;

use setpoint_testing::{shared, skip};

/// The exceptions, each with its reason.
fn exceptions() -> BTreeMap<&'static str, &'static str> {
    let lines = include_str!("puppet8/exceptions.txt").lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split_once(": ").unwrap_or_else(|| panic!("{line:?} has no reason"))).collect()
}

#[test]
fn every_source_is_read_as_openvox_reads_it() {
    let exceptions = exceptions();
    let Some(corpus) = shared().map(|shared| shared.join("corpus/puppet8")).filter(|corpus| corpus.is_dir())
    else {
        skip("sources of OpenVox 8", "they are not beside the repository");
        return;
    };
    let list = std::env::temp_dir().join(format!("setpoint-puppet8-{}", std::process::id()));
    let output = Command::new(corpus.join("compare-language"))
        .arg(env!("CARGO_BIN_EXE_setpoint"))
        .args(["--verbose", "--list"])
        .arg(&list)
        .output()
        .expect("compare-language runs");
    let differences = std::fs::read_to_string(&list).expect("a list of differences");
    let _ = std::fs::remove_file(&list);
    let differences: Vec<&str> = differences.lines().collect();
    let told = String::from_utf8_lossy(&output.stdout);
    let new: Vec<&&str> = differences.iter().filter(|id| !exceptions.contains_key(**id)).collect();
    assert!(new.is_empty(), "{new:?} differ:\n{told}");
    let stale: Vec<&&str> = exceptions.keys().filter(|id| !differences.contains(*id)).collect();
    assert!(stale.is_empty(), "{stale:?} agree and are no exceptions");
}
