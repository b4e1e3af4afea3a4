//! Fewer steps and cells with the same answer. Why each reduction is sound stands at its head, and in docs/internals/verify.md.

pub(crate) mod blur;
pub(crate) mod dead;
pub(crate) mod ensure;
pub(crate) mod flow;
pub(crate) mod slice;
pub(crate) mod sub;
pub(crate) mod twins;
