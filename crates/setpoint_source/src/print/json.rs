//! The JSON of `check`: stable, documented and versioned.

use serde_json::{Map, Value, json};

use crate::{Diagnostic, InputReport, Report, Silenced, SilencedBy, Sources, Span};

/// The whole report.
pub fn json(report: &Report, sources: &Sources, version: &str) -> Value {
    let inputs: Vec<Value> = report.inputs.iter().map(|input| input_json(input, sources)).collect();
    json!({ "setpoint": version, "inputs": inputs })
}

fn input_json(input: &InputReport, sources: &Sources) -> Value {
    let mut out = Map::new();
    out.insert("path".into(), json!(input.path));
    out.insert("kind".into(), json!(input.kind));
    if let Some(node) = &input.node {
        out.insert("node".into(), json!(node));
    }
    out.insert("verdict".into(), input.verdict().json());
    input.verdict().describe(sources, &mut out);
    if let Some(coverage) = &input.coverage {
        out.insert("coverage".into(), coverage.json());
    }
    let findings: Vec<Value> = input.findings.iter().map(|finding| finding_json(finding, sources)).collect();
    out.insert("findings".into(), json!(findings));
    if !input.silenced.is_empty() {
        let silenced: Vec<Value> = input.silenced.iter().map(|one| silenced_json(one, sources)).collect();
        out.insert("silenced".into(), json!(silenced));
    }
    Value::Object(out)
}

/// What the user knows is told in short.
fn silenced_json(silenced: &Silenced, sources: &Sources) -> Value {
    let Silenced { finding, by } = silenced;
    let by = match by {
        SilencedBy::Comment => "comment",
        SilencedBy::Baseline => "baseline",
    };
    let place = finding.span.map_or(Value::Null, |span| location(span, sources));
    json!({ "rule": finding.rule.name(), "severity": finding.severity.as_str(), "location": place, "by": by })
}

fn finding_json(finding: &Diagnostic, sources: &Sources) -> Value {
    let mut out = Map::new();
    out.insert("rule".into(), json!(finding.rule.name()));
    out.insert("severity".into(), json!(finding.severity.as_str()));
    out.insert("message".into(), json!(finding.message));
    out.insert("location".into(), finding.span.map_or(Value::Null, |span| location(span, sources)));
    out.insert("resources".into(), json!(finding.resources));
    if !finding.nodes.is_empty() {
        out.insert("nodes".into(), json!(finding.nodes));
    }
    if !finding.labels.is_empty() {
        let related: Vec<Value> = finding
            .labels
            .iter()
            .map(|label| json!({ "message": label.text, "location": location(label.span, sources) }))
            .collect();
        out.insert("related".into(), json!(related));
    }
    if !finding.notes.is_empty() {
        out.insert("notes".into(), json!(finding.notes));
    }
    if !finding.helps.is_empty() {
        out.insert("help".into(), json!(finding.helps));
    }
    if let Some(flow) = &finding.flow {
        let place = |span: Option<Span>| span.map_or(Value::Null, |span| location(span, sources));
        let steps = flow.steps.iter().map(|step| json!({ "what": step.what, "location": place(step.span) }));
        out.insert(
            "flow".into(),
            json!({
                "source": { "kind": flow.source_kind, "name": flow.source, "location": place(flow.source_span) },
                "sink": { "resource": flow.resource, "parameter": flow.parameter },
                "steps": steps.collect::<Vec<_>>(),
            }),
        );
    }
    if let Some(story) = &finding.story {
        out.insert("counterexample".into(), story.data.clone());
    }
    if let Some(fix) = &finding.fix {
        let edits: Vec<Value> = fix
            .edits
            .iter()
            .map(|edit| {
                let file = sources.file(edit.span.file);
                let (start, end) = (file.position(edit.span.range.start), file.position(edit.span.range.end));
                json!({
                    "path": file.path(),
                    "start": { "line": start.line, "column": start.column },
                    "end": { "line": end.line, "column": end.column },
                    "replacement": edit.replacement,
                })
            })
            .collect();
        out.insert("fix".into(), json!({ "title": fix.title, "edits": edits }));
    }
    Value::Object(out)
}

/// `{"path", "line", "column"}` of the start of a span.
pub fn location(span: Span, sources: &Sources) -> Value {
    let file = sources.file(span.file);
    let at = file.position(span.range.start);
    json!({ "path": file.path(), "line": at.line, "column": at.column })
}
