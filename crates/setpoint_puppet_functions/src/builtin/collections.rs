//! Functions over arrays and hashes that need no block, or only to compare.

use std::cmp::Ordering;
use std::sync::Arc;

use setpoint_puppet_values::{Data, Hash, Key, Object, Type, Value, infer, iterate};

use crate::Stop;
use crate::context::Context;
use crate::function::{Dispatch, Function, optional, repeated, required};
use crate::ruby::{self, sort::sort_by};

pub(super) static KEYS: Function =
    Function::typed("keys", &[Dispatch::new(&[required("Hash", "hsh")], keys)]).moving_unknown();
pub(super) static VALUES: Function =
    Function::typed("values", &[Dispatch::new(&[required("Hash", "hsh")], values)]).moving_unknown();
pub(super) static FLATTEN: Function =
    Function::typed("flatten", &[Dispatch::new(&[repeated("Any", "args")], flatten)]).moving_unknown();
pub(super) static JOIN: Function = Function::typed(
    "join",
    &[Dispatch::new(&[required("Array", "arg"), optional("String", "delimiter")], join)],
);
pub(super) static LENGTH: Function = Function::typed(
    "length",
    &[
        Dispatch::new(&[required("Collection", "arg")], length),
        Dispatch::new(&[required("String", "arg")], length),
        Dispatch::new(&[required("Binary", "arg")], length),
    ],
)
.moving_unknown();
pub(super) static SIZE: Function = Function::typed(
    "size",
    &[Dispatch::new(&[required("Variant[Collection, String, Binary]", "arg")], length)],
)
.moving_unknown();
pub(super) static EMPTY: Function = Function::typed(
    "empty",
    &[
        Dispatch::new(&[required("Collection", "coll")], empty),
        Dispatch::new(&[required("Sensitive[String]", "str")], empty),
        Dispatch::new(&[required("String", "str")], empty),
        Dispatch::new(&[required("Numeric", "num")], empty_number),
        Dispatch::new(&[required("Binary", "bin")], empty),
        Dispatch::new(&[required("Undef", "x")], empty),
    ],
)
.moving_unknown();
pub(super) static SORT: Function = Function::typed(
    "sort",
    &[
        Dispatch::new(&[required("String", "string_value")], sort_text).with_optional_block("Callable[2,2]"),
        Dispatch::new(&[required("Array", "array_value")], sort).with_optional_block("Callable[2,2]"),
    ],
);
pub(super) static UNIQUE: Function = Function::typed(
    "unique",
    &[
        Dispatch::new(&[required("String", "string")], unique_letters)
            .with_optional_block("Callable[String]"),
        Dispatch::new(&[required("Hash", "hash")], unique_hash).with_optional_block("Callable[Any]"),
        Dispatch::new(&[required("Array", "array")], unique).with_optional_block("Callable[Any]"),
        Dispatch::new(&[required("Iterable", "iterable")], unique).with_optional_block("Callable[Any]"),
    ],
);
pub(super) static DIG: Function = Function::typed(
    "dig",
    &[Dispatch::new(
        &[required("Optional[Collection]", "data"), repeated("Any", "arg")],
        |context, arguments| dig(&arguments[0], &arguments[1..]).map_err(|error| context.fail(error.message)),
    )],
)
.carrying_unknown();
pub(super) static GET: Function = Function::typed(
    "get",
    &[Dispatch::new(
        &[required("Any", "value"), required("String", "dotted_string"), optional("Any", "default_value")],
        |context, arguments| {
            get(context, &arguments[0], arguments[1].as_str().unwrap_or_default(), arguments.get(2))
        },
    )
    .with_optional_block("Callable[1,1]")],
)
.carrying_unknown();
pub(super) static GETVAR: Function = Function::typed(
    "getvar",
    &[
        Dispatch::new(
            &[
                required("Pattern[/\\A(?:::)?(?:[a-z]\\w*::)*[a-z_]\\w*(?:\\.|\\Z)/]", "get_string"),
                optional("Any", "default_value"),
            ],
            getvar,
        )
        .with_optional_block("Callable[1,1]"),
        Dispatch::new(&[required("String", "get_string"), optional("Any", "default_value")], |context, _| {
            Err(context.fail("The given string does not start with a valid variable name"))
        })
        .with_optional_block("Callable")
        .refusing(),
    ],
)
.carrying_unknown();

fn keys(_: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Stop> {
    let entries = arguments[0].as_hash().into_iter().flatten();
    Ok(Value::array(entries.map(|(key, _)| key.0.clone()).collect()))
}

fn values(_: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Stop> {
    let entries = arguments[0].as_hash().into_iter().flatten();
    Ok(Value::array(entries.map(|(_, value)| value.clone()).collect()))
}

fn flatten(_: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Stop> {
    let mut flat = Vec::new();
    flatten_into(arguments, &mut flat);
    Ok(Value::array(flat))
}

pub(crate) fn flatten_into(items: &[Value], flat: &mut Vec<Value>) {
    for item in items {
        match &item.data {
            Data::Array(inner) => flatten_into(inner, flat),
            _ => flat.push(item.clone()),
        }
    }
}

fn join(_: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Stop> {
    let delimiter = arguments.get(1).and_then(Value::as_str).unwrap_or_default();
    Ok(Value::from(ruby::text::join(arguments[0].as_array().unwrap_or_default(), delimiter)))
}

/// The number of letters, elements, entries or bytes.
fn count(value: &Value) -> usize {
    match &value.data {
        Data::String(text) => text.chars().count(),
        Data::Array(items) => items.len(),
        Data::Hash(entries) => entries.len(),
        Data::Binary(bytes) => bytes.len(),
        Data::Sensitive(inner) => count(inner),
        _ => 0,
    }
}

fn length(_: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Stop> {
    Ok(Value::from(count(&arguments[0]) as i64))
}

fn empty(_: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Stop> {
    Ok(Value::from(count(&arguments[0]) == 0))
}

fn empty_number(context: &mut Context<'_, '_>, _: &[Value]) -> Result<Value, Stop> {
    let key = format!("empty at {:?}", context.span());
    context.warn_once(&key, "Calling function empty() with Numeric value is deprecated.");
    Ok(Value::from(false))
}

fn compare(context: &mut Context<'_, '_>, a: &Value, b: &Value) -> Result<Ordering, Stop> {
    if context.block().is_none() {
        return ruby::compare(a, b).ok_or_else(|| context.fail(ruby::comparison_failed(a, b)));
    }
    let answer = context.ask_block(vec![a.clone(), b.clone()])?;
    ruby::as_ordering(&answer, a, b).map_err(|message| context.fail(message))
}

fn sort(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Stop> {
    let items = arguments[0].as_array().unwrap_or_default().to_vec();
    Ok(Value::array(sort_by(items, &mut |a, b| compare(context, a, b))?))
}

/// The letters of a text, each a value that comes from it.
fn letters(text: &Value) -> Vec<Value> {
    iterate(text).map_or_else(Vec::new, |all| all.iter().collect())
}

fn sort_text(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Stop> {
    let sorted = sort_by(letters(&arguments[0]), &mut |a, b| compare(context, a, b))?;
    Ok(Value::from(ruby::text::join(&sorted, "")))
}

/// The first of each group of values that are the same, or for which the block gives the same.
fn first_of_each(context: &mut Context<'_, '_>, items: Vec<Value>) -> Result<Vec<Value>, Stop> {
    let mut seen = Hash::default();
    for item in items {
        let mark =
            if context.block().is_some() { context.ask_block(vec![item.clone()])? } else { item.clone() };
        seen.entry(Key(mark)).or_insert(item);
    }
    Ok(seen.into_values().collect())
}

fn unique(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Stop> {
    let items = iterate(&arguments[0]).map_or_else(Vec::new, |all| all.iter().collect());
    Ok(Value::array(first_of_each(context, items)?))
}

fn unique_letters(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Stop> {
    let kept = first_of_each(context, letters(&arguments[0]))?;
    Ok(Value::from(ruby::text::join(&kept, "")))
}

/// Keys with the same value come together: `{[a, c] => [1], [b] => [2]}`.
fn unique_hash(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Stop> {
    let mut groups: indexmap::IndexMap<Key, (Vec<Value>, Vec<Value>)> = indexmap::IndexMap::new();
    for (key, value) in arguments[0].as_hash().into_iter().flatten() {
        let mark =
            if context.block().is_some() { context.ask_block(vec![value.clone()])? } else { value.clone() };
        let (keys, values) = groups.entry(Key(mark)).or_default();
        keys.push(key.0.clone());
        if !values.contains(value) {
            values.push(value.clone());
        }
    }
    let prov = arguments[0].prov;
    let entries = groups
        .into_values()
        .map(|(keys, values)| (Key(Value::array(keys)), Value::array(values).made_of(prov)));
    Ok(Value::hash(entries.collect()))
}

/// Why `dig` stopped, with what a block may ask about it.
pub(super) struct DigError {
    message: String,
    issue: &'static str,
    walked: Vec<Value>,
    found: &'static str,
    of: Value,
}

fn dig(data: &Value, path: &[Value]) -> Result<Value, DigError> {
    let mut at = data.clone();
    for (depth, key) in path.iter().enumerate() {
        if at.is_undef() || key.is_undef() {
            return Ok(Value::UNDEF);
        }
        let walked = |count: usize| Value::array(path[..count].to_vec());
        at = match &at.data {
            Data::Hash(entries) => entries.get(&Key(key.clone())).cloned().unwrap_or(Value::UNDEF),
            Data::Array(items) => {
                let Data::Integer(index) = key.data else {
                    let of = infer(key);
                    let message = format!(
                        "The given data requires an Integer index at {}, got '{of}'",
                        ruby::text::inspect(&walked(depth + 1))
                    );
                    let walked = path[..=depth].to_vec();
                    return Err(DigError {
                        message,
                        issue: "EXPECTED_INTEGER_INDEX",
                        walked,
                        found: "index_type",
                        of: of.into(),
                    });
                };
                element_at(items, index)
            }
            // Whatever is in it is not known either.
            Data::Opaque(unknown) => {
                return Ok(Value::unknown(Arc::clone(&unknown.reason), Type::Any).with(at.prov));
            }
            _ => {
                let of = infer(&at);
                let message = format!(
                    "The given data does not contain a Collection at {}, got '{of}'",
                    ruby::text::inspect(&walked(depth))
                );
                let walked = path[..depth].to_vec();
                return Err(DigError {
                    message,
                    issue: "EXPECTED_COLLECTION",
                    walked,
                    found: "value_type",
                    of: of.into(),
                });
            }
        };
    }
    Ok(at)
}

/// Counted from the end if negative.
fn element_at(items: &[Value], index: i64) -> Value {
    let at = if index < 0 { index + items.len() as i64 } else { index };
    usize::try_from(at).ok().and_then(|at| items.get(at)).cloned().unwrap_or(Value::UNDEF)
}

fn get(
    context: &mut Context<'_, '_>,
    value: &Value,
    navigation: &str,
    default: Option<&Value>,
) -> Result<Value, Stop> {
    let default = default.cloned().unwrap_or(Value::UNDEF);
    if value.is_undef() {
        return Ok(default);
    }
    if navigation.is_empty() {
        return Ok(value.clone());
    }
    let Some(path) = split_key(navigation) else {
        return Err(context.fail("Syntax error in dotted-navigation string"));
    };
    // The walk is done by `dig`, and its signature decides what can be walked.
    if !matches!(value.data, Data::Array(_) | Data::Hash(_)) {
        let arguments = std::iter::once(value.clone()).chain(path).collect();
        return context.call_function("dig", arguments);
    }
    match dig(value, &path) {
        Ok(found) if found.is_undef() => Ok(default),
        Ok(found) => Ok(found),
        Err(error) if context.block().is_some() => context.call_block(vec![error.into_value()]),
        Err(error) => Err(context.fail(error.message)),
    }
}

impl DigError {
    /// Puppet's `Error` for a block that handles it.
    fn into_value(self) -> Value {
        let details: Hash = [("walked_path", Value::array(self.walked)), (self.found, self.of)]
            .map(|(key, value)| (key.into(), value))
            .into_iter()
            .collect();
        let attributes: Hash = [
            ("msg", Value::from(self.message)),
            ("kind", Value::from("SLICE_ERROR")),
            ("details", Value::hash(details)),
            ("issue_code", Value::from(self.issue)),
        ]
        .map(|(key, value)| (key.into(), value))
        .into_iter()
        .collect();
        Value::new(Data::Object(Arc::new(Object::new("Error", attributes))))
    }
}

/// The segments of a dotted key: `a.'b.c'.0`.
pub(super) fn split_key(key: &str) -> Option<Vec<Value>> {
    let mut segments = Vec::new();
    let mut rest = key;
    loop {
        let trimmed = rest.trim_start();
        let (segment, after) = if let Some(quote @ ('"' | '\'')) = trimmed.chars().next() {
            let inner = &trimmed[1..];
            let end = inner.find(quote).filter(|end| *end > 0)?;
            (Value::from(&inner[..end]), inner[end + 1..].trim_start())
        } else {
            let end = rest.find(['.', '"', '\'']).unwrap_or(rest.len());
            let text = rest[..end].trim();
            if end == 0 {
                return None;
            }
            (number_or_text(text), &rest[end..])
        };
        segments.push(segment);
        match after.strip_prefix('.') {
            Some(more) if !more.is_empty() => rest = more,
            None if after.is_empty() => return Some(segments),
            _ => return None,
        }
    }
}

fn number_or_text(text: &str) -> Value {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    match text.strip_prefix('+').unwrap_or(text).parse::<i64>() {
        Ok(number) if is_number => Value::from(number),
        _ => Value::from(text),
    }
}

fn getvar(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Stop> {
    let text = arguments[0].as_str().unwrap_or_default();
    let end = text
        .find(|letter: char| !(letter.is_alphanumeric() || matches!(letter, '_' | ':')))
        .unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let navigation = match rest.chars().next() {
        None => "",
        Some('.') => &rest[1..],
        Some(other) => {
            return Err(context
                .fail(format!("First character after var name in get string must be a '.' - got {other}")));
        }
    };
    let default = arguments.get(1);
    match context.host.variable(name) {
        Some(value) => {
            let found = get(context, &value, navigation, default)?;
            context.note(&value);
            Ok(found)
        }
        None => Ok(default.cloned().unwrap_or(Value::UNDEF)),
    }
}
