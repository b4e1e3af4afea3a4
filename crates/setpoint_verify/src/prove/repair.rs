//! The fewest edges or notifies that make the verdicts good.
//!
//! Every candidate is asked everything again: order, second run, invariants, contradictions. None may close a cycle, and under none
//! may anything fail or be skipped that did not before, on a fresh machine or from any other admissible start (`harm.rs`). Among
//! those that do, the one is taken that needs no second run, then the one that keeps the order that works today.

use setpoint_state::{Plan, Runner, State, StepId};

use crate::facts::context::Context;
use crate::prove::harm::harms;
pub use crate::prove::harm::harms_from;
use crate::{Answer, Options, Verdicts, verify};

/// An edge to be added.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Edge {
    pub from: StepId,
    pub to: StepId,
    /// A change of the first refreshes the second.
    pub notify: bool,
}

/// A repair that was checked.
#[derive(Clone, Debug)]
pub struct Repair {
    pub edges: Vec<Edge>,
    /// What holds of the plan with these edges.
    pub verdicts: Verdicts,
    /// Nothing is left to mend; else it is only better than before.
    pub complete: bool,
    /// How many plans were asked about.
    pub tried: usize,
}

/// No more plans than this are asked about.
const MOST: usize = 160;

/// A plan with more edges.
pub fn with_edges(plan: &Plan, edges: &[Edge]) -> Plan {
    let mut mended = plan.clone();
    for edge in edges {
        if !mended.edges.contains(&(edge.from, edge.to)) {
            mended.edges.push((edge.from, edge.to));
        }
        if edge.notify && !mended.notifies.contains(&(edge.from, edge.to)) {
            mended.notifies.push((edge.from, edge.to));
        }
    }
    mended
}

/// What is still wrong, worst first: smaller is better.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Badness {
    order: usize,
    /// Pairs whose order matters.
    pairs: usize,
    failures: usize,
    idempotent: usize,
    broken: usize,
    stale: usize,
    quiet: usize,
}

/// Proved, unknown, refuted.
fn rank<W, R>(answer: &Answer<W, R>) -> usize {
    match answer {
        Answer::Proved(_) => 0,
        Answer::Unknown(_) => 1,
        Answer::Refuted { .. } => 2,
    }
}

fn badness(verdicts: &Verdicts) -> Badness {
    Badness {
        order: rank(&verdicts.order),
        pairs: verdicts.dependences().count(),
        failures: verdicts.failures.len(),
        idempotent: rank(&verdicts.idempotent),
        broken: verdicts.broken().count(),
        stale: verdicts.missing_notify().count(),
        quiet: rank(&verdicts.quiet),
    }
}

struct Search<'p> {
    plan: &'p Plan,
    options: &'p Options,
    tried: usize,
}

impl Search<'_> {
    /// The verdicts with these edges; `None` if they close a cycle or too much was tried.
    fn ask(&mut self, edges: &[Edge]) -> Option<Verdicts> {
        if self.tried >= MOST
            || self.options.deadline.is_some_and(|deadline| std::time::Instant::now() >= deadline)
        {
            return None;
        }
        let plan = with_edges(self.plan, edges);
        let before = Runner::new(self.plan, self.options.semantics).puppet_order().len();
        if Runner::new(&plan, self.options.semantics).puppet_order().len() < before {
            return None;
        }
        self.tried += 1;
        Some(verify(&plan, self.options))
    }

    /// Edges that may mend what these verdicts complain of.
    fn candidates(&self, verdicts: &Verdicts, edges: &[Edge]) -> Vec<Edge> {
        let plan = with_edges(self.plan, edges);
        let context = Context::new(&plan, self.options.semantics, self.options.any_start);
        let mut found: Vec<Edge> = Vec::new();
        let mut add = |from: StepId, to: StepId, notify: bool| {
            let edge = Edge { from, to, notify };
            let closes = context.comes_before(to, from);
            if from != to && !closes && !found.contains(&edge) {
                found.push(edge);
            }
        };
        for stale in verdicts.missing_notify() {
            for &writer in &context.writers[stale.file.0 as usize] {
                for &service in &stale.services {
                    add(writer, service, true);
                }
            }
        }
        let orders = verdicts.dependences().filter(|one| !contradict(verdicts, one.one, one.two));
        for dependence in orders.take(4) {
            // Puppet's order first: it works today.
            add(dependence.one, dependence.two, false);
            add(dependence.two, dependence.one, false);
        }
        found
    }
}

/// Whether the declared ends of two steps exclude each other.
fn contradict(verdicts: &Verdicts, one: StepId, two: StepId) -> bool {
    let is_it = |a: StepId, b: StepId| (a, b) == (one, two) || (a, b) == (two, one);
    verdicts.contradictions.iter().any(|found| is_it(found.one, found.two))
}

/// How much of the order that Puppet takes today these edges turn around.
fn turned(plan: &Plan, edges: &[Edge], options: &Options) -> usize {
    let order = Runner::new(plan, options.semantics).puppet_order();
    let place = |step: StepId| order.iter().position(|&other| other == step);
    edges.iter().filter(|edge| place(edge.from) > place(edge.to)).count()
}

/// Looks for the smallest repair; `None` if nothing is wrong that an edge could mend, or nothing was found that helps.
pub fn repair(plan: &Plan, options: &Options) -> Option<Repair> {
    let now = verify(plan, options);
    let before = badness(&now);
    // An order between ends that exclude each other mends nothing.
    let good = |verdicts: &Verdicts| {
        verdicts.dependences().all(|one| contradict(verdicts, one.one, one.two))
            && (verdicts.fails_today().is_none() || !verdicts.contradictions.is_empty())
            && verdicts.missing_notify().next().is_none()
    };
    if good(&now) {
        return None;
    }
    let mut search = Search { plan, options, tried: 0 };
    // Where the verdicts of now show something, a repair is run, too.
    let starts: Vec<State> =
        now.order.witnesses().map(|witness| witness.counterexample().start.clone()).take(8).collect();
    // Nothing may get worse that was good.
    let now_contradicts = now.contradictions.len();
    let no_worse = |edges: &[Edge], verdicts: &Verdicts| {
        let after = badness(verdicts);
        verdicts.contradictions.len() <= now_contradicts
            && after.idempotent <= before.idempotent
            && after.broken <= before.broken
            && after.failures <= before.failures
            && !harms(plan, options, edges, &starts)
    };
    let (today, fresh) = (Runner::new(plan, options.semantics), now.fresh.clone());
    // Breadth first: all repairs of one edge, then of two, and so on.
    let mut layer: Vec<(Vec<Edge>, Verdicts)> = vec![(Vec::new(), now)];
    for _ in 0..3 {
        let mut next: Vec<(Vec<Edge>, Verdicts)> = Vec::new();
        let mut mended: Vec<(Vec<Edge>, Verdicts)> = Vec::new();
        for (edges, verdicts) in &layer {
            for edge in search.candidates(verdicts, edges) {
                let mut more = edges.clone();
                more.push(edge);
                more.sort_unstable();
                if next.iter().chain(&mended).any(|(known, _)| *known == more) {
                    continue;
                }
                if fresh.as_ref().is_some_and(|fresh| harms_from(&today, &more, fresh)) {
                    continue;
                }
                let Some(after) = search.ask(&more) else { continue };
                if good(&after) && no_worse(&more, &after) {
                    mended.push((more, after));
                } else {
                    next.push((more, after));
                }
            }
        }
        if let Some((edges, verdicts)) = best(plan, options, mended) {
            return Some(Repair { edges, verdicts, complete: true, tried: search.tried });
        }
        // The most promising go on.
        next.sort_by_key(|(edges, verdicts)| (badness(verdicts), turned(plan, edges, options)));
        next.truncate(4);
        if next.is_empty() {
            break;
        }
        layer = next;
    }
    greedy(&mut search, layer, before, &good, &no_worse)
}

fn best(plan: &Plan, options: &Options, mended: Vec<(Vec<Edge>, Verdicts)>) -> Option<(Vec<Edge>, Verdicts)> {
    mended.into_iter().min_by_key(|(edges, verdicts)| {
        (
            edges.len(),
            badness(verdicts),
            rank(&verdicts.convergent),
            turned(plan, edges, options),
            verdicts.lost_refresh().count(),
            edges.clone(),
        )
    })
}

/// Where few edges do not do, the best edge is added again and again, and in the end what is not needed is taken away.
fn greedy(
    search: &mut Search<'_>,
    layer: Vec<(Vec<Edge>, Verdicts)>,
    before: Badness,
    good: &dyn Fn(&Verdicts) -> bool,
    no_worse: &dyn Fn(&[Edge], &Verdicts) -> bool,
) -> Option<Repair> {
    let (mut edges, mut verdicts) = layer.into_iter().next()?;
    while !good(&verdicts) {
        let mut choice: Option<(Edge, Verdicts)> = None;
        for edge in search.candidates(&verdicts, &edges).into_iter().take(4) {
            let mut more = edges.clone();
            more.push(edge);
            let Some(after) = search.ask(&more) else { continue };
            if choice.as_ref().is_none_or(|(_, known)| badness(&after) < badness(known)) {
                choice = Some((edge, after));
            }
        }
        let Some((edge, after)) = choice.filter(|(_, after)| badness(after) < badness(&verdicts)) else {
            break;
        };
        edges.push(edge);
        verdicts = after;
    }
    let mut at = 0;
    while at < edges.len() && edges.len() > 1 {
        let mut fewer = edges.clone();
        fewer.remove(at);
        match search.ask(&fewer) {
            Some(after) if good(&after) && no_worse(&fewer, &after) => {
                edges = fewer;
                verdicts = after;
            }
            _ => at += 1,
        }
    }
    let is_no_worse = !edges.is_empty() && no_worse(&edges, &verdicts);
    let complete = good(&verdicts) && is_no_worse;
    (complete || (badness(&verdicts) < before && is_no_worse)).then_some(Repair {
        edges,
        verdicts,
        complete,
        tried: search.tried,
    })
}
