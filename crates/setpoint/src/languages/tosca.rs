//! TOSCA service templates and CSAR archives.

use std::path::{Path, PathBuf};

use setpoint_orchestra::Model;
use setpoint_orchestra::concrete::Facts;
use setpoint_orchestra::models::TOSCA_SETUP;
use setpoint_project::{Session, UsageError};
use setpoint_source::{
    Diagnostic, FileSystem, Gap, InputReport, Judgement, Question, Reason, Rule, Severity, Verdict, Witness,
};
use setpoint_tosca::{Service, Topology, draw};

use super::Language;
use super::simulation::simulate;
use crate::cli::{InputOptions, SimulateArgs};
use crate::output::{Outcome, pretty};

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
        _: &InputOptions,
    ) -> Result<Vec<InputReport>, UsageError> {
        let mut report = InputReport::new(path.display().to_string(), self.kind());
        let answer = match read(session, path)? {
            Err(reason) => {
                let finding = setpoint_tosca::bad_archive(&report.path, &reason);
                let unread = Reason::of(Gap::Unread, &finding);
                report.findings.push(finding);
                Judgement::unknown(unread)
            }
            Ok((mut service, mut topology)) => {
                report.findings.append(&mut service.diagnostics);
                report.findings.append(&mut topology.diagnostics);
                report.drawing = session.drawing(|| draw::diagram(&topology));
                verdict(session, &service, &topology, &mut report)
            }
        };
        let mut verdict = Verdict::nothing_asked();
        verdict.give(Question::ReachesFinal, answer);
        report.conclude(verdict);
        Ok(vec![report])
    }

    fn parse(&self, session: &Session<'_>, path: &Path) -> Result<InputReport, UsageError> {
        let mut report = InputReport::new(path.display().to_string(), self.kind());
        match read(session, path)? {
            Err(reason) => report.findings.push(setpoint_tosca::bad_archive(&report.path, &reason)),
            Ok((service, _)) => report.findings.extend(service.diagnostics),
        }
        Ok(report)
    }

    fn graph(
        &self,
        session: &Session<'_>,
        path: &Path,
        _: &InputOptions,
        format: &str,
    ) -> Result<Outcome, UsageError> {
        let (service, topology) = match read(session, path)? {
            Ok(read) => read,
            Err(reason) => {
                let diagnostics = vec![setpoint_tosca::bad_archive(&path.display().to_string(), &reason)];
                return Ok(Outcome { result: None, diagnostics });
            }
        };
        let result = match format {
            "json" => pretty(&draw::json(&topology, &session.sources)),
            "svg" => setpoint_diagram::svg(&draw::diagram(&topology)),
            _ => setpoint_diagram::dot(&draw::diagram(&topology)),
        };
        Ok(Outcome { result: Some(result), diagnostics: service.diagnostics })
    }

    /// The set-up of the topology.
    fn simulate(&self, session: &Session<'_>, args: &SimulateArgs) -> Result<Outcome, UsageError> {
        let (service, topology) = match read(session, &args.input)? {
            Ok(read) => read,
            Err(reason) => return Err(UsageError::new(format!("{}: {reason}", args.input.display()))),
        };
        let (model, facts) = match rule_set(session, &service, &topology) {
            Ok(found) => found,
            Err(diagnostics) => return Ok(Outcome { result: None, diagnostics }),
        };
        let instance = setpoint_tosca::instance(&service, &topology, &model).map_err(|errors| {
            let messages: Vec<&str> = errors.iter().map(|error| error.message.as_str()).collect();
            UsageError::new(format!("{} cannot be simulated: {}", args.input.display(), messages.join("; ")))
        })?;
        simulate(&model, &instance, &facts, args, &session.sources)
    }
}

/// The rules by which the topology is set up: those that its relationship types name, or the built-in ones.
fn rule_set(
    session: &Session<'_>,
    service: &Service,
    topology: &Topology,
) -> Result<(Model, Facts), Vec<Diagnostic>> {
    let Some(path) = setpoint_tosca::rule_file(service, topology, &session.sources)? else {
        let model = TOSCA_SETUP.load(&session.sources).ok_or_else(Vec::new)?;
        return Ok((model, TOSCA_SETUP.facts.clone()));
    };
    let loaded = setpoint_orchestra::load_model(session.files, &session.sources, &path);
    let model = loaded.model.ok_or(loaded.diagnostics)?;
    let facts = setpoint_orchestra::parametric::facts(&model);
    Ok((model, facts))
}

/// A service template, from a file or from an archive that may be bad.
fn read(session: &Session<'_>, path: &Path) -> Result<Result<(Service, Topology), String>, UsageError> {
    let unpacked;
    let (files, entry): (&dyn FileSystem, PathBuf) = if is_archive(path) {
        let bytes = session.files.read(path).map_err(|error| UsageError::new(error.to_string()))?;
        match setpoint_tosca::open_archive(&bytes) {
            Ok((files, entry)) => {
                unpacked = files;
                (&unpacked, entry)
            }
            Err(reason) => return Ok(Err(reason)),
        }
    } else {
        (session.files, path.to_owned())
    };
    let text =
        setpoint_source::read_text(files, &entry).map_err(|error| UsageError::new(error.to_string()))?;
    let file = session.sources.add(entry.display().to_string(), text);
    let service = Service::read(files, &session.sources, file, &entry);
    let topology = Topology::new(&service);
    Ok(Ok((service, topology)))
}

fn verdict(
    session: &Session<'_>,
    service: &Service,
    topology: &Topology,
    report: &mut InputReport,
) -> Judgement {
    let (model, facts) = match rule_set(session, service, topology) {
        Ok(found) => found,
        Err(mut diagnostics) => {
            report.findings.append(&mut diagnostics);
            return Judgement::unknown(Reason::new(Gap::Malformed, "the rule set cannot be used"));
        }
    };
    let Ok(instance) = setpoint_tosca::instance(service, topology, &model) else {
        return Judgement::unknown(Reason::new(Gap::NotModelled, "the topology does not fit the rule set"));
    };
    let (answer, mut findings) = setpoint_tosca::can_start(&model, &instance, &facts, &session.sources);
    report.findings.append(&mut findings);
    // What could not be read may add nodes and requirements.
    let unread = |rule: Rule| [Rule::MissingImport, Rule::InvalidData].contains(&rule);
    let errors = || report.findings.iter().filter(|finding| finding.severity == Severity::Error);
    match (answer, errors().find(|finding| !unread(finding.rule))) {
        (answer, Some(finding)) if answer.is_proved() => Judgement::refuted(Witness::of(finding)),
        (answer, _) => answer,
    }
}

fn is_archive(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "csar" || extension == "zip")
}
