//! The search: global data, then the environment's, then the module's, then the module's defaults.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use rustc_hash::{FxHashMap, FxHashSet};
use setpoint_provenance::{Control, Prov};
use setpoint_puppet_functions::FailureKind::MissingKey;
use setpoint_puppet_functions::{DataAnswer, DataRequest, KeyUse, MissingData};
use setpoint_puppet_values::{Data, Hash, Key, Value, to_text};
use setpoint_source::{FileId, Limit};

use crate::config::Layer;
use crate::contexts::{ContextKey, FunctionContext, Running};
use crate::explain::{Explainer, Step};
use crate::failure::{Failure, FailureKind};
use crate::key::{LookupKey, Segment};
use crate::levels::Provider;
use crate::merge::{self, Merge};
use crate::options::{Patterns, option, unknown_option};
use crate::{Explain, Explanation, Hiera, Scope};

pub(crate) const LOOKUP_OPTIONS: &str = "lookup_options";
/// Keys that refer to keys may do so this many times.
const MAX_NESTED: Limit = Limit::new(400);
/// Expressions `%{…}` that the searches for one key resolve. Keys that name the same key twice need 2^n.
const MAX_EXPRESSIONS: Limit = Limit::new(200_000);
/// Bytes of the texts and collections that the searches for one key make.
const MAX_BYTES: Limit = Limit::new(64 << 20);

pub(crate) static NOTHING: LazyLock<Hash> = LazyLock::new(Hash::default);

/// What the searches of one node share.
#[derive(Debug, Default)]
#[allow(clippy::option_option, reason = "not asked yet, asked and not there, or there")]
pub struct Session {
    pub(crate) providers: Vec<Provider>,
    pub(crate) global: Option<usize>,
    pub(crate) environment: Option<Option<usize>>,
    pub(crate) modules: FxHashMap<Arc<str>, Option<usize>>,
    pub(crate) lookup_options: FxHashMap<Option<Arc<str>>, Arc<Patterns>>,
    pub(crate) global_options: Option<Option<Value>>,
    pub(crate) environment_options: Option<Option<Value>>,
    pub(crate) module_default_options: FxHashMap<Arc<str>, Arc<Patterns>>,
    /// Values before interpolation, with their provenance: of plain files, and of files with encrypted values.
    pub(crate) values: FxHashMap<(FileId, bool, Arc<str>), Value>,
    /// Files whose keys were checked.
    pub(crate) checked: FxHashSet<(usize, FileId)>,
    pub(crate) contexts: FxHashMap<ContextKey, FunctionContext>,
    /// The functions that run, the innermost last.
    pub(crate) running: Vec<Running>,
    /// What functions made of files.
    pub(crate) file_data: FxHashMap<PathBuf, Value>,
    /// The keys that are being looked for, those of functions that run among them.
    pub(crate) stack: Vec<String>,
    pub(crate) explainer: Option<Explainer>,
    /// What the search for the outermost key has used up so far.
    pub(crate) expressions: usize,
    pub(crate) bytes: usize,
    /// Data that was asked for keys and that was not given here, in words.
    unread: BTreeSet<Arc<str>>,
}

impl Session {
    /// The data that searches passed over since it was not given: what it holds would have counted.
    pub fn unread(&self) -> impl Iterator<Item = &str> {
        self.unread.iter().map(|place| &**place)
    }

    /// The node of all `lookup_options` that speak of the keys of a module.
    fn options_node(&self, module: Option<&Arc<str>>) -> Prov {
        self.lookup_options.get(&module.cloned()).map_or(Prov::NONE, |options| options.prov)
    }
}

/// A variable that a configuration was resolved with.
#[derive(Debug, Clone)]
pub(crate) struct Remembered {
    pub(crate) key: Arc<str>,
    pub(crate) root: Arc<str>,
    pub(crate) segments: Vec<Segment>,
    pub(crate) value: Value,
}

#[derive(Clone, Copy)]
pub(crate) enum Level {
    Global,
    Environment,
    Module,
}

pub(crate) type Found = Result<Option<Value>, Failure>;

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
    pub(crate) options_only: bool,
    pub(crate) module: Option<Arc<str>>,
    pub(crate) top_key: Arc<str>,
    pub(crate) global_only: bool,
    /// One of the functions `hiera()`, `hiera_array()`, `hiera_hash()` and `hiera_include()` asks.
    hiera_call: bool,
    /// The configuration that is searched is one of version 3, which has variables of its own.
    pub(crate) in_version_3: bool,
    /// What was observed on the way: levels without the key, variables in paths.
    pub(crate) passed: Vec<Prov>,
    pub(crate) searched: Vec<PathBuf>,
    /// A place that may have the key and that was not looked at, in words.
    unread: Option<Arc<str>>,
    /// The options of the key make its value `Sensitive`: what any level has for it is secret.
    pub(crate) is_secret: bool,
}

pub(crate) fn run(
    hiera: &Hiera<'_>,
    session: &mut Session,
    scope: &mut dyn Scope,
    request: &DataRequest<'_>,
) -> Result<DataAnswer, Failure> {
    if session.stack.is_empty() {
        (session.expressions, session.bytes) = (0, 0);
    }
    let mut search = Search::new(hiera, session, scope, request.overrides, request.defaults);
    search.hiera_call = request.hiera_call;
    if request.hiera_call {
        let environment = search.provider_of_environment()?;
        let with_data = environment.is_some_and(|at| search.session.providers[at].config.version >= 5);
        search.global_only = !with_data;
    }
    if request.names_levels && search.is_version_3()? {
        let reason = format!("the call for the key '{}' names levels of its own", request.key);
        return Ok(DataAnswer::Found(search.opaque(reason)));
    }
    search.answer(request.key, request.merge)
}

/// Resolves a value in the search that calls the function which runs.
pub(crate) fn interpolate(
    hiera: &Hiera<'_>,
    session: &mut Session,
    scope: &mut dyn Scope,
    value: &Value,
) -> Result<Value, Failure> {
    let caller = session.running.last();
    let (overrides, defaults, global_only) = caller.map_or_else(Default::default, |running| {
        (running.overrides.clone(), running.defaults.clone(), running.global_only)
    });
    let mut search = Search::new(hiera, session, scope, &overrides, &defaults);
    search.global_only = global_only;
    search.interpolate(value, true)
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
    search.session.explainer = Some(Explainer::new());
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
        Ok(DataAnswer::Missing(_)) if !how.has_default => {
            let names = keys.iter().map(|key| (*key).to_owned()).collect();
            let missing = MissingKey { names, searched: Vec::new(), by: KeyUse::Command };
            Some(missing.message())
        }
        Ok(_) => None,
    };
    if let Some(message) = problem {
        search.report(|explainer| explainer.text(message));
    }
    let text = search.session.explainer.take().as_ref().map(Explainer::explain).unwrap_or_default();
    Explanation { text, answer }
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
            options_only: false,
            module: None,
            top_key: "".into(),
            global_only: false,
            hiera_call: false,
            in_version_3: false,
            passed: Vec::new(),
            is_secret: false,
            searched: Vec::new(),
            unread: None,
        }
    }

    /// Goes on without a folder that lies outside of the inputs. What other levels have is taken; a key that none has is not known.
    pub(crate) fn pass_over_folder(&mut self, folder: &Path) {
        self.pass_over(format!("{}, which lies outside of the inputs", folder.display()));
    }

    /// The same without what is named so.
    pub(crate) fn pass_over(&mut self, place: String) {
        let place: Arc<str> = place.into();
        self.scope.warn_once(&format!("unread {place}"), format!("No data was read from {place}"), None);
        self.session.unread.insert(Arc::clone(&place));
        self.unread.get_or_insert(place);
    }

    /// The value of a key that no level has, if there is a level that was not looked at.
    fn unread_value(&mut self, key: &str) -> Option<Value> {
        let place = self.unread.clone()?;
        Some(self.opaque(format!("the key '{key}' may come from {place}")))
    }

    fn answer(&mut self, key: &str, merge: Option<&Value>) -> Result<DataAnswer, Failure> {
        if let Some(value) = self.lookup(key, merge)? {
            return Ok(DataAnswer::Found(value));
        }
        let passed = std::mem::take(&mut self.passed);
        let prov = self.scope.arena().operation("lookup".into(), None, &passed);
        let unread = self.unread_value(key);
        Ok(DataAnswer::Missing(MissingData { searched: std::mem::take(&mut self.searched), prov, unread }))
    }

    /// Does something as a step of the explanation.
    pub(crate) fn with<T>(
        &mut self,
        step: impl FnOnce() -> Step,
        work: impl FnOnce(&mut Self) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        if let Some(explainer) = &mut self.session.explainer {
            explainer.push(step());
            let result = work(self);
            if let Some(explainer) = &mut self.session.explainer {
                explainer.pop();
            }
            result
        } else {
            work(self)
        }
    }

    pub(crate) fn report(&mut self, report: impl FnOnce(&mut Explainer)) {
        if let Some(explainer) = &mut self.session.explainer {
            report(explainer);
        }
    }

    /// Counts an expression, so that every search ends.
    pub(crate) fn count_expression(&mut self) -> Result<(), Failure> {
        self.session.expressions += 1;
        if self.session.expressions > MAX_EXPRESSIONS {
            let message = format!("The search resolves more than {MAX_EXPRESSIONS} expressions `%{{…}}`");
            return Err(Failure::limit(message));
        }
        Ok(())
    }

    /// Counts what a text or collection takes. A part that occurs twice counts twice.
    pub(crate) fn count_bytes(&mut self, value: &Value) -> Result<(), Failure> {
        let left = MAX_BYTES.get().saturating_sub(self.session.bytes);
        match value.size_within(left) {
            Some(size) => {
                self.session.bytes += size;
                Ok(())
            }
            None => Err(Failure::limit(format!(
                "The search makes more than {} MiB of data",
                MAX_BYTES.get() >> 20
            ))),
        }
    }

    /// Guards against keys that lead back to themselves.
    pub(crate) fn check<T>(
        &mut self,
        name: String,
        work: impl FnOnce(&mut Self) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let stack = &mut self.session.stack;
        if stack.contains(&name) {
            return Err(Failure::data(format!("Recursive lookup detected in [{}]", stack.join(", "))));
        }
        if stack.len() >= MAX_NESTED {
            return Err(Failure::limit(format!("Keys refer to keys more than {MAX_NESTED} times")));
        }
        stack.push(name);
        let result = work(self);
        self.session.stack.pop();
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
        if let Some(value) = self.unread_value(key) {
            return Ok(value);
        }
        let prov = self.scope.arena().operation("lookup".into(), None, &missing);
        Ok(Value::from("").with(prov))
    }

    fn lookup(&mut self, key: &str, merge: Option<&Value>) -> Found {
        if key == LOOKUP_OPTIONS || key.starts_with("lookup_options.") {
            self.report(|explainer| explainer.leaf(Step::InvalidKey(LOOKUP_OPTIONS.to_owned())));
            return Ok(None);
        }
        if let Some(place) = &self.hiera.levels.unread {
            self.session.unread.insert(Arc::clone(place));
            self.unread.get_or_insert_with(|| Arc::clone(place));
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
        let option = |name: &str| options.as_ref().and_then(|options| option(options, name));
        let mut from_options = None;
        let merge = if let Some(merge) = merge {
            Some(merge.clone())
        } else {
            let merge = option("merge");
            from_options.clone_from(&merge);
            if merge.is_some() {
                self.report(|explainer| explainer.leaf(Step::MergeSource(LOOKUP_OPTIONS)));
            }
            merge
        };
        // Whether a key is found does not depend on how its values are merged.
        let unknown = unknown_option(options.as_ref(), merge.as_ref());
        let merge = merge.filter(|_| unknown.is_none());
        let is_secret = option("convert_to").is_some_and(|to| to_text(&to).contains("Sensitive"));
        let outer = std::mem::replace(&mut self.is_secret, is_secret);
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
        );
        self.is_secret = outer;
        let Some(found) = found? else { return Ok(None) };
        if unknown.is_some() {
            return Ok(unknown);
        }
        let to = option("convert_to");
        let converted = match &to {
            Some(to) => self.convert(key, to, found)?,
            None => found,
        };
        Ok(Some(self.under_options(converted, options.as_ref(), [from_options.as_ref(), to.as_ref()])))
    }

    /// A value that was found the way that the options of its key say.
    fn under_options(&mut self, value: Value, options: Option<&Value>, used: [Option<&Value>; 2]) -> Value {
        let all = self.session.options_node(self.module.as_ref());
        let arena = self.scope.arena();
        if !arena.enabled() {
            return value;
        }
        let mut provs = vec![arena.shape(all)];
        provs.extend(options.map(|options| arena.shape(options.prov)));
        provs.extend(used.into_iter().flatten().map(|option| option.prov));
        provs.retain(|prov| !prov.is_none());
        self.selected(value, &provs)
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
        let Some(value) = found? else {
            self.passed.extend(passed);
            return Ok(None);
        };
        let value = self.selected(value, &passed);
        self.dig_key(key, value)
    }

    pub(crate) fn in_level(&mut self, level: Level, key: &LookupKey, merge: &Merge) -> Found {
        match level {
            Level::Global => self.in_global(key, merge),
            Level::Environment => match self.provider_of_environment()? {
                Some(provider) => self.in_provider(provider, key, merge),
                None => Ok(None),
            },
            Level::Module => self.in_module(key, merge),
        }
    }

    pub(crate) fn in_global(&mut self, key: &LookupKey, merge: &Merge) -> Found {
        let found = self.provider_of_global().and_then(|provider| match provider {
            Some(provider) if self.session.providers[provider].config.version == 3 => {
                self.in_version_3(provider, key, merge)
            }
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

    fn is_version_3(&mut self) -> Result<bool, Failure> {
        let global = self.provider_of_global()?;
        Ok(global.is_some_and(|at| self.session.providers[at].config.version == 3))
    }

    /// A configuration of version 3 says how `hiera_hash()` merges, and what its data refers to is global, too, unless the
    /// environment has data.
    fn in_version_3(&mut self, provider: usize, key: &LookupKey, merge: &Merge) -> Found {
        let config = Arc::clone(&self.session.providers[provider].config);
        let behavior = config.merge_behavior.as_ref().filter(|_| self.hiera_call);
        let merge = behavior.filter(|_| merge.kind == merge::Kind::Hash).unwrap_or(merge);
        let outer = (self.global_only, self.in_version_3);
        self.global_only |= self.provider_of_environment()?.is_none();
        self.in_version_3 = true;
        let found = self.in_provider(provider, key, merge);
        (self.global_only, self.in_version_3) = outer;
        let found = found?;
        if !self.hiera_call {
            return Ok(found);
        }
        let of_hashes = matches!(merge.kind, merge::Kind::Hash | merge::Kind::Deep);
        if let Some(value) = found.as_ref().filter(|value| of_hashes && value.unknown_part().is_none()) {
            let hash = setpoint_puppet_values::Type::Hash(None);
            setpoint_puppet_values::types::assert_instance("value", &hash, value)
                .map_err(|error| Failure::data(error.message))?;
        }
        if !key.segments.is_empty() && matches!(merge.kind, merge::Kind::Hash | merge::Kind::Unique) {
            let strategy = if merge.kind == merge::Kind::Hash { "hash" } else { "array" };
            return Err(Failure::data(format!(
                "Resolution type :{strategy} is illegal when accessing values using dotted keys. Offending key was '{}'",
                key.text
            )));
        }
        Ok(found)
    }

    pub(crate) fn in_module(&mut self, key: &LookupKey, merge: &Merge) -> Found {
        let Some(module) = self.module.clone() else { return Ok(None) };
        if let Some(provider) = self.provider_of_module(&module)? {
            return self.in_provider(provider, key, merge);
        }
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

    /// The strategy over a list: levels, entries of a hierarchy, or files of an entry.
    pub(crate) fn merged<V>(
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
            [only] => Ok(look(self, only)?.map(|found| merge.single(found, self.scope.arena()))),
            _ => {
                let step = || Step::Merge { strategy: merge.kind.name(), options: merge.options.clone() };
                self.with(step, |search| {
                    let mut joined: Option<Value> = None;
                    for variant in variants {
                        let Some(value) = look(search, variant)? else { continue };
                        joined = Some(match joined {
                            None => merge.start(value, search.scope.arena()),
                            Some(before) => merge.join(&before, &value, search.scope.arena())?,
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

    pub(crate) fn in_provider(&mut self, provider: usize, key: &LookupKey, merge: &Merge) -> Found {
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

    pub(crate) fn provider_step(&self, provider: usize) -> Step {
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

    /// A value that was found after others had not been found.
    pub(crate) fn selected(&mut self, value: Value, passed: &[Prov]) -> Value {
        let arena = self.scope.arena();
        if !arena.enabled() || passed.is_empty() {
            return value;
        }
        let search = arena.operation("lookup".into(), None, passed);
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
