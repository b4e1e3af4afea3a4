//! A topology as a drawing, and as JSON.

use setpoint_diagram::{Diagram, Edge as Line, Legend, Node as Shape, Style};
use setpoint_source::Sources;

use crate::topology::{Behaviour, Topology};

/// What comes first stands left: an edge leads from the host or the target to what needs it.
pub fn diagram(topology: &Topology) -> Diagram {
    let nodes = topology
        .nodes
        .iter()
        .map(|(name, node)| Shape {
            kind: node.kind.trim_start_matches("tosca.nodes.").to_owned(),
            name: name.to_string(),
            ..Shape::default()
        })
        .collect();
    let place = |name| topology.nodes.get_index_of(&name);
    let edges = topology
        .relationships
        .iter()
        .filter_map(|one| {
            Some(Line {
                source: place(one.target)?,
                target: place(one.source)?,
                style: match one.behaviour {
                    Behaviour::HostedOn => Style::Strong,
                    Behaviour::DependsOn => Style::Plain,
                    Behaviour::ConnectsTo => Style::Implied,
                },
                details: format!("{} ({})", one.requirement, one.behaviour.as_str()),
                wrong: one.source == one.target,
            })
        })
        .collect();
    let legend = Legend { plain: "depends on it", strong: "hosts", implied: "connects to it" };
    Diagram { title: "Topology".to_owned(), nodes, edges, legend, ..Diagram::default() }
}

pub fn json(topology: &Topology, sources: &Sources) -> serde_json::Value {
    let nodes: Vec<serde_json::Value> = topology
        .nodes
        .iter()
        .map(|(name, node)| {
            serde_json::json!({
                "name": name.as_str(), "type": node.kind.as_str(), "line": sources.position(node.span).line,
            })
        })
        .collect();
    let edges: Vec<serde_json::Value> = topology
        .relationships
        .iter()
        .map(|one| {
            serde_json::json!({
                "source": one.target.as_str(), "target": one.source.as_str(), "requirement": one.requirement.as_str(),
                "behaviour": one.behaviour.as_str(), "line": sources.position(one.span).line,
            })
        })
        .collect();
    serde_json::json!({ "nodes": nodes, "edges": edges })
}
