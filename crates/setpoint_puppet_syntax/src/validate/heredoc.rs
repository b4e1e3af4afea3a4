//! The text of a heredoc whose tag names its syntax.

use std::sync::Arc;

use setpoint_source::Range;

use super::Validator;

impl Validator<'_> {
    pub(super) fn heredoc_syntax(&mut self, syntax: &Arc<str>, content: &Arc<str>, range: Range) {
        let _ = (syntax, content, range);
    }
}
