//! Whether a project or a catalog is right: every analysis, and the verdict.

use std::path::{Path, PathBuf};

use setpoint_catalog::graph::{self, Graph, Types};
use setpoint_catalog::ruby_types::ModuleTypes;
use setpoint_catalog::{Catalog, findings};
use setpoint_packages::Platform;
use setpoint_puppet::Compilation;
use setpoint_source::{
    Basis, Diagnostic, Drawing, Gap, InputReport, Judgement, Question, Reason, Rule, Severity, Sources,
    Verdict, Witness,
};

use crate::jobs::Job;
use crate::options::Options;
use crate::project::Project;
use crate::run;
use crate::session::{Session, UsageError};
use crate::settle::{self, Surroundings};
use crate::sibling::Home;
use crate::survey::survey;

/// Compiles and judges every job of a project.
pub fn check(session: &Session<'_>, path: &Path, options: &Options) -> Result<Vec<InputReport>, UsageError> {
    let project = Project::open(session, path, options)?;
    let mut plan = project.plan()?;
    let threads = run::threads(session.jobs);
    let surroundings =
        Surroundings::new(session, project.environment.modulepath(), &project.config, options)?
            .with_threads(threads, plan.jobs.len());
    let analyse = |job: &Job, compilation: &Compilation, report: &mut InputReport| {
        analyse(&project, &surroundings, job, compilation, report);
    };
    let mut checked = run::all(&project, &plan.jobs, threads, analyse);
    let survey = survey(&project);
    if checked.iter().all(|one| one.resources_of_code == 0) && options.puppet.node.is_none() {
        let nodes = plan.jobs.len();
        if project.plan_classes(&survey, &mut plan)? > 0 {
            checked.extend(run::all(&project, &plan.jobs[nodes..], threads, analyse));
        }
    }
    Ok(run::reports(&project, &plan, checked, survey))
}

/// Every analysis of a catalog, and the verdict.
pub(crate) fn analyse(
    project: &Project<'_>,
    surroundings: &Surroundings<'_>,
    job: &Job,
    compilation: &Compilation,
    report: &mut InputReport,
) {
    let Some(catalog) = &compilation.catalog else {
        report.conclude(no_catalog(report));
        return;
    };
    let Ok(home) = project.home(&job.node) else { return };
    if let Home::There(other) = &home {
        let message =
            format!("The classifier puts {} into the environment {}", job.node.name, other.environment.name);
        report.findings.push(Diagnostic::new(Rule::OtherEnvironment, message));
    }
    let platform = settle::platform(job.node.platform.as_deref(), &job.node.facts);
    let own = |path: &str| home.owns(Path::new(path));
    let surroundings = &surroundings.with_modules(home.environment.modulepath());
    judge(
        catalog,
        home.environment.module_types(),
        surroundings,
        platform,
        &project.session.sources,
        &own,
        report,
    );
}

/// The verdict of a node that has no catalog.
pub(crate) fn no_catalog(report: &InputReport) -> Verdict {
    let mut verdict = Verdict::nothing_asked();
    let error = report.findings.iter().find(|finding| finding.severity == Severity::Error);
    verdict.give(
        Question::Catalog,
        match error {
            Some(finding) => Judgement::refuted(Witness::of(finding)),
            None => Judgement::unknown(Reason::new(Gap::Undecided, "it was not compiled")),
        },
    );
    verdict
}

/// What is wrong with a catalog before anything is applied; if nothing is, whether it settles.
pub fn judge(
    catalog: &Catalog,
    types: &dyn Types,
    surroundings: &Surroundings<'_>,
    platform: Option<Platform>,
    sources: &Sources,
    may_change: &dyn Fn(&str) -> bool,
    report: &mut InputReport,
) {
    let graph = Graph::new(catalog, types);
    if let (Ok(graph), Some(limit)) = (&graph, surroundings.drawn) {
        report.drawing = Some(Drawing::within(limit, graph::diagram(graph, catalog)));
    }
    report.findings.extend(findings::of_conversion(catalog, types));
    report.findings.extend(findings::of_graph(catalog, &graph));
    let error = report.findings.iter().find(|finding| finding.severity == Severity::Error);
    let mut verdict = Verdict::nothing_asked();
    let fails = error.is_some();
    verdict.give(
        Question::Catalog,
        error.map_or_else(
            || Judgement::Proved(Basis::nothing()),
            |finding| Judgement::refuted(Witness::of(finding)),
        ),
    );
    // The paper's semantics knows nothing of what an agent refuses.
    if let Ok(graph) = &graph
        && (!fails || surroundings.is_paper())
    {
        let settled = surroundings.settle(sources, catalog, graph, types, platform, may_change);
        for (question, answer) in settled.verdict.iter() {
            verdict.give(question, answer.clone());
        }
        report.findings.extend(settled.findings);
    }
    report.conclude(verdict);
}

/// The native types of Puppet and of the modules.
pub fn module_types<'a>(session: &Session<'a>, options: &Options) -> ModuleTypes<'a> {
    ModuleTypes::new(session.files, modulepath(options))
}

/// The folders of modules that the command line names.
pub fn modulepath(options: &Options) -> Vec<PathBuf> {
    let path = options.puppet.modulepath.as_deref().unwrap_or("");
    path.split(':').filter(|part| !part.is_empty()).map(PathBuf::from).collect()
}
