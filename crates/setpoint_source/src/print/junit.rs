//! JUnit's XML: each input is a suite, each question about it a test, and each finding that may fail a call a test that failed.

use std::fmt::Write;

use crate::{InputReport, Report, Severity, Sources};

/// Returns the report. A refuted answer and a finding of an error or warning are failures, an open answer is a skipped test.
pub fn junit(report: &Report, sources: &Sources) -> String {
    let mut suites = String::new();
    let (mut tests, mut failures, mut skipped) = (0, 0, 0);
    for input in &report.inputs {
        let cases = cases(input, sources);
        let count = |wanted: fn(&Outcome) -> bool| cases.iter().filter(|case| wanted(&case.outcome)).count();
        let failed = count(|outcome| matches!(outcome, Outcome::Failed { .. }));
        let open = count(|outcome| matches!(outcome, Outcome::Skipped(_)));
        (tests, failures, skipped) = (tests + cases.len(), failures + failed, skipped + open);
        let name = input
            .node
            .as_ref()
            .map_or_else(|| input.path.clone(), |node| format!("{} for {node}", input.path));
        let name = escape(&name);
        let _ = writeln!(
            suites,
            "  <testsuite name=\"{name}\" tests=\"{}\" failures=\"{failed}\" skipped=\"{open}\">",
            cases.len()
        );
        for case in &cases {
            suites.push_str(&case.xml(&name));
        }
        suites.push_str("  </testsuite>\n");
    }
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <testsuites name=\"setpoint\" tests=\"{tests}\" failures=\"{failures}\" skipped=\"{skipped}\">\n{suites}</testsuites>\n"
    )
}

struct Case {
    name: String,
    outcome: Outcome,
}

enum Outcome {
    Passed,
    /// The question is open, for this reason.
    Skipped(String),
    Failed {
        message: String,
        rule: &'static str,
        details: String,
    },
}

/// Returns the tests of one input: its questions, then its findings.
fn cases(input: &InputReport, sources: &Sources) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for ((question, answer), (_, word)) in input.verdict().iter().zip(input.verdict().words()) {
        let name = question.heading().to_owned();
        let outcome = if answer.is_proved() {
            Outcome::Passed
        } else if answer.is_unknown() {
            let reasons = input.verdict().reasons();
            let of_question = reasons.iter().filter(|(_, questions)| questions.contains(&question));
            let words: Vec<&str> = of_question.map(|(reason, _)| reason.words.as_str()).collect();
            Outcome::Skipped(words.join("; "))
        } else {
            Outcome::Failed { message: format!("{name}: {word}"), rule: "verdict", details: String::new() }
        };
        cases.push(Case { name, outcome });
    }
    for finding in input.findings.iter().filter(|finding| finding.severity >= Severity::Warning) {
        let place = finding.span.map(|span| format!(" ({})", sources.place(span))).unwrap_or_default();
        let details: Vec<String> = finding.details().collect();
        cases.push(Case {
            name: format!("{}{place}", finding.rule.name()),
            outcome: Outcome::Failed {
                message: finding.message.clone(),
                rule: finding.rule.name(),
                details: details.join("\n"),
            },
        });
    }
    cases
}

impl Case {
    fn xml(&self, suite: &str) -> String {
        let head = format!("    <testcase classname=\"{suite}\" name=\"{}\"", escape(&self.name));
        match &self.outcome {
            Outcome::Passed => format!("{head}/>\n"),
            Outcome::Skipped(reason) => {
                format!("{head}>\n      <skipped message=\"{}\"/>\n    </testcase>\n", escape(reason))
            }
            Outcome::Failed { message, rule, details } => format!(
                "{head}>\n      <failure message=\"{}\" type=\"{rule}\">{}</failure>\n    </testcase>\n",
                escape(message),
                escape(details)
            ),
        }
    }
}

/// Escapes text for XML; characters that XML 1.0 cannot have become a replacement character.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push_str("&#9;"),
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Diagnostic, Rule};

    #[test]
    fn what_comes_from_inputs_is_escaped_and_notes_fail_nothing() {
        let mut input = InputReport::new("a<b.pp", "puppet");
        input.findings =
            vec![Diagnostic::new(Rule::Diverges, "a \"b\"\u{1}"), Diagnostic::new(Rule::Undecided, "note")];
        let text = junit(&Report { inputs: vec![input] }, &Sources::new());
        assert!(
            text.contains("<testsuite name=\"a&lt;b.pp\" tests=\"1\" failures=\"1\" skipped=\"0\">"),
            "{text}"
        );
        assert!(text.contains("message=\"a &quot;b&quot;\u{fffd}\" type=\"diverges\""), "{text}");
    }
}
