//! Rule files that relationship types and node types name for themselves.

use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use setpoint_orchestra::models;
use setpoint_source::{Sources, Span, Symbol};

use crate::service::Service;
use crate::topology::Topology;
use crate::types::{Type, ancestors};

/// A rule file, and where a type names it.
pub(crate) type NamedRules = (PathBuf, Option<Span>);

/// The rule files that the types of the topology's relationships and nodes name, each beside the file that defines the type
/// or built in: `metadata: { setpoint_rules: my-rules.spm }`. All of them together decide the topology.
pub fn rule_files(service: &Service, topology: &Topology, sources: &Sources) -> Vec<NamedRules> {
    let mut out: Vec<NamedRules> = Vec::new();
    let mut add = |types: &IndexMap<Symbol, Type>, kind: Symbol| {
        let named = ancestors(types, kind)
            .into_iter()
            .find_map(|name| types.get(&name).and_then(|one| named_rules(one, sources)));
        add_once(named, &mut out);
    };
    for kind in topology.relationships.iter().filter_map(|one| one.kind) {
        add(&service.types.relationships, kind);
    }
    for node in topology.nodes.values() {
        add(&service.types.nodes, node.kind);
    }
    out
}

/// The rule files that types name and nothing of the topology uses.
pub(crate) fn unused_rule_files(
    service: &Service,
    topology: &Topology,
    sources: &Sources,
) -> Vec<NamedRules> {
    let used = rule_files(service, topology, sources);
    let mut out = Vec::new();
    for one in service.types.relationships.values().chain(service.types.nodes.values()) {
        let named =
            named_rules(one, sources).filter(|(path, _)| !used.iter().any(|(known, _)| known == path));
        add_once(named, &mut out);
    }
    out
}

fn add_once(named: Option<NamedRules>, out: &mut Vec<NamedRules>) {
    out.extend(named.filter(|(path, _)| !out.iter().any(|(known, _)| known == path)));
}

fn named_rules(one: &Type, sources: &Sources) -> Option<NamedRules> {
    let (file, span) = one.rules.as_ref()?;
    let path = if file.starts_with(models::PREFIX) {
        PathBuf::from(file)
    } else {
        let defined_in = sources.file(span.file);
        Path::new(defined_in.path()).parent().unwrap_or(Path::new("")).join(file)
    };
    Some((path, Some(*span)))
}
