//! GitLab's code quality report, which a merge request shows beside the changed lines.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Fingerprint, located, relative};
use crate::{Report, Severity, Sources};

/// Returns the report. GitLab wants a fingerprint of its own for each entry: findings that share one are numbered.
pub fn gitlab(report: &Report, sources: &Sources, fingerprint: Fingerprint<'_>) -> Value {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let entries = located(report).map(|(input, finding)| {
        let key = fingerprint(finding, input.node.as_deref());
        let count = seen.entry(key.clone()).or_default();
        *count += 1;
        let unique = if *count == 1 { key } else { format!("{key}-{count}") };
        let (path, line) = match finding.span {
            Some(span) => {
                let file = sources.file(span.file);
                (file.path().to_owned(), file.position(span.range.start).line)
            }
            None => (input.path.clone(), 1),
        };
        let severity = match finding.severity {
            Severity::Error => "major",
            Severity::Warning => "minor",
            Severity::Note => "info",
        };
        json!({
            "description": finding.message,
            "check_name": finding.rule.name(),
            "fingerprint": unique,
            "severity": severity,
            "location": { "path": relative(&path), "lines": { "begin": line } },
        })
    });
    Value::Array(entries.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Diagnostic, InputReport, Rule};

    #[test]
    fn every_entry_has_a_place_and_a_fingerprint_of_its_own() {
        let mut input = InputReport::new("./a.pp", "puppet");
        input.findings = vec![Diagnostic::new(Rule::Diverges, "a"), Diagnostic::new(Rule::Diverges, "b")];
        let report = Report { inputs: vec![input] };
        let entries = gitlab(&report, &Sources::new(), &|_, _| "k".to_owned());
        assert_eq!(entries[0]["fingerprint"], "k");
        assert_eq!(entries[1]["fingerprint"], "k-2");
        assert_eq!(entries[0]["location"], json!({ "path": "a.pp", "lines": { "begin": 1 } }));
    }
}
