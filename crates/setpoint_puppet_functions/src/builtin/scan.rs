//! `scanf`: values out of a text, by a format.

use setpoint_puppet_values::Value;

use crate::Stop;
use crate::context::Context;
use crate::function::{Dispatch, Function, required};
use crate::ruby::scanf::scanf;

pub(super) static SCANF: Function = Function::typed(
    "scanf",
    &[Dispatch::new(&[required("String", "data"), required("String", "format")], run)
        .with_optional_block("Callable")],
);

fn run(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Stop> {
    let text = |at: usize| arguments.get(at).and_then(Value::as_str).unwrap_or_default();
    let found: Vec<Value> =
        scanf(text(0), text(1)).into_iter().map(|value| value.made_of(arguments[0].prov)).collect();
    let result = Value::array(found);
    if context.block().is_some() { context.call_block(vec![result]) } else { Ok(result) }
}
