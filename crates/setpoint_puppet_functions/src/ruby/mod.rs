//! What Puppet's functions inherit from Ruby: its texts of values, its formats, its random numbers.

pub(crate) mod format;
pub(crate) mod numbers;
pub(crate) mod random;
pub(crate) mod text;
