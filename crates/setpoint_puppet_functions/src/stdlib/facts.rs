//! stdlib's functions about facts and files of the server.

use std::path::Path;

use setpoint_puppet_values::{Data, Key, Value};

use super::arguments::Arguments;
use crate::Stop;
use crate::builtin::versions::compare_versions;
use crate::context::Context;
use crate::function::{Dispatch, Function, required};
use crate::ruby::{numbers, text};

pub(super) static FACT: Function =
    Function::typed("fact", &[Dispatch::new(&[required("String", "fact_name")], fact)]);
pub(super) static GLOB: Function = Function::counted("glob", -1, glob);
pub(super) static OS_VERSION_GTE: Function = Function::typed(
    "os_version_gte",
    &[Dispatch::new(&[required("String[1]", "os"), required("String[1]", "version")], os_version_gte)],
);

type Result<T> = std::result::Result<T, Stop>;

fn fact(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    let name = arguments[0].as_str().unwrap_or_default();
    let mut at = context.host.variable("facts").unwrap_or(Value::UNDEF);
    let mut walked: Vec<String> = Vec::new();
    for key in segments(name) {
        let problem = match &at.data {
            Data::Undef | Data::Opaque(_) => return Ok(at),
            Data::Hash(entries) => {
                at = entries.get(&Key::from(key.as_str())).cloned().unwrap_or(Value::UNDEF);
                walked.push(key);
                continue;
            }
            Data::Array(items) => match numbers::parse_integer(&key) {
                Some(index) => {
                    let index = if index < 0 { index + items.len() as i128 } else { index };
                    at = usize::try_from(index)
                        .ok()
                        .and_then(|index| items.get(index))
                        .cloned()
                        .unwrap_or(Value::UNDEF);
                    walked.push(key);
                    continue;
                }
                None => format!("is an array; cannot index to '{key}'"),
            },
            _ => format!("is not a collection; cannot walk to '{key}'"),
        };
        let path: Vec<String> = walked
            .iter()
            .map(|part| if part.contains('.') { format!("\"{part}\"") } else { part.clone() })
            .collect();
        context.warn(&format!("fact request for {name} returning nil: '{}' {problem}", path.join(".")));
        return Ok(Value::UNDEF);
    }
    Ok(at)
}

/// The parts of a dotted name; a part in double quotes may hold dots.
fn segments(name: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        if let Some((quoted, after)) = rest.strip_prefix('"').and_then(|inner| inner.split_once('"')) {
            parts.push(quoted.to_owned());
            rest = after;
            continue;
        }
        let end = rest.find(['.', '"']).unwrap_or(rest.len());
        if end > 0 {
            parts.push(rest[..end].to_owned());
        }
        rest = rest
            .get(end.max(1)..)
            .filter(|_| end == 0 || !rest[end..].starts_with('"'))
            .unwrap_or(&rest[end..]);
        rest = rest.strip_prefix('.').unwrap_or(rest);
    }
    parts
}

fn os_version_gte(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    let word = |context: &mut Context<'_, '_>, name: &str| super::addresses::fact(context, &[name]);
    let system = word(context, "operatingsystem");
    let release = word(context, "operatingsystemmajrelease");
    context.note(&system);
    context.note(&release);
    if system != arguments[0] {
        return Ok(Value::from(false));
    }
    let wanted = arguments[1].as_str().unwrap_or_default();
    Ok(Value::from(compare_versions(&text::to_s(&release), wanted).is_ge()))
}

/// The files that a pattern names, with `*` and `?` within a name.
fn glob(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    let [patterns] = arguments else { return Err(context.wrong_count(arguments, "1")) };
    let patterns = match &patterns.data {
        Data::String(_) => std::slice::from_ref(patterns),
        Data::Array(items) => items.as_slice(),
        _ => return Err(context.fail("glob(): Requires either array or string to work")),
    };
    let mut found = Vec::new();
    for pattern in patterns.iter().filter_map(Value::as_str) {
        let fixed = pattern.split('/').take_while(|part| !part.contains(['*', '?', '['])).collect::<Vec<_>>();
        if let Some(unknown) =
            crate::builtin::outside_path(context, &fixed.join("/"), setpoint_puppet_values::Type::Any)
        {
            return Ok(unknown);
        }
        let mut paths = vec![if pattern.starts_with('/') { "/".to_owned() } else { String::new() }];
        for part in pattern.split('/').filter(|part| !part.is_empty()) {
            paths = paths.iter().flat_map(|path| matching(context, path, part)).collect();
        }
        found.extend(paths.into_iter().filter(|path| !path.is_empty()).map(Value::from));
    }
    Ok(Value::array(found))
}

fn matching(context: &Context<'_, '_>, folder: &str, part: &str) -> Vec<String> {
    let join = |name: &str| {
        if folder.is_empty() || folder.ends_with('/') {
            format!("{folder}{name}")
        } else {
            format!("{folder}/{name}")
        }
    };
    let files = context.host.files();
    if !part.contains(['*', '?', '[']) {
        let path = join(part);
        let exists = files.is_file(Path::new(&path)) || files.is_dir(Path::new(&path));
        return if exists { vec![path] } else { Vec::new() };
    }
    let within = if folder.is_empty() { "." } else { folder };
    let names = files.list(Path::new(within));
    names
        .iter()
        .filter(|name| !name.starts_with('.') && name_matches(part.as_bytes(), name.as_bytes()))
        .map(|name| join(name))
        .collect()
}

fn name_matches(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern.first(), name.first()) {
        (None, None) => true,
        (Some(b'*'), _) => {
            name_matches(&pattern[1..], name) || !name.is_empty() && name_matches(pattern, &name[1..])
        }
        (Some(b'?'), Some(_)) => name_matches(&pattern[1..], &name[1..]),
        (Some(wanted), Some(found)) if wanted == found => name_matches(&pattern[1..], &name[1..]),
        _ => false,
    }
}
