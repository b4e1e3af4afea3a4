//! The graph of a template as a drawing, and as JSON.

use setpoint_diagram::{Diagram, Edge as Line, Legend, Node as Shape, Style};
use setpoint_source::{Rule, Sources};

use crate::Analysis;
use crate::graph::Via;

/// What comes first stands left: an edge leads from what is waited for to what waits.
pub fn diagram(analysis: &Analysis) -> Diagram {
    let Analysis { template, graph, findings, .. } = analysis;
    let wrong: Vec<&String> = findings
        .iter()
        .filter(|finding| [Rule::DependencyCycle, Rule::Deadlock].contains(&finding.rule))
        .flat_map(|finding| &finding.resources)
        .collect();
    let is_wrong = |name: &str| wrong.iter().any(|one| *one == name);
    let nodes = template
        .resources
        .values()
        .map(|resource| Shape {
            kind: resource.kind.trim_start_matches("AWS::").to_owned(),
            name: resource.name.to_string(),
            details: resource.condition.iter().map(|(name, _)| format!("only if {name}")).collect(),
            wrong: is_wrong(&resource.name),
            ..Shape::default()
        })
        .collect();
    let place = |name| template.resources.get_index_of(&name);
    let mut edges: Vec<Line> = Vec::new();
    for edge in &graph.edges {
        let (Some(source), Some(target)) = (place(edge.to), place(edge.from)) else { continue };
        if edges.iter().any(|known| known.source == source && known.target == target) {
            continue;
        }
        edges.push(Line {
            source,
            target,
            style: match edge.via {
                Via::DependsOn => Style::Strong,
                Via::Transform(_) => Style::Implied,
                _ => Style::Plain,
            },
            details: edge.via.describe(),
            wrong: is_wrong(&edge.from) && is_wrong(&edge.to),
        });
    }
    let legend = Legend { plain: "referred to by", strong: "DependsOn", implied: "made by a transform" };
    Diagram { title: "What waits for what".to_owned(), nodes, edges, legend, ..Diagram::default() }
}

/// Nodes with their types, edges with the text that makes them.
pub fn json(analysis: &Analysis, sources: &Sources) -> serde_json::Value {
    let Analysis { template, graph, .. } = analysis;
    let line = |range| sources.position(template.span(range)).line;
    let nodes: Vec<serde_json::Value> = template
        .resources
        .values()
        .map(|one| {
            serde_json::json!({
                "name": one.name.as_str(), "type": one.kind.as_str(), "line": line(one.name_range),
                "condition": one.condition.map(|(name, _)| name.as_str()),
            })
        })
        .collect();
    let edges: Vec<serde_json::Value> = graph
        .edges
        .iter()
        .map(|edge| {
            let when: Vec<String> = edge
                .guard
                .iter()
                .map(|(name, value)| if *value { name.to_string() } else { format!("not {name}") })
                .collect();
            serde_json::json!({
                "source": edge.to.as_str(), "target": edge.from.as_str(), "via": edge.via.describe(),
                "line": line(edge.range), "when": when,
            })
        })
        .collect();
    serde_json::json!({ "nodes": nodes, "edges": edges })
}
