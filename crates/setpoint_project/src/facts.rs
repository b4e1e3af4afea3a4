//! Facts and other data about a node, from JSON or YAML.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use setpoint_data::{Kind, Node};
use setpoint_puppet::PuppetVersion;
use setpoint_puppet_values::{Data, Hash, Key, Value};
use setpoint_source::Severity;

use crate::options::PuppetOptions;
use crate::session::{Session, UsageError};

/// The facts of a file, and the node that they are about, if the file tells.
#[derive(Debug, Clone, Default)]
pub(super) struct Facts {
    pub(super) node: Option<String>,
    pub(super) values: Hash,
}

impl Facts {
    /// The same facts for a node of another name.
    pub(super) fn renamed(&self, name: &str) -> Self {
        let (host, domain) = name.split_once('.').unwrap_or((name, ""));
        let mut values = self.values.clone();
        values.shift_remove(&Key::from("trusted"));
        let names = [("hostname", host), ("domain", domain), ("fqdn", name), ("clientcert", name)];
        let rename = |facts: &mut Hash| {
            for (fact, value) in names {
                if let Some(known) = facts.get_mut(&Key::from(fact)) {
                    *known = value.into();
                }
            }
        };
        rename(&mut values);
        if let Some(Value { data: Data::Hash(networking), .. }) = values.get_mut(&Key::from("networking")) {
            rename(Arc::make_mut(networking));
        }
        Self { node: Some(name.to_owned()), values }
    }
}

/// The facts of a platform for a node.
pub(super) fn platform(name: &str, node: &str, given: &PuppetOptions) -> Result<Hash, UsageError> {
    let platform = setpoint_platforms::find(name).map_err(|unknown| UsageError::new(unknown.to_string()))?;
    Ok(setpoint_platforms::values(&platform.facts(node, puppet_version(given))))
}

/// The names of the facts that every machine has under Puppet 7, those of old included.
pub(super) fn names_under_7() -> BTreeSet<String> {
    let platforms = setpoint_platforms::names().filter_map(|name| setpoint_platforms::find(name).ok());
    let version = PuppetVersion::V7.full();
    platforms.flat_map(|platform| platform.facts("node", version).into_iter().map(|(name, _)| name)).collect()
}

/// The full version that an agent tells.
pub(super) fn puppet_version(given: &PuppetOptions) -> &'static str {
    given.puppet.as_deref().and_then(PuppetVersion::parse).unwrap_or_default().full()
}

/// A structured fact is changed in the parts that are given; any other is replaced.
pub(super) fn lay_over(facts: &mut Hash, over: &Hash) {
    for (name, value) in over {
        match (facts.get_mut(name).map(|known| &mut known.data), &value.data) {
            (Some(Data::Hash(known)), Data::Hash(more)) => lay_over(Arc::make_mut(known), more),
            _ => {
                facts.insert(name.clone(), value.clone());
            }
        }
    }
}

/// What stands beside facts in the output of `puppet facts`, and nothing else does.
const WRAPPER: [&str; 5] = ["name", "values", "timestamp", "expiration", "environment"];

/// Facts as `facter --json`, `facter --yaml` or `puppet facts` print them, or as PuppetDB answers.
pub(super) fn read(session: &Session<'_>, path: &Path) -> Result<Facts, UsageError> {
    let wrong = || UsageError::new(format!("{}: facts are a mapping of names to values", path.display()));
    let facts = match read_value(session, path)?.data {
        Data::Hash(facts) if !facts.is_empty() => facts,
        Data::Array(list) if !list.is_empty() => {
            [(Key::from("facts"), Value::array(list.to_vec()))].into_iter().collect::<Hash>().into()
        }
        _ => return Err(wrong()),
    };
    let known = |name: &str| facts.get(&Key::from(name));
    let is_wrapper = facts.keys().all(|key| key.0.as_str().is_some_and(|key| WRAPPER.contains(&key)));
    let (name, values) = match (known("values").filter(|_| is_wrapper), known("facts")) {
        // `puppet facts` puts them under `values`, beside the name of the node.
        (Some(values), _) => (known("name").cloned(), values.as_hash().cloned().ok_or_else(wrong)?),
        (None, Some(stored)) => {
            let (name, values) = of_puppetdb(stored).ok_or_else(wrong)?;
            (known("certname").cloned().or(name), values)
        }
        (None, None) => (None, Arc::unwrap_or_clone(facts)),
    };
    let part = |hash: &Hash, name: &str| hash.get(&Key::from(name)).cloned();
    let networking = || part(&values, "networking").and_then(|facts| part(facts.as_hash()?, "fqdn"));
    let node = name
        .or_else(|| part(&values, "clientcert"))
        .or_else(|| part(part(&values, "trusted")?.as_hash()?, "certname"))
        .or_else(networking)
        .or_else(|| part(&values, "fqdn"));
    let node = node.as_ref().and_then(Value::as_str).map(str::to_owned);
    Ok(Facts { node, values })
}

/// What PuppetDB answers: a mapping, or a list of facts with `name` and `value`, which may lie under `data`.
fn of_puppetdb(stored: &Value) -> Option<(Option<Value>, Hash)> {
    let list = match &stored.data {
        Data::Array(list) => list,
        Data::Hash(entries) => match entries.get(&Key::from("data")).map(|data| &data.data) {
            Some(Data::Array(list)) => list,
            _ => return Some((None, Hash::clone(entries))),
        },
        _ => return None,
    };
    let mut values = Hash::default();
    let mut certname = None;
    for fact in list.iter() {
        let fact = fact.as_hash()?;
        let part = |name: &str| fact.get(&Key::from(name)).cloned();
        values.insert(Key(part("name")?), part("value")?);
        certname = part("certname").or(certname);
    }
    Some((certname, values))
}

pub(super) fn read_value(session: &Session<'_>, path: &Path) -> Result<Value, UsageError> {
    let (file, text) = session.load(path)?;
    // What is JSON by its name is JSON to whoever reads it after us: it is not YAML, and nothing follows it.
    let is_json = path.extension().is_some_and(|ending| ending == "json");
    let document =
        if is_json { setpoint_data::read_json(file, &text) } else { setpoint_data::read(file, &text) };
    if let Some(error) = document.diagnostics.iter().find(|found| found.severity == Severity::Error) {
        let place = error.span.map(|span| session.sources.place(span)).unwrap_or_default();
        return Err(UsageError::new(format!("{place}: {}", error.message)));
    }
    if let Some(range) = document.second {
        let place = session.sources.place(range.in_file(file));
        return Err(UsageError::new(format!(
            "{place}: a second document begins here, and only the first is read"
        )));
    }
    Ok(document.root.as_ref().map_or(Value::UNDEF, value))
}

fn value(node: &Node) -> Value {
    match &node.kind {
        Kind::Sequence(items) => Value::array(items.iter().map(value).collect()),
        Kind::Mapping(entries) => {
            Value::hash(entries.iter().map(|entry| (Key(value(&entry.key)), value(&entry.value))).collect())
        }
        Kind::Scalar { text, .. } => match node.plain() {
            None => Value::string(Arc::clone(text)),
            Some("" | "~" | "null" | "Null" | "NULL") => Value::UNDEF,
            Some("true" | "True" | "TRUE") => true.into(),
            Some("false" | "False" | "FALSE") => false.into(),
            Some(plain) => number(plain).unwrap_or_else(|| Value::string(Arc::clone(text))),
        },
    }
}

fn number(text: &str) -> Option<Value> {
    if let Ok(integer) = text.parse::<i64>() {
        // `010` and `+1` are texts: versions and codes are written so.
        let canonical = integer.to_string() == text;
        return canonical.then(|| integer.into());
    }
    let numeric =
        text.chars().all(|c| c.is_ascii_digit() || ".+-eE".contains(c)) && text.contains(['.', 'e', 'E']);
    text.parse::<f64>().ok().filter(|float| numeric && float.is_finite()).map(Value::from)
}
