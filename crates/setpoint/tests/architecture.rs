//! ARCHITECTURE.md is true: what it names is there, and every crate is in it.

use std::collections::BTreeSet;

use setpoint_testing::repository;

#[test]
fn every_crate_is_named_and_every_name_is_there() {
    let root = repository();
    let text = std::fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap_or_default();
    assert!(!text.is_empty(), "ARCHITECTURE.md cannot be read");

    let mut crates: BTreeSet<String> = BTreeSet::from(["xtask".to_owned()]);
    for entry in std::fs::read_dir(root.join("crates")).into_iter().flatten().flatten() {
        if entry.path().join("Cargo.toml").is_file() {
            crates.insert(entry.file_name().to_string_lossy().into_owned());
        }
    }
    let named = quoted(&text);
    let missing: Vec<&String> = crates.iter().filter(|name| !names(&named, name)).collect();
    assert!(missing.is_empty(), "ARCHITECTURE.md does not name {missing:?}");

    let wrong: Vec<&&str> = named
        .iter()
        .filter(|name| {
            let is_crate = name.starts_with("setpoint_") && !name.contains(['/', ':', ' ', '(']);
            let is_path = name.contains('/') && !name.contains([' ', '*', '<', '{', ':', '$', '…', '(', '|']);
            (is_crate && !crates.contains(**name)) || (is_path && !is_there(&root, name, &crates))
        })
        .collect();
    assert!(wrong.is_empty(), "ARCHITECTURE.md names what is not there: {wrong:?}");
}

/// What stands between backticks on one line.
fn quoted(text: &str) -> BTreeSet<&str> {
    text.lines().flat_map(|line| line.split('`').skip(1).step_by(2)).filter(|name| !name.is_empty()).collect()
}

/// As `setpoint_source`, or in a path, as `crates/setpoint_source/src`.
fn names(named: &BTreeSet<&str>, name: &str) -> bool {
    named.iter().any(|quoted| quoted.split('/').any(|part| part == name))
}

/// A path from the root, from the folder of crates, or from the source of some crate.
fn is_there(root: &std::path::Path, name: &str, crates: &BTreeSet<String>) -> bool {
    let name = name.trim_end_matches('/');
    let of_crate = |one: &String| {
        let folder = root.join("crates").join(one);
        folder.join(name).exists() || folder.join("src").join(name).exists()
    };
    name.starts_with("../")
        || name.starts_with('/')
        || root.join(name).exists()
        || root.join("crates").join(name).exists()
        || crates.iter().any(of_crate)
}
