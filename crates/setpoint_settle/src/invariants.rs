//! What the user states must hold: which of it is asked about a node, and how it is told if it does not hold.

use serde_json::json;
use setpoint_config::{Config, Invariant as Stated};
use setpoint_source::{Diagnostic, Rule, RunTitle, Severity, Story, StoryFact, StoryRun};
use setpoint_state::{CellId, StepId, Term, Test, Value};
use setpoint_verify::{Broken, Invariant, Unproved, Why};

use crate::Question;
use crate::findings::FindingBuilder;
use crate::undecided::statement;

/// The invariants that are about this node.
pub(crate) fn about<'a>(question: &Question<'a>) -> Vec<&'a Stated> {
    let config: &'a Config = question.world.config;
    let here = |one: &&Stated| one.is_about(&question.catalog.name, question.platform);
    config.invariants.iter().filter(here).collect()
}

/// Those that can be asked, and what is to be said about the others.
pub(crate) fn asked(
    stated: &[&Stated],
    tests: Vec<Result<Test, String>>,
) -> (Vec<Invariant>, Vec<Diagnostic>) {
    let (mut asked, mut problems) = (Vec::new(), Vec::new());
    for (one, test) in stated.iter().zip(tests) {
        match test {
            Ok(test) => asked.push(Invariant { name: one.name.as_str().into(), test }),
            Err(reason) => {
                let message = format!("the invariant `{}` is not asked about: {reason}", one.name);
                problems.push(Diagnostic::new(Rule::Undecided, message).at(one.span));
            }
        }
    }
    (asked, problems)
}

impl FindingBuilder<'_> {
    /// What the user states does not hold.
    pub(crate) fn broken_statement(&self, broken: &Broken) -> Diagnostic {
        let mut cells = Vec::new();
        broken.test.cells(&mut cells);
        cells.sort_unstable();
        cells.dedup();
        let place = self.stated.iter().find(|one| one.name == *broken.name).map(|one| one.span);
        if let Some(cell) = self.not_readable(broken) {
            let message = format!("whether `{}` holds is not known", broken.name);
            let mut finding = Diagnostic::new(Rule::Undecided, message)
                .with_note(format!("What {} contains is not known here.", self.words.name(cell)));
            finding.span = place;
            return finding;
        }
        let todays = broken.run.order == self.todays_order();
        let mut message = format!("`{}` does not hold after a run without failures", broken.name);
        if !todays {
            message.push_str(" in an order that nothing forbids");
        }
        let certain = todays && broken.unless.is_none();
        let severity = if certain { Severity::Error } else { Severity::Warning };
        let mut finding = Diagnostic::new(Rule::BrokenInvariant, message).severity(severity);
        finding.span = place;
        let mut at_start = broken.matters.clone();
        at_start.extend(cells.iter().filter(|cell| !broken.matters.contains(cell)));
        let writers = self.writers(&cells, None);
        let run = StoryRun {
            title: RunTitle::CleanRun,
            steps: self.story_steps(&broken.run.order, &writers),
            more: 0,
            end: self.words.chosen_facts(&broken.run.end, &cells).into_iter().map(StoryFact::new).collect(),
        };
        finding = finding.with_story(Story {
            start: self.words.chosen_facts(&broken.start, &at_start),
            runs: vec![run],
            data: json!({
                "start": self.state_json(&broken.start, &at_start),
                "run": self.run_json(&broken.run, &cells),
            }),
        });
        if let Some(step) = broken.unless {
            let name = self.words.step(step);
            finding = finding.with_note(format!("Unless {name} makes it hold: what that does is not known."));
        }
        self.placed(finding, &writers)
    }

    /// A file whose content the invariant asks for, and of which only its origin is known.
    fn not_readable(&self, broken: &Broken) -> Option<CellId> {
        let mut work = vec![&broken.test];
        while let Some(test) = work.pop() {
            match test {
                Test::Equal(Term::Cell(cell), Term::Is(Value::File(_)))
                    if self.words.is_unread(broken.run.end.get(*cell)) =>
                {
                    return Some(*cell);
                }
                Test::Not(inner) => work.push(inner),
                Test::All(tests) | Test::Any(tests) => work.extend(tests),
                Test::True | Test::Equal(..) | Test::Kind(..) => {}
            }
        }
        None
    }

    fn todays_order(&self) -> Vec<StepId> {
        self.runner.puppet_order()
    }

    /// What the user states, and what was not decided.
    pub(crate) fn undecided_statement(&self, invariant: &Invariant, open: &Unproved) -> Diagnostic {
        let reason = match open.why {
            Why::Step(step) | Why::BeyondProgram(step) => {
                format!("what {} does is not known", self.words.step(step))
            }
            Why::Time => "timed out".to_owned(),
            Why::NeverClean => "no run without a failure was found".to_owned(),
            _ => "the question is too large, or the solver gave up".to_owned(),
        };
        let mut finding = statement(&invariant.name, &reason);
        finding.span = self.stated.iter().find(|one| one.name == *invariant.name).map(|one| one.span);
        finding
    }
}
