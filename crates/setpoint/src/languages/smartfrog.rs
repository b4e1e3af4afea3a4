//! SmartFrog specifications.

use std::collections::BTreeMap;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};

use setpoint_diff::About;
use setpoint_project::{Older, Session, UsageError};
use setpoint_smartfrog::check::Checked;
use setpoint_smartfrog::syntax::Parsed;
use setpoint_smartfrog::why::Form;
use setpoint_smartfrog::{
    Compiled, Options, Semantics, check, compile_text, diff, graph, impact, output, semantics, syntax, why,
};
use setpoint_source::{Class, Diagnostic, FileSystem, InputReport, Rule, Severity};

use super::{DiffOutcome, Language};
use crate::cli::{ImpactArgs, InputOptions, WhyArgs};
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

    fn parse(
        &self,
        session: &Session<'_>,
        path: &Path,
        options: &InputOptions,
    ) -> Result<InputReport, UsageError> {
        let parsed = parsed(session, path, options)?;
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
        if options.semantics.as_deref() == Some("all") {
            let options = InputOptions { semantics: None, ..options.clone() };
            let text = read_input(session.files, path)?;
            let options = compiler_options(&options)?;
            let all = semantics::compile_all(path, &text, session.files, &session.sources, &options);
            let result = match format {
                "json" => pretty(&all.json(&session.sources)),
                "text" => all.text(&session.sources),
                other => {
                    let message =
                        format!("a comparison is printed as `json` or `text`, and not as `{other}`");
                    return Err(UsageError::new(message));
                }
            };
            return Ok(Outcome { result: Some(result), diagnostics: all.into_diagnostics() });
        }
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
        // The process ends after this. To take the tree apart would cost a tenth of its time.
        let compiled =
            ManuallyDrop::new(compiled(session, session.files, path, &compiler_options(options)?)?);
        debug_assert!(
            compiled.store.is_some()
                || compiled.diagnostics.iter().any(|found| found.severity == Severity::Error),
            "no result has a reason"
        );
        Ok(Outcome { result: compiled.store.as_ref().map(print), diagnostics: compiled.diagnostics.clone() })
    }

    fn why(&self, session: &Session, args: &WhyArgs) -> Result<Outcome, UsageError> {
        let given = [("--blame", args.blame), ("--format dot", args.format == "dot")];
        if let Some((option, _)) = given.iter().find(|(_, given)| *given) {
            return Err(UsageError::new(format!("`{option}` has no answer for SmartFrog")));
        }
        let Some(target) = &args.target else { return Err(UsageError::new("which value?")) };
        let options = Options { provenance: true, ..compiler_options(&args.options)? };
        let compiled = compiled(session, session.files, &args.input, &options)?;
        if compiled.store.is_none() {
            return Ok(Outcome { result: None, diagnostics: compiled.diagnostics });
        }
        if args.why_not {
            let text = read_input(session.files, &args.input)?;
            let body =
                syntax::parse_text(&args.input, text, session.files, &session.sources, options.reading())
                    .body;
            let result = why::why_not(&compiled, &body, target, &session.sources);
            return Ok(Outcome { result: Some(result), diagnostics: compiled.diagnostics });
        }
        let why = why::why(&compiled, target).map_err(UsageError::new)?;
        let form = match (args.origin, args.expression, args.depends) {
            (true, _, _) => Some(Form::Where),
            (_, true, _) => Some(Form::Expression),
            (_, _, true) => Some(Form::Depends),
            _ => None,
        };
        let text = match (args.format.as_str(), form) {
            ("text", Some(form)) => why.form(form, &compiled, &session.sources),
            ("json", _) => pretty(&why.json(&compiled, &session.sources)),
            _ => why.text(&compiled, &session.sources),
        };
        Ok(Outcome { result: Some(text), diagnostics: compiled.diagnostics })
    }

    fn impact(&self, session: &Session, args: &ImpactArgs) -> Result<Outcome, UsageError> {
        let named = args.line().rsplit_once(':').and_then(|(file, line)| Some((file, line.parse().ok()?)));
        let Some((file, line)) = named else {
            return Err(UsageError::new(format!("`{}` is no line: write FILE:LINE", args.line())));
        };
        let options = Options { provenance: true, ..compiler_options(&args.options)? };
        let compiled = compiled(session, session.files, &args.input(), &options)?;
        if compiled.store.is_none() {
            return Ok(Outcome { result: None, diagnostics: compiled.diagnostics });
        }
        if let Some(problem) = impact::missing_line(&session.sources, file, line) {
            return Err(UsageError::new(problem));
        }
        let found = impact::impact(&compiled, &session.sources, file, line);
        let text = match args.format.as_str() {
            "json" => pretty(&impact::json(&found, args.line())),
            _ => impact::text(&found, args.line()),
        };
        Ok(Outcome { result: Some(text), diagnostics: compiled.diagnostics })
    }

    fn trace(
        &self,
        session: &Session<'_>,
        path: &Path,
        options: &InputOptions,
        format: &str,
    ) -> Result<Outcome, UsageError> {
        if options.semantics.as_deref() == Some("all") {
            return Err(UsageError::new("a trace is of one semantics: `core`, `forward` or `production`"));
        }
        let options = Options { trace: true, ..compiler_options(options)? };
        let compiled = compiled(session, session.files, path, &options)?;
        let Some(trace) = &compiled.trace else {
            return Ok(Outcome { result: None, diagnostics: compiled.diagnostics });
        };
        let result = super::print_trace(trace, &session.sources, path, format)?;
        Ok(Outcome { result: Some(result), diagnostics: compiled.diagnostics })
    }

    fn tree(
        &self,
        session: &Session<'_>,
        path: &Path,
        options: &InputOptions,
    ) -> Result<Option<serde_json::Value>, UsageError> {
        let parsed = parsed(session, path, options)?;
        Ok(Some(syntax::tree(&parsed.body, &session.sources)))
    }

    fn format(&self, session: &Session, path: &Path) -> Result<Outcome, UsageError> {
        // What is written back must be what was read, comments included: only UTF-8.
        let text = session.read(path)?;
        // What it includes may be elsewhere; only its own text is laid out.
        let (parsed, dialect) = syntax::parse_in_either(path, &text, session.files, &session.sources, &[]);
        let own = parsed.end.map(|end| end.file);
        let is_own = |found: &Diagnostic| {
            found.rule.class() == Class::Syntax && found.span.map(|span| span.file) == own
        };
        let mut diagnostics: Vec<Diagnostic> = parsed.diagnostics.into_iter().filter(is_own).collect();
        let result = syntax::format(&text, dialect).filter(|_| diagnostics.is_empty());
        if result.is_none() && diagnostics.is_empty() {
            let message = format!("{} has brackets that are not closed", path.display());
            diagnostics.push(Diagnostic::new(Rule::SyntaxError, message));
        }
        Ok(Outcome { result, diagnostics })
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

/// The syntax of an input: in the language of its semantics if one is named.
fn parsed(session: &Session<'_>, path: &Path, options: &InputOptions) -> Result<Parsed, UsageError> {
    let compiler = compiler_options(options)?;
    let text = read_input(session.files, path)?;
    let (files, sources) = (session.files, &session.sources);
    Ok(match options.semantics {
        Some(_) => syntax::parse_text(path, text, files, sources, compiler.reading()),
        None => syntax::parse_in_either(path, &text, files, sources, &compiler.classpath).0,
    })
}

/// What the command line says about the compilation.
pub(crate) fn compiler_options(options: &InputOptions) -> Result<Options, UsageError> {
    let semantics = match options.semantics.as_deref() {
        // Only the production language finds files by a class path.
        None if options.classpath.is_some() => Semantics::Production,
        None | Some("core") => Semantics::Core,
        Some("forward") => Semantics::Forward,
        Some("production") => Semantics::Production,
        Some(other) => {
            return Err(UsageError::new(format!(
                "there is no semantics `{other}` for SmartFrog; there are `core`, `forward`, `production`, and \
                 `all` for `compile`"
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
