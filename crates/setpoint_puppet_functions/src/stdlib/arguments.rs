//! What stdlib's functions have in common when they complain.

use setpoint_puppet_values::Value;

use crate::Stop;
use crate::context::Context;
use crate::ruby::text;

pub(super) trait Arguments {
    /// `name(): Wrong number of arguments given (1 for 2)`
    fn wrong_count(&self, arguments: &[Value], wanted: &str) -> Stop;
    /// A warning at the place of the call.
    fn warn(&mut self, message: &str);
}

impl Arguments for Context<'_, '_> {
    fn wrong_count(&self, arguments: &[Value], wanted: &str) -> Stop {
        let name = self.call.name;
        self.fail(format!("{name}(): Wrong number of arguments given ({} for {wanted})", arguments.len()))
    }

    fn warn(&mut self, message: &str) {
        let span = self.span();
        self.host.log(crate::LogLevel::Warning, message.to_owned(), span);
    }
}

/// The name of a value's class in Ruby.
pub(crate) fn class_of(value: &Value) -> &'static str {
    text::class(value)
}
