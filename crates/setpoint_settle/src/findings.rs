//! Verdicts as findings.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value as Json, json};
use setpoint_catalog::{Catalog, Relation, Resource, ResourceId};
use setpoint_puppet_values::Data;
use setpoint_resources::{Assumed, Modelled};
use setpoint_source::{
    Diagnostic, Fix, Reached, Rule, RunTitle, Severity, Sources, Story, StoryRun, StoryStep, Verdict, few,
};
use setpoint_state::{CellId, CellKind, Event, Run, Runner, Semantics, State, Status, StepId};
use setpoint_verify::repair::{Edge, Repair, harms_from};
use setpoint_verify::{
    Answer, Broken, Counterexample, Dependence, FailsToday, Failure, Invariant, OrderWitness, Stale, Twice,
    TwoStarts, Verdicts,
};

use crate::Question;
use crate::alike::Alike;
use crate::edit::{quoted, relation_fix};
use crate::judge::Refutations;
use crate::words::Words;

/// Turns what was found out about a plan into findings.
pub(crate) struct FindingBuilder<'a> {
    pub(crate) catalog: &'a Catalog,
    pub(crate) modelled: &'a Modelled,
    pub(crate) words: Words<'a>,
    pub(crate) runner: Runner<'a>,
    pub(crate) stated: &'a [&'a setpoint_config::Invariant],
    sources: &'a Sources,
    may_change: &'a dyn Fn(&str) -> bool,
    /// A fresh machine.
    fresh: Option<State>,
    /// Nothing is known of the platform of the node.
    pub(crate) is_platform_unknown: bool,
}

/// Names in one message at most.
const MAX_NAMES: usize = 5;
/// What is said where no repair was found that does no harm.
const NO_REPAIR: &str = "No single relationship mends this without making something else fail or be skipped: change what is declared.";
/// Types that write the configuration of services.
const CONFIGURES: [&str; 4] = ["File", "Concat_file", "File_line", "Ini_setting"];

/// Places that are shown at most where a finding is about many.
pub(crate) const MAX_PLACES: usize = 2;

impl<'a> FindingBuilder<'a> {
    pub(crate) fn new(
        question: &Question<'a>,
        modelled: &'a Modelled,
        stated: &'a [&'a setpoint_config::Invariant],
        fresh: Option<State>,
    ) -> Self {
        Self {
            fresh,
            catalog: question.catalog,
            modelled,
            words: Words::new(modelled, question.catalog),
            runner: Runner::new(&modelled.plan, question.options.semantics),
            stated,
            sources: question.sources,
            may_change: question.may_change,
            is_platform_unknown: question.platform.is_none()
                && question.options.semantics == Semantics::Puppet,
        }
    }

    /// Returns how many resources there are that are no containers: each has one step alone.
    pub(crate) fn real_resources(&self) -> usize {
        self.real_steps().count()
    }

    pub(crate) fn real_steps(&self) -> impl Iterator<Item = (StepId, ResourceId)> {
        let mut steps: BTreeMap<ResourceId, Vec<StepId>> = BTreeMap::new();
        for (at, &resource) in self.modelled.resources.iter().enumerate() {
            steps.entry(resource).or_default().push(StepId(at as u32));
        }
        steps.into_iter().filter_map(|(resource, steps)| match steps[..] {
            [step] if !self.is_container(resource) => Some((step, resource)),
            _ => None,
        })
    }

    fn is_container(&self, resource: ResourceId) -> bool {
        let type_name = self.catalog.get(resource).map(|one| one.type_name.as_str());
        matches!(type_name, Some("Class" | "Stage"))
    }

    /// Returns how many resources there are, and how many have a model of all that they do: no effect is unknown, and no
    /// answer rests on something that is assumed for them.
    pub(crate) fn coverage(&self, verdict: &Verdict) -> Reached {
        let named = verdict.reasons();
        let is_named = |one: &&Assumed| named.iter().any(|(reason, _)| **reason == self.assumption(one));
        let made = self.modelled.assumptions.iter().filter(is_named);
        let assumed: BTreeSet<ResourceId> = made.flat_map(|one| one.resources.iter().copied()).collect();
        let mut reached = Reached::default();
        for (step, resource) in self.real_steps() {
            let is_known = self.step(step).is_some_and(|step| step.unknown.is_none());
            reached.found += 1;
            reached.reached += usize::from(is_known && !assumed.contains(&resource));
        }
        reached
    }

    /// Returns what is told about the catalog.
    pub(crate) fn findings(
        &self,
        verdicts: &Verdicts,
        refuted: &Refutations,
        asked: &[Invariant],
        verdict: &Verdict,
    ) -> Vec<Diagnostic> {
        let contradictions = &refuted.contradictions;
        let mut found: Vec<Diagnostic> = Vec::new();
        let told = verdicts.fails_today().and_then(|fails| culprit(fails, verdicts));
        let mut alike = Alike::default();
        for (witness, finding) in verdicts.order.witnesses().zip(&refuted.order) {
            match witness {
                OrderWitness::Dependent(one) if told == Some((one.one, one.two)) => {}
                _ if finding.rule == Rule::Contradiction => {}
                OrderWitness::Dependent(one) if alike.is_told(one, finding, &found) => {}
                _ => found.push(finding.clone()),
            }
        }
        alike.add_to(&mut found);
        // What follows from an order that is missing is not told again.
        let ordered = found.is_empty();
        found.splice(0..0, contradictions.findings().cloned());
        // From any start nearly everything can fail; there it counts only if it fails from every one.
        let counts = |one: &&Failure| {
            one.every_order
                && !contradictions.concern(one.step)
                && (self.runner.semantics() == Semantics::Puppet || one.always.is_proved())
        };
        found.extend(self.always_fail(&verdicts.failures.iter().filter(counts).collect::<Vec<_>>()));
        let stated = verdicts.invariants.iter().flat_map(Answer::witnesses);
        found.extend(stated.map(|one| self.broken_statement(one)));
        let undone = verdicts.declared.witnesses().filter_map(|one| self.broken(one, ordered));
        found.extend(undone.filter(|one| contradictions.explain(one).is_none()));
        let fought: Vec<String> = found.iter().flat_map(|one| one.resources.clone()).collect();
        // A file that is edited in many places is one that the service does not read again.
        let mut stale: BTreeSet<(Option<StepId>, Option<String>)> = BTreeSet::new();
        let once = verdicts.missing_notify().filter(|one| stale.insert((self.service(one), self.path(one))));
        found.extend(once.filter_map(|one| self.missing_notify(one, &fought)));
        found.extend(self.lost_refreshes(verdicts.lost_refresh()));
        let Refutations { idempotent, quiet, convergent, .. } = refuted;
        // A resource of a second run is told once; that starts end differently is another matter.
        let told: Vec<&String> = idempotent.iter().flat_map(|finding| &finding.resources).collect();
        let is_new = |finding: &&Diagnostic| !finding.resources.iter().any(|name| told.contains(&name));
        let refuted = idempotent.iter().chain(quiet.iter().filter(is_new)).chain(convergent);
        let is_untold = |one: &&Diagnostic| ordered && one.rule != Rule::Contradiction;
        found.extend(refuted.filter(is_untold).cloned());
        for (invariant, answer) in asked.iter().zip(&verdicts.invariants) {
            if let Answer::Unknown(reasons) = answer {
                found.extend(reasons.as_slice().iter().map(|one| self.undecided_statement(invariant, one)));
            }
        }
        found.extend(self.out_of_time(verdicts));
        let (undecided, told) = self.undecided(verdicts);
        found.extend(undecided);
        let unlisted = self.unlisted_packages(&found);
        found.extend(unlisted);
        let is_told = |resource: &ResourceId| told.iter().any(|&step| self.resource(step) == Some(*resource));
        // What is assumed of the start is told where an answer rests on it.
        let rests = verdict.iter().any(|(_, answer)| !answer.is_proved() && !answer.is_refuted());
        found.extend(self.tell_assumptions(rests, |one| !one.resources.iter().any(is_told)));
        found
    }

    /// A step fails in the order that Puppet takes, and not in another.
    pub(crate) fn tell_failure_of_today(&self, fails: &FailsToday, verdicts: &Verdicts) -> Diagnostic {
        let failed = fails.step;
        let other = culprit(fails, verdicts).map(|(one, two)| if one == failed { two } else { one });
        let name = self.words.step(failed);
        let example = &fails.counterexample;
        // What it fails for may come too late, or too early.
        let place = |step| example.first_run.order.iter().position(|&other| other == step);
        let is_late = |other: StepId| place(failed) < place(other);
        let message = match other {
            Some(other) if is_late(other) => format!(
                "{name} fails in the order that Puppet takes: it needs {} to come first, and nothing says so",
                self.words.step(other)
            ),
            Some(other) => format!(
                "{name} fails in the order that Puppet takes: {} comes first, and nothing says so",
                self.words.step(other)
            ),
            None => format!("{name} fails in the order that Puppet takes, and not in another order"),
        };
        let finding = Diagnostic::new(Rule::MissingOrder, message).severity(Severity::Error);
        let steps: Vec<StepId> = [Some(failed), other].into_iter().flatten().collect();
        let finding = self.with_story(self.placed(finding, &steps), example, &steps);
        let pair = other.map(|other| if is_late(other) { (other, failed) } else { (failed, other) });
        match pair {
            Some((first, then)) if !self.harms(first, then, false, Some(&example.start)) => {
                self.with_fix(finding, first, then)
            }
            _ => finding.with_help(NO_REPAIR),
        }
    }

    pub(crate) fn tell_dependence(&self, found: &Dependence) -> Diagnostic {
        let (one, two) = (found.one, found.two);
        let (first, second) = (self.words.step(one), self.words.step(two));
        let example = &found.counterexample;
        if let Some(cell) = self.fought_over(one, two, example) {
            let what = self.words.fact(cell, example.first_run.end.get(cell)).unwrap_or_default();
            let message = format!("{first} and {second} set the same thing to different values");
            let finding = Diagnostic::new(Rule::Diverges, message)
                .with_note(format!(
                    "Whichever comes last wins: at the end {what}. The next run changes it again."
                ))
                .with_help("Let one of the two manage it; no order makes both come true.");
            return self.with_story(self.placed(finding, &[one, two]), example, &[one, two]);
        }
        let message =
            format!("the result depends on whether {first} or {second} comes first, and nothing says which");
        let today = self.runner.puppet_order().into_iter().find(|step| [one, two].contains(step));
        let mut finding = Diagnostic::new(Rule::MissingOrder, message);
        if let Some(today) = today {
            finding = finding.with_note(format!("Today Puppet takes {} first.", self.words.step(today)));
        }
        let finding = self.with_story(self.placed(finding, &[one, two]), example, &[one, two]);
        // The order of today, unless something fails in it that does not fail in the other, or a service is started in it
        // before its configuration is there.
        let failures = |run: &Run| run.statuses.iter().filter(|status| **status == Status::Failed).count();
        let (today, other) = (failures(&example.first_run), failures(&example.second_run));
        let turn = today > other || (today == other && self.loads_too_early(one, two, example));
        let (first, then) = if turn { (two, one) } else { (one, two) };
        // An order that makes something fail is none, however plausible it looks from one start.
        let is_right = |first, then| !self.harms(first, then, false, Some(&example.start));
        if is_right(first, then) {
            self.with_fix(finding, first, then)
        } else if is_right(then, first) {
            self.with_fix(finding, then, first)
        } else {
            finding.with_help(NO_REPAIR)
        }
    }

    /// Whether something fails or is skipped that does not today if one step comes before another: on a fresh machine, or from
    /// the start that is given.
    fn harms(&self, first: StepId, then: StepId, notify: bool, start: Option<&State>) -> bool {
        let edges = [Edge { from: first, to: then, notify }];
        // What fails on a fresh machine by itself, and right after the other, too, fails for another reason, which has a finding
        // of its own.
        let fails_after = |fresh: &State, steps: &[StepId]| {
            let mut progress = self.runner.begin(fresh);
            for &step in steps {
                self.runner.perform(&mut progress, step);
            }
            progress.statuses.get(first.0 as usize).is_some_and(|status| status.is_bad())
        };
        let fails_anyway =
            |fresh: &&State| fails_after(fresh, &[first]) && fails_after(fresh, &[then, first]);
        let mut starts = self.fresh.iter().filter(|fresh| !fails_anyway(fresh)).chain(start);
        starts.any(|start| harms_from(&self.runner, &edges, start))
    }

    /// Whether the first step starts a service that has not loaded what the second one brings.
    fn loads_too_early(&self, service: StepId, file: StepId, example: &Counterexample) -> bool {
        let type_of = |step: StepId| self.declared(step).map_or("", |one| one.type_name.as_str());
        let loaded = |cell: &CellId| {
            self.modelled.plan.space.get(*cell).is_some_and(|cell| cell.key.kind == CellKind::Loaded)
        };
        type_of(service) == "Service"
            && CONFIGURES.contains(&type_of(file))
            && example.differs.cells.iter().all(loaded)
    }

    /// Adds the relationship that makes `first` come before `then`. A service that comes after its configuration reacts to
    /// it, too.
    fn with_fix(&self, finding: Diagnostic, first: StepId, then: StepId) -> Diagnostic {
        let (Some(first), Some(then)) = (self.resource(first), self.resource(then)) else { return finding };
        let kind = |id: ResourceId| self.catalog.get(id).map_or("", |resource| resource.type_name.as_str());
        let refreshes = kind(then) == "Service" && CONFIGURES.contains(&kind(first));
        self.with_relation(finding, first, then, refreshes)
    }

    fn with_relation(
        &self,
        finding: Diagnostic,
        first: ResourceId,
        then: ResourceId,
        refreshes: bool,
    ) -> Diagnostic {
        if let Some((holder, relation, other)) = self.holder(first, then, refreshes)
            && let Some(fix) = relation_fix(self.sources, self.catalog, holder, relation, &[other])
        {
            let help = format!("{}{}.", fix.title[..1].to_uppercase(), &fix.title[1..]);
            return finding.with_help(help).with_fix(fix);
        }
        let named = |id: ResourceId| {
            let resource = self.catalog.get(id);
            resource.map(|one| format!("{}[{}]", one.type_name, quoted(&one.title))).unwrap_or_default()
        };
        let arrow = if refreshes { "~>" } else { "->" };
        finding.with_help(format!(
            "State the order where both are known: `{} {arrow} {}`.",
            named(first),
            named(then)
        ))
    }

    /// Which of two resources is to name the other: the later one, or the earlier one where the later one is not the user's
    /// own.
    fn holder(
        &self,
        first: ResourceId,
        then: ResourceId,
        refreshes: bool,
    ) -> Option<(ResourceId, Relation, ResourceId)> {
        let (late, early) = if refreshes {
            (Relation::Subscribe, Relation::Notify)
        } else {
            (Relation::Require, Relation::Before)
        };
        let own = |id: &ResourceId| {
            let span = self.catalog.get(*id).and_then(|resource| resource.span);
            span.is_some_and(|span| (self.may_change)(self.sources.file(span.file).path()))
        };
        let choices = [(then, late, first), (first, early, then)];
        choices.into_iter().find(|(holder, relation, other)| {
            own(holder) && relation_fix(self.sources, self.catalog, *holder, *relation, &[*other]).is_some()
        })
    }

    /// Puts the repair of the whole catalog in the place of those of single findings: the fewest relationships, checked together.
    /// Where there is none, or it cannot be written, the findings say so.
    pub(crate) fn mend(&self, findings: &mut [Diagnostic], repair: Option<&Repair>) {
        let mut left = repair.and_then(|repair| self.written(repair));
        let is_mended = left.is_some();
        for finding in findings.iter_mut().filter(|finding| finding.fix.is_some()) {
            finding.fix = left.take();
            if !is_mended {
                finding.helps = vec![NO_REPAIR.to_owned()];
            }
        }
    }

    /// Returns a repair as code; `None` if a part of it cannot be written.
    fn written(&self, repair: &Repair) -> Option<Fix> {
        let mut wanted: BTreeMap<(ResourceId, &'static str), (Relation, Vec<ResourceId>)> = BTreeMap::new();
        for edge in &repair.edges {
            let (first, then) = (self.resource(edge.from)?, self.resource(edge.to)?);
            let (holder, relation, other) = self.holder(first, then, edge.notify)?;
            wanted.entry((holder, relation.as_str())).or_insert((relation, Vec::new())).1.push(other);
        }
        let mut whole = Fix { title: String::new(), edits: Vec::new() };
        for ((holder, _), (relation, others)) in wanted {
            let fix = relation_fix(self.sources, self.catalog, holder, relation, &others)?;
            if !whole.title.is_empty() {
                whole.title.push_str("; ");
            }
            whole.title.push_str(&fix.title);
            whole.edits.extend(fix.edits);
        }
        Some(whole)
    }

    /// The cell that both steps set, so that each undoes the other in every run.
    fn fought_over(&self, one: StepId, two: StepId, example: &Counterexample) -> Option<CellId> {
        if !example.first_run.is_clean() || !example.second_run.is_clean() {
            return None;
        }
        let restless = |run: &Run, order: &[StepId]| {
            let again = self.runner.run(&run.end, order);
            status(&again, one) == Status::Changed && status(&again, two) == Status::Changed
        };
        if !restless(&example.first_run, &example.first) || !restless(&example.second_run, &example.second) {
            return None;
        }
        let (of_one, of_two) = (self.step(one)?.apply.written(), self.step(two)?.apply.written());
        example.differs.cells.iter().copied().find(|cell| of_one.contains(cell) && of_two.contains(cell))
    }

    /// Steps fail, and no order helps. Those that fail for the same reason are told together.
    fn always_fail(&self, failures: &[&Failure]) -> Vec<Diagnostic> {
        // All of them are failures of one run.
        let Some(first) = failures.first() else { return Vec::new() };
        let trace = self.runner.trace(&first.start, &first.run.order);
        let reasons: BTreeMap<StepId, &str> = trace
            .events
            .iter()
            .filter_map(|event| match event {
                Event::Failed(step, reason) => Some((*step, &**reason)),
                _ => None,
            })
            .collect();
        let mut groups: Vec<(bool, Option<&str>, Vec<StepId>)> = Vec::new();
        for failure in failures {
            let (always, reason) = (failure.always.is_proved(), reasons.get(&failure.step).copied());
            match groups.iter_mut().find(|(known, why, _)| (*known, *why) == (always, reason)) {
                Some((_, _, steps)) => steps.push(failure.step),
                None => groups.push((always, reason, vec![failure.step])),
            }
        }
        groups.into_iter().map(|(always, reason, steps)| self.fail_together(always, reason, &steps)).collect()
    }

    fn fail_together(&self, always: bool, reason: Option<&str>, steps: &[StepId]) -> Diagnostic {
        let (names, fail, who, it) = match steps {
            [only] => (self.words.step(*only).to_owned(), "fails", self.words.step(*only), "it needs"),
            _ => (self.names(steps), "fail", "each of them", "they need"),
        };
        let told = reason.map_or_else(|| format!("{who} fails"), |reason| format!("{who} fails: {reason}"));
        let finding = if always {
            let message = format!("{names} {fail}, in whatever order the resources come");
            Diagnostic::new(Rule::AlwaysFails, message)
                .severity(Severity::Error)
                .with_note(format!("From every start that is assumed: {told}."))
                .with_help(format!("Declare what {it}."))
        } else {
            // What it needs may come from elsewhere.
            let message = format!("{names} {fail} on a fresh machine, in whatever order the resources come");
            Diagnostic::new(Rule::AlwaysFails, message)
                .severity(Severity::Warning)
                .with_note(format!("On a machine that nothing was installed on: {told}."))
                .with_help(format!("Declare what {it}, unless your machines bring it with them."))
        };
        let mut finding = self.placed(finding, steps.get(..MAX_PLACES).unwrap_or(steps));
        for step in steps.iter().skip(MAX_PLACES) {
            if let Some(resource) = self.declared(*step) {
                finding.resources.push(resource.reference());
            }
        }
        finding
    }

    /// What a resource declares does not hold at the end.
    fn broken(&self, broken: &Broken, ordered: bool) -> Option<Diagnostic> {
        let step = broken.step?;
        let mut cells = Vec::new();
        broken.test.cells(&mut cells);
        let end = self.words.state(&broken.run.end, &cells);
        // Without an order, it is the order that is told. A command declares no state that would have to last.
        let is_command = self.declared(step).is_some_and(|resource| resource.type_name.as_str() == "Exec");
        if !ordered || is_command {
            return None;
        }
        let undone = self.writers(&cells, Some(step));
        let name = self.words.step(step);
        let message = match undone.first() {
            Some(other) => format!("{} undoes what {name} declares", self.words.step(*other)),
            None => format!("after a run without failures it is not as {name} declares it"),
        };
        let finding = Diagnostic::new(Rule::Diverges, message)
            .with_note(format!("At the end: {end}. The next run changes it again."))
            .with_help("Let one of the two manage it.");
        let mut steps = vec![step];
        steps.extend(undone);
        Some(self.placed(finding, &steps))
    }

    /// The steps, but for one, that may write one of these cells.
    pub(crate) fn writers(&self, cells: &[CellId], but: Option<StepId>) -> Vec<StepId> {
        let all = (0..self.modelled.plan.steps.len() as u32).map(StepId);
        all.filter(|&step| Some(step) != but)
            .filter(|&step| {
                let touched = self.step(step).map(|step| step.apply.written()).unwrap_or_default();
                cells.iter().any(|cell| touched.binary_search(cell).is_ok())
            })
            .take(MAX_NAMES)
            .collect()
    }

    /// A service runs with an old configuration. One that is told for its order already is not told again.
    fn missing_notify(&self, stale: &Stale, told: &[String]) -> Option<Diagnostic> {
        let service = self.service(stale)?;
        let path = self.path(stale)?;
        let name = self.words.step(service);
        let file = self.last_writer(stale, service);
        let known = |one: &StepId| told.iter().any(|known| known == self.words.step(*one));
        if known(&service) && file.as_ref().is_some_and(known) {
            return None;
        }
        let message = format!("{path} changes, and {name} keeps running with what it loaded before");
        let cause = file.map_or("the file changes".to_owned(), |file| {
            format!("{} changes the file", self.words.step(file))
        });
        let mut finding = Diagnostic::new(Rule::MissingNotify, message)
            .with_note(format!("Nothing restarts the service when {cause}."));
        let mut steps = vec![service];
        if let Some(file) = file {
            if let (Some(first), Some(then)) = (self.resource(file), self.resource(service)) {
                finding = self.with_relation(finding, first, then, true);
            }
            steps.push(file);
        }
        Some(self.placed(finding, &steps))
    }

    /// The step that wrote the file that the service has not loaded.
    fn last_writer(&self, stale: &Stale, service: StepId) -> Option<StepId> {
        let run = self.runner.trace(&stale.start, &stale.runs.first()?.order);
        let writes = run.events.iter().rev().find_map(|event| match event {
            Event::Write { step, cell, .. } if *cell == stale.file && *step != service => Some(*step),
            _ => None,
        });
        writes.or_else(|| self.writers(&[stale.file], Some(service)).into_iter().next())
    }

    /// Restarts that one failure loses: one finding for each service, with an example.
    fn lost_refreshes<'b>(&self, lost: impl Iterator<Item = &'b Stale>) -> Vec<Diagnostic> {
        let mut services: BTreeMap<StepId, Vec<(String, StepId)>> = BTreeMap::new();
        for stale in lost {
            let (Some(service), Some(path), Some(failing)) =
                (self.service(stale), self.path(stale), stale.failing)
            else {
                continue;
            };
            // A restart that fails is told by Puppet itself.
            if !stale.services.contains(&failing) {
                services.entry(service).or_default().push((path, failing));
            }
        }
        services.into_iter().filter_map(|(service, missed)| self.lost_refresh(service, missed)).collect()
    }

    /// The message names the service alone, so that nodes with other files share it.
    fn lost_refresh(&self, service: StepId, mut missed: Vec<(String, StepId)>) -> Option<Diagnostic> {
        missed.sort();
        let (path, failing) = missed.first()?;
        let (name, failed) = (self.words.step(service), self.words.step(*failing));
        let mut others: Vec<&str> = missed.iter().map(|(path, _)| path.as_str()).collect();
        others.dedup();
        others.retain(|other| other != path);
        let mut finding = Diagnostic::new(
            Rule::LostRefresh,
            format!("if something before it fails once, {name} keeps running with an old configuration"),
        )
        .with_note(format!(
            "For example: a run changes {path}, and {failed} fails in it. So {name} is skipped. The next run finds \
             nothing to change, and nothing restarts it."
        ));
        if !others.is_empty() {
            finding = finding.with_note(format!("The same may happen to {}.", listed(&others)));
        }
        let help = format!("After a run with failures, restart {name} yourself if its files have changed.");
        Some(self.placed(finding.with_help(help), &[service, *failing]))
    }

    /// The service itself, rather than the package that starts it.
    fn service(&self, stale: &Stale) -> Option<StepId> {
        let is_service = |step: &StepId| {
            let resource = self.declared(*step);
            resource.is_some_and(|resource| resource.type_name.as_str() == "Service")
        };
        stale.services.iter().copied().find(is_service)
    }

    fn path(&self, stale: &Stale) -> Option<String> {
        self.modelled.plan.space.get(stale.file).map(|cell| cell.key.name.to_string())
    }

    /// The resources that do something in a run.
    fn active(&self, run: &Run) -> Vec<StepId> {
        let steps = run.statuses.iter().enumerate();
        let acting = steps.filter(|(at, status)| {
            matches!(status, Status::Changed | Status::Failed)
                && self.modelled.plan.steps.get(*at).is_some_and(|step| !step.passes_on)
        });
        acting.map(|(at, _)| StepId(at as u32)).collect()
    }

    /// Returns the command that acts in a second run only because its guard, or what it should create for its guard, is not
    /// understood: then the run shows nothing.
    pub(crate) fn guesswork(&self, twice: &Twice) -> Option<StepId> {
        let guarded = |step: &StepId| {
            let resource = self.declared(*step);
            self.step(*step).is_some_and(|step| step.unknown.is_some())
                && resource.is_some_and(|one| {
                    ["unless", "onlyif", "creates"].iter().any(|name| one.get(name).is_some())
                })
        };
        self.active(&twice.second_run).into_iter().find(guarded)
    }

    /// Every run reports something: one finding for each resource that does so by itself, with those that it notifies.
    pub(crate) fn tell_restless(&self, twice: &Twice) -> Vec<Diagnostic> {
        let second = self.runner.trace(&twice.first_run.end, &twice.second_run.order);
        let has_failed = |run: &Run, step: StepId| status(run, step) == Status::Failed;
        // What fails in both runs is told elsewhere.
        let mut active = self.active(&second);
        active.retain(|&step| !(has_failed(&second, step) && has_failed(&twice.first_run, step)));
        let (own, refreshed): (Vec<StepId>, Vec<StepId>) =
            active.iter().partition(|&&step| acts_by_itself(&second, step));
        // A command may change something and not report it.
        if own.is_empty() {
            return vec![self.tell_second_run(Rule::ChangesEveryRun, twice)];
        }
        own.iter().map(|&step| self.restless(step, &refreshed, twice)).collect()
    }

    fn restless(&self, step: StepId, refreshed: &[StepId], twice: &Twice) -> Diagnostic {
        let name = self.words.step(step);
        let message = format!("every run reports changes although nothing is to be done: {name}");
        let mut finding = Diagnostic::new(Rule::ChangesEveryRun, message)
            .with_story(self.story_of_two_runs(twice, &[step]));
        let reached = self.notified_from(step);
        let others: Vec<StepId> = refreshed.iter().copied().filter(|other| reached.contains(other)).collect();
        if !others.is_empty() {
            finding = finding.with_note(format!("It refreshes in every run: {}.", self.names(&others)));
        }
        finding = self.with_advice(finding, &[step]);
        self.placed(finding, &[step])
    }

    /// The steps that a change of a step may refresh, directly or through others.
    fn notified_from(&self, step: StepId) -> BTreeSet<StepId> {
        let mut seen = BTreeSet::new();
        let mut work = vec![step];
        while let Some(at) = work.pop() {
            let targets = self.runner.notified_by(at).iter().map(|&target| StepId(target));
            work.extend(targets.filter(|&target| seen.insert(target)));
        }
        seen
    }

    /// A second run is not as it should be.
    pub(crate) fn tell_second_run(&self, rule: Rule, twice: &Twice) -> Diagnostic {
        let second = &twice.second_run;
        let has_failed = |run: &Run, step: StepId| status(run, step) == Status::Failed;
        // What fails in both runs is told elsewhere.
        let mut active = self.active(second);
        active.retain(|&step| !(has_failed(second, step) && has_failed(&twice.first_run, step)));
        let failing: Vec<StepId> = active.iter().copied().filter(|&step| has_failed(second, step)).collect();
        let message = if rule == Rule::ChangesEveryRun {
            format!("every run reports changes although nothing is to be done: {}", self.names(&active))
        } else if failing.is_empty() {
            format!("a second run changes what the first one made: {}", self.names(&active))
        } else {
            format!("a second run fails after one that did not: {}", self.names(&failing))
        };
        let story = self.story_of_two_runs(twice, &twice.differs.steps);
        let mut finding = self.with_advice(Diagnostic::new(rule, message).with_story(story), &active);
        if finding.helps.is_empty() && !failing.is_empty() {
            finding = finding.with_help("Do not read in one resource what another takes away.");
        }
        let cells = &twice.differs.cells;
        let mut steps = active;
        if steps.is_empty() {
            // What fails in both runs acts in neither; a command may change something and not report it.
            steps = twice.differs.steps.iter().copied().take(1).collect();
        }
        if steps.is_empty() {
            steps = self.writers(cells, None);
        }
        steps.truncate(MAX_NAMES + 1);
        self.placed(finding, &steps)
    }

    /// The start and the ends of two runs, as far as they differ, and what became of these steps.
    fn story_of_two_runs(&self, twice: &Twice, steps: &[StepId]) -> Story {
        let cells = &twice.differs.cells;
        let run = |title, run: &Run| {
            let end = self.words.end(run, cells, steps);
            StoryRun { title, steps: Vec::new(), more: 0, end }
        };
        Story {
            start: self.words.chosen_facts(&twice.start, &twice.matters),
            runs: vec![
                run(RunTitle::FirstRun, &twice.first_run),
                run(RunTitle::SecondRun, &twice.second_run),
            ],
            data: json!({
                "start": self.state_json(&twice.start, &twice.matters),
                "first_run": self.run_json(&twice.first_run, cells),
                "second_run": self.run_json(&twice.second_run, cells),
            }),
        }
    }

    /// Adds how the first of some steps that can be mended is.
    fn with_advice(&self, finding: Diagnostic, steps: &[StepId]) -> Diagnostic {
        if let Some(purging) = steps.iter().find(|&&step| self.purges_files_alone(step)) {
            let name = self.words.step(*purging);
            finding.with_help(format!("Add `force => true` to {name}, so that it purges folders, too."))
        } else if let Some(command) = steps.iter().find(|&&step| self.is_unguarded_command(step)) {
            let name = self.words.step(*command);
            finding.with_help(format!("Guard {name} with `creates`, `unless` or `onlyif`."))
        } else {
            finding
        }
    }

    /// Whether it is a folder that is purged without `force`: Puppet announces the removal of folders in it and leaves them.
    fn purges_files_alone(&self, step: StepId) -> bool {
        let resource = self.declared(step);
        resource.is_some_and(|one| {
            let is = |name: &str| one.get(name).is_some_and(|value| matches!(value.data, Data::Bool(true)));
            one.type_name.as_str() == "File" && is("purge") && !is("force")
        })
    }

    fn is_unguarded_command(&self, step: StepId) -> bool {
        let resource = self.declared(step);
        resource.is_some_and(|one| {
            one.type_name.as_str() == "Exec"
                && ["creates", "unless", "onlyif", "refreshonly"].iter().all(|name| one.get(name).is_none())
        })
    }

    /// Two starts end differently in what a resource manages.
    pub(crate) fn tell_two_ends(&self, two: &TwoStarts) -> Diagnostic {
        let ends: Vec<String> = two
            .runs
            .iter()
            .map(|run| self.words.fact(two.cell, run.end.get(two.cell)).unwrap_or_default())
            .collect();
        let writer = (0..self.modelled.plan.steps.len() as u32).map(StepId).find(|&step| {
            let step = self.step(step);
            step.is_some_and(|step| {
                step.manages(two.cell) && step.apply.written().binary_search(&two.cell).is_ok()
            })
        });
        debug_assert!(writer.is_some(), "a cell that is managed has a step that manages it");
        let name = writer.map_or("the catalog", |writer| self.words.step(writer));
        let message = format!("what {name} manages ends differently from different starts");
        let mut finding = Diagnostic::new(Rule::NotConvergent, message);
        if let ([one, other], [first, second]) = (&ends[..], &two.starts) {
            let cells = first.differences(second);
            let start = |state: &State| self.words.state(state, &cells);
            finding = finding
                .with_note(format!("One start: {}. A run without failures ends so: {one}.", start(first)));
            // Contents are not quoted, so that two may sound alike.
            let end = if one == other {
                "A run ends likewise, but not with the same".to_owned()
            } else {
                format!("A run ends so: {other}")
            };
            finding = finding.with_note(format!("Another start: {}. {end}.", start(second)));
        }
        finding =
            finding.with_help("Manage what it depends on as well, or accept that it is given from outside.");
        self.placed(finding, writer.as_slice())
    }

    /// Start, order and end of both runs.
    fn with_story(&self, finding: Diagnostic, found: &Counterexample, steps: &[StepId]) -> Diagnostic {
        let cells = &found.differs.cells;
        let concerned = &found.differs.steps;
        let trace = |order: &[StepId]| self.runner.trace(&found.start, order);
        let (one, two) = (trace(&found.first), trace(&found.second));
        let run = |title, run: &Run| StoryRun {
            title,
            steps: self.story_steps(&run.order, steps),
            more: 0,
            end: self.words.end(run, cells, concerned),
        };
        finding.with_story(Story {
            start: self.words.chosen_facts(&found.start, &found.matters),
            runs: vec![run(RunTitle::OneOrder, &one), run(RunTitle::AnotherOrder, &two)],
            data: json!({
                "start": self.state_json(&found.start, &found.matters),
                "runs": [self.run_json(&one, cells), self.run_json(&two, cells)],
            }),
        })
    }

    /// Those of some steps that an order has, as it has them.
    pub(crate) fn story_steps(&self, order: &[StepId], steps: &[StepId]) -> Vec<StoryStep> {
        let chosen = order.iter().filter(|step| steps.contains(step));
        chosen.map(|&step| StoryStep::named(self.words.step(step))).collect()
    }

    pub(crate) fn state_json(&self, state: &State, cells: &[CellId]) -> Json {
        self.words.facts(state, cells).into()
    }

    pub(crate) fn run_json(&self, run: &Run, cells: &[CellId]) -> Json {
        let order: Vec<&str> = run
            .order
            .iter()
            .filter(|step| self.step(**step).is_some_and(|step| !step.passes_on))
            .map(|&step| self.words.step(step))
            .collect();
        let with = |wanted: Status| -> Vec<&str> {
            let steps = run.statuses.iter().enumerate().filter(|(_, status)| **status == wanted);
            let steps = steps.map(|(at, _)| StepId(at as u32));
            steps
                .filter(|&step| self.step(step).is_some_and(|step| !step.passes_on))
                .map(|step| self.words.step(step))
                .collect()
        };
        json!({
            "order": order,
            "end": self.state_json(&run.end, cells),
            "failed": with(Status::Failed),
            "skipped": with(Status::Skipped),
        })
    }

    /// The first step gives the place, the others labels.
    pub(crate) fn placed(&self, mut finding: Diagnostic, steps: &[StepId]) -> Diagnostic {
        for &step in steps {
            let Some(resource) = self.declared(step) else { continue };
            let name = resource.reference();
            if finding.resources.contains(&name) {
                continue;
            }
            finding.resources.push(name.clone());
            let Some(span) = resource.span else { continue };
            if finding.span.is_none() {
                finding = finding.at(span).labelled(name);
            } else if finding.span != Some(span) {
                finding = finding.with_label(span, name);
            }
        }
        finding
    }

    /// The resource of a step.
    pub(crate) fn declared(&self, step: StepId) -> Option<&'a Resource> {
        self.catalog.get(self.resource(step)?)
    }

    pub(crate) fn resource(&self, step: StepId) -> Option<ResourceId> {
        self.modelled.resources.get(step.0 as usize).copied()
    }

    pub(crate) fn step(&self, step: StepId) -> Option<&'a setpoint_state::Step> {
        self.modelled.plan.steps.get(step.0 as usize)
    }

    pub(crate) fn names(&self, steps: &[StepId]) -> String {
        let names: Vec<&str> = steps.iter().map(|&step| self.words.step(step)).collect();
        few(&names, MAX_NAMES)
    }
}

/// Returns the dependent pair that explains why a step fails in Puppet's order.
pub(crate) fn culprit(fails: &FailsToday, verdicts: &Verdicts) -> Option<(StepId, StepId)> {
    let mut pairs = verdicts.dependences().map(|one| (one.one, one.two));
    pairs.find(|(one, two)| *one == fails.step || *two == fails.step)
}

pub(crate) fn listed(names: &[&str]) -> String {
    few(names, MAX_NAMES)
}

/// Whether a step of a traced run acts before it is refreshed.
fn acts_by_itself(run: &Run, step: StepId) -> bool {
    let own = run.events.iter().find(|event| match event {
        Event::Changed(of) | Event::Failed(of, _) | Event::Refresh(of) => *of == step,
        _ => false,
    });
    !matches!(own, None | Some(Event::Refresh(_)))
}

fn status(run: &Run, step: StepId) -> Status {
    run.statuses.get(step.0 as usize).copied().unwrap_or(Status::None)
}
