//! The search: global data, then the environment's, then the module's, then the module's defaults.

use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use rustc_hash::{FxHashMap, FxHashSet};
use setpoint_provenance::{Control, Leaf, LeafKind, Prov};
use setpoint_puppet_functions::{DataAnswer, DataRequest, MissingData};
use setpoint_puppet_values::types::assert_instance;
use setpoint_puppet_values::{Data, Hash, Key, Opaque, Regex, Strictness, Type, Value, to_text};
use setpoint_source::{FileId, Range, Symbol};

use crate::config::{Config, Layer};
use crate::data::{Content, DataFile, Format};
use crate::explain::{Explainer, Step};
use crate::failure::{Failure, FailureKind};
use crate::hierarchy::{Entry, Function, Location};
use crate::key::{LookupKey, Segment};
use crate::merge::{self, Merge};
use crate::{Explain, Explanation, Hiera, Scope};

const LOOKUP_OPTIONS: &str = "lookup_options";
/// Keys that refer to keys may do so this many times.
const MAX_NESTED: usize = 400;

static NOTHING: LazyLock<Hash> = LazyLock::new(Hash::default);

/// What the searches of one node share.
#[derive(Debug, Default)]
pub struct Session {
    providers: Vec<Provider>,
    global: Option<usize>,
    environment: Option<Option<usize>>,
    modules: FxHashMap<Arc<str>, Option<usize>>,
    lookup_options: FxHashMap<Option<Arc<str>>, Arc<Patterns>>,
    global_options: Option<Option<Value>>,
    environment_options: Option<Option<Value>>,
    module_default_options: FxHashMap<Arc<str>, Arc<Patterns>>,
    /// Values that need no interpolation, with their provenance.
    values: FxHashMap<(FileId, Arc<str>), Value>,
    /// Files whose keys were checked.
    checked: FxHashSet<(usize, FileId)>,
}

/// A level that has a configuration.
#[derive(Debug)]
struct Provider {
    layer: Layer,
    config: Arc<Config>,
    resolved: Option<Resolved>,
}

/// A configuration as it is for the variables of a scope.
#[derive(Debug, Clone)]
struct Resolved {
    entries: Arc<Vec<Entry>>,
    defaults: Arc<Vec<Entry>>,
    variables: Vec<Remembered>,
    prov: Prov,
}

/// A variable that a configuration was resolved with.
#[derive(Debug, Clone)]
pub(crate) struct Remembered {
    pub(crate) key: Arc<str>,
    pub(crate) root: Arc<str>,
    pub(crate) segments: Vec<Segment>,
    pub(crate) value: Value,
}

/// `lookup_options`, by key and by pattern.
#[derive(Debug, Default)]
struct Patterns {
    keys: Hash,
    patterns: Vec<(Regex, Value)>,
}

impl Patterns {
    fn compile(options: Option<&Value>) -> Result<Self, Failure> {
        let mut compiled = Self::default();
        for (key, value) in options.and_then(Value::as_hash).into_iter().flatten() {
            match key.0.as_str() {
                Some(pattern) if pattern.starts_with('^') => {
                    let regex = Regex::new(pattern).map_err(|error| Failure::other(error.message))?;
                    compiled.patterns.push((regex, value.clone()));
                }
                _ => {
                    compiled.keys.insert(key.clone(), value.clone());
                }
            }
        }
        Ok(compiled)
    }

    fn get(&self, key: &str) -> Option<&Value> {
        let exact = self.keys.get(&Key::from(key)).filter(|value| !value.is_undef());
        exact.or_else(|| {
            let fits = |pattern: &Regex| pattern.is_match(key).unwrap_or(false);
            self.patterns.iter().find(|(pattern, _)| fits(pattern)).map(|(_, value)| value)
        })
    }
}

#[derive(Clone, Copy)]
enum Level {
    Global,
    Environment,
    Module,
}

type Found = Result<Option<Value>, Failure>;

/// One search in progress.
pub(crate) struct Search<'s> {
    pub(crate) hiera: &'s Hiera<'s>,
    pub(crate) session: &'s mut Session,
    pub(crate) scope: &'s mut dyn Scope,
    pub(crate) overrides: &'s Hash,
    pub(crate) defaults: &'s Hash,
    /// The variables that a configuration reads, while it is resolved.
    pub(crate) collected: Option<Vec<Remembered>>,
    /// Variables that hide those of the scope.
    pub(crate) locals: Vec<(Arc<str>, Value)>,
    explainer: Option<Explainer>,
    options_only: bool,
    /// The keys that are being looked for.
    stack: Vec<String>,
    module: Option<Arc<str>>,
    top_key: Arc<str>,
    global_only: bool,
    /// What was observed on the way: levels without the key, variables in paths.
    passed: Vec<Prov>,
    searched: Vec<PathBuf>,
}

pub(crate) fn run(
    hiera: &Hiera<'_>,
    session: &mut Session,
    scope: &mut dyn Scope,
    request: &DataRequest<'_>,
) -> Result<DataAnswer, Failure> {
    let mut search = Search::new(hiera, session, scope, request.overrides, request.defaults);
    if request.hiera_call {
        let environment = search.provider_of_environment()?;
        let with_data = environment.is_some_and(|at| search.session.providers[at].config.version >= 5);
        search.global_only = !with_data;
    }
    search.answer(request.key, request.merge)
}

pub(crate) fn explain(
    hiera: &Hiera<'_>,
    session: &mut Session,
    scope: &mut dyn Scope,
    keys: &[&str],
    merge: Option<&Value>,
    how: Explain,
) -> Explanation {
    let mut search = Search::new(hiera, session, scope, &NOTHING, &NOTHING);
    search.explainer = Some(Explainer::new());
    search.options_only = how.options_only;
    let mut answer = Ok(DataAnswer::Missing(MissingData::default()));
    for key in keys {
        answer = search.answer(key, merge);
        if !matches!(answer, Ok(DataAnswer::Missing(_))) {
            break;
        }
    }
    let problem = match &answer {
        Err(failure) => Some(failure.message.clone()),
        Ok(DataAnswer::Missing(_)) if !how.has_default => Some(not_found(keys)),
        Ok(_) => None,
    };
    if let Some(message) = problem {
        search.report(|explainer| explainer.text(message));
    }
    let text = search.explainer.as_ref().map(Explainer::explain).unwrap_or_default();
    Explanation { text, answer }
}

/// What Puppet says about keys that no level has.
pub fn not_found(keys: &[&str]) -> String {
    match keys {
        [only] => format!("Function lookup() did not find a value for the name '{only}'"),
        _ => {
            let names: Vec<String> = keys.iter().map(|key| format!("'{key}'")).collect();
            format!("Function lookup() did not find a value for any of the names [{}]", names.join(", "))
        }
    }
}

impl<'s> Search<'s> {
    fn new(
        hiera: &'s Hiera<'s>,
        session: &'s mut Session,
        scope: &'s mut dyn Scope,
        overrides: &'s Hash,
        defaults: &'s Hash,
    ) -> Self {
        Self {
            hiera,
            session,
            scope,
            overrides,
            defaults,
            collected: None,
            locals: Vec::new(),
            explainer: None,
            options_only: false,
            stack: Vec::new(),
            module: None,
            top_key: "".into(),
            global_only: false,
            passed: Vec::new(),
            searched: Vec::new(),
        }
    }

    fn answer(&mut self, key: &str, merge: Option<&Value>) -> Result<DataAnswer, Failure> {
        match self.lookup(key, merge)? {
            Some(value) => Ok(DataAnswer::Found(value)),
            None => {
                let passed = std::mem::take(&mut self.passed);
                let prov = self.scope.arena().operation("lookup".into(), None, &passed);
                Ok(DataAnswer::Missing(MissingData { searched: std::mem::take(&mut self.searched), prov }))
            }
        }
    }

    /// Does something as a step of the explanation.
    pub(crate) fn with<T>(
        &mut self,
        step: impl FnOnce() -> Step,
        work: impl FnOnce(&mut Self) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        if let Some(explainer) = &mut self.explainer {
            explainer.push(step());
            let result = work(self);
            if let Some(explainer) = &mut self.explainer {
                explainer.pop();
            }
            result
        } else {
            work(self)
        }
    }

    pub(crate) fn report(&mut self, report: impl FnOnce(&mut Explainer)) {
        if let Some(explainer) = &mut self.explainer {
            report(explainer);
        }
    }

    /// Guards against keys that lead back to themselves.
    pub(crate) fn check<T>(
        &mut self,
        name: String,
        work: impl FnOnce(&mut Self) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        if self.stack.contains(&name) {
            return Err(Failure::data(format!("Recursive lookup detected in [{}]", self.stack.join(", "))));
        }
        if self.stack.len() >= MAX_NESTED {
            return Err(Failure::data(format!("Keys refer to keys more than {MAX_NESTED} times")));
        }
        self.stack.push(name);
        let result = work(self);
        self.stack.pop();
        result.map_err(|mut failure| {
            if failure.kind == FailureKind::Puppet {
                failure.kind = FailureKind::Data;
            }
            failure
        })
    }

    /// A key that an interpolation names; one that is missing is an empty text.
    pub(crate) fn sub_request(&mut self, key: &str) -> Result<Value, Failure> {
        if let Some(value) = self.overrides.get(&Key::from(key)) {
            return Ok(value.clone());
        }
        let passed = std::mem::take(&mut self.passed);
        let found = self.lookup(key, None);
        let missing = std::mem::replace(&mut self.passed, passed);
        if let Some(value) = found? {
            return Ok(value);
        }
        if let Some(value) = self.defaults.get(&Key::from(key)) {
            return Ok(value.clone());
        }
        let prov = self.scope.arena().operation("lookup".into(), None, &missing);
        Ok(Value::from("").with(prov))
    }

    fn lookup(&mut self, key: &str, merge: Option<&Value>) -> Found {
        if key == LOOKUP_OPTIONS || key.starts_with("lookup_options.") {
            self.report(|explainer| explainer.leaf(Step::InvalidKey(LOOKUP_OPTIONS.to_owned())));
            return Ok(None);
        }
        let key = LookupKey::new(key)?;
        let module = std::mem::replace(&mut self.module, key.module.clone());
        let top_key = std::mem::replace(&mut self.top_key, Arc::clone(&key.text));
        let result = self.lookup_key(&key, merge);
        self.module = module;
        self.top_key = top_key;
        result
    }

    fn lookup_key(&mut self, key: &LookupKey, merge: Option<&Value>) -> Found {
        if self.options_only {
            self.find(&LookupKey::new(LOOKUP_OPTIONS)?, &Merge::plain(merge::Kind::Hash))?;
            return Ok(Some(Value::UNDEF));
        }
        let options = self.options_for(key)?;
        let option = |name: &str| options.as_ref().and_then(Value::as_hash)?.get(&Key::from(name)).cloned();
        let merge = match merge {
            Some(merge) => Some(merge.clone()),
            None => {
                let merge = option("merge").filter(|merge| !merge.is_undef());
                if merge.is_some() {
                    self.report(|explainer| explainer.leaf(Step::MergeSource(LOOKUP_OPTIONS)));
                }
                merge
            }
        };
        let found = self.with(
            || Step::Top(key.text.to_string()),
            |search| {
                let merge = Merge::of(merge.as_ref())?;
                if let Some(found) = search.find(key, &merge)? {
                    return Ok(Some(found));
                }
                if search.global_only {
                    return Ok(None);
                }
                match search.find_in_module_defaults(key)? {
                    Some(found) => search.dig_key(key, found),
                    None => Ok(None),
                }
            },
        )?;
        let Some(found) = found else { return Ok(None) };
        match option("convert_to").filter(|to| !to.is_undef()) {
            Some(to) => self.convert(key, &to, found).map(Some),
            None => Ok(Some(found)),
        }
    }

    /// The value under the first segments of a dotted key.
    fn dig_key(&mut self, key: &LookupKey, value: Value) -> Found {
        if key.segments.is_empty() { Ok(Some(value)) } else { self.dig(&key.text, &key.segments, value) }
    }

    fn convert(&mut self, key: &LookupKey, to: &Value, found: Value) -> Result<Value, Failure> {
        if matches!(found.data, Data::Opaque(_)) {
            return Ok(found);
        }
        let mut to = match &to.data {
            Data::Array(items) => items.to_vec(),
            _ => vec![to.clone()],
        };
        let Some(first) = to.first_mut() else { return Ok(found) };
        if let Some(text) = first.as_str() {
            *first = self.scope.parse_type(text).map_err(|problem| {
                Failure::data(format!(
                    "Invalid data type in lookup_options for key '{}' could not parse '{text}', error: '{problem}",
                    key.text
                ))
            })?;
        }
        let of = first.clone();
        let prov = found.prov;
        let arguments = std::iter::once(found).chain(to.iter().skip(1).cloned()).collect();
        let converted = self.scope.convert(of, arguments).map_err(|problem| {
            Failure::data(format!(
                "The convert_to lookup_option for key '{}' raised error: {problem}",
                key.text
            ))
        })?;
        let arguments = to_text(&Value::array(to)).to_string();
        self.report(|explainer| {
            explainer.text(format!("Applying convert_to lookup_option with arguments {arguments}"));
        });
        let prov = self.scope.arena().operation("convert_to".into(), None, &[prov, converted.prov]);
        Ok(converted.with(prov))
    }

    /// Looks for a key in all levels, and goes into what is found.
    fn find(&mut self, key: &LookupKey, merge: &Merge) -> Found {
        let outer = std::mem::take(&mut self.passed);
        let found = if self.global_only {
            self.in_level(Level::Global, key, merge)
        } else {
            let levels = [Level::Global, Level::Environment, Level::Module];
            self.merged(merge, &levels, |search, level| search.in_level(*level, key, merge))
        };
        let passed = std::mem::replace(&mut self.passed, outer);
        match found? {
            Some(value) => {
                let value = self.selected(value, &passed, &key.root);
                self.dig_key(key, value)
            }
            None => {
                self.passed.extend(passed);
                Ok(None)
            }
        }
    }

    fn in_level(&mut self, level: Level, key: &LookupKey, merge: &Merge) -> Found {
        match level {
            Level::Global => self.in_global(key, merge),
            Level::Environment => match self.provider_of_environment()? {
                Some(provider) => self.in_provider(provider, key, merge),
                None => Ok(None),
            },
            Level::Module => self.in_module(key, merge),
        }
    }

    fn in_global(&mut self, key: &LookupKey, merge: &Merge) -> Found {
        let found = self.provider_of_global().and_then(|provider| match provider {
            Some(provider) => self.in_provider(provider, key, merge),
            None => Ok(None),
        });
        found.map_err(|failure| match failure.kind {
            FailureKind::Data => {
                Failure::puppet(format!("Lookup of key '{}' failed: {}", self.top_key, failure.message))
            }
            _ => failure,
        })
    }

    fn in_module(&mut self, key: &LookupKey, merge: &Merge) -> Found {
        let Some(module) = self.module.clone() else { return Ok(None) };
        match self.provider_of_module(&module)? {
            Some(provider) => self.in_provider(provider, key, merge),
            None => {
                let is_there = self.scope.module(&module).is_some();
                self.report(|explainer| {
                    let name = module.to_string();
                    explainer.leaf(if is_there {
                        Step::ModuleProviderNotFound(name)
                    } else {
                        Step::ModuleNotFound(name)
                    });
                });
                Ok(None)
            }
        }
    }

    /// The strategy over a list: levels, entries of a hierarchy, or files of an entry.
    fn merged<V>(
        &mut self,
        merge: &Merge,
        variants: &[V],
        mut look: impl FnMut(&mut Self, &V) -> Found,
    ) -> Found {
        if merge.is_first() {
            for variant in variants {
                if let Some(found) = look(self, variant)? {
                    return Ok(Some(found));
                }
            }
            return Ok(None);
        }
        match variants {
            [] => Ok(None),
            [only] => Ok(look(self, only)?.map(|found| merge.single(found))),
            _ => {
                let step = || Step::Merge { strategy: merge.kind.name(), options: merge.options.clone() };
                self.with(step, |search| {
                    let mut joined: Option<Value> = None;
                    for variant in variants {
                        let Some(value) = look(search, variant)? else { continue };
                        joined = Some(match joined {
                            None => {
                                let prov = value.prov;
                                merge.start(value).with(prov)
                            }
                            Some(before) => {
                                let value_prov = value.prov;
                                let after = merge.join(&before, &value)?;
                                let provs = [before.prov, value_prov];
                                let prov = search.scope.arena().operation("merge".into(), None, &provs);
                                after.with(prov)
                            }
                        });
                    }
                    if let Some(result) = &joined {
                        search.report(|explainer| explainer.result(result));
                    }
                    Ok(joined)
                })
            }
        }
    }

    fn in_provider(&mut self, provider: usize, key: &LookupKey, merge: &Merge) -> Found {
        self.check(key.text.to_string(), |search| {
            let step = search.provider_step(provider);
            search.with(
                || step,
                |search| {
                    let entries = search.entries(provider, false)?;
                    if entries.is_empty() {
                        search.report(|explainer| explainer.not_found(&key.text));
                        return Ok(None);
                    }
                    search
                        .merged(merge, &entries, |search, entry| search.in_entry(provider, entry, key, merge))
                },
            )
        })
    }

    fn provider_step(&self, provider: usize) -> Step {
        let provider = &self.session.providers[provider];
        let place = match &provider.layer {
            Layer::Global => "Global".to_owned(),
            Layer::Environment => "Environment".to_owned(),
            Layer::Module(name) => format!("Module \"{name}\""),
        };
        let version = provider.config.version;
        Step::DataProvider {
            name: format!("{place} Data Provider (hiera configuration version {version})"),
            config: provider.config.path.as_ref().map(|path| path.display().to_string()),
        }
    }

    fn in_entry(&mut self, provider: usize, entry: &Entry, key: &LookupKey, merge: &Merge) -> Found {
        let name = format!("Hierarchy entry \"{}\"", entry.name);
        self.with(
            || Step::DataProvider { name, config: None },
            |search| match &entry.locations {
                None => {
                    let nowhere = [None];
                    search.merged(merge, &nowhere, |search, location: &Option<&Location>| {
                        search.in_location(provider, entry, *location, key)
                    })
                }
                Some(locations) => search.merged(merge, locations, |search, location| {
                    search.in_location(provider, entry, Some(location), key)
                }),
            },
        )
    }

    fn in_location(
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
                if !location.is_uri
                    && &*key.root != LOOKUP_OPTIONS
                    && !search.searched.contains(&location.path)
                {
                    search.searched.push(location.path.clone());
                }
                if location.exists {
                    return search.call(provider, entry, Some(location), key);
                }
                search.report(Explainer::location_not_found);
                let path = location.path.display().to_string();
                search.absent(&path, None);
                Ok(None)
            },
        )
    }

    fn absent(&mut self, name: &str, file: Option<FileId>) {
        let arena = self.scope.arena();
        if arena.enabled() {
            let span = file.map(|file| Range::new(0, 0).in_file(file));
            let leaf = Leaf { kind: LeafKind::Absence, name: Some(Symbol::new(name)), span };
            let leaf = arena.leaf(leaf);
            self.passed.push(leaf);
        }
    }

    /// Asks the function of an entry.
    fn call(
        &mut self,
        provider: usize,
        entry: &Entry,
        location: Option<&Location>,
        key: &LookupKey,
    ) -> Found {
        let root = &key.root;
        let found = match entry.function {
            Function::Foreign => self.foreign(entry, location, key)?,
            Function::Data(format) => {
                let Some(location) = location.filter(|one| !one.is_uri && entry.options.is_empty()) else {
                    return Err(Failure::other(format!(
                        "'{}' one of 'path', 'paths' 'glob', 'globs' or 'mapped_paths' must be declared in hiera.yaml \
                         when using this data_hash function",
                        entry.function_name
                    )));
                };
                self.in_file(provider, entry, location, format, root)?
            }
            Function::Eyaml => {
                let Some(location) = location.filter(|one| !one.is_uri) else {
                    return Err(Failure::other(
                        "'eyaml_lookup_key': one of 'path', 'paths' 'glob', 'globs' or 'mapped_paths' must be declared in \
                         hiera.yaml when using this lookup_key function",
                    ));
                };
                self.in_file(provider, entry, location, Format::Yaml, root)?
            }
        };
        match &found {
            Some(value) => self.report(|explainer| explainer.found(root, value)),
            None => self.report(|explainer| explainer.not_found(root)),
        }
        Ok(found)
    }

    /// A backend whose code is not run may have any key.
    fn foreign(&mut self, entry: &Entry, location: Option<&Location>, key: &LookupKey) -> Found {
        if &*key.root == LOOKUP_OPTIONS || !confined(entry, &key.root) {
            return Ok(None);
        }
        let is_backend = entry.kind == "hiera3_backend";
        if !is_backend && !self.scope.has_function(&entry.function_name) {
            return Err(Failure::issue(format!(
                "Unable to find '{}' function named '{}'",
                entry.kind, entry.function_name
            )));
        }
        let place = location.map(|one| format!(" with {}", one.path.display())).unwrap_or_default();
        let what = if is_backend {
            format!("the hiera3_backend '{}'{place}", entry.function_name)
        } else {
            format!("the {} function '{}'{place}", entry.kind, entry.function_name)
        };
        let reason =
            format!("the key '{}' may come from {what} (hierarchy entry \"{}\")", key.root, entry.name);
        self.scope.warn_once(
            &format!("hiera backend {}", entry.function_name),
            format!(
                "What {what} has is not known: backends are not run. The first key asked of it is '{}'",
                key.root
            ),
        );
        Ok(Some(self.opaque(reason)))
    }

    fn opaque(&mut self, reason: String) -> Value {
        let leaf = Leaf { kind: LeafKind::External, name: Some(Symbol::new("hiera")), span: None };
        let prov = self.scope.arena().leaf(leaf);
        Value::new(Data::Opaque(Arc::new(Opaque { reason: reason.into() }))).with(prov)
    }

    fn in_file(
        &mut self,
        provider: usize,
        entry: &Entry,
        location: &Location,
        format: Format,
        root: &Arc<str>,
    ) -> Found {
        let data = self.hiera.data.get(&location.path, format, self.hiera.files, self.hiera.sources);
        let Some(known) = self.content(provider, entry, location, &data)? else { return Ok(None) };
        let Some(found) = known.get(&Key::from(&**root)) else {
            self.absent(root, Some(data.file));
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
        let place = (data.file, Arc::clone(root));
        let value = match self.session.values.get(&place) {
            Some(value) => value.clone(),
            None => {
                let value = found.value(Symbol::new(root), data.file, self.scope.arena());
                self.session.values.insert(place, value.clone());
                value
            }
        };
        let value = if found.interpolates { self.interpolate(&value, true)? } else { value };
        Ok(Some(value))
    }

    /// The entries of a file, if it is what it should be.
    fn content<'d>(
        &mut self,
        provider: usize,
        entry: &Entry,
        location: &Location,
        data: &'d DataFile,
    ) -> Result<Option<&'d indexmap::IndexMap<Key, crate::data::Entry, rustc_hash::FxBuildHasher>>, Failure>
    {
        let path = location.path.display().to_string();
        let is_new = self.session.checked.insert((provider, data.file));
        let subject = || {
            format!(
                "Value returned from {} function '{}', when using location '{path}',",
                entry.kind, entry.function_name
            )
        };
        match &data.content {
            Content::Unreadable(problem) => {
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

    // Configurations.

    fn provider_of_global(&mut self) -> Result<Option<usize>, Failure> {
        if let Some(known) = self.session.global {
            return Ok(Some(known));
        }
        let config = match self.hiera.levels.global.clone() {
            Some(path) => {
                self.hiera.configs.get(&path, &Layer::Global, self.hiera.files, self.hiera.sources)?
            }
            None => {
                let mut config = Config::default_at(std::path::Path::new(""));
                config.hierarchy.clear();
                Arc::new(config)
            }
        };
        match config.version {
            4 => {
                let message = "hiera.yaml version 4 cannot be used in the global layer";
                return Err(config.problem(message, None));
            }
            3 => {
                let message = "hiera.yaml version 3 is not supported: Puppet has deprecated it. Convert it to version 5";
                return Err(config.problem(message, None));
            }
            _ => {}
        }
        let at = self.add_provider(Layer::Global, config);
        self.session.global = Some(at);
        Ok(Some(at))
    }

    fn provider_of_environment(&mut self) -> Result<Option<usize>, Failure> {
        if let Some(known) = self.session.environment {
            return Ok(known);
        }
        let path = self.hiera.levels.environment.as_ref().map(|folder| folder.join("hiera.yaml"));
        let path = path.filter(|path| self.hiera.files.is_file(path));
        let provider = match path {
            None => None,
            Some(path) => self.below_global(&path, Layer::Environment)?,
        };
        self.session.environment = Some(provider);
        Ok(provider)
    }

    fn provider_of_module(&mut self, name: &Arc<str>) -> Result<Option<usize>, Failure> {
        if let Some(known) = self.session.modules.get(name) {
            return Ok(*known);
        }
        let path = self.scope.module(name).map(|folder| folder.join("hiera.yaml"));
        let path = path.filter(|path| self.hiera.files.is_file(path));
        let provider = match path {
            None => None,
            Some(path) => self.below_global(&path, Layer::Module(Arc::clone(name)))?,
        };
        self.session.modules.insert(Arc::clone(name), provider);
        Ok(provider)
    }

    /// The provider of an environment or of a module. Version 3 is ignored there, or refused.
    fn below_global(&mut self, path: &std::path::Path, layer: Layer) -> Result<Option<usize>, Failure> {
        let config = self.hiera.configs.get(path, &layer, self.hiera.files, self.hiera.sources)?;
        if let Some(warning) = &config.warning {
            self.scope.warn(warning.clone());
        }
        if config.version < 5 && self.scope.strict() != Strictness::Off {
            self.scope.warn_once(
                "hiera.yaml",
                format!(
                    "{}: Use of 'hiera.yaml' version {} is deprecated. It should be converted to version 5",
                    path.display(),
                    config.version
                ),
            );
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
            &path.display().to_string(),
            format!("hiera.yaml version 3 found at {root} was ignored"),
        );
        Ok(None)
    }

    fn add_provider(&mut self, layer: Layer, config: Arc<Config>) -> usize {
        self.session.providers.push(Provider { layer, config, resolved: None });
        self.session.providers.len() - 1
    }

    /// The entries of a provider, resolved again if a variable has another value than before.
    fn entries(&mut self, provider: usize, default: bool) -> Result<Arc<Vec<Entry>>, Failure> {
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
        let entries = self.resolve(&config, &layer, false);
        let defaults_of = entries.is_ok().then(|| self.resolve(&config, &layer, true));
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

    fn taken(&mut self, resolved: &Resolved, default: bool) -> Arc<Vec<Entry>> {
        if !resolved.prov.is_none() {
            self.passed.push(resolved.prov);
        }
        Arc::clone(if default { &resolved.defaults } else { &resolved.entries })
    }

    fn is_stable(&mut self, variables: &[Remembered]) -> bool {
        variables.iter().all(|remembered| {
            let mut value = self.scope.variable(&remembered.root).unwrap_or(Value::UNDEF);
            for segment in &remembered.segments {
                value = match crate::key::step(&value, segment, &remembered.key) {
                    Ok(crate::key::Step::Found(found) | crate::key::Step::Unknown(found)) => found,
                    _ => Value::UNDEF,
                };
            }
            value == remembered.value
        })
    }

    // `lookup_options`.

    fn options_for(&mut self, key: &LookupKey) -> Result<Option<Value>, Failure> {
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

    fn retrieve_options(&mut self, module: Option<&Arc<str>>) -> Result<Patterns, Failure> {
        let key = LookupKey::new(LOOKUP_OPTIONS)?;
        let merge = Merge::plain(merge::Kind::Hash);
        if self.global_only {
            let options = self.options_of_global(&key, &merge)?;
            return Patterns::compile(options.as_ref());
        }
        let above = self.options_of_environment(&key, &merge)?;
        let Some(module) = module else { return Patterns::compile(above.as_ref()) };
        if !self.session.lookup_options.contains_key(&None) {
            let compiled = Arc::new(Patterns::compile(above.as_ref())?);
            self.session.lookup_options.insert(None, compiled);
        }
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

    fn options_of_global(&mut self, key: &LookupKey, merge: &Merge) -> Found {
        if let Some(known) = &self.session.global_options {
            return Ok(known.clone());
        }
        let found = self.in_global(key, merge)?;
        let options = checked_options(found, None)?;
        self.session.global_options = Some(options.clone());
        Ok(options)
    }

    fn options_of_environment(&mut self, key: &LookupKey, merge: &Merge) -> Found {
        if let Some(known) = &self.session.environment_options {
            return Ok(known.clone());
        }
        let global = self.options_of_global(key, merge)?;
        let found = self.in_level(Level::Environment, key, merge)?;
        let own = checked_options(found, None)?;
        let options = match (global, own) {
            (Some(global), Some(own)) => Some(merge.join(&global, &own)?),
            (global, own) => global.or(own),
        };
        self.session.environment_options = Some(options.clone());
        Ok(options)
    }

    fn find_in_module_defaults(&mut self, key: &LookupKey) -> Found {
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
                let merge = options.get(&key.root).and_then(Value::as_hash).cloned().unwrap_or_default();
                let merge = Merge::of(merge.get(&Key::from("merge")))?;
                let title = format!("Searching for \"{}\"", key.text);
                search.with(|| Step::Scope(title), |search| search.in_defaults(provider, key, &merge))
            },
        );
        let passed = std::mem::replace(&mut self.passed, outer);
        match found? {
            Some(value) => {
                let all: Vec<Prov> = self.passed.iter().copied().chain(passed).collect();
                Ok(Some(self.selected(value, &all, &key.root)))
            }
            None => {
                self.passed.extend(passed);
                Ok(None)
            }
        }
    }

    fn default_options(&mut self, module: &Arc<str>, provider: usize) -> Result<Arc<Patterns>, Failure> {
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

    fn in_defaults(&mut self, provider: usize, key: &LookupKey, merge: &Merge) -> Found {
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

    // Provenance.

    /// A value that was found after others had not been found.
    fn selected(&mut self, value: Value, passed: &[Prov], key: &str) -> Value {
        let arena = self.scope.arena();
        if !arena.enabled() || passed.is_empty() {
            return value;
        }
        let search = arena.operation("lookup".into(), None, passed);
        let _ = key;
        let prov = arena.under(value.prov, Control::Selection, search, None);
        value.with(prov)
    }

    /// An element that was chosen from a collection.
    pub(crate) fn chosen(&mut self, from: &Value, element: Value) -> Value {
        let arena = self.scope.arena();
        if !arena.enabled() {
            return element;
        }
        let prov = arena.under(element.prov, Control::Selection, from.prov, None);
        element.with(prov)
    }

    /// A value that another value led to.
    pub(crate) fn derived(&mut self, name: &str, value: Value, by: Prov) -> Value {
        let arena = self.scope.arena();
        if !arena.enabled() {
            return value;
        }
        let cause = arena.operation(name.into(), None, &[by]);
        let prov = arena.under(value.prov, Control::Selection, cause, None);
        value.with(prov)
    }
}

/// An option that several backends have: the keys that they are asked for.
fn confined(entry: &Entry, key: &str) -> bool {
    let Some(patterns) = entry.options.get(&Key::from("confine_to_keys")).and_then(Value::as_array) else {
        return true;
    };
    patterns
        .iter()
        .filter_map(Value::as_str)
        .filter_map(|pattern| Regex::new(pattern).ok())
        .any(|pattern| pattern.is_match(key).unwrap_or(true))
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
        return failure;
    };
    let names =
        |line: &str| ["", "'", "\""].iter().any(|quote| line.contains(&format!("%{{{quote}{name}{quote}}}")));
    config.problem(format!("Undefined variable '{name}'"), config.line_matching(1, names))
}

/// `lookup_options` must be a hash; those of a module speak of its own keys only.
fn checked_options(options: Option<Value>, module: Option<&Arc<str>>) -> Found {
    let Some(options) = options.filter(|options| !options.is_undef()) else { return Ok(None) };
    let Data::Hash(entries) = &options.data else {
        return Err(Failure::data("value of lookup_options must be a hash"));
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
                    )));
                }
                None if !key.starts_with(&prefix) => {
                    return Err(Failure::data(format!(
                        "all lookup_options keys must start with module name '{module}'"
                    )));
                }
                _ => {}
            }
        }
    }
    Ok(Some(options))
}
