//! Writes that nobody sees: to a cell that only one step of a part touches, that this step does not read again, and that is
//! not compared at the end. A package brings a hundred files of which a question looks at one; without the other writes, what
//! the package does is the same at whichever moment it runs, and its formulas are made once. What is left of the others are
//! checks that may fail, and checks that follow each other are one.

use rustc_hash::{FxHashMap, FxHashSet};
use setpoint_state::{CellId, Program, Step, Term, Test};

use crate::reduce::sub::Sub;

/// Drops such writes; the cells, by their numbers in the part, whose value after a step is then not known any more.
pub(crate) fn drop_dead_writes(sub: &mut Sub, is_compared: &dyn Fn(CellId) -> bool) -> FxHashSet<CellId> {
    let mut user: FxHashMap<CellId, usize> = FxHashMap::default();
    let mut shared: FxHashSet<CellId> = FxHashSet::default();
    for (at, step) in sub.plan.steps.iter().enumerate() {
        for cell in touched(step) {
            if *user.entry(cell).or_insert(at) != at {
                shared.insert(cell);
            }
        }
    }
    let cells = &sub.cells;
    let is_private = |cell: CellId| !shared.contains(&cell) && !is_compared(cells[cell.0 as usize]);
    let mut dropped = FxHashSet::default();
    for step in &mut sub.plan.steps {
        let mut pass =
            Backwards { is_private: &is_private, read: FxHashSet::default(), dropped: &mut dropped };
        let refresh = pass.program(&step.refresh);
        let apply = pass.program(&step.apply);
        (step.apply, step.refresh) = (merged(apply), merged(refresh));
    }
    dropped
}

/// The same program with checks that follow each other as one.
fn merged(program: Program) -> Program {
    match program {
        Program::Sequence(programs) => {
            let mut flat = Vec::new();
            for program in programs.into_iter().map(merged) {
                match program {
                    Program::Sequence(inner) => flat.extend(inner),
                    Program::Skip => {}
                    other => flat.push(other),
                }
            }
            let mut kept: Vec<Program> = Vec::new();
            let mut checks: Vec<Test> = Vec::new();
            for program in flat {
                if let Some(test) = failing(&program) {
                    checks.push(test);
                } else {
                    kept.extend(one_check(&mut checks));
                    kept.push(program);
                }
            }
            kept.extend(one_check(&mut checks));
            if kept.len() == 1 { kept.remove(0) } else { Program::Sequence(kept) }
        }
        Program::If(test, then, otherwise) => {
            Program::If(test, Box::new(merged(*then)), Box::new(merged(*otherwise)))
        }
        other => other,
    }
}

fn one_check(checks: &mut Vec<Test>) -> Option<Program> {
    let tests = std::mem::take(checks);
    (!tests.is_empty()).then(|| Program::when(Test::Any(tests), Program::fail("")))
}

/// When a program fails that does nothing else.
fn failing(program: &Program) -> Option<Test> {
    match program {
        Program::Skip => Some(Test::Any(Vec::new())),
        Program::Fail(_) => Some(Test::True),
        Program::If(test, then, otherwise) => {
            let (then, otherwise) = (failing(then)?, failing(otherwise)?);
            Some(Test::Any(vec![
                Test::All(vec![test.clone(), then]),
                Test::All(vec![test.clone().negate(), otherwise]),
            ]))
        }
        Program::Sequence(programs) => programs.iter().map(failing).collect::<Option<_>>().map(Test::Any),
        Program::Write(..) | Program::Change => None,
    }
}

fn touched(step: &Step) -> Vec<CellId> {
    let mut cells = Vec::new();
    step.suitable.cells(&mut cells);
    for program in [&step.apply, &step.refresh] {
        program.reads(&mut cells);
        program.writes(&mut |cell, _| cells.push(cell));
    }
    cells
}

/// Goes through programs from their ends.
struct Backwards<'a> {
    is_private: &'a dyn Fn(CellId) -> bool,
    /// What is read further on.
    read: FxHashSet<CellId>,
    dropped: &'a mut FxHashSet<CellId>,
}

impl Backwards<'_> {
    fn program(&mut self, program: &Program) -> Program {
        match program {
            Program::Write(cell, _) if (self.is_private)(*cell) && !self.read.contains(cell) => {
                self.dropped.insert(*cell);
                Program::Skip
            }
            Program::Write(_, term) => {
                if let Term::Cell(from) = term {
                    self.read.insert(*from);
                }
                program.clone()
            }
            Program::Skip | Program::Fail(_) | Program::Change => program.clone(),
            Program::If(test, then, otherwise) => {
                let after = self.read.clone();
                let then = self.program(then);
                let read = std::mem::replace(&mut self.read, after);
                let otherwise = self.program(otherwise);
                self.read.extend(read);
                self.test(test);
                if then == Program::Skip && otherwise == Program::Skip {
                    return Program::Skip;
                }
                Program::If(test.clone(), Box::new(then), Box::new(otherwise))
            }
            Program::Sequence(programs) => {
                let mut kept: Vec<Program> =
                    programs.iter().rev().map(|program| self.program(program)).collect();
                kept.retain(|program| *program != Program::Skip);
                kept.reverse();
                if kept.is_empty() { Program::Skip } else { Program::Sequence(kept) }
            }
        }
    }

    fn test(&mut self, test: &Test) {
        let mut cells = Vec::new();
        test.cells(&mut cells);
        self.read.extend(cells);
    }
}
