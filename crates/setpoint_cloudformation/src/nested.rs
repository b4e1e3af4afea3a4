//! A template together with those of its nested stacks, as far as they lie beside it.

use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;
use setpoint_source::{
    Diagnostic, FileId, FileSystem, Judgement, Rule, Severity, Sources, Symbol, normal, read_text,
};

use crate::artifacts::Artifact;
use crate::omission::{Omission, Omitted};
use crate::parameters::Given;
use crate::template::{Resource, Template};
use crate::text::Text;
use crate::value::{Piece, Value, ValueKind};
use crate::{Analysis, analyse, analyse_with};

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

impl Checked {
    /// The places of its nested stacks among the templates of its input.
    pub(crate) fn nested_places(&self) -> impl Iterator<Item = usize> {
        self.nested.iter().map(|(index, _)| *index)
    }
}

/// What a user says beside a template.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Values of the parameters.
    pub given: Given,
    /// The folder that is uploaded: the templates that addresses in a bucket name lie in it.
    pub template_root: Option<PathBuf>,
}

/// Where the template of a nested stack is.
enum Location {
    /// The first of these paths at which there is a file.
    Paths(Vec<PathBuf>),
    Inline(String),
    Elsewhere,
    /// The stack names none.
    Nowhere,
}

/// Analyses a template, then those of its nested stacks that can be read from here. Each gets an answer of its own, and
/// that of a template is proved only if those of all its nested stacks are.
pub fn check(
    files: &dyn FileSystem,
    sources: &Sources,
    path: &Path,
    file: FileId,
    options: &Options,
) -> Vec<Checked> {
    let mut all = read_all(files, sources, path, file, options);
    join_answers(&mut all);
    all
}

/// Reads and analyses a template and its nested ones; their answers are not joined yet.
pub(crate) fn read_all(
    files: &dyn FileSystem,
    sources: &Sources,
    path: &Path,
    file: FileId,
    options: &Options,
) -> Vec<Checked> {
    let mut places = FxHashMap::from_iter([(normal(path), 0)]);
    let analysis = analyse_with(file, sources, &options.given);
    let mut all = vec![Checked { path: path.to_owned(), analysis, nested: Vec::new() }];
    let mut at = 0;
    while at < all.len() {
        find_artifacts(files, &mut all[at]);
        for (name, location) in nested_of(&all[at], options) {
            let (path, text) = match location {
                Location::Elsewhere => {
                    omit_elsewhere(&mut all[at].analysis, name);
                    continue;
                }
                Location::Nowhere => {
                    let what = Omitted::MissingProperty(name, Symbol::new("TemplateURL"));
                    omit(&mut all[at].analysis, name, what);
                    continue;
                }
                Location::Inline(text) => (all[at].path.join(name.as_str()), Ok(text)),
                Location::Paths(paths) => {
                    let found = paths.iter().find(|path| places.contains_key(*path) || files.is_file(path));
                    let Some(path) = found.or(paths.first()).cloned() else { continue };
                    if let Some(&known) = places.get(&path) {
                        all[at].nested.push((known, name));
                        continue;
                    }
                    let text = read_text(files, &path);
                    (path, text)
                }
            };
            match text {
                Ok(_) if all.len() >= MAX_TEMPLATES => {
                    omit(&mut all[at].analysis, name, Omitted::NestedLimit(MAX_TEMPLATES));
                }
                Ok(text) => {
                    let file = sources.add(path.display().to_string(), text);
                    places.insert(path.clone(), all.len());
                    let index = all.len();
                    all[at].nested.push((index, name));
                    all.push(Checked { path, analysis: analyse(file, sources), nested: Vec::new() });
                }
                Err(error) => {
                    let path = path.display().to_string();
                    let what = Omitted::NestedUnreadable { stack: name, path, reason: error.reason };
                    omit(&mut all[at].analysis, name, what);
                }
            }
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
            for finding in found {
                all[at].analysis.refute(finding);
            }
        }
        all[at].analysis.conclude();
    }
    all
}

/// The nested stacks and stack sets of a template, each with the place of its template.
fn nested_of(checked: &Checked, options: &Options) -> Vec<(Symbol, Location)> {
    let template = &checked.analysis.template;
    let folder = checked.path.parent().unwrap_or(Path::new(""));
    let stacks = template.resources.values().filter(|one| {
        matches!(one.kind.as_str(), "AWS::CloudFormation::Stack" | "AWS::CloudFormation::StackSet")
    });
    let locate = |resource: &Resource| {
        if let Some(body) = resource.property(&["TemplateBody"]) {
            return body.text().map_or(Location::Elsewhere, |text| Location::Inline(text.to_owned()));
        }
        // The CDK says which file is meant.
        if let Some(asset) = resource.asset("TemplateURL") {
            return Location::Paths(vec![normal(&folder.join(asset))]);
        }
        let named = ["TemplateURL", "Location"].iter().find_map(|name| resource.property(&[name]));
        let Some(named) = named else {
            // What a transform puts in may name one.
            let is_open = template.has_macro() || resource.made_from.is_some();
            return if is_open { Location::Elsewhere } else { Location::Nowhere };
        };
        let text = Text::of(named, template);
        match (text.plain(), &options.template_root) {
            (Some(path), _) if !path.contains("://") && !path.is_empty() => {
                Location::Paths(vec![normal(&folder.join(path))])
            }
            (_, Some(root)) => uploaded(&text, root),
            _ => Location::Elsewhere,
        }
    };
    stacks.map(|resource| (resource.name, locate(resource))).collect()
}

/// Where a template that is uploaded to a bucket lies below a folder: at its key, with the bucket or without. If only the end
/// of the address is known, it is taken for the key.
fn uploaded(address: &Text, root: &Path) -> Location {
    let whole = address.with_gaps();
    let key = if let Some((_, rest)) = whole.rsplit_once('\0') {
        // What follows a parameter may begin in the middle of a name.
        rest.split_once(".com/").map_or(rest, |(_, key)| key).to_owned()
    } else {
        let rest = whole.split_once("://").map_or(whole.as_str(), |(_, rest)| rest);
        let (host, key) = rest.split_once('/').unwrap_or((rest, ""));
        // `https://s3.region.amazonaws.com/bucket/key` has the bucket in its path.
        let is_path_style = host.starts_with("s3.") || host.starts_with("s3-");
        let bare = if is_path_style { key.split_once('/').map_or("", |(_, key)| key) } else { key };
        bare.to_owned()
    };
    let key = key.split('?').next().unwrap_or_default().trim_start_matches('/');
    let is_below = !key.is_empty() && !key.split('/').any(|part| part == "..");
    if is_below { Location::Paths(vec![normal(&root.join(key))]) } else { Location::Elsewhere }
}

fn omit_elsewhere(analysis: &mut Analysis, name: Symbol) {
    let kind = analysis.template.resources.get(&name).map(|resource| resource.kind);
    let what = match kind.as_deref() {
        Some("AWS::CloudFormation::StackSet") => Omitted::StackSet(name),
        _ => Omitted::NestedElsewhere(name),
    };
    omit(analysis, name, what);
}

/// Records what of a nested stack is not known.
fn omit(analysis: &mut Analysis, stack: Symbol, what: Omitted) {
    let Some(resource) = analysis.template.resources.get(&stack) else { return };
    let omission = Omission::new(what, resource.properties.range);
    add_omission(analysis, omission);
    analysis.coverage.sources.add(false, false);
}

fn add_omission(analysis: &mut Analysis, omission: Omission) {
    analysis.findings.extend(omission.finding(analysis.template.file));
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

/// Joins the answers of nested stacks with that of the template that names them, the innermost first.
pub(crate) fn join_answers(all: &mut [Checked]) {
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
    // The parameters of a stack set are a list, and accounts may give others.
    if &*resource.kind == "AWS::CloudFormation::StackSet" {
        return;
    }
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
