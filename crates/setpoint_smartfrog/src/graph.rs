//! The prototype and reference graph: which component extends which, and which attribute links to which component or value.

use std::collections::BTreeSet;

use serde_json::{Value as Json, json};
use setpoint_diagram::{Diagram, Edge as Line, Legend, Node as Shape, Style};

use crate::observe::{Edge, EdgeKind};
use crate::reference::{Path, shown};
use crate::store::{Store, Value};
use crate::{Compiled, MAIN};

/// Components and references between them.
#[derive(Debug)]
pub struct Graph {
    nodes: Vec<Path>,
    edges: Vec<Edge>,
}

/// The graph of a specification that was compiled with observations.
pub fn graph(compiled: &Compiled) -> Graph {
    let mut edges: Vec<Edge> =
        compiled.observations.as_ref().map_or_else(Vec::new, |seen| seen.edges.clone());
    edges.sort();
    edges.dedup();
    let mut nodes = BTreeSet::new();
    for Edge { from, to, .. } in &edges {
        nodes.extend([from.clone(), to.clone()]);
    }
    for entry in compiled.root.iter() {
        if let Value::Store(store) = &entry.value {
            nodes.insert(vec![entry.name]);
            if entry.name.as_str() == MAIN {
                nodes.extend(children(store).into_iter().map(|name| vec![entry.name, name]));
            }
        }
    }
    Graph { nodes: nodes.into_iter().collect(), edges }
}

fn children(store: &Store) -> Vec<setpoint_source::Symbol> {
    store.iter().filter(|entry| entry.value.as_store().is_some()).map(|entry| entry.name).collect()
}

impl Graph {
    /// As a drawing: a component stands to the right of what it extends or links to.
    pub fn diagram(&self) -> Diagram {
        let nodes = self.nodes.iter().map(|node| Shape { name: shown(node), ..Shape::default() }).collect();
        let place = |path: &Path| self.nodes.binary_search(path).ok();
        let edges = self
            .edges
            .iter()
            .filter_map(|Edge { from, to, kind }| {
                let (style, details) = match kind {
                    EdgeKind::Extends => (Style::Plain, "extends"),
                    EdgeKind::Link => (Style::Implied, "link"),
                };
                let (source, target) = (place(to)?, place(from)?);
                Some(Line { source, target, style, details: details.to_owned(), wrong: false })
            })
            .collect();
        let legend = Legend { plain: "is extended by", strong: "", implied: "is linked to by" };
        Diagram { title: "Prototypes and links".to_owned(), nodes, edges, legend, ..Diagram::default() }
    }

    pub fn json(&self) -> Json {
        let edges: Vec<Json> = self
            .edges
            .iter()
            .map(|Edge { from, to, kind }| {
                let kind = match kind {
                    EdgeKind::Extends => "extends",
                    EdgeKind::Link => "link",
                };
                json!({"from": shown(from), "to": shown(to), "kind": kind})
            })
            .collect();
        json!({"nodes": self.nodes.iter().map(|node| shown(node)).collect::<Vec<_>>(), "edges": edges})
    }
}
