//! When two catalogs are equal: the same resources in the same order, each with the same parameters, tags and flags, on the
//! same lines; the same containment; the same classes.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

/// What differs, a line each.
pub(super) fn differences(want: &Json, have: &Json, lines: bool) -> Vec<String> {
    let (wanted, found) = (resources(want), resources(have));
    let order = |list: &[(String, &Json)]| list.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    let (wanted_order, found_order) = (order(&wanted), order(&found));
    let (wanted, found): (BTreeMap<_, _>, BTreeMap<_, _>) =
        (wanted.into_iter().collect(), found.into_iter().collect());
    let mut out = Vec::new();
    for (name, want) in &wanted {
        match found.get(name) {
            Some(have) => compare_resource(name, want, have, lines, &mut out),
            None => out.push(format!("missing resource {name}")),
        }
    }
    out.extend(
        found.keys().filter(|name| !wanted.contains_key(*name)).map(|name| format!("extra resource {name}")),
    );
    if out.is_empty()
        && let Some((want, have)) = wanted_order.iter().zip(&found_order).find(|(want, have)| want != have)
    {
        out.push(format!("{have} stands where {want} should"));
    }
    compare_sets("edge", &edges(want), &edges(have), &mut out);
    compare_sets("class", &strings(&want["classes"]), &strings(&have["classes"]), &mut out);
    out
}

fn resources(catalog: &Json) -> Vec<(String, &Json)> {
    let list = catalog["resources"].as_array().map_or(&[][..], Vec::as_slice);
    list.iter()
        .map(|resource| (format!("{}[{}]", text(&resource["type"]), text(&resource["title"])), resource))
        .collect()
}

fn text(json: &Json) -> &str {
    json.as_str().unwrap_or_default()
}

fn strings(list: &Json) -> BTreeSet<String> {
    list.as_array().into_iter().flatten().map(|item| text(item).to_owned()).collect()
}

fn edges(catalog: &Json) -> BTreeSet<String> {
    let list = catalog["edges"].as_array();
    list.into_iter()
        .flatten()
        .map(|edge| format!("{} -> {}", text(&edge["source"]), text(&edge["target"])))
        .collect()
}

fn compare_sets(what: &str, wanted: &BTreeSet<String>, found: &BTreeSet<String>, out: &mut Vec<String>) {
    out.extend(wanted.difference(found).map(|item| format!("missing {what} {item}")));
    out.extend(found.difference(wanted).map(|item| format!("extra {what} {item}")));
}

fn compare_resource(name: &str, want: &Json, have: &Json, lines: bool, out: &mut Vec<String>) {
    let nothing = serde_json::Map::new();
    let parameters =
        |json: &'_ Json| json["parameters"].as_object().cloned().unwrap_or_else(|| nothing.clone());
    let (wanted, found) = (parameters(want), parameters(have));
    for (parameter, value) in &wanted {
        match found.get(parameter) {
            Some(other) if other == value => {}
            Some(other) => out.push(format!("{name}: {parameter} is {other}, want {value}")),
            None => out.push(format!("{name}: {parameter} => {value} is missing")),
        }
    }
    out.extend(
        found.keys().filter(|key| !wanted.contains_key(*key)).map(|key| format!("{name}: {key} is extra")),
    );
    compare_sets(&format!("tag of {name}:"), &strings(&want["tags"]), &strings(&have["tags"]), out);
    for flag in ["exported", "virtual"] {
        if want[flag].as_bool().unwrap_or(false) != have[flag].as_bool().unwrap_or(false) {
            out.push(format!("{name}: {flag} differs"));
        }
    }
    if lines && want["line"] != have["line"] {
        out.push(format!("{name}: on line {}, want {}", have["line"], want["line"]));
    }
}

/// Puppet refuses the manifest: so must the program, and name a line that Puppet names, where it names one.
pub(super) fn is_refused(error: &str, status: Option<i32>, complaint: &str) -> Result<(), String> {
    if status != Some(1) || complaint.trim().is_empty() {
        return Err(format!("Puppet refuses it, and the program ends with {status:?}: {error}"));
    }
    let wanted: Vec<&str> = error
        .split("line: ")
        .skip(1)
        .map(|rest| &rest[..rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len())])
        .collect();
    let named = |line: &&str| {
        complaint.split(".pp:").skip(1).any(|rest| {
            rest.strip_prefix(line)
                .is_some_and(|after| !after.starts_with(|letter: char| letter.is_ascii_digit()))
        })
    };
    if wanted.is_empty() || wanted.iter().any(named) {
        Ok(())
    } else {
        Err(format!("Puppet names line {}: {error}\n{complaint}", wanted.join(" or ")))
    }
}
