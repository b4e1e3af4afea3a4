//! Findings of both versions, matched: what a change brings, and what it removes.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use indexmap::IndexMap;
use setpoint_diff::{FindingStory, Frame, FrameLine, Secrets, Side, SourceChanges};
use setpoint_silence::{FindingKey, finding_key, reason_of_comment};
use setpoint_source::{Class, Diagnostic, Label, Severity, Span};

use crate::run::is_own;

use super::Opened;

/// Lines of a story that are told at most.
const MAX_STORY: usize = 8;

/// A finding of one node in one version.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) finding: Diagnostic,
    pub(super) key: FindingKey,
    /// What stays the same of it when the code is edited or moves to another file.
    likeness: (&'static str, Vec<String>),
    /// The reason of the comment that silences it.
    allowed: Option<String>,
    /// How often the baseline of its version lists it.
    listed: usize,
}

impl Found {
    /// Takes a finding, unless it is about what was not looked at, or about code of somebody else.
    pub(super) fn new(opened: &Opened<'_>, finding: Diagnostic, node: Option<&str>) -> Option<Self> {
        let counts = finding.severity >= Severity::Warning
            && !matches!(finding.rule.class(), Class::Open | Class::Assumption);
        let is_ours = || opened.project.options.include_modules || is_own(&opened.project, &finding);
        (counts && is_ours()).then(|| Self::always(opened, finding, node))
    }

    /// Takes a finding wherever it is: it keeps a node from being compiled.
    pub(super) fn always(opened: &Opened<'_>, finding: Diagnostic, node: Option<&str>) -> Self {
        let sources = &opened.session.sources;
        let key = finding_key(&finding, node, sources, &opened.root.path);
        let likeness = if finding.resources.is_empty() {
            let line = finding.span.map_or_else(|| finding.message.clone(), |span| line_text(opened, span));
            vec![line.split_whitespace().collect()]
        } else {
            finding.resources.clone()
        };
        let allowed = reason_of_comment(&finding, sources);
        let listed = opened.baseline.count_of(&finding, node, sources);
        Self { key, likeness: (finding.rule.name(), likeness), allowed, listed, finding }
    }
}

fn line_text(opened: &Opened<'_>, span: Span) -> String {
    let file = opened.session.sources.file(span.file);
    file.line_text(file.line(span.range.start)).to_owned()
}

/// A finding that only one version has, with the nodes.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) found: Found,
    pub(super) nodes: Vec<String>,
    /// The same, of other resources on other nodes.
    pub(super) alike: Vec<FindingKey>,
}

impl Told {
    /// Whether a finding is this one.
    pub(super) fn is(&self, key: &FindingKey) -> bool {
        self.found.key == *key || self.alike.contains(key)
    }
}

/// The findings that only one version has, gathered node by node.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    brought: IndexMap<FindingKey, Told>,
    gone: IndexMap<FindingKey, Told>,
    /// What the new version has more and silences.
    silenced: BTreeSet<FindingKey>,
}

impl Ledger {
    /// Matches the findings of a node: first by their keys, then by what they are about. A finding that the old version silences
    /// and the new one does not is brought.
    pub(super) fn add(&mut self, node: &str, old: Vec<Found>, new: Vec<Found>) {
        let (by_key, old, new) = matched(old, new, |found| &found.key);
        let (by_likeness, old, new) = matched(old, new, |found| &found.likeness);
        let mut known: BTreeMap<FindingKey, usize> = BTreeMap::new();
        for (was, mut is) in by_key.into_iter().chain(by_likeness) {
            *known.entry(is.key.clone()).or_default() += 1;
            if is.allowed.is_some() || is.listed > 0 {
                continue;
            }
            let silenced = match (&was.allowed, was.listed) {
                (Some(reason), _) => format!("A comment silenced it before this change: {reason}"),
                (None, 0) => continue,
                (None, _) => "The baseline listed it before this change.".to_owned(),
            };
            is.finding.notes.push(silenced);
            self.tell(node, is, Side::New);
        }
        for found in old.into_iter().filter(|found| found.allowed.is_none() && found.listed == 0) {
            self.tell(node, found, Side::Old);
        }
        for found in new {
            // Of more than are listed, the last are told.
            let count = known.entry(found.key.clone()).or_default();
            *count += 1;
            if found.allowed.is_some() || *count <= found.listed {
                self.silenced.insert(found.key);
            } else {
                self.tell(node, found, Side::New);
            }
        }
    }

    fn tell(&mut self, node: &str, found: Found, side: Side) {
        let told = if side == Side::Old { &mut self.gone } else { &mut self.brought };
        let told = told.entry(found.key.clone()).or_insert_with(|| Told {
            found,
            nodes: Vec::new(),
            alike: Vec::new(),
        });
        if !node.is_empty() && !told.nodes.iter().any(|known| known == node) {
            told.nodes.push(node.to_owned());
        }
    }

    /// How many findings the new version has more and silences.
    pub(super) fn silenced(&self) -> usize {
        self.silenced.len()
    }

    /// What the change brings, and what it removes. A finding that some node loses and another gets is brought.
    pub(super) fn into_stories(self) -> (Vec<Told>, Vec<Told>) {
        let brought = told_once(self.brought);
        let is_brought = |told: &Told| brought.iter().any(|other| other.is(&told.found.key));
        let gone = told_once(self.gone).into_iter().filter(|told| !is_brought(told)).collect();
        (brought, gone)
    }
}

/// Places that a story shows beside its own at most.
const MAX_PLACES: usize = 3;

/// Findings of one rule at one place are one story, told for the first resource, with all nodes; and so are those that say the
/// same of several places, which the story shows.
fn told_once(found: IndexMap<FindingKey, Told>) -> Vec<Told> {
    let mut stories: Vec<Told> = Vec::new();
    for (key, told) in found {
        let finding = &told.found.finding;
        let is_alike = |other: &&mut Told| {
            let other = &other.found.finding;
            finding.span.is_some()
                && (other.rule, other.severity) == (finding.rule, finding.severity)
                && (other.span == finding.span || other.message == finding.message)
        };
        match stories.iter_mut().find(is_alike) {
            Some(story) => {
                let labels = &mut story.found.finding.labels;
                let is_shown = story.found.finding.span == finding.span
                    || labels.iter().any(|label| Some(label.span) == finding.span);
                if let (false, Some(span)) = (is_shown || labels.len() >= MAX_PLACES, finding.span) {
                    labels.push(Label { span, text: String::new() });
                }
                story.nodes.extend(told.nodes);
                story.nodes.sort_unstable();
                story.nodes.dedup();
                story.alike.push(key);
            }
            None => stories.push(told),
        }
    }
    stories
}

/// Findings with a partner in the other version, and those of each version without one. Each partner counts once.
fn matched<K: Ord + Clone>(
    old: Vec<Found>,
    new: Vec<Found>,
    key: impl Fn(&Found) -> &K,
) -> (Vec<(Found, Found)>, Vec<Found>, Vec<Found>) {
    let mut waiting: BTreeMap<K, VecDeque<usize>> = BTreeMap::new();
    for (at, found) in old.iter().enumerate() {
        waiting.entry(key(found).clone()).or_default().push_back(at);
    }
    let mut old: Vec<Option<Found>> = old.into_iter().map(Some).collect();
    let (mut pairs, mut left) = (Vec::new(), Vec::new());
    for found in new {
        let partner = waiting.get_mut(key(&found)).and_then(VecDeque::pop_front);
        match partner.and_then(|at| old.get_mut(at)).and_then(Option::take) {
            Some(was) => pairs.push((was, found)),
            None => left.push(found),
        }
    }
    (pairs, old.into_iter().flatten().collect(), left)
}

/// A finding as it is told, without secrets.
pub(super) fn story(
    told: &Told,
    opened: &Opened<'_>,
    changes: &SourceChanges<'_>,
    secrets: &Secrets,
) -> FindingStory {
    let finding = &told.found.finding;
    let sources = &opened.session.sources;
    let place = finding.span.map(|span| {
        let file = sources.file(span.file);
        (opened.root.shared_name(file.path()).to_owned(), file.line(span.range.start))
    });
    let of_story: Vec<String> = finding.story.iter().flat_map(|story| story.lines()).collect();
    let shown = of_story.len().min(MAX_STORY);
    let cut = (of_story.len() > shown).then(|| format!("… {} more lines", of_story.len() - shown));
    let details = finding.notes.iter().cloned().chain(of_story.into_iter().take(shown)).chain(cut);
    let mask = |text: &String| secrets.mask(text);
    FindingStory {
        rule: finding.rule.name(),
        severity: finding.severity,
        may_be_silenced: finding.rule.may_be_silenced(finding.severity),
        message: secrets.mask(&finding.message),
        place,
        resources: finding.resources.iter().map(mask).collect(),
        nodes: told.nodes.clone(),
        frames: frames(finding, opened, changes, secrets),
        details: details.map(|line| secrets.mask(&line)).collect(),
        helps: finding.helps.iter().map(mask).collect(),
        fix: None,
    }
}

/// The lines that a finding is about: the first of each place, each once.
fn frames(
    finding: &Diagnostic,
    opened: &Opened<'_>,
    changes: &SourceChanges<'_>,
    secrets: &Secrets,
) -> Vec<Frame> {
    let primary = finding.span.map(|span| (span, finding.label.as_str()));
    let others = finding.labels.iter().map(|label| (label.span, label.text.as_str()));
    let mut frames: IndexMap<String, BTreeMap<u32, FrameLine>> = IndexMap::new();
    for (span, remark) in primary.into_iter().chain(others) {
        let file = opened.session.sources.file(span.file);
        let (name, is_inside) = opened.root.locate(file.path());
        let number = file.line(span.range.start);
        let line = frames.entry(name.to_owned()).or_default().entry(number).or_insert_with(|| FrameLine {
            number,
            text: secrets.line(opened.side, name, number, file.line_text(number)),
            is_new: opened.side == Side::New && changes.is_changed(name, is_inside, number),
            remark: String::new(),
        });
        if !remark.is_empty() {
            if !line.remark.is_empty() {
                line.remark.push_str("; ");
            }
            line.remark.push_str(&secrets.mask(remark));
        }
    }
    frames.into_iter().map(|(path, lines)| Frame { path, lines: lines.into_values().collect() }).collect()
}
