//! Annotations that GitHub shows beside the lines of a pull request.

use std::fmt::Write as _;

use setpoint_source::Severity;

use super::{chain, few_names, headline, title};
use crate::Comparison;

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
        if let Some((path, line)) = &finding.place {
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

fn escape(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn escape_property(text: &str) -> String {
    escape(text).replace(':', "%3A").replace(',', "%2C")
}
