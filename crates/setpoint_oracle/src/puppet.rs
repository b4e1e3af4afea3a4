//! One Ruby process that answers many requests.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::{Outcome, Request};

/// Puppet, loaded once. It ends when this is dropped.
#[derive(Debug)]
pub struct Puppet {
    process: Child,
    questions: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Puppet {
    /// The Ruby program that answers.
    pub fn script() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("src/puppet.rb")
    }

    pub fn start() -> Result<Self, String> {
        let mut process = setpoint_testing::ruby()
            .arg("-W0")
            .arg(Self::script())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("ruby cannot be started: {error}"))?;
        let questions = process.stdin.take();
        let answers = process.stdout.take().ok_or("ruby has no standard output")?;
        Ok(Self { process, questions, answers: BufReader::new(answers) })
    }

    pub fn ask(&mut self, request: &Request) -> Result<Outcome, String> {
        self.put(&request.to_json(), &request.lookups)
    }

    /// Compiles a manifest that is the same in many requests, and that facts tell what to do, with modules of the
    /// installation. What Puppet has parsed for one request it keeps for the next.
    pub fn ask_kept(
        &mut self,
        manifest: &str,
        modules: &[String],
        node: &str,
        facts: &serde_json::Map<String, Value>,
        strict: bool,
    ) -> Result<Outcome, String> {
        let question =
            json!({"kept": manifest, "modules": modules, "node": node, "facts": facts, "strict": strict});
        self.put(&question, &[])
    }

    /// Compiles code with the modules of a folder, whose files Puppet parses once for all such requests.
    pub fn ask_with_folder(
        &mut self,
        code: &str,
        folder: &Path,
        node: &str,
        facts: &serde_json::Map<String, Value>,
        strict: bool,
    ) -> Result<Outcome, String> {
        let question = json!({"files": {"main.pp": code}, "folders": [folder], "node": node, "facts": facts, "strict": strict});
        self.put(&question, &[])
    }

    fn put(&mut self, question: &Value, lookups: &[String]) -> Result<Outcome, String> {
        let questions = self.questions.as_mut().ok_or("ruby has no standard input")?;
        writeln!(questions, "{question}").map_err(|error| format!("Puppet does not listen: {error}"))?;
        let mut line = String::new();
        self.answers.read_line(&mut line).map_err(|error| format!("Puppet does not answer: {error}"))?;
        let answer: Value = serde_json::from_str(&line)
            .map_err(|error| format!("Puppet ended without an answer: {error}"))?;
        Outcome::from_puppet(&answer, lookups)
    }
}

impl Drop for Puppet {
    fn drop(&mut self) {
        // Without further questions the process cleans up after itself and ends.
        drop(self.questions.take());
        let _ = self.process.wait();
    }
}
