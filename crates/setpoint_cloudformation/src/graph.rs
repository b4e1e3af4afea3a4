//! What waits for what: the edges that a template's references and `DependsOn` make, each with its place and the
//! conditions under which it counts.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};
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

/// A name that nothing in the template defines.
#[derive(Debug)]
pub(crate) struct Unknown {
    pub(crate) user: User,
    pub(crate) name: Symbol,
    pub(crate) how: How,
    pub(crate) range: Range,
}

/// Who uses a name.
#[derive(Debug, Clone, Copy)]
pub(crate) enum User {
    Resource(Symbol),
    Output(Symbol),
    Condition(Symbol),
}

/// How a name is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    DependsOn,
    Reference,
    Condition,
    Mapping,
    MappingKey,
}

/// What `Ref` knows in every template.
const PSEUDO_PARAMETERS: [&str; 8] = [
    "AWS::AccountId",
    "AWS::NotificationARNs",
    "AWS::NoValue",
    "AWS::Partition",
    "AWS::Region",
    "AWS::StackId",
    "AWS::StackName",
    "AWS::URLSuffix",
];

#[derive(Debug, Default)]
pub struct Graph {
    pub edges: Vec<Edge>,
    pub(crate) unknown: Vec<Unknown>,
    out: Table<Vec<usize>>,
    /// The resources of each type, in the order of the template.
    kinds: FxHashMap<Symbol, Vec<Symbol>>,
}

impl Graph {
    pub fn new(template: &Template) -> Self {
        let mut graph = Self::default();
        for resource in template.resources.values() {
            graph.out.entry(resource.name).or_default();
            graph.kinds.entry(resource.kind).or_default().push(resource.name);
            for (name, range) in &resource.depends_on {
                graph.add(template, resource, *name, Via::DependsOn, *range, &Guard::new());
            }
            let user = User::Resource(resource.name);
            if let Some((name, range)) = resource.condition {
                graph.use_condition(template, user, name, range);
            }
            let values = [Some(&resource.properties), resource.creation_policy.as_ref()];
            for value in values.into_iter().flatten().chain(&resource.others) {
                value.walk(&mut Guard::new(), &mut |value, guard| {
                    graph.use_tables(template, user, value);
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
        for output in template.outputs.fields() {
            let user = User::Output(output.name);
            if let Some(condition) = output.value.get("Condition")
                && let Some(name) = condition.text()
            {
                graph.use_condition(template, user, Symbol::new(name), condition.range);
            }
            output.value.each(&mut |value| {
                graph.use_tables(template, user, value);
                references(value, &mut |name, via| {
                    if !template.resources.contains_key(&name) {
                        graph.use_parameter(template, user, name, &via, value.range);
                    }
                });
            });
        }
        for (&name, (_, value)) in &template.conditions {
            let user = User::Condition(name);
            value.each(&mut |value| {
                graph.use_tables(template, user, value);
                if let Some(name) = value.condition_named() {
                    graph.use_condition(template, user, name, value.range);
                }
                references(value, &mut |name, via| {
                    graph.use_parameter(template, user, name, &via, value.range);
                });
            });
        }
        graph
    }

    fn missing(&mut self, user: User, name: Symbol, how: How, range: Range) {
        // A name that is empty is malformed, and told as such.
        if !name.is_empty() {
            self.unknown.push(Unknown { user, name, how, range });
        }
    }

    fn use_condition(&mut self, template: &Template, user: User, name: Symbol, range: Range) {
        if !template.conditions.contains_key(&name) {
            self.missing(user, name, How::Condition, range);
        }
    }

    fn use_parameter(&mut self, template: &Template, user: User, name: Symbol, via: &Via, range: Range) {
        let is_parameter = template.parameters.contains_key(&name) && !matches!(via, Via::GetAtt(_));
        if !is_parameter && !PSEUDO_PARAMETERS.contains(&name.as_str()) {
            self.missing(user, name, How::Reference, range);
        }
    }

    /// Looks up the condition of `Fn::If` and the map and keys of `Fn::FindInMap`, where they are literal.
    fn use_tables(&mut self, template: &Template, user: User, value: &Value) {
        match &value.kind {
            ValueKind::If { condition, .. } => self.use_condition(template, user, *condition, value.range),
            ValueKind::Call { name, argument } if &**name == "Fn::FindInMap" => {
                let [map, first, second, default @ ..] = argument.items() else { return };
                let Some(map_name) = map.text().map(Symbol::new) else { return };
                let Some(table) = template.mappings.get(&map_name) else {
                    return self.missing(user, map_name, How::Mapping, map.range);
                };
                let Some(key) = first.text().map(Symbol::new).filter(|_| default.is_empty()) else { return };
                let Some(row) = table.get(&key) else {
                    return self.missing(user, key, How::MappingKey, first.range);
                };
                if let Some(key) = second.text().map(Symbol::new).filter(|key| !row.contains_key(key)) {
                    self.missing(user, key, How::MappingKey, second.range);
                }
            }
            _ => {}
        }
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
            let user = User::Resource(from.name);
            return match via {
                Via::DependsOn => self.missing(user, to, How::DependsOn, range),
                _ => self.use_parameter(template, user, to, &via, range),
            };
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

/// Whether one resource waits for another.
#[derive(Debug)]
pub(crate) enum Waits {
    Always,
    /// Not under this choice of parameters, which makes the resource and one that it must wait for.
    NotIf(Valuation),
    /// In more ways than were looked at.
    Undecided,
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
    pub(crate) fn of_kind(&self, kind: &str) -> impl Iterator<Item = &'a Resource> + use<'a> {
        let names = self.graph.kinds.get(&Symbol::new(kind));
        let template = self.template;
        names.into_iter().flatten().filter_map(move |name| template.resources.get(name))
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

    /// The shortest chain of edges from one resource to any of some others among the edges that `allowed` lets through.
    pub(crate) fn path(
        &self,
        from: Symbol,
        any_of: &[Symbol],
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
                if any_of.contains(&edge.to) {
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

    /// Decides whether a resource waits for one of some others under every choice of parameters that makes it and any of them.
    pub(crate) fn waits(&self, from: Symbol, any_of: &[Symbol]) -> Waits {
        let there = any_of.iter().map(|name| self.exists_formula(*name)).collect();
        let mut wanted = vec![self.exists_formula(from), Formula::Or(there)];
        // Each turn excludes one path; a template has few ways by which one resource waits for another.
        for _ in 0..64 {
            let Some(valuation) = self.logic.satisfiable(&wanted) else { return Waits::Always };
            let Some(path) = self.path(from, any_of, &|edge| valuation.allows(&self.edge_guard(edge))) else {
                return Waits::NotIf(valuation);
            };
            let guards: Guard = path.iter().flat_map(|edge| self.edge_guard(edge)).collect();
            wanted.push(Formula::Not(Box::new(self.logic.guard(&guards))));
        }
        Waits::Undecided
    }

    /// Whether some choice of parameters makes the first wait for the second.
    pub(crate) fn may_wait(&self, from: Symbol, to: Symbol) -> bool {
        self.path(from, &[to], &|_| true).is_some()
    }
}
