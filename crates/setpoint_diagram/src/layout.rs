//! A layered layout: each connected part on its own, then all parts packed into rows.

mod component;
mod layers;
mod place;

use component::components;

use crate::Diagram;

/// Where everything is drawn, in pixels.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Layout {
    pub(crate) width: f64,
    pub(crate) height: f64,
    /// The left upper corner and the width of each node.
    pub(crate) nodes: Vec<Placed>,
    /// The points of each edge, from the right side of its source to the left side of its target.
    pub(crate) edges: Vec<Vec<(f64, f64)>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Placed {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) width: f64,
}

/// The height of a node.
pub(crate) const HEIGHT: f64 = 26.0;
/// Between two nodes one above the other.
const GAP: f64 = 10.0;
/// Between two parts of the graph.
const PART_GAP: f64 = 28.0;

/// A part of the graph that is laid out by itself: positions from its own corner.
#[derive(Debug, Default)]
struct Part {
    width: f64,
    height: f64,
    nodes: Vec<(usize, Placed)>,
    edges: Vec<(usize, Vec<(f64, f64)>)>,
}

/// `widths` are those of the nodes.
pub(crate) fn layout(diagram: &Diagram, widths: &[f64]) -> Layout {
    let (connected, alone) = components(diagram);
    let mut parts: Vec<Part> =
        connected.iter().map(|component| place::part(diagram, component, widths)).collect();
    let total: f64 = parts.iter().map(|part| (part.width + PART_GAP) * (part.height + PART_GAP)).sum();
    let widest = parts.iter().map(|part| part.width).fold(600.0, f64::max);
    let limit = widest.max((total * 1.8).sqrt());
    // Large parts first; of the same size, those that come first.
    parts.sort_by(|a, b| b.height.total_cmp(&a.height));
    if !alone.is_empty() {
        parts.push(grid(&alone, widths, limit));
    }
    pack(parts, limit, diagram)
}

/// Nodes without edges, in columns.
fn grid(nodes: &[usize], widths: &[f64], limit: f64) -> Part {
    let cell = nodes.iter().map(|node| widths[*node]).fold(0.0, f64::max) + GAP;
    let columns = ((limit / cell).floor() as usize).clamp(1, nodes.len().max(1));
    let rows = nodes.len().div_ceil(columns);
    let mut part = Part { width: cell * columns as f64 - GAP, height: 0.0, ..Part::default() };
    for (at, &node) in nodes.iter().enumerate() {
        let (column, row) = (at / rows, at % rows);
        let (x, y) = (column as f64 * cell, row as f64 * (HEIGHT + GAP));
        part.nodes.push((node, Placed { x, y, width: widths[node] }));
        part.height = part.height.max(y + HEIGHT);
    }
    part
}

/// Rows of parts, each as high as its highest part.
fn pack(parts: Vec<Part>, limit: f64, diagram: &Diagram) -> Layout {
    let mut layout = Layout {
        nodes: vec![Placed::default(); diagram.nodes.len()],
        edges: vec![Vec::new(); diagram.edges.len()],
        ..Layout::default()
    };
    let (mut x, mut y, mut row) = (0.0_f64, 0.0_f64, 0.0_f64);
    for part in parts {
        if x > 0.0 && x + part.width > limit {
            (x, y, row) = (0.0, y + row + PART_GAP, 0.0);
        }
        for (node, placed) in part.nodes {
            layout.nodes[node] = Placed { x: placed.x + x, y: placed.y + y, ..placed };
        }
        for (edge, points) in part.edges {
            layout.edges[edge] = points.into_iter().map(|(px, py)| (px + x, py + y)).collect();
        }
        layout.width = layout.width.max(x + part.width);
        row = row.max(part.height);
        layout.height = layout.height.max(y + row);
        x += part.width + PART_GAP;
    }
    layout
}
