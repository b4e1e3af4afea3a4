//! The whole proof of one model, and what it rests on.

use setpoint_source::{Answer, Basis, Reasons, Symbol};

use super::excluded::{Allowed, find_allowed};
use super::infer::{Inferred, follows_from_start, infer, prove_stated};
use super::measure::{Measure, measure};
use super::persistence::{Persistence, persistence};
use super::progress::{BRIEF, Grounds, Minimal, THOROUGH, Try, Where, progress};
use super::question::{BEFORE, Depth, Question};
use super::suggest::suggest;
use super::survey::{Budget, Counterexample, Survey, Wrong, survey};
use super::view::Viewpoint;
use crate::concrete::Facts;
use crate::model::{Formula, Model, TypeId};

/// How hard to try. Counted, not timed, so that answers can be repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// States of small instances that are looked at before the proof, and after it if it fails.
    pub first_states: usize,
    pub last_states: usize,
    /// Objects of the largest instances that are looked at.
    pub objects: usize,
    /// Invariants about two objects of a class are tried where those about one are not enough.
    pub pairs: bool,
}

impl Default for Effort {
    fn default() -> Self {
        Self { first_states: 12_000, last_states: 400_000, objects: 12, pairs: true }
    }
}

/// One of the five conditions that are sufficient for `init leads-to final`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    pub number: u8,
    pub name: &'static str,
    pub statement: &'static str,
    pub answer: PartAnswer,
    /// How it was shown, if it was.
    how: &'static str,
}

impl Condition {
    /// How it was shown, or what is open.
    pub fn reason(&self) -> &'static str {
        match self.answer {
            Answer::Proved(_) => self.how,
            Answer::Refuted { .. } => "the counterexample below refutes it",
            Answer::Unknown(_) => "neither a proof nor a small counterexample was found",
        }
    }
}

/// The answer about a part of a proof.
pub type PartAnswer = Answer<InCounterexample, NotFound>;

/// The part is false in the counterexample of the proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InCounterexample;

/// Neither a proof nor a small counterexample was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotFound;

fn part_answer(proved: bool, refuted: bool) -> PartAnswer {
    match (refuted, proved) {
        (true, _) => Answer::refuted(InCounterexample),
        (false, true) => Answer::Proved(Basis::nothing()),
        (false, false) => Answer::unknown(NotFound),
    }
}

/// A stated invariant and whether it holds in all reachable states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stated {
    pub name: Symbol,
    pub answer: PartAnswer,
}

/// Relations whose acyclicity is enough, each by itself: pairs of an edge of a declared relation and the type of the
/// object that makes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Needed {
    pub relation: usize,
    pub edges: Vec<(usize, Option<TypeId>)>,
}

/// Whether the proof is about anything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Vacuity {
    /// There is an initial state with an object of every class.
    pub inhabited: bool,
    /// Rules that were applied in no run that was looked at, and of these the ones that were shown never to apply.
    pub unused: Vec<usize>,
    pub dead: Vec<usize>,
}

impl Vacuity {
    pub fn is_fine(&self) -> bool {
        self.inhabited && self.unused.is_empty()
    }
}

/// Why a rule set is not proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unproved {
    /// The condition at this place of [`Proof::conditions`] is open.
    Condition(usize),
    /// The invariant at this place of [`Proof::stated`] is open.
    Invariant(usize),
    /// There are no rules, or no classes.
    Empty,
    /// No small instance with an object of every class satisfies `init`.
    Uninhabited,
    /// The rule was applied in no run of a small instance.
    Unused(usize),
    /// Every start is final already, and no invariant is stated: nothing is said of any run.
    FinalAtStart,
}

#[derive(Clone, Debug)]
pub struct Proof {
    /// Every run from every initial state of every instance reaches a final state, and this is not vacuous.
    pub answer: Answer<Counterexample, Unproved>,
    pub conditions: Vec<Condition>,
    /// The inferred invariants; together they are inductive.
    pub invariants: Vec<Formula>,
    pub stated: Vec<Stated>,
    pub measure: Option<Measure>,
    /// Uses of the cyclic dependency lemma in the proof of progress wherever the invariants hold.
    pub minimal: Vec<Minimal>,
    /// Uses of the lemma in the proof of condition (1), if it has one of its own.
    pub at_start: Vec<Minimal>,
    /// Uses of the lemma after each rule, where condition (2) is proved step by step and progress elsewhere is open.
    pub after_rules: Option<Vec<Vec<Minimal>>>,
    /// The acyclicity that the proof of progress needs; weaker than what is declared if it could be.
    pub needed: Vec<Needed>,
    /// If progress fails for a circle: acyclicity that would be enough, in the words of the rule language.
    pub suggestion: Vec<String>,
    pub persistence: Persistence,
    pub vacuity: Vacuity,
    /// If it is neither proved nor refuted: a state that was not excluded.
    pub allowed: Option<Allowed>,
    /// Small instances that were run in every way, and their largest size.
    pub instances: usize,
    pub states: usize,
    pub complete_to: usize,
}

impl Proof {
    /// What the concrete engine may rely on.
    pub fn facts(&self) -> Facts {
        let inductive =
            self.conditions.iter().filter(|one| one.number >= 4).all(|one| one.answer.is_proved());
        Facts {
            confluent: inductive && self.persistence.holds(),
            terminating: inductive && is_everywhere(self.measure.as_ref()),
        }
    }
}

/// Proves or refutes that every run of every instance reaches a final state.
pub fn prove(model: &Model, effort: Effort) -> Proof {
    let (mut survey, inferred) = infer_from_survey(model, Viewpoint::of_model(model), effort, false);
    let mut attempt = Attempt::new(model, inferred, survey.wrong.is_some());
    // Invariants with a witness, and those about two objects of a class, may say what those about one cannot.
    for (pairs, witnesses) in [(false, true), (true, false), (true, true)] {
        // A proof of progress wherever the invariants hold is one that a certificate can state.
        let done = attempt.is_complete() && attempt.everywhere.is_some();
        if survey.wrong.is_some() || done || (pairs && !effort.pairs) {
            break;
        }
        let mut viewpoints = Viewpoint::of_model(model);
        if pairs {
            viewpoints.extend(Viewpoint::pairs_of_model(model));
        }
        let (_, inferred) = infer_from_survey(model, viewpoints, effort, witnesses);
        let next = Attempt::new(model, inferred, false);
        if next.score() > attempt.score() {
            attempt = next;
        }
    }
    let first = vacuity(model, &survey, &attempt.known);
    let unseen = !first.inhabited || first.unused.iter().any(|rule| !first.dead.contains(rule));
    if survey.wrong.is_none() && (!attempt.is_complete() || unseen) {
        // One run tells of deadlocks; invariants that are open need all states.
        let one_run =
            !unseen && attempt.facts().one_run_decides() && attempt.stated.iter().all(|&proved| proved);
        let budget = Budget {
            objects: effort.objects,
            states: effort.last_states,
            instances: 50_000,
            candidates: 50_000,
            one_run,
        };
        survey = survey.followed_by(super::survey::survey(model, &[], budget));
    }
    let vacuity = vacuity(model, &survey, &attempt.known);
    let conditions = conditions(&attempt, &survey);
    let stated = stated_answers(model, &attempt.stated, &survey);
    let mut unproved = unproved(model, &conditions, &stated, &vacuity);
    if model.invariants.is_empty() && follows_from_start(model, &model.final_formula()) {
        unproved.push(Unproved::FinalAtStart);
    }
    let allowed = if survey.wrong.is_none() {
        let open = |number: u8| conditions.iter().any(|one| one.number == number && one.answer.is_unknown());
        let (stuck, endless) = (open(1) || open(2), open(3));
        (stuck || endless).then(|| find_allowed(model, &attempt.known, stuck, endless)).flatten()
    } else {
        None
    };
    let circle = matches!(&survey.wrong, Some(Counterexample { wrong: Wrong::Deadlock(found), .. })
        if !found.cycle.is_empty());
    let suggestion = if circle { suggest(model, &attempt.known) } else { Vec::new() };
    // What is proved wherever the invariants hold needs no other acyclicity at the start.
    let uses: Vec<Minimal> = if let Some(grounds) = &attempt.everywhere {
        grounds.minimal.clone()
    } else {
        let steps = attempt.after_rules.iter().flatten();
        attempt.at_start.grounds.iter().chain(steps).flat_map(|one| one.minimal.clone()).collect()
    };
    let answer = match survey.wrong {
        // With a counterexample at hand less is tried, and what stays open says nothing.
        Some(witness) => Answer::refuted(witness),
        None => Reasons::from_vec(unproved).map_or(Answer::Proved(Basis::nothing()), Answer::Unknown),
    };
    Proof {
        answer,
        conditions,
        invariants: attempt.inferred.formulas,
        stated,
        measure: attempt.measure,
        needed: needed(&uses),
        at_start: attempt.at_start.grounds.map(|grounds| grounds.minimal).unwrap_or_default(),
        after_rules: attempt
            .after_rules
            .filter(|_| attempt.everywhere.is_none())
            .map(|rules| rules.into_iter().map(|grounds| grounds.minimal).collect()),
        minimal: attempt.everywhere.map(|grounds| grounds.minimal).unwrap_or_default(),
        suggestion,
        persistence: attempt.persistence,
        vacuity,
        allowed,
        instances: survey.instances,
        states: survey.states,
        complete_to: survey.complete_to,
    }
}

/// Returns all that keeps a rule set from being proved. Nothing only if all five conditions and all stated invariants are
/// proved, and the proof is about something.
fn unproved(model: &Model, conditions: &[Condition], stated: &[Stated], vacuity: &Vacuity) -> Vec<Unproved> {
    let conditions = conditions.iter().enumerate().filter(|(_, one)| one.answer.is_unknown());
    let stated = stated.iter().enumerate().filter(|(_, one)| one.answer.is_unknown());
    let mut out: Vec<Unproved> = conditions.map(|(at, _)| Unproved::Condition(at)).collect();
    out.extend(stated.map(|(at, _)| Unproved::Invariant(at)));
    if model.rules.is_empty() || model.classes.is_empty() {
        out.push(Unproved::Empty);
    }
    if !vacuity.inhabited {
        out.push(Unproved::Uninhabited);
    }
    out.extend(vacuity.unused.iter().map(|&rule| Unproved::Unused(rule)));
    out
}

/// The measure decreases with every step, from final states too: no run goes on for ever.
fn is_everywhere(measure: Option<&Measure>) -> bool {
    measure.is_some_and(|measure| !measure.until_final)
}

/// What the concrete engine may rely on.
pub fn facts(model: &Model) -> Facts {
    let effort = Effort { first_states: 2_000, ..Effort::default() };
    let (_, inferred) = infer_from_survey(model, Viewpoint::of_model(model), effort, false);
    let persistence = persistence(model, &inferred.formulas);
    let measure = measure(model, &inferred.formulas);
    Facts {
        confluent: inferred.inductive && persistence.holds(),
        terminating: inferred.inductive && is_everywhere(measure.as_ref()),
    }
}

/// Invariants that begin with what is seen in small instances.
fn infer_from_survey(
    model: &Model,
    viewpoints: Vec<Viewpoint>,
    effort: Effort,
    witnesses: bool,
) -> (Survey, Inferred) {
    let budget = Budget {
        objects: effort.objects.min(8),
        states: effort.first_states,
        instances: 4_000,
        candidates: 8_000,
        one_run: false,
    };
    let mut survey = survey(model, &viewpoints, budget);
    let views = std::mem::take(&mut survey.views);
    let candidates = if witnesses { survey.neighbourhoods.candidates(model) } else { Vec::new() };
    let inferred = infer(model, viewpoints, views, &candidates);
    (survey, inferred)
}

/// What follows from one set of invariants.
struct Attempt {
    inferred: Inferred,
    /// The inferred invariants, and the claims of stated ones that are proved.
    known: Vec<Formula>,
    /// For each claim of each stated invariant whether it is proved.
    stated: Vec<bool>,
    everywhere: Option<Grounds>,
    at_start: StartCondition,
    /// Progress after each rule, if it is proved; not tried where it is proved everywhere.
    after_rules: Option<Vec<Grounds>>,
    measure: Option<Measure>,
    persistence: Persistence,
}

/// Condition (1): whether it is proved, and whether literally.
struct StartCondition {
    proved: bool,
    literal: bool,
    /// What it rests on, if it has a proof of its own.
    grounds: Option<Grounds>,
}

impl Attempt {
    /// If a counterexample is known, less is tried.
    fn new(model: &Model, inferred: Inferred, refuted: bool) -> Self {
        let tries: &[Try] = if refuted { &BRIEF } else { &THOROUGH };
        let claims: Vec<Formula> =
            model.invariants.iter().flat_map(|one| &one.claims).map(|claim| claim.formula.clone()).collect();
        let stated = prove_stated(model, &inferred.formulas, &claims);
        let mut known = inferred.formulas.clone();
        known.extend(claims.into_iter().zip(&stated).filter(|(_, proved)| **proved).map(|(claim, _)| claim));
        let everywhere = progress(model, &known, Where::Invariant, true, tries);
        let at_start = start_condition(model, &known, everywhere.as_ref(), tries);
        let after_rules = match everywhere {
            Some(_) => None,
            None => model
                .rules
                .iter()
                .map(|rule| progress(model, &known, Where::After(rule), true, tries))
                .collect(),
        };
        let measure = measure(model, &known);
        let persistence = persistence(model, &known);
        Self { inferred, known, stated, everywhere, at_start, after_rules, measure, persistence }
    }

    /// Condition (2), by progress everywhere or after each rule.
    fn is_stepping(&self) -> bool {
        self.everywhere.is_some() || self.after_rules.is_some()
    }

    fn facts(&self) -> Facts {
        Facts {
            confluent: self.inferred.inductive && self.persistence.holds(),
            terminating: self.inferred.inductive && is_everywhere(self.measure.as_ref()),
        }
    }

    /// All five conditions and all stated invariants are proved.
    fn is_complete(&self) -> bool {
        self.inferred.inductive
            && self.at_start.proved
            && self.is_stepping()
            && self.measure.is_some()
            && self.stated.iter().all(|&proved| proved)
    }

    /// How much is proved, to compare attempts; nothing counts without invariants that are inductive.
    fn score(&self) -> usize {
        if !self.inferred.inductive {
            return 0;
        }
        let stated = self.stated.iter().filter(|&&proved| proved).count();
        1 + stated
            + usize::from(self.at_start.proved)
            + usize::from(self.is_stepping())
            + usize::from(self.everywhere.is_some())
            + usize::from(self.measure.is_some())
    }
}

fn stated_answers(model: &Model, proved: &[bool], survey: &Survey) -> Vec<Stated> {
    let broken = match &survey.wrong {
        Some(Counterexample { wrong: Wrong::Invariant(at), .. }) => Some(*at),
        _ => None,
    };
    model
        .invariants
        .iter()
        .enumerate()
        .map(|(at, invariant)| {
            let first: usize = model.invariants[..at].iter().map(|earlier| earlier.claims.len()).sum();
            let own = proved.iter().skip(first).take(invariant.claims.len());
            let answer = part_answer(own.copied().all(|one| one), broken == Some(at));
            Stated { name: invariant.name, answer }
        })
        .collect()
}

/// Condition (1), literally if possible: at the start some rule applies. If the start may be final already, it is
/// enough that one applies or the start is final.
fn start_condition(
    model: &Model,
    known: &[Formula],
    everywhere: Option<&Grounds>,
    tries: &[Try],
) -> StartCondition {
    if let Some(grounds) = progress(model, known, Where::Start, false, tries) {
        return StartCondition { proved: true, literal: true, grounds: Some(grounds) };
    }
    if everywhere.is_some() {
        return StartCondition { proved: true, literal: false, grounds: None };
    }
    let grounds = progress(model, known, Where::Start, true, tries);
    StartCondition { proved: grounds.is_some(), literal: false, grounds }
}

fn conditions(attempt: &Attempt, survey: &Survey) -> Vec<Condition> {
    let wrong = survey.wrong.as_ref();
    let stuck_at_start =
        wrong.is_some_and(|found| matches!(found.wrong, Wrong::Deadlock(_)) && found.run.steps.is_empty());
    let stuck_later =
        wrong.is_some_and(|found| matches!(found.wrong, Wrong::Deadlock(_)) && !found.run.steps.is_empty());
    let endless = wrong.is_some_and(|found| matches!(found.wrong, Wrong::Endless { .. }));
    let condition = |number, name, statement, answer, how| Condition { number, name, statement, answer, how };
    let inductive = part_answer(attempt.inferred.inductive, false);
    vec![
        condition(
            1,
            "initcont",
            if attempt.at_start.literal { "init → cont" } else { "init → cont ∨ final" },
            part_answer(attempt.at_start.proved, stuck_at_start),
            "where init holds and no rule applies, the question has no model",
        ),
        condition(
            2,
            "contcont",
            "inv ∧ ¬final → cont′ ∨ final′",
            part_answer(attempt.is_stepping(), stuck_later),
            if attempt.everywhere.is_some() {
                "by (5) and progress: inv ∧ ¬final → cont"
            } else {
                "for each rule, the state after it is final or another rule applies"
            },
        ),
        condition(
            3,
            "mesmes",
            "inv ∧ ¬final → m > m′",
            part_answer(attempt.measure.is_some(), endless),
            "the measure decreases with every way in which a rule can apply",
        ),
        condition(4, "initinv", "init → inv", inductive.clone(), "no other view is seen at the start"),
        condition(5, "invinv", "inv → inv′", inductive, "no rule leads to another view"),
    ]
}

/// The edge sets that must be acyclic, without those that lie within another.
fn needed(uses: &[Minimal]) -> Vec<Needed> {
    let sets: Vec<Needed> = uses
        .iter()
        .map(|minimal| Needed { relation: minimal.relation, edges: minimal.edges.clone() })
        .collect();
    let within = |small: &Needed, large: &Needed| {
        small.relation == large.relation && small.edges.iter().all(|edge| large.edges.contains(edge))
    };
    let mut out: Vec<Needed> = Vec::new();
    for (at, set) in sets.iter().enumerate() {
        let covered = sets.iter().enumerate().any(|(other, larger)| {
            other != at && within(set, larger) && (!within(larger, set) || other < at)
        });
        if !covered {
            out.push(set.clone());
        }
    }
    out
}

fn vacuity(model: &Model, survey: &Survey, invariants: &[Formula]) -> Vacuity {
    let unused: Vec<usize> = (0..model.rules.len()).filter(|&at| !survey.fired[at]).collect();
    let dead = unused
        .iter()
        .copied()
        .filter(|&at| {
            let mut question = Question::new(model, Depth::generations(1));
            for invariant in invariants {
                question.assert(invariant, &[], BEFORE, true);
            }
            let parameters = question.parameters(&model.rules[at]);
            question.fire(&model.rules[at], &parameters, BEFORE);
            question.ask(&[]).is_unsat()
        })
        .collect();
    Vacuity { inhabited: survey.inhabited.is_some(), unused, dead }
}
