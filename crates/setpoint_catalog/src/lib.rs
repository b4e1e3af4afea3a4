//! The catalog: what a node should look like, as resources with parameters.
//!
//! The compiler fills a [`Catalog`], [`read::json`] takes one from a Puppet server's answer, and the verifier, the graph
//! and the printers start from it. The crate knows the shape of catalogs, the types of resources that Puppet ships
//! and the order in which Puppet would apply them. It does not know how a manifest becomes a catalog, nor what a
//! resource does to a machine.

mod catalog;
pub mod compare;
pub mod conversion;
pub mod findings;
pub mod graph;
mod native;
mod patterns;
pub mod read;
mod resource;
pub mod ruby_types;
mod secrets;
pub mod write;

pub use catalog::{Catalog, Duplicate};
pub use native::{
    Attribute, AutoRelation, Check, KindAnswer, NameSource, NativeType, NoPattern, Relation, Role, TextPart,
    TitlePattern, ValueKind, display_name, file_path, is_metaparameter, metaparameters, native_type,
    native_types,
};
pub use resource::{Kind, Parameter, Parameters, Resource, ResourceId, Shown, Tags};
pub use secrets::{each_secret_of, is_secret_name};
