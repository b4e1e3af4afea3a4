//! Everything that is told about a change.

use setpoint_settle::NextRun;
use setpoint_source::Severity;

use crate::Differences;

/// What a change does, on all nodes.
#[derive(Debug, Default)]
pub struct Comparison {
    pub about: About,
    /// In the order of the new version; nodes that only the old one has come last.
    pub nodes: Vec<NodeStory>,
    /// What both versions take from the same place although it differs, a sentence each without its full stop.
    pub not_compared: Vec<String>,
    /// What no node enters, and why.
    pub not_looked_at: Vec<String>,
    /// Manifests, templates, files and data that the change edits and no compiled node uses.
    pub unused: Vec<String>,
    /// All that the change edits is among them.
    pub uses_nothing_edited: bool,
    /// How many nodes were compared without what is proved of them: the time was over.
    pub unproved: usize,
    pub differences: Differences,
    /// Findings of the new version that the old one does not have.
    pub new_findings: Vec<FindingStory>,
    /// How many more there are that a comment silences.
    pub silenced: usize,
    /// Findings of the old version that the new one does not have.
    pub gone_findings: Vec<FindingStory>,
    /// What the next run does on the nodes that change, if that was asked for; nodes with the same run share one.
    pub next_runs: Vec<NextRunStory>,
}

/// What the next run does on some nodes.
#[derive(Clone, Debug)]
pub struct NextRunStory {
    pub nodes: Vec<String>,
    /// Or why nobody knows.
    pub run: Result<NextRun, String>,
}

/// How much is told of the next run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NextRunForm {
    /// A line for each resource that does something.
    Short,
    /// Step by step.
    Full,
}

/// What is compared.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// `merge base f26fb7b`, or a path.
    pub old: SideName,
    pub new: SideName,
    /// The version of Puppet whose rules count.
    pub puppet: &'static str,
    /// How many nodes have facts of their own.
    pub nodes_with_facts: usize,
    /// By which a comment is found again.
    pub marker: String,
    /// Whether the next run is told, and how.
    pub next_run: Option<NextRunForm>,
    /// Where the whole report is.
    pub report: Option<String>,
    /// The command that prints this again.
    pub command: String,
}

/// How a version is called.
#[derive(Clone, Debug, Default)]
pub struct SideName {
    /// `merge base `, or nothing.
    pub before: &'static str,
    /// A commit or a path.
    pub name: String,
    /// ` with uncommitted changes`, or nothing.
    pub after: &'static str,
}

/// A node and what becomes of it.
#[derive(Clone, Debug)]
pub struct NodeStory {
    pub name: String,
    pub fate: Fate,
    /// Only one version has it.
    pub presence: Presence,
    /// The platform whose facts it was compiled with, if it has none of its own.
    pub assumed_facts: Option<String>,
    /// The expression of a node statement that its name was made up for.
    pub made_up_for: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Presence {
    Both,
    Added,
    Removed,
}

/// What becomes of a node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fate {
    /// It compiled, and does no more; with the message.
    StopsCompiling(String),
    /// It compiles, and the agent will apply nothing; with the message.
    CannotBeApplied(String),
    Changes,
    Same,
    /// It did not work before and does now; with the old message.
    Mended(String),
    /// It works in neither version; with the new message.
    FailsAlike(String),
    /// Setpoint cannot compute it; with the reason.
    NotLookedAt(String),
}

/// A finding, as it is told.
#[derive(Clone, Debug)]
pub struct FindingStory {
    pub rule: &'static str,
    pub severity: Severity,
    /// Whether a comment or the baseline may silence it.
    pub may_be_silenced: bool,
    pub message: String,
    /// Path and line.
    pub place: Option<(String, u32)>,
    pub resources: Vec<String>,
    pub nodes: Vec<String>,
    /// The lines that it is about, by file.
    pub frames: Vec<Frame>,
    /// How it comes about, and why it matters.
    pub details: Vec<String>,
    pub helps: Vec<String>,
    pub fix: Option<FixStory>,
}

/// Lines of one file.
#[derive(Clone, Debug)]
pub struct Frame {
    pub path: String,
    pub lines: Vec<FrameLine>,
}

#[derive(Clone, Debug)]
pub struct FrameLine {
    pub number: u32,
    pub text: String,
    /// The change brought it.
    pub is_new: bool,
    pub remark: String,
}

/// A repair that was tried on every node that has the finding.
#[derive(Clone, Debug)]
pub struct FixStory {
    pub title: String,
    /// The lines that change, each with its sign.
    pub lines: Vec<String>,
    /// On how many nodes it was tried.
    pub checked_on: usize,
}

impl Comparison {
    /// Adds what the next run does on a node.
    pub fn add_next_run(&mut self, node: &str, run: Result<NextRun, String>) {
        match self.next_runs.iter_mut().find(|story| story.run == run) {
            Some(story) => story.nodes.push(node.to_owned()),
            None => self.next_runs.push(NextRunStory { nodes: vec![node.to_owned()], run }),
        }
    }

    /// Whether a service restarts or reloads in the next run of a node, or may for all that is known.
    pub fn restarts(&self) -> bool {
        self.next_runs.iter().any(|story| match &story.run {
            Ok(run) => run.restarts().next().is_some(),
            Err(_) => true,
        })
    }

    /// The nodes with a fate.
    pub fn with_fate(&self, wanted: impl Fn(&Fate) -> bool) -> Vec<&NodeStory> {
        self.nodes.iter().filter(|node| node.presence != Presence::Removed && wanted(&node.fate)).collect()
    }

    /// How many nodes worked and do no more, or are new and do not.
    pub fn stopped(&self) -> usize {
        self.with_fate(|fate| matches!(fate, Fate::StopsCompiling(_) | Fate::CannotBeApplied(_))).len()
    }

    /// How many new findings there are of a severity.
    pub fn new_findings_of(&self, severity: Severity) -> usize {
        self.new_findings.iter().filter(|finding| finding.severity == severity).count()
    }

    /// Whether the change brings an error.
    pub fn brings_errors(&self) -> bool {
        self.stopped() > 0 || self.new_findings_of(Severity::Error) > 0
    }

    /// Whether anything on any node changes.
    pub fn changes(&self) -> bool {
        self.nodes.iter().any(|node| {
            node.presence != Presence::Both || matches!(node.fate, Fate::Changes | Fate::Mended(_))
        })
    }
}
