//! Whole runs of a part of a plan on a machine of symbols: in one order, or in any.

use setpoint_solver::Lit;
use setpoint_state::{CellId, Lifetime, Semantics, StepId, Test};

use crate::facts::kinds::Kinds;
use crate::reduce::sub::Sub;
use crate::symbolic::machine::{Machine, Symbols};

/// A run under way, as formulas.
#[derive(Clone)]
pub(crate) struct Track {
    pub(crate) state: Symbols,
    pub(crate) failed: Vec<Lit>,
    pub(crate) skipped: Vec<Lit>,
    pub(crate) changed: Vec<Lit>,
    pub(crate) refreshed: Vec<Lit>,
    pub(crate) notified: Vec<Lit>,
    /// What skips a step besides the steps of the part.
    pub(crate) barred: Vec<Lit>,
    /// The paper's global error.
    pub(crate) error: Lit,
    /// A step has failed because nothing can make its provider usable any more.
    stuck: Lit,
}

impl Track {
    /// Takes cells and steps from another run in which they are known to be the same.
    pub(crate) fn share(&mut self, other: &Self, cells: &[CellId], steps: &[usize]) {
        for &cell in cells {
            Machine::share(&other.state, &mut self.state, cell);
        }
        for (own, other) in [
            (&mut self.failed, &other.failed),
            (&mut self.skipped, &other.skipped),
            (&mut self.changed, &other.changed),
            (&mut self.refreshed, &other.refreshed),
            (&mut self.notified, &other.notified),
        ] {
            for &step in steps {
                own[step] = other[step];
            }
        }
    }
}

/// A part of a plan, with what a run of it needs at hand.
pub(crate) struct Runs<'s> {
    pub(crate) sub: &'s Sub,
    pub(crate) semantics: Semantics,
    before: Vec<Vec<usize>>,
    notifies: Vec<Vec<usize>>,
    unsettled: Vec<bool>,
    /// What each step finds whenever it runs.
    pub(crate) found: Vec<Vec<(CellId, Kinds)>>,
}

impl<'s> Runs<'s> {
    pub(crate) fn new(sub: &'s Sub, semantics: Semantics, unsettled: &[StepId]) -> Self {
        let count = sub.steps.len();
        let mut before = vec![Vec::new(); count];
        let mut notifies = vec![Vec::new(); count];
        for (one, two) in &sub.plan.edges {
            before[two.0 as usize].push(one.0 as usize);
        }
        for (one, two) in &sub.plan.notifies {
            notifies[one.0 as usize].push(two.0 as usize);
        }
        let unsettled = sub.steps.iter().map(|step| unsettled.binary_search(step).is_ok()).collect();
        Self { sub, semantics, before, notifies, unsettled, found: vec![Vec::new(); count] }
    }

    pub(crate) fn begin(&self, machine: &Machine<'_>, state: Symbols) -> Track {
        let none = vec![machine.no(); self.sub.steps.len()];
        Track {
            state,
            failed: none.clone(),
            skipped: none.clone(),
            changed: none.clone(),
            refreshed: none.clone(),
            notified: none.clone(),
            barred: none,
            error: machine.no(),
            stuck: machine.no(),
        }
    }

    fn bad_before(&self, machine: &mut Machine<'_>, track: &Track, step: usize) -> Lit {
        if self.semantics == Semantics::Paper {
            return machine.no();
        }
        let mut bad: Vec<Lit> = self.before[step]
            .iter()
            .flat_map(|&before| [track.failed[before], track.skipped[before]])
            .collect();
        bad.push(track.barred[step]);
        machine.circuit.or(&bad)
    }

    /// Gives a step its turn, if `go`. It is skipped if something before it is bad. A step whose provider cannot be used
    /// fails.
    pub(crate) fn turn(&self, machine: &mut Machine<'_>, track: &mut Track, at: usize, go: Lit) {
        let step = &self.sub.plan.steps[at];
        let bad = self.bad_before(machine, track, at);
        let mut go_on = go;
        let mut unusable = machine.no();
        if step.suitable != Test::True && self.semantics == Semantics::Puppet {
            let suitable = machine.test(&track.state, &step.suitable);
            go_on = machine.circuit.and(&[go, suitable]);
            unusable = machine.circuit.and(&[go, !suitable]);
        }
        let ended = machine.step(step, &mut track.state, go_on, bad, track.notified[at]);
        let circuit = &mut machine.circuit;
        track.failed[at] = circuit.or(&[track.failed[at], ended.failed, unusable]);
        track.skipped[at] = circuit.or(&[track.skipped[at], ended.skipped]);
        track.changed[at] = circuit.or(&[track.changed[at], ended.changed]);
        track.refreshed[at] = circuit.or(&[track.refreshed[at], ended.refreshed]);
        for &target in &self.notifies[at] {
            track.notified[target] = circuit.or(&[track.notified[target], ended.notify]);
        }
        if self.semantics == Semantics::Paper {
            track.error = circuit.or(&[track.error, ended.failed]);
        }
    }

    /// Gives every step its turn, in the order of the part.
    pub(crate) fn go_through(&self, machine: &mut Machine<'_>, track: &mut Track) {
        let go = machine.yes();
        for at in 0..self.sub.steps.len() {
            self.assume_found(machine, track, at, go);
            self.turn(machine, track, at, go);
        }
    }

    /// A run in the order of the part's steps in which some fail for a reason of their own, and do nothing.
    pub(crate) fn tripping(&self, machine: &mut Machine<'_>, state: Symbols, trips: &[Lit]) -> Track {
        let mut track = self.begin(machine, state);
        for (at, &trip) in trips.iter().enumerate() {
            let bad = self.bad_before(machine, &track, at);
            self.turn(machine, &mut track, at, !trip);
            let fails = machine.circuit.and(&[trip, !bad]);
            let skips = machine.circuit.and(&[trip, bad]);
            track.failed[at] = machine.circuit.or(&[track.failed[at], fails]);
            track.skipped[at] = machine.circuit.or(&[track.skipped[at], skips]);
            if self.semantics == Semantics::Paper {
                track.error = machine.circuit.or(&[track.error, trip]);
            }
        }
        track
    }

    /// A run in the order of the part's steps, as Puppet makes it: a step whose provider cannot be used yet is tried again
    /// when the others have had their turn.
    pub(crate) fn in_order(&self, machine: &mut Machine<'_>, state: Symbols) -> Track {
        let mut track = self.begin(machine, state);
        let count = self.sub.steps.len();
        if self.semantics == Semantics::Paper || !self.unsettled.contains(&true) {
            self.go_through(machine, &mut track);
            return track;
        }
        let mut waits: Vec<bool> =
            self.sub.plan.steps.iter().map(|step| step.suitable != Test::True).collect();
        for at in 0..count {
            waits[at] |= self.before[at].iter().any(|&before| waits[before]);
        }
        let no = machine.no();
        let mut done = vec![no; count];
        let rounds = self.unsettled.iter().filter(|&&open| open).count() + 1;
        for round in 0..rounds {
            for at in 0..count {
                if round > 0 && !waits[at] {
                    continue;
                }
                let mut conditions: Vec<Lit> = self.before[at].iter().map(|&before| done[before]).collect();
                conditions.push(!done[at]);
                if self.sub.plan.steps[at].suitable != Test::True {
                    conditions.push(machine.test(&track.state, &self.sub.plan.steps[at].suitable));
                }
                let go = machine.circuit.and(&conditions);
                self.turn(machine, &mut track, at, go);
                done[at] = machine.circuit.or(&[done[at], go]);
            }
        }
        // What is left can never run: it fails, and what waits for it is skipped, or fails for the same reason.
        for at in 0..count {
            if waits[at] {
                let left = !done[at];
                self.turn(machine, &mut track, at, left);
            }
        }
        track
    }

    /// A way to interleave items, each of which has one turn: for each moment the items that may have it.
    /// `before(i, j)`: item `i` must come before item `j`.
    pub(crate) fn schedule(
        machine: &mut Machine<'_>,
        items: usize,
        before: impl Fn(usize, usize) -> bool,
    ) -> Vec<Vec<(usize, Lit)>> {
        let mut moments: Vec<Vec<(usize, Lit)>> = vec![Vec::new(); items];
        let mut of_item: Vec<Vec<(usize, Lit)>> = vec![Vec::new(); items];
        for (item, turns) in of_item.iter_mut().enumerate() {
            let first = (0..items).filter(|&other| before(other, item)).count();
            let last = items - 1 - (0..items).filter(|&other| before(item, other)).count();
            for (moment, at) in moments.iter_mut().enumerate().take(last + 1).skip(first) {
                let lit = if first == last { machine.yes() } else { machine.circuit.fresh() };
                at.push((item, lit));
                turns.push((moment, lit));
            }
        }
        for list in moments.iter().chain(&of_item) {
            let lits: Vec<Lit> = list.iter().map(|&(_, lit)| lit).collect();
            machine.circuit.assert(&lits);
            for (at, &one) in lits.iter().enumerate() {
                for &other in &lits[..at] {
                    machine.circuit.assert(&[!one, !other]);
                }
            }
        }
        for two in 0..items {
            for one in (0..items).filter(|&one| before(one, two)) {
                // Who comes at a moment comes after those before it.
                let mut earlier: Vec<Lit> = Vec::new();
                let mut taken = 0;
                for &(moment, lit) in &of_item[two] {
                    while taken < of_item[one].len() && of_item[one][taken].0 < moment {
                        earlier.push(of_item[one][taken].1);
                        taken += 1;
                    }
                    let mut clause = earlier.clone();
                    clause.push(!lit);
                    machine.circuit.assert(&clause);
                }
            }
        }
        moments
    }

    /// One moment of a schedule: one of the alternatives, each a list of steps in order, has its turn.
    pub(crate) fn moment(
        &self,
        machine: &mut Machine<'_>,
        track: &Track,
        alternatives: &[(Lit, &[usize])],
    ) -> Track {
        let go = machine.yes();
        let mut ends: Vec<(Lit, Symbols)> = Vec::new();
        let mut next = track.clone();
        for &(chosen, steps) in alternatives {
            let mut after = track.clone();
            for &step in steps {
                self.assume_found(machine, &after, step, chosen);
                self.turn(machine, &mut after, step, go);
            }
            for &step in steps {
                for (old, new) in [
                    (&mut next.failed[step], after.failed[step]),
                    (&mut next.skipped[step], after.skipped[step]),
                    (&mut next.changed[step], after.changed[step]),
                    (&mut next.refreshed[step], after.refreshed[step]),
                ] {
                    let now = machine.circuit.and(&[chosen, new]);
                    *old = machine.circuit.or(&[*old, now]);
                }
                for &target in &self.notifies[step] {
                    let now = machine.circuit.and(&[chosen, after.notified[target]]);
                    next.notified[target] = machine.circuit.or(&[next.notified[target], now]);
                }
            }
            let now = machine.circuit.and(&[chosen, after.error]);
            next.error = machine.circuit.or(&[next.error, now]);
            ends.push((chosen, after.state));
        }
        next.state = machine.merge(&track.state, &ends);
        next
    }

    /// A step that has its turn and is not skipped finds what it always finds.
    pub(crate) fn assume_found(&self, machine: &mut Machine<'_>, track: &Track, step: usize, chosen: Lit) {
        if self.found[step].is_empty() {
            return;
        }
        let bad = self.bad_before(machine, track, step);
        for &(cell, kinds) in &self.found[step] {
            let holds = machine.test(&track.state, &kinds.test(cell));
            machine.circuit.assert(&[!chosen, bad, track.error, holds]);
        }
    }

    /// A run in any permitted order: the choice is in the schedule. Postponed steps are where they really run.
    pub(crate) fn in_any_order(
        &self,
        machine: &mut Machine<'_>,
        state: Symbols,
    ) -> (Track, Vec<Vec<(usize, Lit)>>) {
        let count = self.sub.steps.len();
        let moments = Self::schedule(machine, count, |one, two| self.before[two].contains(&one));
        let singles: Vec<usize> = (0..count).collect();
        let mut track = self.begin(machine, state);
        let postpones = self.semantics == Semantics::Puppet && self.unsettled.contains(&true);
        for moment in &moments {
            if postpones {
                let mut stuck_now = Vec::new();
                for &(step, chosen) in moment {
                    let suitable = machine.test(&track.state, &self.sub.plan.steps[step].suitable);
                    // Once nothing can go on, nothing does.
                    let bad = self.bad_before(machine, &track, step);
                    machine.circuit.assert(&[!track.stuck, !chosen, !suitable, bad]);
                    // What cannot be used, and never will be, waits until then, too.
                    stuck_now.push(machine.circuit.and(&[chosen, !suitable]));
                }
                stuck_now.push(track.stuck);
                track.stuck = machine.circuit.or(&stuck_now);
            }
            let alternatives: Vec<(Lit, &[usize])> =
                moment.iter().map(|&(step, chosen)| (chosen, &singles[step..=step])).collect();
            let stuck = track.stuck;
            track = self.moment(machine, &track, &alternatives);
            track.stuck = stuck;
        }
        (track, moments)
    }

    /// The order that a schedule has in the last model.
    pub(crate) fn decode(machine: &Machine<'_>, moments: &[Vec<(usize, Lit)>]) -> Vec<usize> {
        moments
            .iter()
            .filter_map(|moment| {
                moment.iter().find(|(_, lit)| machine.circuit.is_true(*lit)).map(|(item, _)| *item)
            })
            .collect()
    }

    /// Two runs end differently.
    pub(crate) fn differ(&self, machine: &mut Machine<'_>, one: &Track, two: &Track) -> Lit {
        let cells: Vec<CellId> = self.cells().collect();
        self.differ_in(machine, one, two, &cells, true)
    }

    /// Two runs end differently: in one of these cells or, if that is asked, in how a step ended.
    pub(crate) fn differ_in(
        &self,
        machine: &mut Machine<'_>,
        one: &Track,
        two: &Track,
        cells: &[CellId],
        statuses: bool,
    ) -> Lit {
        let mut differences = Vec::new();
        for &cell in cells {
            differences.push(!machine.equal(one.state.get(cell), two.state.get(cell)));
        }
        if self.semantics == Semantics::Paper {
            let any = machine.circuit.or(&differences);
            let both_end = machine.circuit.and(&[!one.error, !two.error, any]);
            let errors = if statuses { !machine.circuit.equal(one.error, two.error) } else { machine.no() };
            return machine.circuit.or(&[both_end, errors]);
        }
        for at in (0..self.sub.steps.len()).filter(|_| statuses) {
            differences.push(!machine.circuit.equal(one.failed[at], two.failed[at]));
            differences.push(!machine.circuit.equal(one.skipped[at], two.skipped[at]));
        }
        machine.circuit.or(&differences)
    }

    /// Assumes what holds of every start.
    pub(crate) fn assume(&self, machine: &mut Machine<'_>, state: &Symbols) {
        machine.assume(state, &self.sub.plan.start);
    }

    pub(crate) fn cells(&self) -> impl Iterator<Item = CellId> {
        self.sub.plan.space.iter().filter(|(_, cell)| cell.lifetime == Lifetime::Machine).map(|(id, _)| id)
    }
}
