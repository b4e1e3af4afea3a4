//! Values as Puppet's rich data: what JSON cannot say is an object with `__ptype` and `__pvalue`.

use setpoint_puppet_values::{Data, Hash, Value};

use super::Json;

const TYPE: &str = "__ptype";
const VALUE: &str = "__pvalue";

/// Writes one value.
pub fn value(value: &Value, out: &mut Json) {
    data(&value.data, out);
}

fn data(data: &Data, out: &mut Json) {
    match data {
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
        #[allow(unreachable_patterns, reason = "further kinds of values are on their way")]
        _ => out.null(),
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
