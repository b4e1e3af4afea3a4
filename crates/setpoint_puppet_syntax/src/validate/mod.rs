use setpoint_source::Diagnostic;
pub(crate) fn validate(_text: &str, _program: &crate::ast::Program) -> Vec<Diagnostic> { Vec::new() }
