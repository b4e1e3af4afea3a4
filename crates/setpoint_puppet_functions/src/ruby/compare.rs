//! Ruby's `==` and `<=>` on values.

use std::cmp::Ordering;

use setpoint_puppet_values::{Data, Value};

use super::text::{class, inspect};

/// `a == b`: as exact as `eql?`, but `1 == 1.0`.
pub(crate) fn equal(a: &Value, b: &Value) -> bool {
    match (&a.data, &b.data) {
        (Data::Integer(x), Data::Float(y)) | (Data::Float(y), Data::Integer(x)) => *x as f64 == *y,
        (Data::Array(x), Data::Array(y)) => {
            x.len() == y.len() && x.iter().zip(y.iter()).all(|(x, y)| equal(x, y))
        }
        (Data::Hash(x), Data::Hash(y)) => {
            x.len() == y.len() && x.iter().all(|(key, x)| y.get(key).is_some_and(|y| equal(x, y)))
        }
        (x, y) => x == y,
    }
}

/// `a <=> b`: nothing if the two cannot be compared.
pub(crate) fn compare(a: &Value, b: &Value) -> Option<Ordering> {
    match (&a.data, &b.data) {
        (Data::Integer(x), Data::Integer(y)) => Some(x.cmp(y)),
        (Data::Float(x), Data::Float(y)) => x.partial_cmp(y),
        (Data::Integer(x), Data::Float(y)) => (*x as f64).partial_cmp(y),
        (Data::Float(x), Data::Integer(y)) => x.partial_cmp(&(*y as f64)),
        (Data::String(x), Data::String(y)) => Some(x.as_bytes().cmp(y.as_bytes())),
        (Data::Array(x), Data::Array(y)) => {
            for (x, y) in x.iter().zip(y.iter()) {
                match compare(x, y)? {
                    Ordering::Equal => {}
                    different => return Some(different),
                }
            }
            Some(x.len().cmp(&y.len()))
        }
        (Data::Timespan(x), Data::Timespan(y)) => Some(x.cmp(y)),
        (Data::Timestamp(x), Data::Timestamp(y)) => Some(x.cmp(y)),
        (Data::Timespan(x), _) => x.as_seconds().partial_cmp(&number(b)?),
        (Data::Timestamp(x), _) => x.as_seconds().partial_cmp(&number(b)?),
        (Data::SemVer(x), Data::SemVer(y)) => x.as_ref().partial_cmp(y.as_ref()),
        (x, y) => (x == y).then_some(Ordering::Equal),
    }
}

fn number(value: &Value) -> Option<f64> {
    match value.data {
        Data::Integer(number) => Some(number as f64),
        Data::Float(number) => Some(number),
        _ => None,
    }
}

/// What Ruby says if two values have no order.
pub(crate) fn comparison_failed(a: &Value, b: &Value) -> String {
    let other = match &b.data {
        Data::Undef | Data::Default | Data::Bool(_) | Data::Integer(_) | Data::Float(_) => inspect(b),
        _ => class(b).to_owned(),
    };
    format!("comparison of {} with {other} failed", class(a))
}

/// What a block says about the order of `a` and `b`: a number below, at or above zero.
pub(crate) fn as_ordering(answer: &Value, a: &Value, b: &Value) -> Result<Ordering, String> {
    match &answer.data {
        Data::Integer(number) => Ok(number.cmp(&0)),
        Data::Float(number) => Ok(number.partial_cmp(&0.0).unwrap_or(Ordering::Equal)),
        Data::Undef => Err(comparison_failed(a, b)),
        Data::String(_) => Err(comparison_failed(answer, &Value::from(0))),
        _ => Err(format!("undefined method `>' for {}:{}", inspect(answer), class(answer))),
    }
}
