//! One node in both versions.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use setpoint_catalog::Catalog;
use setpoint_catalog::compare::{Scope, compare as compare_catalogs};
use setpoint_catalog::graph::Graph;
use setpoint_catalog::write::resource_json;
use setpoint_diff::{Differences, Fate, ServedFiles, Side, SourceChanges, Version, as_sentence};
use setpoint_packages::Platform;
use setpoint_puppet::{Compilation, CompileGapKind};
use setpoint_settle::NextRun;
use setpoint_source::{Diagnostic, Gap, InputReport, Judgement, Question, Severity};
use sha2::{Digest, Sha256};

use crate::jobs::{Job, Origin};
use crate::judge::{Subject, analyse};
use crate::settle::{self, Surroundings};

use super::findings::Found;
use super::unseen::{Unseen, class_of};
use super::{Opened, Pair};

/// What was found out about a node.
pub(super) struct NodeOutcome {
    pub(super) fate: Fate,
    pub(super) differences: Differences,
    pub(super) old_findings: Vec<Found>,
    pub(super) new_findings: Vec<Found>,
    /// It has a catalog in each version that has the node, and no resource in it.
    pub(super) is_empty: bool,
    /// What is proved of it was not compared: the time was over.
    pub(super) is_cut: bool,
    /// Collectors of what other nodes export that only one version has, each as it is written and with its place.
    pub(super) uncollected: Vec<String>,
    /// Which of the edited files it uses, by their places in the list of them.
    pub(super) used: BTreeSet<usize>,
    /// What the next run does, or why nobody knows, if it changes and that was asked for.
    pub(super) next_run: Option<Result<NextRun, String>>,
}

/// What was proved about catalogs of one version, so that nodes with the same catalog share it.
#[derive(Debug, Default)]
pub(super) struct Proofs(Mutex<HashMap<[u8; 32], Arc<OnceLock<Proof>>>>);

/// Findings about a catalog, and whether the agent refuses it.
#[derive(Debug, Clone)]
struct Proof {
    findings: Vec<Diagnostic>,
    refused: Option<String>,
    /// The time was over before every question was asked.
    is_cut: bool,
}

/// How a node fares in one version.
enum State {
    Absent,
    Works,
    /// It does not compile.
    Fails(String),
    /// It compiles, and the agent refuses it.
    Refused(String),
    /// Setpoint cannot compile it.
    Limit(String),
}

/// Which findings of a version count.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Counts {
    All,
    Errors,
    None,
}

/// A version of the node, compiled.
struct Compiled<'o, 's> {
    opened: &'o Opened<'s>,
    job: &'o Job,
    compilation: Compilation,
    served: ServedFiles,
}

type SideOf<'o, 's> = (&'o Opened<'s>, &'o Surroundings<'o>);

/// Compiles a node in both versions, judges what differs, and compares.
pub(super) fn compare<'o, 's: 'o, 't: 'o>(
    pair: Pair<'o>,
    (old, new): (SideOf<'o, 's>, SideOf<'o, 't>),
    changes: &SourceChanges<'_>,
    unseen: &Unseen,
    asks_next_run: bool,
) -> NodeOutcome {
    let was = pair.0.map(|job| Compiled::new(old.0, job));
    let is = pair.1.map(|job| Compiled::new(new.0, job));
    let mut differences = Differences::default();
    let mut differs = false;
    let mut are_identical = false;
    let label = pair.1.or(pair.0).map(Job::name).unwrap_or_default();
    match (was.as_ref().and_then(Compiled::version), is.as_ref().and_then(Compiled::version)) {
        (Some(was_version), Some(is_version)) => {
            let settings = unseen.of_node(&label);
            differs = differences.add(&label, (&was_version, &is_version), changes, &settings);
            are_identical = !differs
                && !unseen.silences_otherwise
                && are_proved_alike(was_version.catalog, is_version.catalog);
        }
        (Some(version), None) => differences.secrets.gather(Side::Old, &version),
        (None, Some(version)) => differences.secrets.gather(Side::New, &version),
        (None, None) => {}
    }
    // What is true of one is true of the other: nothing is proved.
    let proof = |one: Option<&Compiled<'_, '_>>, surroundings: &Surroundings<'_>| {
        one.filter(|_| !are_identical).map(|one| one.proof(surroundings))
    };
    // Nobody asks about a node that is gone.
    // Of a version whose successor does not compile only that is asked whether an agent applied it, which needs no proof.
    let compiles = is.as_ref().is_some_and(|is| is.compilation.catalog.is_some());
    let mut old_proof = if compiles {
        proof(was.as_ref(), old.1)
    } else {
        was.as_ref().filter(|_| is.is_some()).map(|was| Proof { is_cut: false, ..was.look() })
    };
    let mut new_proof = proof(is.as_ref(), new.1);
    if are_identical {
        // Whether an agent applies them is seen without a proof.
        let refused = is.as_ref().and_then(|is| is.look().refused);
        let seen = |refused| Some(Proof { findings: Vec::new(), refused, is_cut: false });
        (old_proof, new_proof) = (seen(refused.clone()), seen(refused));
    }
    // What one version was not asked cannot be told from what it does not have.
    let is_cut = [&old_proof, &new_proof].into_iter().flatten().any(|proof| proof.is_cut);
    for proof in [&mut old_proof, &mut new_proof].into_iter().flatten() {
        if is_cut && proof.refused.is_none() {
            proof.findings.clear();
        }
    }
    let (old_state, new_state) =
        (state(was.as_ref(), old_proof.as_ref()), state(is.as_ref(), new_proof.as_ref()));
    let are_refused = matches!((&old_state, &new_state), (State::Refused(_), State::Refused(_)));
    let is_tried = pair.1.is_some_and(|job| matches!(job.origin, Origin::Class | Origin::Example));
    let fate = fate(old_state, new_state, differs, is_tried);
    // A version that does not work was not asked all questions: that it has no answer shows nothing.
    let (old_counts, new_counts) = match fate {
        _ if is.is_none() => (Counts::None, Counts::None),
        Fate::FailsAlike(_) if are_refused => (Counts::Errors, Counts::Errors),
        Fate::FailsAlike(_) | Fate::NotLookedAt(_) => (Counts::None, Counts::None),
        Fate::StopsCompiling(_) | Fate::CannotBeApplied(_) => (Counts::None, Counts::Errors),
        Fate::Mended(_) => (Counts::Errors, Counts::None),
        Fate::Changes | Fate::Same => (Counts::All, Counts::All),
    };
    let findings = |one: Option<&Compiled<'_, '_>>, proof: Option<Proof>, counts: Counts| {
        let mut found =
            one.filter(|_| counts != Counts::None).map(|one| one.findings(proof)).unwrap_or_default();
        // A flow stops no agent.
        let stops = |found: &Diagnostic| found.severity == Severity::Error && found.flow.is_none();
        found.retain(|found| counts == Counts::All || stops(&found.finding));
        found
    };
    let next_run = match (&was, &is) {
        (Some(was), Some(is)) if asks_next_run && fate == Fate::Changes => {
            Some(is.next_run(new.1, was, old.1))
        }
        _ => None,
    };
    let is_empty = was.as_ref().is_none_or(Compiled::is_empty) && is.as_ref().is_none_or(Compiled::is_empty);
    NodeOutcome {
        fate,
        differences,
        old_findings: findings(was.as_ref(), old_proof, old_counts),
        new_findings: findings(is.as_ref(), new_proof, new_counts),
        is_empty,
        is_cut,
        uncollected: uncollected(was.as_ref(), is.as_ref()),
        used: [
            was.as_ref().map(|one| one.used(&unseen.edited)),
            is.as_ref().map(|one| one.used(&unseen.edited)),
        ]
        .into_iter()
        .flatten()
        .flatten()
        .collect(),
        next_run,
    }
}

/// The collectors of exported resources that one version has and the other does not: what they find is in no catalog here.
fn uncollected(was: Option<&Compiled<'_, '_>>, is: Option<&Compiled<'_, '_>>) -> Vec<String> {
    let (Some(was), Some(is)) = (was, is) else { return Vec::new() };
    // Of a version that does not compile nobody knows what it would collect.
    if was.compilation.catalog.is_none() || is.compilation.catalog.is_none() {
        return Vec::new();
    }
    let (before, after) = (was.exported_collectors(), is.exported_collectors());
    let only = |these: &BTreeMap<String, String>, others: &BTreeMap<String, String>| -> Vec<String> {
        let lone = these.iter().filter(|(code, _)| !others.contains_key(*code));
        lone.map(|(code, place)| format!("`{code}` ({place})")).collect()
    };
    [only(&after, &before), only(&before, &after)].concat()
}

/// What is wrong with a node of one version; nothing if it does not compile, or if not all was asked.
pub(super) fn findings_of(
    opened: &Opened<'_>,
    surroundings: &Surroundings<'_>,
    job: &Job,
) -> Option<Vec<Found>> {
    let compiled = Compiled::new(opened, job);
    compiled.compilation.catalog.as_ref()?;
    let proof = compiled.proof(surroundings);
    (!proof.is_cut).then(|| compiled.findings(Some(proof)))
}

/// Whether every answer about one catalog is an answer about the other, whose resources and parameters are the same.
fn are_proved_alike(old: &Catalog, new: &Catalog) -> bool {
    let scope = Scope { containment: true, order: true, ..Scope::default() };
    compare_catalogs(old, new, scope).is_empty()
}

fn state(compiled: Option<&Compiled<'_, '_>>, proof: Option<&Proof>) -> State {
    let Some(compiled) = compiled else { return State::Absent };
    let failures = &compiled.compilation.failures;
    if compiled.compilation.catalog.is_none() {
        let message = compiled.first_error();
        let is_limit = !failures.is_empty() && failures.iter().all(|one| one.kind.is_limit_of_setpoint());
        return match compiled.first_help().filter(|_| is_limit) {
            // What the code has no part in, somebody can provide: a module, a file, facts.
            Some(help) => State::Limit(format!("{message}. {help}")),
            None if is_limit => State::Limit(message),
            None => State::Fails(message),
        };
    }
    match proof.and_then(|proof| proof.refused.clone()) {
        Some(message) => State::Refused(message),
        None => State::Works,
    }
}

fn fate(old: State, new: State, differs: bool, is_tried: bool) -> Fate {
    match (old, new) {
        (_, State::Limit(reason)) => Fate::NotLookedAt(reason),
        // A class that was merely tried may not be meant to stand alone.
        (State::Absent | State::Fails(_) | State::Limit(_), State::Fails(reason)) if is_tried => {
            Fate::NotLookedAt(reason)
        }
        (State::Works | State::Absent | State::Limit(_), State::Fails(reason)) => {
            Fate::StopsCompiling(reason)
        }
        (State::Works | State::Absent | State::Limit(_), State::Refused(reason)) => {
            Fate::CannotBeApplied(reason)
        }
        (State::Works, State::Works) if differs => Fate::Changes,
        (State::Refused(_), State::Refused(reason)) => {
            Fate::FailsAlike(format!("the agent can apply neither version: {reason}"))
        }
        (State::Fails(_) | State::Refused(_), State::Fails(reason))
        | (State::Fails(_), State::Refused(reason)) => Fate::FailsAlike(reason),
        (State::Fails(reason) | State::Refused(reason), State::Works) => Fate::Mended(reason),
        (State::Limit(reason), State::Works) => Fate::NotLookedAt(format!("before the change, {reason}")),
        (State::Works | State::Absent, State::Works) | (_, State::Absent) => Fate::Same,
    }
}

impl<'o, 's> Compiled<'o, 's> {
    fn new(opened: &'o Opened<'s>, job: &'o Job) -> Self {
        let compilation = opened.project.compile(job);
        let served = match (&compilation.catalog, opened.project.home(&job.node)) {
            (Some(catalog), Ok(home)) => opened.server.files_of(catalog, &home.environment),
            _ => ServedFiles::default(),
        };
        Self { opened, job, compilation, served }
    }

    fn version(&self) -> Option<Version<'_>> {
        Some(Version {
            catalog: self.compilation.catalog.as_ref()?,
            arena: &self.compilation.arena,
            sources: &self.opened.session.sources,
            root: &self.opened.root,
            served: &self.served,
        })
    }

    /// The collectors of what other nodes export: their code on one line, and where it stands.
    fn exported_collectors(&self) -> BTreeMap<String, String> {
        let gaps = self.compilation.gaps.iter().filter(|gap| matches!(gap.kind, CompileGapKind::OtherNodes));
        let told = gaps.filter_map(|gap| gap.span).map(|span| {
            let file = self.opened.session.sources.file(span.file);
            let code = file.text().get(span.range.start as usize..span.range.end as usize).unwrap_or("");
            let place = self.opened.root.shared_name(file.path());
            let code = code.split_whitespace().collect::<Vec<_>>().join(" ");
            (code, format!("{place}:{}", file.line(span.range.start)))
        });
        told.collect()
    }

    /// The places of the files of a list that something in it comes from.
    fn used(&self, edited: &[String]) -> BTreeSet<usize> {
        if edited.is_empty() {
            return BTreeSet::new();
        }
        let places: HashMap<&str, usize> =
            edited.iter().enumerate().map(|(at, name)| (name.as_str(), at)).collect();
        let (root, sources) = (&self.opened.root, &self.opened.session.sources);
        let place = |path: &str| places.get(root.shared_name(path)).copied();
        let entered: BTreeSet<String> =
            self.compilation.entered.iter().map(|name| name.to_lowercase()).collect();
        let is_entered = |name: &String| class_of(name).is_some_and(|class| entered.contains(&class));
        let entered = edited.iter().enumerate().filter(|(_, name)| is_entered(name)).map(|(at, _)| at);
        let served = self.served.values().flat_map(BTreeMap::values).filter_map(|file| place(&file.path));
        let mut found: BTreeSet<usize> = entered.chain(served).collect();
        let mut files = BTreeSet::new();
        // A walk over all leaves; what they reach is not asked.
        self.compilation.arena.reached(|_, leaf| {
            files.extend(leaf.and_then(|leaf| leaf.span).map(|span| span.file));
            false
        });
        found.extend(files.into_iter().filter_map(|id| place(sources.file(id).path())));
        found
    }

    fn is_empty(&self) -> bool {
        let is_code = |type_name: &str| !matches!(type_name, "Class" | "Stage" | "Node");
        let catalog = self.compilation.catalog.as_ref();
        catalog.is_some_and(|catalog| !catalog.iter().any(|(_, one)| is_code(one.type_name.as_str())))
    }

    fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.compilation.diagnostics.iter().filter(|one| one.severity == Severity::Error)
    }

    /// What to do about the first error.
    fn first_help(&self) -> Option<String> {
        let help = self.errors().next()?.helps.first()?;
        Some(as_sentence(help))
    }

    fn first_error(&self) -> String {
        let told = self.errors().map(|error| match error.span {
            Some(span) => {
                let file = self.opened.session.sources.file(span.file);
                let path = self.opened.root.shared_name(file.path());
                format!("{} ({path}:{})", error.message, file.line(span.range.start))
            }
            None => error.message.clone(),
        });
        let reason = told.into_iter().next().unwrap_or_else(|| "there is no catalog".to_owned());
        // Nodes that fail for one reason are told together.
        let reason = as_sentence(&reason);
        reason.replace(&format!(" for {}", self.job.node.name), "").replace(&self.job.node.name, "…")
    }

    /// All that is known to be wrong with it.
    fn findings(&self, proof: Option<Proof>) -> Vec<Found> {
        let of_compiler = self.compilation.diagnostics.iter().cloned();
        let proved = proof.into_iter().flat_map(|proof| proof.findings);
        let node = self.job.label();
        let fails = self.compilation.catalog.is_none();
        let found = of_compiler.chain(proved).filter_map(|finding| {
            if fails && finding.severity == Severity::Error {
                Some(Found::always(self.opened, finding, Some(&node)))
            } else {
                Found::new(self.opened, finding, Some(&node))
            }
        });
        found.collect()
    }

    /// What the first run of this version does on a node that had the old one.
    fn next_run(
        &self,
        surroundings: &Surroundings<'_>,
        old: &Compiled<'_, '_>,
        old_surroundings: &Surroundings<'_>,
    ) -> Result<NextRun, String> {
        if surroundings.is_late() {
            return Err("the time is over".to_owned());
        }
        let told = old.ask(old_surroundings, |old| self.ask(surroundings, |new| new.next_run(old)));
        match told.flatten() {
            Some(Ok(Ok(run))) => Ok(run),
            Some(Ok(Err(findings))) => {
                Err(findings.into_iter().next().map(|found| found.message).unwrap_or_default())
            }
            Some(Err(error)) => Err(error.0),
            None => Err("its environment cannot be read".to_owned()),
        }
    }

    /// Asks about the catalog.
    fn ask<R>(&self, surroundings: &Surroundings<'_>, ask: impl FnOnce(&Subject<'_>) -> R) -> Option<R> {
        let catalog = self.compilation.catalog.as_ref()?;
        let node = &self.job.node;
        let home = self.opened.project.home(node).ok()?;
        let platform = settle::platform(node.platform.as_deref(), &node.facts);
        let surroundings = &surroundings.with_modules(home.environment.modulepath());
        let (types, sources) = (home.environment.module_types(), &self.opened.session.sources);
        let system = settle::system(node.platform.as_deref(), &node.facts);
        Some(ask(&Subject { catalog, types, surroundings, platform, system, sources }))
    }

    /// What is proved about the catalog, once for all nodes that have it.
    fn proof(&self, surroundings: &Surroundings<'_>) -> Proof {
        let Some(catalog) = &self.compilation.catalog else {
            return Proof { findings: Vec::new(), refused: None, is_cut: false };
        };
        let key = self.key(catalog);
        let mut known = self.opened.proofs.0.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = Arc::clone(known.entry(key).or_default());
        drop(known);
        slot.get_or_init(|| self.prove(surroundings)).clone()
    }

    fn prove(&self, surroundings: &Surroundings<'_>) -> Proof {
        if surroundings.is_late() {
            return self.look();
        }
        let mut report = InputReport::new(self.job.path.clone(), "puppet");
        report.node = Some(self.job.label());
        analyse(&self.opened.project, surroundings, self.job, &self.compilation, &mut report);
        let is_refused = report.verdict().get(Question::Catalog).is_some_and(Judgement::is_refuted);
        let error = report.findings.iter().find(|finding| finding.severity == Severity::Error);
        let refused = is_refused.then(|| error.map(|error| error.message.clone()).unwrap_or_default());
        let is_late = |answer: &Judgement| answer.reasons().iter().any(|reason| reason.gap == Gap::Time);
        let is_cut = report.verdict().iter().any(|(_, answer)| is_late(answer));
        Proof { findings: report.findings, refused, is_cut }
    }

    /// What is seen without a proof: resources that the agent refuses, and circles.
    fn look(&self) -> Proof {
        let (catalog, home) = (self.compilation.catalog.as_ref(), self.opened.project.home(&self.job.node));
        let (Some(catalog), Ok(home)) = (catalog, home) else {
            return Proof { findings: Vec::new(), refused: None, is_cut: true };
        };
        let types = home.environment.module_types();
        let node = &self.job.node;
        let system = settle::system(node.platform.as_deref(), &node.facts);
        let mut findings = setpoint_catalog::findings::of_conversion(catalog, types, system).findings;
        findings.extend(setpoint_catalog::findings::of_graph(catalog, &Graph::new(catalog, types)));
        let error = findings.iter().find(|finding| finding.severity == Severity::Error);
        let refused = error.map(|error| error.message.clone());
        Proof { findings, refused, is_cut: true }
    }

    /// Catalogs of one version with the same key have the same answers: their names apart, they are the same.
    fn key(&self, catalog: &Catalog) -> [u8; 32] {
        let mut digest = Sha256::new();
        let mut add = |part: &str| {
            digest.update((part.len() as u64).to_be_bytes());
            digest.update(part.as_bytes());
        };
        for (_, resource) in catalog.iter() {
            add(&resource_json(resource));
            // Secrets are left out of JSON, and may decide an answer.
            add(&format!("{:?} {}", resource.sensitive, resource.virtual_));
            for parameter in resource.parameters.iter().filter(|one| resource.is_secret(one.name)) {
                add(&format!("{:?}", parameter.value.data));
            }
        }
        add(&format!("{:?}", catalog.edges));
        let node = &self.job.node;
        let platform = settle::platform(node.platform.as_deref(), &node.facts).map(Platform::name);
        add(&format!("{platform:?} {:?}", node.environment));
        digest.finalize().into()
    }
}
