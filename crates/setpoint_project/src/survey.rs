//! Every file of a project that is the user's own, read and parsed whether or not a node reaches it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use setpoint_data::Node;
use setpoint_puppet::Definition;
use setpoint_puppet_functions::{ErbSyntax, RubyFile, parse_erb};
use setpoint_puppet_syntax::ast::ClassDef;
use setpoint_source::{
    Counted, Coverage, Diagnostic, FileError, Nouns, Range, Rule, Severity, normal, read_text,
};

use crate::entries::names_in;
use crate::module_files;
use crate::project::{Kind, Project};

/// What the things of a project are called when they are counted.
pub(crate) const NOUNS: Nouns =
    Nouns { sources: "manifests", definitions: "classes and defines", resources: "resources" };

/// Folders are followed so far.
const MAX_DEPTH: usize = 32;

/// How the names of data files end that Hiera reads by functions only.
const OTHER_DATA: &[&str] =
    &["conf", "hocon", "toml", "properties", "ini", "cfg", "xml", "csv", "gpg", "age", "enc"];

/// What the user's own files are, and what is wrong with them.
#[derive(Debug)]
pub(crate) struct Survey {
    pub(crate) coverage: Coverage,
    /// Syntax errors, each with its place.
    pub(crate) findings: Vec<Diagnostic>,
    /// Syntax errors of modules that the Puppetfile brings.
    pub(crate) findings_in_modules: Vec<Diagnostic>,
    /// What is wrong with what modules say about themselves: a strict Puppet then finds nothing in them.
    pub(crate) broken_metadata: Vec<Diagnostic>,
    /// The user's own classes by name.
    pub(crate) classes: BTreeMap<String, Arc<ClassDef>>,
    /// The user's own classes and defines.
    pub(crate) definitions: BTreeSet<String>,
    /// Names of classes that stand in own code or data, their definitions apart.
    pub(crate) mentioned: BTreeSet<String>,
}

impl Survey {
    /// The survey of a project at which nobody looked.
    pub(crate) fn of_nothing() -> Self {
        Self {
            coverage: Coverage::new(NOUNS),
            findings: Vec::new(),
            findings_in_modules: Vec::new(),
            broken_metadata: Vec::new(),
            classes: BTreeMap::new(),
            definitions: BTreeSet::new(),
            mentioned: BTreeSet::new(),
        }
    }
}

/// Reads all that is the user's own.
pub(crate) fn survey(project: &Project<'_>) -> Survey {
    let mut surveyor =
        Surveyor { project, out: Survey::of_nothing(), seen: BTreeSet::new(), words: BTreeSet::new() };
    match &project.kind {
        Kind::Manifests(path) => surveyor.manifests(path),
        Kind::Repository { folder, manifest } => {
            surveyor.manifests(manifest);
            surveyor.data(folder);
            let (own, installed) = project.modules();
            for module in own {
                surveyor.module(&module);
            }
            for module in installed {
                surveyor.installed_module(&module);
            }
        }
        Kind::Module { folder, .. } => {
            surveyor.module(folder);
            surveyor.manifests(&folder.join("examples"));
        }
    }
    let Surveyor { mut out, words, .. } = surveyor;
    out.mentioned = words.into_iter().filter(|word| out.classes.contains_key(word)).collect();
    out.coverage.definitions.found = out.definitions.len();
    out
}

struct Surveyor<'p, 's> {
    project: &'p Project<'s>,
    out: Survey,
    seen: BTreeSet<PathBuf>,
    words: BTreeSet<String>,
}

impl Surveyor<'_, '_> {
    fn module(&mut self, folder: &Path) {
        for part in ["manifests", "functions", "types"] {
            self.manifests(&folder.join(part));
        }
        self.plans(&folder.join("plans"));
        for part in ["functions", "parser/functions", "type"] {
            self.ruby(&folder.join("lib/puppet").join(part));
        }
        self.templates(&folder.join("templates"));
        self.data(folder);
        self.out.broken_metadata.extend(module_files::metadata(self.project.session, folder).diagnostics);
    }

    /// The manifests of a module that somebody else wrote.
    fn installed_module(&mut self, folder: &Path) {
        for path in self.files(&folder.join("manifests"), &["pp"]) {
            if let Ok(manifest) = self.project.environment.manifest(&path)
                && !manifest.is_sound()
            {
                self.out.findings_in_modules.extend(manifest.diagnostics.iter().cloned());
            }
        }
    }

    /// Plans are no part of a catalog: what they say beyond the language of manifests is not looked at.
    fn plans(&mut self, folder: &Path) {
        for path in self.files(folder, &["pp"]) {
            let parsed = self.project.environment.manifest(&path);
            self.out.coverage.sources.add(parsed.is_ok(), parsed.as_ref().is_ok_and(|plan| plan.is_sound()));
            match parsed {
                Err(error) => self.unreadable(&error),
                Ok(plan) => {
                    let is_plan = |found: &&Diagnostic| found.rule == Rule::UnsupportedSyntax;
                    if !plan.diagnostics.iter().any(|found| is_plan(&found)) {
                        self.out.findings.extend(plan.diagnostics.iter().cloned());
                    }
                }
            }
        }
    }

    /// Files of Ruby below a folder. What is not understood, and may be well-formed, is told where a node needs it.
    fn ruby(&mut self, folder: &Path) {
        for path in self.files(folder, &["rb"]) {
            match read_text(self.project.session.files, &path) {
                Err(error) => {
                    self.out.coverage.ruby.add(false, false);
                    self.unreadable(&error);
                }
                Ok(text) => {
                    let parsed = RubyFile::parse(&path, &text);
                    self.out.coverage.ruby.add(true, parsed.is_sound());
                    if parsed.is_cut_off() {
                        let file =
                            self.project.session.sources.add(path.display().to_string(), text.as_str());
                        let at = Range::new(text.len(), text.len()).in_file(file);
                        let message = "The Ruby ends in the middle of a construct: an `end` is missing";
                        self.out.findings.push(Diagnostic::new(Rule::SyntaxError, message).at(at));
                    }
                }
            }
        }
    }

    /// A manifest, or all below a folder.
    fn manifests(&mut self, path: &Path) {
        for path in self.files(path, &["pp"]) {
            let parsed = self.project.environment.manifest(&path);
            let is_sound = parsed.as_ref().is_ok_and(|manifest| manifest.is_sound());
            self.out.coverage.sources.add(parsed.is_ok(), is_sound);
            let manifest = match parsed {
                Ok(manifest) => manifest,
                Err(error) => {
                    self.unreadable(&error);
                    continue;
                }
            };
            if !is_sound {
                self.out.findings.extend(manifest.diagnostics.iter().cloned());
            }
            for definition in &manifest.definitions {
                match definition {
                    Definition::Class(class) => {
                        self.out.definitions.insert(class.name.to_string());
                        self.out.classes.insert(class.name.to_string(), Arc::clone(class));
                    }
                    Definition::Define(define) => {
                        self.out.definitions.insert(define.name.to_string());
                    }
                    Definition::Node(_) | Definition::Function(_) | Definition::TypeAlias(_) => {}
                }
            }
            // Only a repository is entered by classes that nothing names.
            if matches!(self.project.kind, Kind::Repository { .. }) {
                self.mention(self.project.session.sources.file(manifest.file).text());
            }
        }
    }

    fn templates(&mut self, folder: &Path) {
        for path in self.files(folder, &["epp", "erb"]) {
            let mut counted = Counted { found: 1, ..Counted::default() };
            match read_text(self.project.session.files, &path) {
                Err(error) => self.unreadable(&error),
                Ok(text) => {
                    counted.read = 1;
                    let (is_parsed, finding) = self.parse_template(&path, &text);
                    counted.parsed = usize::from(is_parsed);
                    self.out.findings.extend(finding);
                }
            }
            self.out.coverage.templates.join(counted);
        }
    }

    /// Whether a template can be read here, and what is wrong with it. Ruby that is not known here is no fault of the template.
    fn parse_template(&self, path: &Path, text: &str) -> (bool, Option<Diagnostic>) {
        let sources = &self.project.session.sources;
        let name = path.display().to_string();
        if path.extension().is_some_and(|ending| ending == "epp") {
            let errors = setpoint_puppet_syntax::parse_epp(sources.add(name, text), text).diagnostics;
            let error = errors.into_iter().find(|found| found.severity == Severity::Error);
            return (error.is_none(), error);
        }
        match parse_erb(text) {
            ErbSyntax::Sound => (true, None),
            ErbSyntax::Beyond => {
                let at = Range::new(0, 0).in_file(sources.add(name, text));
                let message = "Setpoint cannot read the Ruby of this template, or it is not well-formed";
                (false, Some(Diagnostic::new(Rule::NotModelled, message).at(at)))
            }
            ErbSyntax::CutOff => {
                let at = Range::new(text.len(), text.len()).in_file(sources.add(name, text));
                let message = "The template ends in the middle of its Ruby: an `end` is missing";
                (false, Some(Diagnostic::new(Rule::SyntaxError, message).at(at)))
            }
            ErbSyntax::Broken(line) => {
                let before: usize =
                    text.split_inclusive('\n').take(line.saturating_sub(1) as usize).map(str::len).sum();
                let at = Range::new(before, before).in_file(sources.add(name, text));
                let message = "This tag is not closed: `%>` is missing";
                (false, Some(Diagnostic::new(Rule::SyntaxError, message).at(at)))
            }
        }
    }

    /// The `hiera.yaml` of a folder, and the data files below the folders that it names.
    fn data(&mut self, folder: &Path) {
        let config = folder.join("hiera.yaml");
        let mut folders = BTreeSet::from([folder.join("data"), folder.join("hieradata")]);
        if self.project.session.files.is_file(&config) && self.seen.insert(normal(&config)) {
            self.data_file(&config);
            folders.extend(data_folders(self.project, folder));
        }
        for below in folders {
            for path in self.files(&below, &["yaml", "yml", "json", "eyaml"]) {
                self.data_file(&path);
            }
            // Data in another form is found and not read: only a function of the hierarchy could.
            for _ in self.files(&below, OTHER_DATA) {
                self.out.coverage.data.add(false, false);
            }
        }
    }

    fn data_file(&mut self, path: &Path) {
        let text = match read_text(self.project.session.files, path) {
            Ok(text) => text,
            Err(error) => {
                self.out.coverage.data.add(false, false);
                return self.unreadable(&error);
            }
        };
        let file = self.project.session.sources.add(path.display().to_string(), text.as_str());
        let document = if path.extension().is_some_and(|ending| ending == "json") {
            setpoint_data::read_json(file, &text)
        } else {
            setpoint_data::read_yaml_as_written(file, &text)
        };
        let mut errors =
            document.diagnostics.into_iter().filter(|found| found.severity == Severity::Error).peekable();
        self.out.coverage.data.add(true, errors.peek().is_none());
        self.out.findings.extend(errors);
        self.mention(&text);
    }

    fn unreadable(&mut self, error: &FileError) {
        if !error.missing {
            self.out.findings.push(unreadable_file(self.project, error));
        }
    }

    /// A file with one of these endings, or all below a folder, each once.
    fn files(&mut self, path: &Path, endings: &[&str]) -> Vec<PathBuf> {
        let mut found = Vec::new();
        self.walk(path, endings, 0, &mut found);
        found
    }

    fn walk(&mut self, path: &Path, endings: &[&str], depth: usize, found: &mut Vec<PathBuf>) {
        let files = self.project.session.files;
        if files.is_dir(path) {
            if depth < MAX_DEPTH {
                for name in files.list(path).into_iter().filter(|name| !name.starts_with('.')) {
                    self.walk(&path.join(name), endings, depth + 1, found);
                }
            } else {
                let error = FileError {
                    path: path.to_owned(),
                    reason: format!("folders are followed {MAX_DEPTH} deep"),
                    missing: false,
                };
                self.unreadable(&error);
            }
            return;
        }
        let has_ending = path.extension().is_some_and(|ending| endings.iter().any(|one| ending == *one));
        if has_ending && (depth > 0 || files.is_file(path)) && self.seen.insert(normal(path)) {
            found.push(path.to_owned());
        }
    }

    /// Notes the names in a text that may be those of classes. The name after `class` is a definition.
    fn mention(&mut self, text: &str) {
        let mut before = String::new();
        for word in names_in(text) {
            if before != "class" {
                self.words.insert(word.clone());
            }
            before = word;
        }
    }
}

/// The finding that a file of a project cannot be read.
pub(crate) fn unreadable_file(project: &Project<'_>, error: &FileError) -> Diagnostic {
    let path = error.path.display().to_string();
    let file = project.session.sources.add(path.clone(), "");
    Diagnostic::new(Rule::UnreadableFile, format!("Cannot read {path}: {}", error.reason))
        .at(Range::new(0, 0).in_file(file))
        .with_help(
            "Nothing that this file says was checked. Check the path, the permissions and the encoding.",
        )
}

/// The folders of data that a `hiera.yaml` names, as far as they are named without variables.
pub(crate) fn data_folders(project: &Project<'_>, folder: &Path) -> Vec<PathBuf> {
    let Some(root) = read_config(project, folder) else { return Vec::new() };
    let entries = root.get("hierarchy").into_iter().flat_map(Node::items);
    let named = entries.chain(root.get("defaults")).filter_map(|entry| entry.get("datadir")?.text());
    let named: BTreeSet<&str> = named.filter(|path| !path.contains("%{")).collect();
    named.into_iter().map(|path| folder.join(path)).collect()
}

/// The `hiera.yaml` of a folder as a tree.
pub(crate) fn read_config(project: &Project<'_>, folder: &Path) -> Option<Node> {
    let path = folder.join("hiera.yaml");
    let text = read_text(project.session.files, &path).ok()?;
    let file = project.session.sources.add(path.display().to_string(), text.as_str());
    setpoint_data::read_yaml(file, &text).root
}
