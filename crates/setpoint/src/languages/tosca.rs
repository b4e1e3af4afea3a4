//! TOSCA service templates and CSAR archives.

use std::path::{Path, PathBuf};

use setpoint_diff::About;
use setpoint_orchestra::concrete::Facts;
use setpoint_orchestra::parametric::facts;
use setpoint_orchestra::{Model, load_model};
use setpoint_project::{Older, Session, UsageError};
use setpoint_source::{Class, Coverage, Diagnostic, FileSystem, InputReport, Nouns, Question, Verdict};
use setpoint_tosca::{Archive, BadArchive, Checked, Version, draw};

use super::model::prove_model;
use super::simulation::simulate;
use super::{DiffOutcome, Language, is_broken};
use crate::cli::{InputOptions, ProveArgs, SimulateArgs};
use crate::output::{Outcome, pretty};

const ARCHIVES: Nouns = Nouns { sources: "archives", definitions: "types", resources: "nodes" };

#[derive(Debug)]
pub(crate) struct Tosca;

impl Language for Tosca {
    fn kind(&self) -> &'static str {
        "tosca"
    }

    fn recognises(&self, path: &Path, text: &str) -> bool {
        is_archive(path) || setpoint_tosca::is_service_template(text)
    }

    fn check(
        &self,
        session: &Session<'_>,
        path: &Path,
        options: &InputOptions,
    ) -> Result<Vec<InputReport>, UsageError> {
        let (archive, entry) = match open(session.files, path)? {
            Ok(opened) => opened,
            Err(bad) => {
                let mut report = InputReport::new(path.display().to_string(), self.kind());
                let (answer, finding) = bad.judge(&report.path, &session.sources);
                report.findings.push(finding);
                let mut coverage = Coverage::new(ARCHIVES);
                coverage.sources.add(false, false);
                report.coverage = Some(coverage);
                report.conclude(Verdict::of(Question::ReachesFinal, answer));
                return Ok(vec![report]);
            }
        };
        let conclude = |name: String, checked: Checked| {
            let mut report = InputReport::new(name, self.kind());
            report.drawing = session.drawing(|| draw::diagram(&checked.topology));
            report.findings = checked.findings;
            report.coverage = Some(checked.coverage);
            report.conclude(Verdict::of(Question::ReachesFinal, checked.answer));
            report
        };
        let name = path.display().to_string();
        let files = archive.as_ref().map_or(session.files, |archive| &archive.files);
        let mut checked = check(session, files, &entry, &options.profiles)?;
        let read = checked.service.paths.clone();
        doubt(session, path, archive.as_ref(), &mut checked);
        let mut reports = vec![conclude(name.clone(), checked)];
        // Other service templates of an archive are deployed by themselves.
        let others = archive.iter().flat_map(|archive| &archive.others);
        for other in others.filter(|other| !read.contains(other)) {
            let checked = check(session, files, other, &options.profiles)?;
            reports.push(conclude(format!("{name}/{}", other.display()), checked));
        }
        Ok(reports)
    }

    fn parse(
        &self,
        session: &Session<'_>,
        path: &Path,
        _options: &InputOptions,
    ) -> Result<InputReport, UsageError> {
        let mut report = InputReport::new(path.display().to_string(), self.kind());
        match read(session, path, &[])? {
            Err(bad) => report.findings.push(bad.judge(&report.path, &session.sources).1),
            Ok(checked) => report.findings.extend(checked.service.diagnostics),
        }
        Ok(report)
    }

    fn graph(
        &self,
        session: &Session<'_>,
        path: &Path,
        options: &InputOptions,
        format: &str,
    ) -> Result<Outcome, UsageError> {
        let Checked { topology, findings, .. } = match read(session, path, &options.profiles)? {
            Ok(checked) => checked,
            Err(bad) => {
                let diagnostics = vec![bad.judge(&path.display().to_string(), &session.sources).1];
                return Ok(Outcome { result: None, diagnostics });
            }
        };
        let result = match format {
            "json" => pretty(&draw::json(&topology, &session.sources)),
            "svg" => setpoint_diagram::svg(&draw::diagram(&topology)),
            _ => setpoint_diagram::dot(&draw::diagram(&topology)),
        };
        Ok(Outcome { result: Some(result), diagnostics: left_out(findings).collect() })
    }

    /// The nodes, types and files that differ between two versions, and whether each starts.
    fn diff(
        &self,
        session: &Session<'_>,
        old: &Older<'_>,
        new: &Path,
        options: &InputOptions,
        _: About,
    ) -> Result<DiffOutcome, UsageError> {
        let mut read = Vec::new();
        for (files, path) in [(old.files, old.path.as_path()), (session.files, new)] {
            match open(files, path)? {
                Ok((archive, entry)) => {
                    let inner = archive.as_ref().map_or(files, |archive| &archive.files);
                    let mut checked = check(session, inner, &entry, &options.profiles)?;
                    doubt(session, path, archive.as_ref(), &mut checked);
                    read.push((archive, entry, checked));
                }
                Err(bad) => {
                    let (_, finding) = bad.judge(&path.display().to_string(), &session.sources);
                    return Ok(DiffOutcome::failed(vec![finding]));
                }
            }
        }
        let [(old_archive, old_entry, before), (new_archive, new_entry, after)] = read.as_slice() else {
            return Err(self.cannot("diff"));
        };
        let folder = |entry: &'_ PathBuf| entry.parent().map(Path::to_owned).unwrap_or_default();
        let (old_folder, new_folder) = (folder(old_entry), folder(new_entry));
        let changes = setpoint_tosca::compare(
            Version {
                checked: before,
                files: old_archive.as_ref().map_or(old.files, |archive| &archive.files),
                folder: &old_folder,
            },
            Version {
                checked: after,
                files: new_archive.as_ref().map_or(session.files, |archive| &archive.files),
                folder: &new_folder,
            },
        );
        let (text, json, is_changed) = (changes.text(), pretty(&changes.json()), !changes.is_empty());
        let left_out = left_out(before.findings.clone()).chain(left_out(after.findings.clone()));
        let mut diagnostics: Vec<Diagnostic> = left_out.collect();
        diagnostics.extend(
            changes
                .findings
                .into_iter()
                .filter(|one| !matches!(one.rule.class(), Class::Syntax | Class::Open)),
        );
        Ok(DiffOutcome::of_texts(text, json, diagnostics, is_changed))
    }

    /// The set-up of the topology.
    fn simulate(&self, session: &Session<'_>, args: &SimulateArgs) -> Result<Outcome, UsageError> {
        let Checked { service, topology, findings, is_whole, .. } = match read(session, &args.input, &[])? {
            Ok(checked) => checked,
            Err(bad) => return Err(UsageError::new(format!("{}: {bad}", args.input.display()))),
        };
        if topology.nodes.is_empty() || is_broken(&findings) {
            return Ok(Outcome { result: None, diagnostics: findings });
        }
        let rules = match &args.rules {
            Some(path) => chosen_rules(session, path),
            None => setpoint_tosca::rule_set(session.files, &session.sources, &service, &topology),
        };
        let (model, facts) = match rules {
            Ok(found) => found,
            Err(diagnostics) => return Ok(Outcome { result: None, diagnostics }),
        };
        let instance = setpoint_tosca::instance(&service, &topology, &model).map_err(|errors| {
            let messages: Vec<&str> = errors.iter().map(|error| error.message.as_str()).collect();
            UsageError::new(format!("{} cannot be simulated: {}", args.input.display(), messages.join("; ")))
        })?;
        let mut outcome = simulate(&model, &instance, &facts, args, is_whole, &session.sources)?;
        outcome.diagnostics.splice(0..0, left_out(findings));
        Ok(outcome)
    }

    /// The rules that the topology's types bring, all together, for any number of objects. What was not read may bring others:
    /// then nothing is proved.
    fn prove(&self, session: &Session<'_>, args: &ProveArgs) -> Result<Outcome, UsageError> {
        let Checked { service, topology, findings, is_whole, .. } = match read(session, &args.input, &[])? {
            Ok(checked) => checked,
            Err(bad) => return Err(UsageError::new(format!("{}: {bad}", args.input.display()))),
        };
        if !is_whole {
            return Ok(Outcome { result: None, diagnostics: findings });
        }
        match setpoint_tosca::rule_set(session.files, &session.sources, &service, &topology) {
            Ok((model, _)) => prove_model(session, args, &model),
            Err(diagnostics) => Ok(Outcome { result: None, diagnostics }),
        }
    }
}

/// The rules that were asked for in place of those of set-up, and what is proved about them.
fn chosen_rules(session: &Session<'_>, path: &Path) -> Result<(Model, Facts), Vec<Diagnostic>> {
    let loaded = load_model(session.files, &session.sources, path);
    let model = loaded.model.ok_or(loaded.diagnostics)?;
    let facts = facts(&model);
    Ok((model, facts))
}

/// The findings that tell what was not read or has no model: no result covers it.
fn left_out(findings: Vec<Diagnostic>) -> impl Iterator<Item = Diagnostic> {
    findings.into_iter().filter(|finding| matches!(finding.rule.class(), Class::Syntax | Class::Open))
}

/// A service template, from a file or from an archive that may be bad.
fn read(
    session: &Session<'_>,
    path: &Path,
    profiles: &[PathBuf],
) -> Result<Result<Checked, BadArchive>, UsageError> {
    let (archive, entry) = match open(session.files, path)? {
        Ok(opened) => opened,
        Err(bad) => return Ok(Err(bad)),
    };
    let files = archive.as_ref().map_or(session.files, |archive| &archive.files);
    let mut checked = check(session, files, &entry, profiles)?;
    doubt(session, path, archive.as_ref(), &mut checked);
    Ok(Ok(checked))
}

/// Takes what of an archive was not read into what is known of its service template.
fn doubt(session: &Session<'_>, path: &Path, archive: Option<&Archive>, checked: &mut Checked) {
    let Some(archive) = archive else { return };
    let problems = archive.problems.iter().filter(|problem| !checked.service.paths.contains(&problem.member));
    for (reason, finding) in problems.map(|problem| problem.judge(archive, path, &session.sources)) {
        checked.answer = checked.answer.clone().doubt(reason);
        checked.findings.push(finding);
        checked.is_whole = false;
    }
}

/// The archive at a path, if it is one, and the path of its service template.
fn open(
    files: &dyn FileSystem,
    path: &Path,
) -> Result<Result<(Option<Archive>, PathBuf), BadArchive>, UsageError> {
    if !is_archive(path) {
        return Ok(Ok((None, path.to_owned())));
    }
    let bytes = files.read(path).map_err(|error| UsageError::new(error.to_string()))?;
    Ok(setpoint_tosca::open_archive(&bytes).map(|archive| {
        let entry = archive.entry.clone();
        (Some(archive), entry)
    }))
}

fn check(
    session: &Session<'_>,
    files: &dyn FileSystem,
    entry: &Path,
    profiles: &[PathBuf],
) -> Result<Checked, UsageError> {
    let text =
        setpoint_source::read_text(files, entry).map_err(|error| UsageError::new(error.to_string()))?;
    let file = session.sources.add(entry.display().to_string(), text);
    Ok(setpoint_tosca::check(files, &session.sources, file, entry, profiles))
}

fn is_archive(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "csar" || extension == "zip")
}
