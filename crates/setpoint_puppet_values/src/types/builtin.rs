//! The types that have a name in every environment.
use super::Type;

impl Type {
    /// The type of a name such as `Integer` or `integer`.
    pub fn builtin(_name: &str) -> Option<Self> {
        None
    }

    /// `Data`: what can be written as JSON.
    pub fn data() -> Self {
        Self::Any
    }
    pub fn rich_data() -> Self {
        Self::Any
    }
    pub fn deferred() -> Self {
        Self::Any
    }
    pub fn error() -> Self {
        Self::Any
    }
}
