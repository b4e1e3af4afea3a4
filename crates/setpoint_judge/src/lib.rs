//! Puppet itself as the judge of the models: it applies small catalogs, and what it does is the truth.
//!
//! A [`Judge`] is one Ruby process with Puppet loaded. Each [`Trial`] gets a root of its own (a folder with the few tools that
//! providers call, entered with `chroot`), in which packages are built by dpkg-deb and installed by apt, users are made
//! by useradd, and stand-ins take the places of systemd, cron and mount. Puppet applies the catalog as often as asked, and the
//! [`Outcome`] has the state before and after each run and what became of each resource.
//!
//! The models are compared with it by the tests of `setpoint_resources`; it knows none of them. It needs the rights of the
//! superuser, and nothing else: nothing is mounted.
//!
//! For tests and tasks only.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What is at a path.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// `file`, `directory`, `link`; in a start also `absent`.
    pub kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
}

/// A node of the start.
#[derive(Clone, Debug, Serialize)]
pub struct Placed {
    pub path: String,
    #[serde(flatten)]
    pub node: Node,
}

/// A package that a trial can install.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Package {
    pub name: String,
    pub version: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depends: Option<String>,
    /// Where a package has this, apt installs what is recommended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recommends: Option<String>,
    pub files: BTreeMap<String, String>,
    pub conffiles: Vec<String>,
    pub directories: Vec<String>,
    /// `postinst` and the like, as lines of a shell.
    pub scripts: BTreeMap<String, String>,
    /// Whether it is installed at the start.
    pub installed: bool,
}

/// The folders of the root of a trial before anything is placed there.
pub const ROOT_FOLDERS: [&str; 27] = [
    "/",
    "/etc",
    "/etc/default",
    "/etc/init.d",
    "/etc/systemd",
    "/etc/systemd/system",
    "/home",
    "/opt",
    "/root",
    "/run",
    "/srv",
    "/tmp",
    "/usr",
    "/usr/bin",
    "/usr/lib",
    "/usr/local",
    "/usr/local/bin",
    "/usr/sbin",
    "/usr/share",
    "/var",
    "/var/lib",
    "/var/log",
    "/var/mail",
    "/var/spool",
    "/var/spool/cron",
    "/var/spool/cron/crontabs",
    "/var/tmp",
];
/// The users of that root.
pub const ROOT_USERS: [&str; 4] = ["root", "daemon", "_apt", "nobody"];
/// The groups of that root.
pub const ROOT_GROUPS: [&str; 6] = ["root", "daemon", "adm", "shadow", "staff", "nogroup"];

/// What Puppet is to do.
#[derive(Clone, Debug, Serialize)]
pub struct Trial {
    pub catalog: Value,
    /// Applied before the trial begins, once each: a part of the catalog, say, of a run that was interrupted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<Value>,
    pub start: Vec<Placed>,
    /// Placed after the packages of the start were installed.
    pub then: Vec<Placed>,
    pub packages: Vec<Package>,
    pub runs: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Installed {
    pub version: Option<String>,
    /// In dpkg's words: `install ok installed`.
    pub status: String,
}

/// The root of a trial at one moment, without what the tools keep for themselves.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct State {
    pub tree: BTreeMap<String, Node>,
    pub packages: BTreeMap<String, Installed>,
}

/// What became of a resource.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    pub failed: bool,
    pub skipped: bool,
    pub changed: bool,
    pub refreshed: bool,
    pub failed_to_restart: bool,
    /// The property, the status (`success`, `failure`, `noop`) and the name of each event.
    pub events: Vec<(String, String, String)>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Run {
    /// Why the catalog could not be applied at all.
    pub error: Option<String>,
    #[serde(default)]
    pub resources: BTreeMap<String, Status>,
    #[serde(default)]
    pub logs: Vec<String>,
    pub after: State,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Outcome {
    pub before: State,
    pub runs: Vec<Run>,
    /// Why an earlier catalog could not be applied at all.
    #[serde(default)]
    pub earlier_error: Option<String>,
    /// Whether a resource failed in the last earlier run.
    #[serde(default)]
    pub earlier_failed: bool,
}

/// Puppet, loaded when it is first asked. It ends when this is dropped.
#[derive(Debug, Default)]
pub struct Judge {
    process: Option<Process>,
}

#[derive(Debug)]
struct Process {
    child: Child,
    questions: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

/// The folder in which answers are kept, so that a trial that was judged before is not judged again.
const KEPT: &str = "SETPOINT_JUDGE_ANSWERS";

impl Judge {
    /// The Ruby program that applies.
    pub fn script() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("src/judge.rb")
    }

    /// Why there can be no judge on this machine.
    pub fn obstacle() -> Option<&'static str> {
        let works = |program: &str, arguments: &[&str]| {
            let output = Command::new(program).args(arguments).output();
            output.is_ok_and(|output| output.status.success())
        };
        if !works("ruby", &["-e", "require 'puppet'"]) {
            return Some("Ruby with Puppet is not installed");
        }
        if !works("dpkg-deb", &["--version"]) {
            return Some("dpkg-deb is not installed");
        }
        let root = Command::new("id").arg("-u").output();
        if !root.is_ok_and(|output| output.stdout.starts_with(b"0\n")) {
            return Some("only the superuser can give Puppet a root of its own");
        }
        None
    }

    pub fn apply(&mut self, trial: &Trial) -> Result<Outcome, String> {
        let question =
            serde_json::to_string(trial).map_err(|error| format!("the trial cannot be written: {error}"))?;
        let kept = std::env::var_os(KEPT).map(|folder| Path::new(&folder).join(name_of(&question)));
        let known = kept.as_ref().and_then(|path| std::fs::read_to_string(path).ok());
        let text = if let Some(text) = known { text } else { self.ask(&question)? };
        if let Some(path) = kept {
            // An answer that cannot be kept is asked for again.
            let _ = std::fs::write(path, &text);
        }
        let answer: Value = serde_json::from_str(&text)
            .map_err(|error| format!("Puppet ended without an answer: {error}"))?;
        if let Some(error) = answer.get("error").and_then(Value::as_str) {
            return Err(error.to_owned());
        }
        serde_json::from_value(answer).map_err(|error| format!("Puppet's answer cannot be read: {error}"))
    }

    /// Asks, and asks a new process if the first one ends without an answer: each trial has a root of its own, so nothing is
    /// left of the first.
    fn ask(&mut self, question: &str) -> Result<String, String> {
        match self.put(question) {
            Ok(answer) if !answer.trim().is_empty() => Ok(answer),
            _ => {
                self.process = None;
                self.put(question)
            }
        }
    }

    fn put(&mut self, question: &str) -> Result<String, String> {
        if self.process.is_none() {
            self.process = Some(Process::start()?);
        }
        let process = self.process.as_mut().ok_or("Puppet is not there")?;
        let questions = process.questions.as_mut().ok_or("ruby has no standard input")?;
        writeln!(questions, "{question}").map_err(|error| format!("Puppet does not listen: {error}"))?;
        let mut line = String::new();
        process.answers.read_line(&mut line).map_err(|error| format!("Puppet does not answer: {error}"))?;
        Ok(line)
    }
}

/// A name that only the trial and the judge decide.
fn name_of(question: &str) -> String {
    let mut hasher = std::hash::DefaultHasher::new();
    (question, include_str!("judge.rb")).hash(&mut hasher);
    format!("{:016x}.json", hasher.finish())
}

impl Process {
    fn start() -> Result<Self, String> {
        let mut child = Command::new("ruby")
            .arg("-W0")
            .arg(Judge::script())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("ruby cannot be started: {error}"))?;
        let questions = child.stdin.take();
        let answers = child.stdout.take().ok_or("ruby has no standard output")?;
        Ok(Self { child, questions, answers: BufReader::new(answers) })
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Without further questions the process cleans up after itself and ends.
        drop(self.questions.take());
        let _ = self.child.wait();
    }
}
