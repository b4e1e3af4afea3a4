//! Why nothing goes on: who waits for whom, and by which link.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use setpoint_source::Span;

use super::eval::{Evaluator, Quantifier, quantifiers};
use super::ground::{CellMeaning, Ground, Write};
use super::run::Run;
use crate::instance::ObjectId;
use crate::model::{Effect, Formula, LinkId, MessageId, NameSet, Term};

/// What an object would have to be for another to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    State(NameSet),
    Message(MessageId),
    NoMessage(MessageId),
}

/// `from` cannot take `rule` because `to` is not as the rule needs it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Wait {
    pub from: ObjectId,
    pub to: ObjectId,
    pub rule: usize,
    pub need: Need,
    /// The links that lead from one to the other, each with the object that has it.
    pub via: Vec<(ObjectId, LinkId)>,
}

impl Wait {
    /// The source text that makes `from` wait for `to`: the first link on the way that has one.
    pub fn span(&self, ground: &Ground<'_>) -> Option<Span> {
        self.via.iter().find_map(|&(object, link)| ground.instance.link(object, link).span)
    }
}

/// The shortest reason why a state without enabled steps is not final.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// Objects that keep the state from being final, in the order of the instance.
    pub stuck: Vec<ObjectId>,
    /// If not empty: each waits for the next, and the last for the first.
    pub cycle: Vec<Wait>,
    /// If there is no cycle: from a stuck object to one that nothing can move.
    pub chain: Vec<Wait>,
}

/// Explains a run to a state in which no step is enabled and which is not final.
pub fn explain(ground: &Ground<'_>, run: &Run) -> Explanation {
    let waits = waits(ground, run);
    let stuck = stuck(ground, &run.end);
    let mut explanation = Explanation { stuck, cycle: shortest_cycle(&waits), chain: Vec::new() };
    if explanation.cycle.is_empty() {
        explanation.chain = shortest_chain(&waits, &explanation.stuck);
    }
    explanation
}

type Graph = BTreeMap<ObjectId, Vec<Wait>>;

/// The objects in states that `final` excludes.
fn stuck(ground: &Ground<'_>, state: &[u8]) -> Vec<ObjectId> {
    let mut blockers = Vec::new();
    let collector = Collector { ground, evaluator: Evaluator { ground, state } };
    collector.blockers(&ground.final_formula, &mut Vec::new(), &mut Vec::new(), &mut blockers);
    let found: BTreeSet<ObjectId> = blockers.into_iter().map(|(object, ..)| object).collect();
    found.into_iter().collect()
}

/// For each object: what it waits for. An object waits if some step would change it, and that step is kept from
/// happening only by other objects; a step that needs another state of the object itself says nothing.
fn waits(ground: &Ground<'_>, run: &Run) -> Graph {
    let state = &run.end;
    let holders = holders(ground, run);
    let collector = Collector { ground, evaluator: Evaluator { ground, state } };
    let mut graph = Graph::new();
    for step in &ground.steps {
        let rule = &ground.model.rules[step.rule];
        let mut blockers = Vec::new();
        let mut env = step.binding.clone();
        for guard in &ground.guards[step.rule] {
            collector.blockers(guard, &mut env, &mut Vec::new(), &mut blockers);
        }
        for effect in &rule.effects {
            let Effect::Loses(term, message) = effect else { continue };
            let object = ground.follow(step.binding[term.var], &term.path);
            let cell = ground.layout.message_cell(object, *message);
            let lacking = step.writes.iter().any(|&(written, write)| {
                written == cell && matches!(write, Write::Subtract(count) if state[cell as usize] < count)
            });
            if lacking {
                let via = collector.trail(step.binding[term.var], &term.path);
                blockers.push((object, Need::Message(*message), via));
            }
        }
        let movers: BTreeSet<(ObjectId, Trail)> = rule
            .effects
            .iter()
            .filter(|effect| matches!(effect, Effect::Becomes(..)))
            .map(|effect| {
                let (root, path) = (step.binding[effect.term().var], &effect.term().path);
                (ground.follow(root, path), collector.trail(root, path))
            })
            .collect();
        for (mover, trail) in movers {
            // By another way an object may wait for itself.
            let needs_itself = |(object, need, via): &(ObjectId, Need, Trail)| {
                *object == mover && matches!(need, Need::State(_)) && *via == trail
            };
            if blockers.iter().any(needs_itself) {
                continue;
            }
            // Of what somebody holds, another who does not hold it gives nothing back.
            let held_by = holders.get(&mover);
            if held_by.is_some_and(|by| !step.binding.iter().any(|object| by.contains(object))) {
                continue;
            }
            for (object, need, via) in &blockers {
                let wait = Wait { from: mover, to: *object, rule: step.rule, need: *need, via: via.clone() };
                graph.entry(mover).or_default().push(wait);
            }
        }
        // Who waits for a message waits for the object that would send it.
        for effect in &rule.effects {
            let Effect::Gets(term, message) = effect else { continue };
            let at = ground.follow(step.binding[term.var], &term.path);
            if state[ground.layout.message_cell(at, *message) as usize] > 0 {
                continue;
            }
            for (object, need, via) in &blockers {
                let wait = Wait { from: at, to: *object, rule: step.rule, need: *need, via: via.clone() };
                if *object != at {
                    graph.entry(at).or_default().push(wait);
                }
            }
        }
    }
    for list in graph.values_mut() {
        list.sort();
        list.dedup_by(|a, b| (a.from, a.to) == (b.from, b.to));
    }
    graph
}

/// For each object that others took from its first state: those that the last step that changed it was about.
fn holders(ground: &Ground<'_>, run: &Run) -> BTreeMap<ObjectId, Vec<ObjectId>> {
    let mut out = BTreeMap::new();
    for &step in &run.steps {
        let step = &ground.steps[step];
        for &(cell, write) in &step.writes {
            let (CellMeaning::StateOf(object), Write::Set(state)) = (ground.meaning(cell), write) else {
                continue;
            };
            let others: Vec<ObjectId> = step.binding.iter().copied().filter(|&one| one != object).collect();
            if state == ground.state_of(&ground.start, object) || others.is_empty() {
                out.remove(&object);
            } else {
                out.insert(object, others);
            }
        }
    }
    out
}

/// The shortest cycle of waits; the first one in the order of objects.
fn shortest_cycle(graph: &Graph) -> Vec<Wait> {
    // An object that waits for nothing that waits is on no cycle; remove such until none is left.
    let mut alive: BTreeSet<ObjectId> = graph.keys().copied().collect();
    let mut degree: BTreeMap<ObjectId, usize> = BTreeMap::new();
    let mut backward: BTreeMap<ObjectId, Vec<ObjectId>> = BTreeMap::new();
    for (&from, list) in graph {
        degree.insert(from, list.iter().filter(|wait| graph.contains_key(&wait.to)).count());
        for wait in list {
            backward.entry(wait.to).or_default().push(from);
        }
    }
    let mut leaves: Vec<ObjectId> =
        degree.iter().filter(|(_, count)| **count == 0).map(|(&id, _)| id).collect();
    while let Some(leaf) = leaves.pop() {
        alive.remove(&leaf);
        for &from in backward.get(&leaf).into_iter().flatten() {
            if let Some(count) = degree.get_mut(&from).filter(|count| **count > 0) {
                *count -= 1;
                if *count == 0 {
                    leaves.push(from);
                }
            }
        }
    }
    let mut best: Option<Vec<Wait>> = None;
    // A bound on the starts that are tried keeps the cost low on large instances; any cycle explains.
    for &start in alive.iter().take(64) {
        let limit = best.as_ref().map_or(usize::MAX, Vec::len);
        if let Some(cycle) = path(graph, start, |object| object == start, limit)
            && cycle.len() < limit
        {
            best = Some(cycle);
        }
    }
    best.unwrap_or_default()
}

/// From a stuck object to one that waits for nothing.
fn shortest_chain(graph: &Graph, stuck: &[ObjectId]) -> Vec<Wait> {
    stuck
        .iter()
        .take(64)
        .filter_map(|&start| path(graph, start, |object| !graph.contains_key(&object), usize::MAX))
        .min_by_key(Vec::len)
        .unwrap_or_default()
}

/// A shortest non-empty path of waits from `start` to an object that `goal` accepts.
fn path(graph: &Graph, start: ObjectId, goal: impl Fn(ObjectId) -> bool, limit: usize) -> Option<Vec<Wait>> {
    let mut came: BTreeMap<ObjectId, &Wait> = BTreeMap::new();
    let mut queue = VecDeque::from([(start, 0)]);
    while let Some((at, length)) = queue.pop_front() {
        if length >= limit {
            return None;
        }
        for wait in graph.get(&at).into_iter().flatten() {
            if goal(wait.to) {
                let mut out = vec![wait.clone()];
                let mut here = at;
                while here != start {
                    let before = came.get(&here)?;
                    out.push((*before).clone());
                    here = before.from;
                }
                out.reverse();
                return Some(out);
            }
            if wait.to != start && !came.contains_key(&wait.to) {
                came.insert(wait.to, wait);
                queue.push_back((wait.to, length + 1));
            }
        }
    }
    None
}

type Trail = Vec<(ObjectId, LinkId)>;

struct Collector<'g> {
    ground: &'g Ground<'g>,
    evaluator: Evaluator<'g>,
}

impl Collector<'_> {
    fn trail(&self, root: ObjectId, path: &[LinkId]) -> Trail {
        let mut at = root;
        path.iter()
            .map(|&link| {
                let here = (at, link);
                at = self.ground.instance.link(at, link).target;
                here
            })
            .collect()
    }

    /// The trail of a term: how its variable was found, then its own links.
    fn full_trail(&self, term: &Term, env: &[ObjectId], found: &[(usize, Trail)]) -> Trail {
        let mut out: Trail =
            found.iter().filter(|(var, _)| *var == term.var).flat_map(|(_, trail)| trail.clone()).collect();
        out.extend(self.trail(env[term.var], &term.path));
        out
    }

    /// The atoms that make a formula false: the object, what it would have to be, and the way to it.
    fn blockers(
        &self,
        formula: &Formula,
        env: &mut Vec<ObjectId>,
        found: &mut Vec<(usize, Trail)>,
        out: &mut Vec<(ObjectId, Need, Trail)>,
    ) {
        if self.evaluator.holds(formula, env) {
            return;
        }
        match formula {
            Formula::And(parts) | Formula::Or(parts) => {
                for part in parts {
                    self.blockers(part, env, found, out);
                }
            }
            Formula::InStates(term, set) => {
                let object = self.ground.follow(env[term.var], &term.path);
                out.push((object, Need::State(*set), self.full_trail(term, env, found)));
            }
            Formula::Has(term, message) | Formula::HasSeveral(term, message) => {
                let object = self.ground.follow(env[term.var], &term.path);
                out.push((object, Need::Message(*message), self.full_trail(term, env, found)));
            }
            Formula::Not(inner) => {
                if let Formula::Has(term, message) | Formula::HasSeveral(term, message) = &**inner {
                    let object = self.ground.follow(env[term.var], &term.path);
                    out.push((object, Need::NoMessage(*message), self.full_trail(term, env, found)));
                }
            }
            Formula::All { bound, filter, body } | Formula::Some { bound, filter, body } => {
                let quantifier = Quantifier { bound, equations: quantifiers(filter) };
                let before = env.len();
                let candidates = self.ground.quantified(&quantifier, env);
                let by = Ground::quantifier_trail(bound.var, filter);
                env.resize(bound.var.max(before), ObjectId(0));
                for candidate in candidates {
                    env.truncate(bound.var);
                    env.push(candidate);
                    if !self.evaluator.holds(filter, env) {
                        continue;
                    }
                    let mut trail = Trail::new();
                    if let Some((mine, other)) = by {
                        trail = self.full_trail(other, env, found);
                        trail.extend(self.trail(candidate, &mine.path));
                    }
                    found.push((bound.var, trail));
                    self.blockers(body, env, found, out);
                    found.pop();
                }
                env.truncate(before);
            }
            Formula::Constant(_)
            | Formula::OfTypes(..)
            | Formula::SameType(..)
            | Formula::Equal(..)
            | Formula::Before(..) => {}
        }
    }
}
