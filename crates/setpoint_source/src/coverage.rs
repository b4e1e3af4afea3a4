//! How much of an input was looked at.

use serde_json::{Map, Value, json};

use crate::few;

/// What there is in an input, and how far the work came with it. What was not counted is not there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Coverage {
    pub nouns: Nouns,
    /// Manifests, or the source files of another language.
    pub sources: Counted,
    /// Templates that the code can render.
    pub templates: Counted,
    /// Data files, such as those of Hiera.
    pub data: Counted,
    /// Files of Ruby: functions and types of modules.
    pub ruby: Counted,
    /// Classes and defines, components or types: how many there are, and how many were entered.
    pub definitions: Reached,
    /// Resources, nodes or objects: how many there are, and how many have a model of all that they state.
    pub resources: Reached,
    /// What was assumed for this input alone.
    pub assumptions: usize,
    /// Data files that were found and that nobody reads; they count among `data`.
    pub unread: Vec<String>,
}

/// What a language calls the things that are counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Nouns {
    pub sources: &'static str,
    pub definitions: &'static str,
    pub resources: &'static str,
}

/// Files of one sort.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counted {
    pub found: usize,
    pub read: usize,
    /// Without a syntax error.
    pub parsed: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Reached {
    pub found: usize,
    pub reached: usize,
}

impl Counted {
    /// Counts one file that was found.
    pub fn add(&mut self, is_read: bool, is_parsed: bool) {
        self.found += 1;
        self.read += usize::from(is_read);
        self.parsed += usize::from(is_parsed);
    }

    pub fn join(&mut self, other: Self) {
        self.found += other.found;
        self.read += other.read;
        self.parsed += other.parsed;
    }
}

impl Reached {
    pub fn new(reached: usize, found: usize) -> Self {
        Self { found, reached }
    }

    pub fn join(&mut self, other: Self) {
        self.found += other.found;
        self.reached += other.reached;
    }
}

impl Coverage {
    /// Returns the coverage of an input of which nothing was found yet.
    pub fn new(nouns: Nouns) -> Self {
        Self {
            nouns,
            sources: Counted::default(),
            templates: Counted::default(),
            data: Counted::default(),
            ruby: Counted::default(),
            definitions: Reached::default(),
            resources: Reached::default(),
            assumptions: 0,
            unread: Vec::new(),
        }
    }

    /// Adds that of a part.
    pub fn join(&mut self, other: &Self) {
        self.sources.join(other.sources);
        self.templates.join(other.templates);
        self.data.join(other.data);
        self.ruby.join(other.ruby);
        self.definitions.join(other.definitions);
        self.resources.join(other.resources);
        self.assumptions += other.assumptions;
        self.unread.extend(other.unread.iter().cloned());
    }

    /// Notes a data file that was found and that nobody reads.
    pub fn add_unread(&mut self, path: impl Into<String>) {
        self.data.add(false, false);
        self.unread.push(path.into());
    }

    /// One line: `12 of 14 manifests parsed, 3 of 9 classes entered, …`; empty if nothing was counted.
    pub fn line(&self) -> String {
        let Nouns { sources, definitions, resources } = self.nouns;
        let mut parts = Vec::new();
        let files = |counted: Counted, word: &str| {
            let read =
                if counted.read < counted.found { format!(", {} read", counted.read) } else { String::new() };
            format!("{} of {} {word} parsed{read}", counted.parsed, counted.found)
        };
        for (counted, word) in [
            (self.sources, sources),
            (self.templates, "templates"),
            (self.data, "data files"),
            (self.ruby, "Ruby files"),
        ] {
            if counted.found > 0 {
                parts.push(files(counted, word));
            }
        }
        if !self.unread.is_empty() {
            let names: Vec<&str> = self.unread.iter().map(String::as_str).collect();
            parts.push(format!("not read: {}", few(&names, 5)));
        }
        if self.definitions.found > 0 {
            let Reached { found, reached } = self.definitions;
            parts.push(format!("{reached} of {found} {definitions} entered"));
        }
        if self.resources.found > 0 {
            let Reached { found, reached } = self.resources;
            parts.push(format!("{reached} of {found} {resources} modelled in full"));
        }
        if self.assumptions > 0 {
            parts.push(format!("{} assumed", self.assumptions));
        }
        parts.join("; ")
    }

    pub fn json(&self) -> Value {
        let files = |counted: Counted| json!({ "found": counted.found, "read": counted.read, "parsed": counted.parsed });
        let mut out = Map::new();
        for (name, counted) in [
            ("sources", self.sources),
            ("templates", self.templates),
            ("data", self.data),
            ("ruby", self.ruby),
        ] {
            if counted.found > 0 {
                out.insert(name.into(), files(counted));
            }
        }
        if !self.unread.is_empty() {
            out.insert("unread".into(), json!(self.unread));
        }
        if self.definitions.found > 0 {
            let Reached { found, reached } = self.definitions;
            out.insert("definitions".into(), json!({ "found": found, "entered": reached }));
        }
        if self.resources.found > 0 {
            let Reached { found, reached } = self.resources;
            out.insert("resources".into(), json!({ "found": found, "modelled": reached }));
        }
        out.insert("assumptions".into(), json!(self.assumptions));
        Value::Object(out)
    }
}
