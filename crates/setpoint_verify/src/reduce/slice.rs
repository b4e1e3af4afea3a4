//! One schedule in which the two of a pair are neighbours, over as few steps as decide about them.
//!
//! Fewer steps are asked about first, in rings: what those left out may do is then anything that they could do, alike in
//! both runs, for the difference does not reach them. If no difference shows even so, none can show. Only when all rings
//! leave it open is the whole slice asked about, in which nothing is left out that matters.

use rustc_hash::{FxHashMap, FxHashSet};
use setpoint_solver::{Limits, Lit, Outcome};
use setpoint_state::{CellId, Lifetime, Semantics, State, StepId, Test, Value};

use crate::facts::context::Lens;
use crate::facts::kinds::Kinds;
use crate::prove::pair::{Held, PairAnswer, PairProver, harmless, unknown};
use crate::reduce::blur::blur;
use crate::reduce::dead::drop_dead_writes;
use crate::reduce::flow::{GaveUp, Reached, found_in, mark_found};
use crate::reduce::sub::{Moment, Sub, Tests, Values, embed, lasting};
use crate::symbolic::machine::Machine;
use crate::symbolic::runs::{Runs, Track};
use crate::{Counterexample, Why};

/// More steps than this are not put into one question about schedules.
pub(crate) const LARGEST_SLICE: usize = 96;

/// More turns than this are not put into one schedule.
const MOST_TURNS: usize = 48;

/// A ring of more steps is as hard as the whole slice.
const LARGEST_RING: usize = 24;

/// A ring that needs a longer search is left.
const RING_CONFLICTS: u64 = 4_000;

/// An outline that has not so many cells less is not worth it.
const WORTH_AN_OUTLINE: usize = 6;

/// So many parts of a pair's difference that are not decided are enough to leave the pair open.
const ENOUGH_UNDECIDED: usize = 3;

/// Where new values may come at any time, larger domains make a question too hard to be worth it.
const LARGEST_DOMAIN: usize = 40;

impl PairProver<'_, '_> {
    /// Who writes what a step reads.
    fn sources(&self, lens: Lens, step: StepId, add: &mut Vec<StepId>) {
        let context = self.context;
        let seen = context.seen(lens, step);
        for &cell in &seen.footprint().reads {
            let way = seen.footprint().ensure(cell).map(|ensure| ensure.way);
            add.extend(context.writers[cell.0 as usize].iter().filter(|&&writer| {
                // Who only ensures a cell is not disturbed by others who ensure it alike.
                let alike =
                    way.is_some() && context.footprint(writer).ensure(cell).map(|ensure| ensure.way) == way;
                !alike && !context.comes_before(step, writer)
            }));
        }
    }

    /// What decides about a step: who writes what it reads, who can skip or notify it.
    fn needs(&self, lens: Lens, step: StepId, add: &mut Vec<StepId>) {
        let context = self.context;
        self.sources(lens, step, add);
        add.extend(self.context.notifiers(step));
        if context.semantics == Semantics::Puppet {
            add.extend(context.all_before(step).filter(|&other| context.footprint(other).can_fail));
        }
    }

    /// The least set of steps that decides about the given ones, as Puppet runs them.
    pub(crate) fn closure(&self, lens: Lens, seeds: impl IntoIterator<Item = StepId>) -> Option<Vec<StepId>> {
        let context = self.context;
        let mut members: Vec<StepId> = Vec::new();
        let mut seen: FxHashSet<StepId> = FxHashSet::default();
        let mut add: Vec<StepId> = seeds.into_iter().collect();
        let mut at = 0;
        loop {
            for other in add.drain(..) {
                if context.rank[other.0 as usize] != u32::MAX && seen.insert(other) {
                    members.push(other);
                }
            }
            let Some(&step) = members.get(at) else { break };
            if members.len() > LARGEST_SLICE * 4 {
                return None;
            }
            at += 1;
            self.needs(lens, step, &mut add);
        }
        members.sort_unstable_by_key(|step| context.rank[step.0 as usize]);
        Some(members)
    }

    /// The members that decide about a pair whose difference reaches so far.
    pub(crate) fn members(
        &self,
        lens: Lens,
        one: StepId,
        two: StepId,
        reached: &Reached,
    ) -> Option<Vec<StepId>> {
        let context = self.context;
        if !reached.complete {
            return (context.order.len() <= LARGEST_SLICE).then(|| context.order.clone());
        }
        self.closure(lens, self.touched(lens, one, two, reached))
    }

    /// The pair, all that may see its difference, and all that write where it may show.
    fn touched(&self, lens: Lens, one: StepId, two: StepId, reached: &Reached) -> Vec<StepId> {
        let context = self.context;
        let mut cells: Vec<CellId> = reached.cells.keys().copied().collect();
        cells.retain(|&cell| lens == Lens::All || lens == Lens::With(cell) || !context.is_sink(cell));
        cells.sort_unstable();
        let writers = cells.iter().flat_map(|cell| context.writers[cell.0 as usize].iter().copied());
        [one, two].into_iter().chain(reached.affected.iter().copied()).chain(writers).collect()
    }

    /// Decides about a pair whose difference may show.
    pub(crate) fn slice(
        &mut self,
        one: StepId,
        two: StepId,
        reached: &Reached,
    ) -> Result<PairAnswer, GaveUp> {
        if !reached.complete {
            return self.through(Lens::All, &mut Enough { round: 0, outline: true }, one, two, reached);
        }
        // What no step reads bears on nothing else: it is asked about by itself.
        let mut sinks: Vec<CellId> =
            reached.cells.keys().copied().filter(|&cell| self.context.is_sink(cell)).collect();
        sinks.sort_unstable();
        let mut open = None;
        let mut undecided = 0;
        let mut enough = Enough { round: 0, outline: true };
        for lens in std::iter::once(Lens::Read).chain(sinks.into_iter().map(Lens::With)) {
            match self.through(lens, &mut enough, one, two, reached)? {
                PairAnswer::Proved(_) => {}
                unknown @ PairAnswer::Unknown(_) => {
                    open = open.or(Some(unknown));
                    undecided += 1;
                    // The others are as hard, and cannot make the pair harmless any more.
                    if undecided == ENOUGH_UNDECIDED {
                        break;
                    }
                }
                found @ PairAnswer::Refuted { .. } => return Ok(found),
            }
        }
        Ok(open.unwrap_or_else(harmless))
    }

    /// Decides whether something of the difference shows in what a lens shows.
    fn through(
        &mut self,
        lens: Lens,
        enough: &mut Enough,
        one: StepId,
        two: StepId,
        reached: &Reached,
    ) -> Result<PairAnswer, GaveUp> {
        let context = self.context;
        if reached.complete {
            let mut ring: Vec<StepId> =
                [one, two].into_iter().chain(reached.affected.iter().copied()).collect();
            for round in 0..4 {
                let members = self.pair_first(one, two, &ring);
                if members.len() > LARGEST_RING || context.is_over() {
                    break;
                }
                // What was too little for one lens is too little for the next.
                if round >= enough.round
                    && let Some(answer) = self.ring(lens, &mut enough.outline, one, two, &members, reached)?
                {
                    enough.round = round;
                    return Ok(answer);
                }
                let mut more = if round == 0 { self.touched(lens, one, two, reached) } else { Vec::new() };
                if round > 0 {
                    for &step in &members {
                        self.sources(lens, step, &mut more);
                        // A container between two of them passes on what the first reports.
                        more.extend(self.context.notifiers(step).filter(|&other| {
                            context.step(other).passes_on
                                && self.context.notifiers(other).any(|from| members.contains(&from))
                        }));
                    }
                }
                ring.extend(more);
            }
        }
        let Some(members) =
            self.members(lens, one, two, reached).filter(|members| members.len() <= LARGEST_SLICE)
        else {
            return Ok(unknown(one, two, Why::Large));
        };
        let members = self.pair_first(one, two, &members);
        if let Some(step) = members[2..].iter().find(|step| context.reach(**step).is_some()) {
            return Ok(unknown(one, two, Why::Step(*step)));
        }
        self.whole_slice(lens, one, two, members, reached)
    }

    /// The pair first, the others as Puppet runs them: parts of one shape then look alike.
    fn pair_first(&self, one: StepId, two: StepId, steps: &[StepId]) -> Vec<StepId> {
        let context = self.context;
        let mut members: Vec<StepId> = steps
            .iter()
            .copied()
            .filter(|&step| step != one && step != two && context.rank[step.0 as usize] != u32::MAX)
            .collect();
        members.sort_unstable_by_key(|step| context.rank[step.0 as usize]);
        members.dedup();
        members.splice(0..0, [one, two]);
        members
    }

    /// Asks about a few steps, with anything that others could do in between. `None` if that leaves it open.
    fn ring(
        &mut self,
        lens: Lens,
        by_outline: &mut bool,
        one: StepId,
        two: StepId,
        members: &[StepId],
        reached: &Reached,
    ) -> Result<Option<PairAnswer>, GaveUp> {
        // What a step of unknown effect makes of the difference is not known.
        if members[2..].iter().any(|&step| self.context.reach(step).is_some()) {
            return Ok(None);
        }
        // In outline first: that is small, and often enough.
        if *by_outline {
            let answer = self.ring_of(lens, one, two, members, reached, true)?;
            if answer.is_some() {
                return Ok(answer);
            }
        }
        let answer = self.ring_of(lens, one, two, members, reached, false)?;
        *by_outline &= answer.is_none();
        Ok(answer)
    }

    fn ring_of(
        &mut self,
        lens: Lens,
        one: StepId,
        two: StepId,
        members: &[StepId],
        reached: &Reached,
        outline: bool,
    ) -> Result<Option<PairAnswer>, GaveUp> {
        let context = self.context;
        let inside: FxHashSet<StepId> = members.iter().copied().collect();
        let mut sub = Sub::through(context, lens, members, Moment::Any, Tests::Inside);
        sub.assume(lasting(context, &sub));
        let mut disturbed = self.disturbed(lens, &sub, &inside);
        let is_compared = |cell: CellId| {
            reached.cells.contains_key(&cell) && (!matches!(lens, Lens::With(_)) || lens == Lens::With(cell))
        };
        if outline {
            let others: FxHashSet<CellId> = disturbed.iter().map(|cell| sub.cells[cell.0 as usize]).collect();
            let (before, tests) = (sub.cells.len(), std::mem::take(&mut sub.plan.start));
            blur(&mut sub, &|cell| is_compared(cell) || others.contains(&cell), &tests);
            if sub.cells.len() + WORTH_AN_OUTLINE > before {
                return Ok(None);
            }
            sub.assume(lasting(context, &sub));
            disturbed = self.disturbed(lens, &sub, &inside);
        }
        let dropped = drop_dead_writes(&mut sub, &is_compared);
        let mut kept = crate::facts::laws::inside(context, &sub, &sub.places(), context.kept());
        // Of what is not followed nothing holds later.
        kept.retain(|test| {
            let mut cells = Vec::new();
            test.cells(&mut cells);
            !cells.iter().any(|cell| dropped.contains(cell))
        });
        sub.hold(if disturbed.is_empty() { Values::OfOne } else { Values::Changing });
        if !disturbed.is_empty() && sub.domains().largest() > LARGEST_DOMAIN {
            return Ok(None);
        }
        let puppet = context.semantics == Semantics::Puppet;
        let outside = |step: StepId| !inside.contains(&step);
        // What skips a member that another waits for skips the other, too: that is in their edges.
        let skips: Vec<bool> = members
            .iter()
            .map(|&step| {
                puppet
                    && context.all_before(step).any(|other| {
                        outside(other)
                            && context.footprint(other).can_fail
                            && !members.iter().any(|&member| {
                                context.comes_before(other, member) && context.comes_before(member, step)
                            })
                    })
            })
            .collect();
        let notified: Vec<bool> = members.iter().map(|&step| context.notifiers(step).any(outside)).collect();
        // Cells that end with the run are no part of the outcome.
        let compared: Vec<CellId> = (0..sub.cells.len() as u32)
            .map(CellId)
            .filter(|cell| {
                let cell = sub.cells[cell.0 as usize];
                is_compared(cell)
                    && context.plan.space.get(cell).is_some_and(|cell| cell.lifetime == Lifetime::Machine)
            })
            .collect();
        let around = self.around(&sub, reached, &disturbed, &kept);
        let (mut key, names) = sub.named_shape();
        key.push(u32::MAX - 1);
        key.extend(disturbed.iter().map(|cell| cell.0));
        key.push(u32::MAX - 1);
        key.extend(
            skips.iter().zip(&notified).map(|(&skip, &notified)| u32::from(skip) + 2 * u32::from(notified)),
        );
        key.push(u32::MAX - 1);
        key.extend(compared.iter().map(|cell| cell.0));
        key.push(u32::from(matches!(lens, Lens::With(_))));
        around.mark(&mut key);
        let found: Vec<Vec<(CellId, Kinds)>> =
            members.iter().map(|&step| found_in(context, &sub, step)).collect();
        mark_found(&mut key, &found);
        if self.harmless.contains(&key) {
            return Ok(Some(harmless()));
        }
        if self.hard.contains(&key) {
            return Ok(None);
        }
        if let Some(found) = self.recall(&key, &names, &sub, one, two, members) {
            return Ok(Some(found));
        }
        let mut runs = Runs::new(&sub, context.semantics, &[]);
        runs.found = found;
        // What is hard here may be easy over more steps.
        let (solver, limits) = context.limits();
        let limits = Limits { conflicts: Some(RING_CONFLICTS), ..limits };
        let mut machine = Machine::new(&sub.plan, sub.domains(), context.semantics, (solver, limits));
        let start = machine.any_start();
        runs.assume(&mut machine, &start);
        let mut begin = runs.begin(&machine, start.clone());
        for (flags, lits) in [(&skips, &mut begin.barred), (&notified, &mut begin.notified)] {
            for (_, lit) in flags.iter().zip(lits).filter(|(flag, _)| **flag) {
                *lit = machine.circuit.fresh();
            }
        }
        let turns = Turns::each(members.len());
        let Some(schedule) = self.schedule(&mut machine, &turns, members) else { return Ok(None) };
        let tracks = self.both_ways(&runs, &mut machine, &begin, &turns, &schedule, &around)?;
        let statuses = !matches!(lens, Lens::With(_));
        let differ = runs.differ_in(&mut machine, &tracks[0], &tracks[1], &compared, statuses);
        let wishes = if outline { Vec::new() } else { self.witness.plain(&machine, &start, &sub.cells) };
        match machine.solve_near(&[differ], &wishes) {
            Outcome::Unsat => {
                self.harmless.insert(key);
                return Ok(Some(harmless()));
            }
            Outcome::Sat if !outline => {
                let part = machine.decode(&start);
                let order = turns.decode(&machine, &schedule);
                let replayed = self.replay_turns(one, two, members, &embed(&sub, &part), &order);
                if let Some(found) = replayed {
                    self.remember(key, &names, &sub, &part, order);
                    let found = self.dependence(one, two, found, &sub.cells);
                    return Ok(Some(PairAnswer::refuted(Box::new(found))));
                }
            }
            Outcome::Sat | Outcome::Unknown => {}
        }
        self.hard.insert(key);
        Ok(None)
    }

    /// A difference that a question of the same shape had, if it shows here too.
    fn recall(
        &self,
        key: &[u32],
        names: &FxHashMap<Value, u32>,
        sub: &Sub,
        one: StepId,
        two: StepId,
        members: &[StepId],
    ) -> Option<PairAnswer> {
        let (held, order) = self.harmful.get(key)?;
        let fixed = Held::embed(sub, names, held);
        let found = self.replay_turns(one, two, members, &fixed, order)?;
        Some(PairAnswer::refuted(Box::new(self.dependence(one, two, found, &sub.cells))))
    }

    /// Keeps a difference for questions of the same shape.
    fn remember(
        &mut self,
        key: Vec<u32>,
        names: &FxHashMap<Value, u32>,
        sub: &Sub,
        part: &State,
        order: Vec<usize>,
    ) {
        let held = Held::of(sub, names, part);
        self.harmful.insert(key, (held, order));
    }

    /// The cells that several steps of a part touch and that others may write in between.
    fn disturbed(&self, lens: Lens, sub: &Sub, inside: &FxHashSet<StepId>) -> Vec<CellId> {
        let context = self.context;
        let mut found = Vec::new();
        for (at, &cell) in sub.cells.iter().enumerate() {
            let users: Vec<StepId> = sub
                .steps
                .iter()
                .copied()
                .filter(|&step| context.seen(lens, step).footprint().touches().any(|touched| touched == cell))
                .collect();
            if users.len() < 2 {
                continue;
            }
            let writers = context.writers[cell.0 as usize].iter().copied();
            let between = writers.chain(context.unknown_writers(cell)).any(|writer| {
                !inside.contains(&writer)
                    && context.rank[writer.0 as usize] != u32::MAX
                    && !users.iter().all(|&user| context.comes_before(writer, user))
                    && !users.iter().all(|&user| context.comes_before(user, writer))
            });
            if between {
                found.push(CellId(at as u32));
            }
        }
        found
    }

    /// The whole slice.
    fn whole_slice(
        &mut self,
        lens: Lens,
        one: StepId,
        two: StepId,
        mut members: Vec<StepId>,
        reached: &Reached,
    ) -> Result<PairAnswer, GaveUp> {
        let context = self.context;
        let mut tests = Tests::Inside;
        loop {
            let sub = Sub::through(context, lens, &members, Moment::Start, tests);
            let around = self.around(&sub, reached, &[], &[]);
            let (mut key, names) = sub.named_shape();
            around.mark(&mut key);
            if self.harmless.contains(&key) {
                return Ok(harmless());
            }
            if self.hard.contains(&key) {
                return Err(GaveUp);
            }
            if let Some(found) = self.recall(&key, &names, &sub, one, two, &members) {
                return Ok(found);
            }
            let runs = Runs::new(&sub, context.semantics, &[]);
            let mut machine = sub.machine(context);
            let start = machine.any_start();
            runs.assume(&mut machine, &start);
            let turns = self.turns(&members)?;
            let schedule = if turns.items.len() <= MOST_TURNS {
                self.schedule(&mut machine, &turns, &members)
            } else {
                None
            };
            let Some(schedule) = schedule else { return Ok(unknown(one, two, Why::Large)) };
            let begin = runs.begin(&machine, start.clone());
            let tracks = self.both_ways(&runs, &mut machine, &begin, &turns, &schedule, &around)?;
            let differ = runs.differ(&mut machine, &tracks[0], &tracks[1]);
            let wishes = self.witness.plain(&machine, &start, &sub.cells);
            match machine.solve_near(&[differ], &wishes) {
                Outcome::Unknown => {
                    self.hard.insert(key);
                    return Err(GaveUp);
                }
                Outcome::Unsat => {
                    self.harmless.insert(key);
                    return Ok(harmless());
                }
                Outcome::Sat => {}
            }
            let part = machine.decode(&start);
            let order = turns.decode(&machine, &schedule);
            if let Some(found) = self.replay_turns(one, two, &members, &embed(&sub, &part), &order) {
                self.remember(key, &names, &sub, &part, order);
                return Ok(PairAnswer::refuted(Box::new(self.dependence(one, two, found, &sub.cells))));
            }
            // Ask again, with more: first all assumptions, then (in the paper's semantics, where one error hides all else)
            // every step that can fail.
            if matches!(tests, Tests::Inside) {
                tests = Tests::Connected;
                continue;
            }
            let failing =
                context.order.iter().copied().filter(|&step| {
                    context.semantics == Semantics::Paper && context.footprint(step).can_fail
                });
            let Some(wider) = self.closure(lens, members.iter().copied().chain(failing)) else {
                return Ok(unknown(one, two, Why::Large));
            };
            if wider.len() == members.len() {
                return Ok(unknown(one, two, Why::NotReplayed));
            }
            if wider.len() > LARGEST_SLICE {
                return Ok(unknown(one, two, Why::Large));
            }
            members = self.pair_first(one, two, &wider);
        }
    }

    /// Which steps need a place of their own in a schedule. A step that commutes with every other that it is not ordered
    /// with runs as soon as it can: at once, or right after the last that it waits for.
    fn turns(&mut self, members: &[StepId]) -> Result<Turns, GaveUp> {
        let context = self.context;
        let count = members.len();
        let mut free = vec![true; count];
        free[0] = false;
        free[1] = false;
        for two in 2..count {
            for one in 0..two {
                if (free[one] || free[two])
                    && context.unordered(members[one], members[two])
                    && meet(context.footprint(members[one]), context.footprint(members[two]))
                    && !self.local.pair(context, members[one], members[two])?.is_empty()
                {
                    free[one] = false;
                    free[two] = false;
                }
            }
        }
        let before = |one: usize, two: usize| context.comes_before(members[one], members[two]);
        let mut turns = Turns { first: Vec::new(), items: vec![vec![0, 1]] };
        // Those with a turn of their own first: others follow them.
        turns.items.extend((2..count).filter(|&at| !free[at]).map(|at| vec![at]));
        let mut order: Vec<usize> = (2..count).filter(|&at| free[at]).collect();
        order.sort_unstable_by_key(|&at| context.rank[members[at].0 as usize]);
        for at in order {
            let waits: Vec<usize> = (0..turns.items.len())
                .filter(|&item| turns.items[item].iter().any(|&step| before(step, at)))
                .collect();
            if waits.is_empty() {
                turns.first.push(at);
                continue;
            }
            let item_before = |one: usize, two: usize| {
                turns.items[one].iter().any(|&left| turns.items[two].iter().any(|&right| before(left, right)))
            };
            let last = waits.iter().copied().find(|&last| {
                waits
                    .iter()
                    .all(|&other| other == last || (item_before(other, last) && !item_before(last, other)))
            });
            match last {
                Some(last) => turns.items[last].push(at),
                None => turns.items.push(vec![at]),
            }
        }
        Ok(turns)
    }

    /// A symbolic schedule of the turns; `None` if they cannot be ordered.
    fn schedule(
        &self,
        machine: &mut Machine<'_>,
        turns: &Turns,
        members: &[StepId],
    ) -> Option<Vec<Vec<(usize, Lit)>>> {
        let items = turns.items.len();
        let mut before = vec![false; items * items];
        for one in 0..items {
            for two in (0..items).filter(|&two| two != one) {
                before[one * items + two] = turns.items[one].iter().any(|&left| {
                    turns.items[two]
                        .iter()
                        .any(|&right| self.context.comes_before(members[left], members[right]))
                });
            }
        }
        for middle in 0..items {
            for one in 0..items {
                if before[one * items + middle] {
                    for two in 0..items {
                        before[one * items + two] |= before[middle * items + two];
                    }
                }
            }
        }
        if (0..items).any(|item| before[item * items + item]) {
            return None;
        }
        Some(Runs::schedule(machine, items, |one, two| before[one * items + two]))
    }

    /// The runs of a schedule with the pair in either order. Before every turn others may change the cells that are
    /// disturbed, alike in both runs.
    fn both_ways(
        &self,
        runs: &Runs<'_>,
        machine: &mut Machine<'_>,
        begin: &Track,
        turns: &Turns,
        schedule: &[Vec<(usize, Lit)>],
        around: &Around<'_>,
    ) -> Result<[Track; 2], GaveUp> {
        let mut tracks = [begin.clone(), begin.clone()];
        if !turns.first.is_empty() {
            let yes = machine.yes();
            for track in &mut tracks {
                *track = runs.moment(machine, track, &[(yes, &turns.first)]);
            }
        }
        let mut swapped = turns.items[0].clone();
        swapped.swap(0, 1);
        for (at, moment) in schedule.iter().enumerate() {
            if self.context.is_over() {
                return Err(GaveUp);
            }
            if at > 0 {
                for &cell in around.disturbed {
                    let now = machine.circuit.fresh();
                    let value = machine.any_value(cell);
                    for track in &mut tracks {
                        machine.change(&mut track.state, cell, &value, now);
                    }
                }
                // What no step breaks holds after that, too.
                for track in tracks.iter().filter(|_| !around.disturbed.is_empty()) {
                    machine.assume(&track.state, around.kept);
                }
            }
            for (side, track) in tracks.iter_mut().enumerate() {
                let alternatives: Vec<(Lit, &[usize])> = moment
                    .iter()
                    .map(|&(item, chosen)| {
                        let steps = if side == 1 && item == 0 { &swapped } else { &turns.items[item] };
                        (chosen, steps.as_slice())
                    })
                    .collect();
                *track = runs.moment(machine, track, &alternatives);
            }
            let [first, second] = &mut tracks;
            second.share(first, &around.same_cells, &around.same_steps);
        }
        Ok(tracks)
    }

    /// What the difference of a pair does not reach is the same in both runs at every moment.
    fn around<'a>(
        &self,
        sub: &Sub,
        reached: &Reached,
        disturbed: &'a [CellId],
        kept: &'a [Test],
    ) -> Around<'a> {
        let mut around = Around { disturbed, kept, same_cells: Vec::new(), same_steps: Vec::new() };
        // In the paper's semantics nothing is said about the cells once one of the runs has failed.
        if reached.complete && (self.context.semantics == Semantics::Puppet || !reached.bad) {
            let cells = sub.cells.iter().enumerate();
            around.same_cells = cells
                .filter(|(_, cell)| !reached.cells.contains_key(cell))
                .map(|(at, _)| CellId(at as u32))
                .collect();
            let steps = sub.steps.iter().enumerate().skip(2);
            around.same_steps = steps
                .filter(|(_, step)| reached.affected.binary_search(step).is_err())
                .map(|(at, _)| at)
                .collect();
        }
        around
    }

    /// Replays an order of a slice's members, the pair in it in either order.
    fn replay_turns(
        &self,
        one: StepId,
        two: StepId,
        members: &[StepId],
        fixed: &[(CellId, Value)],
        order: &[usize],
    ) -> Option<Counterexample> {
        let sequence = |pair: [StepId; 2]| -> Vec<StepId> {
            order.iter().map(|&at| if at < 2 { pair[at] } else { members[at] }).collect()
        };
        let first = self.witness.order(&sequence([one, two]), Some((one, two)))?;
        let second = self.witness.order(&sequence([two, one]), Some((one, two)))?;
        self.witness.completions(fixed).find_map(|whole| self.witness.replay(&whole, &first, &second))
    }
}

/// Whether one of two steps writes what the other touches, or they can only meet through notifications.
fn meet(one: &crate::facts::context::Footprint, two: &crate::facts::context::Footprint) -> bool {
    let writes = |left: &crate::facts::context::Footprint, right: &crate::facts::context::Footprint| {
        left.writes
            .iter()
            .any(|cell| right.writes.binary_search(cell).is_ok() || right.reads.binary_search(cell).is_ok())
    };
    writes(one, two) || writes(two, one)
}

/// What was enough for one part of a pair's difference, and mostly is for the next.
struct Enough {
    /// How many rings.
    round: usize,
    /// Whether outlines are worth a try.
    outline: bool,
}

/// What goes on around the members of a question.
struct Around<'a> {
    /// Cells that others may change at any time.
    disturbed: &'a [CellId],
    /// What holds at every moment.
    kept: &'a [Test],
    /// Cells and steps that are the same in both runs.
    same_cells: Vec<CellId>,
    same_steps: Vec<usize>,
}

impl Around<'_> {
    /// Adds to the key of a question what it takes as the same.
    fn mark(&self, key: &mut Vec<u32>) {
        key.push(u32::MAX - 1);
        key.extend(self.same_cells.iter().map(|cell| cell.0));
        key.push(u32::MAX - 1);
        key.extend(self.same_steps.iter().map(|&step| step as u32));
    }
}

/// What has one turn in a schedule: steps that run one after the other. The first turn begins with the pair.
struct Turns {
    /// Steps that run before all.
    first: Vec<usize>,
    items: Vec<Vec<usize>>,
}

impl Turns {
    /// Every step but the pair has its own.
    fn each(members: usize) -> Self {
        let mut items = vec![vec![0, 1]];
        items.extend((2..members).map(|at| vec![at]));
        Self { first: Vec::new(), items }
    }

    /// The order of all steps in the last model.
    fn decode(&self, machine: &Machine<'_>, schedule: &[Vec<(usize, Lit)>]) -> Vec<usize> {
        let items = Runs::decode(machine, schedule);
        self.first
            .iter()
            .copied()
            .chain(items.into_iter().flat_map(|item| self.items[item].clone()))
            .collect()
    }
}
