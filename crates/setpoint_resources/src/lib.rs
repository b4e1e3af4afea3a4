//! What resources do to a machine: a catalog and its graph become a [`setpoint_state::Plan`].
//!
//! The catalog says what a node should look like; this crate says what Puppet does to get it there, each resource a
//! small program over cells. The programs are fitted to what Puppet does: `setpoint_judge` applies small catalogs
//! with Puppet itself, and a test compares. Where nothing is known, the step says so ([`setpoint_state::Unknown`]) and how far
//! that reaches; what a model takes for granted about the catalog is an [`Assumption`].
//!
//! It knows no order but that of the graph, asks no question about the plan, runs nothing and reads no file: packages,
//! sources and declared models come from a [`World`].

mod assumptions;
mod attributes;
mod clock;
mod commands;
mod configurations;
mod entries;
mod invariants;
mod machine;
mod manages;
mod mentions;
mod mounts;
mod origins;
mod packages;
mod pair;
mod paper;
mod plan;
mod platform;
mod settings;
mod shared;
mod table;
mod types;
mod unit;
mod unit_file;
mod world;

pub use assumptions::{Assumed, Assumption};
pub use clock::{Limits, OutOfTime};
pub use entries::{Entry, Rest};
pub use origins::{Origin, Origins};
pub use packages::{RECOMMENDED, packaged_content, stem_of_package};
pub use pair::{ModelledPair, Version, plan_pair};
pub use plan::{Asked, FileEntry, Modelled, plan, plan_with};
pub use platform::Base;
pub use table::{METAPARAMETERS, Row, Scope, Treatment, Values};
pub use types::{is_never_scheduled, tables};
pub use unit::Unit;
pub use world::{NoSources, Source, Sources, World};
