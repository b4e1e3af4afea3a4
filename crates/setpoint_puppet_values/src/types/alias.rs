//! Types with names of their own.
use super::{Alias, Type};
use crate::error::ValueError;
use std::sync::Arc;

impl Alias {
    /// Gives the alias its target. A target of nothing but aliases and variants is an error.
    pub fn resolve(self: &Arc<Self>, target: Type) -> Result<(), ValueError> {
        self.set_target(target);
        Ok(())
    }
    pub fn is_recursive(&self) -> bool {
        *self.recursion().get().unwrap_or(&false)
    }
}

impl Type {
    /// The type behind aliases.
    pub fn resolved(&self) -> &Self {
        let mut of = self;
        while let Self::Alias(alias) = of {
            match alias.target() {
                Some(target) => of = target,
                None => return of,
            }
        }
        of
    }
}
