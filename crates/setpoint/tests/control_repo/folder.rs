//! A folder of files for one test, and the program run in it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value;

static NEXT: AtomicU32 = AtomicU32::new(0);

/// It is removed when this is dropped.
pub(crate) struct Folder {
    pub(crate) path: PathBuf,
}

/// What one call of the program gave.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) status: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Folder {
    /// Files by path; each text loses the indentation of its first line.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("setpoint-control-{}-{number}", std::process::id()));
        let folder = Self { path };
        std::fs::create_dir_all(&folder.path).unwrap();
        for (name, text) in files {
            folder.add(name, text);
        }
        folder
    }

    pub(crate) fn add(&self, name: &str, text: &str) {
        let path = self.path.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, dedent(text)).unwrap();
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        let output = Command::new(env!("CARGO_BIN_EXE_setpoint"))
            .args(arguments)
            .current_dir(&self.path)
            .env("NO_COLOR", "1")
            .output()
            .unwrap();
        Run {
            status: output.status.code().unwrap_or(-1),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// The catalog that `compile` prints.
    pub(crate) fn catalog(&self, arguments: &[&str]) -> Value {
        let all: Vec<&str> = ["compile"].iter().chain(arguments).copied().collect();
        let run = self.run(&all);
        assert_eq!(run.status, 0, "{all:?}\n{}", run.err);
        serde_json::from_str(&run.out).unwrap()
    }

    /// The report that `check` prints as JSON, and its status.
    pub(crate) fn report(&self, arguments: &[&str]) -> (Value, i32) {
        let all: Vec<&str> = ["check", "--format", "json"].iter().chain(arguments).copied().collect();
        let run = self.run(&all);
        let report =
            serde_json::from_str(&run.out).unwrap_or_else(|_| panic!("{all:?}\n{}{}", run.out, run.err));
        (report, run.status)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(Path::new(&self.path));
    }
}

fn dedent(text: &str) -> String {
    let text = text.strip_prefix('\n').unwrap_or(text);
    let indent = text.len() - text.trim_start_matches(' ').len();
    let lines = text.lines().map(|line| line.get(indent..).unwrap_or_else(|| line.trim_start()));
    let mut out: Vec<&str> = lines.collect();
    if out.last().is_some_and(|last| last.trim().is_empty()) {
        out.pop();
    }
    out.join("\n") + "\n"
}

/// The titles of the resources of a type.
pub(crate) fn titles(catalog: &Value, type_name: &str) -> Vec<String> {
    let resources = catalog["resources"].as_array().unwrap().iter();
    let of_type = resources.filter(|resource| resource["type"] == type_name);
    of_type.map(|resource| resource["title"].as_str().unwrap().to_owned()).collect()
}

/// `path|node|catalog` of every input.
pub(crate) fn inputs(report: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let inputs = report["inputs"].as_array().unwrap().iter();
    inputs
        .map(|one| {
            format!("{}|{}|{}", text(&one["path"]), text(&one["node"]), text(&one["verdict"]["catalog"]))
        })
        .collect()
}

/// Every finding as `severity rule: message`.
pub(crate) fn findings(report: &Value) -> Vec<String> {
    let inputs = report["inputs"].as_array().unwrap().iter();
    let findings = inputs.flat_map(|input| input["findings"].as_array().unwrap());
    findings
        .map(|one| {
            let text = |name: &str| one[name].as_str().unwrap_or("-").to_owned();
            format!("{} {}: {}", text("severity"), text("rule"), text("message"))
        })
        .collect()
}
