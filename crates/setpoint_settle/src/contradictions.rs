//! Declared ends that exclude each other, as findings that take the place of all that follows from them.

use std::collections::BTreeSet;

use serde_json::json;
use setpoint_puppet_values::Data;
use setpoint_source::{Diagnostic, Rule, RunTitle, Story, StoryFact, StoryRun, StoryStep};
use setpoint_state::{CellId, CellKind, StepId};
use setpoint_verify::{Contradiction, Lost, PairEnd, Verdicts};

use crate::findings::FindingBuilder;

/// Facts about one end that are told at most.
const MAX_FACTS: usize = 2;

/// The contradictions that are told.
#[derive(Default)]
pub(crate) struct Contradictions {
    told: Vec<(StepId, StepId, Diagnostic)>,
}

impl Contradictions {
    pub(crate) fn findings(&self) -> impl Iterator<Item = &Diagnostic> {
        self.told.iter().map(|(.., finding)| finding)
    }

    /// Returns the finding that is about these two steps.
    pub(crate) fn between(&self, one: StepId, two: StepId) -> Option<&Diagnostic> {
        let is_it = |(a, b): (StepId, StepId)| (a, b) == (one, two) || (a, b) == (two, one);
        self.told.iter().find(|(a, b, _)| is_it((*a, *b))).map(|(.., finding)| finding)
    }

    /// Whether a step is one of those that contradict another.
    pub(crate) fn concern(&self, step: StepId) -> bool {
        self.told.iter().any(|(one, two, _)| [*one, *two].contains(&step))
    }

    /// Returns the contradiction that a finding follows from: it names no resource that no contradiction names.
    pub(crate) fn explain(&self, finding: &Diagnostic) -> Option<&Diagnostic> {
        let named: BTreeSet<&String> = self.findings().flat_map(|one| &one.resources).collect();
        let is_explained =
            !finding.resources.is_empty() && finding.resources.iter().all(|one| named.contains(one));
        let first = finding.resources.first().filter(|_| is_explained)?;
        self.findings().find(|one| one.resources.contains(first))
    }
}

impl FindingBuilder<'_> {
    /// Returns the contradictions that are told. Two resources that set one thing to two values are told as `diverges`.
    pub(crate) fn contradictions(&self, verdicts: &Verdicts) -> Contradictions {
        let found = verdicts.contradictions.iter().filter(|one| !self.set_the_same(one));
        let told = found.map(|one| (one.one, one.two, self.tell_contradiction(one)));
        Contradictions { told: told.collect() }
    }

    /// Whether two steps declare two values of one sort for one thing: two contents of a file, a content and a line in it.
    fn set_the_same(&self, found: &Contradiction) -> bool {
        let (Some(one), Some(two)) = (self.step(found.one), self.step(found.two)) else { return false };
        let is_part_of_file = |cell: CellId| {
            let kind = self.modelled.plan.space.get(cell).map(|cell| cell.key.kind);
            matches!(kind, Some(CellKind::Entry | CellKind::Host | CellKind::Cron | CellKind::Key))
        };
        let is_undone = |end: &PairEnd| matches!(end.why, Lost::Undone(_));
        let others = two.apply.written();
        let is_same = |cell: CellId| {
            let [first, second] = [0, 1].map(|at: usize| found.ends[at].end.get(cell));
            others.binary_search(&cell).is_ok()
                && (one.manages(cell) || two.manages(cell))
                && first != second
                && (first.kind() == second.kind() || is_part_of_file(cell))
        };
        found.ends.iter().all(is_undone) && one.apply.written().into_iter().any(is_same)
    }

    fn tell_contradiction(&self, found: &Contradiction) -> Diagnostic {
        let (one, two) = (self.words.step(found.one), self.words.step(found.two));
        let message = format!("{one} and {two} exclude each other: no order makes both hold");
        let finding = Diagnostic::new(Rule::Contradiction, message)
            .with_help("Take one of the two away, or change what it declares.");
        let run = |title, end: &PairEnd| StoryRun {
            title,
            steps: end.order.iter().map(|&step| StoryStep::named(self.words.step(step))).collect(),
            more: 0,
            end: self.lost(end),
        };
        let [first, second] = &found.ends;
        let data = |end: &PairEnd| {
            let order: Vec<&str> = end.order.iter().map(|&step| self.words.step(step)).collect();
            let facts: Vec<String> = self.lost(end).into_iter().map(|fact| fact.text).collect();
            json!({ "order": order, "lost": self.words.step(end.lost), "end": facts })
        };
        let story = Story {
            start: Vec::new(),
            runs: vec![run(RunTitle::OneOrder, first), run(RunTitle::AnotherOrder, second)],
            data: json!({ "runs": [data(first), data(second)] }),
        };
        self.placed(finding.with_story(story), &[found.one, found.two])
    }

    /// Why one of the two does not hold at the end.
    fn lost(&self, end: &PairEnd) -> Vec<StoryFact> {
        let name = self.words.step(end.lost);
        match &end.why {
            Lost::Failed(reason) => vec![StoryFact::bad(format!("{name} fails: {reason}"))],
            Lost::FailsNext(reason) => {
                vec![StoryFact::bad(format!("{name} fails in the next run: {reason}"))]
            }
            Lost::Undone(cells) => {
                // What the resource itself stands for says it best.
                let own: Vec<CellId> =
                    cells.iter().copied().filter(|&cell| self.stands_for(end.lost, cell)).collect();
                let cells = if own.is_empty() { cells } else { &own };
                let mut facts = self.words.chosen_facts(&end.end, cells);
                facts.truncate(MAX_FACTS);
                if facts.is_empty() {
                    facts.push(format!("what {name} declares is undone"));
                }
                facts.into_iter().map(StoryFact::new).collect()
            }
        }
    }

    /// Whether a cell bears the name of the resource of a step.
    fn stands_for(&self, step: StepId, cell: CellId) -> bool {
        let Some(resource) = self.declared(step) else { return false };
        let parameter = |name: &str| match resource.get(name).map(|value| &value.data) {
            Some(Data::String(text)) => Some(text.to_string()),
            _ => None,
        };
        let names = [Some(resource.title.to_string()), parameter("name"), parameter("path")];
        let key = self.modelled.plan.space.get(cell).map(|cell| &cell.key);
        key.is_some_and(|key| key.detail.is_none() && names.iter().flatten().any(|name| **name == *key.name))
    }
}
