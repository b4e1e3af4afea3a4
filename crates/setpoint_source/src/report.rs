//! What a command found out about its inputs.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use setpoint_diagram::Diagram;
use setpoint_rules::{Class, Severity};

use crate::{Coverage, Diagnostic, Gap, Judgement, Question, Reason, Secrets, Verdict, Witness};

/// One input: a file, or one node of it.
#[derive(Debug, Clone)]
pub struct InputReport {
    pub path: String,
    /// `puppet`, `catalog`, `smartfrog`, `cloudformation`, `tosca`, `model`.
    pub kind: &'static str,
    pub node: Option<String>,
    verdict: Verdict,
    pub findings: Vec<Diagnostic>,
    /// What was found and the user knows. It is not reported, and counts for the verdict as before.
    pub silenced: Vec<Silenced>,
    /// The names of the classes, defines and types that were entered.
    pub entered: BTreeSet<String>,
    /// How much of it was looked at, if that was counted.
    pub coverage: Option<Coverage>,
    /// What hangs together how, where a drawing was asked for.
    pub drawing: Option<Drawing>,
}

impl InputReport {
    /// Returns the report of an input about which nothing is known yet.
    pub fn new(path: impl Into<String>, kind: &'static str) -> Self {
        Self {
            path: path.into(),
            kind,
            node: None,
            verdict: Verdict::nothing_asked(),
            findings: Vec::new(),
            silenced: Vec::new(),
            entered: BTreeSet::new(),
            coverage: None,
            drawing: None,
        }
    }

    /// Takes the answers about the input. Its findings are looked at first: where one says that a part was not read or is not
    /// well-formed, nothing about the input is proved; where one says that a run cannot end, it is not proved that all do.
    pub fn conclude(&mut self, verdict: Verdict) {
        self.verdict = verdict;
        // What Setpoint does not read is no mistake of the input.
        for finding in self.findings.iter_mut().filter(|finding| finding.rule.is_limit()) {
            finding.severity = finding.severity.min(Severity::Warning);
        }
        for finding in &self.findings {
            let gap = match finding.rule.class() {
                Class::Syntax if finding.severity == Severity::Error => Gap::Malformed,
                Class::Open if finding.rule.is_limit() => Gap::Limit,
                Class::Open if finding.rule.leaves_unread() => Gap::Unread,
                Class::Defect
                    if finding.severity == Severity::Error
                        && self
                            .verdict
                            .get(Question::ReachesFinal)
                            .is_some_and(setpoint_answer::Answer::is_proved) =>
                {
                    Gap::Contradicted
                }
                _ => continue,
            };
            let reason = Reason::of(gap, finding);
            // What refutes an answer leaves nothing open.
            let is_witness = self.verdict.iter().any(|(_, answer)| answer.is_shown_by(&Witness::of(finding)));
            if !is_witness {
                self.verdict.doubt(&reason);
            }
        }
        self.verdict.place_reasons(&self.path);
    }

    /// Takes a reason for doubt about every answer that was given.
    pub fn doubt(&mut self, reason: &Reason) {
        self.verdict.doubt(reason);
        self.verdict.place_reasons(&self.path);
    }

    /// Puts asterisks for secrets wherever they stand in findings, stories and reasons: the last net.
    pub fn mask(&mut self, secrets: &Secrets) {
        let masked = |text: &mut String| {
            if let Cow::Owned(masked) = secrets.mask(text) {
                *text = masked;
            }
        };
        for finding in &mut self.findings {
            finding.texts_mut().for_each(masked);
            if let Some(story) = &mut finding.story {
                Arc::make_mut(story).texts_mut(&mut |text| masked(text));
            }
        }
        self.verdict.words_mut().for_each(masked);
    }

    /// Puts an answer in the place of one that was given.
    pub fn replace_answer(&mut self, question: Question, answer: Judgement) {
        if self.verdict.get(question).is_some() {
            self.verdict.replace(question, answer);
            self.verdict.place_reasons(&self.path);
        }
    }

    /// Takes a reason for doubt about one answer.
    pub fn doubt_answer(&mut self, question: Question, reason: Reason) {
        if let Some(answer) = self.verdict.get(question).cloned() {
            self.verdict.replace(question, answer.doubt(reason));
        }
    }

    pub fn verdict(&self) -> &Verdict {
        &self.verdict
    }
}

/// A finding that the user knows.
#[derive(Debug, Clone, PartialEq)]
pub struct Silenced {
    pub finding: Diagnostic,
    pub by: SilencedBy,
}

/// How the user says that a finding is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SilencedBy {
    Comment,
    Baseline,
}

/// A graph that is to be shown, unless nobody could read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Drawing {
    Graph(Diagram),
    /// It has so many nodes.
    TooLarge(usize),
}

impl Drawing {
    /// The graph, unless it has more nodes than that.
    pub fn within(limit: usize, diagram: Diagram) -> Self {
        if diagram.nodes.len() > limit { Self::TooLarge(diagram.nodes.len()) } else { Self::Graph(diagram) }
    }
}

/// All inputs of one call, in the order in which they were given.
#[derive(Debug, Clone, Default)]
pub struct Report {
    pub inputs: Vec<InputReport>,
}

impl Report {
    pub fn findings(&self) -> impl Iterator<Item = &Diagnostic> {
        self.inputs.iter().flat_map(|input| &input.findings)
    }

    /// How many findings are silenced by comments, or by the baseline.
    pub fn silenced(&self, by: SilencedBy) -> usize {
        self.inputs.iter().flat_map(|input| &input.silenced).filter(|one| one.by == by).count()
    }

    pub fn worst(&self) -> Option<Severity> {
        self.findings().map(|finding| finding.severity).max()
    }
}
