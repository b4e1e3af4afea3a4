//! Cloud assemblies: the folders that the CDK synthesises, with a manifest that names the templates of all stacks.

use std::path::{Path, PathBuf};

use setpoint_data::{Entry, Node};
use setpoint_source::{Diagnostic, FileId, FileSystem, Range, Rule, Severity, Sources, normal, read_text};

const MANIFEST: &str = "manifest.json";

/// Assemblies may lie in assemblies (stages); deeper ones are told as unread.
const MAX_DEPTH: usize = 16;

/// The stacks of an assembly, and what of it cannot be read.
#[derive(Debug, Default)]
pub struct Assembly {
    pub templates: Vec<PathBuf>,
    /// What is not read or not known.
    pub problems: Vec<Diagnostic>,
    /// Errors of constructs: the CDK does not deploy.
    pub errors: Vec<Diagnostic>,
    pub warnings: Vec<Diagnostic>,
}

/// Whether a folder has a manifest of the CDK.
pub fn is_assembly(files: &dyn FileSystem, folder: &Path) -> bool {
    read_text(files, &folder.join(MANIFEST)).is_ok_and(|text| text.contains("\"artifacts\""))
}

/// Finds the templates of the stacks of an assembly and of those inside it, in the order of the manifest.
pub fn assembly(files: &dyn FileSystem, sources: &Sources, folder: &Path) -> Assembly {
    let mut out = Assembly::default();
    read_manifest(files, sources, folder, MAX_DEPTH, &mut out);
    if out.templates.is_empty() && out.problems.is_empty() {
        let message = format!("{} names no stack", folder.join(MANIFEST).display());
        out.problems.push(Diagnostic::new(Rule::NothingChecked, message));
    }
    out
}

fn read_manifest(files: &dyn FileSystem, sources: &Sources, folder: &Path, depth: usize, out: &mut Assembly) {
    let path = folder.join(MANIFEST);
    let text = match read_text(files, &path) {
        Ok(text) => text,
        Err(error) => {
            let finding = Diagnostic::new(Rule::UnreadableFile, error.to_string());
            return out.problems.push(finding.severity(Severity::Error));
        }
    };
    let file = sources.add(path.display().to_string(), text.as_str());
    let document = setpoint_data::read(file, &text);
    out.problems.extend(document.diagnostics);
    let problem = |message: String, range: Range| {
        Diagnostic::new(Rule::UnreadableFile, message).severity(Severity::Error).at(range.in_file(file))
    };
    let root = document.root.as_ref();
    for missing in root.and_then(|root| root.get("missing")).map(Node::items).unwrap_or_default() {
        let key = missing.get("key").and_then(Node::text).unwrap_or("?");
        let message =
            format!("the CDK did not know the context `{key}` and put a made-up value into the templates");
        let finding = Diagnostic::new(Rule::NotModelled, message).severity(Severity::Warning);
        let finding = finding.at(missing.range.in_file(file));
        out.problems.push(
            finding.with_help(
                "Run `cdk synth` where it may look the value up, or write it into cdk.context.json.",
            ),
        );
    }
    let Some(artifacts) = root.and_then(|root| root.get("artifacts")).filter(|node| node.is_mapping()) else {
        let range = root.map(|root| root.range).unwrap_or_default();
        return out.problems.push(problem("this manifest has no `artifacts`".to_owned(), range));
    };
    for Entry { key, value } in artifacts.entries() {
        read_metadata(files, sources, folder, file, value, out);
        let kind = value.get("type").and_then(Node::text);
        let named = |property: &str| value.get("properties")?.get(property)?.text();
        let (target, is_template) = match kind {
            Some("aws:cloudformation:stack") => (named("templateFile"), true),
            Some("cdk:cloud-assembly") => (named("directoryName"), false),
            Some(_) => continue,
            None => (None, false),
        };
        let Some(target) = target.map(|target| normal(&folder.join(target))) else {
            out.problems.push(problem("this artifact names no file".to_owned(), key.range));
            continue;
        };
        if is_template && files.is_file(&target) {
            out.templates.push(target);
        } else if !is_template && files.is_dir(&target) && depth > 0 {
            read_manifest(files, sources, &target, depth - 1, out);
        } else {
            out.problems.push(problem(format!("{} cannot be read", target.display()), key.range));
        }
    }
}

/// Reads what constructs said about themselves: after an error the CDK does not deploy.
fn read_metadata(
    files: &dyn FileSystem,
    sources: &Sources,
    folder: &Path,
    file: FileId,
    artifact: &Node,
    out: &mut Assembly,
) {
    if let Some(metadata) = artifact.get("metadata") {
        find_messages(metadata, file, out);
    }
    let Some(named) = artifact.get("additionalMetadataFile") else { return };
    let Some(name) = named.text() else { return };
    let path = normal(&folder.join(name));
    match read_text(files, &path) {
        Ok(text) => {
            let other = sources.add(path.display().to_string(), text.as_str());
            let document = setpoint_data::read(other, &text);
            out.problems.extend(document.diagnostics);
            if let Some(root) = &document.root {
                find_messages(root, other, out);
            }
        }
        Err(error) => {
            let finding = Diagnostic::new(Rule::UnreadableFile, error.to_string());
            out.problems.push(finding.severity(Severity::Error).at(named.range.in_file(file)));
        }
    }
}

fn find_messages(metadata: &Node, file: FileId, out: &mut Assembly) {
    for Entry { key, value } in metadata.entries() {
        for entry in value.items() {
            let severity = match entry.get("type").and_then(Node::text) {
                Some("aws:cdk:error") => Severity::Error,
                Some("aws:cdk:warning") => Severity::Warning,
                _ => continue,
            };
            let words = entry.get("data").and_then(Node::text).unwrap_or("no message");
            let construct = key.text().unwrap_or("?");
            let message = format!("the construct {construct} says: {words}");
            let finding = Diagnostic::new(Rule::InvalidValue, message).severity(severity);
            let finding = finding.at(entry.range.in_file(file));
            match severity {
                Severity::Error => out.errors.push(finding),
                _ => out.warnings.push(finding),
            }
        }
    }
}
