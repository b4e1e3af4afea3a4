//! Declared ends that exclude each other: `git` present and `perl` absent, a removed folder and a file in it.
//!
//! A step is *content* in a state if it has nothing to do there: it would neither fail nor report a change. Two steps
//! contradict each other if each of them, alone, is content after its run from some start, but from no start does either order
//! of the two leave both content. No edge helps then. A missing order is no contradiction: one of the two orders is right.
//!
//! The question is put to the two steps by themselves, so that what others bring or miss plays no part: it may be there at the
//! start. Nor are the starts those of the whole plan. There a managed path is of its declared kind, and it is the declarations
//! that are in doubt; such assumptions, which look at one path alone, are dropped. Those between cells stay: an installed package
//! has its dependencies.
//!
//! A service that runs without its unit, and a mount whose folder is gone, last until the machine is started again. So an end counts
//! only if what runs or is mounted there has what an admissible start would have for it.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use setpoint_solver::{Lit, Outcome};
use setpoint_state::{
    CellId, CellKind, Event, Plan, Program, Runner, Semantics, State, Status, Step, StepId, Test,
};

use crate::facts::context::Context;
use crate::reduce::sub::{Moment, Sub, Tests, embed};
use crate::replay::witness::Witness;
use crate::symbolic::machine::{Machine, Symbols};
use crate::symbolic::runs::Runs;

/// Two steps whose ends exclude each other.
#[derive(Clone, Debug)]
pub struct Contradiction {
    /// The one that Puppet runs first.
    pub one: StepId,
    pub two: StepId,
    /// How the two end on a plain machine, run by the interpreter: in Puppet's order, and in the other.
    pub ends: [PairEnd; 2],
}

/// The end of two steps, run one after the other.
#[derive(Clone, Debug)]
pub struct PairEnd {
    pub order: [StepId; 2],
    pub end: State,
    /// The step that is not content at the end.
    pub lost: StepId,
    pub why: Lost,
}

/// Why a step is not content.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Lost {
    /// It fails, for this reason.
    Failed(Arc<str>),
    /// It fails in the next run, for this reason.
    FailsNext(Arc<str>),
    /// The other one undoes it: it would change these cells again.
    Undone(Vec<CellId>),
}

/// No more steps than this are suspected, and no more pairs are asked about: what is left is not told, and no proof rests on it.
const MOST_SUSPECTS: usize = 64;
const MOST_PAIRS: usize = 256;

/// Finds the pairs whose declared ends exclude each other. `no_end`: steps that declare no end. Every pair that is returned
/// was replayed; not every pair that there is may be returned.
pub(crate) fn find(
    context: &Context<'_>,
    witness: &Witness<'_, '_>,
    plan: &Plan,
    no_end: &[StepId],
) -> Vec<Contradiction> {
    let Some(start) = witness.base().filter(|_| context.semantics == Semantics::Puppet) else {
        return Vec::new();
    };
    // Where two runs settle, all that is declared can hold at once.
    let first = context.runner.run(start, &context.order);
    let second = context.runner.run(&first.end, &context.order);
    let declares = |step: StepId| {
        let acts = !context.step(step).passes_on && plan.steps[step.0 as usize].unknown.is_none();
        acts && !no_end.contains(&step)
    };
    let is_content = |step: StepId| second.statuses[step.0 as usize] == Status::Ok;
    let suspects: Vec<StepId> = context
        .order
        .iter()
        .copied()
        .filter(|&step| declares(step) && !is_content(step))
        .take(MOST_SUSPECTS)
        .collect();
    if suspects.is_empty() {
        return Vec::new();
    }
    let users = Users::of(plan);
    let mut asked: FxHashSet<(StepId, StepId)> = FxHashSet::default();
    let mut found = Vec::new();
    for &suspect in &suspects {
        for other in users.meet(plan, suspect) {
            let is_first = context.rank[suspect.0 as usize] < context.rank[other.0 as usize];
            let pair = if is_first { (suspect, other) } else { (other, suspect) };
            if !declares(other) || asked.len() >= MOST_PAIRS || context.is_over() || !asked.insert(pair) {
                continue;
            }
            found.extend(decide(plan, context, pair.0, pair.1));
        }
    }
    found.sort_by_key(|found| (context.rank[found.one.0 as usize], context.rank[found.two.0 as usize]));
    found
}

/// Which steps read and write a cell.
#[derive(Default)]
struct Users {
    readers: FxHashMap<CellId, Vec<StepId>>,
    writers: FxHashMap<CellId, Vec<StepId>>,
}

impl Users {
    fn of(plan: &Plan) -> Self {
        let mut users = Self::default();
        for (at, step) in plan.steps.iter().enumerate() {
            let id = StepId(at as u32);
            for cell in reads(step) {
                users.readers.entry(cell).or_default().push(id);
            }
            for cell in step.apply.written() {
                users.writers.entry(cell).or_default().push(id);
            }
        }
        users
    }

    /// Returns the steps that touch a cell that this one touches, where one of the two writes it.
    fn meet(&self, plan: &Plan, step: StepId) -> Vec<StepId> {
        let own = &plan.steps[step.0 as usize];
        let at =
            |map: &FxHashMap<CellId, Vec<StepId>>, cell: CellId| map.get(&cell).cloned().unwrap_or_default();
        let mut found: Vec<StepId> =
            reads(own).into_iter().flat_map(|cell| at(&self.writers, cell)).collect();
        for cell in own.apply.written() {
            found.extend(at(&self.writers, cell));
            found.extend(at(&self.readers, cell));
        }
        found.sort_unstable();
        found.dedup();
        found.retain(|&other| other != step);
        found
    }
}

fn reads(step: &Step) -> Vec<CellId> {
    let mut cells = Vec::new();
    step.apply.reads(&mut cells);
    step.suitable.cells(&mut cells);
    cells.sort_unstable();
    cells.dedup();
    cells
}

/// Returns the two steps alone: no edge, no notification, and no assumption that looks at one path alone.
pub(crate) fn pair_plan(plan: &Plan, one: StepId, two: StepId) -> Plan {
    let is_path = |cell: CellId| plan.space.get(cell).is_some_and(|cell| cell.key.kind == CellKind::Path);
    let is_about_one_path = |test: &Test| {
        let mut cells = Vec::new();
        test.cells(&mut cells);
        cells.sort_unstable();
        cells.dedup();
        matches!(cells[..], [only] if is_path(only))
    };
    let alone = |step: StepId| {
        let step = &plan.steps[step.0 as usize];
        step.doing(step.apply.clone(), Program::Skip, step.suitable.clone())
    };
    Plan {
        space: plan.space.clone(),
        steps: vec![alone(one), alone(two)],
        edges: Vec::new(),
        notifies: Vec::new(),
        start: plan.start.iter().filter(|test| !is_about_one_path(test)).cloned().collect(),
        laws: plan.laws.clone(),
    }
}

const PAIR: [StepId; 2] = [StepId(0), StepId(1)];

/// Decides whether two steps contradict each other.
fn decide(plan: &Plan, whole: &Context<'_>, one: StepId, two: StepId) -> Option<Contradiction> {
    let pair = pair_plan(plan, one, two);
    let mut context = Context::new(&pair, whole.semantics, whole.any_start);
    context.ask_as(whole);
    let sub = Sub::new(&context, &PAIR, Moment::Start, Tests::Connected);
    let runs = Runs::new(&sub, context.semantics, &[]);
    let mut machine = sub.machine(&context);
    let start = machine.any_start();
    runs.assume(&mut machine, &start);
    let lasting: Vec<Test> =
        sub.plan.start.iter().filter(|test| lasts(&pair, test, &sub.cells)).cloned().collect();
    let alone = [0, 1].map(|at| end_content(&runs, &mut machine, &start, &[at], &lasting));
    if alone.iter().any(|&alone| machine.solve(&[alone]) != Outcome::Sat) {
        return None;
    }
    let both = [[0, 1], [1, 0]].map(|order| end_content(&runs, &mut machine, &start, &order, &lasting));
    let either = machine.circuit.or(&both);
    if machine.solve(&[either]) != Outcome::Unsat {
        return None;
    }
    // The story is that of a start from which each of the two would do alone, as plain as may be.
    let witness = Witness::new(&context);
    let wishes = witness.plain(&machine, &start, &sub.cells);
    let start = match machine.solve_near(&alone, &wishes) {
        Outcome::Sat => witness.complete(&embed(&sub, &machine.decode(&start)))?,
        Outcome::Unsat | Outcome::Unknown => witness.base()?.clone(),
    };
    let runner = Runner::new(&pair, context.semantics);
    let names = [one, two];
    let end = |order: [usize; 2]| replay(&runner, &start, order, names);
    let ends = [end([0, 1])?, end([1, 0])?];
    Some(Contradiction { one, two, ends })
}

/// Whether an assumption says what something that runs or is mounted needs. `cells`: the cells of the plan by the numbers that the
/// test has for them.
fn lasts(plan: &Plan, test: &Test, cells: &[CellId]) -> bool {
    let mut looked = Vec::new();
    test.cells(&mut looked);
    looked.sort_unstable();
    looked.dedup();
    let kind = |cell: &CellId| {
        let cell = cells.get(cell.0 as usize).and_then(|cell| plan.space.get(*cell));
        cell.map(|cell| cell.key.kind)
    };
    let kinds: Vec<Option<CellKind>> = looked.iter().map(kind).collect();
    let is_live = |kind: &Option<CellKind>| {
        matches!(kind, Some(CellKind::Running | CellKind::Enabled | CellKind::Mount))
    };
    kinds.len() > 1 && kinds.iter().any(is_live) && !kinds.contains(&Some(CellKind::Loaded))
}

/// Whether these steps, run in this order, do not fail and are content at an end that lasts.
fn end_content(
    runs: &Runs<'_>,
    machine: &mut Machine<'_>,
    start: &Symbols,
    order: &[usize],
    lasting: &[Test],
) -> Lit {
    let go = machine.yes();
    let mut track = runs.begin(machine, start.clone());
    for &at in order {
        runs.turn(machine, &mut track, at, go);
    }
    let mut good: Vec<Lit> = order.iter().map(|&at| !track.failed[at]).collect();
    let end = machine.next_run(track.state);
    good.extend(lasting.iter().map(|test| machine.test(&end, test)).collect::<Vec<_>>());
    for &at in order {
        let mut again = runs.begin(machine, end.clone());
        runs.turn(machine, &mut again, at, go);
        good.extend([!again.failed[at], !again.changed[at]]);
    }
    machine.circuit.and(&good)
}

/// Runs two steps and says which of them is not content at the end; none if both are.
fn replay(runner: &Runner<'_>, start: &State, order: [usize; 2], names: [StepId; 2]) -> Option<PairEnd> {
    let plan = runner.plan();
    let run = runner.trace(start, &order.map(|at| PAIR[at]));
    let failed = |events: &[Event]| {
        events.iter().find_map(|event| match event {
            Event::Failed(step, reason) => Some((*step, reason.clone())),
            _ => None,
        })
    };
    let at_once = failed(&run.events).map(|(step, reason)| (step, Lost::Failed(reason)));
    let lost = at_once.or_else(|| {
        PAIR.into_iter().find_map(|step| {
            let mut again = runner.begin(&run.end);
            runner.perform(&mut again, step);
            match again.statuses[step.0 as usize] {
                Status::Failed => {
                    let (step, reason) = failed(&runner.trace(&run.end, &[step]).events)?;
                    Some((step, Lost::FailsNext(reason)))
                }
                Status::Changed => {
                    let is_kept = |cell: &CellId| {
                        let lasts = plan.space.get(*cell);
                        lasts.is_some_and(|cell| cell.lifetime == setpoint_state::Lifetime::Machine)
                    };
                    let changed = run.end.differences(&again.state);
                    Some((step, Lost::Undone(changed.into_iter().filter(is_kept).collect())))
                }
                _ => None,
            }
        })
    });
    let (lost, why) = lost.or_else(|| {
        let own: Vec<CellId> = plan.space.iter().map(|(id, _)| id).collect();
        let broken = plan.start.iter().find(|test| lasts(plan, test, &own) && !run.end.holds(test))?;
        let mut cells = Vec::new();
        broken.cells(&mut cells);
        let keeps = |step: &StepId| {
            let written = plan.steps[step.0 as usize].apply.written();
            cells.iter().any(|cell| {
                let kind = plan.space.get(*cell).map(|cell| cell.key.kind);
                !matches!(kind, Some(CellKind::Path)) && written.contains(cell)
            })
        };
        Some((PAIR.into_iter().find(keeps)?, Lost::Undone(cells)))
    })?;
    Some(PairEnd { order: order.map(|at| names[at]), end: run.end, lost: names[lost.0 as usize], why })
}

/// Tries every start of two steps alone: whether they contradict each other. `None` if there are more than `limit` starts.
pub(crate) fn by_trying(plan: &Plan, one: StepId, two: StepId, limit: u64) -> Option<bool> {
    let pair = pair_plan(plan, one, two);
    let runner = Runner::new(&pair, Semantics::Puppet);
    let ends_content = |start: &State, order: &[StepId]| {
        let mut progress = runner.begin(start);
        for &step in order {
            if !runner.is_suitable(&progress, step) {
                return false;
            }
            runner.perform(&mut progress, step);
        }
        let is_content = |&step: &StepId| {
            let mut again = runner.begin(&progress.state);
            let suits = runner.is_suitable(&again, step);
            runner.perform(&mut again, step);
            suits && again.statuses[step.0 as usize] == Status::Ok
        };
        let own: Vec<CellId> = pair.space.iter().map(|(id, _)| id).collect();
        let lasting = pair.start.iter().filter(|test| lasts(&pair, test, &own));
        order.iter().all(|&step| progress.statuses[step.0 as usize] != Status::Failed)
            && lasting.into_iter().all(|test| progress.state.holds(test))
            && order.iter().all(is_content)
    };
    let mut is_possible = [false; 2];
    for start in crate::exhaustive::starts(&pair, Semantics::Puppet, false, limit)? {
        for (possible, step) in is_possible.iter_mut().zip(PAIR) {
            *possible |= ends_content(&start, &[step]);
        }
        if ends_content(&start, &PAIR) || ends_content(&start, &[PAIR[1], PAIR[0]]) {
            return Some(false);
        }
    }
    Some(is_possible == [true; 2])
}
