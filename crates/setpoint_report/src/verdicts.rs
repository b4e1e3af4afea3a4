//! What was asked about each input, and the answers in plain words.

use std::collections::BTreeMap;

use serde::Serialize;
use setpoint_source::{Diagnostic, InputReport, Report, Severity, few};

/// With more inputs than that, those of one file that fared alike share a row.
const ROWS: usize = 40;
/// Nodes that a shared row names.
const SHOWN_NODES: usize = 6;

#[derive(Debug, Serialize)]
pub(crate) struct Verdicts {
    questions: Vec<String>,
    /// Whether any input has a node.
    has_nodes: bool,
    rows: Vec<Row>,
    meanings: Vec<Meaning>,
}

/// One input, or several that fared alike.
#[derive(Debug, Serialize)]
struct Row {
    path: String,
    nodes: String,
    answers: Vec<Option<Answer>>,
    errors: usize,
    warnings: usize,
    notes: usize,
}

#[derive(Debug, Clone, Serialize)]
struct Answer {
    word: &'static str,
    tone: &'static str,
}

/// What an answer that occurs says.
#[derive(Debug, Serialize)]
struct Meaning {
    question: String,
    answer: Answer,
    words: &'static str,
}

/// An input with questions that stay open.
#[derive(Debug, Serialize)]
pub(crate) struct Open {
    name: String,
    questions: String,
}

impl Verdicts {
    pub(crate) fn new(report: &Report) -> Self {
        let mut questions: Vec<&'static str> = Vec::new();
        let mut meanings: Vec<(&'static str, &'static str)> = Vec::new();
        for (&question, &answer) in report.inputs.iter().flat_map(|input| &input.verdict) {
            if !questions.contains(&question) {
                questions.push(question);
            }
            if !meanings.contains(&(question, answer)) {
                meanings.push((question, answer));
            }
        }
        meanings.sort_by_key(|(question, _)| questions.iter().position(|one| one == question));
        let counts = Counts::new(report);
        let all: Vec<(&InputReport, [usize; 3])> =
            report.inputs.iter().map(|input| (input, counts.of(input))).collect();
        let are_alike = |a: &(&InputReport, [usize; 3]), b: &(&InputReport, [usize; 3])| {
            report.inputs.len() > ROWS && a.0.path == b.0.path && a.0.verdict == b.0.verdict && a.1 == b.1
        };
        let rows = all.chunk_by(are_alike).filter_map(|inputs| {
            let (first, [errors, warnings, notes]) = *inputs.first()?;
            let nodes: Vec<&str> = inputs.iter().filter_map(|(input, _)| input.node.as_deref()).collect();
            let answers = questions
                .iter()
                .map(|question| first.verdict.get(question).map(|answer| Answer::new(answer)))
                .collect();
            let nodes = few(&nodes, SHOWN_NODES);
            Some(Row { path: first.path.clone(), nodes, answers, errors, warnings, notes })
        });
        Self {
            rows: rows.collect(),
            has_nodes: report.inputs.iter().any(|input| input.node.is_some()),
            questions: questions.iter().map(|question| heading(question)).collect(),
            meanings: meanings
                .into_iter()
                .map(|(question, answer)| Meaning {
                    question: heading(question),
                    answer: Answer::new(answer),
                    words: meaning(question, answer),
                })
                .collect(),
        }
    }
}

/// The inputs of which not all was decided.
pub(crate) fn open(report: &Report) -> Vec<Open> {
    let mut out = Vec::new();
    for input in &report.inputs {
        let questions: Vec<String> = input
            .verdict
            .iter()
            .filter(|(_, answer)| **answer == "unknown")
            .map(|(question, _)| heading(question))
            .collect();
        if !questions.is_empty() {
            out.push(Open { name: name(input), questions: questions.join(", ") });
        }
    }
    out
}

/// An input as a heading names it.
pub(crate) fn name(input: &InputReport) -> String {
    match &input.node {
        Some(node) => format!("{}, {node}", input.path),
        None => input.path.clone(),
    }
}

fn heading(question: &str) -> String {
    question.replace('_', " ")
}

impl Answer {
    fn new(word: &'static str) -> Self {
        let tone = match word {
            "ok" | "yes" | "independent" => "good",
            "unknown" => "open",
            _ => "bad",
        };
        Self { word, tone }
    }
}

fn meaning(question: &str, answer: &str) -> &'static str {
    match (question, answer) {
        ("catalog", "ok") => "It compiles, and the agent can apply it.",
        ("catalog", _) => "It does not compile, or the agent refuses it. Nothing more was asked.",
        ("order", "independent") => "Proved: all orders that the relationships permit end alike.",
        ("order", "dependent") => {
            "It is right only thanks to the order that Puppet takes today; another one that nothing forbids ends differently."
        }
        ("order", "fails") => "The order that Puppet takes today fails, and another one does not.",
        ("idempotent", "yes") => "A second run leaves everything as the first one left it.",
        ("idempotent", "no") => "A second run changes what the first one made.",
        ("quiet", "yes") => "A second run reports no change and no refresh.",
        ("quiet", "no") => "A second run reports changes or refreshes although nothing is to be done.",
        ("convergent", "yes") => "Every start ends alike in what the resources declare.",
        ("convergent", "no") => "Two starts end differently in what the resources declare.",
        ("reaches_final", "yes") => "Proved, in the rules of this kind of input: every run comes to its end.",
        ("reaches_final", "no") => {
            "Some run stops or goes on for ever before all is in place, or cannot begin."
        }
        (_, "unknown") => "Not decided; the reasons are below. Nothing is guessed.",
        _ => "",
    }
}

/// Findings by the node that has them. One that several nodes share stands at the first of them alone.
pub(crate) struct Counts<'a> {
    shared: BTreeMap<(&'static str, &'a str), Vec<&'a Diagnostic>>,
}

impl<'a> Counts<'a> {
    pub(crate) fn new(report: &'a Report) -> Self {
        let mut shared: BTreeMap<_, Vec<&Diagnostic>> = BTreeMap::new();
        for input in &report.inputs {
            for finding in &input.findings {
                for node in &finding.nodes {
                    shared.entry((input.kind, node.as_str())).or_default().push(finding);
                }
            }
        }
        Self { shared }
    }

    /// All findings that an input has.
    pub(crate) fn findings(&self, input: &'a InputReport) -> impl Iterator<Item = &'a Diagnostic> {
        let node = input.node.as_deref().unwrap_or_default();
        let shared = self.shared.get(&(input.kind, node)).into_iter().flatten().copied();
        input.findings.iter().filter(|finding| finding.nodes.is_empty()).chain(shared)
    }

    fn of(&self, input: &'a InputReport) -> [usize; 3] {
        let mut counts = [0; 3];
        for finding in self.findings(input) {
            counts[match finding.severity {
                Severity::Error => 0,
                Severity::Warning => 1,
                Severity::Note => 2,
            }] += 1;
        }
        counts
    }
}
