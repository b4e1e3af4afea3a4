//! Which node is joined to which, and how: requirements matched with capabilities.

use std::rc::Rc;

use indexmap::IndexMap;
use rustc_hash::FxHashMap;
use setpoint_data::Node;
use setpoint_source::{Diagnostic, Limit, Rule, Severity, Span, Symbol, nearest};

use crate::definitions::BUILT_IN;
use crate::grammar::Edition;
use crate::omission::{Omission, Omitted};
use crate::service::{Assignment, NodeTemplate, Service};
use crate::substitution::Mapped;
use crate::types::{Capability, Names, Requirement, Types, ancestors, derives, full_name, is_whole};
use crate::{attributes, calls, circles, filters, policies, substitution, templates};

/// How a relationship behaves while the topology is set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Behaviour {
    HostedOn,
    DependsOn,
    ConnectsTo,
}

impl Behaviour {
    /// The type in the rule set.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::HostedOn => "hostedOn",
            Self::DependsOn => "dependsOn",
            Self::ConnectsTo => "connectsTo",
        }
    }
}

/// One relationship between two node templates.
#[derive(Debug, Clone)]
pub struct Relationship {
    pub source: Symbol,
    pub target: Symbol,
    pub requirement: Symbol,
    pub behaviour: Behaviour,
    pub kind: Option<Symbol>,
    /// The capability of the target that fulfils the requirement, where it is known.
    pub capability: Option<Symbol>,
    pub certainty: Certainty,
    pub span: Span,
}

/// What is certain of a relationship.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Certainty {
    /// It is there, and the rules describe how it behaves.
    Known,
    /// What it waits for is not known, and it is taken for a dependency; or an orchestrator may choose another target.
    Assumed,
    /// An orchestrator may choose it.
    Possible,
}

/// A node of a topology: a node template, or one of the topology that stands for it.
#[derive(Debug, Clone)]
pub struct TopologyNode {
    pub kind: Symbol,
    pub span: Span,
}

/// The nodes of a service template and how they are joined.
#[derive(Debug, Default)]
pub struct Topology {
    pub nodes: IndexMap<Symbol, TopologyNode>,
    pub relationships: Vec<Relationship>,
    /// Relationships of which an orchestrator chooses some: for each requirement that is left to it, all that fit.
    pub possible: Vec<Relationship>,
    /// What has no model, or was left to the orchestrator.
    pub omissions: Vec<Omission>,
    /// What matters only if nodes may wait for each other in a circle.
    pub open: Vec<Omission>,
    pub diagnostics: Vec<Diagnostic>,
}

/// Whether a relationship type allows such a target: the nearest of its ancestors that names valid targets decides. Types that
/// are not all known decide nothing.
fn is_valid_target(service: &Service, kind: Symbol, capability: Symbol, target: &NodeTemplate) -> bool {
    let types = &service.types;
    let is_known = !service.incomplete
        && is_whole(&types.relationships, kind)
        && is_whole(&types.capabilities, capability);
    // Every node offers a `Node`, and people give a plain dependency a relationship that says more.
    if !is_known || &*capability == "tosca.capabilities.Node" {
        return true;
    }
    let valid = |kind: &Symbol| -> Vec<Symbol> {
        let named = types.relationships.get(kind).map(|one| one.named.as_slice()).unwrap_or_default();
        let is_target = |of: Names| matches!(of, Names::NodesOrCapabilities | Names::Capabilities);
        named.iter().filter(|(.., of)| is_target(*of)).map(|(name, ..)| *name).collect()
    };
    let Some(valid) = ancestors(&types.relationships, kind).iter().map(valid).find(|one| !one.is_empty())
    else {
        return true;
    };
    valid
        .iter()
        .any(|one| derives(&types.capabilities, capability, *one) || derives(&types.nodes, target.kind, *one))
}

/// More nodes or relationships than these are not made of topologies that stand for nodes.
const MAX_NODES: Limit = Limit::new(200_000);

/// A node template at its place: its name there, and the types that the topologies around it stand for.
struct Placed<'a> {
    name: Symbol,
    node: &'a NodeTemplate,
    within: Rc<Vec<Symbol>>,
}

/// A topology that stands for nodes of a type.
struct Part<'a> {
    kind: Symbol,
    inner: &'a Service,
    relationships: Vec<Relationship>,
}

impl Part<'_> {
    /// The nodes and requirements that a requirement of the node is mapped to; all nodes if it is mapped to none.
    fn sources(&self, requirement: Option<Symbol>, behaviour: Behaviour) -> Vec<(Symbol, Option<Symbol>)> {
        let mapped = self.inner.substitution.iter().flat_map(|mapping| &mapping.requirements);
        let mapped = mapped.filter(|one| Some(one.name) == requirement);
        let found = self.ends(mapped);
        if found.len() < 2 || behaviour != Behaviour::HostedOn {
            return found;
        }
        // What has a host inside stands on that one.
        let hosts = |node: Symbol| {
            let mut hosting = self.relationships.iter().filter(|one| one.behaviour == Behaviour::HostedOn);
            hosting.any(|one| one.source == node)
        };
        found.into_iter().filter(|(node, _)| !hosts(*node)).collect()
    }

    fn targets(&self, capability: Option<Symbol>) -> Vec<(Symbol, Option<Symbol>)> {
        let mapped = self.inner.substitution.iter().flat_map(|mapping| &mapping.capabilities);
        self.ends(mapped.filter(|one| Some(one.name) == capability))
    }

    fn ends<'b>(&self, mut mapped: impl Iterator<Item = &'b Mapped>) -> Vec<(Symbol, Option<Symbol>)> {
        match mapped.next().filter(|one| self.inner.nodes.contains_key(&one.node)) {
            Some(one) => vec![(one.node, Some(one.inner))],
            None => self.inner.nodes.keys().map(|name| (*name, None)).collect(),
        }
    }
}

/// A relationship, with the names that its ends have where they stand now.
struct Joint {
    relationship: Relationship,
    requirement: Option<Symbol>,
    capability: Option<Symbol>,
}

impl Joint {
    fn new(relationship: Relationship) -> Self {
        let (requirement, capability) = (Some(relationship.requirement), relationship.capability);
        Self { relationship, requirement, capability }
    }

    /// The relationships between what stands for its ends.
    fn expand(&self, found: &IndexMap<Symbol, Rc<Part<'_>>>) -> Vec<Self> {
        let Relationship { source, target, behaviour, .. } = self.relationship;
        let ends = |node: Symbol, ends: Vec<(Symbol, Option<Symbol>)>| -> Vec<(Symbol, Option<Symbol>)> {
            ends.into_iter().map(|(name, end)| (inside(node, name), end)).collect()
        };
        let sources = match found.get(&source) {
            Some(part) => ends(source, part.sources(self.requirement, behaviour)),
            None => vec![(source, self.requirement)],
        };
        let targets = match found.get(&target) {
            Some(part) => ends(target, part.targets(self.capability)),
            None => vec![(target, self.capability)],
        };
        let mut out = Vec::new();
        for &(source, requirement) in &sources {
            for &(target, capability) in &targets {
                let relationship = Relationship { source, target, ..self.relationship.clone() };
                out.push(Self { relationship, requirement, capability });
            }
        }
        out
    }
}

/// The name of a node inside the topology that stands for another one.
fn inside(node: Symbol, name: Symbol) -> Symbol {
    Symbol::new(&format!("{node}/{name}"))
}

/// The capabilities of a node that are of a type; if none is, those of a type that it derives from.
fn fitting<'a>(
    types: &Types,
    offered: &'a IndexMap<Symbol, Capability>,
    wanted: Symbol,
) -> Vec<(&'a Symbol, &'a Capability)> {
    let of = |fits: &dyn Fn(Symbol) -> bool| -> Vec<(&'a Symbol, &'a Capability)> {
        offered.iter().filter(|(_, one)| fits(one.kind)).collect()
    };
    let exact = of(&|kind| derives(&types.capabilities, kind, wanted));
    if exact.is_empty() { of(&|kind| derives(&types.capabilities, wanted, kind)) } else { exact }
}

/// The types of nodes that may use a capability, as the node type says, or a capability type of the user.
fn valid_sources(service: &Service, capability: &Capability) -> Vec<Symbol> {
    if !capability.valid_sources.is_empty() {
        return capability.valid_sources.clone();
    }
    let table = &service.types.capabilities;
    let named = |kind: &Symbol| -> Vec<Symbol> {
        let kind = table.get(kind).filter(|kind| kind.span.is_some_and(|span| span.file != BUILT_IN));
        let named = kind.map(|kind| kind.named.as_slice()).unwrap_or_default();
        named.iter().filter(|(.., of)| *of == Names::Nodes).map(|(name, ..)| *name).collect()
    };
    let chain = ancestors(table, capability.kind);
    chain.iter().map(named).find(|named| !named.is_empty()).unwrap_or_default()
}

fn is_node_type(service: &Service, name: Symbol) -> bool {
    service.types.nodes.contains_key(&full_name(&service.types.nodes, name))
}

/// The nodes that an orchestrator may choose for a requirement.
struct Candidates<'a> {
    nodes: Vec<&'a NodeTemplate>,
    /// Whether one of them can be chosen, whatever else is.
    is_sure: bool,
}

/// The nodes of a topology by their types, so that those that fit are found without a look at each.
struct Pool<'a> {
    service: &'a Service,
    by_kind: IndexMap<Symbol, Vec<&'a NodeTemplate>>,
    /// All of their types and those that they derive from are known.
    is_known: bool,
}

impl<'a> Pool<'a> {
    fn new(service: &'a Service) -> Self {
        let mut by_kind: IndexMap<Symbol, Vec<&NodeTemplate>> = IndexMap::new();
        for node in service.nodes.values() {
            by_kind.entry(node.kind).or_default().push(node);
        }
        let is_known =
            !service.incomplete && by_kind.keys().all(|kind| is_whole(&service.types.nodes, *kind));
        Self { service, by_kind, is_known }
    }

    /// Returns the nodes that may be chosen; nothing if that cannot be said, or if they are more than `limit`.
    fn candidates(
        &self,
        source: &NodeTemplate,
        kind: Option<Symbol>,
        capability: Option<Symbol>,
        filter: Option<&Node>,
        limit: usize,
    ) -> Option<Candidates<'a>> {
        let types = &self.service.types;
        if !self.is_known || (kind.is_none() && capability.is_none()) {
            return None;
        }
        let mut found = Candidates { nodes: Vec::new(), is_sure: false };
        for (&of, nodes) in &self.by_kind {
            if kind.is_some_and(|kind| !derives(&types.nodes, of, kind)) {
                continue;
            }
            let fit = capability.map_or(Some(true), |capability| self.offers(of, capability, source.kind));
            let Some(is_fitting) = fit else { continue };
            if found.nodes.len() + nodes.len() > limit {
                return None;
            }
            for node in nodes.iter().filter(|node| node.name != source.name) {
                let passes = filter.map_or(Some(true), |one| filters::passes(one, node, self.service));
                if passes != Some(false) {
                    found.is_sure |= is_fitting && passes == Some(true);
                    found.nodes.push(node);
                }
            }
        }
        Some(found)
    }

    /// Whether nodes of a type have a capability that any number of such sources may use; nothing if they have none that could
    /// be meant.
    fn offers(&self, kind: Symbol, wanted: Symbol, source: Symbol) -> Option<bool> {
        let types = &self.service.types;
        let accepts = |one: &Capability| {
            let sources = valid_sources(self.service, one);
            sources.is_empty() || sources.iter().any(|of| derives(&types.nodes, source, *of))
        };
        let is_sure = |one: &Capability| one.most.is_none() && derives(&types.capabilities, one.kind, wanted);
        let offered = types.capabilities_of(kind);
        if let Some(named) = offered.get(&wanted) {
            return accepts(named).then_some(named.most.is_none());
        }
        let fitting: Vec<&Capability> = fitting(types, &offered, wanted)
            .into_iter()
            .map(|(_, one)| one)
            .filter(|one| accepts(one))
            .collect();
        (!fitting.is_empty()).then(|| fitting.iter().any(|one| is_sure(one)))
    }
}

impl Topology {
    pub fn new(service: &Service) -> Self {
        let mut topology = Self::default();
        let pool = Pool::new(service);
        let mut unknown: IndexMap<Symbol, Vec<Span>> = IndexMap::new();
        for node in service.nodes.values() {
            if !service.types.nodes.contains_key(&full_name(&service.types.nodes, node.kind)) {
                unknown.entry(node.kind).or_default().push(node.kind_span);
            }
            topology.join(&pool, node);
        }
        for (kind, places) in unknown {
            topology.unknown_type(service, kind, &places);
        }
        for mapped in service.substitution.iter().flat_map(|one| &one.requirements) {
            if !service.fulfils(mapped.node, mapped.inner) {
                topology.omit(Omitted::PassedOn(mapped.name), mapped.span);
            }
        }
        topology.diagnostics.extend(templates::check(service));
        topology.diagnostics.extend(calls::check(service));
        substitution::check(service, &mut topology.diagnostics);
        topology.omissions.extend(policies::check(service));
        topology.values(service);
        for node in service.nodes.values() {
            topology.nodes.insert(node.name, TopologyNode { kind: node.kind, span: node.span });
        }
        topology.bounds(service);
        topology.substitute(service);
        topology.structure(service);
        topology
    }

    /// Checks values that other values are computed from: circles, and attributes that are not there yet.
    fn values(&mut self, service: &Service) {
        let mut shapes = templates::Shapes::default();
        let hosting = self.relationships.iter().filter(|one| one.behaviour == Behaviour::HostedOn);
        let hosts: FxHashMap<Symbol, Symbol> = hosting.map(|one| (one.source, one.target)).collect();
        self.diagnostics.extend(circles::check(service, service, &mut shapes, &hosts));
        for inner in service.inner.values() {
            let none = FxHashMap::default();
            self.diagnostics.extend(circles::check(inner, service, &mut shapes, &none));
        }
        self.diagnostics.extend(calls::without_host(service, &hosts));
        let (found, omissions) = attributes::check(service, &self.relationships, &mut shapes);
        self.diagnostics.extend(found);
        self.omissions.extend(omissions);
    }

    fn omit(&mut self, what: Omitted, span: Span) {
        self.omissions.push(Omission::new(what, span));
    }

    /// Puts the nodes of a topology in the place of each node that it stands for, level by level. What is mapped goes to the
    /// node that has it; what is not, to all of them.
    fn substitute(&mut self, service: &Service) {
        let mut parts: FxHashMap<Symbol, Rc<Part<'_>>> = FxHashMap::default();
        let mut level: Vec<Placed<'_>> = service
            .nodes
            .values()
            .map(|node| Placed { name: node.name, node, within: Rc::new(Vec::new()) })
            .collect();
        let all = self.relationships.drain(..).chain(self.possible.drain(..));
        let mut relationships: Vec<Joint> = all.map(Joint::new).collect();
        while !level.is_empty() {
            let mut found: IndexMap<Symbol, Rc<Part<'_>>> = IndexMap::new();
            let mut next = Vec::new();
            for placed in &level {
                let Some(part) = self.part(service, placed, &mut parts) else { continue };
                let within = Rc::new([&**placed.within, &[part.kind]].concat());
                for node in part.inner.nodes.values() {
                    let name = inside(placed.name, node.name);
                    next.push(Placed { name, node, within: Rc::clone(&within) });
                }
                found.insert(placed.name, part);
            }
            if found.is_empty() {
                break;
            }
            let all = relationships.iter().flat_map(|one| one.expand(&found));
            let mut expanded: Vec<Joint> = all.take(MAX_NODES.get() + 1).collect();
            for (name, part) in &found {
                let of_part = part.relationships.iter().map(|one| Relationship {
                    source: inside(*name, one.source),
                    target: inside(*name, one.target),
                    ..one.clone()
                });
                expanded.extend(of_part.map(Joint::new));
            }
            self.nodes.retain(|name, _| !found.contains_key(name));
            for placed in &next {
                self.nodes
                    .insert(placed.name, TopologyNode { kind: placed.node.kind, span: placed.node.span });
            }
            relationships = expanded;
            if self.nodes.len().max(relationships.len()) > MAX_NODES {
                if let Some(placed) = next.first() {
                    self.omit(Omitted::SubstitutionLimit(MAX_NODES.get()), placed.node.span);
                }
                break;
            }
            level = next;
        }
        let all = relationships.into_iter().map(|one| one.relationship);
        (self.possible, self.relationships) = all.partition(|one| one.certainty == Certainty::Possible);
    }

    /// Returns the topology that stands for a node. Each is matched once, and its findings are taken once.
    fn part<'a>(
        &mut self,
        service: &'a Service,
        placed: &Placed<'_>,
        parts: &mut FxHashMap<Symbol, Rc<Part<'a>>>,
    ) -> Option<Rc<Part<'a>>> {
        let node = placed.node;
        let exact = service.inner.get_key_value(&node.kind);
        let derived = || {
            let fits = |kind: &Symbol| derives(&service.types.nodes, *kind, node.kind);
            service.inner.iter().find(|(kind, _)| fits(kind))
        };
        let found = exact.or_else(|| if node.substituted { derived() } else { None });
        let usable = found.filter(|(_, inner)| inner.substitution.is_some() && !inner.nodes.is_empty());
        let Some((&kind, inner)) = usable else {
            if found.is_some() {
                self.omit(Omitted::NotSubstituted(node.name), node.span);
            } else if node.substituted {
                self.omit(Omitted::SubstitutedElsewhere(node.name), node.span);
            }
            return None;
        };
        if placed.within.contains(&kind) {
            if node.substituted {
                let message = format!(
                    "the topology that stands for a `{kind}` has the node `{}`, for which it stands again",
                    node.name
                );
                let finding = Diagnostic::new(Rule::SubstitutionMapping, message)
                    .at(node.span)
                    .with_help("Give the node a type of its own, or remove its directive.")
                    .with_resources([placed.name.to_string()]);
                if !self.diagnostics.iter().any(|known| known.span == finding.span) {
                    self.diagnostics.push(finding);
                }
            } else {
                self.omit(Omitted::SubstitutedAgain(node.name), node.span);
            }
            return None;
        }
        if let Some(part) = parts.get(&kind) {
            return Some(Rc::clone(part));
        }
        let inner_service = Service {
            types: service.types.clone(),
            nodes: inner.nodes.clone(),
            relationships: inner.relationships.clone(),
            substitution: inner.substitution.clone(),
            incomplete: service.incomplete,
            edition: inner.edition,
            ..Service::default()
        };
        let mut joined = Self::default();
        let pool = Pool::new(&inner_service);
        for one in inner_service.nodes.values() {
            joined.join(&pool, one);
            if !service.types.nodes.contains_key(&full_name(&service.types.nodes, one.kind)) {
                joined.unknown_type(service, one.kind, &[one.kind_span]);
            }
        }
        self.omissions.append(&mut joined.omissions);
        self.open.append(&mut joined.open);
        // Notes on what is inside are made where the inner topology is checked by itself.
        joined.diagnostics.retain(|finding| finding.severity > Severity::Note);
        self.diagnostics.append(&mut joined.diagnostics);
        let mut relationships = joined.relationships;
        relationships.append(&mut joined.possible);
        let part = Rc::new(Part { kind, inner, relationships });
        parts.insert(kind, Rc::clone(&part));
        Some(part)
    }

    /// Whether nodes could wait for each other in a circle, whatever their relationships wait for and whichever of the possible
    /// ones are chosen. If not, they start in the order of their relationships.
    pub(crate) fn may_have_circle(&self) -> bool {
        let mut waiting: FxHashMap<Symbol, usize> = FxHashMap::default();
        let mut sources: FxHashMap<Symbol, Vec<Symbol>> = FxHashMap::default();
        for one in self.relationships.iter().chain(&self.possible) {
            *waiting.entry(one.source).or_default() += 1;
            sources.entry(one.target).or_default().push(one.source);
        }
        let mut ready: Vec<Symbol> =
            self.nodes.keys().filter(|name| !waiting.contains_key(*name)).copied().collect();
        while let Some(node) = ready.pop() {
            for source in sources.remove(&node).into_iter().flatten() {
                if let Some(left) = waiting.get_mut(&source) {
                    *left -= 1;
                    if *left == 0 {
                        waiting.remove(&source);
                        ready.push(source);
                    }
                }
            }
        }
        !waiting.is_empty()
    }

    /// No capability is used more often than it says, and no requirement assigned more often.
    fn bounds(&mut self, service: &Service) {
        let mut found = Vec::new();
        let mut uses: FxHashMap<(Symbol, Symbol), Vec<&Relationship>> = FxHashMap::default();
        for one in &self.relationships {
            if let Some(capability) = one.capability {
                uses.entry((one.target, capability)).or_default().push(one);
            }
        }
        for node in service.nodes.values() {
            for definition in service.types.requirements_of(node.kind) {
                let given: Vec<&Assignment> =
                    node.requirements.iter().filter(|one| one.name == definition.name).collect();
                // With none at all the orchestrator may find them.
                if let Some(first) = given.first().filter(|_| given.len() < definition.least) {
                    found.push(
                        Diagnostic::new(
                            Rule::UnsatisfiedRequirement,
                            format!(
                                "`{}` has {} of `{}`, and a {} needs {}",
                                node.name,
                                given.len(),
                                definition.name,
                                node.kind,
                                definition.least
                            ),
                        )
                        .at(first.span)
                        .with_resources([node.name.to_string()]),
                    );
                }
                let Some(most) = definition.most else { continue };
                if let Some(beyond) = given.get(most) {
                    found.push(
                        Diagnostic::new(
                            Rule::TopologyStructure,
                            format!(
                                "`{}` has {} of `{}`, and a {} takes {most} at most",
                                node.name,
                                given.len(),
                                definition.name,
                                node.kind
                            ),
                        )
                        .severity(Severity::Error)
                        .at(beyond.span)
                        .with_help("Remove one, or widen `occurrences` of the type.")
                        .with_resources([node.name.to_string()]),
                    );
                }
            }
            for (name, capability) in service.types.capabilities_of(node.kind) {
                let Some(most) = capability.most else { continue };
                let users = uses.get(&(node.name, name)).map(Vec::as_slice).unwrap_or_default();
                if let Some(beyond) = users.get(most) {
                    found.push(
                        Diagnostic::new(
                            Rule::TopologyStructure,
                            format!(
                                "`{}` of `{}` is used {} times, and {most} at most may use it",
                                name,
                                node.name,
                                users.len()
                            ),
                        )
                        .at(beyond.span)
                        .with_help(
                            "Let some of them use another node, or widen `occurrences` of the capability.",
                        )
                        .with_resources([node.name.to_string()]),
                    );
                }
            }
        }
        self.diagnostics.extend(found);
    }

    /// The machine that each node stands on: up its hosts to a `Compute`. A node that stands on none has no entry.
    fn machines(&self, service: &Service) -> FxHashMap<Symbol, Symbol> {
        let compute = Symbol::new("tosca.nodes.Compute");
        let mut is_machine: FxHashMap<Symbol, bool> = FxHashMap::default();
        let mut hosts: FxHashMap<Symbol, Symbol> = FxHashMap::default();
        for one in self.relationships.iter().filter(|one| one.behaviour == Behaviour::HostedOn) {
            hosts.entry(one.source).or_insert(one.target);
        }
        // Each node is walked over once: what stands above it takes its answer.
        let mut known: FxHashMap<Symbol, Option<Symbol>> = FxHashMap::default();
        for &name in self.nodes.keys() {
            let (mut at, mut path) = (name, Vec::new());
            let machine = loop {
                if let Some(machine) = known.get(&at) {
                    break *machine;
                }
                let Some(node) = self.nodes.get(&at) else { break None };
                let is_compute = *is_machine
                    .entry(node.kind)
                    .or_insert_with(|| derives(&service.types.nodes, node.kind, compute));
                if is_compute {
                    break Some(at);
                }
                // A circle of hosts ends where it meets itself.
                known.insert(at, None);
                path.push(at);
                match hosts.get(&at) {
                    Some(host) => at = *host,
                    None => break None,
                }
            };
            known.insert(at, machine);
            known.extend(path.into_iter().map(|node| (node, machine)));
        }
        known.into_iter().filter_map(|(node, machine)| Some((node, machine?))).collect()
    }

    /// A dependency is local, a connection leads to another machine: what the rules of set-up assume.
    fn locality(machines: &FxHashMap<Symbol, Symbol>, one: &Relationship) -> Option<Diagnostic> {
        let (source, target) = (*machines.get(&one.source)?, *machines.get(&one.target)?);
        let is_of_machine = [source, target].contains(&one.source) || [source, target].contains(&one.target);
        let (message, help) = match one.behaviour {
            Behaviour::DependsOn if source != target && !is_of_machine => (
                format!(
                    "`{}` depends on `{}`, which is on another machine (`{source}`, `{target}`)",
                    one.source, one.target
                ),
                "A `ConnectsTo` says how one machine learns that the other is ready.",
            ),
            Behaviour::ConnectsTo if source == target && one.source != one.target && !is_of_machine => (
                format!("`{}` connects to `{}` on the same machine (`{source}`)", one.source, one.target),
                "A `DependsOn` is enough where no message has to travel.",
            ),
            _ => return None,
        };
        Some(
            Diagnostic::new(Rule::TopologyStructure, message)
                .severity(Severity::Note)
                .at(one.span)
                .with_help(help)
                .with_resources([one.source.to_string(), one.target.to_string()]),
        )
    }

    /// One finding a type, however many nodes have it.
    fn unknown_type(&mut self, service: &Service, kind: Symbol, places: &[Span]) {
        let mut finding = Diagnostic::new(Rule::UnknownType, format!("the type `{kind}` is not defined"))
            .severity(Severity::Error);
        if service.incomplete {
            finding = finding
                .severity(Severity::Note)
                .with_note("An import that could not be followed may define it.");
        }
        for (index, place) in places.iter().take(4).enumerate() {
            finding = if index == 0 { finding.at(*place) } else { finding.with_label(*place, "here too") };
        }
        self.diagnostics.push(finding);
    }

    fn join(&mut self, pool: &Pool<'_>, node: &NodeTemplate) {
        let service = pool.service;
        let wanted = service.types.requirements_of(node.kind);
        for assignment in &node.requirements {
            let definition = wanted.iter().find(|one| one.name == assignment.name);
            let is_whole_itself = assignment.relationship.is_some() || assignment.capability.is_some();
            if definition.is_none()
                && !is_whole_itself
                && !service.incomplete
                && is_whole(&service.types.nodes, node.kind)
            {
                let known = wanted.iter().map(|one| one.name.as_str());
                let meant = nearest(&assignment.name, known).map(|name| format!("`{name}` may be meant."));
                let message = format!(
                    "`{}` has a requirement `{}`, which a {} does not define",
                    node.name, assignment.name, node.kind
                );
                let mut finding = Diagnostic::new(Rule::UnknownReference, message)
                    .at(assignment.span)
                    .with_resources([node.name.to_string()]);
                if let Some(meant) = meant {
                    finding.help(meant);
                }
                self.diagnostics.push(finding);
            }
            self.fulfil(pool, node, assignment, definition);
        }
        for requirement in wanted.iter().filter(|one| one.least > 0) {
            let given = node.requirements.iter().any(|one| one.name == requirement.name);
            let passed_on = service.passes_on(node.name, requirement.name);
            if !given && !passed_on && !node.selected {
                self.leave_open(pool, node, requirement);
            }
        }
    }

    /// Joins a node by a requirement that it has and its template does not mention. In TOSCA 2.0 this is as if it were mentioned
    /// without a node; tools for the Simple Profile may refuse it.
    fn leave_open(&mut self, pool: &Pool<'_>, node: &NodeTemplate, requirement: &Requirement) {
        let assignment = Assignment::open(requirement.name, node.span);
        let found = self.candidates(pool, node, &assignment, Some(requirement));
        let is_sure = found.as_ref().is_some_and(|found| found.is_sure);
        if pool.service.edition == Edition::One || !is_sure {
            let wants = requirement.capability.or(requirement.node);
            let (name, kind) = (requirement.name, node.kind);
            self.omit(Omitted::Unassigned { node: node.name, kind, requirement: name, wants }, node.span);
        }
        match found {
            Some(found) => self.choose(node, &assignment, found),
            None => self.omit(Omitted::Chosen(node.name, requirement.name), node.span),
        }
    }

    /// Joins a node by a requirement that its template assigns.
    fn fulfil(
        &mut self,
        pool: &Pool<'_>,
        node: &NodeTemplate,
        assignment: &Assignment,
        definition: Option<&Requirement>,
    ) {
        let service = pool.service;
        if assignment.is_open {
            return;
        }
        let named = assignment.node.or(definition.and_then(|one| one.node));
        if let Some(target) = named.and_then(|named| service.nodes.get(&named)) {
            self.filter(service, node, assignment, target);
            return self.relate(service, node, assignment, definition, target);
        }
        if let Some(named) = assignment.node.filter(|named| !is_node_type(service, *named)) {
            return self.missing_node(service, node, assignment, named);
        }
        let found = self.candidates(pool, node, assignment, definition);
        if let Some(Candidates { nodes, is_sure: true }) = &found
            && let [only] = nodes.as_slice()
        {
            self.relate(service, node, assignment, definition, only);
            // Another one may be found elsewhere.
            if let Some(related) = self.relationships.last_mut() {
                related.certainty = Certainty::Assumed;
            }
            self.open.push(Omission::new(Omitted::Chosen(node.name, assignment.name), assignment.span));
            return;
        }
        if node.selected || service.passes_on(node.name, assignment.name) {
            return;
        }
        match found {
            Some(found) => {
                if !found.is_sure {
                    self.omit(Omitted::Found(node.name, assignment.name), assignment.span);
                }
                self.choose(node, assignment, found);
            }
            None => self.omit(Omitted::Chosen(node.name, assignment.name), assignment.span),
        }
    }

    /// Returns the nodes that an orchestrator may choose for a requirement, if that can be said.
    fn candidates<'a>(
        &self,
        pool: &Pool<'a>,
        node: &NodeTemplate,
        assignment: &Assignment,
        definition: Option<&Requirement>,
    ) -> Option<Candidates<'a>> {
        let kind = assignment.node.or(definition.and_then(|one| one.node));
        let capability = assignment.capability.or(definition.and_then(|one| one.capability));
        if kind.is_some_and(|kind| !is_node_type(pool.service, kind)) {
            return None;
        }
        let limit = MAX_NODES.get().saturating_sub(self.possible.len());
        pool.candidates(node, kind, capability, assignment.filter.as_ref(), limit)
    }

    /// Adds the relationships of which an orchestrator may choose some.
    fn choose(&mut self, node: &NodeTemplate, assignment: &Assignment, found: Candidates<'_>) {
        if found.nodes.is_empty() {
            return;
        }
        self.open.push(Omission::new(Omitted::Chosen(node.name, assignment.name), assignment.span));
        self.possible.extend(found.nodes.into_iter().map(|target| Relationship {
            source: node.name,
            target: target.name,
            requirement: assignment.name,
            behaviour: Behaviour::DependsOn,
            kind: assignment.relationship,
            capability: None,
            certainty: Certainty::Possible,
            span: assignment.span,
        }));
    }

    /// Joins a node with the one that fulfils its requirement.
    fn relate(
        &mut self,
        service: &Service,
        node: &NodeTemplate,
        assignment: &Assignment,
        definition: Option<&Requirement>,
        target: &NodeTemplate,
    ) {
        let given =
            assignment.relationship.map(|name| service.relationships.get(&name).copied().unwrap_or(name));
        let kind = given.or(definition.and_then(|one| one.relationship));
        let (capability, offered) = self.capability(service, node, assignment, definition, target);
        self.target_type(service, node, definition, target, assignment.span);
        if let (Some(given), Some(capability)) = (given, capability)
            && !is_valid_target(service, given, capability, target)
        {
            let finding = Diagnostic::new(
                Rule::UnsatisfiedRequirement,
                format!(
                    "`{given}` cannot lead to a `{capability}`, which `{}` offers for `{}` of `{}`",
                    target.name, assignment.name, node.name
                ),
            );
            let resources = [node.name.to_string(), target.name.to_string()];
            self.diagnostics.push(
                finding.severity(Severity::Warning).at(assignment.span).with_resources(resources).with_help(
                    "Choose a relationship whose `valid_target_types` has the type of this capability.",
                ),
            );
        }
        let (behaviour, certainty) = self.behaviour(service, assignment, kind, capability, node);
        self.relationships.push(Relationship {
            source: node.name,
            target: target.name,
            requirement: assignment.name,
            behaviour,
            kind,
            capability: offered,
            certainty,
            span: assignment.span,
        });
    }

    /// Reports a node of another type than a type of the user wants for a requirement. Of the built-in types, tools ask for the
    /// capability alone.
    fn target_type(
        &mut self,
        service: &Service,
        node: &NodeTemplate,
        definition: Option<&Requirement>,
        target: &NodeTemplate,
        place: Span,
    ) {
        let nodes = &service.types.nodes;
        let Some(definition) = definition.filter(|one| one.span.file != BUILT_IN) else { return };
        let Some(wanted) = definition.node.filter(|wanted| is_node_type(service, *wanted)) else { return };
        if service.incomplete || !is_whole(nodes, target.kind) || derives(nodes, target.kind, wanted) {
            return;
        }
        let (kind, target) = (target.kind, target.name);
        let what =
            Omitted::OtherType { node: node.name, requirement: definition.name, wants: wanted, target, kind };
        self.omit(what, place);
    }

    /// Reports a node that a requirement names and that does not pass its filter, or may not.
    fn filter(
        &mut self,
        service: &Service,
        node: &NodeTemplate,
        assignment: &Assignment,
        target: &NodeTemplate,
    ) {
        let Some(filter) = &assignment.filter else { return };
        match filters::passes(filter, target, service) {
            Some(true) => {}
            None => self.omit(Omitted::Filter(node.name), assignment.span),
            Some(false) => self.diagnostics.push(
                Diagnostic::new(
                    Rule::UnsatisfiedRequirement,
                    format!(
                        "`{}` does not pass the filter of `{}` of `{}`",
                        target.name, assignment.name, node.name
                    ),
                )
                .at(assignment.span)
                .with_label(target.span, "has other values")
                .with_resources([node.name.to_string(), target.name.to_string()]),
            ),
        }
    }

    fn missing_node(
        &mut self,
        service: &Service,
        node: &NodeTemplate,
        assignment: &Assignment,
        named: Symbol,
    ) {
        let mut finding = Diagnostic::new(
            Rule::UnsatisfiedRequirement,
            format!("`{}` needs `{named}` for `{}`, and there is no such node", node.name, assignment.name),
        )
        .at(assignment.span)
        .with_resources([node.name.to_string()]);
        if service.incomplete {
            finding = finding
                .severity(Severity::Warning)
                .with_note("An import that could not be followed may define it.");
        }
        let names: Vec<String> = service.nodes.keys().map(|name| format!("`{name}`")).collect();
        if names.len() <= 12 {
            finding = finding.with_help(format!("The nodes are {}.", names.join(", ")));
        }
        self.diagnostics.push(finding);
    }

    /// The type and the name of the capability that fulfils a requirement; a finding if the target has none that fits.
    fn capability(
        &mut self,
        service: &Service,
        node: &NodeTemplate,
        assignment: &Assignment,
        definition: Option<&Requirement>,
        target: &NodeTemplate,
    ) -> (Option<Symbol>, Option<Symbol>) {
        let types = &service.types;
        let Some(wanted) = assignment.capability.or(definition.and_then(|one| one.capability)) else {
            return (None, None);
        };
        let known = types.nodes.contains_key(&full_name(&types.nodes, target.kind));
        let complete = known
            && ancestors(&types.nodes, target.kind).iter().all(|name| types.nodes.contains_key(name))
            && !service.incomplete;
        let offered = types.capabilities_of(target.kind);
        if let Some(found) = offered.get(&wanted) {
            return (Some(found.kind), Some(wanted));
        }
        let fitting: Vec<_> = fitting(types, &offered, wanted);
        if fitting.is_empty() {
            if complete && !target.capabilities.contains(&wanted) {
                let hosts = definition.and_then(|one| one.relationship).is_some_and(|kind| {
                    derives(&types.relationships, kind, Symbol::new("tosca.relationships.HostedOn"))
                });
                let rule = if hosts { Rule::WrongHost } else { Rule::UnsatisfiedRequirement };
                self.diagnostics.push(
                    Diagnostic::new(
                        rule,
                        format!(
                            "`{}` needs a `{wanted}` for `{}`, and `{}` has none",
                            node.name, assignment.name, target.name
                        ),
                    )
                    .at(assignment.span)
                    .with_label(target.kind_span, format!("a {} does not offer it", target.kind))
                    .with_help("Name a node whose type has the capability.")
                    .with_resources([node.name.to_string(), target.name.to_string()]),
                );
            }
            return (Some(wanted), None);
        }
        let accepts = |sources: &[Symbol]| {
            sources.is_empty() || sources.iter().any(|source| derives(&types.nodes, node.kind, *source))
        };
        let own_known = ancestors(&types.nodes, node.kind).iter().all(|name| types.nodes.contains_key(name));
        if complete && own_known && !fitting.iter().any(|(_, one)| accepts(&valid_sources(service, one))) {
            let takes: Vec<String> = fitting
                .iter()
                .flat_map(|(_, one)| valid_sources(service, one))
                .map(|name| format!("`{name}`"))
                .collect();
            self.diagnostics.push(
                Diagnostic::new(
                    Rule::WrongHost,
                    format!("`{}` cannot use `{}` for `{}`", node.name, target.name, assignment.name),
                )
                .at(assignment.span)
                .with_label(target.kind_span, format!("takes only {}", takes.join(", ")))
                .with_label(node.kind_span, "and this is none of them")
                .with_help("Name a node of a type that takes it.")
                .with_resources([node.name.to_string(), target.name.to_string()]),
            );
        }
        // A capability of a more general type, such as the `feature` of every node, is not what is asked for.
        if complete && !fitting.iter().any(|(_, one)| derives(&types.capabilities, one.kind, wanted)) {
            let (requirement, target, kind) = (assignment.name, target.name, target.kind);
            self.omit(
                Omitted::OtherType { node: node.name, requirement, wants: wanted, target, kind },
                assignment.span,
            );
        }
        let first = fitting.first();
        (first.map(|(_, one)| one.kind), first.map(|(name, _)| **name))
    }

    /// By the relationship's type; without one, by the capability's.
    fn behaviour(
        &mut self,
        service: &Service,
        assignment: &Assignment,
        kind: Option<Symbol>,
        capability: Option<Symbol>,
        node: &NodeTemplate,
    ) -> (Behaviour, Certainty) {
        let types = &service.types;
        let Some(kind) = kind else {
            let capability = capability.map(|kind| ancestors(&types.capabilities, kind)).unwrap_or_default();
            let offers = |name: &str| capability.contains(&Symbol::new(name));
            let hosts = offers("tosca.capabilities.Container");
            let behaviour = if hosts || (capability.is_empty() && &*assignment.name == "host") {
                Behaviour::HostedOn
            } else if offers("tosca.capabilities.Endpoint") {
                Behaviour::ConnectsTo
            } else {
                Behaviour::DependsOn
            };
            return (behaviour, Certainty::Known);
        };
        let chain = ancestors(&types.relationships, kind);
        let is = |name: &str| chain.contains(&Symbol::new(name));
        for (name, behaviour) in [
            ("tosca.relationships.HostedOn", Behaviour::HostedOn),
            ("tosca.relationships.ConnectsTo", Behaviour::ConnectsTo),
            ("tosca.relationships.DependsOn", Behaviour::DependsOn),
        ] {
            if is(name) {
                return (behaviour, Certainty::Known);
            }
        }
        if is_whole(&types.relationships, kind) {
            self.open.push(Omission::new(Omitted::Behaviour(kind), assignment.span));
        } else {
            let mut finding = Diagnostic::new(
                Rule::UnknownType,
                format!("the relationship type `{kind}` is not defined; it is taken for a dependency"),
            )
            .severity(Severity::Error)
            .at(assignment.span)
            .with_resources([node.name.to_string()]);
            if service.incomplete {
                finding = finding.severity(Severity::Note);
            }
            self.diagnostics.push(finding);
        }
        (Behaviour::DependsOn, Certainty::Assumed)
    }

    /// At most one host for each node, no relationship of a node with itself, and locality.
    fn structure(&mut self, service: &Service) {
        let machines = self.machines(service);
        let mut hosts: FxHashMap<Symbol, &Relationship> = FxHashMap::default();
        let mut found = Vec::new();
        for one in &self.relationships {
            if one.source == one.target {
                found.push(
                    Diagnostic::new(
                        Rule::TopologyStructure,
                        format!("`{}` requires itself for `{}`", one.source, one.requirement),
                    )
                    .severity(Severity::Error)
                    .at(one.span)
                    .with_help("Name another node.")
                    .with_resources([one.source.to_string()]),
                );
            }
            found.extend(Self::locality(&machines, one));
            if one.behaviour != Behaviour::HostedOn {
                continue;
            }
            if let Some(first) = hosts.get(&one.source) {
                if first.target != one.target {
                    found.push(
                        Diagnostic::new(
                            Rule::TopologyStructure,
                            format!(
                                "`{}` is hosted on `{}` and on `{}`",
                                one.source, first.target, one.target
                            ),
                        )
                        .at(one.span)
                        .with_label(first.span, "its first host")
                        .with_help("Host it on one node, and let it depend on the other.")
                        .with_resources([one.source.to_string()]),
                    );
                }
            } else {
                hosts.insert(one.source, one);
            }
        }
        self.diagnostics.extend(found);
    }
}
