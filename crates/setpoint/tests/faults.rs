//! Nothing that was not read is proved: every file that an input is made of is, in turn, unreadable, empty, cut in half and
//! invalid, and no verdict may stay proved. A case in `faults` holds a sound input, what is proved about it, and the damages
//! that leave a sound input, with the reason.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;
use setpoint_testing::{Answers, Case, repository, run_folder};

/// A user without rights, so that a file without permissions cannot be read by tests that run as root.
const NOBODY: u32 = 65534;

/// What is done to a file.
const FAULTS: [&str; 4] = ["unreadable", "empty", "half", "invalid"];

fn main() -> ExitCode {
    run_folder(&repository().join("crates/setpoint/tests/faults"), answer)
}

/// What is proved about the input as it is, and what stays proved of it under each damage.
fn answer(case: &Case) -> Answers {
    let folder = Folder::new();
    folder.write(case);
    let sound = check(case, &folder.path);
    let mut damaged = String::new();
    for section in &case.inputs {
        for fault in FAULTS {
            folder.write(case);
            folder.damage(&section.name, fault);
            let found = check(case, &folder.path);
            if let Some(problem) = found.problem() {
                damaged.push_str(&format!("{} {fault}: {problem}\n", section.name));
            }
        }
    }
    vec![("proved".to_owned(), sound.proved().join("\n") + "\n"), ("stays".to_owned(), damaged)]
}

/// One call of `setpoint check`.
struct Checked {
    status: Option<i32>,
    report: Option<Value>,
    errors: String,
}

fn check(case: &Case, folder: &Path) -> Checked {
    let mut command = Command::new(env!("CARGO_BIN_EXE_setpoint"));
    command.current_dir(folder).arg("check").args(["--format", "json"]);
    match case.option("check") {
        Some(arguments) => command.args(arguments.split_whitespace()),
        None => command.args(case.inputs.first().map(|section| &section.name)),
    };
    if is_root() {
        command.uid(NOBODY);
    }
    let output = command.output().unwrap();
    Checked {
        status: output.status.code(),
        report: serde_json::from_slice(&output.stdout).ok(),
        errors: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

fn is_root() -> bool {
    // Without a library: whose process this is.
    std::os::unix::fs::MetadataExt::uid(&fs::metadata("/proc/self").unwrap()) == 0
}

impl Checked {
    fn inputs(&self) -> impl Iterator<Item = &Value> {
        self.report.iter().flat_map(|report| report["inputs"].as_array().into_iter().flatten())
    }

    /// The answers that are proofs: `site.pp order`, of all inputs.
    fn proved(&self) -> Vec<String> {
        let mut out = Vec::new();
        for input in self.inputs() {
            let node = input["node"].as_str().map_or(String::new(), |node| format!(" ({node})"));
            for (question, word) in input["verdict"].as_object().into_iter().flatten() {
                if ["ok", "independent", "yes"].contains(&word.as_str().unwrap_or_default()) {
                    out.push(format!("{}{node} {question}", input["path"].as_str().unwrap_or_default()));
                }
            }
        }
        out
    }

    /// What is wrong with the answer to a damaged input: something stays proved, or nothing says what is damaged and where.
    fn problem(&self) -> Option<String> {
        assert!(matches!(self.status, Some(0..=2)), "setpoint ended with {:?}: {}", self.status, self.errors);
        // A wrong call has no verdict, and says why.
        if self.status == Some(2) {
            return self.errors.is_empty().then(|| "status 2 without a word".to_owned());
        }
        let proved = self.proved();
        if !proved.is_empty() {
            return Some(format!("proved: {}", proved.join(", ")));
        }
        // Languages without verdicts must say so by a finding.
        let findings = || self.inputs().flat_map(|input| input["findings"].as_array().into_iter().flatten());
        let has_place = |one: &Value| !one["location"].is_null();
        let reasons = || {
            let lists = self.inputs().flat_map(|input| [&input["reasons"], &input["assuming"]]);
            lists.flat_map(|list| list.as_array().into_iter().flatten())
        };
        let is_told =
            findings().any(|one| has_place(one) && one["severity"] != "note") || reasons().any(has_place);
        (!is_told).then(|| "nothing says what is damaged and where".to_owned())
    }
}

/// The files of a case.
struct Folder {
    path: PathBuf,
}

impl Folder {
    fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("setpoint-faults-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self { path }
    }

    fn write(&self, case: &Case) {
        for section in &case.inputs {
            let path = self.path.join(&section.name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let _ = fs::set_permissions(&path, Permissions::from_mode(0o644));
            fs::write(&path, &section.text).unwrap();
        }
    }

    fn damage(&self, name: &str, fault: &str) {
        let path = self.path.join(name);
        let text = fs::read(&path).unwrap();
        match fault {
            "unreadable" => fs::set_permissions(&path, Permissions::from_mode(0o000)).unwrap(),
            "empty" => fs::write(&path, "").unwrap(),
            "half" => fs::write(&path, &text[..text.len() / 2]).unwrap(),
            _ => fs::write(&path, [&text[..], b"\n]}>'\"\xff%> { [ ("].concat()).unwrap(),
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}
