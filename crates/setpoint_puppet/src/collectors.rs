//! Collectors: `File <| tag == 'web' |> { mode => '0600' }`, and `realize`.
//!
//! They are noted when they are met. Each round of the compilation asks them again, until none finds anything new.

use std::sync::Arc;

use rustc_hash::FxHashSet;
use setpoint_provenance::{Control, Prov};
use setpoint_puppet_functions::{DanglingReference, FailureKind, Stop};
use setpoint_puppet_values::{Data, Value, ops, to_text};
use setpoint_source::{Span, Symbol, never};

use crate::compiler::Compiler;
use crate::overrides::Override;
use crate::relationships::Operand;
use crate::resources::{Parameter, ResourceId};
use crate::scope::ScopeId;
use crate::trace::{CollectorTrace, MISSING_PARAMETER, MISSING_TAG};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct CollectorId(u32);

impl CollectorId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Debug)]
pub(crate) struct Collector {
    selects: Selects,
    overrides: Vec<Parameter>,
    scope: ScopeId,
    span: Span,
    /// Under which conditions it was met.
    control: Prov,
    /// In the order in which they were found.
    pub(crate) collected: Vec<ResourceId>,
    seen: FxHashSet<ResourceId>,
    /// What a chain of arrows uses in its place if it finds nothing.
    pub(crate) if_empty: Vec<Operand>,
    /// How many resources of its type it has looked at, and after which change.
    examined: usize,
    changes: u32,
}

#[derive(Debug)]
enum Selects {
    Query {
        type_name: Symbol,
        query: Option<Query>,
    },
    /// `realize`: references that have not been found yet.
    Fixed(Vec<(String, Prov)>),
    /// Exported resources of other nodes: there are none without a database.
    Exported,
}

/// The condition of a collector, with its values evaluated.
#[derive(Debug)]
pub(crate) enum Query {
    And(Box<Self>, Box<Self>),
    Or(Box<Self>, Box<Self>),
    Tagged {
        tags: Vec<Symbol>,
        prov: Prov,
    },
    /// `literal`: the manifest spells the value out.
    Equal {
        name: Symbol,
        value: Value,
        literal: bool,
    },
    NotEqual {
        name: Symbol,
        value: Value,
    },
}

impl Compiler<'_> {
    pub(crate) fn add_query_collector(
        &mut self,
        type_name: Symbol,
        query: Option<Query>,
        overrides: Vec<Parameter>,
        splats: &[Prov],
        span: Span,
    ) -> CollectorId {
        if self.arena.enabled() {
            let mut reads = Vec::new();
            let mut provs = splats.to_vec();
            if let Some(query) = &query {
                query.reads(&mut reads);
                provs.extend(query.provs());
            }
            let sets = overrides.iter().map(|parameter| parameter.name).collect();
            let trace = (Some(type_name), reads, sets, !splats.is_empty());
            self.note_collector(trace, &provs, span);
        }
        self.add_collector(Selects::Query { type_name, query }, overrides, span)
    }

    fn note_collector(
        &mut self,
        (type_name, reads, sets, sets_any): (Option<Symbol>, Vec<Symbol>, Vec<Symbol>, bool),
        provs: &[Prov],
        span: Span,
    ) {
        let query = self.arena.operation(Symbol::new("collect"), Some(span), provs);
        let prov = self.under_control(query);
        self.trace.collectors.push(CollectorTrace { type_name, reads, sets, sets_any, prov, span });
    }

    pub(crate) fn add_exported_collector(&mut self, span: Span) -> CollectorId {
        if self.arena.enabled() {
            // Numbers of collectors and their traces go together.
            self.note_collector((Some(Symbol::new("")), Vec::new(), Vec::new(), false), &[], span);
        }
        self.add_collector(Selects::Exported, Vec::new(), span)
    }

    pub(crate) fn add_realization(&mut self, references: Vec<(String, Prov)>, span: Span) -> CollectorId {
        if self.arena.enabled() {
            let provs: Vec<Prov> = references.iter().map(|(_, prov)| *prov).collect();
            self.note_collector((None, vec![self.words.title], Vec::new(), false), &provs, span);
        }
        self.add_collector(Selects::Fixed(references), Vec::new(), span)
    }

    fn add_collector(&mut self, selects: Selects, overrides: Vec<Parameter>, span: Span) -> CollectorId {
        self.collectors.push(Collector {
            selects,
            overrides,
            scope: self.frame.scope,
            span,
            control: self.frame.control,
            collected: Vec::new(),
            seen: FxHashSet::default(),
            if_empty: Vec::new(),
            examined: 0,
            changes: 0,
        });
        CollectorId(self.collectors.len() as u32 - 1)
    }

    /// Asks every collector once. Whether one found something new.
    pub(crate) fn evaluate_collectors(&mut self) -> Result<bool, Stop> {
        let mut found = false;
        for at in 0..self.collectors.len() {
            let new = match &self.collectors[at].selects {
                Selects::Query { .. } => self.collect(at)?,
                Selects::Fixed(_) => self.realize(at)?,
                Selects::Exported => Vec::new(),
            };
            found |= !new.is_empty();
            self.collectors[at].collected.extend(new);
        }
        Ok(found)
    }

    /// The resources that a query selects and did not select before.
    fn collect(&mut self, at: usize) -> Result<Vec<ResourceId>, Stop> {
        let collector = &self.collectors[at];
        let Selects::Query { type_name, query } = &collector.selects else {
            never!("collects by something else than a query");
            return Ok(Vec::new());
        };
        let type_name = *type_name;
        let Some(bucket) = self.resources.bucket(type_name) else { return Ok(Vec::new()) };
        // Without a change since the last time, only what was declared since then can be new.
        let start = if bucket.changes == collector.changes { collector.examined } else { 0 };
        let (examined, changes) = (bucket.members.len(), bucket.changes);
        let candidates = bucket.members.get(start..).unwrap_or(&[]);
        let matching = candidates
            .iter()
            .copied()
            .filter(|id| !collector.seen.contains(id))
            .filter(|id| query.as_ref().is_none_or(|query| self.satisfies(*id, query)));
        let new: Vec<ResourceId> = matching.collect();
        let unsure = query.as_ref().and_then(|query| {
            let mut names = Vec::new();
            query.reads(&mut names);
            let mut asked = candidates.iter().flat_map(|id| names.iter().map(|name| (*id, *name)));
            asked.find_map(|(id, name)| {
                let reason = Arc::clone(&self.queried(id, name).unknown_part()?.reason);
                Some((self.resources[id].reference(), name, reason))
            })
        });
        let span = collector.span;
        let cause = query.as_ref().map_or(Vec::new(), Query::provs);
        let collector = &mut self.collectors[at];
        collector.examined = examined;
        collector.changes = changes;
        collector.seen.extend(new.iter().copied());
        if let Some((resource, name, reason)) = unsure {
            let reason = format!("whether {resource} is collected depends on its {name}: {reason}");
            self.record_unknown(&reason, span);
        }
        self.take_up(at, &new, &cause)?;
        Ok(new)
    }

    /// Makes resources real, and overrides their parameters.
    fn take_up(&mut self, at: usize, new: &[ResourceId], cause: &[Prov]) -> Result<(), Stop> {
        if new.is_empty() {
            return Ok(());
        }
        let collector = &self.collectors[at];
        let (span, scope, control) = (collector.span, collector.scope, collector.control);
        let outer = self.frame;
        self.frame.scope = scope;
        self.frame.control = control;
        if self.arena.enabled() {
            let query = self.arena.operation(Symbol::new("collect"), Some(span), cause);
            self.enter(Control::Collector, query, Some(span));
        }
        let result = self.take_up_each(at, new, span, scope);
        self.frame = outer;
        result
    }

    fn take_up_each(
        &mut self,
        at: usize,
        new: &[ResourceId],
        span: Span,
        scope: ScopeId,
    ) -> Result<(), Stop> {
        let overrides = self.collectors[at].overrides.clone();
        let source = self.scopes[scope].source;
        let reads = self.trace.collectors.get(at).map_or_else(Vec::new, |trace| trace.reads.clone());
        let outer = self.frame.control;
        for &id in new {
            self.enter_read(id, &reads, span);
            self.make_real(id, span);
            self.frame.control = outer;
        }
        if overrides.is_empty() {
            return Ok(());
        }
        self.definitions[source].overriding = true;
        for &id in new {
            self.enter_read(id, &reads, span);
            let control = self.frame.control;
            self.frame.control = outer;
            let type_name = self.resources[id].type_name;
            let mut parameters: Vec<Parameter> =
                overrides.iter().map(|parameter| Parameter { control, ..parameter.clone() }).collect();
            for mut default in self.lookup_defaults(scope, type_name).into_vec() {
                if parameters.iter().all(|known| known.name != default.name) {
                    // The collector passes on the defaults of its own scope.
                    if !control.is_none() {
                        let prov = self.arena.under(default.value.prov, Control::Collector, control, None);
                        default.value.prov = prov;
                    }
                    parameters.push(default);
                }
            }
            self.merge_override(id, Override { parameters, source, span })?;
        }
        Ok(())
    }

    /// What a collector does to a resource depends on the attributes that its query read.
    fn enter_read(&mut self, id: ResourceId, reads: &[Symbol], span: Span) {
        if !self.arena.enabled() || reads.is_empty() {
            return;
        }
        let mut provs = Vec::new();
        for name in reads {
            let reference = self.resources[id].reference();
            match name.as_str() {
                "title" => provs.push(self.resources[id].title_prov),
                "tag" => provs.push(self.absence(MISSING_TAG, &reference)),
                _ => {
                    provs.extend(self.resources[id].get(*name).map(|value| value.prov));
                    provs.push(self.absence(MISSING_PARAMETER, &format!("{reference}.{name}")));
                }
            }
        }
        let read = self.arena.operation(Symbol::new("collect"), Some(span), &provs);
        self.enter(Control::Collector, read, Some(span));
    }

    /// A virtual resource becomes real; it exists because of the collector, too.
    fn make_real(&mut self, id: ResourceId, span: Span) {
        if !self.resources[id].virtual_ {
            return;
        }
        self.resources[id].virtual_ = false;
        if self.arena.enabled() {
            let known = self.resources[id].prov;
            let control = self.frame.control;
            let prov = self.arena.operation(Symbol::new("realize"), Some(span), &[known, control]);
            self.resources[id].prov = prov;
        }
    }

    /// The resources that `realize` names, as far as they are there.
    fn realize(&mut self, at: usize) -> Result<Vec<ResourceId>, Stop> {
        let Selects::Fixed(references) = &mut self.collectors[at].selects else {
            never!("realizes by something else than references");
            return Ok(Vec::new());
        };
        if references.is_empty() {
            return Ok(Vec::new());
        }
        let references = std::mem::take(references);
        let mut new = Vec::new();
        let mut missing = Vec::new();
        let mut cause = Vec::new();
        for (reference, prov) in references {
            match self.find_reference(&reference)? {
                Some(id) => {
                    cause.push(prov);
                    if self.collectors[at].seen.insert(id) {
                        new.push(id);
                    }
                }
                None => missing.push((reference, prov)),
            }
        }
        if let Selects::Fixed(references) = &mut self.collectors[at].selects {
            *references = missing;
        }
        self.take_up(at, &new, &cause)?;
        Ok(new)
    }

    /// The error for resources that `realize` names and nothing declares.
    pub(crate) fn refuse_missing_realizations(&self) -> Result<(), Stop> {
        let mut names = Vec::new();
        let mut first = None;
        for collector in &self.collectors {
            if let Selects::Fixed(references) = &collector.selects
                && !references.is_empty()
            {
                names.extend(references.iter().map(|(name, _)| name.clone()));
                first.get_or_insert(collector.span);
            }
        }
        match first {
            None => Ok(()),
            Some(first) => Err(FailureKind::DanglingReference(DanglingReference::Realized(names)).at(first)),
        }
    }

    fn satisfies(&self, id: ResourceId, query: &Query) -> bool {
        match query {
            Query::And(left, right) => self.satisfies(id, left) && self.satisfies(id, right),
            Query::Or(left, right) => self.satisfies(id, left) || self.satisfies(id, right),
            Query::Tagged { tags, .. } => self.is_tagged(id, tags),
            Query::Equal { name, value, .. } => {
                let actual = self.queried(id, *name);
                match &actual.data {
                    Data::Array(items) if matches!(value.data, Data::Type(_)) => {
                        items.iter().any(|item| ops::equals(item, value))
                    }
                    Data::Array(_) => ops::contained(value, &actual).is_ok_and(|found| found.matched),
                    _ => ops::equals(&actual, value),
                }
            }
            Query::NotEqual { name, value } => !ops::equals(&self.queried(id, *name), value),
        }
    }

    /// What a query sees under a name: the title, or a parameter.
    fn queried(&self, id: ResourceId, name: Symbol) -> Value {
        let resource = &self.resources[id];
        if name.as_str() == "title" {
            return Value::string(resource.title.clone());
        }
        resource.get(name).cloned().unwrap_or(Value::UNDEF)
    }
}

/// What came of a collector.
#[derive(Debug, Clone)]
pub struct Collected {
    pub span: Span,
    /// As users write it: `File`.
    pub type_name: Symbol,
    /// How many resources it found.
    pub count: usize,
    /// Whether it sets parameters of what it finds.
    pub overrides: bool,
    /// The title that it asks for, where the manifest spells it out.
    pub title: Option<String>,
}

impl Compiler<'_> {
    /// The collectors of what other nodes export: without a database, they find nothing.
    pub(crate) fn exported_collectors(&self) -> Vec<crate::CompileGap> {
        let exported = self.collectors.iter().filter(|one| matches!(one.selects, Selects::Exported));
        let gap = |one: &Collector| crate::CompileGap {
            kind: crate::CompileGapKind::OtherNodes,
            span: Some(one.span),
        };
        exported.map(gap).collect()
    }

    /// What came of every collector of the catalog's own resources.
    pub(crate) fn collected(&self) -> Vec<Collected> {
        let ends = self.collectors.iter().filter_map(|collector| {
            let Selects::Query { type_name, query } = &collector.selects else { return None };
            Some(Collected {
                span: collector.span,
                type_name: *type_name,
                count: collector.collected.len(),
                overrides: !collector.overrides.is_empty(),
                title: query.as_ref().and_then(Query::literal_title),
            })
        });
        ends.collect()
    }
}

impl Query {
    /// The title that a resource must have, where the manifest spells it out.
    fn literal_title(&self) -> Option<String> {
        match self {
            Self::And(left, right) => left.literal_title().or_else(|| right.literal_title()),
            Self::Equal { name, value, literal: true } if name.as_str() == "title" => {
                Some(to_text(value).to_string())
            }
            _ => None,
        }
    }

    /// The attributes that the condition looks at.
    fn reads(&self, names: &mut Vec<Symbol>) {
        match self {
            Self::And(left, right) | Self::Or(left, right) => {
                left.reads(names);
                right.reads(names);
            }
            Self::Tagged { .. } => names.push(Symbol::new("tag")),
            Self::Equal { name, .. } | Self::NotEqual { name, .. } => names.push(*name),
        }
    }

    /// What the condition was computed from.
    fn provs(&self) -> Vec<Prov> {
        match self {
            Self::And(left, right) | Self::Or(left, right) => {
                let mut provs = left.provs();
                provs.extend(right.provs());
                provs
            }
            Self::Tagged { prov, .. } => vec![*prov],
            Self::Equal { value, .. } | Self::NotEqual { value, .. } => vec![value.prov],
        }
    }
}
