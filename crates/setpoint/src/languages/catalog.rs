//! Puppet catalogs: what a server answered, an agent keeps, or PuppetDB stores.

use std::path::Path;

use setpoint_catalog::Catalog;
use setpoint_diff::{
    About, Comparison, Fate, NodeStory, Presence, Root, ServedFiles, SourceChanges, Version,
};
use setpoint_project::{
    Older, Session, Subject, UsageError, check_catalog, module_types, read_catalog, with_subject,
};
use setpoint_provenance::Arena;
use setpoint_source::InputReport;

use super::puppet::{draw, next_run, printer, simulate, told};
use super::{DiffOutcome, Language};
use crate::cli::{InputOptions, SimulateArgs};
use crate::output::Outcome;

#[derive(Debug)]
pub(crate) struct PuppetCatalog;

impl Language for PuppetCatalog {
    fn kind(&self) -> &'static str {
        "catalog"
    }

    fn recognises(&self, path: &Path, text: &str) -> bool {
        let marks = ["\"edges\"", "\"catalog_uuid\"", "\"catalog_format\""];
        path.extension().is_some_and(|extension| extension == "json")
            && text.contains("\"resources\"")
            && text.contains("\"title\"")
            && marks.iter().any(|mark| text.contains(mark))
    }

    fn compile(
        &self,
        session: &Session<'_>,
        path: &Path,
        _options: &InputOptions,
        format: &str,
    ) -> Result<Outcome, UsageError> {
        let print = printer(format)?;
        Ok(match read_catalog(session, path)? {
            Ok(catalog) => Outcome { result: Some(print(&catalog)), diagnostics: Vec::new() },
            Err(finding) => Outcome { result: None, diagnostics: vec![finding] },
        })
    }

    fn graph(
        &self,
        session: &Session<'_>,
        path: &Path,
        options: &InputOptions,
        format: &str,
    ) -> Result<Outcome, UsageError> {
        let drawing = match read_catalog(session, path)? {
            Ok(catalog) => {
                let options = options.for_project();
                let (config, _) = session.config(path, &options)?;
                draw(&catalog, &module_types(session, &config, &options), format)
            }
            Err(finding) => Err(vec![finding]),
        };
        Ok(match drawing {
            Ok(drawing) => Outcome { result: Some(drawing), diagnostics: Vec::new() },
            Err(diagnostics) => Outcome { result: None, diagnostics },
        })
    }

    fn diff(
        &self,
        session: &Session<'_>,
        old: &Older<'_>,
        new: &Path,
        options: &InputOptions,
        about: About,
    ) -> Result<DiffOutcome, UsageError> {
        let before = match read_catalog(&session.beside(old.files), &old.path)? {
            Ok(mut catalog) => {
                // Its places are those of other sources.
                catalog.forget_places();
                catalog
            }
            Err(finding) => return Ok(DiffOutcome::failed(vec![finding])),
        };
        let after = match read_catalog(session, new)? {
            Ok(catalog) => catalog,
            Err(finding) => return Ok(DiffOutcome::failed(vec![finding])),
        };
        // Others compiled these: there is no source to blame, and no file that is served.
        let (arena, root) = (Arena::new(false), Root { path: String::new(), file: None });
        let served = ServedFiles::default();
        let version = |catalog| Version {
            catalog,
            arena: &arena,
            sources: &session.sources,
            root: &root,
            served: &served,
        };
        let mut found = Comparison { about, ..Comparison::default() };
        let changes = SourceChanges::new(&|_, _| Default::default());
        let differs =
            found.differences.add(&after.name, (&version(&before), &version(&after)), &changes, &[]);
        found.about.nodes_with_facts = 1;
        found.nodes.push(NodeStory {
            name: after.name.to_string(),
            fate: if differs { Fate::Changes } else { Fate::Same },
            presence: Presence::Both,
            assumed_facts: None,
            made_up_for: None,
        });
        if differs && found.about.next_run.is_some() {
            let run = with_both(session, (&before, &after), new, options, |old, new| new.next_run(old))?;
            let run = run?.map_err(|findings| {
                findings.into_iter().next().map(|finding| finding.message).unwrap_or_default()
            });
            found.add_next_run(&after.name, run);
        }
        Ok(told(found))
    }

    fn simulate(&self, session: &Session<'_>, args: &SimulateArgs) -> Result<Outcome, UsageError> {
        let catalog = match read_catalog(session, &args.input)? {
            Ok(catalog) => catalog,
            Err(finding) => return Ok(Outcome { result: None, diagnostics: vec![finding] }),
        };
        let options = args.options.for_project();
        let (config, _) = session.config(&args.input, &options)?;
        with_subject(session, &catalog, &config, &options, 1, |subject| simulate(subject, args))?
    }

    fn next_run(
        &self,
        session: &Session<'_>,
        new: &Path,
        args: &SimulateArgs,
    ) -> Result<Outcome, UsageError> {
        let (before, after) = match (read_catalog(session, &args.input)?, read_catalog(session, new)?) {
            (Ok(before), Ok(after)) => (before, after),
            (Err(finding), _) | (_, Err(finding)) => {
                return Ok(Outcome { result: None, diagnostics: vec![finding] });
            }
        };
        with_both(session, (&before, &after), new, &args.options, |old, new| next_run(old, new, args))?
    }

    fn check(
        &self,
        session: &Session<'_>,
        path: &Path,
        options: &InputOptions,
    ) -> Result<Vec<InputReport>, UsageError> {
        Ok(vec![check_catalog(session, path, &options.for_project())?])
    }
}

/// Asks about two catalogs of one node.
fn with_both<R>(
    session: &Session<'_>,
    (before, after): (&Catalog, &Catalog),
    path: &Path,
    options: &InputOptions,
    ask: impl FnOnce(&Subject<'_>, &Subject<'_>) -> R,
) -> Result<R, UsageError> {
    let options = options.for_project();
    let (config, _) = session.config(path, &options)?;
    with_subject(session, before, &config, &options, 1, |old| {
        with_subject(session, after, &config, &options, 1, |new| ask(old, new))
    })?
}
