//! The levels that have a configuration, and what it means for the variables of a scope.

use std::sync::Arc;

use setpoint_provenance::Prov;
use setpoint_puppet_values::{Strictness, Value};

use crate::config::{Config, Layer};
use crate::failure::{Failure, FailureKind};
use crate::hierarchy::Entry;
use crate::search::{NOTHING, Remembered, Search};

/// A level that has a configuration.
#[derive(Debug)]
pub(crate) struct Provider {
    pub(crate) layer: Layer,
    pub(crate) config: Arc<Config>,
    resolved: Option<Resolved>,
}

/// A configuration as it is for the variables of a scope.
#[derive(Debug, Clone)]
pub(crate) struct Resolved {
    entries: Arc<Vec<Entry>>,
    defaults: Arc<Vec<Entry>>,
    variables: Vec<Remembered>,
    prov: Prov,
}

impl Search<'_> {
    pub(crate) fn provider_of_global(&mut self) -> Result<Option<usize>, Failure> {
        if let Some(known) = self.session.global {
            return Ok(Some(known));
        }
        let config = if let Some(path) = self.hiera.levels.global.clone() {
            self.hiera.configs.get(&path, &Layer::Global, self.hiera.files, self.hiera.sources)?
        } else {
            let mut config = Config::default_at(std::path::Path::new(""));
            config.hierarchy.clear();
            Arc::new(config)
        };
        self.warn_of(&config);
        if let Some(problem) = &config.failed {
            return Err(problem.clone());
        }
        if config.version == 4 {
            return Err(config.problem("hiera.yaml version 4 cannot be used in the global layer", None));
        }
        let at = self.add_provider(Layer::Global, config);
        self.session.global = Some(at);
        Ok(Some(at))
    }

    pub(crate) fn provider_of_environment(&mut self) -> Result<Option<usize>, Failure> {
        if let Some(known) = self.session.environment {
            return Ok(known);
        }
        let path = self.hiera.levels.environment.as_ref().map(|folder| folder.join("hiera.yaml"));
        // A repository may stand for its server, and have that one's configuration.
        let is_global = |path: &std::path::PathBuf| self.hiera.levels.global.as_ref() == Some(path);
        let path = path.filter(|path| self.hiera.files.has_file(path) && !is_global(path));
        let provider = match path {
            None => None,
            Some(path) => self.below_global(&path, Layer::Environment)?,
        };
        self.session.environment = Some(provider);
        Ok(provider)
    }

    pub(crate) fn provider_of_module(&mut self, name: &Arc<str>) -> Result<Option<usize>, Failure> {
        if let Some(known) = self.session.modules.get(name) {
            return Ok(*known);
        }
        let path = self.scope.module(name).map(|folder| folder.join("hiera.yaml"));
        let path = path.filter(|path| self.hiera.files.has_file(path));
        let provider = match path {
            None => None,
            Some(path) => self.below_global(&path, Layer::Module(Arc::clone(name)))?,
        };
        self.session.modules.insert(Arc::clone(name), provider);
        Ok(provider)
    }

    /// The provider of an environment or of a module. Version 3 is ignored there, or refused.
    pub(crate) fn below_global(
        &mut self,
        path: &std::path::Path,
        layer: Layer,
    ) -> Result<Option<usize>, Failure> {
        let config = self.hiera.configs.get(path, &layer, self.hiera.files, self.hiera.sources)?;
        self.warn_of(&config);
        if let Some(problem) = &config.failed {
            return Err(problem.clone());
        }
        if config.version > 3 {
            return Ok(Some(self.add_provider(layer, config)));
        }
        let (place, root) = match layer {
            Layer::Environment => ("an environment", "the environment root"),
            _ => ("a module", "module root"),
        };
        if self.scope.strict() == Strictness::Error {
            let message = format!("hiera.yaml version 3 cannot be used in {place}");
            return Err(config.problem(message, None));
        }
        self.scope.warn_once(
            &format!("version 3 ignored: {}", path.display()),
            format!("hiera.yaml version 3 found at {root} was ignored"),
            Some(path),
        );
        Ok(None)
    }

    /// What is questionable about a configuration.
    pub(crate) fn warn_of(&mut self, config: &Config) {
        if let Some(warning) = &config.warning {
            self.scope.warn(warning.clone());
        }
        if let (3 | 4, Some(path)) = (config.version, &config.path)
            && self.scope.strict() != Strictness::Off
        {
            let version = config.version;
            let message = format!(
                "{}: Use of 'hiera.yaml' version {version} is deprecated. It should be converted to version 5",
                path.display()
            );
            self.scope.warn_once("hiera.yaml", message, Some(path));
        }
    }

    pub(crate) fn add_provider(&mut self, layer: Layer, config: Arc<Config>) -> usize {
        self.session.providers.push(Provider { layer, config, resolved: None });
        self.session.providers.len() - 1
    }

    /// The entries of a provider, resolved again if a variable has another value than before.
    pub(crate) fn entries(&mut self, provider: usize, default: bool) -> Result<Arc<Vec<Entry>>, Failure> {
        let known = self.session.providers[provider].resolved.clone();
        if let Some(resolved) = &known {
            if self.is_stable(&resolved.variables) {
                return Ok(self.taken(resolved, default));
            }
            self.report(|explainer| {
                explainer.text(
                    "Hiera configuration recreated due to change of scope variables used in interpolation expressions"
                        .to_owned(),
                );
            });
        }
        let config = Arc::clone(&self.session.providers[provider].config);
        let layer = self.session.providers[provider].layer.clone();
        // What a call overrides does not change where data is.
        let (overrides, defaults) = (self.overrides, self.defaults);
        (self.overrides, self.defaults) = (&NOTHING, &NOTHING);
        let collected = self.collected.replace(Vec::new());
        // Puppet resolves it on its own: not as a step of the explanation, nor within the keys that led here.
        let explainer = self.session.explainer.take();
        let stack = std::mem::take(&mut self.session.stack);
        let entries = self.resolve(&config, &layer, false);
        let defaults_of = entries.is_ok().then(|| self.resolve(&config, &layer, true));
        self.session.stack = stack;
        self.session.explainer = explainer;
        self.session.forget_contexts(provider);
        let variables = std::mem::replace(&mut self.collected, collected).unwrap_or_default();
        (self.overrides, self.defaults) = (overrides, defaults);
        let explained = |failure: Failure| undefined_variable(&config, failure);
        let entries = entries.map_err(explained)?;
        let defaults_of = defaults_of.unwrap_or_else(|| Ok(Vec::new())).map_err(explained)?;
        let provs: Vec<Prov> =
            variables.iter().map(|one| one.value.prov).filter(|prov| !prov.is_none()).collect();
        let prov = if provs.is_empty() {
            Prov::NONE
        } else {
            self.scope.arena().operation("hierarchy".into(), None, &provs)
        };
        let resolved =
            Resolved { entries: Arc::new(entries), defaults: Arc::new(defaults_of), variables, prov };
        let taken = self.taken(&resolved, default);
        self.session.providers[provider].resolved = Some(resolved);
        Ok(taken)
    }

    pub(crate) fn taken(&mut self, resolved: &Resolved, default: bool) -> Arc<Vec<Entry>> {
        if !resolved.prov.is_none() {
            self.passed.push(resolved.prov);
        }
        Arc::clone(if default { &resolved.defaults } else { &resolved.entries })
    }

    pub(crate) fn is_stable(&mut self, variables: &[Remembered]) -> bool {
        variables.iter().all(|remembered| {
            let mut value = self.scope_variable(&remembered.root).unwrap_or(Value::UNDEF);
            for segment in &remembered.segments {
                value = match crate::key::step(&value, segment, &remembered.key) {
                    Ok(crate::key::Step::Found(found) | crate::key::Step::Unknown(found)) => found,
                    _ => Value::UNDEF,
                };
            }
            value == remembered.value
        })
    }
}

/// A variable that does not exist is a fault of the configuration.
fn undefined_variable(config: &Config, failure: Failure) -> Failure {
    let Some(name) = failure
        .message
        .strip_prefix("Undefined variable '")
        .filter(|_| failure.kind == FailureKind::Other)
        .and_then(|rest| rest.split_once('\''))
        .map(|(name, _)| name)
    else {
        return match (&config.path, failure.kind) {
            (Some(path), FailureKind::Issue) if failure.config.is_none() => failure.in_config(path, None),
            _ => failure,
        };
    };
    let names =
        |line: &str| ["", "'", "\""].iter().any(|quote| line.contains(&format!("%{{{quote}{name}{quote}}}")));
    config.problem(format!("Undefined variable '{name}'"), config.line_matching(1, names))
}
