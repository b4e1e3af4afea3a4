//! `setpoint-baseline.json`: findings that are known, and not reported again.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use setpoint_source::{Diagnostic, Gap, InputReport, Judgement, Report, Rule, Silenced, SilencedBy, Sources};

use crate::key::{FindingKey, all_keys, finding_key};

/// The version of the format.
const VERSION: u64 = 1;

/// The findings that are known, each with how often it occurs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Baseline {
    entries: BTreeMap<Entry, usize>,
    /// The folder that paths are relative to, as the user wrote it.
    root: String,
    /// Whether the run looks at a part of what the baseline is about, so that what it does not find may still be there.
    is_for_part: bool,
}

/// A finding as the file has it. The rule is text: one that a later version has is kept.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    path: String,
    rule: String,
    key: String,
}

impl From<FindingKey> for Entry {
    fn from(key: FindingKey) -> Self {
        Self { path: key.path, rule: key.rule.to_owned(), key: key.digest }
    }
}

/// Why a text is no baseline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaselineError(String);

impl std::fmt::Display for BaselineError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for BaselineError {}

impl Baseline {
    /// A baseline without entries, for paths below a folder.
    pub fn empty(root: &str) -> Self {
        Self { entries: BTreeMap::new(), root: root.to_owned(), is_for_part: false }
    }

    /// Reads the text of a baseline for paths below a folder.
    pub fn read(text: &str, root: &str) -> Result<Self, BaselineError> {
        let wrong = |what: &str| BaselineError(format!("this is no baseline: {what}"));
        let json: Value = serde_json::from_str(text).map_err(|error| wrong(&error.to_string()))?;
        match json.get("setpoint_baseline").and_then(Value::as_u64) {
            Some(VERSION) => {}
            Some(other) => {
                return Err(BaselineError(format!(
                    "the baseline has version {other}; this program reads {VERSION}"
                )));
            }
            None => return Err(wrong("`setpoint_baseline` is missing")),
        }
        let findings =
            json.get("findings").and_then(Value::as_array).ok_or_else(|| wrong("`findings` is missing"))?;
        let mut baseline = Self::empty(root);
        for finding in findings {
            let text = |name: &str| {
                let value = finding.get(name).and_then(Value::as_str);
                value.map(str::to_owned).ok_or_else(|| wrong(&format!("a finding has no `{name}`")))
            };
            let entry = Entry { path: text("path")?, rule: text("rule")?, key: text("key")? };
            let count = finding
                .get("count")
                .and_then(Value::as_u64)
                .ok_or_else(|| wrong("a finding has no `count`"))?;
            let known = baseline.entries.entry(entry).or_default();
            *known = known.saturating_add(usize::try_from(count).unwrap_or(usize::MAX));
        }
        Ok(baseline)
    }

    /// Returns the baseline for a run that looks at a part of what it is about: no entry counts as gone.
    pub fn for_part(self) -> Self {
        Self { is_for_part: true, ..self }
    }

    /// Whether the run looked at everything that it was given. Code that does not parse or compile hides findings, its own and
    /// those of what it includes.
    fn sees_all(&self, report: &Report) -> bool {
        use Rule::{AllowWithoutReason, StaleBaseline, UnusedAllow};
        let is_about_silence = |rule: Rule| matches!(rule, AllowWithoutReason | StaleBaseline | UnusedAllow);
        let hides = |finding: &Diagnostic| {
            !is_about_silence(finding.rule) && !finding.rule.may_be_silenced(finding.severity)
        };
        let is_late = |input: &InputReport| {
            let late = |answer: &Judgement| answer.reasons().iter().any(|reason| reason.gap == Gap::Time);
            input.verdict().iter().any(|(_, answer)| late(answer))
        };
        !self.is_for_part && !report.findings().any(hides) && !report.inputs.iter().any(is_late)
    }

    /// Returns the text of the file: sorted, a finding a line.
    pub fn text(&self) -> String {
        let lines: Vec<String> = self
            .entries
            .iter()
            .map(|(Entry { path, rule, key }, count)| {
                json!({ "rule": rule, "path": path, "key": key, "count": count }).to_string()
            })
            .collect();
        if lines.is_empty() {
            return format!("{{\"setpoint_baseline\":{VERSION},\"findings\":[]}}\n");
        }
        format!("{{\"setpoint_baseline\":{VERSION},\"findings\":[\n{}\n]}}\n", lines.join(",\n"))
    }

    /// Moves the findings that are listed to what is silenced; of more than are listed the last are reported. Entries of files
    /// that were read, and that occur less often than listed, are told.
    pub(crate) fn silence(&self, report: &mut Report, sources: &Sources) {
        let mut left = self.entries.clone();
        for input in &mut report.inputs {
            let node = input.node.clone();
            for finding in std::mem::take(&mut input.findings) {
                let keys = all_keys(&finding, node.as_deref(), sources, &self.root);
                let mut entries = keys.into_iter().map(Entry::from);
                let known = entries.find(|entry| left.get(entry).is_some_and(|count| *count > 0));
                match known {
                    Some(entry) if finding.rule.may_be_silenced(finding.severity) => {
                        left.entry(entry).and_modify(|count| *count -= 1);
                        input.silenced.push(Silenced { finding, by: SilencedBy::Baseline });
                    }
                    _ => input.findings.push(finding),
                }
            }
        }
        if !self.sees_all(report) {
            return;
        }
        let read: Vec<String> =
            sources.paths().iter().map(|path| crate::key::below(path, &self.root)).collect();
        let stale = left.iter().filter(|(entry, count)| **count > 0 && read.contains(&entry.path));
        let count: usize = stale.map(|(_, count)| *count).sum();
        if let (Some(first), true) = (report.inputs.first_mut(), count > 0) {
            let findings = if count == 1 { "1 finding" } else { "findings" };
            let message = if count == 1 {
                format!("The baseline lists {findings} that no longer occurs")
            } else {
                format!("The baseline lists {count} {findings} that no longer occur")
            };
            first.findings.push(
                Diagnostic::new(Rule::StaleBaseline, message)
                    .with_help("`--write-baseline` removes what no longer occurs."),
            );
        }
    }

    /// Returns the baseline of a report that this one has silenced: without what no longer occurs, and, if asked for, with what is
    /// reported. Entries of what was not looked at stay.
    pub fn updated(&self, report: &Report, sources: &Sources, adds: bool) -> Self {
        let read: Vec<String> =
            sources.paths().iter().map(|path| crate::key::below(path, &self.root)).collect();
        let sees_all = self.sees_all(report);
        let is_out_of_sight =
            |entry: &Entry| !sees_all || (!entry.path.is_empty() && !read.contains(&entry.path));
        let kept: BTreeMap<Entry, usize> = self
            .entries
            .iter()
            .filter(|(entry, _)| is_out_of_sight(entry))
            .map(|(entry, count)| (entry.clone(), *count))
            .collect();
        let mut entries: BTreeMap<Entry, usize> = BTreeMap::new();
        for input in &report.inputs {
            let known =
                input.silenced.iter().filter(|one| one.by == SilencedBy::Baseline).map(|one| &one.finding);
            let new = input
                .findings
                .iter()
                .filter(|finding| adds && finding.rule.may_be_silenced(finding.severity));
            for finding in known.chain(new) {
                let key = finding_key(finding, input.node.as_deref(), sources, &self.root);
                *entries.entry(Entry::from(key)).or_default() += 1;
            }
        }
        for (entry, count) in kept {
            let seen = entries.entry(entry).or_default();
            *seen = count.max(*seen);
        }
        Self { entries, root: self.root.clone(), is_for_part: self.is_for_part }
    }

    /// Returns how often a finding is listed, under the name that its rule has or had.
    pub fn count_of(&self, finding: &Diagnostic, node: Option<&str>, sources: &Sources) -> usize {
        if !finding.rule.may_be_silenced(finding.severity) {
            return 0;
        }
        let keys = all_keys(finding, node, sources, &self.root).into_iter().map(Entry::from);
        keys.filter_map(|entry| self.entries.get(&entry)).sum()
    }

    pub fn len(&self) -> usize {
        self.entries.values().sum()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}
