//! Annotations that GitHub shows beside the lines of a pull request.

use std::fmt::Write;

use crate::{Report, Severity, Sources};

pub fn github(report: &Report, sources: &Sources) -> String {
    let mut out = String::new();
    for finding in report.findings() {
        let command = match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "notice",
        };
        let mut properties = Vec::new();
        if let Some(span) = finding.span {
            let file = sources.file(span.file);
            let (start, end) = (file.position(span.range.start), file.position(span.range.end));
            properties.push(format!("file={}", escape_property(file.path())));
            properties.push(format!("line={}", start.line));
            properties.push(format!("endLine={}", end.line.max(start.line)));
            properties.push(format!("col={}", start.column));
        }
        properties.push(format!("title={}", escape_property(&format!("setpoint: {}", finding.rule.name()))));
        let mut message = finding.message.clone();
        for line in finding.details() {
            message.push('\n');
            message.push_str(&line);
        }
        let _ = writeln!(out, "::{command} {}::{}", properties.join(","), escape(&message));
    }
    out
}

fn escape(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn escape_property(text: &str) -> String {
    escape(text).replace(':', "%3A").replace(',', "%2C")
}
