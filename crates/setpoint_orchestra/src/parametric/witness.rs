//! Invariants with a witness: a taken lock has a holder.
//!
//! A candidate says of every object of a class in one state that some object leads to it and is in a set of states. The
//! set hits what objects in that state see in every run of the small instances, and none of its members can be spared.
//! Candidates are proposals: those that are not inductive together with the views are dropped.

use std::collections::{BTreeMap, BTreeSet};

use setpoint_source::Symbol;

use super::view::{relevant_types, variable};
use crate::concrete::Ground;
use crate::model::{Bound, ClassId, Formula, LinkId, Model, NameSet, StateId, Term, TypeId};

/// States that a witness may be in, taken together.
const MAX_HITS: usize = 6;

/// Candidates about the objects of a class in one state.
const MAX_PER_PREMISE: usize = 4;

/// Steps of the search for hitting sets.
const MAX_TRIES: usize = 4_000;

/// Where a witness is looked for: the objects of a class, by a way that leads from them to the object in question, and
/// what of them is looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Source {
    class: ClassId,
    /// `None`: any object of the class is a witness.
    way: Option<Vec<LinkId>>,
    /// The object whose state counts, from the witness.
    seen: Vec<LinkId>,
    seen_class: ClassId,
}

/// What an object sees of a possible witness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Token {
    source: usize,
    kind: Option<TypeId>,
    state: StateId,
}

type Tokens = BTreeSet<Token>;

/// Of whom a candidate speaks: of no object, or of those of a class in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Premise {
    Always(ClassId),
    InState(ClassId, Option<TypeId>, StateId),
}

/// What objects see in runs of small instances.
#[derive(Debug, Default)]
pub(super) struct Neighbourhoods {
    relevant: Vec<bool>,
    sources: Vec<Source>,
    /// For each class the sources of witnesses for its objects.
    of_class: Vec<Vec<usize>>,
    /// For each class the source that is all of its objects.
    whole: Vec<Option<usize>>,
    /// Of what was seen the least sets: what hits them hits the others.
    seen: BTreeMap<Premise, Vec<Tokens>>,
}

impl Neighbourhoods {
    pub(super) fn of_model(model: &Model) -> Self {
        let mut sources = Vec::new();
        let mut of_class = vec![Vec::new(); model.classes.len()];
        let mut whole = vec![None; model.classes.len()];
        for class in model.class_ids() {
            for (way, target) in ways(model, class) {
                for seen in looked_at(model, class, &way) {
                    if !model.class(target).states.is_empty() {
                        of_class[target.0 as usize].push(sources.len());
                        sources.push(Source {
                            class,
                            way: Some(way.clone()),
                            seen_class: end_of(model, class, &seen),
                            seen,
                        });
                    }
                }
            }
        }
        for class in model.class_ids().filter(|&class| !model.class(class).states.is_empty()) {
            let at = sources.len();
            sources.push(Source { class, way: None, seen: Vec::new(), seen_class: class });
            whole[class.0 as usize] = Some(at);
            // Objects that no link joins are witnesses for each other wherever they stand.
            for other in model.class_ids().filter(|&other| other != class) {
                if !joined(model, class, other) && !model.class(other).states.is_empty() {
                    of_class[other.0 as usize].push(at);
                }
            }
        }
        Self { relevant: relevant_types(model), sources, of_class, whole, seen: BTreeMap::new() }
    }

    /// Takes in what every object sees in one state.
    pub(super) fn look(&mut self, ground: &Ground<'_>, state: &[u8]) {
        let objects = &ground.instance.objects;
        let mut everywhere: Vec<Tokens> = vec![Tokens::new(); self.sources.len()];
        let mut at: Vec<Tokens> = vec![Tokens::new(); objects.len()];
        for (number, source) in self.sources.iter().enumerate() {
            for (id, object) in ground.instance.ids().zip(objects) {
                if object.class != source.class {
                    continue;
                }
                let seen = ground.follow_path(id, &source.seen);
                let kind = self.relevant[source.seen_class.0 as usize]
                    .then(|| ground.instance.object(seen).kind)
                    .flatten();
                let token = Token { source: number, kind, state: ground.state_of(state, seen) };
                match &source.way {
                    Some(way) => {
                        at[ground.follow_path(id, way).index()].insert(token);
                    }
                    None => {
                        everywhere[number].insert(token);
                    }
                }
            }
        }
        for (id, object) in ground.instance.ids().zip(objects) {
            let class = object.class.0 as usize;
            if self.of_class[class].is_empty() {
                continue;
            }
            let kind = self.relevant[class].then_some(object.kind).flatten();
            let mut tokens = std::mem::take(&mut at[id.index()]);
            for &source in &self.of_class[class] {
                tokens.extend(everywhere[source].iter().copied());
            }
            let premise = Premise::InState(object.class, kind, ground.state_of(state, id));
            keep_least(self.seen.entry(premise).or_default(), tokens);
        }
        for (class, source) in self.whole.iter().enumerate() {
            if let Some(source) = source {
                let premise = Premise::Always(ClassId(class as u16));
                keep_least(self.seen.entry(premise).or_default(), std::mem::take(&mut everywhere[*source]));
            }
        }
    }

    /// The candidates, those that say most first for each premise.
    pub(super) fn candidates(&self, model: &Model) -> Vec<Formula> {
        let mut out: Vec<Formula> = Vec::new();
        for (premise, sets) in &self.seen {
            for hits in hitting_sets(sets) {
                if self.says_something(model, &hits) {
                    let formula = self.formula(model, *premise, &hits);
                    if !out.contains(&formula) {
                        out.push(formula);
                    }
                }
            }
        }
        out
    }

    /// A witness in any state at all is no more than an object that is there.
    fn says_something(&self, model: &Model, hits: &Tokens) -> bool {
        hits.iter().all(|token| {
            let states: BTreeSet<StateId> =
                hits.iter().filter(|other| other.source == token.source).map(|other| other.state).collect();
            states.len() < model.class(self.sources[token.source].seen_class).states.len()
        })
    }

    fn formula(&self, model: &Model, premise: Premise, hits: &Tokens) -> Formula {
        let depth = usize::from(matches!(premise, Premise::InState(..)));
        let used: BTreeSet<usize> = hits.iter().map(|token| token.source).collect();
        let some: Vec<Formula> =
            used.iter().map(|&source| self.some_witness(source, hits, depth, premise)).collect();
        let some = match <[Formula; 1]>::try_from(some) {
            Ok([only]) => only,
            Err(several) => Formula::Or(several),
        };
        match premise {
            Premise::Always(_) => some,
            Premise::InState(class, kind, state) => {
                let object = Term { var: 0, path: Vec::new(), class };
                let mut filter = vec![Formula::InStates(object.clone(), NameSet::one(state))];
                filter.extend(kind.map(|kind| Formula::OfTypes(object, NameSet::one(kind))));
                Formula::All {
                    bound: Bound { var: 0, name: variable(model, class, 0), class },
                    filter: Box::new(Formula::and(filter)),
                    body: Box::new(some),
                }
            }
        }
    }

    /// `some y: class where y.link = x { y is … }`.
    fn some_witness(&self, source: usize, hits: &Tokens, var: usize, premise: Premise) -> Formula {
        let Source { class, way, seen, seen_class } = &self.sources[source];
        let term = |path: &[LinkId], class: ClassId| Term { var, path: path.to_vec(), class };
        let filter = match (way, premise) {
            (Some(way), Premise::InState(target, ..)) => {
                Formula::Equal(term(way, target), Term { var: 0, path: Vec::new(), class: target })
            }
            _ => Formula::Constant(true),
        };
        let mut by_kind: BTreeMap<Option<TypeId>, NameSet> = BTreeMap::new();
        for token in hits.iter().filter(|token| token.source == source) {
            by_kind.entry(token.kind).or_default().insert(token.state);
        }
        let mut by_states: BTreeMap<NameSet, NameSet> = BTreeMap::new();
        let mut untyped = None;
        for (kind, states) in by_kind {
            match kind {
                Some(kind) => by_states.entry(states).or_default().insert(kind),
                None => untyped = Some(states),
            }
        }
        let looked_at = term(seen, *seen_class);
        let mut cases: Vec<Formula> =
            untyped.into_iter().map(|states| Formula::InStates(looked_at.clone(), states)).collect();
        cases.extend(by_states.into_iter().map(|(states, kinds)| {
            Formula::And(vec![
                Formula::OfTypes(looked_at.clone(), kinds),
                Formula::InStates(looked_at.clone(), states),
            ])
        }));
        let body = match <[Formula; 1]>::try_from(cases) {
            Ok([only]) => only,
            Err(several) => Formula::Or(several),
        };
        let name = Symbol::new(if var == 0 { "x" } else { "y" });
        Formula::Some {
            bound: Bound { var, name, class: *class },
            filter: Box::new(filter),
            body: Box::new(body),
        }
    }
}

/// The ways of one link or two that lead from the objects of a class to others.
fn ways(model: &Model, class: ClassId) -> Vec<(Vec<LinkId>, ClassId)> {
    let mut out = Vec::new();
    for (link, declared) in model.class(class).links.iter().enumerate() {
        out.push((vec![link], declared.target));
        for (next, further) in model.class(declared.target).links.iter().enumerate() {
            out.push((vec![link, next], further.target));
        }
    }
    out
}

/// What of a witness is looked at: itself, or if it has no states what its other links lead to.
fn looked_at(model: &Model, class: ClassId, way: &[LinkId]) -> Vec<Vec<LinkId>> {
    let declared = model.class(class);
    if !declared.states.is_empty() {
        return vec![Vec::new()];
    }
    (0..declared.links.len())
        .filter(|&link| way != [link] && !model.class(declared.links[link].target).states.is_empty())
        .map(|link| vec![link])
        .collect()
}

fn end_of(model: &Model, class: ClassId, path: &[LinkId]) -> ClassId {
    path.iter().fold(class, |at, &link| model.class(at).links[link].target)
}

/// Whether links lead from one class to the other, or from a third to both.
fn joined(model: &Model, one: ClassId, other: ClassId) -> bool {
    let leads = |from: ClassId, to: ClassId| ways(model, from).iter().any(|(_, end)| *end == to);
    leads(one, other)
        || leads(other, one)
        || model.class_ids().any(|third| leads(third, one) && leads(third, other))
}

/// Adds a set unless a part of it is known, and drops the known ones that it is a part of.
fn keep_least(known: &mut Vec<Tokens>, new: Tokens) {
    if known.iter().any(|one| one.is_subset(&new)) {
        return;
    }
    known.retain(|one| !new.is_subset(one));
    known.push(new);
}

/// Small sets that have a member of every given one, none of which can be spared. None if a given set is empty.
fn hitting_sets(sets: &[Tokens]) -> Vec<Tokens> {
    let mut found: Vec<Tokens> = Vec::new();
    let mut tries = MAX_TRIES;
    if sets.is_empty() {
        return found;
    }
    for size in 1..=MAX_HITS {
        extend_hits(sets, &mut Tokens::new(), size, &mut found, &mut tries);
        if found.len() >= MAX_PER_PREMISE {
            break;
        }
    }
    found.truncate(MAX_PER_PREMISE);
    found
}

fn extend_hits(
    sets: &[Tokens],
    chosen: &mut Tokens,
    left: usize,
    found: &mut Vec<Tokens>,
    tries: &mut usize,
) {
    if *tries == 0 || found.len() >= MAX_PER_PREMISE {
        return;
    }
    *tries -= 1;
    let Some(missed) = sets.iter().filter(|set| set.is_disjoint(chosen)).min_by_key(|set| set.len()) else {
        if left == 0 && !found.iter().any(|known| known.is_subset(chosen)) {
            found.push(chosen.clone());
        }
        return;
    };
    if left == 0 {
        return;
    }
    for &token in missed {
        chosen.insert(token);
        extend_hits(sets, chosen, left - 1, found, tries);
        chosen.remove(&token);
    }
}
