//! What only one step of a part touches, made small: its outcome is anything, and its traces are not followed.
//!
//! A package brings many files of which a question looks at one. What it does to the others bears on the question only in
//! that it may fail there. So what a step does to cells that nobody else of the part touches becomes a few free choices, the
//! same in both runs that are compared. That can only add runs: if no difference shows even so, none can show.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};
use setpoint_state::{CellId, Kind, Lifetime, Plan, Program, Space, Step, Term, Test, Value};

use crate::reduce::sub::Sub;

/// Makes a part small. `keep` says of which cells of the whole plan nothing may be lost; `linked` are tests over cells of the
/// part that shall go on to hold.
pub(crate) fn blur(sub: &mut Sub, keep: &dyn Fn(CellId) -> bool, linked: &[Test]) {
    let private = private(sub, keep, linked);
    if private.is_empty() {
        return;
    }
    let mut blur = Blur { private, numbers: FxHashMap::default(), order: Vec::new(), flags: 0 };
    let steps: Vec<Step> = sub
        .plan
        .steps
        .iter()
        .map(|step| {
            let (apply, refresh) = (blur.program(&step.apply), blur.program(&step.refresh));
            step.doing(apply, refresh, blur.test(&step.suitable))
        })
        .collect();
    let Blur { order, flags, .. } = blur;
    let mut space = Space::new();
    for &cell in &order {
        let kinds = sub.plan.space.get(cell).map(|cell| cell.kinds.clone());
        space.unnamed(kinds.unwrap_or_default(), Lifetime::Machine);
    }
    let known = order.len() as u32;
    for _ in 0..flags {
        space.unnamed(vec![Kind::Text], Lifetime::Machine);
    }
    let steps = steps.into_iter().map(|step| Step {
        apply: placed(&step.apply, known),
        refresh: placed(&step.refresh, known),
        suitable: placed_test(&step.suitable, known),
        ..step
    });
    sub.plan = Plan { space, steps: steps.collect(), ..std::mem::take(&mut sub.plan) };
    sub.cells = order.iter().map(|cell| sub.cells[cell.0 as usize]).collect();
}

/// The cells that one step touches, and that nobody asks about.
fn private(sub: &Sub, keep: &dyn Fn(CellId) -> bool, linked: &[Test]) -> FxHashSet<CellId> {
    let mut users: FxHashMap<CellId, usize> = FxHashMap::default();
    let mut shared: FxHashSet<CellId> = FxHashSet::default();
    for (at, step) in sub.plan.steps.iter().enumerate() {
        let mut look = Look::default();
        look.test(&step.suitable);
        look.program(&step.apply);
        look.program(&step.refresh);
        shared.extend(look.needed);
        for cell in look.touched {
            if *users.entry(cell).or_insert(at) != at {
                shared.insert(cell);
            }
        }
    }
    shared.extend(
        users.keys().copied().filter(|cell| sub.cells.get(cell.0 as usize).is_none_or(|&cell| keep(cell))),
    );
    let mut linked_cells: FxHashSet<CellId> = FxHashSet::default();
    for test in linked {
        let mut cells = Vec::new();
        test.cells(&mut cells);
        if cells.iter().any(|cell| shared.contains(cell)) {
            linked_cells.extend(cells);
        }
    }
    users.into_keys().filter(|cell| !shared.contains(cell) && !linked_cells.contains(cell)).collect()
}

/// What a step does with cells, in the order in which it does it.
#[derive(Default)]
struct Look {
    touched: BTreeSet<CellId>,
    written: FxHashSet<CellId>,
    /// Cells whose own value is needed: they are copied, or looked at after they were written.
    needed: FxHashSet<CellId>,
}

impl Look {
    fn test(&mut self, test: &Test) {
        let mut cells = Vec::new();
        test.cells(&mut cells);
        for cell in cells {
            self.touched.insert(cell);
            if self.written.contains(&cell) {
                self.needed.insert(cell);
            }
        }
    }

    fn program(&mut self, program: &Program) {
        match program {
            Program::Skip | Program::Fail(_) | Program::Change => {}
            Program::Write(cell, term) => {
                if let Term::Cell(from) = term {
                    self.touched.insert(*from);
                    self.needed.insert(*from);
                }
                self.touched.insert(*cell);
                self.written.insert(*cell);
            }
            Program::If(test, then, otherwise) => {
                self.test(test);
                self.program(then);
                self.program(otherwise);
            }
            Program::Sequence(programs) => programs.iter().for_each(|program| self.program(program)),
        }
    }
}

/// Numbers of choices while the number of cells is not known yet.
const FLAGS: u32 = 1 << 30;

struct Blur {
    private: FxHashSet<CellId>,
    numbers: FxHashMap<CellId, CellId>,
    /// The cells that are left, by their new numbers.
    order: Vec<CellId>,
    flags: u32,
}

impl Blur {
    fn cell(&mut self, cell: CellId) -> CellId {
        *self.numbers.entry(cell).or_insert_with(|| {
            self.order.push(cell);
            CellId(self.order.len() as u32 - 1)
        })
    }

    /// A free choice.
    fn flag(&mut self) -> Test {
        self.flags += 1;
        Test::is(CellId(FLAGS + self.flags - 1), Value::text("yes"))
    }

    fn is_private_test(&self, test: &Test) -> bool {
        let mut cells = Vec::new();
        test.cells(&mut cells);
        !cells.is_empty() && cells.iter().all(|cell| self.private.contains(cell))
    }

    /// Whether a program touches private cells only and reports nothing.
    fn is_private(&self, program: &Program) -> bool {
        match program {
            Program::Skip | Program::Fail(_) => true,
            Program::Change => false,
            Program::Write(cell, term) => {
                self.private.contains(cell)
                    && !matches!(term, Term::Cell(from) if !self.private.contains(from))
            }
            Program::If(test, then, otherwise) => {
                self.is_private_test(test) && self.is_private(then) && self.is_private(otherwise)
            }
            Program::Sequence(programs) => programs.iter().all(|program| self.is_private(program)),
        }
    }

    fn term(&mut self, term: &Term) -> Term {
        match term {
            Term::Is(value) => Term::Is(value.clone()),
            Term::Cell(cell) => Term::Cell(self.cell(*cell)),
        }
    }

    fn test(&mut self, test: &Test) -> Test {
        if self.is_private_test(test) {
            return self.flag();
        }
        match test {
            Test::True => Test::True,
            Test::Equal(left, right) => Test::Equal(self.term(left), self.term(right)),
            Test::Kind(cell, kind) => Test::Kind(self.cell(*cell), *kind),
            Test::Not(inner) => Test::Not(Box::new(self.test(inner))),
            Test::All(tests) => Test::All(tests.iter().map(|test| self.test(test)).collect()),
            Test::Any(tests) => Test::Any(tests.iter().map(|test| self.test(test)).collect()),
        }
    }

    fn program(&mut self, program: &Program) -> Program {
        if self.is_private(program) {
            return if can_fail(program) { self.may_fail() } else { Program::Skip };
        }
        match program {
            Program::Skip => Program::Skip,
            Program::Fail(reason) => Program::Fail(reason.clone()),
            Program::Change => Program::Change,
            Program::Write(cell, _) if self.private.contains(cell) => Program::Skip,
            Program::Write(cell, term) => {
                let term = self.term(term);
                Program::Write(self.cell(*cell), term)
            }
            Program::If(test, then, otherwise) => {
                let test = self.test(test);
                Program::If(test, Box::new(self.program(then)), Box::new(self.program(otherwise)))
            }
            Program::Sequence(programs) => {
                let mut kept: Vec<Program> = Vec::new();
                let mut failing = false;
                for program in programs {
                    // Of private parts that follow each other one choice is enough.
                    if self.is_private(program) {
                        failing |= can_fail(program);
                        continue;
                    }
                    if std::mem::take(&mut failing) {
                        kept.push(self.may_fail());
                    }
                    kept.push(self.program(program));
                }
                if failing {
                    kept.push(self.may_fail());
                }
                kept.retain(|program| *program != Program::Skip);
                Program::Sequence(kept)
            }
        }
    }

    fn may_fail(&mut self) -> Program {
        let flag = self.flag();
        Program::when(flag, Program::fail("something of its own"))
    }
}

fn can_fail(program: &Program) -> bool {
    match program {
        Program::Fail(_) => true,
        Program::Skip | Program::Change | Program::Write(..) => false,
        Program::If(_, then, otherwise) => can_fail(then) || can_fail(otherwise),
        Program::Sequence(programs) => programs.iter().any(can_fail),
    }
}

fn placed_test(test: &Test, known: u32) -> Test {
    let place = |cell: CellId| if cell.0 >= FLAGS { CellId(cell.0 - FLAGS + known) } else { cell };
    let term = |term: &Term| match term {
        Term::Is(value) => Term::Is(value.clone()),
        Term::Cell(cell) => Term::Cell(place(*cell)),
    };
    match test {
        Test::True => Test::True,
        Test::Equal(left, right) => Test::Equal(term(left), term(right)),
        Test::Kind(cell, kind) => Test::Kind(place(*cell), *kind),
        Test::Not(inner) => Test::Not(Box::new(placed_test(inner, known))),
        Test::All(tests) => Test::All(tests.iter().map(|test| placed_test(test, known)).collect()),
        Test::Any(tests) => Test::Any(tests.iter().map(|test| placed_test(test, known)).collect()),
    }
}

/// Choices come after the cells.
fn placed(program: &Program, known: u32) -> Program {
    match program {
        Program::If(test, then, otherwise) => Program::If(
            placed_test(test, known),
            Box::new(placed(then, known)),
            Box::new(placed(otherwise, known)),
        ),
        Program::Sequence(programs) => {
            Program::Sequence(programs.iter().map(|program| placed(program, known)).collect())
        }
        other => other.clone(),
    }
}
