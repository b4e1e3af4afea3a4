use super::Type;
use std::fmt;
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Any")
    }
}
impl Type {
    /// As Puppet prints it in messages: `MyAlias = Integer`.
    pub fn expanded(&self) -> String {
        self.to_string()
    }
    /// `Integer` for `Integer[1, 2]`.
    pub fn name(&self) -> String {
        self.to_string()
    }
}
