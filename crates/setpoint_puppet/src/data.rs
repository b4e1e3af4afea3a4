//! The seam to external data: Hiera stands behind it.

use std::fmt::Debug;

use setpoint_puppet_functions::{Host, Stop};
use setpoint_puppet_values::Value;

/// What is asked of a [`DataProvider`].
#[derive(Debug, Clone)]
pub struct Request<'a> {
    pub key: &'a str,
    /// How values of several levels become one; `None` leaves it to the data.
    pub merge: Option<&'a Value>,
    /// The key is the parameter of a class that was given no value.
    pub automatic: bool,
}

/// Where `lookup()` and the parameters of classes find values.
pub trait DataProvider: Debug + Sync {
    /// The value of a key, or `None` if no level has it. `host` is the scope that asks.
    fn lookup(&self, host: &mut dyn Host, request: &Request<'_>) -> Result<Option<Value>, Stop>;
}
