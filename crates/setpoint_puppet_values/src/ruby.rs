//! What Puppet inherits from Ruby: its texts of values and its numbers.

pub mod numbers;
pub mod text;
