//! What a configuration means for a node: its entries, with the files that they stand for.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use setpoint_puppet_values::{Data, Hash, Regex, Value};
use setpoint_source::{Limit, Symbol, normal};

use crate::config::{Config, FUNCTION_KEYS, LOCATION_KEYS, Layer, get};
use crate::data::Format;
use crate::explain::Step;
use crate::failure::Failure;
use crate::glob::{fixed_start, glob_whole};
use crate::interpolate::{Expanded, GAP};
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
    /// Of the default hierarchy of a module.
    pub(crate) is_default: bool,
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
    pub(crate) state: State,
    /// The path, as provenance names it.
    pub(crate) symbol: Symbol,
}

/// What is known of a location before its data is read.
#[derive(Debug, Clone)]
pub(crate) enum State {
    File,
    NoFile,
    Uri,
    /// It lies outside of the inputs, below this folder: it was not looked at, present or not.
    Outside(PathBuf),
    /// The path has a variable whose value is not known. It names none, one or several of the candidates; any file if
    /// there are no candidates.
    Unknown {
        reason: Arc<str>,
        candidates: Option<Vec<PathBuf>>,
    },
}

impl Location {
    pub(crate) fn is_uri(&self) -> bool {
        matches!(self.state, State::Uri)
    }

    pub(crate) fn step(&self) -> Step {
        Step::Location {
            path: self.path.display().to_string(),
            original: self.original.clone(),
            uri: self.is_uri(),
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

/// Files that one level of a hierarchy may name.
const MAX_LOCATIONS: Limit = Limit::new(10_000);

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
                resolved.push(Entry { is_default: default, ..entry });
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
        let mut datadir = self.interpolate_path(&datadir.to_string_lossy())?;
        if datadir.unknown_reason().is_none() {
            let here = self.hiera.levels.locate(Path::new(&datadir.text), self.hiera.files);
            datadir.text = here.to_string_lossy().into_owned();
        }
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
                let there: Vec<Location> =
                    locations.into_iter().filter(|one| !matches!(one.state, State::NoFile)).collect();
                if there.is_empty() {
                    return Ok(None);
                }
                Some(there)
            }
            other => other,
        };
        // A backend of Hiera 3 is asked whatever files there are.
        let locations = locations.filter(|_| kind != "hiera3_backend");
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
        Ok(Some(Entry {
            name: name.to_owned(),
            kind,
            function_name,
            function,
            locations,
            options,
            is_default: false,
        }))
    }

    /// The location of a path below a folder; both may have gaps.
    fn located(&self, datadir: &Expanded, path: &Expanded, extension: &str, original: &str) -> Location {
        let mut text = path.text.clone();
        if !text.ends_with(extension) {
            text.push_str(extension);
        }
        let joined = join(Path::new(&datadir.text), &text);
        match datadir.unknown_reason().or_else(|| path.unknown_reason()) {
            Some(reason) => self.located_by_gaps(&joined.to_string_lossy(), reason, original),
            None => self.located_file(joined, Path::new(&datadir.text), original),
        }
    }

    fn located_file(&self, path: PathBuf, datadir: &Path, original: &str) -> Location {
        let state = if !self.hiera.files.permits(&path) {
            // An absolute path does not lie below the folder of its level.
            let folder = if path.starts_with(datadir) { datadir } else { path.parent().unwrap_or(&path) };
            State::Outside(folder.to_owned())
        } else if self.hiera.files.has_file(&path) || self.hiera.files.is_dir(&path) {
            State::File
        } else {
            State::NoFile
        };
        let symbol = Symbol::new(&path.to_string_lossy());
        Location { path, original: original.to_owned(), state, symbol }
    }

    /// A location with gaps or patterns in its path. Any file that has its start and its end may be meant.
    fn located_by_gaps(&self, path: &str, reason: Arc<str>, original: &str) -> Location {
        let is_open = |letter: char| letter == GAP || "*?[]{}\\".contains(letter);
        let start = path.split(is_open).next().unwrap_or_default();
        let end = path.rsplit(is_open).next().unwrap_or_default();
        let folder = start.rsplit_once('/').map(|(folder, _)| folder).filter(|folder| !folder.is_empty());
        let permitted = folder.filter(|folder| self.hiera.files.permits(Path::new(folder)));
        let candidates = permitted.map(|folder| {
            let fits = |file: &&PathBuf| {
                let file = file.to_string_lossy();
                file.starts_with(start) && file.ends_with(end)
            };
            self.hiera.files_below(folder).iter().filter(fits).cloned().collect()
        });
        let shown = path.replace(GAP, "*");
        let symbol = Symbol::new(&shown);
        let state = match folder.map(Path::new) {
            Some(folder) if !self.hiera.files.permits(folder) => State::Outside(folder.to_owned()),
            _ => State::Unknown { reason, candidates },
        };
        Location { path: shown.into(), original: original.to_owned(), state, symbol }
    }

    fn paths(
        &mut self,
        datadir: &Expanded,
        paths: &[&str],
        extension: &str,
    ) -> Result<Vec<Location>, Failure> {
        let mut locations = Vec::with_capacity(paths.len());
        for original in paths {
            let path = self.interpolate_path(original)?;
            locations.push(self.located(datadir, &path, extension, original));
        }
        Ok(locations)
    }

    fn globs(&mut self, datadir: &Expanded, globs: &[&str]) -> Result<Vec<Location>, Failure> {
        let mut locations = Vec::new();
        for original in globs {
            let pattern = self.interpolate_path(original)?;
            let path = join(Path::new(&datadir.text), &pattern.text).to_string_lossy().into_owned();
            if let Some(reason) = datadir.unknown_reason().or_else(|| pattern.unknown_reason()) {
                locations.push(self.located_by_gaps(&path, reason, original));
            } else if !self.hiera.files.permits(fixed_start(&path)) {
                locations.push(self.located_file(PathBuf::from(path), Path::new(&datadir.text), original));
            } else {
                let found = glob_whole(&path, self.hiera.files)?.into_iter();
                locations.extend(found.map(|file| self.located_file(file, Path::new(&datadir.text), &path)));
            }
        }
        Ok(locations)
    }

    fn uris(&mut self, uris: &[&str]) -> Result<Vec<Location>, Failure> {
        let mut locations = Vec::new();
        for original in uris {
            let uri = self.interpolate_path(original)?;
            let state = match uri.unknown_reason() {
                Some(reason) => State::Unknown { reason, candidates: None },
                None => State::Uri,
            };
            let path = uri.text.replace(GAP, "*");
            let symbol = Symbol::new(&path);
            locations.push(Location { path: path.into(), original: (*original).to_owned(), state, symbol });
        }
        Ok(locations)
    }

    /// A path for each element of a variable; one with a gap for all elements of a variable that is not known.
    fn mapped_paths(&mut self, datadir: &Expanded, triple: &[&str]) -> Result<Vec<Location>, Failure> {
        let [variable, name, template] = triple else { return Ok(Vec::new()) };
        let mapped = self.scope_value(variable, "mapped_path[0]")?;
        let values = match &mapped.data {
            Data::Array(items) => items.to_vec(),
            Data::String(text) if text.is_empty() => Vec::new(),
            Data::Undef => Vec::new(),
            _ => vec![mapped.clone()],
        };
        if values.len() > MAX_LOCATIONS {
            let message = format!(
                "Setpoint looks at no more than {MAX_LOCATIONS} files of a level; `mapped_paths` names {}",
                values.len()
            );
            return Err(Failure::limit(message));
        }
        let before = self.collected.as_ref().map_or(0, Vec::len);
        let mut locations = Vec::with_capacity(values.len());
        for value in values {
            self.locals.push(((*name).into(), value));
            let path = self.interpolate_path(template);
            self.locals.pop();
            locations.push(self.located(datadir, &path?, "", template));
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
