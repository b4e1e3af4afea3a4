//! Resource expressions, defaults, overrides and collectors.

use std::sync::Arc;

use rustc_hash::FxHashSet;
use setpoint_provenance::{Control, Prov};
use setpoint_puppet_functions::Stop;
use setpoint_puppet_syntax::ast::{
    Attribute, AttributeKind, BinaryOp, CollectorForm, Expr, ExprKind, ResourceBody, ResourceForm,
};
use setpoint_puppet_values::types::ResourceType as Reference;
use setpoint_puppet_values::{Data, Type, Value, infer, to_text};
use setpoint_source::{Range, Rule, Span, Symbol};

use super::operators::undecided;
use super::unparenthesized;
use crate::collectors::{CollectorId, Query};
use crate::compiler::Compiler;
use crate::declare::Declaration;
use crate::overrides::Override;
use crate::relationships::with_article;
use crate::resources::{Parameter, ResourceId};
use crate::rules;
use crate::trace::OverrideTrace;

/// The titles of one resource expression.
type Titles = FxHashSet<Arc<str>>;

/// A body with its titles and parameters evaluated.
struct Body {
    titles: Vec<Value>,
    parameters: Vec<Parameter>,
    splats: Vec<Prov>,
}

impl Compiler<'_> {
    /// A resource expression whose value nobody uses.
    pub(super) fn evaluate_resource_statement(&mut self, expression: &Expr) -> Result<(), Stop> {
        self.depth += 1;
        let result = self.declare_resources(expression);
        self.depth -= 1;
        match result {
            Err(Stop::Error(diagnostic)) if diagnostic.span.is_none() => {
                Err(self.placed(diagnostic, expression))
            }
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
        let ExprKind::Resource { form, type_name, bodies } = &expression.kind else { return Ok(Vec::new()) };
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
            let has_default = titles.iter().any(|title| matches!(title.data, Data::Default));
            if has_default && default.replace(at).is_some() {
                let message = "The title 'default' has already been used in this resource expression";
                return Err(rules::stop(Rule::InvalidTitle, message, span));
            }
            let titles = titles.into_iter().filter(|title| !matches!(title.data, Data::Default)).collect();
            let (parameters, splats) = self.evaluate_attributes(&body.attributes)?;
            if let Some(twice) = repeated(&parameters) {
                return Err(rules::fail(format!("The attribute '{twice}' has already been set"), span));
            }
            evaluated.push(Body { titles, parameters, splats });
        }
        let defaults: Vec<Parameter> =
            default.and_then(|at| evaluated.get(at)).map(|body| body.parameters.clone()).unwrap_or_default();
        let default_splats: Vec<Prov> =
            default.and_then(|at| evaluated.get(at)).map(|body| body.splats.clone()).unwrap_or_default();
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
            if body.titles.is_empty() {
                continue;
            }
            body.splats.extend(&default_splats);
            let declaration =
                Declaration { form, titles: body.titles, parameters, splats: body.splats, span };
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
                let message = format!(
                    "Illegal Resource Type expression, expected result to be a type name, or untitled Resource, got {actual}"
                );
                Err(rules::fail(message, self.place(expression)))
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
        let bad = |message: String| rules::stop(Rule::InvalidTitle, message, place);
        if value.is_undef() {
            return Err(bad("Missing title. The title expression resulted in undef".to_owned()));
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
                Data::Undef => {
                    let message = format!(
                        "Missing title at index {index}. The title expression resulted in an undef title"
                    );
                    return Err(bad(message));
                }
                Data::String(text) if text.is_empty() => {
                    let message = format!(
                        "Empty string title at {index}. Title strings must have a length greater than zero."
                    );
                    return Err(bad(message));
                }
                Data::String(text) => {
                    if several && !seen.insert(Arc::clone(text)) {
                        let message =
                            format!("The title '{text}' has already been used in this resource expression");
                        return Err(rules::stop(Rule::InvalidTitle, message, span));
                    }
                }
                Data::Opaque(unknown) => return Err(undecided(&unknown.reason, place)),
                _ => {
                    let actual = infer(title).generalize();
                    let message =
                        format!("Illegal title type at index {index}. Expected String, got {actual}");
                    return Err(bad(message));
                }
            }
        }
        Ok(titles)
    }

    /// Attributes as parameters; a splat gives one per entry of its hash. The second result is what decided which
    /// entries there are.
    pub(super) fn evaluate_attributes(
        &mut self,
        attributes: &[Attribute],
    ) -> Result<(Vec<Parameter>, Vec<Prov>), Stop> {
        let mut parameters = Vec::with_capacity(attributes.len());
        let mut splats = Vec::new();
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
                    let Data::Hash(entries) = &value.data else {
                        let actual = infer(&value).generalize();
                        let message = format!("Expected value of type Hash, got {actual}");
                        return Err(rules::fail(message, self.place(expression)));
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
        Ok((parameters, splats))
    }

    /// A resource keeps values, not ways to compute them.
    fn refuse_iterator(&self, value: &Value, attribute: &Attribute) -> Result<(), Stop> {
        if has_iterator(value) {
            return Err(rules::fail("Use of an Iterator is not supported here", self.span(attribute.range)));
        }
        Ok(())
    }

    fn parameter(&self, name: Symbol, value: Value, range: Range, append: bool) -> Parameter {
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
            _ => {
                let actual = infer(&value).generalize();
                let message = format!(
                    "Illegal Resource Type expression, expected result to be a type name, or untitled Resource, got {actual}"
                );
                return Err(rules::fail(message, self.place(type_name)));
            }
        };
        let (parameters, splats) = self.evaluate_attributes(attributes)?;
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
        let (parameters, splats) = self.evaluate_attributes(attributes)?;
        let mut references = Vec::new();
        flatten(&value, &mut references);
        let target_prov = self.under_control(value.prov);
        let source = self.scopes[self.frame.scope].source;
        let span = self.span(expression.range);
        for reference in references {
            let Data::Type(Type::Resource(Some(of))) = &reference.data else {
                let actual = match &reference.data {
                    Data::Type(of) => format!("{of}-Type"),
                    _ => infer(&reference).generalize().to_string(),
                };
                let message = format!("Resource Override can only operate on resources, got: {actual}");
                return Err(rules::fail(message, None));
            };
            let Some(title) = of.title.as_deref() else {
                let name = of.name.to_lowercase();
                let message = format!("No title provided and :{name} is not a valid resource reference");
                return Err(rules::fail(message, None));
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
            return Err(rules::fail("This is not a collector", None));
        };
        let ExprKind::TypeName(name) = &type_name.kind else {
            return Err(rules::fail("A collector begins with the name of a type", None));
        };
        let span = self.place(expression);
        if *form == CollectorForm::Exported {
            let message = "You cannot collect exported resources without storeconfigs being set; the collection will be ignored";
            self.warn(message.to_owned(), Some(span));
        }
        let lower = name.to_lowercase();
        if lower == "class" {
            return Err(rules::fail("Classes cannot be collected", None));
        }
        if self.find_resource_type(&lower)?.is_none() {
            let message = format!("Resource type {lower} doesn't exist");
            return Err(self.missing_type(message, &lower, None));
        }
        let (overrides, splats) = self.evaluate_attributes(attributes)?;
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
            let message = "A query is made of comparisons with == and !=, joined by and and or";
            return Err(rules::fail(message, self.place(query)));
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
                if *op == BinaryOp::NotEqual {
                    return Ok(Some(Query::NotEqual { name, value }));
                }
                if name.as_str() == "tag" {
                    return tag_query(&value).map(Some);
                }
                let literal = matches!(unparenthesized(right).kind, ExprKind::String(_));
                Ok(Some(Query::Equal { name, value, literal }))
            }
            _ => {
                let message = "Only the operators == and !=, and and and or, can be used in a query";
                Err(rules::fail(message, self.place(query)))
            }
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
            return Err(rules::fail("Cannot transform a number to a tag", None));
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
