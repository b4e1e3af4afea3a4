//! What was asked about each input, and the answers in plain words.

use std::collections::BTreeMap;

use serde::Serialize;
use setpoint_source::{
    Coverage, Diagnostic, Gap, InputReport, Judgement, Place, Question, Report, Severity, Sources, few,
};

/// With more inputs than that, those of one file that fared alike share a row.
const ROWS: usize = 40;
/// Nodes that a shared row names.
const SHOWN_NODES: usize = 6;

#[derive(Debug, Serialize)]
pub(crate) struct Verdicts {
    questions: Vec<&'static str>,
    /// Whether any input has a node.
    has_nodes: bool,
    /// How many columns the table has.
    columns: usize,
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
    /// How much of it was looked at.
    covered: String,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct Answer {
    word: &'static str,
    tone: &'static str,
}

/// What an answer that occurs says.
#[derive(Debug, PartialEq, Serialize)]
struct Meaning {
    question: &'static str,
    answer: Answer,
    words: &'static str,
}

/// An input with questions that stay open.
#[derive(Debug, Serialize)]
pub(crate) struct Open {
    name: String,
    questions: String,
    /// What would have to hold for the answers to be good, if nothing else is open.
    assuming: Vec<String>,
    reasons: Vec<String>,
}

impl Verdicts {
    pub(crate) fn new(report: &Report) -> Self {
        let mut questions: Vec<Question> = Vec::new();
        let mut meanings: Vec<Meaning> = Vec::new();
        for (question, answer) in report.inputs.iter().flat_map(|input| input.verdict().iter()) {
            if !questions.contains(&question) {
                questions.push(question);
            }
            let meaning = Meaning {
                question: question.heading(),
                answer: Answer::new(question, answer),
                words: question.meaning(answer),
            };
            if !meanings.contains(&meaning) {
                meanings.push(meaning);
            }
        }
        meanings.sort_by_key(|one| questions.iter().position(|question| question.heading() == one.question));
        let counts = Counts::new(report);
        let all: Vec<(&InputReport, [usize; 3])> =
            report.inputs.iter().map(|input| (input, counts.of(input))).collect();
        let are_alike = |a: &(&InputReport, [usize; 3]), b: &(&InputReport, [usize; 3])| {
            report.inputs.len() > ROWS
                && a.0.path == b.0.path
                && a.0.verdict().says_the_same(b.0.verdict())
                && a.1 == b.1
        };
        let rows = all.chunk_by(are_alike).filter_map(|inputs| {
            let (first, [errors, warnings, notes]) = *inputs.first()?;
            let nodes: Vec<&str> = inputs.iter().filter_map(|(input, _)| input.node.as_deref()).collect();
            let answers = questions
                .iter()
                .map(|&question| first.verdict().get(question).map(|answer| Answer::new(question, answer)))
                .collect();
            let nodes = few(&nodes, SHOWN_NODES);
            let covered = first.coverage.as_ref().map(Coverage::line).unwrap_or_default();
            Some(Row { path: first.path.clone(), nodes, answers, errors, warnings, notes, covered })
        });
        let has_nodes = report.inputs.iter().any(|input| input.node.is_some());
        Self {
            rows: rows.collect(),
            has_nodes,
            columns: 4 + usize::from(has_nodes) + questions.len(),
            questions: questions.iter().map(|question| question.heading()).collect(),
            meanings,
        }
    }
}

/// The inputs of which not all was decided.
pub(crate) fn open(report: &Report, sources: &Sources) -> Vec<Open> {
    let mut out = Vec::new();
    for input in &report.inputs {
        let unknown = input.verdict().iter().filter(|(_, answer)| answer.is_unknown());
        let questions: Vec<&str> = unknown.map(|(question, _)| question.heading()).collect();
        if questions.is_empty() {
            continue;
        }
        let (mut assuming, mut reasons) = (Vec::new(), Vec::new());
        for (reason, of) in input.verdict().reasons() {
            let place = match &reason.place {
                Place::At(span) => format!(" ({})", sources.place(*span)),
                Place::File(path) => format!(" ({path})"),
                Place::Input => String::new(),
            };
            let of: Vec<&str> = of.iter().map(|question| question.heading()).collect();
            let line = format!("{}: {}{place}", of.join(", "), reason.words);
            let list = if reason.gap == Gap::Assumed { &mut assuming } else { &mut reasons };
            list.push(line);
        }
        out.push(Open { name: name(input), questions: questions.join(", "), assuming, reasons });
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

impl Answer {
    fn new(question: Question, answer: &Judgement) -> Self {
        let tone = match answer {
            setpoint_source::Answer::Proved(_) => "good",
            setpoint_source::Answer::Unknown(_) => "open",
            setpoint_source::Answer::Refuted { .. } => "bad",
        };
        Self { word: question.word(answer), tone }
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
