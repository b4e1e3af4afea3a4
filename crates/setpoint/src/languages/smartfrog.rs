//! SmartFrog specifications.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use setpoint_diff::About;
use setpoint_project::{Older, Session, UsageError};
use setpoint_smartfrog::check::Checked;
use setpoint_smartfrog::{
    Compiled, Options, Semantics, check, compile_text, diff, graph, output, syntax, why,
};
use setpoint_source::{FileSystem, InputReport, Severity};

use super::{DiffOutcome, Language};
use crate::cli::{InputOptions, WhyArgs};
use crate::output::{Outcome, pretty};

#[derive(Debug)]
pub(crate) struct SmartFrog;

impl Language for SmartFrog {
    fn kind(&self) -> &'static str {
        "smartfrog"
    }

    fn recognises(&self, path: &Path, _text: &str) -> bool {
        path.extension().is_some_and(|extension| extension == "sf")
    }

    fn check(
        &self,
        session: &Session<'_>,
        path: &Path,
        options: &InputOptions,
    ) -> Result<Vec<InputReport>, UsageError> {
        let Checked { findings, coverage } = check::check(
            path,
            read_input(session.files, path)?,
            session.files,
            &session.sources,
            &compiler_options(options)?,
        );
        let mut report = InputReport::new(path.display().to_string(), self.kind());
        report.findings = findings;
        report.coverage = Some(coverage);
        if session.drawn.is_some() {
            let options = Options { observe: true, ..compiler_options(options)? };
            let compiled = compiled(session, session.files, path, &options)?;
            let drawn =
                compiled.store.as_ref().and_then(|_| session.drawing(|| graph::graph(&compiled).diagram()));
            report.drawing = drawn;
        }
        Ok(vec![report])
    }

    fn parse(&self, session: &Session<'_>, path: &Path) -> Result<InputReport, UsageError> {
        // The production language has all that the core language has, and more keywords.
        let dialect = syntax::Dialect::Production;
        let parsed = syntax::parse_text(path, session.read(path)?, session.files, &session.sources, dialect);
        let mut report = InputReport::new(path.display().to_string(), self.kind());
        report.findings = parsed.diagnostics;
        Ok(report)
    }

    fn compile(
        &self,
        session: &Session<'_>,
        path: &Path,
        options: &InputOptions,
        format: &str,
    ) -> Result<Outcome, UsageError> {
        let print = match format {
            "json" => output::json,
            "yaml" => output::yaml,
            "sf" => output::sf,
            other => {
                return Err(UsageError::new(format!(
                    "SmartFrog is printed as `json`, `yaml` or `sf`, and not as `{other}`"
                )));
            }
        };
        let compiled = compiled(session, session.files, path, &compiler_options(options)?)?;
        debug_assert!(
            compiled.store.is_some()
                || compiled.diagnostics.iter().any(|found| found.severity == Severity::Error),
            "no result has a reason"
        );
        Ok(Outcome { result: compiled.store.as_ref().map(print), diagnostics: compiled.diagnostics })
    }

    fn why(&self, session: &Session, args: &WhyArgs) -> Result<Outcome, UsageError> {
        let given = [
            ("--where", args.origin),
            ("--expression", args.expression),
            ("--depends", args.depends),
            ("--why-not", args.why_not),
            ("--blame", args.blame),
            ("--format dot", args.format == "dot"),
        ];
        if let Some((option, _)) = given.iter().find(|(_, given)| *given) {
            let message = format!("`{option}` has no answer for SmartFrog; `--format json` has all forms");
            return Err(UsageError::new(message));
        }
        let Some(target) = &args.target else { return Err(UsageError::new("which value?")) };
        let options = Options { provenance: true, ..compiler_options(&args.options)? };
        let compiled = compiled(session, session.files, &args.input, &options)?;
        if compiled.store.is_none() {
            return Ok(Outcome { result: None, diagnostics: compiled.diagnostics });
        }
        let why = why::why(&compiled, target).map_err(UsageError::new)?;
        let text = match args.format.as_str() {
            "json" => pretty(&why.json(&compiled, &session.sources)),
            _ => why.text(&compiled, &session.sources),
        };
        Ok(Outcome { result: Some(text), diagnostics: compiled.diagnostics })
    }

    fn graph(
        &self,
        session: &Session,
        path: &Path,
        options: &InputOptions,
        format: &str,
    ) -> Result<Outcome, UsageError> {
        let options = Options { observe: true, ..compiler_options(options)? };
        let compiled = compiled(session, session.files, path, &options)?;
        if compiled.store.is_none() {
            return Ok(Outcome { result: None, diagnostics: compiled.diagnostics });
        }
        let graph = graph::graph(&compiled);
        let text = match format {
            "json" => pretty(&graph.json()),
            "svg" => setpoint_diagram::svg(&graph.diagram()),
            _ => setpoint_diagram::dot(&graph.diagram()),
        };
        Ok(Outcome { result: Some(text), diagnostics: compiled.diagnostics })
    }

    fn diff(
        &self,
        session: &Session,
        old: &Older<'_>,
        new: &Path,
        options: &InputOptions,
        _: About,
    ) -> Result<DiffOutcome, UsageError> {
        let options = Options { provenance: true, ..compiler_options(options)? };
        let mut old = compiled(session, old.files, &old.path, &options)?;
        let new = compiled(session, session.files, new, &options)?;
        let (Some(before), Some(after)) = (&old.store, &new.store) else {
            old.diagnostics.extend(new.diagnostics);
            return Ok(DiffOutcome::failed(old.diagnostics));
        };
        let changes = diff::diff((before, &old.arena), (after, &new.arena));
        let (text, json) = (diff::text(&changes, &session.sources), diff::json(&changes, &session.sources));
        Ok(DiffOutcome::of_texts(text, pretty(&json), Vec::new(), !changes.is_empty()))
    }
}

fn compiled(
    session: &Session,
    files: &dyn FileSystem,
    path: &Path,
    options: &Options,
) -> Result<Compiled, UsageError> {
    let text = read_input(files, path)?;
    Ok(compile_text(path, text, files, &session.sources, options))
}

fn read_input(files: &dyn FileSystem, path: &Path) -> Result<String, UsageError> {
    syntax::read_specification(files, path).map_err(|error| UsageError::new(error.to_string()))
}

/// What the command line says about the compilation.
pub(crate) fn compiler_options(options: &InputOptions) -> Result<Options, UsageError> {
    let semantics = match options.semantics.as_deref() {
        None | Some("core") => Semantics::Core,
        Some("forward") => Semantics::Forward,
        Some("production") => Semantics::Production,
        Some(other) => {
            return Err(UsageError::new(format!(
                "there is no semantics `{other}` for SmartFrog; there are `core`, `forward` and `production`"
            )));
        }
    };
    let mut properties = BTreeMap::new();
    for property in &options.properties {
        let Some((key, value)) = property.split_once('=') else {
            return Err(UsageError::new(format!("`--property {property}` is not of the form KEY=VALUE")));
        };
        properties.insert(key.to_owned(), value.to_owned());
    }
    let mut environment = properties.clone();
    if options.env {
        let variables = std::env::vars_os();
        environment.extend(
            variables.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))),
        );
    }
    let classpath = options.classpath.as_deref().unwrap_or_default().split(':');
    let classpath = classpath.filter(|part| !part.is_empty()).map(PathBuf::from).collect();
    Ok(Options { semantics, properties, environment, classpath, ..Options::default() })
}
