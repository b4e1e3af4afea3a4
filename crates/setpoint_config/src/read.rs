//! From TOML to the model. Each section knows its settings; what it does not know is said with the nearest name.

use setpoint_source::{Diagnostic, FileId, Range, Rule, Span, nearest};

use crate::model::{Case, CaseEntry, Config, Effects, Exec, Invariant, Pattern, Policy, Puppet, Type};
use crate::sentence::{Sentence, SentenceError, Thing};
use crate::value::{Placed, Table, Value, ValueKind};

const SECTIONS: &[&str] = &["puppet", "case", "stubs", "exec", "type", "invariant", "policy", "rules"];
const RULES: &[&str] = &["enable"];
const PUPPET: &[&str] =
    &["version", "modulepath", "platforms", "facts", "nodes", "roles", "strict_variables", "hiera"];
const CASE: &[&str] =
    &["name", "code", "manifest", "class", "platform", "node", "facts", "trusted", "parameters"];
const EXEC: &[&str] = &["title", "command", "idempotent"];
const TYPE: &[&str] = &["content", "edits", "key", "value", "ensurable"];
const EFFECTS: &[&str] = &[
    "creates",
    "directories",
    "writes",
    "reads",
    "removes",
    "needs",
    "packages",
    "removes_packages",
    "needs_packages",
    "users",
    "groups",
    "restarts",
];
const POLICY: &[&str] = &["name", "from", "to", "unless"];
const INVARIANT: &[&str] = &[
    "name",
    "resource",
    "file",
    "package",
    "service",
    "user",
    "group",
    "expression",
    "ensure",
    "content",
    "mode",
    "owner",
    "owning_group",
    "target",
    "enabled",
    "nodes",
    "platforms",
];
/// What an invariant is about.
const SUBJECTS: [&str; 6] = ["resource", "file", "package", "service", "user", "group"];
/// What it may expect, and what the language of invariants calls that.
const EXPECTED: [(&str, &str); 6] = [
    ("ensure", "ensure"),
    ("content", "content"),
    ("mode", "mode"),
    ("owner", "owner"),
    ("owning_group", "group"),
    ("target", "target"),
];

pub(crate) fn config(file: FileId, text: &str) -> (Config, Vec<Diagnostic>) {
    let (root, errors) = toml::de::DeTable::parse_recoverable(text);
    let mut reader = Reader { text, diagnostics: Vec::new() };
    for error in errors {
        let mut found =
            Diagnostic::new(Rule::InvalidSetting, format!("This is not TOML: {}", error.message()));
        found.span = error.span().map(|range| crate::value::span(file, &range));
        reader.diagnostics.push(found);
    }
    let root = crate::value::table(file, root.get_ref());
    let config = reader.config(&root);
    (config, reader.diagnostics)
}

struct Reader<'t> {
    /// The text of the file.
    text: &'t str,
    diagnostics: Vec<Diagnostic>,
}

/// A table whose settings are known.
struct Section<'a> {
    table: &'a Table,
    /// As users know it: `[puppet]`.
    name: &'a str,
    span: Span,
}

impl Reader<'_> {
    fn config(&mut self, root: &Table) -> Config {
        let mut config = Config::default();
        for (name, entry) in root {
            match name.as_str() {
                "puppet" => {
                    if let Some(table) = self.table(name, &entry.value) {
                        config.puppet = self.puppet(table, entry.key);
                    }
                }
                "stubs" => {
                    if let Some(table) = self.table(name, &entry.value) {
                        config.stubs = table.clone();
                    }
                }
                "rules" => {
                    if let Some(table) = self.table(name, &entry.value) {
                        let section = self.section("[rules]", table, entry.key, &[RULES]);
                        config.enabled = self.texts(&section, "enable");
                    }
                }
                "type" => {
                    for (name, entry) in self.table(name, &entry.value).into_iter().flatten() {
                        if let Some(table) = self.table(name, &entry.value) {
                            config.types.push(self.resource_type(name, table, entry.key));
                        }
                    }
                }
                "case" => self.each(name, &entry.value, |reader, table, span| {
                    config.cases.extend(reader.case(table, span));
                }),
                "exec" => self.each(name, &entry.value, |reader, table, span| {
                    config.execs.extend(reader.exec(table, span));
                }),
                "policy" => self.each(name, &entry.value, |reader, table, span| {
                    config.policies.extend(reader.policy(table, span));
                }),
                "invariant" => self.each(name, &entry.value, |reader, table, span| {
                    config.invariants.extend(reader.invariant(table, span));
                }),
                _ => self.unknown("section", name, entry.key, "setpoint.toml", SECTIONS.iter().copied()),
            }
        }
        config
    }

    fn puppet(&mut self, table: &Table, span: Span) -> Puppet {
        let section = self.section("[puppet]", table, span, &[PUPPET]);
        Puppet {
            version: self.version(&section),
            modulepath: section.table.contains_key("modulepath").then(|| self.folders(&section)),
            platforms: self.texts(&section, "platforms"),
            facts: self.texts(&section, "facts"),
            nodes: self.texts(&section, "nodes"),
            roles: self.texts(&section, "roles"),
            strict_variables: self.boolean(&section, "strict_variables").map(|placed| placed.value),
            hiera: self.text(&section, "hiera"),
        }
    }

    fn version(&mut self, section: &Section<'_>) -> Option<Placed<u8>> {
        let value = &section.table.get("version")?.value;
        let version = match &value.kind {
            ValueKind::Integer(7) => Some(7),
            ValueKind::Integer(8) => Some(8),
            ValueKind::Text(text) if text == "7" => Some(7),
            ValueKind::Text(text) if text == "8" => Some(8),
            _ => None,
        };
        if version.is_none() {
            let message = "`version` in [puppet] is the version of Puppet whose rules hold: 7 or 8";
            self.diagnostics.push(Diagnostic::new(Rule::InvalidSetting, message).at(value.span));
        }
        version.map(|version| Placed { value: version, span: value.span })
    }

    /// A list, or one text with `:` between the folders.
    fn folders(&mut self, section: &Section<'_>) -> Vec<Placed<String>> {
        let split = |folder: Placed<String>| {
            let parts: Vec<Placed<String>> = folder
                .value
                .split(':')
                .filter(|part| !part.is_empty())
                .map(|part| Placed { value: part.to_owned(), span: folder.span })
                .collect();
            parts
        };
        self.texts(section, "modulepath").into_iter().flat_map(split).collect()
    }

    fn case(&mut self, table: &Table, span: Span) -> Option<Case> {
        let section = self.section("[[case]]", table, span, &[CASE]);
        let code = self.text(&section, "code").map(CaseEntry::Code);
        let manifest = self.text(&section, "manifest").map(CaseEntry::Manifest);
        let class = self.text(&section, "class").map(CaseEntry::Class);
        let mut entries: Vec<CaseEntry> = [code, manifest, class].into_iter().flatten().collect();
        let name = self.required(&section, "name");
        if entries.len() != 1 {
            self.wrong(span, "A case says what to compile by one of `code`, `manifest` and `class`");
        }
        let entry = if entries.len() == 1 { entries.pop()? } else { return None };
        if let (Some(parameters), false) = (table.get("parameters"), matches!(entry, CaseEntry::Class(_))) {
            self.wrong(parameters.key, "Only a case with a `class` has `parameters`");
        }
        Some(Case {
            name: name?,
            entry,
            platform: self.text(&section, "platform"),
            node: self.text(&section, "node"),
            facts: self.inner_table(&section, "facts"),
            trusted: self.inner_table(&section, "trusted"),
            parameters: self.inner_table(&section, "parameters"),
            span,
        })
    }

    fn effects(&mut self, section: &Section<'_>) -> Effects {
        Effects {
            creates: self.paths(section, "creates"),
            directories: self.paths(section, "directories"),
            writes: self.paths(section, "writes"),
            reads: self.paths(section, "reads"),
            removes: self.paths(section, "removes"),
            needs: self.paths(section, "needs"),
            packages: self.texts(section, "packages"),
            removes_packages: self.texts(section, "removes_packages"),
            needs_packages: self.texts(section, "needs_packages"),
            users: self.texts(section, "users"),
            groups: self.texts(section, "groups"),
            restarts: self.texts(section, "restarts"),
        }
    }

    fn exec(&mut self, table: &Table, span: Span) -> Option<Exec> {
        let section = self.section("[[exec]]", table, span, &[EXEC, EFFECTS]);
        let title = self.text(&section, "title").and_then(|text| self.pattern(text));
        let command = self.text(&section, "command").and_then(|text| self.pattern(text));
        let effects = self.effects(&section);
        let idempotent = self.boolean(&section, "idempotent").is_none_or(|placed| placed.value);
        if !table.contains_key("title") && !table.contains_key("command") {
            self.wrong(span, "An [[exec]] says by `title` or `command` which one is meant");
        }
        // One that cannot be read must not be taken for all commands.
        (title.is_some() || command.is_some()).then_some(Exec { title, command, effects, idempotent, span })
    }

    fn resource_type(&mut self, name: &str, table: &Table, span: Span) -> Type {
        let title = format!("[type.{name}]");
        let section = self.section(&title, table, span, &[TYPE, EFFECTS]);
        let edits = self.text(&section, "edits");
        let key = self.text(&section, "key");
        if let (Some(key), None) = (&key, &edits) {
            self.wrong(key.span, "`key` has a meaning only with `edits`, the file whose key is set");
        }
        let name = name.trim_start_matches("::").to_lowercase();
        Type {
            name: Placed { value: name, span },
            effects: self.effects(&section),
            content: self.text(&section, "content"),
            edits,
            key,
            value: self.text(&section, "value"),
            ensurable: self.boolean(&section, "ensurable").is_none_or(|placed| placed.value),
            span,
        }
    }

    fn policy(&mut self, table: &Table, span: Span) -> Option<Policy> {
        let section = self.section("[[policy]]", table, span, &[POLICY]);
        let name = self.text(&section, "name");
        let (from, to) = (self.texts(&section, "from"), self.texts(&section, "to"));
        let unless = self.texts(&section, "unless");
        for source in &from {
            let kind = source.value.split_once(':').map(|(kind, _)| kind);
            if source.value != "secret" && !matches!(kind, Some("fact" | "trusted" | "hiera" | "file")) {
                let words = "A source is `fact:NAME`, `trusted:NAME`, `hiera:KEY`, `file:PATH` or `secret`";
                self.wrong(source.span, words);
            }
        }
        for sink in to.iter().filter(|sink| !sink.value.contains("].") && sink.value != "*") {
            self.wrong(sink.span, "A sink is a parameter of a resource, as `File[/etc/*].content`");
        }
        if from.is_empty() || to.is_empty() {
            self.wrong(span, "A policy says what may not flow (`from`) where (`to`)");
            return None;
        }
        let name = name.map_or_else(|| "without a name".to_owned(), |name| name.value);
        Some(Policy { name, from, to, unless, span })
    }

    fn invariant(&mut self, table: &Table, span: Span) -> Option<Invariant> {
        let section = self.section("[[invariant]]", table, span, &[INVARIANT]);
        let name = self.text(&section, "name");
        let expression = self.text(&section, "expression");
        let subjects: Vec<Placed<String>> =
            SUBJECTS.iter().filter_map(|name| self.text(&section, name)).collect();
        let nodes = self.texts(&section, "nodes");
        let nodes = nodes.into_iter().filter_map(|text| self.pattern(text)).collect();
        let platforms = self.texts(&section, "platforms");
        let (said, sentence) = match (expression, subjects.as_slice()) {
            (Some(expression), []) => {
                let sentence = self.expression(&expression)?;
                (expression.value, sentence)
            }
            (None, [subject]) => (self.said(table), self.state(&section, subject)?),
            _ => {
                self.wrong(
                    span,
                    "An invariant is about one of `resource`, `file`, `package`, `service`, `user` and `group`, or \
                     is an `expression`",
                );
                return None;
            }
        };
        Some(Invariant { name: name.map_or(said, |name| name.value), sentence, nodes, platforms, span })
    }

    /// What an invariant says, for one that has no name.
    fn said(&self, table: &Table) -> String {
        let claims = table.iter().filter(|(key, _)| !["nodes", "platforms"].contains(&key.as_str()));
        let texts: Vec<String> = claims
            .filter_map(|(key, entry)| {
                let written = entry.value.span.range;
                Some(format!("{key} = {}", self.text.get(written.start as usize..written.end as usize)?))
            })
            .collect();
        texts.join(", ")
    }

    fn expression(&mut self, expression: &Placed<String>) -> Option<Sentence> {
        let error = match Sentence::parse(&expression.value) {
            Ok(sentence) => return Some(sentence),
            Err(error) => error,
        };
        let range = expression.span.range;
        let written = self.text.get(range.start as usize..range.end as usize).unwrap_or("");
        // A text with escapes is longer in the file than what it means: then it is meant as a whole.
        let (error, offset) = match written.find(&expression.value) {
            Some(offset) => (error, offset),
            None => (SentenceError { range: 0..written.len(), ..error }, 0),
        };
        self.diagnostics.push(misread(&error, expression.span, offset));
        None
    }

    /// A thing has these properties.
    fn state(&mut self, section: &Section<'_>, subject: &Placed<String>) -> Option<Sentence> {
        let named = SUBJECTS.iter().find(|name| section.table.contains_key(**name))?;
        let found = match Thing::named(named) {
            Some(thing) => Some((thing, subject.value.clone())),
            None => reference(&subject.value),
        };
        let Some((thing, name)) = found else {
            let message = "This is no file, package, service, user or group, as `File[/etc/motd]`";
            self.wrong(subject.span, message);
            return None;
        };
        let (mut parts, known) = (Vec::new(), self.diagnostics.len());
        for (setting, property) in EXPECTED {
            let Some(value) = self.text(section, setting) else { continue };
            let claim = if property == "ensure" || thing == Thing::File {
                thing.equals(&name, property, &value.value)
            } else {
                Err(format!("a {} has no `{setting}`", thing.name()))
            };
            match claim {
                Ok(claim) => parts.push(claim),
                Err(message) => self.wrong(value.span, &message),
            }
        }
        if let Some(enabled) = self.boolean(section, "enabled") {
            if thing == Thing::Service {
                parts.push(Thing::enabled(&name, enabled.value));
            } else {
                self.wrong(enabled.span, "only a service is `enabled`");
            }
        }
        if self.diagnostics.len() > known {
            return None;
        }
        if parts.is_empty() {
            self.wrong(
                section.span,
                "This invariant expects nothing: say what holds, as `ensure = \"file\"`",
            );
            return None;
        }
        Some(Sentence::All(parts))
    }

    /// Says which settings of a section nobody knows.
    fn section<'a>(
        &mut self,
        name: &'a str,
        table: &'a Table,
        span: Span,
        known: &[&'static [&'static str]],
    ) -> Section<'a> {
        for (key, entry) in table {
            let all = || known.iter().flat_map(|part| part.iter().copied());
            if !all().any(|known| known == key) {
                self.unknown("setting", key, entry.key, name, all());
            }
        }
        Section { table, name, span }
    }

    fn unknown(
        &mut self,
        what: &str,
        name: &str,
        span: Span,
        place: &str,
        known: impl Iterator<Item = &'static str> + Clone,
    ) {
        let mut found =
            Diagnostic::new(Rule::UnknownSetting, format!("There is no {what} `{name}` in {place}")).at(span);
        found = if let Some(near) = nearest(name, known.clone()) {
            found.with_help(format!("Did you mean `{near}`?"))
        } else {
            let known: Vec<&str> = known.collect();
            found.with_help(format!("The {what}s are {}.", known.join(", ")))
        };
        self.diagnostics.push(found);
    }

    fn wrong(&mut self, span: Span, message: &str) {
        self.diagnostics.push(Diagnostic::new(Rule::InvalidSetting, message).at(span));
    }

    fn wrong_kind(&mut self, name: &str, value: &Value, wanted: &str) {
        let message = format!("`{name}` is {wanted}, and this is {}", value.noun());
        self.wrong(value.span, &message);
    }

    fn table<'a>(&mut self, name: &str, value: &'a Value) -> Option<&'a Table> {
        let table = value.table();
        if table.is_none() {
            self.wrong_kind(name, value, "a table");
        }
        table
    }

    /// The tables of `[[name]]`.
    fn each(&mut self, name: &str, value: &Value, mut read: impl FnMut(&mut Self, &Table, Span)) {
        let ValueKind::List(items) = &value.kind else {
            let wanted = format!("a list of tables, each beginning with `[[{name}]]`");
            return self.wrong_kind(name, value, &wanted);
        };
        for item in items {
            if let Some(table) = self.table(name, item) {
                read(self, table, item.span);
            }
        }
    }

    fn text(&mut self, section: &Section<'_>, name: &str) -> Option<Placed<String>> {
        let value = &section.table.get(name)?.value;
        let text = value.text().map(|text| Placed { value: text.to_owned(), span: value.span });
        if text.is_none() {
            self.wrong_kind(name, value, "a text");
        }
        text
    }

    fn required(&mut self, section: &Section<'_>, name: &str) -> Option<Placed<String>> {
        if !section.table.contains_key(name) {
            self.wrong(section.span, &format!("{} needs a `{name}`", section.name));
        }
        self.text(section, name)
    }

    /// A list of texts; one text is a list of one.
    fn texts(&mut self, section: &Section<'_>, name: &str) -> Vec<Placed<String>> {
        let Some(entry) = section.table.get(name) else { return Vec::new() };
        let items = match &entry.value.kind {
            ValueKind::List(items) => items.as_slice(),
            ValueKind::Text(_) => std::slice::from_ref(&entry.value),
            _ => {
                self.wrong_kind(name, &entry.value, "a list of texts");
                return Vec::new();
            }
        };
        let mut texts = Vec::new();
        for item in items {
            match item.text() {
                Some(text) => texts.push(Placed { value: text.to_owned(), span: item.span }),
                None => self.wrong_kind(name, item, "a list of texts"),
            }
        }
        texts
    }

    /// Paths of the machine. A relative one would be no path that any resource has.
    fn paths(&mut self, section: &Section<'_>, name: &str) -> Vec<Placed<String>> {
        let mut paths = self.texts(section, name);
        paths.retain(|path| {
            let is_absolute = path.value.starts_with(['/', '{']) || path.value.get(1..3) == Some(":/");
            if !is_absolute {
                self.wrong(
                    path.span,
                    &format!("`{name}` takes absolute paths, and `{}` is none", path.value),
                );
            }
            is_absolute
        });
        paths
    }

    fn boolean(&mut self, section: &Section<'_>, name: &str) -> Option<Placed<bool>> {
        let value = &section.table.get(name)?.value;
        if let ValueKind::Boolean(boolean) = value.kind {
            return Some(Placed { value: boolean, span: value.span });
        }
        self.wrong_kind(name, value, "true or false");
        None
    }

    fn inner_table(&mut self, section: &Section<'_>, name: &str) -> Table {
        let Some(entry) = section.table.get(name) else { return Table::default() };
        self.table(name, &entry.value).cloned().unwrap_or_default()
    }

    fn pattern(&mut self, text: Placed<String>) -> Option<Pattern> {
        let Placed { value: text, span } = text;
        if !text.starts_with('^') {
            return Some(Pattern { text, span, regex: None });
        }
        match fancy_regex::Regex::new(&text) {
            Ok(regex) => Some(Pattern { text, span, regex: Some(regex) }),
            Err(error) => {
                self.wrong(span, &format!("This is no regular expression: {error}"));
                None
            }
        }
    }
}

/// What is wrong with a sentence that begins so many bytes into a place.
pub(crate) fn misread(error: &SentenceError, place: Span, offset: usize) -> Diagnostic {
    let start = place.range.start as usize + offset;
    let range = Range::new(start + error.range.start, start + error.range.end);
    let message = format!("This invariant is not understood: {}", error.message);
    let found = Diagnostic::new(Rule::InvalidSetting, message).at(range.in_file(place.file));
    match &error.help {
        Some(help) => found.with_help(help.as_str()),
        None => found,
    }
}

/// `File[/etc/motd]`
fn reference(text: &str) -> Option<(Thing, String)> {
    let (type_name, rest) = text.split_once('[')?;
    let name = rest.strip_suffix(']')?.trim_matches(['\'', '"']);
    Some((Thing::named(type_name)?, name.to_owned()))
}
