//! What comments and baselines silence, in every language.

#![allow(clippy::unwrap_used, reason = "a test")]

use setpoint_silence::{Baseline, silence};
use setpoint_source::{Diagnostic, InputReport, Range, Report, Rule, Severity, SilencedBy, Sources, Verdict};

/// A report with one finding of a rule wherever a text stands in a file.
fn report(path: &str, text: &str, found: &[(Rule, &str)]) -> (Sources, Report) {
    let sources = Sources::new();
    let file = sources.add(path, text);
    let mut input = InputReport::new(path, "puppet");
    input.entered.insert("a".to_owned());
    for (rule, at) in found {
        let start = text.find(at).unwrap();
        input
            .findings
            .push(Diagnostic::new(*rule, "found").at(Range::new(start, start + at.len()).in_file(file)));
    }
    input.conclude(Verdict::nothing_asked());
    (sources, Report { inputs: vec![input] })
}

/// The rules that are reported, and how many findings comments silence.
fn told(path: &str, text: &str, found: &[(Rule, &str)]) -> (Vec<&'static str>, usize) {
    let (sources, mut report) = report(path, text, found);
    silence(&mut report, &sources, None);
    (report.findings().map(|finding| finding.rule.name()).collect(), report.silenced(SilencedBy::Comment))
}

const ORDER: Rule = Rule::MissingOrder;

#[test]
fn a_comment_on_its_own_line_holds_for_the_next_statement_with_its_body() {
    let text = "class a {\n  # setpoint:allow(missing-order) both are the same\n  file { '/x':\n    mode => '0600',\n  }\n  file { '/y': }\n}\n";
    assert_eq!(told("a.pp", text, &[(ORDER, "mode")]), (vec![], 1));
    assert_eq!(told("a.pp", text, &[(ORDER, "file { '/x'")]), (vec![], 1));
    // The next one is not covered, and nothing is silenced.
    assert_eq!(told("a.pp", text, &[(ORDER, "file { '/y'")]), (vec!["missing-order", "unused-allow"], 0));
    // Another rule is not covered.
    assert_eq!(told("a.pp", text, &[(Rule::Diverges, "mode")]), (vec!["diverges", "unused-allow"], 0));
}

#[test]
fn a_comment_above_a_class_holds_for_all_inside_it() {
    let text = "# setpoint:allow(missing-order, diverges) as it is\nclass a {\n  file { '/x': }\n}\n";
    assert_eq!(told("a.pp", text, &[(ORDER, "file"), (Rule::Diverges, "'/x'")]), (vec![], 2));
}

#[test]
fn a_comment_at_the_end_of_a_line_holds_for_that_line() {
    let text = "class a {\n  file { '/x': } # setpoint:allow(missing-order) why\n  file { '/y': }\n}\n";
    assert_eq!(told("a.pp", text, &[(ORDER, "file { '/x'")]), (vec![], 1));
    assert_eq!(told("a.pp", text, &[(ORDER, "file { '/y'")]).1, 0);
}

#[test]
fn a_comment_for_the_file_stands_within_ten_lines() {
    let text = "# setpoint:allow-file(missing-order) generated\nclass a {\n  file { '/x': }\n}\n";
    assert_eq!(told("a.pp", text, &[(ORDER, "file {")]), (vec![], 1));
    let late = format!("{}{text}", "\n".repeat(12));
    assert_eq!(told("a.pp", &late, &[(ORDER, "file {")]).1, 0);
}

#[test]
fn any_place_of_a_finding_is_enough() {
    let text = "class a {\n  file { '/x': }\n  file { '/y': } # setpoint:allow(missing-order) why\n}\n";
    let (sources, mut report) = report("a.pp", text, &[(ORDER, "file { '/x'")]);
    let second = text.find("file { '/y'").unwrap();
    let finding = &mut report.inputs[0].findings[0];
    let span = finding.span.unwrap();
    let label = Range::new(second, second + 4).in_file(span.file);
    *finding = finding.clone().with_label(label, "here");
    silence(&mut report, &sources, None);
    assert_eq!(report.silenced(SilencedBy::Comment), 1);
}

#[test]
fn a_comment_without_a_reason_silences_nothing() {
    let text = "class a {\n  # setpoint:allow(missing-order)\n  file { '/x': }\n}\n";
    assert_eq!(told("a.pp", text, &[(ORDER, "file {")]), (vec!["missing-order", "allow-without-reason"], 0));
}

#[test]
fn what_was_not_entered_is_not_called_unused() {
    let text = "class other {\n  # setpoint:allow(missing-order) why\n  file { '/x': }\n}\n";
    assert_eq!(told("a.pp", text, &[]), (vec![], 0));
    let unknown = "class a {\n  # setpoint:allow(missing-odrer) why\n  file { '/x': }\n}\n";
    assert_eq!(told("a.pp", unknown, &[]), (vec!["unused-allow"], 0));
}

#[test]
fn what_does_not_compile_cannot_be_silenced() {
    let text = "# setpoint:allow-file(syntax-error, unknown-function, nothing-checked) why\nclass a { }\n";
    let found =
        [(Rule::SyntaxError, "class"), (Rule::UnknownFunction, "class"), (Rule::NothingChecked, "class")];
    let (rules, silenced) = told("a.pp", text, &found);
    assert_eq!(silenced, 0);
    assert_eq!(rules.iter().filter(|rule| **rule != "unused-allow").count(), 3);
}

#[test]
fn text_in_strings_is_no_comment() {
    let text = "class a {\n  file { '/x': content => '\n  # setpoint:allow(missing-order) why\n' }\n  file { '/y': }\n}\n";
    assert_eq!(told("a.pp", text, &[(ORDER, "file { '/y'")]), (vec!["missing-order"], 0));
    let text = "a: |\n  # setpoint:allow(missing-order) why\n  b\nc: d\n";
    assert_eq!(told("a.yaml", text, &[(ORDER, "c: d")]), (vec!["missing-order"], 0));
}

#[test]
fn every_language_has_its_own_comments() {
    for (path, text) in [
        ("a.yaml", "x: 1\n# setpoint:allow(missing-order) why\nbad:\n  inner: HERE\n"),
        ("a.yaml", "x: 1\nbad: HERE # setpoint:allow(missing-order) why\n"),
        ("a.yaml", "# setpoint:allow(missing-order) why\nbad:\n- HERE\n"),
        ("a.epp", "<%# setpoint:allow(missing-order) why %>\n<%= HERE %>\n"),
        ("a.erb", "<%# setpoint:allow(missing-order) why -%>\n<%= HERE %>\n"),
        ("a.sf", "// setpoint:allow(missing-order) why\nsfConfig extends {\n  x HERE;\n}\n"),
        ("a.sf", "/* setpoint:allow(missing-order) why */\nx HERE;\n"),
        ("template.yml", "Resources:\n  # setpoint:allow(missing-order) why\n  A:\n    Type: HERE\n"),
    ] {
        assert_eq!(told(path, text, &[(ORDER, "HERE")]), (vec![], 1), "{path}: {text}");
    }
    let text = "# setpoint:allow(missing-order) why\nfirst:\n  a: 1\nbad: HERE\n";
    assert_eq!(told("a.yaml", text, &[(ORDER, "HERE")]).1, 0);
}

#[test]
fn a_baseline_knows_findings_by_their_lines_and_counts_them() {
    let text = "class a {\n  file { '/x': }\n  file { '/x': }\n}\n";
    let (sources, mut first) = report("a.pp", text, &[(ORDER, "file {")]);
    let baseline = Baseline::empty("");
    silence(&mut first, &sources, Some(&baseline));
    assert_eq!(first.findings().count(), 1);
    let written = baseline.updated(&first, &sources, false);
    assert!(written.is_empty(), "without --add nothing is added");
    let written = baseline.updated(&first, &sources, true);
    assert_eq!(Baseline::read(&written.text(), "").unwrap(), written);
    assert_eq!(written.text().lines().count(), 3);

    // The code has moved, and there is one more of the same.
    let moved = format!("\n\n{text}");
    let (sources, mut later) = report("a.pp", &moved, &[(ORDER, "file {"), (ORDER, "file {")]);
    silence(&mut later, &sources, Some(&written));
    assert_eq!((later.findings().count(), later.silenced(SilencedBy::Baseline)), (1, 1));
}

#[test]
fn entries_that_no_longer_occur_are_told_and_removed() {
    let (sources, mut first) = report("a.pp", "class a { file { '/x': } }\n", &[(ORDER, "file {")]);
    silence(&mut first, &sources, None);
    let known = Baseline::empty("").updated(&first, &sources, true);
    let (sources, mut clean) = report("a.pp", "class a { }\n", &[]);
    silence(&mut clean, &sources, Some(&known));
    let rules: Vec<Rule> = clean.findings().map(|finding| finding.rule).collect();
    assert_eq!(rules, [Rule::StaleBaseline]);
    assert!(known.updated(&clean, &sources, false).is_empty());
    // A run that did not read the file knows nothing about it.
    let (sources, mut other) = report("b.pp", "class a { }\n", &[]);
    silence(&mut other, &sources, Some(&known));
    assert_eq!(other.findings().count(), 0);
    assert_eq!(known.updated(&other, &sources, false), known);
}

#[test]
fn what_does_not_compile_is_in_no_baseline() {
    let found = [(Rule::SyntaxError, "class"), (Rule::UnknownFunction, "class")];
    let (sources, mut first) = report("a.pp", "class a { }\n", &found);
    silence(&mut first, &sources, None);
    assert!(Baseline::empty("").updated(&first, &sources, true).is_empty());
    assert_eq!(first.worst(), Some(Severity::Error));
}

#[test]
fn other_texts_are_no_baseline() {
    for text in ["", "[]", "{}", "{\"setpoint_baseline\":2,\"findings\":[]}", "{\"setpoint_baseline\":1}"] {
        assert!(Baseline::read(text, "").is_err(), "{text}");
    }
}

#[test]
fn a_comment_for_the_file_below_its_first_lines_is_told_as_such() {
    let text =
        format!("class a {{\n{}  # setpoint:allow-file(missing-order) generated\n}}\n", "\n".repeat(12));
    let (sources, mut report) = report("a.pp", &text, &[]);
    silence(&mut report, &sources, None);
    let told: Vec<&str> = report.findings().map(|finding| finding.message.as_str()).collect();
    assert_eq!(
        told,
        [
            "A comment for the whole file counts in its first 10 lines; this is line 14, so it silences nothing"
        ]
    );
}

#[test]
fn comments_of_nodes_functions_and_templates_are_unused_only_if_their_code_was_evaluated() {
    let node = "node 'x' {\n  # setpoint:allow(missing-order) why\n  $a = 1\n}\n";
    let function = "function f() {\n  # setpoint:allow(missing-order) why\n  1\n}\n";
    let template = "<%# setpoint:allow(missing-order) why %>\nx\n";
    for (path, text, line) in [("n.pp", node, 3), ("f.pp", function, 3), ("t.epp", template, 2)] {
        for (evaluated, wanted) in [(format!("{path}:{line}"), 1), ("other.pp:3".to_owned(), 0)] {
            let (sources, mut report) = report(path, text, &[]);
            report.inputs[0].entered.insert(evaluated);
            silence(&mut report, &sources, None);
            let unused = report.findings().filter(|finding| finding.rule == Rule::UnusedAllow).count();
            assert_eq!(unused, wanted, "{path}");
        }
    }
}

#[test]
fn a_run_that_does_not_see_all_removes_nothing_from_the_baseline() {
    let text = "class a {\n  file { '/x': }\n}\n";
    let (sources, found) = report("a.pp", text, &[(ORDER, "file")]);
    let baseline = Baseline::empty("").updated(&found, &sources, true);
    let (sources, clean) = report("a.pp", text, &[]);
    assert!(baseline.updated(&clean, &sources, false).is_empty());
    assert_eq!(baseline.clone().for_part().updated(&clean, &sources, false).text(), baseline.text());
    // Code that does not parse hides what is in it.
    let (sources, broken) = report("a.pp", text, &[(Rule::SyntaxError, "file")]);
    assert_eq!(baseline.updated(&broken, &sources, false).text(), baseline.text());
    // What is found again is counted once.
    let (sources, mut again) = report("a.pp", text, &[(ORDER, "file")]);
    silence(&mut again, &sources, Some(&baseline));
    assert_eq!(baseline.clone().for_part().updated(&again, &sources, true).text(), baseline.text());
}
