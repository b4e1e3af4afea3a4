//! What came of a compilation, and the text in which the cases hold it.
//!
//! ```text
//! warning at line 2:10: Unknown variable: 'nope'.
//! notice: hello
//! Class[Foo]
//! Notify[x] (line 7, in Class[Foo], tags +q): message => "a", tag => "q"
//! classes: foo
//! ```
//!
//! What is the same in every catalog is left out: `Stage[main]`, `Class[Settings]` and `Class[main]`; that a class is in
//! `Stage[main]` and another resource in `Class[main]`; the tags of a resource's type, title and container.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write};

use serde_json::Value;

use crate::error_text::{essence, readable};

/// A place as Puppet names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Empty for the manifest itself.
    pub file: String,
    pub line: Option<u32>,
    pub column: Option<u32>,
}

impl Place {
    pub fn new(file: &str, line: Option<u32>, column: Option<u32>, root: &str) -> Self {
        let file = file.strip_prefix(root).map_or(file, |file| file.trim_start_matches('/'));
        let file = if file == "main.pp" { "" } else { file };
        Self { file: file.to_owned(), line, column }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        let Some(line) = self.line else { return Ok(()) };
        let space = if self.file.is_empty() { "" } else { " " };
        write!(f, "{space}line {line}")?;
        self.column.map_or(Ok(()), |column| write!(f, ":{column}"))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    Debug,
    Info,
    Notice,
    Warning,
    /// What a manifest logged by `err`.
    Err,
    Alert,
    Critical,
    Emergency,
    /// What ended the compilation.
    Error,
}

impl Level {
    fn from_puppet(name: &str) -> Self {
        match name {
            "debug" => Self::Debug,
            "info" => Self::Info,
            "notice" => Self::Notice,
            "warning" => Self::Warning,
            "alert" => Self::Alert,
            "crit" => Self::Critical,
            "emerg" => Self::Emergency,
            _ => Self::Err,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Err => "err",
            Self::Error => "error",
            Self::Alert => "alert",
            Self::Critical => "crit",
            Self::Emergency => "emerg",
        }
    }
}

/// Something that was said while compiling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    pub level: Level,
    /// The scope that logged it, as `Class[Foo]`; empty for the compiler itself and for `Class[main]`.
    pub source: String,
    pub place: Option<Place>,
    pub text: String,
}

impl Message {
    pub fn render(&self) -> String {
        format!("{}: {}\n", self.head(), self.text.replace('\n', "\n  "))
    }

    /// All but the text: `error at line 3:5`.
    pub(crate) fn head(&self) -> String {
        let mut out = self.level.name().to_owned();
        if !self.source.is_empty() {
            let _ = write!(out, " from {}", self.source);
        }
        if let Some(place) =
            self.place.as_ref().filter(|place| place.line.is_some() || !place.file.is_empty())
        {
            let _ = write!(out, " at {place}");
        }
        out
    }
}

/// A catalog, or errors; and what was logged.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// What was logged: by the manifest, and warnings of the compiler.
    pub messages: Vec<Message>,
    pub errors: Vec<Message>,
    /// As rich-data JSON.
    pub catalog: Option<Value>,
    /// What `puppet lookup` prints: the arguments, and the text.
    pub lookups: Vec<(String, String)>,
    /// What file names in the catalog begin with.
    pub root: String,
}

impl Outcome {
    /// The catalog, with the paths of files as they are in the request.
    pub fn relative_catalog(&self) -> Option<Value> {
        let mut catalog = self.catalog.clone()?;
        for resource in catalog["resources"].as_array_mut().into_iter().flatten() {
            if let Some(Value::String(file)) = resource.get_mut("file") {
                let relative =
                    file.strip_prefix(&self.root).map(|file| file.trim_start_matches('/').to_owned());
                *file = relative.unwrap_or_else(|| file.clone());
            }
        }
        Some(catalog)
    }

    pub(crate) fn from_puppet(answer: &Value, asked: &[String]) -> Result<Self, String> {
        let root = answer["root"].as_str().ok_or("an answer without a root")?.to_owned();
        let mut outcome = Self { root: root.clone(), ..Self::default() };
        for log in answer["logs"].as_array().into_iter().flatten() {
            let message = logged(log, &root);
            if message.level == Level::Err && !from_manifest(log) {
                outcome.errors.push(Message { level: Level::Error, ..message });
            } else {
                outcome.messages.push(message);
            }
        }
        let texts = answer["lookups"].as_array().into_iter().flatten();
        outcome.lookups = asked
            .iter()
            .zip(texts)
            .map(|(line, text)| (line.clone(), text.as_str().unwrap_or("").replace(&format!("{root}/"), "")))
            .collect();
        match answer["error"].as_str() {
            None => outcome.catalog = answer.get("catalog").filter(|catalog| catalog.is_object()).cloned(),
            Some(text) => {
                let (text, place) = essence(text, &root);
                // Several errors of one file were logged before; the last message only counts them.
                let counts = |text: &str| text.starts_with("Language validation logged");
                outcome.errors.retain(|error| !counts(&error.text));
                if !counts(&text) || outcome.errors.is_empty() {
                    outcome.errors =
                        vec![Message { level: Level::Error, source: String::new(), place, text }];
                }
                outcome.errors.sort_by_key(|error| {
                    error.place.as_ref().map(|place| (place.file.clone(), place.line, place.column))
                });
            }
        }
        Ok(outcome)
    }

    /// The text that the cases hold.
    pub fn render(&self) -> String {
        let mut out: String = self.messages.iter().map(Message::render).collect();
        out.extend(self.errors.iter().map(Message::render));
        for (line, text) in &self.lookups {
            let _ = writeln!(out, "lookup {line}");
            for line in text.lines() {
                let _ = writeln!(out, "  {line}");
            }
        }
        if let Some(catalog) = &self.catalog {
            CatalogText::new(catalog, &self.root).write(&mut out);
        }
        out
    }
}

fn from_manifest(log: &Value) -> bool {
    log["source"].as_str().is_some_and(|source| source.starts_with("Scope("))
}

fn logged(log: &Value, root: &str) -> Message {
    let source = log["source"].as_str().unwrap_or("");
    let scope = source.strip_prefix("Scope(").and_then(|scope| scope.strip_suffix(')')).unwrap_or("");
    let level = Level::from_puppet(log["level"].as_str().unwrap_or(""));
    let number = |key: &str| log[key].as_u64().and_then(|number| u32::try_from(number).ok());
    let mut text = log["text"].as_str().unwrap_or("").to_owned();
    let mut place = log["file"].as_str().map(|file| Place::new(file, number("line"), number("column"), root));
    if !from_manifest(log) {
        let (essential, named) = essence(&text, root);
        text = essential;
        place = place.or(named);
    }
    let source = if scope == "Class[main]" { "" } else { scope };
    Message { level, source: source.to_owned(), place, text: readable(text, root) }
}

/// A catalog about to be written.
struct CatalogText<'a> {
    resources: Vec<&'a Value>,
    /// From a reference to those that contain it.
    containers: BTreeMap<&'a str, BTreeSet<&'a str>>,
    tags: BTreeMap<String, BTreeSet<&'a str>>,
    classes: Vec<&'a str>,
    root: &'a str,
}

/// The resources that every catalog begins with.
const ALWAYS: [(&str, &str); 3] = [
    ("Stage[main]", "Stage[main] (in nothing): name => \"main\""),
    ("Class[Settings]", "Class[Settings]"),
    ("Class[main]", "Class[main] (tags -main): name => \"main\""),
];

impl<'a> CatalogText<'a> {
    fn new(catalog: &'a Value, root: &'a str) -> Self {
        let resources: Vec<&Value> = catalog["resources"].as_array().into_iter().flatten().collect();
        let mut containers: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for edge in catalog["edges"].as_array().into_iter().flatten() {
            if let (Some(source), Some(target)) = (edge["source"].as_str(), edge["target"].as_str()) {
                containers.entry(target).or_default().insert(source);
            }
        }
        let tags = resources
            .iter()
            .map(|resource| (reference(resource), strings(&resource["tags"]).collect()))
            .collect();
        let classes = strings(&catalog["classes"]).filter(|name| *name != "settings").collect();
        Self { resources, containers, tags, classes, root }
    }

    fn write(&self, out: &mut String) {
        let mut always = ALWAYS.iter();
        for resource in &self.resources {
            let line = self.resource(resource);
            match always.clone().next() {
                Some((_, text)) if *text == line => {
                    always.next();
                }
                _ => {
                    out.push_str(&line);
                    out.push('\n');
                }
            }
        }
        for (name, _) in always {
            if !self.tags.contains_key(*name) {
                let _ = writeln!(out, "without {name}");
            }
        }
        for (target, sources) in &self.containers {
            if !self.tags.contains_key(*target) {
                for source in sources {
                    let _ = writeln!(out, "{source} contains {target}, which is not there");
                }
            }
        }
        if !self.classes.is_empty() {
            let _ = writeln!(out, "classes: {}", self.classes.join(", "));
        }
    }

    fn resource(&self, resource: &Value) -> String {
        let reference = reference(resource);
        let mut remarks = Vec::new();
        remarks.extend(self.place(resource));
        remarks.extend(kind(resource).map(str::to_owned));
        for flag in ["exported", "virtual"] {
            if resource[flag] == true {
                remarks.push(flag.to_owned());
            }
        }
        remarks.extend(self.container(&reference));
        remarks.extend(self.unexpected_tags(&reference));
        let sensitive: Vec<&str> = strings(&resource["sensitive_parameters"]).collect();
        if !sensitive.is_empty() {
            remarks.push(format!("sensitive {}", sensitive.join(" ")));
        }
        let mut out = reference.replace('\n', "\\n");
        if !remarks.is_empty() {
            let _ = write!(out, " ({})", remarks.join(", "));
        }
        if let Some(parameters) = resource["parameters"].as_object() {
            let sorted: BTreeMap<&String, &Value> = parameters.iter().collect();
            let texts: Vec<String> =
                sorted.iter().map(|(name, value)| format!("{name} => {}", value_text(value))).collect();
            let one_line = texts.join(", ");
            if one_line.len() + out.len() > 118 && texts.len() > 1 {
                let _ = write!(out, ":\n    {}", texts.join("\n    "));
            } else {
                let _ = write!(out, ": {one_line}");
            }
        }
        out
    }

    fn place(&self, resource: &Value) -> Option<String> {
        let line = resource["line"].as_u64().and_then(|line| u32::try_from(line).ok());
        let place = Place::new(resource["file"].as_str().unwrap_or("main.pp"), line, None, self.root);
        Some(place.to_string()).filter(|text| !text.is_empty())
    }

    fn container(&self, reference: &str) -> Option<String> {
        let usual = if reference.starts_with("Class[") { "Stage[main]" } else { "Class[main]" };
        match self.containers.get(reference) {
            None => Some("in nothing".to_owned()),
            Some(sources) if sources.len() == 1 && sources.contains(usual) => None,
            Some(sources) => {
                Some(format!("in {}", sources.iter().copied().collect::<Vec<_>>().join(" and in ")))
            }
        }
    }

    fn unexpected_tags(&self, reference: &str) -> Option<String> {
        let mut expected = own_tags(reference);
        for container in self.containers.get(reference).into_iter().flatten() {
            // A stage's tags stay with it.
            if !container.starts_with("Stage[") {
                let inherited = self.tags.get(*container).into_iter().flatten();
                expected.extend(inherited.map(|tag| (*tag).to_owned()));
            }
        }
        let found: BTreeSet<String> =
            self.tags.get(reference).into_iter().flatten().map(|tag| (*tag).to_owned()).collect();
        let more = found.difference(&expected).map(|tag| format!("+{tag}"));
        let less = expected.difference(&found).map(|tag| format!("-{tag}"));
        let texts: Vec<String> = more.chain(less).collect();
        (!texts.is_empty()).then(|| format!("tags {}", texts.join(" ")))
    }
}

/// The tags that a resource has by its type and title.
fn own_tags(reference: &str) -> BTreeSet<String> {
    let mut tags = BTreeSet::new();
    let Some((kind, title)) = reference.split_once('[') else { return tags };
    for name in [kind, title.trim_end_matches(']')] {
        let name = name.to_lowercase();
        let valid = name
            .chars()
            .enumerate()
            .all(|(index, c)| c.is_alphanumeric() || c == '_' || (index > 0 && matches!(c, ':' | '.' | '-')));
        if valid && !name.is_empty() && reference != "Stage[main]" {
            tags.extend(name.split("::").filter(|segment| !segment.is_empty()).map(str::to_owned));
            tags.insert(name);
        }
    }
    if reference == "Stage[main]" {
        tags.insert("stage".to_owned());
    }
    tags
}

/// How the resource came about, where its type does not tell.
fn kind(resource: &Value) -> Option<&'static str> {
    let class = resource["type"] == "Class";
    match resource["kind"].as_str() {
        Some("unknown") if class || resource["type"] == "Node" => None,
        Some("class") if class => Some("declared"),
        Some("compilable_type") if !class => None,
        Some("defined_type") if !class => Some("define"),
        Some("unknown") => Some("of unknown kind"),
        Some(_) => Some("of a wrong kind"),
        None => Some("of no kind"),
    }
}

fn reference(resource: &Value) -> String {
    format!("{}[{}]", resource["type"].as_str().unwrap_or("?"), resource["title"].as_str().unwrap_or("?"))
}

fn strings(value: &Value) -> impl Iterator<Item = &str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str)
}

/// JSON, with a space after commas and colons.
fn value_text(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(value_text).collect::<Vec<_>>().join(", ")),
        Value::Object(entries) => {
            let entries: Vec<String> = entries
                .iter()
                .map(|(key, value)| format!("{}: {}", Value::String(key.clone()), value_text(value)))
                .collect();
            format!("{{{}}}", entries.join(", "))
        }
        other => other.to_string(),
    }
}
