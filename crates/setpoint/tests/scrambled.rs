//! Words are for people: a build that scrambles every sentence gives the same verdicts, statuses, groups and stories, in all
//! formats. Whoever reads a message back to decide something is found out here.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

use libtest_mimic::{Failed, Trial};
use serde_json::Value;
use setpoint_testing::{Case, cases, repository, run_tests};

/// Keys whose values are sentences.
const SENTENCES: [&str; 8] =
    ["message", "notes", "help", "title", "text", "markdown", "description", "label"];

fn main() -> ExitCode {
    let tests = repository().join("crates/setpoint/tests");
    let mut trials = Vec::new();
    for folder in ["faults", "commands/settle", "commands/report", "commands/environments"] {
        for path in cases(&tests.join(folder)) {
            let name = path.strip_prefix(&tests).unwrap_or(&path).with_extension("").display().to_string();
            trials.push(Trial::test(name, move || compare(&path)));
        }
    }
    for input in ["control-repo", "web.pp", "network.yaml", "shop.tosca.yaml", "servers.sf"] {
        let path = repository().join("examples").join(input);
        trials.push(Trial::test(format!("examples/{input}"), move || {
            let arguments = [path.display().to_string()];
            same_in_all_formats(&arguments, path.parent().unwrap())
        }));
    }
    run_tests(trials)
}

/// Compares what is said about the input of a case: by each `setpoint check` among its answers, else about its first file.
fn compare(path: &Path) -> Result<(), Failed> {
    let case = Case::parse(&fs::read_to_string(path)?);
    let folder = std::env::temp_dir().join(format!(
        "setpoint-scrambled-{}-{}",
        std::process::id(),
        path.display().to_string().replace('/', "-")
    ));
    for section in &case.inputs {
        let file = folder.join(&section.name);
        fs::create_dir_all(file.parent().unwrap())?;
        fs::write(&file, &section.text)?;
    }
    let mut calls: Vec<Vec<String>> = Vec::new();
    let words = |text: &str| -> Vec<String> { text.split_whitespace().map(str::to_owned).collect() };
    for answer in &case.answers {
        if let Some(arguments) = answer.name.strip_prefix("setpoint check ")
            && !arguments.contains("--format")
            && !arguments.contains(['\'', '"'])
        {
            calls.push(words(arguments));
        }
    }
    if calls.is_empty() {
        match case.option("check") {
            Some(arguments) => calls.push(words(arguments)),
            None => calls.extend(case.inputs.first().map(|section| vec![section.name.clone()])),
        }
    }
    let done = calls.iter().try_for_each(|call| same_in_all_formats(call, &folder));
    let _ = fs::remove_dir_all(&folder);
    done
}

fn same_in_all_formats(arguments: &[String], folder: &Path) -> Result<(), Failed> {
    for (format, shape) in [
        ("json", without_sentences as fn(&str) -> String),
        ("sarif", without_sentences),
        ("github", annotations),
        ("text", verdict_lines),
    ] {
        let call = [&["check".to_owned(), "--format".to_owned(), format.to_owned()], arguments].concat();
        same(&call, folder, shape)?;
    }
    let call = [&["report".to_owned()], arguments].concat();
    same(&call, folder, tags)
}

fn same(arguments: &[String], folder: &Path, shape: fn(&str) -> String) -> Result<(), Failed> {
    let (plain_status, plain) = run(arguments, folder, false);
    let (status, scrambled) = run(arguments, folder, true);
    if plain_status != status {
        return Err(Failed::from(format!("{arguments:?}: status {plain_status:?}, scrambled {status:?}")));
    }
    let (plain, scrambled) = (shape(&plain), shape(&scrambled));
    if plain != scrambled {
        let difference = setpoint_testing::diff(&plain, &scrambled);
        return Err(Failed::from(format!("{arguments:?} in {}\n{difference}", folder.display())));
    }
    Ok(())
}

fn run(arguments: &[String], folder: &Path, is_scrambled: bool) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_setpoint"));
    command.current_dir(folder).args(arguments);
    if is_scrambled {
        command.env("SETPOINT_SCRAMBLED_WORDS", "1");
    }
    let output = command.output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
}

/// JSON without the values that are sentences.
fn without_sentences(text: &str) -> String {
    let Ok(mut value) = serde_json::from_str::<Value>(text) else { return String::new() };
    strip(&mut value);
    serde_json::to_string_pretty(&value).unwrap()
}

fn strip(value: &mut Value) {
    match value {
        Value::Object(entries) => {
            for (key, inner) in entries.iter_mut() {
                // A story is data; its steps have titles of their own.
                if key == "counterexample" {
                    continue;
                }
                match inner {
                    Value::String(text) if SENTENCES.contains(&key.as_str()) => "…".clone_into(text),
                    Value::Array(texts) if SENTENCES.contains(&key.as_str()) => {
                        texts.iter_mut().filter(|one| one.is_string()).for_each(|one| *one = "…".into());
                        texts.iter_mut().for_each(strip);
                    }
                    inner => strip(inner),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(strip),
        _ => {}
    }
}

/// The annotations without what they say: `::error file=…,line=…,title=…`.
fn annotations(text: &str) -> String {
    let properties = |line: &str| {
        let rest = line.strip_prefix("::").and_then(|rest| rest.split_once("::"));
        rest.map_or(line, |(before, _)| before).to_owned()
    };
    text.lines().map(properties).collect::<Vec<_>>().join("\n")
}

/// The lines with verdicts, coverage and counts.
fn verdict_lines(text: &str) -> String {
    let words =
        ["catalog ok", "catalog fails", "catalog unknown", "reaches final ", "looked at: ", "checked "];
    // Conditions and reasons, which are sentences, stand below the verdict.
    let is_sentence = |line: &str| line.starts_with("  ") && !line.starts_with("  looked at: ");
    let is_verdict = |line: &&str| {
        words.iter().any(|word| line.contains(word)) && !line.contains(" | ") && !is_sentence(line)
    };
    text.lines().filter(is_verdict).collect::<Vec<_>>().join("\n")
}

/// The tags of a page, without their text.
fn tags(text: &str) -> String {
    let mut out = String::new();
    for part in text.split('<').skip(1) {
        let tag = part.split_once('>').map_or(part, |(tag, _)| tag);
        // Emphasis is made of marks within sentences.
        if !["code", "/code"].contains(&tag) {
            out.push_str(tag);
            out.push('\n');
        }
    }
    out
}
