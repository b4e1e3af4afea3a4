//! Diagrams as SVG.

use std::fmt::Write;

use crate::layout::{HEIGHT, Placed, layout};
use crate::text::{escaped, shortened, width};
use crate::{Diagram, Edge, Node, Style};

/// Around the drawing.
const MARGIN: f64 = 20.0;
/// Above the drawing, for its title.
const HEADING: f64 = 34.0;
/// Below the drawing, for what the lines mean.
const LEGEND: f64 = 34.0;

/// Tints for kinds of nodes: border and background. A kind always has the same.
const TINTS: [(&str, &str); 8] = [
    ("#0969da", "#ddf4ff"),
    ("#1a7f37", "#dafbe1"),
    ("#9a6700", "#fff8c5"),
    ("#8250df", "#fbefff"),
    ("#bf3989", "#ffeff7"),
    ("#0f766e", "#e6fffa"),
    ("#57606a", "#f6f8fa"),
    ("#953800", "#fff1e5"),
];

/// For a page that is read in the dark: what its own style sheet says of a drawing counts more than the drawing's colours.
pub const DARK_STYLE: &str = "\
svg .paper, svg .minor rect { fill: none }
svg .ink { fill: #e6edf3 }
svg .faint { fill: #9198a1 }
svg .line-plain { stroke: #9198a1 } svg .tip-plain { fill: #9198a1 }
svg .line-implied { stroke: #6e7681 } svg .tip-implied { fill: #6e7681 }
svg .line-strong { stroke: #f0883e } svg .tip-strong { fill: #f0883e }
svg .line-wrong { stroke: #ff7b72 } svg .tip-wrong { fill: #ff7b72 }
svg .tint-0 rect { fill: #0c2d4d; stroke: #58a6ff } svg .tint-0 tspan { fill: #79c0ff }
svg .tint-1 rect { fill: #0f2f1b; stroke: #3fb950 } svg .tint-1 tspan { fill: #56d364 }
svg .tint-2 rect { fill: #362a06; stroke: #d29922 } svg .tint-2 tspan { fill: #e3b341 }
svg .tint-3 rect { fill: #2b1a45; stroke: #a371f7 } svg .tint-3 tspan { fill: #d2a8ff }
svg .tint-4 rect { fill: #3d1530; stroke: #db61a2 } svg .tint-4 tspan { fill: #f778ba }
svg .tint-5 rect { fill: #0b322f; stroke: #39c5bb } svg .tint-5 tspan { fill: #5ee0d6 }
svg .tint-6 rect { fill: #21262d; stroke: #8b949e } svg .tint-6 tspan { fill: #b1bac4 }
svg .tint-7 rect { fill: #3d1f0b; stroke: #f0883e } svg .tint-7 tspan { fill: #ffa657 }
svg .wrong rect { fill: #4c1113; stroke: #ff7b72 } svg .wrong tspan { fill: #ffa198 }
";

/// A drawing that needs nothing else: no script, no font, no other file.
pub fn svg(diagram: &Diagram) -> String {
    drawing(diagram, "", "")
}

/// The same as a part of a page. The prefix keeps its names apart from those of other drawings there; the label is for those
/// who cannot see it.
pub fn inline_svg(diagram: &Diagram, prefix: &str, label: &str) -> String {
    drawing(diagram, prefix, &format!(" role=\"img\" aria-label=\"{}\"", escaped(label)))
}

fn drawing(diagram: &Diagram, prefix: &str, role: &str) -> String {
    let widths: Vec<f64> = diagram.nodes.iter().map(node_width).collect();
    let layout = layout(diagram, &widths);
    let width = (layout.width + 2.0 * MARGIN).max(680.0);
    let height = layout.height + 2.0 * MARGIN + HEADING + LEGEND;
    let mut out = String::with_capacity(400 * (diagram.nodes.len() + diagram.edges.len()) + 2000);
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\"{role} font-family=\"system-ui, 'DejaVu Sans', sans-serif\" font-size=\"12\">"
    );
    out.push_str("<rect class=\"paper\" width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
    markers(prefix, &mut out);
    let _ = writeln!(
        out,
        "<text class=\"ink\" x=\"{MARGIN}\" y=\"{:.0}\" font-size=\"15\" font-weight=\"600\" fill=\"#1f2328\">{}</text>",
        MARGIN + 8.0,
        escaped(&diagram.title)
    );
    let _ = writeln!(out, "<g transform=\"translate({MARGIN} {:.0})\">", MARGIN + HEADING);
    // Edges first, so that nodes lie on top of them; what is wrong last among them.
    for wrong in [false, true] {
        for (edge, points) in diagram.edges.iter().zip(&layout.edges).filter(|(edge, _)| edge.wrong == wrong)
        {
            draw_edge(edge, points, prefix, &mut out);
        }
    }
    for (node, placed) in diagram.nodes.iter().zip(&layout.nodes) {
        draw_node(node, *placed, &mut out);
    }
    out.push_str("</g>\n");
    draw_legend(diagram, height - LEGEND, prefix, &mut out);
    out.push_str("</svg>\n");
    out
}

/// The tips of lines: name, where the line ends in it, size, shape and colour.
const TIPS: [(&str, u8, &str, &str); 4] = [
    ("plain", 7, "M0 0.5L8 4L0 7.5z", "#57606a"),
    ("implied", 7, "M0 0.5L8 4L0 7.5z", "#8c959f"),
    ("strong", 6, "M0 0L8 4L0 8z", "#bc4c00"),
    ("wrong", 6, "M0 0L8 4L0 8z", "#cf222e"),
];

fn markers(prefix: &str, out: &mut String) {
    out.push_str("<defs>\n");
    for (name, size, shape, colour) in TIPS {
        let _ = writeln!(
            out,
            "<marker id=\"{prefix}{name}\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"{size}\" \
             markerHeight=\"{size}\" orient=\"auto\"><path class=\"tip-{name}\" d=\"{shape}\" fill=\"{colour}\"/></marker>"
        );
    }
    out.push_str("</defs>\n");
}

fn node_width(node: &Node) -> f64 {
    let kind = if node.kind.is_empty() { 0.0 } else { width(&node.kind) + 6.0 };
    (kind + width(&shortened(&node.name)) + 18.0).max(40.0)
}

fn draw_node(node: &Node, placed: Placed, out: &mut String) {
    let Placed { x, y, width } = placed;
    let at = tint(&node.kind);
    let (border, fill) = if node.wrong { ("#cf222e", "#ffebe9") } else { TINTS[at] };
    let class = if node.wrong { "wrong".to_owned() } else { format!("tint-{at}") };
    let (fill, dash) = if node.minor { ("#ffffff", " stroke-dasharray=\"3 3\"") } else { (fill, "") };
    let thickness = if node.wrong { 2 } else { 1 };
    let _ = write!(out, "<g class=\"{class}{}\">", if node.minor { " minor" } else { "" });
    let _ = write!(out, "<title>{}", escaped(&format!("{} {}", node.kind, node.name)));
    for detail in &node.details {
        let _ = write!(out, "\n{}", escaped(detail));
    }
    let _ = write!(
        out,
        "</title><rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{HEIGHT}\" rx=\"5\" fill=\"{fill}\" \
         stroke=\"{border}\" stroke-width=\"{thickness}\"{dash}/>"
    );
    let _ = write!(out, "<text class=\"ink\" x=\"{:.1}\" y=\"{:.1}\" fill=\"#1f2328\">", x + 9.0, y + 17.5);
    if !node.kind.is_empty() {
        let _ = write!(out, "<tspan fill=\"{border}\" font-weight=\"600\">{}</tspan> ", escaped(&node.kind));
    }
    let _ = writeln!(out, "{}</text></g>", escaped(&shortened(&node.name)));
}

/// The tint of a kind, by its letters, so that it does not change when other nodes come or go.
fn tint(kind: &str) -> usize {
    let known = match kind {
        "File" => Some(0),
        "Service" => Some(1),
        "Package" => Some(2),
        "User" | "Group" => Some(3),
        "Exec" => Some(7),
        "Class" | "Stage" | "" => Some(6),
        _ => None,
    };
    let sum = kind.bytes().fold(7_usize, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    known.unwrap_or(sum % TINTS.len())
}

fn draw_edge(edge: &Edge, points: &[(f64, f64)], prefix: &str, out: &mut String) {
    let Some(&(x, y)) = points.first() else { return };
    let (colour, thickness, dash, marker) = match (edge.wrong, edge.style) {
        (true, _) => ("#cf222e", "2", "", "wrong"),
        (false, Style::Plain) => ("#57606a", "1.2", "", "plain"),
        (false, Style::Implied) => ("#8c959f", "1", " stroke-dasharray=\"4 3\"", "implied"),
        (false, Style::Strong) => ("#bc4c00", "1.6", "", "strong"),
    };
    let _ = write!(out, "<path class=\"line-{marker}\" d=\"M{x:.1} {y:.1}");
    for pair in points.windows(2) {
        let ((x1, y1), (x2, y2)) = (pair[0], pair[1]);
        if (y1 - y2).abs() < 0.5 {
            let _ = write!(out, "L{x2:.1} {y2:.1}");
        } else {
            let middle = f64::midpoint(x1, x2);
            let _ = write!(out, "C{middle:.1} {y1:.1} {middle:.1} {y2:.1} {x2:.1} {y2:.1}");
        }
    }
    let _ = write!(
        out,
        "\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{thickness}\"{dash} marker-end=\"url(#{prefix}{marker})\">"
    );
    if !edge.details.is_empty() {
        let _ = write!(out, "<title>{}</title>", escaped(&edge.details));
    }
    out.push_str("</path>\n");
}

/// What the lines mean: only those that are there.
fn draw_legend(diagram: &Diagram, y: f64, prefix: &str, out: &mut String) {
    let mut x = MARGIN;
    for (style, wrong, label) in [
        (Style::Plain, false, diagram.legend.plain),
        (Style::Strong, false, diagram.legend.strong),
        (Style::Implied, false, diagram.legend.implied),
        (Style::Plain, true, "cycle"),
    ] {
        let there = |edge: &Edge| edge.wrong == wrong && (wrong || edge.style == style);
        if !diagram.edges.iter().any(there) {
            continue;
        }
        let line = Edge { source: 0, target: 0, style, details: String::new(), wrong };
        draw_edge(&line, &[(x, y), (x + 34.0, y)], prefix, out);
        let _ = writeln!(
            out,
            "<text class=\"faint\" x=\"{:.0}\" y=\"{:.0}\" font-size=\"11\" fill=\"#57606a\">{label}</text>",
            x + 42.0,
            y + 4.0
        );
        x += 42.0 + width(label) + 24.0;
    }
}
