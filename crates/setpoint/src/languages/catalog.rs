//! Puppet catalogs: what a server answered, an agent keeps, or PuppetDB stores.

use std::path::Path;

use setpoint_catalog::{Catalog, findings, read};
use setpoint_diff::{Differences, Root, SourceChanges, Version};
use setpoint_project::{Older, Session, Surroundings, UsageError, judge, module_types, modulepath, threads};
use setpoint_provenance::Arena;
use setpoint_puppet_values::Hash;
use setpoint_source::{Diagnostic, InputReport, Judgement, Question, Verdict, Witness};

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
        Ok(match load(session, path)? {
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
        let drawing = match load(session, path)? {
            Ok(catalog) => draw(&catalog, &module_types(session, &options.for_project()), format),
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
        let before = match load(&Session::new(old.files), &old.path)? {
            Ok(catalog) => catalog,
            Err(finding) => return Ok(Outcome { result: None, diagnostics: vec![finding] }),
        };
        let after = match load(session, new)? {
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
        let catalog = match load(session, &args.input)? {
            Ok(catalog) => catalog,
            Err(finding) => return Ok(Outcome { result: None, diagnostics: vec![finding] }),
        };
        let options = args.options.for_project();
        let (config, _) = session.config(&args.input, &options)?;
        let modulepath = modulepath(&options);
        let surroundings = Surroundings::new(session, &modulepath, &config, &options)?;
        let platform = setpoint_project::platform(options.puppet.platform.as_deref(), &Hash::default());
        let types = module_types(session, &options);
        simulate(&catalog, &types, &surroundings, platform, &session.sources, args)
    }

    fn check(
        &self,
        session: &Session<'_>,
        path: &Path,
        options: &InputOptions,
    ) -> Result<Vec<InputReport>, UsageError> {
        let options = &options.for_project();
        let mut report = InputReport::new(path.display().to_string(), self.kind());
        match load(session, path)? {
            Ok(catalog) => {
                report.node = Some(catalog.name.to_string());
                let (config, problems) = session.config(path, options)?;
                report.findings.extend(problems);
                let modulepath = modulepath(options);
                let surroundings = Surroundings::new(session, &modulepath, &config, options)?
                    .with_threads(threads(session.jobs), 1);
                let platform =
                    setpoint_project::platform(options.puppet.platform.as_deref(), &Hash::default());
                let types = module_types(session, options);
                // The sources of such a catalog are not here: there is nothing to change.
                judge(&catalog, &types, &surroundings, platform, &session.sources, &|_| false, &mut report);
            }
            Err(finding) => {
                let mut verdict = Verdict::nothing_asked();
                verdict.give(Question::Catalog, Judgement::refuted(Witness::of(&finding)));
                report.findings.push(finding);
                report.conclude(verdict);
            }
        }
        Ok(vec![report])
    }
}

/// The catalog in a file, or why it is none.
fn load(session: &Session<'_>, path: &Path) -> Result<Result<Catalog, Diagnostic>, UsageError> {
    let text = session.read(path)?;
    let file = session.sources.add(path.display().to_string(), text.as_str());
    Ok(read::json(&text).map_err(|error| findings::of_read_error(&error, file, &text)))
}
