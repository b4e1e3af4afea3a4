//! Relationships: `a -> b`, `a ~> b`. They are noted when they are met, and become parameters at the end.

use std::sync::Arc;

use rustc_hash::FxHashSet;
use setpoint_provenance::Prov;
use setpoint_puppet_functions::{DanglingReference, FailureKind, IllegalConstruct, Stop};
use setpoint_puppet_syntax::ast::ArrowOp;
use setpoint_puppet_values::{Data, Type, Value, infer};
use setpoint_source::{Span, Symbol};

use crate::collectors::CollectorId;
use crate::compiler::Compiler;
use crate::declare::reference_parts;
use crate::resources::ResourceId;
use crate::trace::ArrowTrace;

/// One side of an arrow.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Operand {
    /// The reference as the catalog writes it, and where its value came from.
    Reference(Arc<str>),
    Collector(CollectorId),
}

#[derive(Debug)]
pub(crate) struct Relationship {
    source: Operand,
    target: Operand,
    /// `before` or `notify`.
    parameter: &'static str,
    span: Span,
    prov: Prov,
}

impl Compiler<'_> {
    /// Notes the relationships of an arrow; the result is what a chain goes on with.
    pub(crate) fn relate(
        &mut self,
        left: Vec<Operand>,
        right: Vec<Operand>,
        op: ArrowOp,
        prov: Prov,
        span: Span,
    ) -> Vec<Operand> {
        let (left, right) = (unique(left), unique(right));
        let reversed = matches!(op, ArrowOp::After | ArrowOp::NotifiedBy);
        let parameter = match op {
            ArrowOp::Before | ArrowOp::After => "before",
            ArrowOp::Notify | ArrowOp::NotifiedBy => "notify",
        };
        let (sources, targets) = if reversed { (&right, &left) } else { (&left, &right) };
        let name = Symbol::new(parameter);
        for source in sources {
            if self.arena.enabled() {
                let source = match source {
                    Operand::Reference(text) => text.split('[').next().map(Symbol::new),
                    Operand::Collector(_) => None,
                };
                self.trace.arrows.push(ArrowTrace { parameter: name, source, prov, span });
            }
            for target in targets {
                self.relationships.push(Relationship {
                    source: source.clone(),
                    target: target.clone(),
                    parameter,
                    span,
                    prov,
                });
            }
        }
        if right.is_empty() {
            return left;
        }
        if let [Operand::Collector(collector)] = right.as_slice() {
            self.collectors[collector.index()].if_empty = left;
        }
        right
    }

    /// The operands that a value stands for.
    pub(crate) fn operands(
        &mut self,
        value: &Value,
        span: Span,
        found: &mut Vec<Operand>,
    ) -> Result<(), Stop> {
        match &value.data {
            Data::Array(items) => items.iter().try_for_each(|item| self.operands(item, span, found)),
            Data::Type(of) => self.operand(of, span).map(|operand| found.push(operand)),
            Data::String(text) => {
                let of = self.type_from_text(text, span)?;
                self.operand(&of, span).map(|operand| found.push(operand))
            }
            Data::Opaque(unknown) => Err(FailureKind::undecided(unknown).at(span)),
            _ => Err(illegal_operand(with_article(&infer(value).generalize().to_string()), span)),
        }
    }

    fn operand(&mut self, of: &Type, span: Span) -> Result<Operand, Stop> {
        let text = reference_parts(of).is_some().then(|| self.reference_text(of)).flatten();
        text.map(|text| Operand::Reference(text.into()))
            .ok_or_else(|| illegal_operand(format!("something of type {of}"), span))
    }

    /// Turns all relationships into `before` and `notify` of their sources.
    pub(crate) fn evaluate_relationships(&mut self) -> Result<(), Stop> {
        for relationship in std::mem::take(&mut self.relationships) {
            let sources = self.resolve(&relationship.source, true);
            let targets = self.resolve(&relationship.target, false);
            for source in &sources {
                for target in &targets {
                    self.make_relationship(source, target, &relationship)?;
                }
            }
        }
        Ok(())
    }

    /// The references of an operand. A collector on the left that found nothing stands for what is left of it.
    fn resolve(&self, operand: &Operand, left: bool) -> Vec<Arc<str>> {
        match operand {
            Operand::Reference(text) => vec![Arc::clone(text)],
            Operand::Collector(id) => {
                let collector = &self.collectors[id.index()];
                if !collector.collected.is_empty() || !left {
                    let references = collector.collected.iter();
                    return references.map(|id| self.resources[*id].reference().into()).collect();
                }
                match collector.if_empty.as_slice() {
                    [Operand::Collector(other)] => self.resolve(&Operand::Collector(*other), true),
                    operands => operands.iter().flat_map(|operand| self.resolve(operand, true)).collect(),
                }
            }
        }
    }

    fn make_relationship(&mut self, source: &str, target: &str, from: &Relationship) -> Result<(), Stop> {
        let missing = |what| Err(FailureKind::DanglingReference(what).at(from.span));
        let Some(resource) = self.find_reference(source)? else {
            let (missing_one, target) = (source.to_owned(), target.to_owned());
            return missing(DanglingReference::RelationshipSource { missing: missing_one, target });
        };
        if self.find_reference(target)?.is_none() {
            let (missing_one, source) = (target.to_owned(), source.to_owned());
            return missing(DanglingReference::RelationshipTarget { missing: missing_one, source });
        }
        self.append_relationship(resource, from, target)
    }

    /// The other resources that hold the same list. Puppet gives the titles of one declaration one list, and an arrow from one of
    /// them adds to the list of all: `package { ['a', 'b']: before => [X] }` and `Package['a'] -> Y` put Y into both.
    fn sharing_parameter(&self, id: ResourceId, name: Symbol) -> Vec<ResourceId> {
        let own = &self.resources[id];
        let Some(parameter) = own.parameters.get(name) else { return Vec::new() };
        let Data::Array(items) = &parameter.value.data else { return Vec::new() };
        if Arc::strong_count(items) < 2 || parameter.span.is_none() {
            return Vec::new();
        }
        // The titles of a declaration follow each other.
        self.resources.run_around(id, |other| {
            other.scope == own.scope
                && other.type_name == own.type_name
                && other.parameters.get(name).is_some_and(|other| {
                    let is_same_list =
                        matches!(&other.value.data, Data::Array(list) if Arc::ptr_eq(list, items));
                    is_same_list && other.span == parameter.span
                })
        })
    }

    fn append_relationship(&mut self, id: ResourceId, from: &Relationship, target: &str) -> Result<(), Stop> {
        let name = Symbol::new(from.parameter);
        let prov = if self.arena.enabled() {
            self.arena.operation(Symbol::new("arrow"), Some(from.span), &[from.prov])
        } else {
            Prov::NONE
        };
        let new = Value::string(target).with(prov);
        let siblings = self.sharing_parameter(id, name);
        let known = self.resources[id].parameters.get_mut(name);
        if let Some(parameter) = known
            && let Data::Array(items) = &mut parameter.value.data
        {
            Arc::make_mut(items).push(new);
            let items = Arc::clone(items);
            for sibling in siblings {
                if let Some(parameter) = self.resources[sibling].parameters.get_mut(name) {
                    parameter.value.data = Data::Array(Arc::clone(&items));
                }
            }
            return Ok(());
        }
        let mut values: Vec<Value> = known_value(&self.resources[id], name).into_iter().collect();
        values.push(new);
        let control = std::mem::replace(&mut self.frame.control, from.prov);
        let result = self.set_parameter(id, name, Value::array(values));
        self.frame.control = control;
        result
    }
}

pub(crate) fn illegal_operand(operand: String, span: Span) -> Stop {
    FailureKind::IllegalConstruct(IllegalConstruct::RelationshipWith { operand }).at(span)
}

fn known_value(resource: &crate::resources::Resource, name: Symbol) -> Option<Value> {
    resource.get(name).filter(|value| !value.is_undef()).cloned()
}

/// Each operand once, in order.
fn unique(operands: Vec<Operand>) -> Vec<Operand> {
    let mut seen = FxHashSet::default();
    operands.into_iter().filter(|operand| seen.insert(operand.clone())).collect()
}

pub(crate) fn with_article(noun: &str) -> String {
    let vowel = noun.starts_with(['A', 'E', 'I', 'O', 'U', 'a', 'e', 'i', 'o', 'u']);
    format!("{} {noun}", if vowel { "an" } else { "a" })
}
