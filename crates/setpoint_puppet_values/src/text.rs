//! Values as text.
use crate::error::ValueError;
use crate::value::Value;
use std::sync::Arc;
/// A value as it is interpolated into a string.
pub fn to_text(_value: &Value) -> Arc<str> {
    "".into()
}
/// `String.new(value, format)`: `format` is `default`, a format such as `%p` or a hash of them by type.
pub fn string_format(_value: &Value, _format: Option<&Value>) -> Result<String, ValueError> {
    Ok(String::new())
}
/// A string in quotes as Puppet source would have it.
pub fn puppet_quote(text: &str) -> String {
    text.to_owned()
}
/// A string as Ruby's `inspect` prints it.
pub fn ruby_inspect(text: &str) -> String {
    text.to_owned()
}
