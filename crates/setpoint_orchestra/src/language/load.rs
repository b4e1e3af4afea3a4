//! A rule file and the files that it uses, read, parsed and resolved.

use std::path::{Path, PathBuf};

use setpoint_source::{Counted, Diagnostic, FileId, FileSystem, Rule, Severity, Sources, read_text};

use super::parser::parse;
use super::resolve::resolve;
use super::syntax::{Item, RuleFile};
use crate::instance::Instance;
use crate::model::Model;

/// `use` nests no deeper than this.
const MAX_USES: usize = 32;

/// What a rule file says. The model is usable only if no diagnostic is an error.
#[derive(Debug)]
pub struct LoadedModel {
    pub model: Option<Model>,
    pub instances: Vec<Instance>,
    pub diagnostics: Vec<Diagnostic>,
    /// The file and those that it uses.
    pub files: Counted,
}

/// Reads a rule file. What it uses is looked up beside it.
pub fn load_model(files: &dyn FileSystem, sources: &Sources, path: &Path) -> LoadedModel {
    match read_text(files, path) {
        Ok(text) => load(Some(files), sources, path, &text),
        Err(error) => LoadedModel {
            model: None,
            instances: Vec::new(),
            diagnostics: vec![Diagnostic::new(Rule::UnreadableFile, error.to_string())],
            files: Counted { found: 1, read: 0, parsed: 0 },
        },
    }
}

/// A rule file from text, for models that are built in. It uses no other file.
pub fn load_model_text(sources: &Sources, path: &str, text: &str) -> LoadedModel {
    load(None, sources, Path::new(path), text)
}

fn load(files: Option<&dyn FileSystem>, sources: &Sources, path: &Path, text: &str) -> LoadedModel {
    let mut loader = Loader {
        files,
        sources,
        open: Vec::new(),
        seen: Vec::new(),
        parsed: Vec::new(),
        diagnostics: Vec::new(),
        files_found: Counted::default(),
    };
    loader.add(path, text);
    let Loader { parsed, mut diagnostics, files_found: files, .. } = loader;
    if !diagnostics.is_empty() {
        return LoadedModel { model: None, instances: Vec::new(), diagnostics, files };
    }
    let resolved = resolve(&parsed);
    diagnostics.extend(resolved.diagnostics);
    let model = diagnostics.is_empty().then_some(resolved.model);
    LoadedModel { model, instances: resolved.instances, diagnostics, files }
}

struct Loader<'a> {
    files: Option<&'a dyn FileSystem>,
    sources: &'a Sources,
    /// The files on the way to this one, to see a circle.
    open: Vec<PathBuf>,
    seen: Vec<PathBuf>,
    parsed: Vec<(FileId, RuleFile)>,
    diagnostics: Vec<Diagnostic>,
    files_found: Counted,
}

impl Loader<'_> {
    fn add(&mut self, path: &Path, text: &str) {
        let id = self.sources.add(path.to_string_lossy(), text);
        let parsed = parse(id, text);
        self.files_found.add(true, parsed.diagnostics.is_empty());
        self.diagnostics.extend(parsed.diagnostics);
        self.open.push(path.to_owned());
        self.seen.push(path.to_owned());
        for item in &parsed.file.items {
            let Item::Use { path: used, .. } = item else { continue };
            let target = path.parent().unwrap_or(Path::new("")).join(&used.text);
            let here = used.range.in_file(id);
            if self.open.contains(&target) {
                self.diagnostics.push(Diagnostic::new(Rule::ModelNames, "this file uses itself").at(here));
            } else if !self.seen.contains(&target) {
                let read = match self.files {
                    _ if self.open.len() >= MAX_USES => {
                        let message = format!("files use each other more than {MAX_USES} deep");
                        Err(Diagnostic::new(Rule::LimitReached, message).severity(Severity::Error))
                    }
                    Some(files) => read_text(files, &target)
                        .map_err(|error| Diagnostic::new(Rule::UnreadableFile, error.to_string())),
                    None => Err(Diagnostic::new(Rule::ModelNames, "a built-in rule set uses no other file")),
                };
                match read {
                    Ok(text) => self.add(&target, &text),
                    Err(finding) => {
                        self.files_found.add(false, false);
                        self.diagnostics.push(finding.at(here));
                    }
                }
            }
        }
        self.open.pop();
        self.parsed.push((id, parsed.file));
    }
}
