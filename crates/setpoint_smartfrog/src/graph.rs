//! The prototype and reference graph: which component extends which, and which links to which.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::{Value as Json, json};

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
    pub fn dot(&self) -> String {
        let mut out = String::from(
            "digraph smartfrog {\n  rankdir = LR;\n  node [shape = box, fontname = \"sans-serif\"];\n",
        );
        for node in &self.nodes {
            let _ = writeln!(out, "  {};", quoted(&shown(node)));
        }
        for Edge { from, to, kind } in &self.edges {
            let style = match kind {
                EdgeKind::Extends => "label = \"extends\"",
                EdgeKind::Link => "label = \"link\", style = dashed",
            };
            let _ = writeln!(out, "  {} -> {} [{style}];", quoted(&shown(from)), quoted(&shown(to)));
        }
        out.push_str("}\n");
        out
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

    /// A drawing in columns: a component stands to the right of those that refer to it.
    pub fn svg(&self) -> String {
        let columns = self.columns();
        let mut rows: BTreeMap<usize, usize> = BTreeMap::new();
        let mut places: BTreeMap<&Path, (usize, usize)> = BTreeMap::new();
        for node in &self.nodes {
            let column = columns.get(node).copied().unwrap_or(0);
            let row = rows.entry(column).or_default();
            places.insert(node, (column * 260 + 20, *row * 50 + 20));
            *row += 1;
        }
        let width = rows.keys().next_back().map_or(0, |column| column * 260 + 240);
        let height = rows.values().max().map_or(0, |row| row * 50 + 20);
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" font-size=\"13\">\n"
        );
        out.push_str("<defs><marker id=\"a\" markerWidth=\"8\" markerHeight=\"8\" refX=\"7\" refY=\"3\" orient=\"auto\"><path d=\"M0,0 L7,3 L0,6 z\"/></marker></defs>\n");
        for Edge { from, to, kind } in &self.edges {
            let (Some((x1, y1)), Some((x2, y2))) = (places.get(from), places.get(to)) else { continue };
            let dash = if *kind == EdgeKind::Link { " stroke-dasharray=\"5,4\"" } else { "" };
            let start = if x1 < x2 { x1 + 200 } else { *x1 };
            let end = if x1 < x2 { *x2 } else { x2 + 200 };
            let _ = writeln!(
                out,
                "<line x1=\"{start}\" y1=\"{}\" x2=\"{end}\" y2=\"{}\" stroke=\"#555\"{dash} marker-end=\"url(#a)\"/>",
                y1 + 15,
                y2 + 15
            );
        }
        for (node, (x, y)) in &places {
            let text = escaped(&shown(node));
            let _ = writeln!(
                out,
                "<rect x=\"{x}\" y=\"{y}\" width=\"200\" height=\"30\" rx=\"4\" fill=\"#fff\" stroke=\"#333\"/><text x=\"{}\" y=\"{}\">{text}</text>",
                x + 8,
                y + 20
            );
        }
        out.push_str("</svg>\n");
        out
    }

    /// The longest way to each component, as far as there are no circles.
    fn columns(&self) -> BTreeMap<&Path, usize> {
        let mut columns: BTreeMap<&Path, usize> = self.nodes.iter().map(|node| (node, 0)).collect();
        for _ in 0..self.nodes.len().min(30) {
            let mut changed = false;
            for Edge { from, to, .. } in &self.edges {
                let wanted = columns.get(from).map_or(0, |column| column + 1);
                if let Some(column) = columns.get_mut(to)
                    && *column < wanted
                {
                    *column = wanted;
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        columns
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
