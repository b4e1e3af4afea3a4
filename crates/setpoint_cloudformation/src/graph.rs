//! What waits for what: the edges that a template's references and `DependsOn` make, each with its place and the
//! conditions under which it counts.

use std::collections::VecDeque;

use rustc_hash::FxHashSet;
use setpoint_source::{Range, Symbol};

use crate::conditions::{Formula, Logic, Valuation};
use crate::template::{Resource, Table, Template};
use crate::value::{Guard, Piece, Value, ValueKind};

/// How one resource names another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Via {
    DependsOn,
    Ref,
    GetAtt(String),
    Sub,
    /// A transform makes it.
    Transform(&'static str),
}

impl Via {
    pub fn describe(&self) -> String {
        match self {
            Self::DependsOn => "DependsOn".to_owned(),
            Self::Ref => "Ref".to_owned(),
            Self::GetAtt(attribute) if attribute.is_empty() => "GetAtt".to_owned(),
            Self::GetAtt(attribute) => format!("GetAtt {attribute}"),
            Self::Sub => "Sub".to_owned(),
            Self::Transform(what) => (*what).to_owned(),
        }
    }
}

/// `from` is made after `to`.
#[derive(Debug, Clone)]
pub struct Edge {
    pub from: Symbol,
    pub to: Symbol,
    pub via: Via,
    pub range: Range,
    pub guard: Guard,
}

/// A name that is neither a resource nor a parameter.
#[derive(Debug)]
pub(crate) struct Unknown {
    pub(crate) from: Symbol,
    pub(crate) name: Symbol,
    pub(crate) via: Via,
    pub(crate) range: Range,
}

#[derive(Debug, Default)]
pub struct Graph {
    pub edges: Vec<Edge>,
    pub(crate) unknown: Vec<Unknown>,
    out: Table<Vec<usize>>,
}

impl Graph {
    pub fn new(template: &Template) -> Self {
        let mut graph = Self::default();
        for resource in template.resources.values() {
            graph.out.entry(resource.name).or_default();
            for (name, range) in &resource.depends_on {
                graph.add(template, resource, *name, Via::DependsOn, *range, &Guard::new());
            }
            let values = [Some(&resource.properties), resource.creation_policy.as_ref()];
            for value in values.into_iter().flatten().chain(&resource.others) {
                value.walk(&mut Guard::new(), &mut |value, guard| {
                    references(value, &mut |name, via| {
                        graph.add(template, resource, name, via, value.range, guard);
                    });
                });
            }
        }
        for made in &template.made_edges {
            if let Some(from) = template.resources.get(&made.from) {
                graph.add(template, from, made.to, made.into(), made.range, &Guard::new());
            }
        }
        graph
    }

    pub(crate) fn add(
        &mut self,
        template: &Template,
        from: &Resource,
        to: Symbol,
        via: Via,
        range: Range,
        guard: &Guard,
    ) {
        if !template.resources.contains_key(&to) {
            let known = template.parameters.contains_key(&to) || to.starts_with("AWS::");
            if !known || via == Via::DependsOn {
                self.unknown.push(Unknown { from: from.name, name: to, via, range });
            }
            return;
        }
        self.out.entry(from.name).or_default().push(self.edges.len());
        self.edges.push(Edge { from: from.name, to, via, range, guard: guard.clone() });
    }

    pub fn edges_from(&self, name: Symbol) -> impl Iterator<Item = &Edge> {
        self.out.get(&name).into_iter().flatten().map(|index| &self.edges[*index])
    }
}

/// Calls `found` for each name that a value refers to, not those below it.
pub(crate) fn references(value: &Value, found: &mut dyn FnMut(Symbol, Via)) {
    match &value.kind {
        ValueKind::Ref(name) => found(*name, Via::Ref),
        ValueKind::GetAtt { resource, attribute, .. } => {
            found(*resource, Via::GetAtt(attribute.as_deref().unwrap_or("").to_owned()));
        }
        ValueKind::Sub { pieces, variables } => {
            for piece in pieces {
                match piece {
                    Piece::Ref(name) if variables.iter().any(|own| own.name == *name) => {}
                    Piece::Ref(name) | Piece::GetAtt { resource: name, .. } => found(*name, Via::Sub),
                    Piece::Text(_) => {}
                }
            }
        }
        _ => {}
    }
}

/// A template with its graph and its logic: what every analysis needs.
#[derive(Debug)]
pub(crate) struct Stack<'a> {
    pub(crate) template: &'a Template,
    pub(crate) graph: &'a Graph,
    pub(crate) logic: &'a Logic,
}

impl<'a> Stack<'a> {
    pub(crate) fn resource(&self, name: Symbol) -> Option<&'a Resource> {
        self.template.resources.get(&name)
    }

    /// Resources of a type.
    pub(crate) fn of_kind(&self, kind: &'a str) -> impl Iterator<Item = &'a Resource> + use<'a> {
        self.template.resources.values().filter(move |resource| &*resource.kind == kind)
    }

    /// The resource of a type that a value refers to.
    pub(crate) fn referred(&self, value: Option<&Value>, kind: &str) -> Option<&'a Resource> {
        self.resource(value?.reference()?).filter(|resource| &*resource.kind == kind)
    }

    /// All resources of a type that a value refers to anywhere.
    pub(crate) fn all_referred(&self, value: Option<&Value>, kind: &str) -> Vec<&'a Resource> {
        let mut found: Vec<&Resource> = Vec::new();
        if let Some(value) = value {
            value.each(&mut |value| {
                references(value, &mut |name, _| {
                    if let Some(resource) = self.resource(name)
                        && &*resource.kind == kind
                        && !found.iter().any(|known| known.name == name)
                    {
                        found.push(resource);
                    }
                });
            });
        }
        found
    }

    /// The conditions under which a resource is made.
    pub(crate) fn exists(&self, name: Symbol) -> Guard {
        self.resource(name)
            .and_then(|resource| resource.condition)
            .map(|(name, _)| (name, true))
            .into_iter()
            .collect()
    }

    pub(crate) fn exists_formula(&self, name: Symbol) -> Formula {
        self.logic.guard(&self.exists(name))
    }

    /// An edge's own conditions and the existence of both its ends.
    pub(crate) fn edge_guard(&self, edge: &Edge) -> Guard {
        let mut guard = edge.guard.clone();
        guard.extend(self.exists(edge.from));
        guard.extend(self.exists(edge.to));
        guard
    }

    /// The shortest chain of edges from one resource to another among the edges that `allowed` lets through.
    pub(crate) fn path(
        &self,
        from: Symbol,
        to: Symbol,
        allowed: &dyn Fn(&Edge) -> bool,
    ) -> Option<Vec<&'a Edge>> {
        let mut reached: Table<&Edge> = Table::default();
        let mut seen = FxHashSet::default();
        let mut work = VecDeque::from([from]);
        while let Some(at) = work.pop_front() {
            for edge in self.graph.edges_from(at).filter(|edge| allowed(edge)) {
                if !seen.insert(edge.to) {
                    continue;
                }
                reached.insert(edge.to, edge);
                if edge.to == to {
                    let mut path = vec![edge];
                    while let Some(last) = path.last()
                        && last.from != from
                    {
                        path.push(reached.get(&last.from)?);
                    }
                    path.reverse();
                    return Some(path);
                }
                work.push_back(edge.to);
            }
        }
        None
    }

    /// A choice of parameters under which both resources are made and the first does not wait for the second.
    /// `None`: it always waits.
    pub(crate) fn may_not_wait(&self, from: Symbol, to: Symbol) -> Option<Valuation> {
        let mut wanted = vec![self.exists_formula(from), self.exists_formula(to)];
        // Each turn excludes one path; a template has few ways by which one resource waits for another.
        for _ in 0..64 {
            let valuation = self.logic.satisfiable(&wanted)?;
            let Some(path) = self.path(from, to, &|edge| valuation.allows(&self.edge_guard(edge))) else {
                return Some(valuation);
            };
            let guards: Guard = path.iter().flat_map(|edge| self.edge_guard(edge)).collect();
            wanted.push(Formula::Not(Box::new(self.logic.guard(&guards))));
        }
        None
    }

    /// Whether some choice of parameters makes the first wait for the second.
    pub(crate) fn may_wait(&self, from: Symbol, to: Symbol) -> bool {
        self.path(from, to, &|_| true).is_some()
    }
}
