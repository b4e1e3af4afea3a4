//! Setpoint's parser beside Puppet's: the same trees, with the same places, and the same errors.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use setpoint_puppet_syntax::{dump, dump_with_places, parse, parse_epp};
use setpoint_source::{Severity, Sources};
use setpoint_testing::{diff, puppet, shared, skip};

/// Where Debian's packages install modules.
const MODULES: &str = "/usr/share/puppet/modules";

#[test]
fn every_manifest_of_debian_is_read() {
    let mut paths = Vec::new();
    collect(Path::new(MODULES), &["pp", "epp"], &mut paths);
    if paths.len() < 1_000 {
        return skip("puppet syntax: Debian's modules", "the puppet-module packages are not installed");
    }
    let problems: Vec<String> =
        paths.iter().map(|path| ours(path, false)).filter(|text| has_error(text)).collect();
    assert!(problems.is_empty(), "{}", problems.concat());
}

#[test]
fn corpora_have_puppets_trees() {
    let mut paths = Vec::new();
    collect(Path::new(MODULES), &["pp", "epp"], &mut paths);
    match shared() {
        Some(folder) => collect(&folder.join("corpus/puppet"), &["pp", "epp"], &mut paths),
        None => skip("puppet syntax: corpora beside Puppet", "the shared corpora are not there"),
    }
    compare("corpora beside Puppet", &paths);
}

#[test]
fn snippets_have_puppets_trees_and_errors() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle");
    let scratch = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let mut paths = Vec::new();
    for (file, extension) in [("manifests.txt", "pp"), ("templates.txt", "epp")] {
        let text = std::fs::read_to_string(here.join(file)).unwrap();
        for (index, snippet) in text.trim_end_matches('\n').split("\n====\n").enumerate() {
            let path = scratch.join(format!("{index}.{extension}"));
            std::fs::write(&path, snippet).unwrap();
            paths.push(path);
        }
    }
    compare("snippets beside Puppet", &paths);
}

/// Asks Puppet about all files in one process, and compares.
fn compare(suite: &str, paths: &[PathBuf]) {
    if !puppet() {
        return skip(&format!("puppet syntax: {suite}"), "Puppet is not installed");
    }
    let (templates, manifests): (Vec<&PathBuf>, Vec<&PathBuf>) =
        paths.iter().partition(|path| path.extension().is_some_and(|extension| extension == "epp"));
    let mut problems = String::new();
    // The places of a template are not compared: Puppet gives those of the text before a tag.
    for (group, places) in [(manifests, true), (templates, false)] {
        let answers = ask(&group, places);
        for path in group {
            let found = ours(path, places);
            let expected =
                answers.get(path.as_path()).unwrap_or_else(|| panic!("no answer for {}", path.display()));
            if !agree(expected, &found) {
                let _ = writeln!(problems, "{}\n{}", path.display(), diff(expected, &found));
            }
        }
    }
    assert!(problems.is_empty(), "{problems}");
}

fn ask(paths: &[&PathBuf], places: bool) -> BTreeMap<PathBuf, String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle/dump.rb");
    let mut ruby = setpoint_testing::ruby()
        .arg(script)
        .env("PLACES", if places { "1" } else { "0" })
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let list = paths.iter().fold(String::new(), |mut list, path| {
        let _ = writeln!(list, "{}", path.display());
        list
    });
    let mut stdin = ruby.stdin.take().unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(list.as_bytes()));
    let output = ruby.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    let mut answers = BTreeMap::new();
    let mut current = None;
    for line in String::from_utf8(output.stdout).unwrap().split_inclusive('\n') {
        if let Some(path) = line.strip_prefix("### ") {
            let path = PathBuf::from(path.trim_end());
            answers.insert(path.clone(), String::new());
            current = Some(path);
        } else if let Some(answer) = current.as_ref().and_then(|path| answers.get_mut(path)) {
            answer.push_str(line);
        }
    }
    answers
}

/// The format of `oracle/dump.rb`.
fn ours(path: &Path, places: bool) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    let sources = Sources::new();
    let file = sources.add(path.display().to_string(), text.clone());
    let is_template = path.extension().is_some_and(|extension| extension == "epp");
    let parsed = if is_template { parse_epp(file, &text) } else { parse(file, &text) };
    let mut out = String::new();
    if parsed.diagnostics.iter().all(|diagnostic| diagnostic.severity != Severity::Error) {
        out = if places { dump_with_places(&parsed.program, &text) } else { dump(&parsed.program) };
    }
    for diagnostic in &parsed.diagnostics {
        if diagnostic.rule.name() == "unknown-escape" {
            continue;
        }
        let position = sources.position(diagnostic.span.unwrap());
        let severity = diagnostic.severity.as_str();
        let _ = writeln!(out, "{severity} {}:{} {}", position.line, position.column, diagnostic.message);
    }
    out
}

fn has_error(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("error "))
}

/// Puppet stops at the first syntax error, so ours may have more. Of several errors at one place the order is free, and
/// we do not repeat that what contains a mistake has no effect.
fn agree(expected: &str, found: &str) -> bool {
    if !has_error(expected) || !has_error(found) {
        return expected == found;
    }
    let lines = |text: &str| {
        let mut lines: Vec<String> = text
            .lines()
            .filter(|line| {
                !line.contains("This Block Expression has no effect") && !line.contains("Reserved Word")
            })
            .map(str::to_owned)
            .collect();
        lines.sort();
        lines
    };
    let (expected_lines, found_lines) = (lines(expected), lines(found));
    expected_lines == found_lines || expected_lines.len() == 1 && found.starts_with(expected.trim_end())
}

fn collect(folder: &Path, extensions: &[&str], out: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect(&path, extensions, out);
        } else if path
            .extension()
            .and_then(|extension| extension.to_str())
            .is_some_and(|one| extensions.contains(&one))
        {
            out.push(path);
        }
    }
}
