//! What a command found out about its inputs.

use indexmap::IndexMap;
use setpoint_diagram::Diagram;

use crate::{Diagnostic, Severity};

/// The answers of the analyses that fit an input: `catalog`, `order`, `idempotent`, `reaches_final`, … with the
/// words that the documentation promises.
pub type Verdict = IndexMap<&'static str, &'static str>;

/// One input: a file, or one node of it.
#[derive(Debug, Clone, Default)]
pub struct InputReport {
    pub path: String,
    /// `puppet`, `catalog`, `smartfrog`, `cloudformation`, `tosca`, `model`.
    pub kind: &'static str,
    pub node: Option<String>,
    pub verdict: Verdict,
    pub findings: Vec<Diagnostic>,
    /// What hangs together how, where a drawing was asked for.
    pub drawing: Option<Drawing>,
}

/// A graph that is to be shown, unless nobody could read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Drawing {
    Graph(Diagram),
    /// It has so many nodes.
    TooLarge(usize),
}

impl Drawing {
    /// The graph, unless it has more nodes than that.
    pub fn within(limit: usize, diagram: Diagram) -> Self {
        if diagram.nodes.len() > limit { Self::TooLarge(diagram.nodes.len()) } else { Self::Graph(diagram) }
    }
}

/// All inputs of one call, in the order in which they were given.
#[derive(Debug, Clone, Default)]
pub struct Report {
    pub inputs: Vec<InputReport>,
}

impl Report {
    pub fn findings(&self) -> impl Iterator<Item = &Diagnostic> {
        self.inputs.iter().flat_map(|input| &input.findings)
    }

    pub fn worst(&self) -> Option<Severity> {
        self.findings().map(|finding| finding.severity).max()
    }
}
