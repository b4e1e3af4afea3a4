//! A rule file and the files that it uses, read, parsed and resolved.

use std::path::{Path, PathBuf};

use setpoint_source::{
    Counted, Diagnostic, FileId, FileSystem, Limit, Rule, Severity, Sources, Span, read_text,
};

use super::parser::parse;
use super::resolve::{Brought, resolve};
use super::syntax::{Item, RuleFile};
use crate::describe::set;
use crate::instance::Instance;
use crate::model::{Model, NameSet};
use crate::models;
use crate::parametric::moves_only;

/// `use` nests no deeper than this.
const MAX_USES: Limit = Limit::new(32);

/// What a rule file says. The model is usable only if no diagnostic is an error.
#[derive(Debug)]
pub struct LoadedModel {
    pub model: Option<Model>,
    pub instances: Vec<Instance>,
    pub diagnostics: Vec<Diagnostic>,
    /// The file and those that it uses.
    pub files: Counted,
}

/// Reads a rule file, or takes a built-in one by its name (`setpoint:tosca-setup`). What it uses is looked up beside it.
pub fn load_model(files: &dyn FileSystem, sources: &Sources, path: &Path) -> LoadedModel {
    load_models(files, sources, &[(path.to_owned(), None)])
}

/// Reads several rule files as one rule set, each with the place that names it: what two of them use counts once.
pub fn load_models(
    files: &dyn FileSystem,
    sources: &Sources,
    paths: &[(PathBuf, Option<Span>)],
) -> LoadedModel {
    let mut loader = Loader::new(Some(files), sources);
    for (path, named_at) in paths {
        loader.take(path, *named_at);
    }
    loader.finish()
}

/// A rule file from text, for models that are built in. It uses no other file.
pub fn load_model_text(sources: &Sources, path: &str, text: &str) -> LoadedModel {
    load(None, sources, Path::new(path), text)
}

fn load(files: Option<&dyn FileSystem>, sources: &Sources, path: &Path, text: &str) -> LoadedModel {
    let mut loader = Loader::new(files, sources);
    loader.add(path, text);
    loader.finish()
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

impl<'a> Loader<'a> {
    fn new(files: Option<&'a dyn FileSystem>, sources: &'a Sources) -> Self {
        Self {
            files,
            sources,
            open: Vec::new(),
            seen: Vec::new(),
            parsed: Vec::new(),
            diagnostics: Vec::new(),
            files_found: Counted::default(),
        }
    }

    fn finish(self) -> LoadedModel {
        let Self { parsed, mut diagnostics, files_found: files, .. } = self;
        if !diagnostics.is_empty() {
            return LoadedModel { model: None, instances: Vec::new(), diagnostics, files };
        }
        let resolved = resolve(&parsed);
        diagnostics.extend(resolved.diagnostics);
        if diagnostics.is_empty() {
            diagnostics.extend(foreign_moves(&resolved.model, &resolved.brought));
        }
        let model = diagnostics.is_empty().then_some(resolved.model);
        LoadedModel { model, instances: resolved.instances, diagnostics, files }
    }

    fn add(&mut self, path: &Path, text: &str) {
        let id = self.sources.add(path.to_string_lossy(), text);
        let parsed = parse(id, text);
        self.files_found.add(true, parsed.diagnostics.is_empty());
        self.diagnostics.extend(parsed.diagnostics);
        self.open.push(path.to_owned());
        self.seen.push(path.to_owned());
        for item in &parsed.file.items {
            let Item::Use { path: used, .. } = item else { continue };
            let target = if used.text.starts_with(models::PREFIX) {
                PathBuf::from(&used.text)
            } else {
                path.parent().unwrap_or(Path::new("")).join(&used.text)
            };
            let here = used.range.in_file(id);
            if self.open.contains(&target) {
                self.diagnostics.push(Diagnostic::new(Rule::ModelNames, "this file uses itself").at(here));
            } else if self.open.len() >= MAX_USES {
                let message = format!("files use each other more than {MAX_USES} deep");
                self.refuse(
                    Diagnostic::new(Rule::LimitReached, message).severity(Severity::Error),
                    Some(here),
                );
            } else {
                self.take(&target, Some(here));
            }
        }
        self.open.pop();
        self.parsed.push((id, parsed.file));
    }

    /// Adds a file once, a built-in one by its name.
    fn take(&mut self, path: &Path, used_at: Option<Span>) {
        if self.seen.iter().any(|known| known == path) {
            return;
        }
        let built_in = path.to_str().and_then(|text| text.strip_prefix(models::PREFIX));
        match (built_in, self.files) {
            (Some(name), _) => {
                if let Some(found) = models::named(name) {
                    self.add(path, found.text);
                } else {
                    let known: Vec<String> =
                        models::ALL.iter().map(|one| format!("`{}{}`", models::PREFIX, one.name())).collect();
                    let message = format!("there is no built-in rule set `{name}`");
                    let help = format!("there are {}", known.join(", "));
                    self.refuse(Diagnostic::new(Rule::ModelNames, message).with_help(help), used_at);
                }
            }
            (None, Some(files)) => match read_text(files, path) {
                Ok(text) => self.add(path, &text),
                Err(error) => {
                    self.refuse(Diagnostic::new(Rule::UnreadableFile, error.to_string()), used_at);
                }
            },
            (None, None) => self
                .refuse(Diagnostic::new(Rule::ModelNames, "a built-in rule set uses no other file"), used_at),
        }
    }

    fn refuse(&mut self, finding: Diagnostic, place: Option<Span>) {
        self.files_found.add(false, false);
        self.diagnostics.push(match place {
            Some(place) => finding.at(place),
            None => finding,
        });
    }
}

/// A file that brings types to classes of another moves objects of these types only: what others do is theirs.
fn foreign_moves(model: &Model, brought: &[Brought]) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    for rule in &model.rules {
        let own: Vec<&Brought> = brought.iter().filter(|one| one.file == rule.span.file).collect();
        if own.is_empty() {
            continue;
        }
        for effect in &rule.effects {
            let class = effect.term().class;
            let types = own
                .iter()
                .filter(|one| one.class == class)
                .fold(NameSet::default(), |all, one| all.union(one.types));
            if moves_only(model, rule, effect.term(), types) {
                continue;
            }
            let declared = model.class(class);
            let message = if types.is_empty() {
                format!(
                    "rule `{}` moves a {}, which is not of a type that this file brings",
                    rule.name, declared.name
                )
            } else {
                let types = set(&declared.types, types);
                format!("rule `{}` may move a {} that is not of {types}", rule.name, declared.name)
            };
            out.push(
                Diagnostic::new(Rule::ModelNames, message)
                    .at(rule.span)
                    .with_help("ask for the type in a guard: what other types do is in their own files"),
            );
            break;
        }
    }
    out
}
