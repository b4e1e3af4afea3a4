//! Formulas over a concrete state: truth, and for a false formula the cells that must change.

use super::ground::{Cell, Ground, Layout};
use crate::instance::ObjectId;
use crate::model::{Bound, Formula, MessageId, NameSet, Term};

/// Negations pushed to the atoms, so that only `Equal`, `SameType`, `OfTypes` and `Has` are ever negated.
pub(super) fn compile(formula: &Formula) -> Formula {
    signed(formula, true)
}

fn signed(formula: &Formula, positive: bool) -> Formula {
    match formula {
        Formula::Constant(value) => Formula::Constant(*value == positive),
        Formula::Not(inner) => signed(inner, !positive),
        Formula::And(parts) | Formula::Or(parts) => {
            let conjunction = matches!(formula, Formula::And(_)) == positive;
            let parts = parts.iter().map(|part| signed(part, positive)).collect();
            if conjunction { Formula::And(parts) } else { Formula::Or(parts) }
        }
        Formula::All { bound, filter, body } | Formula::Some { bound, filter, body } => {
            let all = matches!(formula, Formula::All { .. }) == positive;
            let (bound, filter) = (bound.clone(), Box::new(signed(filter, true)));
            let body = Box::new(signed(body, positive));
            if all { Formula::All { bound, filter, body } } else { Formula::Some { bound, filter, body } }
        }
        Formula::InStates(term, set) if !positive => Formula::InStates(term.clone(), NameSet(!set.0)),
        atom if positive => atom.clone(),
        atom => Formula::Not(Box::new(atom.clone())),
    }
}

pub(super) struct Quantifier<'f> {
    pub(super) bound: &'f Bound,
    pub(super) equations: Vec<&'f Formula>,
}

/// The equations among the conjuncts of a filter.
pub(super) fn quantifiers(filter: &Formula) -> Vec<&Formula> {
    match filter {
        Formula::And(parts) => parts.iter().flat_map(quantifiers).collect(),
        Formula::Equal(..) => vec![filter],
        _ => Vec::new(),
    }
}

pub(super) struct Evaluator<'g> {
    pub(super) ground: &'g Ground<'g>,
    pub(super) state: &'g [u8],
}

impl Evaluator<'_> {
    fn object(&self, term: &Term, env: &[ObjectId]) -> ObjectId {
        self.ground.follow(env[term.var], &term.path)
    }

    /// `env` has a value for every free variable; variables are numbered in the order of their binders, so that
    /// a quantifier's variable is put at its number, and what stands between is not used.
    pub(super) fn holds(&self, formula: &Formula, env: &mut Vec<ObjectId>) -> bool {
        match formula {
            Formula::Constant(value) => *value,
            Formula::Not(inner) => !self.holds(inner, env),
            Formula::And(parts) => parts.iter().all(|part| self.holds(part, env)),
            Formula::Or(parts) => parts.iter().any(|part| self.holds(part, env)),
            Formula::All { bound, filter, body } => {
                self.each(bound, filter, env, |this, env| !this.holds(filter, env) || this.holds(body, env))
            }
            Formula::Some { bound, filter, body } => !self
                .each(bound, filter, env, |this, env| !(this.holds(filter, env) && this.holds(body, env))),
            Formula::InStates(term, set) => {
                let object = self.object(term, env);
                set.contains(self.state[Layout::state_cell(object) as usize])
            }
            Formula::OfTypes(term, set) => {
                let object = self.object(term, env);
                self.ground.instance.object(object).kind.is_some_and(|kind| set.contains(kind))
            }
            Formula::SameType(left, right) => {
                self.type_name(self.object(left, env)) == self.type_name(self.object(right, env))
            }
            Formula::Equal(left, right) => self.object(left, env) == self.object(right, env),
            Formula::Before(left, right) => self.object(left, env) < self.object(right, env),
            Formula::Has(term, message) => self.waiting(term, *message, env) > 0,
            Formula::HasSeveral(term, message) => self.waiting(term, *message, env) > 1,
        }
    }

    fn waiting(&self, term: &Term, message: MessageId, env: &[ObjectId]) -> u8 {
        self.state[self.ground.layout.message_cell(self.object(term, env), message) as usize]
    }

    fn type_name(&self, object: ObjectId) -> Option<setpoint_source::Symbol> {
        let object = self.ground.instance.object(object);
        let class = self.ground.model.class(object.class);
        object.kind.and_then(|kind| class.types.get(kind as usize).copied())
    }

    /// Whether `test` holds for every object that the quantifier can mean.
    fn each(
        &self,
        bound: &Bound,
        filter: &Formula,
        env: &mut Vec<ObjectId>,
        test: impl Fn(&Self, &mut Vec<ObjectId>) -> bool,
    ) -> bool {
        let before = env.len();
        let quantifier = Quantifier { bound, equations: quantifiers(filter) };
        let candidates = self.ground.quantified(&quantifier, &env[..before.min(bound.var)]);
        env.resize(env.len().max(bound.var), ObjectId(0));
        let result = candidates.into_iter().all(|candidate| {
            env.truncate(bound.var);
            env.push(candidate);
            test(self, env)
        });
        env.truncate(before);
        result
    }

    /// For a false formula: cells of which at least one must change before it can be true. One witness for a
    /// conjunction, one of each part for a disjunction.
    pub(super) fn witnesses(&self, formula: &Formula, env: &mut Vec<ObjectId>, out: &mut Vec<Cell>) {
        match formula {
            Formula::And(parts) => {
                if let Some(part) = parts.iter().find(|part| !self.holds(part, env)) {
                    self.witnesses(part, env, out);
                }
            }
            Formula::Or(parts) => parts.iter().for_each(|part| self.witnesses(part, env, out)),
            Formula::Not(inner) => {
                if let Formula::Has(term, message) | Formula::HasSeveral(term, message) = &**inner {
                    out.push(self.ground.layout.message_cell(self.object(term, env), *message));
                }
            }
            Formula::InStates(term, _) => out.push(Layout::state_cell(self.object(term, env))),
            Formula::Has(term, message) | Formula::HasSeveral(term, message) => {
                out.push(self.ground.layout.message_cell(self.object(term, env), *message));
            }
            Formula::All { bound, filter, body } => {
                let stuck = std::cell::RefCell::new(Vec::new());
                self.each(bound, filter, env, |this, env| {
                    if !this.holds(filter, env) || this.holds(body, env) {
                        return true;
                    }
                    let mut cells = stuck.borrow_mut();
                    this.witnesses(body, env, &mut cells);
                    // A filter that speaks of states may change as well.
                    if !filter.is_static() {
                        this.cells(filter, env, &mut cells);
                    }
                    false
                });
                out.append(&mut stuck.into_inner());
            }
            Formula::Some { bound, filter, body } => {
                let stuck = std::cell::RefCell::new(Vec::new());
                self.each(bound, filter, env, |this, env| {
                    let mut cells = stuck.borrow_mut();
                    if this.holds(filter, env) {
                        this.witnesses(body, env, &mut cells);
                    } else if !filter.is_static() {
                        this.cells(filter, env, &mut cells);
                    }
                    true
                });
                out.append(&mut stuck.into_inner());
            }
            Formula::Constant(_)
            | Formula::OfTypes(..)
            | Formula::SameType(..)
            | Formula::Equal(..)
            | Formula::Before(..) => {}
        }
    }

    /// Every cell that the formula reads, whatever their values.
    pub(super) fn cells(&self, formula: &Formula, env: &mut Vec<ObjectId>, out: &mut Vec<Cell>) {
        match formula {
            Formula::And(parts) | Formula::Or(parts) => {
                for part in parts {
                    self.cells(part, env, out);
                }
            }
            Formula::Not(inner) => self.cells(inner, env, out),
            Formula::InStates(term, _) => out.push(Layout::state_cell(self.object(term, env))),
            Formula::Has(term, message) | Formula::HasSeveral(term, message) => {
                out.push(self.ground.layout.message_cell(self.object(term, env), *message));
            }
            Formula::All { bound, filter, body } | Formula::Some { bound, filter, body } => {
                let read = std::cell::RefCell::new(Vec::new());
                self.each(bound, filter, env, |this, env| {
                    let mut cells = read.borrow_mut();
                    this.cells(filter, env, &mut cells);
                    if !filter.is_static() || this.holds(filter, env) {
                        this.cells(body, env, &mut cells);
                    }
                    true
                });
                out.append(&mut read.into_inner());
            }
            Formula::Constant(_)
            | Formula::OfTypes(..)
            | Formula::SameType(..)
            | Formula::Equal(..)
            | Formula::Before(..) => {}
        }
    }
}
