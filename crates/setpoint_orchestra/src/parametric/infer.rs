//! Invariants without help: sets of views that no rule leads out of.

use std::collections::BTreeSet;

use setpoint_solver::{Lit, Outcome};

use super::question::{BEFORE, Depth, Moment, Named, Question};
use super::view::{Cube, View, Viewpoint};
use crate::model::{Formula, Model, ModelRule, NameSet, Term};

/// A viewpoint with more views than this is left out.
const MAX_VIEWS: usize = 1500;

/// New views that one question is asked for before the next round begins.
const MAX_FOUND: usize = 48;

/// Viewpoints, the views that their invariants allow, and the invariants as formulas.
#[derive(Debug)]
pub(super) struct Inferred {
    pub(super) viewpoints: Vec<Viewpoint>,
    pub(super) views: Vec<BTreeSet<View>>,
    pub(super) cubes: Vec<Vec<Cube>>,
    pub(super) formulas: Vec<Formula>,
    /// Invariants with a witness that are kept so far; they are among the formulas.
    witnesses: Vec<Formula>,
    /// Every question of the last round had the answer that the invariants need.
    pub(super) inductive: bool,
}

/// The least sets of views that hold at the start, that no rule leads out of, and that have the given ones; together with
/// those of the candidates that hold at the start and that no rule breaks.
pub(super) fn infer(
    model: &Model,
    viewpoints: Vec<Viewpoint>,
    views: Vec<BTreeSet<View>>,
    candidates: &[Formula],
) -> Inferred {
    let cubes = viewpoints.iter().map(|_| Vec::new()).collect();
    let witnesses = candidates.iter().filter(|one| follows_from_start(model, one)).cloned().collect();
    let mut inferred =
        Inferred { viewpoints, views, cubes, formulas: Vec::new(), witnesses, inductive: false };
    let mut changed: Vec<bool> = inferred.viewpoints.iter().map(|_| true).collect();
    loop {
        inferred.split_large(model, &mut changed);
        for (at, changed) in changed.iter_mut().enumerate() {
            if std::mem::take(changed) {
                inferred.cubes[at] = inferred.viewpoints[at].clauses(model, &inferred.views[at]);
            }
        }
        inferred.formulas = inferred.all_formulas(model);
        // What the views of this round do not keep, those of a later one, which are more, do not keep either.
        while inferred.drop_broken(model) {
            inferred.formulas = inferred.all_formulas(model);
        }
        let mut given_up = false;
        for (at, changed) in changed.iter_mut().enumerate() {
            for question in inferred.questions(model, at) {
                match question.new_views(&inferred.viewpoints[at], &inferred.cubes[at]) {
                    Some(found) => {
                        for view in found {
                            *changed |= inferred.views[at].insert(view);
                        }
                    }
                    None => given_up = true,
                }
            }
        }
        if !changed.contains(&true) {
            inferred.inductive = !given_up;
            return inferred;
        }
        if given_up {
            return inferred;
        }
    }
}

impl Inferred {
    /// A viewpoint with too many views costs more than it helps: in its place come those that look at two of its
    /// objects each, or none if it looks at two already.
    fn split_large(&mut self, model: &Model, changed: &mut Vec<bool>) {
        let mut at = 0;
        while at < self.viewpoints.len() {
            let limit = if self.viewpoints[at].roots.len() > 1 { MAX_VIEWS / 8 } else { MAX_VIEWS };
            if self.views[at].len() <= limit {
                at += 1;
                continue;
            }
            let large = self.viewpoints.remove(at);
            self.views.remove(at);
            self.cubes.remove(at);
            changed.remove(at);
            if large.terms.len() > 2 && large.roots.len() == 1 {
                for smaller in large.split(model) {
                    self.viewpoints.push(smaller);
                    self.views.push(BTreeSet::new());
                    self.cubes.push(Vec::new());
                    changed.push(true);
                }
            }
        }
    }

    /// Drops the candidates that some rule does not keep. Whatever is dropped was assumed for the others, so that they are
    /// to be asked again.
    fn drop_broken(&mut self, model: &Model) -> bool {
        let kept: Vec<Formula> = self
            .witnesses
            .iter()
            .filter(|one| {
                model
                    .rules
                    .iter()
                    .filter(|rule| touches(rule, one))
                    .all(|rule| preserved(model, rule, &self.formulas, one))
            })
            .cloned()
            .collect();
        let dropped = kept.len() < self.witnesses.len();
        self.witnesses = kept;
        dropped
    }

    fn all_formulas(&self, model: &Model) -> Vec<Formula> {
        let mut out: Vec<Formula> = Vec::new();
        for (viewpoint, cubes) in self.viewpoints.iter().zip(&self.cubes) {
            out.extend(cubes.iter().map(|cube| viewpoint.invariant(model, cube)));
        }
        out.extend(self.witnesses.iter().cloned());
        out
    }

    /// The start, and every rule that can change what is seen.
    fn questions<'m>(&self, model: &'m Model, at: usize) -> Vec<ViewQuestion<'m>> {
        let viewpoint = &self.viewpoints[at];
        let mut out = vec![ViewQuestion::at_start(model, viewpoint)];
        for rule in model.rules.iter().filter(|rule| viewpoint.is_touched_by(rule)) {
            out.push(ViewQuestion::after_rule(model, viewpoint, rule, &self.formulas));
        }
        out
    }
}

/// Which views are seen at a moment, beyond the known ones?
struct ViewQuestion<'m> {
    question: Question<'m>,
    roots: Vec<Named>,
    moment: Moment,
}

impl<'m> ViewQuestion<'m> {
    fn at_start(model: &'m Model, viewpoint: &Viewpoint) -> Self {
        let mut question = Question::new(model, Depth::generations(1));
        let roots = viewpoint.roots.iter().map(|&class| question.object(class)).collect();
        assert_start(&mut question);
        Self { question, roots, moment: BEFORE }
    }

    fn after_rule(model: &'m Model, viewpoint: &Viewpoint, rule: &ModelRule, invariants: &[Formula]) -> Self {
        let mut question = Question::new(model, Depth::generations(1));
        let roots = viewpoint.roots.iter().map(|&class| question.object(class)).collect();
        for invariant in invariants {
            question.assert(invariant, &[], BEFORE, true);
        }
        let parameters = question.parameters(rule);
        let moment = question.fire(rule, &parameters, BEFORE);
        Self { question, roots, moment }
    }

    /// Views in one of the forbidden cubes that can be seen; none is a proof that there are none. `None` if the
    /// solver gave up.
    fn new_views(mut self, viewpoint: &Viewpoint, cubes: &[Cube]) -> Option<Vec<View>> {
        let literals = viewpoint.literals(&mut self.question, &self.roots, self.moment);
        let forbidden: Vec<Lit> = cubes
            .iter()
            .map(|cube| {
                let outside = viewpoint.outside(cube, &literals);
                !self.question.circuit.or(&outside)
            })
            .collect();
        self.question.circuit.assert(&forbidden);
        self.question.work_out();
        if self.moment == BEFORE {
            self.question.no_messages();
        }
        let mut found = Vec::new();
        loop {
            match self.question.circuit.solve(&[]) {
                Outcome::Unsat => return Some(found),
                Outcome::Unknown => return None,
                Outcome::Sat => {
                    let view = Viewpoint::read(&self.question, &literals);
                    let differs: Vec<Lit> =
                        view.iter().zip(&literals).map(|(&value, lits)| !lits[value as usize]).collect();
                    self.question.circuit.assert(&differs);
                    found.push(view);
                    if found.len() >= MAX_FOUND {
                        return Some(found);
                    }
                }
            }
        }
    }
}

/// `init` holds. The caller says that no message waits once all objects are named.
pub(super) fn assert_start(question: &mut Question<'_>) {
    let model = question.model;
    for claim in &model.init {
        question.assert(&claim.formula, &[], BEFORE, true);
    }
}

/// The invariants that follow from others at every moment, and of the rest those that are inductive with them.
pub(super) fn prove_stated(model: &Model, inferred: &[Formula], stated: &[Formula]) -> Vec<bool> {
    let mut proved: Vec<bool> = stated.iter().map(|formula| follows(model, inferred, formula)).collect();
    let mut candidate: Vec<bool> = stated
        .iter()
        .zip(&proved)
        .map(|(formula, &known)| !known && follows_from_start(model, formula))
        .collect();
    // Houdini: assume all candidates before a step, drop those that do not hold after it, until none is dropped.
    loop {
        let assumed: Vec<Formula> = inferred
            .iter()
            .chain(stated.iter().zip(&candidate).filter(|(_, kept)| **kept).map(|(formula, _)| formula))
            .cloned()
            .collect();
        let dropped: Vec<usize> = (0..stated.len())
            .filter(|&at| candidate[at])
            .filter(|&at| !model.rules.iter().all(|rule| preserved(model, rule, &assumed, &stated[at])))
            .collect();
        if dropped.is_empty() {
            break;
        }
        for at in dropped {
            candidate[at] = false;
        }
    }
    for (known, kept) in proved.iter_mut().zip(candidate) {
        *known |= kept;
    }
    proved
}

/// Whether invariants imply a formula in every state of every instance. `false` may mean that it was too hard to see.
pub fn follows(model: &Model, invariants: &[Formula], formula: &Formula) -> bool {
    (1..=2).any(|generation| {
        let mut question = Question::new(model, Depth::generations(generation));
        for invariant in invariants {
            question.assert(invariant, &[], BEFORE, true);
        }
        question.assert(formula, &[], BEFORE, false);
        question.ask(&[]).is_unsat()
    })
}

/// Whether a rule, whenever it applies, moves an object of some types. `false` may mean that it was too hard to see.
pub(crate) fn moves_only(model: &Model, rule: &ModelRule, moved: &Term, types: NameSet) -> bool {
    let mut question = Question::new(model, Depth::generations(1));
    let parameters = question.parameters(rule);
    question.fire(rule, &parameters, BEFORE);
    question.assert(&Formula::OfTypes(moved.clone(), types), &parameters, BEFORE, false);
    question.ask(&[]).is_unsat()
}

/// Whether a rule can change what a formula speaks of.
fn touches(rule: &ModelRule, formula: &Formula) -> bool {
    let mut found = false;
    formula.terms(&mut |term| found |= rule.effects.iter().any(|effect| effect.term().class == term.class));
    found
}

pub(super) fn follows_from_start(model: &Model, formula: &Formula) -> bool {
    let mut question = Question::new(model, Depth::generations(1));
    assert_start(&mut question);
    question.assert(formula, &[], BEFORE, false);
    question.work_out();
    question.no_messages();
    question.circuit.solve(&[]).is_unsat()
}

fn preserved(model: &Model, rule: &ModelRule, assumed: &[Formula], formula: &Formula) -> bool {
    let mut question = Question::new(model, Depth::generations(1));
    for invariant in assumed {
        question.assert(invariant, &[], BEFORE, true);
    }
    let parameters = question.parameters(rule);
    let after = question.fire(rule, &parameters, BEFORE);
    question.assert(formula, &[], after, false);
    question.ask(&[]).is_unsat()
}
