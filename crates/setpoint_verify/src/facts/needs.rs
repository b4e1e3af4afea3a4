//! What every run without an error needs of the start, in the paper's semantics.
//!
//! There one error is the end of all: from a start at which some step fails in every order, all orders end alike, and a
//! second run ends as the first. Such starts need not be asked about. A service whose script no step brings needs it at the
//! start; a user needs the folder of users, which lies in `/etc`, which then is there, too. Only kinds are looked at, and
//! only cells that no other step writes: that is quickly seen, and it keeps large plans small.

use setpoint_state::{CellId, Plan, StepId, Test};

use crate::facts::kinds::{HeldMut, Kinds, Known, Laws, at_start};
use crate::facts::looks::Looks;
use crate::facts::walk::Walk;

/// What one step needs may show what another needs, but seldom further.
const ROUNDS: usize = 4;

/// A step that reads more cells is not looked at.
const MOST_CELLS: usize = 64;

/// What may be assumed of a start besides what holds of all. `order`: the steps that run.
pub(crate) fn needs(plan: &Plan, all: &[Test], order: &[StepId]) -> Vec<Test> {
    // What may do anything may also bring anything.
    if plan.steps.iter().any(|step| step.unknown.is_some()) {
        return Vec::new();
    }
    let looks = Looks::of(all, plan.space.len());
    let laws = Laws { tests: all, looks: &looks, kept: None };
    let mut starts =
        Starts { plan, laws, known: at_start(plan), changed: vec![1; plan.space.len()], looks: 1 };
    let first = starts.known.clone();
    let finds = finds_as_at_start(plan, order);
    let mut looked = vec![0; finds.len()];
    for _ in 0..ROUNDS {
        for ((step, cells), looked) in finds.iter().zip(&mut looked) {
            // Only what has changed since the last look may show more.
            if cells.iter().any(|cell| starts.changed[cell.0 as usize] > *looked) {
                starts.looks += 1;
                *looked = starts.looks;
                starts.look_at(*step, cells);
            }
        }
    }
    let cells = (0..plan.space.len() as u32).map(CellId);
    let narrower = cells.filter(|cell| starts.of(*cell).kinds != first[cell.0 as usize].kinds);
    narrower.map(|cell| starts.of(cell).kinds.test(cell)).collect()
}

/// The cells that each step reads as they were at the start: nobody else writes them.
fn finds_as_at_start(plan: &Plan, order: &[StepId]) -> Vec<(StepId, Vec<CellId>)> {
    let mut writers: Vec<Option<StepId>> = vec![None; plan.space.len()];
    let mut shared = vec![false; plan.space.len()];
    for (at, step) in plan.steps.iter().enumerate() {
        step.apply.writes(&mut |cell, _| {
            let id = StepId(at as u32);
            shared[cell.0 as usize] |= writers[cell.0 as usize].replace(id).is_some_and(|other| other != id);
        });
    }
    let mut found = Vec::new();
    for &step in order {
        let mut cells = Vec::new();
        plan.steps[step.0 as usize].apply.reads(&mut cells);
        cells.retain(|cell| {
            !shared[cell.0 as usize] && writers[cell.0 as usize].is_none_or(|writer| writer == step)
        });
        cells.sort_unstable();
        cells.dedup();
        if !cells.is_empty() && cells.len() <= MOST_CELLS {
            found.push((step, cells));
        }
    }
    found
}

struct Starts<'p> {
    plan: &'p Plan,
    laws: Laws<'p>,
    /// What is known of each cell at the start.
    known: Vec<Known>,
    /// At which look more became known of a cell.
    changed: Vec<u32>,
    looks: u32,
}

impl Starts<'_> {
    fn of(&self, cell: CellId) -> &Known {
        &self.known[cell.0 as usize]
    }

    /// Rules out the starts with which a step fails, whatever others do before it. `cells`: what it finds as at the start.
    fn look_at(&mut self, step: StepId, cells: &[CellId]) {
        let program = &self.plan.steps[step.0 as usize].apply;
        let mut walk = Walk::default();
        for &cell in cells {
            walk.set(cell, self.of(cell).clone());
        }
        for &cell in cells {
            let kinds = self.of(cell).kinds;
            for kind in kinds.list().map(Kinds::only).filter(|kind| *kind != kinds) {
                let known = walk.changes();
                let mut before = Vec::new();
                let possible = self.laws.suppose(&mut self.known, cell, Known::of(kind), &mut before);
                let fails = !possible || {
                    for (cell, _) in before.iter().filter(|(cell, _)| cells.binary_search(cell).is_ok()) {
                        walk.set(*cell, self.of(*cell).clone());
                    }
                    !walk.run(program)
                };
                walk.undo(known);
                for (cell, known) in before.drain(..).rev() {
                    self.known.set(cell, known);
                }
                if fails {
                    let other = Known::of(Kinds::ANY.without(kind));
                    self.laws.suppose(&mut self.known, cell, other, &mut before);
                    for (cell, _) in before {
                        self.changed[cell.0 as usize] = self.looks;
                        if cells.binary_search(&cell).is_ok() {
                            walk.set(cell, self.of(cell).clone());
                        }
                    }
                }
            }
        }
    }
}
