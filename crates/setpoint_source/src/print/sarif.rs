//! SARIF 2.1.0, as code-scanning services read it.

use std::fmt::Write;

use serde_json::{Value, json};

use super::{Fingerprint, located, relative};
use crate::{
    Class, Diagnostic, Edit, Fix, InputReport, Report, Rule, Severity, Silenced, SilencedBy, Sources, Span,
};

/// Returns the log. Every result has a location, since services refuse those that have none.
pub fn sarif(report: &Report, sources: &Sources, version: &str, fingerprint: Fingerprint<'_>) -> Value {
    let silenced =
        || report.inputs.iter().flat_map(|input| input.silenced.iter().map(move |one| (input, one)));
    let mut rules: Vec<Rule> = Vec::new();
    for finding in report.findings().chain(silenced().map(|(_, one)| &one.finding)) {
        if !rules.contains(&finding.rule) {
            rules.push(finding.rule);
        }
    }
    let descriptions: Vec<Value> = rules
        .iter()
        .map(|rule| {
            json!({
                "id": rule.name(),
                "shortDescription": { "text": rule.summary() },
                "help": { "text": rule.explanation(), "markdown": rule.explanation() },
                "defaultConfiguration": { "level": level(rule.severity()) },
                "properties": { "tags": tags(*rule) },
            })
        })
        .collect();
    let result = |input: &InputReport, finding: &Diagnostic| {
        let mut result = result(finding, &rules, sources, input);
        let key = fingerprint(finding, input.node.as_deref());
        result["partialFingerprints"] = json!({ "setpoint/v1": key });
        result
    };
    let mut results: Vec<Value> = located(report).map(|(input, finding)| result(input, finding)).collect();
    for (input, Silenced { finding, by }) in silenced() {
        let kind = match by {
            SilencedBy::Comment => "inSource",
            SilencedBy::Baseline => "external",
        };
        let mut known = result(input, finding);
        known["suppressions"] = json!([{ "kind": kind }]);
        results.push(known);
    }
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "setpoint", "version": version, "rules": descriptions } },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn result(finding: &Diagnostic, rules: &[Rule], sources: &Sources, input: &InputReport) -> Value {
    let mut message = finding.message.clone();
    for line in finding.details() {
        message.push('\n');
        message.push_str(&line);
    }
    let related: Vec<Value> = finding
        .labels
        .iter()
        .enumerate()
        .map(|(id, label)| {
            let mut place = physical(label.span, sources);
            place["id"] = json!(id);
            place["message"] = json!({ "text": label.text });
            place
        })
        .collect();
    let mut out = json!({
        "ruleId": finding.rule.name(),
        "ruleIndex": rules.iter().position(|rule| *rule == finding.rule),
        "level": level(finding.severity),
        "message": { "text": message },
        "locations": [finding.span.map_or_else(|| whole(&input.path), |span| physical(span, sources))],
    });
    if !related.is_empty() {
        out["relatedLocations"] = json!(related);
    }
    if let Some(fix) = finding.fix.as_ref().filter(|fix| !fix.edits.is_empty()) {
        let edits = Fix::by_file(&fix.edits);
        let changes: Vec<Value> = edits.values().map(|edits| artifact_change(edits, sources)).collect();
        out["fixes"] = json!([{ "description": { "text": fix.title }, "artifactChanges": changes }]);
    }
    out
}

/// Returns the change of one file.
fn artifact_change(edits: &[Edit], sources: &Sources) -> Value {
    let mut artifact = Value::Null;
    let replacements: Vec<Value> = edits
        .iter()
        .map(|edit| {
            let mut place = physical(edit.span, sources);
            artifact = place["physicalLocation"]["artifactLocation"].take();
            json!({
                "deletedRegion": place["physicalLocation"]["region"],
                "insertedContent": { "text": edit.replacement },
            })
        })
        .collect();
    json!({ "artifactLocation": artifact, "replacements": replacements })
}

fn physical(span: Span, sources: &Sources) -> Value {
    let file = sources.file(span.file);
    let (start, end) = (file.position(span.range.start), file.position(span.range.end));
    json!({
        "physicalLocation": {
            "artifactLocation": { "uri": uri(file.path()) },
            "region": {
                "startLine": start.line, "startColumn": start.column,
                "endLine": end.line, "endColumn": end.column,
            },
        },
    })
}

/// The location of what is wrong with an input as a whole.
fn whole(path: &str) -> Value {
    let region = json!({ "startLine": 1, "startColumn": 1, "endLine": 1, "endColumn": 1 });
    json!({ "physicalLocation": { "artifactLocation": { "uri": uri(path) }, "region": region } })
}

/// Words by which services sort rules.
fn tags(rule: Rule) -> Vec<&'static str> {
    let class = match rule.class() {
        Class::Defect => "correctness",
        Class::Open => "open-question",
        Class::Assumption => "assumption",
        Class::Syntax => "syntax",
    };
    vec!["infrastructure-as-code", class]
}

/// A path as a relative or `file:` reference, with what URIs reserve escaped.
fn uri(path: &str) -> String {
    let path = relative(path);
    let mut out = String::new();
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            out.push(byte as char);
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    if path.starts_with('/') { format!("file://{out}") } else { out }
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{InputReport, Range};

    #[test]
    fn a_log_has_the_properties_that_readers_look_for() {
        let sources = Sources::new();
        let file = sources.add("a b/ä:1.pp", "# äöü\nä b\n");
        let other = sources.add("/srv/100%.pp", "x");
        let span = |file, start, end| Span { file, range: Range { start, end } };
        let edit = |span, text: &str| Edit { span, replacement: text.to_owned() };
        let edits = vec![
            edit(span(file, 13, 13), "c"),
            edit(span(other, 0, 1), "y"),
            edit(span(file, 9, 12), ""),
            edit(span(file, 13, 13), "c"),
        ];
        let findings = vec![
            Diagnostic::new(Rule::Diverges, "first"),
            Diagnostic::new(Rule::Undecided, "second")
                .at(span(file, 12, 13))
                .with_fix(Fix { title: "mend".into(), edits }),
            Diagnostic::new(Rule::Undecided, "third")
                .with_fix(Fix { title: "nothing".into(), edits: Vec::new() }),
        ];
        let mut input = InputReport::new("a.pp", "puppet");
        input.findings = findings;
        let report = Report { inputs: vec![input] };
        let log = sarif(&report, &sources, "1.2.3", &|finding, _| finding.message.clone());

        let results = &log["runs"][0]["results"];
        assert_eq!(results[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "a.pp");
        assert_eq!(results[0]["partialFingerprints"], json!({ "setpoint/v1": "first" }));
        assert_eq!(results[1]["ruleIndex"], 1);
        assert_eq!(results[1]["level"], "note");
        let region = |start: u32, end: u32| json!({ "startLine": 2, "startColumn": start, "endLine": 2, "endColumn": end });
        let artifact = json!({ "uri": "a%20b/%C3%A4%3A1.pp" });
        assert_eq!(
            results[1]["locations"],
            json!([{ "physicalLocation": { "artifactLocation": artifact, "region": region(3, 4) } }])
        );
        let changes = &results[1]["fixes"][0]["artifactChanges"];
        assert_eq!(changes.as_array().map(Vec::len), Some(2));
        assert_eq!(
            changes[0],
            json!({ "artifactLocation": artifact, "replacements": [
                { "deletedRegion": region(4, 4), "insertedContent": { "text": "c" } },
                { "deletedRegion": region(1, 3), "insertedContent": { "text": "" } },
            ] })
        );
        assert_eq!(changes[1]["artifactLocation"]["uri"], "file:///srv/100%25.pp");
        assert_eq!(results[2]["fixes"], Value::Null);
    }
}
