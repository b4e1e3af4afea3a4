//! Where values come from: one arena of provenance nodes for every language.
//!
//! Each value that an evaluator makes carries a [`Prov`], a handle of four bytes into an [`Arena`]. A node is a
//! leaf (a literal, a fact, a line of data), an operation over other nodes, a copy made at a place, or a value
//! seen under a control context (the conditions and declarations that led there). From this one graph come the
//! three forms of provenance: *where* a value was copied from, by which *expression* it was made, and on which
//! leaves it *depends*. The arena knows nothing of values or of any input language.

mod arena;
mod query;

pub use arena::{Arena, Control, Leaf, LeafKind, Node, Prov, Secrecy};
pub use query::Dependency;
