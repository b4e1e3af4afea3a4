//! What `Integer[1, 2]` means.
use super::Type;
use crate::error::{Checks, ValueError};
use crate::value::Value;

/// A type with parameters: `Integer[1,2]`, `Array[String, 1]`, `File['a', 'b']` (an array of references).
/// A resource or class that already has a title is the evaluator's business: it reads parameters of a resource.
pub fn parameterise(_base: &Type, _keys: &[Value], _checks: &mut Checks) -> Result<Value, ValueError> {
    Err(ValueError::new(""))
}

/// `File['a']` and `Resource['file', 'a']`.
pub fn resource_reference(_base: &Type, _keys: &[Value], _checks: &mut Checks) -> Result<Value, ValueError> {
    Err(ValueError::new(""))
}

/// `Class['a']`.
pub fn class_reference(_keys: &[Value], _checks: &mut Checks) -> Result<Value, ValueError> {
    Err(ValueError::new(""))
}
