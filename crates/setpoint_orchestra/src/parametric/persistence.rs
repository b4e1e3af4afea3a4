//! Whether the order of steps matters: for any two steps that are enabled together, in all states that the
//! invariants allow, either still applies after the other and both orders lead to the same state.
//!
//! Links never change and effects are constants, so two steps commute unless they write different states into one
//! object; messages are counted, so getting and losing them commute.

use super::question::{BEFORE, Depth, Moment, Named, Question, enabling};
use crate::model::{ClassId, Effect, Formula, Model, ModelRule};

/// Two rules, the first of which was not shown to leave the second alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interference {
    /// The rules by their places in the model.
    pub fired: usize,
    pub disturbed: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Persistence {
    /// Pairs of rules that were looked at.
    pub pairs: usize,
    /// Pairs where one may disable the other.
    pub disabling: Vec<Interference>,
    /// Pairs that may write different states into one object.
    pub conflicting: Vec<Interference>,
}

impl Persistence {
    pub fn holds(&self) -> bool {
        self.disabling.is_empty() && self.conflicting.is_empty()
    }
}

pub(super) fn persistence(model: &Model, invariants: &[Formula]) -> Persistence {
    let mut out = Persistence { pairs: model.rules.len() * model.rules.len(), ..Persistence::default() };
    for (fired, one) in model.rules.iter().enumerate() {
        for (disturbed, other) in model.rules.iter().enumerate() {
            let pair = Interference { fired, disturbed };
            if may_disable(one, other) && !stays_enabled(model, invariants, one, other) {
                out.disabling.push(pair);
            }
            if fired <= disturbed
                && may_conflict(one, other)
                && !never_conflict(model, invariants, one, other)
            {
                out.conflicting.push(pair);
            }
        }
    }
    out
}

/// After the first rule, the second still applies to its objects, or both have the same effects.
fn stays_enabled(model: &Model, invariants: &[Formula], one: &ModelRule, other: &ModelRule) -> bool {
    let mut question = Question::new(model, Depth::generations(1));
    let (mine, theirs, after) = both(&mut question, invariants, one, other);
    let disabled = question.imply(&enabling(other), &theirs, after, false);
    let different = different_effects(&mut question, one, &mine, other, &theirs);
    question.circuit.assert(&[disabled]);
    question.circuit.assert(&[different]);
    question.ask(&[]).is_unsat()
}

/// Two rules that are enabled together never give different states to one object.
fn never_conflict(model: &Model, invariants: &[Formula], one: &ModelRule, other: &ModelRule) -> bool {
    let mut question = Question::new(model, Depth::generations(1));
    let (mine, theirs, _) = both(&mut question, invariants, one, other);
    let mut clashes = Vec::new();
    for effect in &one.effects {
        for rival in &other.effects {
            if let (Effect::Becomes(left, a), Effect::Becomes(right, b)) = (effect, rival)
                && left.class == right.class
                && a != b
            {
                let (left, right) = (question.term(left, &mine), question.term(right, &theirs));
                clashes.push(question.same(left, right));
            }
        }
    }
    question.circuit.assert(&clashes);
    question.ask(&[]).is_unsat()
}

/// Both rules apply to some objects each, which may be the same ones; and the moment after the first.
fn both(
    question: &mut Question<'_>,
    invariants: &[Formula],
    one: &ModelRule,
    other: &ModelRule,
) -> (Vec<Named>, Vec<Named>, Moment) {
    for invariant in invariants {
        question.assert(invariant, &[], BEFORE, true);
    }
    let (mine, theirs) = (question.parameters(one), question.parameters(other));
    question.fire(other, &theirs, BEFORE);
    let after = question.fire(one, &mine, BEFORE);
    (mine, theirs, after)
}

/// A literal that is true unless the two do exactly the same. Two different rules, or rules with messages, are taken
/// to differ; one rule does the same to the same objects.
fn different_effects(
    question: &mut Question<'_>,
    one: &ModelRule,
    mine: &[Named],
    other: &ModelRule,
    theirs: &[Named],
) -> setpoint_solver::Lit {
    if one.name == other.name {
        // The same objects are one and the same step. Without messages, the same targets are the same effects.
        let silent = one.effects.iter().all(|effect| matches!(effect, Effect::Becomes(..)));
        let mut differences = Vec::new();
        if silent {
            for effect in &one.effects {
                let (left, right) =
                    (question.term(effect.term(), mine), question.term(effect.term(), theirs));
                differences.push(!question.same(left, right));
            }
        } else {
            for (&left, &right) in mine.iter().zip(theirs) {
                differences.push(!question.same(left, right));
            }
        }
        return question.circuit.or(&differences);
    }
    question.circuit.constant(true)
}

fn may_conflict(one: &ModelRule, other: &ModelRule) -> bool {
    one.effects.iter().any(|effect| {
        other.effects.iter().any(|rival| match (effect, rival) {
            (Effect::Becomes(left, a), Effect::Becomes(right, b)) => left.class == right.class && a != b,
            _ => false,
        })
    })
}

/// Whether an effect of one rule can make a condition of the other false, judged by classes and states alone.
fn may_disable(one: &ModelRule, other: &ModelRule) -> bool {
    let condition = enabling(other);
    one.effects.iter().any(|effect| can_falsify(effect, &condition, true))
}

fn can_falsify(effect: &Effect, formula: &Formula, positive: bool) -> bool {
    let touches = |class: ClassId| effect.term().class == class;
    match formula {
        Formula::Constant(_)
        | Formula::OfTypes(..)
        | Formula::SameType(..)
        | Formula::Equal(..)
        | Formula::Before(..) => false,
        Formula::Not(inner) => can_falsify(effect, inner, !positive),
        Formula::And(parts) | Formula::Or(parts) => {
            parts.iter().any(|part| can_falsify(effect, part, positive))
        }
        Formula::All { filter, body, .. } => {
            can_falsify(effect, filter, !positive) || can_falsify(effect, body, positive)
        }
        Formula::Some { filter, body, .. } => {
            can_falsify(effect, filter, positive) || can_falsify(effect, body, positive)
        }
        Formula::InStates(term, set) => match effect {
            Effect::Becomes(_, state) => touches(term.class) && set.contains(*state) != positive,
            Effect::Gets(..) | Effect::Loses(..) => false,
        },
        Formula::Has(term, message) | Formula::HasSeveral(term, message) => match effect {
            Effect::Gets(_, sent) => touches(term.class) && sent == message && !positive,
            Effect::Loses(_, lost) => touches(term.class) && lost == message && positive,
            Effect::Becomes(..) => false,
        },
    }
}
