//! EPP templates.

use std::sync::Arc;

use setpoint_provenance::{Control, Leaf, LeafKind, Prov};
use setpoint_puppet_functions::{Callee, Failure, FailureKind, IllegalArgument, Stop};
use setpoint_puppet_syntax::ast::{Expr, ExprKind, Parameter};
use setpoint_puppet_syntax::parse_epp;
use setpoint_puppet_values::types::{StructElement, validate_parameters};
use setpoint_puppet_values::{Data, Hash, Key, Type, Value, to_text};
use setpoint_source::{Range, Severity, Span, Symbol, never};

use super::resources::described;
use crate::compiler::Compiler;
use crate::scope::{Local, ParameterScope, ScopeId};

/// What a template has written so far.
#[derive(Debug, Default)]
pub(crate) struct Epp {
    text: String,
    parts: Vec<Prov>,
    /// What decided about which parts there are.
    decided: Vec<Prov>,
    is_sensitive: bool,
    /// Why a part of the text is not known.
    unknown: Option<Arc<str>>,
}

impl Epp {
    pub(crate) fn note(&mut self, condition: Prov) {
        if !condition.is_none() && self.decided.last() != Some(&condition) {
            self.decided.push(condition);
        }
    }
}

impl Compiler<'_> {
    /// Renders a template. One in a file sees the variables of the top or node scope; inline text sees all.
    pub(crate) fn render_template(
        &mut self,
        name: &str,
        text: &str,
        given: Option<&Value>,
        inline: bool,
        span: Span,
    ) -> Result<Value, Stop> {
        let file = self.environment.source_of(name, text);
        let parse = parse_epp(file, text);
        let function = if inline { "inline_epp" } else { "epp" };
        if let Some(first) = parse.diagnostics.iter().find(|found| found.severity == Severity::Error) {
            let invalid = FailureKind::InvalidTemplate { function, error: Box::new(first.clone()) };
            let mut failure = Failure::from(invalid);
            failure.span = first.span;
            failure.add_label(span, "rendered here");
            return Err(failure.into());
        }
        let [Expr { kind: ExprKind::Epp { parameters, body }, .. }] = parse.program.body.as_slice() else {
            let what = "a template without errors is no EPP expression";
            never!("{what}: {name}");
            return Err(FailureKind::BrokenInvariant(what).at(span));
        };
        let (parameters, body) = (parameters.as_deref(), body.as_slice());
        let arguments = template_arguments(function, given, span)?;
        let outer = self.frame;
        let mut taken = None;
        if !inline {
            let global = self.global_scope(outer.scope);
            self.frame.scope = global;
            taken = Some((global, self.scopes[global].take_locals()));
        }
        self.frame.file = file;
        let scope = self.frame.scope;
        let level = self.scopes[scope].level();
        self.epp.push(Epp::default());
        let has_arguments = given.is_some();
        let result = self.within_function(|compiler| {
            compiler.run_template(parameters, body, arguments, has_arguments, name)
        });
        let written = self.epp.pop().unwrap_or_default();
        self.scopes[scope].truncate(level);
        if let Some((global, locals)) = taken {
            self.scopes[global].restore_locals(locals);
        }
        self.frame = outer;
        result.map_err(|stop| rendered_here(stop, span))?;
        Ok(self.template_value(written, name, span))
    }

    fn template_value(&mut self, written: Epp, name: &str, span: Span) -> Value {
        let prov = if self.arena.enabled() {
            let text = self.arena.operation(Symbol::new("epp"), Some(span), &written.parts);
            if written.decided.is_empty() {
                text
            } else {
                let decided = self.arena.operation(Symbol::new(name), Some(span), &written.decided);
                self.arena.under(text, Control::Condition, decided, None)
            }
        } else {
            Prov::NONE
        };
        let value = match written.unknown {
            Some(reason) => Value::unknown(reason, Type::String(None)),
            None => Value::string(written.text),
        };
        let value = value.with(prov);
        if written.is_sensitive { Value::new(Data::Sensitive(Arc::new(value))).with(prov) } else { value }
    }

    /// The node or top scope that encloses a scope.
    fn global_scope(&self, scope: ScopeId) -> ScopeId {
        let mut at = scope;
        loop {
            let known = &self.scopes[at];
            if matches!(known.kind, crate::scope::ScopeKind::Top | crate::scope::ScopeKind::Node) {
                return at;
            }
            match known.inherited.or(known.enclosing) {
                Some(next) => at = next,
                None => return ScopeId::TOP,
            }
        }
    }

    fn run_template(
        &mut self,
        parameters: Option<&[Parameter]>,
        body: &[Expr],
        arguments: Hash,
        were_given: bool,
        name: &str,
    ) -> Result<(), Stop> {
        let enforced = parameters.is_some() || !were_given;
        let variables = if enforced {
            self.bind_by_name(parameters.unwrap_or(&[]), &arguments, name)?
        } else {
            arguments
                .into_iter()
                .filter_map(|(key, value)| Some((Symbol::new(key.as_str()?), value)))
                .collect()
        };
        self.scopes[self.frame.scope].push(Local::Variables(variables));
        match self.evaluate_body(body) {
            Err(Stop::Next(_) | Stop::Return(_)) => Ok(()),
            result => result,
        }
    }

    fn bind_by_name(
        &mut self,
        parameters: &[Parameter],
        arguments: &Hash,
        name: &str,
    ) -> Result<Vec<(Symbol, Value)>, Stop> {
        let scope = self.frame.scope;
        let mut elements = Vec::with_capacity(parameters.len());
        for parameter in parameters {
            let of = match &parameter.type_expr {
                Some(expression) => self.evaluate_type(expression)?,
                None => Type::Any,
            };
            elements.push(if parameter.default.is_some() {
                StructElement::optional(parameter.name.as_str(), of)
            } else {
                StructElement::required(parameter.name.as_str(), of)
            });
        }
        let level = self.scopes[scope].level();
        self.scopes[scope].push(Local::Parameters(ParameterScope {
            callee: Callee::Code(name.into()),
            current: None,
            parameters: parameters.iter().map(|parameter| (parameter.name, None)).collect(),
        }));
        for (key, value) in arguments {
            if let Some(key) = key.as_str()
                && !value.is_undef()
            {
                self.scopes[scope].set_parameter(Symbol::new(key), value.clone());
            }
        }
        for parameter in parameters {
            let given = arguments.get(&Key::from(parameter.name.as_str()));
            if given.is_some_and(|value| !value.is_undef()) {
                continue;
            }
            let value = match &parameter.default {
                Some(default) => {
                    self.scopes[scope].begin_default(parameter.name);
                    let value = self.evaluate_guarded(default)?;
                    match given {
                        Some(given) if self.arena.enabled() => {
                            let prov = self.arena.under(value.prov, Control::Selection, given.prov, None);
                            value.with(prov)
                        }
                        _ => value,
                    }
                }
                None if given.is_some() => Value::UNDEF,
                None => continue,
            };
            self.scopes[scope].set_parameter(parameter.name, value);
        }
        let variables = self.scopes[scope].finish_parameters(level);
        let given: Hash =
            variables.iter().map(|(name, value)| (Key::from(name.as_str()), value.clone())).collect();
        validate_parameters("lambda", &elements, &given).map_err(|mismatch| {
            FailureKind::of_parameters(Callee::Code("lambda".into()), mismatch).unplaced()
        })?;
        Ok(variables)
    }

    /// Nobody knows what the template writes.
    pub(super) fn forget_template(&mut self, reason: &Arc<str>) {
        if let Some(written) = self.epp.last_mut() {
            written.unknown = Some(Arc::clone(reason));
        }
    }

    pub(super) fn render_text(&mut self, text: &str, range: Range) -> Value {
        let span = self.span(range);
        let leaf = self.arena.leaf(Leaf { kind: LeafKind::Template, name: None, span: Some(span) });
        if let Some(written) = self.epp.last_mut() {
            written.text.push_str(text);
            written.parts.push(leaf);
            written.note(self.frame.control);
        }
        Value::UNDEF
    }

    pub(super) fn render_expression(&mut self, inner: &Expr) -> Result<Value, Stop> {
        let value = self.evaluate(inner)?;
        let (text, is_sensitive) = match &value.data {
            Data::Sensitive(secret) => (to_text(secret), true),
            _ => (to_text(&value), false),
        };
        if let Some(written) = self.epp.last_mut() {
            written.text.push_str(&text);
            written.is_sensitive |= is_sensitive;
            if let Some(part) = value.unknown_part() {
                written.unknown = Some(Arc::clone(&part.reason));
            }
            written.parts.push(value.prov);
            written.note(self.frame.control);
        }
        Ok(Value::UNDEF)
    }
}

fn rendered_here(stop: Stop, span: Span) -> Stop {
    match stop {
        Stop::Error(mut failure) => {
            match failure.span {
                None => failure.span = Some(span),
                Some(_) => failure.add_label(span, "rendered here"),
            }
            Stop::Error(failure)
        }
        stop => stop,
    }
}

fn template_arguments(function: &'static str, given: Option<&Value>, span: Span) -> Result<Hash, Stop> {
    match given.map(|value| &value.data) {
        None => Ok(Hash::default()),
        Some(Data::Hash(entries)) => Ok(Hash::clone(entries)),
        Some(_) => {
            let actual = given.map_or_else(String::new, described);
            let illegal = IllegalArgument::TemplateArguments { function, actual };
            Err(FailureKind::IllegalArgument(illegal).at(span))
        }
    }
}
