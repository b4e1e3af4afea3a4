//! What a plan may do from every state that is admissible: the same run as the interpreter's, over sets of values.
//!
//! A cell holds one of a few values, or any value of some kinds but a few. A test that both can hold and fail splits a program; afterwards the two
//! ways are joined. So what is certain here holds for every start; what is only possible may be possible by the joining alone.

use std::collections::{BTreeMap, BTreeSet};

use setpoint_state::{CellId, Kind, Lifetime, Plan, Program, Reach, Runner, Step, StepId, Term, Test, Value};

/// A program that nests deeper is not followed: it may do anything to what it writes.
const DEEPEST: usize = 400;

/// A set of kinds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Kinds(u8);

impl Kinds {
    const NONE: Self = Self(0);
    const ALL: [Kind; 5] = [Kind::Absent, Kind::Directory, Kind::File, Kind::Link, Kind::Text];

    fn one(kind: Kind) -> Self {
        Self(1 << kind as u8)
    }

    fn of(kinds: &[Kind]) -> Self {
        kinds.iter().fold(Self::NONE, |set, &kind| set.with(Self::one(kind)))
    }

    fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    fn has(self, kind: Kind) -> bool {
        self.0 & Self::one(kind).0 != 0
    }
}

/// What a cell may hold.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Held {
    /// One of these values, of which there are some and not many.
    Few(BTreeSet<Value>),
    /// Any value of these kinds but those.
    Any(Kinds, BTreeSet<Value>),
}

/// More values than that are told by their kinds alone.
const MANY: usize = 6;

impl Held {
    fn one(value: Value) -> Self {
        Self::Few(BTreeSet::from([value]))
    }

    /// Any value of some kinds, of which two have one value each.
    fn kinds(kinds: Kinds) -> Self {
        Self::any(kinds, BTreeSet::new())
    }

    fn any(kinds: Kinds, mut except: BTreeSet<Value>) -> Self {
        let plain = Kinds::one(Kind::Absent).with(Kinds::one(Kind::Directory));
        let kinds = except.iter().fold(kinds, |kinds, value| match value {
            Value::Absent | Value::Directory => kinds.without(Kinds::one(value.kind())),
            _ => kinds,
        });
        if kinds.without(plain) == Kinds::NONE && kinds != Kinds::NONE {
            let values = [Value::Absent, Value::Directory];
            return Self::Few(values.into_iter().filter(|value| kinds.has(value.kind())).collect());
        }
        except.retain(|value| kinds.has(value.kind()));
        Self::Any(kinds, except)
    }

    fn set(&self) -> Kinds {
        match self {
            Self::Few(values) => {
                values.iter().fold(Kinds::NONE, |kinds, value| kinds.with(Kinds::one(value.kind())))
            }
            Self::Any(kinds, _) => *kinds,
        }
    }

    fn may_be(&self, value: &Value) -> bool {
        match self {
            Self::Few(values) => values.contains(value),
            Self::Any(kinds, except) => kinds.has(value.kind()) && !except.contains(value),
        }
    }

    fn join(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Few(one), Self::Few(other)) => {
                let all: BTreeSet<Value> = one.union(other).cloned().collect();
                if all.len() <= MANY {
                    Self::Few(all)
                } else {
                    Self::kinds(self.set().with(Self::Few(all).set()))
                }
            }
            (one, other) => {
                // What neither can be.
                let excepted = |of: &Self, by: &Self| match of {
                    Self::Any(_, except) => {
                        except.iter().filter(|value| !by.may_be(value)).cloned().collect()
                    }
                    Self::Few(_) => Vec::new(),
                };
                let except = excepted(one, other).into_iter().chain(excepted(other, one)).collect();
                Self::any(one.set().with(other.set()), except)
            }
        }
    }

    /// What is left if it is, or is not, of a kind. None if nothing is.
    fn of_kind(&self, kind: Kind, holds: bool) -> Option<Self> {
        match self {
            Self::Few(values) => {
                let left: BTreeSet<Value> =
                    values.iter().filter(|value| (value.kind() == kind) == holds).cloned().collect();
                (!left.is_empty()).then_some(Self::Few(left))
            }
            Self::Any(kinds, except) => {
                let one = Kinds::one(kind);
                let left = if holds { Kinds(kinds.0 & one.0) } else { kinds.without(one) };
                (left != Kinds::NONE).then(|| Self::any(left, except.clone()))
            }
        }
    }

    /// What is left if it is not this value. None if nothing is.
    fn without(&self, value: &Value) -> Option<Self> {
        match self {
            Self::Few(values) => {
                let left: BTreeSet<Value> = values.iter().filter(|one| *one != value).cloned().collect();
                (!left.is_empty()).then_some(Self::Few(left))
            }
            Self::Any(kinds, except) => {
                let mut except = except.clone();
                if except.len() < MANY || matches!(value, Value::Absent | Value::Directory) {
                    except.insert(value.clone());
                }
                Some(Self::any(*kinds, except))
            }
        }
    }

    /// What both can be. None if nothing is.
    fn meet(&self, other: &Self) -> Option<Self> {
        match (self, other) {
            (Self::Few(values), held) | (held, Self::Few(values)) => {
                let left: BTreeSet<Value> =
                    values.iter().filter(|value| held.may_be(value)).cloned().collect();
                (!left.is_empty()).then_some(Self::Few(left))
            }
            (Self::Any(one, but), Self::Any(other, nor)) => {
                let kinds = Kinds(one.0 & other.0);
                (kinds != Kinds::NONE).then(|| Self::any(kinds, but.union(nor).cloned().collect()))
            }
        }
    }

    fn single(&self) -> Option<&Value> {
        match self {
            Self::Few(values) if values.len() == 1 => values.first(),
            _ => None,
        }
    }
}

/// Whether something happens.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Chance {
    #[default]
    Never,
    Maybe,
    Always,
}

impl Chance {
    /// Of two ways, one of which is taken.
    fn or(self, other: Self) -> Self {
        if self == other { self } else { Self::Maybe }
    }

    /// Of two things, each of which is enough.
    fn any(self, other: Self) -> Self {
        match (self, other) {
            (Self::Always, _) | (_, Self::Always) => Self::Always,
            (Self::Never, Self::Never) => Self::Never,
            _ => Self::Maybe,
        }
    }

    pub(super) fn is_possible(self) -> bool {
        self != Self::Never
    }
}

/// What may become of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Fate {
    pub(super) changed: Chance,
    pub(super) failed: Chance,
    pub(super) skipped: Chance,
    pub(super) refreshed: Chance,
}

impl Fate {
    /// Whether anything may become of it.
    pub(super) fn acts(self) -> bool {
        [self.changed, self.failed, self.skipped, self.refreshed].into_iter().any(Chance::is_possible)
    }
}

/// What every cell may hold, and what is known of several cells together.
#[derive(Clone, Debug)]
pub(super) struct Possible {
    cells: Vec<Held>,
    /// What holds of the start, until a step may have written one of the cells.
    known: Vec<Known>,
    by_cell: BTreeMap<CellId, Vec<usize>>,
}

/// Something that holds.
#[derive(Clone, Debug)]
struct Known {
    test: Test,
    cells: Vec<CellId>,
    is_gone: bool,
}

/// What is known above a state; what is not in it is as below.
#[derive(Clone, Default, Debug)]
struct Layer {
    held: BTreeMap<CellId, Held>,
    /// The cells that were written, and not only looked at.
    written: BTreeSet<CellId>,
}

impl Layer {
    fn new() -> Self {
        Self::default()
    }

    fn know(&mut self, cell: CellId, held: Held) {
        self.held.insert(cell, held);
    }

    fn write(&mut self, cell: CellId, held: Held) {
        self.held.insert(cell, held);
        self.written.insert(cell);
    }
}

/// Tests that one answer may decide at most, one after the other.
const LONGEST_CONCLUSION: usize = 200;

impl Possible {
    /// Every admissible start of a plan, whether or not these tests of it hold.
    pub(super) fn starts(plan: &Plan, open: &[Test]) -> Self {
        let cells = plan.space.iter().map(|(_, cell)| match &cell.lifetime {
            Lifetime::Machine => Held::kinds(Kinds::of(&cell.kinds)),
            Lifetime::Run(initial) => Held::one(initial.clone()),
        });
        let start = plan.start.iter().filter(|test| !open.contains(test));
        let tests = start.chain(&plan.laws);
        let known: Vec<Known> = tests
            .map(|test| {
                let mut cells = Vec::new();
                test.cells(&mut cells);
                cells.sort_unstable();
                cells.dedup();
                Known { test: test.clone(), cells, is_gone: false }
            })
            .collect();
        let mut by_cell: BTreeMap<CellId, Vec<usize>> = BTreeMap::new();
        for (at, one) in known.iter().enumerate() {
            one.cells.iter().for_each(|&cell| by_cell.entry(cell).or_default().push(at));
        }
        let mut starts = Self { cells: cells.collect(), known, by_cell };
        // What one test says may decide another.
        for _ in 0..2 {
            for at in 0..starts.known.len() {
                if let Some(said) = starts.assume(&starts.known[at].test, true, &Layer::new()) {
                    starts.take(said);
                }
            }
        }
        starts
    }

    fn take(&mut self, layer: Layer) {
        for (cell, held) in layer.held {
            if let Some(place) = self.cells.get_mut(cell.0 as usize) {
                *place = held;
            }
        }
        for cell in layer.written {
            for &at in self.by_cell.get(&cell).into_iter().flatten() {
                self.known[at].is_gone = true;
            }
        }
    }

    /// The layer in which a test holds, or does not, with what follows from it; none if it cannot be so.
    fn conclude(&self, test: &Test, holds: bool, layer: &Layer) -> Option<Layer> {
        let mut now = self.assume(test, holds, layer)?;
        let differing = |now: &Layer, before: &Layer| -> Vec<CellId> {
            let differs = |cell: &&CellId| now.held.get(cell) != before.held.get(cell);
            now.held.keys().filter(differs).copied().collect()
        };
        let mut work = differing(&now, layer);
        for _ in 0..LONGEST_CONCLUSION {
            let Some(cell) = work.pop() else { break };
            for &at in self.by_cell.get(&cell).into_iter().flatten() {
                let known = &self.known[at];
                if known.is_gone || known.cells.iter().any(|cell| now.written.contains(cell)) {
                    continue;
                }
                let next = self.assume(&known.test, true, &now)?;
                work.extend(differing(&next, &now));
                now = next;
            }
        }
        Some(now)
    }

    fn held<'a>(&'a self, cell: CellId, layer: &'a Layer) -> Held {
        let below = || self.cells.get(cell.0 as usize).cloned().unwrap_or(Held::one(Value::Absent));
        layer.held.get(&cell).cloned().unwrap_or_else(below)
    }

    fn term(&self, term: &Term, layer: &Layer) -> Held {
        match term {
            Term::Is(value) => Held::one(value.clone()),
            Term::Cell(cell) => self.held(*cell, layer),
        }
    }

    /// Whether a test holds, if that is certain.
    fn ask(&self, test: &Test, layer: &Layer) -> Option<bool> {
        match test {
            Test::True => Some(true),
            Test::Equal(left, right) => {
                let (left, right) = (self.term(left, layer), self.term(right, layer));
                match (left.single(), right.single()) {
                    (Some(left), Some(right)) => Some(left == right),
                    _ => left.meet(&right).is_none().then_some(false),
                }
            }
            Test::Kind(cell, kind) => {
                let kinds = self.held(*cell, layer).set();
                if !kinds.has(*kind) {
                    Some(false)
                } else if kinds == Kinds::one(*kind) {
                    Some(true)
                } else {
                    None
                }
            }
            Test::Not(inner) => self.ask(inner, layer).map(|answer| !answer),
            Test::All(tests) => all_hold(tests.iter().map(|test| self.ask(test, layer))),
            Test::Any(tests) => {
                all_hold(tests.iter().map(|test| self.ask(test, layer).map(|answer| !answer)))
                    .map(|answer| !answer)
            }
        }
    }

    /// The layer in which a test holds, or does not; none if it cannot be so.
    fn assume(&self, test: &Test, holds: bool, layer: &Layer) -> Option<Layer> {
        if let Some(answer) = self.ask(test, layer) {
            return (answer == holds).then(|| layer.clone());
        }
        match (test, holds) {
            (Test::Not(inner), _) => self.assume(inner, !holds, layer),
            (Test::Kind(cell, kind), _) => {
                let left = self.held(*cell, layer).of_kind(*kind, holds)?;
                Some(with(layer, *cell, left))
            }
            (Test::Equal(left, right), true) => {
                let same = self.term(left, layer).meet(&self.term(right, layer))?;
                let mut layer = layer.clone();
                for term in [left, right] {
                    if let Term::Cell(cell) = term {
                        layer.know(*cell, same.clone());
                    }
                }
                Some(layer)
            }
            (Test::Equal(left, right), false) => {
                let (one, other) = (self.term(left, layer), self.term(right, layer));
                let mut layer = layer.clone();
                for (term, held, value) in [(left, &one, other.single()), (right, &other, one.single())] {
                    if let (Term::Cell(cell), Some(value)) = (term, value) {
                        layer.know(*cell, held.without(value)?);
                    }
                }
                Some(layer)
            }
            (Test::All(tests), true) => {
                tests.iter().try_fold(layer.clone(), |layer, test| self.assume(test, true, &layer))
            }
            (Test::Any(tests), false) => {
                tests.iter().try_fold(layer.clone(), |layer, test| self.assume(test, false, &layer))
            }
            (Test::All(tests), false) => self.either(tests, false, layer),
            (Test::Any(tests), true) => self.either(tests, true, layer),
            (Test::True, _) => Some(layer.clone()),
        }
    }

    /// What holds if one of several tests does, or does not.
    fn either(&self, tests: &[Test], holds: bool, layer: &Layer) -> Option<Layer> {
        let ways = tests.iter().filter_map(|test| self.assume(test, holds, layer));
        ways.reduce(|one, other| self.joined(&one, &other))
    }

    fn joined(&self, one: &Layer, other: &Layer) -> Layer {
        let cells: BTreeSet<CellId> = one.held.keys().chain(other.held.keys()).copied().collect();
        let join = |cell| (cell, self.held(cell, one).join(&self.held(cell, other)));
        Layer {
            held: cells.into_iter().map(join).collect(),
            written: one.written.union(&other.written).copied().collect(),
        }
    }

    /// Runs a plan, its steps in this order, and returns what may become of each. If the run is taken to succeed, ways on which
    /// a step fails are left out wherever there is another.
    /// `acts_as_told` are steps of which only what they do when they act is unknown, and not whether they do.
    pub(super) fn run(
        &mut self,
        runner: &Runner<'_>,
        order: &[StepId],
        succeeds: bool,
        acts_as_told: &dyn Fn(StepId) -> bool,
    ) -> Vec<Fate> {
        let plan = runner.plan();
        for (id, cell) in plan.space.iter() {
            if let (Lifetime::Run(initial), Some(held)) = (&cell.lifetime, self.cells.get_mut(id.0 as usize))
            {
                *held = Held::one(initial.clone());
            }
        }
        let mut fates = vec![Fate::default(); plan.steps.len()];
        let mut notified = vec![Chance::Never; plan.steps.len()];
        for &id in order {
            let at = id.0 as usize;
            let Some(step) = plan.steps.get(at) else { continue };
            let bad = runner.before(id).iter().fold(Chance::Never, |bad, &before| {
                let Fate { failed, skipped, .. } = fates[before as usize];
                bad.any(failed).any(skipped)
            });
            let bad = if succeeds && bad == Chance::Maybe { Chance::Never } else { bad };
            if self.ask(&step.suitable, &Layer::new()) != Some(true) {
                // It may be postponed, so that nobody knows what comes first.
                return self.give_up(fates);
            }
            let turn = Turn { state: self, succeeds, acts_as_told: acts_as_told(id) };
            let (fate, layer, notifies) = turn.take(step, bad, notified[at]);
            self.take(layer);
            fates[at] = fate;
            for &target in runner.notified_by(id) {
                let known = &mut notified[target as usize];
                *known = known.any(notifies);
            }
        }
        fates
    }

    /// Anything may be, and anything may have become of every step.
    fn give_up(&mut self, mut fates: Vec<Fate>) -> Vec<Fate> {
        self.cells.fill(Held::kinds(Kinds::of(&Kinds::ALL)));
        self.known.iter_mut().for_each(|known| known.is_gone = true);
        let maybe = Chance::Maybe;
        fates.fill(Fate { changed: maybe, failed: maybe, skipped: maybe, refreshed: maybe });
        fates
    }
}

fn with(layer: &Layer, cell: CellId, held: Held) -> Layer {
    let mut layer = layer.clone();
    layer.know(cell, held);
    layer
}

fn all_hold(answers: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut all = Some(true);
    for answer in answers {
        match answer {
            Some(false) => return Some(false),
            None => all = None,
            Some(true) => {}
        }
    }
    all
}

/// Whether a step does nothing until it is refreshed.
pub(super) fn sleeps(step: &Step) -> bool {
    step.apply == Program::Skip && step.refresh != Program::Skip
}

/// One step's turn.
struct Turn<'a> {
    state: &'a Possible,
    succeeds: bool,
    acts_as_told: bool,
}

/// Where a program may be after a part of it.
#[derive(Clone)]
struct Way {
    layer: Layer,
    changed: Chance,
}

/// The ways on which a program goes on, and those on which it failed.
#[derive(Default)]
struct Ways {
    on: Option<Way>,
    failed: Option<Way>,
}

impl Turn<'_> {
    /// Returns what may become of the step, what it leaves, and whether it notifies.
    fn take(&self, step: &Step, bad: Chance, notified: Chance) -> (Fate, Layer, Chance) {
        if bad == Chance::Always {
            return (Fate { skipped: Chance::Always, ..Fate::default() }, Layer::new(), Chance::Never);
        }
        let (mut fate, mut layer, mut notifies) = self.perform(step, notified);
        if bad == Chance::Maybe {
            // Or it is not applied at all.
            let weaker = |chance: Chance| chance.or(Chance::Never);
            let Fate { changed, failed, refreshed, .. } = fate;
            fate = Fate {
                changed: weaker(changed),
                failed: weaker(failed),
                skipped: Chance::Maybe,
                refreshed: weaker(refreshed),
            };
            layer = self.state.joined(&layer, &Layer::new());
            notifies = weaker(notifies);
        }
        (fate, layer, notifies)
    }

    fn perform(&self, step: &Step, notified: Chance) -> (Fate, Layer, Chance) {
        if step.passes_on {
            return (Fate::default(), Layer::new(), notified);
        }
        let start = Way { layer: Layer::new(), changed: Chance::Never };
        let mut applied = self.execute(&step.apply, start, 0);
        let mut failed = self.outcome(&mut applied);
        let after = self.merged(applied);
        let mut changed = after.changed;
        let mut notifies = after.changed;
        let mut layer = after.layer.clone();
        let mut refreshed = Chance::Never;
        if notified.is_possible() {
            refreshed = notified;
            let mut again = self.execute(&step.refresh, Way { changed: Chance::Never, ..after }, 0);
            let fails = self.outcome(&mut again);
            let again = self.merged(again);
            let (fails, changes) = match notified {
                Chance::Maybe => (fails.or(Chance::Never), again.changed.or(Chance::Never)),
                _ => (fails, again.changed),
            };
            layer = match notified {
                Chance::Maybe => self.state.joined(&layer, &again.layer),
                _ => again.layer,
            };
            failed = failed.any(fails);
            changed = changed.any(changes);
            notifies = notifies.any(changes);
        }
        let acts = changed.is_possible() || failed.is_possible() || notified.is_possible();
        let is_asleep = !acts && (sleeps(step) || self.acts_as_told);
        if let Some(unknown) = step.unknown.as_ref().filter(|_| !is_asleep) {
            (changed, failed) = (Chance::Maybe, if self.succeeds { Chance::Never } else { Chance::Maybe });
            notifies = Chance::Maybe;
            if let Reach::Cells(cells) = &unknown.reach {
                for &cell in cells {
                    layer.write(cell, Held::kinds(Kinds::of(&Kinds::ALL)));
                }
            }
        }
        // What failed notifies nobody.
        if failed == Chance::Always {
            notifies = Chance::Never;
        } else if failed == Chance::Maybe {
            notifies = notifies.or(Chance::Never);
        }
        (Fate { changed, failed, skipped: Chance::Never, refreshed }, layer, notifies)
    }

    /// Whether a program failed. Where it is taken to succeed, the ways on which it fails are dropped if there is another.
    fn outcome(&self, ways: &mut Ways) -> Chance {
        if self.succeeds && ways.on.is_some() {
            ways.failed = None;
        }
        match (&ways.on, &ways.failed) {
            (_, None) => Chance::Never,
            (None, Some(_)) => Chance::Always,
            (Some(_), Some(_)) => Chance::Maybe,
        }
    }

    fn merged(&self, ways: Ways) -> Way {
        match (ways.on, ways.failed) {
            (Some(one), Some(other)) => self.joined(&one, &other),
            (Some(way), None) | (None, Some(way)) => way,
            (None, None) => Way { layer: Layer::new(), changed: Chance::Maybe },
        }
    }

    fn joined(&self, one: &Way, other: &Way) -> Way {
        Way { layer: self.state.joined(&one.layer, &other.layer), changed: one.changed.or(other.changed) }
    }

    fn both(&self, one: Option<Way>, other: Option<Way>) -> Option<Way> {
        match (one, other) {
            (Some(one), Some(other)) => Some(self.joined(&one, &other)),
            (way, None) | (None, way) => way,
        }
    }

    fn execute(&self, program: &Program, mut way: Way, depth: usize) -> Ways {
        if depth > DEEPEST {
            for cell in program.written() {
                way.layer.write(cell, Held::kinds(Kinds::of(&Kinds::ALL)));
            }
            way.changed = Chance::Maybe;
            return Ways { failed: (!self.succeeds).then(|| way.clone()), on: Some(way) };
        }
        match program {
            Program::Skip => Ways { on: Some(way), failed: None },
            Program::Fail(_) => Ways { on: None, failed: Some(way) },
            Program::Write(cell, term) => {
                let held = self.state.term(term, &way.layer);
                way.layer.write(*cell, held);
                Ways { on: Some(way), failed: None }
            }
            Program::Change => {
                way.changed = Chance::Always;
                Ways { on: Some(way), failed: None }
            }
            Program::If(test, then, otherwise) => {
                let taken = |holds: bool, branch: &Program| match self.state.conclude(test, holds, &way.layer)
                {
                    Some(layer) => self.execute(branch, Way { layer, changed: way.changed }, depth + 1),
                    None => Ways::default(),
                };
                let (one, other) = (taken(true, then), taken(false, otherwise));
                Ways { on: self.both(one.on, other.on), failed: self.both(one.failed, other.failed) }
            }
            Program::Sequence(programs) => {
                let mut failed = None;
                for program in programs {
                    let ways = self.execute(program, way, depth + 1);
                    failed = self.both(failed, ways.failed);
                    match ways.on {
                        Some(on) => way = on,
                        None => return Ways { on: None, failed },
                    }
                }
                Ways { on: Some(way), failed }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use setpoint_state::{Run, Semantics, Status};
    use setpoint_verify::exhaustive::starts;
    use setpoint_verify::sample;

    use super::*;

    const PLANS: u64 = 3000;
    const MOST_STATES: u64 = 20_000;

    /// What is certain holds from every start, and what holds from some start is possible: over two runs, of which the first
    /// succeeds.
    #[test]
    fn every_run_is_possible() {
        let (mut compared, mut certain) = (0, 0);
        for seed in 0..PLANS {
            let plan = sample::plan(seed);
            let Some(starts) = starts(&plan, Semantics::Puppet, false, MOST_STATES) else { continue };
            let runner = Runner::new(&plan, Semantics::Puppet);
            let order = runner.puppet_order();
            let mut machines = Possible::starts(&plan, &[]);
            let first = machines.run(&runner, &order, true, &|_| false);
            let second = machines.run(&runner, &order, false, &|_| false);
            // The first run may fail, the second succeeds, and the third is asked about.
            let mut machines = Possible::starts(&plan, &[]);
            let any_first = machines.run(&runner, &order, false, &|_| false);
            machines.run(&runner, &order, true, &|_| false);
            let third = machines.run(&runner, &order, false, &|_| false);
            for start in &starts {
                let run = runner.run(start, &order);
                holds(&plan, &any_first, &run, seed);
                let again = runner.run(&run.end, &order);
                if !again.statuses.iter().any(|status| status.is_bad()) {
                    holds(&plan, &third, &runner.run(&again.end, &order), seed);
                }
                if run.statuses.iter().any(|status| status.is_bad()) {
                    continue;
                }
                compared += 1;
                certain += holds(&plan, &first, &run, seed);
                certain += holds(&plan, &second, &runner.run(&run.end, &order), seed);
            }
        }
        assert!(compared > 10_000 && certain > 10_000, "{compared} runs, {certain} certain steps");
    }

    /// Compares a run with the fates of its steps, and returns how many are decided.
    fn holds(plan: &Plan, fates: &[Fate], run: &Run, seed: u64) -> usize {
        let mut decided = 0;
        for (at, fate) in fates.iter().enumerate() {
            let status = run.statuses[at];
            if plan.steps[at].passes_on {
                continue;
            }
            for (chance, happens) in [
                // What fails may have changed something before.
                (fate.changed, status == Status::Changed),
                (fate.failed, status == Status::Failed),
                (fate.skipped, status == Status::Skipped),
                (fate.refreshed, run.refreshed[at]),
            ] {
                let is_change_of_failed = status == Status::Failed && chance == fate.changed;
                let fits = match chance {
                    Chance::Always => happens || is_change_of_failed,
                    Chance::Never => !happens,
                    Chance::Maybe => true,
                };
                assert!(fits, "plan {seed}, step {at}: {fate:?}, and it is {status:?}\n{plan:#?}");
                decided += usize::from(chance == Chance::Always);
            }
        }
        decided
    }
}
