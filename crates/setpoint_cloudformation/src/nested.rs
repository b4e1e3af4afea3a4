//! A template together with those of its nested stacks, as far as they lie beside it.

use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;
use setpoint_source::{
    Diagnostic, FileId, FileSystem, Judgement, Rule, Severity, Sources, Symbol, Witness, normal, read_text,
};

use crate::artifacts::Artifact;
use crate::omission::{Omission, Omitted};
use crate::template::{Resource, Template};
use crate::value::{Piece, Value, ValueKind};
use crate::{Analysis, analyse};

/// More templates of nested stacks are not read.
const MAX_TEMPLATES: usize = 1000;

/// A template that was checked, and where it lies.
#[derive(Debug)]
pub struct Checked {
    pub path: PathBuf,
    pub analysis: Analysis,
    /// The places of its nested stacks among the templates that were checked, and the resources that name them.
    nested: Vec<(usize, Symbol)>,
}

/// Analyses a template, then those of its nested stacks that can be read from here. Each gets an answer of its own, and
/// that of a template is proved only if those of all its nested stacks are.
pub fn check(files: &dyn FileSystem, sources: &Sources, path: &Path, file: FileId) -> Vec<Checked> {
    let mut places = FxHashMap::from_iter([(normal(path), 0)]);
    let mut all =
        vec![Checked { path: path.to_owned(), analysis: analyse(file, sources), nested: Vec::new() }];
    let mut at = 0;
    while at < all.len() {
        find_artifacts(files, &mut all[at]);
        for (name, wanted) in nested_of(&all[at].analysis.template) {
            let folder = all[at].path.parent().unwrap_or(Path::new(""));
            let Some(path) = wanted.map(|text| normal(&folder.join(text))) else {
                omit(&mut all[at].analysis, name, Omitted::NestedElsewhere(name));
                continue;
            };
            let known = places.get(&path).copied();
            let index = match known.map_or_else(|| read_text(files, &path).map(Err), |known| Ok(Ok(known))) {
                Ok(Ok(known)) => known,
                Ok(Err(_)) if all.len() >= MAX_TEMPLATES => {
                    omit(&mut all[at].analysis, name, Omitted::NestedLimit(MAX_TEMPLATES));
                    continue;
                }
                Ok(Err(text)) => {
                    let file = sources.add(path.display().to_string(), text);
                    places.insert(path.clone(), all.len());
                    all.push(Checked { path, analysis: analyse(file, sources), nested: Vec::new() });
                    all.len() - 1
                }
                Err(error) => {
                    let path = path.display().to_string();
                    let what = Omitted::NestedUnreadable { stack: name, path, reason: error.reason };
                    omit(&mut all[at].analysis, name, what);
                    continue;
                }
            };
            all[at].nested.push((index, name));
        }
        at += 1;
    }
    for at in 0..all.len() {
        for (index, name) in all[at].nested.clone() {
            let mut found = Vec::new();
            let inner = &all[index].analysis.template;
            // What was not read of the nested template may define the name.
            if let Some(resource) = all[at].analysis.template.resources.get(&name)
                && !inner.is_opaque()
            {
                compare(&all[at].analysis.template, resource, inner, &mut found);
            }
            let analysis = &mut all[at].analysis;
            for finding in &found {
                refute(&mut analysis.reaches_final, finding);
            }
            analysis.findings.append(&mut found);
        }
    }
    join_answers(&mut all);
    all
}

/// The nested stacks of a template, each with the local path of its template, if it has one.
fn nested_of(template: &Template) -> Vec<(Symbol, Option<String>)> {
    let stacks = template.resources.values().filter(|one| &*one.kind == "AWS::CloudFormation::Stack");
    stacks
        .map(|resource| {
            let named = ["TemplateURL", "Location"].iter().find_map(|name| resource.property(&[name]));
            // Addresses of other places are not fetched, and expressions are not evaluated; the CDK says which file is meant.
            let local = named
                .and_then(Value::text)
                .filter(|url| !url.contains("://") && !url.is_empty())
                .or_else(|| resource.asset("TemplateURL"));
            (resource.name, local.map(str::to_owned))
        })
        .collect()
}

/// Records what of a nested stack is not known.
fn omit(analysis: &mut Analysis, stack: Symbol, what: Omitted) {
    let Some(resource) = analysis.template.resources.get(&stack) else { return };
    let omission = Omission::new(what, resource.properties.range);
    add_omission(analysis, omission);
    analysis.coverage.sources.add(false, false);
}

fn add_omission(analysis: &mut Analysis, omission: Omission) {
    let file = analysis.template.file;
    doubt(&mut analysis.reaches_final, &omission, file);
    analysis.findings.extend(omission.finding(file));
    analysis.template.omissions.push(omission);
    let coverage = crate::coverage(&analysis.template);
    analysis.coverage.resources = coverage.resources;
    analysis.coverage.assumptions = coverage.assumptions;
}

/// Records the files that are deployed with a stack and are not beside its template.
fn find_artifacts(files: &dyn FileSystem, checked: &mut Checked) {
    let folder = checked.path.parent().unwrap_or(Path::new(""));
    let is_missing = |artifact: &&Artifact| {
        let path = normal(&folder.join(&artifact.path));
        // The folder of the template is there, under whichever name.
        !path.as_os_str().is_empty() && !files.is_file(&path) && !files.is_dir(&path)
    };
    let missing: Vec<Artifact> =
        checked.analysis.template.artifacts.iter().filter(is_missing).cloned().collect();
    for Artifact { resource, path, range } in missing {
        add_omission(&mut checked.analysis, Omission::new(Omitted::Artifact(resource, path), range));
    }
}

fn doubt(answer: &mut Judgement, omission: &Omission, file: FileId) {
    *answer = answer.clone().doubt(omission.reason(file));
}

fn refute(answer: &mut Judgement, finding: &Diagnostic) {
    *answer = answer.clone().and(Judgement::refuted(Witness::of(finding)));
}

/// Joins the answers of nested stacks with that of the template that names them, the innermost first.
fn join_answers(all: &mut [Checked]) {
    let own: Vec<Judgement> = all.iter().map(|one| one.analysis.reaches_final.clone()).collect();
    let coverages: Vec<_> = all.iter().map(|one| one.analysis.coverage.clone()).collect();
    for at in 0..all.len() {
        // Each template below counts once, however often it is named.
        let mut seen = vec![at];
        let mut work = vec![at];
        while let Some(outer) = work.pop() {
            for (index, name) in all[outer].nested.clone() {
                if index == at {
                    let Some(resource) = all[outer].analysis.template.resources.get(&name) else { continue };
                    let omission = Omission::new(Omitted::NestedInItself(name), resource.name_range);
                    let file = all[outer].analysis.template.file;
                    let analysis = &mut all[at].analysis;
                    doubt(&mut analysis.reaches_final, &omission, file);
                    analysis.findings.extend(omission.finding(file));
                } else if !seen.contains(&index) {
                    seen.push(index);
                    work.push(index);
                    let analysis = &mut all[at].analysis;
                    analysis.reaches_final = analysis.reaches_final.clone().and(own[index].clone());
                    analysis.coverage.join(&coverages[index]);
                }
            }
        }
    }
}

/// Parameters and outputs of a nested stack beside those of its template.
fn compare(outer: &Template, resource: &Resource, inner: &Template, out: &mut Vec<Diagnostic>) {
    let finding = |message: String, range| {
        Diagnostic::new(Rule::NestedStack, message)
            .severity(Severity::Error)
            .at(outer.span(range))
            .with_resources([resource.name.to_string()])
    };
    let given = resource.property(&["Parameters"]).map(Value::fields).unwrap_or_default();
    for field in given {
        if !inner.parameters.contains_key(&field.name) {
            let message = format!("the nested stack `{}` has no parameter `{}`", resource.name, field.name);
            out.push(finding(message, field.range).with_help("Remove it, or mend its name."));
        }
    }
    for (name, parameter) in &inner.parameters {
        if parameter.default.is_none() && !given.iter().any(|field| field.name == *name) {
            let message = format!(
                "the nested stack `{}` needs the parameter `{name}`, which is not given",
                resource.name
            );
            out.push(
                finding(message, resource.name_range).with_help(format!("Give `{name}` under `Parameters`.")),
            );
        }
    }
    let outputs: Vec<Symbol> = inner.outputs.fields().iter().map(|field| field.name).collect();
    let mut asked: Vec<(Symbol, setpoint_source::Range)> = Vec::new();
    let mut look = |value: &Value| match &value.kind {
        ValueKind::GetAtt { resource: from, attribute: Some(attribute), .. } if *from == resource.name => {
            asked.extend(attribute.strip_prefix("Outputs.").map(|name| (Symbol::new(name), value.range)));
        }
        ValueKind::Sub { pieces, .. } => {
            for piece in pieces {
                if let Piece::GetAtt { resource: from, attribute } = piece
                    && *from == resource.name
                {
                    asked.extend(
                        attribute.strip_prefix("Outputs.").map(|name| (Symbol::new(name), value.range)),
                    );
                }
            }
        }
        _ => {}
    };
    outer.outputs.each(&mut look);
    for other in outer.resources.values() {
        other.properties.each(&mut look);
    }
    for (name, range) in asked {
        if !outputs.contains(&name) {
            let message = format!("the nested stack `{}` has no output `{name}`", resource.name);
            out.push(
                finding(message, range).with_help("Add the output to the nested template, or mend its name."),
            );
        }
    }
}
