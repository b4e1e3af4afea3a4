//! When two graphs are equal: the same relationships between the same resources, and the same order of application.
//!
//! Puppet's graph has two nodes for each container, between which its contents lie. Here they are joined again: an edge
//! that leaves the second or reaches the first is a relationship of the container; the others are containment, which the
//! catalogs tell already.

use std::collections::BTreeSet;

use serde_json::Value as Json;

/// What differs, a line each.
pub(super) fn differences(want: &Json, have: &Json) -> Vec<String> {
    let (wanted, found) = (puppets_relationships(want), relationships(have));
    let mut out: Vec<String> =
        wanted.difference(&found).map(|edge| format!("missing relationship {edge}")).collect();
    out.extend(found.difference(&wanted).map(|edge| format!("extra relationship {edge}")));
    let applied: Vec<&str> =
        strings(&want["order"]).filter(|name| !name.starts_with("Whit[") && !is_default(name)).collect();
    let ours: Vec<&str> = strings(&have["order"]).collect();
    // A resource whose provider did not work where Puppet ran is missing in its order, and delayed what depends on it.
    if ours.len() == applied.len()
        && let Some((want, have)) = applied.iter().zip(&ours).find(|(want, have)| want != have)
    {
        out.push(format!("{have} is applied where {want} should be"));
    }
    out
}

fn strings(list: &Json) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(Json::as_str)
}

/// What Puppet adds to every catalog.
fn is_default(name: &str) -> bool {
    let schedules = ["puppet", "hourly", "daily", "weekly", "monthly", "never"];
    name == "Filebucket[puppet]" || schedules.iter().any(|title| name == format!("Schedule[{title}]"))
}

/// In lower case, for Puppet changes the case of the names of containers.
fn puppets_relationships(graph: &Json) -> BTreeSet<String> {
    let (begin, end) = ("whit[admissible_", "whit[completed_");
    let plain = |name: &str| {
        let inner = name.strip_prefix(begin).or_else(|| name.strip_prefix(end));
        inner.and_then(|inner| inner.strip_suffix(']')).unwrap_or(name).to_owned()
    };
    let edges = graph["edges"].as_array().into_iter().flatten();
    edges
        .map(|edge| (lower(&edge["source"]), lower(&edge["target"]), edge))
        .filter(|(source, target, _)| !source.starts_with(begin) && !target.starts_with(end))
        .map(|(source, target, edge)| {
            line(&plain(&source), &plain(&target), edge["callback"].is_string(), edge["event"] == "NONE")
        })
        .collect()
}

fn relationships(graph: &Json) -> BTreeSet<String> {
    let edges = graph["edges"].as_array().into_iter().flatten();
    edges
        .map(|edge| {
            let refresh = edge["refresh"] == true;
            let automatic = edge["automatic"] == true && !refresh;
            line(&lower(&edge["source"]), &lower(&edge["target"]), refresh, automatic)
        })
        .collect()
}

fn lower(json: &Json) -> String {
    json.as_str().unwrap_or_default().to_lowercase()
}

fn line(source: &str, target: &str, refresh: bool, automatic: bool) -> String {
    let kind = if refresh { "refreshes" } else { "comes before" };
    format!("{source} {kind} {target}{}", if automatic { " automatically" } else { "" })
}
