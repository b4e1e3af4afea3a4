//! The differences of many nodes, put together by their cause.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::path::Path;

use indexmap::IndexMap;
use serde_json::{Value as Json, json as object};
use setpoint_catalog::compare::{Change, Scope, compare};
use setpoint_catalog::write::{Json as Writer, one_line, rich_value};
use setpoint_catalog::{Resource, ResourceId};
use setpoint_provenance::Prov;
use setpoint_puppet_values::{Data, Value};

use crate::cause::Side;
use crate::lines::HunkId;
use crate::secrets::Secrets;
use crate::served::{self, ServedContent, ServedFile};
use crate::{Hunk, SourceChanges, Version};

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
    /// A file that is copied.
    Served(ServedFile),
    /// It was not computed, and what it depends on changed; with the reason.
    Unknown(String),
    /// Whatever its value is, Puppet hides it.
    Sensitive,
    /// Whatever its value is, Puppet shows it in reports and logs.
    NotSensitive,
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
            Self::Served(file) => match &file.content {
                ServedContent::Bytes { sha256, size } => {
                    object!({"path": file.path, "sha256": hexadecimal(sha256), "bytes": size})
                }
                ServedContent::Link(target) => object!({"path": file.path, "link": target}),
                ServedContent::Unread(reason) => object!({"path": file.path, "unread": reason}),
            },
            Self::Unknown(reason) => object!({"unknown": reason}),
            Self::Sensitive => object!({"sensitive": true}),
            Self::NotSensitive => object!({"sensitive": false}),
        }
    }

    /// The same with every secret text masked.
    fn masked(&self, secrets: &Secrets) -> Self {
        match self {
            Self::Text(text) => Self::Text(secrets.mask(text)),
            Self::Other { line, json } => {
                // JSON escapes; what stands in it otherwise than in the line is masked as a whole.
                let masked = secrets.mask(line);
                let json =
                    if masked == *line { json.clone() } else { Json::from(masked.as_str()).to_string() };
                Self::Other { line: masked, json }
            }
            other => other.clone(),
        }
    }
}

/// Bytes as hexadecimal digits.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
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
    found: IndexMap<Vec<HunkId>, IndexMap<Told, Vec<String>>>,
    /// The changed lines that something in `found` comes from.
    hunks: BTreeMap<HunkId, Hunk>,
    pub secrets: Secrets,
}

impl Differences {
    /// Adds a node that compiles in both versions. What no line of it explains comes from the `settings`: files by their shared
    /// names, each with whether it lies inside what is compared. Returns whether anything differs.
    pub fn add(
        &mut self,
        node: &str,
        (old, new): (&Version<'_>, &Version<'_>),
        changes: &SourceChanges<'_>,
        settings: &[(String, bool)],
    ) -> bool {
        let mut secrets = Secrets::default();
        secrets.gather(Side::Old, old);
        secrets.gather(Side::New, new);
        let hunks = |(name, is_inside): &(String, bool)| changes.of_file(Side::New, (name, *is_inside));
        let of_settings = || -> Vec<HunkId> { settings.iter().flat_map(hunks).collect() };
        let ruby = settings
            .iter()
            .filter(|(name, _)| Path::new(name).extension().is_some_and(|ending| ending == "rb"));
        let ruby: Vec<HunkId> = ruby.flat_map(hunks).collect();
        let told = differences(old, new, &secrets, changes, &ruby);
        let differs = !told.is_empty();
        self.secrets.merge(secrets);
        for (mut causes, one) in told {
            if causes.is_empty() {
                causes = of_settings();
            }
            for id in &causes {
                if !self.hunks.contains_key(id) {
                    self.hunks.extend(changes.hunk(id).map(|hunk| (id.clone(), hunk)));
                }
            }
            self.found.entry(causes).or_default().entry(one).or_default().push(node.to_owned());
        }
        differs
    }

    /// Adds what was collected for other nodes.
    pub fn merge(&mut self, other: Self) {
        self.hunks.extend(other.hunks);
        self.secrets.merge(other.secrets);
        for (causes, told) in other.found {
            let of_cause = self.found.entry(causes).or_default();
            for (one, nodes) in told {
                of_cause.entry(one).or_default().extend(nodes);
            }
        }
    }

    /// The differences by cause, those that touch most first; containers come later, and what no line explains last.
    pub fn groups(&self) -> Vec<Group> {
        let masked = |told: &Told| Told {
            before: told.before.as_ref().map(|value| value.masked(&self.secrets)),
            after: told.after.as_ref().map(|value| value.masked(&self.secrets)),
            ..told.clone()
        };
        let shown = |id: &HunkId| self.hunks.get(id).map(|hunk| self.secrets.hide(hunk));
        let mut groups: Vec<Group> = self
            .found
            .iter()
            .map(|(causes, told)| Group {
                causes: causes.iter().filter_map(shown).collect(),
                changes: told.iter().map(|(one, nodes)| (masked(one), nodes.clone())).collect(),
            })
            .collect();
        // What the machine has comes before the classes and defines that contain it.
        let contains = |told: &Told| {
            let type_name = told.resource.split('[').next().unwrap_or("");
            type_name == "Class" || type_name.contains("::")
        };
        groups.sort_by_key(|group| {
            let touched: usize = group.changes.iter().map(|(_, nodes)| nodes.len()).sum();
            let are_containers = group.changes.iter().all(|(told, _)| contains(told));
            (group.causes.is_empty(), are_containers, std::cmp::Reverse(touched))
        });
        groups
    }
}

fn differences(
    old: &Version<'_>,
    new: &Version<'_>,
    secrets: &Secrets,
    changes: &SourceChanges<'_>,
    ruby: &[HunkId],
) -> Vec<(Vec<HunkId>, Told)> {
    let mut told = Vec::new();
    let (old_containers, new_containers) = (containers(old), containers(new));
    for change in compare(old.catalog, new.catalog, Scope { exported: true, ..Scope::default() }) {
        match change {
            // References are a set: which one is written first means nothing.
            Change::Parameter { name, before: Some(before), after: Some(after), .. }
                if is_relationship(name.as_str()) && are_same_set(&before, &after) => {}
            Change::Removed { old: id } => {
                let Some(gone) = old.catalog.get(id).filter(|one| !is_node_statement(one)) else { continue };
                let mut causes = old.causes(Side::Old, gone.prov, changes);
                if causes.is_empty() {
                    causes = container_causes(old, &old_containers, Side::Old, id, changes);
                }
                told.push((causes, whole(ToldKind::Removed, gone, old)));
            }
            Change::Added { new: id } => {
                let Some(fresh) = new.catalog.get(id).filter(|one| !is_node_statement(one)) else { continue };
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
                if name.as_str() == "source" && served::are_alike((old_id, was, old), (new_id, is, new)) {
                    continue;
                }
                let prov = |value: &Option<Value>, resource: &Resource| {
                    value.as_ref().map_or(resource.prov, |one| one.prov)
                };
                let (old_prov, new_prov) = (prov(&before, was), prov(&after, is));
                let mut causes = new.causes(Side::New, new_prov, changes);
                causes.extend(old.causes(Side::Old, old_prov, changes));
                causes.sort_unstable();
                causes.dedup();
                let hidden = matches!(name.as_str(), "content" | "source")
                    && (hides_contents(was) || hides_contents(is));
                let secret = secret
                    || hidden
                    || (before.is_some() && secrets.made(Side::Old, old, old_prov))
                    || (after.is_some() && secrets.made(Side::New, new, new_prov));
                told.push((
                    causes,
                    Told {
                        parameter: Some(name.as_str().to_owned()),
                        before: before.as_ref().map(|value| ToldValue::new(value, secret)),
                        after: after.as_ref().map(|value| ToldValue::new(value, secret)),
                        ..whole(ToldKind::Changed, is, new)
                    },
                ));
            }
            Change::Exported { old: old_id, new: new_id } => {
                let (Some(was), Some(is)) = (old.catalog.get(old_id), new.catalog.get(new_id)) else {
                    continue;
                };
                let value = |resource: &Resource| Some(ToldValue::new(&resource.exported.into(), false));
                told.push((
                    new.causes(Side::New, is.prov, changes),
                    Told {
                        parameter: Some("exported".to_owned()),
                        before: value(was),
                        after: value(is),
                        ..whole(ToldKind::Changed, is, new)
                    },
                ));
            }
            // Not asked for.
            Change::Tags { .. } | Change::Container { .. } | Change::Order { .. } => {}
        }
    }
    for (new_id, is) in new.catalog.iter().filter(|(_, resource)| !resource.virtual_) {
        let Some(old_id) = old.catalog.find(is.type_name, &is.title) else { continue };
        let Some(was) = old.catalog.get(old_id).filter(|was| !was.virtual_) else { continue };
        told.extend(served::differences((old_id, was, old), (new_id, is, new), changes));
        told.extend(unknown_differences((was, old), (is, new), changes, ruby));
        told.extend(sensitivity_differences((was, old), (is, new), changes));
    }
    told.extend(containment_differences(old, new, changes));
    told
}

/// Classes that another class contains in one version and only includes in the other. Code that moves takes its resources along,
/// which is no change.
fn containment_differences(
    old: &Version<'_>,
    new: &Version<'_>,
    changes: &SourceChanges<'_>,
) -> Vec<(Vec<HunkId>, Told)> {
    let (before, after) = (containers_of_classes(old), containers_of_classes(new));
    let mut told = Vec::new();
    for (class, (is_id, containers)) in &after {
        let Some((was_id, were)) = before.get(class) else { continue };
        let (Some(was), Some(is)) = (old.catalog.get(*was_id), new.catalog.get(*is_id)) else { continue };
        // Of a container that comes or goes, that is told.
        let only = |these: &BTreeSet<String>, others: &BTreeSet<String>, known: &ClassContainers| {
            let lone = these.difference(others).filter(|name| known.contains_key(*name));
            lone.cloned().collect::<Vec<_>>().join(", ")
        };
        let (lost, won) = (only(were, containers, &after), only(containers, were, &before));
        if lost.is_empty() && won.is_empty() {
            continue;
        }
        let mut causes = new.all_causes(Side::New, is.prov, changes);
        causes.extend(old.all_causes(Side::Old, was.prov, changes));
        causes.sort_unstable();
        causes.dedup();
        let shown = |names: String| {
            let json = Json::from(names.as_str()).to_string();
            (!names.is_empty()).then_some(ToldValue::Other { line: names, json })
        };
        told.push((
            causes,
            Told {
                parameter: Some("contained in".to_owned()),
                before: shown(lost),
                after: shown(won),
                ..whole(ToldKind::Changed, is, new)
            },
        ));
    }
    told
}

/// Classes by reference, each with the classes and defines that contain it.
type ClassContainers = BTreeMap<String, (ResourceId, BTreeSet<String>)>;

fn containers_of_classes(version: &Version<'_>) -> ClassContainers {
    let is_class = |(_, one): &(ResourceId, &Resource)| one.type_name.as_str() == "Class";
    let classes = version.catalog.iter().filter(is_class);
    let mut found: ClassContainers =
        classes.map(|(id, one)| (one.reference(), (id, BTreeSet::new()))).collect();
    for &(outer, inner) in &version.catalog.edges {
        let (Some(outer), Some(inner)) = (version.catalog.get(outer), version.catalog.get(inner)) else {
            continue;
        };
        if let Some((_, containers)) = found.get_mut(&inner.reference()) {
            containers.insert(outer.reference());
        }
    }
    found
}

/// Whether a resource stands for the node statement that was taken. Which one it is means nothing to a machine.
fn is_node_statement(resource: &Resource) -> bool {
    resource.type_name.as_str() == "Node"
}

fn is_relationship(name: &str) -> bool {
    matches!(name, "require" | "before" | "notify" | "subscribe")
}

fn are_same_set(before: &Value, after: &Value) -> bool {
    let items = |value: &Value| -> Vec<String> {
        let one = |value: &Value| {
            let mut line = String::new();
            one_line(value, &mut line);
            line
        };
        let mut items = match &value.data {
            Data::Array(items) => items.iter().map(one).collect(),
            _ => vec![one(value)],
        };
        items.sort_unstable();
        items.dedup();
        items
    };
    items(before) == items(after)
}

/// The changes that the value of a parameter depends on, in either version.
fn causes_of(
    (before, old): (&Value, &Version<'_>),
    (after, new): (&Value, &Version<'_>),
    changes: &SourceChanges<'_>,
) -> Vec<HunkId> {
    let mut causes = new.all_causes(Side::New, after.prov, changes);
    causes.extend(old.all_causes(Side::Old, before.prov, changes));
    causes.sort_unstable();
    causes.dedup();
    causes
}

/// Parameters that are `Sensitive` in one version only: in the other one, Puppet writes their values into reports and logs.
fn sensitivity_differences(
    (was, old): (&Resource, &Version<'_>),
    (is, new): (&Resource, &Version<'_>),
    changes: &SourceChanges<'_>,
) -> Vec<(Vec<HunkId>, Told)> {
    let mut told = Vec::new();
    for parameter in &is.parameters {
        let Some(before) = was.parameters.get(parameter.name) else { continue };
        let (hidden_before, hidden_after) = (was.is_secret(parameter.name), is.is_secret(parameter.name));
        if hidden_before == hidden_after {
            continue;
        }
        let causes = causes_of((before, old), (&parameter.value, new), changes);
        let shown =
            |is_hidden: bool| Some(if is_hidden { ToldValue::Sensitive } else { ToldValue::NotSensitive });
        told.push((
            causes,
            Told {
                parameter: Some(parameter.name.as_str().to_owned()),
                before: shown(hidden_before),
                after: shown(hidden_after),
                ..whole(ToldKind::Changed, is, new)
            },
        ));
    }
    told
}

/// Values that were not computed look alike, and may still differ: told if something that they depend on changed. The provenance
/// of a value names no code in Ruby: what Ruby would have computed depends on all of it that changed.
fn unknown_differences(
    (was, old): (&Resource, &Version<'_>),
    (is, new): (&Resource, &Version<'_>),
    changes: &SourceChanges<'_>,
    ruby: &[HunkId],
) -> Vec<(Vec<HunkId>, Told)> {
    let mut told = Vec::new();
    for parameter in &is.parameters {
        let Some(before) = was.parameters.get(parameter.name) else { continue };
        let reason = |value: &Value| value.unknown_part().map(|unknown| unknown.reason.to_string());
        let (Some(old_reason), Some(new_reason)) = (reason(before), reason(&parameter.value)) else {
            continue;
        };
        let mut causes = causes_of((before, old), (&parameter.value, new), changes);
        if causes.is_empty() && new_reason.contains(".rb") {
            causes.extend_from_slice(ruby);
        }
        if !causes.is_empty() {
            told.push((
                causes,
                Told {
                    parameter: Some(parameter.name.as_str().to_owned()),
                    before: Some(ToldValue::Unknown(old_reason)),
                    after: Some(ToldValue::Unknown(new_reason)),
                    ..whole(ToldKind::Changed, is, new)
                },
            ));
        }
    }
    told
}

/// Whether Puppet itself shows no contents of a file.
pub(crate) fn hides_contents(resource: &Resource) -> bool {
    let is_off = |value: &Value| match &value.data {
        Data::Bool(truth) => !truth,
        Data::String(text) => &**text == "false",
        _ => false,
    };
    resource.get("show_diff").is_some_and(is_off)
        || resource.is_secret("content".into())
        || resource.is_secret("source".into())
}

fn whole(kind: ToldKind, resource: &Resource, version: &Version<'_>) -> Told {
    let exported = if resource.virtual_ && resource.exported { " (exported)" } else { "" };
    Told {
        kind,
        resource: format!("{}{exported}", resource.reference()),
        parameter: None,
        before: None,
        after: None,
        place: place(resource, version),
    }
}

pub(crate) fn place(resource: &Resource, version: &Version<'_>) -> Option<(String, u32)> {
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
