//! Numbers as text.
use crate::value::Value;
/// The number that a text such as `10`, `0x1F`, `017` or `1.5e3` means.
pub fn parse_number(_text: &str) -> Option<Value> {
    None
}
/// A float as Ruby prints it.
pub fn float_text(value: f64) -> String {
    value.to_string()
}
