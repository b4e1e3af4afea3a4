//! Findings by rule and by file, each with all that helps to understand and to mend it.

use minijinja::Value;
use serde::Serialize;
use setpoint_source::{Class, Diagnostic, InputReport, Report, Rule, Severity, Sources};

use crate::markup::{explanation, sentence};
use crate::patch::PatchLine;
use crate::story::Story;
use crate::{counted, frame, patch, story};

/// All findings of one rule.
#[derive(Debug, Serialize)]
pub(crate) struct OfRule {
    pub(crate) rule: RuleLink,
    pub(crate) severity: &'static str,
    count: String,
    files: Vec<OfFile>,
    #[serde(skip)]
    worst: Severity,
}

/// Those of them that are about one file.
#[derive(Debug, Serialize)]
struct OfFile {
    path: String,
    findings: Vec<Finding>,
}

#[derive(Debug, Serialize)]
struct Finding {
    number: usize,
    severity: &'static str,
    message: Value,
    /// `path:line:column`
    place: Option<String>,
    /// `On 3 nodes`, and which.
    on: String,
    nodes: Vec<String>,
    frames: Vec<frame::Shown>,
    story: Option<Story>,
    notes: Vec<Value>,
    helps: Vec<Value>,
    fix: Option<FixShown>,
}

#[derive(Debug, Serialize)]
struct FixShown {
    title: Value,
    lines: Vec<PatchLine>,
}

/// A rule, and where the page explains it.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct RuleLink {
    name: &'static str,
    pub(crate) anchor: String,
    summary: Value,
}

/// What a rule means.
#[derive(Debug, Serialize)]
pub(crate) struct Explained {
    rule: RuleLink,
    severity: &'static str,
    explanation: Value,
}

/// Everything that was found, told apart, and the rules of it.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub(crate) found: Vec<OfRule>,
    pub(crate) open: Vec<OfRule>,
    pub(crate) rules: Vec<Explained>,
}

impl Findings {
    pub(crate) fn new(report: &Report, sources: &Sources) -> Self {
        let mut rules: Vec<Rule> = report.findings().map(|finding| finding.rule).collect();
        rules.sort_by_key(|rule| rule.name());
        rules.dedup();
        let mut out = Self::default();
        let mut number = 0;
        for input in &report.inputs {
            for finding in &input.findings {
                let rule = link(finding.rule);
                number += 1;
                let groups = if matches!(finding.rule.class(), Class::Open | Class::Assumption) {
                    &mut out.open
                } else {
                    &mut out.found
                };
                add(groups, rule, input, finding, number, sources);
            }
        }
        for groups in [&mut out.found, &mut out.open] {
            // What is worst comes first; else they stay as they were found.
            groups.sort_by_key(|group| std::cmp::Reverse(group.worst));
            for group in groups {
                let count: usize = group.files.iter().map(|file| file.findings.len()).sum();
                group.count = counted(count, "finding");
                group.severity = group.worst.as_str();
            }
        }
        out.rules = rules
            .iter()
            .map(|one| Explained {
                rule: link(*one),
                severity: one.severity().as_str(),
                explanation: explanation(one.explanation()),
            })
            .collect();
        out
    }
}

fn link(rule: Rule) -> RuleLink {
    RuleLink { name: rule.name(), anchor: format!("rule-{}", rule.name()), summary: sentence(rule.summary()) }
}

fn add(
    groups: &mut Vec<OfRule>,
    rule: RuleLink,
    input: &InputReport,
    finding: &Diagnostic,
    number: usize,
    sources: &Sources,
) {
    let at = groups.iter().position(|group| group.rule.anchor == rule.anchor).unwrap_or_else(|| {
        let (severity, worst) = (finding.severity.as_str(), finding.severity);
        groups.push(OfRule { rule, severity, count: String::new(), files: Vec::new(), worst });
        groups.len() - 1
    });
    let group = &mut groups[at];
    group.worst = group.worst.max(finding.severity);
    let path =
        finding.span.map_or_else(|| input.path.clone(), |span| sources.file(span.file).path().to_owned());
    let shown = shown(input, finding, number, sources);
    match group.files.iter_mut().find(|file| file.path == path) {
        Some(file) => file.findings.push(shown),
        None => group.files.push(OfFile { path, findings: vec![shown] }),
    }
}

fn shown(input: &InputReport, finding: &Diagnostic, number: usize, sources: &Sources) -> Finding {
    let thing = if input.kind == "model" { "instance" } else { "node" };
    let (on, nodes) = match (&finding.nodes[..], &input.node) {
        ([], Some(node)) => (format!("On the {thing}"), vec![node.clone()]),
        ([], None) => (String::new(), Vec::new()),
        (nodes, _) => (format!("On {}", counted(nodes.len(), thing)), nodes.to_vec()),
    };
    Finding {
        number,
        severity: finding.severity.as_str(),
        message: sentence(&finding.message),
        place: finding.span.map(|span| sources.place(span)),
        on,
        nodes,
        frames: frame::shown(finding, sources),
        story: finding.story.as_ref().and_then(|story| story::shown(story)),
        notes: finding.notes.iter().map(|note| sentence(note)).collect(),
        helps: finding.helps.iter().map(|help| sentence(help)).collect(),
        fix: finding
            .fix
            .as_ref()
            .map(|fix| FixShown { title: sentence(&fix.title), lines: patch::lines(fix, sources) }),
    }
}
