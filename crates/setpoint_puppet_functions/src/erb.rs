//! ERB templates, without Ruby.
//!
//! A template that goes beyond what is known of Ruby here has a text that is not known.

use setpoint_puppet_values::Value;

use crate::Stop;
use crate::context::Context;
use crate::ruby_language::{RubyFailure, render};

/// The name of a template that is given as text.
pub(crate) const INLINE: &str = "an inline template";

/// The value of a template: its text, or what the evaluation makes of one that cannot be rendered here.
pub(crate) fn value(context: &mut Context<'_, '_>, name: &str, text: &str) -> Result<Value, Stop> {
    // The name of a template that is no file.
    let inline = name == INLINE;
    match render(context, text) {
        Ok(text) => Ok(Value::from(text)),
        Err(RubyFailure::Stopped(stop)) => Err(stop),
        Err(RubyFailure::Failed(message)) => {
            let message = if inline {
                format!("Failed to parse inline template: {message}")
            } else {
                format!("Failed to parse template {name}:\n  Detail: {message}")
            };
            Err(context.fail(message))
        }
        Err(RubyFailure::Beyond(beyond)) => {
            let span = context.span();
            context.host.unknown_template(name, &beyond.reason, span)
        }
    }
}
