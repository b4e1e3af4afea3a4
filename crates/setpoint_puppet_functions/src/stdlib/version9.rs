//! What version 9 of stdlib has beyond version 8. Most of its functions are the old ones under a name with `stdlib::`
//! before it; those are found by the part after it.

use setpoint_puppet_values::{Data, Hash, Key, Value};
use sha2::Sha256;

use crate::Stop;
use crate::builtin::digests::hexadecimal;
use crate::context::Context;
use crate::function::{Dispatch, Function, required};
use crate::ruby::{compare, comparison_failed, sort, text};

type Result<T> = std::result::Result<T, Stop>;

const SCALARS: &str = "Variant[ScalarData, Sensitive[ScalarData], Binary, Sensitive[Binary]]";

pub(super) static CRC32: Function = Function::typed(
    "stdlib::crc32",
    &[Dispatch::new(&[required(SCALARS, "my_data")], |_, arguments| {
        Ok(Value::from(format!("{:08x}", crc32(&bytes(&arguments[0])))))
    })],
);
pub(super) static NESTED_VALUES: Function = Function::typed(
    "stdlib::nested_values",
    &[Dispatch::new(&[required("Hash", "hash")], |_, arguments| {
        let mut found = Vec::new();
        nested_values(&arguments[0], &mut found);
        Ok(Value::array(found))
    })],
)
.moving_unknown();
pub(super) static REWRAP_SENSITIVE_DATA: Function = Function::typed(
    "stdlib::rewrap_sensitive_data",
    &[Dispatch::new(&[required("Any", "data")], rewrap).with_optional_block("Callable[Any]")],
);
pub(super) static SHA256: Function = Function::typed(
    "stdlib::sha256",
    &[Dispatch::new(&[required(SCALARS, "my_data")], |_, arguments| {
        Ok(Value::from(hexadecimal::<Sha256>(&bytes(&arguments[0]))))
    })],
);
pub(super) static SORT_BY: Function = Function::typed(
    "stdlib::sort_by",
    &[
        Dispatch::new(&[required("Array", "ary")], |context, arguments| {
            let items = arguments[0].as_array().unwrap_or_default().to_vec();
            let items = items.into_iter().map(|item| (vec![item.clone()], item)).collect();
            Ok(Value::array(sorted(context, items)?))
        })
        .with_block("Callable[1,1]"),
        Dispatch::new(&[required("String", "str")], |context, arguments| {
            let letters = arguments[0].as_str().unwrap_or_default().chars();
            let letters = letters.map(|letter| Value::from(letter.to_string()));
            let letters = letters.map(|letter| (vec![letter.clone()], letter)).collect();
            let sorted = sorted(context, letters)?;
            Ok(Value::from(sorted.iter().filter_map(Value::as_str).collect::<String>()))
        })
        .with_block("Callable[1,1]"),
        Dispatch::new(&[required("Hash", "hsh")], sort_hash)
            .with_block("Variant[Callable[1,1], Callable[2,2]]"),
    ],
)
.moving_unknown();

/// The value itself, whatever is wrapped around it, as Ruby writes it.
fn bytes(value: &Value) -> Vec<u8> {
    match &value.data {
        Data::Sensitive(inner) => bytes(inner),
        Data::Binary(bytes) => bytes.to_vec(),
        _ => text::to_s(value).as_bytes().to_vec(),
    }
}

fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 };
        }
    }
    !crc
}

fn nested_values(value: &Value, found: &mut Vec<Value>) {
    for inner in value.as_hash().into_iter().flat_map(Hash::values) {
        if inner.as_hash().is_some() { nested_values(inner, found) } else { found.push(inner.clone()) }
    }
}

/// Takes every secret out of its wrapping; if there was one, the whole becomes a secret.
fn rewrap(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    let mut secret = false;
    let plain = unwrapped(&arguments[0], &mut secret);
    let result = if context.block().is_some() { context.call_block(vec![plain])? } else { plain };
    let prov = result.prov;
    Ok(if secret { Value::new(Data::Sensitive(result.into())).with(prov) } else { result })
}

fn unwrapped(value: &Value, secret: &mut bool) -> Value {
    match &value.data {
        Data::Sensitive(inner) => {
            *secret = true;
            unwrapped(inner, secret)
        }
        Data::Array(items) => {
            Value::array(items.iter().map(|item| unwrapped(item, secret)).collect()).made_of(value.prov)
        }
        Data::Hash(entries) => {
            let entries =
                entries.iter().map(|(key, item)| (Key(unwrapped(&key.0, secret)), unwrapped(item, secret)));
            Value::hash(entries.collect()).made_of(value.prov)
        }
        _ => value.clone(),
    }
}

fn sort_hash(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    let apart = context.block().is_some_and(|block| block.required() > 1);
    let entries = arguments[0].as_hash().cloned().unwrap_or_default();
    let pairs = entries.into_iter().map(|(key, value)| {
        let pair = Value::array(vec![key.0.clone(), value.clone()]);
        (if apart { vec![key.0, value] } else { vec![pair.clone()] }, pair)
    });
    let sorted = sorted(context, pairs.collect())?;
    let entries = sorted.iter().filter_map(|pair| match pair.as_array() {
        Some([key, value]) => Some((Key(key.clone()), value.clone())),
        _ => None,
    });
    Ok(Value::hash(entries.collect()))
}

/// The items by what the block says about each.
fn sorted(context: &mut Context<'_, '_>, items: Vec<(Vec<Value>, Value)>) -> Result<Vec<Value>> {
    let mut known = Vec::with_capacity(items.len());
    for (arguments, item) in items {
        known.push((context.ask_block(arguments)?, item));
    }
    let sorted = sort::sort_by(known, &mut |(a, _), (b, _)| {
        compare(a, b).ok_or_else(|| context.fail(comparison_failed(a, b)))
    })?;
    Ok(sorted.into_iter().map(|(_, item)| item).collect())
}
