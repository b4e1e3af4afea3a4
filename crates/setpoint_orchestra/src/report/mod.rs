//! Answers as text and JSON, and as findings. Every front end speaks of runs, deadlocks and proofs in the same words.

mod findings;
mod graph;
mod proof;
mod run;

pub use findings::{crowded_finding, deadlock_finding, judge_outcome, judge_proof};
pub use graph::{graph_diagram, graph_json};
pub use proof::{proof_json, proof_text};
pub use run::{explored_json, explored_text, run_json, run_story, run_text, state_json};

use crate::concrete::{Ground, Need};
use crate::instance::ObjectId;

/// `id`, as users know the object.
pub fn object_name(ground: &Ground<'_>, object: ObjectId) -> String {
    ground.instance.object(object).id.clone()
}

/// `R02 "start the node" (MySQL)`.
pub fn step_name(ground: &Ground<'_>, step: usize) -> String {
    let step = &ground.steps[step];
    let rule = &ground.model.rules[step.rule];
    let objects: Vec<String> = step.binding.iter().map(|&object| object_name(ground, object)).collect();
    match &rule.title {
        Some(title) => format!("{} {title} ({})", rule.name, objects.join(", ")),
        None => format!("{} ({})", rule.name, objects.join(", ")),
    }
}

/// `to be started`, `to have the message opened`.
pub(crate) fn need_text(ground: &Ground<'_>, object: ObjectId, need: Need) -> String {
    let class = ground.model.class(ground.instance.object(object).class);
    match need {
        Need::State(states) => {
            let names: Vec<&str> = states
                .iter()
                .filter_map(|state| class.states.get(state as usize))
                .map(|name| name.as_str())
                .collect();
            format!("to be {}", names.join(" or "))
        }
        Need::Message(message) => format!("to have the message {}", class.messages[message as usize]),
        Need::NoMessage(message) => format!("to have no message {}", class.messages[message as usize]),
    }
}
