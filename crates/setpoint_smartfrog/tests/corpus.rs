//! Every specification of the corpus, in each semantics, against the answer of its reference compiler. The
//! differences that are accepted are the rows of `docs/smartfrog-differences.md`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use setpoint_smartfrog::{Options, Semantics, compile, output};
use setpoint_source::{OsFileSystem, Sources};

fn corpus(suite: &str) -> Option<PathBuf> {
    let shared = setpoint_testing::shared();
    if shared.is_none() {
        setpoint_testing::skip(suite, "there is no corpus beside the repository");
    }
    shared.map(|shared| shared.join("corpus/smartfrog"))
}

fn specifications(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            specifications(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "sf") {
            found.push(path);
        }
    }
}

/// `OK …` or `ERR kind`, in the manner of the corpus.
fn answer(
    path: &Path,
    semantics: Semantics,
    print: fn(&setpoint_smartfrog::store::Store) -> String,
) -> String {
    let options = Options {
        semantics,
        environment: [("SF_H3_TEST", "hello"), ("SF_H3_INT", "5")].map(|(k, v)| (k.into(), v.into())).into(),
        ..Options::default()
    };
    let sources = Sources::new();
    let compiled = compile(path, &OsFileSystem, &sources, &options);
    if let Some(store) = &compiled.store {
        return format!("OK {}", print(store));
    }
    let first = compiled.diagnostics.first().expect("a failure has a reason");
    let number = first.message.split(':').next().filter(|number| number.starts_with("err"));
    let kind = number.unwrap_or(match first.rule.name() {
        "syntax-error" | "smartfrog-include" => "parse",
        "smartfrog-limit" => "limit",
        _ => "other",
    });
    assert!(
        first.span.is_some() && !sources.place(first.span.unwrap()).starts_with(':'),
        "{}: the error has no place",
        path.display()
    );
    format!("ERR {kind}")
}

/// Rows of the table: specification and semantics, to the reference's answer and ours.
fn accepted() -> BTreeMap<(String, String), (String, String)> {
    let text = std::fs::read_to_string(setpoint_testing::repository().join("docs/smartfrog-differences.md"))
        .unwrap();
    text.lines()
        .filter(|line| line.contains(".sf |"))
        .map(|line| {
            let line = line.replace("\\|", "\u{0}");
            let cells: Vec<String> = line.split('|').map(|cell| cell.trim().replace('\u{0}', "|")).collect();
            let [_, file, semantics, theirs, ours, why, _] = &cells[..] else { panic!("{line}") };
            assert!(!why.is_empty(), "{file}: a difference needs an argument");
            ((file.clone(), semantics.clone()), (theirs.clone(), ours.clone()))
        })
        .collect()
}

/// What the reference said, with its numbers turned into those of the paper.
fn reference(answer: &str, semantics: &str) -> String {
    let answer = answer.trim_end();
    if answer.starts_with("ERR other") {
        return "ERR other".to_owned();
    }
    if semantics == "forward" {
        return match answer {
            "ERR err6" => "ERR err4".to_owned(),
            "ERR err10" => "ERR err7".to_owned(),
            "ERR err110" => "ERR err5".to_owned(),
            "OK {\"a\":0,\"b\":-5,\"c\":12345678901,\"d\":1.5,\"e\":1000.}" => {
                answer.replace("1000.", "1000.0")
            }
            other => other.replace('\n', "\\n"),
        };
    }
    answer.to_owned()
}

/// What the production compiler said: its answer on one line, or the phase that failed.
fn production(answer: &str, _: &str) -> String {
    let text = match answer.split_once("sfAsComponentDescription **") {
        // The raw output of the compiler, with its banner and its stack traces.
        Some((_, rest)) => {
            format!("OK {}", rest.split("SFParse: SUCC").next().unwrap_or("").trim_start_matches('*'))
        }
        None if answer.contains("Parser - SmartFrog") => {
            let phase = answer.rsplit("during phase ").next().filter(|_| answer.contains("during phase "));
            let word = phase.and_then(|phase| phase.split(' ').next()).unwrap_or("TIMEOUT");
            if word == "TIMEOUT" { word.to_owned() } else { format!("ERR {word}-resolution") }
        }
        None => answer.to_owned(),
    };
    one_line(&text)
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn sf_on_one_line(store: &setpoint_smartfrog::store::Store) -> String {
    one_line(&output::sf(store))
}

/// The same answer; or errors of the same kind, where the production compiler names phases and not numbers.
fn agree(theirs: &str, ours: &str) -> bool {
    let ours = ours.trim_end();
    theirs == ours
        || matches!(
            (theirs, ours),
            ("ERR type-resolution", "ERR err4" | "ERR other")
                | ("ERR place-resolution", "ERR err1" | "ERR err2")
                | ("ERR link-resolution", "ERR err5")
                | ("ERR no sfConfig", "ERR err7")
        )
        || theirs == "ERR other" && ours.starts_with("ERR")
}

fn compare(
    semantics: Semantics,
    extension: &str,
    print: fn(&setpoint_smartfrog::store::Store) -> String,
    reference: fn(&str, &str) -> String,
    least: usize,
) {
    let name = semantics.name();
    let Some(folder) = corpus(&format!("smartfrog-{name}")) else { return };
    let mut files = Vec::new();
    specifications(&folder, &mut files);
    let mut accepted: BTreeMap<_, _> = accepted()
        .into_iter()
        .filter(|((file, semantics), _)| {
            semantics == name && folder.join(format!("{file}.{extension}")).is_file()
        })
        .collect();
    let mut problems = Vec::new();
    let mut compared = 0;
    for path in files {
        let expected = PathBuf::from(format!("{}.{extension}", path.display()));
        let Ok(expected) = std::fs::read_to_string(&expected) else { continue };
        compared += 1;
        let file = path.strip_prefix(&folder).unwrap().display().to_string();
        let ours = answer(&path, semantics, print);
        let theirs = reference(&expected, name);
        match accepted.remove(&(file.clone(), name.to_owned())) {
            Some((_, listed)) if listed == ours && !agree(&theirs, &ours) => {}
            Some(_) if agree(&theirs, &ours) => {
                problems.push(format!("{file}: listed, and there is no difference"));
            }
            Some((_, listed)) => problems.push(format!("{file}:\n  listed {listed}\n  ours   {ours}")),
            None if agree(&theirs, &ours) => {}
            None => problems.push(format!("{file}:\n  theirs {theirs}\n  ours   {ours}")),
        }
    }
    problems.extend(accepted.keys().map(|(file, _)| format!("{file}: listed, and not in the corpus")));
    assert!(problems.is_empty(), "{} differences\n{}", problems.len(), problems.join("\n"));
    assert!(compared >= least, "only {compared} specifications were compared");
}

#[test]
fn core() {
    compare(Semantics::Core, "expected", output::json, reference, 241);
}

#[test]
fn forward() {
    compare(Semantics::Forward, "forward", output::json, reference, 191);
}

#[test]
fn production_compiler() {
    compare(Semantics::Production, "production", sf_on_one_line, production, 97);
}

#[test]
fn production_features() {
    compare(Semantics::Production, "production-raw", sf_on_one_line, production, 27);
}
