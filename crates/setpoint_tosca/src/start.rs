//! Whether a topology can start, and if not, what waits for what.

use setpoint_orchestra::concrete::{self, Facts, Ground, Limits};
use setpoint_orchestra::{Instance, Model, report};
use setpoint_source::{Diagnostic, Gap, Judgement, Reason, Rule, Sources};

/// Decides whether every run of an instance ends with all nodes started.
pub fn can_start(
    model: &Model,
    instance: &Instance,
    facts: &Facts,
    sources: &Sources,
) -> (Judgement, Vec<Diagnostic>) {
    let ground = match Ground::new(model, instance) {
        Ok(ground) => ground,
        Err(message) => {
            let finding = Diagnostic::new(Rule::MalformedInstance, message);
            return (Judgement::unknown(Reason::of(Gap::Malformed, &finding)), vec![finding]);
        }
    };
    let outcome = concrete::check(&ground, facts, Limits::default());
    let mut found = report::outcome_findings(&ground, &outcome, sources);
    // A node that requires itself has a finding of its own, and breaks no more than that.
    found.retain(|finding| finding.rule != Rule::MalformedInstance);
    for finding in found.iter_mut().filter(|finding| finding.rule == Rule::Deadlock) {
        finding.help(
            "Remove one of the requirements of the circle, or move what it is for into a node of its own.",
        );
    }
    (report::outcome_answer(&outcome, &found), found)
}
