//! Puppet's answers, kept by the content of the question.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use setpoint_judge::{Judge, Run, Status, Trial};
use sha2::{Digest, Sha256};

use crate::pairs::Pair;

/// Asks Puppet about what has no answer, and keeps what it says.
const ASK: &str = "SETPOINT_NEXT_RUN_ASK";

/// What Puppet reports of the run: only the resources with something to report.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Seen {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
    /// Whether the last run of the old catalog failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) failed_before: bool,
    /// Each as its flags and then its events: `changed refreshed content=success`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    resources: BTreeMap<String, String>,
}

impl Seen {
    fn of(run: Run) -> Self {
        let is_container = |name: &str| name.starts_with("Class[") || name.starts_with("Stage[");
        let told = run
            .resources
            .iter()
            .filter(|(name, status)| !is_container(name) && **status != Status::default());
        let resources = told.map(|(name, status)| (name.clone(), words(status))).collect();
        Self { error: run.error, failed_before: false, resources }
    }

    pub(crate) fn resources(&self) -> impl Iterator<Item = (&String, Status)> {
        self.resources.iter().map(|(name, words)| (name, status(words)))
    }
}

fn words(status: &Status) -> String {
    let flags = [
        ("failed", status.failed),
        ("skipped", status.skipped),
        ("changed", status.changed),
        ("refreshed", status.refreshed),
        ("failed_to_restart", status.failed_to_restart),
    ];
    let flags = flags.iter().filter(|(_, is_set)| *is_set).map(|(name, _)| (*name).to_owned());
    let events = status.events.iter().map(|(property, status, _)| format!("{property}={status}"));
    flags.chain(events).collect::<Vec<_>>().join(" ")
}

fn status(words: &str) -> Status {
    let has = |flag: &str| words.split(' ').any(|word| word == flag);
    let events = words.split(' ').filter_map(|word| word.split_once('='));
    Status {
        failed: has("failed"),
        skipped: has("skipped"),
        changed: has("changed"),
        refreshed: has("refreshed"),
        failed_to_restart: has("failed_to_restart"),
        events: events
            .map(|(property, status)| (property.to_owned(), status.to_owned(), String::new()))
            .collect(),
    }
}

pub(crate) struct Answers {
    kept: BTreeMap<String, Seen>,
    judge: Judge,
    is_asking: bool,
    has_new: bool,
    /// Whether it is known that Puppet can be asked.
    is_able: bool,
}

impl Answers {
    fn path() -> PathBuf {
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/next_run/answers.json")
    }

    pub(crate) fn load() -> Self {
        let text = std::fs::read_to_string(Self::path()).unwrap_or_else(|_| "{}".to_owned());
        let kept = serde_json::from_str(&text).expect("answers.json is a mapping of answers");
        let is_asking = std::env::var_os(ASK).is_some();
        Self { kept, judge: Judge::default(), is_asking, has_new: false, is_able: false }
    }

    /// The kept answer; Puppet's own if there is none and it may be asked.
    pub(crate) fn ask(&mut self, pair: &Pair, trial: impl FnOnce() -> Trial) -> Seen {
        let key = key(pair);
        if let Some(known) = self.kept.get(&key) {
            return known.clone();
        }
        assert!(
            self.is_asking,
            "Puppet was not asked about this pair; `cargo xtask next-run` asks:\n{}--- becomes\n{}",
            pair.old, pair.new
        );
        if !self.is_able {
            assert_eq!(Judge::obstacle(), None, "Puppet cannot be asked");
            self.is_able = true;
        }
        let mut outcome = self.judge.apply(&trial()).expect("Puppet answers");
        let mut seen = Seen::of(outcome.runs.remove(0));
        seen.failed_before = outcome.earlier_failed;
        seen.error = outcome.earlier_error.or(seen.error).map(|error| first_line(&error));
        self.kept.insert(key, seen.clone());
        self.has_new = true;
        // So that what is broken off has not been for nothing.
        if self.kept.len().is_multiple_of(20) {
            self.store();
        }
        seen
    }

    /// Keeps the answers.
    pub(crate) fn store(&self) {
        if !self.has_new {
            return;
        }
        // Another test may have stored its own in the meantime.
        let mut all = Self::load().kept;
        all.extend(self.kept.clone());
        write(&all);
    }

    /// The answers that belong to none of these pairs; whoever asks Puppet forgets them.
    pub(crate) fn orphans(&mut self, pairs: &[Pair]) -> usize {
        let keys: BTreeSet<String> = pairs.iter().map(key).collect();
        let before = self.kept.len();
        self.kept.retain(|key, _| keys.contains(key));
        let orphans = before - self.kept.len();
        if self.is_asking && orphans > 0 {
            write(&self.kept);
            return 0;
        }
        orphans
    }
}

/// Writes the answers, one a line.
fn write(all: &BTreeMap<String, Seen>) {
    let line = |(key, seen): (&String, &Seen)| {
        format!("{key:?}:{}", serde_json::to_string(seen).expect("an answer is JSON"))
    };
    let lines: Vec<String> = all.iter().map(line).collect();
    let text = format!("{{\n{}\n}}\n", lines.join(",\n"));
    std::fs::write(Answers::path(), text).expect("answers.json can be written");
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

/// What decides the answer: both manifests, and what is there before.
fn key(pair: &Pair) -> String {
    let mut digest = Sha256::new();
    for part in [&pair.old, &pair.new, &pair.already.join(" ")] {
        digest.update((part.len() as u64).to_be_bytes());
        digest.update(part.as_bytes());
    }
    let digits = digest.finalize().to_vec().into_iter().flat_map(|byte| [byte >> 4, byte & 15]).take(20);
    digits.filter_map(|digit| char::from_digit(u32::from(digit), 16)).collect()
}
