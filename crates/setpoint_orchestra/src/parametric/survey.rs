//! Small instances, each run in every way: what views occur, which rules apply, and whether something goes wrong.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use super::instances::visit_instances;
use super::view::{View, Viewpoint};
use super::witness::Neighbourhoods;
use crate::concrete::{Explanation, Ground, LeadsTo, Run, explain, explore, leads_to, maximal_run};
use crate::instance::{Instance, ObjectId};
use crate::model::Model;

/// How much is looked at. Counted in states, not in time, so that answers can be repeated.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    pub(super) objects: usize,
    pub(super) states: usize,
    pub(super) instances: usize,
    /// Instances that are tried, whether they satisfy the requirements or not.
    pub(super) candidates: usize,
    /// Every run of an instance ends in the same state: one is enough.
    pub(super) one_run: bool,
}

/// What went wrong in an instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// The run ends in a state that is not final.
    Deadlock(Explanation),
    /// After the first `prefix` steps the run repeats itself.
    Endless { prefix: usize },
    /// The run ends in a state in which the stated invariant with this number is false.
    Invariant(usize),
}

/// A smallest instance that was found in which a run goes wrong. The run was replayed.
#[derive(Clone, Debug)]
pub struct Counterexample {
    pub instance: Instance,
    pub run: Run,
    pub wrong: Wrong,
}

#[derive(Debug, Default)]
pub(super) struct Survey {
    /// For each viewpoint, the views that occur.
    pub(super) views: Vec<BTreeSet<View>>,
    /// What objects see of those that lead to them.
    pub(super) neighbourhoods: Neighbourhoods,
    pub(super) fired: Vec<bool>,
    /// An initial state in which every class has an object.
    pub(super) inhabited: Option<Instance>,
    pub(super) wrong: Option<Counterexample>,
    pub(super) instances: usize,
    pub(super) states: usize,
    /// The budget ended within an instance.
    cut_off: bool,
    /// All instances up to this size were looked at, in all their states.
    pub(super) complete_to: usize,
}

/// Looks at instances by increasing size until something goes wrong or the budget is used up.
pub(super) fn survey(model: &Model, viewpoints: &[Viewpoint], budget: Budget) -> Survey {
    let mut survey = Survey {
        views: vec![BTreeSet::new(); viewpoints.len()],
        fired: vec![false; model.rules.len()],
        neighbourhoods: Neighbourhoods::of_model(model),
        ..Survey::default()
    };
    let mut candidates = budget.candidates;
    for size in 0..=budget.objects {
        let flow = visit_instances(model, size, &mut candidates, |instance| {
            survey.look(model, viewpoints, instance, budget)
        });
        if flow.is_break() || survey.cut_off || candidates == 0 {
            break;
        }
        survey.complete_to = size;
    }
    survey
}

impl Survey {
    fn look(
        &mut self,
        model: &Model,
        viewpoints: &[Viewpoint],
        instance: Instance,
        budget: Budget,
    ) -> ControlFlow<()> {
        let Ok(ground) = Ground::new(model, &instance) else { return ControlFlow::Continue(()) };
        let left = budget.states.saturating_sub(self.states);
        self.instances += 1;
        if left == 0 || self.instances > budget.instances {
            return ControlFlow::Break(());
        }
        if budget.one_run {
            return self.look_at_one_run(&ground, &instance);
        }
        let mut broken = None;
        let (views, neighbourhoods) = (&mut self.views, &mut self.neighbourhoods);
        let explored = explore(&ground, left, |state| {
            if !viewpoints.is_empty() {
                neighbourhoods.look(&ground, state);
            }
            for (viewpoint, seen) in viewpoints.iter().zip(views.iter_mut()) {
                each_root(&ground, viewpoint, |roots| {
                    seen.insert(viewpoint.look(&ground, state, roots));
                });
            }
            broken = model.invariants.iter().position(|invariant| {
                !invariant.claims.iter().all(|claim| ground.satisfies(&claim.formula, state))
            });
            broken.is_some()
        });
        self.states += explored.states;
        self.cut_off |= broken.is_none() && !explored.complete;
        for (known, fired) in self.fired.iter_mut().zip(&explored.fired) {
            *known |= fired;
        }
        let wrong = match (broken, explored.terminals.last()) {
            (Some(invariant), Some(run)) => Some((run.clone(), Wrong::Invariant(invariant))),
            _ => failure(&ground, left),
        };
        if self.inhabited.is_none() && all_inhabited(model, &instance) {
            self.inhabited = Some(instance.clone());
        }
        let Some((run, wrong)) = wrong else { return ControlFlow::Continue(()) };
        if !replays(&ground, &run, &wrong) {
            return ControlFlow::Continue(());
        }
        self.wrong = Some(Counterexample { instance, run, wrong });
        ControlFlow::Break(())
    }
}

impl Survey {
    /// A second look at more instances, with what the first look saw already.
    pub(super) fn followed_by(self, mut second: Self) -> Self {
        for (fired, before) in second.fired.iter_mut().zip(self.fired) {
            *fired |= before;
        }
        second.inhabited = self.inhabited.or(second.inhabited);
        second
    }

    /// For models whose steps never disturb each other: the end of one run is the end of all.
    fn look_at_one_run(&mut self, ground: &Ground<'_>, instance: &Instance) -> ControlFlow<()> {
        let run = maximal_run(ground, 100_000);
        self.states += run.steps.len() + 1;
        for &step in &run.steps {
            self.fired[ground.steps[step].rule] = true;
        }
        if self.inhabited.is_none() && all_inhabited(ground.model, instance) {
            self.inhabited = Some(instance.clone());
        }
        if !run.maximal || ground.is_final(&run.end) {
            return ControlFlow::Continue(());
        }
        let wrong = Wrong::Deadlock(explain(ground, &run));
        if !replays(ground, &run, &wrong) {
            return ControlFlow::Continue(());
        }
        self.wrong = Some(Counterexample { instance: instance.clone(), run, wrong });
        ControlFlow::Break(())
    }
}

pub(super) fn failure(ground: &Ground<'_>, limit: usize) -> Option<(Run, Wrong)> {
    match leads_to(ground, limit) {
        LeadsTo::Stuck { run, .. } => {
            let explanation = explain(ground, &run);
            Some((run, Wrong::Deadlock(explanation)))
        }
        LeadsTo::Endless { run, prefix, .. } => Some((run, Wrong::Endless { prefix })),
        LeadsTo::Holds { .. } | LeadsTo::Unknown { .. } => None,
    }
}

/// Runs the steps again from the start, and looks whether they show what they are said to show.
pub(super) fn replays(ground: &Ground<'_>, run: &Run, wrong: &Wrong) -> bool {
    let mut state = ground.start.clone();
    let mut passed = vec![state.clone()];
    for &step in &run.steps {
        if !ground.enabled(&ground.steps[step], &state) {
            return false;
        }
        Ground::apply(&ground.steps[step], &mut state);
        passed.push(state.clone());
    }
    let not_final = || passed.iter().all(|state| !ground.is_final(state));
    state == run.end
        && match wrong {
            Wrong::Deadlock(_) => not_final() && ground.enabled_steps(&state).is_empty(),
            Wrong::Endless { prefix } => {
                not_final() && *prefix < run.steps.len() && passed.get(*prefix) == passed.last()
            }
            Wrong::Invariant(at) => ground.model.invariants.get(*at).is_some_and(|invariant| {
                !invariant.claims.iter().all(|claim| ground.satisfies(&claim.formula, &state))
            }),
        }
}

fn all_inhabited(model: &Model, instance: &Instance) -> bool {
    model.class_ids().all(|class| instance.objects.iter().any(|object| object.class == class))
}

fn each_root(ground: &Ground<'_>, viewpoint: &Viewpoint, mut visit: impl FnMut(&[ObjectId])) {
    let members = |at: usize| {
        ground.instance.ids().filter(move |&id| ground.instance.object(id).class == viewpoint.roots[at])
    };
    match viewpoint.roots.len() {
        1 => members(0).for_each(|one| visit(&[one])),
        2 => members(0).for_each(|one| members(1).for_each(|other| visit(&[one, other]))),
        _ => {}
    }
}
