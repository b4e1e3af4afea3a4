//! What is to be run: steps, the order that they must keep, and where they may start.

use std::sync::Arc;

use crate::{CellId, Program, Space, Test};

/// The place of a step in [`Plan::steps`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct StepId(pub u32);

/// A resource as the run sees it.
#[derive(Clone, Debug)]
pub struct Step {
    /// As Puppet writes it: `File[/etc/motd]`.
    pub name: Arc<str>,
    /// What it does when its turn has come and nothing before it failed.
    pub apply: Program,
    /// What it does after that, if something that notifies it has changed.
    pub refresh: Program,
    /// Whether its provider can be used. A step whose provider cannot be used yet is postponed; a step whose provider can
    /// never be used fails.
    pub suitable: Test,
    /// Something about it is not modelled.
    pub unknown: Option<Unknown>,
    /// Containers and anchors do nothing, but pass failures and notifications on.
    pub passes_on: bool,
    pub manages: Manages,
}

impl Step {
    /// A step that is understood, that stands for all that it writes, and whose provider can always be used.
    pub fn new(name: &str, apply: Program, refresh: Program) -> Self {
        Self {
            name: name.into(),
            apply,
            refresh,
            suitable: Test::True,
            unknown: None,
            passes_on: false,
            manages: Manages::AllItWrites,
        }
    }

    /// The same step, doing something else.
    pub fn doing(&self, apply: Program, refresh: Program, suitable: Test) -> Self {
        let Self { name, unknown, passes_on, manages, .. } = self;
        let (name, unknown, manages) = (name.clone(), unknown.clone(), manages.clone());
        Self { name, apply, refresh, suitable, unknown, passes_on: *passes_on, manages }
    }

    /// Whether what it writes to a cell is what it stands for, rather than what comes along with it.
    pub fn manages(&self, cell: CellId) -> bool {
        match &self.manages {
            Manages::AllItWrites => true,
            Manages::Only(cells) => cells.contains(&cell),
        }
    }
}

/// What a step stands for. A package stands for itself and not for each of its files, a file without a content for its being
/// there and not for what is in it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Manages {
    #[default]
    AllItWrites,
    Only(Vec<CellId>),
}

/// Why the effect of a step is not known, and how far it may reach.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unknown {
    /// Completes the sentence "the effect of Exec[x] is not known: …".
    pub reason: Arc<str>,
    pub reach: Reach,
}

/// What a step may read and write beyond its program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reach {
    Everything,
    Cells(Vec<CellId>),
}

/// The steps of a catalog over one space of cells.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    pub space: Space,
    /// In the order in which Puppet will run them.
    pub steps: Vec<Step>,
    /// `(before, after)`: the second waits for the first, and is skipped if the first fails or is skipped.
    pub edges: Vec<(StepId, StepId)>,
    /// `(from, to)`, each also an edge: a change of the first refreshes the second.
    pub notifies: Vec<(StepId, StepId)>,
    /// What holds of an admissible start. Cells that it does not mention may hold anything of their kinds.
    pub start: Vec<Test>,
    /// What always holds of a machine, also under `--any-start`: the parent of what exists is a directory, a path that
    /// is absent has no mode.
    pub laws: Vec<Test>,
}
