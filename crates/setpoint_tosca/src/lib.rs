//! TOSCA service templates: nodes, how requirements join them, and whether the topology can ever start.
//!
//! Reads the Simple Profile 1.0 to 1.3 and TOSCA 2.0 through `setpoint_data`, with imports and CSAR archives, matches
//! requirements with capabilities, and makes the topology an instance of a rule set of `setpoint_orchestra`. It runs no
//! script and fetches no import.

mod archive;
mod attributes;
mod calls;
mod changes;
mod circles;
mod definitions;
pub mod draw;
mod filters;
mod grammar;
mod instance;
mod omission;
mod policies;
mod profiles;
mod rule_file;
mod scalar;
mod schema;
mod scripts;
mod service;
mod start;
mod substitution;
mod templates;
mod topology;
mod types;
mod values;
mod workflows;

pub use archive::{Archive, BadArchive, Problem, is_archive, open as open_archive};
pub use changes::{Changes, Version, compare};
pub use instance::instance;
pub use omission::{Omission, Omitted};
pub use rule_file::rule_files;
pub use schema::Schema;
pub use service::{Assignment, NodeTemplate, Service};
pub use start::{Checked, can_start, check, rule_set};
pub use substitution::{Mapped, Substitution};
pub use topology::{Behaviour, Certainty, Relationship, Topology, TopologyNode};
pub use types::{Capability, Interface, Requirement, Type, Types};

/// Whether a text looks like a service template.
pub fn is_service_template(text: &str) -> bool {
    text.lines().take(400).any(|line| {
        let line = line.trim_start_matches('\u{feff}');
        line.starts_with("tosca_definitions_version") || line.starts_with("\"tosca_definitions_version\"")
    })
}
