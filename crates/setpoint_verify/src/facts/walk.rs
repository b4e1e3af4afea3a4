//! Programs, followed by what is known of cells and without asking a solver.

use rustc_hash::FxHashMap;
use setpoint_state::{CellId, Program, Term, Test};

use crate::facts::kinds::{Held, Known, follow, holds};

/// Is told of a write what is known before it, the cell, and what is known of the value.
pub(crate) type AtWrite<'w> = dyn FnMut(&FxHashMap<CellId, Known>, CellId, &Known) + 'w;

/// Follows programs by what is known of cells. Of cells that are not mentioned nothing is known.
#[derive(Default)]
pub(crate) struct Walk<'w> {
    held: FxHashMap<CellId, Known>,
    at_write: Option<&'w mut AtWrite<'w>>,
    /// What was known before each change: branches cost what they change, not what is known.
    trail: Vec<(CellId, Known)>,
}

impl<'w> Walk<'w> {
    /// One that tells of every write on the way.
    pub(crate) fn telling(at_write: &'w mut AtWrite<'w>) -> Self {
        Self { at_write: Some(at_write), ..Self::default() }
    }

    pub(crate) fn set(&mut self, cell: CellId, known: Known) {
        let old = if known.is_nothing() { self.held.remove(&cell) } else { self.held.insert(cell, known) };
        self.trail.push((cell, old.unwrap_or_else(Known::nothing)));
    }

    /// How many changes there were.
    pub(crate) fn changes(&self) -> usize {
        self.trail.len()
    }

    /// Undoes all changes but the first ones.
    pub(crate) fn undo(&mut self, but: usize) {
        for (cell, old) in self.trail.drain(but..).rev() {
            if old.is_nothing() {
                self.held.remove(&cell);
            } else {
                self.held.insert(cell, old);
            }
        }
    }

    /// Runs a program: whether it may succeed, and then what is known after it.
    pub(crate) fn run(&mut self, program: &Program) -> bool {
        match program {
            Program::Skip | Program::Change => true,
            Program::Fail(_) => false,
            Program::Write(cell, term) => {
                let known = match term {
                    Term::Is(value) => Known::is(value),
                    Term::Cell(from) => self.held.known(*from).clone(),
                };
                if let Some(told) = &mut self.at_write {
                    told(&self.held, *cell, &known);
                }
                self.set(*cell, known);
                true
            }
            Program::Sequence(programs) => programs.iter().all(|program| self.run(program)),
            Program::If(test, then, otherwise) => {
                let answer = holds(test, &self.held);
                if let Some(answer) = answer {
                    return self.branch(test, answer, if answer { then } else { otherwise });
                }
                let before = self.trail.len();
                let one = self.branch(test, true, then).then(|| self.since(before));
                self.undo(before);
                let two = self.branch(test, false, otherwise);
                let Some(one) = one else { return two };
                let two = two.then(|| self.since(before));
                self.undo(before);
                self.join(one, two);
                true
            }
        }
    }

    /// Runs a program that is taken if a test has this answer.
    fn branch(&mut self, test: &Test, answer: bool, program: &Program) -> bool {
        let mut found = Vec::new();
        follow(test, answer, &self.held, &mut found);
        for (cell, known) in found {
            let old = self.held.known(cell);
            if old.is_within(&known) {
                continue;
            }
            let both = old.and(&known);
            if both.is_impossible() {
                return false;
            }
            self.set(cell, both);
        }
        self.run(program)
    }

    /// What is known now of the cells that have changed since; sorted.
    fn since(&self, but: usize) -> Vec<(CellId, Known)> {
        let mut cells: Vec<CellId> = self.trail[but..].iter().map(|(cell, _)| *cell).collect();
        cells.sort_unstable();
        cells.dedup();
        cells.into_iter().map(|cell| (cell, self.held.known(cell).clone())).collect()
    }

    /// Goes on with what is known after one branch, or after either of two.
    fn join(&mut self, one: Vec<(CellId, Known)>, two: Option<Vec<(CellId, Known)>>) {
        let Some(two) = two else {
            for (cell, known) in one {
                self.set(cell, known);
            }
            return;
        };
        let mut cells: Vec<CellId> = one.iter().chain(&two).map(|(cell, _)| *cell).collect();
        cells.sort_unstable();
        cells.dedup();
        for cell in cells {
            // What a branch has not changed is as before it.
            let after = |branch: &[(CellId, Known)]| match branch.binary_search_by_key(&cell, |(one, _)| *one)
            {
                Ok(at) => branch[at].1.clone(),
                Err(_) => self.held.known(cell).clone(),
            };
            let either = after(&one).or(&after(&two));
            self.set(cell, either);
        }
    }
}

/// Runs a program; `held` is what is known of cells before it, and after it if it does not fail. Whether it may succeed.
pub(crate) fn run(program: &Program, held: &mut FxHashMap<CellId, Known>) -> bool {
    let mut walk = Walk { held: std::mem::take(held), ..Walk::default() };
    let succeeds = walk.run(program);
    *held = walk.held;
    succeeds
}
