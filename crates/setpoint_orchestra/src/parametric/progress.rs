//! Progress: where the invariants hold and the state is not final, some rule applies.
//!
//! Where objects wait for each other the proof needs that they do not wait in a circle. The cyclic dependency lemma
//! gives it: of the objects of a class in a certain set, if there are any, one has no edge of an acyclic relation to
//! another of them. Each use names its set (see `sets`) and one relation; relations that are acyclic apart are never
//! put together.

use setpoint_solver::{Lit, Outcome};

use super::infer::assert_start;
use super::question::{BEFORE, Depth, Moment, Named, Question, never_applies};
use super::sets::{self, Candidate, Stage};
use super::view::relevant_types;
use crate::model::{Bound, ClassId, Formula, Model, ModelRule, NameSet, Term, TypeId};

/// One use of the lemma: the objects of `class` in `set`, and the edges of one relation that are used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Minimal {
    pub class: ClassId,
    /// Variable 0 is in the set; without quantifiers.
    pub set: Formula,
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

/// How many generations of witnesses there are, and how many sets have a minimal element.
pub(super) type Try = (u32, Stage);

/// Until it is proved, or is too hard.
pub(super) const THOROUGH: [Try; 6] = [
    (1, Stage::Waiting),
    (1, Stage::States),
    (2, Stage::Waiting),
    (1, Stage::More),
    (2, Stage::More),
    (2, Stage::All),
];

/// Where a counterexample is known already, and the conditions that it does not refute are still of interest.
pub(super) const BRIEF: [Try; 2] = [(1, Stage::Waiting), (1, Stage::States)];

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

/// The lemma for one edge, switched on by a literal.
struct Use {
    on: Lit,
    minimal: Minimal,
    /// Uses with a larger rank are dropped first where others do as well.
    rank: usize,
}

struct Attempt<'m> {
    question: Question<'m>,
    place_is_start: bool,
    uses: Vec<Use>,
    least: Vec<(Named, ClassId, Formula)>,
    moment: Moment,
}

impl<'m> Attempt<'m> {
    fn new(
        model: &'m Model,
        invariants: &[Formula],
        place: Where<'_>,
        or_final: bool,
        generation: u32,
        stage: Stage,
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

    fn add_minimal_elements(&mut self, stage: Stage) {
        let model = self.question.model;
        let relevant = relevant_types(model);
        for (relation, acyclic) in model.acyclic.iter().enumerate() {
            let mut classes: Vec<ClassId> =
                acyclic.edges.iter().map(|edge| edge.from.class).chain(acyclic.order).collect();
            classes.sort_unstable();
            classes.dedup();
            for class in classes {
                for Candidate { set, reversed, rank } in sets::candidates(model, class, acyclic, stage) {
                    let least = self.question.possible_object(class);
                    self.least.push((least, class, set.clone()));
                    if acyclic.order.is_some() {
                        let formula = none_nearer(class, reversed, &set);
                        let on = self.question.imply(&formula, &[least], self.moment, true);
                        let minimal =
                            Minimal { class, set: set.clone(), relation, reversed, edges: Vec::new() };
                        self.uses.push(Use { on, minimal, rank });
                    }
                    for (at, edge) in acyclic.edges.iter().enumerate().filter(|(_, e)| e.from.class == class)
                    {
                        let maker = model.class(edge.bound.class);
                        let kinds: Vec<Option<TypeId>> = if relevant[edge.bound.class.0 as usize] {
                            (0..maker.types.len() as TypeId).map(Some).collect()
                        } else {
                            vec![None]
                        };
                        for kind in kinds {
                            let formula = no_edge_inside(&edge.directed(reversed), kind, &set);
                            let on = self.question.imply(&formula, &[least], self.moment, true);
                            let edges = vec![(at, kind)];
                            let minimal = Minimal { class, set: set.clone(), relation, reversed, edges };
                            self.uses.push(Use { on, minimal, rank });
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
        for (least, class, set) in std::mem::take(&mut self.least) {
            let exists = self.question.exists(least);
            let inside = self.question.imply(&set, &[least], self.moment, true);
            for object in self.question.objects_of(class).to_vec() {
                let there = self.question.exists(object);
                let outside = self.question.imply(&set, &[object], self.moment, false);
                self.question.circuit.assert(&[!there, outside, exists]);
                self.question.circuit.assert(&[!there, outside, inside]);
            }
            self.question.circuit.assert(&[!exists, inside]);
        }
        let mut order: Vec<usize> = (0..self.uses.len()).collect();
        order.sort_by_key(|&at| std::cmp::Reverse((self.uses[at].rank, self.uses[at].minimal.reversed)));
        let assumptions: Vec<Lit> = order.iter().map(|&at| self.uses[at].on).collect();
        if self.question.circuit.solve(&assumptions) != Outcome::Unsat {
            return None;
        }
        let core = self.question.circuit.minimal_core(&assumptions)?;
        let mut grounds = Grounds::default();
        for Use { on, minimal, .. } in &self.uses {
            if !core.contains(on) {
                continue;
            }
            let same = |known: &&mut Minimal| {
                (known.class, &known.set, known.relation, known.reversed)
                    == (minimal.class, &minimal.set, minimal.relation, minimal.reversed)
            };
            match grounds.minimal.iter_mut().find(same) {
                Some(known) => known.edges.extend(&minimal.edges),
                None => grounds.minimal.push(minimal.clone()),
            }
        }
        Some(grounds)
    }
}

/// No object before this one (variable 0), or behind it if the order is reversed, is in the set.
pub(crate) fn none_nearer(class: ClassId, reversed: bool, set: &Formula) -> Formula {
    let least = Term { var: 0, path: Vec::new(), class };
    let other = Term { var: 1, path: Vec::new(), class };
    let nearer =
        if reversed { Formula::Before(least, other.clone()) } else { Formula::Before(other.clone(), least) };
    Formula::All {
        bound: Bound { var: 1, name: setpoint_source::Symbol::new("y"), class },
        filter: Box::new(nearer),
        body: Box::new(set.with_variables(&|var| var, &|term| other.followed_by(term)).negate()),
    }
}

/// No edge leads from the object (variable 0) to one in the set: the edge's own variables are moved up by one.
fn no_edge_inside(edge: &crate::model::Edge, kind: Option<TypeId>, set: &Formula) -> Formula {
    let up = |term: &Term| Term { var: term.var + 1, ..term.clone() };
    let maker = Term { var: 1, path: Vec::new(), class: edge.bound.class };
    let mut filter = vec![edge.filter.with_variables(&|var| var + 1, &up)];
    filter.extend(kind.map(|kind| Formula::OfTypes(maker, NameSet::one(kind))));
    let least = Term { var: 0, path: Vec::new(), class: edge.from.class };
    let target = up(&edge.to);
    Formula::All {
        bound: Bound { var: 1, name: edge.bound.name, class: edge.bound.class },
        filter: Box::new(Formula::And(filter)),
        body: Box::new(Formula::Or(vec![
            Formula::Equal(up(&edge.from), least).negate(),
            set.with_variables(&|var| var, &|term| target.followed_by(term)).negate(),
        ])),
    }
}
