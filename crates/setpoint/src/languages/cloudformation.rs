//! CloudFormation templates.

use std::path::{Path, PathBuf};

use setpoint_cloudformation::{Analysis, Assembly, Checked, Given, Options, draw};
use setpoint_diff::About;
use setpoint_orchestra::models::{CLOUDFORMATION_LIFECYCLE, CLOUDFORMATION_SETUP};
use setpoint_project::{Older, Session, UsageError};
use setpoint_source::{
    Class, Diagnostic, FileId, FileSystem, Gap, InputReport, Judgement, Question, Reason, Verdict, Witness,
    read_text,
};

use super::simulation::simulate;
use super::{DiffOutcome, Language, is_broken};
use crate::cli::{InputOptions, SimulateArgs};
use crate::output::{Outcome, pretty};

#[derive(Debug)]
pub(crate) struct CloudFormation;

/// Whether text is that of a template.
pub(super) fn is_template(text: &str) -> bool {
    setpoint_cloudformation::is_template_text(FileId(0), text)
}

impl Language for CloudFormation {
    fn kind(&self) -> &'static str {
        "cloudformation"
    }

    fn recognises(&self, path: &Path, text: &str) -> bool {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or("");
        match extension {
            "template" | "cfn" => true,
            "yaml" | "yml" | "json" => is_template(text),
            _ => false,
        }
    }

    fn recognises_folder(&self, session: &Session<'_>, path: &Path) -> bool {
        setpoint_cloudformation::is_assembly(session.files, path)
    }

    fn check(
        &self,
        session: &Session<'_>,
        path: &Path,
        options: &InputOptions,
    ) -> Result<Vec<InputReport>, UsageError> {
        if session.files.is_dir(path) {
            return self.check_assembly(session, path, options);
        }
        let mut all = self.check_together(session, std::slice::from_ref(&path.to_owned()), options);
        all.pop().unwrap_or_else(|| Ok(Vec::new()))
    }

    fn joins(&self) -> bool {
        true
    }

    /// Checks templates as one system: what one exports, another may import.
    fn check_together(
        &self,
        session: &Session<'_>,
        paths: &[PathBuf],
        options: &InputOptions,
    ) -> Vec<Result<Vec<InputReport>, UsageError>> {
        let mut inputs = Vec::new();
        let mut out = Vec::new();
        let count = paths.iter().filter(|path| !session.files.is_dir(path)).count();
        for path in paths {
            if session.files.is_dir(path) {
                out.push(self.check(session, path, options));
                continue;
            }
            let read = Self::options(session, path, options, count > 1).and_then(|own| {
                let file = session.sources.add(path.display().to_string(), session.read(path)?);
                Ok((path.clone(), file, own))
            });
            match read {
                Ok(input) => {
                    inputs.push((out.len(), input));
                    out.push(Ok(Vec::new()));
                }
                Err(error) => out.push(Err(error)),
            }
        }
        let (places, inputs): (Vec<usize>, Vec<_>) = inputs.into_iter().unzip();
        let checked = setpoint_cloudformation::check_together(session.files, &session.sources, &inputs);
        for (place, all) in places.into_iter().zip(checked) {
            out[place] = Ok(all.into_iter().map(|one| self.report(session, one)).collect());
        }
        out
    }

    fn parse(
        &self,
        session: &Session<'_>,
        path: &Path,
        _options: &InputOptions,
    ) -> Result<InputReport, UsageError> {
        let mut analysis = analyse(session, path)?;
        analysis.findings.retain(|finding| finding.rule.class() == Class::Syntax);
        let mut report = InputReport::new(path.display().to_string(), self.kind());
        report.findings = analysis.findings;
        Ok(report)
    }

    fn graph(
        &self,
        session: &Session<'_>,
        path: &Path,
        _: &InputOptions,
        format: &str,
    ) -> Result<Outcome, UsageError> {
        let analysis = analyse(session, path)?;
        let result = match format {
            "json" => pretty(&draw::json(&analysis, &session.sources)),
            "svg" => setpoint_diagram::svg(&draw::diagram(&analysis)),
            _ => setpoint_diagram::dot(&draw::diagram(&analysis)),
        };
        Ok(Outcome { result: Some(result), diagnostics: left_out(analysis).collect() })
    }

    /// The update of a stack from the old template to the new one.
    fn diff(
        &self,
        session: &Session<'_>,
        old: &Older<'_>,
        new: &Path,
        options: &InputOptions,
        _: About,
    ) -> Result<DiffOutcome, UsageError> {
        let own = Self::options(session, new, options, true)?;
        let text = read_text(old.files, &old.path).map_err(|error| UsageError::new(error.to_string()))?;
        let file = session.sources.add(old.path.display().to_string(), text);
        let before = with_nested(session, old.files, &old.path, file, &own);
        let (file, _) = session.load(new)?;
        let after = with_nested(session, session.files, new, file, &own);
        let Some(lifecycle) = CLOUDFORMATION_LIFECYCLE.load(&session.sources) else {
            return Err(self.cannot("diff"));
        };
        let update = setpoint_cloudformation::update(&before, &after, &lifecycle);
        let (text, json, changes) = (update.text(), pretty(&update.json()), !update.is_empty());
        let diagnostics = left_out(before).chain(left_out(after)).chain(update.findings).collect();
        Ok(DiffOutcome::of_texts(text, json, diagnostics, changes))
    }

    /// The creation of the stack that the parameters' defaults describe.
    fn simulate(&self, session: &Session<'_>, args: &SimulateArgs) -> Result<Outcome, UsageError> {
        let analysis = analyse(session, &args.input)?;
        let is_whole = analysis.is_whole();
        if is_broken(&analysis.findings) {
            return Ok(Outcome { result: None, diagnostics: left_out(analysis).collect() });
        }
        let Some(model) = CLOUDFORMATION_SETUP.load(&session.sources) else {
            return Err(self.cannot("simulate"));
        };
        let instance = setpoint_cloudformation::instance(&analysis, &model)
            .map_err(|errors| instance_errors(&args.input, &errors))?;
        let facts = &CLOUDFORMATION_SETUP.facts;
        let mut outcome = simulate(&model, &instance, facts, args, is_whole, &session.sources)?;
        outcome.diagnostics.splice(0..0, left_out(analysis));
        Ok(outcome)
    }
}

impl CloudFormation {
    fn report(&self, session: &Session<'_>, Checked { path, analysis, .. }: Checked) -> InputReport {
        let mut report = InputReport::new(path.display().to_string(), self.kind());
        report.drawing = session.drawing(|| draw::diagram(&analysis));
        report.findings = analysis.findings;
        report.coverage = Some(analysis.coverage);
        report.conclude(Verdict::of(Question::ReachesFinal, analysis.reaches_final));
        report
    }

    /// What the command line says about a template: `--parameters FILE` is for all, `--parameters TEMPLATE=FILE` for one.
    fn options(
        session: &Session<'_>,
        path: &Path,
        options: &InputOptions,
        is_shared: bool,
    ) -> Result<Options, UsageError> {
        let mut given = Given::default();
        for named in &options.parameters {
            let (file, is_own) = match named.split_once('=') {
                Some((template, _)) if Path::new(template) != path => continue,
                Some((_, file)) => (Path::new(file), true),
                None => (Path::new(named.as_str()), false),
            };
            let source = session.sources.add(file.display().to_string(), session.read(file)?);
            let mut read = Given::read(source, &session.sources);
            if let Some(problem) = read.problems.first() {
                return Err(UsageError::new(format!("{}: {}", file.display(), problem.message)));
            }
            read.is_shared = is_shared && !is_own;
            given = read;
        }
        Ok(Options { given, template_root: options.template_root.clone() })
    }

    /// Checks every stack of a folder that the CDK synthesised; what of the folder cannot be read is a report of its own.
    fn check_assembly(
        &self,
        session: &Session<'_>,
        folder: &Path,
        options: &InputOptions,
    ) -> Result<Vec<InputReport>, UsageError> {
        let Assembly { templates, problems, errors, warnings } =
            setpoint_cloudformation::assembly(session.files, &session.sources, folder);
        let mut reports = Vec::new();
        let reasons = problems.iter().map(|finding| Judgement::unknown(Reason::of(Gap::Unread, finding)));
        let refused = errors.iter().map(|finding| Judgement::refuted(Witness::of(finding)));
        let answer = reasons.chain(refused).reduce(Judgement::and);
        let findings: Vec<Diagnostic> = problems.into_iter().chain(errors).chain(warnings).collect();
        if !findings.is_empty() {
            let mut report = InputReport::new(folder.display().to_string(), self.kind());
            report.findings = findings;
            if let Some(answer) = answer {
                report.conclude(Verdict::of(Question::ReachesFinal, answer));
            }
            reports.push(report);
        }
        // The stacks of one assembly export to each other.
        for found in self.check_together(session, &templates, options) {
            reports.extend(found?);
        }
        Ok(reports)
    }
}

/// The findings that tell what of a template was not read or has no model: no result covers it.
fn left_out(analysis: Analysis) -> impl Iterator<Item = Diagnostic> {
    analysis
        .findings
        .into_iter()
        .filter(|finding| matches!(finding.rule.class(), Class::Syntax | Class::Open))
}

fn instance_errors(path: &Path, errors: &[setpoint_orchestra::InstanceError]) -> UsageError {
    let messages: Vec<&str> = errors.iter().map(|error| error.message.as_str()).collect();
    UsageError::new(format!("{} cannot be simulated: {}", path.display(), messages.join("; ")))
}

fn analyse(session: &Session<'_>, path: &Path) -> Result<Analysis, UsageError> {
    let (file, _) = session.load(path)?;
    Ok(with_nested(session, session.files, path, file, &Options::default()))
}

/// Returns the analysis of a template that knows which of its nested stacks were not read.
fn with_nested(
    session: &Session<'_>,
    files: &dyn FileSystem,
    path: &Path,
    file: FileId,
    options: &Options,
) -> Analysis {
    let all = setpoint_cloudformation::check(files, &session.sources, path, file, options);
    let first = all.into_iter().next().map(|checked| checked.analysis);
    first.unwrap_or_else(|| setpoint_cloudformation::analyse(file, &session.sources))
}
