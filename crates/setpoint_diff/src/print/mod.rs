//! A comparison for a terminal, for a program, and for a pull request.

mod github;
mod json;
mod markdown;
mod text;

pub use github::github;
pub use json::json;
pub use markdown::{GITHUB_LIMIT, GITLAB_LIMIT, markdown};
pub use text::text;

use indexmap::IndexMap;
use similar::{Change, ChangeTag, TextDiff};

use setpoint_source::Severity;

use crate::collect::hexadecimal;
use crate::lines::{as_sentence, with_visible_ends};
use crate::{
    Comparison, Fate, FindingStory, Group, Hunk, NodeStory, Presence, ServedContent, Told, ToldKind,
    ToldValue,
};

/// Lines of a changed text, or of changed source, that are shown at most.
const MAX_LINES: usize = 20;
/// Characters of a line that are shown at most.
const MAX_WIDTH: usize = 240;
/// Names of nodes that are listed at most.
const MAX_NODES: usize = 6;
/// Resources that the gist names at most.
const MAX_GIST: usize = 4;

/// A headline, and the sign before it.
struct Headline {
    sign: &'static str,
    words: String,
}

fn headline(found: &Comparison) -> Headline {
    let (stopped, errors) = (found.stopped(), found.new_findings_of(Severity::Error));
    let warnings = found.new_findings_of(Severity::Warning);
    let changed = found.with_fate(|fate| *fate == Fate::Changes).len();
    let same = found.with_fate(|fate| *fate == Fate::Same).len();
    let mended = found.with_fate(|fate| matches!(fate, Fate::Mended(_))).len();
    let all = found.nodes.iter().filter(|node| node.presence != Presence::Removed).count();
    let told = |sign, words| Headline { sign, words };
    if stopped > 0 {
        return told("❌", format!("this change stops Puppet on {}", nodes(stopped)));
    }
    if errors > 0 {
        return told("❌", format!("this change brings {}", counted(errors, "error")));
    }
    let mut words = Vec::new();
    if changed > 0 {
        words.push(if all == 1 {
            "the catalog changes".to_owned()
        } else {
            format!("{changed} of {} change", nodes(all))
        });
    }
    if mended > 0 {
        words.push(format!("{} again", plural(mended, "node works", "nodes work")));
    }
    for (presence, word) in [(Presence::Added, "new"), (Presence::Removed, "removed")] {
        let count = found.nodes.iter().filter(|node| node.presence == presence).count();
        if count > 0 {
            words.push(plural(count, &format!("{word} node"), &format!("{word} nodes")));
        }
    }
    if warnings > 0 {
        words.push(plural(warnings, "new warning", "new warnings"));
    }
    if !words.is_empty() {
        return told(if warnings > 0 { "⚠️" } else { "🔄" }, words.join(", "));
    }
    if same == 0 && all > 0 {
        let are_unseen = !found.with_fate(|fate| matches!(fate, Fate::NotLookedAt(_))).is_empty();
        let words = if are_unseen {
            "nothing was compared: no node was compiled"
        } else {
            "no node works, before or after"
        };
        return told("➖", words.to_owned());
    }
    let where_ = match same {
        _ if same == all => String::new(),
        1 => " on the node that works".to_owned(),
        _ => format!(" on the {} that work", nodes(same)),
    };
    if !found.not_compared.is_empty() {
        return told("➖", format!("no change{where_} in what was compared"));
    }
    if found.uses_nothing_edited {
        return told("➖", format!("no change{where_}, and no node uses what was edited"));
    }
    told("✅", format!("no change{where_}"))
}

/// What is compared with what, in one line.
fn compared(found: &Comparison, code: fn(&str) -> String) -> String {
    let about = &found.about;
    let side = |side: &crate::SideName| format!("{}{}{}", side.before, code(&side.name), side.after);
    let all = found.nodes.iter().filter(|node| node.presence != Presence::Removed).count();
    let facts = match about.nodes_with_facts {
        count if count == all => String::new(),
        0 => ", facts for none".to_owned(),
        count => format!(", facts for {count}"),
    };
    let unproved = match found.unproved {
        0 => String::new(),
        count => format!(" · {count} compared without proofs"),
    };
    format!(
        "{} against {} · Puppet {} rules · {}{facts}{unproved}",
        side(&about.new),
        side(&about.old),
        about.puppet,
        nodes(all)
    )
}

/// A change that the gist names, and how many others are like it.
struct Gist {
    name: String,
    alike: usize,
}

/// The resources that change, by name, with what changes of them. Of resources of a type that change alike one is named.
fn gist(groups: &[Group]) -> Vec<Gist> {
    let mut by_resource: IndexMap<(char, &str), Vec<&str>> = IndexMap::new();
    for (told, _) in groups.iter().flat_map(|group| &group.changes) {
        let sign = match told.kind {
            ToldKind::Added => '+',
            ToldKind::Removed => '-',
            ToldKind::Changed => '~',
        };
        let parameters = by_resource.entry((sign, &told.resource)).or_default();
        parameters.extend(told.parameter.as_deref().filter(|name| !parameters.contains(name)));
    }
    let mut by_kind: IndexMap<(char, &str, Vec<&str>), Vec<&str>> = IndexMap::new();
    for ((sign, resource), mut parameters) in by_resource {
        parameters.sort_unstable();
        let type_name = resource.split('[').next().unwrap_or("");
        by_kind.entry((sign, type_name, parameters)).or_default().push(resource);
    }
    // What the machine has comes before what contains it.
    let mut kinds: Vec<_> = by_kind.into_iter().collect();
    kinds.sort_by_key(|((_, type_name, _), _)| (*type_name == "Class", type_name.contains("::")));
    let named = kinds.into_iter().filter_map(|((sign, _, parameters), resources)| {
        let (first, rest) = resources.split_first()?;
        let parameters =
            if parameters.is_empty() { String::new() } else { format!(" {}", parameters.join(", ")) };
        Some(Gist { name: format!("{sign} {first}{parameters}"), alike: rest.len() })
    });
    named.collect()
}

/// A row of the table of fates.
struct Row<'a> {
    sign: &'static str,
    words: &'static str,
    nodes: Vec<&'a NodeStory>,
    /// What stands in the place of the names.
    instead: Option<String>,
    /// It is told even for no node.
    always: bool,
}

fn rows(found: &Comparison) -> Vec<Row<'_>> {
    let in_both = |wanted: fn(&Fate) -> bool| -> Vec<&NodeStory> {
        found.with_fate(wanted).into_iter().filter(|node| node.presence == Presence::Both).collect()
    };
    let row = |sign, words, nodes| Row { sign, words, nodes, instead: None, always: false };
    let stops = found.with_fate(|fate| matches!(fate, Fate::StopsCompiling(_)));
    let fails = found.with_fate(|fate| matches!(fate, Fate::CannotBeApplied(_)));
    let alike = in_both(|fate| matches!(fate, Fate::FailsAlike(_)));
    let reasons = by_reason(&alike).len();
    let unseen = found.with_fate(|fate| matches!(fate, Fate::NotLookedAt(_)));
    // The reason of most of them stands in the table: without it, nobody who sees that nothing was compared knows what to do.
    let unseen_reasons = by_reason(&unseen);
    let instead_of_unseen = match unseen_reasons.as_slice() {
        [] => String::new(),
        [(reason, _)] => narrowed((*reason).to_owned()),
        [(reason, _), rest @ ..] => {
            let more = plural(rest.len(), "more reason", "more reasons");
            format!("{}; {more}, below", narrowed((*reason).to_owned()))
        }
    };
    let of = |presence| -> Vec<&NodeStory> {
        found.nodes.iter().filter(|node| node.presence == presence).collect()
    };
    let rows = vec![
        row("❌", "no longer compile", stops),
        Row { always: true, ..row("❌", "will fail", fails) },
        Row { always: true, ..row("🔄", "will change", in_both(|fate| *fate == Fate::Changes)) },
        Row {
            // That nothing is the same goes without saying where nothing works.
            always: alike.is_empty(),
            instead: Some(String::new()),
            ..row("✅", "same catalog, same file contents", in_both(|fate| *fate == Fate::Same))
        },
        row("✅", "work again", in_both(|fate| matches!(fate, Fate::Mended(_)))),
        row("➕", "new", of(Presence::Added)),
        row("➖", "removed", of(Presence::Removed)),
        Row {
            instead: Some(format!("{}, below", plural(reasons, "reason", "reasons"))),
            ..row("➖", "fail, before and after", alike)
        },
        Row { instead: Some(instead_of_unseen), ..row("➖", "not looked at", unseen) },
    ];
    rows.into_iter().filter(|row| row.always || !row.nodes.is_empty()).collect()
}

/// Nodes by the reason of their fate, those of most nodes first.
fn by_reason<'a>(all: &[&'a NodeStory]) -> Vec<(&'a str, Vec<&'a str>)> {
    let mut found: Vec<(&str, Vec<&str>)> = Vec::new();
    for node in all {
        let reason = match &node.fate {
            Fate::StopsCompiling(reason)
            | Fate::CannotBeApplied(reason)
            | Fate::Mended(reason)
            | Fate::FailsAlike(reason)
            | Fate::NotLookedAt(reason) => reason.as_str(),
            Fate::Changes | Fate::Same => "",
        };
        match found.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, nodes)) => nodes.push(&node.name),
            None => found.push((reason, vec![&node.name])),
        }
    }
    found.sort_by_key(|(_, nodes)| std::cmp::Reverse(nodes.len()));
    found
}

/// The reasons of nodes that are not counted against the change: a heading and its reasons.
fn uncounted(found: &Comparison) -> Vec<(String, Vec<String>)> {
    let line = |(reason, names): (&str, Vec<&str>)| {
        let shown = few_names(&names, str::to_owned);
        format!("{} × {} ({shown})", names.len(), found.differences.secrets.mask(reason))
    };
    let mut sections = Vec::new();
    let alike = found.with_fate(|fate| matches!(fate, Fate::FailsAlike(_)));
    if !alike.is_empty() {
        let reasons = by_reason(&alike);
        let heading = format!(
            "Fail, before and after: {}, {} (not counted against this change)",
            nodes(alike.len()),
            plural(reasons.len(), "reason", "reasons")
        );
        sections.push((heading, reasons.into_iter().map(line).collect()));
    }
    let unseen = found.with_fate(|fate| matches!(fate, Fate::NotLookedAt(_)));
    if !unseen.is_empty() || !found.not_looked_at.is_empty() || found.unproved > 0 {
        let mut lines: Vec<String> = by_reason(&unseen).into_iter().map(line).collect();
        if found.unproved > 0 {
            lines.push(format!(
                "{} × compared without proofs, which take more work than `--timeout` allows",
                found.unproved
            ));
        }
        lines.extend(found.not_looked_at.iter().cloned());
        sections.push((format!("Not looked at: {}", plural(lines.len(), "reason", "reasons")), lines));
    }
    if found.silenced > 0 {
        let count = plural(found.silenced, "new finding", "new findings");
        sections.push((format!("Silenced by comments or the baseline: {count}"), Vec::new()));
    }
    sections
}

fn place(hunk: &Hunk) -> String {
    let lines = if hunk.new.count > 0 { hunk.new } else { hunk.old };
    match lines.count {
        0 | 1 => format!("{}:{}", hunk.path, lines.first),
        count => format!("{}:{}-{}", hunk.path, lines.first, lines.first + count - 1),
    }
}

fn source_lines(hunk: &Hunk) -> Vec<String> {
    let removed = hunk.removed.iter().map(|line| format!("- {line}"));
    shortened(removed.chain(hunk.added.iter().map(|line| format!("+ {line}"))).collect())
}

fn shortened(mut lines: Vec<String>) -> Vec<String> {
    if lines.len() > MAX_LINES {
        let left = lines.len() - MAX_LINES;
        lines.truncate(MAX_LINES);
        lines.push(format!("  … {left} more lines"));
    }
    lines.into_iter().map(narrowed).collect()
}

/// A line, as far as anybody reads it.
fn narrowed(line: String) -> String {
    match line.char_indices().nth(MAX_WIDTH) {
        Some((end, _)) => format!("{}… ({} characters)", &line[..end], line.chars().count()),
        None => line,
    }
}

/// The differences of a group, each as its lines: what is told in the same words, the names of nodes apart, is told once, and what
/// the same nodes have stands together.
fn by_nodes(group: &Group) -> Vec<(Vec<String>, Vec<Vec<String>>)> {
    /// The lines as they are, and the nodes that have them.
    type Words = (Vec<String>, Vec<String>);
    let mut by_words: IndexMap<Vec<String>, Words> = IndexMap::new();
    for (told, names) in &group.changes {
        let lines = told_lines(told);
        let nameless = match names.as_slice() {
            [only] => lines.iter().map(|line| without_name(line, only)).collect(),
            _ => lines.clone(),
        };
        let (_, known) = by_words.entry(nameless).or_insert_with(|| (lines, Vec::new()));
        known.extend(names.iter().cloned());
    }
    let mut found: IndexMap<Vec<String>, Vec<Vec<String>>> = IndexMap::new();
    for (nameless, (lines, mut names)) in by_words {
        names.sort_unstable();
        names.dedup();
        let shown = if names.len() > 1 { nameless } else { lines };
        found.entry(names).or_default().push(shown);
    }
    found.into_iter().collect()
}

/// A line in which the node's own names are one word.
fn without_name(line: &str, node: &str) -> String {
    const NODE: &str = "‹node›";
    // Names that are shorter are parts of many words.
    const SHORTEST: usize = 3;
    let name = node.split(' ').next().unwrap_or(node);
    let host = name.split('.').next().unwrap_or(name);
    let mut line = line.to_owned();
    for name in [name, host] {
        if name.len() >= SHORTEST {
            line = line.replace(name, NODE);
        }
    }
    line
}

/// `web1`, `3 nodes: web1, web2, web3`, `all 7 nodes`
fn node_names(names: &[String], all: usize) -> String {
    match names {
        [one] => one.clone(),
        _ if names.len() == all => format!("all {all} nodes"),
        _ => {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            format!("{}: {}", nodes(names.len()), few_names(&names, str::to_owned))
        }
    }
}

/// The names, as many as a line has room for.
fn few_names(names: &[&str], shown: impl Fn(&str) -> String) -> String {
    let list = names.iter().take(MAX_NODES).map(|name| shown(name)).collect::<Vec<_>>().join(", ");
    if names.len() > MAX_NODES { format!("{list}, …") } else { list }
}

fn told_lines(told: &Told) -> Vec<String> {
    let at = told.place.as_ref().map(|(path, line)| format!("  ({path}:{line})")).unwrap_or_default();
    let Some(parameter) = &told.parameter else {
        let sign = if told.kind == ToldKind::Added { '+' } else { '-' };
        return vec![format!("{sign} {}{at}", told.resource)];
    };
    let mut lines = vec![format!("  {} {parameter}{at}", told.resource)];
    match (&told.before, &told.after) {
        (Some(ToldValue::Text(before)), Some(ToldValue::Text(after)))
            if before.contains('\n') || after.contains('\n') =>
        {
            let diff = TextDiff::from_lines(before, after);
            let mut changed = Vec::new();
            for hunk in diff.unified_diff().context_radius(1).iter_hunks() {
                changed.extend(text_lines(&hunk.iter_changes().collect::<Vec<_>>()));
            }
            lines.extend(shortened(changed));
        }
        (Some(ToldValue::Unknown(_)), Some(ToldValue::Unknown(reason))) => {
            lines.push(format!("!     may change: {reason}"));
        }
        (before, after) => {
            lines.extend(before.as_ref().map(|value| format!("-     {}", shown(value))));
            lines.extend(after.as_ref().map(|value| format!("+     {}", shown(value))));
        }
    }
    lines.into_iter().map(narrowed).collect()
}

/// The lines of a piece of a text, each with its sign.
fn text_lines(changes: &[Change<&str>]) -> Vec<String> {
    let tagged = |tag: ChangeTag| changes.iter().filter(move |change| change.tag() == tag);
    let lines =
        |tag| -> Vec<&str> { tagged(tag).map(|change| change.value().trim_end_matches('\n')).collect() };
    let (removed, added) = with_visible_ends(&lines(ChangeTag::Delete), &lines(ChangeTag::Insert));
    let (mut removed, mut added) = (removed.into_iter(), added.into_iter());
    // What neither text has is no difference.
    let is_unended = |tag| tagged(tag).any(Change::missing_newline);
    let tells_end = is_unended(ChangeTag::Delete) != is_unended(ChangeTag::Insert);
    let shown = changes.iter().map(|change| {
        let text = match change.tag() {
            ChangeTag::Delete => removed.next(),
            ChangeTag::Insert => added.next(),
            ChangeTag::Equal => Some(change.value().trim_end_matches(['\n', '\r']).to_owned()),
        };
        let end = if tells_end && change.missing_newline() { " (no line end)" } else { "" };
        format!("{}     {}{end}", change.tag(), text.unwrap_or_default())
    });
    shown.collect()
}

fn shown(value: &ToldValue) -> String {
    match value {
        ToldValue::Secret => "(a secret)".to_owned(),
        ToldValue::Text(text) => {
            let mut lines = text.lines();
            let first = lines.next().unwrap_or("");
            match lines.count() {
                0 => format!("'{first}'"),
                more => format!("'{first}' … and {more} more lines"),
            }
        }
        ToldValue::Other { line, .. } => line.clone(),
        ToldValue::Served(file) => match &file.content {
            ServedContent::Bytes { sha256, size } => {
                let digest = hexadecimal(&sha256[..4]);
                format!("{} ({}, sha256 {digest}…)", file.path, plural(*size as usize, "byte", "bytes"))
            }
            ServedContent::Link(target) => format!("{} (a link to {target})", file.path),
            ServedContent::Unread(reason) => format!("{} (not read: {reason})", file.path),
        },
        ToldValue::Unknown(reason) => format!("(not computed: {reason})"),
        ToldValue::Sensitive => "(Sensitive: hidden in reports and logs)".to_owned(),
        ToldValue::NotSensitive => "(not Sensitive: shown in reports and logs)".to_owned(),
    }
}

/// What a finding is called. What stops an agent is said as such.
fn title(finding: &FindingStory) -> String {
    if finding.rule == "dependency-cycle" {
        return "dependency cycle: the agent will apply nothing".to_owned();
    }
    as_sentence(&finding.message)
}

/// The way around a circle.
fn chain(finding: &FindingStory) -> Option<Vec<&str>> {
    let names = || finding.resources.iter().map(String::as_str);
    (finding.rule == "dependency-cycle").then(|| names().chain(names().next()).collect())
}

/// The lines that a finding is about, those that are new marked as in a patch.
fn frame_lines(finding: &FindingStory) -> Vec<String> {
    let mut out = Vec::new();
    for frame in &finding.frames {
        out.push(format!("  {}", frame.path));
        let width = frame.lines.iter().map(|line| line.number.to_string().len()).max().unwrap_or(1);
        let longest = frame.lines.iter().map(|line| line.text.chars().count()).max().unwrap_or(0).min(60);
        for line in &frame.lines {
            let sign = if line.is_new { '+' } else { ' ' };
            let text = format!("{sign} {:>width$}  {:<longest$}", line.number, line.text);
            out.push(match line.remark.as_str() {
                "" => text.trim_end().to_owned(),
                remark => format!("{text}  # {remark}"),
            });
        }
    }
    out
}

fn counted(count: usize, word: &str) -> String {
    plural(count, word, &format!("{word}s"))
}

fn nodes(count: usize) -> String {
    counted(count, "node")
}

fn plural(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
