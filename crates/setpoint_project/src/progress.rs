//! How far the work is, for whoever shows it.

use setpoint_verify::Stage;

/// An observer of the work, called from all threads that do it.
pub trait Progress: std::fmt::Debug + Send + Sync {
    /// So many more nodes are to come.
    fn expect(&self, nodes: usize);

    /// The compilation of a node begins.
    fn begin(&self, node: &str);

    /// So much of a question about a node is decided.
    fn tell(&self, node: &str, stage: Stage, decided: usize, of: usize);
}

/// Shows nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Progress for Silent {
    fn expect(&self, _nodes: usize) {}

    fn begin(&self, _node: &str) {}

    fn tell(&self, _node: &str, _stage: Stage, _decided: usize, _of: usize) {}
}
