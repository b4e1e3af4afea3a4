//! What one object sees: the states of the objects that its links lead to, their types, and which are the same.
//!
//! The invariants that are inferred say of every object that its view is one of a set. The set begins with the views
//! that occur in small instances and grows until no rule leads out of it.

use std::collections::BTreeSet;

use setpoint_solver::Lit;
use setpoint_source::Symbol;

use super::question::{BEFORE, Depth, Moment, Named, Question};
use crate::concrete::Ground;
use crate::instance::ObjectId;
use crate::model::{Bound, ClassId, Formula, LinkId, MessageId, Model, ModelRule, NameSet, Term};

/// One thing that is looked at; its value is a small number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Component {
    Type(usize),
    Same(usize, usize),
    /// The first stands before the second.
    Before(usize, usize),
    State(usize),
    /// None, one, several.
    Messages(usize, MessageId),
}

/// The values of all components.
pub(super) type View = Vec<u8>;

/// What is looked at, from one object of a class or from two.
#[derive(Clone, Debug)]
pub(super) struct Viewpoint {
    pub(super) roots: Vec<ClassId>,
    /// The objects that are seen: from which root, by which links.
    pub(super) terms: Vec<Term>,
    pub(super) components: Vec<Component>,
    sizes: Vec<u8>,
}

/// Of each component the values that a cube allows.
pub(super) type Cube = Vec<NameSet>;

impl Viewpoint {
    /// The viewpoints of a model: one for each class, but for those whose objects all are seen from another class.
    pub(super) fn of_model(model: &Model) -> Vec<Self> {
        model
            .class_ids()
            .filter(|&class| {
                !model.class_ids().any(|other| {
                    other != class
                        && model.class(other).links.iter().any(|link| link.onto && link.target == class)
                })
            })
            .map(|class| Self::of_class(model, class))
            .collect()
    }

    /// Viewpoints of two objects of a class, for the classes that see little.
    pub(super) fn pairs_of_model(model: &Model) -> Vec<Self> {
        model
            .class_ids()
            .filter(|&class| {
                let seen = closure(model, class, 0).len();
                seen <= 4 && !(model.class(class).states.is_empty() && seen == 1)
            })
            .map(|class| Self::of_pair(model, class))
            .collect()
    }

    /// From each object of a class: everything that its links lead to.
    fn of_class(model: &Model, class: ClassId) -> Self {
        Self::from_terms(model, vec![class], closure(model, class, 0))
    }

    /// From two objects of a class, which may be the same one.
    fn of_pair(model: &Model, class: ClassId) -> Self {
        let terms = [0, 1].into_iter().flat_map(|root| closure(model, class, root)).collect();
        Self::from_terms(model, vec![class, class], terms)
    }

    /// Several viewpoints that look at two of the objects each, for classes that see too many at once.
    pub(super) fn split(&self, model: &Model) -> Vec<Self> {
        let mut out = Vec::new();
        for at in 0..self.terms.len() {
            for other in 0..at {
                let terms = vec![self.terms[other].clone(), self.terms[at].clone()];
                out.push(Self::from_terms(model, self.roots.clone(), terms));
            }
        }
        out
    }

    fn from_terms(model: &Model, roots: Vec<ClassId>, terms: Vec<Term>) -> Self {
        let relevant = relevant_types(model);
        let mut components = Vec::new();
        for (at, term) in terms.iter().enumerate() {
            if relevant[term.class.0 as usize] {
                components.push(Component::Type(at));
            }
        }
        for (at, term) in terms.iter().enumerate() {
            for (other, earlier) in terms[..at].iter().enumerate() {
                if earlier.class == term.class {
                    components.push(Component::Same(other, at));
                    if model.class(term.class).ordered {
                        components.push(Component::Before(other, at));
                    }
                }
            }
        }
        for (at, term) in terms.iter().enumerate() {
            let class = model.class(term.class);
            if !class.states.is_empty() {
                components.push(Component::State(at));
            }
            components.extend((0..class.messages.len()).map(|m| Component::Messages(at, m as MessageId)));
        }
        let sizes = components
            .iter()
            .map(|component| match *component {
                Component::Type(at) => model.class(terms[at].class).types.len() as u8,
                Component::Same(..) | Component::Before(..) => 2,
                Component::State(at) => model.class(terms[at].class).states.len() as u8,
                Component::Messages(..) => 3,
            })
            .collect();
        Self { roots, terms, components, sizes }
    }

    /// Whether a rule can change what is seen.
    pub(super) fn is_touched_by(&self, rule: &ModelRule) -> bool {
        rule.effects.iter().any(|effect| self.terms.iter().any(|term| term.class == effect.term().class))
    }

    /// What the roots see in a concrete state.
    pub(super) fn look(&self, ground: &Ground<'_>, state: &[u8], roots: &[ObjectId]) -> View {
        let seen: Vec<ObjectId> =
            self.terms.iter().map(|term| ground.follow_path(roots[term.var], &term.path)).collect();
        self.components
            .iter()
            .map(|component| match *component {
                Component::Type(at) => ground.instance.object(seen[at]).kind.unwrap_or(0),
                Component::Same(one, other) => u8::from(seen[one] == seen[other]),
                Component::Before(one, other) => u8::from(seen[one] < seen[other]),
                Component::State(at) => ground.state_of(state, seen[at]),
                Component::Messages(at, message) => ground.messages_at(state, seen[at], message).min(2),
            })
            .collect()
    }

    /// The literals of every value of every component.
    pub(super) fn literals(
        &self,
        question: &mut Question<'_>,
        roots: &[Named],
        moment: Moment,
    ) -> Vec<Vec<Lit>> {
        let seen: Vec<Named> = self.terms.iter().map(|term| question.term(term, roots)).collect();
        let mut out = Vec::with_capacity(self.components.len());
        for (component, &size) in self.components.iter().zip(&self.sizes) {
            let lits = match *component {
                Component::Type(at) => {
                    (0..size).map(|value| question.of_types(seen[at], NameSet::one(value))).collect()
                }
                Component::Same(one, other) => {
                    let same = question.same(seen[one], seen[other]);
                    vec![!same, same]
                }
                Component::Before(one, other) => {
                    let before = question.before(seen[one], seen[other]);
                    vec![!before, before]
                }
                Component::State(at) => {
                    (0..size).map(|value| question.is_state(seen[at], value, moment)).collect()
                }
                Component::Messages(at, message) => {
                    let [one, two] = question.messages(seen[at], message, moment);
                    let exactly_one = question.circuit.and(&[one, !two]);
                    vec![!one, exactly_one, two]
                }
            };
            out.push(lits);
        }
        out
    }

    /// The view in the model of the last answer.
    pub(super) fn read(question: &Question<'_>, literals: &[Vec<Lit>]) -> View {
        literals
            .iter()
            .map(|values| values.iter().position(|&lit| question.circuit.is_true(lit)).unwrap_or(0) as u8)
            .collect()
    }

    /// The largest cube around a view outside of the set that has no view of the set: components are dropped where
    /// they can be, then widened. Values that are never seen do not count: clauses of their own exclude them.
    fn generalise(&self, view: &View, set: &BTreeSet<View>, seen: &[NameSet]) -> Cube {
        let mut cube: Cube = view.iter().map(|&value| NameSet::one(value)).collect();
        let hits = |cube: &Cube| set.iter().any(|known| inside(cube, known));
        for at in self.dropping_order() {
            let kept = std::mem::replace(&mut cube[at], self.all_values(at));
            if hits(&cube) {
                cube[at] = kept;
            }
        }
        for at in 0..cube.len() {
            for value in seen[at].minus(cube[at]).iter() {
                cube[at].insert(value);
                if hits(&cube) {
                    cube[at] = cube[at].minus(NameSet::one(value));
                }
            }
            // Where several messages never wait, one is any.
            if matches!(self.components[at], Component::Messages(..))
                && cube[at].contains(1)
                && !seen[at].contains(2)
            {
                cube[at].insert(2);
            }
        }
        cube
    }

    fn all_values(&self, at: usize) -> NameSet {
        NameSet::first(self.sizes[at] as usize)
    }

    /// Messages and sameness are dropped first, types last: the clauses read better so.
    fn dropping_order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.components.len()).collect();
        order.sort_by_key(|&at| match self.components[at] {
            Component::Same(..) | Component::Before(..) => (0, 0),
            Component::Messages(..) => (1, 0),
            Component::State(_) => (2, 0),
            Component::Type(term) => (3, self.terms.len() - term),
        });
        order
    }

    /// Clauses that allow exactly the views of the set, among those that `require` and the links allow; none of them
    /// follows from the others.
    pub(super) fn clauses(&self, model: &Model, set: &BTreeSet<View>) -> Vec<Cube> {
        let mut question = Question::new(model, Depth::generations(1));
        let roots: Vec<Named> = self.roots.iter().map(|&class| question.object(class)).collect();
        let literals = self.literals(&mut question, &roots, BEFORE);
        question.work_out();
        let seen: Vec<NameSet> = (0..self.components.len())
            .map(|at| set.iter().fold(NameSet::default(), |seen, view| seen.union(NameSet::one(view[at]))))
            .collect();
        // Each clause has a literal that switches it on.
        let mut cubes: Vec<(Cube, Lit)> = Vec::new();
        let add = |question: &mut Question<'_>, cube: Cube, cubes: &mut Vec<(Cube, Lit)>| {
            let switch = question.circuit.fresh();
            let mut clause = self.outside(&cube, &literals);
            clause.push(!switch);
            question.circuit.assert(&clause);
            cubes.push((cube, switch));
        };
        for (at, &values) in seen.iter().enumerate() {
            let unseen = self.all_values(at).minus(values);
            if !unseen.is_empty() {
                let mut cube: Cube = (0..seen.len()).map(|other| self.all_values(other)).collect();
                cube[at] = unseen;
                add(&mut question, cube, &mut cubes);
            }
        }
        let unknown = question.circuit.fresh();
        for view in set {
            let mut differs: Vec<Lit> =
                view.iter().zip(&literals).map(|(&value, lits)| !lits[value as usize]).collect();
            differs.push(!unknown);
            question.circuit.assert(&differs);
        }
        loop {
            let mut on: Vec<Lit> = cubes.iter().map(|(_, switch)| *switch).collect();
            on.push(unknown);
            if !question.circuit.solve(&on).is_sat() {
                break;
            }
            let view = Self::read(&question, &literals);
            add(&mut question, self.generalise(&view, set, &seen), &mut cubes);
        }
        cubes.sort_by_key(|(cube, _)| (self.weight(cube), cube.clone()));
        // The last ones say most; of those, what the rest implies is left out.
        let mut at = cubes.len();
        while at > 0 {
            at -= 1;
            let mut given: Vec<Lit> = cubes
                .iter()
                .enumerate()
                .filter(|(other, _)| *other != at)
                .map(|(_, (_, switch))| *switch)
                .collect();
            let outside = self.outside(&cubes[at].0, &literals);
            given.extend(outside.iter().map(|&lit| !lit));
            if question.circuit.solve(&given).is_unsat() {
                cubes.remove(at);
            }
        }
        cubes.into_iter().map(|(cube, _)| cube).collect()
    }

    fn weight(&self, cube: &Cube) -> usize {
        (0..cube.len()).filter(|&at| cube[at].len() < self.sizes[at] as usize).count()
    }

    /// The clause that a cube forbids: literals of which one holds.
    pub(super) fn outside(&self, cube: &Cube, literals: &[Vec<Lit>]) -> Vec<Lit> {
        let mut clause = Vec::new();
        for (at, allowed) in cube.iter().enumerate() {
            if allowed.len() < self.sizes[at] as usize {
                clause.extend(
                    (0..self.sizes[at])
                        .filter(|&value| !allowed.contains(value))
                        .map(|v| literals[at][v as usize]),
                );
            }
        }
        clause
    }

    /// The invariant that forbids a cube, as a formula of the rule language: all components but one imply that this
    /// one is different.
    pub(super) fn invariant(&self, model: &Model, cube: &Cube) -> Formula {
        let used: Vec<usize> =
            (0..cube.len()).filter(|&at| cube[at].len() < self.sizes[at] as usize).collect();
        let concluded = used
            .iter()
            .rev()
            .find(|&&at| matches!(self.components[at], Component::State(_)))
            .or(used.last())
            .copied();
        let premises: Vec<Formula> =
            used.iter().filter(|&&at| Some(at) != concluded).map(|&at| self.says(at, cube[at])).collect();
        let conclusion = concluded.map_or(Formula::Constant(false), |at| {
            self.says(at, NameSet::first(self.sizes[at] as usize).minus(cube[at]))
        });
        let body = if premises.is_empty() {
            conclusion
        } else {
            Formula::Or(vec![Formula::and(premises).negate(), conclusion])
        };
        self.roots.iter().enumerate().rev().fold(body, |body, (var, &class)| Formula::All {
            bound: Bound { var, name: variable(model, class, var), class },
            filter: Box::new(Formula::Constant(true)),
            body: Box::new(body),
        })
    }

    /// A component has one of some values, as a formula.
    fn says(&self, at: usize, allowed: NameSet) -> Formula {
        let term = |index: usize| self.terms[index].clone();
        match self.components[at] {
            Component::Type(index) => Formula::OfTypes(term(index), allowed),
            Component::Same(one, other) => {
                let same = Formula::Equal(term(one), term(other));
                if allowed.contains(1) { same } else { same.negate() }
            }
            Component::Before(one, other) => {
                let before = Formula::Before(term(one), term(other));
                if allowed.contains(1) { before } else { before.negate() }
            }
            Component::State(index) => Formula::InStates(term(index), allowed),
            Component::Messages(index, message) => messages_in(&term(index), message, allowed),
        }
    }
}

/// None, one or several messages, as a formula; several are [`Formula::HasSeveral`].
fn messages_in(term: &Term, message: MessageId, allowed: NameSet) -> Formula {
    let has = Formula::Has(term.clone(), message);
    let several = Formula::HasSeveral(term.clone(), message);
    if !allowed.contains(2) && allowed.contains(0) && allowed.contains(1) {
        return several.negate();
    }
    let mut cases = Vec::new();
    if allowed.contains(0) {
        cases.push(has.clone().negate());
    }
    match (allowed.contains(1), allowed.contains(2)) {
        (true, true) => cases.push(has),
        (true, false) => cases.push(Formula::And(vec![has, several.negate()])),
        (false, true) => cases.push(several),
        (false, false) => {}
    }
    match <[Formula; 1]>::try_from(cases) {
        Ok([only]) => only,
        Err(cases) => Formula::Or(cases),
    }
}

/// A short name for an object of a class.
pub(super) fn variable(model: &Model, class: ClassId, number: usize) -> Symbol {
    let name = model.class(class).name;
    let first = name.chars().next().unwrap_or('x').to_ascii_lowercase();
    Symbol::new(&if number == 0 { first.to_string() } else { format!("{first}{}", number + 1) })
}

fn inside(cube: &Cube, view: &View) -> bool {
    cube.iter().zip(view).all(|(allowed, &value)| allowed.contains(value))
}

/// The object itself and all that links lead to, each path once, to a bound where classes link in circles.
fn closure(model: &Model, class: ClassId, root: usize) -> Vec<Term> {
    let mut terms = vec![Term { var: root, path: Vec::new(), class }];
    let mut at = 0;
    while at < terms.len() && terms.len() < 12 {
        let term = terms[at].clone();
        at += 1;
        // A class that is seen already on this path is not followed further.
        if classes_on(model, class, &term.path).iter().filter(|&&seen| seen == term.class).count() > 1 {
            continue;
        }
        for (link, declared) in model.class(term.class).links.iter().enumerate() {
            let mut path: Vec<LinkId> = term.path.clone();
            path.push(link);
            terms.push(Term { var: root, path, class: declared.target });
        }
    }
    terms
}

fn classes_on(model: &Model, class: ClassId, path: &[LinkId]) -> Vec<ClassId> {
    let mut out = vec![class];
    for &link in path {
        let last = out[out.len() - 1];
        out.push(model.class(last).links[link].target);
    }
    out
}

/// For each class whether any formula of the model speaks of its types.
pub(super) fn relevant_types(model: &Model) -> Vec<bool> {
    let mut out = vec![false; model.classes.len()];
    let claims = model.requires.iter().chain(&model.init).chain(&model.finals);
    let claims = claims.chain(model.invariants.iter().flat_map(|invariant| &invariant.claims));
    let claims = claims.chain(model.rules.iter().flat_map(|rule| &rule.guards));
    for claim in claims {
        types_in(&claim.formula, &mut out);
    }
    for edge in model.acyclic.iter().flat_map(|relation| &relation.edges) {
        types_in(&edge.filter, &mut out);
    }
    out
}

fn types_in(formula: &Formula, out: &mut [bool]) {
    match formula {
        Formula::OfTypes(term, _) => out[term.class.0 as usize] = true,
        Formula::SameType(left, right) => {
            out[left.class.0 as usize] = true;
            out[right.class.0 as usize] = true;
        }
        Formula::Not(inner) => types_in(inner, out),
        Formula::And(parts) | Formula::Or(parts) => {
            for part in parts {
                types_in(part, out);
            }
        }
        Formula::All { filter, body, .. } | Formula::Some { filter, body, .. } => {
            types_in(filter, out);
            types_in(body, out);
        }
        Formula::Constant(_)
        | Formula::InStates(..)
        | Formula::Equal(..)
        | Formula::Before(..)
        | Formula::Has(..)
        | Formula::HasSeveral(..) => {}
    }
}
