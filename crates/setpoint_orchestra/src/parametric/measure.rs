//! A number that gets smaller with every step: weights of states and messages, one sum or several in order.

use std::collections::{BTreeMap, BTreeSet};

use setpoint_solver::{Lit, Outcome};

use super::question::{BEFORE, Depth, Question};
use super::simplex::maximise;
use crate::model::{ClassId, Effect, Formula, MessageId, Model, ModelRule, StateId};

/// What is counted: objects of a class in a state, or messages at objects of a class.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Counted {
    State(ClassId, StateId),
    Message(ClassId, MessageId),
}

/// A weighted sum of counts, all weights positive; what is not named weighs nothing.
pub type Sum = BTreeMap<Counted, u64>;

/// Sums of which, with every step, the first that changes gets smaller.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Measure {
    pub sums: Vec<Sum>,
    /// It decreases with every step from a state that is not final; from a final one steps may go on for ever.
    pub until_final: bool,
}

/// How the counts change with one way in which a rule can apply.
type Move = BTreeMap<Counted, i64>;

/// A measure that decreases with every rule in all states that the invariants allow. `None` if there is none of
/// this shape, or a question was too hard.
pub(super) fn measure(model: &Model, invariants: &[Formula]) -> Option<Measure> {
    let everywhere = measure_of(model, invariants, false);
    everywhere.or_else(|| measure_of(model, invariants, true).map(|one| Measure { until_final: true, ..one }))
}

fn measure_of(model: &Model, invariants: &[Formula], until_final: bool) -> Option<Measure> {
    let mut moves: BTreeSet<Vec<(Counted, i64)>> = BTreeSet::new();
    for rule in &model.rules {
        for one in rule_moves(model, invariants, rule, until_final)? {
            moves.insert(one.into_iter().collect());
        }
    }
    let moves: Vec<Move> = moves.into_iter().map(|one| one.into_iter().collect()).collect();
    by_declared_order(model, &moves).or_else(|| lexicographic(moves))
}

/// All ways in which the rule can change the counts: the states that its objects can be in, and which are the same.
fn rule_moves(
    model: &Model,
    invariants: &[Formula],
    rule: &ModelRule,
    until_final: bool,
) -> Option<Vec<Move>> {
    let mut question = Question::new(model, Depth::generations(1));
    for invariant in invariants {
        question.assert(invariant, &[], BEFORE, true);
    }
    if until_final {
        question.assert(&model.final_formula(), &[], BEFORE, false);
    }
    let parameters = question.parameters(rule);
    question.fire(rule, &parameters, BEFORE);
    let targets: Vec<(ClassId, StateId, super::question::Named)> = rule
        .effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::Becomes(term, state) => Some((term.class, *state, question.term(term, &parameters))),
            Effect::Gets(..) | Effect::Loses(..) => None,
        })
        .collect();
    question.work_out();
    let mut literals: Vec<Vec<Lit>> = Vec::new();
    for (at, &(class, _, target)) in targets.iter().enumerate() {
        let states = model.class(class).states.len() as StateId;
        literals.push((0..states).map(|state| question.is_state(target, state, BEFORE)).collect());
        for &(other_class, _, other) in &targets[..at] {
            if class == other_class {
                let same = question.same(target, other);
                literals.push(vec![!same, same]);
            }
        }
    }
    let mut moves = Vec::new();
    loop {
        match question.circuit.solve(&[]) {
            Outcome::Unsat => return Some(moves),
            Outcome::Unknown => return None,
            Outcome::Sat => {}
        }
        let values: Vec<usize> = literals
            .iter()
            .map(|lits| lits.iter().position(|&lit| question.circuit.is_true(lit)).unwrap_or(0))
            .collect();
        let differs: Vec<Lit> = values.iter().zip(&literals).map(|(&value, lits)| !lits[value]).collect();
        let mut change = Move::new();
        let mut value = values.iter();
        for (at, &(class, new, _)) in targets.iter().enumerate() {
            let old = *value.next()? as StateId;
            let mut repeated = false;
            for (other_class, ..) in &targets[..at] {
                if class == *other_class {
                    repeated |= *value.next()? == 1;
                }
            }
            if !repeated && old != new {
                *change.entry(Counted::State(class, old)).or_default() -= 1;
                *change.entry(Counted::State(class, new)).or_default() += 1;
            }
        }
        for effect in &rule.effects {
            match effect {
                Effect::Gets(term, message) => {
                    *change.entry(Counted::Message(term.class, *message)).or_default() += 1;
                }
                Effect::Loses(term, message) => {
                    *change.entry(Counted::Message(term.class, *message)).or_default() -= 1;
                }
                Effect::Becomes(..) => {}
            }
        }
        change.retain(|_, count| *count != 0);
        moves.push(change);
        if differs.is_empty() {
            return Some(moves);
        }
        question.circuit.assert(&differs);
        if moves.len() > 4096 {
            return None;
        }
    }
}

/// The usual measure: each state weighs as many as there are states after it.
fn by_declared_order(model: &Model, moves: &[Move]) -> Option<Measure> {
    let mut sum = Sum::new();
    for class in model.class_ids() {
        let count = model.class(class).states.len();
        for state in 0..count.saturating_sub(1) {
            sum.insert(Counted::State(class, state as StateId), (count - 1 - state) as u64);
        }
    }
    let weight = |counted: &Counted| sum.get(counted).copied().unwrap_or(0) as i64;
    let decreases =
        moves.iter().all(|one| one.iter().map(|(counted, count)| weight(counted) * count).sum::<i64>() < 0);
    decreases.then(|| Measure { sums: vec![sum], until_final: false })
}

/// Sums one after another: each gets larger with no move that is left, and smaller with some, which are then done.
fn lexicographic(mut moves: Vec<Move>) -> Option<Measure> {
    let mut measure = Measure::default();
    while !moves.is_empty() {
        let counted: Vec<Counted> =
            moves.iter().flat_map(|one| one.keys().copied()).collect::<BTreeSet<_>>().into_iter().collect();
        // Variables: a weight of each count, then a gain between 0 and 1 of each move; the sum of gains is maximised.
        let width = counted.len() + moves.len();
        let mut rows = Vec::new();
        for (at, one) in moves.iter().enumerate() {
            let mut row = vec![0; width];
            for (column, key) in counted.iter().enumerate() {
                row[column] = one.get(key).copied().unwrap_or(0);
            }
            row[counted.len() + at] = 1;
            rows.push((row, 0));
            let mut bound = vec![0; width];
            bound[counted.len() + at] = 1;
            rows.push((bound, 1));
        }
        let mut goal = vec![0; counted.len()];
        goal.extend(vec![1; moves.len()]);
        let solution = maximise(&goal, &rows)?;
        let sum: Sum = counted
            .iter()
            .zip(&solution)
            .filter(|(_, weight)| **weight > 0)
            .map(|(key, weight)| (*key, *weight))
            .collect();
        let weight = |key: &Counted| sum.get(key).copied().unwrap_or(0) as i64;
        let before = moves.len();
        let mut sound = true;
        moves.retain(|one| {
            let change: i64 = one.iter().map(|(key, count)| weight(key) * count).sum();
            sound &= change <= 0;
            change == 0
        });
        if !sound || moves.len() == before {
            return None;
        }
        measure.sums.push(sum);
    }
    Some(measure)
}
