//! Planted bugs and their repairs. Each bug is written with its resources in the right order, where only the relationship is
//! missing, and the other way round, where the order that Puppet takes today is the wrong one and tempts. The repair must state
//! the order that is right, and the repaired manifest must come through from a fresh machine: run by the interpreter, and applied
//! by Puppet itself, twice; the second run changes nothing.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a bug that cannot be read fails the test"
)]

#[allow(dead_code, reason = "shared with the cases of agreement")]
#[path = "../../../setpoint_resources/tests/agreement/notation.rs"]
mod notation;

use std::path::PathBuf;

use notation::{Start, index};
use setpoint_catalog::graph::Graph;
use setpoint_catalog::ruby_types::ModuleTypes;
use setpoint_catalog::{Catalog, write};
use setpoint_judge::{Judge, ROOT_FOLDERS, ROOT_GROUPS, ROOT_USERS, Trial};
use setpoint_oracle::{MODULES, compile_manifest};
use setpoint_packages::Family;
use setpoint_resources::{Base, Modelled, World, plan};
use setpoint_settle::{Question, Settled, settle};
use setpoint_source::{Diagnostic, Fix, OsFileSystem, Rule, Severity, Sources};
use setpoint_state::{Runner, Semantics, StepId};
use setpoint_testing::Case;

/// Bugs that there must be at least.
const FEWEST: usize = 60;

struct Bug {
    name: String,
    manifest: String,
    /// `(before, after, refreshes)`.
    wanted: Vec<(String, String, bool)>,
}

fn bugs() -> Vec<Bug> {
    let mut found = Vec::new();
    for part in include_str!("bugs.txt").split("=== ").skip(1) {
        let (name, rest) = part.split_once('\n').unwrap();
        let (mut wanted, mut resources) = (Vec::new(), Vec::new());
        for line in rest.lines().filter(|line| !line.is_empty()) {
            let arrow = [" -> ", " ~> "].into_iter().find(|arrow| line.contains(arrow));
            match arrow.and_then(|arrow| Some((line.split_once(arrow)?, arrow))) {
                Some(((before, after), arrow)) => {
                    wanted.push((before.to_owned(), after.to_owned(), arrow == " ~> "));
                }
                None => resources.push(line),
            }
        }
        for (word, turned) in [("", false), (", the other way round", true)] {
            let mut resources = resources.clone();
            if turned {
                resources.reverse();
            }
            let manifest = resources.join("\n") + "\n";
            found.push(Bug { name: format!("{name}{word}"), manifest, wanted: wanted.clone() });
        }
    }
    found
}

fn start() -> Start {
    let text = format!("The packages.\n>>> packages\n{}", include_str!("packages.txt"));
    notation::read(&Case::parse(&text)).unwrap()
}

/// A manifest with its catalog and graph.
struct Subject {
    catalog: Catalog,
    graph: Graph,
    sources: Sources,
}

impl Subject {
    fn new(manifest: &str) -> Self {
        let sources = Sources::new();
        let compiled = compile_manifest(manifest, &sources);
        let said: Vec<String> = compiled.diagnostics.iter().map(|one| one.message.clone()).collect();
        let catalog = compiled.catalog.unwrap_or_else(|| panic!("{manifest}{said:?}"));
        let types = ModuleTypes::new(&OsFileSystem, vec![PathBuf::from(MODULES)]);
        let graph = Graph::of_a_run(&catalog, &types).unwrap();
        assert!(graph.cycles().is_empty(), "the repair closes a circle: {manifest}");
        Self { catalog, graph, sources }
    }

    fn ask<T>(&self, start: &Start, ask: impl FnOnce(&Question<'_>) -> T) -> T {
        let base = Base::bare(Family::Debian, &ROOT_FOLDERS, &ROOT_USERS, &ROOT_GROUPS);
        let index = index(start);
        let world = World {
            base: &base,
            packages: &index,
            sources: &start.served,
            config: &start.config,
            semantics: Semantics::Puppet,
            any_start: false,
            packages_start_services: start.packages_start_services,
        };
        ask(&Question {
            catalog: &self.catalog,
            graph: &self.graph,
            world: &world,
            options: &setpoint_verify::Options::default(),
            sources: &self.sources,
            may_change: &|_| true,
            platform: Some("debian-12"),
            repair: true,
            automatic: None,
        })
    }

    fn settled(&self, start: &Start) -> Settled {
        self.ask(start, settle)
    }

    fn modelled(&self, start: &Start) -> Modelled {
        self.ask(start, |question| plan(question.catalog, question.graph, question.world))
    }
}

/// What stands against a repair; nothing if it is right.
fn examine(bug: &Bug, start: &Start, judge: Option<&mut Judge>) -> Result<(), String> {
    let subject = Subject::new(&bug.manifest);
    let found = subject.settled(start).findings;
    let fixes: Vec<&Fix> = found.iter().filter_map(|finding| finding.fix.as_ref()).collect();
    if fixes.is_empty() {
        return Err(format!("there is no repair: {}", told(&found)));
    }
    let text = Fix::apply(&fixes.iter().flat_map(|fix| fix.edits.clone()).collect::<Vec<_>>(), &bug.manifest);
    let mended = Subject::new(&text);
    let modelled = mended.modelled(start);
    let runner = Runner::new(&modelled.plan, Semantics::Puppet);
    let step = |name: &str| {
        let at = modelled.plan.steps.iter().position(|step| &*step.name == name);
        StepId(at.unwrap_or_else(|| panic!("no {name} in {text}")) as u32)
    };
    for (before, after, refreshes) in &bug.wanted {
        let (from, to) = (step(before), step(after));
        let mut reached = vec![from];
        let mut at = 0;
        while let Some(&next) = reached.get(at) {
            at += 1;
            reached.extend(runner.after(next).iter().map(|&step| StepId(step)));
        }
        let is_told = runner.notified_by(from).contains(&to.0);
        if !reached.contains(&to) || (*refreshes && !is_told) {
            return Err(format!("{before} does not come before {after}:\n{text}"));
        }
    }
    let left = mended.settled(start).findings;
    let bad: Vec<Diagnostic> = left.into_iter().filter(|one| one.severity > Severity::Note).collect();
    if !bad.is_empty() {
        return Err(format!("left: {}\n{text}", told(&bad)));
    }
    let fresh = setpoint_verify::plain_start(&modelled.plan, &setpoint_verify::Options::default()).unwrap();
    let order = runner.puppet_order();
    let first = runner.run(&fresh, &order);
    let second = runner.run(&first.end, &order);
    if !first.is_clean() || !second.is_clean() || !second.is_quiet() {
        return Err(format!("it does not come through: {:?}, {:?}\n{text}", first.statuses, second.statuses));
    }
    let Some(judge) = judge else { return Ok(()) };
    let outcome = judge.apply(&Trial {
        catalog: serde_json::from_str(&write::json(&mended.catalog)).unwrap(),
        earlier: Vec::new(),
        start: start.nodes.clone(),
        then: start.then.clone(),
        packages: start.packages.clone(),
        runs: 2,
    })?;
    for (at, run) in outcome.runs.iter().enumerate() {
        let is_bad = |status: &setpoint_judge::Status| {
            status.failed || status.skipped || status.failed_to_restart || (at > 0 && status.changed)
        };
        let names: Vec<&String> =
            run.resources.iter().filter(|(_, status)| is_bad(status)).map(|(name, _)| name).collect();
        if run.error.is_some() || !names.is_empty() {
            let logs = run.logs.join("\n");
            return Err(format!("run {} of Puppet: {:?} {names:?}\n{logs}\n{text}", at + 1, run.error));
        }
    }
    Ok(())
}

fn told(findings: &[Diagnostic]) -> String {
    let lines = findings.iter().map(|one| format!("{}: {} {:?}", one.rule.name(), one.message, one.helps));
    lines.collect::<Vec<_>>().join("\n  ")
}

/// Manifests by name.
fn manifests(text: &str) -> Vec<(String, String)> {
    let parts = text.split("=== ").skip(1).map(|part| part.split_once('\n').unwrap());
    parts.map(|(name, manifest)| (name.to_owned(), manifest.trim().to_owned() + "\n")).collect()
}

fn turned(manifest: &str) -> String {
    let lines: Vec<&str> = manifest.lines().rev().collect();
    format!("{}\n", lines.join("\n"))
}

/// Whether Puppet, applying a manifest twice from a fresh machine, changes or fails something in the second run.
fn is_restless(manifest: &str, start: &Start, judge: &mut Judge) -> bool {
    let catalog = serde_json::from_str(&write::json(&Subject::new(manifest).catalog)).unwrap();
    let outcome = judge
        .apply(&Trial {
            catalog,
            earlier: Vec::new(),
            start: start.nodes.clone(),
            then: start.then.clone(),
            packages: start.packages.clone(),
            runs: 2,
        })
        .unwrap();
    let run = outcome.runs.last().unwrap();
    run.error.is_some() || run.resources.values().any(|one| one.failed || one.skipped || one.changed)
}

/// What excludes each other is told as such, whatever the order; no relationship is written; and Puppet never comes to rest.
#[test]
fn contradictions_are_told_and_not_mended() {
    let mut judge = Judge::obstacle().is_none().then(Judge::default);
    let start = start();
    let mut wrong = String::new();
    for (name, manifest) in manifests(include_str!("excluded.txt")) {
        for manifest in [manifest.clone(), turned(&manifest)] {
            let settled = Subject::new(&manifest).settled(&start);
            let is_told = settled.findings.iter().any(|one| one.rule == Rule::Contradiction);
            let is_mended = settled.findings.iter().any(|one| one.fix.is_some());
            let convergent = settled.verdict.get(setpoint_source::Question::Convergent);
            let is_refuted = convergent.is_some_and(setpoint_source::Answer::is_refuted);
            if !is_told || is_mended || !is_refuted {
                wrong += &format!("--- {name}\n{manifest}{}\n", told(&settled.findings));
            } else if let Some(judge) = &mut judge
                && !is_restless(&manifest, &start, judge)
            {
                wrong += &format!("--- {name}\n{manifest}Puppet comes to rest\n");
            }
        }
    }
    for (name, manifest) in manifests(include_str!("compatible.txt")) {
        for manifest in [manifest.clone(), turned(&manifest)] {
            let findings = Subject::new(&manifest).settled(&start).findings;
            if findings.iter().any(|one| one.rule == Rule::Contradiction) {
                wrong += &format!("--- {name}: no contradiction\n{manifest}{}\n", told(&findings));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn every_repair_is_right_on_a_fresh_machine() {
    let obstacle = Judge::obstacle();
    if let Some(obstacle) = obstacle {
        setpoint_testing::skip("repairs applied by Puppet", obstacle);
    }
    let mut judge = obstacle.is_none().then(Judge::default);
    let (bugs, start) = (bugs(), start());
    let mut wrong = String::new();
    let mut count = 0;
    for bug in &bugs {
        if let Err(problem) = examine(bug, &start, judge.as_mut()) {
            count += 1;
            wrong += &format!("--- {}\n{}{problem}\n", bug.name, bug.manifest);
        }
    }
    assert!(bugs.len() >= FEWEST, "there are {} bugs", bugs.len());
    assert!(wrong.is_empty(), "{wrong}\n{count} of {} are not right", bugs.len());
}
