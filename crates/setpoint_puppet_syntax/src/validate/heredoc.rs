//! The text of a heredoc whose tag names its syntax: `@(END:json)`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use setpoint_source::{FileId, Range, Severity, Sources};

use super::Validator;
use crate::Parse;

impl Validator<'_> {
    /// Checks a text without interpolation, as Puppet does for the syntaxes that it knows.
    pub(super) fn heredoc_syntax(&mut self, syntax: &str, content: &str, range: Range) {
        // `data+json` is checked as JSON: the last segments are the most general.
        let problem = match syntax.rsplit('+').next().unwrap_or(syntax) {
            "json" => json_problem(content),
            "base64" => base64_problem(content),
            "pp" if syntax == "pp" => code_problem(content, "PP", crate::parse),
            "epp" if syntax == "epp" => code_problem(content, "EPP", crate::parse_epp),
            _ => None,
        };
        if let Some(problem) = problem {
            self.report(range, format!("Invalid produced text having syntax: '{syntax}'. {problem}"));
        }
    }
}

fn code_problem(content: &str, checker: &str, parse: fn(FileId, &str) -> Parse) -> Option<String> {
    // Code with heredocs of code, and so on: only the outermost is looked at.
    if content.contains("@(") {
        return None;
    }
    let sources = Sources::new();
    let file = sources.add("", content);
    let parsed = parse(file, content);
    let error = parsed.diagnostics.iter().find(|diagnostic| diagnostic.severity == Severity::Error)?;
    let place = error.span.map_or_else(String::new, |span| {
        let position = sources.position(span);
        format!(" (line: {}, column: {})", position.line, position.column)
    });
    Some(format!("{checker} syntax checker: \"{}{place}\"", error.message))
}

fn json_problem(content: &str) -> Option<String> {
    let error = serde_json::from_str::<serde::de::IgnoredAny>(content).err()?;
    // Puppet's parser takes comments and unknown escapes.
    if content.contains("//") || content.contains("/*") || content.contains('\\') {
        return None;
    }
    Some(format!("JSON syntax checker: Cannot parse invalid JSON string. \"{error}\""))
}

fn base64_problem(content: &str) -> Option<String> {
    let is_blank = |byte: &u8| matches!(byte, b'\r' | b'\n' | b' ' | b'\t' | b'?');
    let cleaned: Vec<u8> = content.bytes().filter(|byte| !is_blank(byte)).collect();
    if STANDARD.decode(&cleaned).is_ok() {
        return None;
    }
    let cause = if (cleaned.len() * 8).is_multiple_of(6) {
        "contains letters outside strict base 64 range (or whitespace)"
    } else {
        "padding is not correct"
    };
    Some(format!("Base64 syntax checker: Cannot parse invalid Base64 string - {cause}"))
}
