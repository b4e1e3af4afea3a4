//! Lines and settings of files: cells of their own, for resources that edit a file and leave the rest alone.
//!
//! The content of a file is then its cell *and* its entries: a write of the whole file sets both, by reading the
//! content; an editor sets its entry only. Where in the file an entry stands is not modelled.

use std::sync::Arc;

use setpoint_commands::Edit;
use setpoint_state::{CellId, CellKey, CellKind, Value};

/// What an expression finds if several lines match.
pub(crate) const SEVERAL: &str = "(several lines)";

/// One key of a file.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Entry {
    /// A whole line.
    Line(Arc<str>),
    /// The line that a regular expression matches.
    Match(Arc<str>),
    /// A setting below a section (empty for settings above all sections), and what stands between key and value.
    Setting { section: Arc<str>, setting: Arc<str>, separator: Arc<str> },
    /// A line of a table, found by the word in this column: hosts, file systems. Of the others only those columns are read
    /// that somebody manages; the last answer is for all that follow.
    Row { kind: CellKind, name: Arc<str>, column: usize, managed: Vec<bool> },
    /// A key of authorized_keys, by its name.
    Key(Arc<str>),
    /// A job of a crontab, by its name.
    Job(Arc<str>),
    /// What a program of sed does: there if it would change nothing.
    Edited { program: Arc<str>, extended: bool },
    /// One word of a setting, by how it begins.
    Part { section: Arc<str>, setting: Arc<str>, separator: Arc<str>, part: Arc<str> },
    /// Entries of a kind that no resource declares, by the names of those that are: one stands for all.
    Rest { kind: Rest, known: Vec<Arc<str>> },
    /// The line that was put at the end last.
    Last,
    /// The line after which this one was put.
    After(Arc<str>),
    /// What another file was when this one was made from it.
    MadeFrom(Arc<str>),
    /// Anything else that only its own resources read: an augeas path, a declared key.
    Other(Arc<str>),
}

/// The kinds of entries of which a resource may remove those that nothing declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rest {
    /// Lines of a table, by the word in this column.
    Rows(usize),
    Jobs,
    Keys,
}

impl Rest {
    /// The names of all entries that a content has.
    fn names(self, content: &str) -> Vec<&str> {
        let plain = content.lines().filter(|line| !line.trim_start().starts_with('#'));
        match self {
            Self::Rows(column) => {
                plain.filter_map(|line| line.split_whitespace().nth(column).map(first_name)).collect()
            }
            Self::Jobs => content.lines().filter_map(|line| line.strip_prefix("# Puppet Name: ")).collect(),
            Self::Keys => plain.filter_map(|line| line.split_whitespace().last()).collect(),
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Tracked {
    pub(crate) entry: Entry,
    pub(crate) cell: CellId,
    /// The expression of an entry that has one: every line of the file is held against it.
    expression: Option<Arc<Expression>>,
}

impl Tracked {
    pub(crate) fn new(entry: Entry, cell: CellId) -> Self {
        let expression = match &entry {
            Entry::Match(expression) => Some(Arc::new(Expression::new(expression))),
            _ => None,
        };
        Self { entry, cell, expression }
    }

    /// What a content says about the entry.
    pub(crate) fn read(&self, content: &str) -> Value {
        match &self.expression {
            Some(expression) => expression.read(content),
            None => self.entry.read(content),
        }
    }
}

/// A regular expression that is ready to be asked; one that is none matches nothing.
#[derive(Debug)]
pub(crate) struct Expression(Option<fancy_regex::Regex>);

impl Expression {
    pub(crate) fn new(expression: &str) -> Self {
        Self(fancy_regex::Regex::new(expression).ok())
    }

    fn matches(&self, line: &str) -> bool {
        self.0.as_ref().is_some_and(|expression| expression.is_match(line).unwrap_or(false))
    }

    /// The line that it matches.
    pub(crate) fn read(&self, content: &str) -> Value {
        let mut found = content.lines().filter(|line| self.matches(line));
        let Some(first) = found.next() else { return Value::Absent };
        Value::text(if found.next().is_none() { first } else { SEVERAL })
    }
}

impl Entry {
    /// What an entry of another file was when this one was made from it.
    pub(crate) fn made_from(source: &str, entry: &Self) -> Self {
        let key = entry.key(source);
        let detail = key.detail.as_deref().unwrap_or_default();
        let name = if detail == source { &*key.name } else { detail };
        Self::Other(format!("{MADE}{source}: {name})").into())
    }

    /// Whether it says what an entry of another file was.
    pub(crate) fn is_made(&self) -> bool {
        matches!(self, Self::Other(name) if name.starts_with(MADE))
    }

    /// Whether it says what happened to the file during runs, so that no file has it from elsewhere.
    pub(crate) fn is_of_the_run(&self) -> bool {
        matches!(self, Self::Last | Self::After(_) | Self::MadeFrom(_)) || self.is_made()
    }

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
            Self::Edited { program, .. } => {
                CellKey::with_detail(CellKind::Entry, path, &format!("sed {program}"))
            }
            Self::Part { section, setting, part, .. } => {
                CellKey::with_detail(CellKind::Entry, path, &format!("[{section}] {setting}: {part}"))
            }
            Self::Rest { .. } => CellKey::with_detail(CellKind::Entry, path, "(what no resource declares)"),
            Self::Last => CellKey::with_detail(CellKind::Entry, path, LAST),
            Self::After(line) => CellKey::with_detail(CellKind::Entry, path, &format!("{BEFORE}{line})")),
            Self::MadeFrom(source) => {
                CellKey::with_detail(CellKind::Entry, path, &format!("(made from {source})"))
            }
            Self::Other(name) => CellKey::with_detail(CellKind::Entry, path, name),
        }
    }

    /// What a content says about the key.
    pub fn read(&self, content: &str) -> Value {
        let found = match self {
            Self::Line(line) => content.lines().any(|other| other == &**line).then(|| "present".to_owned()),
            Self::Match(expression) => return Expression::new(expression).read(content),
            Self::Edited { program, extended } => {
                let edited = Edit::parse(program, *extended).and_then(|edit| edit.apply(content));
                (edited.as_deref() == Some(content)).then(|| "present".to_owned())
            }
            Self::Part { section, setting, separator, part } => {
                let value = setting_of(content, section, setting, separator);
                value.and_then(|value| {
                    let mut words = value.trim_matches(['"', '\'']).split(' ');
                    words.find_map(|word| word.strip_prefix(&**part)).map(str::to_owned)
                })
            }
            Self::Rest { kind, known } => {
                let is_known = |name: &str| known.iter().any(|known| **known == *name);
                kind.names(content).into_iter().any(|name| !is_known(name)).then(|| "present".to_owned())
            }
            Self::Setting { section, setting, separator } => {
                setting_of(content, section, setting, separator).map(str::to_owned)
            }
            Self::Row { name, column, managed, .. } => content
                .lines()
                .map(|line| line.split('#').next().unwrap_or_default().split_whitespace().collect::<Vec<_>>())
                .find(|words| words.get(*column).is_some_and(|word| first_name(word) == &**name))
                .map(|words| managed_words(&words, *column, managed)),
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
            Self::Other(_) | Self::MadeFrom(_) | Self::Last | Self::After(_) => None,
        };
        found.map_or(Value::Absent, |text| Value::text(&text))
    }
}

/// Whether a cell says where in a file a line stands: nobody declares that.
pub(crate) fn is_place(key: &CellKey) -> bool {
    let detail = key.detail.as_deref().unwrap_or_default();
    key.kind == CellKind::Entry && (detail == LAST || detail.starts_with(BEFORE))
}

const MADE: &str = "(made from ";
const LAST: &str = "(the last line)";
const BEFORE: &str = "(before ";

/// The first of names that commas part.
fn first_name(word: &str) -> &str {
    word.split(',').next().unwrap_or_default()
}

/// The columns of a row that somebody manages, and its name.
fn managed_words(words: &[&str], column: usize, managed: &[bool]) -> String {
    let is_managed = |at: usize| managed.get(at).or(managed.last()).copied().unwrap_or(true);
    let kept = words.iter().enumerate().filter_map(|(at, word)| match (is_managed(at), at == column) {
        (true, _) => Some(*word),
        (false, true) => Some(first_name(word)),
        (false, false) => None,
    });
    kept.collect::<Vec<_>>().join(" ")
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
        let row = |managed: &[bool]| Entry::Row {
            kind: CellKind::Host,
            name: "h".into(),
            column: 1,
            managed: managed.to_vec(),
        };
        let host = row(&[true]);
        assert_eq!(text(&row(&[true, true, false]).read("10.0.0.1\th  alias # c\n")), Some("10.0.0.1 h"));
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
