//! Scopes: where variables and resource defaults live.
//!
//! A named scope (top, node, class, instance of a define) has a table of variables and, on top of it, a stack of
//! short-lived ones: the parameters of lambdas, the groups of a match. Nothing is copied when a scope is entered;
//! a lookup walks up.

use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use setpoint_provenance::Prov;
use setpoint_puppet_functions::{Callee, FailureKind};
use setpoint_puppet_values::Value;
use setpoint_source::{Symbol, never};

use crate::defaults::Defaults;
use crate::loader::DefinitionId;
use crate::resources::ResourceId;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct ScopeId(u32);

impl ScopeId {
    pub(crate) const TOP: Self = Self(0);
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ScopeKind {
    Top,
    Node,
    Class,
    Define,
}

#[derive(Debug)]
pub(crate) struct Scope {
    pub(crate) kind: ScopeKind,
    /// The scope from which this one was reached; resource defaults come from there.
    pub(crate) parent: Option<ScopeId>,
    /// The node or top scope from which this one was reached.
    pub(crate) enclosing: Option<ScopeId>,
    /// The parent class's scope.
    pub(crate) inherited: Option<ScopeId>,
    /// Whose code runs here.
    pub(crate) source: DefinitionId,
    /// What contains the resources that are declared here.
    pub(crate) resource: ResourceId,
    pub(crate) defaults: Defaults,
    variables: IndexMap<Symbol, Value, FxBuildHasher>,
    locals: Vec<Local>,
    /// Variables that a branch would have set here which was not taken, and why it was not.
    unset: Vec<(Symbol, Prov)>,
    /// Which declarations came first: the state of the catalog that this code sees depends on them.
    pub(crate) order: Prov,
}

/// The groups of a match, `$0` first.
pub(crate) type Captures = Arc<[Value]>;

#[derive(Debug)]
pub(crate) enum Local {
    Variables(Vec<(Symbol, Value)>),
    Match(Captures),
    Parameters(ParameterScope),
}

/// Parameters while their defaults are evaluated: `None` is not evaluated yet.
#[derive(Debug)]
pub(crate) struct ParameterScope {
    /// Whose parameters they are, for messages.
    pub(crate) callee: Callee,
    /// The parameter whose default is being evaluated.
    pub(crate) current: Option<Symbol>,
    pub(crate) parameters: Vec<(Symbol, Option<Value>)>,
}

impl ParameterScope {
    /// Why a parameter has no value when the default of another reads it.
    fn not_evaluated(&self, wanted: Symbol) -> Box<FailureKind> {
        let place = |name| self.parameters.iter().position(|(known, _)| *known == name);
        let default_of = self.current.filter(|current| place(wanted) >= place(*current));
        let of = self.callee.clone();
        Box::new(FailureKind::UnevaluatedParameter { of, parameter: wanted, default_of })
    }
}

/// What a lookup in the short-lived tables finds.
pub(crate) enum Found {
    Value(Value),
    /// A parameter whose turn has not come.
    NotEvaluated(Box<FailureKind>),
}

impl Scope {
    pub(crate) fn new(kind: ScopeKind, source: DefinitionId, resource: ResourceId) -> Self {
        Self {
            kind,
            parent: None,
            enclosing: None,
            inherited: None,
            source,
            resource,
            defaults: Defaults::default(),
            variables: IndexMap::default(),
            locals: Vec::new(),
            unset: Vec::new(),
            order: Prov::NONE,
        }
    }

    /// A variable of this scope only.
    pub(crate) fn own(&self, name: Symbol) -> Option<Found> {
        for local in self.locals.iter().rev() {
            match local {
                Local::Variables(variables) => {
                    if let Some((_, value)) = variables.iter().rev().find(|(known, _)| *known == name) {
                        return Some(Found::Value(value.clone()));
                    }
                }
                Local::Match(captures) => {
                    if let Some(group) = group_number(name) {
                        return Some(Found::Value(captures.get(group).cloned().unwrap_or(Value::UNDEF)));
                    }
                }
                Local::Parameters(scope) => {
                    if let Some((_, value)) = scope.parameters.iter().find(|(known, _)| *known == name) {
                        return Some(match value {
                            Some(value) => Found::Value(value.clone()),
                            None => Found::NotEvaluated(scope.not_evaluated(name)),
                        });
                    }
                }
            }
        }
        self.variables.get(&name).cloned().map(Found::Value)
    }

    /// A variable of the named scope, whatever is on top of it.
    pub(crate) fn named(&self, name: Symbol) -> Option<&Value> {
        self.variables.get(&name)
    }

    /// Whether an assignment would change a variable.
    pub(crate) fn is_bound(&self, name: Symbol) -> bool {
        for local in self.locals.iter().rev() {
            match local {
                Local::Variables(variables) => return variables.iter().any(|(known, _)| *known == name),
                Local::Parameters(scope) => return scope.parameters.iter().any(|(known, _)| *known == name),
                Local::Match(_) => {}
            }
        }
        self.variables.contains_key(&name)
    }

    /// Whether the defaults of parameters are being evaluated: nothing can be assigned then.
    pub(crate) fn is_read_only(&self) -> bool {
        let assignable = self.locals.iter().rev().find(|local| !matches!(local, Local::Match(_)));
        matches!(assignable, Some(Local::Parameters(_)))
    }

    pub(crate) fn set(&mut self, name: Symbol, value: Value) {
        for local in self.locals.iter_mut().rev() {
            if let Local::Variables(variables) = local {
                variables.push((name, value));
                return;
            }
        }
        self.variables.insert(name, value);
    }

    /// Sets a variable of the named scope, whatever is on top of it.
    pub(crate) fn set_named(&mut self, name: Symbol, value: Value) {
        self.variables.insert(name, value);
    }

    pub(crate) fn note_unset(&mut self, name: Symbol, cause: Prov) {
        if !self.unset.contains(&(name, cause)) {
            self.unset.push((name, cause));
        }
    }

    /// Why this scope does not have a variable of its own, as far as that could have been otherwise.
    pub(crate) fn unset(&self, name: Symbol) -> impl Iterator<Item = Prov> {
        self.unset.iter().filter(move |(known, _)| *known == name).map(|(_, cause)| *cause)
    }

    pub(crate) fn has_unset(&self) -> bool {
        !self.unset.is_empty()
    }

    /// How many such variables are noted; those of a lambda or function are forgotten when it ends.
    pub(crate) fn unset_level(&self) -> usize {
        self.unset.len()
    }

    pub(crate) fn forget_unset(&mut self, level: usize) {
        self.unset.truncate(level);
    }

    pub(crate) fn push(&mut self, local: Local) {
        self.locals.push(local);
    }

    pub(crate) fn level(&self) -> usize {
        self.locals.len()
    }

    pub(crate) fn truncate(&mut self, level: usize) {
        self.locals.truncate(level);
    }

    /// Takes the short-lived tables away, for a function that does not see them.
    pub(crate) fn take_locals(&mut self) -> Vec<Local> {
        std::mem::take(&mut self.locals)
    }

    pub(crate) fn restore_locals(&mut self, locals: Vec<Local>) {
        self.locals = locals;
    }

    fn parameter_scope(&mut self) -> Option<&mut ParameterScope> {
        self.locals.iter_mut().rev().find_map(|local| match local {
            Local::Parameters(scope) => Some(scope),
            _ => None,
        })
    }

    /// Says which parameter's default is evaluated next.
    pub(crate) fn begin_default(&mut self, name: Symbol) {
        match self.parameter_scope() {
            Some(scope) => scope.current = Some(name),
            // Reads of later parameters would not be refused.
            None => _ = never!("the default of ${name} outside of a parameter scope"),
        }
    }

    /// Sets the value of a parameter while defaults are being evaluated.
    pub(crate) fn set_parameter(&mut self, name: Symbol, value: Value) {
        let Some(scope) = self.parameter_scope() else {
            // The parameter would be lost.
            never!("${name} is set outside of a parameter scope");
            return;
        };
        match scope.parameters.iter_mut().find(|(known, _)| *known == name) {
            Some((_, slot)) => *slot = Some(value),
            None => scope.parameters.push((name, Some(value))),
        }
    }

    /// Ends the evaluation of parameters that [`Local::Parameters`] began at `level`.
    pub(crate) fn finish_parameters(&mut self, level: usize) -> Vec<(Symbol, Value)> {
        let Some(Local::Parameters(scope)) = self.locals.get_mut(level) else {
            // All parameters would be lost.
            never!("the parameter scope at level {level} is gone");
            return Vec::new();
        };
        let parameters = std::mem::take(&mut scope.parameters);
        self.truncate(level);
        parameters.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }

    /// Every variable that is visible in this scope alone, the innermost last.
    pub(crate) fn visible(&self) -> impl Iterator<Item = (Symbol, &Value)> {
        let named = self.variables.iter().map(|(name, value)| (*name, value));
        let local = self.locals.iter().flat_map(|local| match local {
            Local::Variables(variables) => variables.as_slice(),
            _ => &[],
        });
        named.chain(local.map(|(name, value)| (*name, value)))
    }
}

/// The number of a match variable: `$1`.
pub(crate) fn group_number(name: Symbol) -> Option<usize> {
    name.starts_with(|first: char| first.is_ascii_digit()).then(|| name.parse().ok()).flatten()
}

/// All scopes of a compilation.
#[derive(Debug, Default)]
pub(crate) struct Scopes(Vec<Scope>);

impl Scopes {
    /// The values of all variables.
    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut Value> {
        self.0.iter_mut().flat_map(|scope| {
            let local = scope.locals.iter_mut().flat_map(|local| match local {
                Local::Variables(variables) => variables.as_mut_slice(),
                _ => &mut [],
            });
            scope.variables.values_mut().chain(local.map(|(_, value)| value))
        })
    }

    pub(crate) fn add(&mut self, scope: Scope) -> ScopeId {
        self.0.push(scope);
        ScopeId(self.0.len() as u32 - 1)
    }
}

impl std::ops::Index<ScopeId> for Scopes {
    type Output = Scope;

    fn index(&self, id: ScopeId) -> &Scope {
        &self.0[id.0 as usize]
    }
}

impl std::ops::IndexMut<ScopeId> for Scopes {
    fn index_mut(&mut self, id: ScopeId) -> &mut Scope {
        &mut self.0[id.0 as usize]
    }
}
