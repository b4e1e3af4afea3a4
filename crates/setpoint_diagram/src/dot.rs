//! Diagrams for Graphviz.

use std::fmt::Write;

use crate::{Diagram, Node, Style};

/// The diagram in the DOT language, groups as clusters.
pub fn dot(diagram: &Diagram) -> String {
    let mut out = String::from("digraph {\n");
    let _ = writeln!(out, "  label={};", quoted(&diagram.title));
    out.push_str("  labelloc=t; rankdir=LR; fontname=\"sans-serif\";\n");
    out.push_str("  node [shape=box, style=\"rounded,filled\", fillcolor=\"#f6f8fa\", fontname=\"sans-serif\", fontsize=11];\n");
    out.push_str("  edge [fontname=\"sans-serif\", fontsize=9, color=\"#57606a\"];\n");
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); diagram.groups.len()];
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); diagram.groups.len()];
    let mut roots = Vec::new();
    for (at, node) in diagram.nodes.iter().enumerate() {
        match node.group.filter(|group| *group < members.len()) {
            Some(group) => members[group].push(at),
            None => write_node(at, node, 1, &mut out),
        }
    }
    for (at, group) in diagram.groups.iter().enumerate() {
        // A group comes after the one that holds it, so that groups cannot hold each other.
        match group.parent.filter(|parent| *parent < at) {
            Some(parent) => children[parent].push(at),
            None => roots.push(at),
        }
    }
    write_groups(diagram, &roots, &members, &children, &mut out);
    for edge in &diagram.edges {
        let style = match (edge.wrong, edge.style) {
            (true, _) => " [color=\"#cf222e\", penwidth=2",
            (false, Style::Plain) => " [style=solid",
            (false, Style::Implied) => " [style=dashed",
            (false, Style::Strong) => " [color=\"#bc4c00\", penwidth=1.5",
        };
        let _ = write!(out, "  n{} -> n{}{style}", edge.source, edge.target);
        if !edge.details.is_empty() {
            let _ = write!(out, ", tooltip={}", quoted(&edge.details));
        }
        out.push_str("];\n");
    }
    out.push_str("}\n");
    out
}

/// Clusters within clusters, without recursion: groups may nest as deep as an input likes.
fn write_groups(
    diagram: &Diagram,
    roots: &[usize],
    members: &[Vec<usize>],
    children: &[Vec<usize>],
    out: &mut String,
) {
    let mut work: Vec<(usize, usize, bool)> = roots.iter().rev().map(|root| (*root, 1, false)).collect();
    while let Some((group, depth, done)) = work.pop() {
        let indent = "  ".repeat(depth.min(40));
        if done {
            let _ = writeln!(out, "{indent}}}");
            continue;
        }
        let _ = writeln!(out, "{indent}subgraph cluster_{group} {{");
        let label = quoted(&diagram.groups[group].label);
        let _ =
            writeln!(out, "{indent}  label={label}; color=\"#d0d7de\"; fontsize=10; fontcolor=\"#57606a\";");
        for &node in &members[group] {
            write_node(node, &diagram.nodes[node], depth + 1, out);
        }
        work.push((group, depth, true));
        work.extend(children[group].iter().rev().map(|child| (*child, depth + 1, false)));
    }
}

fn write_node(at: usize, node: &Node, depth: usize, out: &mut String) {
    let indent = "  ".repeat(depth.min(41));
    let label =
        if node.kind.is_empty() { node.name.clone() } else { format!("{}[{}]", node.kind, node.name) };
    let _ = write!(out, "{indent}n{at} [label={}", quoted(&label));
    if !node.details.is_empty() {
        let _ = write!(out, ", tooltip={}", quoted(&node.details.join("\n")));
    }
    if node.wrong {
        out.push_str(", color=\"#cf222e\", fillcolor=\"#ffebe9\", penwidth=2");
    } else if node.minor {
        out.push_str(", style=\"rounded,dashed\", fontcolor=\"#57606a\"");
    }
    out.push_str("];\n");
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}
