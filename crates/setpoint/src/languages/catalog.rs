//! Puppet catalogs: what a server answered, an agent keeps, or PuppetDB stores.

use std::path::Path;

use setpoint_diff::{Differences, Root, SourceChanges, Version};
use setpoint_project::{Older, Session, UsageError, check_catalog, module_types, read_catalog, with_subject};
use setpoint_provenance::Arena;
use setpoint_source::InputReport;

use super::Language;
use super::puppet::{draw, printed, printer, simulate};
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
        _options: &InputOptions,
        format: &str,
    ) -> Result<Outcome, UsageError> {
        let before = match read_catalog(&Session::new(old.files), &old.path)? {
            Ok(catalog) => catalog,
            Err(finding) => return Ok(Outcome { result: None, diagnostics: vec![finding] }),
        };
        let after = match read_catalog(session, new)? {
            Ok(catalog) => catalog,
            Err(finding) => return Ok(Outcome { result: None, diagnostics: vec![finding] }),
        };
        // Others compiled these: there is no source to blame.
        let (arena, root) = (Arena::new(false), Root { path: String::new(), file: None });
        let version = |catalog| Version { catalog, arena: &arena, sources: &session.sources, root: &root };
        let (mut found, changes) = (Differences::default(), SourceChanges::new(&|_, _| Default::default()));
        found.add(&after.name, &version(&before), &version(&after), &changes);
        Ok(Outcome { result: Some(printed(&found, format)), diagnostics: Vec::new() })
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

    fn check(
        &self,
        session: &Session<'_>,
        path: &Path,
        options: &InputOptions,
    ) -> Result<Vec<InputReport>, UsageError> {
        Ok(vec![check_catalog(session, path, &options.for_project())?])
    }
}
