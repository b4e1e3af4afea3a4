//! `strftime`.

use setpoint_puppet_values::{Data, PRESENT_TIME, Type, Value};

use crate::Stop;
use crate::context::Context;
use crate::function::{Dispatch, Function, optional, required};

pub(super) static STRFTIME: Function = Function::typed(
    "strftime",
    &[
        Dispatch::new(&[required("Timespan", "time_object"), required("String", "format")], strftime),
        Dispatch::new(
            &[
                required("Timestamp", "time_object"),
                required("String", "format"),
                optional("String", "timezone"),
            ],
            strftime,
        ),
        Dispatch::new(&[required("String", "format"), optional("String", "timezone")], strftime_now),
    ],
);

fn strftime(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Stop> {
    let format = arguments[1].as_str().unwrap_or_default();
    let text = match &arguments[0].data {
        Data::Timespan(span) => span.format(format),
        Data::Timestamp(time) => time.format(format, arguments.get(2).and_then(Value::as_str)),
        _ => return Ok(Value::UNDEF),
    };
    context.checked(text).map(Value::from)
}

/// The old form, which formats the present time.
fn strftime_now(context: &mut Context<'_, '_>, _: &[Value]) -> Result<Value, Stop> {
    context.warn_once(
        "legacy#strftime",
        "The argument signature (String format, [String timezone]) is deprecated for #strftime. See #strftime \
         documentation and Timespan type for more info",
    );
    Ok(Value::unknown(PRESENT_TIME, Type::String(None)))
}
