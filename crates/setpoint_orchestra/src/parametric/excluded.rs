//! What keeps a proof from succeeding: a state that the invariants allow and from which nothing arrives.
//!
//! No run leads there, as far as small instances tell. So the invariants say too little; one that holds in the small
//! instances and excludes the state is what a person may state.

use std::ops::ControlFlow;

use super::instances::visit_instances;
use super::progress::{BRIEF, Where, progress};
use super::survey::{Budget, Survey, Wrong, failure, replays, survey};
use super::view::Viewpoint;
use crate::concrete::{Ground, Run, explain};
use crate::instance::Instance;
use crate::model::{Formula, Model};

/// States that are looked at.
const MAX_CANDIDATES: usize = 60_000;

/// Objects of the largest instances.
const MAX_OBJECTS: usize = 6;

/// States of one instance that are followed in search of a run that repeats itself.
const MAX_STATES: usize = 2_000;

/// A state that the invariants do not exclude.
#[derive(Clone, Debug)]
pub struct Allowed {
    /// Its objects begin in the state that is meant.
    pub instance: Instance,
    /// Nothing goes on from there, or a run repeats itself.
    pub run: Run,
    pub wrong: Wrong,
    /// An invariant that holds in all small instances and excludes the state.
    pub helpful: Option<Formula>,
    /// With it every state that is not final has a next one.
    pub suffices: bool,
}

/// The rule set with any state as its start.
pub(super) fn from_anywhere(model: &Model) -> Model {
    let mut model = model.clone();
    model.init.retain(|claim| claim.formula.is_static());
    model
}

/// A smallest state in which the invariants hold and nothing goes on, or from which a run repeats itself. States with
/// messages are not looked at.
pub(super) fn find_allowed(model: &Model, known: &[Formula], stuck: bool, endless: bool) -> Option<Allowed> {
    let anywhere = from_anywhere(model);
    let mut candidates = MAX_CANDIDATES;
    for size in 0..=MAX_OBJECTS {
        let flow = visit_instances(&anywhere, size, &mut candidates, |instance| {
            match look(&anywhere, known, &instance, stuck, endless) {
                Some(found) => ControlFlow::Break(found),
                None => ControlFlow::Continue(()),
            }
        });
        if let ControlFlow::Break(mut found) = flow {
            suggest_invariant(model, known, &anywhere, &mut found);
            return Some(found);
        }
        if candidates == 0 {
            break;
        }
    }
    None
}

fn look(
    model: &Model,
    known: &[Formula],
    instance: &Instance,
    stuck: bool,
    endless: bool,
) -> Option<Allowed> {
    let ground = Ground::new(model, instance).ok()?;
    if ground.is_final(&ground.start) || !known.iter().all(|one| ground.satisfies(one, &ground.start)) {
        return None;
    }
    let (run, wrong) = if ground.enabled_steps(&ground.start).is_empty() {
        let run = crate::concrete::maximal_run(&ground, 1);
        let wrong = Wrong::Deadlock(explain(&ground, &run));
        stuck.then_some((run, wrong))?
    } else if endless {
        failure(&ground, MAX_STATES).filter(|(_, wrong)| matches!(wrong, Wrong::Endless { .. }))?
    } else {
        return None;
    };
    replays(&ground, &run, &wrong).then_some(())?;
    Some(Allowed { instance: instance.clone(), run, wrong, helpful: None, suffices: false })
}

/// Looks for an invariant among what is true in all runs of small instances and false in the state.
fn suggest_invariant(model: &Model, known: &[Formula], anywhere: &Model, found: &mut Allowed) {
    let mut viewpoints = Viewpoint::of_model(model);
    viewpoints.extend(Viewpoint::pairs_of_model(model));
    let budget = Budget { objects: 8, states: 12_000, instances: 4_000, candidates: 8_000, one_run: false };
    let Survey { views, neighbourhoods, .. } = survey(model, &viewpoints, budget);
    let mut proposed = neighbourhoods.candidates(model);
    for (viewpoint, seen) in viewpoints.iter().zip(&views) {
        let cubes = viewpoint.clauses(model, seen);
        proposed.extend(cubes.iter().map(|cube| viewpoint.invariant(model, cube)));
    }
    let Ok(ground) = Ground::new(anywhere, &found.instance) else { return };
    proposed.retain(|one| !ground.satisfies(one, &ground.start));
    let proves = |one: &&Formula| {
        let mut with = known.to_vec();
        with.push((*one).clone());
        progress(model, &with, Where::Invariant, true, &BRIEF).is_some()
    };
    let enough = match found.wrong {
        Wrong::Deadlock(_) => proposed.iter().take(12).find(proves).cloned(),
        Wrong::Endless { .. } | Wrong::Invariant(_) => None,
    };
    found.suffices = enough.is_some();
    found.helpful = enough.or_else(|| proposed.into_iter().next());
}
