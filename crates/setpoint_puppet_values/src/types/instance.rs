use super::Type;
use crate::value::Value;
impl Type {
    pub fn is_instance(&self, _value: &Value) -> bool {
        false
    }
}
