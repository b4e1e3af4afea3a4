//! Files, sources and limits of one piece of work.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use setpoint_config::{CaseEntry, Config, Placed};
use setpoint_diagram::Diagram;
use setpoint_source::{Diagnostic, Drawing, FileId, FileSystem, Range, Rule, Severity, Sources, read_text};
use setpoint_verify::Memory;

use crate::options::{OPTIONAL_RULES, Options};
use crate::progress::{Progress, Silent};

/// The files, and all source text that was read from them.
#[derive(Debug)]
pub struct Session<'a> {
    pub files: &'a dyn FileSystem,
    pub sources: Sources,
    /// How many threads may work at once; `None` is as many as the machine has.
    pub jobs: Option<usize>,
    /// What is not decided by then is left open. For editors, which cannot wait: what a clock decides differs from call to call.
    pub deadline: Option<Instant>,
    /// Answers that catalogs share.
    pub memory: Arc<Memory>,
    /// Findings shall carry the smallest repair of the whole input.
    pub repair: bool,
    /// Inputs shall carry their graphs, if these have no more nodes than that.
    pub drawn: Option<usize>,
    /// All inputs of the call.
    pub inputs: Vec<PathBuf>,
    /// Told how far the work is.
    pub progress: Arc<dyn Progress>,
    configs: Mutex<BTreeMap<PathBuf, Configured>>,
    /// What is wrong with files that several inputs share, as far as it was told.
    told: Mutex<BTreeSet<Told>>,
}

/// What makes two findings about shared files one: rule, severity, and the place, or the words of one that has no place.
type Told = (Rule, Severity, String, Option<Range>);

/// A configuration, and what is wrong with it.
pub(crate) type Configured = (Arc<Config>, Vec<Diagnostic>);

/// What the caller asked for makes no sense, in words for the user.
#[derive(Debug)]
pub struct UsageError(pub String);

impl<'a> Session<'a> {
    pub fn new(files: &'a dyn FileSystem) -> Self {
        Self {
            files,
            sources: Sources::new(),
            jobs: None,
            deadline: None,
            memory: Arc::default(),
            repair: false,
            drawn: None,
            inputs: Vec::new(),
            progress: Arc::new(Silent),
            configs: Mutex::default(),
            told: Mutex::default(),
        }
    }

    /// Returns a session over other files whose results are printed with those of this one: it knows the same secrets and answers.
    pub fn beside<'b>(&self, files: &'b dyn FileSystem) -> Session<'b> {
        let memory = Arc::clone(&self.memory);
        Session { sources: self.sources.beside(), memory, ..Session::new(files) }
    }

    /// The configuration of an input, and what is wrong with it. Of several inputs, each doubts its verdicts for that.
    pub fn config(&self, input: &Path, options: &Options) -> Result<Configured, UsageError> {
        // Without a file there may still be what the command line states.
        let path =
            options.config.clone().or_else(|| setpoint_config::find(self.files, input)).unwrap_or_default();
        let mut configs = self.configs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = configs.get(&path) {
            return Ok(known.clone());
        }
        let (mut config, mut diagnostics) = (Config::default(), Vec::new());
        if !path.as_os_str().is_empty() {
            let read = setpoint_config::load(self.files, &self.sources, &path);
            (config, diagnostics) = read.map_err(|error| UsageError(error.to_string()))?;
        }
        for name in &config.enabled {
            if !OPTIONAL_RULES.contains(&name.as_str()) {
                let message = format!("`{}` is no rule that can be enabled", name.value);
                let help = format!("Off unless asked for are {}.", OPTIONAL_RULES.join(", "));
                diagnostics
                    .push(Diagnostic::new(Rule::InvalidSetting, message).at(name.span).with_help(help));
            }
        }
        for text in &options.invariants {
            match setpoint_config::stated(&self.sources, text) {
                Ok(invariant) => config.invariants.push(invariant),
                Err(problem) => diagnostics.push(*problem),
            }
        }
        diagnostics.extend(self.unusable_settings(&config, options));
        let read = (Arc::new(config), diagnostics);
        configs.insert(path, read.clone());
        Ok(read)
    }

    /// Settings that name what is not there, unless the caller says something else.
    fn unusable_settings(&self, config: &Config, options: &Options) -> Vec<Diagnostic> {
        let (settings, given) = (&config.puppet, &options.puppet);
        let mut found = Vec::new();
        let mut add = |setting: &Placed<String>, message: String| {
            found.push(Diagnostic::new(Rule::InvalidSetting, message).at(setting.span));
        };
        for folder in settings.modulepath.iter().flatten().filter(|_| given.modulepath.is_none()) {
            if !self.files.is_dir(&config.resolve(folder)) {
                add(folder, format!("There is no folder `{}` for the module path", folder.value));
            }
        }
        for glob in settings.facts.iter().filter(|_| given.facts.is_empty()) {
            if setpoint_hiera::glob(&config.resolve(glob).to_string_lossy(), self.files).is_empty() {
                add(glob, format!("No file with facts fits `{}`", glob.value));
            }
        }
        let manifests = config.cases.iter().filter_map(|case| match &case.entry {
            CaseEntry::Manifest(path) => Some(path),
            CaseEntry::Code(_) | CaseEntry::Class(_) => None,
        });
        for path in settings.hiera.iter().filter(|_| given.hiera.is_none()).chain(manifests) {
            if !self.files.is_file(&config.resolve(path)) {
                add(path, format!("There is no file `{}`", path.value));
            }
        }
        let platforms = settings.platforms.iter().filter(|_| given.platform.is_none());
        let platforms = platforms.chain(config.cases.iter().filter_map(|case| case.platform.as_ref()));
        for platform in platforms.chain(config.invariants.iter().flat_map(|one| &one.platforms)) {
            if let Err(unknown) = setpoint_platforms::find(platform) {
                add(platform, unknown.to_string());
            }
        }
        found
    }

    /// Returns the findings of which none of the same rule and severity at the same place was told before.
    pub(crate) fn tell_once(&self, findings: &[Diagnostic]) -> Vec<Diagnostic> {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        findings.iter().filter(|found| told.insert(self.identify(found))).cloned().collect()
    }

    /// Each input reads a shared file anew, so a place is its path and range, not the number of the file.
    fn identify(&self, found: &Diagnostic) -> Told {
        let (name, range) = match found.span {
            Some(span) => (self.sources.file(span.file).path().to_owned(), Some(span.range)),
            None => (found.message.clone(), None),
        };
        (found.rule, found.severity, name, range)
    }

    /// The graph of an input, where reports shall show it.
    pub fn drawing(&self, diagram: impl FnOnce() -> Diagram) -> Option<Drawing> {
        self.drawn.map(|limit| Drawing::within(limit, diagram()))
    }

    /// Reads an input that the user named, and adds it to the sources.
    pub fn load(&self, path: &Path) -> Result<(FileId, String), UsageError> {
        let text = self.read(path)?;
        Ok((self.sources.add(path.display().to_string(), text.as_str()), text))
    }

    /// The text of an input that the user named.
    pub fn read(&self, path: &Path) -> Result<String, UsageError> {
        read_text(self.files, path).map_err(|error| UsageError(error.to_string()))
    }
}

/// Whether a rule that is off unless asked for is asked for.
pub(crate) fn enables(config: &Config, options: &Options, rule: &str) -> bool {
    options.enabled.iter().any(|name| name == rule) || config.enabled.iter().any(|name| name.value == rule)
}

impl UsageError {
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}
