//! One run: the enabled steps one after another until none is left.

use std::collections::VecDeque;

use setpoint_source::Random;

use super::eval::Evaluator;
use super::ground::{Ground, State};

/// The steps of a run by their place in [`Ground::steps`], and where it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    pub steps: Vec<usize>,
    pub end: State,
    /// No step is enabled at the end. If not, the run was cut off: by its limit, or because more messages would wait
    /// at one place than are counted.
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
        cursors: vec![0; ground.steps.len()],
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
        if steps.len() >= limit || Ground::overflows(&ground.steps[step], &runner.state) {
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
    let mut random = Random::new(seed);
    loop {
        let enabled = ground.enabled_steps(&state);
        if enabled.is_empty() {
            return Run { steps, end: state, maximal: true };
        }
        let step = *random.pick(&enabled);
        if steps.len() >= limit || Ground::overflows(&ground.steps[step], &state) {
            return Run { steps, end: state, maximal: false };
        }
        Ground::apply(&ground.steps[step], &mut state);
        steps.push(step);
    }
}

struct Runner<'g> {
    ground: &'g Ground<'g>,
    state: State,
    waiting: Vec<Vec<usize>>,
    /// For each step the test that failed last time: the look goes on there, so that a guard over many links costs
    /// as much as there are links, and not its square.
    cursors: Vec<u32>,
    ready: VecDeque<usize>,
}

impl Runner<'_> {
    /// Puts a step among the ready ones, or where it waits.
    fn look(&mut self, step: usize) {
        let ground = self.ground;
        let definition = &ground.steps[step];
        let tests = &definition.tests;
        let first = self.cursors[step] as usize;
        for at in (first..tests.len()).chain(0..first.min(tests.len())) {
            if !tests[at].holds(&self.state) {
                self.cursors[step] = at as u32;
                self.waiting[tests[at].cell() as usize].push(step);
                return;
            }
        }
        let evaluator = Evaluator { ground, state: &self.state };
        let mut env = definition.binding.clone();
        for guard in &ground.other_guards[definition.rule] {
            if !evaluator.holds(guard, &mut env) {
                let mut cells = Vec::new();
                evaluator.witnesses(guard, &mut env, &mut cells);
                for cell in cells {
                    self.waiting[cell as usize].push(step);
                }
                return;
            }
        }
        self.ready.push_back(step);
    }
}
