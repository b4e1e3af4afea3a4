//! A template together with those of its nested stacks, as far as they lie beside it.

use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;
use setpoint_source::{
    Diagnostic, FileId, FileSystem, Judgement, Limit, Range, Rule, Severity, Sources, Symbol, few, normal,
    read_text,
};

use crate::artifacts::Artifact;
use crate::conditions::Logic;
use crate::naming;
use crate::omission::{Omission, Omitted};
use crate::parameters::{Given, Known};
use crate::template::{Resource, Template};
use crate::text::{Part, Text};
use crate::value::{Guard, Piece, Value, ValueKind};
use crate::{Analysis, analyse_with};

/// More templates of nested stacks are not read.
const MAX_TEMPLATES: Limit = Limit::new(1000);

/// A template that was checked, and where it lies.
#[derive(Debug)]
pub struct Checked {
    pub path: PathBuf,
    pub analysis: Analysis,
    nested: Vec<Nested>,
}

/// A nested stack of a template.
#[derive(Debug, Clone, Copy)]
struct Nested {
    /// The place of its template among the templates that were checked.
    place: usize,
    /// The resource that names it.
    stack: Symbol,
    /// Whether that the address serves this template is an assumption.
    is_likely: bool,
}

impl Checked {
    /// The places of its nested stacks among the templates of its input.
    pub(crate) fn nested_places(&self) -> impl Iterator<Item = usize> {
        self.nested.iter().map(|nested| nested.place)
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
    /// A local file; a likely one is there, and its path is what an address ends with.
    File {
        path: PathBuf,
        is_likely: bool,
    },
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
    // The same template with the same values is one.
    let mut places: FxHashMap<(PathBuf, Known), usize> = FxHashMap::default();
    // The template that named each first: a template inside itself is the one around it.
    let mut outer: Vec<Option<usize>> = vec![None];
    let analysis = analyse_with(file, sources, &options.given);
    let mut all = vec![Checked { path: path.to_owned(), analysis, nested: Vec::new() }];
    let mut at = 0;
    while at < all.len() {
        find_artifacts(files, &mut all[at]);
        for (name, location) in nested_of(files, &all[at], options) {
            let template = &all[at].analysis.template;
            let given = template.resources.get(&name).map(|stack| Given::of_stack(template, stack));
            let given = given.unwrap_or_default();
            let is_likely = matches!(location, Location::File { is_likely: true, .. });
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
                Location::File { path, .. } => {
                    if is_likely {
                        assume_uploaded(&mut all[at].analysis, name, &path);
                    }
                    let around = std::iter::successors(Some(at), |index| outer[*index])
                        .find(|index| normal(&all[*index].path) == path);
                    let known = places.get(&(path.clone(), given.known())).copied();
                    if let Some(known) = around.or(known) {
                        all[at].nested.push(Nested { place: known, stack: name, is_likely });
                        continue;
                    }
                    let text = read_text(files, &path);
                    (path, text)
                }
            };
            match text {
                Ok(_) if all.len() >= MAX_TEMPLATES => {
                    omit(&mut all[at].analysis, name, Omitted::NestedLimit(MAX_TEMPLATES.get()));
                }
                Ok(text) => {
                    let known = all.iter().find(|one| one.path == path);
                    let file = known.map(|one| one.analysis.template.file);
                    let file = file.unwrap_or_else(|| sources.add(path.display().to_string(), text));
                    places.insert((path.clone(), given.known()), all.len());
                    let index = all.len();
                    all[at].nested.push(Nested { place: index, stack: name, is_likely });
                    let analysis = analyse_with(file, sources, &given);
                    outer.push(Some(at));
                    all.push(Checked { path, analysis, nested: Vec::new() });
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
        tell_elsewhere(&mut all[at].analysis);
        for Nested { place: index, stack: name, is_likely } in all[at].nested.clone() {
            let (mut found, mut open) = (Vec::new(), Vec::new());
            let inner = &all[index].analysis.template;
            // What was not read of the nested template may define the name.
            if let Some(resource) = all[at].analysis.template.resources.get(&name)
                && !inner.is_opaque()
            {
                let outer = &all[at].analysis.template;
                compare(outer, resource, inner, &mut found);
                compare_outputs(outer, resource, inner, &mut found, &mut open);
            }
            for finding in found {
                if is_likely {
                    all[at].analysis.suspect(finding);
                } else {
                    all[at].analysis.refute(finding);
                }
            }
            for omission in open {
                add_omission(&mut all[at].analysis, omission);
            }
        }
        all[at].analysis.conclude();
    }
    let claims = claimed_names(&all);
    let (taken, open) = (taken_names(&all, &claims), open_names(&all, &claims));
    for finding in taken {
        all[0].analysis.refute(finding);
        all[0].analysis.conclude();
    }
    for (at, omission) in open {
        add_omission(&mut all[at].analysis, omission);
        all[at].analysis.conclude();
    }
    all
}

/// A name that a resource of one of the stacks always has.
#[derive(Debug)]
pub(crate) struct Claim {
    /// The place of its template among all.
    pub(crate) at: usize,
    /// Whether its template is made twice with the same values.
    is_twice: bool,
    resource: Symbol,
    pub(crate) kind: Symbol,
    property: &'static str,
    pub(crate) text: Text,
    pub(crate) range: Range,
}

/// Returns the names of the resources that always exist in the stacks of a system.
pub(crate) fn claimed_names(all: &[Checked]) -> Vec<Claim> {
    // How often each template is made, as far as no condition decides it; more than twice is as much as twice.
    let mut made = vec![0_usize; all.len()];
    made[0] = 1;
    let mut work = vec![0];
    while let Some(at) = work.pop() {
        let template = &all[at].analysis.template;
        for Nested { place: index, stack: name, .. } in &all[at].nested {
            let is_always = template.resources.get(name).is_some_and(|stack| {
                stack.condition.is_none() && &*stack.kind == "AWS::CloudFormation::Stack"
            });
            if is_always && *index != 0 && made[*index] < 2 {
                made[*index] += 1;
                work.push(*index);
            }
        }
    }
    let mut out = Vec::new();
    for (at, one) in all.iter().enumerate().filter(|(at, _)| made[*at] > 0) {
        let template = &one.analysis.template;
        for resource in template.resources.values().filter(|resource| resource.condition.is_none()) {
            let Some(kind) = naming::of(resource).filter(|kind| kind.scope.is_none()) else { continue };
            let names = kind.names(resource, template);
            let (Some(value), [name]) = (kind.name_of(resource), names.as_slice()) else { continue };
            if name.guard.is_empty() {
                out.push(Claim {
                    at,
                    is_twice: made[at] > 1,
                    resource: resource.name,
                    kind: resource.kind,
                    property: kind.name_property,
                    text: name.text.clone(),
                    range: value.range,
                });
            }
        }
    }
    out
}

/// Finds resources of two stacks of one system that always have the same name.
fn taken_names(all: &[Checked], claims: &[Claim]) -> Vec<Diagnostic> {
    let mut seen: FxHashMap<(Symbol, &str), &Claim> = FxHashMap::default();
    let mut out = Vec::new();
    for claim in claims {
        let Some(text) = claim.text.plain() else { continue };
        let first = *seen.entry((claim.kind, text)).or_insert(claim);
        let is_itself = std::ptr::eq(first, claim);
        // Two of one template are told where it is checked.
        if (is_itself && !claim.is_twice) || (!is_itself && first.at == claim.at) {
            continue;
        }
        let template = &all[claim.at].analysis.template;
        let Claim { resource, property, .. } = claim;
        let message = format!(
            "`{}` of one stack and `{resource}` of another have the same name, and only one can have it",
            first.resource
        );
        let mut finding = Diagnostic::new(Rule::NameTaken, message)
            .severity(Severity::Error)
            .at(template.span(claim.range))
            .labelled(format!("this {property} is taken"))
            .with_help(format!(
                "Give the stacks a parameter that makes `{property}` differ, or remove it: then CloudFormation makes up a name."
            ))
            .with_resources([resource.to_string()]);
        let other = &all[first.at].analysis.template;
        if other.file != template.file {
            finding = finding.with_label(other.span(first.range), format!("`{}` has it", first.resource));
        }
        out.push(finding);
    }
    out
}

/// Of more pairs of names in two stacks, it is assumed at once that they differ.
const MAX_PAIRS: usize = 20_000;

/// Finds names that parameters may make the same in two stacks: that they differ is assumed.
fn open_names(all: &[Checked], claims: &[Claim]) -> Vec<(usize, Omission)> {
    let is_open = |claim: &&Claim| {
        let parameters = &all[claim.at].analysis.template.parameters;
        let is_known = |part: &Part| match part {
            Part::Text(_) => true,
            Part::Ref(name) => parameters.contains_key(name),
            Part::Other(_) => false,
        };
        claim.text.plain().is_none() && claim.text.0.iter().all(is_known)
    };
    let mut pairs = 0;
    let mut may_be_same = |one: &Claim, other: &Claim| {
        pairs += 1;
        let is_pair =
            (one.at != other.at && one.kind == other.kind) || (std::ptr::eq(one, other) && one.is_twice);
        pairs > MAX_PAIRS || (is_pair && !one.text.always_differs(&other.text))
    };
    let mut out = Vec::new();
    for claim in claims.iter().filter(is_open) {
        if claims.iter().any(|other| may_be_same(claim, other)) {
            let words = format!("`{}` gets another name than resources of other stacks", claim.resource);
            out.push((claim.at, Omission::new(Omitted::Assumption(words), claim.range)));
        }
    }
    out
}

/// The nested stacks and stack sets of a template, each with the place of its template.
fn nested_of(files: &dyn FileSystem, checked: &Checked, options: &Options) -> Vec<(Symbol, Location)> {
    let template = &checked.analysis.template;
    let folder = checked.path.parent().unwrap_or(Path::new(""));
    let stacks = template.resources.values().filter(|one| {
        matches!(one.kind.as_str(), "AWS::CloudFormation::Stack" | "AWS::CloudFormation::StackSet")
    });
    let local = |path: PathBuf| Location::File { path, is_likely: false };
    let locate = |resource: &Resource| {
        if let Some(body) = resource.property(&["TemplateBody"]) {
            return body.text().map_or(Location::Elsewhere, |text| Location::Inline(text.to_owned()));
        }
        // The CDK says which file is meant.
        if let Some(asset) = resource.asset("TemplateURL") {
            return local(normal(&folder.join(asset)));
        }
        let named = ["TemplateURL", "Location"].iter().find_map(|name| resource.property(&[name]));
        let Some(named) = named else {
            // What a transform puts in may name one.
            let is_open = template.has_macro() || resource.made_from.is_some();
            return if is_open { Location::Elsewhere } else { Location::Nowhere };
        };
        let text = Text::of(named, template);
        match (text.plain(), &options.template_root) {
            (Some(path), _) if !path.contains("://") && !path.is_empty() => local(normal(&folder.join(path))),
            (_, Some(root)) => {
                key_of(&text).map_or(Location::Elsewhere, |key| local(normal(&root.join(key))))
            }
            (_, None) => key_of(&text)
                .and_then(|key| likely_places(&key, folder).find(|path| files.is_file(path)))
                .map_or(Location::Elsewhere, |path| Location::File { path, is_likely: true }),
        }
    };
    stacks.map(|resource| (resource.name, locate(resource))).collect()
}

/// Returns the path at which a template lies below the folder that was uploaded: the key of its address, without the bucket. If
/// only the end of the address is known, that is taken for the key.
fn key_of(address: &Text) -> Option<String> {
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
    (!key.is_empty() && !key.split('/').any(|part| part == "..")).then(|| key.to_owned())
}

/// Returns where the file of a key may lie if the folder that was uploaded is not named: below a folder around the template, at
/// the whole key or at the end of it. The longest end counts first, then the nearest folder.
fn likely_places(key: &str, folder: &Path) -> impl Iterator<Item = PathBuf> {
    const MOST_PARTS: usize = 8;
    let parts: Vec<&str> = key.split('/').filter(|part| !part.is_empty()).collect();
    let starts = parts.len().saturating_sub(MOST_PARTS)..parts.len();
    let ends = starts.map(move |start| parts[start..].join("/"));
    ends.flat_map(|end| folder.ancestors().take(MOST_PARTS).map(move |around| normal(&around.join(&end))))
}

/// Records that the address of a nested stack serves a local file.
fn assume_uploaded(analysis: &mut Analysis, stack: Symbol, path: &Path) {
    let Some(resource) = analysis.template.resources.get(&stack) else { return };
    let words = format!("the address of the nested stack `{stack}` serves `{}`", path.display());
    let omission = Omission::new(Omitted::Assumption(words), resource.properties.range);
    add_omission(analysis, omission);
}

fn omit_elsewhere(analysis: &mut Analysis, name: Symbol) {
    let kind = analysis.template.resources.get(&name).map(|resource| resource.kind);
    let what = match kind.as_deref() {
        Some("AWS::CloudFormation::StackSet") => Omitted::StackSet(name),
        _ => Omitted::NestedElsewhere(name),
    };
    omit(analysis, name, what);
}

/// Adds one finding for all nested stacks whose templates are not among the local files.
fn tell_elsewhere(analysis: &mut Analysis) {
    let is_elsewhere =
        |one: &&Omission| matches!(one.what, Omitted::NestedElsewhere(_) | Omitted::StackSet(_));
    let found: Vec<&Omission> = analysis.template.omissions.iter().filter(is_elsewhere).collect();
    let Some((first, rest)) = found.split_first() else { return };
    let names: Vec<Symbol> = found.iter().filter_map(|one| one.resource()).collect();
    let mut finding = Diagnostic::new(Rule::NotModelled, first.words());
    if !rest.is_empty() {
        let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        let quoted: Vec<&str> = quoted.iter().map(String::as_str).collect();
        finding.message = format!(
            "the templates of the nested stacks {} were not read: they are not among the local files",
            few(&quoted, 3)
        );
    }
    finding.helps.extend(first.help().map(str::to_owned));
    let finding =
        finding.at(analysis.template.span(first.range)).with_resources(names.iter().map(ToString::to_string));
    analysis.findings.push(finding);
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
            for Nested { place: index, stack: name, .. } in all[outer].nested.clone() {
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
    let parameters = resource.property(&["Parameters"]);
    // What is chosen as a whole may give any of them.
    if parameters.is_some_and(|one| !matches!(one.kind, ValueKind::Map(_) | ValueKind::Null)) {
        return;
    }
    let given = parameters.map(Value::fields).unwrap_or_default();
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
}

/// An output of a nested stack that its outer template asks for.
struct Asked {
    name: Symbol,
    range: Range,
    /// Whether no condition of the outer template takes the question away.
    is_always: bool,
}

/// Returns the outputs of a nested stack that its outer template asks for.
fn asked_outputs(outer: &Template, stack: Symbol) -> Vec<Asked> {
    let mut asked = Vec::new();
    let mut look = |value: &Value, is_always: bool| {
        let mut ask = |from: Symbol, attribute: &str| {
            if let Some(name) = attribute.strip_prefix("Outputs.").filter(|_| from == stack) {
                asked.push(Asked { name: Symbol::new(name), range: value.range, is_always });
            }
        };
        match &value.kind {
            ValueKind::GetAtt { resource, attribute: Some(attribute), .. } => ask(*resource, attribute),
            ValueKind::Sub { pieces, .. } => {
                for piece in pieces {
                    if let Piece::GetAtt { resource, attribute } = piece {
                        ask(*resource, attribute);
                    }
                }
            }
            _ => {}
        }
    };
    for output in outer.outputs.fields() {
        let is_always = output.value.get("Condition").is_none();
        output.value.walk(&mut Guard::new(), &mut |value, guard| look(value, is_always && guard.is_empty()));
    }
    for other in outer.resources.values() {
        let is_always = other.condition.is_none();
        other
            .properties
            .walk(&mut Guard::new(), &mut |value, guard| look(value, is_always && guard.is_empty()));
    }
    asked
}

/// The outputs that a template asks of its nested stack beside those that the stack has under the values that it gets.
fn compare_outputs(
    outer: &Template,
    stack: &Resource,
    inner: &Template,
    out: &mut Vec<Diagnostic>,
    open: &mut Vec<Omission>,
) {
    let asked = asked_outputs(outer, stack.name);
    if asked.is_empty() || &*stack.kind == "AWS::CloudFormation::StackSet" {
        return;
    }
    let logic = Logic::new(inner);
    let outputs: FxHashMap<Symbol, &Value> =
        inner.outputs.fields().iter().map(|field| (field.name, &field.value)).collect();
    for Asked { name, range, is_always } in asked {
        let finding = |message: String, help: &str| {
            Diagnostic::new(Rule::NestedStack, message)
                .severity(Severity::Error)
                .at(outer.span(range))
                .with_help(help)
                .with_resources([stack.name.to_string()])
        };
        let Some(output) = outputs.get(&name) else {
            let message = format!("the nested stack `{}` has no output `{name}`", stack.name);
            out.push(finding(message, "Add the output to the nested template, or mend its name."));
            continue;
        };
        let Some(condition) = output.get("Condition").and_then(Value::text).map(Symbol::new) else {
            continue;
        };
        let is_possible = |holds| logic.satisfiable(&[logic.guard(&vec![(condition, holds)])]).is_some();
        if !is_possible(true) && is_always {
            let message = format!(
                "the nested stack `{}` has no output `{name}` with these parameters: its condition `{condition}` is false",
                stack.name
            );
            let place = inner.span(output.range);
            let help = "Ask for it under a condition, or give the stack other parameters.";
            out.push(finding(message, help).with_label(place, "the output"));
        } else if is_possible(false) {
            let words = format!(
                "the nested stack `{}` has the output `{name}`, which it makes only if `{condition}`",
                stack.name
            );
            open.push(Omission::new(Omitted::Assumption(words), range));
        }
    }
}
