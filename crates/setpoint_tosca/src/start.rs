//! Whether a topology can start, and if not, what waits for what.

use setpoint_orchestra::concrete::{self, Answer, Facts, Failure, Ground, Limits};
use setpoint_orchestra::{Instance, Model, ObjectId, findings};
use setpoint_source::Diagnostic;

/// Decides whether every run of an instance ends with all nodes started.
pub fn can_start(model: &Model, instance: &Instance, facts: &Facts) -> (Answer, Vec<Diagnostic>) {
    let ground = match Ground::new(model, instance) {
        Ok(ground) => ground,
        Err(message) => {
            return (Answer::Unknown, vec![Diagnostic::new(&findings::MALFORMED_INSTANCE, message)]);
        }
    };
    let outcome = concrete::check(&ground, facts, Limits::default());
    let finding = match &outcome.failure {
        Some(Failure::Deadlock(explanation)) => Some(deadlock(&ground, explanation)),
        Some(Failure::Endless { .. }) => Some(Diagnostic::new(
            &findings::ENDLESS_RUN,
            "the rules can go round in a circle and never come to an end",
        )),
        None => None,
    };
    (outcome.reaches_final, finding.into_iter().collect())
}

fn deadlock(ground: &Ground<'_>, explanation: &concrete::Explanation) -> Diagnostic {
    let is_node =
        |id: &ObjectId| ground.model.class(ground.instance.object(*id).class).name.as_str() == "node";
    let waits = if explanation.cycle.is_empty() { &explanation.chain } else { &explanation.cycle };
    let in_circle: Vec<ObjectId> = waits.iter().map(|wait| wait.from).filter(|id| is_node(id)).collect();
    let named = if in_circle.is_empty() {
        explanation.stuck.iter().copied().filter(|id| is_node(id)).collect()
    } else {
        in_circle
    };
    let names: Vec<String> = named.iter().map(|id| ground.instance.object(*id).id.clone()).collect();
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    let message = match quoted.as_slice() {
        [] => "the topology can never start".to_owned(),
        [one] => format!("{one} can never start"),
        [rest @ .., last] if !explanation.cycle.is_empty() => {
            format!("{} and {last} wait for each other, so the topology can never start", rest.join(", "))
        }
        [rest @ .., last] => format!("{} and {last} can never start", rest.join(", ")),
    };
    let mut finding = Diagnostic::new(&findings::DEADLOCK, message).with_resources(names);
    // A relationship is one line of the source, and several objects of the instance.
    let mut seen = Vec::new();
    for wait in waits {
        let object = [wait.from, wait.to]
            .into_iter()
            .map(|id| ground.instance.object(id))
            .find(|one| !one.links.is_empty());
        let Some((object, span)) = object.and_then(|one| Some((one, one.span?))) else { continue };
        if seen.contains(&span) {
            continue;
        }
        seen.push(span);
        let kind =
            object.kind.map_or("", |kind| ground.model.class(object.class).types[usize::from(kind)].as_str());
        let text = format!("{} ({kind})", object.id);
        finding =
            if seen.len() == 1 { finding.at(span).labelled(text) } else { finding.with_label(span, text) };
    }
    let others = explanation.stuck.iter().filter(|id| is_node(id)).count().saturating_sub(named.len());
    if others > 0 {
        let plural = if others == 1 { "node waits" } else { "nodes wait" };
        finding = finding.with_note(format!("{others} more {plural} for them."));
    }
    finding.with_help(
        "Remove one of the requirements of the circle, or move what it is for into a node of its own.",
    )
}
