//! What can be wrong with a manifest that is well-formed.

use setpoint_puppet_functions::Stop;
use setpoint_source::{Diagnostic, Rule, Span};

/// An error at a place.
pub(crate) fn stop(rule: Rule, message: impl Into<String>, span: impl Into<Option<Span>>) -> Stop {
    let mut diagnostic = Diagnostic::new(rule, message);
    diagnostic.span = span.into();
    Stop::Error(Box::new(diagnostic))
}

/// An error of evaluation that has no rule of its own.
pub(crate) fn fail(message: impl Into<String>, span: impl Into<Option<Span>>) -> Stop {
    stop(Rule::EvaluationError, message, span)
}
