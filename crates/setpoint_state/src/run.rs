//! The interpreter: one run of a plan, from one start, in one order.
//!
//! This is what verdicts mean. Everything that a verifier reports is run here before anybody sees it.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::{CellId, Plan, Program, State, StepId, Test, Value};

/// What a run means.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Semantics {
    /// As Puppet does it: a failure skips what depends on it and the rest goes on; changes refresh.
    #[default]
    Puppet,
    /// As Rehearsal has it: the first failure is the outcome; nothing is skipped, nothing is refreshed.
    Paper,
}

/// What became of a step.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Status {
    /// It has not run.
    None,
    Ok,
    /// It ran, and changed something or was refreshed.
    Changed,
    Failed,
    /// Something that it depends on failed or was skipped.
    Skipped,
}

impl Status {
    /// What depends on it is skipped.
    pub fn is_bad(self) -> bool {
        matches!(self, Self::Failed | Self::Skipped)
    }

    /// The status as an outcome has it: whether something had to be changed is no part of it.
    pub fn outcome(self) -> Self {
        if self == Self::Changed { Self::Ok } else { self }
    }
}

/// What happened, in the order in which it happened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// The turn of a step has come.
    Turn(StepId),
    /// Its provider cannot be used yet; it is tried again when the rest has made progress.
    Postponed(StepId),
    /// A failed or skipped step, named second, is before it.
    Skipped(StepId, StepId),
    /// It put a new value into a cell.
    Write {
        step: StepId,
        cell: CellId,
        from: Value,
        to: Value,
    },
    /// It reported a change.
    Changed(StepId),
    /// It is refreshed.
    Refresh(StepId),
    Failed(StepId, Arc<str>),
}

/// How a run went.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Run {
    /// Scratch cells are as at the start of a run.
    pub end: State,
    pub statuses: Vec<Status>,
    /// Which steps were refreshed.
    pub refreshed: Vec<bool>,
    /// The order in which steps had their turn.
    pub order: Vec<StepId>,
    /// What happened, if it was asked for.
    pub events: Vec<Event>,
}

impl Run {
    /// No step failed or was skipped, and all have run.
    pub fn is_clean(&self) -> bool {
        self.statuses.iter().all(|status| matches!(status, Status::Ok | Status::Changed))
    }

    /// No step changed anything or was refreshed.
    pub fn is_quiet(&self) -> bool {
        !self.statuses.contains(&Status::Changed) && !self.refreshed.contains(&true)
    }

    /// Whether two runs end alike: cells, and each step's ok, failed or skipped. In the paper's semantics all errors are
    /// one outcome.
    pub fn same_outcome(&self, other: &Self, semantics: Semantics) -> bool {
        match semantics {
            Semantics::Paper => {
                match (self.statuses.contains(&Status::Failed), other.statuses.contains(&Status::Failed)) {
                    (false, false) => self.end == other.end,
                    (one, two) => one == two,
                }
            }
            Semantics::Puppet => {
                self.end == other.end
                    && self.statuses.len() == other.statuses.len()
                    && self
                        .statuses
                        .iter()
                        .zip(&other.statuses)
                        .all(|(one, two)| one.outcome() == two.outcome())
            }
        }
    }
}

/// A run that is under way.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Progress {
    pub state: State,
    pub statuses: Vec<Status>,
    /// Which steps have been notified.
    pub notified: Vec<bool>,
    pub refreshed: Vec<bool>,
    /// The paper's global error.
    pub error: bool,
}

impl Progress {
    /// Fails a step whose provider can never be used.
    pub fn give_up(&mut self, step: StepId) {
        if let Some(status) = self.statuses.get_mut(step.0 as usize) {
            *status = Status::Failed;
        }
    }
}

/// Runs a plan, as often as asked.
#[derive(Clone, Debug)]
pub struct Runner<'p> {
    plan: &'p Plan,
    semantics: Semantics,
    before: Vec<Vec<u32>>,
    after: Vec<Vec<u32>>,
    notifies: Vec<Vec<u32>>,
    always_suitable: bool,
}

impl<'p> Runner<'p> {
    pub fn new(plan: &'p Plan, semantics: Semantics) -> Self {
        let count = plan.steps.len();
        let mut before = vec![Vec::new(); count];
        let mut after = vec![Vec::new(); count];
        let mut notifies = vec![Vec::new(); count];
        let inside =
            |from: StepId, to: StepId| (from.0 as usize) < count && (to.0 as usize) < count && from != to;
        // A notification is an edge too, also where the plan forgot to say so.
        for &(from, to) in plan.edges.iter().chain(&plan.notifies) {
            if inside(from, to) {
                before[to.0 as usize].push(from.0);
                after[from.0 as usize].push(to.0);
            }
        }
        for &(from, to) in &plan.notifies {
            if inside(from, to) {
                notifies[from.0 as usize].push(to.0);
            }
        }
        for list in before.iter_mut().chain(&mut after).chain(&mut notifies) {
            list.sort_unstable();
            list.dedup();
        }
        let always_suitable =
            semantics == Semantics::Paper || plan.steps.iter().all(|step| step.suitable == Test::True);
        Self { plan, semantics, before, after, notifies, always_suitable }
    }

    /// Runs the same plan with more edges: those of `notifies` refresh, too.
    pub fn with_edges(&self, edges: &[(StepId, StepId)], notifies: &[(StepId, StepId)]) -> Self {
        let mut more = self.clone();
        let count = more.before.len();
        let inside =
            |from: StepId, to: StepId| (from.0 as usize) < count && (to.0 as usize) < count && from != to;
        let add = |list: &mut Vec<u32>, step: StepId| {
            if let Err(at) = list.binary_search(&step.0) {
                list.insert(at, step.0);
            }
        };
        for &(from, to) in edges.iter().chain(notifies).filter(|(from, to)| inside(*from, *to)) {
            add(&mut more.before[to.0 as usize], from);
            add(&mut more.after[from.0 as usize], to);
        }
        for &(from, to) in notifies.iter().filter(|(from, to)| inside(*from, *to)) {
            add(&mut more.notifies[from.0 as usize], to);
        }
        more
    }

    pub fn plan(&self) -> &'p Plan {
        self.plan
    }

    pub fn semantics(&self) -> Semantics {
        self.semantics
    }

    /// The steps that a step directly waits for.
    pub fn before(&self, step: StepId) -> &[u32] {
        self.before.get(step.0 as usize).map_or(&[], Vec::as_slice)
    }

    /// The steps that directly wait for a step.
    pub fn after(&self, step: StepId) -> &[u32] {
        self.after.get(step.0 as usize).map_or(&[], Vec::as_slice)
    }

    /// The steps that a change of this step refreshes.
    pub fn notified_by(&self, step: StepId) -> &[u32] {
        self.notifies.get(step.0 as usize).map_or(&[], Vec::as_slice)
    }

    /// The order in which Puppet runs the plan: as listed, within the edges. Steps on a cycle never have their turn and
    /// are left out.
    pub fn puppet_order(&self) -> Vec<StepId> {
        let mut waiting: Vec<usize> = self.before.iter().map(Vec::len).collect();
        let mut ready: BTreeSet<u32> =
            (0..waiting.len() as u32).filter(|&step| waiting[step as usize] == 0).collect();
        let mut order = Vec::with_capacity(waiting.len());
        while let Some(step) = ready.pop_first() {
            order.push(StepId(step));
            for &next in &self.after[step as usize] {
                waiting[next as usize] -= 1;
                if waiting[next as usize] == 0 {
                    ready.insert(next);
                }
            }
        }
        order
    }

    /// A run before its first step.
    pub fn begin(&self, start: &State) -> Progress {
        let mut state = start.clone();
        state.reset_scratch(&self.plan.space);
        let count = self.plan.steps.len();
        Progress {
            state,
            statuses: vec![Status::None; count],
            notified: vec![false; count],
            refreshed: vec![false; count],
            error: false,
        }
    }

    /// Whether all that the step waits for has had its turn.
    pub fn is_ready(&self, progress: &Progress, step: StepId) -> bool {
        progress.statuses.get(step.0 as usize) == Some(&Status::None)
            && self.before(step).iter().all(|&before| progress.statuses[before as usize] != Status::None)
    }

    pub fn is_suitable(&self, progress: &Progress, step: StepId) -> bool {
        self.semantics == Semantics::Paper
            || self.plan.steps.get(step.0 as usize).is_none_or(|step| progress.state.holds(&step.suitable))
    }

    /// Gives a step its turn.
    pub fn perform(&self, progress: &mut Progress, step: StepId) {
        self.turn(progress, step, &mut None);
    }

    /// Runs the plan with one step failing for a reason of its own: it does nothing and is not refreshed.
    pub fn run_failing(&self, start: &State, order: &[StepId], failing: StepId) -> Run {
        self.run_with(start, order, Some(failing), None)
    }

    fn trip(&self, progress: &mut Progress, id: StepId) {
        let at = id.0 as usize;
        if progress.error || at >= self.before.len() {
            return;
        }
        let skipped = self.semantics == Semantics::Puppet
            && self.before[at].iter().any(|&before| progress.statuses[before as usize].is_bad());
        progress.statuses[at] = if skipped { Status::Skipped } else { Status::Failed };
        progress.error = self.semantics == Semantics::Paper;
    }

    fn turn(&self, progress: &mut Progress, id: StepId, events: &mut Option<Vec<Event>>) {
        let at = id.0 as usize;
        let Some(step) = self.plan.steps.get(at) else { return };
        if progress.error {
            return;
        }
        if let Some(events) = events {
            events.push(Event::Turn(id));
        }
        if self.semantics == Semantics::Paper {
            let ended = execute(&step.apply, id, &mut progress.state, events);
            progress.statuses[at] = match ended {
                Ended { failed: true, .. } => Status::Failed,
                Ended { changed: true, .. } => Status::Changed,
                Ended { .. } => Status::Ok,
            };
            progress.error = ended.failed;
            return;
        }
        if let Some(&bad) =
            self.before[at].iter().find(|&&before| progress.statuses[before as usize].is_bad())
        {
            progress.statuses[at] = Status::Skipped;
            if let Some(events) = events {
                events.push(Event::Skipped(id, StepId(bad)));
            }
            return;
        }
        let applied = execute(&step.apply, id, &mut progress.state, events);
        let mut notify = applied.changed && !applied.failed;
        let mut failed = applied.failed;
        let mut changed = applied.changed;
        // Puppet refreshes what was notified even if it has just failed.
        if progress.notified[at] {
            if step.passes_on {
                notify = true;
            } else {
                progress.refreshed[at] = true;
                if let Some(events) = events {
                    events.push(Event::Refresh(id));
                }
                let refreshed = execute(&step.refresh, id, &mut progress.state, events);
                failed |= refreshed.failed;
                changed |= refreshed.changed;
                notify |= refreshed.changed && !refreshed.failed;
            }
        }
        progress.statuses[at] = match (failed, changed) {
            (true, _) => Status::Failed,
            (false, true) => Status::Changed,
            (false, false) => Status::Ok,
        };
        if notify {
            for &target in &self.notifies[at] {
                progress.notified[target as usize] = true;
            }
        }
    }

    /// Runs the plan. The order is a wish: at every moment the first of it that waits for nothing has its turn.
    pub fn run(&self, start: &State, order: &[StepId]) -> Run {
        self.run_with(start, order, None, None)
    }

    /// Runs the plan and records what happens.
    pub fn trace(&self, start: &State, order: &[StepId]) -> Run {
        self.run_with(start, order, None, Some(Vec::new()))
    }

    fn run_with(
        &self,
        start: &State,
        order: &[StepId],
        failing: Option<StepId>,
        mut events: Option<Vec<Event>>,
    ) -> Run {
        let count = self.plan.steps.len();
        let mut progress = self.begin(start);
        let mut turns = Vec::with_capacity(count);
        // The place of each step in the wish; what it does not name comes last, as listed.
        let mut rank: Vec<u32> = vec![u32::MAX; count];
        let mut by_rank: Vec<StepId> = Vec::with_capacity(count);
        for &step in order.iter().chain(&(0..count as u32).map(StepId).collect::<Vec<_>>()) {
            if let Some(place) = rank.get_mut(step.0 as usize)
                && *place == u32::MAX
            {
                *place = by_rank.len() as u32;
                by_rank.push(step);
            }
        }
        let mut waiting: Vec<usize> = self.before.iter().map(Vec::len).collect();
        let mut ready: BTreeSet<u32> =
            (0..count).filter(|&step| waiting[step] == 0).map(|step| rank[step]).collect();
        let mut postponed: Vec<StepId> = Vec::new();
        let mut progressed = false;
        loop {
            let mut finished: Vec<StepId> = Vec::new();
            if let Some(place) = ready.pop_first() {
                let step = by_rank[place as usize];
                if self.always_suitable || self.is_suitable(&progress, step) {
                    progressed = true;
                    if failing == Some(step) {
                        self.trip(&mut progress, step);
                    } else {
                        self.turn(&mut progress, step, &mut events);
                    }
                    finished.push(step);
                } else {
                    postponed.push(step);
                    if let Some(events) = &mut events {
                        events.push(Event::Postponed(step));
                    }
                }
            } else if postponed.is_empty() {
                break;
            } else if progressed {
                ready.extend(postponed.drain(..).map(|step| rank[step.0 as usize]));
                progressed = false;
            } else {
                for step in postponed.drain(..) {
                    progress.give_up(step);
                    if let Some(events) = &mut events {
                        events.push(Event::Failed(step, Arc::from("no suitable provider")));
                    }
                    finished.push(step);
                }
            }
            for step in finished {
                turns.push(step);
                for &next in &self.after[step.0 as usize] {
                    waiting[next as usize] -= 1;
                    if waiting[next as usize] == 0 {
                        ready.insert(rank[next as usize]);
                    }
                }
            }
        }
        let Progress { mut state, statuses, refreshed, .. } = progress;
        state.reset_scratch(&self.plan.space);
        Run { end: state, statuses, refreshed, order: turns, events: events.unwrap_or_default() }
    }
}

/// Runs a plan once. To run it more often, make a [`Runner`].
pub fn run(plan: &Plan, start: &State, order: &[StepId], semantics: Semantics) -> Run {
    Runner::new(plan, semantics).run(start, order)
}

#[derive(Clone, Copy, Default)]
struct Ended {
    failed: bool,
    changed: bool,
}

/// Programs are as deep as the tests that made them; the stack of work is kept here, so that no depth overflows.
fn execute(program: &Program, step: StepId, state: &mut State, events: &mut Option<Vec<Event>>) -> Ended {
    let mut ended = Ended::default();
    let mut work = vec![program];
    while let Some(program) = work.pop() {
        match program {
            Program::Skip => {}
            Program::Fail(reason) => {
                ended.failed = true;
                if let Some(events) = events {
                    events.push(Event::Failed(step, reason.clone()));
                }
                return ended;
            }
            Program::Write(cell, term) => {
                let to = state.value_of(term);
                let from = state.set(*cell, to);
                if let Some(events) = events {
                    let to = state.get(*cell);
                    if from != *to {
                        events.push(Event::Write { step, cell: *cell, from, to: to.clone() });
                    }
                }
            }
            Program::Change => {
                if !ended.changed
                    && let Some(events) = events
                {
                    events.push(Event::Changed(step));
                }
                ended.changed = true;
            }
            Program::If(test, then, otherwise) => work.push(if state.holds(test) { then } else { otherwise }),
            Program::Sequence(programs) => work.extend(programs.iter().rev()),
        }
    }
    ended
}
