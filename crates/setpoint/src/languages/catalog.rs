//! Puppet catalogs: what a server answered, an agent keeps, or PuppetDB stores.

use std::path::Path;

use setpoint_catalog::{Catalog, findings, read};
use setpoint_diff::{Differences, Root, SourceChanges, Version};
use setpoint_provenance::Arena;
use setpoint_source::{Diagnostic, InputReport, Rule, Severity};

use super::puppet::{diff::printed, draw, findings_of, module_types, printer};
use super::{Language, Older};
use crate::cli::InputOptions;
use crate::session::{Outcome, Session, UsageError};

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

    fn rules(&self) -> Vec<&'static Rule> {
        findings::RULES.to_vec()
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
            Ok(catalog) => draw(&catalog, &module_types(session, options), format),
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
        let (mut found, changes) = (Differences::default(), SourceChanges::default());
        found.add(&after.name, &version(&before), &version(&after), &changes);
        Ok(printed(&found, &changes, format))
    }

    fn check(
        &self,
        session: &Session<'_>,
        path: &Path,
        options: &InputOptions,
    ) -> Result<Vec<InputReport>, UsageError> {
        let mut report =
            InputReport { path: path.display().to_string(), kind: self.kind(), ..InputReport::default() };
        match load(session, path)? {
            Ok(catalog) => {
                report.node = Some(catalog.name.to_string());
                report.findings = findings_of(&catalog, &module_types(session, options));
            }
            Err(finding) => report.findings.push(finding),
        }
        let fails = report.findings.iter().any(|finding| finding.severity == Severity::Error);
        report.verdict.insert("catalog", if fails { "fails" } else { "ok" });
        Ok(vec![report])
    }
}

/// The catalog in a file, or why it is none.
fn load(session: &Session<'_>, path: &Path) -> Result<Result<Catalog, Diagnostic>, UsageError> {
    let text = session.read(path)?;
    let file = session.sources.add(path.display().to_string(), text.as_str());
    Ok(read::json(&text).map_err(|error| findings::of_read_error(&error, file, &text)))
}
