//! Steps that only bring a cell to a value, such as packages that create the directories they share.
//!
//! A step *ensures* a cell if all it does with it is this: leave it if it has the value; else, by what it holds, give it the
//! value or fail; and look at it later only where it has the value for certain. Two steps that ensure a cell in the same way do
//! not disturb each other there: whoever comes second finds what it would have made itself, and fails where it would have
//! failed. That is the guarded `mkdir` of Rehearsal's section 4.3, for any value, and it includes that two writers conflict.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use setpoint_state::{CellId, Domains, Program, Step, Term, Test, Value};

use crate::facts::context::{Footprint, fold_program, fold_test};

/// That a step ensures a cell.
#[derive(Clone, Debug)]
pub(crate) struct Ensure {
    pub(crate) cell: CellId,
    /// A number that stands for how: equal numbers, equal ways.
    pub(crate) way: u64,
    pub(crate) value: Value,
    /// The values from which it succeeds.
    pub(crate) from: Vec<Value>,
}

/// The cells that a step ensures.
pub(crate) fn ensures(step: &Step, footprint: &Footprint, domains: &Domains, notifies: bool) -> Vec<Ensure> {
    // Only where something is written and may be shared is there anything to gain.
    if footprint.writes.is_empty() {
        return Vec::new();
    }
    let mut walk = Walk { domains, notifies, ways: FxHashMap::default(), plain: FxHashSet::default() };
    walk.plain_test(&step.suitable, &FxHashMap::default());
    walk.plain_program(&step.refresh, &FxHashMap::default());
    walk.program(&step.apply, &mut FxHashMap::default(), 0);
    let Walk { ways, plain, .. } = walk;
    footprint
        .writes
        .iter()
        .filter(|cell| !plain.contains(cell))
        .filter_map(|cell| ways.get(cell).cloned())
        .collect()
}

type Known = FxHashMap<CellId, Value>;

struct Walk<'d> {
    domains: &'d Domains,
    notifies: bool,
    ways: FxHashMap<CellId, Ensure>,
    /// Cells that are used in any other way.
    plain: FxHashSet<CellId>,
}

impl Walk<'_> {
    fn plain_test(&mut self, test: &Test, known: &Known) {
        let mut cells = Vec::new();
        test.cells(&mut cells);
        self.plain.extend(cells.into_iter().filter(|cell| !known.contains_key(cell)));
    }

    fn plain_program(&mut self, program: &Program, known: &Known) {
        let mut work = vec![program];
        while let Some(program) = work.pop() {
            match program {
                Program::Skip | Program::Fail(_) | Program::Change => {}
                Program::Write(cell, term) => {
                    // A write of a cell that it has ensured before undoes that.
                    self.plain.insert(*cell);
                    if let Term::Cell(from) = term
                        && !known.contains_key(from)
                    {
                        self.plain.insert(*from);
                    }
                }
                Program::If(test, then, otherwise) => {
                    self.plain_test(test, known);
                    work.extend([&**then, &**otherwise]);
                }
                Program::Sequence(programs) => work.extend(programs),
            }
        }
    }

    fn program(&mut self, program: &Program, known: &mut Known, depth: usize) {
        match program {
            Program::Sequence(programs) if depth < 100 => {
                for program in programs {
                    self.program(program, known, depth + 1);
                }
            }
            Program::If(test, then, otherwise) => {
                if let Some(ensure) = self.way(program, known) {
                    known.insert(ensure.cell, ensure.value.clone());
                    if self.ways.get(&ensure.cell).is_some_and(|other| other.way != ensure.way) {
                        self.plain.insert(ensure.cell);
                    }
                    self.ways.insert(ensure.cell, ensure);
                    return;
                }
                if depth >= 100 {
                    self.plain_program(program, known);
                    return;
                }
                self.plain_test(test, known);
                for branch in [then, otherwise] {
                    self.program(branch, &mut known.clone(), depth + 1);
                }
            }
            other => self.plain_program(other, known),
        }
    }

    /// Whether this part ensures one cell, and how.
    fn way(&self, program: &Program, known: &Known) -> Option<Ensure> {
        let mut cell = None;
        let mut value = None;
        let mut work = vec![program];
        let mut size = 0;
        while let Some(part) = work.pop() {
            size += 1;
            if size > 40 {
                return None;
            }
            match part {
                Program::Skip | Program::Fail(_) => {}
                Program::Change if !self.notifies => {}
                Program::Write(to, Term::Is(written)) => {
                    if *cell.get_or_insert(*to) != *to || value.get_or_insert(written) != &written {
                        return None;
                    }
                }
                Program::If(_, then, otherwise) => work.extend([&**then, &**otherwise]),
                Program::Sequence(programs) => work.extend(programs),
                Program::Write(..) | Program::Change => return None,
            }
        }
        let (cell, value) = (cell?, value?.clone());
        if known.contains_key(&cell) {
            return None;
        }
        let folded = fold_program(program, known);
        let mut hasher = FxHasher::default();
        value.hash(&mut hasher);
        let mut from = Vec::new();
        for held in self.domains.of_cell(cell) {
            let mut state = Some(held.clone());
            let failed = try_on(&folded, cell, &mut state)?;
            let after = state?;
            let fine = match (*held == value, failed) {
                (true, failed) => !failed && after == value,
                (false, true) => after == *held,
                (false, false) => after == value,
            };
            if !fine {
                return None;
            }
            failed.hash(&mut hasher);
            if !failed {
                from.push(held.clone());
            }
        }
        Some(Ensure { cell, way: hasher.finish(), value, from })
    }
}

/// Runs a small program that looks at one cell only; `None` if it looks at others. Gives whether it failed.
fn try_on(program: &Program, cell: CellId, held: &mut Option<Value>) -> Option<bool> {
    match program {
        Program::Skip | Program::Change => Some(false),
        Program::Fail(_) => Some(true),
        Program::Write(_, Term::Is(value)) => {
            *held = Some(value.clone());
            Some(false)
        }
        Program::Write(..) => None,
        Program::If(test, then, otherwise) => {
            let mut looked = Vec::new();
            test.cells(&mut looked);
            if looked.iter().any(|&other| other != cell) {
                return None;
            }
            let known: Known = std::iter::once((cell, held.clone()?)).collect();
            let branch = if fold_test(test, &known) == Test::True { then } else { otherwise };
            try_on(branch, cell, held)
        }
        Program::Sequence(programs) => {
            for program in programs {
                if try_on(program, cell, held)? {
                    return Some(true);
                }
            }
            Some(false)
        }
    }
}
