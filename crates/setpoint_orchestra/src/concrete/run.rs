//! One run: the enabled steps one after another until none is left.

use std::collections::VecDeque;

use super::eval::{Evaluator, Quantifier, quantifiers};
use super::ground::{Cell, Ground, State, Write};
use crate::instance::ObjectId;
use crate::model::Formula;

/// The steps of a run by their place in [`Ground::steps`], and where it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    pub steps: Vec<usize>,
    pub end: State,
    /// No step is enabled at the end. If not, the run was cut off.
    pub maximal: bool,
}

/// Runs until no step is enabled, at most `limit` steps. Steps that become enabled first are taken first, so that
/// what can run in parallel stands side by side.
///
/// A step that is not enabled waits at the cells of which one must change, and is looked at again only then; a
/// guard over all links of an object goes on where it stopped. The cost grows as the links do.
pub fn maximal_run(ground: &Ground<'_>, limit: usize) -> Run {
    let mut runner = Runner {
        ground,
        state: ground.start.clone(),
        waiting: vec![Vec::new(); ground.start.len()],
        cursors: vec![Cursor::default(); ground.steps.len()],
        ready: VecDeque::new(),
    };
    for step in 0..ground.steps.len() {
        runner.look(step);
    }
    let mut steps = Vec::new();
    while let Some(step) = runner.ready.pop_front() {
        if !ground.enabled(&ground.steps[step], &runner.state) {
            runner.look(step);
            continue;
        }
        if steps.len() >= limit {
            return Run { steps, end: runner.state, maximal: false };
        }
        Ground::apply(&ground.steps[step], &mut runner.state);
        steps.push(step);
        for &(cell, _) in &ground.steps[step].writes {
            for woken in std::mem::take(&mut runner.waiting[cell as usize]) {
                runner.look(woken);
            }
        }
        runner.look(step);
    }
    Run { steps, end: runner.state, maximal: true }
}

/// A run in which each step is drawn from the enabled ones. The same seed gives the same run.
pub fn random_run(ground: &Ground<'_>, seed: u64, limit: usize) -> Run {
    let mut state = ground.start.clone();
    let mut steps = Vec::new();
    let mut random = seed;
    loop {
        let enabled = ground.enabled_steps(&state);
        if enabled.is_empty() {
            return Run { steps, end: state, maximal: true };
        }
        if steps.len() >= limit {
            return Run { steps, end: state, maximal: false };
        }
        let step = enabled[(next_random(&mut random) % enabled.len() as u64) as usize];
        Ground::apply(&ground.steps[step], &mut state);
        steps.push(step);
    }
}

/// SplitMix64: a whole step of a well-known generator, so that runs can be repeated anywhere.
fn next_random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

/// Where the look at a step's guards stopped last time.
#[derive(Clone, Default)]
struct Cursor {
    guard: usize,
    /// The objects of a universal guard, and the one at which it failed.
    objects: Option<Vec<ObjectId>>,
    at: usize,
}

struct Runner<'g> {
    ground: &'g Ground<'g>,
    state: State,
    waiting: Vec<Vec<usize>>,
    cursors: Vec<Cursor>,
    ready: VecDeque<usize>,
}

impl Runner<'_> {
    /// Puts a step among the ready ones, or where it waits.
    fn look(&mut self, step: usize) {
        let cells = self.blockers(step);
        if cells.is_empty() {
            self.ready.push_back(step);
        }
        for cell in cells {
            self.waiting[cell as usize].push(step);
        }
    }

    /// Cells of which one must change before the step is enabled; none if it is.
    fn blockers(&mut self, step: usize) -> Vec<Cell> {
        let ground = self.ground;
        let definition = &ground.steps[step];
        for &(cell, write) in &definition.writes {
            if matches!(write, Write::Subtract(count) if self.state[cell as usize] < count) {
                return vec![cell];
            }
        }
        let guards = &ground.guards[definition.rule];
        let mut env = definition.binding.clone();
        let first = self.cursors[step].guard;
        for offset in 0..guards.len() {
            let guard = (first + offset) % guards.len();
            if let Some(cells) = self.guard_blockers(step, guard, &guards[guard], &mut env) {
                return cells;
            }
        }
        Vec::new()
    }

    fn guard_blockers(
        &mut self,
        step: usize,
        guard: usize,
        formula: &Formula,
        env: &mut Vec<ObjectId>,
    ) -> Option<Vec<Cell>> {
        let evaluator = Evaluator { ground: self.ground, state: &self.state };
        let mut cells = Vec::new();
        if let Formula::All { bound, filter, body } = formula
            && filter.is_static()
        {
            let cursor = &mut self.cursors[step];
            if cursor.guard != guard || cursor.objects.is_none() {
                let quantifier = Quantifier { bound, equations: quantifiers(filter) };
                *cursor = Cursor { guard, objects: Some(self.ground.quantified(&quantifier, env)), at: 0 };
            }
            let objects = cursor.objects.as_ref()?;
            let before = env.len();
            env.resize(bound.var.max(before), ObjectId(0));
            for offset in 0..objects.len() {
                let at = (cursor.at + offset) % objects.len();
                env.truncate(bound.var);
                env.push(objects[at]);
                if evaluator.holds(filter, env) && !evaluator.holds(body, env) {
                    cursor.at = at;
                    evaluator.witnesses(body, env, &mut cells);
                    env.truncate(before);
                    return Some(cells);
                }
            }
            env.truncate(before);
            return None;
        }
        if evaluator.holds(formula, env) {
            return None;
        }
        self.cursors[step] = Cursor { guard, objects: None, at: 0 };
        evaluator.witnesses(formula, env, &mut cells);
        Some(cells)
    }
}
