//! Coordinates within one connected part.

use std::collections::BTreeMap;

use super::layers::{Layered, assign, without_cycles};
use super::{GAP, HEIGHT, Part, Placed};
use crate::{Diagram, Style};

/// The height that a passing edge takes.
const LANE: f64 = 8.0;

/// Beyond so many layers that edges pass, all together, edges that pass layers are straight lines: nobody could follow them anyway, and their
/// lanes would take minutes and gigabytes.
const MAX_PASSED_LAYERS: usize = 200_000;

/// Lays out one connected set of nodes.
pub(super) fn part(diagram: &Diagram, nodes: &[usize], widths: &[f64]) -> Part {
    let vertex: BTreeMap<usize, usize> = nodes.iter().enumerate().map(|(at, node)| (*node, at)).collect();
    let own: Vec<(usize, usize, usize)> = diagram
        .edges
        .iter()
        .enumerate()
        .filter(|(_, edge)| edge.source != edge.target)
        .filter_map(|(at, edge)| Some((at, *vertex.get(&edge.source)?, *vertex.get(&edge.target)?)))
        .collect();
    let ends: Vec<(usize, usize)> = own.iter().map(|(_, source, target)| (*source, *target)).collect();
    let acyclic = without_cycles(nodes.len(), &ends);
    let layer = assign(nodes.len(), &acyclic);
    let styles: Vec<(Style, bool)> =
        own.iter().map(|(at, ..)| (diagram.edges[*at].style, diagram.edges[*at].wrong)).collect();
    let bundles = bundles(&layer, &acyclic, &styles);
    let (mut layered, chains) = with_lanes(nodes.len(), &layer, &acyclic, &bundles);
    layered.reduce_crossings();
    let heights: Vec<f64> =
        (0..layered.after.len()).map(|at| if at < nodes.len() { HEIGHT } else { LANE }).collect();
    let y = rows(&layered, &heights);
    let columns = columns(&layered, nodes, widths);

    let width = columns.last().map_or(0.0, |(x, width)| x + width);
    let height = (0..y.len()).map(|at| y[at] + heights[at] / 2.0).fold(0.0, f64::max);
    let mut part = Part { width, height, ..Part::default() };
    for (at, &node) in nodes.iter().enumerate() {
        let placed = Placed { x: columns[layer[at]].0, y: y[at] - HEIGHT / 2.0, width: widths[node] };
        part.nodes.push((node, placed));
    }
    for ((edge, source, _), chain) in own.iter().zip(&chains) {
        let mut points = Vec::with_capacity(2 * chain.len());
        for (place, &at) in chain.iter().enumerate() {
            let (left, width) = columns[if at < nodes.len() { layer[at] } else { layer[chain[0]] + place }];
            let right = left + if at < nodes.len() { widths[nodes[at]] } else { width };
            if place > 0 {
                points.push((left, y[at]));
            }
            if place + 1 < chain.len() {
                points.push((right, y[at]));
            }
        }
        // An edge that was turned round to open a cycle is drawn in its own direction.
        if chain.first() != Some(source) {
            points.reverse();
        }
        part.edges.push((*edge, points));
    }
    part
}

/// What edges that run together have in common: an end, which may be the source, and their style.
type Bundle = (bool, usize, Style, bool);

/// Edges of one style that pass layers run together, from their source or to their target, where there are more.
fn bundles(layer: &[usize], edges: &[(usize, usize)], styles: &[(Style, bool)]) -> Vec<Bundle> {
    let both = |at: usize| {
        let ((source, target), (style, wrong)) = (edges[at], styles[at]);
        [(true, source, style, wrong), (false, target, style, wrong)]
    };
    let mut sizes: BTreeMap<Bundle, usize> = BTreeMap::new();
    for (at, _) in
        edges.iter().enumerate().filter(|(_, (source, target))| layer[*source] + 1 < layer[*target])
    {
        for bundle in both(at) {
            *sizes.entry(bundle).or_default() += 1;
        }
    }
    let size = |bundle: Bundle| sizes.get(&bundle).copied().unwrap_or(0);
    (0..edges.len())
        .map(|at| {
            let [from, to] = both(at);
            if size(from) > size(to) { from } else { to }
        })
        .collect()
}

/// Edges that pass layers get a vertex in each, so that every edge leads to the next layer; those of a bundle share
/// them. Also the vertices along each edge.
fn with_lanes(
    count: usize,
    layer: &[usize],
    edges: &[(usize, usize)],
    bundles: &[Bundle],
) -> (Layered, Vec<Vec<usize>>) {
    let depth = layer.iter().max().map_or(0, |deepest| deepest + 1);
    let mut layered = Layered {
        layers: vec![Vec::new(); depth],
        after: vec![Vec::new(); count],
        before: vec![Vec::new(); count],
    };
    for (vertex, &at) in layer.iter().enumerate() {
        layered.layers[at].push(vertex);
    }
    let passed = |source: usize, target: usize| layer[target].saturating_sub(layer[source] + 1);
    let has_lanes =
        edges.iter().map(|&(source, target)| passed(source, target)).sum::<usize>() <= MAX_PASSED_LAYERS;
    let mut lanes: BTreeMap<(Bundle, usize), usize> = BTreeMap::new();
    let mut chains = Vec::with_capacity(edges.len());
    for (&(source, target), &bundle) in edges.iter().zip(bundles) {
        if !has_lanes && passed(source, target) > 0 {
            chains.push(vec![source, target]);
            continue;
        }
        let mut chain = vec![source];
        for passed in layer[source] + 1..layer[target] {
            let lane = *lanes.entry((bundle, passed)).or_insert_with(|| {
                layered.layers[passed].push(layered.after.len());
                layered.after.push(Vec::new());
                layered.before.push(Vec::new());
                layered.after.len() - 1
            });
            chain.push(lane);
        }
        chain.push(target);
        for pair in chain.windows(2) {
            // The rest of a shared way is there already.
            if !layered.before[pair[1]].contains(&pair[0]) {
                layered.after[pair[0]].push(pair[1]);
                layered.before[pair[1]].push(pair[0]);
            }
        }
        chains.push(chain);
    }
    (layered, chains)
}

/// The left side and the width of each layer. Between layers there is more room where many edges pass.
fn columns(layered: &Layered, nodes: &[usize], widths: &[f64]) -> Vec<(f64, f64)> {
    let mut x = 0.0;
    let mut columns = Vec::with_capacity(layered.layers.len());
    for layer in &layered.layers {
        let width =
            layer.iter().filter(|at| **at < nodes.len()).map(|at| widths[nodes[*at]]).fold(20.0, f64::max);
        columns.push((x, width));
        let edges: usize = layer.iter().map(|at| layered.after[*at].len()).sum();
        x += width + (40.0 + 3.0 * edges as f64).min(160.0);
    }
    columns
}

/// The middle of each vertex, from the top: near to its neighbours, in the order of its layer, and never too near to the
/// one above.
fn rows(layered: &Layered, heights: &[f64]) -> Vec<f64> {
    let mut y = vec![0.0; heights.len()];
    for layer in &layered.layers {
        let mut top = 0.0;
        for &vertex in layer {
            y[vertex] = top + heights[vertex] / 2.0;
            top += heights[vertex] + GAP;
        }
    }
    for round in 0..20 {
        let forward = round % 2 == 0;
        for step in 0..layered.layers.len() {
            let at = if forward { step } else { layered.layers.len() - 1 - step };
            let layer = &layered.layers[at];
            let wanted: Vec<(f64, f64)> =
                layer.iter().map(|vertex| wish(layered, *vertex, &y, heights)).collect();
            let placed = separate(layer, &wanted, heights);
            for (&vertex, place) in layer.iter().zip(placed) {
                y[vertex] = place;
            }
        }
    }
    let highest = (0..y.len()).map(|at| y[at] - heights[at] / 2.0).fold(f64::INFINITY, f64::min);
    if highest.is_finite() {
        for place in &mut y {
            *place -= highest;
        }
    }
    y
}

/// Where a vertex would like to be, and how much. Lanes insist, so that long edges are straight.
fn wish(layered: &Layered, vertex: usize, y: &[f64], heights: &[f64]) -> (f64, f64) {
    let is_lane = |at: usize| heights[at] < HEIGHT;
    let (mut sum, mut weight) = (0.0, 0.0);
    for &other in layered.before[vertex].iter().chain(&layered.after[vertex]) {
        let strength = if is_lane(vertex) && is_lane(other) { 8.0 } else { 1.0 };
        sum += y[other] * strength;
        weight += strength;
    }
    if weight == 0.0 { (y[vertex], 0.1) } else { (sum / weight, weight) }
}

/// The places that differ least from the wishes and keep their distances: a weighted isotonic regression, which joins
/// neighbours that would overlap into blocks.
fn separate(layer: &[usize], wanted: &[(f64, f64)], heights: &[f64]) -> Vec<f64> {
    let mut offset = 0.0;
    let mut offsets = Vec::with_capacity(layer.len());
    let mut blocks: Vec<(f64, f64, usize)> = Vec::new();
    for (at, &vertex) in layer.iter().enumerate() {
        if at > 0 {
            offset += f64::midpoint(heights[layer[at - 1]], heights[vertex]) + GAP;
        }
        offsets.push(offset);
        let (wish, weight) = wanted[at];
        blocks.push((wish - offset, weight, 1));
        while let [.., (above, above_weight, above_count), (below, below_weight, below_count)] =
            *blocks.as_slice()
            && above > below
        {
            let weight = above_weight + below_weight;
            let mean = (above * above_weight + below * below_weight) / weight;
            blocks.truncate(blocks.len() - 2);
            blocks.push((mean, weight, above_count + below_count));
        }
    }
    let places = blocks.iter().flat_map(|(mean, _, count)| std::iter::repeat_n(*mean, *count));
    places.zip(offsets).map(|(mean, offset)| mean + offset).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_keep_their_distance() {
        let placed = separate(&[0, 1, 2], &[(10.0, 1.0), (10.0, 1.0), (200.0, 1.0)], &[HEIGHT; 3]);
        assert!((placed[1] - placed[0] - HEIGHT - GAP).abs() < 1e-9);
        assert_eq!(f64::midpoint(placed[0], placed[1]), 10.0);
        assert_eq!(placed[2], 200.0);
    }
}
