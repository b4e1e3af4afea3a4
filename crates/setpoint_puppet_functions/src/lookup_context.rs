//! `Puppet::LookupContext`: what Hiera gives to the functions of its hierarchies, in Ruby and in the Puppet language.

use std::path::{Path, PathBuf};

use setpoint_puppet_values::{Key, Object, Type, Value};
use setpoint_source::{Span, read_text};

use crate::{Call, FailureKind, Host, Stop};

/// The name of the type, as Puppet has it.
pub const LOOKUP_CONTEXT: &str = "Puppet::LookupContext";

pub fn is_lookup_context(object: &Object) -> bool {
    &*object.type_name == LOOKUP_CONTEXT
}

/// What is known of a file that a function asks for.
pub(crate) enum FileData {
    /// What an earlier call made of it.
    Kept(Value),
    /// Its text, for a block to make something of.
    Text(Value),
}

/// Calls a method of the context with the block of the call, if it has one. Returns `None` if there is no such method.
pub fn call_lookup_context(host: &mut dyn Host, call: &Call<'_>) -> Option<Result<Value, Stop>> {
    let arguments = call.arguments.get(1..).unwrap_or_default();
    let Some(block) = call.block else { return plain_method(host, &call.name, arguments, call.span) };
    Some(match (&*call.name, arguments) {
        ("cached_file_data", [path]) => match file_data(host, path, call.span) {
            Ok(FileData::Kept(value)) => Ok(value),
            Ok(FileData::Text(text)) => {
                host.call_block(block, vec![text]).inspect(|value| keep_file_data(host, path, value))
            }
            Err(stop) => Err(stop),
        },
        ("explain", []) if host.explains_lookup() => host.call_block(block, Vec::new()).map(|text| {
            host.explain_lookup(setpoint_puppet_values::to_text(&text).to_string());
            Value::UNDEF
        }),
        ("explain", []) => Ok(Value::UNDEF),
        ("cached_entries", []) => {
            let takes_two = block.accepted() == Some(2);
            entries(host)
                .into_iter()
                .try_for_each(|(key, value)| {
                    let arguments =
                        if takes_two { vec![key, value] } else { vec![Value::array(vec![key, value])] };
                    host.call_block(block, arguments).map(|_| ())
                })
                .map(|()| Value::UNDEF)
        }
        _ => return plain_method(host, &call.name, arguments, call.span),
    })
}

/// A method without a block.
pub(crate) fn plain_method(
    host: &mut dyn Host,
    name: &str,
    arguments: &[Value],
    span: Span,
) -> Option<Result<Value, Stop>> {
    Some(match (name, arguments) {
        ("not_found", []) => Err(FailureKind::NoSuchKey.at(span)),
        ("cache", [key, value]) => {
            if let Some(cache) = host.lookup_cache() {
                cache.insert(Key(key.clone()), value.clone());
            }
            Ok(value.clone())
        }
        ("cache_all", [all]) => {
            if let (Some(all), Some(cache)) = (all.as_hash(), host.lookup_cache()) {
                cache.extend(all.iter().map(|(key, value)| (key.clone(), value.clone())));
            }
            Ok(Value::UNDEF)
        }
        ("cache_has_key", [key]) => {
            let has = host.lookup_cache().is_some_and(|cache| cache.contains_key(&Key(key.clone())));
            Ok(Value::from(has))
        }
        ("cached_value", [key]) => {
            let kept = host.lookup_cache().and_then(|cache| cache.get(&Key(key.clone())).cloned());
            Ok(kept.unwrap_or(Value::UNDEF))
        }
        ("cached_entries", []) => {
            let pairs = entries(host).into_iter().map(|(key, value)| Value::array(vec![key, value]));
            Ok(Value::array(pairs.collect()))
        }
        ("cached_file_data", [path]) => file_data(host, path, span).map(|data| match data {
            FileData::Kept(value) => value,
            FileData::Text(text) => {
                keep_file_data(host, path, &text);
                text
            }
        }),
        ("interpolate", [value]) => host.interpolate_data(value, span),
        ("explain", _) => Ok(Value::UNDEF),
        _ => return None,
    })
}

/// What was kept, in the order in which it came.
pub(crate) fn entries(host: &mut dyn Host) -> Vec<(Value, Value)> {
    let kept = host.lookup_cache().map(|cache| cache.clone()).unwrap_or_default();
    kept.into_iter().map(|(key, value)| (key.0, value)).collect()
}

pub(crate) fn file_data(host: &mut dyn Host, path: &Value, span: Span) -> Result<FileData, Stop> {
    let Some(path) = path.as_str().map(PathBuf::from) else {
        let mismatch = "'cached_file_data' parameter 'path' expects a String value".to_owned();
        return Err(FailureKind::WrongArguments(mismatch).at(span));
    };
    if let Some(kept) = host.file_cache().and_then(|cache| cache.get(&path).cloned()) {
        return Ok(FileData::Kept(kept));
    }
    if !host.is_input(&path) {
        let reason = format!("{} lies outside of the environment and its modules", path.display());
        return Ok(FileData::Kept(Value::unknown(reason, Type::Any)));
    }
    if !host.files().is_file(&path) {
        let message = format!("No such file or directory @ rb_file_s_stat - {}", path.display());
        return Err(FailureKind::FunctionFailed(message).at(span));
    }
    let Ok(text) = read_text(host.files(), &path) else {
        let reason = format!("{} cannot be read", path.display());
        return Ok(FileData::Kept(Value::unknown(reason, Type::Any)));
    };
    host.file_read(&path, &text);
    Ok(FileData::Text(Value::from(text)))
}

/// Keeps what was made of a file, for all functions of hierarchies.
pub(crate) fn keep_file_data(host: &mut dyn Host, path: &Value, value: &Value) {
    if let (Some(path), Some(cache)) = (path.as_str().map(Path::new), host.file_cache()) {
        cache.insert(path.to_owned(), value.clone());
    }
}
