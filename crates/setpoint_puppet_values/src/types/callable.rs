//! Signatures of functions and blocks.

use std::sync::Arc;

use super::{CallableType, Type};
use crate::value::Value;

/// One way to call a function: its type, and the names of its parameters for messages.
#[derive(Clone, Debug)]
pub struct Signature {
    pub callable: CallableType,
    pub parameter_names: Vec<Arc<str>>,
    pub block_name: Option<Arc<str>>,
}

impl Signature {
    /// Whether a call with these arguments, and a block of this type, fits.
    pub fn accepts(&self, arguments: &[Value], block: Option<&Type>) -> bool {
        self.callable.accepts(arguments, block)
    }
}

impl CallableType {
    /// Whether a call with these arguments, and a block of this type, fits.
    pub fn accepts(&self, arguments: &[Value], block: Option<&Type>) -> bool {
        let Some(parameters) = &self.parameters else { return true };
        let fits = match &parameters.size {
            Some(size) => size.contains(&(arguments.len() as i64)),
            None => parameters.types.len() == arguments.len(),
        };
        fits && arguments
            .iter()
            .enumerate()
            .all(|(index, argument)| parameters.at(index).is_none_or(|of| of.is_instance(argument)))
            && match (&self.block, block) {
                (None, block) => block.is_none(),
                (Some(expected), Some(block)) => expected.is_assignable(block),
                (Some(expected), None) => expected.is_assignable(&Type::Undef),
            }
    }
}
