//! A part of a plan as a plan of its own, small enough to be asked about.

use std::cell::OnceCell;

use rustc_hash::{FxHashMap, FxHashSet};
use setpoint_state::{
    Cell, CellId, Domains, Kind, Lifetime, Manages, Plan, Program, State, Step, StepId, Term, Test, Value,
};

use crate::facts::context::{Context, Lens};
use crate::symbolic::machine::Machine;

/// Some steps of a plan, over the cells that they touch.
pub(crate) struct Sub {
    pub(crate) plan: Plan,
    values: Values,
    /// Made when they are asked for: many parts are known by their shape.
    domains: OnceCell<Domains>,
    /// The numbers of the steps in the whole plan.
    pub(crate) steps: Vec<StepId>,
    /// The numbers of the cells in the whole plan.
    pub(crate) cells: Vec<CellId>,
    /// Cells of the part that stand for others of the whole plan, which are left out.
    pub(crate) twins: FxHashMap<CellId, Vec<CellId>>,
}

/// Whether cells are as at the start of a run, or as they may be at any moment.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    Start,
    Any,
    /// Any moment, and two states are compared.
    AnyTwo,
    /// The start, and two starts are compared.
    StartTwo,
}

/// Which values the cells of a part need.
pub(crate) enum Values {
    /// Those of one state.
    OfOne,
    /// Those of two that are compared.
    OfTwo,
    /// Those of two into which others may put new ones at any time.
    Changing,
    /// Those of one of which these are asked too.
    With([Test; 2]),
}

impl Moment {
    fn is_start(self) -> bool {
        matches!(self, Self::Start | Self::StartTwo)
    }
}

struct Renumber<'c, 'p> {
    context: &'c Context<'p>,
    numbers: FxHashMap<CellId, CellId>,
    cells: Vec<CellId>,
    twins: FxHashMap<CellId, Vec<CellId>>,
    left_out: FxHashSet<CellId>,
}

impl Renumber<'_, '_> {
    fn cell(&mut self, cell: CellId) -> CellId {
        *self.numbers.entry(cell).or_insert_with(|| {
            self.cells.push(cell);
            CellId(self.cells.len() as u32 - 1)
        })
    }

    fn term(&mut self, term: &Term) -> Term {
        match term {
            Term::Is(value) => Term::Is(value.clone()),
            Term::Cell(cell) => Term::Cell(self.cell(*cell)),
        }
    }

    fn test(&mut self, test: &Test) -> Test {
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
        match program {
            Program::Skip => Program::Skip,
            Program::Fail(reason) => Program::Fail(reason.clone()),
            Program::Change => Program::Change,
            Program::Write(cell, term) => Program::Write(self.cell(*cell), self.term(term)),
            Program::If(test, then, otherwise) => {
                let test = self.test(test);
                Program::If(test, Box::new(self.program(then)), Box::new(self.program(otherwise)))
            }
            Program::Sequence(programs) if self.left_out.is_empty() => {
                Program::Sequence(programs.iter().map(|program| self.program(program)).collect())
            }
            Program::Sequence(programs) => {
                let mut kept = Vec::new();
                let mut rest = &programs[..];
                while let Some(first) = rest.first() {
                    let run = rest.iter().take_while(|program| given(program).is_some()).count();
                    if run == 0 {
                        kept.push(self.program(first));
                        rest = &rest[1..];
                        continue;
                    }
                    kept.extend(self.run_of_writes(&rest[..run]));
                    rest = &rest[run..];
                }
                Program::Sequence(kept)
            }
        }
    }

    /// Writes of values that follow each other, without those of cells that are left out. The order of writes to different
    /// cells does not matter: known cells come first, so that parts of one shape look alike.
    fn run_of_writes(&mut self, run: &[Program]) -> Vec<Program> {
        let mut kept: Vec<&Program> = run
            .iter()
            .filter(|program| given(program).is_some_and(|cell| !self.left_out.contains(&cell)))
            .collect();
        kept.sort_by_key(|program| {
            let cell = given(program);
            let number = cell.and_then(|cell| self.numbers.get(&cell)).map_or(u32::MAX, |number| number.0);
            (number, cell.is_some_and(|cell| self.twins.contains_key(&cell)))
        });
        kept.into_iter().map(|program| self.program(program)).collect()
    }
}

/// The cell that a program gives a value, if that is all it does.
fn given(program: &Program) -> Option<CellId> {
    match program {
        Program::Write(cell, Term::Is(_)) => Some(*cell),
        _ => None,
    }
}

impl Sub {
    /// Two steps at any moment, with one cell for all that play the same part.
    pub(crate) fn pair(context: &Context<'_>, one: StepId, two: StepId) -> Self {
        let steps = [one, two];
        let twins = crate::reduce::twins::twins(context, &steps);
        Self::build(context, Lens::All, &steps, Moment::Any, Tests::Inside, twins)
    }

    /// The given steps, in the given order. Their edges are those of the whole plan, also through steps that are left out.
    pub(crate) fn new(context: &Context<'_>, steps: &[StepId], moment: Moment, tests: Tests<'_>) -> Self {
        Self::through(context, Lens::All, steps, moment, tests)
    }

    /// The same, as a question sees it.
    pub(crate) fn through(
        context: &Context<'_>,
        lens: Lens,
        steps: &[StepId],
        moment: Moment,
        tests: Tests<'_>,
    ) -> Self {
        Self::build(context, lens, steps, moment, tests, FxHashMap::default())
    }

    fn build(
        context: &Context<'_>,
        lens: Lens,
        steps: &[StepId],
        moment: Moment,
        tests: Tests<'_>,
        twins: FxHashMap<CellId, Vec<CellId>>,
    ) -> Self {
        let left_out = twins.values().flatten().copied().collect();
        let mut renumber =
            Renumber { context, numbers: FxHashMap::default(), cells: Vec::new(), twins, left_out };
        let mut plan = Plan::default();
        for &id in steps {
            let seen = context.seen(lens, id);
            let step = seen.step();
            let (apply, refresh) = (renumber.program(&step.apply), renumber.program(&step.refresh));
            let suitable = renumber.test(&step.suitable);
            plan.steps.push(Step {
                name: step.name.clone(),
                apply,
                refresh,
                suitable,
                unknown: None,
                passes_on: step.passes_on,
                manages: Manages::AllItWrites,
            });
        }
        if moment.is_start() {
            plan.start = renumber.assumptions(tests);
        } else if let Tests::Also(more) = tests {
            for test in more {
                renumber.test(test);
            }
        }
        let place: FxHashMap<StepId, u32> =
            steps.iter().enumerate().map(|(at, &id)| (id, at as u32)).collect();
        for (one_at, &one) in steps.iter().enumerate() {
            for (two_at, &two) in steps.iter().enumerate() {
                if one_at != two_at && context.comes_before(one, two) {
                    plan.edges.push((StepId(one_at as u32), StepId(two_at as u32)));
                }
            }
            for target in context.runner.notified_by(one) {
                if let Some(&target) = place.get(&StepId(*target)) {
                    plan.notifies.push((StepId(one_at as u32), StepId(target)));
                }
            }
        }
        let cells = std::mem::take(&mut renumber.cells);
        for &id in &cells {
            let Some(Cell { lifetime, kinds, .. }) = context.plan.space.get(id) else { continue };
            if moment.is_start() {
                plan.space.unnamed(kinds.clone(), lifetime.clone());
            } else {
                let mut kinds: Vec<Kind> = context.domains.of_cell(id).iter().map(Value::kind).collect();
                kinds.sort_unstable();
                kinds.dedup();
                plan.space.unnamed(kinds, Lifetime::Machine);
            }
        }
        let values = match moment {
            Moment::Start | Moment::Any => Values::OfOne,
            Moment::AnyTwo | Moment::StartTwo => Values::OfTwo,
        };
        let (steps, twins) = (steps.to_vec(), renumber.twins);
        Self { plan, values, domains: OnceCell::new(), steps, cells, twins }
    }

    /// Assumes these tests instead of others.
    pub(crate) fn assume(&mut self, tests: Vec<Test>) {
        self.plan.start = tests;
        self.domains.take();
    }

    /// Says which values its cells need.
    pub(crate) fn hold(&mut self, values: Values) {
        self.values = values;
        self.domains.take();
    }

    pub(crate) fn domains(&self) -> &Domains {
        self.domains.get_or_init(|| match &self.values {
            Values::OfOne => Domains::of(&self.plan),
            Values::OfTwo => Domains::for_two(&self.plan),
            Values::Changing => Domains::for_changing(&self.plan),
            Values::With(tests) => Domains::with_tests(&self.plan, tests),
        })
    }

    /// A machine for questions about the part.
    pub(crate) fn machine(&self, context: &Context<'_>) -> Machine<'_> {
        Machine::new(&self.plan, self.domains(), context.semantics, context.limits())
    }

    /// Where the cells of the whole plan stand in the part.
    pub(crate) fn places(&self) -> FxHashMap<CellId, CellId> {
        self.cells.iter().enumerate().map(|(at, &cell)| (cell, CellId(at as u32))).collect()
    }

    /// Assumes what holds at every moment.
    pub(crate) fn assume_kept(&mut self, context: &Context<'_>) {
        self.assume_those(context, context.kept());
    }

    /// Assumes those of the assumptions that are marked.
    pub(crate) fn assume_those(&mut self, context: &Context<'_>, kept: &[bool]) {
        let places = self.places();
        self.assume(crate::facts::laws::inside(context, self, &places, kept));
    }

    /// What two parts have in common if they differ only in names: equal keys have equal answers.
    pub(crate) fn shape(&self) -> Vec<u32> {
        self.named_shape().0
    }

    /// The shape of the part together with tests over its cells.
    pub(crate) fn shape_with(&self, tests: &[&Test]) -> Vec<u32> {
        self.named_shape_with(tests).0
    }

    /// The same, and the values by the numbers that it has given them.
    pub(crate) fn named_shape_with(&self, tests: &[&Test]) -> (Vec<u32>, FxHashMap<Value, u32>) {
        let (out, values) = self.named_shape();
        let mut shape = Shape { out, values };
        for test in tests {
            shape.out.push(u32::MAX);
            shape.test(test);
        }
        (shape.out, shape.values)
    }

    /// The shape, and the values by the numbers that it has given them.
    pub(crate) fn named_shape(&self) -> (Vec<u32>, FxHashMap<Value, u32>) {
        let mut shape = Shape { out: Vec::new(), values: FxHashMap::default() };
        for step in &self.plan.steps {
            shape.out.push(u32::from(step.passes_on));
            shape.program(&step.apply);
            shape.program(&step.refresh);
            shape.test(&step.suitable);
        }
        shape.out.push(u32::MAX);
        for test in &self.plan.start {
            shape.test(test);
        }
        for list in [&self.plan.edges, &self.plan.notifies] {
            shape.out.push(u32::MAX);
            shape.out.extend(list.iter().flat_map(|(one, two)| [one.0, two.0]));
        }
        for (_, cell) in self.plan.space.iter() {
            shape.out.push(u32::MAX);
            shape.out.extend(cell.kinds.iter().map(|&kind| kind as u32));
            if let Lifetime::Run(initial) = &cell.lifetime {
                shape.value(initial);
            }
        }
        (shape.out, shape.values)
    }
}

/// A test over other cells; every cell that it looks at has a place.
pub(crate) fn moved(test: &Test, places: &FxHashMap<CellId, CellId>) -> Test {
    let term = |term: &Term| match term {
        Term::Is(value) => Term::Is(value.clone()),
        Term::Cell(cell) => Term::Cell(places.get(cell).copied().unwrap_or(*cell)),
    };
    match test {
        Test::True => Test::True,
        Test::Equal(left, right) => Test::Equal(term(left), term(right)),
        Test::Kind(cell, kind) => Test::Kind(places.get(cell).copied().unwrap_or(*cell), *kind),
        Test::Not(inner) => Test::Not(Box::new(moved(inner, places))),
        Test::All(tests) => Test::All(tests.iter().map(|test| moved(test, places)).collect()),
        Test::Any(tests) => Test::Any(tests.iter().map(|test| moved(test, places)).collect()),
    }
}

/// Which assumptions a part includes.
#[derive(Clone, Copy)]
pub(crate) enum Tests<'t> {
    /// Those that look at cells of the part only.
    Inside,
    /// All that are connected with the part.
    Connected,
    /// Those inside, where these tests look at cells of the part too.
    Also(&'t [Test]),
}

impl Renumber<'_, '_> {
    fn assumptions(&mut self, tests: Tests<'_>) -> Vec<Test> {
        if let Tests::Also(more) = tests {
            for test in more {
                self.test(test);
            }
        }
        let mut seen: FxHashSet<u32> = FxHashSet::default();
        let mut chosen: Vec<u32> = Vec::new();
        let mut at = 0;
        while at < self.cells.len() {
            let cell = self.cells[at];
            at += 1;
            for &test in self.context.looks.tests(cell) {
                if !seen.insert(test) {
                    continue;
                }
                let cells = self.context.looks.cells(test);
                match tests {
                    Tests::Connected => {
                        for &cell in cells {
                            self.cell(cell);
                        }
                    }
                    Tests::Inside | Tests::Also(_) => {
                        if cells.iter().any(|cell| !self.numbers.contains_key(cell)) {
                            continue;
                        }
                    }
                }
                chosen.push(test);
            }
        }
        let context = self.context;
        chosen.iter().map(|&test| self.test(&context.assumptions[test as usize])).collect()
    }
}

struct Shape {
    out: Vec<u32>,
    values: FxHashMap<Value, u32>,
}

impl Shape {
    fn value(&mut self, value: &Value) {
        // Values are alike up to their names; absent and directory are themselves.
        let next = self.values.len() as u32;
        let number = *self.values.entry(value.clone()).or_insert(next);
        self.out.extend([value.kind() as u32, number]);
    }

    fn term(&mut self, term: &Term) {
        match term {
            Term::Is(value) => {
                self.out.push(0);
                self.value(value);
            }
            Term::Cell(cell) => self.out.extend([1, cell.0]),
        }
    }

    fn test(&mut self, test: &Test) {
        match test {
            Test::True => self.out.push(10),
            Test::Equal(left, right) => {
                self.out.push(11);
                self.term(left);
                self.term(right);
            }
            Test::Kind(cell, kind) => self.out.extend([12, cell.0, *kind as u32]),
            Test::Not(inner) => {
                self.out.push(13);
                self.test(inner);
            }
            Test::All(tests) | Test::Any(tests) => {
                self.out.extend([if matches!(test, Test::All(_)) { 14 } else { 15 }, tests.len() as u32]);
                for test in tests {
                    self.test(test);
                }
            }
        }
    }

    fn program(&mut self, program: &Program) {
        match program {
            Program::Skip => self.out.push(20),
            Program::Fail(_) => self.out.push(21),
            Program::Change => self.out.push(22),
            Program::Write(cell, term) => {
                self.out.extend([23, cell.0]);
                self.term(term);
            }
            Program::If(test, then, otherwise) => {
                self.out.push(24);
                self.test(test);
                self.program(then);
                self.program(otherwise);
            }
            Program::Sequence(programs) => {
                self.out.extend([25, programs.len() as u32]);
                for program in programs {
                    self.program(program);
                }
            }
        }
    }
}

/// What the cells of a part hold, as cells of the whole plan.
pub(crate) fn embed(sub: &Sub, part: &State) -> Vec<(CellId, Value)> {
    sub.cells.iter().enumerate().map(|(at, &cell)| (cell, part.get(CellId(at as u32)).clone())).collect()
}

/// The assumptions of the start that still hold when a part has its turn: nobody breaks them, or nobody else writes what
/// they look at.
pub(crate) fn lasting(context: &Context<'_>, sub: &Sub) -> Vec<Test> {
    let inside: FxHashSet<StepId> = sub.steps.iter().copied().collect();
    let place = sub.places();
    let kept = context.kept();
    let untouched = |&cell: &CellId| {
        let writers = context.writers[cell.0 as usize].iter().copied();
        writers.chain(context.unknown_writers(cell)).all(|writer| inside.contains(&writer))
    };
    let mut seen: FxHashSet<u32> = FxHashSet::default();
    let mut found = Vec::new();
    for &cell in &sub.cells {
        for &test in context.looks.tests(cell) {
            if !seen.insert(test) {
                continue;
            }
            let cells = context.looks.cells(test);
            if cells.iter().all(|cell| place.contains_key(cell) && (kept[test as usize] || untouched(cell))) {
                found.push(moved(&context.assumptions[test as usize], &place));
            }
        }
    }
    found
}
