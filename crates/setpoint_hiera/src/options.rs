//! `lookup_options` of all levels, and the default hierarchy of a module, which has its own.

use std::sync::Arc;

use setpoint_provenance::Prov;
use setpoint_puppet_values::{Data, Hash, Key, Regex, Type, Value};

use crate::explain::Step;
use crate::failure::Failure;
use crate::key::LookupKey;
use crate::merge::{self, Merge};
use crate::search::{Found, LOOKUP_OPTIONS, Level, Search};

/// `lookup_options`, by key and by pattern.
#[derive(Debug, Default)]
pub(crate) struct Patterns {
    by_key: Hash,
    by_pattern: Vec<(Regex, Value)>,
    /// An opaque value, if it is not known what the options are.
    unknown: Option<Value>,
    /// The node of all options.
    pub(crate) prov: Prov,
}

impl Patterns {
    fn compile(options: Option<&Value>) -> Result<Self, Failure> {
        let unknown = options.filter(|options| matches!(options.data, Data::Opaque(_))).cloned();
        let prov = options.map_or(Prov::NONE, |options| options.prov);
        let mut compiled = Self { unknown, prov, ..Self::default() };
        for (key, value) in options.and_then(Value::as_hash).into_iter().flatten() {
            match key.0.as_str() {
                Some(pattern) if pattern.starts_with('^') => {
                    let regex = Regex::new(pattern).map_err(|error| Failure::other(error.message))?;
                    compiled.by_pattern.push((regex, value.clone()));
                }
                _ => {
                    compiled.by_key.insert(key.clone(), value.clone());
                }
            }
        }
        Ok(compiled)
    }

    fn get(&self, key: &str) -> Option<&Value> {
        if self.unknown.is_some() {
            return self.unknown.as_ref();
        }
        let exact = self.by_key.get(&Key::from(key)).filter(|value| !value.is_undef());
        exact.or_else(|| {
            let fits = |pattern: &Regex| pattern.is_match(key).unwrap_or(false);
            self.by_pattern.iter().find(|(pattern, _)| fits(pattern)).map(|(_, value)| value)
        })
    }
}

impl Search<'_> {
    pub(crate) fn options_for(&mut self, key: &LookupKey) -> Result<Option<Value>, Failure> {
        if let Some(known) = self.session.lookup_options.get(&key.module) {
            return Ok(known.get(&key.root).cloned());
        }
        let passed = std::mem::take(&mut self.passed);
        let top_key = std::mem::replace(&mut self.top_key, LOOKUP_OPTIONS.into());
        let compiled = self.with(
            || Step::Top(LOOKUP_OPTIONS.to_owned()),
            |search| search.retrieve_options(key.module.as_ref()),
        );
        self.passed = passed;
        self.top_key = top_key;
        let compiled = Arc::new(compiled?);
        self.session.lookup_options.insert(key.module.clone(), Arc::clone(&compiled));
        Ok(compiled.get(&key.root).cloned())
    }

    pub(crate) fn retrieve_options(&mut self, module: Option<&Arc<str>>) -> Result<Patterns, Failure> {
        let key = LookupKey::new(LOOKUP_OPTIONS)?;
        let merge = Merge::plain(merge::Kind::Hash);
        if self.global_only {
            let options = self.options_of_global(&key, &merge)?;
            return Patterns::compile(options.as_ref());
        }
        let above = self.options_of_environment(&key, &merge)?;
        let Some(module) = module else { return Patterns::compile(above.as_ref()) };
        let compiled = Arc::new(Patterns::compile(above.as_ref())?);
        self.session.lookup_options.entry(None).or_insert(compiled);
        let own = self.in_module(&key, &merge)?;
        let own = checked_options(own, Some(module))?;
        let options = match (above, own) {
            (above, None) => above,
            (None, own) => own,
            (Some(above), Some(own)) => {
                let both = [("Global and Environment".to_owned(), above), (format!("Module {module}"), own)];
                self.merged(&merge, &both, |search, (name, options)| {
                    search.with(
                        || Step::Scope(name.clone()),
                        |search| {
                            search.report(|explainer| explainer.found(LOOKUP_OPTIONS, options));
                            Ok(Some(options.clone()))
                        },
                    )
                })?
            }
        };
        Patterns::compile(options.as_ref())
    }

    pub(crate) fn options_of_global(&mut self, key: &LookupKey, merge: &Merge) -> Found {
        if let Some(known) = &self.session.global_options {
            return Ok(known.clone());
        }
        let found = self.in_global(key, merge)?;
        let options = checked_options(found, None)?;
        self.session.global_options = Some(options.clone());
        Ok(options)
    }

    pub(crate) fn options_of_environment(&mut self, key: &LookupKey, merge: &Merge) -> Found {
        if let Some(known) = &self.session.environment_options {
            return Ok(known.clone());
        }
        let global = self.options_of_global(key, merge)?;
        let found = self.in_level(Level::Environment, key, merge)?;
        let own = checked_options(found, None)?;
        let options = match (global, own) {
            (Some(global), Some(own)) => Some(merge.join(&global, &own, self.scope.arena())?),
            (global, own) => global.or(own),
        };
        self.session.environment_options = Some(options.clone());
        Ok(options)
    }

    pub(crate) fn find_in_module_defaults(&mut self, key: &LookupKey) -> Found {
        let Some(module) = self.module.clone() else { return Ok(None) };
        let Some(provider) = self.provider_of_module(&module)? else { return Ok(None) };
        if self.session.providers[provider].config.default_hierarchy.is_none() {
            return Ok(None);
        }
        let title = format!("Searching default_hierarchy of module \"{module}\"");
        let outer = std::mem::take(&mut self.passed);
        let found = self.with(
            || Step::Scope(title),
            |search| {
                let options = search.default_options(&module, provider)?;
                let options = options.get(&key.root).cloned();
                let merge = options.as_ref().and_then(|options| option(options, "merge"));
                let unknown = unknown_option(options.as_ref(), merge.as_ref());
                let merge = Merge::of(merge.filter(|_| unknown.is_none()).as_ref())?;
                let title = format!("Searching for \"{}\"", key.text);
                let found =
                    search.with(|| Step::Scope(title), |search| search.in_defaults(provider, key, &merge))?;
                Ok(found.map(|found| unknown.unwrap_or(found)))
            },
        );
        let passed = std::mem::replace(&mut self.passed, outer);
        let Some(value) = found? else {
            self.passed.extend(passed);
            return Ok(None);
        };
        let all: Vec<Prov> = self.passed.iter().copied().chain(passed).collect();
        Ok(Some(self.selected(value, &all)))
    }

    pub(crate) fn default_options(
        &mut self,
        module: &Arc<str>,
        provider: usize,
    ) -> Result<Arc<Patterns>, Failure> {
        if let Some(known) = self.session.module_default_options.get(module) {
            return Ok(Arc::clone(known));
        }
        let key = LookupKey::new(LOOKUP_OPTIONS)?;
        let title = format!("Searching for \"{LOOKUP_OPTIONS}\"");
        let found = self.with(
            || Step::Scope(title),
            |search| search.in_defaults(provider, &key, &Merge::plain(merge::Kind::Hash)),
        )?;
        let options = checked_options(found, Some(module))?;
        let compiled = Arc::new(Patterns::compile(options.as_ref())?);
        self.session.module_default_options.insert(Arc::clone(module), Arc::clone(&compiled));
        Ok(compiled)
    }

    pub(crate) fn in_defaults(&mut self, provider: usize, key: &LookupKey, merge: &Merge) -> Found {
        let entries = self.entries(provider, true)?;
        if entries.is_empty() {
            self.report(|explainer| explainer.not_found(&key.text));
            return Ok(None);
        }
        self.check(key.text.to_string(), |search| {
            let step = search.provider_step(provider);
            search.with(
                || step,
                |search| {
                    search
                        .merged(merge, &entries, |search, entry| search.in_entry(provider, entry, key, merge))
                },
            )
        })
    }
}

/// An option of a key; nothing if it is `undef`.
pub(crate) fn option(options: &Value, name: &str) -> Option<Value> {
    options.as_hash()?.get(&Key::from(name)).filter(|value| !value.is_undef()).cloned()
}

/// The value of a key that is found with such options, if it is not known what they do to it.
pub(crate) fn unknown_option(options: Option<&Value>, merge: Option<&Value>) -> Option<Value> {
    let convert_to = options.and_then(|options| option(options, "convert_to"));
    let whole = options.filter(|options| matches!(options.data, Data::Opaque(_)));
    [whole, merge, convert_to.as_ref()].into_iter().flatten().find_map(|value| {
        let part = value.unknown_part()?;
        Some(Value::unknown(Arc::clone(&part.reason), Type::Any).with(value.prov))
    })
}

/// `lookup_options` must be a hash; those of a module speak of its own keys only.
fn checked_options(options: Option<Value>, module: Option<&Arc<str>>) -> Found {
    let Some(options) = options.filter(|options| !options.is_undef()) else { return Ok(None) };
    if let Data::Opaque(_) = options.data {
        return Ok(Some(options));
    }
    let Data::Hash(entries) = &options.data else {
        return Err(Failure::data("value of lookup_options must be a hash").of_value(options.prov));
    };
    if let Some(module) = module {
        let prefix = format!("{module}::");
        for key in entries.keys() {
            let Some(key) = key.0.as_str() else {
                let message = setpoint_puppet_values::ruby::text::no_method("start_with?", &key.0);
                return Err(Failure::other(message));
            };
            match key.strip_prefix('^') {
                Some(pattern) if !pattern.starts_with(&prefix) => {
                    return Err(Failure::data(format!(
                        "all lookup_options patterns must match a key starting with module name '{module}'"
                    ))
                    .of_value(options.prov));
                }
                None if !key.starts_with(&prefix) => {
                    return Err(Failure::data(format!(
                        "all lookup_options keys must start with module name '{module}'"
                    ))
                    .of_value(options.prov));
                }
                _ => {}
            }
        }
    }
    Ok(Some(options))
}
