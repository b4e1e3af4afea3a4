//! The parameters of classes and definitions: given, found in data, or by default.

use std::sync::Arc;

use std::path::PathBuf;

use setpoint_provenance::{Control, Prov};
use setpoint_puppet_functions::{DataAnswer, DataRequest, FailureKind, MissingData, Stop};
use setpoint_puppet_values::types::validate_parameters;
use setpoint_puppet_values::{Hash, Key, Value};
use setpoint_source::{Span, Symbol};

use crate::compiler::Compiler;
use crate::loader::{DefinitionId, DefinitionKind};
use crate::resources::{Parameter, ResourceId};
use crate::scope::{Local, ParameterScope, ScopeId};
use crate::tags::tag_values;

/// Puppet blames the call, not the default, if a default reads a parameter that has no value yet.
pub(crate) fn unplaced(stop: Stop) -> Stop {
    match stop {
        Stop::Error(mut failure) if matches!(failure.kind, FailureKind::UnevaluatedParameter { .. }) => {
            if let Some(span) = failure.span.take() {
                failure.add_label(span, "read here");
            }
            Stop::Error(failure)
        }
        stop => stop,
    }
}

/// A parameter that the data does not have.
pub(crate) struct NotFound {
    name: Symbol,
    /// That it is missing, as an observation.
    prov: Prov,
    /// The files that were searched, if it has no default.
    searched: Vec<PathBuf>,
    /// The unknown value that stands for data that were not read.
    unread: Option<Value>,
}

/// Notes where values for the parameters that lack one were looked for.
fn note_searched(kind: &mut FailureKind, missing: Vec<NotFound>) {
    if let FailureKind::MissingParameter { parameters, searched, .. } = kind {
        let lacks_value =
            |one: &NotFound| !one.searched.is_empty() && parameters.iter().any(|name| **name == *one.name);
        let missing = missing.into_iter().filter(lacks_value);
        searched.extend(missing.map(|one| (one.name, one.searched)));
    }
}

impl Compiler<'_> {
    /// Gives a new scope its variables, and the resource the parameters that it was not given.
    pub(crate) fn set_resource_parameters(
        &mut self,
        id: ResourceId,
        definition: DefinitionId,
        scope: ScopeId,
    ) -> Result<(), Stop> {
        self.set_module_names(id, definition, scope);
        let is_class = matches!(self.definition_kind(definition), DefinitionKind::Class(_));
        let missing = if is_class { self.look_up_parameters(id, definition)? } else { Vec::new() };
        self.set_title(id, is_class, scope);
        if !matches!(self.definition_kind(definition), DefinitionKind::Define(_)) {
            self.class_scopes.insert(self.definitions[definition].name, scope);
        }
        let mut values = self.evaluate_parameters(id, definition, scope, &missing)?;
        self.replace_misfits(id, definition, &mut values, &missing)?;
        self.validate(id, definition, &values).map_err(|mut kind| {
            note_searched(&mut kind, missing);
            let (name, place) = self.misfit(id, definition, &values).unzip();
            kind.unplaced().labelled(place, || format!("the value of `{}`", name.map_or("", Symbol::as_str)))
        })?;
        for (name, value) in values {
            if self.scopes[scope].is_bound(name) {
                return Err(FailureKind::ReassignedVariable { name, is_built_in: false }.unplaced());
            }
            let span = self.resources[id].parameters.get(name).and_then(|parameter| parameter.span);
            let prov = self.arena.copy(value.prov, span, Some(name));
            if self.arena.enabled() {
                let signature = Arc::clone(&self.definitions[definition].signature);
                let of = signature.iter().find(|parameter| *parameter.name == *name.as_str());
                if of.is_some_and(|of| crate::secrets::confines(&of.value, &value)) {
                    self.arena.mark_confined(prov);
                }
            }
            self.scopes[scope].set_named(name, value.with(prov));
        }
        Ok(())
    }

    fn set_module_names(&mut self, id: ResourceId, definition: DefinitionId, scope: ScopeId) {
        let given = |name: &str| self.resources[id].named(name).filter(|value| !value.is_undef()).cloned();
        // What is written in the main manifest belongs to a module without a name.
        let of = |definition: DefinitionId| {
            Value::string(self.definitions[definition].module.map_or("", Symbol::as_str))
        };
        let module = given("module_name").unwrap_or_else(|| of(definition));
        let caller = self.scopes[scope].parent.map(|parent| self.scopes[parent].source);
        let caller = given("caller_module_name").or_else(|| caller.map(of));
        self.scopes[scope].set_named(Symbol::new("module_name"), module);
        if let Some(caller) = caller {
            self.scopes[scope].set_named(Symbol::new("caller_module_name"), caller);
        }
    }

    fn set_title(&mut self, id: ResourceId, is_class: bool, scope: ScopeId) {
        let resource = &self.resources[id];
        let title = resource.title_value.clone().unwrap_or_else(|| Value::string(resource.title.clone()));
        let title = title.with(resource.title_prov);
        let name = resource.named("name").filter(|name| !name.is_undef()).cloned();
        let name = name.unwrap_or_else(|| title.clone());
        let lower = |value: Value| match value.as_str() {
            Some(text) if is_class => Value::string(text.to_lowercase()).with(value.prov),
            _ => value,
        };
        self.scopes[scope].set_named(self.words.title, lower(title));
        self.scopes[scope].set_named(self.words.name, lower(name));
    }

    /// Asks the data for parameters of a class that were not given. The result is what was observed of those that are
    /// not there: their defaults depend on it.
    fn look_up_parameters(
        &mut self,
        id: ResourceId,
        definition: DefinitionId,
    ) -> Result<Vec<NotFound>, Stop> {
        let class = self.definitions[definition].name;
        let span = self.resources[id].span;
        let names: Vec<(Symbol, bool)> = self.definitions[definition]
            .parameters()
            .iter()
            .map(|parameter| (parameter.name, parameter.default.is_some()))
            .collect();
        let nothing = Hash::default();
        let mut missing = Vec::new();
        for (name, has_default) in names {
            if self.resources[id].get(name).is_some_and(|value| !value.is_undef()) {
                continue;
            }
            let key = format!("{class}::{name}");
            let request = DataRequest {
                key: &key,
                merge: None,
                hiera_call: false,
                names_levels: false,
                overrides: &nothing,
                defaults: &nothing,
            };
            match self.find_data(&request, span)? {
                DataAnswer::Found(value) if value.is_undef() && has_default => {
                    missing.push(NotFound { name, prov: value.prov, searched: Vec::new(), unread: None });
                }
                DataAnswer::Found(value) => {
                    if setpoint_catalog::is_secret_name(&name) {
                        self.note_secret(&value);
                    }
                    let value = self.since_undef(id, name, value);
                    self.set_parameter(id, name, value)?;
                }
                DataAnswer::Missing(MissingData { unread: Some(value), .. }) if !has_default => {
                    let value = self.since_undef(id, name, value);
                    self.set_parameter(id, name, value)?;
                }
                DataAnswer::Missing(_)
                    if !has_default && (self.options.parameters_are_partial || self.is_blind()) =>
                {
                    let reason = format!(
                        "nothing that was looked at gives the parameter `{name}` of the class {class}"
                    );
                    self.set_parameter(id, name, Value::unknown_or_missing(reason))?;
                }
                DataAnswer::Missing(observed) => {
                    let searched = if has_default { Vec::new() } else { observed.searched };
                    missing.push(NotFound { name, prov: observed.prov, searched, unread: observed.unread });
                }
            }
        }
        Ok(missing)
    }

    /// The values of all parameters, defaults included, in the order of their declaration.
    fn evaluate_parameters(
        &mut self,
        id: ResourceId,
        definition: DefinitionId,
        scope: ScopeId,
        missing: &[NotFound],
    ) -> Result<Vec<(Symbol, Value)>, Stop> {
        let kind = self.definition_kind(definition).clone();
        let (declared, file) = match &kind {
            DefinitionKind::Class(class) => (class.parameters.as_slice(), class.file),
            DefinitionKind::Define(define) => (define.parameters.as_slice(), define.file),
            _ => (&[][..], self.frame.file),
        };
        let resource = &self.resources[id];
        let parameters = ParameterScope {
            callee: resource.callee(),
            current: None,
            parameters: declared.iter().map(|parameter| (parameter.name, None)).collect(),
        };
        let given: Vec<(Symbol, Value, Prov)> = resource
            .parameters
            .iter()
            .filter(|parameter| !matches!(parameter.name.as_str(), "name" | "title"))
            .map(|parameter| {
                // What the declaration itself sets is set where the instance is made.
                let own = parameter.span.zip(resource.span).is_some_and(|(part, whole)| {
                    part.file == whole.file
                        && part.range.start >= whole.range.start
                        && part.range.end <= whole.range.end
                });
                let control = if own { Prov::NONE } else { parameter.control };
                (parameter.name, parameter.value.clone(), control)
            })
            .collect();
        let level = self.scopes[scope].level();
        self.scopes[scope].push(Local::Parameters(parameters));
        for (name, value, control) in given {
            let value = if control.is_none() {
                value
            } else {
                let prov = self.arena.under(value.prov, Control::Condition, control, None);
                value.with(prov)
            };
            self.scopes[scope].set_parameter(name, value);
        }
        self.frame.file = file;
        for parameter in declared {
            let Some(default) = &parameter.default else { continue };
            let given = self.resources[id].get(parameter.name).map(|value| (value.is_undef(), value.prov));
            if let Some((false, prov)) = given {
                self.skip_expression(prov, default);
                continue;
            }
            let observed = missing.iter().find(|one| one.name == parameter.name).map(|one| one.prov);
            // The default is evaluated because nothing was given or found.
            let outer = self.frame.control;
            for cause in [given.map(|(_, prov)| prov), observed].into_iter().flatten() {
                if !cause.is_none() {
                    self.enter(Control::Selection, cause, None);
                }
            }
            self.scopes[scope].begin_default(parameter.name);
            let value = self.evaluate_guarded(default).map_err(unplaced);
            self.frame.control = outer;
            let mut value = value?;
            if let Some(observed) = observed.filter(|prov| !prov.is_none()) {
                value.prov = self.arena.under(value.prov, Control::Selection, observed, None);
            }
            let value = self.since_undef(id, parameter.name, value);
            self.set_parameter(id, parameter.name, value.clone())?;
            self.scopes[scope].set_parameter(parameter.name, value);
        }
        Ok(self.scopes[scope].finish_parameters(level))
    }

    /// A value that takes the place of an `undef` which was given: it is there because of that.
    fn since_undef(&mut self, id: ResourceId, name: Symbol, value: Value) -> Value {
        let given = self.resources[id].parameters.get(name);
        match given.map(|given| (given.value.prov, given.control)) {
            Some((given, control)) if self.arena.enabled() && !given.is_none() => {
                let mut prov = self.arena.under(value.prov, Control::Selection, given, None);
                if !control.is_none() {
                    prov = self.arena.under(prov, Control::Condition, control, None);
                }
                value.with(prov)
            }
            _ => value,
        }
    }

    /// Checks the names and types of the parameters of an instance.
    pub(crate) fn validate(
        &self,
        id: ResourceId,
        definition: DefinitionId,
        values: &[(Symbol, Value)],
    ) -> Result<(), Box<FailureKind>> {
        let signature = &self.definitions[definition].signature;
        // The code outside of classes and nodes takes no parameters, but `require()` may give it one.
        if signature.is_empty() {
            return Ok(());
        }
        let given: Hash =
            values.iter().map(|(name, value)| (Key::from(name.as_str()), value.clone())).collect();
        let callee = self.resources[id].callee();
        validate_parameters(&callee, signature, &given)
            .map_err(|mismatch| Box::new(FailureKind::of_parameters(callee, mismatch)))
    }

    /// Replaces defaults that do not fit their parameters by unknown values where data was not read that may give others.
    fn replace_misfits(
        &mut self,
        id: ResourceId,
        definition: DefinitionId,
        values: &mut [(Symbol, Value)],
        missing: &[NotFound],
    ) -> Result<(), Stop> {
        for (name, value) in values {
            let unread = missing.iter().find(|one| one.name == *name).and_then(|one| one.unread.clone());
            let Some(unread) = unread else { continue };
            let signature = &self.definitions[definition].signature;
            let wanted = signature.iter().find(|one| *one.name == *name.as_str());
            if wanted.is_some_and(|wanted| !wanted.value.is_instance(value)) {
                self.set_parameter(id, *name, unread.clone())?;
                *value = unread;
            }
        }
        Ok(())
    }

    /// Returns the first value of data that does not fit its parameter, and where it comes from.
    fn misfit(
        &self,
        id: ResourceId,
        definition: DefinitionId,
        values: &[(Symbol, Value)],
    ) -> Option<(Symbol, Span)> {
        let signature = &self.definitions[definition].signature;
        // What the manifest gives is where the failure is placed.
        let of_data =
            |name: Symbol| self.resources[id].parameters.get(name).is_none_or(|one| one.span.is_none());
        values.iter().filter(|(name, _)| of_data(*name)).find_map(|(name, value)| {
            let wanted = signature.iter().find(|parameter| *parameter.name == *name.as_str())?;
            let place = self.arena.origin(value.prov)?.span?;
            (!wanted.value.is_instance(value)).then_some((*name, place))
        })
    }

    /// Sets a parameter that the manifest did not set itself. A `tag` tags the resource, too.
    pub(crate) fn set_parameter(&mut self, id: ResourceId, name: Symbol, value: Value) -> Result<(), Stop> {
        let source = self.resources[id].source;
        let control = self.frame.control;
        self.store_parameter(id, Parameter { name, value, source, span: None, append: false, control })
    }

    pub(crate) fn store_parameter(&mut self, id: ResourceId, parameter: Parameter) -> Result<(), Stop> {
        if parameter.name.as_str() == "tag" {
            let mut tags = std::mem::take(&mut self.resources[id].tags);
            let result = tag_values(&mut tags, &parameter.value);
            self.resources[id].tags = tags;
            result?;
        }
        let resource = &mut self.resources[id];
        resource.parameters.set(parameter);
        let type_name = resource.type_name;
        self.resources.touch(type_name);
        Ok(())
    }
}
