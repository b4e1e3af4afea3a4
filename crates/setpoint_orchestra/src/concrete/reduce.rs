//! Partial-order reduction: which of the enabled steps are enough to look at.
//!
//! A stubborn set is closed under two rules: with an enabled step it has every step that depends on it; with a
//! disabled step it has every step that could write one of the cells which keep it disabled. Its enabled members
//! are an ample set. For leads-to the caller also needs that a reduced set is invisible (no member writes a cell
//! that `final` reads) and expands fully where a cycle closes.

use super::eval::Evaluator;
use super::ground::{Cell, Ground, Write};

/// Who reads and writes which cells, whatever the state.
#[derive(Debug)]
pub(super) struct Dependence {
    reads: Vec<Vec<Cell>>,
    readers: Vec<Vec<usize>>,
    writers: Vec<Vec<usize>>,
    visible: Vec<bool>,
}

impl Dependence {
    pub(super) fn new(ground: &Ground<'_>) -> Self {
        let cells = ground.start.len();
        let evaluator = Evaluator { ground, state: &ground.start };
        let mut readers = vec![Vec::new(); cells];
        let mut writers = vec![Vec::new(); cells];
        let mut reads = Vec::with_capacity(ground.steps.len());
        for (at, step) in ground.steps.iter().enumerate() {
            let mut read = ground.reads(step, &ground.start);
            read.sort_unstable();
            read.dedup();
            for &cell in &read {
                readers[cell as usize].push(at);
            }
            step.writes.iter().for_each(|&(cell, _)| writers[cell as usize].push(at));
            reads.push(read);
        }
        let mut final_cells = Vec::new();
        evaluator.cells(&ground.final_formula, &mut Vec::new(), &mut final_cells);
        let mut seen = vec![false; cells];
        for cell in final_cells {
            seen[cell as usize] = true;
        }
        let visible = ground
            .steps
            .iter()
            .map(|step| step.writes.iter().any(|&(cell, _)| seen[cell as usize]))
            .collect();
        Self { reads, readers, writers, visible }
    }

    /// A smallest invisible ample set among those that one enabled step each generates; all enabled steps if there
    /// is none.
    pub(super) fn ample(&self, ground: &Ground<'_>, state: &[u8], enabled: &[usize]) -> Vec<usize> {
        let mut best: Option<Vec<usize>> = None;
        for &seed in enabled {
            let ample = self.closure(ground, state, enabled, seed);
            if ample.iter().any(|&step| self.visible[step]) {
                continue;
            }
            if best.as_ref().is_none_or(|known| ample.len() < known.len()) {
                let single = ample.len() == 1;
                best = Some(ample);
                if single {
                    break;
                }
            }
        }
        best.unwrap_or_else(|| enabled.to_vec())
    }

    fn closure(&self, ground: &Ground<'_>, state: &[u8], enabled: &[usize], seed: usize) -> Vec<usize> {
        let mut member = vec![false; ground.steps.len()];
        member[seed] = true;
        let mut work = vec![seed];
        while let Some(at) = work.pop() {
            let mut add = |steps: &[usize]| {
                for &step in steps {
                    if !std::mem::replace(&mut member[step], true) {
                        work.push(step);
                    }
                }
            };
            if enabled.binary_search(&at).is_ok() {
                for &cell in &self.reads[at] {
                    add(&self.writers[cell as usize]);
                }
                for &(cell, write) in &ground.steps[at].writes {
                    add(&self.readers[cell as usize]);
                    let rivals: Vec<usize> = self.writers[cell as usize]
                        .iter()
                        .copied()
                        .filter(|&other| !commute(ground, other, cell, write))
                        .collect();
                    add(&rivals);
                }
            } else {
                for cell in blocking_cells(ground, at, state) {
                    add(&self.writers[cell as usize]);
                }
            }
        }
        enabled.iter().copied().filter(|&step| member[step]).collect()
    }
}

/// Whether two writes of one cell commute and neither can disable the other.
fn commute(ground: &Ground<'_>, other: usize, cell: Cell, write: Write) -> bool {
    ground.steps[other].writes.iter().filter(|(written, _)| *written == cell).all(|&(_, theirs)| {
        match (write, theirs) {
            (Write::Set(mine), Write::Set(theirs)) => mine == theirs,
            (Write::Add(_), Write::Add(_) | Write::Subtract(_)) | (Write::Subtract(_), Write::Add(_)) => true,
            _ => false,
        }
    })
}

fn blocking_cells(ground: &Ground<'_>, at: usize, state: &[u8]) -> Vec<Cell> {
    let step = &ground.steps[at];
    if let Some(test) = step.tests.iter().find(|test| !test.holds(state)) {
        return vec![test.cell()];
    }
    let evaluator = Evaluator { ground, state };
    let mut env = step.binding.clone();
    let mut cells = Vec::new();
    for guard in &ground.other_guards[step.rule] {
        if !evaluator.holds(guard, &mut env) {
            evaluator.witnesses(guard, &mut env, &mut cells);
            break;
        }
    }
    cells
}
