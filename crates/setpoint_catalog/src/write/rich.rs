//! Values as Puppet's rich data: what JSON cannot say is an object with `__ptype` and `__pvalue`.

use setpoint_puppet_values::rich::to_rich_data;
use setpoint_puppet_values::{Data, Hash, Type, Value};

use super::Json;
use crate::display_name;

const TYPE: &str = "__ptype";
const VALUE: &str = "__pvalue";

/// Writes one value.
pub fn value(whole: &Value, out: &mut Json) {
    match &whole.data {
        Data::Undef => out.null(),
        Data::Bool(value) => out.bool(*value),
        Data::Integer(value) => out.integer(*value),
        Data::Float(value) => out.float(*value),
        Data::String(text) => out.string(text),
        Data::Default => tagged("Default", None, out),
        Data::Array(items) => {
            out.open_array();
            items.iter().for_each(|item| value(item, out));
            out.close_array();
        }
        Data::Hash(entries) => hash(entries, out),
        Data::Sensitive(inner) => tagged("Sensitive", Some(inner), out),
        Data::Deferred(call) => {
            out.open_object();
            out.key(TYPE);
            out.string("Deferred");
            out.key("name");
            out.string(&call.name);
            if !call.arguments.is_empty() {
                out.key("arguments");
                out.open_array();
                call.arguments.iter().for_each(|argument| value(argument, out));
                out.close_array();
            }
            out.close_object();
        }
        // A value that is not known is told apart from every value that Puppet prints.
        Data::Opaque(opaque) => {
            out.open_object();
            out.key(TYPE);
            out.string("Setpoint::Opaque");
            out.key("reason");
            out.string(&opaque.reason);
            out.close_object();
        }
        Data::Type(named) => match reference(named) {
            Some(text) => out.string(&text),
            None => tree(&to_rich_data(whole), out),
        },
        Data::Regex(_)
        | Data::Timestamp(_)
        | Data::Timespan(_)
        | Data::SemVer(_)
        | Data::SemVerRange(_)
        | Data::Uri(_)
        | Data::Binary(_)
        | Data::Iterator(_)
        | Data::Object(_) => tree(&to_rich_data(whole), out),
    }
}

/// A reference to one resource or class as catalogs write it: `File[/etc/motd]`, `Class[Apache::Params]`. `None` for any
/// other type.
pub fn reference(named: &Type) -> Option<String> {
    match named {
        Type::Resource(Some(resource)) => {
            let title = resource.title.as_ref()?;
            Some(format!("{}[{title}]", display_name(&resource.name)))
        }
        Type::Class(Some(name)) => Some(format!("Class[{}]", display_name(name))),
        _ => None,
    }
}

fn tree(json: &serde_json::Value, out: &mut Json) {
    match json {
        serde_json::Value::Null => out.null(),
        serde_json::Value::Bool(value) => out.bool(*value),
        serde_json::Value::Number(number) => match number.as_i64() {
            Some(integer) => out.integer(integer),
            None => out.float(number.as_f64().unwrap_or(f64::NAN)),
        },
        serde_json::Value::String(text) => out.string(text),
        serde_json::Value::Array(items) => {
            out.open_array();
            for item in items {
                tree(item, out);
            }
            out.close_array();
        }
        serde_json::Value::Object(entries) => {
            out.open_object();
            for (key, item) in entries {
                out.key(key);
                tree(item, out);
            }
            out.close_object();
        }
    }
}

fn tagged(name: &str, inner: Option<&Value>, out: &mut Json) {
    out.open_object();
    out.key(TYPE);
    out.string(name);
    if let Some(inner) = inner {
        out.key(VALUE);
        value(inner, out);
    }
    out.close_object();
}

/// An object if every key is a string that no reader could mistake; else keys and values in turn.
fn hash(entries: &Hash, out: &mut Json) {
    if entries.keys().all(|key| key.as_str().is_some_and(|name| name != TYPE)) {
        out.open_object();
        for (key, item) in entries {
            out.key(key.as_str().unwrap_or_default());
            value(item, out);
        }
        out.close_object();
        return;
    }
    out.open_object();
    out.key(TYPE);
    out.string("Hash");
    out.key(VALUE);
    out.open_array();
    for (key, item) in entries {
        value(&key.0, out);
        value(item, out);
    }
    out.close_array();
    out.close_object();
}
