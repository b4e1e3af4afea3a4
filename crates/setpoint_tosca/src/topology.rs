//! Which node is joined to which, and how: requirements matched with capabilities.

use indexmap::IndexMap;
use setpoint_source::{Diagnostic, Severity, Span, Symbol};

use crate::rules;
use crate::service::{Assignment, NodeTemplate, Service};
use crate::types::{Requirement, ancestors, derives, full_name};

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
    pub span: Span,
}

/// The nodes of a service template and how they are joined.
#[derive(Debug, Default)]
pub struct Topology {
    pub relationships: Vec<Relationship>,
    pub diagnostics: Vec<Diagnostic>,
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
        topology.structure();
        topology
    }

    /// One finding a type, however many nodes have it.
    fn unknown_type(&mut self, service: &Service, kind: Symbol, places: &[Span]) {
        let mut finding = Diagnostic::new(&rules::UNKNOWN_TYPE, format!("the type `{kind}` is not defined"));
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
            if let Some(relationship) = self.matched(service, node, assignment, definition) {
                self.relationships.push(relationship);
            }
        }
        for requirement in wanted.iter().filter(|one| one.needed) {
            let given = node.requirements.iter().any(|one| one.name == requirement.name);
            let passed_on = service.substituted.contains(&(node.name, requirement.name));
            if given || passed_on || node.selected {
                continue;
            }
            let wants = requirement
                .capability
                .or(requirement.node)
                .map_or(String::new(), |what| format!(" (`{what}`)"));
            self.diagnostics.push(
                Diagnostic::new(
                    &rules::UNSATISFIED_REQUIREMENT,
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
        let named = assignment.node.or(definition.and_then(|one| one.node))?;
        let target = self.target(service, node, assignment, named)?;
        let given =
            assignment.relationship.map(|name| service.relationships.get(&name).copied().unwrap_or(name));
        let kind = given.or(definition.and_then(|one| one.relationship));
        let capability = self.capability(service, node, assignment, definition, target);
        let behaviour = self.behaviour(service, assignment, kind, capability, node);
        Some(Relationship {
            source: node.name,
            target: target.name,
            requirement: assignment.name,
            behaviour,
            kind,
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
    ) -> Option<&'a NodeTemplate> {
        if let Some(found) = service.nodes.get(&named) {
            return Some(found);
        }
        let kind = full_name(&service.types.nodes, named);
        let is_type = service.types.nodes.contains_key(&kind);
        let fitting = || {
            service
                .nodes
                .values()
                .filter(move |one| one.name != node.name && derives(&service.types.nodes, one.kind, kind))
        };
        if is_type {
            // With no node of the type, or several, the orchestrator has to choose one.
            return fitting().next().filter(|_| fitting().count() == 1);
        }
        assignment.node?;
        let mut finding = Diagnostic::new(
            &rules::UNSATISFIED_REQUIREMENT,
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
        None
    }

    /// The type of the capability that fulfils a requirement; a finding if the target has none that fits.
    fn capability(
        &mut self,
        service: &Service,
        node: &NodeTemplate,
        assignment: &Assignment,
        definition: Option<&Requirement>,
        target: &NodeTemplate,
    ) -> Option<Symbol> {
        let types = &service.types;
        let wanted = assignment.capability.or(definition.and_then(|one| one.capability))?;
        let known = types.nodes.contains_key(&full_name(&types.nodes, target.kind));
        let complete = known
            && ancestors(&types.nodes, target.kind).iter().all(|name| types.nodes.contains_key(name))
            && !service.incomplete;
        let offered = types.capabilities_of(target.kind);
        if let Some(found) = offered.get(&wanted) {
            return Some(found.kind);
        }
        let fits = |kind: Symbol| {
            derives(&types.capabilities, kind, wanted) || derives(&types.capabilities, wanted, kind)
        };
        let fitting: Vec<_> = offered.values().filter(|one| fits(one.kind)).collect();
        if fitting.is_empty() {
            if complete && !target.capabilities.contains(&wanted) {
                let hosts = definition.and_then(|one| one.relationship).is_some_and(|kind| {
                    derives(&types.relationships, kind, Symbol::new("tosca.relationships.HostedOn"))
                });
                let rule = if hosts { &rules::WRONG_HOST } else { &rules::UNSATISFIED_REQUIREMENT };
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
            return Some(wanted);
        }
        let accepts = |sources: &[Symbol]| {
            sources.is_empty() || sources.iter().any(|source| derives(&types.nodes, node.kind, *source))
        };
        let own_known = ancestors(&types.nodes, node.kind).iter().all(|name| types.nodes.contains_key(name));
        if complete && own_known && !fitting.iter().any(|one| accepts(&one.valid_sources)) {
            let takes: Vec<String> =
                fitting.iter().flat_map(|one| &one.valid_sources).map(|name| format!("`{name}`")).collect();
            self.diagnostics.push(
                Diagnostic::new(
                    &rules::WRONG_HOST,
                    format!("`{}` cannot use `{}` for `{}`", node.name, target.name, assignment.name),
                )
                .at(assignment.span)
                .with_label(target.kind_span, format!("takes only {}", takes.join(", ")))
                .with_label(node.kind_span, "and this is none of them")
                .with_help("Name a node of a type that takes it.")
                .with_resources([node.name.to_string(), target.name.to_string()]),
            );
        }
        fitting.first().map(|one| one.kind)
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
        if let Some(kind) = kind {
            let mut finding = Diagnostic::new(
                &rules::UNKNOWN_TYPE,
                format!("the relationship type `{kind}` is not defined; it is taken for a dependency"),
            )
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

    /// At most one host for each node, and no relationship of a node with itself.
    fn structure(&mut self) {
        let mut hosts: IndexMap<Symbol, &Relationship> = IndexMap::new();
        let mut found = Vec::new();
        for one in &self.relationships {
            if one.source == one.target {
                found.push(
                    Diagnostic::new(
                        &rules::TOPOLOGY_STRUCTURE,
                        format!("`{}` requires itself for `{}`", one.source, one.requirement),
                    )
                    .severity(Severity::Error)
                    .at(one.span)
                    .with_help("Name another node.")
                    .with_resources([one.source.to_string()]),
                );
            }
            if one.behaviour != Behaviour::HostedOn {
                continue;
            }
            if let Some(first) = hosts.get(&one.source) {
                if first.target != one.target {
                    found.push(
                        Diagnostic::new(
                            &rules::TOPOLOGY_STRUCTURE,
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
