//! Catalogs that others compiled: a Puppet server's answer, an agent's cache, PuppetDB.

mod rich;

use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value as Json};
use setpoint_puppet_values::{Data, Value};
use setpoint_source::Symbol;

use crate::{Catalog, Kind, Resource, ResourceId, Tags, display_name, native_type};

pub use rich::value as rich_value;

/// Why a text is no catalog.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReadError {
    /// The way to the offending place, as `resources[3].title`; empty if the whole text is at fault.
    pub path: String,
    /// A sentence without its full stop.
    pub reason: String,
    /// Line and column, counted from 1, where the text is no JSON.
    pub position: Option<(usize, usize)>,
}

impl ReadError {
    fn new(reason: impl Into<String>) -> Self {
        Self { path: String::new(), reason: reason.into(), position: None }
    }

    /// The same error, seen from one level further out.
    fn within(mut self, outer: &str) -> Self {
        if !self.path.is_empty() {
            self.path.insert(0, '.');
        }
        self.path.insert_str(0, outer);
        self
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((line, column)) = self.position {
            return write!(f, "this is no catalog: at line {line}, column {column}, {}", self.reason);
        }
        match self.path.as_str() {
            "" => write!(f, "this is no catalog: {}", self.reason),
            path => write!(f, "this is no catalog: at {path}, {}", self.reason),
        }
    }
}

impl std::error::Error for ReadError {}

/// Reads a catalog in any of the shapes in which Puppet's tools keep it.
pub fn json(text: &str) -> Result<Catalog, ReadError> {
    let tree: Json = serde_json::from_str(text).map_err(|error| ReadError {
        path: String::new(),
        reason: without_position(&error.to_string()),
        position: Some((error.line(), error.column())),
    })?;
    from_tree(&tree)
}

/// Whether a JSON tree has the look of a catalog.
pub fn is_catalog(tree: &Json) -> bool {
    let root = unwrapped(tree);
    root.get("resources").is_some() && (root.get("edges").is_some() || root.get("catalog_uuid").is_some())
}

/// The message of a JSON error ends with its position, which is told apart.
fn without_position(message: &str) -> String {
    message.rfind(" at line ").map_or(message, |at| &message[..at]).to_owned()
}

/// What the newer catalog endpoint and the very old servers wrap around a catalog is taken away.
fn unwrapped(tree: &Json) -> &Json {
    ["catalog", "data"]
        .into_iter()
        .find_map(|key| tree.get(key).filter(|inner| inner.get("resources").is_some()))
        .unwrap_or(tree)
}

/// Reads a catalog from a JSON tree.
pub fn from_tree(tree: &Json) -> Result<Catalog, ReadError> {
    let root = object(unwrapped(tree), "an object with the keys of a catalog")?;
    if let Some(format) = root.get("catalog_format").filter(|format| !matches!(format.as_u64(), Some(1 | 2)))
    {
        return Err(ReadError::new(format!("catalogs of format {format} are not known, only 1 and 2")));
    }
    let name = optional(root, "name")?.or(optional(root, "certname")?);
    let environment = optional(root, "environment")?;
    let mut catalog = Catalog::new(name.unwrap_or("unknown"), environment.unwrap_or("production"));
    catalog.version = root.get("version").map_or(Value::new(Data::Integer(0)), rich::value);
    catalog.code_id = optional(root, "code_id")?.map(Arc::from);
    catalog.uuid = optional(root, "catalog_uuid")?.map(Arc::from);
    catalog.tags.extend(symbols(root, "tags")?);
    catalog.classes.extend(symbols(root, "classes")?);
    if list(root, "resources")?.is_none() {
        return Err(ReadError::new("the key \"resources\" is missing"));
    }
    each(root, "resources", |json| add_resource(&mut catalog, json))?;
    each(root, "edges", |json| add_edge(&mut catalog, json))?;
    if root.contains_key("certname") {
        // PuppetDB keeps what a node exports beside what it applies; nothing tells whether it collects its own.
        for resource in catalog.resources_mut().iter_mut().filter(|resource| resource.exported) {
            resource.virtual_ = true;
        }
    }
    Ok(catalog)
}

fn add_resource(catalog: &mut Catalog, json: &Json) -> Result<(), ReadError> {
    let entries = object(json, "a resource")?;
    let type_name = required(entries, "type")?;
    let mut resource = Resource::new(Symbol::new(&display_name(type_name)), required(entries, "title")?);
    resource.tags = symbols(entries, "tags")?.into_iter().collect::<Tags>();
    resource.file = optional(entries, "file")?.map(Arc::from);
    resource.line = entries.get("line").and_then(Json::as_u64).and_then(|line| u32::try_from(line).ok());
    resource.exported = entries.get("exported").and_then(Json::as_bool).unwrap_or(false);
    resource.virtual_ = entries.get("virtual").and_then(Json::as_bool).unwrap_or(false);
    resource.kind = optional(entries, "kind")?.and_then(Kind::from_name);
    // Servers of Puppet 5 keep what JSON cannot say apart.
    for key in ["parameters", "ext_parameters"] {
        let Some(parameters) = entries.get(key) else { continue };
        let parameters = object(parameters, "an object").map_err(|error| error.within(key))?;
        for (name, value) in parameters {
            resource.parameters.set(Symbol::new(name), rich::value(value), None);
        }
    }
    resource.sensitive = symbols(entries, "sensitive_parameters")?;
    let native = native_type(type_name);
    if let Some(native) = native {
        // A title that fits no pattern is told when the catalog is checked, not when it is read.
        let _ = native.apply_title(&mut resource);
    }
    let namevar = resource.parameters.get(resource.namevar).and_then(Value::as_str);
    resource.title_is_no_string = namevar == Some(&*resource.title);
    let reference = resource.reference();
    let id = catalog
        .add(resource)
        .map_err(|_| ReadError::new(format!("{reference} stands in the catalog a second time")))?;
    catalog.add_names(id, native);
    Ok(())
}

/// Containment; PuppetDB also keeps relationships as edges, of which the source is what comes first.
fn add_edge(catalog: &mut Catalog, json: &Json) -> Result<(), ReadError> {
    let entries = object(json, "an edge")?;
    let (source, target) = (edge_end(catalog, entries, "source")?, edge_end(catalog, entries, "target")?);
    let parameter = match optional(entries, "relationship")? {
        None | Some("contains") if source == target => {
            let reference = catalog[source].reference();
            return Err(ReadError::new(format!("{reference} contains itself")));
        }
        None | Some("contains") => {
            catalog.edges.push((source, target));
            return Ok(());
        }
        Some("before" | "required-by") => Symbol::new("before"),
        Some("notifies" | "subscription-of") => Symbol::new("notify"),
        Some(other) => {
            return Err(ReadError::new(format!("{other:?} is no relationship")).within("relationship"));
        }
    };
    let reference = Value::from(catalog[target].reference());
    let parameters = &mut catalog.resources_mut()[source.index()].parameters;
    let mut others = match parameters.get(parameter).cloned() {
        None => Vec::new(),
        Some(Value { data: Data::Array(items), .. }) => items.to_vec(),
        Some(one) => vec![one],
    };
    if !others.contains(&reference) {
        others.push(reference);
        parameters.set(parameter, Value::new(Data::Array(others.into())), None);
    }
    Ok(())
}

fn edge_end(catalog: &Catalog, entries: &Map<String, Json>, end: &str) -> Result<ResourceId, ReadError> {
    let (type_name, title) = match entries.get(end) {
        Some(Json::String(text)) => split_reference(text).ok_or_else(|| {
            ReadError::new(format!("{text:?} is no reference such as File[/etc/motd]")).within(end)
        })?,
        Some(Json::Object(parts)) => {
            let part = |key| required(parts, key).map_err(|error| error.within(end));
            (part("type")?, part("title")?)
        }
        _ => {
            let flat = |part: &str| entries.get(&format!("{end}_{part}")).and_then(Json::as_str);
            flat("type")
                .zip(flat("title"))
                .ok_or_else(|| ReadError::new(format!("the key {end:?} is missing")))?
        }
    };
    catalog
        .find(Symbol::new(&display_name(type_name)), title)
        .ok_or_else(|| ReadError::new(format!("{type_name}[{title}] is not among the resources")))
}

/// `File[/etc/motd]` as type and title.
pub fn split_reference(text: &str) -> Option<(&str, &str)> {
    let (type_name, rest) = text.split_once('[')?;
    Some((type_name, rest.strip_suffix(']')?))
}

fn object<'a>(json: &'a Json, wanted: &str) -> Result<&'a Map<String, Json>, ReadError> {
    json.as_object()
        .ok_or_else(|| ReadError::new(format!("there should be {wanted} and there is {}", kind_of(json))))
}

fn required<'a>(entries: &'a Map<String, Json>, key: &str) -> Result<&'a str, ReadError> {
    optional(entries, key)?.ok_or_else(|| ReadError::new(format!("the key {key:?} is missing")))
}

fn optional<'a>(entries: &'a Map<String, Json>, key: &str) -> Result<Option<&'a str>, ReadError> {
    match entries.get(key) {
        None | Some(Json::Null) => Ok(None),
        Some(Json::String(text)) => Ok(Some(text)),
        Some(other) => {
            Err(ReadError::new(format!("there should be a string and there is {}", kind_of(other)))
                .within(key))
        }
    }
}

fn symbols(entries: &Map<String, Json>, key: &str) -> Result<Vec<Symbol>, ReadError> {
    let mut names = Vec::new();
    each(entries, key, |json| {
        let name = json.as_str().ok_or_else(|| {
            ReadError::new(format!("there should be a string and there is {}", kind_of(json)))
        })?;
        names.push(Symbol::new(name));
        Ok(())
    })?;
    Ok(names)
}

/// Does something for each element of the list under a key; an error gets the way to the element.
fn each(
    entries: &Map<String, Json>,
    key: &str,
    mut step: impl FnMut(&Json) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    for (at, json) in list(entries, key)?.into_iter().flatten().enumerate() {
        step(json).map_err(|error| error.within(&format!("{key}[{at}]")))?;
    }
    Ok(())
}

/// The list under a key; PuppetDB's queries wrap lists into `{"data": […]}`.
fn list<'a>(entries: &'a Map<String, Json>, key: &str) -> Result<Option<&'a Vec<Json>>, ReadError> {
    match entries.get(key) {
        None | Some(Json::Null) => Ok(None),
        Some(Json::Array(items)) => Ok(Some(items)),
        Some(other) => other.get("data").and_then(Json::as_array).map(Some).ok_or_else(|| {
            ReadError::new(format!("there should be a list and there is {}", kind_of(other))).within(key)
        }),
    }
}

fn kind_of(json: &Json) -> &'static str {
    match json {
        Json::Null => "null",
        Json::Bool(_) => "a boolean",
        Json::Number(_) => "a number",
        Json::String(_) => "a string",
        Json::Array(_) => "a list",
        Json::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(text: &str) -> String {
        json(text).unwrap_err().to_string()
    }

    #[test]
    fn errors_name_the_place() {
        assert_eq!(reason("{\"a\":\n]"), "this is no catalog: at line 2, column 1, expected value");
        assert_eq!(
            reason("[]"),
            "this is no catalog: there should be an object with the keys of a catalog and there is a list"
        );
        assert_eq!(reason("{}"), "this is no catalog: the key \"resources\" is missing");
        assert_eq!(
            reason(r#"{"resources":[{"type":"File","title":"/a"},{"type":"File"}]}"#),
            "this is no catalog: at resources[1], the key \"title\" is missing"
        );
        assert_eq!(
            reason(r#"{"resources":[],"edges":[{"source":"Class[A]","target":"File[/a]"}]}"#),
            "this is no catalog: at edges[0], Class[A] is not among the resources"
        );
        assert_eq!(
            reason(r#"{"resources":[{"type":"File","title":"/a","tags":["a",1]}]}"#),
            "this is no catalog: at resources[0].tags[1], there should be a string and there is a number"
        );
        let twice = r#"{"resources":[{"type":"File","title":"/a"},{"type":"file","title":"/a"}]}"#;
        assert!(reason(twice).contains("File[/a] stands in the catalog a second time"));
        assert!(reason(&"[".repeat(100_000)).contains("recursion limit"));
    }

    #[test]
    fn edges_of_puppetdb_are_containment_and_relationships() {
        let text = r#"{"certname":"n1","environment":"x","resources":{"data":[
            {"type":"Class","title":"A"},{"type":"File","title":"/a"},{"type":"Notify","title":"n"}]},
            "edges":{"data":[
            {"source_type":"Class","source_title":"A","target_type":"File","target_title":"/a","relationship":"contains"},
            {"source":{"type":"Class","title":"A"},"target":{"type":"Notify","title":"n"},"relationship":"contains"},
            {"source_type":"File","source_title":"/a","target_type":"Notify","target_title":"n","relationship":"before"}]}}"#;
        let catalog = json(text).unwrap();
        assert_eq!(&*catalog.name, "n1");
        assert_eq!(catalog.edges, [(ResourceId(0), ResourceId(1)), (ResourceId(0), ResourceId(2))]);
        let before = catalog[ResourceId(1)].parameters.get(Symbol::new("before")).cloned();
        assert_eq!(before, Some(Value::new(Data::Array(vec![Value::from("Notify[n]".to_owned())].into()))));
        let other = text.replace("\"before\"", "\"banana\"");
        assert!(json(&other).unwrap_err().to_string().contains("\"banana\" is no relationship"));
    }
}
