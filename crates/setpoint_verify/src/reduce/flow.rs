//! How far a difference can reach: what two runs can disagree about once two neighbours have been swapped.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};
use setpoint_solver::{Lit, Outcome};
use setpoint_state::{CellId, Lifetime, Semantics, StepId};

use crate::facts::context::{Context, has};
use crate::facts::kinds::Kinds;
use crate::prove::pair::Held;
use crate::reduce::sub::{Moment, Sub, Tests};
use crate::symbolic::machine::Machine;

/// What two runs may disagree about. A cell is marked if even its kind may differ, not only its content.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Difference {
    pub(crate) cells: Vec<(CellId, bool)>,
    /// By place among the steps that were asked about: failed or not, notifies or not.
    pub(crate) bad: Vec<bool>,
    pub(crate) notify: Vec<bool>,
}

impl Difference {
    /// Two steps that commute.
    fn none() -> Self {
        Self { cells: Vec::new(), bad: vec![false; 2], notify: vec![false; 2] }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.cells.is_empty() && !self.bad.contains(&true) && !self.notify.contains(&true)
    }
}

/// The solver gave up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GaveUp;

/// Answers to questions about steps by themselves, by shape; shared by all plans of a call. Equal shapes have equal answers, so that it
/// does not matter who asked first.
#[derive(Debug, Default)]
pub struct Memory {
    commuting: Remembered<bool>,
    pairs: Remembered<Difference>,
    flows: Remembered<Flow>,
    /// Starts whose runs end badly; nothing if there is none.
    ends: Remembered<Option<Vec<Held>>>,
}

impl Memory {
    /// A remembered answer about the end of runs, and the work that it took.
    pub(crate) fn end(&self, key: &[u32]) -> Option<(Option<Vec<Held>>, u64)> {
        self.ends.0.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    pub(crate) fn add_end(&self, key: Vec<u32>, found: Option<Vec<Held>>, work: u64) {
        self.ends.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key, (found, work));
    }
}

/// Answers by shape, each with the work that it took.
#[derive(Debug)]
struct Remembered<A>(Mutex<FxHashMap<Vec<u32>, (A, u64)>>);

impl<A> Default for Remembered<A> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

/// Questions about steps by themselves.
#[derive(Default)]
pub(crate) struct Local {
    memory: Arc<Memory>,
    /// Shapes that this plan has asked about: the first time is charged, whoever did the work.
    charged: FxHashSet<(Kind, Vec<u32>)>,
    pub(crate) asked: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Commuting,
    Pair,
    Flow,
}

impl Local {
    pub(crate) fn new(memory: Arc<Memory>) -> Self {
        Self { memory, ..Self::default() }
    }

    /// Returns the remembered answer, or finds and remembers it. Either way the context is charged the work that it takes, once for each shape;
    /// there is no answer if that is more than the context may spend, remembered or not.
    fn remember<A: Clone>(
        &mut self,
        context: &Context<'_>,
        (kind, key): (Kind, Vec<u32>),
        memory: impl Fn(&Memory) -> &Remembered<A>,
        find: impl FnOnce() -> Result<A, GaveUp>,
    ) -> Result<A, GaveUp> {
        let known = memory(&self.memory).0.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        if self.charged.contains(&(kind, key.clone()))
            && let Some((answer, _)) = known
        {
            return Ok(answer);
        }
        let answer = if let Some((answer, work)) = known {
            context.meter.add(work);
            answer
        } else {
            self.asked += 1;
            let before = context.meter.read();
            let answer = find()?;
            let work = context.meter.read() - before;
            let mut all = memory(&self.memory).0.lock().unwrap_or_else(PoisonError::into_inner);
            all.insert(key.clone(), (answer.clone(), work));
            answer
        };
        if context.is_over() {
            return Err(GaveUp);
        }
        self.charged.insert((kind, key));
        Ok(answer)
    }
}

/// What a step finds, over the cells of a part.
pub(crate) fn found_in(context: &Context<'_>, sub: &Sub, step: StepId) -> Vec<(CellId, Kinds)> {
    let found = context.found(step);
    let of = |cell: CellId| {
        found.binary_search_by_key(&cell, |(cell, _)| *cell).map_or(Kinds::ANY, |at| found[at].1)
    };
    let cells = sub.cells.iter().enumerate().map(|(at, &cell)| {
        // A cell that stands for others is known only as they all are.
        let others = sub.twins.get(&cell).into_iter().flatten();
        (CellId(at as u32), others.fold(of(cell), |kinds, &other| kinds.or(of(other))))
    });
    cells.filter(|(_, kinds)| *kinds != Kinds::ANY).collect()
}

/// Puts what steps find into the key of a question.
pub(crate) fn mark_found(key: &mut Vec<u32>, found: &[Vec<(CellId, Kinds)>]) {
    for found in found {
        key.push(u32::MAX - 1);
        key.extend(found.iter().flat_map(|(cell, kinds)| [cell.0, kinds.bits()]));
    }
}

/// What a step makes of a difference.
#[derive(Clone, Debug, Default)]
struct Flow {
    /// Cells that were equal and may differ after it; marked if the kind may.
    introduces: Vec<(CellId, bool)>,
    /// Cells that differed and are equal after it for certain.
    resets: Vec<CellId>,
    bad: bool,
    notify: bool,
}

impl Local {
    /// What the order of two neighbours can change, whatever the state in which they find the machine.
    pub(crate) fn pair(
        &mut self,
        context: &Context<'_>,
        one: StepId,
        two: StepId,
    ) -> Result<Difference, GaveUp> {
        let Some(neighbours) = self.conflict(context, one, two)? else { return Ok(Difference::none()) };
        let key = (Kind::Pair, neighbours.key());
        let difference = self.remember(context, key, |memory| &memory.pairs, || neighbours.difference())?;
        Ok(neighbours.sub.outside(&difference))
    }

    /// Asks what an answer about the pair will need, so that it is remembered.
    pub(crate) fn look_ahead(
        &mut self,
        context: &Context<'_>,
        one: StepId,
        two: StepId,
    ) -> Result<(), GaveUp> {
        let is_open = [one, two].iter().any(|&step| context.reach(step).is_some());
        if self.commutes(context, one, two)? || is_open || context.unknown_everywhere().next().is_some() {
            return Ok(());
        }
        let difference = self.pair(context, one, two)?;
        self.follow(context, one, two, &difference).map(|_| ())
    }

    /// Whether the order of two neighbours changes nothing, whatever the state in which they find the machine. This takes a part of the
    /// work of asking what it changes.
    pub(crate) fn commutes(
        &mut self,
        context: &Context<'_>,
        one: StepId,
        two: StepId,
    ) -> Result<bool, GaveUp> {
        Ok(self.conflict(context, one, two)?.is_none())
    }

    /// Two neighbours whose order changes something, with what is known of the states in which they find the machine.
    fn conflict<'c, 'p>(
        &mut self,
        context: &'c Context<'p>,
        one: StepId,
        two: StepId,
    ) -> Result<Option<Neighbours<'c, 'p>>, GaveUp> {
        let sub = Sub::pair(context, one, two);
        let mut neighbours = Neighbours { context, steps: [one, two], sub, found: [Vec::new(), Vec::new()] };
        if self.is_harmless(&neighbours)? {
            return Ok(None);
        }
        // What comes after both has broken nothing yet.
        neighbours.sub.assume_those(context, context.kept_until(&[one, two]));
        neighbours.found = [one, two].map(|step| found_in(context, &neighbours.sub, step));
        if neighbours.sub.plan.start.is_empty() && neighbours.found.iter().all(Vec::is_empty) {
            return Ok(Some(neighbours));
        }
        Ok(if self.is_harmless(&neighbours)? { None } else { Some(neighbours) })
    }

    fn is_harmless(&mut self, neighbours: &Neighbours<'_, '_>) -> Result<bool, GaveUp> {
        let key = (Kind::Commuting, neighbours.key());
        self.remember(neighbours.context, key, |memory| &memory.commuting, || neighbours.commute())
    }

    /// What a step makes of a difference that reaches it.
    fn flow(
        &mut self,
        context: &Context<'_>,
        step: StepId,
        cells: &FxHashMap<CellId, bool>,
        skip_differs: bool,
        notified_differs: bool,
    ) -> Result<Flow, GaveUp> {
        let mut sub = Sub::new(context, &[step], Moment::AnyTwo, Tests::Inside);
        sub.assume_kept(context);
        let levels: Vec<Option<bool>> = sub.cells.iter().map(|cell| cells.get(cell).copied()).collect();
        let skippable = context.can_be_skipped(step);
        let notified = context.is_notified(step);
        let mut key = sub.shape();
        key.extend(levels.iter().map(|level| level.map_or(0, |kind| 1 + u32::from(kind))));
        key.extend(
            [skip_differs, notified_differs, skippable, notified, context.notifies(step)].map(u32::from),
        );
        key.push(context.semantics as u32);
        let differs = Differs { levels, skip: skip_differs, notified: notified_differs };
        let find = || differs.flow(context, &sub, step);
        let flow = self.remember(context, (Kind::Flow, key), |memory| &memory.flows, find)?;
        Ok(flow.outside(&sub))
    }
}

/// A difference that reaches a step: in which of its cells, and whether even in their kind; in whether it is skipped or notified.
struct Differs {
    levels: Vec<Option<bool>>,
    skip: bool,
    notified: bool,
}

impl Differs {
    /// What a step makes of the difference.
    fn flow(&self, context: &Context<'_>, sub: &Sub, step: StepId) -> Result<Flow, GaveUp> {
        let (skippable, notified) = (context.can_be_skipped(step), context.is_notified(step));
        let (levels, skip_differs, notified_differs) = (&self.levels, self.skip, self.notified);
        let mut machine = sub.machine(context);
        let first = machine.any_start();
        let mut second = first.clone();
        for (at, level) in levels.iter().enumerate() {
            let cell = CellId(at as u32);
            let Some(kind) = level else { continue };
            let other = machine.any_value(cell);
            if !kind {
                let same = machine.equal_kind(cell, first.get(cell), &other);
                machine.circuit.assert(&[same]);
            }
            Machine::put(&mut second, cell, other);
        }
        machine.assume(&first, &sub.plan.start);
        machine.assume(&second, &sub.plan.start);
        let (before_one, before_two) = (first.clone(), second.clone());
        let mut ends = Vec::new();
        let mut shared: Option<(Lit, Lit)> = None;
        for mut state in [first, second] {
            let bad = match shared {
                Some((bad, _)) if !skip_differs => bad,
                _ if skippable || skip_differs => machine.circuit.fresh(),
                _ => machine.no(),
            };
            let notify = match shared {
                Some((_, notify)) if !notified_differs => notify,
                _ if notified || notified_differs => machine.circuit.fresh(),
                _ => machine.no(),
            };
            shared = Some((bad, notify));
            let step = &sub.plan.steps[0];
            let mut go = machine.yes();
            let mut unusable = machine.no();
            if context.semantics == Semantics::Puppet {
                go = machine.test(&state, &step.suitable);
                unusable = !go;
            }
            let mut end = machine.step(step, &mut state, go, bad, notify);
            end.failed = machine.circuit.or(&[end.failed, unusable]);
            ends.push((state, end, bad));
        }
        let [(state_one, end_one, bad_one), (state_two, end_two, bad_two)] = &ends[..] else {
            return Err(GaveUp);
        };
        let mut alive = machine.yes();
        let mut flow = Flow::default();
        let failed_same = machine.circuit.equal(end_one.failed, end_two.failed);
        let skipped_same = machine.circuit.equal(end_one.skipped, end_two.skipped);
        let bad_same = machine.circuit.and(&[failed_same, skipped_same]);
        if context.semantics == Semantics::Paper {
            alive = machine.circuit.and(&[!end_one.failed, !end_two.failed]);
        }
        let mut asked = vec![!bad_same];
        let mut notify_differs = machine.no();
        if context.notifies(step) {
            notify_differs = !machine.circuit.equal(end_one.notify, end_two.notify);
            asked.push(notify_differs);
        }
        let places = sub.places();
        let mut written = Vec::new();
        for cell in &context.footprint(step).writes {
            let Some(&cell) = places.get(cell) else { continue };
            let same_before = machine.equal(before_one.get(cell), before_two.get(cell));
            let same_after = machine.equal(state_one.get(cell), state_two.get(cell));
            let kind_before = machine.equal_kind(cell, before_one.get(cell), before_two.get(cell));
            let kind_after = machine.equal_kind(cell, state_one.get(cell), state_two.get(cell));
            let kind = machine.circuit.and(&[alive, kind_before, !kind_after]);
            let content = machine.circuit.and(&[alive, same_before, !same_after]);
            let stays = machine.circuit.and(&[alive, !*bad_one, !*bad_two, !same_after]);
            asked.extend([kind, content]);
            if levels[cell.0 as usize].is_some() {
                asked.push(stays);
            }
            written.push((cell, kind, content, stays));
        }
        let possible = possible(&mut machine, asked)?;
        flow.bad = possible.contains(&!bad_same);
        flow.notify = possible.contains(&notify_differs);
        for (cell, kind, content, stays) in written {
            if possible.contains(&kind) || possible.contains(&content) {
                flow.introduces.push((cell, possible.contains(&kind)));
            }
            if levels[cell.0 as usize].is_some() && !possible.contains(&stays) {
                flow.resets.push(cell);
            }
        }
        Ok(flow)
    }
}

impl Flow {
    fn outside(&self, sub: &Sub) -> Self {
        Self {
            introduces: self
                .introduces
                .iter()
                .map(|&(cell, kind)| (sub.cells[cell.0 as usize], kind))
                .collect(),
            resets: self.resets.iter().map(|cell| sub.cells[cell.0 as usize]).collect(),
            ..*self
        }
    }
}

impl Sub {
    fn outside(&self, difference: &Difference) -> Difference {
        Difference {
            cells: difference
                .cells
                .iter()
                .flat_map(|&(cell, kind)| {
                    let cell = self.cells[cell.0 as usize];
                    let twins = self.twins.get(&cell).into_iter().flatten().copied();
                    std::iter::once(cell).chain(twins).map(move |cell| (cell, kind))
                })
                .collect(),
            bad: difference.bad.clone(),
            notify: difference.notify.clone(),
        }
    }
}

/// Two neighbours, in states in which the assumptions of the part hold, and what each of the two finds.
struct Neighbours<'c, 'p> {
    context: &'c Context<'p>,
    steps: [StepId; 2],
    sub: Sub,
    found: [Vec<(CellId, Kinds)>; 2],
}

impl Neighbours<'_, '_> {
    fn key(&self) -> Vec<u32> {
        let mut key = self.sub.shape();
        mark_found(&mut key, &self.found);
        key.push(self.context.semantics as u32);
        for step in self.steps {
            key.push(u32::from(self.context.can_be_skipped(step)));
            key.push(u32::from(self.context.is_notified(step)));
            key.push(u32::from(self.context.notifies(step)));
        }
        key
    }

    /// Whether nothing can differ.
    fn commute(&self) -> Result<bool, GaveUp> {
        let (mut machine, questions) = self.ask()?;
        let some = machine.circuit.or(&questions.all());
        Ok(!can(&mut machine, &[some])?)
    }

    /// All that can differ.
    fn difference(&self) -> Result<Difference, GaveUp> {
        let (mut machine, questions) = self.ask()?;
        questions.answer(&mut machine, 2)
    }

    /// Both orders from one start, and the literals that say what differs.
    fn ask(&self) -> Result<(Machine<'_>, Questions), GaveUp> {
        let (context, sub, found, [one, two]) = (self.context, &self.sub, &self.found, self.steps);
        let mut machine = sub.machine(context);
        let start = machine.any_start();
        machine.assume(&start, &sub.plan.start);
        let mut inputs = Vec::new();
        for step in [one, two] {
            let bad = if context.can_be_skipped(step) { machine.circuit.fresh() } else { machine.no() };
            let notified = if context.is_notified(step) { machine.circuit.fresh() } else { machine.no() };
            inputs.push((bad, notified));
        }
        let mut ends = Vec::new();
        for order in [[0, 1], [1, 0]] {
            let mut state = start.clone();
            let mut ended = [None, None];
            for at in order {
                let (bad, notified) = inputs[at];
                let step = &sub.plan.steps[at];
                for &(cell, kinds) in &found[at] {
                    let holds = machine.test(&state, &kinds.test(cell));
                    machine.circuit.assert(&[bad, holds]);
                }
                let mut go = machine.yes();
                let mut unusable = machine.no();
                if context.semantics == Semantics::Puppet {
                    go = machine.test(&state, &step.suitable);
                    unusable = !go;
                }
                let mut end = machine.step(step, &mut state, go, bad, notified);
                end.failed = machine.circuit.or(&[end.failed, unusable]);
                ended[at] = Some(end);
            }
            ends.push((state, ended));
        }
        let [(state_one, ended_one), (state_two, ended_two)] = &ends[..] else { return Err(GaveUp) };
        let mut failed = Vec::new();
        let mut questions = Questions::default();
        for at in 0..2 {
            let (Some(a), Some(b)) = (ended_one[at], ended_two[at]) else { return Err(GaveUp) };
            failed.push((a.failed, b.failed));
            if context.semantics == Semantics::Puppet {
                let bad = machine.circuit.equal(a.failed, b.failed);
                let skipped = machine.circuit.equal(a.skipped, b.skipped);
                let same = machine.circuit.and(&[bad, skipped]);
                questions.bad.push((at, !same));
                if context.notifies(if at == 0 { one } else { two }) {
                    questions.notify.push((at, !machine.circuit.equal(a.notify, b.notify)));
                }
            }
        }
        let mut alive = machine.yes();
        if context.semantics == Semantics::Paper {
            let first = machine.circuit.or(&[failed[0].0, failed[1].0]);
            let second = machine.circuit.or(&[failed[0].1, failed[1].1]);
            questions.bad.push((0, !machine.circuit.equal(first, second)));
            alive = machine.circuit.and(&[!first, !second]);
        }
        for (at, _) in sub.cells.iter().enumerate() {
            let cell = CellId(at as u32);
            let (left, right) = (state_one.get(cell), state_two.get(cell));
            if left == right {
                continue;
            }
            let differs = !machine.equal(left, right);
            let kind_differs = !machine.equal_kind(cell, left, right);
            questions.cells.push((cell, machine.circuit.and(&[alive, differs])));
            questions.kinds.push((cell, machine.circuit.and(&[alive, kind_differs])));
        }
        Ok((machine, questions))
    }
}

fn can(machine: &mut Machine<'_>, conditions: &[Lit]) -> Result<bool, GaveUp> {
    if conditions.contains(&machine.no()) {
        return Ok(false);
    }
    match machine.solve(conditions) {
        Outcome::Sat => Ok(true),
        Outcome::Unsat => Ok(false),
        Outcome::Unknown => Err(GaveUp),
    }
}

/// What may differ, each with the literal that says that it does.
#[derive(Default)]
struct Questions {
    cells: Vec<(CellId, Lit)>,
    kinds: Vec<(CellId, Lit)>,
    bad: Vec<(usize, Lit)>,
    notify: Vec<(usize, Lit)>,
}

/// Returns those of the literals that can hold, each in some model. Every model answers for all that hold in it.
fn possible(machine: &mut Machine<'_>, asked: Vec<Lit>) -> Result<FxHashSet<Lit>, GaveUp> {
    let mut open = asked;
    open.sort_unstable();
    open.dedup();
    let mut found: FxHashSet<Lit> = FxHashSet::default();
    loop {
        let some = machine.circuit.or(&open);
        if !can(machine, &[some])? {
            return Ok(found);
        }
        let (now, still): (Vec<Lit>, Vec<Lit>) =
            open.into_iter().partition(|&lit| lit == machine.yes() || machine.circuit.is_true(lit));
        found.extend(now);
        open = still;
    }
}

impl Questions {
    fn all(&self) -> Vec<Lit> {
        let cells = self.cells.iter().chain(&self.kinds).map(|(_, lit)| *lit);
        cells.chain(self.bad.iter().chain(&self.notify).map(|(_, lit)| *lit)).collect()
    }

    fn answer(self, machine: &mut Machine<'_>, steps: usize) -> Result<Difference, GaveUp> {
        let differs = possible(machine, self.all())?;
        let mut found = Difference { cells: Vec::new(), bad: vec![false; steps], notify: vec![false; steps] };
        for (at, (cell, lit)) in self.cells.iter().enumerate() {
            if differs.contains(lit) {
                found.cells.push((*cell, differs.contains(&self.kinds[at].1)));
            }
        }
        for (step, lit) in &self.bad {
            found.bad[*step] |= differs.contains(lit);
        }
        for (step, lit) in &self.notify {
            found.notify[*step] |= differs.contains(lit);
        }
        Ok(found)
    }
}

/// How far the difference of a pair reaches, over all schedules.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reached {
    pub(crate) cells: FxHashMap<CellId, bool>,
    /// Steps that may see the difference.
    pub(crate) affected: Vec<StepId>,
    /// A step may fail or be skipped in one run and not in the other.
    pub(crate) bad: bool,
    /// Something of it may be left at the end.
    pub(crate) visible: bool,
    /// The whole of it was followed; else all may be affected.
    pub(crate) complete: bool,
}

/// More steps than this are not followed one by one.
const MANY: usize = 600;

impl Local {
    /// Follows the difference of a pair through every step that may come after it.
    pub(crate) fn follow(
        &mut self,
        context: &Context<'_>,
        one: StepId,
        two: StepId,
        difference: &Difference,
    ) -> Result<Reached, GaveUp> {
        let mut cells: FxHashMap<CellId, bool> = FxHashMap::default();
        let mut introducers: FxHashMap<CellId, Vec<StepId>> = FxHashMap::default();
        let mut bad: FxHashSet<StepId> = FxHashSet::default();
        let mut notified: FxHashSet<StepId> = FxHashSet::default();
        // In Puppet's order, so that a step is mostly asked about when all that reaches it is known.
        let mut work: BTreeSet<(u32, StepId)> = BTreeSet::new();
        let ranked = |step: StepId| (context.rank[step.0 as usize], step);
        let mut affected: FxHashSet<StepId> = FxHashSet::default();
        let earlier = |step: StepId| {
            step == one || step == two || has(context.before(one), step.0) || has(context.before(two), step.0)
        };
        for &(cell, kind) in &difference.cells {
            cells.insert(cell, kind);
            introducers.insert(cell, vec![one, two]);
            work.extend(context.readers[cell.0 as usize].iter().copied().map(ranked));
        }
        for (at, step) in [one, two].into_iter().enumerate() {
            if difference.bad[at] {
                bad.insert(step);
                work.extend(context.runner.after(step).iter().map(|&step| ranked(StepId(step))));
            }
            if difference.notify[at] {
                for &target in context.runner.notified_by(step) {
                    notified.insert(StepId(target));
                    work.insert(ranked(StepId(target)));
                }
            }
        }
        while let Some((_, step)) = work.pop_first() {
            if earlier(step) || context.rank[step.0 as usize] == u32::MAX {
                continue;
            }
            affected.insert(step);
            if affected.len() > MANY {
                return Ok(Reached { bad: true, visible: true, ..Reached::default() });
            }
            let skip_differs = context.semantics == Semantics::Puppet
                && context.runner.before(step).iter().any(|&before| bad.contains(&StepId(before)));
            let flow = self.flow(context, step, &cells, skip_differs, notified.contains(&step))?;
            for &(cell, kind) in &flow.introduces {
                let list = introducers.entry(cell).or_default();
                if !list.contains(&step) {
                    list.push(step);
                }
                let known = cells.get(&cell).copied();
                if known.is_none() || (kind && known == Some(false)) {
                    cells.insert(cell, kind);
                    work.extend(context.readers[cell.0 as usize].iter().copied().map(ranked));
                }
            }
            if flow.bad && bad.insert(step) {
                work.extend(context.runner.after(step).iter().map(|&step| ranked(StepId(step))));
            }
            if flow.notify {
                for &target in context.runner.notified_by(step) {
                    if notified.insert(StepId(target)) {
                        work.insert(ranked(StepId(target)));
                    }
                }
            }
        }
        let bad = !bad.is_empty();
        let mut visible = bad;
        if !visible {
            let mut list: Vec<CellId> = cells.keys().copied().collect();
            list.sort_unstable();
            for cell in list {
                let machine_cell =
                    context.plan.space.get(cell).is_some_and(|cell| cell.lifetime == Lifetime::Machine);
                if machine_cell && !self.is_healed(context, cell, &cells, &introducers[&cell], &notified)? {
                    visible = true;
                    break;
                }
            }
        }
        let mut affected: Vec<StepId> = affected.into_iter().collect();
        affected.sort_unstable();
        Ok(Reached { cells, affected, bad, visible, complete: true })
    }

    /// One step, after all that make the cell differ, always gives it the same value.
    fn is_healed(
        &mut self,
        context: &Context<'_>,
        cell: CellId,
        cells: &FxHashMap<CellId, bool>,
        introducers: &[StepId],
        notified: &FxHashSet<StepId>,
    ) -> Result<bool, GaveUp> {
        for &last in &context.writers[cell.0 as usize] {
            if introducers.contains(&last)
                || context.rank[last.0 as usize] == u32::MAX
                || context.can_be_skipped(last)
                || introducers.iter().any(|&other| !context.comes_before(other, last))
            {
                continue;
            }
            let flow = self.flow(context, last, cells, false, notified.contains(&last))?;
            if flow.resets.contains(&cell) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
