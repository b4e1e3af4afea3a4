//! The graphs of inputs, with what the findings are about marked in them.

use std::collections::BTreeSet;

use minijinja::Value;
use serde::Serialize;
use setpoint_diagram::{Diagram, inline_svg};
use setpoint_source::{Drawing, InputReport, Report, Severity};

use crate::counted;
use crate::verdicts::{Counts, name};

/// Nobody reads a drawing with more nodes.
pub const MAX_NODES: usize = 250;
/// Drawings of a page have no more nodes than that, all together.
const MAX_ON_PAGE: usize = 2500;

/// The graph of an input, or of several that have the same one.
#[derive(Debug, Serialize)]
pub(crate) struct Graph {
    names: Vec<String>,
    /// Why there is none.
    left_out: Option<String>,
    svg: Option<Value>,
    /// Whether anything is ordered or linked.
    is_linked: bool,
    is_marked: bool,
}

/// What is to be drawn.
struct Wanted<'a> {
    inputs: Vec<&'a InputReport>,
    drawing: Result<Diagram, String>,
    is_marked: bool,
}

pub(crate) fn graphs(report: &Report) -> Vec<Graph> {
    let counts = Counts::new(report);
    let mut wanted: Vec<Wanted> = Vec::new();
    for input in &report.inputs {
        let drawing = match &input.drawing {
            Some(Drawing::Graph(diagram)) if diagram.nodes.is_empty() => Err("It has no nodes.".to_owned()),
            Some(Drawing::Graph(diagram)) => Ok(marked(diagram, input, &counts)),
            Some(Drawing::TooLarge(nodes)) => Err(format!(
                "It is left out: it has {nodes} nodes, and more than {MAX_NODES} cannot be read. `setpoint graph` draws it."
            )),
            // What is said about a project as a whole has no graph of its own.
            None if input.verdict().is_empty() && input.node.is_none() && report.inputs.len() > 1 => continue,
            None => Err("There is none: the input does not compile.".to_owned()),
        };
        if let Some(same) = wanted.iter_mut().find(|one| one.drawing == drawing) {
            same.inputs.push(input);
            continue;
        }
        let is_marked = drawing.as_ref().is_ok_and(|diagram| diagram.nodes.iter().any(|node| node.wrong));
        wanted.push(Wanted { inputs: vec![input], drawing, is_marked });
    }
    // Those that show what is wrong are drawn before others take their room.
    let mut room = MAX_ON_PAGE;
    for is_marked in [true, false] {
        for one in wanted.iter_mut().filter(|one| one.is_marked == is_marked) {
            let Ok(diagram) = &one.drawing else { continue };
            match room.checked_sub(diagram.nodes.len()) {
                Some(left) => room = left,
                None => {
                    one.drawing = Err(format!(
                        "It is left out: the drawings of this page have {MAX_ON_PAGE} nodes already. `setpoint graph` draws it."
                    ));
                }
            }
        }
    }
    wanted.into_iter().enumerate().map(|(at, one)| drawn(at, one)).collect()
}

fn marked(diagram: &Diagram, input: &InputReport, counts: &Counts<'_>) -> Diagram {
    let findings = counts.findings(input).filter(|finding| finding.severity > Severity::Note);
    let concerned: BTreeSet<&str> =
        findings.flat_map(|finding| &finding.resources).map(String::as_str).collect();
    let mut diagram = diagram.clone();
    for node in &mut diagram.nodes {
        let reference = format!("{}[{}]", node.kind, node.name);
        node.wrong |= concerned.contains(reference.as_str()) || concerned.contains(node.name.as_str());
    }
    diagram
}

fn drawn(at: usize, wanted: Wanted<'_>) -> Graph {
    let names: Vec<String> = wanted.inputs.iter().map(|input| name(input)).collect();
    let is_linked = wanted.drawing.as_ref().is_ok_and(|diagram| !diagram.edges.is_empty());
    let (svg, left_out) = match wanted.drawing {
        Ok(diagram) => {
            let label = format!(
                "The graph of {}: {}, {}",
                names.join("; "),
                counted(diagram.nodes.len(), "node"),
                counted(diagram.edges.len(), "relationship"),
            );
            let svg = inline_svg(&diagram, &format!("graph-{}-", at + 1), &label);
            (Some(Value::from_safe_string(svg)), None)
        }
        Err(reason) => (None, Some(reason)),
    };
    Graph { names, left_out, svg, is_linked, is_marked: wanted.is_marked }
}
