//! For a comment on a pull request.

use std::fmt::Write as _;

use indexmap::IndexMap;
use setpoint_source::Severity;

use super::{
    Gist, MAX_GIST, by_nodes, chain, compared, few_names, frame_lines, gist, headline, node_names, nodes,
    place, rows, source_lines, title, uncounted,
};
use crate::{Comparison, FindingStory, Group, NextRunForm};

/// GitHub refuses longer comments.
pub const GITHUB_LIMIT: usize = 65_536;
/// GitLab refuses longer notes.
pub const GITLAB_LIMIT: usize = 1_000_000;
/// What is kept for the end of a comment that is cut.
const RESERVE: usize = 1_500;
/// Lines of the changes of one cause that are listed at most.
const MAX_CHANGED_LINES: usize = 150;
/// Changed pieces of source that are shown of one cause at most.
const MAX_CAUSES: usize = 5;
/// Findings that are told at length; the others are a line each.
const MAX_FINDINGS: usize = 10;

/// The comment, in no more than so many characters.
pub fn markdown(found: &Comparison, limit: usize) -> String {
    let groups = found.differences.groups();
    let mut sections = vec![head(found, &groups)];
    let (first, rest) = found.new_findings.split_at(found.new_findings.len().min(MAX_FINDINGS));
    sections.extend(first.iter().map(new_finding));
    if !rest.is_empty() {
        let lines = rest.iter().map(listed).collect::<String>();
        sections.push(folded(&format!("{} more new findings", rest.len()), &lines));
    }
    sections.extend(next_runs(found));
    if !found.gone_findings.is_empty() {
        let lines = found.gone_findings.iter().map(listed).collect::<String>();
        let count = super::plural(found.gone_findings.len(), "finding", "findings");
        sections.push(folded(&format!("✅ Gone with this change: {count}"), &lines));
    }
    sections.extend(catalog_changes(found, &groups));
    for (heading, lines) in uncounted(found) {
        let lines: Vec<String> = lines.iter().map(|line| format!("- {}", plain(line))).collect();
        sections.push(folded(&heading, &format!("{}\n", lines.join("\n"))));
    }
    // Masked before the lengths are counted.
    let secrets = &found.differences.secrets;
    let sections = sections.iter().map(|section| secrets.mask(section)).collect();
    let report = found.about.report.as_deref().map(|url| secrets.mask(url));
    cut(sections, &secrets.mask(&foot(found)), report.as_deref(), limit)
}

/// Joins sections as far as there is room, and says what was left out.
fn cut(sections: Vec<String>, foot: &str, report: Option<&str>, limit: usize) -> String {
    let length = |text: &str| text.encode_utf16().count();
    let room = limit.saturating_sub(RESERVE.min(limit / 2) + length(foot));
    let (mut out, mut used, mut left) = (String::new(), 0, 0);
    for section in sections {
        let needed = length(&section) + 1;
        if used + needed > room {
            left += 1;
            // What stands before the first cut is told as far as there is room: the next run, most often.
            if left == 1
                && let Some(part) = beginning(&section, room - used)
            {
                used += length(&part) + 1;
                out.push_str(if out.is_empty() { "" } else { "\n" });
                out.push_str(&part);
            }
            continue;
        }
        used += needed;
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&section);
    }
    if left > 0 {
        let what = super::plural(left, "section was", "sections were");
        let where_ = match report {
            Some(url) => format!("[The report]({url}) has all of it."),
            None => "The command below prints all of it with `--format text`.".to_owned(),
        };
        let _ = write!(out, "\n**Cut: {what} too long for a comment.** {where_}\n");
    }
    out.push('\n');
    out.push_str(foot);
    out
}

/// The first lines of a section that fit, with what they open closed; nothing if only its heading would.
fn beginning(section: &str, room: usize) -> Option<String> {
    const CLOSING: usize = 200;
    const LEAST_LINES: usize = 3;
    let room = room.checked_sub(CLOSING)?;
    let (mut out, mut used, mut taken, mut folds) = (String::new(), 0, 0, 0_usize);
    let mut fence: Option<&str> = None;
    let all = section.lines().count();
    for line in section.lines() {
        used += line.encode_utf16().count() + 1;
        if used > room {
            break;
        }
        match (fence, fence_of(line)) {
            (None, opened) => fence = opened,
            (Some(open), Some(_)) if line.trim_end() == open => fence = None,
            _ => {}
        }
        if fence.is_none() {
            folds = (folds + line.matches("<details>").count())
                .saturating_sub(line.matches("</details>").count());
        }
        out.push_str(line);
        out.push('\n');
        taken += 1;
    }
    if taken < LEAST_LINES {
        return None;
    }
    if let Some(fence) = fence {
        let _ = writeln!(out, "{fence}");
    }
    let _ = write!(
        out,
        "\n… {}: the command below prints all.\n",
        super::plural(all - taken, "more line", "more lines")
    );
    out.push_str(&"\n</details>\n".repeat(folds));
    Some(out)
}

/// The backticks that begin a block of code.
fn fence_of(line: &str) -> Option<&str> {
    let end = line.find(|char| char != '`').unwrap_or(line.len());
    line.get(..end).filter(|fence| fence.len() >= 3)
}

fn head(found: &Comparison, groups: &[Group]) -> String {
    let headline = headline(found);
    let marker = on_one_line(&found.about.marker).replace("--", "-").replace('>', "");
    let mut out = format!("<!-- setpoint:{marker} -->\n");
    let _ = writeln!(out, "### {} Setpoint: {}\n", headline.sign, headline.words);
    // One paragraph, so that the first ten lines say what there is to say.
    let mut lines = vec![compared(found, code)];
    if !found.not_compared.is_empty() {
        let sentences: Vec<String> = found.not_compared.iter().map(|line| plain(line)).collect();
        lines.push(format!("⚠️ **{}.**", sentences.join("; ")));
    }
    let gist = gist(groups);
    if !gist.is_empty() {
        let shown = |one: &Gist| match one.alike {
            0 => code(&one.name),
            count => format!("{} and {count} alike", code(&one.name)),
        };
        let mut names: Vec<String> = gist.iter().take(MAX_GIST).map(shown).collect();
        let rest: usize = gist.iter().skip(MAX_GIST).map(|one| one.alike + 1).sum();
        if rest > 0 {
            names.push(format!("{rest} more"));
        }
        lines.push(names.join(" · "));
    }
    if !found.unused.is_empty() {
        let names: Vec<&str> = found.unused.iter().map(String::as_str).collect();
        lines.push(format!("ℹ️ No node uses {}, which the change edits", few_names(&names, code)));
    }
    let _ = writeln!(out, "{}", lines.join("\\\n"));
    out.push_str("\n| | nodes | |\n|---|---|---|\n");
    for row in rows(found) {
        let names: Vec<&str> = row.nodes.iter().map(|node| node.name.as_str()).collect();
        let names = match &row.instead {
            Some(words) => plain(words),
            None => few_names(&names, |name| marked(found, name)),
        };
        let names = in_table(&names);
        let _ = writeln!(out, "| {} {} | {} | {names} |", row.sign, row.words, row.nodes.len());
    }
    out
}

/// The signs of footnotes. What is beyond them shares the last.
const MARKS: [&str; 9] = ["¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"];

/// The sign of a name that was made up.
const MADE_UP: &str = "†";

/// The platforms and nodes whose facts others were compiled with, in the order of their footnotes.
fn lenders(found: &Comparison) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for name in found.nodes.iter().filter_map(|node| node.assumed_facts.as_deref()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The name of a node, with the sign of its footnote.
fn marked(found: &Comparison, name: &str) -> String {
    let node = found.nodes.iter().find(|node| node.name == name);
    let lender = node.and_then(|node| node.assumed_facts.as_deref());
    let at = lender.and_then(|lender| lenders(found).iter().position(|one| *one == lender));
    let mark = at.map_or("", |at| MARKS[at.min(MARKS.len() - 1)]);
    let made_up = if node.is_some_and(|node| node.made_up_for.is_some()) { MADE_UP } else { "" };
    format!("{}{mark}{made_up}", code(name))
}

fn sign(finding: &FindingStory) -> &'static str {
    match finding.severity {
        Severity::Error => "❌",
        Severity::Warning => "⚠️",
        Severity::Note => "ℹ️",
    }
}

fn new_finding(finding: &FindingStory) -> String {
    let mut out = format!("#### {} New: {}\n", sign(finding), plain(&title(finding)));
    if let Some(chain) = chain(finding) {
        let names: Vec<String> = chain.into_iter().map(code).collect();
        let _ = writeln!(out, "{}", names.join(" → "));
    }
    let lines = frame_lines(finding);
    if !lines.is_empty() {
        fenced(&lines, &mut out);
    }
    let details: Vec<String> = finding.details.iter().map(|line| plain(line)).collect();
    if !details.is_empty() {
        let _ = writeln!(out, "{}", details.join("<br>\n"));
    }
    match &finding.fix {
        Some(fix) => {
            let _ = writeln!(out, "\n**Fix (checked on {}):** {}", nodes(fix.checked_on), plain(&fix.title));
            fenced(&fix.lines, &mut out);
        }
        None if !finding.helps.is_empty() => {
            let helps: Vec<String> = finding.helps.iter().map(|line| plain(line)).collect();
            let _ = writeln!(out, "\n{}", helps.join(" "));
        }
        None => {}
    }
    let names: Vec<&str> = finding.nodes.iter().map(String::as_str).collect();
    let on = if names.is_empty() { String::new() } else { format!("on {} · ", few_names(&names, code)) };
    let _ = writeln!(out, "\n{on}`setpoint explain {}`", finding.rule);
    out
}

/// A finding in one line.
fn listed(finding: &FindingStory) -> String {
    let at = finding.place.as_ref().map(|(path, line)| format!(" {}", code(&format!("{path}:{line}"))));
    format!("- {} `{}`: {}{}\n", sign(finding), finding.rule, plain(&finding.message), at.unwrap_or_default())
}

/// The rows of a table, each a change and its cause, and remarks below it.
type RunCells = (Vec<(String, String)>, String);

/// What the next run does in one table; nodes on which the change does the same share its rows. What they do anyway, and step by
/// step, comes folded.
fn next_runs(found: &Comparison) -> Vec<String> {
    if found.next_runs.is_empty() {
        return Vec::new();
    }
    let mut told: IndexMap<RunCells, Vec<&str>> = IndexMap::new();
    let mut folds: IndexMap<(String, String), Vec<&str>> = IndexMap::new();
    for story in &found.next_runs {
        let names = story.nodes.iter().map(String::as_str);
        let told_cells = match &story.run {
            Ok(run) => {
                if let Some((heading, lines)) = run.asides() {
                    let lines = lines.iter().fold(String::new(), |out, line| out + "- " + line + "\n");
                    folds.entry((heading, lines)).or_default().extend(names.clone());
                }
                if found.about.next_run == Some(NextRunForm::Full) {
                    let steps: Vec<String> = run.text().lines().map(str::to_owned).collect();
                    let mut inner = String::new();
                    fenced(&steps, &mut inner);
                    folds.entry(("Step by step".to_owned(), inner)).or_default().extend(names.clone());
                }
                (run.cells(), run.remarks())
            }
            Err(reason) => (vec![("not known".to_owned(), plain(reason))], String::new()),
        };
        told.entry(told_cells).or_default().extend(names);
    }
    let mut out = "#### What the next run does\n| on | change | because |\n|---|---|---|\n".to_owned();
    let mut all_remarks = String::new();
    let is_one = told.len() == 1;
    for ((cells, remarks), names) in &told {
        let on = few_names(names, |name| marked(found, name));
        let of = if is_one { String::new() } else { format!("On {on}: ") };
        if !remarks.is_empty() {
            let _ = writeln!(all_remarks, "\n{of}{}", remarks.trim_end());
        }
        if cells.is_empty() {
            let _ = writeln!(out, "| {} | nothing, as far as is known | |", in_table(&on));
        }
        let on = in_table(&on);
        for (at, (change, because)) in cells.iter().enumerate() {
            let on = if at == 0 { on.as_str() } else { "the same" };
            let _ = writeln!(out, "| {on} | {change} | {because} |");
        }
    }
    out.push_str(&all_remarks);
    let mut sections = vec![out];
    let all: usize = found.next_runs.iter().map(|story| story.nodes.len()).sum();
    for ((heading, inner), names) in &folds {
        let on = if names.len() == all {
            String::new()
        } else {
            format!(", on {}", few_names(names, str::to_owned))
        };
        sections.push(folded(&format!("{heading}{on}"), inner));
    }
    sections
}

/// Each cause with what it changes, folded.
fn catalog_changes(found: &Comparison, groups: &[Group]) -> Vec<String> {
    let all = found.nodes.len();
    let mut sections = Vec::new();
    for (at, group) in groups.iter().enumerate() {
        let mut out = String::new();
        for hunk in group.causes.iter().take(MAX_CAUSES) {
            let _ = writeln!(out, "{}", code(&place(hunk)));
            fenced(&source_lines(hunk), &mut out);
        }
        let mut room = MAX_CHANGED_LINES;
        for (names, changes) in by_nodes(group) {
            let _ = writeln!(out, "\non {}:", plain(&node_names(&names, all)));
            fenced(&told_of(&changes, &mut room), &mut out);
        }
        let (resources, touched) = extent(group);
        let cause = match group.causes.as_slice() {
            [] => "not explained by a changed line".to_owned(),
            [one] => place(one),
            [first, rest @ ..] => {
                format!("{} and {}", place(first), super::plural(rest.len(), "other place", "other places"))
            }
        };
        let heading = if at == 0 { "Catalog changes: " } else { "" };
        let summary = format!(
            "{heading}{cause}: {} on {}",
            super::plural(resources, "change", "changes"),
            nodes(touched)
        );
        sections.push(folded(&summary, &out));
    }
    sections
}

/// The lines of the changes, as far as anybody reads them.
fn told_of(changes: &[Vec<String>], room: &mut usize) -> Vec<String> {
    let (mut lines, mut left) = (Vec::new(), 0);
    for change in changes {
        if change.len() > *room {
            left += 1;
            continue;
        }
        *room -= change.len();
        lines.extend(change.iter().cloned());
    }
    if left > 0 {
        lines.push(format!("  … {}", super::plural(left, "more change", "more changes")));
    }
    lines
}

/// How many changes a cause has, and on how many nodes.
fn extent(group: &Group) -> (usize, usize) {
    let mut names: Vec<&String> = group.changes.iter().flat_map(|(_, nodes)| nodes).collect();
    names.sort_unstable();
    names.dedup();
    (group.changes.len(), names.len())
}

fn foot(found: &Comparison) -> String {
    let mut parts = Vec::new();
    let lenders = lenders(found);
    for (at, mark) in MARKS.iter().enumerate() {
        let last = at + 1 == MARKS.len();
        let named = if last { lenders.get(at..) } else { lenders.get(at..=at) };
        let named: Vec<String> = named.into_iter().flatten().map(|name| code(name)).collect();
        if !named.is_empty() {
            parts.push(format!("{mark} no facts; compiled with those of {}.", named.join(", ")));
        }
    }
    if found.nodes.iter().any(|node| node.made_up_for.is_some()) {
        parts.push(format!("{MADE_UP} a name made up for the regular expression of a node statement."));
    }
    if let Some(FindingStory { rule, .. }) = found.new_findings.iter().find(|one| one.may_be_silenced) {
        parts.push(format!("Silence: `# setpoint:allow({rule}) reason`."));
    }
    let mut last = Vec::new();
    last.extend(found.about.report.as_ref().map(|url| format!("[Report]({url})")));
    last.push(code(&found.about.command));
    parts.push(last.join(" · "));
    format!("{}\n", parts.join(" "))
}

fn folded(summary: &str, inner: &str) -> String {
    // Markdown counts for nothing in a summary, but an empty line would end it.
    let summary = on_one_line(summary).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let summary = summary.replace('@', "@\u{200b}");
    format!("<details><summary>{summary}</summary>\n\n{inner}\n</details>\n")
}

/// A block of differences. The fence is longer than any in the text.
fn fenced(lines: &[String], out: &mut String) {
    let longest =
        lines.iter().map(|line| line.chars().filter(|&char| char == '`').count()).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let _ = writeln!(out, "{fence}diff");
    for line in lines {
        let _ = writeln!(out, "{}", on_one_line(line));
    }
    let _ = writeln!(out, "{fence}");
}

/// A word as code. The fence is longer than any in the text.
fn code(text: &str) -> String {
    let text = on_one_line(text);
    let longest = text.split(|char| char != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    if longest > 0 { format!("{fence} {text} {fence}") } else { format!("{fence}{text}{fence}") }
}

/// Markdown within a table, where a bar ends a cell, in code, too.
fn in_table(markdown: &str) -> String {
    markdown.replace('|', "\\|")
}

/// A text without control characters: names of an input may have them, and a line end would begin new markup.
fn on_one_line(text: &str) -> String {
    text.chars().map(|char| if char.is_control() && char != '\t' { ' ' } else { char }).collect()
}

/// Words of an input, which are no markup here.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut in_code = false;
    let is_balanced = text.matches('`').count().is_multiple_of(2);
    for (at, char) in on_one_line(text).trim_start().char_indices() {
        match char {
            // At the beginning of a line these make a list, a rule or a heading.
            '-' | '+' | '=' if at == 0 => {
                out.push('\\');
                out.push(char);
            }
            '`' if is_balanced => {
                in_code = !in_code;
                out.push('`');
            }
            '`' | '*' | '_' | '[' | ']' | '<' | '>' | '\\' | '|' | '~' if !in_code => {
                out.push('\\');
                out.push(char);
            }
            // A forge takes `@name` for somebody to be told and `#12` for an issue, escaped or not.
            '#' | '@' if !in_code => {
                if at == 0 {
                    out.push('\\');
                }
                out.push(char);
                out.push('\u{200b}');
            }
            _ => out.push(char),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{About, Fate, NodeStory, Presence};

    fn node(name: &str, lender: Option<&str>) -> NodeStory {
        NodeStory {
            name: name.to_owned(),
            fate: Fate::Changes,
            presence: Presence::Both,
            assumed_facts: lender.map(str::to_owned),
            made_up_for: None,
        }
    }

    fn finding(number: usize, details: usize) -> FindingStory {
        FindingStory {
            rule: "always-fails",
            severity: Severity::Error,
            may_be_silenced: true,
            message: format!("File[/srv/{number}] fails"),
            place: Some(("manifests/site.pp".to_owned(), 1)),
            resources: Vec::new(),
            nodes: vec!["a".to_owned()],
            frames: Vec::new(),
            details: vec!["x".repeat(details)],
            helps: Vec::new(),
            fix: None,
        }
    }

    #[test]
    fn a_long_comment_is_cut_within_the_limit_and_points_to_the_report() {
        for (count, details) in [(3, 100_000), (200, 2_000), (5_000, 10), (12, 65_536)] {
            for report in [None, Some("https://ci.example/report")] {
                let found = Comparison {
                    about: About { report: report.map(str::to_owned), ..About::default() },
                    nodes: vec![node("a", None)],
                    new_findings: (0..count).map(|number| finding(number, details)).collect(),
                    ..Comparison::default()
                };
                let text = markdown(&found, GITHUB_LIMIT);
                assert!(text.encode_utf16().count() <= GITHUB_LIMIT, "{count} {details}");
                assert!(text.starts_with("<!-- setpoint:"), "{count} {details}");
                // Many short findings are folded into a line, and fit.
                let is_cut = text.contains("**Cut: ");
                assert!(is_cut || details < 50_000, "{count} {details}");
                let pointer = report.map_or(
                    "The command below prints all of it",
                    |_| "[The report](https://ci.example/report) has all of it.",
                );
                assert!(text.contains(pointer) || !is_cut, "{count} {details}");
                let opened = (text.matches("<details>").count(), text.matches("</details>").count());
                assert_eq!(opened.0, opened.1, "{count} {details}");
                let fences = text.lines().filter(|line| line.starts_with("```")).count();
                assert!(fences.is_multiple_of(2), "{count} {details}");
            }
        }
    }

    #[test]
    fn each_lender_of_facts_has_its_footnote() {
        let lenders = [Some("debian-12"), Some("ns2"), None, Some("ns2")];
        let nodes = lenders.iter().zip(["ns1", "ns3", "ns2", "ns4"]);
        let found = Comparison {
            nodes: nodes.map(|(lender, name)| node(name, *lender)).collect(),
            ..Comparison::default()
        };
        let text = markdown(&found, GITHUB_LIMIT);
        assert!(text.contains("`ns1`¹, `ns3`², `ns2`, `ns4`²"), "{text}");
        let foot =
            "¹ no facts; compiled with those of `debian-12`. ² no facts; compiled with those of `ns2`.";
        assert!(text.contains(foot), "{text}");
    }
}
