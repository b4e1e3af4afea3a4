//! For a program.

use serde_json::{Value as Json, json as object};

use crate::{
    Comparison, Fate, FindingStory, Group, NextRunStory, Presence, Secrets, SideName, ToldKind, ToldValue,
};

pub fn json(found: &Comparison, version: &str) -> Json {
    let mut out = described(found, version);
    mask(&mut out, &found.differences.secrets);
    out
}

/// Masks secrets in every text.
fn mask(value: &mut Json, secrets: &Secrets) {
    match value {
        Json::String(text) => *text = secrets.mask(text),
        Json::Array(items) => items.iter_mut().for_each(|item| mask(item, secrets)),
        Json::Object(entries) => entries.values_mut().for_each(|item| mask(item, secrets)),
        _ => {}
    }
}

fn described(found: &Comparison, version: &str) -> Json {
    let side = |side: &SideName| format!("{}{}{}", side.before, side.name, side.after);
    let mut out = object!({
        "setpoint": version,
        "old": side(&found.about.old),
        "new": side(&found.about.new),
        "nodes": found.nodes.iter().map(|node| {
            let (word, message) = match (&node.fate, node.presence) {
                (_, Presence::Removed) => ("removed", None),
                (Fate::StopsCompiling(message), _) => ("fails", Some(message)),
                (Fate::CannotBeApplied(message), _) => ("cannot-be-applied", Some(message)),
                (Fate::FailsAlike(message), _) => ("fails-before-and-after", Some(message)),
                (Fate::NotLookedAt(message), _) => ("not-looked-at", Some(message)),
                (Fate::Mended(message), _) => ("mended", Some(message)),
                (Fate::Changes | Fate::Same, Presence::Added) => ("added", None),
                (Fate::Changes, _) => ("differs", None),
                (Fate::Same, _) => ("same", None),
            };
            let mut one = object!({"node": node.name, "result": word});
            if let Some(message) = message {
                one["message"] = Json::from(message.as_str());
            }
            if node.presence == Presence::Added {
                one["added"] = Json::from(true);
            }
            if let Some(platform) = &node.assumed_facts {
                one["assumed_facts"] = Json::from(platform.as_str());
            }
            if let Some(pattern) = &node.made_up_for {
                one["made_up_for"] = Json::from(pattern.as_str());
            }
            one
        }).collect::<Vec<_>>(),
        "groups": found.differences.groups().iter().map(group_json).collect::<Vec<_>>(),
        "findings": {
            "new": found.new_findings.iter().map(finding_json).collect::<Vec<_>>(),
            "gone": found.gone_findings.iter().map(finding_json).collect::<Vec<_>>(),
        },
    });
    if found.silenced > 0 {
        out["findings"]["silenced"] = object!(found.silenced);
    }
    if found.about.next_run.is_some() {
        let run = |story: &NextRunStory| match &story.run {
            Ok(run) => object!({"nodes": story.nodes, "run": run.json()}),
            Err(reason) => object!({"nodes": story.nodes, "open": reason}),
        };
        out["next_runs"] = found.next_runs.iter().map(run).collect();
    }
    if !found.not_compared.is_empty() {
        out["not_compared"] = object!(found.not_compared);
    }
    if found.unproved > 0 {
        out["unproved_nodes"] = object!(found.unproved);
    }
    if !found.unused.is_empty() {
        out["unused"] = object!(found.unused);
    }
    if !found.not_looked_at.is_empty() {
        out["not_looked_at"] = object!(found.not_looked_at);
    }
    out
}

fn group_json(group: &Group) -> Json {
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
}

fn finding_json(finding: &FindingStory) -> Json {
    let mut one = object!({
        "rule": finding.rule,
        "severity": finding.severity.as_str(),
        "message": finding.message,
        "location": finding.place.as_ref().map(|(path, line)| object!({"path": path, "line": line})),
        "resources": finding.resources,
        "nodes": finding.nodes,
    });
    if let Some(fix) = &finding.fix {
        one["fix"] = object!({"title": fix.title, "lines": fix.lines, "checked_on": fix.checked_on});
    }
    one
}

fn word(kind: ToldKind) -> &'static str {
    match kind {
        ToldKind::Removed => "removed",
        ToldKind::Added => "added",
        ToldKind::Changed => "changed",
    }
}
