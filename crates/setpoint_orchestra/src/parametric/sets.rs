//! The sets of which the cyclic dependency lemma names a minimal element.
//!
//! Two kinds are tried. Sets of local states: single states, those that rules name, and more of them where these are not
//! enough. And what the rules that wait say of the object that waits: of all objects that some rule would move if only
//! they had nothing to wait for, one waits for none of them.

use crate::model::{Acyclic, ClassId, Effect, Formula, Model, ModelRule, NameSet, Term, VarId};

/// A set of objects of a class, and the direction in which its minimal element is asked for.
pub(super) struct Candidate {
    /// Variable 0 is in the set; without quantifiers.
    pub(super) set: Formula,
    pub(super) reversed: bool,
    /// The smaller, the simpler.
    pub(super) rank: usize,
}

/// How many sets have a minimal element. Each names an object, and with many objects a question is too large: few first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Stage {
    /// What the rules say that wait, put together for each direction; nothing if they speak of states only.
    Waiting,
    /// Single states, and those that rules name.
    States,
    /// The first few states too, both directions, and what each waiting rule says.
    More,
    /// All sets of states, if there are few.
    All,
}

/// The sets of one class to be tried with one relation.
pub(super) fn candidates(model: &Model, class: ClassId, relation: &Acyclic, stage: Stage) -> Vec<Candidate> {
    let object = Term { var: 0, path: Vec::new(), class };
    let mut out = Vec::new();
    if stage != Stage::Waiting {
        // An order has two ends that are alike.
        let one_way = stage == Stage::States && relation.order.is_none();
        let both: &[bool] = if one_way { &[false] } else { &[false, true] };
        for states in state_sets(model, class, stage) {
            for &reversed in both {
                let set = Formula::InStates(object.clone(), states);
                out.push(Candidate { set, reversed, rank: states.len() });
            }
        }
    }
    if stage == Stage::States {
        return out;
    }
    let beyond_states = crate::model::MAX_NAMES;
    for reversed in [false, true] {
        let mut waiting = waiting_sets(model, class, relation, reversed);
        if waiting.len() > 1 && !waiting.iter().all(of_states) {
            let set = Formula::Or(waiting.clone());
            out.push(Candidate { set, reversed, rank: beyond_states + waiting.len() });
        }
        // Sets of states are there already.
        waiting.retain(|set| !of_states(set));
        if stage != Stage::Waiting || waiting.len() == 1 {
            out.extend(waiting.into_iter().map(|set| Candidate { set, reversed, rank: beyond_states + 1 }));
        }
    }
    out
}

/// The set is given by the states of its objects alone.
fn of_states(set: &Formula) -> bool {
    matches!(set, Formula::InStates(term, _) if term.path.is_empty())
}

fn waiting_sets(model: &Model, class: ClassId, relation: &Acyclic, reversed: bool) -> Vec<Formula> {
    let mut out: Vec<Formula> = Vec::new();
    for rule in &model.rules {
        for parameter in rule.parameters.iter().filter(|one| one.class == class) {
            if waits(rule, parameter.var, relation, reversed)
                && let Some(set) = said_of(rule, parameter.var)
                && !out.contains(&set)
            {
                out.push(set);
            }
        }
    }
    out
}

/// Whether a guard of the rule asks something of all objects at the other end of the relation's edges, or of all objects
/// in another way.
fn waits(rule: &ModelRule, parameter: VarId, relation: &Acyclic, reversed: bool) -> bool {
    let conjuncts = rule.guards.iter().flat_map(|guard| guard.formula.conjuncts());
    let mut any = conjuncts.filter_map(|conjunct| match conjunct {
        Formula::All { bound, filter, body } => Some((bound, filter, body)),
        _ => None,
    });
    any.any(|(bound, filter, body)| {
        let mut names_parameter = false;
        for part in [filter, body] {
            part.terms(&mut |term| names_parameter |= term.var == parameter);
        }
        if !names_parameter {
            return false;
        }
        let is_end = |edge_end: &Term, term: &Term| term.var == bound.var && term.path == edge_end.path;
        let mut forward = false;
        let mut backward = false;
        for conjunct in filter.conjuncts() {
            let Formula::Equal(left, right) = conjunct else { continue };
            for (end, own) in [(left, right), (right, left)] {
                if own.var != parameter || !own.path.is_empty() {
                    continue;
                }
                for edge in relation.edges.iter().filter(|edge| edge.bound.class == bound.class) {
                    forward |= is_end(&edge.from, end);
                    backward |= is_end(&edge.to, end);
                }
            }
        }
        if relation.order.is_some() {
            return true;
        }
        // What is waited for by other ways may lie in either direction.
        if reversed { backward || !forward } else { forward || !backward }
    })
}

/// What the guards say of one parameter alone, as a set of objects. `None` if they say nothing of it.
fn said_of(rule: &ModelRule, parameter: VarId) -> Option<Formula> {
    let conjuncts = rule.guards.iter().flat_map(|guard| guard.formula.conjuncts());
    let own: Vec<Formula> = conjuncts
        .filter(|conjunct| {
            let mut alone = true;
            conjunct.terms(&mut |term| alone &= term.var == parameter);
            alone && !conjunct.has_quantifier()
        })
        .map(|conjunct| conjunct.with_variables(&|var| var, &|term| Term { var: 0, ..term.clone() }))
        .collect();
    (!own.is_empty()).then(|| Formula::and(own))
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

/// Single states and those that rules name first, then the first few, then all sets.
fn state_sets(model: &Model, class: ClassId, stage: Stage) -> Vec<NameSet> {
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
    if stage >= Stage::More {
        sets.extend((2..count).map(NameSet::first));
    }
    if stage >= Stage::All && count <= 5 {
        sets.extend((1..all.0).map(NameSet));
    }
    sets.sort_by_key(|set| (set.len(), *set));
    sets.dedup();
    sets.retain(|set| *set != all || count == 1);
    sets
}
