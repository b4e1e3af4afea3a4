//! Signatures of functions and blocks.

use std::sync::Arc;

use super::{CallableType, Type};

/// One way to call a function: its type, and the names of its parameters for messages.
#[derive(Clone, Debug)]
pub struct Signature {
    pub callable: CallableType,
    pub parameter_names: Vec<Arc<str>>,
    pub block_name: Option<Arc<str>>,
}

impl Signature {
    /// Whether a call with arguments of these types, and a block of this type, fits.
    pub fn accepts(&self, _arguments: &[Type], _block: Option<&Type>) -> bool {
        true
    }
}
