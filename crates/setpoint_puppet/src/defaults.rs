//! Resource defaults: `File { mode => '0644' }`.
//!
//! They hold for resources that are declared later in the same scope or in scopes reached from it, and are copied
//! when a resource is declared.

use rustc_hash::FxHashMap;
use setpoint_puppet_functions::{FailureKind, Stop};
use setpoint_puppet_values::Value;
use setpoint_source::Symbol;

use crate::compiler::Compiler;
use crate::resources::{Parameter, Parameters};
use crate::scope::ScopeId;

/// The defaults that one scope sets, by displayed type name. Most scopes set none.
#[derive(Debug, Default)]
pub(crate) struct Defaults(Option<Box<FxHashMap<Symbol, Parameters>>>);

impl Defaults {
    pub(crate) fn get(&self, type_name: Symbol) -> Option<&Parameters> {
        self.0.as_ref()?.get(&type_name)
    }

    fn get_mut(&mut self, type_name: Symbol) -> &mut Parameters {
        self.0.get_or_insert_default().entry(type_name).or_default()
    }
}

impl Compiler<'_> {
    pub(crate) fn define_defaults(
        &mut self,
        type_name: Symbol,
        parameters: Vec<Parameter>,
    ) -> Result<(), Stop> {
        self.types_with_defaults.insert(type_name);
        let scope = self.frame.scope;
        for parameter in parameters {
            let table = self.scopes[scope].defaults.get_mut(type_name);
            if table.get(parameter.name).is_some() {
                let redefined = FailureKind::DefaultRedefined { type_name, parameter: parameter.name };
                return Err(redefined.at(parameter.span));
            }
            table.set(parameter);
        }
        Ok(())
    }

    /// Every default for a type that a scope sees; those of nearer scopes win.
    pub(crate) fn lookup_defaults(&self, scope: ScopeId, type_name: Symbol) -> Parameters {
        if !self.types_with_defaults.contains(&type_name) {
            return Parameters::default();
        }
        let mut chain = Vec::new();
        let mut at = Some(scope);
        while let Some(id) = at {
            chain.extend(self.scopes[id].defaults.get(type_name));
            at = self.scopes[id].parent;
        }
        let mut found = Parameters::default();
        for parameters in chain.into_iter().rev() {
            parameters.iter().for_each(|parameter| found.set(parameter.clone()));
        }
        found
    }

    /// Whether a value is that of a default which the scope sees.
    pub(crate) fn is_default(&self, scope: ScopeId, type_name: Symbol, name: Symbol, value: &Value) -> bool {
        if !self.types_with_defaults.contains(&type_name) {
            return false;
        }
        let mut at = Some(scope);
        while let Some(id) = at {
            let known = self.scopes[id].defaults.get(type_name).and_then(|table| table.get(name));
            if known.is_some_and(|parameter| parameter.value == *value) {
                return true;
            }
            at = self.scopes[id].parent;
        }
        false
    }
}
