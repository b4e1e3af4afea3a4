//! All nodes of a repository, or all entries of a module, and how each fared.

use setpoint_source::{InputReport, Severity, Verdict};

use super::project::Project;
use super::settle::Surroundings;
use super::{analyse, no_catalog, run};
use crate::cli::FleetArgs;
use crate::session::{Session, UsageError};

#[derive(Debug)]
pub(crate) struct Fleet {
    pub(crate) nodes: Vec<FleetNode>,
    /// How many nodes there are in all shards.
    pub(crate) of: usize,
    /// What was found, each thing once.
    pub(crate) reports: Vec<InputReport>,
}

#[derive(Debug)]
pub(crate) struct FleetNode {
    pub(crate) name: String,
    pub(crate) platform: Option<String>,
    pub(crate) verdict: Verdict,
    pub(crate) resources: usize,
    pub(crate) errors: usize,
    pub(crate) warnings: usize,
}

impl FleetNode {
    pub(crate) fn is_ok(&self) -> bool {
        self.errors == 0
    }
}

impl Fleet {
    pub(crate) fn count(&self, severity: Severity) -> usize {
        self.reports
            .iter()
            .flat_map(|report| &report.findings)
            .filter(|found| found.severity == severity)
            .count()
    }
}

/// Compiles and checks part `shard.0` of `shard.1` of the nodes.
pub(crate) fn run(
    session: &Session<'_>,
    args: &FleetArgs,
    shard: (usize, usize),
) -> Result<Fleet, UsageError> {
    let (path, options) = (args.input.as_path(), &args.options);
    if !session.files.is_dir(path) && options.puppet.nodes.is_none() {
        let message =
            format!("{}: a fleet is a control repository, or a manifest with --nodes FILE", path.display());
        return Err(UsageError::new(message));
    }
    let project = Project::open(session, path, options)?;
    let mut plan = project.plan()?;
    let of = plan.jobs.len();
    let mut at = 0;
    plan.jobs.retain(|_| {
        at += 1;
        (at - 1) % shard.1 == shard.0 - 1
    });
    let threads = run::threads(session.jobs);
    let surroundings =
        Surroundings::new(session, project.environment.modulepath(), &project.config, options)?
            .with_threads(threads, plan.jobs.len());
    let checked = run::all(&project, &plan, threads, |job, compilation, report| {
        if !args.compile_only {
            analyse(&project, &surroundings, job, compilation, report);
        } else if compilation.catalog.is_none() {
            report.conclude(no_catalog(report));
        }
    });
    let nodes = plan
        .jobs
        .iter()
        .zip(&checked)
        .map(|(job, one)| {
            let count =
                |severity| one.report.findings.iter().filter(|found| found.severity == severity).count();
            FleetNode {
                name: job.label(),
                platform: job.node.platform.clone(),
                verdict: one.report.verdict().clone(),
                resources: one.resources,
                errors: count(Severity::Error),
                warnings: count(Severity::Warning),
            }
        })
        .collect();
    let reports = run::reports(&project, &plan, checked);
    Ok(Fleet { nodes, of, reports })
}
