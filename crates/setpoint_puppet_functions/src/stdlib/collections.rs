//! stdlib's functions over arrays and hashes.

use std::sync::Arc;

use setpoint_puppet_values::{Data, Hash, Key, Regex, Type, Value, ValueError, iterate};

use setpoint_source::Limit;

use super::arguments::{Arguments, class_of};
use crate::Stop;
use crate::builtin::collections::flatten_into;
use crate::context::Context;
use crate::function::{Dispatch, Function, repeated};
use crate::ruby::{self, numbers, text};

pub(super) static ANY2ARRAY: Function = Function::counted("any2array", -1, any2array).moving_unknown();
pub(super) static CLAMP: Function = Function::counted("clamp", -2, clamp);
pub(super) static CONCAT: Function = Function::counted("concat", -1, concat).carrying_unknown();
pub(super) static COUNT: Function = Function::counted("count", -2, count);
pub(super) static DEEP_MERGE: Function = Function::counted("deep_merge", -1, deep_merge).carrying_unknown();
pub(super) static DELETE: Function = Function::counted("delete", -1, delete);
pub(super) static DELETE_AT: Function = Function::counted("delete_at", -1, delete_at);
pub(super) static DELETE_REGEX: Function = Function::counted("delete_regex", -1, delete_regex);
pub(super) static DELETE_UNDEF_VALUES: Function =
    Function::counted("delete_undef_values", -1, delete_undef_values);
pub(super) static DELETE_VALUES: Function = Function::counted("delete_values", -1, delete_values);
pub(super) static DIFFERENCE: Function = Function::counted("difference", -1, difference);
pub(super) static DIG44: Function = Function::counted("dig44", -2, dig44).carrying_unknown();
pub(super) static GREP: Function =
    Function::counted("grep", -1, |context, arguments| select(context, arguments, true));
pub(super) static HAS_KEY: Function = Function::counted("has_key", -1, has_key).carrying_unknown();
pub(super) static HASH: Function = Function::counted("hash", -1, hash).moving_unknown();
pub(super) static INTERSECTION: Function = Function::counted("intersection", -1, intersection);
pub(super) static JOIN_KEYS_TO_VALUES: Function =
    Function::counted("join_keys_to_values", -1, join_keys_to_values);
pub(super) static MEMBER: Function = Function::counted("member", -1, member);
pub(super) static MERGE: Function = Function::typed(
    "merge",
    &[
        Dispatch::new(&[repeated("Variant[Hash[Scalar,Any], Undef, String[0,0]]", "args")], merge),
        Dispatch::new(&[repeated("Iterable", "args")], |context, arguments| {
            merge_answers(context, arguments, true)
        })
        .with_block("Callable[3,3]"),
        Dispatch::new(&[repeated("Iterable", "args")], |context, arguments| {
            merge_answers(context, arguments, false)
        })
        .with_block("Callable[2,2]"),
    ],
)
.carrying_unknown();
pub(super) static PREFIX: Function = Function::counted("prefix", -1, |context, arguments| {
    affix(context, arguments, |text, prefix| format!("{prefix}{text}"))
});
pub(super) static RANGE: Function = Function::counted("range", -1, range);
pub(super) static REJECT: Function =
    Function::counted("reject", -1, |context, arguments| select(context, arguments, false));
pub(super) static REVERSE: Function = Function::counted("reverse", -1, reverse).moving_unknown();
pub(super) static SUFFIX: Function = Function::counted("suffix", -1, |context, arguments| {
    affix(context, arguments, |text, suffix| format!("{text}{suffix}"))
});
pub(super) static TRY_GET_VALUE: Function =
    Function::counted("try_get_value", -2, try_get_value).carrying_unknown();
pub(super) static UNION: Function = Function::counted("union", -1, union);
pub(super) static VALUES_AT: Function = Function::counted("values_at", -1, values_at).moving_unknown();
pub(super) static ZIP: Function = Function::counted("zip", -1, zip).moving_unknown();

type Result<T> = std::result::Result<T, Stop>;

fn any2array(_: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    let [only] = arguments else { return Ok(Value::array(arguments.to_vec())) };
    Ok(match &only.data {
        Data::Array(_) => only.clone(),
        Data::String(text) if text.is_empty() => Value::array(Vec::new()),
        Data::Hash(entries) => {
            Value::array(entries.iter().flat_map(|(key, value)| [key.0.clone(), value.clone()]).collect())
        }
        _ => Value::array(arguments.to_vec()),
    })
}

fn clamp(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    let mut flat = Vec::new();
    flatten_into(arguments, &mut flat);
    if flat.len() != 3 {
        return Err(context.fail("clamp(): Wrong number of arguments, need three to clamp"));
    }
    for value in &flat {
        match &value.data {
            Data::String(text) if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) => {
                return Err(context.fail(format!("clamp(): Required explicit numeric ({text}:String)")));
            }
            Data::Hash(_) => {
                return Err(
                    context.fail(format!("clamp(): The Hash type is not allowed ({})", text::to_s(value)))
                );
            }
            _ => {}
        }
    }
    let mut integers: Vec<i64> = flat.iter().map(to_i).collect();
    integers.sort_unstable();
    Ok(integers.get(1).copied().map_or(Value::UNDEF, Value::from))
}

/// `to_i`.
pub(super) fn to_i(value: &Value) -> i64 {
    match &value.data {
        Data::Integer(number) => *number,
        Data::Float(number) => *number as i64,
        Data::String(text) => i64::try_from(numbers::leading_integer(text)).unwrap_or(i64::MAX),
        _ => 0,
    }
}

fn concat(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    if arguments.len() < 2 {
        return Err(context.wrong_count(arguments, "< 2"));
    }
    let Some(first) = arguments[0].as_array() else {
        return Err(context.fail("concat(): Requires array to work with"));
    };
    let mut all = first.to_vec();
    for argument in &arguments[1..] {
        match argument.as_array() {
            Some(items) => all.extend_from_slice(items),
            None => all.push(argument.clone()),
        }
    }
    Ok(Value::array(all))
}

fn count(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    if arguments.len() > 2 {
        return Err(
            context.fail(format!("count(): Wrong number of arguments given {} for 1 or 2.", arguments.len()))
        );
    }
    let items: Vec<Value> = match &arguments[0].data {
        Data::Array(items) => items.to_vec(),
        Data::Hash(_) => iterate(&arguments[0]).map_or_else(Vec::new, |all| all.iter().collect()),
        _ => return Err(context.fail(text::no_method("count", &arguments[0]))),
    };
    let wanted = arguments.get(1).filter(|item| item.is_true());
    let counted = items.iter().filter(|item| match wanted {
        Some(wanted) => ruby::equal(item, wanted),
        None => !item.is_undef() && item.as_str() != Some(""),
    });
    Ok(Value::from(counted.count() as i64))
}

fn deep_merge(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    if arguments.len() < 2 {
        return Err(context.fail(format!(
            "deep_merge(): wrong number of arguments ({}; must be at least 2)",
            arguments.len()
        )));
    }
    let mut result = Hash::default();
    for argument in arguments.iter().filter(|argument| argument.as_str() != Some("")) {
        let Some(entries) = argument.as_hash() else {
            return Err(context.fail(format!(
                "deep_merge: unexpected argument type {}, only expects hash arguments",
                class_of(argument)
            )));
        };
        merge_deeply(&mut result, entries);
    }
    Ok(Value::hash(result))
}

fn merge_deeply(into: &mut Hash, from: &Hash) {
    for (key, new) in from {
        let merged = match (into.get(key).and_then(Value::as_hash), new.as_hash()) {
            (Some(old), Some(entries)) => {
                let mut inner = old.clone();
                merge_deeply(&mut inner, entries);
                Value::hash(inner).made_of(new.prov)
            }
            _ => match (into.get(key).map(|old| &old.data), &new.data) {
                // It may be a hash, and then both are merged.
                (Some(Data::Opaque(_)), Data::Hash(_)) => into.get(key).cloned().unwrap_or(Value::UNDEF),
                _ => new.clone(),
            },
        };
        into.insert(key.clone(), merged);
    }
}

/// The items that an argument means: `Array()`.
fn listed(value: &Value) -> Vec<Value> {
    match &value.data {
        Data::Undef => Vec::new(),
        Data::Array(items) => items.to_vec(),
        Data::Hash(_) => iterate(value).map_or_else(Vec::new, |all| all.iter().collect()),
        _ => vec![value.clone()],
    }
}

fn delete(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    let [collection, unwanted] = arguments else {
        return Err(
            context.fail(format!("delete(): Wrong number of arguments given {} for 2", arguments.len()))
        );
    };
    let unwanted = listed(unwanted);
    let is_unwanted = |item: &Value| unwanted.iter().any(|other| ruby::equal(item, other));
    match &collection.data {
        Data::Array(items) => {
            Ok(Value::array(items.iter().filter(|item| !is_unwanted(item)).cloned().collect()))
        }
        Data::Hash(entries) => {
            let kept = entries.iter().filter(|(key, _)| !is_unwanted(&key.0));
            Ok(Value::hash(kept.map(|(key, value)| (key.clone(), value.clone())).collect()))
        }
        Data::String(text) => {
            let mut rest = text.to_string();
            for item in &unwanted {
                match item.as_str() {
                    Some(part) => rest = rest.replace(part, ""),
                    None => return Err(context.fail(text::no_conversion(item, "String"))),
                }
            }
            Ok(Value::from(rest))
        }
        _ if unwanted.is_empty() => Ok(collection.clone()),
        _ => Err(context.fail(format!(
            "delete(): First argument must be an Array, String, or Hash. Given an argument of class {}.",
            class_of(collection)
        ))),
    }
}

fn delete_at(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    let [array, index, ..] = arguments else { return Err(context.wrong_count(arguments, "2")) };
    let Some(items) = array.as_array() else {
        return Err(context.fail("delete_at(): Requires array to work with"));
    };
    if index.as_str().is_some_and(|text| text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit())) {
        return Err(context.fail("delete_at(): You must provide non-negative numeric index"));
    }
    let at = to_i(index);
    if at > items.len() as i64 - 1 {
        return Err(context.fail("delete_at(): Given index exceeds size of array given"));
    }
    let at = if at < 0 { at + items.len() as i64 } else { at };
    let kept = items.iter().enumerate().filter(|(position, _)| *position as i64 != at);
    Ok(Value::array(kept.map(|(_, item)| item.clone()).collect()))
}

fn delete_regex(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    let [collection, patterns] = arguments else {
        return Err(context
            .fail(format!("delete_regex(): Wrong number of arguments given {} for 2", arguments.len())));
    };
    let mut regexes = Vec::new();
    for pattern in listed(patterns) {
        regexes.push(context.checked(Regex::new(format!("\\b{}\\b", text::to_s(&pattern))))?);
    }
    let matches = |item: &Value| -> Result<bool> {
        let Some(text) = item.as_str() else { return Ok(false) };
        for regex in &regexes {
            if context.checked(regex.is_match(text))? {
                return Ok(true);
            }
        }
        Ok(false)
    };
    match &collection.data {
        Data::Array(items) => {
            let mut kept = Vec::new();
            for item in items.iter() {
                if !matches(item)? {
                    kept.push(item.clone());
                }
            }
            Ok(Value::array(kept))
        }
        Data::Hash(entries) => {
            let mut kept = Hash::default();
            for (key, value) in entries.iter() {
                if !matches(&key.0)? {
                    kept.insert(key.clone(), value.clone());
                }
            }
            Ok(Value::hash(kept))
        }
        Data::String(_) => Err(context.fail(text::no_method("reject!", collection))),
        _ => Err(context.fail(format!(
            "delete_regex(): First argument must be an Array, Hash, or String. Given an argument of class {}.",
            class_of(collection)
        ))),
    }
}

fn delete_undef_values(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    let Some(collection) = arguments.first() else {
        return Err(context.fail("delete_undef_values(): Wrong number of arguments given (0)"));
    };
    match &collection.data {
        Data::Array(items) => {
            Ok(Value::array(items.iter().filter(|item| !item.is_undef()).cloned().collect()))
        }
        Data::Hash(entries) => {
            let kept = entries.iter().filter(|(_, value)| !value.is_undef());
            Ok(Value::hash(kept.map(|(key, value)| (key.clone(), value.clone())).collect()))
        }
        _ => Err(context.fail(format!(
            "delete_undef_values(): expected an array or hash, got {} type  {} ",
            text::to_s(collection),
            class_of(collection)
        ))),
    }
}

fn delete_values(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    let [hash, unwanted] = arguments else {
        return Err(context
            .fail(format!("delete_values(): Wrong number of arguments given ({} of 2)", arguments.len())));
    };
    let Some(entries) = hash.as_hash() else {
        return Err(context.fail(format!(
            "delete_values(): First argument must be a Hash. Given an argument of class {}.",
            class_of(hash)
        )));
    };
    let kept = entries.iter().filter(|(_, value)| !ruby::equal(value, unwanted));
    Ok(Value::hash(kept.map(|(key, value)| (key.clone(), value.clone())).collect()))
}

/// Two arrays, or the complaint of the function.
fn two_arrays<'a>(
    context: &Context<'_, '_>,
    arguments: &'a [Value],
    complaint: impl Fn(&Value, &Value) -> String,
) -> Result<(&'a [Value], &'a [Value])> {
    let [a, b] = arguments else { return Err(context.wrong_count(arguments, "2")) };
    match (a.as_array(), b.as_array()) {
        (Some(a), Some(b)) => Ok((a, b)),
        _ => Err(context.fail(complaint(a, b))),
    }
}

/// Each value once, in the order in which they first stand.
fn distinct<'a>(items: impl IntoIterator<Item = &'a Value>) -> Value {
    let kept: Hash = items.into_iter().fold(Hash::default(), |mut kept, item| {
        kept.entry(Key(item.clone())).or_insert_with(|| item.clone());
        kept
    });
    Value::array(kept.into_values().collect())
}

fn keys_of(items: &[Value]) -> Hash {
    items.iter().map(|item| (Key(item.clone()), Value::UNDEF)).collect()
}

fn difference(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    let (a, b) = two_arrays(context, arguments, |_, _| "difference(): Requires 2 arrays".to_owned())?;
    let unwanted = keys_of(b);
    Ok(Value::array(a.iter().filter(|item| !unwanted.contains_key(&Key((*item).clone()))).cloned().collect()))
}

fn intersection(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    let (a, b) = two_arrays(context, arguments, |a, b| {
        format!("intersection(): Requires 2 arrays, got {} and {}", class_of(a), class_of(b))
    })?;
    let wanted = keys_of(b);
    Ok(distinct(a.iter().filter(|item| wanted.contains_key(&Key((*item).clone())))))
}

fn union(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    if arguments.len() < 2 {
        return Err(context.wrong_count(arguments, "< 2"));
    }
    if arguments.iter().any(|argument| argument.as_array().is_none()) {
        return Err(context.fail("union(): Every parameter must be an array"));
    }
    Ok(distinct(arguments.iter().flat_map(|argument| argument.as_array().unwrap_or_default())))
}

/// `dig` with an array as path and a default.
fn dig44(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    let [data, path, ..] = arguments else {
        return Err(context
            .fail(format!("dig44(): Wrong number of arguments given ({} for at least 2)", arguments.len())));
    };
    if data.as_hash().is_none() && data.as_array().is_none() {
        return Err(context
            .fail(format!("dig44(): first argument must be a hash or an array, given {}", class_of(data))));
    }
    let Some(path) = path.as_array() else {
        return Err(
            context.fail(format!("dig44(): second argument must be an array, given {}", class_of(path)))
        );
    };
    Ok(walk(data, path).or_else(|| arguments.get(2).cloned()).unwrap_or(Value::UNDEF))
}

fn walk(data: &Value, path: &[Value]) -> Option<Value> {
    let mut at = data.clone();
    for key in path {
        at = match &at.data {
            Data::Hash(entries) => entries.get(&Key(key.clone()))?.clone(),
            Data::Array(items) => {
                let index = match &key.data {
                    Data::Integer(index) => *index,
                    Data::String(text) => i64::try_from(numbers::parse_integer(text)?).ok()?,
                    _ => return None,
                };
                let index = if index < 0 { index + items.len() as i64 } else { index };
                items.get(usize::try_from(index).ok()?)?.clone()
            }
            _ => return None,
        };
        if at.is_undef() {
            return None;
        }
    }
    Some(at)
}

fn try_get_value(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    context.warn("try_get_value() DEPRECATED: this function is deprecated, please use dig() instead.");
    let data = &arguments[0];
    let path = arguments.get(1).and_then(Value::as_str).unwrap_or_default();
    let default = arguments.get(2);
    if data.as_hash().is_none() && data.as_array().is_none() || path.is_empty() {
        return Ok(default.filter(|value| value.is_true()).unwrap_or(data).clone());
    }
    let separator = arguments.get(3).and_then(Value::as_str).unwrap_or("/");
    let path: Vec<Value> = path
        .split(separator)
        .map(|key| match key.parse::<i64>() {
            Ok(index) if key.bytes().all(|byte| byte.is_ascii_digit()) => Value::from(index),
            _ => Value::from(key),
        })
        .collect();
    Ok(walk(data, &path).or_else(|| default.cloned()).unwrap_or(Value::UNDEF))
}

/// The texts that match a pattern, or those that do not.
fn select(context: &mut Context<'_, '_>, arguments: &[Value], matching: bool) -> Result<Value> {
    let [items, pattern] = arguments else {
        let name = context.call.name;
        return Err(
            context.fail(format!("{name}(): Wrong number of arguments given {} for 2", arguments.len()))
        );
    };
    let Some(pattern) = pattern.as_str() else {
        return Err(context.fail(text::no_conversion(pattern, "String")));
    };
    let regex = context.checked(Regex::new(pattern))?;
    let Some(items) = items.as_array() else {
        let method = if matching { "grep" } else { "reject" };
        return Err(context.fail(text::no_method(method, items)));
    };
    let mut kept = Vec::new();
    for item in items {
        let matched = match item.as_str() {
            Some(text) => context.checked(regex.is_match(text))?,
            None => false,
        };
        if matched == matching {
            kept.push(item.clone());
        }
    }
    Ok(Value::array(kept))
}

fn has_key(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    let [hash, key] = arguments else {
        return Err(
            context.fail(format!("has_key(): wrong number of arguments ({}; must be 2)", arguments.len()))
        );
    };
    match hash.as_hash() {
        Some(entries) => match entries.get(&Key(key.clone())).map(|value| &value.data) {
            Some(Data::Opaque(unknown)) if unknown.may_be_missing => {
                Ok(Value::unknown(Arc::clone(&unknown.reason), Type::Boolean(None)))
            }
            found => Ok(Value::from(found.is_some())),
        },
        None => Err(context.fail(format!(
            "has_key(): expects the first argument to be a hash, got {} which is of type {}",
            text::inspect(hash),
            class_of(hash)
        ))),
    }
}

fn hash(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    let Some(array) = arguments.first() else { return Err(context.wrong_count(arguments, "1")) };
    let Some(items) = array.as_array() else {
        return Err(context.fail("hash(): Requires array to work with"));
    };
    let mut flat = Vec::new();
    flatten_into(items, &mut flat);
    if flat.len() % 2 == 1 {
        return Err(context.fail("hash(): Unable to compute hash from array given"));
    }
    Ok(Value::hash(flat.chunks(2).map(|pair| (Key(pair[0].clone()), pair[1].clone())).collect()))
}

fn join_keys_to_values(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    let [hash, separator] = arguments else {
        return Err(context.fail(format!(
            "join_keys_to_values(): Takes exactly two arguments, but {} given.",
            arguments.len()
        )));
    };
    let Some(entries) = hash.as_hash() else {
        return Err(context.fail(format!(
            "join_keys_to_values(): The first argument must be a hash, but a {} was given.",
            class_of(hash)
        )));
    };
    let Some(separator) = separator.as_str() else {
        return Err(context.fail(format!(
            "join_keys_to_values(): The second argument must be a string, but a {} was given.",
            class_of(separator)
        )));
    };
    let mut joined = Vec::new();
    for (key, value) in entries {
        let key = text::to_s(&key.0);
        let one =
            |item: &Value| Value::from(format!("{key}{separator}{}", text::to_s(item))).made_of(item.prov);
        match &value.data {
            Data::Array(items) => joined.extend(items.iter().map(one)),
            Data::String(text) if &**text == "undef" => joined.push(Value::from(key).made_of(value.prov)),
            _ => joined.push(one(value)),
        }
    }
    Ok(Value::array(joined))
}

fn member(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    let [array, item, ..] = arguments else { return Err(context.wrong_count(arguments, "2")) };
    let Some(items) = array.as_array() else {
        return Err(context.fail("member(): Requires array to work with"));
    };
    let wanted = match &item.data {
        Data::String(_) | Data::Integer(_) => std::slice::from_ref(item),
        Data::Array(wanted) => wanted.as_slice(),
        _ => return Err(context.fail("member(): Item to search for must be a string, fixnum, or array")),
    };
    if wanted.is_empty() {
        return Err(context.fail("member(): You must provide item to search for within array given"));
    }
    let known = keys_of(items);
    Ok(Value::from(wanted.iter().all(|item| known.contains_key(&Key(item.clone())))))
}

fn merge(_: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    let mut merged = Hash::default();
    for entries in arguments.iter().filter_map(Value::as_hash) {
        merged.extend(entries.iter().map(|(key, value)| (key.clone(), value.clone())));
    }
    Ok(Value::hash(merged))
}

/// Merges the hashes that the block gives for each element.
fn merge_answers(context: &mut Context<'_, '_>, arguments: &[Value], with_position: bool) -> Result<Value> {
    let Some(collection) = arguments.first() else { return Ok(Value::hash(Hash::default())) };
    let elements: Vec<Value> = iterate(collection).map_or_else(Vec::new, |all| all.iter().collect());
    let mut merged = Hash::default();
    for (at, element) in elements.into_iter().enumerate() {
        let so_far = Value::hash(merged.clone()).made_of(collection.prov);
        let given = match (with_position, collection.as_hash().and(element.as_array())) {
            (true, Some([key, value])) => vec![so_far, key.clone(), value.clone()],
            (true, _) => vec![so_far, Value::from(at as i64).made_of(collection.prov), element],
            (false, _) => vec![so_far, element],
        };
        match context.ask_block(given) {
            Ok(answer) => {
                merged.extend(
                    answer.as_hash().into_iter().flatten().map(|(key, value)| (key.clone(), value.clone())),
                );
            }
            Err(Stop::Break(_)) if with_position => break,
            Err(other) => return Err(other),
        }
    }
    Ok(Value::hash(merged))
}

fn affix(
    context: &mut Context<'_, '_>,
    arguments: &[Value],
    join: fn(&str, &str) -> String,
) -> Result<Value> {
    let name = context.call.name;
    let Some(collection) = arguments.first() else { return Err(context.wrong_count(arguments, "1")) };
    let affix = arguments.get(1).filter(|value| value.is_true());
    if collection.as_array().is_none() && collection.as_hash().is_none() {
        return Err(context.fail(format!(
            "{name}(): expected first argument to be an Array or a Hash, got {}",
            text::inspect(collection)
        )));
    }
    let affix = match affix.map(|value| (value, value.as_str())) {
        None => "",
        Some((_, Some(text))) => text,
        Some((value, None)) => {
            return Err(context.fail(format!(
                "{name}(): expected second argument to be a String, got {}",
                text::inspect(value)
            )));
        }
    };
    let one = |value: &Value| Value::from(join(&text::to_s(value), affix)).made_of(value.prov);
    Ok(match &collection.data {
        Data::Hash(entries) => {
            Value::hash(entries.iter().map(|(key, value)| (Key(one(&key.0)), value.clone())).collect())
        }
        _ => Value::array(collection.as_array().unwrap_or_default().iter().map(one).collect()),
    })
}

/// The most elements that `range` goes through.
const MOST: Limit = Limit::new(1_000_000);

fn range(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    let (start, stop, step, exclusive) = match arguments {
        [] => return Err(context.fail("range(): Wrong number of arguments given (0 for 1)")),
        [only] => {
            let Some(text) = only.as_str() else { return Err(context.fail(text::no_method("match", only))) };
            let Some((start, kind, stop)) = split_range(text) else {
                let what = if text.is_empty() {
                    "Unknown range format"
                } else {
                    "Unable to compute range from the value"
                };
                return Err(context.fail(format!("range(): {what}: {text}")));
            };
            (Value::from(start), Value::from(stop), 1, kind == "...")
        }
        [start, stop, more @ ..] => {
            let step = more.first().map_or(1, |step| to_i(step).saturating_abs());
            if step == 0 {
                return Err(
                    context.fail("range(): 3rd arg (step size) must be a non zero integer (e.g. 1 or -1)")
                );
            }
            (start.clone(), stop.clone(), step, false)
        }
    };
    let first = text::to_s(&start);
    if !first.is_empty() && first.bytes().all(|byte| byte.is_ascii_digit()) {
        let (from, to) = (to_i(&start), to_i(&stop).saturating_sub(i64::from(exclusive)));
        let numbers = std::iter::successors(Some(from), |number| number.checked_add(step));
        return all_of(context, numbers.take_while(|number| *number <= to).map(Value::from), 1);
    }
    let last = text::to_s(&stop);
    let step = usize::try_from(step).unwrap_or(usize::MAX);
    all_of(context, ruby::strings::upto(&first, &last, exclusive).map(Value::from), step)
}

/// Every so manyth of what is not known to end.
fn all_of(context: &Context<'_, '_>, items: impl Iterator<Item = Value>, step: usize) -> Result<Value> {
    let mut found = Vec::new();
    for (at, item) in items.enumerate() {
        if at >= MOST {
            let message = format!("range() goes through more than {MOST} elements");
            return Err(context.stop(ValueError::limit(message)));
        }
        if at.is_multiple_of(step) {
            found.push(item);
        }
    }
    Ok(Value::array(found))
}

/// `a..e`, `a...e` or `a-e`.
fn split_range(text: &str) -> Option<(&str, &str, &str)> {
    let word =
        |part: &str| !part.is_empty() && part.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    ["...", "..", "-"].into_iter().find_map(|kind| {
        let (start, stop) = text.split_once(kind)?;
        (word(start) && word(stop)).then_some((start, kind, stop))
    })
}

fn reverse(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    let Some(value) = arguments.first() else { return Err(context.wrong_count(arguments, "1")) };
    match &value.data {
        Data::Array(items) => Ok(Value::array(items.iter().rev().cloned().collect())),
        Data::String(text) => Ok(Value::from(text.chars().rev().collect::<String>())),
        _ => Err(context.fail("reverse(): Requires either array or string to work with")),
    }
}

fn values_at(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    let [array, indices, ..] = arguments else { return Err(context.wrong_count(arguments, "2")) };
    let Some(items) = array.as_array() else {
        return Err(context.fail("values_at(): Requires array to work with"));
    };
    let mut flat = Vec::new();
    flatten_into(std::slice::from_ref(indices), &mut flat);
    if flat.is_empty() {
        return Err(context.fail("values_at(): You must provide at least one positive index to collect"));
    }
    let number =
        |text: &str| text.parse::<usize>().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()));
    let mut picked = Vec::new();
    for index in &flat {
        let index = text::to_s(index);
        if let Some((start, _, stop)) = split_range(&index)
            && let (Some(start), Some(stop)) = (number(start), number(stop))
        {
            if start > stop {
                return Err(context
                    .fail("values_at(): Stop index in given indices range is smaller than the start index"));
            }
            if stop >= items.len() {
                return Err(context.fail("values_at(): Stop index in given indices range exceeds array size"));
            }
            let stop = if index.contains("...") { stop } else { stop + 1 };
            picked.extend(start..stop);
            continue;
        }
        let Some(at) = number(&index) else {
            return Err(context.fail("values_at(): Unknown format of given index"));
        };
        if at >= items.len() {
            return Err(context.fail("values_at(): Given index exceeds array size"));
        }
        picked.push(at);
    }
    let values = picked.into_iter().filter_map(|at| items.get(at)).filter(|value| !value.is_undef());
    Ok(Value::array(values.cloned().collect()))
}

fn zip(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    let [a, b, more @ ..] = arguments else { return Err(context.wrong_count(arguments, "2")) };
    let (Some(a), Some(b)) = (a.as_array(), b.as_array()) else {
        return Err(context.fail("zip(): Requires array to work with"));
    };
    let flat = match more.first().filter(|flag| flag.is_true()) {
        Some(flag) => super::booleans::to_bool(context, flag)?,
        None => false,
    };
    let pairs: Vec<Value> = a
        .iter()
        .enumerate()
        .map(|(at, item)| {
            let other = b.get(at).cloned().unwrap_or(Value::UNDEF);
            Value::array(vec![item.clone(), other]).made_of(arguments[0].prov)
        })
        .collect();
    if !flat {
        return Ok(Value::array(pairs));
    }
    let mut all = Vec::new();
    flatten_into(&pairs, &mut all);
    Ok(Value::array(all))
}
