//! Functions about types: what a value is, and what becomes of it.

use setpoint_puppet_values::types::describe_mismatch;
use setpoint_puppet_values::{Data, Type, Value, ValueError, infer, infer_set, new_instance};

use crate::context::Context;
use crate::function::{Dispatch, Function, optional, repeated, required};
use crate::{Call, Stop};

pub(super) static ASSERT_TYPE: Function = Function::typed(
    "assert_type",
    &[
        Dispatch::new(&[required("Type", "type"), required("Any", "value")], assert_type)
            .with_optional_block("Callable[Type, Type]"),
        Dispatch::new(
            &[required("String", "type_string"), required("Any", "value")],
            |context, arguments| {
                let of = context.parse_type(arguments[0].as_str().unwrap_or_default())?;
                assert_type(context, &[Value::from(of), arguments[1].clone()])
            },
        )
        .with_optional_block("Callable[Type, Type]"),
    ],
)
.passing_unknown();

pub(super) static TYPE: Function = Function::typed(
    "type",
    &[
        Dispatch::new(
            &[required("Any", "value"), optional("Enum[detailed]", "inference_method")],
            |_, arguments| Ok(infer_set(&arguments[0]).into()),
        ),
        Dispatch::new(
            &[required("Any", "value"), required("Enum[reduced]", "inference_method")],
            |_, arguments| Ok(infer(&arguments[0]).into()),
        ),
        Dispatch::new(
            &[required("Any", "value"), required("Enum[generalized]", "inference_method")],
            |_, arguments| Ok(infer(&arguments[0]).generalize().into()),
        ),
    ],
);

pub(super) static NEW: Function = Function::typed(
    "new",
    &[Dispatch::new(&[required("Type", "type"), repeated("Any", "args")], new)
        .with_optional_block("Callable")],
);

pub(super) static CONVERT_TO: Function = Function::typed(
    "convert_to",
    &[Dispatch::new(
        &[required("Any", "value"), required("Type", "type"), repeated("Any", "args")],
        convert_to,
    )
    .with_optional_block("Callable[1,1]")],
);

pub(super) static UNWRAP: Function = Function::typed(
    "unwrap",
    &[
        Dispatch::new(&[required("Sensitive", "arg")], unwrap).with_optional_block("Callable"),
        Dispatch::new(&[required("Any", "arg")], unwrap).with_optional_block("Callable"),
    ],
)
.passing_unknown();

pub(super) static CALL: Function = Function::typed(
    "call",
    &[
        Dispatch::new(&[required("String", "function_name"), repeated("Any", "arguments")], call)
            .with_optional_block("Callable"),
        Dispatch::new(&[required("Deferred", "deferred")], call_deferred),
    ],
)
.passing_unknown();

fn assert_type(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Stop> {
    context.refuse_unknown(&arguments[0])?;
    let (Some(of), value) = (arguments[0].as_type(), &arguments[1]) else { return Ok(arguments[1].clone()) };
    if matches!(value.data, Data::Opaque(_)) || of.is_instance(value) {
        return Ok(value.clone());
    }
    let actual = infer_set(value);
    if context.block().is_some() {
        return context.call_block(vec![arguments[0].clone(), Value::from(actual).made_of(value.prov)]);
    }
    Err(context.fail(describe_mismatch("assert_type():", of, &actual)))
}

/// `Type.new`, or `Type(…)`.
pub(super) fn instance(context: &mut Context<'_, '_>, of: &Type, arguments: &[Value]) -> Result<Value, Stop> {
    let span = context.span();
    let host = &mut *context.host;
    let mut parse = |text: &str| match host.parse_type(text, span) {
        Ok(value) => value
            .as_type()
            .cloned()
            .ok_or_else(|| ValueError::new(format!("'{text}' does not name a data type"))),
        Err(Stop::Error(failure)) => Err(ValueError::new(failure.kind.message())),
        Err(_) => Err(ValueError::new(format!("'{text}' does not name a data type"))),
    };
    let result = new_instance(of, arguments, &mut parse);
    context.checked(result)
}

fn new(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Stop> {
    let Some(of) = arguments[0].as_type() else { return Ok(Value::UNDEF) };
    let result = instance(context, of, &arguments[1..])?;
    if context.block().is_some() { context.call_block(vec![result]) } else { Ok(result) }
}

fn convert_to(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Stop> {
    let Some(of) = arguments[1].as_type() else { return Ok(Value::UNDEF) };
    let given: Vec<Value> = std::iter::once(&arguments[0]).chain(&arguments[2..]).cloned().collect();
    let result = instance(context, of, &given)?;
    if context.block().is_some() { context.call_block(vec![result]) } else { Ok(result) }
}

fn unwrap(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Stop> {
    let inner = match &arguments[0].data {
        Data::Sensitive(inner) => inner.as_ref().clone(),
        _ => arguments[0].clone(),
    };
    if context.block().is_some() { context.call_block(vec![inner]) } else { Ok(inner) }
}

fn call(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Stop> {
    let name = arguments[0].as_str().unwrap_or_default();
    if !context.host.has_function(name) {
        return Err(context.fail(format!("Unknown function '{name}'")));
    }
    let name = name.into();
    let (block, span) = (context.block(), context.span());
    context.host.call_function(Call { name, arguments: arguments[1..].to_vec(), block, span })
}

/// What the agent would do with a deferred call; `$name` with a path is a variable.
fn call_deferred(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Stop> {
    let Data::Deferred(deferred) = &arguments[0].data else { return Ok(Value::UNDEF) };
    let mut given = Vec::with_capacity(deferred.arguments.len());
    for argument in &deferred.arguments {
        given.push(match argument.data {
            Data::Deferred(_) => call_deferred(context, std::slice::from_ref(argument))?,
            _ => argument.clone(),
        });
    }
    match deferred.name.strip_prefix('$') {
        Some(name) => {
            let value = context.host.variable(name).unwrap_or(Value::UNDEF);
            if given.is_empty() {
                return Ok(value);
            }
            given.insert(0, value);
            context.call_function("dig", given)
        }
        None => context.call_function(&deferred.name, given),
    }
}
