//! Overrides: parameters that are set on a resource after it was declared.

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use setpoint_provenance::{Control, Prov};
use setpoint_puppet_functions::{DanglingReference, FailureKind, Questionable, Stop};
use setpoint_puppet_values::{Data, Value};
use setpoint_source::{Span, Symbol};

use crate::compiler::Compiler;
use crate::loader::{DefinitionId, DefinitionKind};
use crate::resources::{Parameter, ResourceId};
use crate::scope::ScopeId;

/// Parameters for a resource, and whose code sets them.
#[derive(Clone, Debug)]
pub(crate) struct Override {
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) source: DefinitionId,
    pub(crate) span: Span,
}

/// Overrides of resources that are not declared yet, by type and title.
#[derive(Debug, Default)]
pub(crate) struct PendingOverrides(IndexMap<(Symbol, String), Vec<Override>, FxBuildHasher>);

impl Compiler<'_> {
    /// Merges an override into its resource, or keeps it until there is one.
    pub(crate) fn add_override(&mut self, type_name: &str, title: &str, new: Override) -> Result<(), Stop> {
        if let Some(resource) = self.find_resource(type_name, title)? {
            self.merge_override(resource, new)
        } else {
            let key = (self.type_name(type_name), title.to_owned());
            self.pending_overrides.0.entry(key).or_default().push(new);
            Ok(())
        }
    }

    /// Applies the overrides that waited for a resource.
    pub(crate) fn apply_pending_overrides(&mut self) -> Result<(), Stop> {
        let pending = std::mem::take(&mut self.pending_overrides.0);
        let mut missing: Vec<(String, Span)> = Vec::new();
        let mut found: Vec<(ResourceId, Vec<Override>)> = Vec::new();
        for ((type_name, title), overrides) in pending {
            // Only the title counts here: Puppet looks no alias up.
            match self.resources.find(type_name, &title) {
                Some(resource) => found.push((resource, overrides)),
                None => missing
                    .extend(overrides.iter().map(|known| (format!("{type_name}[{title}]"), known.span))),
            }
        }
        found.sort_by_key(|(resource, _)| *resource);
        for (resource, overrides) in found {
            for known in overrides {
                self.merge_override(resource, known)?;
            }
        }
        self.missing_overrides = missing;
        Ok(())
    }

    /// The error for overrides of resources that nothing declares.
    pub(crate) fn refuse_missing_overrides(&mut self) -> Result<(), Stop> {
        let missing = std::mem::take(&mut self.missing_overrides);
        let Some(&(_, first)) = missing.first() else { return Ok(()) };
        Err(FailureKind::DanglingReference(DanglingReference::Overridden(missing)).at(first))
    }

    pub(crate) fn merge_override(&mut self, id: ResourceId, new: Override) -> Result<(), Stop> {
        let resource = &self.resources[id];
        if resource.source != new.source && !self.is_child_of(new.source, resource.source) {
            let foreign =
                FailureKind::ForeignOverride { resource: resource.reference(), declared: resource.span };
            return Err(foreign.at(new.span));
        }
        if resource.evaluated {
            let declared = resource.span.map(|span| self.named_place(span));
            self.question(Questionable::OverrideOfEvaluated { declared }, new.span)?;
        }
        for parameter in new.parameters {
            self.override_parameter(id, parameter)?;
        }
        Ok(())
    }

    fn override_parameter(&mut self, id: ResourceId, mut new: Parameter) -> Result<(), Stop> {
        let resource = &self.resources[id];
        let (scope, type_name) = (resource.scope, resource.type_name);
        let Some(current) = resource.parameters.get(new.name) else { return self.store_parameter(id, new) };
        let ignored = self.is_default(scope, type_name, new.name, &new.value);
        let allowed = ignored
            || self.is_child_of(new.source, current.source)
            || new.source == current.source && self.is_default(scope, type_name, new.name, &current.value);
        if !allowed {
            return Err(self.already_set(id, &new, current));
        }
        let current = current.clone();
        let compared = self.compared_with_defaults(scope, type_name, &new);
        if ignored {
            if !compared.is_none()
                && let Some(known) = self.resources[id].parameters.get_mut(new.name)
            {
                known.value.prov = self.arena.under(known.value.prov, Control::Selection, compared, None);
            }
            return Ok(());
        }
        if !compared.is_none() {
            new.value.prov = self.arena.under(new.value.prov, Control::Selection, compared, None);
        }
        if new.append {
            let mut values = Vec::new();
            flatten(&current.value, &mut values);
            flatten(&new.value, &mut values);
            let span = new.span;
            let prov = self.arena.operation(Symbol::new("+>"), span, &[current.value.prov, new.value.prov]);
            new.value = Value::array(values).with(prov);
        }
        self.store_parameter(id, new)
    }

    /// An override that gives what a default gives counts for nothing: whether it does depends on the defaults.
    fn compared_with_defaults(&mut self, scope: ScopeId, type_name: Symbol, new: &Parameter) -> Prov {
        if !self.arena.enabled() {
            return Prov::NONE;
        }
        let defaults = self.lookup_defaults(scope, type_name);
        let Some(known) = defaults.get(new.name) else { return Prov::NONE };
        let provs = [known.value.prov, known.control, new.value.prov, new.control];
        self.arena.operation(Symbol::new("=="), new.span, &provs)
    }

    fn already_set(&self, id: ResourceId, new: &Parameter, current: &Parameter) -> Stop {
        let by = match &self.definitions[current.source].kind {
            DefinitionKind::Class(class) => Some(format!("Class[{}]", class.name)),
            DefinitionKind::Define(define) => Some(define.name.to_string()),
            DefinitionKind::Node(_) => Some(format!("Node[{}]", self.definitions[current.source].name)),
            DefinitionKind::Main | DefinitionKind::Settings => None,
        };
        let (resource, parameter) = (self.resources[id].reference(), new.name);
        let first = current.span.map(|span| self.named_place(span));
        FailureKind::ParameterAlreadySet { resource, parameter, by, first }.at(new.span)
    }
}

fn flatten(value: &Value, into: &mut Vec<Value>) {
    match &value.data {
        Data::Array(items) => items.iter().for_each(|item| flatten(item, into)),
        _ => into.push(value.clone()),
    }
}
