//! What is known of a plan before any question: what each step touches, who comes before whom, what may be assumed.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use rustc_hash::{FxHashMap, FxHashSet};
use setpoint_solver::{Backend, Limits, Meter};
use setpoint_state::{
    CellId, Domains, Kind, Lifetime, Plan, Program, Reach, Runner, Semantics, Space, Step, StepId, Term,
    Test, Value,
};

use crate::facts::kinds::{Kinds, Known};
use crate::facts::looks::Looks;
use crate::reduce::ensure::Ensure;
use crate::reduce::flow::Memory;

/// What a step touches.
#[derive(Clone, Debug, Default)]
pub(crate) struct Footprint {
    /// Cells that it may read; sorted.
    pub(crate) reads: Vec<CellId>,
    /// Cells that it may write; sorted.
    pub(crate) writes: Vec<CellId>,
    /// Its program, or its provider, can fail.
    pub(crate) can_fail: bool,
    /// It can report a change.
    pub(crate) can_change: bool,
    /// Cells that it only brings to a value, as every other step that does the same.
    pub(crate) ensures: Vec<Ensure>,
}

impl Footprint {
    pub(crate) fn ensure(&self, cell: CellId) -> Option<&Ensure> {
        let at = self.ensures.binary_search_by_key(&cell, |ensure| ensure.cell).ok()?;
        self.ensures.get(at)
    }

    pub(crate) fn touches(&self) -> impl Iterator<Item = CellId> {
        self.reads.iter().chain(&self.writes).copied()
    }
}

/// What a question looks at. Cells that no step reads bear on nothing but themselves: they are asked about one by one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Lens {
    /// All cells.
    All,
    /// All but those that no step reads.
    Read,
    /// The same, and one that no step reads.
    With(CellId),
}

/// A step as a question sees it.
pub(crate) enum Seen<'c> {
    Whole(&'c Step, &'c Footprint),
    /// Without its writes to cells that the question does not look at.
    Part(Rc<(Step, Footprint)>),
}

impl Seen<'_> {
    pub(crate) fn step(&self) -> &Step {
        match self {
            Self::Whole(step, _) => step,
            Self::Part(part) => &part.0,
        }
    }

    pub(crate) fn footprint(&self) -> &Footprint {
        match self {
            Self::Whole(_, footprint) => footprint,
            Self::Part(part) => &part.1,
        }
    }
}

/// Steps as they were shown, by the cell that was looked at besides those that are read.
type Parts = FxHashMap<(StepId, Option<CellId>), Rc<(Step, Footprint)>>;

/// A set of steps.
pub(crate) type Bits = Vec<u64>;

pub(crate) fn has(bits: &[u64], at: u32) -> bool {
    bits.get(at as usize / 64).is_some_and(|word| word >> (at % 64) & 1 == 1)
}

/// Puts a step into a set; whether it was not there.
pub(crate) fn put(bits: &mut [u64], at: u32) -> bool {
    let word = &mut bits[at as usize / 64];
    let fresh = *word >> (at % 64) & 1 == 0;
    *word |= 1 << (at % 64);
    fresh
}

pub(crate) struct Context<'p> {
    /// The plan with what is constant folded away; steps and cells have the same numbers.
    pub(crate) plan: Plan,
    pub(crate) semantics: Semantics,
    /// Runs the plan as the user gave it: everything is replayed on that.
    pub(crate) runner: Runner<'p>,
    pub(crate) footprints: Vec<Footprint>,
    /// Who may read or write a cell.
    pub(crate) readers: Vec<Vec<StepId>>,
    pub(crate) writers: Vec<Vec<StepId>>,
    /// What holds of every start.
    pub(crate) assumptions: Vec<Test>,
    /// Which of them look at which cells.
    pub(crate) looks: Looks,
    /// The values that cells may come to hold.
    pub(crate) domains: Domains,
    /// Puppet's order, without steps on cycles.
    pub(crate) order: Vec<StepId>,
    pub(crate) rank: Vec<u32>,
    /// Steps that can fail, or come after one that can.
    pub(crate) can_be_bad: Vec<bool>,
    /// Steps whose provider other unordered steps may make usable.
    pub(crate) unsettled: Vec<StepId>,
    /// Steps of unknown effect.
    pub(crate) unknown: Vec<StepId>,
    /// Those of them that may write a cell.
    unknown_by_cell: FxHashMap<CellId, Vec<StepId>>,
    /// Those of them that may write any.
    unknown_everywhere: Vec<StepId>,
    kept: OnceCell<Vec<bool>>,
    kept_at_first: OnceCell<Vec<bool>>,
    /// What each step leaves behind, and what each finds.
    pub(crate) leaves: Vec<OnceCell<Vec<(CellId, Known)>>>,
    pub(crate) finds: Vec<OnceCell<Vec<(CellId, Kinds)>>>,
    /// Steps as lenses show them.
    parts: RefCell<Parts>,
    after: Vec<OnceCell<Bits>>,
    before: Vec<OnceCell<Bits>>,
    /// Counts the work that was done.
    pub(crate) meter: Meter,
    /// The stage under way is broken off when the meter has come so far.
    pub(crate) most_work: Cell<Option<u64>>,
    /// When everything is broken off.
    pub(crate) deadline: Option<Instant>,
    /// Answers of other plans.
    pub(crate) memory: Arc<Memory>,
    pub(crate) any_start: bool,
    /// Starts are left out from which all runs end alike.
    pub(crate) narrowed: bool,
    /// How many threads.
    pub(crate) jobs: usize,
    pub(crate) conflicts: u64,
    pub(crate) solver: Backend,
}

impl<'p> Context<'p> {
    pub(crate) fn new(original: &'p Plan, semantics: Semantics, any_start: bool) -> Self {
        Self::with(original, semantics, any_start, false)
    }

    /// For questions about ends: without starts from which all runs end alike, as far as that is easily seen.
    pub(crate) fn of_ends(original: &'p Plan, semantics: Semantics, any_start: bool) -> Self {
        Self::with(original, semantics, any_start, semantics == Semantics::Paper)
    }

    fn with(original: &'p Plan, semantics: Semantics, any_start: bool, only_needed: bool) -> Self {
        let mut assumptions: Vec<Test> = original.laws.clone();
        if !any_start && semantics == Semantics::Puppet {
            assumptions.extend(original.start.iter().cloned());
        }
        let runner = Runner::new(original, semantics);
        let order = runner.puppet_order();
        let needs =
            if only_needed { crate::facts::needs::needs(original, &assumptions, &order) } else { Vec::new() };
        let narrowed = !needs.is_empty();
        assumptions.extend(needs);
        let paper = semantics == Semantics::Paper;
        let plan = Plan {
            space: original.space.clone(),
            steps: folded(original, &assumptions, semantics),
            edges: original.edges.clone(),
            notifies: if paper { Vec::new() } else { original.notifies.clone() },
            start: assumptions.clone(),
            laws: Vec::new(),
        };
        let count = plan.steps.len();
        let mut rank = vec![u32::MAX; count];
        for (at, step) in order.iter().enumerate() {
            rank[step.0 as usize] = at as u32;
        }
        let domains = Domains::of(&plan);
        let footprints: Vec<Footprint> = plan
            .steps
            .iter()
            .enumerate()
            .map(|(at, step)| footprint(step, &domains, !runner.notified_by(StepId(at as u32)).is_empty()))
            .collect();
        let (readers, writers) = users(&footprints, plan.space.len());
        let looks = Looks::of(&assumptions, plan.space.len());
        let mut can_be_bad = vec![false; count];
        if semantics == Semantics::Puppet {
            for &step in &order {
                let at = step.0 as usize;
                can_be_bad[at] = footprints[at].can_fail
                    || runner.before(step).iter().any(|&before| can_be_bad[before as usize]);
            }
        }
        let mut context = Self {
            plan,
            semantics,
            runner,
            footprints,
            readers,
            writers,
            assumptions,
            looks,
            domains,
            order,
            rank,
            can_be_bad,
            unsettled: Vec::new(),
            unknown: Vec::new(),
            unknown_by_cell: FxHashMap::default(),
            unknown_everywhere: Vec::new(),
            kept: OnceCell::new(),
            kept_at_first: OnceCell::new(),
            leaves: vec![OnceCell::new(); count],
            finds: vec![OnceCell::new(); count],
            parts: RefCell::default(),
            after: vec![OnceCell::new(); count],
            before: vec![OnceCell::new(); count],
            meter: Meter::default(),
            most_work: Cell::new(None),
            deadline: None,
            memory: Arc::default(),
            any_start,
            narrowed,
            jobs: 1,
            conflicts: 100_000,
            solver: Backend::default(),
        };
        context.unsettled = context.find_unsettled();
        for (at, step) in context.plan.steps.iter().enumerate() {
            let id = StepId(at as u32);
            let Some(unknown) = &step.unknown else { continue };
            context.unknown.push(id);
            match &unknown.reach {
                Reach::Everything => context.unknown_everywhere.push(id),
                Reach::Cells(cells) => {
                    for &cell in cells {
                        context.unknown_by_cell.entry(cell).or_default().push(id);
                    }
                }
            }
        }
        context
    }

    /// Drops writes that never make a difference.
    pub(crate) fn trim(&mut self) {
        let trimmed = crate::facts::laws::trimmed(self);
        if trimmed.is_empty() {
            return;
        }
        for (id, step) in trimmed {
            let notifies = !self.runner.notified_by(id).is_empty();
            self.footprints[id.0 as usize] = footprint(&step, &self.domains, notifies);
            self.plan.steps[id.0 as usize] = step;
        }
        (self.readers, self.writers) = users(&self.footprints, self.plan.space.len());
    }

    /// The steps that may write a cell in ways that nobody modelled.
    pub(crate) fn unknown_writers(&self, cell: CellId) -> impl Iterator<Item = StepId> {
        let named = self.unknown_by_cell.get(&cell).into_iter().flatten();
        self.unknown_everywhere.iter().chain(named).copied()
    }

    fn find_unsettled(&self) -> Vec<StepId> {
        let mut found = Vec::new();
        for (at, step) in self.plan.steps.iter().enumerate() {
            let id = StepId(at as u32);
            let mut cells = Vec::new();
            step.suitable.cells(&mut cells);
            let open = cells
                .iter()
                .flat_map(|cell| &self.writers[cell.0 as usize])
                .any(|&writer| writer != id && self.unordered(writer, id));
            if open {
                found.push(id);
            }
        }
        found
    }

    pub(crate) fn step(&self, id: StepId) -> &Step {
        &self.plan.steps[id.0 as usize]
    }

    pub(crate) fn footprint(&self, id: StepId) -> &Footprint {
        &self.footprints[id.0 as usize]
    }

    /// The assumptions that hold at every moment.
    pub(crate) fn kept(&self) -> &[bool] {
        self.kept.get_or_init(|| crate::facts::laws::kept(self))
    }

    /// The assumptions that hold whenever any of these steps runs.
    pub(crate) fn kept_until(&self, steps: &[StepId]) -> &[bool] {
        let is_after = |unknown: StepId| steps.iter().all(|&step| self.comes_before(step, unknown));
        if self.unknown.is_empty() || !self.unknown.iter().all(|&unknown| is_after(unknown)) {
            return self.kept();
        }
        self.kept_at_first.get_or_init(|| crate::facts::laws::kept_at_first(self))
    }

    /// Whether no step reads a cell, and it is part of the outcome.
    pub(crate) fn is_sink(&self, cell: CellId) -> bool {
        self.readers[cell.0 as usize].is_empty()
            && self.plan.space.get(cell).is_some_and(|cell| cell.lifetime == Lifetime::Machine)
    }

    /// A step as a question sees it.
    pub(crate) fn seen(&self, lens: Lens, id: StepId) -> Seen<'_> {
        let (step, footprint) = (self.step(id), self.footprint(id));
        let with = match lens {
            Lens::All => return Seen::Whole(step, footprint),
            Lens::Read => None,
            Lens::With(cell) => footprint.writes.binary_search(&cell).is_ok().then_some(cell),
        };
        let hidden = |cell: CellId| Some(cell) != with && self.is_sink(cell);
        if !footprint.writes.iter().any(|&cell| hidden(cell)) {
            return Seen::Whole(step, footprint);
        }
        let key = (id, with);
        if let Some(known) = self.parts.borrow().get(&key) {
            return Seen::Part(known.clone());
        }
        let (apply, refresh) = (without(&step.apply, &hidden), without(&step.refresh, &hidden));
        let part = step.doing(apply, refresh, step.suitable.clone());
        let notifies = !self.runner.notified_by(id).is_empty();
        let footprint = self::footprint(&part, &self.domains, notifies);
        let part = Rc::new((part, footprint));
        self.parts.borrow_mut().insert(key, part.clone());
        Seen::Part(part)
    }

    /// All steps that come after this one.
    pub(crate) fn after(&self, step: StepId) -> &Bits {
        self.after[step.0 as usize].get_or_init(|| {
            let mut found = vec![0; self.plan.steps.len().div_ceil(64)];
            let mut work = vec![step.0];
            while let Some(step) = work.pop() {
                for &next in self.runner.after(StepId(step)) {
                    if put(&mut found, next) {
                        work.push(next);
                    }
                }
            }
            found
        })
    }

    /// All steps that come before this one.
    pub(crate) fn before(&self, step: StepId) -> &Bits {
        self.before[step.0 as usize].get_or_init(|| {
            let mut found = vec![0; self.plan.steps.len().div_ceil(64)];
            let mut work = vec![step.0];
            while let Some(step) = work.pop() {
                for &next in self.runner.before(StepId(step)) {
                    if put(&mut found, next) {
                        work.push(next);
                    }
                }
            }
            found
        })
    }

    /// The steps that come before this one, as listed.
    pub(crate) fn all_before(&self, step: StepId) -> impl Iterator<Item = StepId> {
        self.before(step).iter().enumerate().flat_map(|(at, &word)| {
            let mut left = word;
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros())?;
                left &= left - 1;
                Some(StepId(at as u32 * 64 + bit))
            })
        })
    }

    /// Whether the effects of all steps that come before a step are known.
    pub(crate) fn is_known_before(&self, step: StepId) -> bool {
        let before = self.before(step);
        !self.unknown.iter().any(|unknown| has(before, unknown.0))
    }

    pub(crate) fn comes_before(&self, one: StepId, two: StepId) -> bool {
        // Whichever set is known already.
        if let Some(after) = self.after[one.0 as usize].get() {
            return has(after, two.0);
        }
        if let Some(before) = self.before[two.0 as usize].get() {
            return has(before, one.0);
        }
        has(self.after(one), two.0)
    }

    /// Both orders of the two are permitted. Steps on a cycle never run, so they have no order.
    pub(crate) fn unordered(&self, one: StepId, two: StepId) -> bool {
        self.rank[one.0 as usize] != u32::MAX
            && self.rank[two.0 as usize] != u32::MAX
            && !self.comes_before(one, two)
            && !self.comes_before(two, one)
    }

    pub(crate) fn notifies(&self, step: StepId) -> bool {
        self.semantics == Semantics::Puppet && !self.runner.notified_by(step).is_empty()
    }

    /// The steps that can notify it.
    pub(crate) fn notifiers(&self, step: StepId) -> impl Iterator<Item = StepId> {
        let direct = if self.semantics == Semantics::Puppet { self.runner.before(step) } else { &[] };
        direct
            .iter()
            .map(|&other| StepId(other))
            .filter(move |&other| self.runner.notified_by(other).contains(&step.0))
    }

    /// Whether anything can notify it.
    pub(crate) fn is_notified(&self, step: StepId) -> bool {
        self.notifiers(step).next().is_some()
    }

    /// The last step that writes a cell in Puppet's order. Steps on a cycle never run.
    pub(crate) fn last_writer(&self, cell: CellId) -> Option<StepId> {
        let rank = |step: &StepId| self.rank[step.0 as usize];
        let writers = self.writers[cell.0 as usize].iter().copied();
        writers.filter(|step| rank(step) != u32::MAX).max_by_key(rank)
    }

    /// Whether something before it can fail.
    pub(crate) fn can_be_skipped(&self, step: StepId) -> bool {
        self.runner.before(step).iter().any(|&before| self.can_be_bad[before as usize])
    }

    /// Whether no more may be asked.
    pub(crate) fn is_over(&self) -> bool {
        self.limits().1.is_over()
    }

    /// Which solver a question is put to, and when it gives up.
    pub(crate) fn limits(&self) -> (Backend, Limits) {
        let limits = Limits {
            conflicts: Some(self.conflicts),
            meter: self.meter.clone(),
            most_work: self.most_work.get(),
            deadline: self.deadline,
        };
        (self.solver, limits)
    }

    /// Asks as another context does: with its solver, its limits and what it remembers.
    pub(crate) fn ask_as(&mut self, other: &Context<'_>) {
        self.solver = other.solver;
        self.meter = other.meter.clone();
        self.most_work = other.most_work.clone();
        self.deadline = other.deadline;
        self.memory = Arc::clone(&other.memory);
    }

    /// The steps that may touch anything.
    pub(crate) fn unknown_everywhere(&self) -> impl Iterator<Item = StepId> {
        self.unknown_everywhere.iter().copied()
    }

    /// The cells that a step of unknown effect may touch.
    pub(crate) fn reach(&self, step: StepId) -> Option<&Reach> {
        self.step(step).unknown.as_ref().map(|unknown| &unknown.reach)
    }
}

/// The steps without what is constant: cells that start with a known value and are only ever given that value are that
/// value; and without refreshes that never run. In the paper's semantics they have no refresh and no provider.
fn folded(plan: &Plan, start: &[Test], semantics: Semantics) -> Vec<Step> {
    let refreshes = semantics == Semantics::Puppet;
    let heard = without_idle_refreshes(plan);
    let mut fixed = constants(&plan.space, start, &heard, refreshes);
    let mut steps: Vec<Step> = heard.iter().map(|step| fold_step(step, &fixed, refreshes)).collect();
    // A second look finds what the first made certain.
    for _ in 0..2 {
        let more = constants(&plan.space, start, &steps, refreshes);
        if more.len() == fixed.len() {
            break;
        }
        steps = steps.iter().map(|step| fold_step(step, &more, refreshes)).collect();
        fixed = more;
    }
    steps
}

/// The steps without the refresh of those that nothing notifies: it never runs.
fn without_idle_refreshes(plan: &Plan) -> Vec<Step> {
    let notified: FxHashSet<StepId> = plan.notifies.iter().map(|&(_, target)| target).collect();
    let heard = |(at, step): (usize, &Step)| {
        if notified.contains(&StepId(at as u32)) {
            step.clone()
        } else {
            step.doing(step.apply.clone(), Program::Skip, step.suitable.clone())
        }
    };
    plan.steps.iter().enumerate().map(heard).collect()
}

fn fold_step(step: &Step, fixed: &FxHashMap<CellId, Value>, refreshes: bool) -> Step {
    let apply = fold_program(&step.apply, fixed);
    if refreshes {
        step.doing(apply, fold_program(&step.refresh, fixed), fold_test(&step.suitable, fixed))
    } else {
        step.doing(apply, Program::Skip, Test::True)
    }
}

fn constants(space: &Space, start: &[Test], steps: &[Step], refreshes: bool) -> FxHashMap<CellId, Value> {
    let mut fixed: FxHashMap<CellId, Value> = FxHashMap::default();
    let mut work: Vec<&Test> = start.iter().collect();
    while let Some(test) = work.pop() {
        match test {
            Test::All(tests) => work.extend(tests),
            Test::Equal(Term::Cell(cell), Term::Is(value))
            | Test::Equal(Term::Is(value), Term::Cell(cell)) => {
                fixed.insert(*cell, value.clone());
            }
            Test::Kind(cell, Kind::Directory) => {
                fixed.insert(*cell, Value::Directory);
            }
            Test::Kind(cell, Kind::Absent) => {
                fixed.insert(*cell, Value::Absent);
            }
            _ => {}
        }
    }
    for (id, cell) in space.iter() {
        match &cell.lifetime {
            Lifetime::Run(initial) => {
                fixed.insert(id, initial.clone());
            }
            // A start outside the cell's kinds cannot be; such a plan has no start, and nothing is folded.
            Lifetime::Machine => {
                if fixed.get(&id).is_some_and(|value| !cell.kinds.contains(&value.kind())) {
                    fixed.remove(&id);
                }
            }
        }
    }
    for step in steps {
        let refresh = refreshes.then_some(&step.refresh);
        for program in std::iter::once(&step.apply).chain(refresh) {
            program.writes(&mut |cell, term| {
                let same = match term {
                    Term::Is(value) => fixed.get(&cell) == Some(value),
                    Term::Cell(from) => *from == cell,
                };
                if !same {
                    fixed.remove(&cell);
                }
            });
        }
        match step.unknown.as_ref().map(|unknown| &unknown.reach) {
            Some(Reach::Everything) => return FxHashMap::default(),
            Some(Reach::Cells(cells)) => {
                for cell in cells {
                    fixed.remove(cell);
                }
            }
            None => {}
        }
    }
    fixed
}

fn fold_term(term: &Term, fixed: &FxHashMap<CellId, Value>) -> Term {
    match term {
        Term::Cell(cell) => fixed.get(cell).map_or_else(|| term.clone(), |value| Term::Is(value.clone())),
        Term::Is(_) => term.clone(),
    }
}

fn no() -> Test {
    Test::Not(Box::new(Test::True))
}

fn is_no(test: &Test) -> bool {
    matches!(test, Test::Not(inner) if **inner == Test::True)
}

fn truth(yes: bool) -> Test {
    if yes { Test::True } else { no() }
}

pub(crate) fn fold_test(test: &Test, fixed: &FxHashMap<CellId, Value>) -> Test {
    match test {
        Test::True => Test::True,
        Test::Equal(left, right) => match (fold_term(left, fixed), fold_term(right, fixed)) {
            (Term::Is(one), Term::Is(two)) => truth(one == two),
            (left, right) => Test::Equal(left, right),
        },
        Test::Kind(cell, kind) => {
            fixed.get(cell).map_or_else(|| test.clone(), |value| truth(value.kind() == *kind))
        }
        Test::Not(inner) => match fold_test(inner, fixed) {
            Test::Not(inner) => *inner,
            folded => Test::Not(Box::new(folded)),
        },
        Test::All(tests) => {
            let folded: Vec<Test> =
                tests.iter().map(|test| fold_test(test, fixed)).filter(|test| *test != Test::True).collect();
            if folded.iter().any(is_no) {
                return no();
            }
            if folded.is_empty() { Test::True } else { Test::All(folded) }
        }
        Test::Any(tests) => {
            let folded: Vec<Test> =
                tests.iter().map(|test| fold_test(test, fixed)).filter(|test| !is_no(test)).collect();
            if folded.contains(&Test::True) {
                return Test::True;
            }
            if folded.is_empty() { no() } else { Test::Any(folded) }
        }
    }
}

pub(crate) fn fold_program(program: &Program, fixed: &FxHashMap<CellId, Value>) -> Program {
    match program {
        Program::Skip | Program::Fail(_) | Program::Change => program.clone(),
        Program::Write(cell, _) if fixed.contains_key(cell) => Program::Skip,
        Program::Write(cell, term) => Program::Write(*cell, fold_term(term, fixed)),
        Program::If(test, then, otherwise) => {
            let test = fold_test(test, fixed);
            if test == Test::True {
                return fold_program(then, fixed);
            }
            if is_no(&test) {
                return fold_program(otherwise, fixed);
            }
            let (then, otherwise) = (fold_program(then, fixed), fold_program(otherwise, fixed));
            if then == Program::Skip && otherwise == Program::Skip {
                return Program::Skip;
            }
            Program::If(test, Box::new(then), Box::new(otherwise))
        }
        Program::Sequence(programs) => {
            let mut folded: Vec<Program> = programs
                .iter()
                .map(|program| fold_program(program, fixed))
                .filter(|program| *program != Program::Skip)
                .collect();
            match folded.len() {
                0 => Program::Skip,
                1 => folded.remove(0),
                _ => Program::Sequence(folded),
            }
        }
    }
}

/// A program without its writes to some cells.
fn without(program: &Program, hidden: &dyn Fn(CellId) -> bool) -> Program {
    match program {
        Program::Write(cell, _) if hidden(*cell) => Program::Skip,
        Program::Skip | Program::Fail(_) | Program::Change | Program::Write(..) => program.clone(),
        Program::If(test, then, otherwise) => match (without(then, hidden), without(otherwise, hidden)) {
            (Program::Skip, Program::Skip) => Program::Skip,
            (then, otherwise) => Program::If(test.clone(), Box::new(then), Box::new(otherwise)),
        },
        Program::Sequence(programs) => {
            let mut kept: Vec<Program> = programs
                .iter()
                .map(|program| without(program, hidden))
                .filter(|program| *program != Program::Skip)
                .collect();
            match kept.len() {
                0 => Program::Skip,
                1 => kept.remove(0),
                _ => Program::Sequence(kept),
            }
        }
    }
}

/// What a program reads and writes, in the terms of [`Footprint`].
fn look(program: &Program, into: &mut Footprint) {
    let mut work = vec![program];
    while let Some(program) = work.pop() {
        match program {
            Program::Skip => {}
            Program::Fail(_) => into.can_fail = true,
            Program::Change => into.can_change = true,
            Program::Write(cell, term) => {
                into.writes.push(*cell);
                if let Term::Cell(from) = term {
                    into.reads.push(*from);
                }
            }
            Program::If(test, then, otherwise) => {
                test.cells(&mut into.reads);
                work.extend([&**then, &**otherwise]);
            }
            Program::Sequence(programs) => work.extend(programs),
        }
    }
}

/// Who may read and who may write each cell.
fn users(footprints: &[Footprint], cells: usize) -> (Vec<Vec<StepId>>, Vec<Vec<StepId>>) {
    let (mut readers, mut writers) = (vec![Vec::new(); cells], vec![Vec::new(); cells]);
    for (at, footprint) in footprints.iter().enumerate() {
        for cell in &footprint.reads {
            readers[cell.0 as usize].push(StepId(at as u32));
        }
        for cell in &footprint.writes {
            writers[cell.0 as usize].push(StepId(at as u32));
        }
    }
    (readers, writers)
}

fn footprint(step: &Step, domains: &Domains, notifies: bool) -> Footprint {
    let mut found = Footprint::default();
    look(&step.apply, &mut found);
    look(&step.refresh, &mut found);
    if step.suitable != Test::True {
        found.can_fail = true;
        step.suitable.cells(&mut found.reads);
    }
    // An unknown step may fail in ways that nobody modelled.
    found.can_fail |= step.unknown.is_some();
    for list in [&mut found.reads, &mut found.writes] {
        list.sort_unstable();
        list.dedup();
    }
    found.ensures = crate::reduce::ensure::ensures(step, &found, domains, notifies);
    found
}

/// The set of the given steps and their order among each other, without repetitions.
pub(crate) fn sorted(steps: impl IntoIterator<Item = StepId>) -> Vec<StepId> {
    let set: FxHashSet<StepId> = steps.into_iter().collect();
    let mut list: Vec<StepId> = set.into_iter().collect();
    list.sort_unstable();
    list
}
