//! For a terminal.

use std::fmt::Write as _;

use setpoint_source::Severity;

use super::{
    by_nodes, chain, compared, few_names, frame_lines, headline, node_names, place, rows, source_lines,
    title, uncounted,
};
use crate::{Comparison, FindingStory, NextRunForm, NextRunStory};

pub fn text(found: &Comparison) -> String {
    found.differences.secrets.mask(&written(found))
}

fn written(found: &Comparison) -> String {
    let mut out = format!("{}\n", compared(found, str::to_owned));
    for line in &found.not_compared {
        let _ = writeln!(out, "{line}");
    }
    for name in &found.unused {
        let _ = writeln!(out, "no node uses {name}, which the change edits");
    }
    let groups = found.differences.groups();
    out.push('\n');
    for finding in &found.new_findings {
        told_finding("new", finding, &mut out);
    }
    for finding in &found.gone_findings {
        told_finding("gone", finding, &mut out);
    }
    let all = found.nodes.len();
    for group in &groups {
        for hunk in &group.causes {
            let _ = writeln!(out, "{}", place(hunk));
            for line in source_lines(hunk) {
                let _ = writeln!(out, "    {line}");
            }
        }
        if group.causes.is_empty() {
            out.push_str("not explained by a changed line\n");
        }
        for (names, changes) in by_nodes(group) {
            let _ = writeln!(out, "  on {}:", node_names(&names, all));
            for line in changes.iter().flatten() {
                let _ = writeln!(out, "    {line}");
            }
        }
        out.push('\n');
    }
    for story in &found.next_runs {
        let names: Vec<&str> = story.nodes.iter().map(String::as_str).collect();
        let _ = writeln!(out, "The next run on {}:", few_names(&names, str::to_owned));
        for line in next_run_lines(story, found.about.next_run) {
            let _ = writeln!(out, "  {line}");
        }
        out.push('\n');
    }
    for (heading, lines) in uncounted(found) {
        let _ = writeln!(out, "{heading}");
        for line in lines {
            let _ = writeln!(out, "  {line}");
        }
        out.push('\n');
    }
    for row in rows(found) {
        if row.nodes.is_empty() {
            continue;
        }
        let names: Vec<&str> = row.nodes.iter().map(|node| node.name.as_str()).collect();
        let names = row.instead.clone().unwrap_or_else(|| few_names(&names, str::to_owned));
        let _ = writeln!(out, "{:>5}  {}  {names}", row.nodes.len(), row.words);
    }
    let _ = writeln!(out, "{}", headline(found).words);
    out
}

fn next_run_lines(story: &NextRunStory, form: Option<NextRunForm>) -> Vec<String> {
    match (&story.run, form) {
        (Ok(run), Some(NextRunForm::Full)) => run.text().lines().map(str::to_owned).collect(),
        (Ok(run), _) => run.summary(),
        (Err(reason), _) => vec![format!("It is not known: {reason}")],
    }
}

fn told_finding(word: &str, finding: &FindingStory, out: &mut String) {
    let severity = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    let _ = writeln!(out, "{word} {severity}[{}]: {}", finding.rule, title(finding));
    if let Some(chain) = chain(finding) {
        let _ = writeln!(out, "    {}", chain.join(" → "));
    }
    if word == "gone" {
        out.push('\n');
        return;
    }
    for line in frame_lines(finding) {
        let _ = writeln!(out, "    {line}");
    }
    for line in finding.details.iter().chain(&finding.helps) {
        let _ = writeln!(out, "  {line}");
    }
    let names: Vec<&str> = finding.nodes.iter().map(String::as_str).collect();
    if !names.is_empty() {
        let _ = writeln!(out, "  on {}", few_names(&names, str::to_owned));
    }
    if let Some(fix) = &finding.fix {
        let _ = writeln!(out, "  fix (checked on {}): {}", super::nodes(fix.checked_on), fix.title);
        for line in &fix.lines {
            let _ = writeln!(out, "    {line}");
        }
    }
    out.push('\n');
}
