//! Definitions: classes, defined types, nodes, functions and type aliases, and how they are found by name.
//!
//! The manifests of the entry are registered first; the rest is loaded from modules when a name is first needed.

mod autoload;
mod location;
mod register;
mod type_sets;
mod types;

pub(crate) use register::lower;

use std::ops::{Index, IndexMut};
use std::path::PathBuf;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use setpoint_puppet_syntax::ast::{self, HostMatch, Parameter};
use setpoint_puppet_values::types::{Signature, StructElement};
use setpoint_puppet_values::{Type, types::Alias};
use setpoint_source::{Range, Span, Symbol};

use crate::resources::Native;
use crate::scope::Captures;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct DefinitionId(u32);

impl DefinitionId {
    /// The code outside of classes.
    pub(crate) const MAIN: Self = Self(0);
    /// The class that holds Puppet's settings as variables.
    pub(crate) const SETTINGS: Self = Self(1);
}

#[derive(Clone, Debug)]
pub(crate) enum DefinitionKind {
    Main,
    Settings,
    Class(Arc<ast::ClassDef>),
    Define(Arc<ast::DefineDef>),
    Node(Arc<ast::NodeDef>),
}

/// A class, a defined type or a node.
#[derive(Debug)]
pub(crate) struct Definition {
    pub(crate) kind: DefinitionKind,
    /// In lower case, fully qualified.
    pub(crate) name: Symbol,
    pub(crate) module: Option<Symbol>,
    pub(crate) span: Option<Span>,
    pub(crate) parent: Option<(Symbol, Range)>,
    /// A collector of this code overrides parameters: from then on it may override any.
    pub(crate) overriding: bool,
    /// The parameters that an instance may have, metaparameters included.
    pub(crate) signature: Arc<Vec<StructElement>>,
    /// The groups of the regular expression by which a node matched.
    pub(crate) captures: Option<Captures>,
}

impl Definition {
    pub(crate) fn parameters(&self) -> &[Parameter] {
        match &self.kind {
            DefinitionKind::Class(class) => &class.parameters,
            DefinitionKind::Define(define) => &define.parameters,
            _ => &[],
        }
    }
}

/// A function written in the Puppet language.
#[derive(Debug, Clone)]
pub(crate) struct Function {
    pub(crate) definition: Arc<ast::FunctionDef>,
    /// Known after the first call.
    pub(crate) signature: Option<Arc<CallSignature>>,
}

/// What a function or lambda takes and gives.
#[derive(Debug)]
pub(crate) struct CallSignature {
    pub(crate) signature: Signature,
    pub(crate) returns: Option<Type>,
}

#[derive(Debug, Clone)]
pub(crate) struct TypeAlias {
    pub(crate) definition: Arc<ast::TypeAliasDef>,
    /// Known after the first use; its target a little later, for it may mention itself.
    pub(crate) alias: Option<Arc<Alias>>,
    /// The type set that defines it, in lower case: the names of the set come first in its definition.
    pub(crate) type_set: Option<Symbol>,
}

/// Everything that is known by name.
#[derive(Debug)]
pub(crate) struct Definitions {
    list: Vec<Definition>,
    classes: FxHashMap<Symbol, DefinitionId>,
    defines: FxHashMap<Symbol, DefinitionId>,
    nodes: Vec<(HostMatch, DefinitionId)>,
    node_names: FxHashMap<Symbol, DefinitionId>,
    functions: FxHashMap<Symbol, Function>,
    aliases: FxHashMap<Symbol, TypeAlias>,
    /// The sets that a type set calls by names of its own, by the set and that name, both in lower case.
    type_set_references: FxHashMap<(Symbol, Symbol), Symbol>,
    natives: FxHashMap<Symbol, Option<Native>>,
    loaded: FxHashSet<PathBuf>,
    missing: FxHashSet<Symbol>,
}

impl Default for Definitions {
    fn default() -> Self {
        let named = |kind, name: &str| Definition {
            kind,
            name: Symbol::new(name),
            module: None,
            span: None,
            parent: None,
            overriding: false,
            signature: Arc::default(),
            captures: None,
        };
        let mut definitions = Self {
            list: vec![named(DefinitionKind::Main, ""), named(DefinitionKind::Settings, "settings")],
            classes: FxHashMap::default(),
            defines: FxHashMap::default(),
            nodes: Vec::new(),
            node_names: FxHashMap::default(),
            functions: FxHashMap::default(),
            aliases: FxHashMap::default(),
            type_set_references: FxHashMap::default(),
            natives: FxHashMap::default(),
            loaded: FxHashSet::default(),
            missing: FxHashSet::default(),
        };
        definitions.classes.insert(Symbol::new(""), DefinitionId::MAIN);
        definitions.classes.insert(Symbol::new("settings"), DefinitionId::SETTINGS);
        definitions
    }
}

impl Definitions {
    fn add(&mut self, definition: Definition) -> DefinitionId {
        self.list.push(definition);
        DefinitionId(self.list.len() as u32 - 1)
    }

    pub(crate) fn nodes(&self) -> &[(HostMatch, DefinitionId)] {
        &self.nodes
    }

    /// The classes that are known by now.
    pub(crate) fn class_names(&self) -> impl Iterator<Item = String> {
        let classes = self.list.iter().filter(|one| matches!(one.kind, DefinitionKind::Class(_)));
        classes.map(|one| one.name.to_string())
    }

    pub(crate) fn define_names(&self) -> impl Iterator<Item = String> {
        let defines = self.list.iter().filter(|one| matches!(one.kind, DefinitionKind::Define(_)));
        defines.map(|one| one.name.to_string())
    }

    pub(crate) fn function_names(&self) -> impl Iterator<Item = String> {
        let mut names: Vec<String> = self.functions.keys().map(Symbol::to_string).collect();
        names.sort();
        names.into_iter()
    }
}

impl Index<DefinitionId> for Definitions {
    type Output = Definition;

    fn index(&self, id: DefinitionId) -> &Definition {
        &self.list[id.0 as usize]
    }
}

impl IndexMut<DefinitionId> for Definitions {
    fn index_mut(&mut self, id: DefinitionId) -> &mut Definition {
        &mut self.list[id.0 as usize]
    }
}
