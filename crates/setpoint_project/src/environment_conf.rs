//! `environment.conf`: where an environment has its modules and manifests.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use setpoint_source::{Diagnostic, Range, Rule, Severity, nearest, normal, read_text};

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
    if !session.files.has_file(&path) {
        return conf;
    }
    let Ok(text) = read_text(session.files, &path) else { return conf };
    let file = session.sources.add(path.display().to_string(), text.as_str());
    let mut at = 0;
    let mut is_main = true;
    let mut seen = BTreeSet::new();
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let line = line.trim_end_matches(is_space);
        let inner = line.trim_start_matches(is_space);
        if inner.is_empty() || inner.starts_with('#') {
            continue;
        }
        let span = Range::new(start, start + line.len()).in_file(file);
        let section = inner.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        if let Some(section) = section.filter(|section| is_word(section)) {
            is_main = section == "main";
            if !is_main {
                let message = "Puppet ignores the sections of environment.conf";
                conf.diagnostics.push(Diagnostic::new(Rule::UnknownEnvironmentSetting, message).at(span));
            }
            continue;
        }
        let setting = inner.split_once('=').map(|(key, value)| (key.trim_end_matches(is_space), value));
        // Puppet stops at such a line in any section.
        let Some((key, value)) = setting.filter(|(key, _)| is_word(key)) else {
            let message = "A line of environment.conf is `setting = value`";
            conf.diagnostics.push(Diagnostic::new(Rule::InvalidSetting, message).at(span));
            continue;
        };
        // Of a setting that stands twice, Puppet takes the first.
        if !is_main || !seen.insert(key) {
            continue;
        }
        let value = value.trim_start_matches(is_space);
        let value = value.strip_prefix(['"', '\'']).unwrap_or(value);
        let value = value.strip_suffix(['"', '\'']).unwrap_or(value).trim_end_matches(is_space);
        conf.diagnostics.extend(refuse(key, value).map(|found| found.at(span)));
        match key {
            "modulepath" => conf.modulepath = Some(folders(session, folder, value, name, base)),
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

/// Whether Puppet takes a character for white space: Ruby's `\s` is of ASCII alone.
fn is_space(letter: char) -> bool {
    letter.is_ascii_whitespace() || letter == '\x0b'
}

/// Whether Puppet takes a text for the name of a setting or section.
fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
}

/// Settings of the server that a path may name.
const SERVER_SETTINGS: &[&str] = &["codedir", "confdir", "environmentpath", "vardir", "libdir", "statedir"];

/// What Puppet refuses in a value, or what only the server knows of it.
fn refuse(key: &str, value: &str) -> Option<Diagnostic> {
    let refused = |message: String| Some(Diagnostic::new(Rule::InvalidSetting, message));
    match key {
        "environment_timeout" => {
            let count = value.strip_suffix(['y', 'd', 'h', 'm', 's']).unwrap_or(value);
            let is_number = !count.is_empty() && count.bytes().all(|byte| byte.is_ascii_digit());
            if value == "unlimited" || is_number {
                return None;
            }
            refused(format!("Invalid 'time to live' format '\"{value}\"' for parameter: environment_timeout"))
        }
        "modulepath" | "manifest" => {
            let named = value.split('$').skip(1).map(|part| {
                let end = part.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
                &part[..end.unwrap_or(part.len())]
            });
            let mut others = named.filter(|name| !["environment", "basemodulepath"].contains(name));
            let other = others.next()?;
            if !SERVER_SETTINGS.contains(&other) {
                return refused(format!("Could not find value for ${other}"));
            }
            let message = format!("`${other}` is a setting of the server: what lies there is not read");
            Some(Diagnostic::new(Rule::InvalidSetting, message).severity(Severity::Warning))
        }
        _ => None,
    }
}

/// The parts of a module path; relative ones start at the environment, and patterns stand for what they fit.
fn folders(session: &Session<'_>, folder: &Path, value: &str, name: &str, base: &[PathBuf]) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for part in value.split(':').map(str::trim).filter(|part| !part.is_empty()) {
        if part == "$basemodulepath" {
            folders.extend_from_slice(base);
        } else {
            let path = folder.join(normal(Path::new(&part.replace("$environment", name))));
            if part.contains(['*', '?', '[', '{']) {
                folders.extend(setpoint_hiera::glob(&path.to_string_lossy(), session.files));
            } else {
                folders.push(path);
            }
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

    #[test]
    fn what_puppet_refuses_is_an_error() {
        for value in ["x", "-1", "10 m", "1.5h", "s"] {
            let read = conf(&format!("environment_timeout = {value}\n"));
            assert_eq!(read.diagnostics[0].severity, Severity::Error, "{value}");
        }
        for value in ["5", "5m", "unlimited", "2y"] {
            assert!(conf(&format!("environment_timeout = {value}\n")).diagnostics.is_empty(), "{value}");
        }
        assert_eq!(conf("modulepath = $foo/modules").diagnostics[0].severity, Severity::Error);
        assert_eq!(conf("modulepath = $codedir/modules").diagnostics[0].severity, Severity::Warning);
    }

    /// `Puppet::Settings::ConfigFile` refuses the first seven, and takes the others so.
    #[test]
    fn lines_are_read_as_puppet_reads_them() {
        let refused = [
            "; c\n",
            "modulepath\u{a0}= a\n",
            "\0manifest = x\n",
            "[a b]\n",
            "[production]\nzzz\n",
            "a-b = c\n",
            "zzz\n",
        ];
        for text in refused {
            let is_refused = conf(text).diagnostics.iter().any(|found| found.severity == Severity::Error);
            assert!(is_refused, "{text:?}");
        }
        for (text, path) in [
            ("modulepath = a\nmodulepath = b\n", "e/a"),
            ("modulepath = 'a\n", "e/a"),
            ("  modulepath =\u{b}\"a' \n", "e/a"),
            ("[x]\nmodulepath = a\n[main]\nmodulepath = b\n", "e/b"),
        ] {
            assert_eq!(conf(text).modulepath, Some(vec![PathBuf::from(path)]), "{text:?}");
        }
    }

    #[test]
    fn sections_are_ignored() {
        let read = conf("[production]\nmodulepath = a\n");
        assert!(read.modulepath.is_none());
        assert_eq!(read.diagnostics.len(), 1);
    }
}
