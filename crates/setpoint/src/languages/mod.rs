//! Input languages. Each tells how to recognise its files and which commands it answers.

mod catalog;
mod cloudformation;
mod model;
pub(crate) mod puppet;
pub(crate) mod simulation;
pub(crate) mod smartfrog;
mod tosca;

use std::path::{Path, PathBuf};

use setpoint_diff::About;
use setpoint_project::{Older, Session, UsageError};
use setpoint_source::{Class, Diagnostic, InputReport, Severity};

use crate::cli::{DiffFailOn, DiffFormat, ImpactArgs, InputOptions, ProveArgs, SimulateArgs, WhyArgs};
use crate::inputs::STANDARD_INPUT;
use crate::output::Outcome;

/// What a comparison gives back.
pub(crate) struct DiffOutcome {
    pub(crate) print: Box<dyn Fn(DiffFormat) -> String>,
    /// For standard error.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// What it does, in the words of `--fail-on`.
    pub(crate) effects: Vec<DiffFailOn>,
}

impl DiffOutcome {
    /// A comparison that is a text and JSON. It fails if an error is among the diagnostics.
    pub(crate) fn of_texts(text: String, json: String, diagnostics: Vec<Diagnostic>, changes: bool) -> Self {
        let print = move |format| match format {
            DiffFormat::Json => json.clone(),
            DiffFormat::Markdown | DiffFormat::Gitlab => format!("```\n{text}```\n"),
            DiffFormat::Text | DiffFormat::Github => text.clone(),
        };
        let mut effects: Vec<DiffFailOn> = changes.then_some(DiffFailOn::Change).into_iter().collect();
        if diagnostics.iter().any(|found| found.severity == Severity::Error) {
            effects.push(DiffFailOn::Error);
        }
        Self { print: Box::new(print), diagnostics, effects }
    }

    /// A comparison that could not be made.
    pub(crate) fn failed(diagnostics: Vec<Diagnostic>) -> Self {
        Self { print: Box::new(|_| String::new()), diagnostics, effects: vec![DiffFailOn::Error] }
    }
}

/// Whether an input cannot be read as what it is: there is no run of it.
fn is_broken(findings: &[Diagnostic]) -> bool {
    findings.iter().any(|one| one.severity == Severity::Error && one.rule.class() == Class::Syntax)
}

/// What the program can do with one kind of input. A command that a language does not answer is a usage error that
/// says so.
pub(crate) trait Language: Sync {
    /// The word for `--kind`, and the `kind` of reports.
    fn kind(&self) -> &'static str;

    /// Whether a file is of this kind, by its name or by its text. `text` is empty for a folder, and at first for
    /// every file.
    fn recognises(&self, path: &Path, text: &str) -> bool;

    /// Whether a folder is of this kind, by what is in it.
    fn recognises_folder(&self, _session: &Session<'_>, _path: &Path) -> bool {
        false
    }

    fn check(
        &self,
        session: &Session<'_>,
        path: &Path,
        options: &InputOptions,
    ) -> Result<Vec<InputReport>, UsageError>;

    /// Whether several inputs are one system.
    fn joins(&self) -> bool {
        false
    }

    /// Checks several inputs; the answers are in their order.
    fn check_together(
        &self,
        session: &Session<'_>,
        paths: &[PathBuf],
        options: &InputOptions,
    ) -> Vec<Result<Vec<InputReport>, UsageError>> {
        paths.iter().map(|path| self.check(session, path, options)).collect()
    }

    fn parse(
        &self,
        _session: &Session<'_>,
        _path: &Path,
        _options: &InputOptions,
    ) -> Result<InputReport, UsageError> {
        Err(self.cannot("parse"))
    }

    fn compile(
        &self,
        _session: &Session<'_>,
        _path: &Path,
        _options: &InputOptions,
        _format: &str,
    ) -> Result<Outcome, UsageError> {
        Err(self.cannot("compile"))
    }

    /// The steps of the compilation, as `text`, `json` or `html`.
    fn trace(
        &self,
        _session: &Session<'_>,
        _path: &Path,
        _options: &InputOptions,
        _format: &str,
    ) -> Result<Outcome, UsageError> {
        Err(self.cannot("compile --trace"))
    }

    /// The tree of a file, as `parse --format json` gives it; none if the language gives none.
    fn tree(
        &self,
        _session: &Session<'_>,
        _path: &Path,
        _options: &InputOptions,
    ) -> Result<Option<serde_json::Value>, UsageError> {
        Ok(None)
    }

    fn graph(
        &self,
        _session: &Session<'_>,
        _path: &Path,
        _options: &InputOptions,
        _format: &str,
    ) -> Result<Outcome, UsageError> {
        Err(self.cannot("graph"))
    }

    fn why(&self, _session: &Session, _args: &WhyArgs) -> Result<Outcome, UsageError> {
        Err(self.cannot("why"))
    }

    fn impact(&self, _session: &Session, _args: &ImpactArgs) -> Result<Outcome, UsageError> {
        Err(self.cannot("impact"))
    }

    fn diff(
        &self,
        _session: &Session,
        _old: &Older<'_>,
        _new: &Path,
        _options: &InputOptions,
        _about: About,
    ) -> Result<DiffOutcome, UsageError> {
        Err(self.cannot("diff"))
    }

    fn simulate(&self, _session: &Session, _args: &SimulateArgs) -> Result<Outcome, UsageError> {
        Err(self.cannot("simulate"))
    }

    /// What the next run does with a newer version, on a machine that the input has been applied to.
    fn next_run(&self, _session: &Session, _new: &Path, _args: &SimulateArgs) -> Result<Outcome, UsageError> {
        Err(self.cannot("simulate OLD NEW"))
    }

    fn prove(&self, _session: &Session, _args: &ProveArgs) -> Result<Outcome, UsageError> {
        Err(self.cannot("prove"))
    }

    /// The text in the one layout of the language; none if it cannot be read.
    fn format(&self, _session: &Session, _path: &Path) -> Result<Outcome, UsageError> {
        Err(self.cannot("fmt"))
    }

    fn cannot(&self, command: &str) -> UsageError {
        UsageError::new(format!("`setpoint {command}` has no answer for {} input", self.kind()))
    }
}

/// A trace in one of its formats.
fn print_trace(
    trace: &setpoint_trace::Trace,
    sources: &setpoint_source::Sources,
    path: &Path,
    format: &str,
) -> Result<String, UsageError> {
    Ok(match format {
        "text" => setpoint_trace::text(trace, sources),
        "json" => crate::output::pretty(&setpoint_trace::json(trace, sources)),
        "html" => setpoint_trace::html(trace, sources, &path.display().to_string()),
        other => {
            let message = format!("a trace is printed as `text`, `json` or `html`, and not as `{other}`");
            return Err(UsageError::new(message));
        }
    })
}

/// In the order in which they are asked: those that know their files by extension before those that look inside.
static LANGUAGES: &[&dyn Language] = &[
    &puppet::Puppet,
    &smartfrog::SmartFrog,
    &model::RuleModel,
    &tosca::Tosca,
    &catalog::PuppetCatalog,
    &cloudformation::CloudFormation,
];

/// Whether some language takes a folder as one input.
pub(crate) fn recognises_folder(session: &Session<'_>, path: &Path) -> bool {
    LANGUAGES.iter().any(|language| language.recognises_folder(session, path))
}

/// Whether a file is of a kind that is known by its name, or by what is in it.
pub(crate) fn recognises_file(session: &Session<'_>, path: &Path) -> bool {
    let has_ending = |name: &str| path.extension().is_some_and(|ending| ending == name);
    // Any archive may end in `.zip`, and what any tool fills in in `.template`.
    if has_ending("zip") {
        return session.files.read(path).is_ok_and(|bytes| setpoint_tosca::is_archive(&bytes));
    }
    if has_ending("template") {
        return session.read(path).map_or(true, |text| cloudformation::is_template(&text));
    }
    let known = |text: &str| LANGUAGES.iter().any(|language| language.recognises(path, text));
    let is_data =
        path.extension().is_some_and(|ending| ending == "yaml" || ending == "yml" || ending == "json");
    known("") || (is_data && session.read(path).is_ok_and(|text| known(&text)))
}

/// The language of an input: the one that `--kind` names, or the first that recognises it.
pub(crate) fn of(
    session: &Session<'_>,
    path: &Path,
    options: &InputOptions,
) -> Result<&'static dyn Language, UsageError> {
    if let Some(kind) = &options.kind {
        return LANGUAGES.iter().copied().find(|language| language.kind() == kind).ok_or_else(|| {
            let kinds: Vec<&str> = LANGUAGES.iter().map(|language| language.kind()).collect();
            UsageError::new(format!("there is no kind `{kind}`; the kinds are {}", kinds.join(", ")))
        });
    }
    // Only one language has environments.
    if options.puppet.environment.is_some() {
        return Ok(&puppet::Puppet);
    }
    let known = |text: &str| by_name_and_text(path, text);
    // Most files are known by their names; only the others are read for it.
    if let Some(language) = known("") {
        return Ok(language);
    }
    let is_folder = session.files.is_dir(path);
    if is_folder
        && let Some(language) = LANGUAGES.iter().copied().find(|one| one.recognises_folder(session, path))
    {
        return Ok(language);
    }
    let text = if is_folder { String::new() } else { session.read(path)? };
    // Standard input has no ending: a text that would be known with one is known without.
    let by_text_alone = || {
        let names = ["-.json", "-.yaml"].into_iter().filter(|_| path.as_os_str() == STANDARD_INPUT);
        names.into_iter().find_map(|name| by_name_and_text(Path::new(name), &text))
    };
    known(&text).or_else(by_text_alone).ok_or_else(|| {
        UsageError::new(format!(
            "{}: cannot tell what kind of input this is; say so with --kind",
            path.display()
        ))
    })
}

fn by_name_and_text(path: &Path, text: &str) -> Option<&'static dyn Language> {
    LANGUAGES.iter().copied().find(|language| language.recognises(path, text))
}
