//! From TOML to the model. Each section knows its settings; what it does not know is said with the nearest name.

use setpoint_source::{Diagnostic, FileId, Span, nearest};

use crate::model::{
    Case, CaseEntry, Claim, Config, Effects, Exec, Expected, Invariant, Pattern, Puppet, Subject, Type,
};
use crate::value::{Placed, Table, Value, ValueKind};
use crate::{INVALID_SETTING, UNKNOWN_SETTING};

const SECTIONS: &[&str] = &["puppet", "case", "stubs", "exec", "type", "invariant"];
const PUPPET: &[&str] =
    &["version", "modulepath", "platforms", "facts", "nodes", "strict_variables", "hiera"];
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

pub(crate) fn config(file: FileId, text: &str) -> (Config, Vec<Diagnostic>) {
    let (root, errors) = toml::de::DeTable::parse_recoverable(text);
    let mut reader = Reader { diagnostics: Vec::new() };
    for error in errors {
        let mut found = Diagnostic::new(&INVALID_SETTING, format!("This is not TOML: {}", error.message()));
        found.span = error.span().map(|range| crate::value::span(file, &range));
        reader.diagnostics.push(found);
    }
    let root = crate::value::table(file, root.get_ref());
    let config = reader.config(&root);
    (config, reader.diagnostics)
}

struct Reader {
    diagnostics: Vec<Diagnostic>,
}

/// A table whose settings are known.
struct Section<'a> {
    table: &'a Table,
    /// As users know it: `[puppet]`.
    name: &'a str,
    span: Span,
}

impl Reader {
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
            self.diagnostics.push(Diagnostic::new(&INVALID_SETTING, message).at(value.span));
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
            creates: self.texts(section, "creates"),
            directories: self.texts(section, "directories"),
            writes: self.texts(section, "writes"),
            reads: self.texts(section, "reads"),
            removes: self.texts(section, "removes"),
            needs: self.texts(section, "needs"),
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

    fn invariant(&mut self, table: &Table, span: Span) -> Option<Invariant> {
        let section = self.section("[[invariant]]", table, span, &[INVARIANT]);
        let name = self.required(&section, "name");
        let expression = self.text(&section, "expression");
        let mut subjects: Vec<Subject> = [
            self.text(&section, "resource").map(Subject::Resource),
            self.text(&section, "file").map(Subject::File),
            self.text(&section, "package").map(Subject::Package),
            self.text(&section, "service").map(Subject::Service),
            self.text(&section, "user").map(Subject::User),
            self.text(&section, "group").map(Subject::Group),
        ]
        .into_iter()
        .flatten()
        .collect();
        let expected = Expected {
            ensure: self.text(&section, "ensure"),
            content: self.text(&section, "content"),
            mode: self.text(&section, "mode"),
            owner: self.text(&section, "owner"),
            owning_group: self.text(&section, "owning_group"),
            target: self.text(&section, "target"),
            enabled: self.boolean(&section, "enabled"),
        };
        let nodes = self.texts(&section, "nodes");
        let nodes = nodes.into_iter().filter_map(|text| self.pattern(text)).collect();
        let platforms = self.texts(&section, "platforms");
        let claim = match (expression, subjects.pop()) {
            (Some(expression), None) => Claim::Expression(expression),
            (None, Some(subject)) if subjects.is_empty() => {
                if expected == Expected::default() {
                    self.wrong(
                        span,
                        "This invariant expects nothing: say what holds, as `ensure = \"file\"`",
                    );
                    return None;
                }
                Claim::State { subject, expected: Box::new(expected) }
            }
            _ => {
                self.wrong(
                    span,
                    "An invariant is about one of `resource`, `file`, `package`, `service`, `user` and `group`, or \
                     is an `expression`",
                );
                return None;
            }
        };
        Some(Invariant { name: name?, claim, nodes, platforms, span })
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
            Diagnostic::new(&UNKNOWN_SETTING, format!("There is no {what} `{name}` in {place}")).at(span);
        found = if let Some(near) = nearest(name, known.clone()) {
            found.with_help(format!("Did you mean `{near}`?"))
        } else {
            let known: Vec<&str> = known.collect();
            found.with_help(format!("The {what}s are {}.", known.join(", ")))
        };
        self.diagnostics.push(found);
    }

    fn wrong(&mut self, span: Span, message: &str) {
        self.diagnostics.push(Diagnostic::new(&INVALID_SETTING, message).at(span));
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
