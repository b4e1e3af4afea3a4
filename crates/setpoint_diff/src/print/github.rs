//! Annotations that GitHub shows beside the lines of a pull request.

use std::fmt::Write as _;

use setpoint_source::Severity;

use super::{chain, few_names, headline, title};
use crate::{Comparison, FindingStory};

/// GitHub shows so many of a kind, and drops the rest without a word.
const MAX_ANNOTATIONS: usize = 10;

pub fn github(found: &Comparison) -> String {
    found.differences.secrets.mask(&annotations(found))
}

fn annotations(found: &Comparison) -> String {
    let mut out = String::new();
    let shown =
        if found.new_findings.len() > MAX_ANNOTATIONS { MAX_ANNOTATIONS - 1 } else { MAX_ANNOTATIONS };
    for finding in found.new_findings.iter().take(shown) {
        let command = match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "notice",
        };
        let mut properties = Vec::new();
        if let Some((path, line)) = shown_place(finding) {
            properties.push(format!("file={}", escape_property(path)));
            properties.push(format!("line={line}"));
        }
        properties.push(format!("title={}", escape_property(&format!("setpoint: {}", finding.rule))));
        let mut lines = vec![title(finding)];
        lines.extend(chain(finding).map(|names| names.join(" → ")));
        lines.extend(finding.details.iter().chain(&finding.helps).cloned());
        let names: Vec<&str> = finding.nodes.iter().map(String::as_str).collect();
        if !names.is_empty() {
            lines.push(format!("on {}", few_names(&names, str::to_owned)));
        }
        let _ = writeln!(out, "::{command} {}::{}", properties.join(","), escape(&lines.join("\n")));
    }
    let left = found.new_findings.len().saturating_sub(shown);
    if left > 0 {
        let _ = writeln!(
            out,
            "::notice title=setpoint::{} and {left} more findings: the comment has them",
            escape(&headline(found).words)
        );
    }
    out
}

/// Where the annotation stands: GitHub shows only those at lines that the change touches, so at the first of these that the
/// finding is about.
fn shown_place(finding: &FindingStory) -> Option<(&str, u32)> {
    let new_lines = finding.frames.iter().flat_map(|frame| {
        frame.lines.iter().filter(|line| line.is_new).map(|line| (frame.path.as_str(), line.number))
    });
    let place = finding.place.as_ref().map(|(path, line)| (path.as_str(), *line));
    let is_new = |place: &(&str, u32)| new_lines.clone().any(|new| new == *place);
    place.filter(is_new).or_else(|| new_lines.clone().next()).or(place)
}

fn escape(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn escape_property(text: &str) -> String {
    escape(text).replace(':', "%3A").replace(',', "%2C")
}
