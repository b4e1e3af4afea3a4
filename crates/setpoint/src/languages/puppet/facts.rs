//! Facts and other data about a node, from JSON or YAML.

use std::path::Path;
use std::sync::Arc;

use setpoint_data::{Kind, Node};
use setpoint_puppet_values::{Data, Hash, Key, Value};
use setpoint_source::Severity;

use crate::cli::PuppetOptions;
use crate::session::{Session, UsageError};

/// The facts of a node: those of `--platform`, with those of `--facts` laid over them.
pub(super) fn of(session: &Session<'_>, given: &PuppetOptions, node: &str) -> Result<Hash, UsageError> {
    let mut facts =
        given.platform.as_deref().map(|name| platform(name, node, given)).transpose()?.unwrap_or_default();
    if let Some(path) = &given.facts {
        lay_over(&mut facts, &read(session, path)?);
    }
    Ok(facts)
}

/// The facts of a platform for a node.
pub(super) fn platform(name: &str, node: &str, given: &PuppetOptions) -> Result<Hash, UsageError> {
    let platform = setpoint_platforms::find(name).map_err(|unknown| UsageError::new(unknown.to_string()))?;
    let puppet = if given.puppet.as_deref() == Some("7") { "7.23.0" } else { "8.10.0" };
    Ok(setpoint_platforms::values(&platform.facts(node, puppet)))
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

/// Facts as `facter --json`, `facter --yaml` or `puppet facts` print them.
pub(super) fn read(session: &Session<'_>, path: &Path) -> Result<Hash, UsageError> {
    let wrong = || UsageError::new(format!("{}: facts are a mapping of names to values", path.display()));
    let Data::Hash(facts) = read_value(session, path)?.data else { return Err(wrong()) };
    // `puppet facts` puts them under `values`, beside the name of the node.
    match (facts.get(&Key::from("values")), facts.get(&Key::from("name"))) {
        (Some(Value { data: Data::Hash(values), .. }), Some(_)) => Ok(Hash::clone(values)),
        _ => Ok(Arc::unwrap_or_clone(facts)),
    }
}

pub(super) fn read_value(session: &Session<'_>, path: &Path) -> Result<Value, UsageError> {
    let text = session.read(path)?;
    let file = session.sources.add(path.display().to_string(), text.as_str());
    let document = setpoint_data::read(file, &text);
    if let Some(error) = document.diagnostics.iter().find(|found| found.severity == Severity::Error) {
        let place = error.span.map(|span| session.sources.place(span)).unwrap_or_default();
        return Err(UsageError::new(format!("{place}: {}", error.message)));
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
