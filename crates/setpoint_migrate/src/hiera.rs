//! What changes in `hiera.yaml` and in data files.

use std::path::Path;

use setpoint_source::{FileId, Range};

use crate::change::{Change, Kind, ReachedBy};
use crate::facts::{Structured, begins_legacy, structured};
use crate::names::Names;

/// What the new version changes in a file that Hiera reads.
pub(crate) fn changes(
    path: &Path,
    file: FileId,
    text: &str,
    names: &Names,
    is_hierarchy: bool,
) -> Vec<Change> {
    let mut found = Vec::new();
    if is_hierarchy {
        found.extend(hiera_3(path, file, text));
    }
    for (at, _) in text.match_indices("%{") {
        let line_start = text[..at].rfind('\n').map_or(0, |end| end + 1);
        let Some(inner) = text[at + 2..].split(['}', '\n']).next() else { continue };
        if text[line_start..at].trim_start().starts_with('#')
            || !text[at + 2 + inner.len()..].starts_with('}')
        {
            continue;
        }
        let span = Range::new(at + 2, at + 2 + inner.len()).in_file(file);
        let Some(read) = Read::parse(inner) else { continue };
        let name = read.name;
        let new = |kind, message: String| Change::new(kind, path.to_owned(), span, message);
        let Some(fact) = structured(name).filter(|_| !names.custom_facts.contains(name)) else {
            if let Some(hint) = begins_legacy(name) {
                let message = format!("Puppet 8 has no facts of this name; consider `{hint}`");
                found.push(new(Kind::LegacyFactInexact, message));
            }
            continue;
        };
        let (kind, message) = match (is_hierarchy, read.is_of_facts) {
            (true, _) => (
                Kind::LegacyFactInHierarchy,
                format!(
                    "Puppet 8 has no fact `{name}`: the path has nothing in its place, and the level is lost without an error"
                ),
            ),
            (false, true) => (
                Kind::LegacyFactSilent,
                format!("Puppet 8 has no fact `{name}`: `%{{{inner}}}` becomes empty, without an error"),
            ),
            (false, false) => (Kind::LegacyFact, format!("Puppet 8 has no fact `{name}`: this lookup fails")),
        };
        let change = new(kind, message);
        let Some(structured_path) = fact.path() else {
            found.push(with_hint(change, fact));
            continue;
        };
        let replacement = format!("facts.{structured_path}");
        let is_shadowed = !read.is_of_facts
            && if read.is_top { names.is_set_outside(name) } else { names.may_be_seen_by_hiera(name) };
        found.push(if fact.is_same() && !is_shadowed {
            let root = if read.is_of_facts { "facts" } else { read.variable };
            let by = if is_hierarchy { ReachedBy::Data(root.to_owned()) } else { ReachedBy::Nothing };
            change.same(span, replacement, by)
        } else {
            let mut change = change.proposing(span, replacement);
            if fact.is_same() {
                change.message.push_str(", unless the class that asks has a variable of this name");
                change
            } else {
                with_hint(change, fact)
            }
        });
    }
    found
}

fn with_hint(mut change: Change, fact: Structured) -> Change {
    change.kind =
        if change.kind == Kind::LegacyFactInHierarchy { change.kind } else { Kind::LegacyFactInexact };
    change.message =
        format!("{}; no fact has the same value on every node: consider `{}`", change.message, fact.hint());
    change
}

/// What stands between `%{` and `}`, if it reads a variable.
struct Read<'t> {
    /// The name of the fact.
    name: &'t str,
    /// The variable as it is written.
    variable: &'t str,
    is_top: bool,
    is_of_facts: bool,
}

impl<'t> Read<'t> {
    fn parse(inner: &'t str) -> Option<Self> {
        let mut inner = inner.trim();
        if let Some(call) = inner.strip_prefix("scope(").and_then(|rest| rest.strip_suffix(')')) {
            inner = call.trim().trim_matches(['\'', '"']);
        }
        let name = inner.trim_start_matches("::");
        let is_top = name.len() < inner.len();
        let (name, is_of_facts) = match name.strip_prefix("facts.") {
            Some(fact) => (fact, true),
            None => (name, false),
        };
        let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        (is_name && !name.is_empty()).then_some(Self { name, variable: inner, is_top, is_of_facts })
    }
}

/// A `hiera.yaml` of version 3, which needs the gem that Puppet 8 no longer has.
fn hiera_3(path: &Path, file: FileId, text: &str) -> Option<Change> {
    let keys: Vec<&str> =
        text.lines().filter_map(|line| line.split(':').nth(1).filter(|_| line.starts_with(':'))).collect();
    if !keys.contains(&"hierarchy") && !keys.contains(&"backends") {
        return None;
    }
    let span = Range::new(0, text.len()).in_file(file);
    let message = "This is a hiera.yaml of version 3: Puppet 8 has no Hiera 3, and reads version 5 only";
    let change = Change::new(Kind::Hiera3, path.to_owned(), Range::new(0, 0).in_file(file), message);
    Some(match version_5(text) {
        Ok(new) => change.proposing(span, new),
        Err(why) => Change { message: format!("{message}; {why}"), ..change },
    })
}

/// The same hierarchy as version 5, if its backends are YAML and JSON.
fn version_5(text: &str) -> Result<String, String> {
    let mut section = String::new();
    let (mut backends, mut levels, mut datadirs) = (Vec::new(), Vec::new(), Vec::new());
    for line in text.lines() {
        let content = line.split(" #").next().unwrap_or("").trim_end();
        let trimmed = content.trim();
        let unquoted = |text: &str| text.trim().trim_matches(['\'', '"']).to_owned();
        if trimmed.is_empty() || trimmed.starts_with('#') || trimmed == "---" {
            continue;
        }
        if let Some(rest) = content.strip_prefix(':') {
            let (name, value) = rest.split_once(':').unwrap_or((rest, ""));
            name.clone_into(&mut section);
            let value = value.trim();
            match name {
                "backends" if !value.is_empty() => backends.push(unquoted(value)),
                "hierarchy" if !value.is_empty() => levels.push(unquoted(value)),
                "merge_behavior" if unquoted(value) != "native" => {
                    return Err("its merge_behavior needs `lookup_options` in the data".to_owned());
                }
                "backends" | "hierarchy" | "merge_behavior" | "logger" | "yaml" | "json" => {}
                other => return Err(format!("its setting `{other}` has no counterpart that is known here")),
            }
            continue;
        }
        match (section.as_str(), trimmed.strip_prefix('-')) {
            ("backends", Some(item)) => backends.push(unquoted(item)),
            ("hierarchy", Some(item)) => levels.push(unquoted(item)),
            ("yaml" | "json", None) => match trimmed.trim_start_matches(':').split_once(':') {
                Some(("datadir", value)) => datadirs.push((section.clone(), unquoted(value))),
                Some((other, _)) => return Err(format!("`{other}` has no counterpart that is known here")),
                None => return Err("it cannot be read here".to_owned()),
            },
            _ => return Err("it cannot be read here".to_owned()),
        }
    }
    if backends.is_empty() {
        backends.push("yaml".to_owned());
    }
    if let Some(other) = backends.iter().find(|name| !matches!(name.as_str(), "yaml" | "json")) {
        return Err(format!("its backend `{other}` needs one for version 5"));
    }
    let mut out = "---\nversion: 5\nhierarchy:\n".to_owned();
    // Version 3 asks one backend after the other, each for all levels.
    for backend in &backends {
        let datadir = datadirs.iter().find(|(of, _)| of == backend);
        let function = if backend == "json" { "json_data" } else { "yaml_data" };
        for level in &levels {
            out.push_str(&format!("  - name: \"{backend}: {level}\"\n    path: \"{level}.{backend}\"\n"));
            if let Some((_, datadir)) = datadir {
                out.push_str(&format!("    datadir: \"{datadir}\"\n"));
            }
            out.push_str(&format!("    data_hash: {function}\n"));
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::version_5;

    #[test]
    fn version_3_with_yaml_becomes_version_5() {
        let text = ":backends:\n  - yaml\n:yaml:\n  :datadir: /etc/data\n:hierarchy:\n  - \"nodes/%{::fqdn}\"\n  - common\n";
        let new = version_5(text).unwrap_or_default();
        assert!(new.contains("path: \"nodes/%{::fqdn}.yaml\"\n    datadir: \"/etc/data\""), "{new}");
        assert!(version_5(":backends:\n  - eyaml\n:hierarchy:\n  - common\n").is_err());
    }
}
