//! `sprintf` in the manner of Ruby.
use crate::error::ValueError;
use crate::value::Value;
/// The format filled in with the arguments; a single hash supplies `%{name}` and `%<name>d`.
pub fn sprintf(_format: &str, _arguments: &[Value]) -> Result<String, ValueError> {
    Ok(String::new())
}
