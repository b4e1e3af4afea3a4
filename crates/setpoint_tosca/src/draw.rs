//! A topology as a drawing, and as JSON.

use setpoint_diagram::{Diagram, Edge as Line, Legend, Node as Shape, Style};
use setpoint_source::Sources;

use crate::service::Service;
use crate::topology::{Behaviour, Topology};

/// What comes first stands left: an edge leads from the host or the target to what needs it.
pub fn diagram(service: &Service, topology: &Topology) -> Diagram {
    let nodes = service
        .nodes
        .values()
        .map(|node| Shape {
            kind: node.kind.trim_start_matches("tosca.nodes.").to_owned(),
            name: node.name.to_string(),
            ..Shape::default()
        })
        .collect();
    let place = |name| service.nodes.get_index_of(&name);
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

pub fn json(service: &Service, topology: &Topology, sources: &Sources) -> serde_json::Value {
    let nodes: Vec<serde_json::Value> = service
        .nodes
        .values()
        .map(|node| {
            serde_json::json!({
                "name": node.name.as_str(), "type": node.kind.as_str(), "line": sources.position(node.span).line,
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
