//! What dpkg and apt of this machine say, beside what an index of their files says.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr)]

use std::collections::{BTreeMap, BTreeSet};
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::process::Command;

use setpoint_packages::{Collection, Index, read};
use setpoint_source::OsFileSystem;
use setpoint_testing::skip;

const LISTS: &str = "/var/lib/apt/lists";

fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).env("LC_ALL", "C.UTF-8").output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn files_and_conffiles_are_those_that_dpkg_lists() {
    let folder = Path::new("/var/lib/dpkg");
    if !folder.join("info").is_dir() {
        skip("packages: dpkg", "this machine has no dpkg");
        return;
    }
    let mut packages = Collection::new();
    read::dpkg(&mut packages, &OsFileSystem, folder).unwrap();
    let index = Index::from_bytes(packages.to_bytes()).unwrap();
    let names: Vec<String> = packages.names().iter().map(|name| (*name).to_owned()).collect();
    assert!(names.len() > 50);
    for name in names.iter().step_by(names.len().div_ceil(60)) {
        let Some(listed) = output("dpkg-query", &["--listfiles", name]) else { continue };
        let listed: BTreeSet<&str> = listed
            .lines()
            .filter(|line| line.starts_with('/') && *line != "/.")
            .map(|line| line.trim_end_matches('/'))
            .collect();
        let facts = index.lookup(name).unwrap().unwrap();
        let ours: BTreeSet<&str> = facts.files.iter().chain(&facts.directories).map(|path| &**path).collect();
        assert_eq!(ours, listed, "{name}");
        for directory in &facts.directories {
            let path = Path::new(&**directory);
            assert!(path.is_dir() || !path.exists(), "{name}: {directory} is a directory");
        }
        let recorded = output("dpkg-query", &["--show", "--showformat=${Conffiles}", name]).unwrap();
        let recorded: BTreeSet<&str> = recorded
            .lines()
            .filter(|line| !line.ends_with(" obsolete") && !line.ends_with(" remove-on-upgrade"))
            .filter_map(|line| line.split_whitespace().next())
            .filter(|path| listed.contains(path))
            .collect();
        let ours: BTreeSet<&str> = facts.conffiles.iter().map(|path| &**path).collect();
        assert_eq!(ours, recorded, "{name}");
    }
}

/// What apt would install on an empty machine is what the closure says.
#[test]
fn dependencies_are_those_that_apt_would_install() {
    let lists = read::apt_lists(&OsFileSystem, Path::new(LISTS)).unwrap_or_default();
    if lists.packages.is_empty() {
        skip("packages: apt", "apt has fetched no Packages index");
        return;
    }
    let mut packages = Collection::new();
    for path in &lists.packages {
        read::packages(&mut packages, read::open(&OsFileSystem, path).unwrap(), &path.display().to_string())
            .unwrap();
    }
    let index = Index::from_bytes(packages.to_bytes()).unwrap();
    let empty = std::env::temp_dir().join(format!("setpoint-empty-status-{}", std::process::id()));
    std::fs::write(&empty, "").unwrap();
    let status = format!("Dir::State::status={}", empty.display());
    for name in ["openssh-server", "git", "chrony"] {
        if !packages.contains(name) {
            continue;
        }
        let arguments =
            ["-s", "-o", &status, "-o", "Debug::NoLocking=true", "install", "--no-install-recommends", name];
        let Some(said) = output("apt-get", &arguments) else { continue };
        let theirs: BTreeSet<&str> =
            said.lines().filter_map(|line| line.strip_prefix("Inst ")?.split_whitespace().next()).collect();
        let needed = index.dependencies(name).unwrap();
        let ours: BTreeSet<&str> = needed.packages.iter().map(|name| &**name).collect();
        assert_eq!(needed.unknown, Vec::<Vec<Box<str>>>::new(), "{name}");
        let (missing, more): (Vec<_>, Vec<_>) =
            (theirs.difference(&ours).collect(), ours.difference(&theirs).collect());
        assert!(
            missing.is_empty() && more.is_empty(),
            "{name}: apt also has {missing:?}, we also have {more:?}"
        );
    }
    std::fs::remove_file(&empty).unwrap();
}

/// Every package of the Contents index, path by path. Some minutes; `cargo test --test machine -- --ignored` with what
/// `apt-file update` fetches, or with a folder named in `SETPOINT_CONTENTS`.
#[test]
#[ignore = "reads hundreds of megabytes"]
fn every_package_of_the_contents_index_comes_back() {
    let folder = std::env::var_os("SETPOINT_CONTENTS").map_or_else(|| PathBuf::from(LISTS), PathBuf::from);
    let lists = read::apt_lists(&OsFileSystem, &folder).unwrap();
    assert!(!lists.contents.is_empty(), "{} has no Contents index", folder.display());
    // Read again in the plainest way, as the answer to compare with.
    let mut expected: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut packages = Collection::new();
    for path in &lists.contents {
        read::contents(&mut packages, read::open(&OsFileSystem, path).unwrap(), "contents").unwrap();
        for line in read::open(&OsFileSystem, path).unwrap().split(b'\n') {
            let line = String::from_utf8_lossy(&line.unwrap()).into_owned();
            let Some(at) = line.trim_end().rfind([' ', '\t']) else { continue };
            for package in line[at + 1..].trim_end().split(',') {
                let name = package.rsplit('/').next().unwrap();
                expected.entry(name.to_owned()).or_default().push(format!("/{}", line[..at].trim_end()));
            }
        }
    }
    let bytes = packages.to_bytes();
    eprintln!("{} packages, {} paths, {} bytes", packages.len(), packages.paths(), bytes.len());
    assert!(bytes.len() < 30_000_000);
    let index = Index::from_bytes(bytes).unwrap();
    assert_eq!(index.summary().packages, expected.len() as u64);
    for (name, mut paths) in expected {
        paths.sort();
        paths.dedup();
        let facts = index.lookup(&name).unwrap().unwrap_or_else(|| panic!("{name} is lost"));
        assert!(facts.files.iter().map(|path| &**path).eq(paths.iter().map(String::as_str)), "{name}");
    }
}
