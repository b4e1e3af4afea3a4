//! Nothing that was not read is proved: every file that an input is made of is, in turn, unreadable, empty, cut in half,
//! invalid, a folder, a pipe and a link that leads nowhere, every folder of it is closed, and no verdict may stay proved. A case in `faults` holds a sound input, what is proved about it, and the damages
//! that leave a sound input, with the reason.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use libtest_mimic::{Failed, Trial};
use serde_json::Value;
use setpoint_testing::{Answers, Case, Section, repository, run_tests};

/// A user without rights, so that a file without permissions cannot be read by tests that run as root.
const NOBODY: u32 = 65534;

/// What is done to a file.
const FAULTS: [&str; 7] = ["unreadable", "empty", "half", "invalid", "folder", "nowhere", "pipe"];

fn main() -> ExitCode {
    let mut trials = setpoint_testing::trials(&repository().join("crates/setpoint/tests/faults"), answer);
    trials.extend(
        limits()
            .into_iter()
            .map(|limit| Trial::test(format!("limits/{}", limit.name), move || limit.check())),
    );
    run_tests(trials)
}

/// An input that reaches a limit.
struct Limit {
    name: &'static str,
    case: Case,
}

impl Limit {
    fn check(&self) -> Result<(), Failed> {
        let folder = Folder::new();
        folder.write(&self.case);
        match check(&self.case, &folder.path).problem() {
            Some(problem) => Err(Failed::from(problem)),
            None => Ok(()),
        }
    }
}

/// One input for each limit that an input can reach.
fn limits() -> Vec<Limit> {
    let limit = |name, file: &str, text: String, arguments: &str| Limit {
        name,
        case: Case {
            prose: format!("check: {file} {arguments}\n"),
            inputs: vec![Section { name: file.to_owned(), text }],
            answers: Vec::new(),
        },
    };
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let template = |inside: &str| {
        format!("{{\"AWSTemplateFormatVersion\": \"2010-09-09\", \"Resources\": {{{inside}}}}}")
    };
    let topic = "\"T\": {\"Type\": \"AWS::SNS::Topic\"";
    let names: Vec<String> = (0..100_001).map(|at| format!("\"N{at}\"")).collect();
    let file = "file { '/etc/a': ensure => file, content => 'x' }\n";
    vec![
        limit(
            "template nested",
            "t.json",
            template(&format!("{topic}, \"Metadata\": {}}}", nested(600))),
            "",
        ),
        limit(
            "template loop",
            "t.json",
            template(&format!(
                "\"Fn::ForEach::X\": [\"N\", [{}], {{\"T${{N}}\": {{\"Type\": \"AWS::SNS::Topic\"}}}}]",
                names.join(",")
            )),
            "",
        ),
        limit(
            "template size",
            "t.json",
            format!("{}{}", template(&format!("{topic}}}")), " ".repeat(65 << 20)),
            "",
        ),
        limit(
            "topology nested",
            "t.yaml",
            format!(
                "tosca_definitions_version: tosca_simple_yaml_1_3\ntopology_template: {{node_templates: {{a: {{type: \
                 tosca.nodes.Compute, metadata: {}}}}}}}\n",
                nested(600)
            ),
            "--kind tosca",
        ),
        limit("manifest nested", "site.pp", format!("{file}$x = {}\n", nested(5000)), "--platform debian-12"),
        limit("manifest size", "site.pp", format!("{file}{}", " ".repeat(65 << 20)), "--platform debian-12"),
        limit(
            "endless recursion",
            "site.pp",
            format!("{file}function f() {{ f() }}\nf()\n"),
            "--platform debian-12",
        ),
        limit("specification nested", "s.sf", format!("a {};\nsfConfig extends {{ }}\n", nested(5000)), ""),
        limit(
            "rule set with too many states",
            "m.spm",
            format!(
                "model m \"M\"\nclass r {{\n  states a, b\n}}\nrule R1 \"go\" (x: r) {{\n  when x is a\n  then x becomes \
                 b\n}}\nrule R2 \"back\" (x: r, y: r) {{\n  when x is b and y is a\n  then x becomes a\n}}\ninit {{\n  some \
                 x: r\n}}\nfinal {{\n  all x: r {{ x is b }}\n}}\ninstance i {{\n  {}: r\n}}\n",
                (0..40).map(|at| format!("o{at}")).collect::<Vec<_>>().join(", ")
            ),
            "",
        ),
    ]
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
    let parents = case.inputs.iter().filter_map(|section| Path::new(&section.name).parent());
    let folders: BTreeSet<&Path> = parents.filter(|parent| !parent.as_os_str().is_empty()).collect();
    for closed in folders {
        let folder = Folder::new();
        folder.write(case);
        folder.close(closed);
        let found = check(case, &folder.path);
        folder.reopen(closed);
        if let Some(problem) = found.problem() {
            damaged.push_str(&format!("{} closed: {problem}\n", closed.display()));
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
    if drops_rights() {
        command.uid(NOBODY);
    }
    let output = command.output().unwrap();
    Checked {
        status: output.status.code(),
        report: serde_json::from_slice(&output.stdout).ok(),
        errors: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Whether the program is run without rights: tests that run as root can read every file. Where that user cannot reach the
/// program or the folder of the test, a loop of links stands for a file that cannot be read.
fn drops_rights() -> bool {
    static DROPS: OnceLock<bool> = OnceLock::new();
    *DROPS.get_or_init(|| {
        let folder = Folder::new();
        let mut command = Command::new(env!("CARGO_BIN_EXE_setpoint"));
        command.current_dir(&folder.path).arg("--version").uid(NOBODY);
        is_root() && command.output().is_ok_and(|output| output.status.success())
    })
}

fn is_root() -> bool {
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
            let _ = fs::remove_file(&path);
            let _ = fs::remove_dir(&path);
            fs::write(&path, &section.text).unwrap();
        }
    }

    /// Makes a folder one that nobody can look into.
    fn close(&self, name: &Path) {
        let path = self.path.join(name);
        if is_root() && !drops_rights() {
            fs::remove_dir_all(&path).unwrap();
            std::os::unix::fs::symlink(&path, &path).unwrap();
        } else {
            fs::set_permissions(&path, Permissions::from_mode(0o000)).unwrap();
        }
    }

    /// So that it can be removed.
    fn reopen(&self, name: &Path) {
        let _ = fs::set_permissions(self.path.join(name), Permissions::from_mode(0o755));
    }

    fn damage(&self, name: &str, fault: &str) {
        let path = self.path.join(name);
        let text = fs::read(&path).unwrap();
        match fault {
            "unreadable" if is_root() && !drops_rights() => {
                fs::remove_file(&path).unwrap();
                std::os::unix::fs::symlink(&path, &path).unwrap();
            }
            "unreadable" => fs::set_permissions(&path, Permissions::from_mode(0o000)).unwrap(),
            "folder" | "nowhere" | "pipe" => {
                fs::remove_file(&path).unwrap();
                match fault {
                    "folder" => fs::create_dir(&path).unwrap(),
                    "pipe" => assert!(Command::new("mkfifo").arg(&path).status().unwrap().success()),
                    _ => std::os::unix::fs::symlink("nowhere", &path).unwrap(),
                }
            }
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
