//! Lines and settings of files: cells of their own, for resources that edit a file and leave the rest alone.
//!
//! The content of a file is then its cell *and* its entries: a write of the whole file sets both, by reading the
//! content; an editor sets its entry only. Where in the file an entry stands is not modelled.

use std::sync::Arc;

use setpoint_state::{CellId, CellKey, CellKind, Value};

/// One key of a file.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Entry {
    /// A whole line.
    Line(Arc<str>),
    /// The first line that a regular expression matches.
    Match(Arc<str>),
    /// A setting below a section (empty for settings above all sections), and what stands between key and value.
    Setting { section: Arc<str>, setting: Arc<str>, separator: Arc<str> },
    /// A line of a table, found by the word in this column: hosts, file systems.
    Row { kind: CellKind, name: Arc<str>, column: usize },
    /// A key of authorized_keys, by its name.
    Key(Arc<str>),
    /// A job of a crontab, by its name.
    Job(Arc<str>),
    /// Anything else that only its own resources read: an augeas path, a declared key.
    Other(Arc<str>),
}

#[derive(Clone, Debug)]
pub(crate) struct Tracked {
    pub(crate) entry: Entry,
    pub(crate) cell: CellId,
}

impl Entry {
    /// The name of its cell.
    pub fn key(&self, path: &str) -> CellKey {
        match self {
            Self::Line(line) => CellKey::with_detail(CellKind::Entry, path, line),
            Self::Match(expression) => {
                CellKey::with_detail(CellKind::Entry, path, &format!("/{expression}/"))
            }
            Self::Setting { section, setting, .. } => {
                CellKey::with_detail(CellKind::Entry, path, &format!("[{section}] {setting}"))
            }
            Self::Row { kind, name, .. } => CellKey::with_detail(*kind, name, path),
            Self::Key(name) => CellKey::with_detail(CellKind::Key, name, path),
            Self::Job(name) => CellKey::with_detail(CellKind::Cron, name, path),
            Self::Other(name) => CellKey::with_detail(CellKind::Entry, path, name),
        }
    }

    /// What a content says about the key.
    pub fn read(&self, content: &str) -> Value {
        let found = match self {
            Self::Line(line) => content.lines().any(|other| other == &**line).then(|| "present".to_owned()),
            Self::Match(expression) => fancy_regex::Regex::new(expression).ok().and_then(|expression| {
                content.lines().find(|line| expression.is_match(line).unwrap_or(false)).map(str::to_owned)
            }),
            Self::Setting { section, setting, separator } => {
                setting_of(content, section, setting, separator).map(str::to_owned)
            }
            Self::Row { name, column, .. } => content
                .lines()
                .map(|line| line.split('#').next().unwrap_or_default().split_whitespace().collect::<Vec<_>>())
                .find(|words| words.get(*column) == Some(&&**name))
                .map(|words| words.join(" ")),
            Self::Key(name) => content
                .lines()
                .find(|line| !line.starts_with('#') && line.trim_end().ends_with(&format!(" {name}")))
                .map(|line| line.trim().to_owned()),
            Self::Job(name) => {
                let mut lines = content.lines();
                lines
                    .find(|line| line.strip_prefix("# Puppet Name: ") == Some(name))
                    .map(|_| lines.take_while(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n"))
            }
            // Only its own resources know it: a literal content is taken not to have it.
            Self::Other(_) => None,
        };
        found.map_or(Value::Absent, |text| Value::text(&text))
    }
}

/// The value of a setting.
fn setting_of<'a>(content: &'a str, section: &str, setting: &str, separator: &str) -> Option<&'a str> {
    let separator = separator.trim();
    let mut inside = section.is_empty();
    for line in content.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            inside = name == section;
        } else if inside && !line.starts_with(['#', ';']) {
            let parts = if separator.is_empty() {
                line.split_once(char::is_whitespace)
            } else {
                line.split_once(separator)
            };
            if let Some((key, value)) = parts
                && key.trim() == setting
            {
                return Some(value.trim());
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: &Value) -> Option<&str> {
        match value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    #[test]
    fn entries_are_read_from_contents() {
        let ini = "top = 1\n[a]\n# x = 0\nx = 2\n[b]\nx=3\n";
        let setting = |section: &str, setting: &str| Entry::Setting {
            section: section.into(),
            setting: setting.into(),
            separator: " = ".into(),
        };
        assert_eq!(text(&setting("", "top").read(ini)), Some("1"));
        assert_eq!(text(&setting("a", "x").read(ini)), Some("2"));
        assert_eq!(text(&setting("b", "x").read(ini)), Some("3"));
        assert_eq!(setting("a", "top").read(ini), Value::Absent);
        let host = Entry::Row { kind: CellKind::Host, name: "h".into(), column: 1 };
        assert_eq!(
            text(&host.read("127.0.0.1 localhost\n10.0.0.1\th  alias # c\n")),
            Some("10.0.0.1 h alias")
        );
        assert_eq!(text(&Entry::Line("a b".into()).read("x\na b\n")), Some("present"));
        let job = Entry::Job("j".into());
        assert_eq!(
            text(&job.read("# Puppet Name: j\n* * * * * /bin/true\n# Puppet Name: k\nx\n")),
            Some("* * * * * /bin/true")
        );
    }
}
