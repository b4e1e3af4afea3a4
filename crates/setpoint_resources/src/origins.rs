//! Contents and texts that are known by where they come from alone.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use setpoint_state::Value;

/// Where a content or text comes from that the plan holds a name for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Origin {
    /// It is declared, and must not be shown.
    Secret,
    /// A package brings it.
    Package(String),
    /// An address, an archive or a command gives it; nobody read it.
    Elsewhere,
}

/// The origins of contents and texts, by the names that stand for them in values.
#[derive(Clone, Debug, Default)]
pub struct Origins(FxHashMap<Arc<str>, Origin>);

impl Origins {
    pub(crate) fn add(&mut self, name: &str, origin: Origin) {
        self.0.entry(name.into()).or_insert(origin);
    }

    /// Returns where a value comes from, if that is all that is known of it.
    pub fn of(&self, value: &Value) -> Option<&Origin> {
        match value {
            Value::File(name) | Value::Text(name) => self.0.get(name),
            _ => None,
        }
    }
}
