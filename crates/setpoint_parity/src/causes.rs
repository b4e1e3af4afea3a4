//! Why a catalog of ours is not the server's, and which nodes have a reason in common.

use std::collections::BTreeSet;

use indexmap::{IndexMap, IndexSet};
use setpoint_catalog::compare::{Change, Scope, compare};
use setpoint_catalog::write::{Json, rich_value};
use setpoint_catalog::{Catalog, Resource, ResourceId};
use setpoint_puppet_values::{Data, Value};
use setpoint_source::{Diagnostic, Sources, Symbol};

/// The kinds of reasons, from the gravest on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    Unreadable,
    /// Nothing says what facts the node has.
    Facts,
    Fails,
    Missing,
    Extra,
    Parameter,
    Relation,
    Secrecy,
    Exported,
    Container,
    Tags,
    Order,
    Classes,
    /// A value that could not be computed here: neither the same nor another.
    Unknown,
}

impl Kind {
    /// As in the JSON report.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unreadable => "unreadable",
            Self::Facts => "facts",
            Self::Fails => "does-not-compile",
            Self::Missing => "missing-resource",
            Self::Extra => "extra-resource",
            Self::Parameter => "parameter",
            Self::Relation => "relation",
            Self::Secrecy => "secrecy",
            Self::Exported => "exported",
            Self::Container => "container",
            Self::Tags => "tags",
            Self::Order => "order",
            Self::Classes => "classes",
            Self::Unknown => "unknown-value",
        }
    }

    /// As in the first line of the report: `because …`.
    pub(crate) fn because(self) -> &'static str {
        match self {
            Self::Unreadable => "the server's catalog cannot be read",
            Self::Facts => "the facts are not known",
            Self::Fails => "the node does not compile",
            Self::Missing => "a resource is missing",
            Self::Extra => "a resource is too many",
            Self::Parameter => "a parameter differs",
            Self::Relation => "a relationship differs",
            Self::Secrecy => "a secret is marked otherwise",
            Self::Exported => "a resource is exported otherwise",
            Self::Container => "a resource lies in another container",
            Self::Tags => "tags differ",
            Self::Order => "the order differs",
            Self::Classes => "the list of classes differs",
            Self::Unknown => "a value cannot be computed",
        }
    }
}

/// One reason, on one node.
#[derive(Debug, Clone)]
pub struct Cause {
    pub kind: Kind,
    /// What several nodes have in common if they have this reason.
    key: String,
    /// What differs, for people.
    pub what: String,
    pub resource: Option<String>,
    pub parameter: Option<Symbol>,
    /// Where it is declared: `path:line:column` here, or what the server says.
    pub place: Option<String>,
    /// The two values, shortened. Absent where they are secrets, or where there are none.
    pub server: Option<String>,
    pub here: Option<String>,
    pub secret: bool,
}

impl Cause {
    fn new(kind: Kind, key: impl Into<String>, what: impl Into<String>) -> Self {
        Self {
            kind,
            key: key.into(),
            what: what.into(),
            resource: None,
            parameter: None,
            place: None,
            server: None,
            here: None,
            secret: false,
        }
    }

    pub(crate) fn unreadable(reason: &str) -> Self {
        Self::new(Kind::Unreadable, reason, format!("The server's catalog cannot be read: {reason}"))
    }

    pub(crate) fn no_facts() -> Self {
        let what = "There are no facts to compile with. Put them beside the catalogs as NODE.facts.json, or name their \
                    folder with --facts-dir";
        Self::new(Kind::Facts, "", what)
    }

    pub(crate) fn bad_facts(reason: &str) -> Self {
        Self::new(Kind::Facts, reason, format!("The facts cannot be read: {reason}"))
    }

    /// The node does not compile. Puppet puts the name of the node into some messages.
    pub(crate) fn fails(found: &Diagnostic, node: &str, sources: &Sources) -> Self {
        let place = found.span.map(|span| sources.place(span));
        let message = found.message.replace(&format!(" on node {node}"), "");
        let key = format!("{} {place:?} {}", found.rule.name(), message.replace(node, "\0"));
        let message = message.lines().next().unwrap_or_default().to_owned();
        Self { place, ..Self::new(Kind::Fails, key, format!("It does not compile: {message}")) }
    }
}

/// A reason, and all nodes that have it.
#[derive(Debug)]
pub struct Shared {
    /// As the first node has it.
    pub cause: Cause,
    pub nodes: IndexSet<String>,
    /// The resources that it concerns, on any of the nodes.
    pub resources: IndexSet<String>,
}

/// Puts together what several nodes have in common: the gravest first, then what concerns most nodes.
pub(crate) fn share(causes: impl IntoIterator<Item = (String, Cause)>) -> Vec<Shared> {
    let mut groups: IndexMap<(Kind, String), Shared> = IndexMap::new();
    for (node, cause) in causes {
        let key = (cause.kind, cause.key.clone());
        let resource = cause.resource.clone();
        let shared = groups.entry(key).or_insert_with(|| Shared {
            cause,
            nodes: IndexSet::new(),
            resources: IndexSet::new(),
        });
        shared.nodes.insert(node);
        shared.resources.extend(resource);
    }
    let mut groups: Vec<Shared> = groups.into_values().collect();
    groups.sort_by(|a, b| a.cause.kind.cmp(&b.cause.kind).then_with(|| b.nodes.len().cmp(&a.nodes.len())));
    groups
}

/// What the shape of the server's catalog allows to be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// As a server answers and an agent keeps it.
    Full,
    /// As PuppetDB keeps it: resources in no order, relationships sorted, aliases added, secrets taken out.
    Stored,
}

/// Every reason why ours is not the server's catalog.
pub(crate) fn differences(server: &Catalog, ours: &Catalog, shape: Shape, sources: &Sources) -> Vec<Cause> {
    let scope = Scope { order: shape == Shape::Full, ..Scope::ALL };
    let changes = compare(server, ours, scope);
    let pair = Pair { server, ours, shape, sources };
    let missing: BTreeSet<ResourceId> = changes.iter().filter_map(removed).collect();
    let extra: BTreeSet<ResourceId> = changes.iter().filter_map(added).collect();
    let mut causes = Vec::new();
    causes.extend(collapsed(server, &missing).into_iter().map(|(id, count)| pair.missing(id, count)));
    causes.extend(collapsed(ours, &extra).into_iter().map(|(id, count)| pair.extra(id, count)));
    let mut moved_by_order = None;
    for change in &changes {
        match change {
            Change::Added { .. } | Change::Removed { .. } => {}
            Change::Parameter { old, new, name, before, after, secret } => {
                causes.extend(pair.parameter(
                    (*old, *new),
                    *name,
                    (before.as_ref(), after.as_ref()),
                    *secret,
                ));
            }
            Change::Tags { new, lost, gained, .. } => causes.push(pair.tags(*new, lost, gained)),
            Change::Exported { old, new } => causes.push(pair.exported(*old, *new)),
            Change::Container { new, before, after, .. } => {
                causes.push(pair.container(*new, *before, *after));
            }
            Change::Order { new, .. } => moved_by_order = Some(*new),
        }
    }
    if shape == Shape::Full {
        causes.extend(pair.secrecy());
    }
    if let Some(id) = moved_by_order {
        causes.push(pair.order(id));
    }
    let of_classes = |id: &ResourceId, catalog: &Catalog| catalog.get(*id).is_some_and(Resource::is_class);
    let told = missing.iter().any(|id| of_classes(id, server)) || extra.iter().any(|id| of_classes(id, ours));
    if shape == Shape::Full && !told {
        causes.extend(pair.classes());
    }
    causes
}

fn removed(change: &Change) -> Option<ResourceId> {
    if let Change::Removed { old } = change { Some(*old) } else { None }
}

fn added(change: &Change) -> Option<ResourceId> {
    if let Change::Added { new } = change { Some(*new) } else { None }
}

/// Of resources that lie in one another, the outermost, each with the number of the others.
fn collapsed(catalog: &Catalog, ids: &BTreeSet<ResourceId>) -> Vec<(ResourceId, usize)> {
    let mut container = vec![None; catalog.resources().len()];
    for &(outer, inner) in &catalog.edges {
        if let Some(slot) = container.get_mut(inner.index()) {
            *slot = Some(outer);
        }
    }
    let mut found: IndexMap<ResourceId, usize> = IndexMap::new();
    for &id in ids {
        let mut outermost = id;
        // Containment is a tree; the bound is for a catalog that somebody has made by hand.
        for _ in 0..catalog.resources().len() {
            match container.get(outermost.index()).copied().flatten() {
                Some(outer) if ids.contains(&outer) => outermost = outer,
                _ => break,
            }
        }
        let inner = found.entry(outermost).or_default();
        *inner += usize::from(outermost != id);
    }
    found.into_iter().collect()
}

const RELATIONS: [&str; 4] = ["before", "notify", "require", "subscribe"];

struct Pair<'a> {
    server: &'a Catalog,
    ours: &'a Catalog,
    shape: Shape,
    sources: &'a Sources,
}

impl Pair<'_> {
    fn place_here(&self, resource: &Resource, parameter: Option<Symbol>) -> Option<String> {
        let given = parameter.and_then(|name| resource.parameters.entry(name)).and_then(|entry| entry.span);
        given.or(resource.span).map(|span| self.sources.place(span)).or_else(|| place_told(resource))
    }

    fn missing(&self, id: ResourceId, inner: usize) -> Cause {
        let resource = &self.server[id];
        let place = place_told(resource).map(|place| format!("{place} on the server"));
        let key = format!(
            "{} {place:?}",
            if place.is_some() { resource.type_name.to_string() } else { resource.reference() }
        );
        let what = format!("{} is missing here", with_inner(resource, inner));
        Cause { resource: Some(resource.reference()), place, ..Cause::new(Kind::Missing, key, what) }
    }

    fn extra(&self, id: ResourceId, inner: usize) -> Cause {
        let resource = &self.ours[id];
        let place = self.place_here(resource, None);
        let key = format!(
            "{} {place:?}",
            if place.is_some() { resource.type_name.to_string() } else { resource.reference() }
        );
        let what = format!("{} is not in the server's catalog", with_inner(resource, inner));
        Cause { resource: Some(resource.reference()), place, ..Cause::new(Kind::Extra, key, what) }
    }

    fn parameter(
        &self,
        (old, new): (ResourceId, ResourceId),
        name: Symbol,
        (before, after): (Option<&Value>, Option<&Value>),
        secret: bool,
    ) -> Option<Cause> {
        let (theirs, ours) = (&self.server[old], &self.ours[new]);
        let relation = RELATIONS.contains(&name.as_str());
        if self.shape == Shape::Stored {
            // PuppetDB sorts what has no order, adds aliases, and takes secrets out.
            let sorted = relation || matches!(name.as_str(), "alias" | "tag");
            let added = name.as_str() == "alias" && after.is_none();
            if added
                || (sorted && same_set(before, after))
                || (before.is_none() && (secret || ours.is_secret(name)))
            {
                return None;
            }
        }
        let reference = ours.reference();
        let place = self.place_here(ours, Some(name));
        if let Some(reason) = after.and_then(unknown) {
            let what = format!("{reference}: {name} cannot be computed: {reason}");
            let cause = Cause::new(Kind::Unknown, format!("{place:?} {name} {reason}"), what);
            return Some(Cause { resource: Some(reference), parameter: Some(name), place, ..cause });
        }
        let kind = if relation { Kind::Relation } else { Kind::Parameter };
        let key = format!("{} {name} {place:?}", theirs.type_name);
        let what = match (before, after) {
            (Some(_), Some(_)) => format!("{reference}: {name} differs"),
            (Some(_), None) => format!("{reference}: {name} is not set here"),
            _ => format!("{reference}: {name} is not set on the server"),
        };
        let (server, here) = if secret { (None, None) } else { both(before, after) };
        let cause = Cause::new(kind, key, what);
        Some(Cause { resource: Some(reference), parameter: Some(name), place, server, here, secret, ..cause })
    }

    fn tags(&self, id: ResourceId, lost: &[Symbol], gained: &[Symbol]) -> Cause {
        let resource = &self.ours[id];
        let names =
            |tags: &[Symbol]| tags.iter().map(|tag| format!("`{tag}`")).collect::<Vec<_>>().join(", ");
        let mut parts = Vec::new();
        if !lost.is_empty() {
            parts.push(format!("lacks the tag {}", names(lost)));
        }
        if !gained.is_empty() {
            parts.push(format!("has the tag {}", names(gained)));
        }
        let (key, what) =
            (format!("{lost:?} {gained:?}"), format!("{resource} {} here", parts.join(" and ")));
        let place = self.place_here(resource, None);
        Cause { resource: Some(resource.reference()), place, ..Cause::new(Kind::Tags, key, what) }
    }

    fn exported(&self, old: ResourceId, new: ResourceId) -> Cause {
        let (theirs, ours) = (&self.server[old], &self.ours[new]);
        let place = self.place_here(ours, None);
        let is = |resource: &Resource| if resource.exported { "exported" } else { "not exported" };
        let what = format!("{ours} is {} here and {} on the server", is(ours), is(theirs));
        let cause = Cause::new(Kind::Exported, format!("{} {place:?}", ours.type_name), what);
        Cause { resource: Some(ours.reference()), place, ..cause }
    }

    fn container(&self, id: ResourceId, before: Option<ResourceId>, after: Option<ResourceId>) -> Cause {
        let resource = &self.ours[id];
        let name = |catalog: &Catalog, id: Option<ResourceId>| {
            id.and_then(|id| catalog.get(id)).map_or_else(|| "nothing".to_owned(), Resource::reference)
        };
        let (server, here) = (name(self.server, before), name(self.ours, after));
        let place = self.place_here(resource, None);
        let what = format!("{resource} lies in another container");
        let cause = Cause::new(Kind::Container, format!("{} {place:?}", resource.type_name), what);
        Cause { resource: Some(resource.reference()), place, server: Some(server), here: Some(here), ..cause }
    }

    fn order(&self, id: ResourceId) -> Cause {
        let resource = &self.ours[id];
        let place = self.place_here(resource, None);
        let what = format!("{resource} is the first that has another place in the order of application");
        let cause = Cause::new(Kind::Order, format!("{} {place:?}", resource.type_name), what);
        Cause { resource: Some(resource.reference()), place, ..cause }
    }

    /// Parameters that are secrets in one catalog only.
    fn secrecy(&self) -> Vec<Cause> {
        let mut causes = Vec::new();
        for theirs in self.server.resources() {
            let Some(ours) = self.ours.find(theirs.type_name, &theirs.title).and_then(|id| self.ours.get(id))
            else {
                continue;
            };
            let names: BTreeSet<&str> =
                theirs.sensitive.iter().chain(&ours.sensitive).map(|name| name.as_str()).collect();
            for name in names.into_iter().map(Symbol::new) {
                let (there, here) = (theirs.sensitive.contains(&name), ours.sensitive.contains(&name));
                if there == here || ours.title != theirs.title {
                    continue;
                }
                let (is, where_) = if there { ("on the server", "here") } else { ("here", "on the server") };
                let what = format!("{ours}: {name} is a secret {is} and not {where_}");
                let place = self.place_here(ours, Some(name));
                let cause = Cause::new(Kind::Secrecy, format!("{} {name} {place:?}", ours.type_name), what);
                let resource = Some(ours.reference());
                causes.push(Cause { resource, parameter: Some(name), place, secret: true, ..cause });
            }
        }
        causes
    }

    fn classes(&self) -> Option<Cause> {
        let names = |from: &Catalog, other: &Catalog| {
            let names = from.classes.iter().filter(|name| !other.classes.contains(*name));
            names.map(Symbol::to_string).collect::<Vec<_>>().join(", ")
        };
        let (server, here) = (names(self.server, self.ours), names(self.ours, self.server));
        if server.is_empty() && here.is_empty() {
            return None;
        }
        let what = match (server.is_empty(), here.is_empty()) {
            (false, true) => format!("The server's list of classes has {server}, too"),
            (true, _) => format!("The list of classes here has {here}, too"),
            _ => format!("The list of classes has {here} here, and {server} on the server"),
        };
        Some(Cause::new(Kind::Classes, what.clone(), what))
    }
}

fn with_inner(resource: &Resource, inner: usize) -> String {
    match inner {
        0 => resource.reference(),
        1 => format!("{resource}, with the one resource in it,"),
        _ => format!("{resource}, with the {inner} resources in it,"),
    }
}

/// The place that the catalog itself names.
fn place_told(resource: &Resource) -> Option<String> {
    let file = resource.file.as_deref()?;
    Some(resource.line.map_or_else(|| file.to_owned(), |line| format!("{file}:{line}")))
}

fn same_set(before: Option<&Value>, after: Option<&Value>) -> bool {
    let set = |value: Option<&Value>| -> BTreeSet<String> {
        match value.map(|value| &value.data) {
            None => BTreeSet::new(),
            Some(Data::Array(items)) => items.iter().map(printed).collect(),
            _ => value.map(printed).into_iter().collect(),
        }
    };
    set(before) == set(after)
}

/// The reason why a value, or a part of it, is not known.
pub(crate) fn unknown(value: &Value) -> Option<&str> {
    value.unknown_part().map(|unknown| &*unknown.reason)
}

fn printed(value: &Value) -> String {
    let mut out = Json::with_capacity(64);
    rich_value(value, &mut out);
    let text = out.finish();
    // A value of many lines is laid out for a catalog; here it stands in a line.
    text.lines().map(str::trim).collect::<Vec<_>>().join(" ")
}

/// Both values; of long texts the first line that differs.
fn both(before: Option<&Value>, after: Option<&Value>) -> (Option<String>, Option<String>) {
    if let (Some(Data::String(old)), Some(Data::String(new))) =
        (before.map(|value| &value.data), after.map(|value| &value.data))
        && (old.contains('\n') || new.contains('\n'))
    {
        let (mut a, mut b, mut number) = (old.split('\n'), new.split('\n'), 0);
        loop {
            number += 1;
            match (a.next(), b.next()) {
                (None, None) => break,
                (old, new) if old == new => {}
                (old, new) => {
                    let show = |line: Option<&str>| match line {
                        Some(line) => format!("line {number}: {}", short(&format!("{line:?}"))),
                        None => format!("ends before line {number}"),
                    };
                    return (Some(show(old)), Some(show(new)));
                }
            }
        }
    }
    (before.map(|value| short(&printed(value))), after.map(|value| short(&printed(value))))
}

fn short(text: &str) -> String {
    const MOST: usize = 160;
    match text.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
