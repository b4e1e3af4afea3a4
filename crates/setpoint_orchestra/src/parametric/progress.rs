//! Progress: where the invariants hold and the state is not final, some rule applies.
//!
//! Where objects wait for each other the proof needs that they do not wait in a circle. The cyclic dependency lemma
//! gives it: of the objects of a class in certain states, if there are any, one has no edge of an acyclic relation
//! to another of them. Each use names its set of states and one relation; relations that are acyclic apart are never
//! put together.

use setpoint_solver::{Lit, Outcome};

use super::infer::assert_start;
use super::question::{BEFORE, Depth, Moment, Named, Question, never_applies};
use super::view::relevant_types;
use crate::model::{Bound, ClassId, Effect, Formula, Model, ModelRule, NameSet, Term, TypeId};

/// One use of the lemma: the objects of `class` in `states`, and the edges of one relation that are used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Minimal {
    pub class: ClassId,
    pub states: NameSet,
    pub relation: usize,
    /// The converse of the relation is used: it has a cycle if and only if the relation has one.
    pub reversed: bool,
    /// Edges of the relation, each restricted to a type of the object that makes it, if types matter there.
    pub edges: Vec<(usize, Option<TypeId>)>,
}

/// What a proof of progress rests on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Grounds {
    pub(super) minimal: Vec<Minimal>,
}

/// At which states progress is asked for.
#[derive(Clone, Copy)]
pub(super) enum Where<'a> {
    /// Wherever the invariants hold.
    Invariant,
    /// At the start.
    Start,
    /// After one step of a rule.
    After(&'a ModelRule),
}

/// How many generations of witnesses there are, and how many sets of states have a minimal element.
pub(super) type Try = (u32, usize);

/// Until it is proved, or is too hard.
pub(super) const THOROUGH: [Try; 4] = [(1, 0), (1, 1), (2, 1), (2, 2)];

/// Where a counterexample is known already, and the conditions that it does not refute are still of interest.
pub(super) const BRIEF: [Try; 1] = [(1, 0)];

/// Proves that at these states some rule applies, or that they are final. If `or_final` is false, a final state needs
/// a next one as well. Returns what the proof rests on.
pub(super) fn progress(
    model: &Model,
    invariants: &[Formula],
    place: Where<'_>,
    or_final: bool,
    tries: &[Try],
) -> Option<Grounds> {
    for &(generation, stage) in tries {
        let mut attempt = Attempt::new(model, invariants, place, or_final, generation, stage);
        if let Some(grounds) = attempt.prove() {
            return Some(grounds);
        }
    }
    None
}

struct Attempt<'m> {
    question: Question<'m>,
    place_is_start: bool,
    uses: Vec<(Lit, Minimal)>,
    least: Vec<(Named, ClassId, NameSet)>,
    moment: Moment,
}

impl<'m> Attempt<'m> {
    fn new(
        model: &'m Model,
        invariants: &[Formula],
        place: Where<'_>,
        or_final: bool,
        generation: u32,
        stage: usize,
    ) -> Self {
        let mut question = Question::new(model, Depth::generations(generation));
        let mut moment = BEFORE;
        match place {
            Where::Start => assert_start(&mut question),
            Where::Invariant => {
                for invariant in invariants {
                    question.assert(invariant, &[], BEFORE, true);
                }
            }
            Where::After(rule) => {
                for invariant in invariants {
                    question.assert(invariant, &[], BEFORE, true);
                }
                question.assert(&model.final_formula(), &[], BEFORE, false);
                let parameters = question.parameters(rule);
                moment = question.fire(rule, &parameters, BEFORE);
                for invariant in invariants {
                    question.assert(invariant, &[], moment, true);
                }
            }
        }
        if or_final {
            question.assert(&model.final_formula(), &[], moment, false);
        }
        for rule in &model.rules {
            question.assert(&never_applies(rule), &[], moment, true);
        }
        let place_is_start = matches!(place, Where::Start);
        let mut attempt = Self { question, place_is_start, uses: Vec::new(), least: Vec::new(), moment };
        attempt.add_minimal_elements(stage);
        attempt
    }

    fn add_minimal_elements(&mut self, stage: usize) {
        let model = self.question.model;
        let relevant = relevant_types(model);
        for (relation, acyclic) in model.acyclic.iter().enumerate() {
            let mut classes: Vec<ClassId> = acyclic.edges.iter().map(|edge| edge.from.class).collect();
            classes.sort_unstable();
            classes.dedup();
            for class in classes {
                let both = if stage == 0 { vec![false] } else { vec![false, true] };
                let sets = state_sets(model, class, stage);
                for (states, reversed) in sets.iter().flat_map(|&set| both.iter().map(move |&way| (set, way)))
                {
                    let least = self.question.possible_object(class);
                    self.least.push((least, class, states));
                    for (at, edge) in acyclic.edges.iter().enumerate().filter(|(_, e)| e.from.class == class)
                    {
                        let maker = model.class(edge.bound.class);
                        let kinds: Vec<Option<TypeId>> = if relevant[edge.bound.class.0 as usize] {
                            (0..maker.types.len() as TypeId).map(Some).collect()
                        } else {
                            vec![None]
                        };
                        for kind in kinds {
                            let formula = no_edge_inside(&edge.directed(reversed), kind, states);
                            let used = self.question.imply(&formula, &[least], self.moment, true);
                            let edges = vec![(at, kind)];
                            self.uses.push((used, Minimal { class, states, relation, reversed, edges }));
                        }
                    }
                }
            }
        }
    }

    fn prove(&mut self) -> Option<Grounds> {
        self.question.work_out();
        if self.place_is_start {
            self.question.no_messages();
        }
        // If any object is in the set, then so is the minimal one.
        for (least, class, states) in std::mem::take(&mut self.least) {
            let exists = self.question.exists(least);
            let inside = self.question.in_states(least, states, self.moment);
            for object in self.question.objects_of(class).to_vec() {
                let (there, member) =
                    (self.question.exists(object), self.question.in_states(object, states, self.moment));
                self.question.circuit.assert(&[!there, !member, exists]);
                self.question.circuit.assert(&[!there, !member, inside]);
            }
            self.question.circuit.assert(&[!exists, inside]);
        }
        // Uses of large sets first, so that they are dropped first.
        let mut order: Vec<usize> = (0..self.uses.len()).collect();
        order.sort_by_key(|&at| std::cmp::Reverse((self.uses[at].1.states.len(), self.uses[at].1.reversed)));
        let assumptions: Vec<Lit> = order.iter().map(|&at| self.uses[at].0).collect();
        if self.question.circuit.solve(&assumptions) != Outcome::Unsat {
            return None;
        }
        let core = self.question.circuit.minimal_core(&assumptions)?;
        let mut grounds = Grounds::default();
        for (lit, minimal) in &self.uses {
            if !core.contains(lit) {
                continue;
            }
            let same = |known: &&mut Minimal| {
                (known.class, known.states, known.relation, known.reversed)
                    == (minimal.class, minimal.states, minimal.relation, minimal.reversed)
            };
            match grounds.minimal.iter_mut().find(same) {
                Some(known) => known.edges.extend(&minimal.edges),
                None => grounds.minimal.push(minimal.clone()),
            }
        }
        Some(grounds)
    }
}

/// No edge leads from the object (variable 0) to one in the set: the edge's own variables are moved up by one.
fn no_edge_inside(edge: &crate::model::Edge, kind: Option<TypeId>, states: NameSet) -> Formula {
    let maker = Term { var: 1, path: Vec::new(), class: edge.bound.class };
    let mut filter = vec![shifted(&edge.filter)];
    filter.extend(kind.map(|kind| Formula::OfTypes(maker, NameSet::one(kind))));
    let least = Term { var: 0, path: Vec::new(), class: edge.from.class };
    Formula::All {
        bound: Bound { var: 1, name: edge.bound.name, class: edge.bound.class },
        filter: Box::new(Formula::And(filter)),
        body: Box::new(Formula::Or(vec![
            Formula::Equal(shifted_term(&edge.from), least).negate(),
            Formula::InStates(shifted_term(&edge.to), states).negate(),
        ])),
    }
}

fn shifted_term(term: &Term) -> Term {
    Term { var: term.var + 1, ..term.clone() }
}

fn shifted_bound(bound: &Bound) -> Bound {
    Bound { var: bound.var + 1, ..bound.clone() }
}

fn shifted(formula: &Formula) -> Formula {
    match formula {
        Formula::Constant(value) => Formula::Constant(*value),
        Formula::Not(inner) => Formula::Not(Box::new(shifted(inner))),
        Formula::And(parts) => Formula::And(parts.iter().map(shifted).collect()),
        Formula::Or(parts) => Formula::Or(parts.iter().map(shifted).collect()),
        Formula::All { bound, filter, body } => Formula::All {
            bound: shifted_bound(bound),
            filter: Box::new(shifted(filter)),
            body: Box::new(shifted(body)),
        },
        Formula::Some { bound, filter, body } => Formula::Some {
            bound: shifted_bound(bound),
            filter: Box::new(shifted(filter)),
            body: Box::new(shifted(body)),
        },
        Formula::InStates(term, set) => Formula::InStates(shifted_term(term), *set),
        Formula::OfTypes(term, set) => Formula::OfTypes(shifted_term(term), *set),
        Formula::SameType(left, right) => Formula::SameType(shifted_term(left), shifted_term(right)),
        Formula::Equal(left, right) => Formula::Equal(shifted_term(left), shifted_term(right)),
        Formula::Has(term, message) => Formula::Has(shifted_term(term), *message),
        Formula::HasSeveral(term, message) => Formula::HasSeveral(shifted_term(term), *message),
    }
}

/// The sets of states in which a rule asks its own objects to be.
fn guarded_sets(formula: &Formula, class: ClassId, out: &mut Vec<NameSet>) {
    match formula {
        Formula::And(parts) | Formula::Or(parts) => {
            for part in parts {
                guarded_sets(part, class, out);
            }
        }
        Formula::InStates(term, set) if term.class == class && term.path.is_empty() => out.push(*set),
        _ => {}
    }
}

/// The sets of states of which a minimal element is named: single states and those that rules name first, then the
/// first few, then all sets.
fn state_sets(model: &Model, class: ClassId, stage: usize) -> Vec<NameSet> {
    let count = model.class(class).states.len();
    let all = NameSet::first(count);
    let left: Vec<u8> = all
        .iter()
        .filter(|&state| {
            // A state that some rule leaves; the guard of a rule that changes the class need not name it.
            model.rules.iter().any(|rule| {
                rule.effects.iter().any(|effect| {
                    matches!(effect, Effect::Becomes(term, new) if term.class == class && *new != state)
                })
            })
        })
        .collect();
    let mut sets: Vec<NameSet> = left.iter().map(|&state| NameSet::one(state)).collect();
    for rule in &model.rules {
        for guard in &rule.guards {
            guarded_sets(&guard.formula, class, &mut sets);
        }
    }
    if stage >= 1 {
        sets.extend((2..count).map(NameSet::first));
    }
    if stage >= 2 && count <= 5 {
        sets.extend((1..all.0).map(NameSet));
    }
    sets.sort_by_key(|set| (set.len(), *set));
    sets.dedup();
    sets.retain(|set| *set != all || count == 1);
    sets
}
