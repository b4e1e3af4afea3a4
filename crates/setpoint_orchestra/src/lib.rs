//! Orchestration: what a set of rules does to a topology, and whether it always arrives.
//!
//! A rule file (`.spm`) is parsed and resolved into a [`Model`]: classes of objects with local states and links,
//! rules with guards and effects, where they start and where they shall arrive. A template or topology becomes an
//! [`Instance`] of it, with the source text of every link.
//!
//! - [`concrete`] decides one instance: by one maximal run where that is proved to be enough, else by search.
//! - The parametric engine proves a model for any number of objects.
//!
//! This crate reads no files but rule files, prints nothing, and knows no vendor's format: front ends build
//! instances through [`InstanceBuilder`].

pub mod certificate;
pub mod concrete;
pub mod describe;
mod instance;
pub mod language;
mod model;
pub mod models;
pub mod parametric;
pub mod report;

pub use instance::{DraftId, Instance, InstanceBuilder, InstanceError, Link, Object, ObjectId};
pub use language::{LoadedModel, load_model, load_model_text, load_models};
pub use model::{
    Acyclic, Bound, Claim, Class, ClassId, Edge, Effect, Formula, Invariant, LinkDecl, LinkId, MessageId,
    Model, ModelRule, NameSet, StateId, Term, TypeId, VarId,
};
