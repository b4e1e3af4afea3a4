//! Directed graphs: their drawings, as DOT for Graphviz and as SVG with a layout of our own, and their components.
//!
//! Every input language turns its graph into a [`Diagram`]; nothing here knows what the nodes are. The layout is
//! layered from left to right: what comes first stands left of what comes later.

mod components;
mod dot;
mod layout;
mod svg;
mod text;

pub use components::components;
pub use dot::dot;
pub use svg::{DARK_STYLE, inline_svg, svg};

/// A graph with what is to be written on it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagram {
    pub title: String,
    pub nodes: Vec<Node>,
    pub edges: Vec<Edge>,
    /// What holds nodes together; a group comes after the group that holds it.
    pub groups: Vec<Group>,
    pub legend: Legend,
}

/// What the three styles of lines mean in this diagram.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Legend {
    pub plain: &'static str,
    pub strong: &'static str,
    pub implied: &'static str,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// What kind of thing it is: `File`.
    pub kind: String,
    /// Which one it is: `/etc/motd`.
    pub name: String,
    /// More lines, for those who point at it.
    pub details: Vec<String>,
    /// An index into the groups.
    pub group: Option<usize>,
    /// It stands for no thing of its own: the begin or the end of a group.
    pub minor: bool,
    /// A part of what is wrong.
    pub wrong: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Indices into the nodes.
    pub source: usize,
    pub target: usize,
    pub style: Style,
    pub details: String,
    pub wrong: bool,
}

/// How an edge is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Style {
    /// Somebody wrote it.
    Plain,
    /// It follows from what others wrote.
    Implied,
    /// It passes something on.
    Strong,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    pub label: String,
    pub parent: Option<usize>,
}
