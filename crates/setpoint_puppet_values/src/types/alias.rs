//! Types with names of their own.

use std::borrow::Cow;
use std::sync::Arc;

use super::{Alias, Type};
use crate::error::ValueError;

impl Alias {
    /// Gives the alias its target. A target of nothing but aliases and unions of them is an error.
    #[allow(clippy::needless_pass_by_value, reason = "the alias takes its target over")]
    pub fn resolve(self: &Arc<Self>, target: Type) -> Result<(), ValueError> {
        let target = self.without_itself(target.normalize());
        let mut visit = Visit { alias: self, seen: Vec::new(), real: false, recursive: false };
        visit.walk(&target);
        if !visit.real {
            let name = &self.name;
            return Err(ValueError::new(format!("Type alias '{name}' cannot be resolved to a real type")));
        }
        let recursive = visit.recursive;
        let _ = self.recursion().set(recursive);
        self.set_target(target);
        Ok(())
    }

    /// Whether the target mentions the alias.
    pub fn is_recursive(&self) -> bool {
        self.recursion().get().copied().unwrap_or(false)
    }

    /// Returns the target, or for a recursive alias the union of all types that its values can have, without the
    /// aliases and unions in between. Types that name each other without a structure between them
    /// (`type X = Variant[Y, Integer]`, `type Y = Variant[X, String]`) have the same alternatives, so that a walk over
    /// them ends: whatever still leads back to the alias goes through an element of a collection.
    pub(super) fn meaning(&self) -> Option<Cow<'_, Type>> {
        let target = self.target()?;
        if !self.is_recursive() {
            return Some(Cow::Borrowed(target));
        }
        if let Some(known) = self.known_alternatives().get() {
            return Some(Cow::Borrowed(known));
        }
        let mut found =
            Alternatives { seen: vec![(std::ptr::from_ref(self), false)], types: Vec::new(), complete: true };
        found.collect(target, false);
        let union = Type::variant(found.types);
        if !found.complete {
            // An alias among them has no target yet: what it adds is known only later.
            return Some(Cow::Owned(union));
        }
        Some(Cow::Borrowed(self.known_alternatives().get_or_init(|| union)))
    }

    /// A union that has the alias itself among its alternatives says nothing by that.
    fn without_itself(&self, target: Type) -> Type {
        match target {
            Type::Variant(Some(types)) => {
                let others =
                    types.iter().filter(|of| !matches!(of, Type::Alias(alias) if alias.name == self.name));
                Type::variant(others.cloned().collect())
            }
            target => target,
        }
    }
}

/// The types that a value of a union can have.
struct Alternatives {
    /// Aliases that were met, and whether below `NotUndef`.
    seen: Vec<(*const Alias, bool)>,
    types: Vec<Type>,
    /// Every alias that was met has a target.
    complete: bool,
}

impl Alternatives {
    fn collect(&mut self, of: &Type, defined: bool) {
        match of {
            Type::Alias(alias) => {
                let met = (Arc::as_ptr(alias), defined);
                if self.seen.contains(&met) {
                    return;
                }
                self.seen.push(met);
                match alias.target() {
                    Some(target) => self.collect(target, defined),
                    None => self.complete = false,
                }
            }
            Type::Variant(Some(types)) => types.iter().for_each(|of| self.collect(of, defined)),
            Type::Optional(Some(of)) => {
                self.collect(&Type::Undef, defined);
                self.collect(of, defined);
            }
            Type::NotUndef(Some(of)) => self.collect(of, true),
            Type::Undef if defined => {}
            Type::Any | Type::Optional(None) if defined => self.types.push(Type::NotUndef(None)),
            Type::Init(_) if defined => self.types.push(Type::not_undef(of.clone())),
            _ => self.types.push(of.clone()),
        }
    }
}

/// A walk over a type and all that it mentions.
struct Visit<'a> {
    alias: &'a Arc<Alias>,
    seen: Vec<*const Alias>,
    /// A type that is neither an alias nor a union was met.
    real: bool,
    recursive: bool,
}

impl Visit<'_> {
    fn walk(&mut self, of: &Type) {
        match of {
            Type::Alias(alias) => {
                if alias.name == self.alias.name {
                    self.recursive = true;
                } else if !self.seen.contains(&Arc::as_ptr(alias)) {
                    self.seen.push(Arc::as_ptr(alias));
                    if let Some(target) = alias.target() {
                        self.walk(target);
                    } else {
                        // Not known yet: it may lead back here.
                        self.recursive = true;
                    }
                }
            }
            Type::Variant(_) => of.each_contained(&mut |inner| self.walk(inner)),
            _ => {
                self.real = true;
                of.each_contained(&mut |inner| self.walk(inner));
            }
        }
    }
}

impl Type {
    /// The type behind aliases.
    pub fn resolved(&self) -> &Self {
        let mut of = self;
        // Aliases of aliases only: a longer chain than this is a circle.
        for _ in 0..100 {
            match of {
                Self::Alias(alias) => match alias.target() {
                    Some(target) => of = target,
                    None => return of,
                },
                of => return of,
            }
        }
        of
    }

    /// The name of a type that no loader knows, if one is mentioned anywhere in the type.
    pub fn unresolved(&self) -> Option<String> {
        let mut seen = Vec::new();
        self.find_unresolved(&mut seen)
    }

    fn find_unresolved(&self, seen: &mut Vec<*const Alias>) -> Option<String> {
        match self {
            Self::Reference(name) => Some(name.to_string()),
            Self::Alias(alias) => {
                if seen.contains(&Arc::as_ptr(alias)) {
                    return None;
                }
                seen.push(Arc::as_ptr(alias));
                alias.target()?.find_unresolved(seen)
            }
            _ => {
                let mut found = None;
                self.each_contained(&mut |inner| {
                    if found.is_none() {
                        found = inner.find_unresolved(seen);
                    }
                });
                found
            }
        }
    }

    /// Calls back with each type that this one directly mentions.
    pub fn each_contained(&self, visit: &mut dyn FnMut(&Self)) {
        match self {
            Self::Optional(Some(of))
            | Self::NotUndef(Some(of))
            | Self::Type(Some(of))
            | Self::Iterable(Some(of))
            | Self::Iterator(Some(of))
            | Self::Sensitive(Some(of)) => visit(of),
            Self::Array(Some(of)) => visit(&of.element),
            Self::Hash(Some(of)) => {
                visit(&of.key);
                visit(&of.value);
            }
            Self::Tuple(Some(of)) => of.types.iter().for_each(visit),
            Self::Struct(Some(elements)) => {
                for element in elements.iter() {
                    visit(&element.key);
                    visit(&element.value);
                }
            }
            Self::Variant(Some(types)) => types.iter().for_each(visit),
            Self::Callable(Some(of)) => {
                if let Some(parameters) = &of.parameters {
                    parameters.types.iter().for_each(&mut *visit);
                }
                of.block.iter().for_each(&mut *visit);
                of.returns.iter().for_each(&mut *visit);
            }
            Self::Init(Some(of)) => visit(&of.of),
            _ => {}
        }
    }
}
