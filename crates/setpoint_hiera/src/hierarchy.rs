//! What a configuration means for a node: its entries, with the files that they stand for.

use std::path::{Path, PathBuf};

use setpoint_puppet_values::{Data, Hash, Regex, Value};
use setpoint_source::{Symbol, normal};

use crate::config::{Config, FUNCTION_KEYS, LOCATION_KEYS, Layer, get};
use crate::data::Format;
use crate::explain::Step;
use crate::failure::Failure;
use crate::glob::glob;
use crate::search::{Remembered, Search};

/// A level of the hierarchy.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) name: String,
    /// `data_hash`, `lookup_key`, …
    pub(crate) kind: &'static str,
    pub(crate) function_name: String,
    pub(crate) function: Function,
    /// Absent if the entry names none.
    pub(crate) locations: Option<Vec<Location>>,
    pub(crate) options: Hash,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Function {
    Data(Format),
    Eyaml,
    /// Code of a module or of Ruby, which is not run.
    Foreign,
}

#[derive(Debug, Clone)]
pub(crate) struct Location {
    pub(crate) path: PathBuf,
    pub(crate) original: String,
    pub(crate) exists: bool,
    pub(crate) is_uri: bool,
    /// The path, as provenance names it.
    pub(crate) symbol: Symbol,
}

impl Location {
    pub(crate) fn step(&self) -> Step {
        Step::Location {
            path: self.path.display().to_string(),
            original: self.original.clone(),
            uri: self.is_uri,
        }
    }
}

fn texts(value: &Value) -> Vec<&str> {
    match &value.data {
        Data::Array(items) => items.iter().filter_map(Value::as_str).collect(),
        _ => value.as_str().into_iter().collect(),
    }
}

/// Ruby's `Pathname#+`: `..` at the start of the second path leaves the first; others stay.
fn join(base: &Path, path: &str) -> PathBuf {
    let mut base = base.to_owned();
    let mut rest = path;
    loop {
        if let Some(more) = rest.strip_prefix("./") {
            rest = more;
        } else if let Some(more) = rest.strip_prefix("../") {
            base = normal(&base.join(".."));
            rest = more;
        } else {
            return base.join(rest.trim_end_matches('/'));
        }
    }
}

impl Search<'_> {
    /// The entries of a configuration, and which variables they depend on.
    pub(crate) fn resolve(
        &mut self,
        config: &Config,
        layer: &Layer,
        default: bool,
    ) -> Result<Vec<Entry>, Failure> {
        let entries = if default { config.default_hierarchy.as_deref() } else { Some(&*config.hierarchy) };
        let mut resolved: Vec<Entry> = Vec::new();
        for entry in entries.unwrap_or_default() {
            let name = get(entry, "name").and_then(Value::as_str).unwrap_or_default();
            if resolved.iter().any(|known| known.name == name) {
                return Err(twice(config, name));
            }
            if let Some(entry) = self.resolve_entry(config, layer, entry, name)? {
                resolved.push(entry);
            }
        }
        Ok(resolved)
    }

    fn resolve_entry(
        &mut self,
        config: &Config,
        _layer: &Layer,
        entry: &Hash,
        name: &str,
    ) -> Result<Option<Entry>, Failure> {
        let function_of = |hash: &Hash| {
            FUNCTION_KEYS.into_iter().find_map(|key| Some((key, get(hash, key)?.as_str()?.to_owned())))
        };
        let (kind, function_name) =
            function_of(entry).or_else(|| function_of(&config.defaults)).unwrap_or_default();
        let datadir = get(entry, "datadir").or_else(|| get(&config.defaults, "datadir"));
        let datadir = join(&config.root, datadir.and_then(Value::as_str).unwrap_or("data"));
        let datadir = PathBuf::from(self.interpolate_text(&datadir.to_string_lossy(), false)?);
        let extension = get(entry, "extension").and_then(Value::as_str).unwrap_or_default();
        let location = LOCATION_KEYS.into_iter().find_map(|key| Some((key, get(entry, key)?)));
        let locations = match location {
            None => None,
            Some(("path" | "paths", paths)) => Some(self.paths(&datadir, &texts(paths), extension)?),
            Some(("glob" | "globs", globs)) => Some(self.globs(&datadir, &texts(globs))?),
            Some(("mapped_paths", triple)) => Some(self.mapped_paths(&datadir, &texts(triple))?),
            Some((_, uris)) => Some(self.uris(&texts(uris))?),
        };
        // The default configuration mentions only files that are there.
        let locations = match locations {
            Some(locations) if config.path.is_none() => {
                let there: Vec<Location> = locations.into_iter().filter(|one| one.exists).collect();
                if there.is_empty() {
                    return Ok(None);
                }
                Some(there)
            }
            other => other,
        };
        let options = get(entry, "options").or_else(|| get(&config.defaults, "options"));
        let options = match options {
            None => Hash::default(),
            Some(options) => self.interpolate(options, false)?.as_hash().cloned().unwrap_or_default(),
        };
        let function = match (kind, function_name.as_str()) {
            ("data_hash", "yaml_data") => Function::Data(Format::Yaml),
            ("data_hash", "json_data") => Function::Data(Format::Json),
            ("data_hash", "hocon_data") => Function::Data(Format::Hocon),
            ("lookup_key", "eyaml_lookup_key") => Function::Eyaml,
            _ => Function::Foreign,
        };
        Ok(Some(Entry { name: name.to_owned(), kind, function_name, function, locations, options }))
    }

    fn located(&self, path: PathBuf, original: &str) -> Location {
        let exists = self.hiera.files.is_file(&path);
        let symbol = Symbol::new(&path.to_string_lossy());
        Location { path, original: original.to_owned(), exists, is_uri: false, symbol }
    }

    fn paths(&mut self, datadir: &Path, paths: &[&str], extension: &str) -> Result<Vec<Location>, Failure> {
        let mut locations = Vec::with_capacity(paths.len());
        for original in paths {
            let mut path = self.interpolate_text(original, false)?;
            if !path.ends_with(extension) {
                path.push_str(extension);
            }
            locations.push(self.located(join(datadir, &path), original));
        }
        Ok(locations)
    }

    fn globs(&mut self, datadir: &Path, globs: &[&str]) -> Result<Vec<Location>, Failure> {
        let mut locations = Vec::new();
        for pattern in globs {
            let pattern = self.interpolate_text(pattern, false)?;
            let pattern = join(datadir, &pattern).to_string_lossy().into_owned();
            let found = glob(&pattern, self.hiera.files);
            locations.extend(found.into_iter().map(|path| self.located(path, &pattern)));
        }
        Ok(locations)
    }

    fn uris(&mut self, uris: &[&str]) -> Result<Vec<Location>, Failure> {
        let mut locations = Vec::new();
        for original in uris {
            let uri = self.interpolate_text(original, false)?;
            let symbol = Symbol::new(&uri);
            let original = (*original).to_owned();
            locations.push(Location { path: uri.into(), original, exists: true, is_uri: true, symbol });
        }
        Ok(locations)
    }

    /// A path for each element of a variable.
    fn mapped_paths(&mut self, datadir: &Path, triple: &[&str]) -> Result<Vec<Location>, Failure> {
        let [variable, name, template] = triple else { return Ok(Vec::new()) };
        let mapped = self.scope_value(variable, "mapped_path[0]")?;
        let values = match &mapped.data {
            Data::Array(items) => items.to_vec(),
            Data::String(text) if text.is_empty() => Vec::new(),
            Data::Undef => Vec::new(),
            _ => vec![mapped.clone()],
        };
        let before = self.collected.as_ref().map_or(0, Vec::len);
        let mut locations = Vec::with_capacity(values.len());
        for value in values {
            self.locals.push(((*name).into(), value));
            let path = self.interpolate_text(template, false);
            self.locals.pop();
            locations.push(self.located(join(datadir, &path?), template));
        }
        if let Some(collected) = &mut self.collected {
            let mut at = 0;
            collected.retain(|remembered: &Remembered| {
                at += 1;
                at <= before || &*remembered.root != *name
            });
        }
        Ok(locations)
    }
}

fn twice(config: &Config, name: &str) -> Failure {
    let pattern = Regex::new(format!("\\s+name:\\s+['\"]?{}(?:[^\\w]|$)", Regex::escape(name))).ok();
    let names = |line: &str| pattern.as_ref().is_some_and(|pattern| pattern.is_match(line).unwrap_or(false));
    let first = config.line_matching(1, names);
    let second = first.and_then(|first| config.line_matching(first + 1, names));
    let mut message = format!("Hierarchy name '{name}' defined more than once.");
    if let (Some(first), Some(_)) = (first, second) {
        message += &format!(" First defined at (line: {first})");
    }
    config.problem(message, second.or(first))
}
