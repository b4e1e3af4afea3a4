//! TOML, written as stdlib does.

use std::fmt::Write;

use setpoint_puppet_values::{Data, Hash, Key, Value};

use crate::ruby::{self, text};

/// The tables of a hash; keys must be comparable.
pub(super) fn write(data: &Hash) -> Result<String, String> {
    let mut out = String::new();
    table(data, &[], &mut out)?;
    Ok(out)
}

fn table(data: &Hash, path: &[String], out: &mut String) -> Result<(), String> {
    let sorted = sorted(data)?;
    let simple = sorted.iter().any(|(_, value)| !is_nested(value));
    if !path.is_empty() && (simple || data.is_empty()) {
        let _ = writeln!(out, "[{}]", path.join("."));
    }
    entries(&sorted, path, out)
}

fn is_table_array(value: &Value) -> bool {
    value.as_array().and_then(<[Value]>::first).is_some_and(|first| first.as_hash().is_some())
}

fn is_nested(value: &Value) -> bool {
    value.as_hash().is_some() || is_table_array(value)
}

fn sorted(data: &Hash) -> Result<Vec<(&Key, &Value)>, String> {
    let pairs: Vec<(&Key, &Value)> = data.iter().collect();
    ruby::sort::sort_by(pairs, &mut |(a, _), (b, _)| {
        ruby::compare(&a.0, &b.0).ok_or_else(|| ruby::comparison_failed(&a.0, &b.0))
    })
}

fn entries(sorted: &[(&Key, &Value)], path: &[String], out: &mut String) -> Result<(), String> {
    for (key, value) in sorted.iter().filter(|(_, value)| !is_nested(value)) {
        let _ = writeln!(out, "{} = {}", key_text(key), value_text(value));
    }
    let below = |key: &Key| path.iter().cloned().chain([key_text(key)]).collect::<Vec<_>>();
    for (key, value) in sorted {
        if let Some(inner) = value.as_hash() {
            table(inner, &below(key), out)?;
        }
    }
    for (key, value) in sorted.iter().filter(|(_, value)| is_table_array(value)) {
        for child in value.as_array().unwrap_or_default() {
            let path = below(key);
            let _ = writeln!(out, "[[{}]]", path.join("."));
            entries(&self::sorted(child.as_hash().unwrap_or(&Hash::default()))?, &path, out)?;
        }
    }
    Ok(())
}

fn key_text(key: &Key) -> String {
    let name = text::to_s(&key.0);
    if name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')) {
        name
    } else {
        format!("\"{}\"", name.replace('"', "\\\""))
    }
}

fn value_text(value: &Value) -> String {
    let written = text::inspect(value);
    match value.data {
        Data::String(_) => written.replace("\\#{", "#{").replace("\\#$", "#$").replace("\\#@", "#@"),
        _ => written,
    }
}
