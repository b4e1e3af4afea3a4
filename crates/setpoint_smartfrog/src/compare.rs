//! Equality of compiled values, in which the order of attributes counts.

use crate::store::{Store, Value};
use crate::syntax::Number;

/// Equal values; the numbers `2` and `2L` are equal, and `1.5` is `1.5D`.
pub fn same_value(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Null, Value::Null) => true,
        (Value::Boolean(left), Value::Boolean(right)) => left == right,
        (Value::Number(left), Value::Number(right)) => same_number(left, right),
        (Value::String(left), Value::String(right)) => left == right,
        (Value::Bytes(left), Value::Bytes(right)) | (Value::Lazy(left), Value::Lazy(right)) => left == right,
        (Value::Data(left), Value::Data(right)) => left == right,
        (Value::Variable(left), Value::Variable(right)) => left == right,
        (Value::Vector(left), Value::Vector(right)) => {
            left.len() == right.len()
                && left.iter().zip(right.iter()).all(|(left, right)| same_value(left, right))
        }
        (Value::Store(left), Value::Store(right)) => same_store(left, right),
        (Value::Link(left), Value::Link(right)) => left.names() == right.names(),
        _ => false,
    }
}

pub fn same_store(left: &Store, right: &Store) -> bool {
    left.is_same(right)
        || left.len() == right.len()
            && left
                .iter()
                .zip(right.iter())
                .all(|(left, right)| left.name == right.name && same_value(&left.value, &right.value))
}

fn same_number(left: &Number, right: &Number) -> bool {
    match (left, right) {
        (Number::Integer(left) | Number::Long(left), Number::Integer(right) | Number::Long(right)) => {
            left == right
        }
        (Number::Float(left) | Number::Double(left), Number::Float(right) | Number::Double(right)) => {
            left == right
        }
        (Number::Big(left), Number::Big(right)) => left == right,
        _ => false,
    }
}
