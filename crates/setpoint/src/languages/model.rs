//! Rule files (`.spm`): rule sets, and instances of them.

use std::path::Path;

use setpoint_orchestra::concrete::{Facts, Ground, Limits, check};
use setpoint_orchestra::language::{self, LoadedModel};
use setpoint_orchestra::parametric::{Effort, facts, prove};
use setpoint_orchestra::{Instance, Model, load_model, report};
use setpoint_project::{Session, UsageError};
use setpoint_source::{
    Coverage, Diagnostic, Gap, InputReport, Judgement, Nouns, Question, Reached, Reason, Rule, Sources,
    Verdict,
};

use super::Language;
use super::simulation::simulate;
use crate::cli::{InputOptions, ProveArgs, ResultFormat, SimulateArgs};
use crate::output::{Outcome, pretty};

const NOUNS: Nouns = Nouns { sources: "rule files", definitions: "rules", resources: "objects" };

#[derive(Debug)]
pub(crate) struct RuleModel;

impl Language for RuleModel {
    fn kind(&self) -> &'static str {
        "model"
    }

    fn recognises(&self, path: &Path, _text: &str) -> bool {
        path.extension().is_some_and(|extension| extension == "spm")
    }

    /// The rule set for any number of objects, then each instance of the file by itself.
    fn check(
        &self,
        session: &Session,
        path: &Path,
        _options: &InputOptions,
    ) -> Result<Vec<InputReport>, UsageError> {
        session.read(path)?;
        let LoadedModel { model, instances, diagnostics, files } =
            load_model(session.files, &session.sources, path);
        let mut report = InputReport::new(path.display().to_string(), self.kind());
        report.findings = diagnostics;
        let mut coverage = Coverage::new(NOUNS);
        coverage.sources = files;
        report.coverage = Some(coverage.clone());
        let Some(model) = model else {
            let reason = report.findings.first().map_or_else(
                || Reason::new(Gap::Malformed, "the rule set cannot be used"),
                |finding| Reason::of(Gap::Malformed, finding),
            );
            report.conclude(reaches_final(Judgement::unknown(reason)));
            return Ok(vec![report]);
        };
        let proof = prove(&model, Effort::default());
        let (answer, findings) = report::judge_proof(&model, &proof, &session.sources);
        report.findings.extend(findings);
        let applied = model.rules.len() - proof.vacuity.unused.len();
        coverage.definitions = Reached::new(applied, model.rules.len());
        report.coverage = Some(coverage);
        report.conclude(reaches_final(answer));
        // Of a state that was not excluded, the picture; else of the classes.
        let shown: Vec<Instance> = proof.allowed.iter().map(|allowed| allowed.instance.clone()).collect();
        report.drawing = session.drawing(|| report::graph_diagram(&model, &shown));
        let proved = proof.facts();
        let mut out = vec![report];
        for instance in &instances {
            let mut report = check_instance(path, self.kind(), &model, instance, &proved, &session.sources);
            report.drawing =
                session.drawing(|| report::graph_diagram(&model, std::slice::from_ref(instance)));
            out.push(report);
        }
        Ok(out)
    }

    fn parse(
        &self,
        session: &Session<'_>,
        path: &Path,
        _options: &InputOptions,
    ) -> Result<InputReport, UsageError> {
        let (file, text) = session.load(path)?;
        let mut report = InputReport::new(path.display().to_string(), self.kind());
        report.findings = language::parse(file, &text).diagnostics;
        Ok(report)
    }

    fn graph(
        &self,
        session: &Session,
        path: &Path,
        _options: &InputOptions,
        format: &str,
    ) -> Result<Outcome, UsageError> {
        let (model, instances) = match loaded(session, path)? {
            Ok(loaded) => loaded,
            Err(diagnostics) => return Ok(Outcome { result: None, diagnostics }),
        };
        let result = match format {
            "json" => pretty(&report::graph_json(&model, &instances)),
            "svg" => setpoint_diagram::svg(&report::graph_diagram(&model, &instances)),
            _ => setpoint_diagram::dot(&report::graph_diagram(&model, &instances)),
        };
        Ok(Outcome { result: Some(result), diagnostics: Vec::new() })
    }

    fn simulate(&self, session: &Session, args: &SimulateArgs) -> Result<Outcome, UsageError> {
        let (model, instances) = match loaded(session, &args.input)? {
            Ok(loaded) => loaded,
            Err(diagnostics) => return Ok(Outcome { result: None, diagnostics }),
        };
        let instance = chosen(&instances, args.instance.as_deref())?;
        let facts = if args.all { facts(&model) } else { Facts::default() };
        simulate(&model, instance, &facts, args, true, &session.sources)
    }

    fn prove(&self, session: &Session, args: &ProveArgs) -> Result<Outcome, UsageError> {
        let (model, _) = match loaded(session, &args.input)? {
            Ok(loaded) => loaded,
            Err(diagnostics) => return Ok(Outcome { result: None, diagnostics }),
        };
        prove_model(session, args, &model)
    }

    fn format(&self, session: &Session, path: &Path) -> Result<Outcome, UsageError> {
        let (file, text) = session.load(path)?;
        let parsed = language::parse(file, &text);
        let result = parsed.diagnostics.is_empty().then(|| language::format(&parsed.file, &text));
        Ok(Outcome { result, diagnostics: parsed.diagnostics })
    }
}

/// A proof as text or JSON, and its certificate if it is asked for.
pub(super) fn prove_model(
    session: &Session<'_>,
    args: &ProveArgs,
    model: &Model,
) -> Result<Outcome, UsageError> {
    let proof = prove(model, Effort::default());
    if let Some(path) = &args.certificate {
        let text = setpoint_orchestra::certificate::certificate(model, &proof);
        setpoint_source::write_file(path, text.as_bytes())
            .map_err(|error| UsageError::new(format!("cannot write {}: {error}", path.display())))?;
    }
    let result = match args.format {
        ResultFormat::Text => report::proof_text(model, &proof, &session.sources),
        ResultFormat::Json => pretty(&report::proof_json(model, &proof, &session.sources)),
    };
    let (_, diagnostics) = report::judge_proof(model, &proof, &session.sources);
    Ok(Outcome { result: Some(result), diagnostics })
}

/// The model and its instances, or what is wrong with the file.
type Loaded = Result<(Model, Vec<Instance>), Vec<Diagnostic>>;

fn loaded(session: &Session, path: &Path) -> Result<Loaded, UsageError> {
    session.read(path)?;
    let loaded = load_model(session.files, &session.sources, path);
    Ok(match loaded.model {
        Some(model) => Ok((model, loaded.instances)),
        None => Err(loaded.diagnostics),
    })
}

fn chosen<'a>(instances: &'a [Instance], name: Option<&str>) -> Result<&'a Instance, UsageError> {
    let names: Vec<&str> = instances.iter().map(|instance| instance.name.as_str()).collect();
    match (name, instances) {
        (_, []) => Err(UsageError::new("this rule file has no `instance` to simulate")),
        (None, [only]) => Ok(only),
        (None, _) => Err(UsageError::new(format!(
            "this rule file has several instances; choose one with --instance: {}",
            names.join(", ")
        ))),
        (Some(name), _) => instances.iter().find(|instance| instance.name == name).ok_or_else(|| {
            UsageError::new(format!("there is no instance `{name}`; there are {}", names.join(", ")))
        }),
    }
}

fn check_instance(
    path: &Path,
    kind: &'static str,
    model: &Model,
    instance: &Instance,
    facts: &Facts,
    sources: &Sources,
) -> InputReport {
    let mut report = InputReport::new(path.display().to_string(), kind);
    report.node = Some(instance.name.clone());
    let (answer, findings) = match Ground::new(model, instance) {
        Ok(ground) => report::judge_outcome(&ground, &check(&ground, facts, Limits::default()), sources),
        Err(limit) => {
            let finding = limit.finding(instance.span);
            (Judgement::unknown(Reason::of(Gap::Limit, &finding)), vec![finding])
        }
    };
    let mut coverage = Coverage::new(NOUNS);
    let objects = instance.objects.len();
    let is_modelled = !findings.iter().any(|finding| finding.rule == Rule::MalformedInstance);
    coverage.resources = Reached::new(if is_modelled { objects } else { 0 }, objects);
    report.coverage = Some(coverage);
    report.findings = findings;
    report.conclude(reaches_final(answer));
    report
}

fn reaches_final(answer: Judgement) -> Verdict {
    Verdict::of(Question::ReachesFinal, answer)
}
