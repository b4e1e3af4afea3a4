//! What changes from one version of a topology to another: nodes, their requirements, types and files, and what waits for them.
//!
//! Values are not shown: a property may be a password.

use std::path::Path;

use indexmap::{IndexMap, IndexSet};
use serde_json::{Value as Json, json};
use setpoint_data::{Kind, Node};
use setpoint_source::{Diagnostic, FileSystem, Question, Severity, Symbol};

use crate::start::Checked;
use crate::topology::Relationship;
use crate::types::{Table, ancestors, named_items, symbol};

/// A version of a topology, with the files that it was read from.
#[derive(Debug, Clone, Copy)]
pub struct Version<'a> {
    pub checked: &'a Checked,
    pub files: &'a dyn FileSystem,
    /// The folder of the service template.
    pub folder: &'a Path,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Change {
    Add,
    Remove,
    /// The paths of the parts that differ.
    Alter(Vec<String>),
    /// It stays, and waits for a node that is changed or removed.
    Affect(Symbol),
}

impl Change {
    fn word(&self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Remove => "remove",
            Self::Alter(_) => "change",
            Self::Affect(_) => "affect",
        }
    }
}

/// All that differs between two versions.
#[derive(Debug)]
pub struct Changes {
    nodes: IndexMap<Symbol, (Symbol, Change)>,
    /// Inputs, outputs, groups, policies, workflows and types, each with what happens to it.
    others: Vec<(String, &'static str)>,
    /// Whether the topology starts, before and after.
    starts: (&'static str, &'static str),
    /// Whether both versions were read in full.
    is_whole: bool,
    /// Errors of the newer version that the older one does not have.
    pub findings: Vec<Diagnostic>,
}

/// Compares two versions of a topology.
pub fn compare(old: Version<'_>, new: Version<'_>) -> Changes {
    let mut nodes: IndexMap<Symbol, (Symbol, Change)> = IndexMap::new();
    let (before, after) = (&old.checked.service, &new.checked.service);
    for template in after.nodes.values() {
        let change = match before.nodes.get(&template.name) {
            None => Change::Add,
            Some(_) => match changed_parts(old, new, template.name) {
                parts if parts.is_empty() => continue,
                parts => Change::Alter(parts),
            },
        };
        nodes.insert(template.name, (template.kind, change));
    }
    for template in before.nodes.values().filter(|one| !after.nodes.contains_key(&one.name)) {
        nodes.insert(template.name, (template.kind, Change::Remove));
    }
    affect(&mut nodes, &new.checked.topology.relationships, new);
    let is_new = |finding: &&Diagnostic| {
        finding.severity == Severity::Error
            && !old.checked.findings.iter().any(|known| known.message == finding.message)
    };
    Changes {
        is_whole: old.checked.is_whole && new.checked.is_whole,
        nodes,
        others: other_changes(old.checked, new.checked),
        starts: (
            Question::ReachesFinal.word(&old.checked.answer),
            Question::ReachesFinal.word(&new.checked.answer),
        ),
        findings: new.checked.findings.iter().filter(is_new).cloned().collect(),
    }
}

/// Adds the nodes that wait for a changed or removed one, at any distance.
fn affect(nodes: &mut IndexMap<Symbol, (Symbol, Change)>, relationships: &[Relationship], new: Version<'_>) {
    let mut waiting: IndexMap<Symbol, Vec<Symbol>> = IndexMap::new();
    for one in relationships {
        waiting.entry(one.target).or_default().push(one.source);
    }
    let mut open: Vec<(Symbol, Symbol)> = nodes
        .iter()
        .filter(|(_, (_, change))| *change != Change::Add)
        .map(|(name, _)| (*name, *name))
        .collect();
    let mut seen: IndexSet<Symbol> = open.iter().map(|(name, _)| *name).collect();
    while let Some((at, cause)) = open.pop() {
        for &next in waiting.get(&at).map(Vec::as_slice).unwrap_or_default() {
            if seen.insert(next) {
                open.push((next, cause));
                if let (None, Some(node)) = (nodes.get(&next), new.checked.topology.nodes.get(&next)) {
                    nodes.insert(next, (node.kind, Change::Affect(cause)));
                }
            }
        }
    }
}

/// Returns the parts of a node template that differ: of the template, of its types, of the files that it uses.
fn changed_parts(old: Version<'_>, new: Version<'_>, name: Symbol) -> Vec<String> {
    let (before, after) = (&old.checked.service, &new.checked.service);
    let (Some(was), Some(is)) = (before.nodes.get(&name), after.nodes.get(&name)) else { return Vec::new() };
    let mut out = Vec::new();
    if was.kind != is.kind {
        out.push(format!("type {} -> {}", was.kind, is.kind));
    }
    let mut parts = Vec::new();
    differences(&was.node, &is.node, &mut Vec::new(), &mut parts);
    out.extend(parts.into_iter().filter(|part| {
        let first = part.split('.').next().unwrap_or_default();
        !["type", "requirements", "description", "metadata"].contains(&first)
    }));
    let targets = |version: Version<'_>| -> IndexSet<(Symbol, Symbol)> {
        let all = version.checked.topology.relationships.iter().filter(|one| one.source == name);
        all.map(|one| (one.requirement, one.target)).collect()
    };
    let (were, are) = (targets(old), targets(new));
    out.extend(are.difference(&were).map(|(requirement, target)| format!("{requirement} -> {target}")));
    out.extend(
        were.difference(&are).map(|(requirement, target)| format!("{requirement} no longer -> {target}")),
    );
    let mut requirements = Vec::new();
    let (was_required, is_required) = (was.node.get("requirements"), is.node.get("requirements"));
    if let (Some(was), Some(is)) = (was_required, is_required) {
        differences(was, is, &mut vec!["requirements".to_owned()], &mut requirements);
    }
    if were == are && !requirements.is_empty() {
        out.push("requirements".to_owned());
    }
    for kind in ancestors(&after.types.nodes, is.kind) {
        if definition_differs(&before.types.nodes, &after.types.nodes, kind) {
            out.push(format!("its type {kind}"));
        }
    }
    let chain = ancestors(&after.types.nodes, is.kind);
    for script in after.scripts.iter().filter(|one| one.of == name || chain.contains(&one.of)) {
        let content = |version: Version<'_>| script.content(version.files, version.folder);
        if content(old) != content(new) {
            out.push(format!("the file {}", script.target));
        }
    }
    out
}

fn definition_differs(before: &Table, after: &Table, kind: Symbol) -> bool {
    match (
        before.get(&kind).and_then(|one| one.written.as_ref()),
        after.get(&kind).and_then(|one| one.written.as_ref()),
    ) {
        (Some(was), Some(is)) => !is_same(was, is),
        (None, None) => false,
        _ => true,
    }
}

fn is_same(was: &Node, is: &Node) -> bool {
    let mut out = Vec::new();
    differences(was, is, &mut Vec::new(), &mut out);
    out.is_empty()
}

/// Collects the paths at which two values differ. The order of the keys of a mapping says nothing.
fn differences(was: &Node, is: &Node, path: &mut Vec<String>, out: &mut Vec<String>) {
    match (&was.kind, &is.kind) {
        (Kind::Mapping(_), Kind::Mapping(_)) => {
            let mut keys: IndexSet<&str> = is.entries().iter().filter_map(|one| one.key.text()).collect();
            keys.extend(was.entries().iter().filter_map(|one| one.key.text()));
            for key in keys {
                path.push(key.to_owned());
                match (was.get(key), is.get(key)) {
                    (Some(was), Some(is)) => differences(was, is, path, out),
                    _ => out.push(path.join(".")),
                }
                path.pop();
            }
        }
        (Kind::Sequence(were), Kind::Sequence(are)) if were.len() == are.len() => {
            for (index, (was, is)) in were.iter().zip(are.iter()).enumerate() {
                path.push(index.to_string());
                differences(was, is, path, out);
                path.pop();
            }
        }
        (Kind::Scalar { text: was, .. }, Kind::Scalar { text: is, .. }) if was == is => {}
        _ => out.push(path.join(".")),
    }
}

/// Compares what is no node: the other sections of the topology, and all types.
fn other_changes(old: &Checked, new: &Checked) -> Vec<(String, &'static str)> {
    let mut out = Vec::new();
    for section in ["inputs", "outputs", "relationship_templates", "groups", "policies", "workflows"] {
        let entries = |checked: &Checked| -> IndexMap<Symbol, Node> {
            let topology = checked.service.topology.as_ref().and_then(|(_, node)| node.get(section));
            let named = named_items(topology).into_iter();
            named.filter_map(|(key, value)| Some((symbol(Some(key))?, value.clone()))).collect()
        };
        let what = section.trim_end_matches('s').replace('_', " ").replace("policie", "policy");
        compare_named(&entries(old), &entries(new), &what, is_same, &mut out);
    }
    let written = |checked: &Checked, section: &str| -> Option<Node> {
        checked.service.topology.as_ref().and_then(|(_, node)| node.get(section)).cloned()
    };
    match (written(old, "substitution_mappings"), written(new, "substitution_mappings")) {
        (Some(was), Some(is)) if is_same(&was, &is) => {}
        (None, None) => {}
        (None, Some(_)) => out.push(("substitution mappings".to_owned(), "add")),
        (Some(_), None) => out.push(("substitution mappings".to_owned(), "remove")),
        _ => out.push(("substitution mappings".to_owned(), "change")),
    }
    let (before, after) = (&old.service.types, &new.service.types);
    for (what, was, is) in [
        ("node type", &before.nodes, &after.nodes),
        ("relationship type", &before.relationships, &after.relationships),
        ("capability type", &before.capabilities, &after.capabilities),
        ("data type", &before.data, &after.data),
        ("artifact type", &before.artifacts, &after.artifacts),
        ("interface type", &before.interfaces, &after.interfaces),
        ("group type", &before.groups, &after.groups),
        ("policy type", &before.policies, &after.policies),
    ] {
        let entries = |table: &Table| -> IndexMap<Symbol, Node> {
            table.iter().filter_map(|(name, kind)| Some((*name, kind.written.clone()?))).collect()
        };
        compare_named(&entries(was), &entries(is), what, is_same, &mut out);
    }
    out
}

fn compare_named(
    was: &IndexMap<Symbol, Node>,
    is: &IndexMap<Symbol, Node>,
    what: &str,
    is_same: impl Fn(&Node, &Node) -> bool,
    out: &mut Vec<(String, &'static str)>,
) {
    for (name, node) in is {
        match was.get(name) {
            None => out.push((format!("{what} {name}"), "add")),
            Some(known) if !is_same(known, node) => out.push((format!("{what} {name}"), "change")),
            Some(_) => {}
        }
    }
    for name in was.keys().filter(|name| !is.contains_key(*name)) {
        out.push((format!("{what} {name}"), "remove"));
    }
}

impl Changes {
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty() && self.others.is_empty() && self.starts.0 == self.starts.1
    }

    /// The changes for people.
    pub fn text(&self) -> String {
        match (self.is_empty(), self.is_whole) {
            (true, true) => return "nothing changes\n".to_owned(),
            (true, false) => return "no change was found in what was read and has a model\n".to_owned(),
            (false, _) => {}
        }
        let mut out = String::new();
        let width = self.nodes.keys().map(|name| name.chars().count()).max().unwrap_or(0);
        for (name, (kind, change)) in &self.nodes {
            let pad = " ".repeat(width.saturating_sub(name.chars().count()));
            out.push_str(&format!("{:<7} {name}{pad}  {kind}", change.word()));
            match change {
                Change::Alter(parts) => out.push_str(&format!(": {}", parts.join(", "))),
                Change::Affect(cause) => out.push_str(&format!(": waits for {cause}")),
                Change::Add | Change::Remove => {}
            }
            out.push('\n');
        }
        for (what, word) in &self.others {
            out.push_str(&format!("{word:<7} {what}\n"));
        }
        match self.starts {
            (was, is) if was == is => out.push_str(&format!("\nreaches final: {is}, as before\n")),
            (was, is) => out.push_str(&format!("\nreaches final: {is}, before {was}\n")),
        }
        out
    }

    /// The changes for programs.
    pub fn json(&self) -> Json {
        let nodes: Vec<Json> = self
            .nodes
            .iter()
            .map(|(name, (kind, change))| {
                let (parts, cause): (&[String], _) = match change {
                    Change::Alter(parts) => (parts, None),
                    Change::Affect(cause) => (&[], Some(cause.as_str())),
                    Change::Add | Change::Remove => (&[], None),
                };
                json!({
                    "node": name.as_str(), "type": kind.as_str(), "change": change.word(),
                    "parts": parts, "waits_for": cause,
                })
            })
            .collect();
        let others: Vec<Json> =
            self.others.iter().map(|(what, word)| json!({ "name": what, "change": word })).collect();
        json!({
            "whole": self.is_whole, "nodes": nodes, "others": others,
            "reaches_final": { "old": self.starts.0, "new": self.starts.1 },
        })
    }
}
