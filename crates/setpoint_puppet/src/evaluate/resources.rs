//! Resource expressions, defaults, overrides and collectors.

use std::sync::Arc;

use rustc_hash::FxHashSet;
use setpoint_provenance::{Control, Prov};
use setpoint_puppet_functions::{FailureKind, IllegalConstruct, InvalidTitle, Stop, TypeUse};
use setpoint_puppet_syntax::ast::{
    Attribute, AttributeKind, BinaryOp, CollectorForm, Expr, ExprKind, ResourceBody, ResourceForm,
};
use setpoint_puppet_values::types::ResourceType as Reference;
use setpoint_puppet_values::{Data, Type, Value, infer, to_text};
use setpoint_source::{Range, Span, Symbol, never};

use super::operators::undecided;
use super::{illegal, unparenthesized};
use crate::collectors::{CollectorId, Query};
use crate::compiler::Compiler;
use crate::declare::Declaration;
use crate::overrides::Override;
use crate::relationships::with_article;
use crate::resources::{Parameter, ResourceId};
use crate::trace::OverrideTrace;

/// The titles of one resource expression.
type Titles = FxHashSet<Arc<str>>;

/// A body with its titles and parameters evaluated.
struct Body {
    titles: Vec<Value>,
    parameters: Vec<Parameter>,
    splats: Vec<Prov>,
    unknown: Option<Arc<str>>,
}

/// Attributes as parameters; a splat gives one per entry of its hash.
pub(super) struct Attributes {
    pub(super) parameters: Vec<Parameter>,
    /// What decided which entries hashes have.
    pub(super) splats: Vec<Prov>,
    /// Why nobody knows which others there are.
    unknown: Option<Arc<str>>,
}

impl Compiler<'_> {
    /// A resource expression whose value nobody uses.
    pub(crate) fn evaluate_resource_statement(&mut self, expression: &Expr) -> Result<(), Stop> {
        self.depth += 1;
        let result = self.declare_resources(expression);
        self.depth -= 1;
        match result {
            Err(Stop::Error(failure)) => Err(self.placed(failure, expression)),
            result => result.map(|_| ()),
        }
    }

    /// A resource expression; its value is an array of references.
    pub(super) fn evaluate_resource_value(&mut self, expression: &Expr) -> Result<Value, Stop> {
        let declared = self.declare_resources(expression)?;
        let references: Vec<Value> = declared.into_iter().map(|id| self.reference(id)).collect();
        let prov =
            self.combine(self.words.array, expression.range, references.iter().map(|value| value.prov));
        Ok(Value::array(references).with(prov))
    }

    pub(crate) fn reference(&self, id: ResourceId) -> Value {
        let resource = &self.resources[id];
        let of = if resource.is_class() {
            Type::class(&resource.title)
        } else {
            let title = Some(resource.title.clone());
            Type::Resource(Some(Reference { name: resource.type_name.as_str().into(), title }.into()))
        };
        Value::new(Data::Type(of)).with(resource.prov)
    }

    fn declare_resources(&mut self, expression: &Expr) -> Result<Vec<ResourceId>, Stop> {
        let ExprKind::Resource { form, type_name, bodies } = &expression.kind else {
            // Both callers ask for the kind before.
            never!("declares resources by another expression");
            return Ok(Vec::new());
        };
        let (name, named_by) = self.resource_type_name(type_name)?;
        if named_by.is_none() {
            return self.declare_bodies(*form, name, bodies, expression);
        }
        self.trace.dynamic.push(named_by);
        let outer = self.enter(Control::Selection, named_by, None);
        let declared = self.declare_bodies(*form, name, bodies, expression);
        self.frame.control = outer;
        declared
    }

    fn declare_bodies(
        &mut self,
        form: ResourceForm,
        name: Symbol,
        bodies: &[ResourceBody],
        expression: &Expr,
    ) -> Result<Vec<ResourceId>, Stop> {
        let span = self.span(expression.range);
        if form == ResourceForm::Exported {
            let message =
                "You cannot collect exported resources without storeconfigs being set; the export is ignored";
            self.warn(message.to_owned(), Some(span));
        }
        let mut evaluated = Vec::with_capacity(bodies.len());
        let mut default: Option<usize> = None;
        let mut seen = Titles::default();
        for (at, body) in bodies.iter().enumerate() {
            let titles = self.evaluate_titles(body, bodies.len() > 1, &mut seen, span)?;
            let defaults = titles.iter().filter(|title| matches!(title.data, Data::Default)).count();
            if defaults > 1 || defaults == 1 && default.replace(at).is_some() {
                return Err(FailureKind::InvalidTitle(InvalidTitle::SecondDefault).at(span));
            }
            let titles = titles.into_iter().filter(|title| !matches!(title.data, Data::Default)).collect();
            let Attributes { parameters, splats, unknown } = self.evaluate_attributes(&body.attributes)?;
            if let Some(twice) = repeated(&parameters) {
                return Err(FailureKind::IllegalConstruct(IllegalConstruct::AttributeTwice(twice)).at(span));
            }
            evaluated.push(Body { titles, parameters, splats, unknown });
        }
        let defaults: Vec<Parameter> =
            default.and_then(|at| evaluated.get(at)).map(|body| body.parameters.clone()).unwrap_or_default();
        let default_splats: Vec<Prov> =
            default.and_then(|at| evaluated.get(at)).map(|body| body.splats.clone()).unwrap_or_default();
        let default_unknown = default.and_then(|at| evaluated.get(at)).and_then(|body| body.unknown.clone());
        let mut declared = Vec::new();
        for mut body in evaluated {
            let mut parameters =
                if defaults.is_empty() { body.parameters } else { merged(&defaults, body.parameters) };
            // A default counts because no hash of the body has such a parameter.
            let decisive = if defaults.is_empty() || !self.arena.enabled() { &[][..] } else { &body.splats };
            for splat in decisive {
                for parameter in &mut parameters {
                    let prov = self.arena.under(parameter.value.prov, Control::Selection, *splat, None);
                    parameter.value.prov = prov;
                }
            }
            body.splats.extend(&default_splats);
            let unknown = body.unknown.or_else(|| default_unknown.clone());
            let declaration =
                Declaration { form, titles: body.titles, parameters, splats: body.splats, unknown, span };
            declared.extend(self.declare(name, declaration)?);
        }
        Ok(declared)
    }

    /// The name of the type that a resource expression begins with, and what it was made of if it is not written out.
    fn resource_type_name(&mut self, expression: &Expr) -> Result<(Symbol, Prov), Stop> {
        if let ExprKind::Name(name) = &expression.kind {
            return Ok((*name, Prov::NONE));
        }
        let value = self.evaluate(expression)?;
        if let Some(unknown) = value.unknown_part() {
            return Err(undecided(&unknown.reason, self.place(expression)));
        }
        let acceptable = match &expression.kind {
            ExprKind::TypeName(_) => true,
            ExprKind::Access { target, .. } => matches!(target.kind, ExprKind::TypeName(_)),
            _ => false,
        };
        let name = match &value.data {
            Data::Type(Type::Class(None)) => Some("class".to_owned()),
            Data::Type(Type::Resource(Some(of))) if of.title.is_none() => Some(of.name.to_lowercase()),
            _ => None,
        };
        match name {
            Some(name) if acceptable => Ok((Symbol::new(&name), value.prov)),
            _ => {
                let actual = match &value.data {
                    Data::Type(of @ (Type::Class(_) | Type::Resource(_))) if acceptable => of.to_string(),
                    _ => infer(&value).generalize().to_string(),
                };
                let illegal = IllegalConstruct::ResourceType { actual };
                Err(FailureKind::IllegalConstruct(illegal).at(self.place(expression)))
            }
        }
    }

    fn evaluate_titles(
        &mut self,
        body: &ResourceBody,
        several: bool,
        seen: &mut Titles,
        span: Span,
    ) -> Result<Vec<Value>, Stop> {
        let value = self.evaluate(&body.title)?;
        let place = self.place(&body.title);
        let invalid = |what: InvalidTitle| Err(FailureKind::InvalidTitle(what).at(place));
        if value.is_undef() {
            return invalid(InvalidTitle::Undef);
        }
        let mut titles = Vec::with_capacity(1);
        flatten(&value, &mut titles);
        if matches!(value.data, Data::Array(_)) {
            titles = titles.into_iter().map(|title| self.chosen_from(title, value.prov)).collect();
        }
        // Most expressions have one title, which needs no set to be unique.
        let several = several || titles.len() > 1;
        for (index, title) in titles.iter().enumerate() {
            match &title.data {
                Data::Default => {}
                Data::Undef => return invalid(InvalidTitle::UndefAt(index)),
                Data::String(text) if text.is_empty() => return invalid(InvalidTitle::EmptyAt(index)),
                Data::String(text) => {
                    if several && !seen.insert(Arc::clone(text)) {
                        return Err(FailureKind::InvalidTitle(InvalidTitle::Repeated(text.clone())).at(span));
                    }
                }
                Data::Opaque(unknown) => return Err(undecided(&unknown.reason, place)),
                _ => {
                    let actual = infer(title).generalize().to_string();
                    return invalid(InvalidTitle::WrongType { index, actual });
                }
            }
        }
        Ok(titles)
    }

    pub(super) fn evaluate_attributes(&mut self, attributes: &[Attribute]) -> Result<Attributes, Stop> {
        let mut parameters = Vec::with_capacity(attributes.len());
        let mut splats = Vec::new();
        let mut unknown_rest = None;
        for attribute in attributes {
            match &attribute.kind {
                AttributeKind::Set { name, value, .. } => {
                    let value = self.evaluate(value)?;
                    self.refuse_iterator(&value, attribute)?;
                    parameters.push(self.parameter(*name, value, attribute.range, false));
                }
                AttributeKind::Append { name, value, .. } => {
                    let value = self.evaluate(value)?;
                    self.refuse_iterator(&value, attribute)?;
                    parameters.push(self.parameter(*name, value, attribute.range, true));
                }
                AttributeKind::Splat(expression) => {
                    let value = self.evaluate(expression)?;
                    if let Data::Opaque(unknown) = &value.data {
                        let reason =
                            format!("attributes come from a value that is not known: {}", unknown.reason);
                        self.record_unknown(&reason, self.place(expression));
                        unknown_rest = Some(reason.into());
                        continue;
                    }
                    let Data::Hash(entries) = &value.data else {
                        let actual = infer(&value).generalize().to_string();
                        let illegal = IllegalConstruct::SplatOf { actual };
                        return Err(FailureKind::IllegalConstruct(illegal).at(self.place(expression)));
                    };
                    self.refuse_iterator(&value, attribute)?;
                    for (key, entry) in entries.iter() {
                        let name = Symbol::new(&to_text(&key.0));
                        let entry = self.chosen_from(entry.clone(), value.prov);
                        parameters.push(self.parameter(name, entry, attribute.range, false));
                    }
                    let shape = self.arena.shape(value.prov);
                    splats.push(self.under_control(shape));
                }
            }
        }
        Ok(Attributes { parameters, splats, unknown: unknown_rest })
    }

    /// A resource keeps values, not ways to compute them.
    fn refuse_iterator(&self, value: &Value, attribute: &Attribute) -> Result<(), Stop> {
        if has_iterator(value) {
            let span = self.span(attribute.range);
            return Err(FailureKind::IllegalConstruct(IllegalConstruct::Iterator).at(span));
        }
        Ok(())
    }

    fn parameter(&mut self, name: Symbol, value: Value, range: Range, append: bool) -> Parameter {
        if setpoint_catalog::is_secret_name(&name) {
            self.note_secret(&value);
        }
        Parameter {
            name,
            value,
            source: self.scopes[self.frame.scope].source,
            span: Some(self.span(range)),
            append,
            control: self.frame.control,
        }
    }

    /// `File { … }`
    pub(super) fn evaluate_defaults(
        &mut self,
        type_name: &Expr,
        attributes: &[Attribute],
    ) -> Result<Value, Stop> {
        let value = self.evaluate(type_name)?;
        let name = match &value.data {
            Data::Type(Type::Resource(Some(of))) if of.title.is_none() => of.name.to_string(),
            Data::Opaque(unknown) => return Err(undecided(&unknown.reason, self.place(type_name))),
            _ => {
                let actual = infer(&value).generalize().to_string();
                let illegal = IllegalConstruct::ResourceType { actual };
                return Err(FailureKind::IllegalConstruct(illegal).at(self.place(type_name)));
            }
        };
        let Attributes { parameters, splats, .. } = self.evaluate_attributes(attributes)?;
        let displayed = self.type_name(&name.to_lowercase());
        for prov in splats.into_iter().filter(|prov| !prov.is_none()) {
            self.trace.overrides.push(OverrideTrace { type_name: displayed, sets: Vec::new(), prov });
        }
        self.define_defaults(displayed, parameters)?;
        Ok(value)
    }

    /// `File['/a'] { … }`
    pub(super) fn evaluate_override(
        &mut self,
        target: &Expr,
        attributes: &[Attribute],
        expression: &Expr,
    ) -> Result<Value, Stop> {
        let value = self.evaluate(target)?;
        let Attributes { parameters, splats, .. } = self.evaluate_attributes(attributes)?;
        let mut references = Vec::new();
        flatten(&value, &mut references);
        let target_prov = self.under_control(value.prov);
        let source = self.scopes[self.frame.scope].source;
        let span = self.span(expression.range);
        for reference in references {
            if let Data::Opaque(unknown) = &reference.data {
                return Err(FailureKind::undecided(unknown).at(self.place(target)));
            }
            let Data::Type(Type::Resource(Some(of))) = &reference.data else {
                let actual = match &reference.data {
                    Data::Type(of) => format!("{of}-Type"),
                    _ => infer(&reference).generalize().to_string(),
                };
                return Err(illegal(IllegalConstruct::OverrideOf { actual }));
            };
            let Some(title) = of.title.as_deref() else {
                let shown = format!(":{}", of.name.to_lowercase());
                return Err(illegal(IllegalConstruct::UntitledReference { shown }));
            };
            if self.arena.enabled() {
                let type_name = self.type_name(&of.name.to_lowercase());
                let sets = if splats.is_empty() {
                    parameters.iter().map(|parameter| parameter.name).collect()
                } else {
                    Vec::new()
                };
                let provs: Vec<Prov> = splats.iter().copied().chain([target_prov]).collect();
                let prov = self.arena.operation(self.words.resource, Some(span), &provs);
                self.trace.overrides.push(OverrideTrace { type_name, sets, prov });
            }
            let new = Override { parameters: parameters.clone(), source, span };
            self.add_override(&of.name, title, new)?;
        }
        Ok(value)
    }

    /// `File <| … |> { … }`
    pub(super) fn evaluate_collector(&mut self, expression: &Expr) -> Result<CollectorId, Stop> {
        let ExprKind::Collector { form, type_name, query, attributes } = &expression.kind else {
            // Both callers ask for the kind before.
            let what = "an expression is evaluated as a collector and is none";
            never!("{what}");
            return Err(FailureKind::BrokenInvariant(what).unplaced());
        };
        let ExprKind::TypeName(name) = &type_name.kind else {
            return Err(illegal(IllegalConstruct::CollectorWithoutType));
        };
        let span = self.place(expression);
        if *form == CollectorForm::Exported {
            let message = "You cannot collect exported resources without storeconfigs being set; the collection will be ignored";
            self.warn(message.to_owned(), Some(span));
        }
        let lower = name.to_lowercase();
        if lower == "class" {
            return Err(illegal(IllegalConstruct::CollectedClass));
        }
        if self.find_resource_type(&lower)?.is_none() {
            return Err(self.missing_type(&lower, TypeUse::Collected, None));
        }
        let Attributes { parameters: overrides, splats, .. } = self.evaluate_attributes(attributes)?;
        let query = match query {
            Some(query) => self.evaluate_query(query)?,
            None => None,
        };
        if *form == CollectorForm::Exported {
            return Ok(self.add_exported_collector(span));
        }
        let displayed = self.type_name(&lower);
        Ok(self.add_query_collector(displayed, query, overrides, &splats, span))
    }

    /// The condition of a collector, its values evaluated now.
    fn evaluate_query(&mut self, query: &Expr) -> Result<Option<Query>, Stop> {
        let query = unparenthesized(query);
        let ExprKind::Binary { op, left, right, .. } = &query.kind else {
            if matches!(query.kind, ExprKind::Nop) {
                return Ok(None);
            }
            return Err(FailureKind::IllegalConstruct(IllegalConstruct::Query).at(self.place(query)));
        };
        match op {
            BinaryOp::And | BinaryOp::Or => {
                let (Some(left), Some(right)) = (self.evaluate_query(left)?, self.evaluate_query(right)?)
                else {
                    return Ok(None);
                };
                let (left, right) = (Box::new(left), Box::new(right));
                Ok(Some(if *op == BinaryOp::And { Query::And(left, right) } else { Query::Or(left, right) }))
            }
            BinaryOp::Equal | BinaryOp::NotEqual => {
                let name = Symbol::new(&to_text(&self.evaluate(left)?));
                let value = self.evaluate(right)?;
                if let Some(unknown) = value.unknown_part() {
                    return Err(undecided(&unknown.reason, self.place(right)));
                }
                if *op == BinaryOp::NotEqual {
                    return Ok(Some(Query::NotEqual { name, value }));
                }
                if name.as_str() == "tag" {
                    return tag_query(&value).map(Some);
                }
                let literal = matches!(unparenthesized(right).kind, ExprKind::String(_));
                Ok(Some(Query::Equal { name, value, literal }))
            }
            _ => Err(FailureKind::IllegalConstruct(IllegalConstruct::QueryOperator).at(self.place(query))),
        }
    }
}

fn tag_query(value: &Value) -> Result<Query, Stop> {
    let mut names = Vec::new();
    match &value.data {
        Data::Array(items) => names.extend(items.iter().cloned()),
        _ => names.push(value.clone()),
    }
    let mut tags = Vec::with_capacity(names.len());
    for name in names {
        if matches!(name.data, Data::Integer(_) | Data::Float(_)) {
            return Err(illegal(IllegalConstruct::NumberAsTag));
        }
        tags.push(Symbol::new(&to_text(&name).to_lowercase()));
    }
    Ok(Query::Tagged { tags, prov: value.prov })
}

/// What a value is called in messages: `an Integer`.
pub(super) fn described(value: &Value) -> String {
    with_article(&infer(value).generalize().to_string())
}

fn has_iterator(value: &Value) -> bool {
    match &value.data {
        Data::Iterator(_) => true,
        Data::Array(items) => items.iter().any(has_iterator),
        Data::Hash(entries) => entries.iter().any(|(key, entry)| has_iterator(&key.0) || has_iterator(entry)),
        _ => false,
    }
}

fn flatten(value: &Value, into: &mut Vec<Value>) {
    match &value.data {
        Data::Array(items) => items.iter().for_each(|item| flatten(item, into)),
        _ => into.push(value.clone()),
    }
}

/// The first parameter that is set twice.
fn repeated(parameters: &[Parameter]) -> Option<Symbol> {
    let twice = |(at, parameter): (usize, &Parameter)| {
        parameters.iter().take(at).any(|known| known.name == parameter.name).then_some(parameter.name)
    };
    parameters.iter().enumerate().find_map(twice)
}

/// Parameters of a `default:` body, and those of a body, which win.
fn merged(defaults: &[Parameter], own: Vec<Parameter>) -> Vec<Parameter> {
    let mut all = defaults.to_vec();
    for parameter in own {
        match all.iter_mut().find(|known| known.name == parameter.name) {
            Some(known) => *known = parameter,
            None => all.push(parameter),
        }
    }
    all
}
