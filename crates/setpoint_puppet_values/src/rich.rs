//! Values as JSON.
use crate::value::Value;
/// A value as the catalog has it: what JSON cannot say is a hash with `__ptype`.
pub fn to_rich_data(_value: &Value) -> serde_json::Value {
    serde_json::Value::Null
}
/// A value as plain data: what JSON cannot say is text.
pub fn to_plain_data(_value: &Value) -> serde_json::Value {
    serde_json::Value::Null
}
