//! Sets of types: `type Cars = TypeSet[{ pcore_version => '1.0.0', types => { Car => { … } } }]`.

use std::sync::{Arc, LazyLock};

use setpoint_puppet_functions::{FailureKind, Stop};
use setpoint_puppet_syntax::ast::{AttributeKind, Expr, ExprKind, TypeAliasDef};
use setpoint_puppet_values::types::{TypeSetType, assert_instance};
use setpoint_puppet_values::{Data, Hash, Key, SemVer, SemVerRange, Strictness, Type, Value, ValueError};
use setpoint_source::Symbol;

use super::TypeAlias;
use super::register::lower;
use super::types::is_type_name;
use crate::compiler::Compiler;

/// What a set may say of itself and of others; its types are defined one by one.
static SHAPE: LazyLock<Type> = LazyLock::new(|| {
    let text = r"Struct[{
        Optional[pcore_uri] => Variant[URI, String[1]],
        pcore_version => Variant[String[1], SemVer],
        Optional[name_authority] => Variant[URI, String[1]],
        Optional[name] => Pattern[/\A[A-Z]\w*(?:::[A-Z]\w*)*\z/],
        Optional[version] => Variant[String[1], SemVer],
        Optional[types] => Hash[Pattern[/\A[A-Z]\w*\z/], Type, 1],
        Optional[references] => Hash[Pattern[/\A[A-Z]\w*\z/], Struct[{
            name => Pattern[/\A[A-Z]\w*(?:::[A-Z]\w*)*\z/],
            version_range => Variant[String[1], SemVerRange],
            Optional[name_authority] => Variant[URI, String[1]],
            Optional[annotations] => Hash[Type[Annotation], Hash]
        }], 1],
        Optional[annotations] => Hash[Type[Annotation], Hash]
    }]";
    Type::parse(text, &|_| None).unwrap_or(Type::Any)
});

fn failed(error: ValueError) -> Stop {
    FailureKind::from(error).unplaced()
}

fn illegal(message: String) -> Stop {
    failed(ValueError::new(message))
}

impl Compiler<'_> {
    /// The set of a definition. Its types are registered under the name of the set, then resolved: they may name each
    /// other.
    pub(super) fn type_set(
        &mut self,
        definition: &TypeAliasDef,
        entries: &[(Expr, Expr)],
    ) -> Result<Type, Stop> {
        let name = definition.name;
        let set = lower(name);
        let mut shown = Hash::default();
        let mut types = Vec::new();
        for (key, value) in entries {
            let key = self.evaluate(key)?;
            let value = match (key.as_str(), &value.kind) {
                (Some("types"), ExprKind::Hash(members)) => {
                    types = self.register_members(definition, set, members)?;
                    continue;
                }
                (Some("references"), ExprKind::Hash(members)) => self.named_members(members)?,
                _ => self.evaluate(value)?,
            };
            shown.insert(Key(key), value);
        }
        shown.insert(Key::from("name"), Value::from(name.as_str()));
        let described = Value::hash(shown.clone());
        assert_instance("TypeSet initializer", &SHAPE, &described).map_err(failed)?;
        if !matches!(version(shown.get(&Key::from("pcore_version"))), Some(version) if is_understood(&version))
        {
            return Err(illegal(format!(
                "The pcore version for TypeSet '{name}' is not understood by this runtime. Expected range 1.x"
            )));
        }
        self.resolve_references(set, &shown)?;
        let mut members = Hash::default();
        for (short, full) in types {
            if let Some(of) = self.find_alias(full)? {
                members.insert(Key::from(short.as_str()), Value::from(of));
            }
        }
        if !members.is_empty() {
            shown.insert(Key::from("types"), Value::hash(members));
        }
        let definition = Value::hash(shown);
        Ok(Type::TypeSet(Some(Arc::new(TypeSetType { name: Some(name.as_str().into()), definition }))))
    }

    /// Members whose keys are names of types, which need not be known.
    fn named_members(&mut self, members: &[(Expr, Expr)]) -> Result<Value, Stop> {
        let mut named = Hash::default();
        for (key, value) in members {
            let name = self.member_name(key)?;
            let value = self.evaluate(value)?;
            named.insert(Key::from(name.as_str()), value);
        }
        Ok(Value::hash(named))
    }

    fn member_name(&mut self, key: &Expr) -> Result<Symbol, Stop> {
        if let ExprKind::TypeName(name) = &key.kind {
            return Ok(*name);
        }
        let key = self.evaluate(key)?;
        Ok(Symbol::new(key.as_str().unwrap_or_default()))
    }

    /// Registers the types of a set; returns the name of each, within the set and in full.
    fn register_members(
        &mut self,
        definition: &TypeAliasDef,
        set: Symbol,
        members: &[(Expr, Expr)],
    ) -> Result<Vec<(Symbol, Symbol)>, Stop> {
        let mut names = Vec::with_capacity(members.len());
        for (key, value) in members {
            let short = self.member_name(key)?;
            self.refuse_second_parent(value)?;
            let full = Symbol::new(&format!("{}::{short}", definition.name));
            let member = TypeAliasDef {
                file: definition.file,
                range: value.range,
                name: full,
                name_range: key.range,
                value: member_definition(value),
            };
            let member = TypeAlias { definition: Arc::new(member), alias: None, type_set: Some(set) };
            self.definitions.aliases.insert(lower(full), member);
            names.push((short, full));
        }
        Ok(names)
    }

    /// `Parent { parent => Other }` has two parents.
    fn refuse_second_parent(&mut self, value: &Expr) -> Result<(), Stop> {
        let ExprKind::ResourceDefaults { type_name, attributes, .. } = &value.kind else { return Ok(()) };
        let names_parent = |kind: &AttributeKind| matches!(kind, AttributeKind::Set { name, .. } if name.as_str() == "parent");
        if is_type_name(type_name, "Object") || !attributes.iter().any(|known| names_parent(&known.kind)) {
            return Ok(());
        }
        let message = "The key 'parent' is declared more than once".to_owned();
        match self.options.strictness() {
            Strictness::Off => {}
            Strictness::Warning => self.warn(message, Some(self.span(value.range))),
            Strictness::Error => return Err(illegal(message)),
        }
        Ok(())
    }

    /// Remembers the sets that this one names, which must be there in a version that fits.
    fn resolve_references(&mut self, set: Symbol, shown: &Hash) -> Result<(), Stop> {
        let references = shown.get(&Key::from("references")).and_then(Value::as_hash).cloned();
        for (called, reference) in references.iter().flatten() {
            let get = |name: &str| reference.as_hash().and_then(|entries| entries.get(&Key::from(name)));
            let other = get("name").and_then(Value::as_str).unwrap_or_default();
            let range = match get("version_range").map(|range| &range.data) {
                Some(Data::SemVerRange(range)) => range.as_ref().clone(),
                Some(Data::String(text)) => SemVerRange::parse(text).map_err(failed)?,
                _ => continue,
            };
            let found = self.find_type(other)?;
            let Some(Type::TypeSet(Some(of))) = found.as_ref().map(Type::resolved) else {
                return Err(illegal(format!("TypeSet '{other}' cannot be resolved")));
            };
            let actual =
                of.definition.as_hash().and_then(|entries| version(entries.get(&Key::from("version"))));
            if !actual.is_some_and(|actual| range.contains(&actual)) {
                return Err(illegal(format!("TypeSet '{other}' has no version that matches {range}")));
            }
            let called = lower(Symbol::new(called.as_str().unwrap_or_default()));
            self.definitions.type_set_references.insert((set, called), lower(Symbol::new(other)));
        }
        Ok(())
    }

    /// What a name means in the definition of a type set, if the set defines or refers to it.
    pub(crate) fn find_in_type_set(&mut self, name: Symbol) -> Result<Option<Type>, Stop> {
        let Some(set) = self.type_set else { return Ok(None) };
        let own = Symbol::new(&format!("{set}::{name}"));
        if self.definitions.aliases.contains_key(&lower(own)) {
            return self.find_alias(own);
        }
        let (first, rest) = match name.as_str().split_once("::") {
            Some((first, rest)) => (first, Some(rest)),
            None => (name.as_str(), None),
        };
        let called = lower(Symbol::new(first));
        let Some(other) = self.definitions.type_set_references.get(&(set, called)).copied() else {
            return Ok(None);
        };
        match rest {
            None => self.find_type(&other),
            Some(rest) => self.find_type(&format!("{other}::{rest}")),
        }
    }
}

fn version(value: Option<&Value>) -> Option<SemVer> {
    match &value?.data {
        Data::SemVer(version) => Some(version.as_ref().clone()),
        Data::String(text) => SemVer::parse(text).ok(),
        _ => None,
    }
}

/// Puppet reads the versions 1.x of its format.
fn is_understood(version: &SemVer) -> bool {
    SemVerRange::parse("1.x").is_ok_and(|range| range.contains(version))
}

/// The definition of a type within a set: `{ … }` is an object, `Parent { … }` one that extends another.
fn member_definition(value: &Expr) -> Expr {
    let object = |entries: Vec<(Expr, Expr)>| {
        let range = value.range;
        let target = Expr { range, kind: ExprKind::TypeName(Symbol::new("Object")) };
        let keys = vec![Expr { range, kind: ExprKind::Hash(entries) }];
        Expr { range, kind: ExprKind::Access { target: Box::new(target), keys } }
    };
    match &value.kind {
        ExprKind::Hash(entries) => object(entries.clone()),
        ExprKind::ResourceDefaults { type_name, attributes, .. } => {
            let mut entries: Vec<(Expr, Expr)> = attributes
                .iter()
                .filter_map(|attribute| match &attribute.kind {
                    AttributeKind::Set { name, name_range, value } => {
                        Some((Expr { range: *name_range, kind: ExprKind::Name(*name) }, value.clone()))
                    }
                    _ => None,
                })
                .collect();
            if !is_type_name(type_name, "Object") {
                let key = Expr { range: type_name.range, kind: ExprKind::Name(Symbol::new("parent")) };
                entries.push((key, type_name.as_ref().clone()));
            }
            object(entries)
        }
        _ => value.clone(),
    }
}
