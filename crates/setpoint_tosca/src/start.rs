//! Whether a topology can start, and if not, what waits for what.

use std::path::{Path, PathBuf};

use rustc_hash::FxHashSet;
use setpoint_orchestra::concrete::{self, Facts, Ground, Limits};
use setpoint_orchestra::models::TOSCA_SETUP;
use setpoint_orchestra::{Instance, Model, load_models, report};
use setpoint_source::{
    Basis, Class, Coverage, Diagnostic, FileId, FileSystem, Gap, Judgement, Nouns, Reached, Reason, Rule,
    Severity, Sources, Span, Standing, Symbol, Witness,
};

use crate::instance::instance_of;
use crate::omission::{Omission, Omitted};
use crate::rule_file::unused_rule_files;
use crate::topology::Certainty;
use crate::types::full_name;
use crate::{Service, Topology, rule_files};

/// A service template, and what is known about it.
#[derive(Debug)]
pub struct Checked {
    pub service: Service,
    pub topology: Topology,
    pub findings: Vec<Diagnostic>,
    /// Whether every run ends with all nodes started.
    pub answer: Judgement,
    /// Whether all of it was read and has a model, whatever else has to be assumed.
    pub is_whole: bool,
    pub coverage: Coverage,
}

/// Reads a service template with its imports, and decides whether it can start. Proved only if all of it was read and has
/// a model, and no finding says otherwise.
pub fn check(
    files: &dyn FileSystem,
    sources: &Sources,
    file: FileId,
    path: &Path,
    profiles: &[PathBuf],
) -> Checked {
    let service = Service::read(files, sources, file, path, profiles);
    let topology = Topology::new(&service);
    let place = setpoint_source::Range::default().in_file(file);
    let mut omissions: Vec<Omission> = service.omissions.iter().chain(&topology.omissions).cloned().collect();
    if !is_settled(sources, &service, &topology) {
        omissions.extend(topology.open.iter().cloned());
    }
    let is_whole = !omissions.iter().any(|one| one.gap() != Gap::Assumed)
        && !topology
            .diagnostics
            .iter()
            .any(|one| one.severity == Severity::Error || one.rule == Rule::UnknownType);
    let (started, mut findings_of_run) = start(files, sources, &service, &topology, &mut omissions, place);
    let unused = unused_rules(files, sources, &service, &topology);
    let of_rules = unused.iter().map(|finding| Reason::of(Gap::Malformed, finding));
    let reasons = omissions.iter().map(Omission::reason).chain(of_rules);
    let mut answer = match started {
        Some(answer) => reasons.fold(answer, Judgement::doubt),
        // Nothing can start, and an omission says so.
        None => reasons.map(Judgement::unknown).reduce(Judgement::and).unwrap_or_else(|| {
            Judgement::unknown(Reason::new(Gap::NothingEntered, "there is nothing that can start").at(place))
        }),
    };
    answer = topology.diagnostics.iter().fold(answer, weigh);
    let mut findings: Vec<Diagnostic> = omissions.iter().filter_map(Omission::finding).collect();
    findings.extend(service.diagnostics.iter().chain(&topology.diagnostics).cloned());
    findings.append(&mut findings_of_run);
    let is_whole = is_whole && unused.is_empty();
    findings.extend(unused);
    let coverage = coverage(&service, &omissions);
    Checked { service, topology, findings, answer, is_whole, coverage }
}

/// Whether what is open about relationships does not matter: nodes that cannot wait for each other in a circle start, whatever
/// they wait for. Rules that types bring may ask for more.
fn is_settled(sources: &Sources, service: &Service, topology: &Topology) -> bool {
    topology.open.is_empty()
        || (rule_files(service, topology, sources).is_empty() && !topology.may_have_circle())
}

/// Decides whether the nodes start by their rule set; nothing if there are no nodes or they do not fit it.
fn start(
    files: &dyn FileSystem,
    sources: &Sources,
    service: &Service,
    topology: &Topology,
    omissions: &mut Vec<Omission>,
    place: Span,
) -> (Option<Judgement>, Vec<Diagnostic>) {
    if topology.nodes.is_empty() {
        return (None, Vec::new());
    }
    let (model, facts) = match rule_set(files, sources, service, topology) {
        Ok(found) => found,
        Err(problems) => {
            let unknown =
                Judgement::unknown(Reason::new(Gap::Malformed, "the rule set cannot be used").at(place));
            let reasons = problems.iter().map(|finding| Reason::of(Gap::Malformed, finding));
            return (Some(reasons.fold(unknown, Judgement::doubt)), problems);
        }
    };
    // What is not known to wait refutes nothing; rules that types bring say what it waits for.
    let is_built_in = rule_files(service, topology, sources).is_empty();
    let relationships = topology.relationships.iter();
    let certain = relationships.filter(|one| !is_built_in || one.certainty == Certainty::Known);
    match instance_of(service, topology, certain, &model) {
        Ok(instance) => {
            let (answer, findings) = can_start(&model, &instance, &facts, sources);
            (Some(answer), findings)
        }
        Err(errors) => {
            omissions.extend(
                errors.into_iter().map(|error| {
                    Omission::new(Omitted::Instance(error.message), error.span.unwrap_or(place))
                }),
            );
            (None, Vec::new())
        }
    }
}

/// Takes a finding about the topology into the answer: an error refutes that it starts; a requirement, a type or a structure
/// that an orchestrator may refuse leaves it open.
fn weigh(known: Judgement, finding: &Diagnostic) -> Judgement {
    match (finding.severity, finding.rule) {
        (Severity::Error, rule) if rule.class() == Class::Defect => {
            known.and(Judgement::refuted(Witness::of(finding)))
        }
        (Severity::Error, _) => known.doubt(Reason::of(Gap::Malformed, finding)),
        (_, Rule::UnknownType) => known.doubt(Reason::of(Gap::NotModelled, finding)),
        (Severity::Warning, _) => known.doubt(Reason::of(Gap::Undecided, finding)),
        _ => known,
    }
}

/// Counts the files, and the nodes of which nothing was passed over.
fn coverage(service: &Service, omissions: &[Omission]) -> Coverage {
    let mut coverage =
        Coverage::new(Nouns { sources: "service templates", definitions: "types", resources: "nodes" });
    coverage.sources = service.files;
    let written = service.topology.as_ref().and_then(|(_, topology)| topology.get("node_templates"));
    let all = written.map_or(0, |templates| templates.entries().len());
    let types = &service.types.nodes;
    let open: FxHashSet<Symbol> = omissions.iter().filter_map(Omission::node).collect();
    let whole = service
        .nodes
        .values()
        .filter(|node| types.contains_key(&full_name(types, node.kind)) && !open.contains(&node.name));
    coverage.resources = Reached::new(whole.count(), all);
    coverage
}

/// Returns the rules by which the topology is set up: those that its types name, all together, or the built-in ones.
pub fn rule_set(
    files: &dyn FileSystem,
    sources: &Sources,
    service: &Service,
    topology: &Topology,
) -> Result<(Model, Facts), Vec<Diagnostic>> {
    let paths = rule_files(service, topology, sources);
    if paths.is_empty() {
        let model = TOSCA_SETUP.load(sources).ok_or_else(Vec::new)?;
        return Ok((model, TOSCA_SETUP.facts.clone()));
    }
    let loaded = load_models(files, sources, &paths);
    let model = loaded.model.ok_or(loaded.diagnostics)?;
    let facts = setpoint_orchestra::parametric::facts(&model);
    Ok((model, facts))
}

/// Returns what is wrong with the rule files that types name for nodes that the topology does not have.
fn unused_rules(
    files: &dyn FileSystem,
    sources: &Sources,
    service: &Service,
    topology: &Topology,
) -> Vec<Diagnostic> {
    let named = unused_rule_files(service, topology, sources);
    named.iter().flat_map(|one| load_models(files, sources, std::slice::from_ref(one)).diagnostics).collect()
}

/// Decides whether every run of an instance ends with all nodes started.
pub fn can_start(
    model: &Model,
    instance: &Instance,
    facts: &Facts,
    sources: &Sources,
) -> (Judgement, Vec<Diagnostic>) {
    let ground = match Ground::new(model, instance) {
        Ok(ground) => ground,
        Err(limit) => {
            let finding = limit.finding(instance.objects.first().and_then(|object| object.span));
            return (Judgement::unknown(Reason::of(Gap::Limit, &finding)), vec![finding]);
        }
    };
    let outcome = concrete::check(&ground, facts, Limits::default());
    let (answer, mut found) = report::judge_outcome(&ground, &outcome, sources);
    for finding in found.iter_mut().filter(|finding| finding.rule == Rule::Deadlock) {
        finding.help(
            "Remove one of the requirements of the circle, or move what it is for into a node of its own.",
        );
    }
    let standing = Basis::of([Standing::ServiceFollowsRules, Standing::CreationSucceeds]);
    (answer.and(Judgement::Proved(standing)), found)
}
