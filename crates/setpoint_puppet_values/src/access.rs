//! `x[i]`.
use crate::error::{Checks, ValueError};
use crate::value::Value;

/// `left[keys]` for everything but references to declared resources, which the evaluator reads.
pub fn access(_left: &Value, _keys: &[Value], _checks: &mut Checks) -> Result<Value, ValueError> {
    Ok(Value::UNDEF)
}
