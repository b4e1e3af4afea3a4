//! What the entries of a hierarchy give: files, encrypted files, functions, and backends that cannot be run.

use std::path::PathBuf;
use std::sync::Arc;

use setpoint_provenance::{Leaf, LeafKind};
use setpoint_puppet_functions::LOOKUP_CONTEXT;
use setpoint_puppet_values::types::assert_instance;
use setpoint_puppet_values::{Data, Hash, Key, Object, Regex, Strictness, Type, Value};
use setpoint_source::{FileId, Range, Symbol};

use crate::Backend;
use crate::config::Layer;
use crate::contexts::{ContextKey, Running};
use crate::data::{Content, DataFile, FileEntries, Format};
use crate::explain::{Explainer, Step};
use crate::eyaml;
use crate::failure::Failure;
use crate::hierarchy::{Entry, Function, Location, State};
use crate::key::{LookupKey, Segment};
use crate::merge::Merge;
use crate::search::{Found, LOOKUP_OPTIONS, Search};

/// The option with the patterns of the only keys that an entry is asked for.
const CONFINED: &str = "confine_to_keys";

impl Search<'_> {
    pub(crate) fn in_entry(
        &mut self,
        provider: usize,
        entry: &Entry,
        key: &LookupKey,
        merge: &Merge,
    ) -> Found {
        let name = format!("Hierarchy entry \"{}\"", entry.name);
        self.with(
            || Step::DataProvider { name, config: None },
            |search| match &entry.locations {
                None => {
                    search.merged(merge, &[()], |search, ()| search.in_location(provider, entry, None, key))
                }
                Some(locations) => search.merged(merge, locations, |search, location| {
                    search.in_location(provider, entry, Some(location), key)
                }),
            },
        )
    }

    pub(crate) fn in_location(
        &mut self,
        provider: usize,
        entry: &Entry,
        location: Option<&Location>,
        key: &LookupKey,
    ) -> Found {
        let Some(location) = location else { return self.call(provider, entry, None, key) };
        self.with(
            || location.step(),
            |search| {
                if !location.is_uri()
                    && &*key.root != LOOKUP_OPTIONS
                    && !search.searched.contains(&location.path)
                {
                    search.searched.push(location.path.clone());
                }
                match &location.state {
                    State::File | State::Uri => return search.call(provider, entry, Some(location), key),
                    State::Unknown { reason, candidates }
                        if search.may_have(entry, candidates.as_deref(), key) =>
                    {
                        let path = location.path.display();
                        let reason = format!("the key '{}' may come from {path}: {reason}", key.root);
                        let value = search.opaque(reason);
                        search.report(|explainer| explainer.found(&key.root, &value));
                        return Ok(Some(value));
                    }
                    State::Outside(folder) => search.pass_over_folder(folder),
                    State::Unknown { .. } | State::NoFile => {}
                }
                search.report(Explainer::location_not_found);
                search.absent(location.symbol, None);
                Ok(None)
            },
        )
    }

    /// Whether an entry may have a key in one of these files. Returns `false` only if each was read and lacks it.
    fn may_have(&self, entry: &Entry, candidates: Option<&[PathBuf]>, key: &LookupKey) -> bool {
        let format = match entry.function {
            Function::Foreign => return &*key.root != LOOKUP_OPTIONS && confined(entry, &key.root),
            Function::Data(format) => format,
            Function::Eyaml => Format::Yaml,
        };
        candidates.is_none_or(|candidates| {
            candidates.iter().any(|path| {
                match &self.hiera.data.get(path, format, self.hiera.files, self.hiera.sources).content {
                    Content::Hash(entries) => entries.contains_key(&Key::from(&*key.root)),
                    Content::NotAHash(_) => false,
                    Content::Unreadable(_) | Content::Malformed(_) => true,
                }
            })
        })
    }

    pub(crate) fn absent(&mut self, name: Symbol, file: Option<FileId>) {
        let arena = self.scope.arena();
        if arena.enabled() {
            let span = file.map(|file| Range::new(0, 0).in_file(file));
            let leaf = Leaf { kind: LeafKind::Absence, name: Some(name), span };
            let leaf = arena.leaf(leaf);
            self.passed.push(leaf);
        }
    }

    /// Asks the function of an entry.
    pub(crate) fn call(
        &mut self,
        provider: usize,
        entry: &Entry,
        location: Option<&Location>,
        key: &LookupKey,
    ) -> Found {
        let root = &key.root;
        let found = match entry.function {
            Function::Foreign => self.foreign(provider, entry, location, key)?,
            Function::Data(format) => {
                let Some(location) = location.filter(|one| !one.is_uri() && entry.options.is_empty()) else {
                    return Err(Failure::other(format!(
                        "'{}' one of 'path', 'paths' 'glob', 'globs' or 'mapped_paths' must be declared in hiera.yaml \
                         when using this data_hash function",
                        entry.function_name
                    )));
                };
                self.in_file(provider, entry, location, format, key)?
            }
            Function::Eyaml => {
                let Some(location) = location.filter(|one| !one.is_uri()) else {
                    return Err(Failure::other(
                        "'eyaml_lookup_key': one of 'path', 'paths' 'glob', 'globs' or 'mapped_paths' must be declared in \
                         hiera.yaml when using this lookup_key function",
                    ));
                };
                self.in_file(provider, entry, location, Format::Yaml, key)?
            }
        };
        match &found {
            Some(value) => self.report(|explainer| explainer.found(root, value)),
            None => self.report(|explainer| explainer.not_found(root)),
        }
        Ok(found)
    }

    /// Asks a function in the Puppet language or in Ruby. It answers each question once, as under Puppet.
    fn ask(
        &mut self,
        provider: usize,
        entry: &Entry,
        location: Option<&Location>,
        key: &LookupKey,
    ) -> Result<Backend, Failure> {
        let context = ContextKey {
            provider,
            is_default: entry.is_default,
            entry: entry.name.clone(),
            location: location.map(|one| one.path.clone()),
        };
        let place = location
            .map(|one| format!(", when using location '{}',", one.path.display()))
            .unwrap_or_default();
        let by = format!("{} function '{}'{place}", entry.kind, entry.function_name);
        if entry.kind == "data_hash" {
            let known = self.session.context(&context).data.clone();
            let data = match known {
                Some(data) => data,
                None => match self.call_function(&context, provider, entry, location, Vec::new()) {
                    Backend::Found(data) => {
                        let subject = format!("Value returned from {by}");
                        assert_instance(&subject, &Type::Hash(None), &data)
                            .map_err(|error| Failure::puppet(error.message))?;
                        self.session.context(&context).data = Some(data.clone());
                        data
                    }
                    other => return Ok(other),
                },
            };
            let found = data.as_hash().and_then(|data| data.get(&Key::from(&*key.root))).cloned();
            let Some(found) = found else { return Ok(Backend::NotFound) };
            check_value(&format!("Value for key '{}', in hash returned from {by}", key.root), &found)?;
            return Ok(Backend::Found(found));
        }
        let digs = entry.kind == "data_dig";
        let asked = if digs { &key.text } else { &key.root };
        let known = self.session.context(&context).answers.get(asked).cloned();
        let value = if let Some(value) = known {
            value
        } else {
            let question = if digs {
                let segments = key.segments.iter().map(Segment::value);
                Value::array(std::iter::once(Value::from(&*key.root)).chain(segments).collect())
            } else {
                Value::from(&*key.root)
            };
            match self.call_function(&context, provider, entry, location, vec![question]) {
                Backend::Found(value) => {
                    check_value(&format!("Value for key '{asked}', returned from {by}"), &value)?;
                    self.session.context(&context).answers.insert(Arc::clone(asked), value.clone());
                    value
                }
                other => return Ok(other),
            }
        };
        // What was dug out is put back, since the search digs in what all levels have.
        Ok(Backend::Found(if digs { key.undig(value) } else { value }))
    }

    fn call_function(
        &mut self,
        context: &ContextKey,
        provider: usize,
        entry: &Entry,
        location: Option<&Location>,
        mut arguments: Vec<Value>,
    ) -> Backend {
        let mut options = entry.options.clone();
        if let Some(location) = location {
            let name = if location.is_uri() { "uri" } else { "path" };
            options.insert(Key::from(name), Value::from(location.path.display().to_string()));
        }
        let mut attributes = Hash::default();
        attributes.insert(Key::from("environment_name"), Value::from(self.scope.environment_name()));
        let module = match &self.session.providers[provider].layer {
            Layer::Module(module) => Value::from(&**module),
            _ => Value::UNDEF,
        };
        attributes.insert(Key::from("module_name"), module);
        let object = Value::new(Data::Object(Arc::new(Object::new(LOOKUP_CONTEXT, attributes))));
        arguments.extend([Value::hash(options), object]);
        self.session.running.push(Running {
            key: context.clone(),
            overrides: self.overrides.clone(),
            defaults: self.defaults.clone(),
            global_only: self.global_only,
        });
        let answer = self.scope.call_backend(self.session, &entry.function_name, arguments);
        self.session.running.pop();
        answer
    }

    /// A backend whose code cannot be run may have any key.
    pub(crate) fn foreign(
        &mut self,
        provider: usize,
        entry: &Entry,
        location: Option<&Location>,
        key: &LookupKey,
    ) -> Found {
        if !confined(entry, &key.root) {
            return Ok(None);
        }
        let is_backend = entry.kind == "hiera3_backend";
        if !is_backend && !self.scope.has_function(&entry.function_name) {
            let message = format!("Unable to find '{}' function named '{}'", entry.kind, entry.function_name);
            return Err(self.session.providers[provider].config.problem(message, None));
        }
        let mut is_here = false;
        if !is_backend {
            match self.ask(provider, entry, location, key)? {
                Backend::Found(value) if entry.kind == "data_hash" => {
                    return self.interpolate(&value, true).map(Some);
                }
                Backend::Found(value) => return Ok(Some(value)),
                Backend::NotFound => return Ok(None),
                Backend::Failed(message) => return Err(Failure::other(message)),
                Backend::Unknown => is_here = true,
                Backend::Absent => {}
            }
        }
        if &*key.root == LOOKUP_OPTIONS {
            return Ok(None);
        }
        let place = location.map(|one| format!(" with {}", one.path.display())).unwrap_or_default();
        let what = if is_backend {
            format!("the hiera3_backend '{}'{place}", entry.function_name)
        } else {
            format!("the {} function '{}'{place}", entry.kind, entry.function_name)
        };
        // Code that is not among the inputs is a share that is not here: the rest of the data is taken without it. Keys that the
        // entry names are its own.
        if !is_here && !entry.options.contains_key(&Key::from(CONFINED)) {
            self.pass_over(format!("{what} (hierarchy entry \"{}\"), which is not here", entry.name));
            return Ok(None);
        }
        let reason =
            format!("the key '{}' may come from {what} (hierarchy entry \"{}\")", key.root, entry.name);
        self.scope.warn_once(
            &format!("hiera backend {}", entry.function_name),
            format!(
                "What {what} has is not known: backends are not run. The first key asked of it is '{}'",
                key.root
            ),
            None,
        );
        Ok(Some(self.opaque(reason)))
    }

    pub(crate) fn opaque(&mut self, reason: String) -> Value {
        let leaf = Leaf { kind: LeafKind::External, name: Some(Symbol::new("hiera")), span: None };
        let prov = self.scope.arena().leaf(leaf);
        Value::unknown(reason, Type::Any).with(prov)
    }

    pub(crate) fn in_file(
        &mut self,
        provider: usize,
        entry: &Entry,
        location: &Location,
        format: Format,
        key: &LookupKey,
    ) -> Found {
        let root = &key.root;
        let data = self.hiera.data.get(&location.path, format, self.hiera.files, self.hiera.sources);
        let Some(known) = self.content(provider, entry, location, &data)? else { return Ok(None) };
        let Some(found) = known.get(&Key::from(&**root)) else {
            self.absent(key.symbol, Some(data.file));
            return Ok(None);
        };
        if let Some(wrong) = &found.wrong {
            let path = location.path.display();
            let what = if entry.kind == "data_hash" { "in hash returned from" } else { "returned from" };
            return Err(Failure::puppet(format!(
                "Value for key '{root}', {what} {} function '{}', when using location '{path}', has wrong type, \
                 expects Puppet::LookupValue, got {wrong}",
                entry.kind, entry.function_name
            )));
        }
        let is_eyaml = entry.function == Function::Eyaml;
        let place = (data.file, is_eyaml, Arc::clone(root));
        let value = if let Some(value) = self.session.values.get(&place) {
            value.clone()
        } else {
            let mut value = found.value(key.symbol, data.file, self.scope.arena());
            if is_eyaml {
                value = self.unveiled(&value, entry, location, root);
            }
            self.session.values.insert(place, value.clone());
            value
        };
        if self.is_secret {
            self.note_secret(&value);
        }
        // What was encrypted may have expressions, too.
        let value = if found.interpolates || is_eyaml { self.interpolate(&value, true)? } else { value };
        Ok(Some(value))
    }

    /// The value with its encrypted texts opened. Those that cannot be are not known, and that is said.
    pub(crate) fn unveiled(
        &mut self,
        value: &Value,
        entry: &Entry,
        location: &Location,
        root: &str,
    ) -> Value {
        let opener = eyaml::Opener::new(&entry.options, self.hiera.files);
        let path = location.path.display();
        let reason = format!("the key '{root}' is encrypted in {path}");
        let mut problems = Vec::new();
        let before = value;
        let value = eyaml::unveiled(before, &opener, &reason, &mut problems);
        self.note_opened(before, &value);
        if let Some(problem) = problems.first() {
            self.scope.warn_once(
                &reason,
                format!("The value of the key '{root}' in {path} is encrypted and not known: {problem}"),
                None,
            );
        }
        value
    }

    /// Notes all texts of a value as secret, with the places that they are written at.
    fn note_secret(&mut self, value: &Value) {
        match &value.data {
            Data::Array(items) => items.iter().for_each(|item| self.note_secret(item)),
            Data::Hash(entries) => entries.values().for_each(|item| self.note_secret(item)),
            Data::String(text) => {
                self.hiera.sources.secrets().add_text(text);
                let leaf = self.scope.arena().origin(value.prov);
                if let Some(span) = leaf.and_then(|leaf| leaf.span) {
                    self.hiera.sources.hide(span);
                }
            }
            _ => {}
        }
    }

    /// Notes what was encrypted as secret.
    fn note_opened(&mut self, before: &Value, after: &Value) {
        match (&before.data, &after.data) {
            (Data::Array(before), Data::Array(after)) => {
                before.iter().zip(after.iter()).for_each(|(before, after)| self.note_opened(before, after));
            }
            (Data::Hash(before), Data::Hash(after)) => {
                before
                    .values()
                    .zip(after.values())
                    .for_each(|(before, after)| self.note_opened(before, after));
            }
            (Data::String(text), opened) if eyaml::is_encrypted(text) => {
                self.scope.arena().declare_secret(after.prov);
                if let Data::String(plain) = opened {
                    self.hiera.sources.secrets().add_text(plain);
                }
            }
            _ => {}
        }
    }

    /// The entries of a file, if it is what it should be.
    pub(crate) fn content<'d>(
        &mut self,
        provider: usize,
        entry: &Entry,
        location: &Location,
        data: &'d DataFile,
    ) -> Result<Option<&'d FileEntries>, Failure> {
        let path = location.path.display().to_string();
        let is_new = self.session.checked.insert((provider, data.file));
        let subject = || {
            format!(
                "Value returned from {} function '{}', when using location '{path}',",
                entry.kind, entry.function_name
            )
        };
        match &data.content {
            Content::Unreadable(problem) => Err(Failure::data(problem.clone())),
            Content::Malformed(problem) => {
                let named =
                    if entry.function == Function::Data(Format::Yaml) || entry.function == Function::Eyaml {
                        format!("Unable to parse {problem}")
                    } else {
                        format!("Unable to parse ({path}): {problem}")
                    };
                Err(Failure::data(named))
            }
            Content::NotAHash(value)
                if matches!(entry.function, Function::Data(Format::Json | Format::Hocon)) =>
            {
                let of = Type::Hash(None);
                assert_instance(&subject(), &of, value).map_err(|error| Failure::puppet(error.message))?;
                Ok(None)
            }
            Content::NotAHash(value) => {
                let message = format!("{path}: file does not contain a valid yaml hash");
                if self.scope.strict() == Strictness::Error && *value != Value::from(false) {
                    return Err(Failure::data(message));
                }
                if is_new {
                    self.scope.warn(message);
                }
                Ok(None)
            }
            Content::Hash(entries) => {
                if is_new
                    && entry.kind == "data_hash"
                    && let Layer::Module(module) = self.session.providers[provider].layer.clone()
                {
                    let prefix = format!("{module}::");
                    for key in entries.keys() {
                        match key.0.as_str() {
                            Some(LOOKUP_OPTIONS) => {}
                            Some(key) if key.starts_with(&prefix) => {}
                            Some(_) => self.scope.warn(format!(
                                "Module '{module}': {} must use keys qualified with the name of the module",
                                subject()
                            )),
                            None => {
                                return Err(Failure::other(setpoint_puppet_values::ruby::text::no_method(
                                    "start_with?",
                                    &key.0,
                                )));
                            }
                        }
                    }
                }
                Ok(Some(entries))
            }
        }
    }
}

/// An option that several backends have: the keys that they are asked for.
/// What a function returns must be data, or what data may hold beside.
fn check_value(subject: &str, value: &Value) -> Result<(), Failure> {
    let of = Type::builtin("Puppet::LookupValue").unwrap_or(Type::Any);
    assert_instance(subject, &of, value).map_err(|error| Failure::puppet(error.message))
}

fn confined(entry: &Entry, key: &str) -> bool {
    let Some(patterns) = entry.options.get(&Key::from(CONFINED)).and_then(Value::as_array) else {
        return true;
    };
    patterns
        .iter()
        .filter_map(Value::as_str)
        .filter_map(|pattern| Regex::new(pattern).ok())
        .any(|pattern| pattern.is_match(key).unwrap_or(true))
}
