//! Puppet manifests.

mod why;

use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};

use setpoint_catalog::graph::{self, Graph, Types};
use setpoint_catalog::{Catalog, findings};
use setpoint_diff::{About, Comparison, Fate};
use setpoint_project::{Older, Project, Session, Subject, Surroundings, UsageError};
use setpoint_puppet::{Compilation, CompileGapKind, HowRun, LogEntry, LogLevel, Looked, LookupOptions};
use setpoint_puppet_values::{Data, Key};
use setpoint_settle::Turn;
use setpoint_source::{Diagnostic, InputReport, Range, Rule, Severity};

use super::{DiffOutcome, Language};
use crate::cli::{DiffFailOn, DiffFormat, ImpactArgs, InputOptions, RunFormat, SimulateArgs, WhyArgs};
use crate::output::{Outcome, VERSION, pretty};

#[derive(Debug)]
pub(crate) struct Puppet;

impl Language for Puppet {
    fn kind(&self) -> &'static str {
        "puppet"
    }

    fn recognises(&self, path: &Path, _text: &str) -> bool {
        path.extension().is_some_and(|extension| extension == "pp" || extension == "epp")
    }

    fn recognises_folder(&self, session: &Session<'_>, path: &Path) -> bool {
        setpoint_project::is_project(session, path)
    }

    fn parse(
        &self,
        session: &Session<'_>,
        path: &Path,
        _options: &InputOptions,
    ) -> Result<InputReport, UsageError> {
        let (file, text) = session.load(path)?;
        let parse = setpoint_project::parse_file(path, file, &text);
        let mut report = InputReport::new(path.display().to_string(), self.kind());
        report.findings = parse.diagnostics;
        for finding in &mut report.findings {
            // Puppet 8 refuses literal keys that stand twice.
            if finding.rule == Rule::DuplicateKey {
                finding.severity = Severity::Error;
            }
        }
        Ok(report)
    }

    fn trace(
        &self,
        session: &Session<'_>,
        path: &Path,
        options: &InputOptions,
        format: &str,
    ) -> Result<Outcome, UsageError> {
        let (file, text) = session.load(path)?;
        let parse = setpoint_project::parse_file(path, file, &text);
        if parse.diagnostics.iter().any(|found| found.severity == Severity::Error) {
            return Ok(Outcome { result: None, diagnostics: parse.diagnostics });
        }
        let node = options.puppet.node.as_deref().unwrap_or("localhost");
        let mut facts = Vec::new();
        if options.puppet.platform.is_some() || !options.puppet.facts.is_empty() {
            let options = options.for_project();
            let project = Project::open(session, path, &options)?;
            let (job, _) = project.chosen()?;
            // A platform has hundreds of facts; those count that the manifest names.
            facts.extend(job.node.facts.iter().filter_map(|(name, value)| {
                let name = name.0.as_str().filter(|name| text.contains(*name))?;
                Some((name.to_owned(), traced_value(value)?))
            }));
        }
        let evaluated = setpoint_micropuppet::trace(&parse.program, node, &facts);
        let result = super::print_trace(&evaluated.trace, &session.sources, path, format)?;
        let mut diagnostics = parse.diagnostics;
        diagnostics.extend(evaluated.end.map(|end| trace_end(&end)));
        Ok(Outcome { result: Some(result), diagnostics })
    }

    fn tree(
        &self,
        session: &Session<'_>,
        path: &Path,
        _: &InputOptions,
    ) -> Result<Option<serde_json::Value>, UsageError> {
        let (file, text) = session.load(path)?;
        let program = setpoint_project::parse_file(path, file, &text).program;
        Ok(Some(setpoint_micropuppet::tree(&program, &session.sources)))
    }

    fn compile(
        &self,
        session: &Session<'_>,
        path: &Path,
        options: &InputOptions,
        format: &str,
    ) -> Result<Outcome, UsageError> {
        let print = if format == FUNCTIONS { None } else { Some(printer(format)?) };
        // The process ends after this. To take the trees and the catalog apart would cost a tenth of its time.
        let mut options = options.for_project();
        options.puppet.record_reads = print.is_none();
        let project = ManuallyDrop::new(Project::open(session, path, &options)?);
        let (job, assumed) = project.chosen()?;
        let compilation = ManuallyDrop::new(project.compile(&job));
        let mut diagnostics = project.diagnostics.clone();
        diagnostics.extend(assumed);
        diagnostics.extend(logged(&compilation.log));
        diagnostics.extend(compilation.diagnostics.iter().cloned());
        let result = match print {
            Some(print) => compilation.catalog.as_ref().map(print),
            None => Some(functions_run(session, &compilation)),
        };
        Ok(Outcome { result, diagnostics })
    }

    fn graph(
        &self,
        session: &Session<'_>,
        path: &Path,
        options: &InputOptions,
        format: &str,
    ) -> Result<Outcome, UsageError> {
        let options = options.for_project();
        let project = Project::open(session, path, &options)?;
        let job = project.only_job()?;
        let home = project.home(&job.node).map_err(UsageError::new)?;
        let compilation = project.compile(&job);
        let mut diagnostics = project.diagnostics.clone();
        diagnostics.extend(compilation.diagnostics);
        let mut result = None;
        if let Some(catalog) = &compilation.catalog {
            match draw(catalog, home.environment.module_types(), format) {
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
        about: About,
    ) -> Result<DiffOutcome, UsageError> {
        let compared = setpoint_project::diff(session, old, new, &options.for_project(), about)?;
        Ok(told(compared))
    }

    fn why(&self, session: &Session<'_>, args: &WhyArgs) -> Result<Outcome, UsageError> {
        why::why(session, args)
    }

    fn impact(&self, session: &Session<'_>, args: &ImpactArgs) -> Result<Outcome, UsageError> {
        why::impact(session, args)
    }

    fn simulate(&self, session: &Session<'_>, args: &SimulateArgs) -> Result<Outcome, UsageError> {
        of_only_node(session, &args.input, &args.options, |subject| simulate(subject, args))
    }

    fn next_run(
        &self,
        session: &Session<'_>,
        new: &Path,
        args: &SimulateArgs,
    ) -> Result<Outcome, UsageError> {
        of_only_node(session, &args.input, &args.options, |old| {
            of_only_node(session, new, &args.options, |new| next_run(old, new, args))
        })
    }

    fn check(
        &self,
        session: &Session<'_>,
        path: &Path,
        options: &InputOptions,
    ) -> Result<Vec<InputReport>, UsageError> {
        // A template alone is no input of a compilation: it is read.
        if path.extension().is_some_and(|ending| ending == "epp") && !session.files.is_dir(path) {
            return Ok(vec![self.parse(session, path, options)?]);
        }
        setpoint_project::check(session, path, &options.for_project())
    }
}

/// Compiles the one node of an input, and asks about its catalog.
fn of_only_node(
    session: &Session<'_>,
    input: &Path,
    options: &InputOptions,
    ask: impl FnOnce(&Subject<'_>) -> Result<Outcome, UsageError>,
) -> Result<Outcome, UsageError> {
    let options = options.for_project();
    let project = Project::open(session, input, &options)?;
    let job = project.only_job()?;
    let compilation = project.compile_any_run(&job);
    let Some(catalog) = &compilation.catalog else {
        return Ok(Outcome { result: None, diagnostics: compilation.diagnostics });
    };
    let home = project.home(&job.node).map_err(UsageError::new)?;
    let surroundings = Surroundings::new(session, home.environment.modulepath(), &project.config, &options)?;
    let platform = setpoint_project::platform(job.node.platform.as_deref(), &job.node.facts);
    let (types, sources) = (home.environment.module_types(), &session.sources);
    let system = setpoint_project::system(job.node.platform.as_deref(), &job.node.facts);
    let mut outcome =
        ask(&Subject { catalog, types, surroundings: &surroundings, platform, system, sources })?;
    outcome.diagnostics.extend(setpoint_project::assumed_by(&compilation));
    Ok(outcome)
}

/// What the next run does, in the format that was asked for.
pub(super) fn next_run(
    old: &Subject<'_>,
    new: &Subject<'_>,
    args: &SimulateArgs,
) -> Result<Outcome, UsageError> {
    Ok(match new.next_run(old)? {
        Ok(run) => {
            let result = match args.format {
                RunFormat::Text => run.text(),
                RunFormat::Json => pretty(&run.json()),
                RunFormat::Markdown => run.markdown(),
            };
            Outcome { result: Some(result), diagnostics: Vec::new() }
        }
        Err(diagnostics) => Outcome { result: None, diagnostics },
    })
}

/// One run of a catalog, in the format that was asked for.
pub(super) fn simulate(subject: &Subject<'_>, args: &SimulateArgs) -> Result<Outcome, UsageError> {
    if args.all {
        return Err(UsageError::new(
            "a catalog has too many runs to list; `setpoint check` proves what all of them have in common",
        ));
    }
    let turn = args.random.map_or(Turn::Puppet, Turn::Random);
    Ok(match subject.simulate(turn)? {
        Ok(run) if run.steps.is_empty() => {
            let message = "Nothing was simulated: the catalog has no resources";
            let file = subject.sources.add(args.input.display().to_string(), "");
            let finding = Diagnostic::new(Rule::NothingChecked, message).severity(Severity::Error);
            Outcome { result: None, diagnostics: vec![finding.at(Range::default().in_file(file))] }
        }
        Ok(run) => {
            let result = match args.format {
                RunFormat::Json => pretty(&run.json()),
                RunFormat::Text | RunFormat::Markdown => run.text(),
            };
            Outcome { result: Some(result), diagnostics: Vec::new() }
        }
        Err(diagnostics) => Outcome { result: None, diagnostics },
    })
}

/// What a change does, in every format.
pub(super) fn told(found: Comparison) -> DiffOutcome {
    let is_open = !found.not_compared.is_empty()
        || !found.not_looked_at.is_empty()
        || found.unproved > 0
        || found.nodes.iter().any(|node| matches!(node.fate, Fate::NotLookedAt(_)));
    let effects = [
        (DiffFailOn::Error, found.brings_errors()),
        (DiffFailOn::Finding, !found.new_findings.is_empty()),
        (DiffFailOn::Change, found.changes()),
        (DiffFailOn::Restart, found.restarts()),
        (DiffFailOn::Unknown, is_open),
    ];
    let print = move |format| match format {
        DiffFormat::Text => setpoint_diff::text(&found),
        DiffFormat::Markdown => setpoint_diff::markdown(&found, setpoint_diff::GITHUB_LIMIT),
        DiffFormat::Gitlab => setpoint_diff::markdown(&found, setpoint_diff::GITLAB_LIMIT),
        DiffFormat::Github => setpoint_diff::github(&found),
        DiffFormat::Json => pretty(&setpoint_diff::json(&found, VERSION)),
    };
    DiffOutcome {
        print: Box::new(print),
        diagnostics: Vec::new(),
        effects: effects.into_iter().filter(|(_, has)| *has).map(|(effect, _)| effect).collect(),
    }
}

/// The format of `compile` that tells how functions of modules were run.
const FUNCTIONS: &str = "functions";

/// How each function of a module in Ruby was run, and what else was not computed, as JSON.
fn functions_run(session: &Session<'_>, compilation: &Compilation) -> String {
    let functions = compilation.trace.functions.iter().map(|(name, run)| {
        let (how, reason) = match &run.how {
            HowRun::Natively => ("natively", None),
            HowRun::Interpreted => ("interpreted", None),
            HowRun::NotRun { reason } => ("not at all", Some(reason)),
        };
        serde_json::json!({"name": name, "module": &*run.module, "file": run.path, "run": how, "reason": reason})
    });
    let unknown = compilation.gaps.iter().filter_map(|gap| match &gap.kind {
        CompileGapKind::NotComputed(reason) => {
            let place = gap.span.map(|span| session.sources.place(span));
            Some(serde_json::json!({"place": place, "reason": reason}))
        }
        CompileGapKind::UnreadData(place) => {
            let reason = format!("no data was read from {place}");
            Some(serde_json::json!({"place": null, "reason": reason}))
        }
        CompileGapKind::OtherNodes | CompileGapKind::AbsentFact(_) => None,
    });
    let told = serde_json::json!({
        "compiled": compilation.catalog.is_some(),
        "functions": functions.collect::<Vec<_>>(),
        "unknown": unknown.collect::<Vec<_>>(),
    });
    pretty(&told)
}

pub(super) fn printer(format: &str) -> Result<fn(&Catalog) -> String, UsageError> {
    match format {
        "json" => Ok(setpoint_catalog::write::json),
        "pp" => Ok(setpoint_catalog::write::pp),
        other => Err(UsageError::new(format!(
            "a catalog cannot be printed as `{other}`; the formats are json, pp and functions"
        ))),
    }
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

/// Looks for keys in the data of the node that the options describe.
pub(crate) fn look_up(
    session: &Session<'_>,
    options: &InputOptions,
    wanted: &LookupOptions,
) -> Result<Looked, UsageError> {
    let options = options.for_project();
    let input = options.puppet.environment.clone().unwrap_or_else(|| PathBuf::from("."));
    Project::open(session, &input, &options)?.look_up(wanted)
}

/// Messages of the manifest, as diagnostics that never fail the call.
pub(crate) fn logged(log: &[LogEntry]) -> Vec<Diagnostic> {
    log.iter()
        .map(|entry| {
            let severity = if entry.level >= LogLevel::Warning { Severity::Warning } else { Severity::Note };
            let message = Diagnostic::new(Rule::Message, entry.message.as_str()).severity(severity);
            match entry.span {
                Some(span) => message.at(span),
                None => message,
            }
        })
        .collect()
}

/// What ended a trace before the manifest did: by the rules there is no catalog, or the rest of the manifest was not traced.
fn trace_end(end: &setpoint_micropuppet::End) -> Diagnostic {
    let (rule, message) = if end.is_outside {
        (Rule::NotModelled, format!("the trace ends here: {}", end.why))
    } else {
        (Rule::EvaluationError, format!("no rule of µPuppet applies here: {}", end.why))
    };
    let help = "`setpoint compile` without `--trace` compiles all of Puppet";
    Diagnostic::new(rule, message).at(end.span).with_help(help)
}

/// A fact as µPuppet has values; nothing for what it has not.
fn traced_value(value: &setpoint_puppet_values::Value) -> Option<setpoint_micropuppet::Value> {
    use setpoint_micropuppet::Value;
    Some(match &value.data {
        Data::String(text) => Value::String(text.to_string()),
        Data::Integer(number) => Value::Integer(*number),
        Data::Bool(truth) => Value::Boolean(*truth),
        Data::Array(elements) => Value::Array(elements.iter().map(traced_value).collect::<Option<Vec<_>>>()?),
        Data::Hash(entries) => {
            let entry = |(key, value): (&Key, &setpoint_puppet_values::Value)| {
                Some((key.0.as_str()?.to_owned(), traced_value(value)?))
            };
            Value::Hash(entries.iter().map(entry).collect::<Option<Vec<_>>>()?)
        }
        _ => return None,
    })
}
