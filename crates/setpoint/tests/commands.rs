//! The program as its users call it. The name of an answer is a command line, at its end perhaps ` < FILE`; its text is what the
//! program prints: standard output, then standard error after `--- stderr`, then `--- exit N` if the status is not 0. Of a page in HTML, which must be
//! well formed, its text is what a reader sees. What `check` finds is printed as SARIF as well, which must fit its schema.
//!
//! Inputs are files of a folder of their own. With `NAME @COMMIT` an input is the file at a commit of a git repository there:
//! commits are made in the order in which they are named, each is known by its name, and the inputs without one lie in the
//! working tree. `NAME @COMMIT by AUTHOR` is a commit of somebody else.

#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use setpoint_testing::{Answers, Case, html, run_folder, sarif};

fn main() -> ExitCode {
    run_folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/commands"), answers)
}

static FOLDERS: AtomicU32 = AtomicU32::new(0);

/// A folder that is removed when the case is done.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn answers(case: &Case) -> Answers {
    let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
    let folder =
        Folder(std::env::temp_dir().join(format!("setpoint-commands-{}-{number}", std::process::id())));
    std::fs::create_dir_all(&folder.0).expect("a temporary folder");
    lay_out(case, &folder.0);
    case.answers.iter().map(|answer| (answer.name.clone(), run(&answer.name, &folder.0))).collect()
}

fn lay_out(case: &Case, folder: &Path) {
    let mut commits: Vec<&str> = Vec::new();
    for input in &case.inputs {
        if let Some((_, commit)) = input.name.split_once(" @")
            && !commits.contains(&commit)
        {
            commits.push(commit);
        }
    }
    if !commits.is_empty() {
        git(folder, &["init", "--quiet"]);
    }
    for commit in commits {
        for input in &case.inputs {
            if let Some((path, of)) = input.name.split_once(" @")
                && of == commit
            {
                write(folder, path, &input.text);
            }
        }
        git(folder, &["add", "--all"]);
        let (name, author) = commit.split_once(" by ").unwrap_or((commit, "Ada"));
        let author = format!("{author} <{}@example.com>", author.to_lowercase());
        git(folder, &["commit", "--quiet", "--author", &author, "--message", name]);
        git(folder, &["tag", name]);
    }
    for input in case.inputs.iter().filter(|input| !input.name.contains(" @")) {
        write(folder, &input.name, &input.text);
    }
}

fn write(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    std::fs::create_dir_all(path.parent().expect("a file has a folder")).expect("a folder");
    std::fs::write(path, text).expect("a file of the case");
}

/// Git with an author and a date that are the same everywhere.
fn git(folder: &Path, arguments: &[&str]) {
    let done = Command::new("git")
        .current_dir(folder)
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .envs([("GIT_AUTHOR_NAME", "Ada"), ("GIT_AUTHOR_EMAIL", "ada@example.com")])
        .envs([("GIT_COMMITTER_NAME", "Ada"), ("GIT_COMMITTER_EMAIL", "ada@example.com")])
        .envs([("GIT_AUTHOR_DATE", "2024-01-02T03:04:05Z"), ("GIT_COMMITTER_DATE", "2024-01-02T03:04:05Z")])
        .output()
        .expect("git");
    assert!(done.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
}

fn call(line: &str, folder: &Path, more: &[&str]) -> Output {
    let (line, input) = match line.split_once(" < ") {
        Some((line, file)) => (line, Stdio::from(std::fs::File::open(folder.join(file)).expect("an input"))),
        None => (line, Stdio::null()),
    };
    let mut words = words(line).into_iter();
    assert_eq!(words.next().as_deref(), Some("setpoint"), "the name of an answer is a command line: {line}");
    Command::new(env!("CARGO_BIN_EXE_setpoint"))
        .args(words)
        .args(more)
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .stdin(input)
        .output()
        .expect("the program runs")
}

/// Asserts that the findings of a check make a proper SARIF log.
fn check_sarif(line: &str, folder: &Path) {
    let done = call(line, folder, &["--format", "sarif"]);
    // Without a report there is nothing but a message, on standard error.
    if !done.stdout.is_empty() {
        let log = serde_json::from_slice(&done.stdout).expect("SARIF is JSON");
        let problems = sarif::problems(&log);
        assert!(problems.is_empty(), "{line} --format sarif: {problems:#?}");
    }
}

fn run(line: &str, folder: &Path) -> String {
    if line.starts_with("setpoint check ") && !line.contains("--format") {
        check_sarif(line, folder);
    }
    let done = call(line, folder, &[]);
    let mut out = String::from_utf8_lossy(&done.stdout).into_owned();
    if out.starts_with("<!DOCTYPE html>") {
        let problems = html::problems(&out);
        assert!(problems.is_empty(), "{line}: {problems:?}");
        out = html::text(&out);
    }
    let errors = String::from_utf8_lossy(&done.stderr);
    if !errors.is_empty() {
        out.push_str("--- stderr\n");
        out.push_str(&errors);
    }
    match done.status.code() {
        Some(0) => {}
        Some(code) => out.push_str(&format!("--- exit {code}\n")),
        None => out.push_str("--- killed\n"),
    }
    out
}

/// The words of a command line; single quotes keep blanks.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let (mut quoted, mut begun) = (false, false);
    for letter in line.chars() {
        match letter {
            '\'' => {
                quoted = !quoted;
                begun = true;
            }
            ' ' if !quoted => {
                if begun {
                    words.push(std::mem::take(&mut word));
                }
                begun = false;
            }
            other => {
                word.push(other);
                begun = true;
            }
        }
    }
    if begun {
        words.push(word);
    }
    words
}
