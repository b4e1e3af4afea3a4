//! `deprecation`, and the functions of stdlib that are deprecated: `is_array`, `validate_array` and their like.

use setpoint_puppet_values::Value;

use crate::context::Context;
use crate::function::{Dispatch, Function, optional, required};
use crate::{Stop, Strictness};

pub(super) static DEPRECATION: Function = Function::typed(
    "deprecation",
    &[Dispatch::new(&[required("String", "key"), required("String", "message")], say)],
)
.moving_unknown();

/// The same since version 9, where a caller may ask for no more than a warning.
pub(crate) static DEPRECATION_9: Function = Function::typed(
    "deprecation",
    &[Dispatch::new(
        &[
            required("String", "key"),
            required("String", "message"),
            optional("Boolean", "use_strict_setting"),
        ],
        say,
    )],
)
.moving_unknown();

fn say(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Stop> {
    let text = |at: usize| arguments.get(at).and_then(Value::as_str).unwrap_or_default();
    if arguments.get(2).is_some_and(|strictly| !strictly.is_true()) {
        context.warn_once(text(0), text(1));
    } else {
        deprecated(context, text(0), text(1))?;
    }
    Ok(Value::UNDEF)
}

/// Says that something is deprecated: nothing, a warning or an error, as strict as Puppet is.
pub(crate) fn deprecated(context: &mut Context<'_, '_>, key: &str, message: &str) -> Result<(), Stop> {
    match context.host.strict() {
        Strictness::Off => Ok(()),
        Strictness::Warning => {
            context.warn_once(key, message);
            Ok(())
        }
        Strictness::Error => Err(context.fail(format!("deprecation. {key}. {message}"))),
    }
}
