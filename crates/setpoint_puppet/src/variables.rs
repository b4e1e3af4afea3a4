//! Reading and setting variables.

use setpoint_provenance::Prov;
use setpoint_puppet_functions::{FailureKind, IllegalAssignment, Questionable, Stop};
use setpoint_puppet_values::Value;
use setpoint_source::{Span, Symbol};

use crate::compiler::Compiler;
use crate::scope::{Found, ScopeId, ScopeKind, group_number};
use crate::trace::MISSING_CLASS;

impl Compiler<'_> {
    /// The value of a variable; what happens if there is none depends on how strict the compilation is.
    pub(crate) fn variable(&mut self, name: Symbol, span: Span) -> Result<Value, Stop> {
        if self.options.record_reads {
            self.trace.reads.insert(span);
        }
        if let Some(value) = self.find_variable(name, Some(span))? {
            return Ok(value);
        }
        let undef = Value::UNDEF.with(self.absence_of(name));
        if group_number(name).is_some() || is_built_in(name) {
            return Ok(undef);
        }
        if let Some(value) = self.unless_absent() {
            return Ok(value);
        }
        if let Some(plain) = self.top_variable(name).filter(|plain| self.may_be_set(plain)) {
            let _ = self.note_unset_variable(plain.as_str(), Some(span));
            return Ok(undef);
        }
        if self.options.unknown_variables_are_errors() {
            return Err(FailureKind::UnknownVariable { name }.at(span));
        }
        self.question(Questionable::UnknownVariable(name), span)?;
        Ok(undef)
    }

    /// The plain name of a variable at top scope, if that is where code of a node looks for it.
    fn top_variable(&self, name: Symbol) -> Option<Symbol> {
        if !self.options.variables_are_partial {
            return None;
        }
        if name.contains("::") {
            let (class, leaf) = split_qualified(name);
            return class.is_none().then_some(leaf);
        }
        let is_outside = matches!(self.scopes[self.frame.scope].kind, ScopeKind::Top | ScopeKind::Node);
        (is_outside && !self.is_in_function()).then_some(name)
    }

    /// The value of a variable, if there is one.
    pub(crate) fn find_variable(&mut self, name: Symbol, span: Option<Span>) -> Result<Option<Value>, Stop> {
        if name.contains("::") {
            return self.find_qualified(name, span);
        }
        let mut at = Some(self.frame.scope);
        let mut passed = false;
        while let Some(id) = at {
            let scope = &self.scopes[id];
            passed |= scope.has_unset();
            match scope.own(name) {
                Some(Found::Value(value)) if passed => return Ok(Some(self.unless_set(value, name))),
                Some(Found::Value(value)) => return Ok(Some(value)),
                Some(Found::NotEvaluated(failure)) => return Err(failure.at(span)),
                None => at = scope.inherited.or(scope.enclosing),
            }
        }
        Ok(None)
    }

    /// A value that was found, or the lack of one, where a branch that was not taken would have set a variable of this
    /// name nearer by. A group of a match is lacking because of the matches that failed.
    fn unless_set(&mut self, value: Value, name: Symbol) -> Value {
        if !self.arena.enabled() {
            return value;
        }
        let name = if group_number(name).is_some() { self.words.matched } else { name };
        let mut causes = Vec::new();
        let mut at = Some(self.frame.scope);
        while let Some(id) = at {
            let scope = &self.scopes[id];
            causes.extend(scope.unset(name));
            if scope.named(name).is_some() {
                break;
            }
            at = scope.inherited.or(scope.enclosing);
        }
        self.under_each(value, &causes)
    }

    fn under_each(&mut self, value: Value, causes: &[Prov]) -> Value {
        let mut prov = value.prov;
        for cause in causes {
            prov = if prov.is_none() {
                *cause
            } else {
                self.arena.under(prov, setpoint_provenance::Control::Condition, *cause, None)
            };
        }
        value.with(prov)
    }

    /// Why a variable of a class is not there: the class is not, or it does not set it.
    fn absent_from(&mut self, class: Symbol, leaf: Symbol) -> Prov {
        let Some(&scope) = self.class_scopes.get(&class) else {
            let absence = self.absence(MISSING_CLASS, &class);
            let order = self.scopes[self.frame.scope].order;
            return self.arena.operation(self.words.defined, None, &[absence, order]);
        };
        let mut causes = vec![self.absence("", leaf.as_str())];
        let mut at = Some(scope);
        while let Some(id) = at {
            causes.push(self.resources[self.scopes[id].resource].prov);
            causes.extend(self.scopes[id].unset(leaf));
            at = self.scopes[id].inherited;
        }
        self.arena.operation(self.words.defined, None, &causes)
    }

    /// `$a::b::x` is the variable x of the class a::b, or of a class that it inherits from; `$::x` is at top scope.
    fn find_qualified(&mut self, name: Symbol, span: Option<Span>) -> Result<Option<Value>, Stop> {
        let (class, leaf) = *self.qualified_names.entry(name).or_insert_with(|| split_qualified(name));
        let Some(class) = class else { return Ok(self.scopes[ScopeId::TOP].named(leaf).cloned()) };
        if class.as_str() == "settings" {
            self.note_setting_read(leaf, span);
        }
        // The class is loaded even if it was not declared, as Puppet does it.
        let Some(definition) = self.find_class(&class)? else { return Ok(self.unless_absent()) };
        let mut at = self.class_scopes.get(&self.definitions[definition].name).copied();
        let mut causes = Vec::new();
        while let Some(id) = at {
            let scope = &self.scopes[id];
            if scope.has_unset() {
                causes.extend(scope.unset(leaf));
            }
            if let Some(Found::Value(value)) = scope.own(leaf) {
                return Ok(Some(if causes.is_empty() { value } else { self.under_each(value, &causes) }));
            }
            at = scope.inherited;
        }
        Ok(if class.as_str() == "settings" { self.default_setting(leaf) } else { self.unless_absent() })
    }

    /// Why [`Self::find_variable`] finds nothing.
    pub(crate) fn absence_of(&mut self, name: Symbol) -> Prov {
        if !self.arena.enabled() {
            return Prov::NONE;
        }
        if name.contains("::") {
            let (class, leaf) = split_qualified(name);
            if let Some(class) = class {
                return self.absent_from(class, leaf);
            }
            let mut causes = vec![self.absence("", leaf.as_str())];
            causes.extend(self.scopes[ScopeId::TOP].unset(leaf));
            return self.arena.operation(self.words.defined, None, &causes);
        }
        let absence = self.absence("", &name);
        self.unless_set(Value::UNDEF.with(absence), name).prov
    }

    /// Whether a variable has been set, also to `undef`.
    pub(crate) fn variable_exists(&mut self, name: &str) -> Result<bool, Stop> {
        let plain = name.strip_prefix("::").unwrap_or(name);
        if !plain.contains("::") && is_built_in(Symbol::new(plain)) {
            return Ok(true);
        }
        let name = Symbol::new(name);
        let exists = self.find_variable(name, None)?.is_some();
        if !exists {
            self.note_if_unset(name);
        }
        Ok(exists)
    }

    /// `$name = value`.
    pub(crate) fn assign(&mut self, name: Symbol, value: Value, span: Span) -> Result<(), Stop> {
        let illegal = |what| Err(FailureKind::IllegalAssignment(what).at(span));
        if name.contains("::") {
            return illegal(IllegalAssignment::OtherNamespace(name));
        }
        if group_number(name).is_some() {
            return illegal(IllegalAssignment::MatchVariable(name));
        }
        let scope = &self.scopes[self.frame.scope];
        let is_bound = scope.is_bound(name);
        let reserved = matches!(name.as_str(), "trusted" | "facts");
        if name.as_str() == "server_facts" || is_bound && reserved {
            return illegal(IllegalAssignment::ReservedName { name, is_bound: true });
        }
        if is_bound {
            let is_built_in = matches!(name.as_str(), "name" | "title");
            return Err(FailureKind::ReassignedVariable { name, is_built_in }.at(span));
        }
        if reserved {
            return illegal(IllegalAssignment::ReservedName { name, is_bound: false });
        }
        if scope.is_read_only() {
            return illegal(IllegalAssignment::WhileEvaluatingParameters(name));
        }
        let value = self.named_copy(value, name, span);
        self.scopes[self.frame.scope].set(name, value.present());
        Ok(())
    }

    /// A value under a name: a copy, made under the conditions that led here.
    fn named_copy(&mut self, value: Value, name: Symbol, span: Span) -> Value {
        if !self.arena.enabled() {
            return value;
        }
        let mut prov = self.arena.copy(value.prov, Some(span), Some(name));
        let control = self.frame.control;
        if !control.is_none() {
            prov = self.arena.under(prov, setpoint_provenance::Control::Condition, control, None);
        }
        value.with(prov)
    }
}

/// The class and the variable of `$a::b::x`; `$::x` has no class.
pub(crate) fn split_qualified(name: Symbol) -> (Option<Symbol>, Symbol) {
    let plain = name.strip_prefix("::").unwrap_or(&name);
    match plain.rsplit_once("::") {
        Some((class, leaf)) => (Some(Symbol::new(class)), Symbol::new(leaf)),
        None => (None, Symbol::new(plain)),
    }
}

/// Variables that exist everywhere, with no value where there is no module.
pub(crate) fn is_built_in(name: Symbol) -> bool {
    matches!(name.as_str(), "module_name" | "caller_module_name")
}
