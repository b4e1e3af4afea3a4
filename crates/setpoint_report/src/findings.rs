//! Findings by rule and by file, each with all that helps to understand and to mend it.

use minijinja::Value;
use serde::Serialize;
use setpoint_source::{Diagnostic, InputReport, Report, Rule, Severity, Sources};

use crate::markup::{explanation, sentence};
use crate::patch::PatchLine;
use crate::story::Story;
use crate::{counted, frame, patch, story};

/// What stays open, and what was taken for granted, is told apart from what was found.
const OPEN: [&str; 8] = [
    "undecided",
    "not-proved",
    "unknown-effect",
    "unknown-package",
    "not-modelled",
    "not-entered",
    "assumption",
    "assumed-platform",
];

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
        let mut rules: Vec<&'static Rule> = report.findings().map(|finding| finding.rule).collect();
        rules.sort_by_key(|rule| (rule.name, rule.explanation));
        rules.dedup();
        let links: Vec<RuleLink> =
            rules.iter().enumerate().map(|(at, rule)| link(&rules[..at], rule)).collect();
        let link_of = |rule: &Rule| rules.iter().position(|one| **one == *rule).map(|at| links[at].clone());
        let mut out = Self::default();
        let mut number = 0;
        for input in &report.inputs {
            for finding in &input.findings {
                let Some(rule) = link_of(finding.rule) else { continue };
                number += 1;
                let groups = if OPEN.contains(&rule.name) { &mut out.open } else { &mut out.found };
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
            .zip(links)
            .map(|(one, rule)| Explained {
                rule,
                severity: one.severity.as_str(),
                explanation: explanation(one.explanation),
            })
            .collect();
        out
    }
}

/// One name may mean the same in several languages, each with its own explanation.
fn link(before: &[&'static Rule], rule: &'static Rule) -> RuleLink {
    let same = before.iter().filter(|one| one.name == rule.name).count();
    let anchor = match same {
        0 => format!("rule-{}", rule.name),
        same => format!("rule-{}-{}", rule.name, same + 1),
    };
    RuleLink { name: rule.name, anchor, summary: sentence(rule.summary) }
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
    let (story, notes) = story::told(finding);
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
        story,
        notes: notes.into_iter().map(sentence).collect(),
        helps: finding.helps.iter().map(|help| sentence(help)).collect(),
        fix: finding
            .fix
            .as_ref()
            .map(|fix| FixShown { title: sentence(&fix.title), lines: patch::lines(fix, sources) }),
    }
}
