//! All nodes of a repository, or all entries of a module, and how each fared.

use std::path::Path;

use setpoint_source::{InputReport, Judgement, Question, Severity, Verdict};

use crate::judge::{analyse, conclude_without_catalog};
use crate::options::Options;
use crate::project::Project;
use crate::run;
use crate::session::{Session, UsageError};
use crate::settle::Surroundings;
use crate::survey::survey;

#[derive(Debug)]
pub struct Fleet {
    pub nodes: Vec<FleetNode>,
    /// How many nodes there are in all shards.
    pub of: usize,
    /// What was found, each thing once.
    pub reports: Vec<InputReport>,
}

#[derive(Debug)]
pub struct FleetNode {
    pub name: String,
    pub platform: Option<String>,
    pub verdict: Verdict,
    pub resources: usize,
    pub errors: usize,
    pub warnings: usize,
}

impl FleetNode {
    pub fn has_failed(&self) -> bool {
        self.errors > 0
    }

    /// Whether it is not known that the node has a catalog of its own.
    pub fn is_open(&self) -> bool {
        !self.has_failed() && self.verdict.get(Question::Catalog).is_some_and(Judgement::is_unknown)
    }

    pub fn is_ok(&self) -> bool {
        !self.has_failed() && !self.is_open()
    }
}

impl Fleet {
    pub fn count(&self, severity: Severity) -> usize {
        self.reports
            .iter()
            .flat_map(|report| &report.findings)
            .filter(|found| found.severity == severity)
            .count()
    }
}

/// Compiles and, unless `compile_only`, checks part `shard.0` of `shard.1` of the nodes.
pub fn check_fleet(
    session: &Session<'_>,
    path: &Path,
    options: &Options,
    shard: (usize, usize),
    compile_only: bool,
) -> Result<Fleet, UsageError> {
    if !session.files.is_dir(path) && options.puppet.nodes.is_none() {
        let message =
            format!("{}: a fleet is a control repository, or a manifest with --nodes FILE", path.display());
        return Err(UsageError::new(message));
    }
    let project = Project::open(session, path, options)?;
    let mut plan = project.plan()?;
    let of = plan.jobs.len();
    plan.is_part = shard.1 > 1;
    let mut at = 0;
    plan.jobs.retain(|_| {
        at += 1;
        (at - 1) % shard.1 == shard.0 - 1
    });
    let threads = run::threads(session.jobs);
    let surroundings =
        Surroundings::new(session, project.environment.modulepath(), &project.config, options)?
            .with_threads(threads, plan.jobs.len());
    let mut checked = run::all(&project, &mut plan.jobs, threads, |job, compilation, report| {
        if !compile_only {
            analyse(&project, &surroundings, job, compilation, report);
        } else if compilation.catalog.is_none() {
            conclude_without_catalog(job, compilation, report);
        }
    });
    let survey = survey(&project);
    let about = run::conclude(&project, &plan, &survey, &mut checked);
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
    let reports = run::reports(&project, &plan, checked, survey, about);
    Ok(Fleet { nodes, of, reports })
}
