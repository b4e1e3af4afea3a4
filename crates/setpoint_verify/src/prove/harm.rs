//! Whether more edges do harm: a step fails or is skipped with them that does not without them.
//!
//! An edge that states the order that is wrong makes a catalog fail for ever: the service fails without its package, and the
//! package, which waits for the service, is skipped. So each repair is run beside what it repairs, on a fresh machine first and
//! then from every admissible start.

use setpoint_solver::{Lit, Outcome};
use setpoint_state::{Plan, Run, Runner, State, StepId};

use crate::Options;
use crate::facts::context::Context;
use crate::prove::repair::Edge;
use crate::reduce::sub::{Moment, Sub, Tests, embed};
use crate::replay::witness::Witness;
use crate::symbolic::runs::Runs;

/// A plan of more steps is tried from single starts only.
const LARGEST: usize = 200;

/// Returns the plan of a runner with more edges; `None` if they close a circle.
fn mended<'p>(runner: &Runner<'p>, edges: &[Edge]) -> Option<Runner<'p>> {
    let all: Vec<(StepId, StepId)> = edges.iter().map(|edge| (edge.from, edge.to)).collect();
    let telling = edges.iter().filter(|edge| edge.notify).map(|edge| (edge.from, edge.to));
    let mended = runner.with_edges(&all, &telling.collect::<Vec<_>>());
    (mended.puppet_order().len() == runner.puppet_order().len()).then_some(mended)
}

fn is_worse(before: &Run, after: &Run) -> bool {
    before.statuses.iter().zip(&after.statuses).any(|(before, after)| after.is_bad() && !before.is_bad())
}

/// Whether edges do harm from a start, in a first run or in a second. Also if they close a circle.
pub fn harms_from(runner: &Runner<'_>, edges: &[Edge], start: &State) -> bool {
    let Some(mended) = mended(runner, edges) else { return true };
    let runs = |runner: &Runner<'_>| {
        let order = runner.puppet_order();
        let first = runner.run(start, &order);
        let second = runner.run(&first.end, &order);
        [first, second]
    };
    let (before, after) = (runs(runner), runs(&mended));
    before.iter().zip(&after).any(|(before, after)| is_worse(before, after))
}

/// Whether edges do harm from some admissible start, the fresh machine first. Returns `false` only if no harm was found; from
/// every start if the plan is small and the question is decided.
pub(crate) fn harms(plan: &Plan, options: &Options, edges: &[Edge], starts: &[State]) -> bool {
    let context = Context::new(plan, options.semantics, options.any_start);
    let witness = Witness::new(&context);
    let mut first = witness.base().into_iter().chain(starts);
    if first.any(|start| harms_from(&context.runner, edges, start)) {
        return true;
    }
    harmful_start(&context, &witness, edges).is_some_and(|start| harms_from(&context.runner, edges, &start))
}

/// Looks for a start from which a step fails with the edges that is not bad without them. That whoever waits is skipped where what
/// it waits for fails anyway is what a relationship is for, and no harm on a machine that is not fresh.
fn harmful_start(context: &Context<'_>, witness: &Witness<'_, '_>, edges: &[Edge]) -> Option<State> {
    if context.order.len() > LARGEST || !context.unsettled.is_empty() {
        return None;
    }
    let part = || Sub::new(context, &context.order, Moment::Start, Tests::Inside);
    let (sub, mut more) = (part(), part());
    let place = |step: StepId| context.rank[step.0 as usize];
    for edge in edges {
        let ends = (StepId(place(edge.from)), StepId(place(edge.to)));
        more.plan.edges.push(ends);
        if edge.notify {
            more.plan.notifies.push(ends);
        }
    }
    let (runs, mended_runs) =
        (Runs::new(&sub, context.semantics, &[]), Runs::new(&more, context.semantics, &[]));
    let mut machine = sub.machine(context);
    let start = machine.any_start();
    runs.assume(&mut machine, &start);
    let before = runs.in_order(&mut machine, start.clone());
    let mut after = mended_runs.begin(&machine, start.clone());
    let go = machine.yes();
    for step in mended(&context.runner, edges)?.puppet_order() {
        mended_runs.turn(&mut machine, &mut after, place(step) as usize, go);
    }
    let worse: Vec<Lit> = (0..context.order.len())
        .map(|at| machine.circuit.and(&[after.failed[at], !before.failed[at], !before.skipped[at]]))
        .collect();
    let any = machine.circuit.or(&worse);
    if machine.solve(&[any]) != Outcome::Sat {
        return None;
    }
    witness.complete(&embed(&sub, &machine.decode(&start)))
}
