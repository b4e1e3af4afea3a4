//! stdlib's random values: those that follow from a seed, and those that nobody can know.

use md5::Md5;
use setpoint_puppet_values::{Data, PRESENT_TIME, Type, Value};
use sha1::Sha1;
use sha2::{Digest, Sha256};

use super::arguments::Arguments;
use super::collections::to_i;
use crate::Stop;
use crate::builtin::digests::{digits, fqdn, hexadecimal};
use crate::context::Context;
use crate::function::{Dispatch, Function, optional, required};
use crate::ruby::random::Random;
use crate::ruby::text;

pub(super) static FQDN_RAND_STRING: Function = Function::counted("fqdn_rand_string", -2, fqdn_rand_string);
pub(super) static FQDN_ROTATE: Function = Function::counted("fqdn_rotate", -1, fqdn_rotate);
pub(super) static FQDN_UUID: Function = Function::counted("fqdn_uuid", -1, fqdn_uuid);
pub(super) static SEEDED_RAND: Function = Function::counted("seeded_rand", 2, seeded_rand);
pub(super) static SEEDED_RAND_STRING: Function = Function::typed(
    "seeded_rand_string",
    &[Dispatch::new(
        &[required("Integer[1]", "length"), required("String", "seed"), optional("String[2]", "charset")],
        seeded_rand_string,
    )],
);
pub(super) static SHUFFLE: Function = Function::counted("shuffle", -1, shuffle);
pub(super) static STR2SALTEDSHA512: Function = Function::counted("str2saltedsha512", -1, str2saltedsha512);
pub(super) static TIME: Function = Function::counted("time", -1, time);

type Result<T> = std::result::Result<T, Stop>;

/// Longer random texts are refused.
const LONGEST: i64 = 1_000_000;

/// A length or limit as `is_integer` takes it, above zero.
fn positive(value: &Value) -> Option<i64> {
    let number = match &value.data {
        Data::Integer(number) => *number,
        Data::String(text) => text.parse().ok()?,
        _ => return None,
    };
    (number > 0).then_some(number)
}

fn fqdn_rand_string(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    let Some(length) = positive(&arguments[0]) else {
        return Err(context.fail("fqdn_rand_string(): first argument must be a positive integer"));
    };
    let given = match arguments.get(1) {
        None => "",
        Some(charset) => match charset.as_str() {
            Some(text) => text,
            None => return Err(context.fail("fqdn_rand_string(): second argument must be undef or a string")),
        },
    };
    if length > LONGEST {
        return Err(context.fail(format!("fqdn_rand_string(): more than {LONGEST} letters are refused")));
    }
    let letters: Vec<char> = if given.is_empty() {
        ('0'..='9').chain('A'..='Z').chain('a'..='z').collect()
    } else {
        given.chars().collect()
    };
    let fqdn = fqdn(context);
    context.note(&fqdn);
    let limit = Value::from(letters.len() as i64);
    let mut out = String::new();
    for at in 1..=length {
        let mut parts = arguments.get(2..).unwrap_or_default().to_vec();
        parts.push(Value::from(at.to_string()));
        let seed = Value::from(text::join(&parts, ":"));
        let text = text::join(&[fqdn.clone(), limit.clone(), seed], ":");
        let pick = Random::from_hex(&hexadecimal::<Md5>(text.as_bytes())).up_to(letters.len() as u64 - 1);
        out.extend(letters.get(pick as usize));
    }
    Ok(Value::from(out))
}

fn fqdn_rotate(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    let Some((value, seeds)) = arguments.split_first() else {
        return Err(context.wrong_count(arguments, "1"));
    };
    let fqdn = context.host.variable("::fqdn").unwrap_or(Value::UNDEF);
    context.note(&fqdn);
    let seed = text::join(&[fqdn, Value::array(seeds.to_vec())], ":");
    let offset = |count: usize| {
        let mut random = Random::from_hex(&hexadecimal::<Md5>(seed.as_bytes()));
        if count <= 1 { 0 } else { random.up_to(count as u64 - 1) as usize }
    };
    match &value.data {
        Data::Array(items) => {
            let mut rotated = items.to_vec();
            rotated.rotate_left(offset(items.len()));
            Ok(Value::array(rotated))
        }
        Data::String(text) => {
            let mut letters: Vec<char> = text.chars().collect();
            let by = offset(letters.len());
            letters.rotate_left(by);
            Ok(Value::from(letters.into_iter().collect::<String>()))
        }
        _ => Err(context.fail("fqdn_rotate(): Requires either array or string to work with")),
    }
}

/// A UUID of version 5 in the name space of DNS.
fn fqdn_uuid(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    const DNS: [u8; 16] =
        [0x6b, 0xa7, 0xb8, 0x10, 0x9d, 0xad, 0x11, 0xd1, 0x80, 0xb4, 0x00, 0xc0, 0x4f, 0xd4, 0x30, 0xc8];
    let name = match arguments {
        [] => return Err(context.fail("fqdn_uuid: No arguments given")),
        [name] => name,
        more => return Err(context.fail(format!("fqdn_uuid: Too many arguments given ({})", more.len()))),
    };
    let Some(name) = name.as_str() else { return Err(context.fail(text::no_conversion(name, "String"))) };
    let mut sha1 = Sha1::new();
    sha1.update(DNS);
    sha1.update(name.as_bytes());
    let mut bytes = sha1.finalize().to_vec();
    bytes[6] = bytes[6] & 0x0f | 0x50;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let digits = digits(&bytes[..16]);
    let parts = [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]];
    Ok(Value::from(parts.join("-")))
}

fn seeded_rand(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    let Some(limit) = positive(&arguments[0]) else {
        return Err(context.fail("seeded_rand(): first argument must be a positive integer"));
    };
    let Some(seed) = arguments[1].as_str() else {
        return Err(context.fail("seeded_rand(): second argument must be a string"));
    };
    let mut random = Random::from_hex(&hexadecimal::<Md5>(seed.as_bytes()));
    Ok(random.below(limit).map_or(Value::UNDEF, Value::from))
}

/// The letters of a random text.
const USUAL: &str = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

fn seeded_rand_string(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    if to_i(&arguments[0]) > LONGEST {
        return Err(context.fail(format!("seeded_rand_string(): more than {LONGEST} letters are refused")));
    }
    let seed = arguments[1].as_str().unwrap_or_default();
    let letters: Vec<char> = arguments.get(2).and_then(Value::as_str).unwrap_or(USUAL).chars().collect();
    let mut random = Random::from_hex(&hexadecimal::<Sha256>(seed.as_bytes()));
    let pick = |_| letters.get(random.up_to(letters.len() as u64 - 1) as usize);
    Ok(Value::from((0..to_i(&arguments[0])).filter_map(pick).collect::<String>()))
}

/// A value that is another one in every run of Puppet.
fn unknowable(name: &str) -> Value {
    let reason = format!("{name}() gives another value in every run");
    Value::unknown(reason, Type::Any)
}

fn shuffle(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    let Some(value) = arguments.first() else { return Err(context.wrong_count(arguments, "1")) };
    let size = match &value.data {
        Data::Array(items) => items.len(),
        Data::String(text) => text.chars().count(),
        _ => return Err(context.fail("shuffle(): Requires either array or string to work with")),
    };
    Ok(if size <= 1 { value.clone() } else { unknowable("shuffle") })
}

fn str2saltedsha512(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    match arguments {
        [password] if password.as_str().is_some() => Ok(unknowable("str2saltedsha512")),
        [other] => Err(context.fail(format!(
            "str2saltedsha512(): Requires a String argument, you passed: {}",
            text::class(other)
        ))),
        _ => Err(context.fail(format!(
            "str2saltedsha512(): Wrong number of arguments passed ({} but we require 1)",
            arguments.len()
        ))),
    }
}

fn time(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    if arguments.len() > 1 {
        let message = format!("time(): Wrong number of arguments given {} for 0 or 1", arguments.len());
        return Err(context.fail(message));
    }
    Ok(Value::unknown(PRESENT_TIME, Type::Integer(None)))
}
