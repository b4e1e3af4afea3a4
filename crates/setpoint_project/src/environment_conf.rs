//! `environment.conf`: where an environment has its modules and manifests.

use std::path::{Path, PathBuf};

use setpoint_source::{Diagnostic, Range, Rule, Severity, nearest, read_text};

use crate::session::Session;

/// The settings that Puppet takes from this file.
const SETTINGS: &[&str] = &[
    "modulepath",
    "manifest",
    "config_version",
    "environment_timeout",
    "environment_data_provider",
    "static_catalogs",
    "rich_data",
];

#[derive(Debug, Default)]
pub(super) struct EnvironmentConf {
    pub(super) modulepath: Option<Vec<PathBuf>>,
    pub(super) manifest: Option<PathBuf>,
    pub(super) diagnostics: Vec<Diagnostic>,
}

/// The file of an environment, if it has one. `base` stands for `$basemodulepath`.
pub(super) fn read(session: &Session<'_>, folder: &Path, name: &str, base: &[PathBuf]) -> EnvironmentConf {
    let path = folder.join("environment.conf");
    let mut conf = EnvironmentConf::default();
    let Ok(text) = read_text(session.files, &path) else { return conf };
    let file = session.sources.add(path.display().to_string(), text.as_str());
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let line = line.trim_end();
        if line.trim_start().is_empty() || line.trim_start().starts_with(['#', ';', '[']) {
            continue;
        }
        let span = Range::new(start, start + line.len()).in_file(file);
        let Some((key, value)) = line.split_once('=') else {
            let message = "A line of environment.conf is `setting = value`";
            conf.diagnostics.push(Diagnostic::new(Rule::InvalidSetting, message).at(span));
            continue;
        };
        let value = value.trim();
        let value = value
            .strip_prefix(['"', '\''])
            .and_then(|value| value.strip_suffix(['"', '\'']))
            .unwrap_or(value);
        match key.trim() {
            "modulepath" => conf.modulepath = Some(folders(folder, value, name, base)),
            "manifest" => {
                let manifest = folder.join(value.replace("$environment", name));
                if !session.files.is_file(&manifest) && !session.files.is_dir(&manifest) {
                    let message = format!("There is no manifest `{value}`");
                    // Puppet takes it for an empty one, without a word.
                    let told = Diagnostic::new(Rule::InvalidSetting, message).at(span);
                    conf.diagnostics.push(told.severity(Severity::Warning));
                }
                conf.manifest = Some(manifest);
            }
            key if SETTINGS.contains(&key) => {}
            key => {
                let message = format!("Puppet knows no setting `{key}` in environment.conf");
                let mut found = Diagnostic::new(Rule::UnknownEnvironmentSetting, message).at(span);
                found = match nearest(key, SETTINGS.iter().copied()) {
                    Some(near) => found.with_help(format!("Did you mean `{near}`?")),
                    None => found.with_help(format!("The settings are {}.", SETTINGS.join(", "))),
                };
                conf.diagnostics.push(found);
            }
        }
    }
    conf
}

/// The parts of a module path; relative ones start at the environment.
fn folders(folder: &Path, value: &str, name: &str, base: &[PathBuf]) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for part in value.split(':').map(str::trim).filter(|part| !part.is_empty()) {
        if part == "$basemodulepath" {
            folders.extend_from_slice(base);
        } else {
            folders.push(folder.join(part.replace("$environment", name)));
        }
    }
    folders
}

#[cfg(test)]
mod tests {
    use super::*;
    use setpoint_source::MemoryFileSystem;

    fn conf(text: &str) -> EnvironmentConf {
        let mut files = MemoryFileSystem::new();
        files.add("e/environment.conf", text);
        files.add("e/site.pp", "");
        read(&Session::new(&files), Path::new("e"), "production", &[PathBuf::from("/base")])
    }

    #[test]
    fn the_module_path_is_relative_to_the_environment() {
        let read =
            conf("# comment\nmodulepath = site-modules:modules:$basemodulepath:/x\nmanifest=site.pp\n");
        let folders: Vec<PathBuf> = read.modulepath.unwrap_or_default();
        assert_eq!(folders, ["e/site-modules", "e/modules", "/base", "/x"].map(PathBuf::from));
        assert_eq!(read.manifest, Some("e/site.pp".into()));
        assert!(read.diagnostics.is_empty());
    }

    #[test]
    fn an_unknown_setting_is_a_warning() {
        let read = conf("module_path = a\nconfig_version = scripts/x.sh\nenvironment_timeout = 0\nzzz\n");
        assert_eq!(read.diagnostics.len(), 2);
        assert_eq!(read.diagnostics[0].helps, ["Did you mean `modulepath`?"]);
    }
}
