//! What every run without an error needs of the start, in the paper's semantics.
//!
//! There one error is the end of all: from a start at which some step fails in every order, all orders end alike, and a
//! second run ends as the first. Such starts need not be asked about. A service whose script no step brings needs it at the
//! start; a user needs the folder of users, which lies in `/etc`, which then is there, too. Only kinds are looked at, and
//! only cells that no other step writes: that is quickly seen, and it keeps large plans small.

use setpoint_state::{CellId, Kind, Lifetime, Plan, Program, StepId, Term, Test};

/// A set of kinds.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Kinds(u8);

const ALL: [Kind; 5] = [Kind::Absent, Kind::Directory, Kind::File, Kind::Link, Kind::Text];

impl Kinds {
    const ANY: Self = Self(0b1_1111);

    fn only(kind: Kind) -> Self {
        Self(ALL.iter().position(|other| *other == kind).map_or(0, |at| 1 << at))
    }

    fn of(kinds: &[Kind]) -> Self {
        kinds.iter().fold(Self(0), |all, kind| Self(all.0 | Self::only(*kind).0))
    }

    fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    fn is_empty(self) -> bool {
        self.0 == 0
    }

    fn list(self) -> impl Iterator<Item = Kind> {
        ALL.into_iter().filter(move |kind| !self.and(Self::only(*kind)).is_empty())
    }
}

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
    let first = starts.kinds.clone();
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
    let changed = cells.filter(|cell| starts.of(*cell) != first[cell.0 as usize]);
    changed
        .map(|cell| {
            let mut kinds: Vec<Test> = starts.of(cell).list().map(|kind| Test::Kind(cell, kind)).collect();
            if kinds.len() == 1 { kinds.remove(0) } else { Test::Any(kinds) }
        })
        .collect()
}

struct Starts<'p> {
    plan: &'p Plan,
    /// The kinds with which each cell may start.
    kinds: Vec<Kinds>,
    /// The steps that write a cell.
    writers: Vec<Vec<StepId>>,
    /// The assumptions that look at a cell.
    laws: Vec<Vec<usize>>,
}

impl<'p> Starts<'p> {
    fn new(plan: &'p Plan) -> Self {
        let count = plan.space.len();
        let kinds = plan
            .space
            .iter()
            .map(|(_, cell)| match &cell.lifetime {
                Lifetime::Machine => Kinds::of(&cell.kinds),
                Lifetime::Run(initial) => Kinds::only(initial.kind()),
            })
            .collect();
        let mut writers = vec![Vec::new(); count];
        let mut laws: Vec<Vec<usize>> = vec![Vec::new(); count];
        for (at, step) in plan.steps.iter().enumerate() {
            for cell in step.apply.written() {
                writers[cell.0 as usize].push(StepId(at as u32));
            }
        }
        for (at, law) in plan.start.iter().enumerate() {
            let mut cells = Vec::new();
            law.cells(&mut cells);
            cells.sort_unstable();
            cells.dedup();
            for cell in cells {
                laws[cell.0 as usize].push(at);
            }
        }
        Self { plan, kinds, writers, laws }
    }

    fn of(&self, cell: CellId) -> Kinds {
        self.kinds[cell.0 as usize]
    }

    /// Rules out the starts with which a step fails, whatever others do before it; whether there were any.
    fn look_at(&mut self, step: StepId) -> bool {
        let program = &self.plan.steps[step.0 as usize].apply;
        let mut cells = Vec::new();
        tested(program, &mut cells);
        cells.sort_unstable();
        cells.dedup();
        cells.retain(|&cell| self.is_as_at_start(cell, step));
        if cells.len() > MOST_CELLS {
            return false;
        }
        let mut more = false;
        for cell in cells {
            for kind in self.of(cell).list().map(Kinds::only).collect::<Vec<_>>() {
                let mut before = Vec::new();
                let fails = !self.suppose(cell, kind, &mut before) || self.fails(step);
                for (cell, kinds) in before.into_iter().rev() {
                    self.kinds[cell.0 as usize] = kinds;
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

    /// Supposes that a cell starts with one of these kinds, and what follows by the assumptions; whether that may be.
    /// `before`: what the cells were that changed.
    fn suppose(&mut self, cell: CellId, kinds: Kinds, before: &mut Vec<(CellId, Kinds)>) -> bool {
        let mut work = vec![(cell, kinds)];
        while let Some((cell, kinds)) = work.pop() {
            let old = self.of(cell);
            let both = old.and(kinds);
            if both == old {
                continue;
            }
            before.push((cell, old));
            self.kinds[cell.0 as usize] = both;
            if both.is_empty() {
                return false;
            }
            for &law in &self.laws[cell.0 as usize] {
                self.follow(&self.plan.start[law], &mut work);
            }
        }
        true
    }

    /// What a test that holds says of single cells.
    fn follow(&self, test: &Test, found: &mut Vec<(CellId, Kinds)>) {
        match test {
            Test::Kind(cell, kind) => found.push((*cell, Kinds::only(*kind))),
            Test::Equal(Term::Cell(cell), Term::Is(value))
            | Test::Equal(Term::Is(value), Term::Cell(cell)) => {
                found.push((*cell, Kinds::only(value.kind())));
            }
            Test::Not(inner) => {
                if let Test::Kind(cell, kind) = &**inner {
                    found.push((*cell, Kinds::ANY.without(Kinds::only(*kind))));
                }
            }
            Test::All(tests) => tests.iter().for_each(|test| self.follow(test, found)),
            Test::Any(tests) => {
                let mut open = tests.iter().filter(|test| holds(test, &|cell| self.of(cell)) != Some(false));
                if let (Some(only), None) = (open.next(), open.next()) {
                    self.follow(only, found);
                }
            }
            Test::True | Test::Equal(..) => {}
        }
    }

    /// Whether a step fails for certain.
    fn fails(&self, step: StepId) -> bool {
        let held = |cell: CellId| if self.is_as_at_start(cell, step) { self.of(cell) } else { Kinds::ANY };
        ends(&self.plan.steps[step.0 as usize].apply, &held, &mut Vec::new()) == End::Fails
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Fails,
    MayGoOn,
}

/// How a program ends. `written`: the cells that it may have written, of which nothing is known any more.
fn ends(program: &Program, held: &dyn Fn(CellId) -> Kinds, written: &mut Vec<CellId>) -> End {
    match program {
        Program::Skip | Program::Change => End::MayGoOn,
        Program::Fail(_) => End::Fails,
        Program::Write(cell, _) => {
            written.push(*cell);
            End::MayGoOn
        }
        Program::If(test, then, otherwise) => {
            let now = |cell: CellId| if written.contains(&cell) { Kinds::ANY } else { held(cell) };
            match holds(test, &now) {
                Some(true) => ends(then, held, written),
                Some(false) => ends(otherwise, held, written),
                None => match (ends(then, held, written), ends(otherwise, held, written)) {
                    (End::Fails, End::Fails) => End::Fails,
                    _ => End::MayGoOn,
                },
            }
        }
        Program::Sequence(programs) => {
            let fails = programs.iter().any(|program| ends(program, held, written) == End::Fails);
            if fails { End::Fails } else { End::MayGoOn }
        }
    }
}

/// Whether a test holds, if the kinds decide that.
fn holds(test: &Test, held: &dyn Fn(CellId) -> Kinds) -> Option<bool> {
    let apart = |one: Kinds, two: Kinds| one.and(two).is_empty().then_some(false);
    match test {
        Test::True => Some(true),
        Test::Kind(cell, kind) => {
            let kinds = held(*cell);
            apart(kinds, Kinds::only(*kind)).or((kinds == Kinds::only(*kind)).then_some(true))
        }
        Test::Equal(one, two) => {
            let of = |term: &Term| match term {
                Term::Is(value) => Kinds::only(value.kind()),
                Term::Cell(cell) => held(*cell),
            };
            // There is one absent and one directory, but many files.
            let alike = [Kind::Absent, Kind::Directory]
                .into_iter()
                .any(|kind| of(one) == Kinds::only(kind) && of(one) == of(two));
            apart(of(one), of(two)).or(alike.then_some(true))
        }
        Test::Not(inner) => holds(inner, held).map(|holds| !holds),
        Test::All(tests) => {
            let all: Vec<Option<bool>> = tests.iter().map(|test| holds(test, held)).collect();
            if all.contains(&Some(false)) {
                Some(false)
            } else {
                all.iter().all(|holds| *holds == Some(true)).then_some(true)
            }
        }
        Test::Any(tests) => {
            let any: Vec<Option<bool>> = tests.iter().map(|test| holds(test, held)).collect();
            if any.contains(&Some(true)) {
                Some(true)
            } else {
                any.iter().all(|holds| *holds == Some(false)).then_some(false)
            }
        }
    }
}

/// The cells that the tests of a program look at.
fn tested(program: &Program, found: &mut Vec<CellId>) {
    match program {
        Program::If(test, then, otherwise) => {
            test.cells(found);
            tested(then, found);
            tested(otherwise, found);
        }
        Program::Sequence(programs) => programs.iter().for_each(|program| tested(program, found)),
        Program::Skip | Program::Fail(_) | Program::Write(..) | Program::Change => {}
    }
}
