//! `hiera.yaml`: read once, checked as Puppet checks it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use rustc_hash::FxHashMap;
use setpoint_puppet_values::types::assert_instance;
use setpoint_puppet_values::{Data, Hash, Key, Regex, Type, Value};
use setpoint_source::{FileId, FileSystem, Sources, read_text};

use crate::data::{Content, DataFiles, Format};
use crate::failure::Failure;
use crate::merge::Merge;

/// Where a configuration stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Layer {
    Global,
    Environment,
    Module(Arc<str>),
}

/// A configuration as it is written.
#[derive(Debug)]
pub(crate) struct Config {
    pub(crate) version: i64,
    /// Absent for the default configuration.
    pub(crate) path: Option<PathBuf>,
    pub(crate) file: Option<FileId>,
    pub(crate) root: PathBuf,
    text: String,
    pub(crate) defaults: Hash,
    pub(crate) hierarchy: Vec<Hash>,
    pub(crate) default_hierarchy: Option<Vec<Hash>>,
    /// How `hiera_hash()` merges, where a configuration of version 3 says it.
    pub(crate) merge_behavior: Option<Merge>,
    /// A warning that goes with it.
    pub(crate) warning: Option<String>,
    /// What is wrong with it.
    pub(crate) failed: Option<Failure>,
}

/// The functions that an entry may name, in Puppet's order.
pub(crate) const FUNCTION_KEYS: [&str; 4] = ["data_hash", "lookup_key", "data_dig", "hiera3_backend"];
/// The data of an environment as Hiera 3 finds it where no `datadir` is set.
pub const DATADIR_3: &str = "/etc/puppetlabs/code/environments/%{::environment}/hieradata";
pub(crate) const LOCATION_KEYS: [&str; 7] = ["path", "paths", "glob", "globs", "uri", "uris", "mapped_paths"];

/// How the names of a backend's files end where Hiera 3 is told no other ending.
pub fn usual_ending(backend: &str) -> &str {
    if backend == "hocon" { "conf" } else { backend }
}

static CONFIG: LazyLock<Type> = LazyLock::new(|| {
    let options = "Hash[Pattern[/\\A[A-Za-z](:?[0-9A-Za-z_-]*[0-9A-Za-z])?\\z/], Data]";
    let hierarchy = format!(
        "Array[Struct[{{name => String[1], Optional[options] => {options}, Optional[data_hash] => String[1], \
         Optional[lookup_key] => String[1], Optional[hiera3_backend] => String[1], Optional[v4_data_hash] => String[1], \
         Optional[data_dig] => String[1], Optional[path] => String[1], Optional[paths] => Array[String[1], 1], \
         Optional[glob] => String[1], Optional[globs] => Array[String[1], 1], Optional[uri] => String[1], \
         Optional[uris] => Array[String[1], 1], Optional[mapped_paths] => Array[String[1], 3, 3], \
         Optional[datadir] => String[1]}}]]"
    );
    let text = format!(
        "Struct[{{version => Integer[5, 5], Optional[defaults] => Struct[{{Optional[data_hash] => String[1], \
         Optional[lookup_key] => String[1], Optional[data_dig] => String[1], Optional[datadir] => String[1], \
         Optional[options] => {options}}}], Optional[hierarchy] => {hierarchy}, Optional[plan_hierarchy] => {hierarchy}, \
         Optional[default_hierarchy] => {hierarchy}}}]"
    );
    Type::parse(&text, &|_| None).unwrap_or(Type::Any)
});

static CONFIG_4: LazyLock<Type> = LazyLock::new(|| {
    let text = "Struct[{version => Integer[4, 4], Optional[datadir] => String[1], Optional[hierarchy] => Array[Struct[{\
                backend => String[1], name => String[1], Optional[datadir] => String[1], Optional[path] => String[1], \
                Optional[paths] => Array[String[1]]}]]}]";
    Type::parse(text, &|_| None).unwrap_or(Type::Any)
});

pub(crate) fn get<'h>(hash: &'h Hash, key: &str) -> Option<&'h Value> {
    hash.get(&Key::from(key))
}

fn hash(value: &Value) -> Hash {
    value.as_hash().cloned().unwrap_or_default()
}

fn hashes(value: &Value) -> Vec<Hash> {
    value.as_array().unwrap_or_default().iter().map(hash).collect()
}

fn entry(pairs: &[(&str, &str)]) -> Hash {
    pairs.iter().map(|(key, value)| (Key::from(*key), Value::from(*value))).collect()
}

fn default_defaults() -> Hash {
    entry(&[("datadir", "data"), ("data_hash", "yaml_data")])
}

fn default_hierarchy() -> Vec<Hash> {
    vec![entry(&[("name", "Common"), ("path", "common.yaml")])]
}

/// `a, b, or c`, as Puppet lists keys.
fn combined(keys: &[&str]) -> String {
    match keys {
        [most @ .., last] => format!("{}, or {last}", most.join(", ")),
        [] => String::new(),
    }
}

impl Config {
    /// What holds where there is no `hiera.yaml`.
    pub(crate) fn default_at(root: &Path) -> Self {
        Self {
            version: 5,
            path: None,
            file: None,
            root: root.to_owned(),
            text: String::new(),
            defaults: default_defaults(),
            hierarchy: default_hierarchy(),
            default_hierarchy: None,
            merge_behavior: None,
            warning: None,
            failed: None,
        }
    }

    fn fail(&self, message: String, line: Option<u32>) -> Failure {
        let failure = Failure::issue(message);
        match &self.path {
            Some(path) => failure.in_config(path, line),
            None => failure,
        }
    }

    /// An error about the configuration as a whole, or about one of its lines.
    pub(crate) fn problem(&self, message: impl Into<String>, line: Option<u32>) -> Failure {
        self.fail(message.into(), line)
    }

    /// The first line from `start` on, without its comment, that a test accepts.
    pub(crate) fn line_matching(&self, start: u32, accepts: impl Fn(&str) -> bool) -> Option<u32> {
        (1..).zip(self.text.lines()).filter(|(number, _)| *number >= start).find_map(|(number, line)| {
            let mut quote = None;
            let end = line.char_indices().find_map(|(at, letter)| {
                match letter {
                    '"' | '\'' if quote == Some(letter) => quote = None,
                    '"' | '\'' if quote.is_none() => quote = Some(letter),
                    // Puppet ends the line at any hash mark.
                    '#' => return Some(at),
                    _ => {}
                }
                None
            });
            accepts(&line[..end.unwrap_or(line.len())]).then_some(number)
        })
    }

    /// A configuration of the wrong shape. Puppet names no place for it.
    fn misfit(&self, message: String) -> Failure {
        Failure::puppet(message).in_config(self.path.as_deref().unwrap_or(Path::new("")), None)
    }

    fn checked(mut self, config: &Hash, layer: &Layer) -> Result<Self, Failure> {
        let name = self.path.as_deref().unwrap_or(Path::new("")).display().to_string();
        let subject = format!("The Lookup Configuration at '{name}'");
        let given = Value::hash(config.clone());
        if self.version == 3 {
            return self.version_3(config);
        }
        if self.version == 4 {
            assert_instance(&subject, &CONFIG_4, &given).map_err(|error| self.misfit(error.message))?;
            return self.version_4(config);
        }
        // Checked with what is added where it is missing.
        let mut full = config.clone();
        let missing = |config: &Hash, key: &str| get(config, key).is_none_or(|value| !value.is_true());
        if missing(&full, "defaults") {
            full.insert(Key::from("defaults"), Value::hash(default_defaults()));
        }
        if missing(&full, "hierarchy") {
            let entries = default_hierarchy().into_iter().map(Value::hash).collect();
            full.insert(Key::from("hierarchy"), Value::array(entries));
        }
        assert_instance(&subject, &CONFIG, &Value::hash(full.clone()))
            .map_err(|error| self.misfit(error.message))?;
        self.defaults = get(&full, "defaults").map(hash).unwrap_or_default();
        self.hierarchy = get(&full, "hierarchy").map(hashes).unwrap_or_default();
        self.default_hierarchy = get(&full, "default_hierarchy").map(hashes);
        self.check_defaults()?;
        for entry in &self.hierarchy {
            self.check_entry(entry, layer)?;
        }
        for entry in &get(&full, "plan_hierarchy").map(hashes).unwrap_or_default() {
            self.check_entry(entry, layer)?;
        }
        if let Some(entries) = &self.default_hierarchy {
            if !matches!(layer, Layer::Module(_)) {
                let line = self.line_matching(1, |line| line.trim_start().starts_with("default_hierarchy:"));
                return Err(
                    self.fail("'default_hierarchy' is only allowed in the module layer".to_owned(), line)
                );
            }
            for entry in entries {
                self.check_entry(entry, layer)?;
            }
        }
        Ok(self)
    }

    fn check_defaults(&self) -> Result<(), Failure> {
        let count = FUNCTION_KEYS.iter().filter(|key| get(&self.defaults, key).is_some()).count();
        if count > 1 {
            let keys = combined(&FUNCTION_KEYS);
            return Err(self.fail(format!("Only one of {keys} can be defined in defaults"), None));
        }
        let options = get(&self.defaults, "options").map(hash).unwrap_or_default();
        for key in ["path", "uri"] {
            if get(&options, key).is_some() {
                let message = format!("Option key '{key}' used in defaults is reserved by Puppet");
                return Err(self.fail(message, None));
            }
        }
        Ok(())
    }

    fn check_entry(&self, entry: &Hash, layer: &Layer) -> Result<(), Failure> {
        let name = get(entry, "name").and_then(Value::as_str).unwrap_or_default();
        let has = |hash: &Hash, keys: &[&str]| keys.iter().filter(|key| get(hash, key).is_some()).count();
        let functions = has(entry, &FUNCTION_KEYS) + has(entry, &["v4_data_hash"]);
        if functions == 0 && has(&self.defaults, &FUNCTION_KEYS) == 0 {
            let keys = combined(&FUNCTION_KEYS);
            return Err(self.fail(format!("One of {keys} must be defined in hierarchy '{name}'"), None));
        }
        if functions > 1 {
            let keys = combined(&FUNCTION_KEYS);
            return Err(self.fail(format!("Only one of {keys} can be defined in hierarchy '{name}'"), None));
        }
        if let Some(backend) = get(entry, "hiera3_backend").and_then(Value::as_str) {
            let of_backend = |line: &str| {
                line.starts_with(char::is_whitespace) && line.trim_start().starts_with("hiera3_backend:")
            };
            if *layer != Layer::Global {
                let message = "'hiera3_backend' is only allowed in the global layer".to_owned();
                return Err(self.fail(message, self.line_matching(1, of_backend)));
            }
            if matches!(backend, "json" | "yaml" | "hocon") {
                let message =
                    format!("Use \"data_hash: {backend}_data\" instead of \"hiera3_backend: {backend}\"");
                let line = self.line_matching(1, |line| of_backend(line) && line.contains(backend));
                return Err(self.fail(message, line));
            }
        }
        if has(entry, &LOCATION_KEYS) > 1 {
            let keys = combined(&LOCATION_KEYS);
            return Err(self.fail(format!("Only one of {keys} can be defined in hierarchy '{name}'"), None));
        }
        let options = get(entry, "options").map(hash).unwrap_or_default();
        for key in ["path", "uri"] {
            if get(&options, key).is_some() {
                let message = format!("Option key '{key}' used in hierarchy '{name}' is reserved by Puppet");
                return Err(self.fail(message, None));
            }
        }
        Ok(())
    }

    /// The form of Hiera 3, in terms of the newer one: an entry a backend, whose paths are the whole hierarchy.
    fn version_3(mut self, config: &Hash) -> Result<Self, Failure> {
        let list = |key: &str, default: &[&str]| match get(config, key).filter(|value| value.is_true()) {
            None => default.iter().map(|text| Value::from(*text)).collect(),
            Some(value) => value.as_array().map_or_else(|| vec![value.clone()], <[Value]>::to_vec),
        };
        let backends = list("backends", &["yaml"]);
        self.check_version_3(config, &backends)?;
        let paths = list("hierarchy", &["nodes/%{::trusted.certname}", "common"]);
        for (at, backend) in backends.iter().enumerate() {
            let name = backend.as_str().unwrap_or_default();
            if backends[..at].contains(backend) {
                return Err(self.backend_twice(name));
            }
            let own = get(config, name).map(hash).unwrap_or_default();
            let text = |key: &str| get(&own, key).and_then(Value::as_str);
            let (kind, function) = match name {
                "yaml" | "json" | "hocon" => ("data_hash", format!("{name}_data")),
                "eyaml" => ("lookup_key", "eyaml_lookup_key".to_owned()),
                _ => ("hiera3_backend", name.to_owned()),
            };
            let extension = format!(".{}", text("extension").unwrap_or_else(|| usual_ending(name)));
            let mut new = entry(&[("name", name), (kind, &function), ("extension", &extension)]);
            new.insert(Key::from("datadir"), text("datadir").unwrap_or(DATADIR_3).into());
            new.insert(Key::from("paths"), Value::array(paths.clone()));
            if kind == "lookup_key" {
                new.insert(Key::from("options"), Value::hash(own));
            }
            self.hierarchy.push(new);
        }
        self.merge_behavior = match get(config, "merge_behavior").and_then(Value::as_str) {
            Some(name @ ("deep" | "deeper")) => {
                let options = get(config, "deep_merge_options").map(hash).unwrap_or_default();
                Some(Merge::of_hiera_3(name == "deep", options)?)
            }
            _ => None,
        };
        Ok(self)
    }

    fn check_version_3(&self, config: &Hash, backends: &[Value]) -> Result<(), Failure> {
        let names = "Variant[String[1], Array[String[1]]]";
        let mut text = format!(
            "Struct[{{Optional[version] => Integer[3, 3], Optional[backends] => {names}, Optional[logger] => String[1], \
             Optional[merge_behavior] => Enum['deep', 'deeper', 'native'], Optional[deep_merge_options] => \
             Hash[String[1], Variant[String, Boolean]], Optional[hierarchy] => {names}"
        );
        for backend in backends.iter().filter_map(Value::as_str) {
            let quoted = backend.replace('\\', "\\\\").replace('\'', "\\'");
            text += &format!(", Optional['{quoted}'] => Hash[String[1], Any]");
        }
        let of = Type::parse(&(text + "}]"), &|_| None).unwrap_or(Type::Any);
        let name = self.path.as_deref().unwrap_or(Path::new("")).display().to_string();
        let subject = format!("The Lookup Configuration at '{name}'");
        assert_instance(&subject, &of, &Value::hash(config.clone()))
            .map_err(|error| self.misfit(error.message))
    }

    fn backend_twice(&self, name: &str) -> Failure {
        let pattern = Regex::new(format!("[^\\w]{}(?:[^\\w]|$)", Regex::escape(name))).ok();
        let names = |line: &str| pattern.as_ref().is_some_and(|it| it.is_match(line).unwrap_or(false));
        let first = self.line_matching(1, names);
        let second = first.and_then(|first| self.line_matching(first + 1, names));
        let mut message = format!("Backend '{name}' is defined more than once.");
        if let (Some(first), Some(_)) = (first, second) {
            message += &format!(" First defined at (line: {first})");
        }
        self.problem(message, second.or(first))
    }

    /// The older form, in terms of the newer one.
    fn version_4(mut self, config: &Hash) -> Result<Self, Failure> {
        let text = |hash: &Hash, key: &str| get(hash, key).and_then(Value::as_str).map(str::to_owned);
        let datadir = text(config, "datadir").unwrap_or_else(|| "data".to_owned());
        self.defaults = entry(&[("datadir", &datadir)]);
        let entries = get(config, "hierarchy")
            .map_or_else(|| vec![entry(&[("name", "common"), ("backend", "yaml")])], hashes);
        for old in entries {
            let name = text(&old, "name").unwrap_or_default();
            let backend = text(&old, "backend").unwrap_or_default();
            let extension = match backend.as_str() {
                "yaml" => ".yaml",
                "json" => ".json",
                "hocon" => ".conf",
                _ => {
                    let line = self.line_matching(1, |line| line.contains(&backend));
                    let message = format!("No data provider is registered for backend '{backend}'");
                    return Err(self.fail(message, line));
                }
            };
            let paths = get(&old, "paths").and_then(Value::as_array).map_or_else(
                || vec![text(&old, "path").unwrap_or_else(|| name.clone())],
                |paths| paths.iter().filter_map(|path| path.as_str().map(str::to_owned)).collect(),
            );
            let mut new = entry(&[("name", &name), ("data_hash", &format!("{backend}_data"))]);
            new.insert(Key::from("extension"), extension.into());
            new.insert(Key::from("paths"), Value::array(paths.into_iter().map(Value::from).collect()));
            if let Some(datadir) = get(&old, "datadir") {
                new.insert(Key::from("datadir"), datadir.clone());
            }
            self.hierarchy.push(new);
        }
        Ok(self)
    }
}

/// The configurations that were read so far.
#[derive(Debug, Default)]
pub(crate) struct Configs {
    known: RwLock<FxHashMap<PathBuf, Result<Arc<Config>, Failure>>>,
}

impl Configs {
    /// The configuration at a path; the default one if there is no such file.
    pub(crate) fn get(
        &self,
        path: &Path,
        layer: &Layer,
        files: &dyn FileSystem,
        sources: &Sources,
    ) -> Result<Arc<Config>, Failure> {
        if let Some(known) = self.known.read().unwrap_or_else(PoisonError::into_inner).get(path) {
            return known.clone();
        }
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known
            .entry(path.to_owned())
            .or_insert_with(|| load(path, layer, files, sources).map(Arc::new))
            .clone()
    }
}

fn load(path: &Path, layer: &Layer, files: &dyn FileSystem, sources: &Sources) -> Result<Config, Failure> {
    let root = path.parent().unwrap_or(Path::new("")).to_owned();
    if !files.has_file(path) {
        return Ok(Config::default_at(&root));
    }
    let text = read_text(files, path).map_err(|error| Failure::other(error.to_string()))?;
    let data = DataFiles::default().get(path, Format::Yaml, files, sources);
    let mut config = Config {
        path: Some(path.to_owned()),
        file: Some(data.file),
        text,
        hierarchy: Vec::new(),
        defaults: Hash::default(),
        ..Config::default_at(&root)
    };
    let loaded: Hash = match &data.content {
        Content::Unreadable(problem) | Content::Malformed(problem) => {
            return Err(Failure::puppet(problem.clone()));
        }
        Content::NotAHash(_) => {
            config.warning = Some(format!(
                "{}: File exists but does not contain a valid YAML hash. Falling back to Hiera version 3 default config",
                path.display()
            ));
            config.version = 3;
            return config.version_3(&Hash::default());
        }
        Content::Hash(entries) => {
            entries.iter().map(|(key, entry)| (key.clone(), entry.plain.clone())).collect()
        }
    };
    config.version = get(&loaded, "version").map_or(3, version);
    match config.version {
        3 if *layer != Layer::Global => Ok(config),
        3..=5 => {
            let (version, file, path) = (config.version, config.file, config.path.clone());
            Ok(config.checked(&loaded, layer).unwrap_or_else(|failure| Config {
                version,
                file,
                path,
                failed: Some(failure),
                ..Config::default_at(&root)
            }))
        }
        other => Err(config.fail(format!("This runtime does not support hiera.yaml version {other}"), None)),
    }
}

/// Ruby's `to_i`.
fn version(value: &Value) -> i64 {
    match &value.data {
        Data::Undef => 3,
        Data::Integer(number) => *number,
        Data::Float(number) => *number as i64,
        Data::String(text) => {
            let digits: String = text.trim().chars().take_while(char::is_ascii_digit).collect();
            digits.parse().unwrap_or(0)
        }
        _ => 0,
    }
}
