//! Cloud assemblies: the folders that the CDK synthesises, with a manifest that names the templates of all stacks.

use std::path::{Path, PathBuf};

use setpoint_data::{Entry, Node};
use setpoint_source::{
    Diagnostic, FileId, FileSystem, Limit, Range, Rule, Severity, Sources, Span, normal, read_text,
};

const MANIFEST: &str = "manifest.json";

/// The file by which the CDK marks the folders that it makes.
const MARK: &str = "cdk.out";

/// Assemblies may lie in assemblies (stages); deeper ones are told as unread.
const MAX_DEPTH: Limit = Limit::new(16);

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

/// Whether a folder has a manifest of the CDK, be it readable or not, or the CDK's mark.
pub fn is_assembly(files: &dyn FileSystem, folder: &Path) -> bool {
    let has_manifest = files
        .read(&folder.join(MANIFEST))
        .is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains("\"artifacts\""));
    has_manifest || files.is_file(&folder.join(MARK))
}

/// Finds the templates of the stacks of an assembly and of those inside it, in the order of the manifest.
pub fn assembly(files: &dyn FileSystem, sources: &Sources, folder: &Path) -> Assembly {
    let mut out = Assembly::default();
    Reader { files, sources, open: Vec::new(), out: &mut out }.manifest(folder);
    if out.templates.is_empty() && out.problems.is_empty() {
        let message = format!("{} names no stack", folder.join(MANIFEST).display());
        let file = sources.add(folder.join(MANIFEST).display().to_string(), "");
        out.problems.push(Diagnostic::new(Rule::NothingChecked, message).at(Range::default().in_file(file)));
    }
    out
}

struct Reader<'a> {
    files: &'a dyn FileSystem,
    sources: &'a Sources,
    /// The folders around the one that is read: none may lie in itself.
    open: Vec<PathBuf>,
    out: &'a mut Assembly,
}

impl Reader<'_> {
    /// Records that something cannot be read or has another shape than the CDK's.
    fn problem(&mut self, message: impl Into<String>, range: Range, file: FileId) {
        let finding = Diagnostic::new(Rule::UnreadableFile, message).severity(Severity::Error);
        self.out.problems.push(finding.at(range.in_file(file)));
    }

    /// Reads a file of JSON; `named` is the place that names it.
    fn json(&mut self, path: &Path, named: Option<Span>) -> Option<(FileId, Node)> {
        let text = match read_text(self.files, path) {
            Ok(text) => text,
            Err(error) => {
                let place = named.unwrap_or_else(|| {
                    Range::default().in_file(self.sources.add(path.display().to_string(), ""))
                });
                self.problem(error.to_string(), place.range, place.file);
                return None;
            }
        };
        let file = self.sources.add(path.display().to_string(), text.as_str());
        let document = setpoint_data::read_json(file, &text);
        self.out.problems.extend(document.diagnostics);
        let root = document.root.filter(Node::is_mapping);
        if root.is_none() {
            self.problem("this file holds no JSON object", Range::default(), file);
        }
        root.map(|root| (file, root))
    }

    fn manifest(&mut self, folder: &Path) {
        let Some((file, root)) = self.json(&folder.join(MANIFEST), None) else { return };
        if root.get("version").and_then(Node::text).is_none_or(str::is_empty) {
            self.problem("this manifest has no `version`", root.range, file);
        }
        self.missing_context(&root, file);
        let Some(artifacts) = root.get("artifacts").filter(|node| node.is_mapping()) else {
            return self.problem("this manifest has no `artifacts`", root.range, file);
        };
        self.open.push(normal(folder));
        for Entry { key, value } in artifacts.entries() {
            self.metadata(folder, file, value);
            for needed in value.get("dependencies").map(Node::items).unwrap_or_default() {
                if needed.text().is_none_or(|name| artifacts.get(name).is_none()) {
                    let name = needed.text().unwrap_or_default();
                    self.problem(format!("there is no artifact `{name}`"), needed.range, file);
                }
            }
            let named = |property: &str| value.get("properties")?.get(property)?.text();
            let target = match value.get("type").and_then(Node::text) {
                Some("aws:cloudformation:stack") => named("templateFile"),
                Some("cdk:cloud-assembly") => named("directoryName"),
                Some("cdk:asset-manifest") => named("file"),
                // These say nothing of what is deployed.
                Some("cdk:tree" | "cdk:feature-flag-report" | "none") => continue,
                Some(other) => {
                    let message = format!("artifacts of the type `{other}` are not known here");
                    let finding = Diagnostic::new(Rule::NotModelled, message).severity(Severity::Warning);
                    self.out.problems.push(finding.at(key.range.in_file(file)));
                    continue;
                }
                None => None,
            };
            match target.map(|target| normal(&folder.join(target))) {
                Some(target) => self.artifact(value, &target, key.range.in_file(file)),
                None => self.problem("this artifact names no file", key.range, file),
            }
        }
        self.open.pop();
    }

    fn artifact(&mut self, artifact: &Node, target: &Path, place: Span) {
        match artifact.get("type").and_then(Node::text) {
            Some("aws:cloudformation:stack") if self.files.is_file(target) => {
                self.out.templates.push(target.to_owned());
            }
            Some("cdk:cloud-assembly") if self.open.iter().any(|folder| folder == target) => {
                self.problem("this assembly contains itself", place.range, place.file);
            }
            Some("cdk:cloud-assembly") if self.files.is_dir(target) && self.open.len() <= MAX_DEPTH => {
                self.manifest(target);
            }
            Some("cdk:asset-manifest") => self.assets(target, place),
            _ => self.problem(format!("{} cannot be read", target.display()), place.range, place.file),
        }
    }

    /// Looks for the files that are uploaded before the stacks are deployed.
    fn assets(&mut self, path: &Path, place: Span) {
        let Some((file, root)) = self.json(path, Some(place)) else { return };
        let folder = path.parent().unwrap_or(Path::new(""));
        for section in ["files", "dockerImages"] {
            let Some(section) = root.entry(section) else { continue };
            if !section.value.is_mapping() {
                self.problem("these assets are not a JSON object", section.key.range, file);
            }
            for Entry { key, value } in section.value.entries() {
                let source = value.get("source").filter(|source| source.is_mapping());
                let named = source.and_then(|source| source.get("path").or(source.get("directory")));
                // A command makes the asset when it is needed.
                let is_made = source.is_some_and(|source| source.get("executable").is_some());
                match named.and_then(Node::text).map(|named| normal(&folder.join(named))) {
                    Some(path) if self.files.is_file(&path) || self.files.is_dir(&path) => {}
                    Some(path) => {
                        self.problem(format!("the asset {} is not there", path.display()), key.range, file);
                    }
                    None if is_made => {}
                    None => self.problem("this asset names no file", key.range, file),
                }
            }
        }
    }

    /// Records the values that the CDK did not know.
    fn missing_context(&mut self, root: &Node, file: FileId) {
        let Some(section) = root.entry("missing") else { return };
        if !section.value.is_sequence() {
            self.problem("`missing` is not a list", section.key.range, file);
        }
        for missing in section.value.items() {
            let key = missing.get("key").and_then(Node::text).unwrap_or("?");
            let message = format!(
                "the CDK did not know the context `{key}` and put a made-up value into the templates"
            );
            let finding = Diagnostic::new(Rule::NotModelled, message).severity(Severity::Warning);
            let finding = finding.at(missing.range.in_file(file));
            self.out.problems.push(finding.with_help(
                "Run `cdk synth` where it may look the value up, or write it into cdk.context.json.",
            ));
        }
    }

    /// Reads what constructs said about themselves: after an error the CDK does not deploy.
    fn metadata(&mut self, folder: &Path, file: FileId, artifact: &Node) {
        if let Some(own) = artifact.entry("metadata") {
            if !own.value.is_mapping() {
                self.problem("`metadata` is not a JSON object", own.key.range, file);
            }
            find_messages(&own.value, file, self.out);
        }
        let Some(named) = artifact.entry("additionalMetadataFile") else { return };
        let place = named.value.range.in_file(file);
        let Some(name) = named.value.text() else {
            return self.problem("this names no file", place.range, file);
        };
        if let Some((other, root)) = self.json(&normal(&folder.join(name)), Some(place)) {
            find_messages(&root, other, self.out);
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
