//! Digests, and the random number that is always the same for a node.

use std::fmt::Write;

use md5::Md5;
use setpoint_puppet_values::{Data, Key, Value};
use sha1::Sha1;
use sha2::{Digest, Sha256};

use crate::Stop;
use crate::context::Context;
use crate::function::Function;
use crate::ruby::{self, numbers, random::Random};

pub(super) static MD5: Function = Function::counted("md5", 1, digest::<Md5>);
pub(super) static SHA1: Function = Function::counted("sha1", 1, digest::<Sha1>);
pub(super) static SHA256: Function = Function::counted("sha256", 1, digest::<Sha256>);
/// By the algorithm that Puppet's settings name; SHA-256 unless they are changed.
pub(super) static DIGEST: Function = Function::counted("digest", 1, digest::<Sha256>);
pub(super) static FQDN_RAND: Function = Function::counted("fqdn_rand", -2, fqdn_rand);

fn digest<D: Digest>(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Stop> {
    match arguments[0].as_str() {
        Some(text) => Ok(Value::from(hexadecimal::<D>(text.as_bytes()))),
        None => Err(context.fail(ruby::text::no_conversion(&arguments[0], "String"))),
    }
}

pub(crate) fn hexadecimal<D: Digest>(bytes: &[u8]) -> String {
    digits(&D::digest(bytes))
}

/// Bytes as hexadecimal digits.
pub(crate) fn digits(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        let _ = write!(out, "{byte:02x}");
    }
    out
}

fn fqdn_rand(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Stop> {
    let limit = limit(context, &arguments[0])?;
    let seed = arguments.get(1).cloned().unwrap_or(Value::UNDEF);
    let mut fqdn = fqdn(context);
    if arguments.get(2).is_some_and(Value::is_true)
        && let Some(name) = fqdn.as_str()
    {
        fqdn = Value::from(ruby::strings::downcase(name)).made_of(fqdn.prov);
    }
    context.note(&fqdn);
    let text = ruby::text::join(&[fqdn, Value::from(limit), seed], ":");
    let mut random = Random::from_hex(&hexadecimal::<Md5>(text.as_bytes()));
    random.below(limit).map(Value::from).ok_or_else(|| context.fail(format!("invalid argument - {limit}")))
}

/// `to_i`.
fn limit(context: &Context<'_, '_>, value: &Value) -> Result<i64, Stop> {
    match &value.data {
        Data::Integer(number) => Ok(*number),
        Data::Float(number) => Ok(*number as i64),
        Data::String(text) => Ok(i64::try_from(numbers::leading_integer(text)).unwrap_or(i64::MAX)),
        _ => Err(context.fail(ruby::text::no_method("to_i", value))),
    }
}

/// The fact `networking.fqdn`.
pub(crate) fn fqdn(context: &mut Context<'_, '_>) -> Value {
    let mut at = context.host.variable("facts").unwrap_or(Value::UNDEF);
    for key in ["networking", "fqdn"] {
        at = at.as_hash().and_then(|entries| entries.get(&Key::from(key))).cloned().unwrap_or(Value::UNDEF);
    }
    at
}
