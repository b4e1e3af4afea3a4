//! Puppet manifests.

pub(super) mod diff;
mod facts;

use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};

use setpoint_catalog::graph::{self, Graph, Types};
use setpoint_catalog::ruby_types::ModuleTypes;
use setpoint_catalog::{Catalog, findings};
use setpoint_hiera::Levels;
use setpoint_puppet::{Compilation, Entry, Environment, LogLevel, Options, PuppetVersion};
use setpoint_source::{Diagnostic, InputReport, Rule, Severity};

use super::{Language, Older};
use crate::cli::InputOptions;
use crate::session::{Outcome, Session, UsageError};

#[derive(Debug)]
pub(crate) struct Puppet;

impl Language for Puppet {
    fn kind(&self) -> &'static str {
        "puppet"
    }

    fn recognises(&self, path: &Path, _text: &str) -> bool {
        path.extension().is_some_and(|extension| extension == "pp" || extension == "epp")
    }

    fn rules(&self) -> Vec<&'static Rule> {
        setpoint_puppet::RULES
            .iter()
            .chain(setpoint_puppet_syntax::RULES)
            .chain(findings::RULES)
            .copied()
            .collect()
    }

    fn parse(&self, session: &Session<'_>, path: &Path) -> Result<InputReport, UsageError> {
        let text = session.read(path)?;
        let file = session.sources.add(path.display().to_string(), text.as_str());
        let parse = if path.extension().is_some_and(|extension| extension == "epp") {
            setpoint_puppet_syntax::parse_epp(file, &text)
        } else {
            setpoint_puppet_syntax::parse(file, &text)
        };
        Ok(InputReport {
            path: path.display().to_string(),
            kind: self.kind(),
            findings: parse.diagnostics,
            ..InputReport::default()
        })
    }

    fn compile(
        &self,
        session: &Session<'_>,
        path: &Path,
        options: &InputOptions,
        format: &str,
    ) -> Result<Outcome, UsageError> {
        let print = printer(format)?;
        // The process ends after this. To take the trees and the catalog apart would cost a tenth of its time.
        let environment = ManuallyDrop::new(environment(session, options));
        let compilation = ManuallyDrop::new(compile_in(&environment, session, path, options)?);
        let mut diagnostics = logged(&compilation);
        diagnostics.extend(compilation.diagnostics.iter().cloned());
        Ok(Outcome { result: compilation.catalog.as_ref().map(print), diagnostics })
    }

    fn graph(
        &self,
        session: &Session<'_>,
        path: &Path,
        options: &InputOptions,
        format: &str,
    ) -> Result<Outcome, UsageError> {
        let compilation = compile(session, path, options)?;
        let mut diagnostics = compilation.diagnostics;
        let mut result = None;
        if let Some(catalog) = &compilation.catalog {
            match draw(catalog, &module_types(session, options), format) {
                Ok(drawing) => result = Some(drawing),
                Err(findings) => diagnostics.extend(findings),
            }
        }
        Ok(Outcome { result, diagnostics })
    }

    fn diff(
        &self,
        session: &Session<'_>,
        old: &Older<'_>,
        new: &Path,
        options: &InputOptions,
        format: &str,
    ) -> Result<Outcome, UsageError> {
        diff::diff(session, old, new, options, format)
    }

    fn check(
        &self,
        session: &Session<'_>,
        path: &Path,
        options: &InputOptions,
    ) -> Result<Vec<InputReport>, UsageError> {
        let compilation = compile(session, path, options)?;
        let mut report = InputReport {
            path: path.display().to_string(),
            kind: self.kind(),
            node: Some(node_name(options)),
            ..InputReport::default()
        };
        report.findings.extend(compilation.diagnostics);
        if let Some(catalog) = &compilation.catalog {
            report.findings.extend(findings_of(catalog, &module_types(session, options)));
        }
        let fails = report.findings.iter().any(|finding| finding.severity == Severity::Error);
        report.verdict.insert("catalog", if fails { "fails" } else { "ok" });
        Ok(vec![report])
    }
}

/// What prints a catalog in a format.
pub(super) fn printer(format: &str) -> Result<fn(&Catalog) -> String, UsageError> {
    match format {
        "json" => Ok(setpoint_catalog::write::json),
        "pp" => Ok(setpoint_catalog::write::pp),
        other => Err(UsageError::new(format!(
            "a catalog cannot be printed as `{other}`; the formats are json and pp"
        ))),
    }
}

/// What is wrong with a catalog before anything is applied.
pub(super) fn findings_of(catalog: &Catalog, types: &dyn Types) -> Vec<Diagnostic> {
    let mut found = findings::of_conversion(catalog, types);
    found.extend(findings::of_graph(catalog, &Graph::new(catalog, types)));
    found
}

/// The graph of the catalog; a relationship that cannot be kept is a diagnostic instead.
pub(super) fn draw(catalog: &Catalog, types: &dyn Types, format: &str) -> Result<String, Vec<Diagnostic>> {
    match Graph::new(catalog, types) {
        Ok(graph) => Ok(match format {
            "json" => graph::json(&graph, catalog),
            "svg" => graph::svg(&graph, catalog),
            _ => graph::dot(&graph, catalog),
        }),
        error => Err(findings::of_graph(catalog, &error)),
    }
}

/// The node's name without `--node`.
const DEFAULT_NODE: &str = "localhost";

fn node_name(options: &InputOptions) -> String {
    options.puppet.node.clone().unwrap_or_else(|| DEFAULT_NODE.to_owned())
}

fn modulepath(options: &InputOptions) -> Vec<PathBuf> {
    let path = options.puppet.modulepath.as_deref().unwrap_or("");
    path.split(':').filter(|part| !part.is_empty()).map(PathBuf::from).collect()
}

/// The native types of Puppet and of the modules.
pub(super) fn module_types<'a>(session: &Session<'a>, options: &InputOptions) -> ModuleTypes<'a> {
    ModuleTypes::new(session.files, modulepath(options))
}

fn environment<'a>(session: &'a Session<'_>, options: &InputOptions) -> Environment<'a> {
    let levels = Levels { global: options.puppet.hiera.clone(), environment: None };
    Environment::new(session.files, &session.sources).with_modulepath(modulepath(options)).with_hiera(levels)
}

/// Compiles a manifest, or all manifests of a folder, for the node that the options describe.
fn compile(session: &Session<'_>, path: &Path, options: &InputOptions) -> Result<Compilation, UsageError> {
    compile_in(&environment(session, options), session, path, options)
}

fn compile_in(
    environment: &Environment<'_>,
    session: &Session<'_>,
    path: &Path,
    options: &InputOptions,
) -> Result<Compilation, UsageError> {
    let given = &options.puppet;
    if !session.files.is_dir(path) {
        // Parsed here and kept by the environment: a file that cannot be read is a wrong call, not a failed compilation.
        environment.manifest(path).map_err(|error| UsageError::new(error.to_string()))?;
    }
    let compile_options = Options {
        puppet: if given.puppet.as_deref() == Some("7") { PuppetVersion::V7 } else { PuppetVersion::V8 },
        strict_variables: given.strict_variables,
        node: node_name(options),
        facts: facts::of(session, given, &node_name(options))?,
        trusted: given.trusted.as_deref().map(|path| facts::read_value(session, path)).transpose()?,
        fact_comments: true,
        provenance: !given.no_provenance,
        ..Options::default()
    };
    Ok(setpoint_puppet::compile(environment, &Entry::Files(vec![path.to_owned()]), &compile_options))
}

/// Messages of the manifest, as diagnostics that never fail the call.
fn logged(compilation: &Compilation) -> Vec<Diagnostic> {
    compilation
        .log
        .iter()
        .map(|entry| {
            let severity = if entry.level >= LogLevel::Warning { Severity::Warning } else { Severity::Note };
            let message = Diagnostic::new(&LOGGED, entry.message.as_str()).severity(severity);
            match entry.span {
                Some(span) => message.at(span),
                None => message,
            }
        })
        .collect()
}

static LOGGED: Rule = Rule {
    name: "message",
    severity: Severity::Note,
    summary: "a message of the manifest itself, or a warning of the compiler",
    explanation: "`notice()`, `warning()` and their kin say something while a catalog is compiled, and so does the compiler \
                  where a construct is questionable. It changes nothing in the catalog.",
};
