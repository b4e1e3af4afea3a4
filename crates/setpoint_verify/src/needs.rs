//! What every run without an error needs of the start, in the paper's semantics.
//!
//! There one error is the end of all: from a start at which some step fails in every order, all orders end alike, and a
//! second run ends as the first. Such starts need not be asked about. A service whose script no step brings needs it at the
//! start; a user needs the folder of users, which lies in `/etc`, which then is there, too. Only kinds are looked at, and
//! only cells that no other step writes: that is quickly seen, and it keeps large plans small.

use rustc_hash::FxHashMap;
use setpoint_state::{CellId, Lifetime, Plan, Program, StepId, Test};

use crate::kinds::{Held, Kinds, Known, Laws, by_cell, run};

/// What one step needs may show what another needs, but seldom further.
const ROUNDS: usize = 4;

/// A step that reads more cells is not looked at.
const MOST_CELLS: usize = 64;

/// What may be assumed of a start. `order`: the steps that run.
pub(crate) fn needs(plan: &Plan, order: &[StepId]) -> Vec<Test> {
    // What may do anything may also bring anything.
    if plan.steps.iter().any(|step| step.unknown.is_some()) {
        return Vec::new();
    }
    let mut starts = Starts::new(plan);
    let first = starts.known.clone();
    for _ in 0..ROUNDS {
        let mut more = false;
        for &step in order {
            more |= starts.look_at(step);
        }
        if !more {
            break;
        }
    }
    let cells = (0..plan.space.len() as u32).map(CellId);
    let changed = cells.filter(|cell| starts.of(*cell).kinds != first[cell.0 as usize].kinds);
    changed.map(|cell| starts.of(cell).kinds.test(cell)).collect()
}

struct Starts<'p> {
    plan: &'p Plan,
    /// What is known of each cell at the start.
    known: Vec<Known>,
    /// The steps that write a cell.
    writers: Vec<Vec<StepId>>,
    /// The assumptions that look at a cell.
    laws: FxHashMap<CellId, Vec<u32>>,
}

impl<'p> Starts<'p> {
    fn new(plan: &'p Plan) -> Self {
        let known = plan
            .space
            .iter()
            .map(|(_, cell)| match &cell.lifetime {
                Lifetime::Machine => Known::of(Kinds::of(&cell.kinds)),
                Lifetime::Run(initial) => Known::is(initial),
            })
            .collect();
        let mut writers = vec![Vec::new(); plan.space.len()];
        for (at, step) in plan.steps.iter().enumerate() {
            for cell in step.apply.written() {
                writers[cell.0 as usize].push(StepId(at as u32));
            }
        }
        Self { plan, known, writers, laws: by_cell(&plan.start) }
    }

    fn of(&self, cell: CellId) -> &Known {
        &self.known[cell.0 as usize]
    }

    /// Rules out the starts with which a step fails, whatever others do before it; whether there were any.
    fn look_at(&mut self, step: StepId) -> bool {
        let program = &self.plan.steps[step.0 as usize].apply;
        let mut cells = Vec::new();
        program.reads(&mut cells);
        cells.sort_unstable();
        cells.dedup();
        cells.retain(|&cell| self.is_as_at_start(cell, step));
        if cells.len() > MOST_CELLS {
            return false;
        }
        let mut more = false;
        for &cell in &cells {
            for kind in self.of(cell).kinds.list().map(Kinds::only).collect::<Vec<_>>() {
                let mut before = Vec::new();
                let fails = !self.suppose(cell, kind, &mut before) || self.fails(program, &cells);
                for (cell, known) in before.into_iter().rev() {
                    self.known.set(cell, known);
                }
                if fails {
                    more = true;
                    self.suppose(cell, Kinds::ANY.without(kind), &mut Vec::new());
                }
            }
        }
        more
    }

    /// Whether a cell is as at the start when a step has its turn.
    fn is_as_at_start(&self, cell: CellId, step: StepId) -> bool {
        self.writers[cell.0 as usize].iter().all(|&writer| writer == step)
    }

    fn suppose(&mut self, cell: CellId, kinds: Kinds, before: &mut Vec<(CellId, Known)>) -> bool {
        let laws = Laws { tests: &self.plan.start, by_cell: &self.laws, kept: None };
        laws.suppose(&mut self.known, cell, Known::of(kinds), before)
    }

    /// Whether a program fails for certain that finds these cells as they were at the start.
    fn fails(&self, program: &Program, cells: &[CellId]) -> bool {
        let mut known: FxHashMap<CellId, Known> =
            cells.iter().map(|&cell| (cell, self.of(cell).clone())).collect();
        !run(program, &mut known)
    }
}
