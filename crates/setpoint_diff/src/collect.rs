//! The differences of many nodes, put together by their cause.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use indexmap::IndexMap;
use serde_json::Value as Json;
use setpoint_catalog::compare::{Change, Scope, compare};
use setpoint_catalog::write::{Json as Writer, one_line, rich_value};
use setpoint_catalog::{Resource, ResourceId};
use setpoint_provenance::Prov;
use setpoint_puppet_values::{Data, Value};

use crate::cause::Side;
use crate::lines::HunkId;
use crate::{Hunk, SourceChanges, Version};

/// What became of a node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NodeResult {
    Same,
    Differs,
    /// It compiles no more, or does not compile in both versions; with the message.
    Fails(String),
    /// It did not compile before and does now; with the old message.
    Mended(String),
}

/// A difference in words, the same for all nodes that have it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Told {
    pub kind: ToldKind,
    /// `File[/etc/motd]`.
    pub resource: String,
    pub parameter: Option<String>,
    pub before: Option<ToldValue>,
    pub after: Option<ToldValue>,
    /// Where the resource is declared: path and line.
    pub place: Option<(String, u32)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum ToldKind {
    Removed,
    Added,
    Changed,
}

/// A value as it may be shown.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum ToldValue {
    Secret,
    /// The text of a string, which may have many lines.
    Text(String),
    /// Any other value: on one line as Puppet writes it, and as JSON.
    Other {
        line: String,
        json: String,
    },
}

impl ToldValue {
    fn new(value: &Value, secret: bool) -> Self {
        if secret {
            return Self::Secret;
        }
        if let Data::String(text) = &value.data {
            return Self::Text(text.to_string());
        }
        let mut line = String::new();
        one_line(value, &mut line);
        let mut json = Writer::with_capacity(64);
        rich_value(value, &mut json);
        Self::Other { line, json: json.finish() }
    }

    pub fn json(&self) -> Json {
        match self {
            Self::Secret => Json::from("(a secret)"),
            Self::Text(text) => Json::from(text.as_str()),
            Self::Other { json, .. } => serde_json::from_str(json).unwrap_or(Json::Null),
        }
    }
}

/// Differences of one cause.
#[derive(Debug)]
pub struct Group {
    /// The changed lines; empty if no changed line explains it.
    pub causes: Vec<Hunk>,
    /// Each difference with the nodes that have it.
    pub changes: Vec<(Told, Vec<String>)>,
}

/// Collects what differs, node by node.
#[derive(Debug, Default)]
pub struct Differences {
    /// The nodes that both versions have.
    pub nodes: Vec<(String, NodeResult)>,
    /// The nodes that only the old version has.
    pub removed_nodes: Vec<String>,
    /// The nodes that only the new version has.
    pub added_nodes: Vec<String>,
    found: IndexMap<Vec<HunkId>, IndexMap<Told, Vec<String>>>,
    /// The changed lines that something in `found` comes from.
    hunks: BTreeMap<HunkId, Hunk>,
    /// Changed lines that a secret comes from.
    secret: BTreeSet<HunkId>,
}

impl Differences {
    /// Adds a node that compiles in both versions.
    pub fn add(&mut self, node: &str, old: &Version<'_>, new: &Version<'_>, changes: &SourceChanges<'_>) {
        let told = differences(old, new, changes);
        let result = if told.is_empty() { NodeResult::Same } else { NodeResult::Differs };
        self.nodes.push((node.to_owned(), result));
        self.extend(node, told, changes);
    }

    /// Adds a node that does not compile in one of the versions.
    pub fn add_failed(&mut self, node: &str, result: NodeResult) {
        self.nodes.push((node.to_owned(), result));
    }

    /// Adds what was collected for other nodes.
    pub fn merge(&mut self, other: Self) {
        self.nodes.extend(other.nodes);
        self.removed_nodes.extend(other.removed_nodes);
        self.added_nodes.extend(other.added_nodes);
        self.hunks.extend(other.hunks);
        self.secret.extend(other.secret);
        for (causes, told) in other.found {
            let of_cause = self.found.entry(causes).or_default();
            for (one, nodes) in told {
                of_cause.entry(one).or_default().extend(nodes);
            }
        }
    }

    fn extend(&mut self, node: &str, told: Vec<(Vec<HunkId>, Told)>, changes: &SourceChanges<'_>) {
        for (causes, one) in told {
            if [&one.before, &one.after].into_iter().flatten().any(|value| *value == ToldValue::Secret) {
                self.secret.extend(causes.iter().cloned());
            }
            for id in &causes {
                if !self.hunks.contains_key(id) {
                    self.hunks.extend(changes.hunk(id).map(|hunk| (id.clone(), hunk)));
                }
            }
            self.found.entry(causes).or_default().entry(one).or_default().push(node.to_owned());
        }
    }

    /// Some node does not compile any more.
    pub fn fails(&self) -> bool {
        self.nodes.iter().any(|(_, result)| matches!(result, NodeResult::Fails(_)))
    }

    /// A changed piece as it may be shown: without its text if a secret stands there.
    fn shown(&self, id: &HunkId) -> Option<Hunk> {
        let mut hunk = self.hunks.get(id)?.clone();
        if self.secret.contains(id) {
            let hidden = |lines: &mut Vec<String>| {
                if !lines.is_empty() {
                    *lines = vec!["(not shown: a secret stands here)".to_owned()];
                }
            };
            hidden(&mut hunk.removed);
            hidden(&mut hunk.added);
        }
        Some(hunk)
    }

    /// The differences by cause, those that touch most first; what no line explains comes last.
    pub fn groups(&self) -> Vec<Group> {
        let mut groups: Vec<Group> = self
            .found
            .iter()
            .map(|(causes, told)| Group {
                causes: causes.iter().filter_map(|id| self.shown(id)).collect(),
                changes: told.iter().map(|(one, nodes)| (one.clone(), nodes.clone())).collect(),
            })
            .collect();
        groups.sort_by_key(|group| {
            let touched: usize = group.changes.iter().map(|(_, nodes)| nodes.len()).sum();
            (group.causes.is_empty(), std::cmp::Reverse(touched))
        });
        groups
    }
}

fn differences(
    old: &Version<'_>,
    new: &Version<'_>,
    changes: &SourceChanges<'_>,
) -> Vec<(Vec<HunkId>, Told)> {
    let mut told = Vec::new();
    let (old_containers, new_containers) = (containers(old), containers(new));
    for change in compare(old.catalog, new.catalog, Scope::default()) {
        match change {
            Change::Removed { old: id } => {
                let Some(gone) = old.catalog.get(id) else { continue };
                let mut causes = old.causes(Side::Old, gone.prov, changes);
                if causes.is_empty() {
                    causes = container_causes(old, &old_containers, Side::Old, id, changes);
                }
                told.push((causes, whole(ToldKind::Removed, gone, old)));
            }
            Change::Added { new: id } => {
                let Some(fresh) = new.catalog.get(id) else { continue };
                let mut causes = new.causes(Side::New, fresh.prov, changes);
                if causes.is_empty() {
                    causes = container_causes(new, &new_containers, Side::New, id, changes);
                }
                told.push((causes, whole(ToldKind::Added, fresh, new)));
            }
            Change::Parameter { old: old_id, new: new_id, name, before, after, secret } => {
                let (Some(was), Some(is)) = (old.catalog.get(old_id), new.catalog.get(new_id)) else {
                    continue;
                };
                let prov = |value: &Option<Value>, resource: &Resource| {
                    value.as_ref().map_or(resource.prov, |one| one.prov)
                };
                let mut causes = new.causes(Side::New, prov(&after, is), changes);
                causes.extend(old.causes(Side::Old, prov(&before, was), changes));
                causes.sort_unstable();
                causes.dedup();
                told.push((
                    causes,
                    Told {
                        kind: ToldKind::Changed,
                        resource: is.reference(),
                        parameter: Some(name.as_str().to_owned()),
                        before: before.as_ref().map(|value| ToldValue::new(value, secret)),
                        after: after.as_ref().map(|value| ToldValue::new(value, secret)),
                        place: place(is, new),
                    },
                ));
            }
            // Not asked for.
            Change::Tags { .. }
            | Change::Exported { .. }
            | Change::Container { .. }
            | Change::Order { .. } => {}
        }
    }
    told
}

fn whole(kind: ToldKind, resource: &Resource, version: &Version<'_>) -> Told {
    Told {
        kind,
        resource: resource.reference(),
        parameter: None,
        before: None,
        after: None,
        place: place(resource, version),
    }
}

fn place(resource: &Resource, version: &Version<'_>) -> Option<(String, u32)> {
    let span = resource.span?;
    let file = version.sources.file(span.file);
    Some((version.root.shared_name(file.path()).to_owned(), file.line(span.range.start)))
}

/// What each resource lies in.
fn containers(version: &Version<'_>) -> HashMap<ResourceId, ResourceId> {
    // Of several, the first counts.
    version.catalog.edges.iter().rev().map(|&(outer, inner)| (inner, outer)).collect()
}

/// A resource is there because its container is: the causes of the nearest container that has some.
fn container_causes(
    version: &Version<'_>,
    containers: &HashMap<ResourceId, ResourceId>,
    side: Side,
    resource: ResourceId,
    changes: &SourceChanges<'_>,
) -> Vec<HunkId> {
    let mut at = resource;
    // No container contains itself, but a catalog from elsewhere may say so.
    for _ in 0..version.catalog.resources().len() {
        let Some(&outer) = containers.get(&at) else { break };
        at = outer;
        let prov = version.catalog.get(at).map_or(Prov::NONE, |container| container.prov);
        let causes = version.causes(side, prov, changes);
        if !causes.is_empty() {
            return causes;
        }
    }
    Vec::new()
}
