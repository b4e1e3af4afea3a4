//! Which assumptions about the start hold at every moment: those that no step breaks.
//!
//! That an absent file has no lines, or that an installed package has its files, is assumed of a start. If every step keeps
//! it, it may be assumed of any state that a run comes through. Of all assumptions the largest set that keeps itself is
//! found by dropping what some step breaks, until nothing is dropped. A write that then never changes anything is dropped
//! from its step.

use rustc_hash::{FxHashMap, FxHashSet};
use setpoint_solver::{Lit, Outcome};
use setpoint_state::{CellId, Program, Step, StepId, Term, Test};

use crate::facts::context::Context;
use crate::facts::kinds::{And, Known, follow, holds};
use crate::facts::walk::Walk;
use crate::reduce::sub::{Moment, Sub, Tests, moved};

/// A step that has to do with more assumptions is not asked: it may break all that it touches.
const MOST_TESTS: usize = 4_000;

/// For each assumption whether it holds at every moment.
pub(crate) fn kept(context: &Context<'_>) -> Vec<bool> {
    let kept = (0..context.assumptions.len() as u32).map(|test| {
        context.looks.cells(test).iter().all(|&cell| context.unknown_writers(cell).next().is_none())
    });
    kept_of(context, kept.collect())
}

/// For each assumption whether it holds at every moment before any step of unknown effect has had its turn.
pub(crate) fn kept_at_first(context: &Context<'_>) -> Vec<bool> {
    kept_of(context, vec![true; context.assumptions.len()])
}

/// Returns those of the assumptions that no step breaks, as far as its effect is known.
fn kept_of(context: &Context<'_>, mut kept: Vec<bool>) -> Vec<bool> {
    let plainly = plainly_kept(context);
    let mut memo: FxHashMap<Vec<u32>, Vec<usize>> = FxHashMap::default();
    let mut work: Vec<StepId> = context.order.iter().rev().copied().collect();
    let mut waiting: FxHashSet<StepId> = work.iter().copied().collect();
    while let Some(step) = work.pop() {
        waiting.remove(&step);
        let mut tests: Vec<u32> = context
            .footprint(step)
            .writes
            .iter()
            .flat_map(|&cell| context.looks.tests(cell).iter().copied())
            .filter(|&test| kept[test as usize] && !plainly[test as usize])
            .collect();
        tests.sort_unstable();
        tests.dedup();
        if tests.is_empty() {
            continue;
        }
        let broken: Vec<u32> = if tests.len() > MOST_TESTS || context.is_over() {
            tests
        } else {
            let broken = broken(context, step, &tests, &kept, &mut memo);
            broken.into_iter().map(|at| tests[at]).collect()
        };
        for test in broken {
            kept[test as usize] = false;
            // Whoever relied on it is asked again.
            for &cell in context.looks.cells(test) {
                for &other in context.writers[cell.0 as usize].iter().chain(&context.readers[cell.0 as usize])
                {
                    if waiting.insert(other) {
                        work.push(other);
                    }
                }
            }
        }
    }
    kept
}

/// For each assumption whether it is seen without a solver that every single write keeps it.
fn plainly_kept(context: &Context<'_>) -> Vec<bool> {
    let mut kept = vec![true; context.assumptions.len()];
    for &step in &context.order {
        for program in [&context.step(step).apply, &context.step(step).refresh] {
            let mut at_write = |held: &FxHashMap<CellId, Known>, cell: CellId, value: &Known| {
                for &test in context.looks.tests(cell) {
                    let kept = &mut kept[test as usize];
                    *kept = *kept && keeps(held, cell, value, &context.assumptions[test as usize]);
                }
            };
            Walk::telling(&mut at_write).run(program);
        }
    }
    kept
}

/// Whether a test that holds before a write certainly holds after it.
fn keeps(held: &FxHashMap<CellId, Known>, cell: CellId, value: &Known, test: &Test) -> bool {
    let mut said = Vec::new();
    follow(test, true, held, &mut said);
    let mut after = And { all: held, some: vec![(cell, value.clone())] };
    for (other, more) in said.iter().filter(|(other, _)| *other != cell) {
        after.add(*other, more);
    }
    holds(test, &after) == Some(true)
}

/// The tests, by their place, that hold before a step together with all that is kept, and perhaps not after it.
fn broken(
    context: &Context<'_>,
    step: StepId,
    tests: &[u32],
    kept: &[bool],
    memo: &mut FxHashMap<Vec<u32>, Vec<usize>>,
) -> Vec<usize> {
    let own: Vec<Test> = tests.iter().map(|&test| context.assumptions[test as usize].clone()).collect();
    let mut sub = Sub::new(context, &[step], Moment::Any, Tests::Also(&own));
    let places = sub.places();
    sub.assume(inside(context, &sub, &places, kept));
    let own: Vec<Test> = own.iter().map(|test| moved(test, &places)).collect();
    let mut key = sub.shape_with(&own.iter().collect::<Vec<_>>());
    key.push(u32::from(context.is_notified(step)));
    if let Some(known) = memo.get(&key) {
        return known.clone();
    }
    let mut machine = sub.machine(context);
    let mut state = machine.any_start();
    machine.assume(&state, &sub.plan.start);
    let (yes, no) = (machine.yes(), machine.no());
    let notified = if context.is_notified(step) { machine.circuit.fresh() } else { no };
    machine.step(&sub.plan.steps[0], &mut state, yes, no, notified);
    let mut open: Vec<(usize, Lit)> = Vec::new();
    for (at, test) in own.iter().enumerate() {
        let holds = machine.test(&state, test);
        open.push((at, !holds));
    }
    let mut found = Vec::new();
    loop {
        let any: Vec<Lit> = open.iter().map(|(_, lit)| *lit).collect();
        let any = machine.circuit.or(&any);
        match if any == no { Outcome::Unsat } else { machine.solve(&[any]) } {
            Outcome::Unsat => break,
            Outcome::Unknown => {
                found.extend(open.into_iter().map(|(at, _)| at));
                break;
            }
            Outcome::Sat => {
                let (now, still): (Vec<_>, Vec<_>) =
                    open.into_iter().partition(|&(_, lit)| machine.circuit.is_true(lit));
                found.extend(now.into_iter().map(|(at, _)| at));
                open = still;
            }
        }
    }
    found.sort_unstable();
    memo.insert(key, found.clone());
    found
}

/// Runs of so many writes are worth a look: most of what makes a new file only says again that its lines are absent.
const MANY_WRITES: usize = 6;

fn has_many_writes(program: &Program) -> bool {
    match program {
        Program::Skip | Program::Fail(_) | Program::Change | Program::Write(..) => false,
        Program::If(_, then, otherwise) => has_many_writes(then) || has_many_writes(otherwise),
        Program::Sequence(programs) => {
            programs.iter().filter(|program| matches!(program, Program::Write(_, Term::Is(_)))).count()
                >= MANY_WRITES
                || programs.iter().any(has_many_writes)
        }
    }
}

/// The steps that write what is there already, without those writes.
pub(crate) fn trimmed(context: &Context<'_>) -> Vec<(StepId, Step)> {
    let mut found = Vec::new();
    for &id in &context.order {
        let step = context.step(id);
        if !(has_many_writes(&step.apply) || has_many_writes(&step.refresh)) || context.is_over() {
            continue;
        }
        let idle = idle(context, id);
        if idle.contains(&true) {
            let mut idle = idle.into_iter();
            let (apply, refresh) = (trim(&step.apply, &mut idle), trim(&step.refresh, &mut idle));
            found.push((id, step.doing(apply, refresh, step.suitable.clone())));
        }
    }
    found
}

/// For every write of a value, in the order of the program, whether it never makes a difference.
fn idle(context: &Context<'_>, id: StepId) -> Vec<bool> {
    let mut sub = Sub::new(context, &[id], Moment::Any, Tests::Inside);
    sub.assume_kept(context);
    let mut machine = sub.machine(context);
    let mut state = machine.any_start();
    machine.assume(&state, &sub.plan.start);
    let (yes, no) = (machine.yes(), machine.no());
    let notified = if context.is_notified(id) { machine.circuit.fresh() } else { no };
    machine.changes = Some(Vec::new());
    machine.step(&sub.plan.steps[0], &mut state, yes, no, notified);
    let changes = machine.changes.take().unwrap_or_default();
    let mut open: Vec<usize> = (0..changes.len()).collect();
    let mut idle = vec![false; changes.len()];
    loop {
        let any: Vec<Lit> = open.iter().map(|&at| changes[at]).collect();
        let any = machine.circuit.or(&any);
        match if any == no { Outcome::Unsat } else { machine.solve(&[any]) } {
            Outcome::Unsat => break,
            Outcome::Unknown => return idle,
            Outcome::Sat => open.retain(|&at| !machine.circuit.is_true(changes[at])),
        }
    }
    for at in open {
        idle[at] = true;
    }
    idle
}

fn trim(program: &Program, idle: &mut impl Iterator<Item = bool>) -> Program {
    match program {
        Program::Write(_, Term::Is(_)) => {
            if idle.next() == Some(true) {
                Program::Skip
            } else {
                program.clone()
            }
        }
        Program::Skip | Program::Fail(_) | Program::Change | Program::Write(..) => program.clone(),
        Program::If(test, then, otherwise) => {
            let (then, otherwise) = (trim(then, idle), trim(otherwise, idle));
            Program::If(test.clone(), Box::new(then), Box::new(otherwise))
        }
        Program::Sequence(programs) => {
            let mut kept: Vec<Program> = programs.iter().map(|program| trim(program, idle)).collect();
            kept.retain(|program| *program != Program::Skip);
            Program::Sequence(kept)
        }
    }
}

/// The kept assumptions that look at cells of a part only, over its cells.
pub(crate) fn inside(
    context: &Context<'_>,
    sub: &Sub,
    places: &FxHashMap<CellId, CellId>,
    kept: &[bool],
) -> Vec<Test> {
    let mut seen: FxHashSet<u32> = FxHashSet::default();
    let mut found = Vec::new();
    for &cell in &sub.cells {
        for &test in context.looks.tests(cell) {
            if !kept[test as usize] || !seen.insert(test) {
                continue;
            }
            if context.looks.cells(test).iter().all(|cell| places.contains_key(cell)) {
                found.push(moved(&context.assumptions[test as usize], places));
            }
        }
    }
    found
}
