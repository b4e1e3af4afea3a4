//! What Puppet inherits from Ruby: its texts of values, its numbers and its base64.

pub mod base64;
pub mod numbers;
pub mod text;
