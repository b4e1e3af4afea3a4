//! `x[i]`.

use std::sync::Arc;

use crate::error::{Blame, Checks, ValueError};
use crate::label::{a_an, a_an_uc, article};
use crate::number::{Number, parse_number};
use crate::ops::coerce_index;
use crate::types::{flatten, key_type_name, parameterise};
use crate::value::{Data, Hash, Key, Value};

/// `left[keys]` for everything but references to declared resources, which the evaluator reads.
pub fn access(left: &Value, keys: &[Value], checks: &mut Checks) -> Result<Value, ValueError> {
    match &left.data {
        Data::Array(items) => access_array(left, items, keys, checks),
        Data::Hash(entries) => access_hash(entries, keys),
        Data::String(text) => Ok(match slice(left, text.chars().count(), keys, checks)? {
            Some((start, count)) => Value::string(text.chars().skip(start).take(count).collect::<String>()),
            None => Value::string(""),
        }
        .with(left.prov)),
        Data::Binary(bytes) => Ok(match slice(left, bytes.len(), keys, checks)? {
            Some((start, count)) => {
                let end = start.saturating_add(count).min(bytes.len());
                Value::new(Data::Binary(bytes.get(start..end).unwrap_or(&[]).into()))
            }
            None => Value::new(Data::Binary(Arc::from([].as_slice()))),
        }
        .with(left.prov)),
        Data::Type(base) => parameterise(base, keys, checks),
        _ => {
            let message = format!("Operator '[]' is not applicable to {}.", a_an(left));
            Err(ValueError::new(message).blaming(Blame::Left))
        }
    }
}

fn access_array(
    left: &Value,
    items: &[Value],
    keys: &[Value],
    checks: &mut Checks,
) -> Result<Value, ValueError> {
    let mut flat = Vec::with_capacity(keys.len());
    flatten(keys, &mut flat);
    if !(1..=2).contains(&flat.len()) {
        let message = format!("Array supports [] with one or two arguments. Got {}", flat.len());
        return Err(ValueError::new(message).blaming(Blame::Left));
    }
    let mut numbers = Vec::with_capacity(2);
    for (index, key) in flat.iter().enumerate() {
        numbers.push(coerce_index(key, Blame::Key(index.min(keys.len().saturating_sub(1))), checks)?);
    }
    for (index, (key, number)) in flat.iter().zip(&numbers).enumerate() {
        if number.is_none() {
            let message = format!(
                "{}[] cannot use {} where Integer is expected",
                a_an_uc(left),
                key_type_name(&coerced(key))
            );
            return Err(ValueError::new(message).blaming(Blame::Key(index)));
        }
    }
    match numbers.as_slice() {
        [Some(index)] => Ok(at(items, *index).cloned().unwrap_or(Value::UNDEF)),
        [Some(from), Some(count)] => {
            let part = bounds(items.len(), *from, *count)
                .map(|(start, count)| items.iter().skip(start).take(count).cloned().collect());
            Ok(Value::array(part.unwrap_or_default()).with(left.prov))
        }
        _ => Ok(Value::UNDEF),
    }
}

/// The number that a text means.
fn coerced(key: &Value) -> Value {
    key.as_str().and_then(parse_number).and_then(Number::value).unwrap_or_else(|| key.clone())
}

/// An element, counted from the end if the index is negative.
fn at(items: &[Value], index: i64) -> Option<&Value> {
    let index = if index < 0 { (items.len() as i64).checked_add(index)? } else { index };
    items.get(usize::try_from(index).ok()?)
}

/// Where a slice starts and how long it is: a negative start counts from the end, a negative length says where to
/// stop, counted from the end. Nothing if it starts beyond the end.
fn bounds(length: usize, from: i64, count: i64) -> Option<(usize, usize)> {
    let length = i128::try_from(length).ok()?;
    let (from, count) = (i128::from(from), i128::from(count));
    let mut start = if from < 0 { length + from } else { from };
    let mut count = if count < 0 { length - start + count + 1 } else { count };
    if start < 0 {
        count += start;
        start = 0;
    }
    if start > length || count < 0 {
        return None;
    }
    let count = count.min(length - start);
    Some((usize::try_from(start).ok()?, usize::try_from(count).ok()?))
}

/// The part of a text or of bytes that the keys select.
fn slice(
    _left: &Value,
    length: usize,
    keys: &[Value],
    _checks: &mut Checks,
) -> Result<Option<(usize, usize)>, ValueError> {
    let mut flat = Vec::with_capacity(keys.len());
    flatten(keys, &mut flat);
    if !(1..=2).contains(&flat.len()) {
        let message = format!("String supports [] with one or two arguments. Got {}", flat.len());
        return Err(ValueError::new(message).blaming(Blame::Left));
    }
    let mut numbers = Vec::with_capacity(2);
    for (index, key) in flat.iter().enumerate() {
        let number = coerced(key);
        let Data::Integer(number) = number.data else {
            let actual = key_type_name(&number);
            let message = format!(
                "A substring operation does not accept {} {actual} as a character index. Expected an Integer",
                article(&actual)
            );
            return Err(ValueError::new(message).blaming(Blame::Key(index.min(keys.len().saturating_sub(1)))));
        };
        numbers.push(number);
    }
    Ok(match numbers.as_slice() {
        [index] => {
            let index = if *index < 0 { (length as i64).saturating_add(*index) } else { *index };
            (index >= 0).then(|| bounds(length, index, 1)).flatten()
        }
        [from, count] => bounds(length, *from, *count),
        _ => None,
    })
}

fn access_hash(entries: &Hash, keys: &[Value]) -> Result<Value, ValueError> {
    let get = |key: &Value| entries.get(&Key(key.clone())).cloned();
    match keys {
        [] => {
            let message = "Hash supports [] with one or more arguments. Got 0";
            Err(ValueError::new(message).blaming(Blame::Left))
        }
        [key] => Ok(get(key).unwrap_or(Value::UNDEF)),
        keys => Ok(Value::array(keys.iter().filter_map(get).filter(|item| !item.is_undef()).collect())),
    }
}
