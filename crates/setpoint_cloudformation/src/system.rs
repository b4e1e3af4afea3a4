//! Several templates as one system: what one stack exports and another imports.

use std::path::PathBuf;

use rustc_hash::FxHashMap;
use setpoint_source::{Diagnostic, FileId, FileSystem, Judgement, Range, Rule, Severity, Sources, Symbol};

use crate::conditions::Logic;
use crate::nested::{Checked, Options, claimed_names, join_answers, read_all};
use crate::omission::{Omission, Omitted};
use crate::template::Template;
use crate::text::Text;
use crate::update::exported;
use crate::value::{Guard, Value, ValueKind};

/// One template among several: which input it belongs to, and its place among the templates of that input.
type Place = (usize, usize);

/// An export, with its name as far as it is known.
struct Export {
    name: String,
    place: Place,
    range: Range,
    /// Whether neither the name nor the export itself depends on parameters.
    is_certain: bool,
}

/// An import that an export of another template answers.
struct Link {
    importer: Place,
    exporter: Place,
    name: String,
    range: Range,
    export_range: Range,
    /// Whether no parameter changes its name.
    is_name_certain: bool,
    /// Whether no condition takes it away.
    is_always: bool,
}

/// Checks several templates as one system. Each input has the answers of its template and of its nested ones; an import that
/// another input exports is answered by that input.
pub fn check_together(
    files: &dyn FileSystem,
    sources: &Sources,
    inputs: &[(PathBuf, FileId, Options)],
) -> Vec<Vec<Checked>> {
    let mut all: Vec<Vec<Checked>> =
        inputs.iter().map(|(path, file, options)| read_all(files, sources, path, *file, options)).collect();
    tell_unused_values(inputs, &mut all);
    let exports = find_exports(&all);
    tell_doubled_exports(&exports, &mut all);
    tell_shared_names(&mut all);
    let links = find_links(&exports, &all);
    for link in &links {
        // With another value of a parameter another stack exports it.
        if !link.is_name_certain {
            continue;
        }
        let (group, at) = link.importer;
        let analysis = &mut all[group][at].analysis;
        let is_answered =
            |omission: &Omission| matches!(omission.what, Omitted::Import(_)) && omission.range == link.range;
        analysis.template.omissions.retain(|omission| !is_answered(omission));
    }
    tell_circles(&links, &mut all);
    for group in &mut all {
        for one in group.iter_mut() {
            one.analysis.conclude();
        }
        join_answers(group);
    }
    join_exporters(&links, &mut all);
    all
}

/// Values in a file for all templates that none of them takes.
fn tell_unused_values(inputs: &[(PathBuf, FileId, Options)], all: &mut [Vec<Checked>]) {
    let Some((_, _, options)) = inputs.iter().find(|(.., options)| options.given.is_shared) else { return };
    let is_used =
        |name: Symbol| all.iter().flatten().any(|one| one.analysis.template.parameters.contains_key(&name));
    let findings = options.given.unused(&is_used);
    if let Some(first) = all.first_mut().and_then(|group| group.first_mut()) {
        for finding in findings {
            first.analysis.refute(finding);
        }
    }
}

/// The exports of all templates: their names as far as they are known, each with its place.
fn find_exports(all: &[Vec<Checked>]) -> Vec<Export> {
    let mut out = Vec::new();
    for (group, templates) in all.iter().enumerate() {
        for (at, one) in templates.iter().enumerate() {
            let template = &one.analysis.template;
            let logic = Logic::new(template);
            for (name, output) in exported(template) {
                let text = Text::of(name, template);
                let condition = output.get("Condition").and_then(Value::text).map(Symbol::new);
                let is_possible = |holds| match condition {
                    Some(condition) => logic.satisfiable(&[logic.guard(&vec![(condition, holds)])]).is_some(),
                    None => holds,
                };
                if !is_possible(true) {
                    continue;
                }
                let is_certain = is_certain(&text, template) && !is_possible(false);
                if let Some(name_text) = known_text(&text, template) {
                    out.push(Export { name: name_text, place: (group, at), range: name.range, is_certain });
                }
            }
        }
    }
    out
}

/// Whether a name is the same whatever the parameters are.
fn is_certain(text: &Text, template: &Template) -> bool {
    !text.names().any(|name| template.parameters.contains_key(&name))
}

/// The text of a name, with the defaults of parameters. What AWS gives to every stack of a region is the same for all.
fn known_text(text: &Text, template: &Template) -> Option<String> {
    let value_of = |name: Symbol| match name.as_str() {
        "AWS::Region" | "AWS::AccountId" | "AWS::Partition" | "AWS::URLSuffix" => {
            Some(format!("${{{name}}}"))
        }
        _ => template.parameters.get(&name).and_then(|one| one.default.as_deref()).map(str::to_owned),
    };
    text.with(&value_of).plain().map(str::to_owned)
}

fn tell_doubled_exports(exports: &[Export], all: &mut [Vec<Checked>]) {
    for (at, Export { name, place: (group, place), range, .. }) in exports.iter().enumerate() {
        let first = exports[..at].iter().find(|other| other.name == *name && other.place.0 != *group);
        let Some((other, inner)) = first.map(|export| &export.place) else { continue };
        let path = all[*other][*inner].path.display().to_string();
        let words = format!(
            "this stack and that of {path}, which both export `{name}`, are in two regions or accounts"
        );
        let omission = Omission::new(Omitted::Assumption(words), *range);
        all[*group][*place].analysis.template.omissions.push(omission);
    }
}

/// Resources of two inputs that always have the same name: one account and region cannot have both.
fn tell_shared_names(all: &mut [Vec<Checked>]) {
    let mut seen: FxHashMap<(Symbol, String), Place> = FxHashMap::default();
    let mut found = Vec::new();
    for (group, templates) in all.iter().enumerate() {
        for claim in claimed_names(templates) {
            let Some(text) = claim.text.plain() else { continue };
            let first = *seen.entry((claim.kind, text.to_owned())).or_insert((group, claim.at));
            // A nested stack that is given by itself, too, is one template.
            if first.0 == group || all[first.0][first.1].path == templates[claim.at].path {
                continue;
            }
            let path = all[first.0][first.1].path.display();
            // The names of buckets are one for all.
            let apart = if &*claim.kind == "AWS::S3::Bucket" {
                "are never there together"
            } else {
                "are in two regions or accounts"
            };
            let words =
                format!("this stack and that of {path}, which both name a resource `{text}`, {apart}");
            found.push(((group, claim.at), Omission::new(Omitted::Assumption(words), claim.range)));
        }
    }
    for ((group, at), omission) in found {
        all[group][at].analysis.template.omissions.push(omission);
    }
}

fn find_links(exports: &[Export], all: &[Vec<Checked>]) -> Vec<Link> {
    let mut links = Vec::new();
    for (group, templates) in all.iter().enumerate() {
        for (at, one) in templates.iter().enumerate() {
            for Import { name, range, is_always, is_name_certain } in imports(&one.analysis.template) {
                let found = exports.iter().find(|export| export.name == name && export.place != (group, at));
                if let Some(export) = found {
                    links.push(Link {
                        importer: (group, at),
                        exporter: export.place,
                        name,
                        range,
                        export_range: export.range,
                        is_name_certain: is_name_certain && export.is_certain,
                        is_always,
                    });
                }
            }
        }
    }
    links
}

/// An import whose name is known.
pub(crate) struct Import {
    pub(crate) name: String,
    pub(crate) range: Range,
    is_always: bool,
    is_name_certain: bool,
}

/// The imports of a template whose names are known.
pub(crate) fn imports(template: &Template) -> Vec<Import> {
    let mut out = Vec::new();
    for resource in template.resources.values() {
        for value in std::iter::once(&resource.properties).chain(&resource.others) {
            value.walk(&mut Guard::new(), &mut |value, guard| {
                if let ValueKind::Call { name, argument } = &value.kind
                    && &**name == "Fn::ImportValue"
                    && let text = Text::of(argument, template)
                    && let Some(name) = known_text(&text, template)
                {
                    let is_always = guard.is_empty() && resource.condition.is_none();
                    let is_name_certain = is_certain(&text, template);
                    out.push(Import { name, range: value.range, is_always, is_name_certain });
                }
            });
        }
    }
    out
}

/// Inputs that import from each other: none of their stacks can be created first.
fn tell_circles(links: &[Link], all: &mut [Vec<Checked>]) {
    let targets: Vec<Vec<usize>> = (0..all.len())
        .map(|group| {
            let own = links.iter().filter(|link| link.importer.0 == group && link.exporter.0 != group);
            // The export of a nested stack is there before the outer stack is complete.
            own.filter(|link| link.is_always && link.is_name_certain && link.exporter.1 == 0)
                .map(|link| link.exporter.0)
                .collect()
        })
        .collect();
    for circle in setpoint_diagram::components(targets.len(), |node, at| targets[node].get(at).copied()) {
        if circle.len() < 2 {
            continue;
        }
        for &group in &circle {
            let inside = |link: &&Link| {
                link.importer.0 == group && circle.contains(&link.exporter.0) && link.exporter.0 != group
            };
            let Some(link) = links.iter().find(inside) else { continue };
            let exporter = &all[link.exporter.0][link.exporter.1];
            let export_place = exporter.analysis.template.span(link.export_range);
            let path = exporter.path.display().to_string();
            let message = format!(
                "this stack imports `{}` from {path}, and stacks import from each other in a circle",
                link.name
            );
            let analysis = &mut all[group][link.importer.1].analysis;
            let finding = Diagnostic::new(Rule::DependencyCycle, message)
                .severity(Severity::Error)
                .at(analysis.template.span(link.range))
                .with_label(export_place, "exported here")
                .with_note("An export is there only when its stack is complete, so that none of them can be created first.")
                .with_help("Move one of the exported resources to the stack that imports it, or to a third one.");
            analysis.refute(finding);
        }
    }
}

/// The answer of a template that imports holds only if those that export come to their end.
fn join_exporters(links: &[Link], all: &mut [Vec<Checked>]) {
    let own: Vec<Vec<Judgement>> = all
        .iter()
        .map(|group| group.iter().map(|one| one.analysis.reaches_final.clone()).collect())
        .collect();
    for group in 0..all.len() {
        for at in 0..all[group].len() {
            // Everything that is imported, by however many stacks in between.
            let (mut seen, mut work) = (vec![(group, at)], vec![(group, at)]);
            while let Some(place) = work.pop() {
                let parts = links.iter().filter(|link| link.importer == place).map(|link| link.exporter);
                let inner = all[place.0][place.1].nested_places().map(|index| (place.0, index));
                for next in parts.chain(inner).collect::<Vec<_>>() {
                    if !seen.contains(&next) {
                        seen.push(next);
                        work.push(next);
                        let answer = own[next.0][next.1].clone();
                        let analysis = &mut all[group][at].analysis;
                        analysis.reaches_final = analysis.reaches_final.clone().and(answer);
                    }
                }
            }
        }
    }
}
