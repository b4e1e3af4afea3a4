//! `new`: instances of types from other values.
use crate::error::ValueError;
use crate::types::Type;
use crate::value::Value;
/// `Type.new(arguments)`. `parse_type` reads a type from text (for `Type.new('Integer[1]')`), aliases included.
pub fn new_instance(
    _of: &Type,
    _arguments: &[Value],
    _parse_type: &mut dyn FnMut(&str) -> Result<Type, ValueError>,
) -> Result<Value, ValueError> {
    Ok(Value::UNDEF)
}
