//! Short text: one line a finding, as editors and `grep` read it; and how often each rule was broken.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::located;
use crate::{Report, Rule, Severity, Sources};

/// Returns a line a finding: `site.pp:3:5: error[missing-order]: …`.
pub fn concise(report: &Report, sources: &Sources) -> String {
    let mut out = String::new();
    for (input, finding) in located(report) {
        let place = finding.span.map_or_else(|| input.path.clone(), |span| sources.place(span));
        let message = finding.message.replace('\n', " ");
        let (severity, rule) = (finding.severity.as_str(), finding.rule.name());
        let _ = writeln!(out, "{place}: {severity}[{rule}]: {message}");
    }
    out
}

/// Returns a line a rule that was broken: how often, and what it means. The worst and most frequent come first.
pub fn statistics(report: &Report) -> String {
    let mut counts: BTreeMap<(Severity, &'static str), (usize, Rule)> = BTreeMap::new();
    for finding in report.findings() {
        let key = (finding.severity, finding.rule.name());
        counts.entry(key).or_insert((0, finding.rule)).0 += 1;
    }
    let mut rows: Vec<_> = counts.into_iter().collect();
    rows.sort_by_key(|((severity, name), (count, _))| (std::cmp::Reverse((*severity, *count)), *name));
    let width = rows.iter().map(|((_, name), _)| name.len()).max().unwrap_or(0);
    let mut out = String::new();
    for ((severity, name), (count, rule)) in rows {
        let _ = writeln!(out, "{count:>6}  {:7}  {name:width$}  {}", severity.as_str(), rule.summary());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Diagnostic, InputReport, Range};

    fn report(sources: &Sources) -> Report {
        let file = sources.add("site.pp", "a\n  b\n");
        let mut input = InputReport::new("site.pp", "puppet");
        input.findings = vec![
            Diagnostic::new(Rule::Diverges, "two\nlines").at(Range::new(4, 5).in_file(file)),
            Diagnostic::new(Rule::Undecided, "no place"),
            Diagnostic::new(Rule::Undecided, "again"),
        ];
        Report { inputs: vec![input] }
    }

    #[test]
    fn each_finding_is_one_line_with_a_place() {
        let sources = Sources::new();
        let text = concise(&report(&sources), &sources);
        assert_eq!(
            text.lines().map(|line| line.split(": ").next().unwrap_or("")).collect::<Vec<_>>(),
            ["site.pp:2:3", "site.pp", "site.pp"]
        );
        assert!(text.contains("two lines"), "{text}");
    }

    #[test]
    fn rules_are_counted_the_worst_first() {
        let sources = Sources::new();
        let text = statistics(&report(&sources));
        let words: Vec<Vec<&str>> =
            text.lines().map(|line| line.split_whitespace().take(3).collect()).collect();
        assert_eq!(words[0][2], "diverges");
        assert_eq!(words[1], ["2", "note", "undecided"]);
    }
}
