//! Names of data types: those of Puppet, aliases, and types of resources.

use std::sync::Arc;

use setpoint_provenance::Prov;
use setpoint_puppet_functions::{FailureKind, MisplacedCode, Stop};
use setpoint_puppet_syntax::ast::{Expr, ExprKind, TypeAliasDef};
use setpoint_puppet_syntax::parse_expression;
use setpoint_puppet_values::types::{Alias, ObjectType};
use setpoint_puppet_values::{Data, Type};
use setpoint_source::{Range, Rule, Severity, Span, Symbol};

use super::register::lower;
use crate::compiler::{Compiler, Frame};
use crate::scope::ScopeId;

impl Compiler<'_> {
    /// What a capitalised name means, or nothing if nobody knows it.
    pub(crate) fn find_type(&mut self, name: &str) -> Result<Option<Type>, Stop> {
        let name = name.strip_prefix("::").unwrap_or(name);
        if let Some(builtin) = Type::builtin(name) {
            return Ok(Some(builtin));
        }
        if name == "Puppet::LookupContext" {
            return Ok(Some(Type::object_named(name)));
        }
        if let Some(alias) = self.find_alias(Symbol::new(name))? {
            return Ok(Some(alias));
        }
        Ok(self.find_resource_type(name)?.map(|_| Type::resource(&name.to_lowercase())))
    }

    pub(super) fn find_alias(&mut self, name: Symbol) -> Result<Option<Type>, Stop> {
        let key = lower(name);
        if !self.definitions.aliases.contains_key(&key) {
            self.load_from_folder("types", key)?;
            self.refuse_other_alias(key)?;
        }
        let Some(known) = self.definitions.aliases.get_mut(&key) else { return Ok(None) };
        if let Some(alias) = &known.alias {
            return Ok(Some(Type::Alias(alias.clone())));
        }
        let definition = known.definition.clone();
        let type_set = known.type_set;
        let alias = Alias::new(definition.name.as_str());
        known.alias = Some(alias.clone());
        let frame = Frame { scope: ScopeId::TOP, file: definition.file, control: Prov::NONE };
        let outer = std::mem::replace(&mut self.frame, frame);
        let outer_set = std::mem::replace(&mut self.type_set, type_set);
        let target = self.alias_target(&definition);
        self.type_set = outer_set;
        self.frame = outer;
        let target = target?;
        let is_named = match &target {
            Type::Object(Some(object)) => object.name.is_some(),
            Type::TypeSet(Some(set)) => set.name.is_some(),
            _ => false,
        };
        if is_named {
            // By other spellings of its name it is found as an alias.
            let _ = alias.resolve(target.clone());
            self.known_types.insert(name, target.clone());
            return Ok(Some(target));
        }
        // The place is that of the first use.
        alias.resolve(target).map_err(|error| FailureKind::from(error).unplaced())?;
        Ok(Some(Type::Alias(alias)))
    }

    /// What an alias stands for. The definition of an object or of a set makes a type of its own, with the name of the
    /// alias.
    fn alias_target(&mut self, definition: &TypeAliasDef) -> Result<Type, Stop> {
        let value = &definition.value;
        if let Some(range) = invalid_type_expression(value) {
            let text = self.environment.sources.file(definition.file);
            let text = text.text().get(range.start as usize..range.end as usize).unwrap_or_default();
            return Err(FailureKind::InvalidTypeText(text.to_owned()).unplaced());
        }
        match &value.kind {
            ExprKind::Access { target, keys } if is_type_name(target, "Object") && keys.len() == 1 => {
                let outer = std::mem::replace(&mut self.names_may_be_unknown, true);
                let object = self.evaluate(&keys[0]);
                self.names_may_be_unknown = outer;
                let object = ObjectType::from_definition(Some(&definition.name), &object?);
                let object = object.map_err(|error| FailureKind::from(error).unplaced())?;
                Ok(Type::Object(Some(Arc::new(object))))
            }
            ExprKind::Access { target, keys } if is_type_name(target, "TypeSet") => match keys.as_slice() {
                [Expr { kind: ExprKind::Hash(entries), .. }] => self.type_set(definition, entries),
                _ => self.interpret_type(value),
            },
            _ => self.interpret_type(value),
        }
    }

    /// The file of an alias must hold the alias of its name.
    fn refuse_other_alias(&self, key: Symbol) -> Result<(), Stop> {
        if self.definitions.aliases.contains_key(&key) {
            return Ok(());
        }
        let Some(path) = self.module_path_of("types", key) else { return Ok(()) };
        let is_here = |alias: &&super::TypeAlias| {
            self.environment.sources.file(alias.definition.file).path() == path.to_string_lossy()
        };
        // At most one alias stands in a file, so the order does not matter.
        match self.definitions.aliases.values().find(is_here) {
            None => Ok(()),
            Some(other) => {
                let actual = other.definition.name;
                let misplaced = MisplacedCode::OtherAlias { path, expected: key, actual };
                Err(FailureKind::MisplacedCode(misplaced).unplaced())
            }
        }
    }

    /// An expression that must be a type. A name that nobody knows stands for itself.
    fn interpret_type(&mut self, expression: &Expr) -> Result<Type, Stop> {
        let outer = std::mem::replace(&mut self.names_may_be_unknown, true);
        let result = self.evaluate_type(expression);
        self.names_may_be_unknown = outer;
        result
    }

    /// An expression that must be a type.
    pub(crate) fn evaluate_type(&mut self, expression: &Expr) -> Result<Type, Stop> {
        let value = self.evaluate(expression)?;
        let failure = match value.data {
            Data::Type(of) => return Ok(of),
            // Whatever it is, a value may fit it.
            Data::Opaque(unknown) if self.is_consequence(&unknown.reason) => return Ok(Type::Any),
            Data::Opaque(unknown) => FailureKind::undecided(&unknown),
            _ => {
                let actual = setpoint_puppet_values::infer(&value).generalize().to_string();
                FailureKind::NotAType { actual }
            }
        };
        Err(failure.at(self.span(expression.range)))
    }

    /// The type that a text such as `Array[Integer]` names.
    pub(crate) fn type_from_text(&mut self, text: &str, span: Span) -> Result<Type, Stop> {
        if let Some(known) = self.type_texts.get(text) {
            return Ok(known.clone());
        }
        let file = self.environment.sources.add("(a type given as text)", text);
        let parse = parse_expression(file, text);
        let is_sound = parse.diagnostics.iter().all(|found| found.severity < Severity::Error);
        let [expression] = parse.program.body.as_slice() else { return Err(invalid(text, span)) };
        if !is_sound {
            return Err(invalid(text, span));
        }
        // A name that nobody knows is a type that nothing fits.
        if let ExprKind::TypeName(name) = &expression.kind
            && self.find_type(name)?.is_none()
        {
            return Ok(Type::reference(name.as_str()));
        }
        if !matches!(expression.kind, ExprKind::TypeName(_) | ExprKind::Access { .. }) {
            return Err(invalid(text, span));
        }
        let outer = self.frame;
        self.frame.file = file;
        let result = self.interpret_type(expression);
        self.frame = outer;
        let of = result.map_err(|stop| match stop {
            Stop::Error(failure) if failure.kind.rule() == Rule::TypeMismatch => invalid(text, span),
            Stop::Error(mut failure) => {
                failure.span = Some(span);
                Stop::Error(failure)
            }
            stop => stop,
        })?;
        self.type_texts.insert(text.to_owned(), of.clone());
        Ok(of)
    }
}

pub(super) fn is_type_name(expression: &Expr, expected: &str) -> bool {
    matches!(&expression.kind, ExprKind::TypeName(name) if name.as_str() == expected)
}

/// The place of what may not stand in a type: only literals and types may, nothing has to be evaluated.
fn invalid_type_expression(expression: &Expr) -> Option<Range> {
    let any = |expressions: &[Expr]| expressions.iter().find_map(invalid_type_expression);
    match &expression.kind {
        ExprKind::Undef
        | ExprKind::Default
        | ExprKind::Bool(_)
        | ExprKind::Integer { .. }
        | ExprKind::Float(_)
        | ExprKind::String(_)
        | ExprKind::Regex(_)
        | ExprKind::Name(_)
        | ExprKind::TypeName(_) => None,
        ExprKind::Heredoc { text, .. } => invalid_type_expression(text),
        ExprKind::Negate(inner) => invalid_type_expression(inner),
        ExprKind::Array(items) => any(items),
        ExprKind::Hash(entries) => entries
            .iter()
            .find_map(|(key, value)| invalid_type_expression(key).or_else(|| invalid_type_expression(value))),
        // The types of a set have a form of their own.
        ExprKind::Access { target, .. } if is_type_name(target, "TypeSet") => None,
        ExprKind::Access { target, keys } if matches!(target.kind, ExprKind::TypeName(_)) => any(keys),
        _ => Some(expression.range),
    }
}

fn invalid(text: &str, span: Span) -> Stop {
    FailureKind::InvalidTypeText(text.to_owned()).at(span)
}
