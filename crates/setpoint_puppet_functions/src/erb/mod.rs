//! ERB templates, without Ruby: as much of its language and library as templates use.
//!
//! A template becomes one sequence of tokens, a tree, and is walked. Where it goes beyond what is known here, the walk
//! ends with [`Beyond`], and the text of the template is not known; nothing is guessed.

mod ast;
mod interpreter;
mod lexer;
mod methods;
mod parser;
mod things;

use setpoint_puppet_values::Value;

use crate::context::Context;
use crate::{Stop, rules};

/// The name of a template that is given as text.
pub(crate) const INLINE: &str = "an inline template";

/// Why a template cannot be rendered here, for people.
#[derive(Debug)]
pub(crate) struct Beyond {
    pub(crate) reason: String,
}

impl Beyond {
    fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into() }
    }
}

/// How a rendering ends without a text.
pub(crate) enum Failure {
    Beyond(Beyond),
    /// Ruby's complaint.
    Failed(String),
    /// A function that the template called.
    Stopped(Stop),
}

/// The text of a template in the scope of the call.
pub(crate) fn render(context: &mut Context<'_, '_>, text: &str) -> Result<String, Failure> {
    interpreter::render(context, text)
}

/// The value of a template: its text, or what the evaluation makes of one that cannot be rendered here.
pub(crate) fn value(context: &mut Context<'_, '_>, name: &str, text: &str) -> Result<Value, Stop> {
    // The name of a template that is no file.
    let inline = name == INLINE;
    match render(context, text) {
        Ok(text) => Ok(Value::from(text)),
        Err(Failure::Stopped(stop)) => Err(stop),
        Err(Failure::Failed(message)) => {
            let message = if inline {
                format!("Failed to parse inline template: {message}")
            } else {
                format!("Failed to parse template {name}:\n  Detail: {message}")
            };
            Err(rules::failed(message, context.span()))
        }
        Err(Failure::Beyond(beyond)) => {
            let span = context.span();
            context.host.unknown_template(name, &beyond.reason, span)
        }
    }
}
