//! Nested stacks whose templates lie beside the template.

use std::path::{Path, PathBuf};

use setpoint_source::{Diagnostic, FileSystem, Rule, Sources, Symbol, normal, read_text};

use crate::Analysis;
use crate::template::{Resource, Template};
use crate::value::{Piece, Value, ValueKind};

/// The templates of nested stacks that can be read from here. What does not fit them is added to the findings.
pub fn nested_stacks(
    files: &dyn FileSystem,
    sources: &Sources,
    path: &Path,
    analysis: &mut Analysis,
) -> Vec<PathBuf> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut out = Vec::new();
    let mut found = Vec::new();
    for resource in analysis.template.resources.values() {
        let kind = resource.kind.as_str();
        let property = match kind {
            "AWS::CloudFormation::Stack" if resource.made_from.is_none() => ["TemplateURL", "Location"],
            _ => continue,
        };
        let url = property.iter().find_map(|name| resource.property(&[name])).and_then(Value::text);
        // Addresses of other places are not fetched.
        let Some(url) = url.filter(|url| !url.contains("://")) else { continue };
        let nested = normal(&folder.join(url));
        match read_text(files, &nested) {
            Err(error) => found.push(
                Diagnostic::new(
                    Rule::NestedStack,
                    format!(
                        "the template of the nested stack `{}` cannot be read: {}",
                        resource.name, error.reason
                    ),
                )
                .at(analysis.template.span(resource.properties.range))
                .with_note(format!("It was looked for at {}.", nested.display()))
                .with_resources([resource.name.to_string()]),
            ),
            Ok(text) => {
                let file = sources.add(nested.display().to_string(), text.as_str());
                if let Some(root) = setpoint_data::read(file, &text).root {
                    let inner = Template::read(file, text.into(), &root);
                    compare(&analysis.template, resource, &inner, &mut found);
                }
                out.push(nested);
            }
        }
    }
    analysis.findings.append(&mut found);
    out
}

/// Parameters and outputs of a nested stack beside those of its template.
fn compare(outer: &Template, resource: &Resource, inner: &Template, out: &mut Vec<Diagnostic>) {
    let finding = |message: String, range| {
        Diagnostic::new(Rule::NestedStack, message)
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
