//! ERB templates, without Ruby.
//!
//! A template that goes beyond what is known of Ruby here has a text that is not known.

use std::path::Path;

use setpoint_puppet_values::Value;

use crate::Stop;
use crate::context::Context;
use crate::ruby_language::{RubyFailure, parse_template, render};

/// The name of a template that is given as text.
pub(crate) const INLINE: &str = "an inline template";

/// The value of a template: its text, or what the evaluation makes of one that cannot be rendered here.
pub(crate) fn value(
    context: &mut Context<'_, '_>,
    name: &str,
    file: Option<&Path>,
    text: &str,
) -> Result<Value, Stop> {
    // The name of a template that is no file.
    let inline = name == INLINE;
    match render(context, file, text) {
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

/// Whether the text of a template can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ErbSyntax {
    Sound,
    /// A tag that begins on this line is not closed.
    Broken(u32),
    /// The Ruby in it ends in the middle of a construct.
    CutOff,
    /// It has Ruby that is not known here.
    Beyond,
}

/// Reads a template without rendering it.
pub fn parse_erb(text: &str) -> ErbSyntax {
    match parse_template(text) {
        Ok(()) => ErbSyntax::Sound,
        Err(beyond) => match (beyond.line, has_open_tag(text)) {
            (Some(line), true) => ErbSyntax::Broken(line),
            _ if beyond.is_cut_off => ErbSyntax::CutOff,
            _ => ErbSyntax::Beyond,
        },
    }
}

fn has_open_tag(text: &str) -> bool {
    let mut rest = text;
    while let Some(at) = rest.find("<%") {
        rest = &rest[at + 2..];
        if let Some(after) = rest.strip_prefix('%') {
            rest = after;
            continue;
        }
        match rest.find("%>") {
            Some(end) => rest = &rest[end + 2..],
            None => return true,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_tag_is_told_apart_from_ruby_that_is_not_known() {
        assert_eq!(parse_erb("a <%= @b %>\n<% if @c -%>\nx\n<% end -%>\n<%% <%# %>"), ErbSyntax::Sound);
        assert_eq!(parse_erb("a\nb <%= @b\n"), ErbSyntax::Broken(2));
        assert_eq!(parse_erb("<% if @b %>\nb\n"), ErbSyntax::CutOff);
    }
}
