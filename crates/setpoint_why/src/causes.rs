//! On what an output of a compilation depends.
//!
//! What a value was made of is in the arena. What could have made it otherwise, had a branch been taken that was not, a
//! collector matched that did not, or a name been another, is worked out here.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use setpoint_catalog::{Catalog, Resource, ResourceId};
use setpoint_provenance::{Dependency, LeafKind, Prov};
use setpoint_puppet::{CollectorTrace, Compilation, Environment};
use setpoint_puppet_values::{Data, Value};
use setpoint_source::{Span, Symbol};

use crate::effects::{Summaries, Wanted};
use crate::target::{Step, Target};

/// Questions about one compilation. It keeps what it has worked out.
#[derive(Debug)]
pub struct Query<'a> {
    pub compilation: &'a Compilation,
    pub(crate) catalog: &'a Catalog,
    summaries: Summaries<'a>,
    /// Instances of definitions by the leaf that stands for their parameters.
    instances: FxHashMap<Prov, ResourceId>,
    /// What contains a resource.
    containers: FxHashMap<ResourceId, Vec<ResourceId>>,
    /// Resources that are declared, but not real, and whose code would do more.
    dormant: Vec<ResourceId>,
    /// The places of secrets.
    pub(crate) secrets: Arc<FxHashSet<Span>>,
}

/// What an answer is made of: nodes of the arena, some of them only for their shape.
pub(crate) type Roots = Vec<(Prov, bool)>;

const RELATIONSHIPS: [&str; 4] = ["before", "notify", "require", "subscribe"];

impl<'a> Query<'a> {
    /// Nothing if the compilation failed.
    pub fn new(compilation: &'a Compilation, environment: &'a Environment<'a>) -> Option<Self> {
        let catalog = compilation.catalog.as_ref()?;
        let mut instances = FxHashMap::default();
        for (at, trace) in compilation.trace.resources.iter().enumerate() {
            if !trace.instance.is_none() {
                instances.insert(trace.instance, ResourceId(at as u32));
            }
        }
        let mut containers: FxHashMap<ResourceId, Vec<ResourceId>> = FxHashMap::default();
        for (container, member) in &catalog.edges {
            containers.entry(*member).or_default().push(*container);
        }
        let mut summaries = Summaries::new(environment, &compilation.trace);
        let mut dormant = Vec::new();
        for (id, resource) in catalog.iter() {
            if resource.virtual_ && summaries.is_define(resource.type_name) {
                dormant.push(id);
            }
        }
        let secrets = Arc::new(crate::answer::secrets(compilation));
        Some(Self { compilation, catalog, summaries, instances, containers, dormant, secrets })
    }

    /// Every leaf that could change an output, control included.
    pub fn causes(&mut self, target: &Target) -> Vec<Dependency> {
        let roots = self.roots(target);
        self.dependencies(roots)
    }

    /// The same for a node of provenance.
    pub fn causes_of(&mut self, prov: Prov) -> Vec<Dependency> {
        self.dependencies(vec![(prov, false)])
    }

    fn dependencies(&mut self, roots: Roots) -> Vec<Dependency> {
        let arena = &self.compilation.arena;
        let mut asked = Asked::default();
        arena.dependencies(roots, |dependency| self.further(dependency, &mut asked))
    }

    pub(crate) fn roots(&mut self, target: &Target) -> Roots {
        let mut asked = Asked::default();
        match target {
            Target::Resource(id) => self.existence(*id),
            Target::Parameter { resource, name, path } => {
                let mut roots = Roots::new();
                let value = self.catalog[*resource].parameters.get(*name);
                let mut at = value;
                for step in path {
                    if let Some(value) = at {
                        roots.push((value.prov, true));
                    }
                    at = at.and_then(|value| step.of(value));
                }
                match at {
                    Some(value) => everything(value, &mut roots),
                    None => roots.extend(value.map(|value| (value.prov, false))),
                }
                self.parameter(*resource, *name, &mut asked, &mut roots);
                roots
            }
            Target::Tags(id) => {
                let mut roots = Roots::new();
                self.tags(*id, &mut asked, &mut roots);
                roots
            }
            Target::Edge(from, to) => self.edge(*from, *to, &mut asked),
            Target::Absent { type_name, title } => {
                let mut roots = Roots::new();
                self.absent(*type_name, title, u32::MAX, &mut roots);
                roots
            }
        }
    }

    fn existence(&self, id: ResourceId) -> Roots {
        let resource = &self.catalog[id];
        let title = self.trace(id).title;
        vec![(resource.prov, false), (title, false)]
    }

    fn trace(&self, id: ResourceId) -> setpoint_puppet::ResourceTrace {
        self.compilation.trace.resources.get(id.index()).copied().unwrap_or_default()
    }

    /// What a leaf stands for besides itself, asked for the first time.
    pub(crate) fn further_of(&mut self, dependency: &Dependency) -> Vec<Prov> {
        self.further(dependency, &mut Asked::default())
    }

    /// What a leaf stands for besides itself.
    fn further(&mut self, dependency: &Dependency, asked: &mut Asked) -> Vec<Prov> {
        let (LeafKind::Absence, Some(name)) = (dependency.leaf.kind, dependency.leaf.name) else {
            return Vec::new();
        };
        let before = dependency.node.index();
        let mut roots = Roots::new();
        let text = name.as_str();
        if text == "instance" {
            if let Some(id) = self.instances.get(&dependency.node).copied() {
                self.any_parameter(id, asked, &mut roots);
            }
        } else if let Some(class) = text.strip_prefix("class ") {
            self.absent("Class".into(), class, before, &mut roots);
        } else if let Some(reference) = text.strip_prefix("resource ") {
            if let Some((type_name, title)) = split_reference(reference) {
                self.absent(Symbol::new(type_name), title, before, &mut roots);
            }
        } else if let Some(reference) = text.strip_prefix("parameters ") {
            if let Some(id) = self.find(reference) {
                self.any_parameter(id, asked, &mut roots);
            }
        } else if let Some(rest) = text.strip_prefix("parameter ") {
            if let Some((reference, name)) = rest.rsplit_once('.')
                && let Some(id) = self.find(reference)
            {
                self.parameter(id, Symbol::new(name), asked, &mut roots);
            }
        } else if let Some(reference) = text.strip_prefix("tag ") {
            match self.find(reference) {
                Some(id) => self.tags(id, asked, &mut roots),
                None => self.all_tags(&mut roots),
            }
        } else if let Some(number) = text.strip_prefix("collected ") {
            self.collected(number.parse().unwrap_or(usize::MAX), asked, &mut roots);
        }
        roots.into_iter().map(|(prov, _)| prov).collect()
    }

    fn find(&self, reference: &str) -> Option<ResourceId> {
        let (type_name, title) = split_reference(reference)?;
        self.catalog.find(Symbol::new(type_name), title)
    }

    /// The conditions of the branches that were not taken and could have done something, of those that were met before
    /// a time.
    fn guards(&mut self, wanted: Wanted<'_>, before: u32, roots: &mut Roots) {
        let mut could: FxHashMap<setpoint_source::Span, bool> = FxHashMap::default();
        let compilation = self.compilation;
        for guard in compilation.guards.iter().filter(|guard| guard.at <= before) {
            let fits =
                *could.entry(guard.skipped).or_insert_with(|| self.summaries.could(guard.skipped, wanted));
            if fits {
                roots.extend([(guard.condition, false), (guard.context, false)]);
            }
        }
        // A class that was declared might have been another.
        if self.summaries.any_class_could(wanted) {
            for id in self.catalog.ids() {
                if self.catalog[id].is_class() {
                    roots.push((self.trace(id).title, false));
                }
            }
            roots.extend(compilation.declarations.iter().map(|(_, prov)| (*prov, false)));
        }
        if !matches!(wanted, Wanted::Class(_)) {
            roots.extend(compilation.trace.dynamic.iter().map(|prov| (*prov, false)));
        }
        // So might an instance that was not made real.
        for id in self.dormant.clone() {
            let type_name = self.catalog[id].type_name;
            if self.summaries.instance_could(type_name, wanted) {
                roots.extend(self.existence(id));
                for parameter in &self.catalog[id].parameters {
                    everything(&parameter.value, roots);
                }
                let collectors = self.collectors(type_name);
                roots.extend(collectors.iter().map(|collector| (collector.prov, false)));
            }
        }
    }

    /// Collectors that look at resources of a type.
    fn collectors(&self, type_name: Symbol) -> Vec<&'a CollectorTrace> {
        let compilation = self.compilation;
        let looks = |collector: &&CollectorTrace| collector.type_name.is_none_or(|known| known == type_name);
        compilation.trace.collectors.iter().filter(looks).collect()
    }

    /// Why a resource or class is not there.
    pub(crate) fn absent(&mut self, type_name: Symbol, title: &str, before: u32, roots: &mut Roots) {
        if type_name.as_str() == "Class" {
            let name = title.strip_prefix("::").unwrap_or(title).to_lowercase();
            return self.guards(Wanted::Class(Symbol::new(&name)), before, roots);
        }
        self.guards(Wanted::Resource(type_name, title), before, roots);
        // One that is there might have had this title.
        for (id, resource) in self.catalog.iter() {
            if resource.type_name == type_name {
                roots.push((self.trace(id).title, false));
                roots.extend(resource.get("alias").map(|value| (value.prov, false)));
                roots.extend(resource.parameters.get(resource.namevar).map(|value| (value.prov, false)));
            }
        }
        if let Some(id) = self.catalog.find(type_name, title)
            && self.catalog[id].virtual_
        {
            roots.extend(self.existence(id));
            let mut asked = Asked::default();
            for collector in self.collectors(type_name) {
                roots.push((collector.prov, false));
                self.read(id, collector, &mut asked, roots);
            }
        }
    }

    /// What could have given a parameter another value than it has, or a value at all.
    fn parameter(&mut self, id: ResourceId, name: Symbol, asked: &mut Asked, roots: &mut Roots) {
        if !asked.parameters.insert((id, Some(name))) {
            return;
        }
        let catalog = self.catalog;
        let resource = &catalog[id];
        let trace = self.trace(id);
        let entry = resource.parameters.entry(name);
        let explicit = entry.is_some_and(|entry| is_own(resource, entry));
        // Another declaration of this title might have given it.
        roots.extend([(resource.prov, false), (trace.title, false)]);
        if !explicit {
            self.not_given(id, Some(name), roots);
            roots.push((trace.order, false));
            self.guards(Wanted::Default(resource.type_name, Some(name)), u32::MAX, roots);
        }
        self.guards(Wanted::Set(resource.type_name, &resource.title, Some(name)), u32::MAX, roots);
        self.set_by_others(id, Some(name), asked, roots);
        if matches!(name.as_str(), "before" | "notify") {
            self.arrows(resource.type_name, name, roots);
        }
        if name.as_str() == "require" && entry.is_none_or(|entry| !is_own(resource, entry)) {
            let requires = &self.compilation.trace.requires;
            roots.extend(requires.iter().filter(|(of, _)| *of == id).map(|(_, prov)| (*prov, false)));
            if !matches!(resource.kind, Some(setpoint_catalog::Kind::CompilableType)) {
                self.guards(Wanted::Require, u32::MAX, roots);
            }
        }
        if !explicit && setpoint_catalog::is_metaparameter(&name) && !RELATIONSHIPS.contains(&name.as_str()) {
            for container in self.containers_of(id) {
                let given = catalog[container].parameters.get(name);
                roots.extend(given.map(|value| (value.prov, false)));
                self.parameter(container, name, asked, roots);
            }
        }
    }

    /// The same for all parameters of a resource.
    fn any_parameter(&mut self, id: ResourceId, asked: &mut Asked, roots: &mut Roots) {
        if !asked.parameters.insert((id, None)) {
            return;
        }
        let resource = &self.catalog[id];
        let type_name = resource.type_name;
        roots.push((self.trace(id).order, false));
        self.not_given(id, None, roots);
        self.guards(Wanted::Default(type_name, None), u32::MAX, roots);
        self.guards(Wanted::Set(type_name, &resource.title, None), u32::MAX, roots);
        self.set_by_others(id, None, asked, roots);
    }

    /// What might have given a parameter, and did not.
    fn not_given(&self, id: ResourceId, name: Option<Symbol>, roots: &mut Roots) {
        let trace = &self.compilation.trace;
        roots.extend(trace.splats.iter().filter(|(of, _)| *of == id).map(|(_, prov)| (*prov, false)));
        let undefined = trace.undefined.iter();
        let undefined =
            undefined.filter(|(of, known, _)| *of == id && name.is_none_or(|name| *known == name));
        roots.extend(undefined.map(|(_, _, prov)| (*prov, false)));
    }

    /// Overrides and collectors that set such a parameter, whether they met this resource or not.
    fn set_by_others(&mut self, id: ResourceId, name: Option<Symbol>, asked: &mut Asked, roots: &mut Roots) {
        let compilation = self.compilation;
        let type_name = self.catalog[id].type_name;
        for known in compilation.trace.overrides.iter().filter(|known| known.type_name == type_name) {
            if known.sets.is_empty() || name.is_none_or(|name| known.sets.contains(&name)) {
                roots.push((known.prov, false));
            }
        }
        for collector in self.collectors(type_name) {
            let sets = !collector.sets.is_empty() && name.is_none_or(|name| collector.sets.contains(&name));
            if sets || collector.sets_any {
                roots.push((collector.prov, false));
                self.read(id, collector, asked, roots);
            }
        }
    }

    /// The attributes of a resource that a collector looks at.
    fn read(&mut self, id: ResourceId, collector: &CollectorTrace, asked: &mut Asked, roots: &mut Roots) {
        for name in &collector.reads {
            match name.as_str() {
                "title" => roots.push((self.trace(id).title, false)),
                "tag" => self.tags(id, asked, roots),
                _ => {
                    if let Some(value) = self.catalog[id].parameters.get(*name) {
                        everything(value, roots);
                    }
                    self.parameter(id, *name, asked, roots);
                }
            }
        }
    }

    fn arrows(&self, type_name: Symbol, parameter: Symbol, roots: &mut Roots) {
        let arrows = self.compilation.trace.arrows.iter();
        let fitting = arrows.filter(|arrow| {
            arrow.parameter == parameter && arrow.source.is_none_or(|source| source == type_name)
        });
        roots.extend(fitting.map(|arrow| (arrow.prov, false)));
    }

    fn containers_of(&self, id: ResourceId) -> Vec<ResourceId> {
        let mut found = self.containers.get(&id).cloned().unwrap_or_default();
        found.extend(self.trace(id).container);
        found.sort_unstable();
        found.dedup();
        found
    }

    /// What the tags of a resource depend on.
    fn tags(&mut self, id: ResourceId, asked: &mut Asked, roots: &mut Roots) {
        if !asked.tags.insert(id) {
            return;
        }
        let catalog = self.catalog;
        let resource = &catalog[id];
        roots.extend(self.existence(id));
        if let Some(value) = resource.get("tag") {
            everything(value, roots);
        }
        self.parameter(id, Symbol::new("tag"), asked, roots);
        let calls = self.compilation.trace.tags.iter();
        roots.extend(calls.filter(|(of, _)| *of == id).map(|(_, prov)| (*prov, false)));
        if asked.all_tags {
            return self.tags_of_containers(id, asked, roots);
        }
        asked.all_tags = true;
        self.guards(Wanted::Tag, u32::MAX, roots);
        self.tags_of_containers(id, asked, roots);
    }

    fn tags_of_containers(&mut self, id: ResourceId, asked: &mut Asked, roots: &mut Roots) {
        if self.catalog[id].is_class() {
            // Who declared it first passes its tags on.
            roots.push((self.trace(id).order, false));
            let name = self.catalog[id].title.to_lowercase();
            self.absent("Class".into(), &name, u32::MAX, roots);
            let edges = self.compilation.trace.edges.iter();
            roots.extend(edges.filter(|(_, member, _)| *member == id).map(|(_, _, prov)| (*prov, false)));
        }
        for container in self.containers_of(id) {
            self.tags(container, asked, roots);
        }
    }

    /// What any tag anywhere depends on.
    fn all_tags(&mut self, roots: &mut Roots) {
        self.guards(Wanted::Tag, u32::MAX, roots);
        roots.extend(self.compilation.trace.tags.iter().map(|(_, prov)| (*prov, false)));
        for (id, resource) in self.catalog.iter() {
            if !matches!(resource.kind, Some(setpoint_catalog::Kind::CompilableType)) {
                roots.extend(self.existence(id));
                roots.extend(resource.get("tag").map(|value| (value.prov, false)));
            }
        }
        for guard in &self.compilation.guards {
            roots.extend([(guard.condition, false), (guard.context, false)]);
        }
    }

    /// What a collector found, and what it might have found.
    fn collected(&mut self, number: usize, asked: &mut Asked, roots: &mut Roots) {
        let compilation = self.compilation;
        let Some(collector) = compilation.trace.collectors.get(number) else { return };
        roots.push((collector.prov, false));
        let Some(type_name) = collector.type_name else { return };
        self.guards(Wanted::AnyOf(type_name), u32::MAX, roots);
        for (id, resource) in self.catalog.iter() {
            if resource.type_name == type_name {
                roots.extend(self.existence(id));
                self.read(id, collector, asked, roots);
            }
        }
    }

    /// Why one resource contains another, or comes before it.
    fn edge(&mut self, from: ResourceId, to: ResourceId, asked: &mut Asked) -> Roots {
        let mut roots = self.existence(from);
        roots.extend(self.existence(to));
        let compilation = self.compilation;
        let made =
            compilation.trace.edges.iter().filter(|(container, class, _)| (*container, *class) == (from, to));
        roots.extend(made.map(|(_, _, prov)| (*prov, false)));
        if self.catalog[to].is_class() {
            let stage = Symbol::new("stage");
            for id in [Some(to), self.trace(to).container].into_iter().flatten() {
                roots.extend(self.catalog[id].parameters.get(stage).map(|value| (value.prov, false)));
                self.parameter(id, stage, asked, &mut roots);
            }
            roots.push((self.trace(to).order, false));
        }
        for relation in self.relations(from, to) {
            everything(relation.value, &mut roots);
            roots.push((relation.whole.prov, false));
        }
        roots
    }

    /// The parameters that put one resource before another.
    pub(crate) fn relations(&self, from: ResourceId, to: ResourceId) -> Vec<Relation<'a>> {
        let mut found = Vec::new();
        let sides = [(from, to, ["before", "notify"]), (to, from, ["require", "subscribe"])];
        for (owner, other, names) in sides {
            for name in names {
                let Some(whole) = self.catalog[owner].get(name) else { continue };
                let items = match &whole.data {
                    Data::Array(items) => items.as_slice(),
                    _ => std::slice::from_ref(whole),
                };
                for value in items {
                    if value.as_str().and_then(|text| self.find(text)) == Some(other) {
                        found.push(Relation { owner, name: Symbol::new(name), whole, value });
                    }
                }
            }
        }
        found
    }

    /// The conditions that kept a branch out which could have declared a resource or class: the branches, each once.
    pub(crate) fn guards_that_declare(
        &mut self,
        type_name: Symbol,
        title: &str,
    ) -> Vec<setpoint_puppet::Guard> {
        let lower = Symbol::new(&title.strip_prefix("::").unwrap_or(title).to_lowercase());
        let wanted = if type_name.as_str() == "Class" {
            Wanted::Class(lower)
        } else {
            Wanted::Resource(type_name, title)
        };
        self.fitting(wanted)
    }

    /// The same for a parameter of a resource that is there.
    pub(crate) fn guards_that_set(&mut self, id: ResourceId, name: Symbol) -> Vec<setpoint_puppet::Guard> {
        let resource = &self.catalog[id];
        let mut found = self.fitting(Wanted::Set(resource.type_name, &resource.title, Some(name)));
        found.extend(self.fitting(Wanted::Default(resource.type_name, Some(name))));
        found
    }

    fn fitting(&mut self, wanted: Wanted<'_>) -> Vec<setpoint_puppet::Guard> {
        let mut seen = BTreeSet::new();
        let compilation = self.compilation;
        let guards = compilation.guards.iter();
        guards
            .filter(|guard| {
                seen.insert((guard.skipped, guard.condition)) && self.summaries.could(guard.skipped, wanted)
            })
            .copied()
            .collect()
    }
}

/// A parameter, and the reference in it that makes an edge.
#[derive(Debug)]
pub(crate) struct Relation<'a> {
    pub(crate) owner: ResourceId,
    pub(crate) name: Symbol,
    pub(crate) whole: &'a Value,
    pub(crate) value: &'a Value,
}

/// Questions that are answered once.
#[derive(Debug, Default)]
struct Asked {
    parameters: FxHashSet<(ResourceId, Option<Symbol>)>,
    tags: FxHashSet<ResourceId>,
    all_tags: bool,
}

/// Whether a parameter was given by the declaration of its resource.
pub(crate) fn is_own(resource: &Resource, parameter: &setpoint_catalog::Parameter) -> bool {
    parameter.span.zip(resource.span).is_some_and(|(part, whole)| {
        part.file == whole.file && part.range.start >= whole.range.start && part.range.end <= whole.range.end
    })
}

/// A value with all that is in it: its node stands for its parts. Only a list that arrows have added to has more, and
/// what has no node has parts.
pub(crate) fn everything(value: &Value, roots: &mut Roots) {
    roots.push((value.prov, false));
    match &value.data {
        Data::Array(items) if value.prov.is_none() => items.iter().for_each(|item| everything(item, roots)),
        Data::Array(items) => roots.extend(items.iter().map(|item| (item.prov, false))),
        Data::Hash(entries) if value.prov.is_none() => entries.iter().for_each(|(key, entry)| {
            roots.push((key.0.prov, false));
            everything(entry, roots);
        }),
        Data::Sensitive(inner) => everything(inner, roots),
        _ => {}
    }
}

pub(crate) fn split_reference(text: &str) -> Option<(&str, &str)> {
    let (type_name, rest) = text.split_once('[')?;
    Some((type_name, rest.strip_suffix(']')?)).filter(|(type_name, _)| !type_name.is_empty())
}

impl Step {
    /// The element of a value that a step leads to.
    pub(crate) fn of<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        match (&value.data, self) {
            (Data::Array(items), Self::Index(at)) => items.get(*at),
            (Data::Hash(entries), Self::Key(name)) => entries
                .iter()
                .find(|(key, _)| *setpoint_puppet_values::to_text(&key.0) == **name)
                .map(|(_, value)| value),
            (Data::Hash(entries), Self::Index(at)) => {
                let name = at.to_string();
                entries
                    .iter()
                    .find(|(key, _)| *setpoint_puppet_values::to_text(&key.0) == *name)
                    .map(|(_, value)| value)
            }
            (Data::Sensitive(inner), _) => self.of(inner),
            _ => None,
        }
    }
}
