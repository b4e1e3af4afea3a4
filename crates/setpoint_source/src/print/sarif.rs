//! SARIF 2.1.0, as code-scanning services read it.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::{Diagnostic, Report, Rule, Severity, Sources, Span};

pub fn sarif(report: &Report, sources: &Sources, version: &str) -> Value {
    let mut rules: Vec<Rule> = Vec::new();
    for finding in report.findings() {
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
            })
        })
        .collect();
    let results: Vec<Value> = report.findings().map(|finding| result(finding, &rules, sources)).collect();
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

fn result(finding: &Diagnostic, rules: &[Rule], sources: &Sources) -> Value {
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
        "locations": finding.span.map(|span| vec![physical(span, sources)]).unwrap_or_default(),
    });
    if !related.is_empty() {
        out["relatedLocations"] = json!(related);
    }
    if let Some(fix) = &finding.fix {
        let changes: Vec<Value> = fix
            .edits
            .iter()
            .map(|edit| {
                let place = physical(edit.span, sources);
                json!({
                    "artifactLocation": place["physicalLocation"]["artifactLocation"],
                    "replacements": [{
                        "deletedRegion": place["physicalLocation"]["region"],
                        "insertedContent": { "text": edit.replacement },
                    }],
                })
            })
            .collect();
        out["fixes"] = json!([{ "description": { "text": fix.title }, "artifactChanges": changes }]);
    }
    out
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

/// A path as a relative or `file:` reference, with what URIs reserve escaped.
fn uri(path: &str) -> String {
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
