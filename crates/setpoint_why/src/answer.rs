//! The answer to a question: the value, where it came from, through which steps, and why it is there at all.

use std::sync::Arc;

use rustc_hash::FxHashSet;
use setpoint_catalog::{Resource, ResourceId};
use setpoint_provenance::{Control, Dependency, Leaf, LeafKind, Node, Prov};
use setpoint_puppet::Compilation;
use setpoint_puppet_values::{Data, Value};
use setpoint_source::{Span, Symbol};

use crate::causes::Query;
use crate::target::Target;

/// Why an output is as it is.
#[derive(Debug)]
pub struct Answer {
    pub target: String,
    /// Absent for the existence of something, and for a parameter that is not there.
    pub value: Option<Value>,
    /// Nothing of the value, nor of the text that it was made of, may be shown.
    pub secret: bool,
    /// The node that made the value, or the resource.
    pub prov: Prov,
    /// The leaf that the value was copied from.
    pub origin: Option<Leaf>,
    /// Names that the value had on its way, the last one first.
    pub steps: Vec<Passed>,
    /// The resource that it belongs to, and what led to its declaration, the nearest first.
    pub resource: String,
    pub reasons: Vec<Reason>,
    /// Every input that could change it.
    pub depends: Vec<Dependency>,
    /// Texts that must not be shown anywhere.
    pub secrets: Arc<FxHashSet<Span>>,
}

/// A value was given a name, or passed on, at a place.
#[derive(Debug, Clone, Copy)]
pub struct Passed {
    pub name: Option<Symbol>,
    pub span: Option<Span>,
}

/// One step of what led to the existence of a resource, or to a failure.
#[derive(Debug, Clone, Copy)]
pub struct Reason {
    pub kind: ReasonKind,
    pub span: Option<Span>,
    /// What decided, for a condition or an iteration.
    pub cause: Prov,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReasonKind {
    Declared,
    Included,
    /// The statement for the node.
    Node,
    Inherited,
    Realized,
    Condition,
    Instance,
    Iteration,
    Call,
    Collected,
    NoJump,
}

impl ReasonKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Declared => "declared",
            Self::Included => "included",
            Self::Node => "node",
            Self::Inherited => "inherited",
            Self::Realized => "realized",
            Self::Condition => "condition",
            Self::Instance => "instance",
            Self::Iteration => "iteration",
            Self::Call => "call",
            Self::Collected => "collected",
            Self::NoJump => "not-left-early",
        }
    }
}

impl Query<'_> {
    /// Explains an output.
    pub fn answer(&mut self, target: &Target) -> Answer {
        let depends = self.causes(target);
        let depends = depends.into_iter().filter(|found| found.leaf.kind != LeafKind::Absence).collect();
        let secrets = Arc::clone(&self.secrets);
        let catalog = self.catalog;
        let mut answer = Answer {
            target: self.shown(target),
            value: None,
            secret: false,
            prov: Prov::NONE,
            origin: None,
            steps: Vec::new(),
            resource: String::new(),
            reasons: Vec::new(),
            depends,
            secrets,
        };
        let owner = match target {
            Target::Resource(id) | Target::Tags(id) => Some(*id),
            Target::Parameter { resource, name, path } => {
                let owner = &catalog[*resource];
                let mut value = owner.parameters.get(*name);
                for step in path {
                    value = value.and_then(|value| step.of(value));
                }
                answer.secret = owner.sensitive.contains(name) || value.is_some_and(has_secret);
                answer.value = value.cloned();
                answer.prov = match value {
                    Some(value) => value.prov,
                    None => self.undefined(*resource, *name),
                };
                Some(*resource)
            }
            Target::Edge(from, to) => {
                let relation = self.relations(*from, *to).into_iter().next();
                match relation {
                    Some(relation) => {
                        answer.prov = relation.value.prov;
                        answer.value = Some(relation.value.clone());
                        if answer.prov.is_none() {
                            answer.prov = relation.whole.prov;
                        }
                        answer.steps.push(Passed {
                            name: Some(relation.name),
                            span: catalog[relation.owner]
                                .parameters
                                .entry(relation.name)
                                .and_then(|entry| entry.span),
                        });
                        Some(relation.owner)
                    }
                    None => Some(*to),
                }
            }
            Target::Absent { .. } => None,
        };
        if let Some(id) = owner {
            let resource = &catalog[id];
            answer.resource = resource.reference();
            answer.reasons = self.reasons(resource.prov);
            if answer.prov.is_none() && matches!(target, Target::Resource(_) | Target::Tags(_)) {
                answer.prov = resource.prov;
            }
        }
        let arena = &self.compilation.arena;
        answer.origin = arena
            .origin(answer.prov)
            .filter(|_| answer.value.is_some() || matches!(target, Target::Parameter { .. }));
        answer.steps.extend(steps(self.compilation, answer.prov));
        answer
    }

    /// The node of a parameter that was set to `undef`.
    pub(crate) fn undefined(&self, id: ResourceId, name: Symbol) -> Prov {
        let undefined = &self.compilation.trace.undefined;
        undefined
            .iter()
            .find(|(of, known, _)| *of == id && *known == name)
            .map_or(Prov::NONE, |(_, _, prov)| *prov)
    }

    /// What led to a declaration: the conditions, and the declarations of what contains it.
    pub fn reasons(&self, prov: Prov) -> Vec<Reason> {
        reasons(self.compilation, prov)
    }

    /// The target in the words of the catalog.
    pub fn shown(&self, target: &Target) -> String {
        let reference = |id: &ResourceId| self.catalog[*id].reference();
        match target {
            Target::Resource(id) => reference(id),
            Target::Parameter { resource, name, path } => {
                let mut text = format!("{}.{name}", reference(resource));
                for step in path {
                    text += &match step {
                        crate::Step::Index(at) => format!("[{at}]"),
                        crate::Step::Key(key) => format!("['{key}']"),
                    };
                }
                text
            }
            Target::Tags(id) => format!("{}.tags", reference(id)),
            Target::Edge(from, to) => format!("{} -> {}", reference(from), reference(to)),
            Target::Absent { type_name, title } => format!("{type_name}[{title}]"),
        }
    }

    /// Whether one resource contains another, comes before it by a parameter, or does not.
    pub fn has_edge(&self, from: ResourceId, to: ResourceId) -> bool {
        self.catalog.edges.contains(&(from, to)) || !self.relations(from, to).is_empty()
    }
}

/// What led to a node: see [`Query::reasons`]. Also for a compilation that failed.
pub fn reasons(compilation: &Compilation, prov: Prov) -> Vec<Reason> {
    let arena = &compilation.arena;
    let mut found = Vec::new();
    let mut work = vec![prov];
    let mut seen = FxHashSet::default();
    while let Some(at) = work.pop() {
        if at.is_none() || !seen.insert(at) || found.len() >= MOST_REASONS {
            continue;
        }
        match arena.node(at) {
            Some(Node::Operation { name, span, arguments, .. }) => {
                let kind = match name.as_str() {
                    "include" if is_node(compilation, arguments) => ReasonKind::Node,
                    "include" => ReasonKind::Included,
                    "inherits" => ReasonKind::Inherited,
                    "realize" => ReasonKind::Realized,
                    "resource" => ReasonKind::Declared,
                    _ => continue,
                };
                found.push(Reason { kind, span, cause: Prov::NONE });
                match (kind, arguments) {
                    // What was realized was declared before.
                    (ReasonKind::Realized, [known, control]) => work.extend([*known, *control]),
                    // The parent is there because of the child.
                    (ReasonKind::Inherited, [child, _]) => work.push(*child),
                    (_, [.., control]) => work.push(*control),
                    _ => {}
                }
            }
            Some(Node::Under { of, control, cause, span }) => {
                work.push(of);
                let kind = match control {
                    Control::Declaration | Control::Instance => {
                        work.push(cause);
                        continue;
                    }
                    Control::Condition if span.is_none() => {
                        // A context that was put together out of others.
                        work.push(cause);
                        continue;
                    }
                    Control::Condition => ReasonKind::Condition,
                    Control::Collector => ReasonKind::Collected,
                    Control::Iteration => ReasonKind::Iteration,
                    Control::Call => ReasonKind::Call,
                    Control::Jump => ReasonKind::NoJump,
                    Control::Selection => continue,
                };
                let repeated = found.iter().any(|known: &Reason| known.kind == kind && known.span == span);
                if !repeated && (span.is_some() || kind == ReasonKind::NoJump) {
                    found.push(Reason { kind, span, cause });
                }
            }
            _ => {}
        }
    }
    found.retain(|reason| reason.kind != ReasonKind::NoJump || reason.span.is_some());
    found
}

/// Whether a declaration is that of the node, which its name chose.
fn is_node(compilation: &Compilation, arguments: &[Prov]) -> bool {
    let title = arguments.first().and_then(|title| compilation.arena.origin(*title));
    title.is_some_and(|leaf| leaf.kind == LeafKind::Node)
}

/// Longer ways are cut.
const MOST_REASONS: usize = 60;

/// The names that a value had on its way.
fn steps(compilation: &Compilation, prov: Prov) -> Vec<Passed> {
    let mut found = Vec::new();
    let mut at = prov;
    while let Some(node) = compilation.arena.node(at) {
        match node {
            Node::Copy { of, span, name } => {
                found.push(Passed { name, span });
                at = of;
            }
            Node::Under { of, .. } => at = of,
            _ => break,
        }
    }
    found
}

fn has_secret(value: &Value) -> bool {
    match &value.data {
        Data::Sensitive(_) => true,
        Data::Array(items) => items.iter().any(has_secret),
        Data::Hash(entries) => entries.iter().any(|(key, entry)| has_secret(&key.0) || has_secret(entry)),
        _ => false,
    }
}

/// The places of text that secrets are made of.
pub fn secrets(compilation: &Compilation) -> FxHashSet<Span> {
    let mut found = FxHashSet::default();
    let arena = &compilation.arena;
    let resources: &[Resource] = compilation.catalog.as_ref().map_or(&[], |catalog| catalog.resources());
    for resource in resources {
        for parameter in &resource.parameters {
            if resource.sensitive.contains(&parameter.name) || has_secret(&parameter.value) {
                let mut nodes = Vec::new();
                nodes_of(&parameter.value, &mut nodes);
                let leaves = nodes.into_iter().flat_map(|node| arena.made_of(node));
                found.extend(leaves.filter_map(|(_, leaf)| leaf.span));
            }
        }
    }
    found
}

fn nodes_of(value: &Value, nodes: &mut Vec<Prov>) {
    nodes.push(value.prov);
    match &value.data {
        Data::Array(items) => items.iter().for_each(|item| nodes_of(item, nodes)),
        Data::Hash(entries) => entries.values().for_each(|entry| nodes_of(entry, nodes)),
        Data::Sensitive(inner) => nodes_of(inner, nodes),
        _ => {}
    }
}
