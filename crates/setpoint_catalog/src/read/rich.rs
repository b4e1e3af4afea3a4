//! Puppet's rich data, read: an object with `__ptype` is what JSON could not say.

use std::sync::Arc;

use serde_json::{Map, Value as Json};
use setpoint_puppet_values::{Data, Deferred, Hash, Key, Value};

/// A value of a parameter. The reader of JSON has limited the depth already.
pub fn value(json: &Json) -> Value {
    Value::new(match json {
        Json::Null => Data::Undef,
        Json::Bool(value) => Data::Bool(*value),
        Json::Number(number) => match number.as_i64() {
            Some(integer) => Data::Integer(integer),
            None => Data::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Json::String(text) => Data::String(Arc::from(text.as_str())),
        Json::Array(items) => Data::Array(Arc::new(items.iter().map(value).collect())),
        Json::Object(entries) => return object(entries),
    })
}

fn object(entries: &Map<String, Json>) -> Value {
    let rich = entries.get("__ptype").and_then(Json::as_str).and_then(|name| typed(name, entries));
    rich.unwrap_or_else(|| {
        Value::hash(entries.iter().map(|(name, item)| (Key::from(name.as_str()), value(item))).collect())
    })
}

/// `None` for kinds that are not known: they stay the hashes that they are in JSON.
fn typed(name: &str, entries: &Map<String, Json>) -> Option<Value> {
    let inner = entries.get("__pvalue");
    Some(match name {
        "Default" => Value::new(Data::Default),
        "Sensitive" => Value::new(Data::Sensitive(Arc::new(value(inner?)))),
        "Hash" => {
            let items = inner?.as_array()?;
            let pairs = items.chunks_exact(2).map(|pair| (Key(value(&pair[0])), value(&pair[1])));
            Value::hash(pairs.collect::<Hash>())
        }
        "Deferred" => Value::new(Data::Deferred(Arc::new(Deferred {
            name: Arc::from(entries.get("name")?.as_str()?),
            arguments: entries
                .get("arguments")
                .and_then(Json::as_array)
                .map(|items| items.iter().map(value).collect())
                .unwrap_or_default(),
        }))),
        _ => return None,
    })
}
