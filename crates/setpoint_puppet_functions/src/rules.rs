//! What can go wrong in a call of a function.

use setpoint_source::{Diagnostic, Rule, Span};

use crate::Stop;

/// What `not_found` of a lookup context does: it ends the function that Hiera has called.
pub fn no_such_key(span: Span) -> Stop {
    stop(Rule::NoSuchKey, "not_found() was called outside of a lookup", span)
}

/// Whether a function ended with `not_found`.
pub fn is_no_such_key(stop: &Stop) -> bool {
    matches!(stop, Stop::Error(diagnostic) if diagnostic.rule == Rule::NoSuchKey)
}

pub(crate) fn stop(rule: Rule, message: impl Into<String>, span: Span) -> Stop {
    Stop::Error(Box::new(Diagnostic::new(rule, message).at(span)))
}

pub(crate) fn failed(message: impl Into<String>, span: Span) -> Stop {
    stop(Rule::FunctionFailed, message, span)
}

pub(crate) fn unsupported(message: impl Into<String>, span: Span) -> Stop {
    stop(Rule::UnsupportedFunction, message, span)
}
