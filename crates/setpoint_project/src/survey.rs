//! Every file of a project that is the user's own, read and parsed whether or not a node reaches it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

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

/// How the names of data files end that are read.
const DATA: &[&str] = &["yaml", "yml", "json", "eyaml"];

/// How the names of data files end that Hiera reads by functions only.
const OTHER_DATA: &[&str] =
    &["conf", "hocon", "toml", "properties", "ini", "cfg", "xml", "csv", "gpg", "age", "enc"];

/// How the names of inputs in other languages end: a project does not read them.
const OTHER_INPUTS: &[&str] = &["sf", "spm", "template", "cfn", "tosca", "csar"];

/// Folders whose files are no data of the code: what a module serves or renders, its tests, tasks and translations, and what
/// tools put there. Facts that modules bring are read elsewhere.
const OTHER_FOLDERS: &[&str] = &[
    "files",
    "templates",
    "spec",
    "tests",
    "test",
    "tasks",
    "locales",
    "facts.d",
    "vendor",
    "node_modules",
    "pkg",
];

/// Files at the top of a project that say something about it, and are read elsewhere.
const ABOUT_PROJECT: &[&str] = &[
    "metadata.json",
    "environment.conf",
    "setpoint.toml",
    "setpoint-baseline.json",
    "setpoint-answers.json",
];

/// Whether a file holds data or is an input, as far as its name tells.
pub fn is_data_file(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    [DATA, OTHER_DATA, OTHER_INPUTS].iter().any(|endings| endings.contains(&ending))
}

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
    /// Data files outside of Hiera's folders. Those that something else reads are no part of what was not read.
    pub(crate) other_data: Vec<PathBuf>,
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
            other_data: Vec::new(),
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
            surveyor.code(folder);
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
    if project.session.files.is_dir(project.top()) {
        surveyor.other_data(project.top(), 0);
    }
    let Surveyor { mut out, words, .. } = surveyor;
    out.mentioned = words.into_iter().filter(|word| out.classes.contains_key(word)).collect();
    out.coverage.definitions.found = out.definitions.len();
    out
}

/// What a link that leads out of the inputs means for what is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outside {
    /// It may have any code: no verdict holds.
    Unread,
    Listed,
}

struct Surveyor<'p, 's> {
    project: &'p Project<'s>,
    out: Survey,
    seen: BTreeSet<PathBuf>,
    words: BTreeSet<String>,
}

impl Surveyor<'_, '_> {
    fn module(&mut self, folder: &Path) {
        self.manifests(&folder.join("manifests"));
        self.code(folder);
        for part in ["lib/puppet/type", "lib/facter"] {
            self.ruby(&folder.join(part));
        }
        self.templates(&folder.join("templates"));
        for part in ["facts.d", "tasks"] {
            for path in self.files(&folder.join(part), &["yaml", "yml", "json"]) {
                // What stands there names no class of a catalog.
                let _ = self.parse_data(&path);
            }
        }
        self.data(folder);
        self.out.broken_metadata.extend(module_files::metadata(self.project.session, folder).diagnostics);
    }

    /// What a module and an environment have of the same kind: functions, types and plans.
    fn code(&mut self, folder: &Path) {
        for part in ["functions", "types"] {
            self.manifests(&folder.join(part));
        }
        self.plans(&folder.join("plans"));
        for part in ["functions", "parser/functions"] {
            self.ruby(&folder.join("lib/puppet").join(part));
        }
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

    /// Files of Ruby below a folder.
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
                    let (rule, message, at) = if parsed.is_cut_off() {
                        let message = "The Ruby ends in the middle of a construct: an `end` is missing";
                        (Rule::SyntaxError, message, text.len())
                    } else if parsed.is_sound() {
                        continue;
                    } else {
                        let message = "Setpoint cannot read this Ruby, or it is not well-formed";
                        (Rule::NotModelled, message, 0)
                    };
                    let file = self.project.session.sources.add(path.display().to_string(), text.as_str());
                    let place = Range::new(at, at).in_file(file);
                    self.out.findings.push(Diagnostic::new(rule, message).at(place));
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
            if is_sound {
                // Puppet refuses such a file when something in it is first used; until then it only waits to fail.
                let misplaced = self.project.environment.misplaced_code(&manifest);
                let told =
                    misplaced.iter().map(|failure| failure.to_diagnostic().severity(Severity::Warning));
                self.out.findings.extend(told);
            } else {
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
        if self.project.session.files.has_file(&config) && self.seen.insert(normal(&config)) {
            self.data_file(&config);
        }
        folders.extend(self.project.data_folders(folder));
        for below in folders {
            for path in self.data_files(&below, DATA) {
                self.data_file(&path);
            }
            // Data in another form is found and not read: only a function of the hierarchy could.
            for path in self.data_files(&below, OTHER_DATA) {
                self.out.coverage.add_unread(path.display().to_string());
            }
        }
    }

    /// Data files of the project that lie in none of Hiera's folders.
    fn other_data(&mut self, folder: &Path, depth: usize) {
        let files = self.project.session.files;
        for name in files.list(folder) {
            let path = folder.join(&name);
            if name.starts_with('.') || self.leads_outside(&path) {
                continue;
            }
            if files.is_dir(&path) {
                if OTHER_FOLDERS.contains(&name.as_str()) || !self.project.owns(&path) {
                    continue;
                }
                if depth < MAX_DEPTH {
                    self.other_data(&path, depth + 1);
                } else {
                    self.too_deep(&path);
                }
            } else if is_data_file(&path)
                && !ABOUT_PROJECT.contains(&name.as_str())
                && self.seen.insert(normal(&path))
            {
                self.out.other_data.push(path);
            }
        }
    }

    fn data_file(&mut self, path: &Path) {
        if let Some(text) = self.parse_data(path) {
            self.mention(&text);
        }
    }

    /// Reads a file of data, and gives its text if it can be read.
    fn parse_data(&mut self, path: &Path) -> Option<String> {
        let text = match read_text(self.project.session.files, path) {
            Ok(text) => text,
            Err(error) => {
                self.out.coverage.data.add(false, false);
                self.unreadable(&error);
                return None;
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
        Some(text)
    }

    fn too_deep(&mut self, path: &Path) {
        let reason = format!("folders are followed {MAX_DEPTH} deep");
        self.unreadable(&FileError { path: path.to_owned(), reason, missing: false });
    }

    fn unreadable(&mut self, error: &FileError) {
        if !error.missing {
            self.out.findings.push(unreadable_file(self.project, error));
        }
    }

    /// A file with one of these endings, or all below a folder, each once.
    fn files(&mut self, path: &Path, endings: &[&str]) -> Vec<PathBuf> {
        let mut found = Vec::new();
        self.walk(path, endings, Outside::Unread, 0, &mut found);
        found
    }

    /// The same of data.
    fn data_files(&mut self, path: &Path, endings: &[&str]) -> Vec<PathBuf> {
        let mut found = Vec::new();
        self.walk(path, endings, Outside::Listed, 0, &mut found);
        found
    }

    /// Lists a link that leads out of the inputs. A private share is such a link: only a level of the hierarchy reads through it,
    /// and it says of which catalogs.
    fn leads_outside(&mut self, path: &Path) -> bool {
        let is_outside = !self.project.session.files.permits(path);
        if is_outside && self.seen.insert(normal(path)) {
            self.out.coverage.add_unread(path.display().to_string());
        }
        is_outside
    }

    fn walk(
        &mut self,
        path: &Path,
        endings: &[&str],
        outside: Outside,
        depth: usize,
        found: &mut Vec<PathBuf>,
    ) {
        let files = self.project.session.files;
        if depth > 0 && outside == Outside::Listed && self.leads_outside(path) {
            return;
        }
        let has_ending = path.extension().is_some_and(|ending| endings.iter().any(|one| ending == *one));
        if files.is_dir(path) {
            // A folder with the name of such a file takes its place, and Puppet fails to read it.
            if has_ending && depth > 0 {
                files.has_file(path);
            }
            if depth < MAX_DEPTH {
                for name in files.list(path).into_iter().filter(|name| !name.starts_with('.')) {
                    self.walk(&path.join(name), endings, outside, depth + 1, found);
                }
            } else {
                self.too_deep(path);
            }
            return;
        }
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
    let found = Diagnostic::new(Rule::UnreadableFile, format!("Cannot read {path}: {}", error.reason))
        .at(Range::new(0, 0).in_file(file));
    if !project.session.files.permits(&error.path) {
        // A private share that only the server has is no mistake.
        return found.severity(Severity::Warning).with_help("Nothing that this file says was checked.");
    }
    found.with_help(
        "Nothing that this file says was checked. Check the path, the permissions and the encoding.",
    )
}
