//! Which node is joined to which, and how: requirements matched with capabilities.

use std::rc::Rc;

use indexmap::IndexMap;
use rustc_hash::FxHashMap;
use setpoint_source::{Diagnostic, Rule, Severity, Span, Symbol, nearest};

use crate::omission::{Omission, Omitted};
use crate::service::{Assignment, NodeTemplate, Service};
use crate::substitution::Mapped;
use crate::types::{Names, Requirement, ancestors, derives, full_name, is_whole, named_items, symbol};
use crate::{attributes, calls, circles, filters, substitution, templates};

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
    pub span: Span,
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
    /// What has no model, or was left to the orchestrator.
    pub omissions: Vec<Omission>,
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
const MAX_NODES: usize = 200_000;

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

/// What fulfils a requirement.
enum Target<'a> {
    Node(&'a NodeTemplate),
    /// With no node of the type, or several, the orchestrator has to choose one.
    Chosen,
    /// There is no such node, and a finding says so.
    Missing,
}

impl Topology {
    pub fn new(service: &Service) -> Self {
        let mut topology = Self::default();
        let mut unknown: IndexMap<Symbol, Vec<Span>> = IndexMap::new();
        for node in service.nodes.values() {
            if !service.types.nodes.contains_key(&full_name(&service.types.nodes, node.kind)) {
                unknown.entry(node.kind).or_default().push(node.kind_span);
            }
            topology.join(service, node);
        }
        for (kind, places) in unknown {
            topology.unknown_type(service, kind, &places);
        }
        for mapped in service.substitution.iter().flat_map(|one| &one.requirements) {
            topology.omit(Omitted::PassedOn(mapped.name), mapped.span);
        }
        topology.diagnostics.extend(templates::check(service));
        topology.diagnostics.extend(calls::check(service));
        substitution::check(service, &mut topology.diagnostics);
        topology.policies(service);
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

    /// Reports policies that do something of which nothing is known. One without triggers whose type derives from a normative
    /// one says where nodes are placed, or what is done with nodes that run; neither changes the order of the set-up.
    fn policies(&mut self, service: &Service) {
        const INERT: [&str; 4] = ["Placement", "Scaling", "Update", "Performance"];
        let table = &service.types.policies;
        for topology in std::iter::once(service).chain(service.inner.values()) {
            let Some((file, node)) = &topology.topology else { continue };
            for (key, value) in named_items(node.get("policies")) {
                let Some(name) = symbol(Some(key)) else { continue };
                let chain = symbol(value.get("type")).map(|kind| ancestors(table, kind)).unwrap_or_default();
                let is_inert =
                    INERT.iter().any(|one| chain.contains(&Symbol::new(&format!("tosca.policies.{one}"))));
                let is_known = !chain.is_empty() && chain.iter().all(|kind| table.contains_key(kind));
                let has_triggers = value.get("triggers").is_some_and(|triggers| !triggers.is_null())
                    || chain.iter().any(|kind| table.get(kind).is_some_and(|kind| kind.has_triggers));
                let what = match (is_known, has_triggers) {
                    (true, true) => Omitted::Triggered(name),
                    (true, false) if is_inert => continue,
                    _ => Omitted::Policy(name),
                };
                self.omit(what, key.range.in_file(*file));
            }
        }
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
        let mut relationships: Vec<Joint> = self.relationships.drain(..).map(Joint::new).collect();
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
            let mut expanded: Vec<Joint> = all.take(MAX_NODES + 1).collect();
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
                    self.omit(Omitted::SubstitutionLimit(MAX_NODES), placed.node.span);
                }
                break;
            }
            level = next;
        }
        self.relationships = relationships.into_iter().map(|one| one.relationship).collect();
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
            if node.substituted || found.is_some() {
                self.omit(Omitted::NotSubstituted(node.name), node.span);
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
        for one in inner_service.nodes.values() {
            joined.join(&inner_service, one);
            if !service.types.nodes.contains_key(&full_name(&service.types.nodes, one.kind)) {
                joined.unknown_type(service, one.kind, &[one.kind_span]);
            }
        }
        self.omissions.append(&mut joined.omissions);
        // Notes on what is inside are made where the inner topology is checked by itself.
        joined.diagnostics.retain(|finding| finding.severity > Severity::Note);
        self.diagnostics.append(&mut joined.diagnostics);
        let part = Rc::new(Part { kind, inner, relationships: joined.relationships });
        parts.insert(kind, Rc::clone(&part));
        Some(part)
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

    fn join(&mut self, service: &Service, node: &NodeTemplate) {
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
            if let Some(relationship) = self.matched(service, node, assignment, definition) {
                self.relationships.push(relationship);
            }
        }
        for requirement in wanted.iter().filter(|one| one.least > 0) {
            let given = node.requirements.iter().any(|one| one.name == requirement.name);
            let passed_on = service.passes_on(node.name, requirement.name);
            if given || passed_on || node.selected {
                continue;
            }
            let wants = requirement
                .capability
                .or(requirement.node)
                .map_or(String::new(), |what| format!(" (`{what}`)"));
            self.diagnostics.push(
                Diagnostic::new(
                    Rule::UnsatisfiedRequirement,
                    format!(
                        "`{}` needs a `{}`{wants}, and nothing is named for it",
                        node.name, requirement.name
                    ),
                )
                .severity(Severity::Warning)
                .at(node.span)
                .labelled(format!("a {} has this requirement", node.kind))
                .with_note("An orchestrator may find a node for it, or refuse the topology.")
                .with_help(format!("Add `- {}: NODE` to its requirements.", requirement.name))
                .with_resources([node.name.to_string()]),
            );
        }
    }

    fn matched(
        &mut self,
        service: &Service,
        node: &NodeTemplate,
        assignment: &Assignment,
        definition: Option<&Requirement>,
    ) -> Option<Relationship> {
        let is_left_open = !node.selected && !service.passes_on(node.name, assignment.name);
        let chosen = Omitted::Chosen(node.name, assignment.name);
        let Some(named) = assignment.node.or(definition.and_then(|one| one.node)) else {
            if is_left_open {
                self.omit(chosen, assignment.span);
            }
            return None;
        };
        let target = match self.target(service, node, assignment, named) {
            Target::Node(target) => target,
            Target::Missing => return None,
            Target::Chosen => {
                if is_left_open {
                    self.omit(chosen, assignment.span);
                }
                return None;
            }
        };
        let given =
            assignment.relationship.map(|name| service.relationships.get(&name).copied().unwrap_or(name));
        let kind = given.or(definition.and_then(|one| one.relationship));
        let (capability, offered) = self.capability(service, node, assignment, definition, target);
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
        let behaviour = self.behaviour(service, assignment, kind, capability, node);
        Some(Relationship {
            source: node.name,
            target: target.name,
            requirement: assignment.name,
            behaviour,
            kind,
            capability: offered,
            span: assignment.span,
        })
    }

    /// The node template that a name means: itself, or the one node of that type.
    fn target<'a>(
        &mut self,
        service: &'a Service,
        node: &NodeTemplate,
        assignment: &Assignment,
        named: Symbol,
    ) -> Target<'a> {
        let passes = |one: &NodeTemplate| {
            assignment.filter.as_ref().map_or(Some(true), |filter| filters::passes(filter, one, service))
        };
        if let Some(found) = service.nodes.get(&named) {
            match passes(found) {
                Some(true) => {}
                None => self.omit(Omitted::Filter(node.name), assignment.span),
                Some(false) => self.diagnostics.push(
                    Diagnostic::new(
                        Rule::UnsatisfiedRequirement,
                        format!(
                            "`{named}` does not pass the filter of `{}` of `{}`",
                            assignment.name, node.name
                        ),
                    )
                    .at(assignment.span)
                    .with_label(found.span, "has other values")
                    .with_resources([node.name.to_string(), named.to_string()]),
                ),
            }
            return Target::Node(found);
        }
        let kind = full_name(&service.types.nodes, named);
        let is_type = service.types.nodes.contains_key(&kind);
        let fitting = || {
            service
                .nodes
                .values()
                .filter(move |one| one.name != node.name && derives(&service.types.nodes, one.kind, kind))
                .filter(move |one| passes(one) != Some(false))
        };
        if is_type {
            return match (fitting().next(), fitting().nth(1)) {
                (Some(only), None) if passes(only) == Some(true) => Target::Node(only),
                _ => Target::Chosen,
            };
        }
        if assignment.node.is_none() {
            return Target::Chosen;
        }
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
        Target::Missing
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
        let fits = |kind: Symbol| {
            derives(&types.capabilities, kind, wanted) || derives(&types.capabilities, wanted, kind)
        };
        let fitting: Vec<_> = offered.iter().filter(|(_, one)| fits(one.kind)).collect();
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
        if complete && own_known && !fitting.iter().any(|(_, one)| accepts(&one.valid_sources)) {
            let takes: Vec<String> = fitting
                .iter()
                .flat_map(|(_, one)| &one.valid_sources)
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
    ) -> Behaviour {
        let types = &service.types;
        let chain = kind.map(|kind| ancestors(&types.relationships, kind)).unwrap_or_default();
        let is = |name: &str| chain.contains(&Symbol::new(name));
        if is("tosca.relationships.HostedOn") {
            return Behaviour::HostedOn;
        }
        if is("tosca.relationships.ConnectsTo") {
            return Behaviour::ConnectsTo;
        }
        if is("tosca.relationships.DependsOn") || is("tosca.relationships.Root") {
            return Behaviour::DependsOn;
        }
        if let Some(kind) = kind.filter(|kind| is_whole(&types.relationships, *kind)) {
            self.omit(Omitted::Behaviour(kind), assignment.span);
            return Behaviour::DependsOn;
        }
        if let Some(kind) = kind {
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
            return Behaviour::DependsOn;
        }
        let capability = capability.map(|kind| ancestors(&types.capabilities, kind)).unwrap_or_default();
        let offers = |name: &str| capability.contains(&Symbol::new(name));
        if offers("tosca.capabilities.Container") || (capability.is_empty() && &*assignment.name == "host") {
            Behaviour::HostedOn
        } else if offers("tosca.capabilities.Endpoint") {
            Behaviour::ConnectsTo
        } else {
            Behaviour::DependsOn
        }
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
