//! Rule files that relationship types and node types name for themselves.

use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use setpoint_orchestra::models;
use setpoint_source::{Sources, Symbol};

use crate::service::Service;
use crate::topology::Topology;
use crate::types::{Type, ancestors};

/// The rule files that the types of the topology's relationships and nodes name, each beside the file that defines the type
/// or built in: `metadata: { setpoint_rules: my-rules.spm }`. All of them together decide the topology.
pub fn rule_files(service: &Service, topology: &Topology, sources: &Sources) -> Vec<PathBuf> {
    let mut out: Vec<PathBuf> = Vec::new();
    let mut add = |types: &IndexMap<Symbol, Type>, kind: Symbol| {
        let named = ancestors(types, kind)
            .into_iter()
            .find_map(|name| types.get(&name).and_then(|one| Some((one.rules.as_ref()?, one.span?))));
        let Some((file, span)) = named else { return };
        let path = if file.starts_with(models::PREFIX) {
            PathBuf::from(file)
        } else {
            let defined_in = sources.file(span.file);
            Path::new(defined_in.path()).parent().unwrap_or(Path::new("")).join(file)
        };
        if !out.contains(&path) {
            out.push(path);
        }
    };
    for kind in topology.relationships.iter().filter_map(|one| one.kind) {
        add(&service.types.relationships, kind);
    }
    for node in topology.nodes.values() {
        add(&service.types.nodes, node.kind);
    }
    out
}
