//! Cells that play the same part: of those that are only ever given values, and all alike, one stands for all.
//!
//! A program that makes a new file also says that every line of it is absent. What it does to one line that nobody looks at
//! it does to the others; a question about two such programs need not look at a hundred of them.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use setpoint_state::{CellId, Program, StepId, Term, Test, Value};

use crate::facts::context::Context;

/// Fewer cells than this are not worth it.
const FEW: usize = 4;

#[derive(Default)]
struct Roles {
    /// What a cell is given, and in which run of writes.
    given: FxHashMap<CellId, Vec<(u32, Value)>>,
    /// Cells that are looked at, or copied.
    plain: FxHashSet<CellId>,
    blocks: u32,
}

impl Roles {
    fn test(&mut self, test: &Test) {
        let mut cells = Vec::new();
        test.cells(&mut cells);
        self.plain.extend(cells);
    }

    fn program(&mut self, program: &Program) {
        match program {
            Program::Skip | Program::Fail(_) | Program::Change => {}
            Program::Write(cell, Term::Is(value)) => {
                self.given.entry(*cell).or_default().push((self.blocks, value.clone()));
                return;
            }
            Program::Write(cell, Term::Cell(from)) => self.plain.extend([*cell, *from]),
            Program::If(test, then, otherwise) => {
                self.test(test);
                for branch in [then, otherwise] {
                    self.blocks += 1;
                    self.program(branch);
                }
            }
            Program::Sequence(programs) => programs.iter().for_each(|program| self.program(program)),
        }
        // Whatever is no write of a value ends the run.
        self.blocks += 1;
    }
}

/// Of the cells that steps touch, those that stand for others, and for which.
pub(crate) fn twins(context: &Context<'_>, steps: &[StepId]) -> FxHashMap<CellId, Vec<CellId>> {
    let mut roles = Roles::default();
    for &step in steps {
        let step = context.step(step);
        roles.test(&step.suitable);
        for program in [&step.apply, &step.refresh] {
            roles.blocks += 1;
            roles.program(program);
        }
    }
    let Roles { mut given, plain, .. } = roles;
    given.retain(|cell, _| !plain.contains(cell));
    let mut found: FxHashMap<CellId, Vec<CellId>> = FxHashMap::default();
    if given.len() < FEW {
        return found;
    }
    let mut cells: Vec<CellId> = given.keys().copied().collect();
    cells.sort_unstable();
    let mut first: FxHashMap<(Vec<(u32, Value)>, u64), CellId> = FxHashMap::default();
    for cell in cells {
        let Some(role) = given.remove(&cell) else { continue };
        match first.entry((role, look_of(context, cell))) {
            std::collections::hash_map::Entry::Occupied(same) => {
                found.entry(*same.get()).or_default().push(cell);
            }
            std::collections::hash_map::Entry::Vacant(new) => {
                new.insert(cell);
            }
        }
    }
    found
}

/// All else that tells cells apart: what they may hold, and what is assumed of them.
fn look_of(context: &Context<'_>, cell: CellId) -> u64 {
    let mut hasher = FxHasher::default();
    if let Some(known) = context.plan.space.get(cell) {
        known.kinds.hash(&mut hasher);
        matches!(known.lifetime, setpoint_state::Lifetime::Machine).hash(&mut hasher);
    }
    for value in context.domains.of_cell(cell) {
        value.kind().hash(&mut hasher);
    }
    for &test in context.looks.tests(cell) {
        context.kept()[test as usize].hash(&mut hasher);
        hash_test(&context.assumptions[test as usize], cell, &mut hasher);
    }
    hasher.finish()
}

fn hash_test(test: &Test, hole: CellId, hasher: &mut FxHasher) {
    let term = |term: &Term, hasher: &mut FxHasher| match term {
        Term::Is(value) => (0, value).hash(hasher),
        Term::Cell(cell) if *cell == hole => 1.hash(hasher),
        Term::Cell(cell) => (2, cell).hash(hasher),
    };
    std::mem::discriminant(test).hash(hasher);
    match test {
        Test::True => {}
        Test::Equal(left, right) => {
            term(left, hasher);
            term(right, hasher);
        }
        Test::Kind(cell, kind) => {
            term(&Term::Cell(*cell), hasher);
            kind.hash(hasher);
        }
        Test::Not(inner) => hash_test(inner, hole, hasher),
        Test::All(tests) | Test::Any(tests) => {
            tests.len().hash(hasher);
            for test in tests {
                hash_test(test, hole, hasher);
            }
        }
    }
}
