//! Failures as findings with source frames.

use setpoint_source::{
    Basis, Diagnostic, Gap, Judgement, Reason, Rule, Severity, Sources, Standing, Witness,
};

use super::{need_text, object_name, run_story, step_name};
use crate::concrete::{Answer, Explanation, Failure, Ground, Limit, Outcome, Run, Wait};
use crate::instance::ObjectId;
use crate::model::Model;
use crate::parametric::{Proof, Wrong};

/// The findings of a check of one instance: what it breaks of the model's requirements, and how a run goes wrong.
pub fn outcome_findings(ground: &Ground<'_>, outcome: &Outcome, sources: &Sources) -> Vec<Diagnostic> {
    let mut out = ground.malformed.clone();
    match (&outcome.failure, &outcome.run) {
        (Some(Failure::Deadlock(explanation)), Some(run)) => {
            out.push(deadlock_finding(ground, explanation, run, sources));
        }
        (Some(Failure::Endless { prefix }), Some(run)) => {
            out.push(endless_finding(ground, *prefix, run, sources));
        }
        _ => {}
    }
    if outcome.reaches_final == Answer::Unknown {
        out.push(match outcome.limit {
            Some(Limit::Messages) => crowded_finding(ground),
            Some(Limit::States) | None => Diagnostic::new(
                Rule::Undecided,
                format!(
                    "{} has too many states to say whether every run reaches a final state",
                    ground.instance.name
                ),
            )
            .severity(Severity::Warning),
        });
    }
    out
}

/// The answer of a check of one instance, with the findings that tell it.
pub fn outcome_answer(outcome: &Outcome, findings: &[Diagnostic]) -> Judgement {
    let told = |rules: &[Rule]| findings.iter().find(|finding| rules.contains(&finding.rule));
    match (outcome.reaches_final, told(&[Rule::Deadlock, Rule::EndlessRun])) {
        (Answer::Yes, _) => Judgement::Proved(Basis::of([Standing::CreationSucceeds])),
        (Answer::No, Some(finding)) => Judgement::refuted(Witness::of(finding)),
        _ => Judgement::unknown(match told(&[Rule::Undecided, Rule::MalformedInstance]) {
            Some(finding) => Reason::of(Gap::Limit, finding),
            None => Reason::new(Gap::Undecided, "the search ended without an answer"),
        }),
    }
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
    if explanation.stuck.len() > objects.len() {
        let stuck: Vec<String> = explanation.stuck.iter().map(|&id| object_name(ground, id)).collect();
        found = found.with_note(format!("what does not arrive: {}", shortened(&stuck)));
    }
    found = found.with_resources(objects.iter().map(|&id| object_name(ground, id)));
    found.with_story(run_story(ground, run, sources))
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

/// The answer of a proof for any number of objects, with the findings that tell it.
pub fn proof_answer(proof: &Proof, findings: &[Diagnostic]) -> Judgement {
    let told = |rules: &[Rule]| findings.iter().find(|finding| rules.contains(&finding.rule));
    match (proof.answer, told(&[Rule::Deadlock, Rule::EndlessRun, Rule::BrokenInvariant])) {
        (Answer::Yes, _) => Judgement::Proved(Basis::nothing()),
        (Answer::No, Some(finding)) => Judgement::refuted(Witness::of(finding)),
        _ => Judgement::unknown(match told(&[Rule::NotProved, Rule::VacuousModel]) {
            Some(finding) => Reason::of(Gap::Undecided, finding),
            None => Reason::new(Gap::Undecided, "neither proved nor refuted"),
        }),
    }
}

/// The findings of a proof: a counterexample, a rule that never applies, a condition that stays open.
pub fn proof_findings(model: &Model, proof: &Proof, sources: &Sources) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    if let Some(found) = &proof.counterexample
        && let Ok(ground) = Ground::new(model, &found.instance)
    {
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
        finding.notes.insert(
            0,
            setpoint_source::spoken(format!("in the smallest instance: {}", instance_text(&ground))),
        );
        let steps: Vec<String> = found.run.steps.iter().map(|&step| step_name(&ground, step)).collect();
        if steps.is_empty() {
            finding.note("at the start already");
        } else {
            finding.note(format!("after {}", shortened(&steps)));
        }
        if !proof.suggestion.is_empty() {
            finding.help(format!("it is enough to require: {}", proof.suggestion.join("; ")));
        }
        out.push(finding);
    }
    if !proof.vacuity.inhabited && proof.counterexample.is_none() {
        out.push(
            Diagnostic::new(
                Rule::VacuousModel,
                "no small instance with an object of every class satisfies `init`",
            )
            .with_help("look for a requirement that contradicts another"),
        );
    }
    for &rule in proof.vacuity.unused.iter().filter(|_| proof.counterexample.is_none()) {
        let rule_definition = &model.rules[rule];
        let message = if proof.vacuity.dead.contains(&rule) {
            format!("rule `{}` never applies", rule_definition.name)
        } else {
            format!("rule `{}` applied in no run of a small instance", rule_definition.name)
        };
        out.push(Diagnostic::new(Rule::VacuousModel, message).at(rule_definition.span));
    }
    if proof.answer == Answer::Unknown {
        let open: Vec<String> = proof
            .conditions
            .iter()
            .filter(|condition| condition.answer == Answer::Unknown)
            .map(|condition| format!("({}) {}", condition.number, condition.statement))
            .chain(
                proof
                    .stated
                    .iter()
                    .filter(|stated| stated.answer == Answer::Unknown)
                    .map(|stated| format!("invariant {}", stated.name)),
            )
            .collect();
        if !open.is_empty() {
            let message = format!("{} was neither proved nor refuted", model.name);
            out.push(
                Diagnostic::new(Rule::NotProved, message).with_note(format!("open: {}", open.join(", "))),
            );
        }
    }
    out
}

/// `resource1; property1 { parent = resource1, refer = resource1 }`.
pub(super) fn instance_text(ground: &Ground<'_>) -> String {
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
            let links: Vec<String> = class
                .links
                .iter()
                .zip(&object.links)
                .map(|(link, target)| format!("{} = {}", link.name, object_name(ground, target.target)))
                .collect();
            let links = if links.is_empty() { String::new() } else { format!(" {{ {} }}", links.join(", ")) };
            format!("{}{kind}{links}", object.id)
        })
        .collect();
    if objects.is_empty() { "one without objects".to_owned() } else { objects.join("; ") }
}
