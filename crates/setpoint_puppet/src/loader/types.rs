//! Names of data types: those of Puppet, aliases, and types of resources.

use setpoint_provenance::Prov;
use setpoint_puppet_functions::{FailureKind, MisplacedCode, Stop};
use setpoint_puppet_syntax::ast::{Expr, ExprKind, TypeAliasDef};
use setpoint_puppet_syntax::parse_expression;
use setpoint_puppet_values::types::Alias;
use setpoint_puppet_values::{Data, Type, ValueError};
use setpoint_source::{Rule, Severity, Span, Symbol};

use super::objects::object_type;
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

    fn find_alias(&mut self, name: Symbol) -> Result<Option<Type>, Stop> {
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
        let alias = Alias::new(definition.name.as_str());
        known.alias = Some(alias.clone());
        let frame = Frame { scope: ScopeId::TOP, file: definition.file, control: Prov::NONE };
        let outer = std::mem::replace(&mut self.frame, frame);
        let target = self.alias_target(&definition);
        self.frame = outer;
        let target = target?;
        if let Type::Object(Some(object)) = &target
            && object.name.is_some()
        {
            // By other spellings of its name it is found as an alias.
            let _ = alias.resolve(target.clone());
            self.known_types.insert(name, target.clone());
            return Ok(Some(target));
        }
        // The place is that of the first use.
        alias.resolve(target).map_err(|error| FailureKind::from(error).unplaced())?;
        Ok(Some(Type::Alias(alias)))
    }

    /// What an alias stands for. A definition of an object makes a type of its own, with the name of the alias.
    fn alias_target(&mut self, definition: &TypeAliasDef) -> Result<Type, Stop> {
        let unplaced = |error: ValueError| FailureKind::from(error).unplaced();
        if matches!(definition.value.kind, ExprKind::Hash(_)) {
            let object = self.evaluate(&definition.value)?;
            return object_type(&definition.name, &object).map_err(unplaced);
        }
        let target = self.interpret_type(&definition.value)?;
        match &target {
            Type::Object(Some(object)) if object.name.is_none() => {
                object_type(&definition.name, &object.definition).map_err(unplaced)
            }
            _ => Ok(target),
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
        if let Data::Type(of) = value.data {
            Ok(of)
        } else {
            let actual = setpoint_puppet_values::infer(&value).generalize().to_string();
            Err(FailureKind::NotAType { actual }.at(self.span(expression.range)))
        }
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

fn invalid(text: &str, span: Span) -> Stop {
    FailureKind::InvalidTypeText(text.to_owned()).at(span)
}
