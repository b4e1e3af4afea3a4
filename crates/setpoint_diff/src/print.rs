//! Differences for a terminal, for a program, and for a pull request.

use std::fmt::Write as _;

use serde_json::{Value as Json, json as object};
use similar::TextDiff;

use crate::{Differences, Group, Hunk, NodeResult, Told, ToldKind, ToldValue};

/// Lines of a changed text, or of changed source, that are shown at most.
const MAX_LINES: usize = 20;
/// Names of nodes that are listed at most.
const MAX_NODES: usize = 6;

/// For a terminal.
pub fn text(found: &Differences) -> String {
    let mut out = String::new();
    for group in found.groups() {
        for hunk in &group.causes {
            let _ = writeln!(out, "{}", place(hunk));
            for line in source_lines(hunk) {
                let _ = writeln!(out, "    {line}");
            }
        }
        if group.causes.is_empty() {
            out.push_str("not explained by a changed line\n");
        }
        for (nodes, of_nodes) in by_nodes(&group) {
            let _ = writeln!(out, "  on {}:", node_names(&nodes, found.nodes.len()));
            for told in of_nodes {
                for line in told_lines(told) {
                    let _ = writeln!(out, "    {line}");
                }
            }
        }
        out.push('\n');
    }
    failures(found, &mut |line| {
        out.push_str(line);
        out.push('\n');
    });
    for (node, version) in of_one_version(found) {
        let _ = writeln!(out, "{node} is only in the {version} version");
    }
    let _ = writeln!(out, "{}", summary(found));
    out
}

/// For a comment on a pull request.
pub fn markdown(found: &Differences) -> String {
    let mut out = format!("### Catalog changes\n\n{}\n", summary(found));
    for group in found.groups() {
        out.push('\n');
        if group.causes.is_empty() {
            out.push_str("#### Not explained by a changed line\n");
        }
        for hunk in &group.causes {
            let _ = writeln!(out, "#### `{}`\n", place(hunk));
            fenced(&source_lines(hunk), &mut out);
        }
        for (nodes, of_nodes) in by_nodes(&group) {
            let lines: Vec<String> = of_nodes.iter().flat_map(|told| told_lines(told)).collect();
            let count = of_nodes.len();
            let _ = writeln!(
                out,
                "\n<details{}><summary>{count} {} on {}</summary>\n",
                if lines.len() <= MAX_LINES { " open" } else { "" },
                if count == 1 { "change" } else { "changes" },
                node_names(&nodes, found.nodes.len())
            );
            fenced(&lines, &mut out);
            out.push_str("\n</details>\n");
        }
    }
    let mut failed = Vec::new();
    failures(found, &mut |line| failed.push(line.to_owned()));
    if !failed.is_empty() {
        out.push_str("\n#### Nodes that do not compile\n\n");
        fenced(&failed, &mut out);
    }
    if of_one_version(found).next().is_some() {
        out.push_str("\n#### Nodes of one version only\n\n");
    }
    for (node, version) in of_one_version(found) {
        let _ = writeln!(out, "- `{node}` is only in the {version} version");
    }
    out
}

/// For a program.
pub fn json(found: &Differences, version: &str) -> Json {
    let compared = found.nodes.iter().map(|(name, result)| match result {
        NodeResult::Same => object!({"node": name, "result": "same"}),
        NodeResult::Differs => object!({"node": name, "result": "differs"}),
        NodeResult::Fails(message) => object!({"node": name, "result": "fails", "message": message}),
        NodeResult::Mended(message) => object!({"node": name, "result": "mended", "message": message}),
    });
    let removed = found.removed_nodes.iter().map(|name| object!({"node": name, "result": "removed"}));
    let added = found.added_nodes.iter().map(|name| object!({"node": name, "result": "added"}));
    let nodes: Vec<Json> = compared.chain(removed).chain(added).collect();
    let groups: Vec<Json> = found
        .groups()
        .iter()
        .map(|group| {
            let causes: Vec<Json> = group
                .causes
                .iter()
                .map(|hunk| {
                    object!({
                        "path": hunk.path,
                        "old": {"line": hunk.old.first, "count": hunk.old.count},
                        "new": {"line": hunk.new.first, "count": hunk.new.count},
                        "removed": hunk.removed,
                        "added": hunk.added,
                    })
                })
                .collect();
            let told: Vec<Json> = group
                .changes
                .iter()
                .map(|(told, nodes)| {
                    let mut one = object!({
                        "change": word(told.kind),
                        "resource": told.resource,
                        "nodes": nodes,
                    });
                    if let Some(parameter) = &told.parameter {
                        one["parameter"] = Json::from(parameter.as_str());
                        one["before"] = told.before.as_ref().map_or(Json::Null, ToldValue::json);
                        one["after"] = told.after.as_ref().map_or(Json::Null, ToldValue::json);
                    }
                    if let Some((path, line)) = &told.place {
                        one["location"] = object!({"path": path, "line": line});
                    }
                    one
                })
                .collect();
            object!({"causes": causes, "changes": told})
        })
        .collect();
    object!({"setpoint": version, "nodes": nodes, "groups": groups})
}

fn word(kind: ToldKind) -> &'static str {
    match kind {
        ToldKind::Removed => "removed",
        ToldKind::Added => "added",
        ToldKind::Changed => "changed",
    }
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
    lines
}

/// The differences of a group, those of the same nodes together.
fn by_nodes(group: &Group) -> Vec<(Vec<String>, Vec<&Told>)> {
    let mut found: Vec<(Vec<String>, Vec<&Told>)> = Vec::new();
    for (told, nodes) in &group.changes {
        match found.iter_mut().find(|(known, _)| known == nodes) {
            Some((_, of_nodes)) => of_nodes.push(told),
            None => found.push((nodes.clone(), vec![told])),
        }
    }
    found
}

fn node_names(nodes: &[String], all: usize) -> String {
    let list = nodes.iter().take(MAX_NODES).map(String::as_str).collect::<Vec<_>>().join(", ");
    if nodes.len() == 1 {
        list
    } else if nodes.len() == all {
        format!("all {all} nodes")
    } else if nodes.len() > MAX_NODES {
        format!("{} nodes: {list}, …", nodes.len())
    } else {
        format!("{} nodes: {list}", nodes.len())
    }
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
                changed.extend(hunk.iter_changes().map(|change| {
                    format!("{}     {}", change.tag(), change.value().trim_end_matches(['\n', '\r']))
                }));
            }
            lines.extend(shortened(changed));
        }
        (before, after) => {
            lines.extend(before.as_ref().map(|value| format!("-     {}", shown(value))));
            lines.extend(after.as_ref().map(|value| format!("+     {}", shown(value))));
        }
    }
    lines
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
    }
}

fn failures(found: &Differences, write: &mut dyn FnMut(&str)) {
    for (node, result) in &found.nodes {
        match result {
            NodeResult::Fails(message) => write(&format!("{node} does not compile: {message}")),
            NodeResult::Mended(message) => write(&format!("{node} compiles now; before: {message}")),
            NodeResult::Same | NodeResult::Differs => {}
        }
    }
}

/// The nodes that have nothing to be compared with, each with the version that has it.
fn of_one_version(found: &Differences) -> impl Iterator<Item = (&str, &'static str)> {
    let removed = found.removed_nodes.iter().map(|node| (node.as_str(), "old"));
    removed.chain(found.added_nodes.iter().map(|node| (node.as_str(), "new")))
}

fn summary(found: &Differences) -> String {
    let count =
        |wanted: fn(&NodeResult) -> bool| found.nodes.iter().filter(|(_, result)| wanted(result)).count();
    let differ = count(|result| matches!(result, NodeResult::Differs));
    let fail = count(|result| matches!(result, NodeResult::Fails(_)));
    let mended = count(|result| matches!(result, NodeResult::Mended(_)));
    let all = found.nodes.len();
    let nodes = |number: usize| if number == 1 { "1 node".to_owned() } else { format!("{number} nodes") };
    let mut line = match (differ, all) {
        (0, _) if fail + mended == all => nodes(all),
        (0, _) => format!("{}, no catalog changes", nodes(all)),
        (1, 1) => "the catalog changes".to_owned(),
        _ => format!("the catalogs of {differ} of {} change", nodes(all)),
    };
    if fail > 0 {
        let _ = write!(
            line,
            "; {} not compile",
            if fail == 1 { "1 does".to_owned() } else { format!("{fail} do") }
        );
    }
    if mended > 0 {
        let _ = write!(
            line,
            "; {} again",
            if mended == 1 { "1 compiles".to_owned() } else { format!("{mended} compile") }
        );
    }
    line
}

/// A block of differences. The fence is longer than any in the text.
fn fenced(lines: &[String], out: &mut String) {
    let longest =
        lines.iter().map(|line| line.chars().filter(|&char| char == '`').count()).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let _ = writeln!(out, "{fence}diff");
    for line in lines {
        let _ = writeln!(out, "{line}");
    }
    let _ = writeln!(out, "{fence}");
}
