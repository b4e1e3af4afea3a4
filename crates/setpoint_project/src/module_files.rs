//! What a module says about itself: `metadata.json`, `.fixtures.yml`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use setpoint_data::Node;
use setpoint_source::{Diagnostic, Range, Rule, Severity, read_text};

use crate::puppetfile::short;
use crate::session::Session;

#[derive(Debug, Default)]
pub(super) struct Metadata {
    /// As Puppet knows it: `ntp`.
    pub(super) name: Option<String>,
    pub(super) dependencies: Vec<String>,
    /// Names of the platforms that it supports, among those that are known.
    pub(super) platforms: Vec<&'static str>,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// That it supports systems which are not known.
    pub(super) unknown_systems: Option<Diagnostic>,
}

pub(super) fn metadata(session: &Session<'_>, folder: &Path) -> Metadata {
    let path = folder.join("metadata.json");
    let mut metadata = Metadata::default();
    if !session.files.has_file(&path) {
        return metadata;
    }
    let Ok(text) = read_text(session.files, &path) else { return metadata };
    let Ok(json) = serde_json::from_str::<serde_json::Value>(&text) else {
        let file = session.sources.add(path.display().to_string(), text.as_str());
        // The module is used all the same; only what it says about itself is not known.
        let found = setpoint_data::read_json(file, &text).diagnostics.into_iter();
        metadata.diagnostics = found.map(|found| found.severity(Severity::Warning)).collect();
        return metadata;
    };
    for (key, message) in malformed(&json) {
        let at = text.find(&format!("\"{key}\"")).unwrap_or_default();
        let file = session.sources.add(path.display().to_string(), text.as_str());
        let found = Diagnostic::new(Rule::InvalidData, message).at(Range::new(at, at).in_file(file));
        metadata.diagnostics.push(found.severity(Severity::Warning));
    }
    let dependencies = json.get("dependencies").and_then(serde_json::Value::as_array);
    metadata.name = name_of(&json);
    metadata.dependencies = dependencies.into_iter().flatten().filter_map(name_of).collect();
    metadata.platforms =
        setpoint_platforms::supported(&json).into_iter().map(|platform| platform.name).collect();
    let unknown = setpoint_platforms::unsupported(&json);
    let unknown: Vec<&str> = unknown.iter().map(String::as_str).collect();
    if !unknown.is_empty() {
        let message = format!(
            "metadata.json names operating systems that Setpoint does not know: {}",
            setpoint_source::few(&unknown, 10)
        );
        let place = text.find("\"operatingsystem_support\"").unwrap_or_default();
        let file = session.sources.add(path.display().to_string(), text.as_str());
        let found = Diagnostic::new(Rule::NotEntered, message).at(Range::new(place, place).in_file(file));
        metadata.unknown_systems = Some(found.with_help("Nothing was checked for them."));
    }
    metadata
}

/// Keys of a `metadata.json` whose values are not what Puppet's modules have there, and what is wrong with each.
fn malformed(json: &serde_json::Value) -> Vec<(&'static str, String)> {
    let mut wrong = Vec::new();
    if name_of(json).is_none() {
        wrong.push(("name", "metadata.json has no usable `name`, such as \"puppetlabs-ntp\"".to_owned()));
    }
    let mut require_list = |of: &serde_json::Value, key: &'static str| {
        if of.get(key).is_some_and(|value| !value.is_array()) {
            wrong.push((key, format!("`{key}` of metadata.json is not a list")));
        }
    };
    require_list(json, "dependencies");
    require_list(json, "operatingsystem_support");
    let systems = json.get("operatingsystem_support").and_then(serde_json::Value::as_array);
    for system in systems.into_iter().flatten() {
        require_list(system, "operatingsystemrelease");
    }
    wrong
}

/// `stdlib` for `{"name": "puppetlabs/stdlib"}`.
fn name_of(value: &serde_json::Value) -> Option<String> {
    Some(short(value.get("name")?.as_str()?).to_owned()).filter(|name| !name.is_empty())
}

/// The modules that `.fixtures.yml` names, and where they are or would be; and what is wrong with the file.
pub(super) fn fixtures(session: &Session<'_>, folder: &Path) -> (BTreeMap<String, PathBuf>, Vec<Diagnostic>) {
    let mut modules = BTreeMap::new();
    let mut diagnostics = Vec::new();
    for name in [".fixtures.yml", ".fixtures.yaml"] {
        let Ok(text) = read_text(session.files, &folder.join(name)) else { continue };
        let file = session.sources.add(folder.join(name).display().to_string(), text.as_str());
        let document = setpoint_data::read_yaml(file, &text);
        diagnostics.extend(document.diagnostics.into_iter().map(|found| found.severity(Severity::Warning)));
        let Some(root) = document.root.filter(|root| !root.is_null()) else { continue };
        let fixtures = root.get("fixtures");
        let sections = ["repositories", "forge_modules", "symlinks"];
        let misshapen = match fixtures {
            _ if !diagnostics.is_empty() => None,
            Some(fixtures) if fixtures.is_mapping() => sections
                .iter()
                .filter_map(|key| fixtures.get(key))
                .find(|node| !node.is_mapping() && !node.is_null()),
            Some(fixtures) => (!fixtures.is_null()).then_some(fixtures),
            None => (!root.is_mapping()).then_some(&root),
        };
        if let Some(node) = misshapen {
            let message = format!("{name} has something else here than modules and where they are");
            let found = Diagnostic::new(Rule::InvalidData, message).at(node.range.in_file(file));
            diagnostics.push(found.severity(Severity::Warning));
        }
        let Some(fixtures) = fixtures else { continue };
        for kind in ["repositories", "forge_modules"] {
            for entry in fixtures.get(kind).into_iter().flat_map(Node::entries) {
                if let Some(name) = entry.key.text() {
                    modules.insert(name.to_owned(), folder.join("spec/fixtures/modules").join(name));
                }
            }
        }
        for entry in fixtures.get("symlinks").into_iter().flat_map(Node::entries) {
            let target = entry.value.text().or_else(|| entry.value.get("target")?.text());
            if let (Some(name), Some(target)) = (entry.key.text(), target) {
                modules.insert(name.to_owned(), source_path(folder, target));
            }
        }
    }
    (modules, diagnostics)
}

/// `#{source_dir}` is the folder of the module.
fn source_path(folder: &Path, target: &str) -> PathBuf {
    match target.strip_prefix("#{source_dir}") {
        Some("") => folder.to_owned(),
        Some(rest) => folder.join(rest.trim_start_matches('/')),
        None => folder.join(target),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use setpoint_source::MemoryFileSystem;

    #[test]
    fn metadata_names_dependencies_and_platforms() {
        let mut files = MemoryFileSystem::new();
        files.add(
            "m/metadata.json",
            r#"{"name": "puppetlabs-ntp", "dependencies": [{"name": "puppetlabs/stdlib"}],
                "operatingsystem_support": [{"operatingsystem": "Debian", "operatingsystemrelease": ["11", "12"]}]}"#,
        );
        files.add("bad/metadata.json", "{\"name\": }");
        for (at, text) in ["[]", "{}", "{\"name\": \"a-m\", \"dependencies\": 5}"].iter().enumerate() {
            files.add(format!("shape{at}/metadata.json"), *text);
        }
        let session = Session::new(&files);
        let found = metadata(&session, Path::new("m"));
        assert_eq!(found.name.as_deref(), Some("ntp"));
        assert_eq!(found.dependencies, ["stdlib"]);
        assert_eq!(found.platforms, ["debian-12", "debian-11"]);
        assert!(!metadata(&session, Path::new("bad")).diagnostics.is_empty());
        for at in 0..3 {
            assert_eq!(metadata(&session, Path::new(&format!("shape{at}"))).diagnostics.len(), 1, "{at}");
        }
    }

    #[test]
    fn fixtures_say_where_modules_are() {
        let mut files = MemoryFileSystem::new();
        files.add(
            "m/.fixtures.yml",
            "fixtures:\n  repositories:\n    stdlib: https://example.com/stdlib\n  forge_modules:\n    apt:\n      \
             repo: puppetlabs/apt\n  symlinks:\n    m: \"#{source_dir}\"\n    other: \"#{source_dir}/../other\"\n",
        );
        let (found, problems) = fixtures(&Session::new(&files), Path::new("m"));
        assert!(problems.is_empty());
        assert_eq!(found["stdlib"], Path::new("m/spec/fixtures/modules/stdlib"));
        assert_eq!(found["apt"], Path::new("m/spec/fixtures/modules/apt"));
        assert_eq!(found["m"], Path::new("m"));
        assert_eq!(found["other"], Path::new("m/../other"));
    }
}
