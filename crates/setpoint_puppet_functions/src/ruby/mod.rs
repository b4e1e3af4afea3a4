//! What Puppet's functions inherit from Ruby: its texts of values, its order, its formats, its random numbers.

mod compare;
pub(crate) mod random;
pub(crate) mod scanf;
pub(crate) mod sort;
pub(crate) mod strings;

pub(crate) use setpoint_puppet_values::ruby::{numbers, text};

pub(crate) use compare::{as_ordering, compare, comparison_failed, equal};
