//! Failures as findings with source frames.

use setpoint_source::{Diagnostic, Gap, Judgement, Reason, Rule, Severity, Sources, Span, Witness};

use super::{need_text, object_name, run_story, step_name};
use crate::concrete::{Explanation, Failure, FailureEnd, Ground, Need, Open, Outcome, Run, Wait};
use crate::describe::formula_text;
use crate::instance::ObjectId;
use crate::model::{Model, ModelRule};
use crate::parametric::{Allowed, Condition, Counterexample, Proof, Unproved, Wrong};

/// Returns the answer about one instance, and the findings that tell it: what the instance breaks of the model's
/// requirements, how a run goes wrong, what ended the search.
pub fn judge_outcome(
    ground: &Ground<'_>,
    outcome: &Outcome,
    sources: &Sources,
) -> (Judgement, Vec<Diagnostic>) {
    let (mut shown, mut open) = (Vec::new(), Vec::new());
    let answer = outcome.answer.clone().map(
        |failure| {
            let finding = failure_finding(ground, &failure, sources);
            let witness = Witness::of(&finding);
            shown.push(finding);
            witness
        },
        |reason| {
            let (gap, finding) = open_finding(ground, reason);
            let why = Reason::of(gap, &finding);
            // What is malformed has findings already, each with its place.
            if reason != Open::Malformed {
                open.push(finding);
            }
            why
        },
    );
    let mut findings = ground.malformed.clone();
    findings.append(&mut shown);
    findings.append(&mut open);
    (answer, findings)
}

fn failure_finding(ground: &Ground<'_>, failure: &Failure, sources: &Sources) -> Diagnostic {
    match &failure.end {
        FailureEnd::Deadlock(explanation) => deadlock_finding(ground, explanation, &failure.run, sources),
        FailureEnd::Endless { prefix } => endless_finding(ground, *prefix, &failure.run, sources),
    }
}

fn open_finding(ground: &Ground<'_>, open: Open) -> (Gap, Diagnostic) {
    let name = &ground.instance.name;
    let (gap, finding) = match open {
        Open::Messages => (Gap::Limit, crowded_finding(ground)),
        Open::States => {
            let message =
                format!("{name} has too many states to say whether every run reaches a final state");
            (Gap::Limit, Diagnostic::new(Rule::Undecided, message).severity(Severity::Warning))
        }
        Open::Malformed => {
            let first = ground.malformed.first().cloned();
            let message = format!("`{name}` breaks what the rule set requires");
            (Gap::Malformed, first.unwrap_or_else(|| Diagnostic::new(Rule::MalformedInstance, message)))
        }
        Open::Empty => {
            let message = format!("`{name}` has no objects, so no run was looked at");
            (Gap::NothingEntered, Diagnostic::new(Rule::NothingChecked, message))
        }
    };
    let place = ground.instance.span.or_else(|| ground.instance.objects.first()?.span);
    (gap, if let Some(place) = place { finding.at_least(place) } else { finding })
}

/// Nothing is said of runs in which more messages wait at one place than are counted.
pub fn crowded_finding(ground: &Ground<'_>) -> Diagnostic {
    Diagnostic::new(
        Rule::Undecided,
        format!(
            "in `{}` more than 255 messages can wait at one object: they are not counted further",
            ground.instance.name
        ),
    )
    .severity(Severity::Warning)
    .with_help("let the rule that sends the message wait until the last one is gone: `when not x has m`")
}

/// A deadlock, with the circle or chain of waits and the line of every link in it.
pub fn deadlock_finding(
    ground: &Ground<'_>,
    explanation: &Explanation,
    run: &Run,
    sources: &Sources,
) -> Diagnostic {
    let waits = from_the_first_stuck(explanation);
    let objects = objects_of(explanation);
    let who = named(ground, &objects);
    let message = match (explanation.cycle.is_empty(), waits.last()) {
        (false, _) if objects.len() == 1 => format!("{who} waits for itself, and never arrives"),
        (false, _) => format!("{who} wait for each other in a circle, and never arrive"),
        (true, Some(last)) => format!(
            "{who} never arrives: nothing can bring {} {}",
            object_name(ground, last.to),
            need_text(ground, last.to, last.need)
        ),
        (true, None) => format!("{who} never arrives: no rule moves it on from here"),
    };
    let mut found = Diagnostic::new(Rule::Deadlock, message);
    // What happens along one link is one line of the source, and several objects of the instance.
    let place = |wait: &Wait| wait.span(ground).or(ground.instance.object(wait.from).span);
    for group in waits.chunk_by(|one, next| place(one).is_some() && place(one) == place(next)) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let text = wait_text(ground, first.from, last, group);
        match place(first) {
            Some(span) if found.span.is_none() => {
                found.span = Some(span);
                found = found.labelled(text);
            }
            Some(span) => found = found.with_label(span, text),
            None => found = found.with_note(text),
        }
    }
    for text in holders(ground, &waits, run) {
        found = found.with_note(text);
    }
    if explanation.stuck.len() > objects.len() {
        let stuck: Vec<String> = explanation.stuck.iter().map(|&id| object_name(ground, id)).collect();
        found = found.with_note(format!("what does not arrive: {}", shortened(&stuck)));
    }
    found = found.with_resources(objects.iter().map(|&id| object_name(ground, id)));
    found.with_story(run_story(ground, run, sources))
}

/// Who holds what: of each object that was as it is needed at the start, the step that changed it, and by whom.
fn holders(ground: &Ground<'_>, waits: &[Wait], run: &Run) -> Vec<String> {
    let mut out = Vec::new();
    for wait in waits {
        let Need::State(needed) = wait.need else { continue };
        let (start, end) = (ground.state_of(&ground.start, wait.to), ground.state_of(&run.end, wait.to));
        if !needed.contains(start) || needed.contains(end) {
            continue;
        }
        let cell = wait.to.index() as u32;
        let changes = |step: usize| ground.steps[step].writes.iter().any(|&(written, _)| written == cell);
        let Some(number) = run.steps.iter().rposition(|&step| changes(step)) else { continue };
        let step = &ground.steps[run.steps[number]];
        let Some(&holder) = step.binding.iter().find(|&&object| object != wait.to) else { continue };
        let class = ground.model.class(ground.instance.object(wait.to).class);
        let Some(state) = class.states.get(end as usize) else { continue };
        let text = format!(
            "{} holds {}: it is {state} since step {} ({})",
            object_name(ground, holder),
            object_name(ground, wait.to),
            number + 1,
            ground.model.rules[step.rule].name
        );
        if !out.contains(&text) {
            out.push(text);
        }
    }
    out
}

/// The circle or chain of waits; a circle from the first of its objects that the final state is about.
fn from_the_first_stuck(explanation: &Explanation) -> Vec<Wait> {
    if explanation.cycle.is_empty() {
        return explanation.chain.clone();
    }
    let mut waits = explanation.cycle.clone();
    if let Some(at) = waits.iter().position(|wait| explanation.stuck.contains(&wait.from)) {
        waits.rotate_left(at);
    }
    waits
}

fn objects_of(explanation: &Explanation) -> Vec<ObjectId> {
    let waits = if explanation.cycle.is_empty() { &explanation.chain } else { &explanation.cycle };
    // The objects that the final state is about stand for the small ones between them.
    let mut out: Vec<ObjectId> =
        waits.iter().map(|wait| wait.from).filter(|object| explanation.stuck.contains(object)).collect();
    if out.is_empty() {
        out = waits.iter().map(|wait| wait.from).collect();
    }
    if out.is_empty() {
        out = explanation.stuck.iter().copied().take(1).collect();
    }
    out
}

fn named(ground: &Ground<'_>, objects: &[ObjectId]) -> String {
    let names: Vec<String> = objects.iter().map(|&object| object_name(ground, object)).collect();
    match &names[..] {
        [] => ground.instance.name.clone(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

fn shortened(names: &[String]) -> String {
    const SHOWN: usize = 12;
    if names.len() <= SHOWN {
        return names.join(", ");
    }
    format!("{} and {} more", names[..SHOWN].join(", "), names.len() - SHOWN)
}

/// Who waits for what in the end, and the rules of all waits between them.
fn wait_text(ground: &Ground<'_>, from: ObjectId, last: &Wait, group: &[Wait]) -> String {
    let rules: Vec<&str> = group.iter().map(|wait| ground.model.rules[wait.rule].name.as_str()).collect();
    format!(
        "{} waits for {} {} ({})",
        object_name(ground, from),
        object_name(ground, last.to),
        need_text(ground, last.to, last.need),
        rules.join(", ")
    )
}

fn endless_finding(ground: &Ground<'_>, prefix: usize, run: &Run, sources: &Sources) -> Diagnostic {
    let round: Vec<String> =
        run.steps[prefix.min(run.steps.len())..].iter().map(|&step| step_name(ground, step)).collect();
    let mut found = Diagnostic::new(
        Rule::EndlessRun,
        format!("{} can go round for ever without reaching a final state", ground.instance.name),
    )
    .with_note(format!("after {prefix} steps these repeat: {}", shortened(&round)));
    let last = run.steps.last().map(|&step| ground.model.rules[ground.steps[step].rule].span);
    found.span = last;
    found.with_story(run_story(ground, run, sources))
}

/// Returns the answer about a rule set for any number of objects, and the findings that tell it: a counterexample, a rule
/// that never applies, a condition that stays open.
pub fn judge_proof(model: &Model, proof: &Proof, sources: &Sources) -> (Judgement, Vec<Diagnostic>) {
    let (mut shown, mut vacuous, mut open) = (Vec::new(), Vec::new(), Vec::new());
    let answer = proof.answer.clone().map(
        |found| {
            let finding = counterexample_finding(model, &found, &proof.suggestion, sources);
            let witness = Witness::of(&finding);
            shown.push(finding);
            witness
        },
        |reason| {
            let (mut words, span) = unproved_text(model, proof, reason);
            match reason {
                Unproved::Condition(_) | Unproved::Invariant(_) => {
                    open.push(words.clone());
                    words.push_str(" was neither proved nor refuted");
                }
                Unproved::Empty | Unproved::Uninhabited | Unproved::Unused(_) | Unproved::FinalAtStart => {
                    let mut finding = Diagnostic::new(Rule::VacuousModel, words.as_str());
                    finding.span = span;
                    if reason == Unproved::Uninhabited {
                        finding.help("look for a requirement that contradicts another");
                    }
                    vacuous.push(finding);
                }
            }
            Reason::new(Gap::Undecided, words).at(span)
        },
    );
    let mut findings = shown;
    findings.append(&mut vacuous);
    if !open.is_empty() {
        let message = format!("{} was neither proved nor refuted", model.name);
        let mut finding =
            Diagnostic::new(Rule::NotProved, message).with_note(format!("open: {}", open.join(", ")));
        if let Some(allowed) = &proof.allowed {
            tell_allowed(model, allowed, &mut finding);
        }
        findings.push(finding);
    }
    (answer, findings)
}

/// The state that was not excluded, and what would exclude it.
fn tell_allowed(model: &Model, allowed: &Allowed, finding: &mut Diagnostic) {
    let Ok(ground) = Ground::new(model, &allowed.instance) else { return };
    let what = match &allowed.wrong {
        Wrong::Endless { prefix } => {
            let round: Vec<String> = allowed.run.steps[(*prefix).min(allowed.run.steps.len())..]
                .iter()
                .map(|&step| step_name(&ground, step))
                .collect();
            format!("from which these repeat: {}", shortened(&round))
        }
        Wrong::Deadlock(_) | Wrong::Invariant(_) => "in which no rule applies".to_owned(),
    };
    finding.note(format!("not excluded is a state {what}: {}", allowed_text(model, allowed)));
    if let Some(helpful) = &allowed.helpful {
        let text = formula_text(model, helpful);
        finding.help(if allowed.suffices {
            format!("it would be enough to know that {text}; this holds in all small instances")
        } else {
            format!("it would help to know that {text}; this holds in all small instances")
        });
    }
}

/// The objects of a state that was not excluded, as an instance of the rule language.
pub(super) fn allowed_text(model: &Model, allowed: &Allowed) -> String {
    match Ground::new(model, &allowed.instance) {
        Ok(ground) => objects_text(&ground, true),
        Err(_) => String::new(),
    }
}

/// What is open, in words, and where it stands.
fn unproved_text(model: &Model, proof: &Proof, open: Unproved) -> (String, Option<Span>) {
    let final_span = model.finals.first().map(|claim| claim.span);
    let anywhere = || {
        let class = model.classes.first().map(|class| class.span);
        final_span.or(model.init.first().map(|claim| claim.span)).or(class)
    };
    match open {
        Unproved::Condition(at) => {
            let Condition { number, statement, .. } = &proof.conditions[at];
            (format!("({number}) {statement}"), anywhere())
        }
        Unproved::Invariant(at) => {
            (format!("invariant {}", proof.stated[at].name), model.invariants.get(at).map(|one| one.span))
        }
        Unproved::Empty => ("the rule set has no rules, so nothing runs".to_owned(), anywhere()),
        Unproved::FinalAtStart => {
            ("every start is final already, so nothing is said of any run".to_owned(), anywhere())
        }
        Unproved::Uninhabited => (
            "no small instance with an object of every class satisfies `init`".to_owned(),
            model.init.first().map(|claim| claim.span).or_else(anywhere),
        ),
        Unproved::Unused(rule) => {
            let ModelRule { name, span, .. } = &model.rules[rule];
            let words = if proof.vacuity.dead.contains(&rule) {
                format!("rule `{name}` never applies")
            } else {
                format!("rule `{name}` applied in no run of a small instance")
            };
            (words, Some(*span))
        }
    }
}

fn counterexample_finding(
    model: &Model,
    found: &Counterexample,
    suggestion: &[String],
    sources: &Sources,
) -> Diagnostic {
    let Ok(ground) = Ground::new(model, &found.instance) else {
        return Diagnostic::new(
            Rule::Deadlock,
            "a small instance has a run that never reaches a final state",
        );
    };
    let mut finding = match &found.wrong {
        Wrong::Deadlock(explanation) => deadlock_finding(&ground, explanation, &found.run, sources),
        Wrong::Endless { prefix } => endless_finding(&ground, *prefix, &found.run, sources),
        Wrong::Invariant(at) => {
            let invariant = &model.invariants[*at];
            Diagnostic::new(
                Rule::BrokenInvariant,
                format!("invariant `{}` does not hold in every reachable state", invariant.name),
            )
            .at(invariant.span)
            .with_story(run_story(&ground, &found.run, sources))
        }
    };
    // The instance is not in any file; the rule of the last step, or else the final predicate, is.
    if finding.span.is_none() {
        let last = found.run.steps.last().map(|&step| model.rules[ground.steps[step].rule].span);
        finding.span = last.or(model.finals.first().map(|claim| claim.span));
    }
    let instance = setpoint_source::spoken(format!("in the smallest instance: {}", instance_text(&ground)));
    finding.notes.insert(0, instance);
    let steps: Vec<String> = found.run.steps.iter().map(|&step| step_name(&ground, step)).collect();
    if steps.is_empty() {
        finding.note("at the start already");
    } else {
        finding.note(format!("after {}", shortened(&steps)));
    }
    if !suggestion.is_empty() {
        finding.help(format!("it is enough to require: {}", suggestion.join("; ")));
    }
    finding
}

/// `resource1; property1 { parent = resource1, refer = resource1 }`.
pub(super) fn instance_text(ground: &Ground<'_>) -> String {
    objects_text(ground, false)
}

fn objects_text(ground: &Ground<'_>, with_states: bool) -> String {
    let objects: Vec<String> = ground
        .instance
        .ids()
        .map(|id| {
            let object = ground.instance.object(id);
            let class = ground.model.class(object.class);
            let kind = object
                .kind
                .and_then(|kind| class.types.get(kind as usize))
                .map(|kind| format!(" of {kind}"))
                .unwrap_or_default();
            let state = object
                .state
                .filter(|_| with_states)
                .and_then(|state| class.states.get(state as usize))
                .map(|state| format!(" is {state}"))
                .unwrap_or_default();
            let links: Vec<String> = class
                .links
                .iter()
                .zip(&object.links)
                .map(|(link, target)| format!("{} = {}", link.name, object_name(ground, target.target)))
                .collect();
            let links = if links.is_empty() { String::new() } else { format!(" {{ {} }}", links.join(", ")) };
            format!("{}{kind}{state}{links}", object.id)
        })
        .collect();
    if objects.is_empty() { "one without objects".to_owned() } else { objects.join("; ") }
}
