//! For any listing: what goes in comes out. For any bytes: an answer or an error, never a panic.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};

use setpoint_packages::{Collection, Index};
use setpoint_testing::Random;

fn path(random: &mut Random) -> String {
    let parts = ["etc", "usr", "lib", "ü", "a b", "x", "x", "x", "very-long-name-".repeat(18).as_str()]
        .map(str::to_owned);
    let mut path = String::new();
    for _ in 0..=random.below(6) {
        let number = random.below(12);
        path.push('/');
        path.push_str(&parts[random.below(parts.len())]);
        path.push_str(&number.to_string());
    }
    path
}

fn generated(seed: u64, packages: usize) -> BTreeMap<String, (BTreeSet<String>, Vec<Vec<String>>)> {
    let mut random = Random::new(seed);
    let mut all = BTreeMap::new();
    for _ in 0..packages {
        let name =
            format!("{}{}", random.pick(&["lib", "python3-", "a", "zsh", "x+"]), random.below(packages * 2));
        let count = if random.below(20) == 0 { 800 } else { random.below(30) };
        let files = (0..count).map(|_| path(&mut random)).collect();
        let depends = (0..random.below(4))
            .map(|_| (0..=random.below(2)).map(|_| format!("lib{}", random.below(packages))).collect())
            .collect();
        all.insert(name, (files, depends));
    }
    all
}

fn collected(all: &BTreeMap<String, (BTreeSet<String>, Vec<Vec<String>>)>, backwards: bool) -> Collection {
    let mut packages = Collection::new();
    let mut names: Vec<&String> = all.keys().collect();
    if backwards {
        names.reverse();
    }
    for name in names {
        let (files, depends) = &all[name];
        packages.set_listed(name);
        let mut files: Vec<&String> = files.iter().collect();
        if backwards {
            files.reverse();
        }
        for file in files {
            packages.add_file(name, file);
        }
        for clause in depends {
            packages.add_depends(name, clause.iter().map(|name| name.as_str().into()).collect());
        }
    }
    packages
}

#[test]
fn lookups_equal_the_source() {
    for seed in 0..12 {
        let all = generated(seed, 1 + seed as usize * 7);
        let bytes = collected(&all, false).to_bytes();
        assert_eq!(
            bytes,
            collected(&all, true).to_bytes(),
            "the order of reading does not matter (seed {seed})"
        );
        let index = Index::from_bytes(bytes).unwrap();
        assert_eq!(index.summary().packages, all.len() as u64);
        for (name, (files, depends)) in &all {
            let facts = index.lookup(name).unwrap().unwrap_or_else(|| panic!("seed {seed}: {name} is lost"));
            assert!(
                facts.files.iter().map(|path| &**path).eq(files.iter().map(String::as_str)),
                "seed {seed}: {name}"
            );
            let known = index.depends(name).unwrap();
            let mut expected: Vec<&Vec<String>> = Vec::new();
            for clause in depends {
                if !expected.contains(&clause) {
                    expected.push(clause);
                }
            }
            assert_eq!(known.len(), expected.len());
            for (one, other) in known.iter().zip(expected) {
                assert!(one.iter().map(|name| &**name).eq(other.iter().map(String::as_str)));
            }
            let below = format!("{name}!");
            assert!(index.lookup(&below).unwrap().is_none());
        }
    }
}

#[test]
fn closures_are_closed() {
    let all = generated(7, 150);
    let index = Index::from_bytes(collected(&all, false).to_bytes()).unwrap();
    for name in all.keys() {
        let needed = index.dependencies(name).unwrap();
        let inside: BTreeSet<&str> = needed.packages.iter().map(|name| &**name).collect();
        assert!(inside.contains(name.as_str()));
        for member in &inside {
            for clause in index.depends(member).unwrap() {
                let met = clause.iter().any(|name| inside.contains(&**name));
                assert!(met || needed.unknown.contains(&clause), "{name}: {member} lacks {clause:?}");
            }
        }
        // Whoever cannot stay without it has it among what it needs, or has no other choice.
        for dependant in index.dependants(name).unwrap().certain {
            let needs = index.dependencies(&dependant).unwrap();
            assert!(
                needs.packages.contains(&name.as_str().into()),
                "{dependant} goes with {name} and does not need it"
            );
        }
    }
}

#[test]
fn a_damaged_file_is_an_error_and_never_a_wrong_answer() {
    let all = generated(3, 40);
    let bytes = collected(&all, false).to_bytes();
    let whole = Index::from_bytes(bytes.clone()).unwrap();
    let names: Vec<&String> = all.keys().collect();
    let mut random = Random::new(1);
    for _ in 0..200 {
        let mut hostile = bytes.clone();
        match random.below(3) {
            0 => hostile.truncate(random.below(bytes.len())),
            1 => {
                let at = random.below(bytes.len());
                hostile[at] ^= 1 << random.below(8);
            }
            _ => {
                let at = random.below(bytes.len().saturating_sub(64));
                for byte in &mut hostile[at..at + 32] {
                    *byte = random.number() as u8;
                }
            }
        }
        let changed = hostile != bytes;
        let Ok(index) = Index::from_bytes(hostile) else {
            assert!(changed);
            continue;
        };
        for name in [names[0], names[names.len() / 2], names[names.len() - 1]] {
            if let Ok(found) = index.lookup(name) {
                assert_eq!(found, whole.lookup(name).unwrap());
            }
            if let Ok(found) = index.dependencies(name) {
                assert_eq!(found, whole.dependencies(name).unwrap());
            }
        }
    }
}

#[test]
fn bytes_that_are_no_index_are_named_so() {
    for bytes in [&b""[..], b"setpkg", b"PK\x03\x04 something else", &[0; 4096]] {
        let error = Index::from_bytes(bytes.to_vec()).unwrap_err();
        assert_eq!(error.to_string(), "it is no index of packages; `setpoint packages build` makes one");
    }
    let mut newer = Collection::new().to_bytes();
    newer[8] = 99;
    let error = Index::from_bytes(newer).unwrap_err();
    assert!(
        error.to_string().starts_with("the index has format 99, and this program reads format 2"),
        "{error}"
    );
}
