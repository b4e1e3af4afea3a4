//! `setpoint parity`: compiles every node for which a server's catalog is given, and says where the two differ and why.

mod causes;
mod print;
mod served;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use setpoint_project::{OwnFacts, Project, Session, UsageError, parallel, threads};
use setpoint_source::Severity;

use self::causes::{Cause, Kind, differences, share};
use self::print::{Parity, Verdict};
use self::served::Served;
use crate::cli::{ParityArgs, ResultFormat};
use crate::output;

pub(crate) fn run(session: &Session<'_>, args: &ParityArgs) -> Result<ExitCode, UsageError> {
    if let Some(folder) = args.facts_dir.as_deref().filter(|folder| !session.files.is_dir(folder)) {
        return Err(UsageError::new(format!("--facts-dir {}: there is no such folder", folder.display())));
    }
    let mut served = served::read_all(session, &args.catalogs)?;
    if let Some(node) = &args.options.puppet.node {
        served.retain(|served| served.node == *node);
        if served.is_empty() {
            return Err(UsageError::new(format!(
                "{}: there is no catalog of {node}",
                args.catalogs.display()
            )));
        }
    }
    let input: PathBuf =
        args.input.clone().or_else(|| args.options.puppet.environment.clone()).unwrap_or_else(|| ".".into());
    let options = args.options.for_project();
    let project = Project::open(session, &input, &options)?;
    let own_facts = project.own_facts()?;
    let results = parallel(&served, threads(session.jobs), |served| {
        let beside = served.fact_files(args.facts_dir.as_deref());
        let file = beside.into_iter().find(|file| session.files.is_file(file));
        compare_one(session, &project, served, file.as_deref(), &own_facts)
    });

    let mut notes: Vec<String> = project.diagnostics.iter().map(|found| found.message.clone()).collect();
    let stored = served.iter().filter(|served| served.shape == causes::Shape::Stored).count();
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
    let parity = Parity { nodes, causes: share(all), notes };
    match args.format {
        ResultFormat::Text => output::result(&parity.text()),
        ResultFormat::Json => output::result(&output::pretty(&parity.json(output::VERSION))),
    }
    Ok(ExitCode::from(u8::from(parity.count(Verdict::Differs) > 0)))
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
