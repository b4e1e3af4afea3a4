//! What was not decided, and why: in words that say what is open and what stands.

use std::collections::BTreeSet;

use setpoint_catalog::graph::Node;
use setpoint_config::Invariant as Stated;
use setpoint_resources::OutOfTime;
use setpoint_source::{Diagnostic, Gap, Judgement, Question, Reached, Reason, Rule, Span, Verdict};
use setpoint_state::StepId;
use setpoint_verify::{Stage, Unfinished, Unproved, Verdicts, Why};

use crate::findings::{FindingBuilder, MAX_PLACES, listed};
use crate::{Question as About, Settled};

/// What there is to say about a catalog of which the models were not made in time.
pub(crate) fn without_models(question: &About<'_>, stated: &[&Stated], out: OutOfTime) -> Settled {
    let mut verdict = Verdict::nothing_asked();
    let late = Reason::new(Gap::Time, "timed out before every resource had a model");
    for asked in [Question::Order, Question::Idempotent, Question::Quiet, Question::Convergent] {
        verdict.give(asked, Judgement::unknown(late.clone()));
    }
    let mut findings: Vec<Diagnostic> =
        stated.iter().map(|one| statement(&one.name, "timed out").at(one.span)).collect();
    let OutOfTime { modelled, of } = out;
    let message = "timed out before every resource had a model";
    let mut open = vec![
        "whether the order matters",
        "whether a second run changes anything",
        "whether all starts end alike",
        "whether services run with their configuration",
    ];
    if question.automatic.is_some() {
        open.push("which relationships change nothing");
    }
    let finding = Diagnostic::new(Rule::Undecided, message)
        .with_note(format!(
            "{modelled} of {of} resources have a model, so nothing was asked about the catalog yet."
        ))
        .with_note(format!("Not decided: {}.", listed(&open)))
        .with_help("`--timeout SECONDS` gives more time.");
    findings.push(finding);
    let is_resource = |&id: &_| matches!(question.graph.node(id), Node::Resource(_));
    let found = question.graph.order().into_iter().filter(is_resource).count();
    Settled { verdict, findings, resources: Reached::new(0, found) }
}

/// A statement of the user of which it is not known whether it holds.
pub(crate) fn statement(name: &str, reason: &str) -> Diagnostic {
    let message = format!("whether `{name}` holds is not decided: {reason}");
    Diagnostic::new(Rule::Undecided, message)
}

/// Returns what is open for a reason, about resources with these names; the names are empty if it is about the catalog as a
/// whole.
pub(crate) fn message(why: Why, names: &str) -> String {
    let about = if names.is_empty() { "the catalog as a whole" } else { names };
    let reason = match why {
        Why::Hard => "the question was too hard for the solver",
        Why::Large => "the question takes in too many resources that touch the same things",
        Why::NotReplayed => {
            "a difference that the solver found did not show when the resources were run, so nothing is claimed"
        }
        Why::Postponed => "when they have their turn depends on others that bring what their providers need",
        Why::Enough => {
            "so many pairs whose order matters were found that these were not looked at; check again when they are mended"
        }
        Why::NoStart => "no machine fits what is assumed of the start, so that no run shows anything",
        Why::NeverClean => "no run without a failure was found, and the question is about such runs",
        Why::Time => "timed out",
        Why::Step(_) | Why::BeyondProgram(_) => "what a resource does is not known",
        Why::WhetherItFails => {
            let among = if names.is_empty() { String::new() } else { format!(" (asked for {names})") };
            return format!(
                "the order matters, but it is not decided whether today's order is one in which a resource fails that another \
                 order would not fail{among}"
            );
        }
        Why::Invariant => {
            return format!("not decided whether all that these declare still holds at the end: {about}");
        }
        Why::Refresh => {
            return format!(
                "not decided whether these always run with their configuration as it is at the end: {about}"
            );
        }
    };
    format!("not decided for {about}: {reason}")
}

impl FindingBuilder<'_> {
    /// Returns what could not be decided: one finding for each resource that is to blame, one for each other reason; and the
    /// steps of unknown effect that are told so.
    pub(crate) fn undecided(&self, verdicts: &Verdicts) -> (Vec<Diagnostic>, Vec<StepId>) {
        let mut blamed: Vec<(StepId, Vec<StepId>)> = Vec::new();
        let mut others: Vec<(Why, Vec<StepId>)> = Vec::new();
        let order = verdicts.order.reasons();
        let runs = [
            verdicts.idempotent.reasons(),
            verdicts.quiet.reasons(),
            verdicts.convergent.reasons(),
            verdicts.declared.reasons(),
            verdicts.refreshed.reasons(),
        ];
        let all =
            order.iter().map(|one| (one, true)).chain(runs.into_iter().flatten().map(|one| (one, false)));
        for (Unproved { steps, why }, is_order) in all {
            match *why {
                Why::Step(step) | Why::BeyondProgram(step) => {
                    // A second run is not known for the steps that it may touch, whatever the order.
                    let with = steps.iter().copied().filter(|&other| is_order && other != step);
                    match blamed.iter_mut().find(|(known, _)| *known == step) {
                        Some((_, known)) => known.extend(with),
                        None => blamed.push((step, with.collect())),
                    }
                }
                // Told for all stages at once.
                Why::Time => {}
                why => match others.iter_mut().find(|(known, _)| *known == why) {
                    Some((_, known)) => known.extend(steps),
                    None => others.push((why, steps.clone())),
                },
            }
        }
        let told = blamed.iter().map(|(step, _)| *step).collect();
        let needed = blamed.iter().filter_map(|(step, with)| self.may_need(*step, with));
        let mut found: Vec<Diagnostic> = needed.collect();
        found.extend(self.unknown_effects(blamed));
        for (why, steps) in others {
            let mut seen: BTreeSet<StepId> = BTreeSet::new();
            let steps: Vec<StepId> = steps.into_iter().filter(|step| seen.insert(*step)).collect();
            let message = message(why, &self.names(&steps));
            found.push(self.placed(Diagnostic::new(Rule::Undecided, message), &steps));
        }
        (found, told)
    }

    /// Steps whose effects are not known, each with the steps whose order with it is left open. Those that are so for the same
    /// reason and come from the same place are told together.
    fn unknown_effects(&self, blamed: Vec<(StepId, Vec<StepId>)>) -> Vec<Diagnostic> {
        // Where and why, the steps, and those whose order with them is left open.
        type Group = (Option<Span>, String, Vec<StepId>, Vec<StepId>);
        let mut groups: Vec<Group> = Vec::new();
        for (step, with) in blamed {
            let reason = self.step(step).and_then(|step| step.unknown.as_ref());
            let reason = reason.map(|unknown| unknown.reason.to_string()).unwrap_or_default();
            let resource = self.declared(step);
            // Told as what is not known of packages.
            if with.is_empty() && resource.is_some_and(|one| one.type_name.as_str() == "Package") {
                continue;
            }
            // What has no model is told once, wherever it is declared.
            let is_command = resource.is_some_and(|one| one.type_name.as_str() == "Exec");
            let span = resource.and_then(|resource| resource.span).filter(|_| is_command);
            match groups.iter_mut().find(|(at, why, ..)| *at == span && *why == reason) {
                Some((.., steps, all)) => {
                    steps.push(step);
                    all.extend(with);
                }
                None => groups.push((span, reason, vec![step], with)),
            }
        }
        let told = groups.into_iter().map(|(_, reason, steps, mut with)| {
            // A container does nothing: what it contains is named.
            let acts = |step: &StepId| self.step(*step).is_some_and(|step| !step.passes_on);
            with.retain(|other| !steps.contains(other) && acts(other));
            with.sort_unstable();
            with.dedup();
            let (verb, whose) = if steps.len() == 1 { ("does", "its") } else { ("do", "their") };
            let mut message = format!("what {} {verb} is not known", self.names(&steps));
            if !reason.is_empty() {
                message = format!("{message}: {reason}");
            }
            let mut finding = Diagnostic::new(Rule::UnknownEffect, message);
            if !with.is_empty() {
                finding =
                    finding.with_note(format!("So {whose} order with {} is not proved.", self.names(&with)));
            }
            let help = "Say what it does in setpoint.toml (`setpoint explain unknown-effect`).";
            self.placed(finding.with_help(help), steps.get(..MAX_PLACES).unwrap_or(&steps))
        });
        told.collect()
    }

    /// What the time was not enough for.
    pub(crate) fn out_of_time(&self, verdicts: &Verdicts) -> Option<Diagnostic> {
        if verdicts.unfinished.is_empty() {
            return None;
        }
        let message = "timed out; some checks are incomplete";
        let mut finding = Diagnostic::new(Rule::Undecided, message);
        for Unfinished { stage, decided } in &verdicts.unfinished {
            let (question, what) = match stage {
                Stage::Order => ("whether the order matters", "pairs of resources"),
                Stage::Twice => {
                    ("whether a second run changes anything, and all starts end alike", "groups of resources")
                }
                Stage::Invariants => ("what must hold at the end", "statements"),
                Stage::Refresh => ("whether services run with their configuration", "files"),
                Stage::Edges => ("which relationships change nothing", "relationships"),
            };
            let reached = match decided {
                None => "not begun".to_owned(),
                Some((done, of)) => format!("{done} of {of} {what} were decided"),
            };
            finding =
                finding.with_note(format!("{}{}: {reached}.", question[..1].to_uppercase(), &question[1..]));
        }
        let pairs = verdicts.unfinished.iter().find(|one| one.stage == Stage::Order);
        let open = pairs.and_then(|one| one.decided).map_or(0, |(done, of)| of - done);
        let late = verdicts.order.reasons().iter().filter(|one| one.why == Why::Time);
        let left: Vec<String> = late
            .take(open)
            .filter_map(|one| {
                let [one, two] = one.steps.as_slice() else { return None };
                Some(format!("{} with {}", self.words.step(*one), self.words.step(*two)))
            })
            .collect();
        if !left.is_empty() {
            let left: Vec<&str> = left.iter().map(String::as_str).collect();
            finding = finding.with_note(format!("Pairs that are left: {}.", listed(&left)));
        }
        Some(finding.with_help("What was found stands. `--timeout SECONDS` gives more time."))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Why; 10] = [
        Why::NoStart,
        Why::NeverClean,
        Why::Hard,
        Why::Large,
        Why::NotReplayed,
        Why::Postponed,
        Why::WhetherItFails,
        Why::Invariant,
        Why::Refresh,
        Why::Enough,
    ];

    #[test]
    fn every_reason_is_a_sentence_with_and_without_names() {
        for why in ALL {
            let with = message(why, "File[/a] and File[/b]");
            assert!(with.contains("File[/a] and File[/b]"), "{with}");
            let without = message(why, "");
            assert!(!without.contains("nothing:") && !without.contains("  "), "{without}");
            assert!(!without.ends_with([' ', ':']), "{without}");
        }
    }

    #[test]
    fn todays_order_is_told_without_an_empty_list() {
        assert_eq!(
            message(Why::WhetherItFails, ""),
            "the order matters, but it is not decided whether today's order is one in which a resource fails that another order \
             would not fail"
        );
        assert_eq!(
            message(Why::Hard, ""),
            "not decided for the catalog as a whole: the question was too hard for the solver"
        );
    }
}
