//! Our catalogs beside a Puppet server's: compiles every node of which a server's catalog is given, and says where the two
//! differ and why.
//!
//! `served` reads the server's catalogs, `causes` finds the reasons for differences and puts together what nodes have in
//! common, `print` writes them as text and as JSON. The compilations go through the pool of `setpoint_project`; the crate asks
//! no server, and knows no terminal.

mod causes;
mod print;
mod served;

use std::path::{Path, PathBuf};

use setpoint_project::{Options, OwnFacts, Project, Session, UsageError, parallel, threads};
use setpoint_source::Severity;

pub use causes::{Cause, Kind as CauseKind, Shared};
pub use print::{Parity, Verdict as Agreement};

use causes::{Kind, Shape, differences, share};
use print::Verdict;
use served::Served;

/// What is compared.
#[derive(Debug, Clone)]
pub struct Comparison<'a> {
    /// A control repository, or a manifest.
    pub input: PathBuf,
    /// A folder with the server's catalogs, or a file.
    pub catalogs: &'a Path,
    /// A folder with facts, one file a node; `None` looks beside the catalogs, then in the repository.
    pub facts: Option<&'a Path>,
}

/// Compiles every node that the server's catalogs name, and compares.
pub fn compare_with_server(
    session: &Session<'_>,
    comparison: &Comparison<'_>,
    options: &Options,
) -> Result<Parity, UsageError> {
    if let Some(folder) = comparison.facts.filter(|folder| !session.files.is_dir(folder)) {
        return Err(UsageError::new(format!("--facts-dir {}: there is no such folder", folder.display())));
    }
    let mut served = served::read_all(session, comparison.catalogs)?;
    if let Some(node) = &options.puppet.node {
        served.retain(|served| served.node == *node);
        if served.is_empty() {
            return Err(UsageError::new(format!(
                "{}: there is no catalog of {node}",
                comparison.catalogs.display()
            )));
        }
    }
    let project = Project::open(session, &comparison.input, options)?;
    let own_facts = project.own_facts()?;
    let results = parallel(&served, threads(session.jobs), |served| {
        let beside = served.fact_files(comparison.facts);
        let file = beside.into_iter().find(|file| session.files.is_file(file));
        compare_one(session, &project, served, file.as_deref(), &own_facts)
    });

    let mut notes: Vec<String> = project.diagnostics.iter().map(|found| found.message.clone()).collect();
    let stored = served.iter().filter(|served| served.shape == Shape::Stored).count();
    if stored > 0 {
        notes.push(format!(
            "{stored} of the catalogs are as PuppetDB keeps them: without the order of resources and without secrets, which \
             were not compared."
        ));
    }
    let mut nodes = Vec::new();
    let mut all = Vec::new();
    for (served, causes) in served.iter().zip(results) {
        let verdict = match causes.iter().map(|cause| cause.kind).min() {
            None => Verdict::Identical,
            Some(Kind::Unknown) => Verdict::Unknown,
            Some(_) => Verdict::Differs,
        };
        nodes.push((served.node.clone(), verdict));
        all.extend(causes.into_iter().map(|cause| (served.node.clone(), cause)));
    }
    Ok(Parity { nodes, causes: share(all), notes })
}

/// Why the catalog of one node is not the server's; nothing if it is.
fn compare_one(
    session: &Session<'_>,
    project: &Project<'_>,
    served: &Served,
    facts: Option<&Path>,
    own_facts: &OwnFacts,
) -> Vec<Cause> {
    let server = match &served.catalog {
        Ok(catalog) => catalog,
        Err(reason) => return vec![Cause::unreadable(reason)],
    };
    let job = match project.job_of_node(&served.node, facts, own_facts, &server.environment) {
        Ok(Some(job)) => job,
        Ok(None) => return vec![Cause::no_facts()],
        Err(error) => return vec![Cause::bad_facts(&error.0)],
    };
    let compilation = project.compile(&job);
    let Some(ours) = &compilation.catalog else {
        let errors = compilation.diagnostics.iter().filter(|found| found.severity == Severity::Error);
        return errors.map(|found| Cause::fails(found, &served.node, &session.sources)).collect();
    };
    differences(server, ours, served.shape, &session.sources)
}
