use super::Timespan;
use crate::error::ValueError;
impl Timespan {
    /// Formatted as `strftime` does, `%D-%H:%M:%S`.
    pub fn format(self, _format: &str) -> Result<String, ValueError> {
        Ok(String::new())
    }
    pub fn parse(_text: &str, _formats: &[&str]) -> Result<Self, ValueError> {
        Err(ValueError::new(""))
    }
}
