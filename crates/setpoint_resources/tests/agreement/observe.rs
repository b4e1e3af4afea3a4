//! What the cells of a plan hold on the machine that Puppet leaves.

use std::collections::BTreeMap;

use setpoint_judge as judge;
use setpoint_resources::{Entry, FileEntry, Modelled, RECOMMENDED, Rest, packaged_content};
use setpoint_state::{Cell, CellKind, Program, State, Term, Test, Value};

use crate::notation::Start;

/// The tools that providers need before they are suitable.
const TOOLS: [&str; 4] = ["/usr/bin/crontab", "/usr/bin/git", "/usr/bin/sh", "/usr/bin/bash"];

const CONTEXT: [&str; 4] = ["seluser", "selrole", "seltype", "selrange"];
/// A unit of which nobody says where it is.
pub(crate) const UNIT_OF_THE_PLATFORM: &str = "(a unit of the platform)";

/// How the details of cells begin that are exchanged with others when a file system is mounted.
const BEHIND: &str = "(behind the mount point ";

pub(crate) struct Eyes<'a> {
    modelled: &'a Modelled,
    start: &'a Start,
    /// The contents that programs mention.
    literals: Vec<String>,
    versions: Vec<String>,
    /// Whether what a removal leaves of a package is told apart.
    leaves: bool,
    /// The entries by path.
    entries: BTreeMap<&'a str, Vec<&'a FileEntry>>,
}

impl<'a> Eyes<'a> {
    pub(crate) fn new(modelled: &'a Modelled, start: &'a Start) -> Self {
        let mut values = Vec::new();
        for step in &modelled.plan.steps {
            for program in [&step.apply, &step.refresh] {
                mentioned(program, &mut values);
            }
        }
        let mut literals = Vec::new();
        let mut versions = Vec::new();
        for value in values {
            match value {
                Value::File(text) => literals.push(text.to_string()),
                Value::Text(text) => versions.push(text.to_string()),
                _ => {}
            }
        }
        literals.sort();
        literals.dedup();
        let mut entries: BTreeMap<&str, Vec<&FileEntry>> = BTreeMap::new();
        for entry in &modelled.entries {
            entries.entry(&entry.path).or_default().push(entry);
        }
        let leaves = modelled.plan.steps.iter().any(|step| writes(&step.apply, "config-files"));
        Self { modelled, start, literals, versions, leaves, entries }
    }

    /// The state of all cells.
    pub(crate) fn state(&self, seen: &judge::State) -> State {
        let mut state = State::empty(&self.modelled.plan.space);
        for (id, cell) in self.modelled.plan.space.iter() {
            if let Some(value) = self.value(cell, seen) {
                state.set(id, value);
            }
        }
        // A machine without SELinux has every context that is asked for.
        for step in &self.modelled.plan.steps {
            step.apply.writes(&mut |id, term| {
                let cell = self.modelled.plan.space.get(id).map(|cell| &cell.key);
                let is_context = cell.is_some_and(|key| {
                    key.kind == CellKind::Other
                        && key.detail.as_deref().is_some_and(|name| CONTEXT.contains(&name))
                });
                if let (true, Term::Is(wanted)) = (is_context, term) {
                    state.set(id, wanted.clone());
                }
            });
        }
        for FileEntry { cell, path, entry } in &self.modelled.entries {
            let content = seen.tree.get(path).and_then(|node| node.content.as_deref());
            let value = content.map_or(Value::Absent, |content| read(entry, content));
            state.set(*cell, value);
        }
        state
    }

    /// What is in a cell; `None` for those that cannot be seen.
    pub(crate) fn value(&self, cell: &Cell, seen: &judge::State) -> Option<Value> {
        let (name, detail) = (&*cell.key.name, cell.key.detail.as_deref());
        let text = |text: Option<&String>| text.map_or(Value::Absent, |text| Value::text(text));
        Some(match cell.key.kind {
            CellKind::Path => self.path(name, seen),
            CellKind::Mode => self.node(name, seen).map_or(Value::Absent, |node| text(node.mode.as_ref())),
            CellKind::Owner => self.node(name, seen).map_or(Value::Absent, |node| text(node.owner.as_ref())),
            CellKind::Group => self.node(name, seen).map_or(Value::Absent, |node| text(node.group.as_ref())),
            CellKind::Package if detail.is_none() => self.package(name, seen),
            // The machine has a unit for every service that nothing brings.
            CellKind::Other if detail == Some(UNIT_OF_THE_PLATFORM) => Value::text("present"),
            CellKind::Other if detail == Some(RECOMMENDED) => {
                let is_on = self.start.packages.iter().any(|package| package.recommends.is_some());
                if is_on { Value::text("present") } else { Value::Absent }
            }
            CellKind::Running => {
                let up = seen.tree.contains_key(&format!("/run/services/{name}"));
                Value::text(if up { "running" } else { "stopped" })
            }
            CellKind::Enabled => {
                let unit = seen.tree.get(&format!("/etc/systemd/system/{name}.service"));
                let link = format!("/etc/systemd/system/multi-user.target.wants/{name}.service");
                if unit.is_some_and(|unit| unit.target.as_deref() == Some("/dev/null")) {
                    Value::text("mask")
                } else {
                    Value::text(if seen.tree.contains_key(&link) { "true" } else { "false" })
                }
            }
            CellKind::Loaded => {
                let path = detail?;
                if !seen.tree.contains_key(&format!("/run/services/{name}")) {
                    return Some(Value::Absent);
                }
                let copy = format!("/run/services/{name}.loaded/{}", path.replace('/', "%"));
                match seen.tree.get(&copy).and_then(|node| node.content.as_deref()) {
                    Some(content) => self.content(path, content),
                    None => Value::Absent,
                }
            }
            CellKind::User => match (account(seen, "/etc/passwd", name), detail) {
                (None, _) => Value::Absent,
                (Some(_), None) => Value::text("present"),
                (Some(fields), Some(property)) => {
                    let field = |at: usize| fields.get(at).cloned().unwrap_or_default();
                    match property {
                        "uid" => Value::text(&field(2)),
                        "gid" => {
                            let by_number = self.versions.iter().any(|text| *text == field(3));
                            let name = group_name(seen, &field(3));
                            Value::text(if by_number { &fields[3] } else { &name })
                        }
                        "home" => Value::text(&field(5)),
                        "shell" => Value::text(&field(6)),
                        "comment" => Value::text(&field(4)),
                        _ => return None,
                    }
                }
            },
            CellKind::GroupNumber => {
                account(seen, "/etc/group", name).map_or(Value::Absent, |fields| Value::text(&fields[2]))
            }
            CellKind::UserGroup => match (account(seen, "/etc/group", name), detail) {
                (None, _) => Value::Absent,
                (Some(_), None) => Value::text("present"),
                (Some(fields), Some(user)) => {
                    let member = fields.get(3).is_some_and(|list| list.split(',').any(|name| name == user));
                    if member { Value::text("member") } else { Value::Absent }
                }
            },
            CellKind::Other if detail == Some("checkout") => {
                let is_repository =
                    [".git", "HEAD"].iter().any(|child| seen.tree.contains_key(&format!("{name}/{child}")));
                if is_repository { Value::text("present") } else { Value::Absent }
            }
            CellKind::Other if detail.is_some_and(|detail| detail.starts_with(BEHIND)) => {
                return self.twin(cell, detail?, seen);
            }
            CellKind::Mount if detail.is_none() => {
                let table =
                    seen.tree.get("/run/mounts").and_then(|node| node.content.clone()).unwrap_or_default();
                if table.contains(&format!(" on {name} type ")) {
                    Value::text("mounted")
                } else {
                    Value::Absent
                }
            }
            _ => return None,
        })
    }

    /// What lies behind a mount point: the stand-in of mount keeps it below /run/behind.
    fn twin(&self, cell: &Cell, detail: &str, seen: &judge::State) -> Option<Value> {
        let point = detail.strip_prefix(BEHIND)?.strip_suffix(')')?;
        let of = self.modelled.plan.space.iter().map(|(_, other)| other);
        let of = of.into_iter().find(|other| other.key.to_string() == *cell.key.name)?;
        let rest = of.key.name.strip_prefix(point)?;
        let mut behind = seen.clone();
        behind.tree.retain(|path, _| path != point && !path.starts_with(&format!("{point}/")));
        for (path, node) in &seen.tree {
            if let Some(rest) = path.strip_prefix(&format!("/run/behind{point}"))
                && (rest.is_empty() || rest.starts_with('/'))
            {
                behind.tree.insert(format!("{point}{rest}"), node.clone());
            }
        }
        // A file system that was never mounted has nothing but its root.
        let root = judge::Node {
            kind: "directory".to_owned(),
            mode: Some("0755".to_owned()),
            owner: Some("root".to_owned()),
            group: Some("root".to_owned()),
            ..judge::Node::default()
        };
        behind.tree.entry(point.to_owned()).or_insert(root);
        if rest.is_empty() && of.key.kind == CellKind::Path {
            return None;
        }
        match self
            .modelled
            .entries
            .iter()
            .find(|entry| self.modelled.plan.space.find(&of.key) == Some(entry.cell))
        {
            Some(FileEntry { path, entry, .. }) => {
                let content = behind.tree.get(path).and_then(|node| node.content.as_deref());
                Some(content.map_or(Value::Absent, |content| read(entry, content)))
            }
            None => self.value(of, &behind),
        }
    }

    /// What is at a path. A name that stands for all others is what was put there under it, else the first of its kind that no
    /// cell has.
    fn node<'s>(&self, path: &str, seen: &'s judge::State) -> Option<&'s judge::Node> {
        if let Some(node) = seen.tree.get(path) {
            return Some(node);
        }
        let (folder, name) = path.rsplit_once('/')?;
        let kind = match name {
            "(another file)" => "file",
            "(another directory)" => "directory",
            _ => return None,
        };
        let prefix = format!("{folder}/");
        let known =
            |path: &str| self.modelled.plan.space.find(&setpoint_state::CellKey::path(path)).is_some();
        seen.tree
            .iter()
            .find(|(path, node)| {
                path.strip_prefix(&prefix).is_some_and(|rest| !rest.contains('/'))
                    && (node.kind == kind || kind == "file" && node.kind == "link")
                    && !known(path)
            })
            .map(|(_, node)| node)
    }

    fn path(&self, path: &str, seen: &judge::State) -> Value {
        match self.node(path, seen) {
            // A tool of the root is no part of what is told.
            None if TOOLS.contains(&path) => Value::file("(a tool)"),
            None => Value::Absent,
            Some(node) => match node.kind.as_str() {
                "directory" => Value::Directory,
                "link" => Value::Link(node.target.clone().unwrap_or_default().into()),
                _ => self.content(path, node.content.as_deref().unwrap_or_default()),
            },
        }
    }

    /// A content as the programs would call it.
    fn content(&self, path: &str, content: &str) -> Value {
        for package in self.start.packages.iter().rev() {
            let listed = package.files.iter().find(|(file, _)| follow(file) == path);
            let same = |text: &String| match self.entries.get(path) {
                Some(entries) => without(text, entries) == without(content, entries),
                None => text == content,
            };
            if listed.is_some_and(|(_, text)| same(text)) {
                return Value::file(&packaged_content(&package.name, path));
            }
        }
        let Some(entries) = self.entries.get(path) else { return Value::file(content) };
        let rest = without(content, entries);
        let known = self.literals.iter().find(|literal| without(literal, entries) == rest);
        Value::file(known.map_or(content, String::as_str))
    }

    /// Whether something installs this very version.
    fn writes_version(&self, name: &str, version: &str) -> bool {
        let key = setpoint_state::CellKey::new(CellKind::Package, name);
        let Some(cell) = self.modelled.plan.space.find(&key) else { return false };
        self.modelled.plan.steps.iter().any(|step| writes_to(&step.apply, cell, version))
    }

    fn package(&self, name: &str, seen: &judge::State) -> Value {
        let Some(installed) = seen.packages.get(name) else { return Value::Absent };
        if installed.status.ends_with(" config-files") {
            return if self.leaves { Value::text("config-files") } else { Value::Absent };
        }
        let version = installed.version.clone().unwrap_or_default();
        let newest = self.start.packages.iter().rfind(|package| package.name == name);
        let is_newest = newest.is_none_or(|package| package.version == version);
        if is_newest && !self.writes_version(name, &version) {
            Value::text("latest")
        } else {
            Value::text(&version)
        }
    }
}

/// The way that the links of the platform lead.
pub(crate) fn follow(path: &str) -> String {
    for (link, target) in
        [("/lib/", "/usr/lib/"), ("/bin/", "/usr/bin/"), ("/sbin/", "/usr/sbin/"), ("/var/run/", "/run/")]
    {
        if let Some(rest) = path.strip_prefix(link) {
            return format!("{target}{rest}");
        }
    }
    path.to_owned()
}

/// An entry as its resources see it: a line that stands there twice is repeated.
fn read(entry: &Entry, content: &str) -> Value {
    if let Entry::Line(line) = entry
        && content.lines().filter(|other| *other == &**line).count() > 1
    {
        return Value::text("repeated");
    }
    if let Entry::Other(key) = entry {
        // augeas and declared keys: a word of the file, as far as cases go.
        let last = key.rsplit('/').next().unwrap_or(key);
        return content
            .lines()
            .find_map(|line| line.trim().strip_prefix(last)?.strip_prefix([' ', ':', '=']).map(str::trim))
            .map_or(Value::Absent, Value::text);
    }
    entry.read(content)
}

/// A content without its entries, and without what Puppet writes around them.
pub(crate) fn without(content: &str, entries: &[&FileEntry]) -> String {
    // What a program of sed would do is told by a cell of its own.
    let mut content = content.to_owned();
    for entry in entries {
        if let Entry::Edited { program, extended } = &entry.entry {
            let edited = setpoint_commands::Edit::parse(program, *extended);
            content = edited.and_then(|edit| edit.apply(&content)).unwrap_or(content);
        }
    }
    let mut kept = String::new();
    let mut in_job = false;
    for line in content.lines() {
        if line.starts_with("# HEADER")
            || line.trim().is_empty()
            || (line.starts_with('[') && line.ends_with(']'))
        {
            continue;
        }
        if in_job && !line.starts_with('#') {
            continue;
        }
        in_job = false;
        let is_entry = entries.iter().any(|entry| match &entry.entry {
            Entry::Job(name) => {
                let found = line.strip_prefix("# Puppet Name: ") == Some(name);
                in_job |= found;
                found
            }
            Entry::Edited { .. } => false,
            // All lines of its kind are entries.
            Entry::Rest { kind: Rest::Jobs, .. } => {
                let found = line.starts_with("# Puppet Name: ");
                in_job |= found;
                found
            }
            Entry::Rest { .. } => !line.starts_with('#'),
            Entry::Setting { setting, .. } => value_of(line, setting).is_some(),
            // A line that has other words is kept with those.
            Entry::Part { setting, .. } => {
                value_of(line, setting).is_some()
                    && value_of(&without_parts(line, entries), setting) == Some("")
            }
            Entry::Other(key) => line.trim().starts_with(key.rsplit('/').next().unwrap_or(key)),
            other => other.read(line) != Value::Absent,
        });
        if !is_entry {
            kept.push_str(&without_parts(line, entries));
            kept.push('\n');
        }
    }
    kept
}

/// The value of a setting in a line.
fn value_of<'a>(line: &'a str, setting: &str) -> Option<&'a str> {
    let rest = line.trim().strip_prefix(setting)?.trim_start();
    rest.strip_prefix(['=', ':']).map(str::trim)
}

/// A line without the words that are entries of their own.
fn without_parts(line: &str, entries: &[&FileEntry]) -> String {
    let mut line = line.to_owned();
    for entry in entries {
        if let Entry::Part { setting, part, .. } = &entry.entry
            && let Some(value) = value_of(&line, setting)
        {
            let others: Vec<&str> = value
                .trim_matches(['"', '\''])
                .split_whitespace()
                .filter(|word| !word.starts_with(&**part))
                .collect();
            line = format!("{setting} = {}", others.join(" "));
        }
    }
    line
}

fn account(seen: &judge::State, file: &str, name: &str) -> Option<Vec<String>> {
    let content = seen.tree.get(file)?.content.as_deref()?;
    let line = content.lines().find(|line| line.split(':').next() == Some(name))?;
    Some(line.split(':').map(str::to_owned).collect())
}

fn group_name(seen: &judge::State, number: &str) -> String {
    let content = seen.tree.get("/etc/group").and_then(|node| node.content.clone()).unwrap_or_default();
    content
        .lines()
        .find(|line| line.split(':').nth(2) == Some(number))
        .and_then(|line| line.split(':').next())
        .unwrap_or(number)
        .to_owned()
}

fn writes(program: &Program, text: &str) -> bool {
    match program {
        Program::Write(_, Term::Is(Value::Text(value))) => &**value == text,
        Program::If(_, then, otherwise) => writes(then, text) || writes(otherwise, text),
        Program::Sequence(programs) => programs.iter().any(|program| writes(program, text)),
        _ => false,
    }
}

fn writes_to(program: &Program, cell: setpoint_state::CellId, text: &str) -> bool {
    match program {
        Program::Write(to, Term::Is(Value::Text(value))) => *to == cell && &**value == text,
        Program::If(_, then, otherwise) => writes_to(then, cell, text) || writes_to(otherwise, cell, text),
        Program::Sequence(programs) => programs.iter().any(|program| writes_to(program, cell, text)),
        _ => false,
    }
}

fn mentioned(program: &Program, found: &mut Vec<Value>) {
    match program {
        Program::Write(_, Term::Is(value)) => found.push(value.clone()),
        Program::If(test, then, otherwise) => {
            asked(test, found);
            mentioned(then, found);
            mentioned(otherwise, found);
        }
        Program::Sequence(programs) => programs.iter().for_each(|program| mentioned(program, found)),
        _ => {}
    }
}

fn asked(test: &Test, found: &mut Vec<Value>) {
    match test {
        Test::Equal(left, right) => {
            for term in [left, right] {
                if let Term::Is(value) = term {
                    found.push(value.clone());
                }
            }
        }
        Test::Not(inner) => asked(inner, found),
        Test::All(tests) | Test::Any(tests) => tests.iter().for_each(|test| asked(test, found)),
        _ => {}
    }
}
