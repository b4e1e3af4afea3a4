//! `==`, `<` and their kin.

use std::cmp::Ordering;

use crate::error::ValueError;
use crate::label::label;
use crate::time::NANOS_PER_SECOND;
use crate::types::Type;
use crate::value::{Data, Value};

/// `==`: blind to the case of letters (ASCII only) and to the difference of `1` and `1.0`.
pub fn equals(a: &Value, b: &Value) -> bool {
    match (&a.data, &b.data) {
        (Data::Type(a), Data::Type(b)) => type_equals(a, b),
        _ => equals_nested(a, b),
    }
}

/// The same within collections, where types are equal only if they say the same.
pub(crate) fn equals_nested(a: &Value, b: &Value) -> bool {
    match (&a.data, &b.data) {
        (Data::String(a), Data::String(b)) => a.eq_ignore_ascii_case(b),
        (Data::Integer(a), Data::Float(b)) | (Data::Float(b), Data::Integer(a)) => {
            integer_float(*a, *b) == Some(Ordering::Equal)
        }
        (Data::Array(a), Data::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| equals_nested(a, b))
        }
        (Data::Hash(a), Data::Hash(b)) => {
            a.len() == b.len()
                && a.iter().all(|(key, item)| equals_nested(b.get(key).unwrap_or(&Value::UNDEF), item))
        }
        (Data::Uri(a), Data::Uri(b)) => a.normalized() == b.normalized(),
        // Times are numbers of seconds.
        (Data::Timestamp(time), Data::Integer(_) | Data::Float(_)) => {
            time_number(time.nanos(), b) == Some(Ordering::Equal)
        }
        (Data::Timespan(span), Data::Integer(_) | Data::Float(_)) => {
            time_number(span.nanos(), b) == Some(Ordering::Equal)
        }
        (Data::Integer(_) | Data::Float(_), Data::Timestamp(_) | Data::Timespan(_)) => equals_nested(b, a),
        (a, b) => a == b,
    }
}

/// Types are equal if each can be assigned to the other.
pub fn type_equals(a: &Type, b: &Type) -> bool {
    a == b || (a.is_assignable(b) && b.is_assignable(a))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

impl Comparison {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Less => "<",
            Self::LessEqual => "<=",
            Self::Greater => ">",
            Self::GreaterEqual => ">=",
        }
    }

    fn holds(self, order: Ordering) -> bool {
        match self {
            Self::Less => order == Ordering::Less,
            Self::LessEqual => order != Ordering::Greater,
            Self::Greater => order == Ordering::Greater,
            Self::GreaterEqual => order != Ordering::Less,
        }
    }
}

/// `<`, `<=`, `>`, `>=`: of values, and of types (`Integer < Numeric`).
pub fn compare(operator: Comparison, left: &Value, right: &Value) -> Result<bool, ValueError> {
    if let Data::Type(of) = &left.data {
        return Ok(compare_types(operator, of, right));
    }
    match ordering(left, right) {
        Ok(order) => Ok(operator.holds(order)),
        Err(error) => Err(ValueError::new(format!(
            "Comparison of: {} {} {}, is not possible. Caused by '{}'.",
            label(left),
            operator.as_str(),
            label(right),
            error.message
        ))),
    }
}

fn compare_types(operator: Comparison, left: &Type, right: &Value) -> bool {
    let Data::Type(right) = &right.data else { return false };
    match operator {
        Comparison::Less => right.is_assignable(left) && !type_equals(left, right),
        Comparison::LessEqual => right.is_assignable(left),
        Comparison::Greater => left.is_assignable(right) && !type_equals(left, right),
        Comparison::GreaterEqual => left.is_assignable(right),
    }
}

/// The order of two values; the error says which kinds can be compared.
pub fn ordering(a: &Value, b: &Value) -> Result<Ordering, ValueError> {
    let error = |message: &str| Err(ValueError::new(message));
    match (&a.data, &b.data) {
        (Data::String(a), Data::String(b)) => Ok(compare_strings(a, b)),
        (Data::String(_), _) => error("A String is not comparable to a non String"),
        (Data::Integer(a), Data::Integer(b)) => Ok(a.cmp(b)),
        (Data::Float(a), Data::Float(b)) => {
            a.partial_cmp(b).map_or_else(|| error("comparison of Float with Float failed"), Ok)
        }
        (Data::Integer(a), Data::Float(b)) => {
            integer_float(*a, *b).map_or_else(|| error("comparison of Integer with Float failed"), Ok)
        }
        (Data::Float(a), Data::Integer(b)) => integer_float(*b, *a)
            .map(Ordering::reverse)
            .map_or_else(|| error("comparison of Float with Integer failed"), Ok),
        (Data::Integer(_) | Data::Float(_), Data::Timestamp(_) | Data::Timespan(_)) => {
            ordering(b, a).map(Ordering::reverse)
        }
        (Data::Integer(_) | Data::Float(_), _) => error("A Numeric is not comparable to non Numeric"),
        (Data::Default, Data::Default) => Ok(Ordering::Equal),
        (Data::Default, _) => error("Symbol not comparable to non Symbol"),
        (Data::Timespan(a), Data::Timespan(b)) => Ok(a.cmp(b)),
        (Data::Timespan(a), Data::Integer(_) | Data::Float(_)) => {
            time_number(a.nanos(), b).map_or_else(|| error("comparison failed"), Ok)
        }
        (Data::Timespan(_), _) => error("Timespans are only comparable to Timespans, Integers, and Floats"),
        (Data::Timestamp(a), Data::Timestamp(b)) => Ok(a.cmp(b)),
        (Data::Timestamp(a), Data::Integer(_) | Data::Float(_)) => {
            time_number(a.nanos(), b).map_or_else(|| error("comparison failed"), Ok)
        }
        (Data::Timestamp(_), _) => {
            error("Timestamps are only comparable to Timestamps, Integers, and Floats")
        }
        (Data::SemVer(a), Data::SemVer(b)) => Ok(a.precedence(b)),
        (Data::SemVer(_), _) => error("Versions not comparable to non Versions"),
        _ => error("Only Strings, Numbers, Timespans, Timestamps, and Versions are comparable"),
    }
}

/// By bytes, with ASCII letters in lower case.
fn compare_strings(a: &str, b: &str) -> Ordering {
    let lower = |text: &str| text.bytes().map(|byte| byte.to_ascii_lowercase()).collect::<Vec<u8>>();
    if a.len().min(b.len()) < 64 {
        return a
            .bytes()
            .map(|byte| byte.to_ascii_lowercase())
            .cmp(b.bytes().map(|byte| byte.to_ascii_lowercase()));
    }
    lower(a).cmp(&lower(b))
}

/// An integer against a float, without losing digits.
fn integer_float(integer: i64, float: f64) -> Option<Ordering> {
    if float.is_nan() {
        return None;
    }
    if float >= 9_223_372_036_854_775_808.0 {
        return Some(Ordering::Less);
    }
    if float < -9_223_372_036_854_775_808.0 {
        return Some(Ordering::Greater);
    }
    let whole = float.trunc();
    let order = integer.cmp(&(whole as i64));
    Some(order.then(0.0_f64.partial_cmp(&(float - whole)).unwrap_or(Ordering::Equal)))
}

/// Nanoseconds against a number of seconds: whole ones are compared as whole seconds.
fn time_number(nanos: i128, number: &Value) -> Option<Ordering> {
    match number.data {
        Data::Integer(seconds) => Some(nanos.div_euclid(NANOS_PER_SECOND).cmp(&i128::from(seconds))),
        Data::Float(seconds) => crate::time::divide(nanos, NANOS_PER_SECOND).partial_cmp(&seconds),
        _ => None,
    }
}
