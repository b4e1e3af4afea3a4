//! Puppet manifests.

mod collectors;
mod cursor;
pub(super) mod diff;
mod editor;
mod environment_conf;
mod facts;
pub(crate) mod fleet;
mod jobs;
mod module_files;
mod node;
mod project;
mod puppetfile;
mod run;
pub(super) mod settle;
pub(super) mod sibling;
mod why;

pub(crate) use jobs::OwnFacts;
pub(crate) use project::Project;
pub(crate) use run::{parallel, threads};

use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};

use setpoint_catalog::graph::{self, Graph, Types};
use setpoint_catalog::ruby_types::ModuleTypes;
use setpoint_catalog::{Catalog, findings};
use setpoint_lsp::{At, Hover, Symbol, Target};
use setpoint_packages::Platform;
use setpoint_puppet::{Compilation, LogEntry, LogLevel, Looked, LookupOptions};
use setpoint_puppet_syntax::Parse;
use setpoint_source::{
    Basis, Coverage, Diagnostic, Drawing, FileId, Gap, InputReport, Judgement, Nouns, Question, Reason, Rule,
    Severity, Sources, Verdict, Witness,
};

use self::jobs::Job;
use self::settle::Surroundings;
use self::sibling::Home;
use super::{Language, Older};
use crate::cli::{ImpactArgs, InputOptions, SimulateArgs, WhyArgs};
use crate::session::{Outcome, Session, UsageError};

#[derive(Debug)]
pub(crate) struct Puppet;

impl Language for Puppet {
    fn kind(&self) -> &'static str {
        "puppet"
    }

    fn recognises(&self, path: &Path, _text: &str) -> bool {
        path.extension().is_some_and(|extension| extension == "pp" || extension == "epp")
    }

    fn recognises_folder(&self, session: &Session<'_>, path: &Path) -> bool {
        project::is_project(session, path)
    }

    fn scope(&self, session: &Session<'_>, path: &Path, limit: Option<&Path>) -> Option<PathBuf> {
        let is_template = path.extension().is_some_and(|extension| extension == "epp");
        let by_itself = || (!is_template).then(|| path.to_owned());
        project::above(session, path, limit).or_else(by_itself)
    }

    fn symbols(&self, session: &Session<'_>, path: &Path) -> Vec<Symbol> {
        editor::symbols(session, path)
    }

    fn hover(&self, session: &Session<'_>, at: &At<'_>, options: &InputOptions) -> Option<Hover> {
        editor::hover(session, at, options)
    }

    fn definition(&self, session: &Session<'_>, at: &At<'_>, options: &InputOptions) -> Vec<Target> {
        editor::definition(session, at, options)
    }

    fn parse(&self, session: &Session<'_>, path: &Path) -> Result<InputReport, UsageError> {
        let text = session.read(path)?;
        let file = session.sources.add(path.display().to_string(), text.as_str());
        let parse = parse_text(path, file, &text);
        let mut report = InputReport::new(path.display().to_string(), self.kind());
        report.findings = parse.diagnostics;
        Ok(report)
    }

    fn compile(
        &self,
        session: &Session<'_>,
        path: &Path,
        options: &InputOptions,
        format: &str,
    ) -> Result<Outcome, UsageError> {
        let print = printer(format)?;
        // The process ends after this. To take the trees and the catalog apart would cost a tenth of its time.
        let project = ManuallyDrop::new(Project::open(session, path, options)?);
        let (job, assumed) = project.chosen()?;
        let compilation = ManuallyDrop::new(project.compile(&job));
        let mut diagnostics = project.diagnostics.clone();
        diagnostics.extend(assumed);
        diagnostics.extend(logged(&compilation.log));
        diagnostics.extend(compilation.diagnostics.iter().cloned());
        Ok(Outcome { result: compilation.catalog.as_ref().map(print), diagnostics })
    }

    fn graph(
        &self,
        session: &Session<'_>,
        path: &Path,
        options: &InputOptions,
        format: &str,
    ) -> Result<Outcome, UsageError> {
        let project = Project::open(session, path, options)?;
        let job = project.only_job()?;
        let home = project.home(&job.node).map_err(UsageError::new)?;
        let compilation = project.compile(&job);
        let mut diagnostics = project.diagnostics.clone();
        diagnostics.extend(compilation.diagnostics);
        let mut result = None;
        if let Some(catalog) = &compilation.catalog {
            match draw(catalog, home.environment.module_types(), format) {
                Ok(drawing) => result = Some(drawing),
                Err(findings) => diagnostics.extend(findings),
            }
        }
        Ok(Outcome { result, diagnostics })
    }

    fn diff(
        &self,
        session: &Session<'_>,
        old: &Older<'_>,
        new: &Path,
        options: &InputOptions,
        format: &str,
    ) -> Result<Outcome, UsageError> {
        diff::diff(session, old, new, options, format)
    }

    fn why(&self, session: &Session<'_>, args: &WhyArgs) -> Result<Outcome, UsageError> {
        why::why(session, args)
    }

    fn impact(&self, session: &Session<'_>, args: &ImpactArgs) -> Result<Outcome, UsageError> {
        why::impact(session, args)
    }

    fn simulate(&self, session: &Session<'_>, args: &SimulateArgs) -> Result<Outcome, UsageError> {
        let project = Project::open(session, &args.input, &args.options)?;
        let job = project.only_job()?;
        let compilation = project.compile(&job);
        let Some(catalog) = &compilation.catalog else {
            return Ok(Outcome { result: None, diagnostics: compilation.diagnostics });
        };
        let home = project.home(&job.node).map_err(UsageError::new)?;
        let surroundings =
            Surroundings::new(session, home.environment.modulepath(), &project.config, &args.options)?;
        let platform = settle::platform(job.node.platform.as_deref(), &job.node.facts);
        settle::simulate(
            catalog,
            home.environment.module_types(),
            &surroundings,
            platform,
            &session.sources,
            args,
        )
    }

    fn check(
        &self,
        session: &Session<'_>,
        path: &Path,
        options: &InputOptions,
    ) -> Result<Vec<InputReport>, UsageError> {
        let project = Project::open(session, path, options)?;
        let plan = project.plan()?;
        let threads = run::threads(session.jobs);
        let surroundings =
            Surroundings::new(session, project.environment.modulepath(), &project.config, options)?
                .with_threads(threads, plan.jobs.len());
        let checked = run::all(&project, &plan, threads, |job, compilation, report| {
            analyse(&project, &surroundings, job, compilation, report);
        });
        Ok(run::reports(&project, &plan, checked))
    }
}

/// A manifest, or a template by its ending.
fn parse_text(path: &Path, file: FileId, text: &str) -> Parse {
    if path.extension().is_some_and(|extension| extension == "epp") {
        setpoint_puppet_syntax::parse_epp(file, text)
    } else {
        setpoint_puppet_syntax::parse(file, text)
    }
}

/// Every analysis of a catalog, and the verdict.
fn analyse(
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
fn no_catalog(report: &InputReport) -> Verdict {
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

/// What Puppet calls the things that are counted.
const NOUNS: Nouns = Nouns { sources: "manifests", definitions: "classes", resources: "resources" };

/// What is wrong with a catalog before anything is applied; if nothing is, whether it settles.
pub(super) fn judge(
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
        let coverage = report.coverage.get_or_insert_with(|| Coverage::new(NOUNS));
        coverage.resources = settled.resources;
        coverage.assumptions += settled.assumptions;
    }
    report.conclude(verdict);
}

/// What prints a catalog in a format.
pub(super) fn printer(format: &str) -> Result<fn(&Catalog) -> String, UsageError> {
    match format {
        "json" => Ok(setpoint_catalog::write::json),
        "pp" => Ok(setpoint_catalog::write::pp),
        other => Err(UsageError::new(format!(
            "a catalog cannot be printed as `{other}`; the formats are json and pp"
        ))),
    }
}

/// The graph of the catalog; a relationship that cannot be kept is a diagnostic instead.
pub(super) fn draw(catalog: &Catalog, types: &dyn Types, format: &str) -> Result<String, Vec<Diagnostic>> {
    match Graph::new(catalog, types) {
        Ok(graph) => Ok(match format {
            "json" => graph::json(&graph, catalog),
            "svg" => graph::svg(&graph, catalog),
            _ => graph::dot(&graph, catalog),
        }),
        error => Err(findings::of_graph(catalog, &error)),
    }
}

/// The native types of Puppet and of the modules.
pub(super) fn module_types<'a>(session: &Session<'a>, options: &InputOptions) -> ModuleTypes<'a> {
    ModuleTypes::new(session.files, modulepath(options))
}

/// The folders of modules that the command line names.
pub(super) fn modulepath(options: &InputOptions) -> Vec<PathBuf> {
    let path = options.puppet.modulepath.as_deref().unwrap_or("");
    path.split(':').filter(|part| !part.is_empty()).map(PathBuf::from).collect()
}

/// Looks for keys in the data of the node that the options describe.
pub(crate) fn look_up(
    session: &Session<'_>,
    options: &InputOptions,
    wanted: &LookupOptions,
) -> Result<Looked, UsageError> {
    let input = options.puppet.environment.clone().unwrap_or_else(|| PathBuf::from("."));
    Project::open(session, &input, options)?.look_up(wanted)
}

/// Messages of the manifest, as diagnostics that never fail the call.
pub(crate) fn logged(log: &[LogEntry]) -> Vec<Diagnostic> {
    log.iter()
        .map(|entry| {
            let severity = if entry.level >= LogLevel::Warning { Severity::Warning } else { Severity::Note };
            let message = Diagnostic::new(Rule::Message, entry.message.as_str()).severity(severity);
            match entry.span {
                Some(span) => message.at(span),
                None => message,
            }
        })
        .collect()
}
