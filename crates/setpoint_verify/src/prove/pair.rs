//! One unordered pair: do the two commute, how far does their difference reach, and does anything of it show?

use std::cell::RefCell;

use rustc_hash::{FxHashMap, FxHashSet};
use setpoint_solver::{Lit, Outcome};
use setpoint_state::{CellId, Reach, Semantics, State, Status, StepId, Value};

use crate::facts::context::Context;
use crate::reduce::flow::{Difference, GaveUp, Local, Reached};
use crate::reduce::sub::{Moment, Sub, Tests, embed};
use crate::replay::witness::Witness;
use crate::symbolic::runs::Runs;
use crate::{Answer, Basis, Counterexample, Dependence, Unproved, Why};

/// Whether the order of one pair is without effect. Proved only if no admissible start and no permitted schedule
/// distinguishes the two orders; refuted only by two runs of the whole plan that the interpreter has replayed.
pub(crate) type PairAnswer = Answer<Box<Dependence>, Unproved>;

/// Decides unordered pairs, and remembers what it has decided by shape.
pub(crate) struct PairProver<'c, 'p> {
    pub(crate) context: &'c Context<'p>,
    pub(crate) local: Local,
    pub(crate) witness: Witness<'c, 'p>,
    /// So many dependent pairs are enough.
    pub(crate) most: usize,
    /// Slices that were asked about and have no difference, by shape.
    pub(crate) harmless: FxHashSet<Vec<u32>>,
    /// Questions about ends that have been answered well, by shape.
    pub(crate) proved: RefCell<FxHashSet<Vec<u32>>>,
    /// Slices on which the solver gave up.
    pub(crate) hard: FxHashSet<Vec<u32>>,
    /// Slices that have one: what the cells held, by the numbers of the shape, and the order of the items.
    pub(crate) harmful: FxHashMap<Vec<u32>, (Vec<Held>, Vec<usize>)>,
}

/// A value of a slice, by its number in the shape, or one that no step of it mentions.
#[derive(Clone, Debug)]
pub(crate) enum Held {
    Known(u32),
    Fresh(Value),
}

impl Held {
    /// What the cells of a part hold, for parts of the same shape.
    pub(crate) fn of(sub: &Sub, names: &FxHashMap<Value, u32>, part: &State) -> Vec<Self> {
        let cells = (0..sub.cells.len() as u32).map(|cell| part.get(CellId(cell)));
        let held = cells.map(|value| {
            names.get(value).map_or_else(|| Self::Fresh(value.clone()), |&number| Self::Known(number))
        });
        held.collect()
    }

    /// What the cells of a part hold, as cells of the whole plan.
    pub(crate) fn embed(sub: &Sub, names: &FxHashMap<Value, u32>, held: &[Self]) -> Vec<(CellId, Value)> {
        let by_number: FxHashMap<u32, &Value> =
            names.iter().map(|(value, &number)| (number, value)).collect();
        let value = |held: &Self| match held {
            Self::Known(number) => by_number.get(number).map(|value| (*value).clone()),
            Self::Fresh(value) => Some(value.clone()),
        };
        let cells = sub.cells.iter().zip(held);
        cells.filter_map(|(&cell, held)| Some((cell, value(held)?))).collect()
    }
}

impl<'c, 'p> PairProver<'c, 'p> {
    pub(crate) fn new(context: &'c Context<'p>) -> Self {
        Self {
            context,
            local: Local::new(context.memory.clone()),
            witness: Witness::new(context),
            most: usize::MAX,
            harmless: FxHashSet::default(),
            proved: RefCell::default(),
            hard: FxHashSet::default(),
            harmful: FxHashMap::default(),
        }
    }

    /// Decides one unordered pair of steps whose effects are known.
    pub(crate) fn decide_pair(&mut self, one: StepId, two: StepId) -> PairAnswer {
        match self.try_pair(one, two) {
            Ok(answer) => answer,
            Err(GaveUp) => unknown(one, two, if self.context.is_over() { Why::Time } else { Why::Hard }),
        }
    }

    fn try_pair(&mut self, one: StepId, two: StepId) -> Result<PairAnswer, GaveUp> {
        let context = self.context;
        if context.is_over() {
            return Err(GaveUp);
        }
        if self.local.commutes(context, one, two)? {
            return Ok(harmless());
        }
        // What may touch anything may touch whatever the difference reaches: nothing is gained by following it.
        if let Some(step) = context.unknown_everywhere().find(|&step| step != one && step != two) {
            return if self.only_notifies(one, two)? {
                Ok(harmless())
            } else {
                self.beside_unknown(one, two, step)
            };
        }
        let difference = self.local.pair(context, one, two)?;
        let reached = self.local.follow(context, one, two, &difference)?;
        if let Some(step) = self.touched_by_unknown(one, two, &reached) {
            return self.beside_unknown(one, two, step);
        }
        if !reached.visible {
            return Ok(harmless());
        }
        if let Some(found) = self.neighbours(one, two, &difference, Shows::Anything) {
            return Ok(PairAnswer::refuted(Box::new(found)));
        }
        self.slice(one, two, &reached)
    }

    /// Whether the two orders of a pair differ in nothing but in who notifies, and nothing comes of that: every step finds the same
    /// machine in both, also one of unknown effect. Whoever is told of the difference is known.
    fn only_notifies(&mut self, one: StepId, two: StepId) -> Result<bool, GaveUp> {
        let context = self.context;
        let difference = self.local.pair(context, one, two)?;
        if !difference.cells.is_empty() || difference.bad.contains(&true) {
            return Ok(false);
        }
        let reached = self.local.follow(context, one, two, &difference)?;
        let is_told = reached.affected.iter().any(|&step| context.reach(step).is_some());
        Ok(reached.complete && reached.cells.is_empty() && !reached.bad && !reached.visible && !is_told)
    }

    /// A step of unknown effect that the difference may reach.
    fn touched_by_unknown(&self, one: StepId, two: StepId, reached: &Reached) -> Option<StepId> {
        let context = self.context;
        context.unknown.iter().copied().find(|&step| {
            step != one
                && step != two
                && context.reach(step).is_some_and(|reach| match reach {
                    Reach::Everything => true,
                    Reach::Cells(cells) => {
                        !reached.complete
                            || cells.iter().any(|cell| {
                                reached.cells.contains_key(cell)
                                    || [one, two].iter().any(|&step| {
                                        context.footprint(step).touches().any(|other| other == *cell)
                                    })
                            })
                    }
                })
        })
    }

    pub(crate) fn dependence(
        &self,
        one: StepId,
        two: StepId,
        found: Counterexample,
        cells: &[CellId],
    ) -> Dependence {
        let counterexample = self.witness.shrink(found, Some((one, two)), cells);
        Dependence { one, two, counterexample }
    }

    /// Decides a pair whose difference a step of unknown effect may reach.
    fn beside_unknown(&mut self, one: StepId, two: StepId, step: StepId) -> Result<PairAnswer, GaveUp> {
        Ok(match self.fails_apart(one, two)? {
            Some(found) => PairAnswer::refuted(Box::new(found)),
            None => unknown(one, two, Why::Step(step)),
        })
    }

    /// Returns two runs in which one of the two fails in one order and not in the other, before any step of unknown effect has had its
    /// turn: whatever such steps do later, how the two ended stays different.
    fn fails_apart(&mut self, one: StepId, two: StepId) -> Result<Option<Dependence>, GaveUp> {
        let context = self.context;
        let can_fail = [one, two].into_iter().any(|step| context.footprint(step).can_fail);
        if context.semantics != Semantics::Puppet
            || !can_fail
            || ![one, two].into_iter().all(|step| context.is_known_before(step))
        {
            return Ok(None);
        }
        let difference = self.local.pair(context, one, two)?;
        if !difference.bad.contains(&true) {
            return Ok(None);
        }
        Ok(self.neighbours(one, two, &difference, Shows::Failure))
    }

    /// The two alone, right at the start: the commonest counterexample.
    fn neighbours(
        &mut self,
        one: StepId,
        two: StepId,
        difference: &Difference,
        shows: Shows,
    ) -> Option<Dependence> {
        let context = self.context;
        if difference.cells.is_empty() && !difference.bad.contains(&true) {
            return None;
        }
        let sub = Sub::new(context, &[one, two], Moment::Start, Tests::Inside);
        let runs = Runs::new(&sub, context.semantics, &[]);
        let mut machine = sub.machine(context);
        let start = machine.any_start();
        runs.assume(&mut machine, &start);
        let begin = runs.begin(&machine, start.clone());
        let yes = machine.yes();
        let left = runs.moment(&mut machine, &begin, &[(yes, &[0, 1])]);
        let right = runs.moment(&mut machine, &begin, &[(yes, &[1, 0])]);
        let differ = match shows {
            Shows::Anything => runs.differ(&mut machine, &left, &right),
            Shows::Failure => runs.differ_in(&mut machine, &left, &right, &[], true),
        };
        for _ in 0..3 {
            let wishes = self.witness.plain(&machine, &start, &sub.cells);
            if machine.solve_near(&[differ], &wishes) != Outcome::Sat {
                return None;
            }
            let part = machine.decode(&start);
            let fixed = embed(&sub, &part);
            if let (Some(first), Some(second)) = (
                self.witness.order(&[one, two], Some((one, two))),
                self.witness.order(&[two, one], Some((one, two))),
            ) {
                let mut starts = self.witness.completions(&fixed);
                let shown = starts.find_map(|start| {
                    let found = self.witness.replay(&start, &first, &second)?;
                    (shows == Shows::Anything || fails_in_one(&found, one, two)).then_some(found)
                });
                match shown {
                    Some(found) if shows == Shows::Anything => {
                        return Some(self.dependence(one, two, found, &sub.cells));
                    }
                    // The two stay where they are: before all that is unknown.
                    Some(found) => {
                        let counterexample = self
                            .witness
                            .shrink_where(found, &sub.cells, |found| fails_in_one(found, one, two));
                        return Some(Dependence { one, two, counterexample });
                    }
                    None => {}
                }
            }
            // Another start may do.
            let mut other: Vec<Lit> = Vec::new();
            for (cell, _) in sub.plan.space.iter() {
                let held = part.get(cell).clone();
                other.push(!machine.holds(&start, cell, &held));
            }
            machine.circuit.assert(&other);
        }
        None
    }
}

/// What the exchange of two neighbours has to show.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shows {
    Anything,
    /// One of the two fails in one order and not in the other.
    Failure,
}

/// Whether one of two steps fails in one run and is fine in the other.
fn fails_in_one(found: &Counterexample, one: StepId, two: StepId) -> bool {
    let (left, right) = (&found.first_run.statuses, &found.second_run.statuses);
    let apart = |at: usize| {
        let ends = [left.get(at), right.get(at)].map(|status| status.map(|status| status.outcome()));
        ends.contains(&Some(Status::Failed)) && ends.contains(&Some(Status::Ok))
    };
    [one, two].into_iter().any(|step| apart(step.0 as usize))
}

/// Returns the answer that nothing differs at the end. What the proof of the whole rests on is added to that of the whole.
pub(crate) fn harmless() -> PairAnswer {
    PairAnswer::Proved(Basis::nothing())
}

pub(crate) fn unknown(one: StepId, two: StepId, why: Why) -> PairAnswer {
    PairAnswer::unknown(Unproved { steps: vec![one, two], why })
}
