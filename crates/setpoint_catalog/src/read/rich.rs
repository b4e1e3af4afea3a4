//! Puppet's rich data, read: an object with `__ptype` is what JSON could not say.

use std::sync::Arc;

use serde_json::{Map, Value as Json};
use setpoint_puppet_values::{Data, Deferred, Hash, Key, Object, Regex, SemVer, Type, Uri, Value};

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
    let Some(name) = entries.get("__ptype") else {
        let entries = entries.iter().map(|(name, item)| (Key::from(name.as_str()), value(item)));
        return Value::hash(entries.collect());
    };
    let rich = name.as_str().and_then(|name| typed(name, entries));
    rich.unwrap_or_else(|| {
        let name = name.as_str().map_or_else(|| name.to_string(), str::to_owned);
        Value::unknown(
            format!("the catalog has a value of the type {name}, which Setpoint cannot read"),
            Type::Any,
        )
    })
}

/// Kinds of Puppet's own that become objects, which are printed as they were read.
const OBJECTS: [&str; 7] = ["Timestamp", "Timespan", "Binary", "SemVerRange", "Symbol", "Error", "Target"];

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
        "Regexp" => Value::new(Data::Regex(Regex::unchecked(inner?.as_str()?))),
        "SemVer" => Value::new(Data::SemVer(Arc::new(SemVer::parse(inner?.as_str()?).ok()?))),
        "URI" => Value::new(Data::Uri(Arc::new(Uri::parse(inner?.as_str()?).ok()?))),
        "Setpoint::Opaque" => {
            let reason = entries.get("reason").and_then(Json::as_str).unwrap_or("it was not computed");
            Value::unknown(reason, Type::Any)
        }
        other if OBJECTS.contains(&other) => {
            let others = entries.iter().filter(|(key, _)| *key != "__ptype");
            let attributes = others.map(|(key, item)| (Key::from(key.as_str()), value(item))).collect();
            Value::new(Data::Object(Arc::new(Object::new(other, attributes))))
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write::{Json as Writer, rich_value};

    #[test]
    fn what_cannot_be_read_is_unknown() {
        for text in [
            r#"{"__ptype":"Mine::Type","a":1,"b":[]}"#,
            r#"{"__ptype":"Sensitive"}"#,
            r#"{"__ptype":"SemVer","__pvalue":"x"}"#,
            r#"{"__ptype":1}"#,
        ] {
            let json: Json = serde_json::from_str(text).unwrap();
            assert!(value(&json).unknown_part().is_some(), "{text}");
        }
    }

    #[test]
    fn rich_data_is_printed_as_it_was_read() {
        for text in [
            r#"{"__ptype":"Sensitive","__pvalue":"x"}"#,
            r#"{"__ptype":"Regexp","__pvalue":"^a$"}"#,
            r#"{"__ptype":"Hash","__pvalue":[1,"a",{"__ptype":"Default"},[null,1.5]]}"#,
            r#"{"__ptype":"Deferred","name":"f","arguments":[1,{"a":true}]}"#,
            r#"{"__ptype":"Timespan","__pvalue":"0-00:00:01.0"}"#,
            r#"{"__ptype":"SemVer","__pvalue":"1.2.3"}"#,
        ] {
            let json: Json = serde_json::from_str(text).unwrap();
            let mut out = Writer::with_capacity(64);
            rich_value(&value(&json), &mut out);
            let printed: Json = serde_json::from_str(&out.finish()).unwrap();
            assert_eq!(printed, json);
        }
    }
}
