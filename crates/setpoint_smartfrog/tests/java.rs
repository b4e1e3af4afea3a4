//! The specifications that SmartFrog ships, unmodified, against the answers of its Java compiler. The differences that are
//! accepted are the rows of `docs/smartfrog-differences.md` that say `java`.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use setpoint_smartfrog::{Options, Semantics, compile, output, syntax};
use setpoint_source::{OsFileSystem, Sources};

fn files_below(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            files_below(&path, found);
        } else {
            found.push(path);
        }
    }
}

/// Strings, brackets and words; white space does not count.
fn tokens(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => string_length(rest),
            '[' if rest.starts_with("[|") => 2,
            '|' if rest.starts_with("|]") => 2,
            '[' | ']' | '{' | '}' | ';' | ',' | '(' | ')' | '|' => 1,
            _ => rest.find(|c: char| c.is_whitespace() || "\"[]{};,()|".contains(c)).unwrap_or(rest.len()),
        };
        let (token, after) = rest.split_at(length.max(1));
        found.push(token.to_owned());
        rest = after.trim_start();
    }
    found
}

fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Made-up names are numbered in the order in which they appear; tags are a set.
fn normal(text: &str) -> Vec<String> {
    let tokens = tokens(text);
    let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let tags = tokens[at + 1..].iter().take_while(|token| is_word(token)).count();
        if token == "[" && tokens.get(at + 1 + tags).is_some_and(|token| token == "]") {
            let mut sorted = tokens[at + 1..=at + tags].to_vec();
            sorted.sort();
            out.push(format!("[{}]", sorted.join(" ")));
            at += tags + 2;
            continue;
        }
        out.push(if token.starts_with('"') { token.clone() } else { renumbered(token, &mut numbers) });
        at += 1;
    }
    out
}

fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}

fn renumbered(token: &str, numbers: &mut BTreeMap<String, usize>) -> String {
    let parts: Vec<String> = token
        .split(':')
        .map(|part| {
            for kind in ["unique", "VAR"] {
                let digits = part.strip_prefix(kind).unwrap_or("");
                if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
                    let next = numbers.keys().filter(|name| name.starts_with(kind)).count() + 1;
                    let number = *numbers.entry(part.to_owned()).or_insert(next);
                    return format!("{kind}{number}");
                }
            }
            part.to_owned()
        })
        .collect();
    parts.join(":")
}

fn accepted() -> BTreeSet<String> {
    let text = std::fs::read_to_string(setpoint_testing::repository().join("docs/smartfrog-differences.md"))
        .unwrap();
    let rows = text.lines().filter(|line| line.contains(".sf | java |"));
    rows.map(|line| line.split('|').nth(1).unwrap().trim().to_owned()).collect()
}

#[test]
fn shipped_specifications() {
    let Some(shared) = setpoint_testing::shared() else {
        setpoint_testing::skip("smartfrog-java", "there is no corpus beside the repository");
        return;
    };
    let root = shared.join("corpus/smartfrog-java/root");
    let mut files = Vec::new();
    files_below(&root, &mut files);
    let options =
        Options { semantics: Semantics::Production, classpath: vec![root.clone()], ..Options::default() };
    let mut accepted = accepted();
    let mut problems = Vec::new();
    let mut equal = 0;
    for path in files.iter().filter(|path| path.extension().is_some_and(|ending| ending == "sf")) {
        let text = syntax::read_specification(&OsFileSystem, path).unwrap();
        let name = path.strip_prefix(&root).unwrap().display().to_string();
        if let Some(layout) = syntax::format(&text, syntax::Dialect::Production) {
            assert_eq!(
                syntax::format(&layout, syntax::Dialect::Production).as_ref(),
                Some(&layout),
                "{name}: the layout changes again"
            );
        } else {
            problems.push(format!("{name}: it has no layout"));
        }
        let Ok(expected) = std::fs::read_to_string(format!("{}.expected", path.display())) else { continue };
        let sources = Sources::new();
        let compiled = compile(path, &OsFileSystem, &sources, &options);
        let Some(store) = &compiled.store else {
            if !accepted.remove(&name) {
                problems.push(format!("{name}: {}", compiled.diagnostics[0].message));
            }
            continue;
        };
        let (ours, theirs) = (normal(&output::sf(store)), normal(expected.strip_prefix("OK").unwrap()));
        if ours == theirs {
            equal += 1;
            continue;
        }
        if accepted.remove(&name) {
            continue;
        }
        let at = ours.iter().zip(&theirs).take_while(|(ours, theirs)| ours == theirs).count();
        let around = |tokens: &[String]| {
            tokens[at.saturating_sub(4).min(tokens.len())..(at + 6).min(tokens.len())].join(" ")
        };
        problems.push(format!("{name}:\n  Java {}\n  here {}", around(&theirs), around(&ours)));
    }
    problems.extend(accepted.iter().map(|name| format!("{name}: listed, and there is no difference")));
    assert!(problems.is_empty(), "{equal} are equal, {} are not\n{}", problems.len(), problems.join("\n"));
}
