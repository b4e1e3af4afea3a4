//! Functions over numbers, and comparisons.

use std::cmp::Ordering;

use setpoint_puppet_values::label::label;
use setpoint_puppet_values::{Data, Value};

use crate::Stop;
use crate::context::Context;
use crate::function::{Dispatch, Function, optional, repeated, required};
use crate::ruby::{self, numbers};

pub(super) static ABS: Function = Function::typed(
    "abs",
    &[
        Dispatch::new(&[required("Numeric", "val")], abs),
        Dispatch::new(&[required("String", "val")], abs_text),
    ],
);
pub(super) static CEILING: Function = Function::typed(
    "ceiling",
    &[
        Dispatch::new(&[required("Numeric", "val")], |context, arguments| {
            whole(context, &arguments[0], f64::ceil)
        }),
        Dispatch::new(&[required("String", "val")], |context, arguments| {
            whole_text(context, arguments, f64::ceil)
        }),
    ],
);
pub(super) static FLOOR: Function = Function::typed(
    "floor",
    &[
        Dispatch::new(&[required("Numeric", "val")], |context, arguments| {
            whole(context, &arguments[0], f64::floor)
        }),
        Dispatch::new(&[required("String", "val")], |context, arguments| {
            whole_text(context, arguments, f64::floor)
        }),
    ],
);
pub(super) static ROUND: Function =
    Function::typed("round", &[Dispatch::new(&[required("Numeric", "val")], round)]);
pub(super) static COMPARE: Function = Function::typed(
    "compare",
    &[
        Dispatch::new(&[required("Numeric", "a"), required("Numeric", "b")], compare),
        Dispatch::new(&[required("String", "a"), required("String", "b"), optional("Boolean", "ignore_case")], compare_text),
        Dispatch::new(&[required("SemVer", "a"), required("SemVer", "b")], compare),
        Dispatch::new(&[required("Numeric", "a"), required("Variant[Timespan, Timestamp]", "b")], |context, arguments| {
            let turned = [arguments[1].clone(), arguments[0].clone()];
            ordered(context, &turned).map(|order| sign(order.reverse()))
        }),
        Dispatch::new(&[required("Timestamp", "a"), required("Variant[Timestamp, Numeric]", "b")], compare),
        Dispatch::new(&[required("Timespan", "a"), required("Variant[Timespan, Numeric]", "b")], compare),
        Dispatch::new(
            &[
                required("Variant[String, SemVer, Numeric, Timespan, Timestamp]", "a"),
                required("Variant[String, SemVer, Numeric, Timespan, Timestamp]", "b"),
                repeated("Any", "ignore_case"),
            ],
            refuse_comparison,
        )
        .refusing(),
        Dispatch::new(&[required("Any", "a"), required("Any", "b"), repeated("Any", "ignore_case")], |context, arguments| {
            Err(context.fail(format!(
                "compare(): Non comparable type. Only values of the types Numeric, String, Semver, Timestamp and \
                 Timestamp can be compared. Got {} and {}",
                label(&arguments[0]),
                label(&arguments[1])
            )))
        })
        .refusing(),
    ],
);

/// The seven signatures of `max` and `min`.
macro_rules! extreme {
    ($name:literal, $wanted:expr) => {
        Function::typed(
            $name,
            &[
                Dispatch::new(&[repeated("Numeric", "values")], |context, arguments| {
                    extreme(context, arguments, $wanted, Coercion::None)
                }),
                Dispatch::new(&[repeated("String", "values")], |context, arguments| {
                    extreme(context, arguments, $wanted, Coercion::Numbers)
                }),
                Dispatch::new(&[required("Array[Numeric]", "values")], |context, arguments| {
                    extreme(context, inner(arguments), $wanted, Coercion::None)
                })
                .with_optional_block("Callable[2,2]"),
                Dispatch::new(&[required("Array[String]", "values")], |context, arguments| {
                    extreme(context, inner(arguments), $wanted, Coercion::Numbers)
                })
                .with_optional_block("Callable[2,2]"),
                Dispatch::new(&[required("Array", "values")], |context, arguments| {
                    extreme(context, inner(arguments), $wanted, Coercion::Any)
                })
                .with_optional_block("Callable[2,2]"),
                Dispatch::new(&[repeated("Any", "values")], |context, arguments| {
                    extreme(context, arguments, $wanted, Coercion::Any)
                })
                .with_block("Callable[2,2]"),
                Dispatch::new(&[repeated("Any", "values")], |context, arguments| {
                    extreme(context, arguments, $wanted, Coercion::Any)
                }),
            ],
        )
    };
}

pub(super) static MAX: Function = extreme!("max", Ordering::Greater);
pub(super) static MIN: Function = extreme!("min", Ordering::Less);

fn abs(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Stop> {
    match arguments[0].data {
        Data::Integer(number) => match number.checked_abs() {
            Some(number) => Ok(Value::from(number)),
            None => Err(too_large(context)),
        },
        Data::Float(number) => Ok(Value::from(number.abs())),
        _ => Ok(arguments[0].clone()),
    }
}

fn too_large(context: &Context<'_, '_>) -> Stop {
    context.fail(format!("The result of {}() is larger than an integer can be", context.call.name))
}

fn abs_text(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Stop> {
    context.warn_once(
        "abs_function_numeric_coerce_string",
        "The abs() function's auto conversion of String to Numeric is deprecated - change to convert input before calling",
    );
    let text = arguments[0].as_str().unwrap_or_default();
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    if unsigned.split_once('.').is_some_and(|(before, after)| digits(before) && digits(after)) {
        return Ok(Value::from(numbers::leading_float(text).abs()));
    }
    if digits(unsigned) {
        let number = i64::try_from(numbers::leading_integer(unsigned)).map_err(|_| too_large(context))?;
        return Ok(Value::from(number));
    }
    Err(context.fail("abs(): Requires float or integer to work with - was given non decimal string"))
}

fn whole(context: &Context<'_, '_>, value: &Value, rounded: fn(f64) -> f64) -> Result<Value, Stop> {
    match value.data {
        Data::Float(number) => integer_of(context, rounded(number)),
        _ => Ok(value.clone()),
    }
}

/// A float without fraction as an integer.
fn integer_of(context: &Context<'_, '_>, number: f64) -> Result<Value, Stop> {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if !number.is_finite() {
        return Err(context.fail(numbers::float_to_s(number)));
    }
    if !(-LIMIT..LIMIT).contains(&number) {
        return Err(too_large(context));
    }
    Ok(Value::from(number as i64))
}

fn whole_text(
    context: &mut Context<'_, '_>,
    arguments: &[Value],
    rounded: fn(f64) -> f64,
) -> Result<Value, Stop> {
    let name = context.call.name;
    context.warn_once(
        &format!("{name}_function_numeric_coerce_string"),
        &format!(
            "The {name}() function's auto conversion of String to Float is deprecated - change to convert input before calling"
        ),
    );
    match numbers::parse_float(arguments[0].as_str().unwrap_or_default()) {
        Some(number) => integer_of(context, rounded(number)),
        None => Err(context.fail(format!("{name}(): cannot convert given value to a floating point value."))),
    }
}

fn round(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Stop> {
    let Data::Float(number) = arguments[0].data else { return Ok(arguments[0].clone()) };
    integer_of(context, if number > 0.0 { (number + 0.5).trunc() } else { (number - 0.5).trunc() })
}

fn sign(order: Ordering) -> Value {
    Value::from(order as i64)
}

fn ordered(context: &Context<'_, '_>, arguments: &[Value]) -> Result<Ordering, Stop> {
    let [a, b, ..] = arguments else { return Ok(Ordering::Equal) };
    ruby::compare(a, b).ok_or_else(|| context.fail(ruby::comparison_failed(a, b)))
}

fn compare(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Stop> {
    ordered(context, arguments).map(sign)
}

fn compare_text(_: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Stop> {
    let text = |at: usize| arguments.get(at).and_then(Value::as_str).unwrap_or_default();
    if arguments.get(2).is_none_or(Value::is_true) {
        // Ruby's casecmp folds the letters of ASCII only.
        return Ok(sign(
            text(0).to_ascii_lowercase().as_bytes().cmp(text(1).to_ascii_lowercase().as_bytes()),
        ));
    }
    Ok(sign(text(0).as_bytes().cmp(text(1).as_bytes())))
}

fn refuse_comparison(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Stop> {
    let (a, b, more) = (&arguments[0], &arguments[1], &arguments[2..]);
    let message = if !more.is_empty() && (a.as_str().is_none() || b.as_str().is_none()) {
        "compare(): The third argument (ignore case) can only be used when comparing strings".to_owned()
    } else if more.len() > 1 {
        format!("compare(): Accepts at most 3 arguments, got {}", 2 + more.len())
    } else if let [ignore_case] = more {
        format!("compare(): The third argument (ignore case) must be a Boolean. Got {}", label(ignore_case))
    } else {
        format!(
            "compare(): Can only compare values of the same type (or for Timestamp/Timespan also against Numeric). Got {} and {}",
            label(a),
            label(b)
        )
    };
    Err(context.fail(message))
}

/// What `max` and `min` do to make values comparable.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Coercion {
    None,
    /// Texts that look like numbers are compared as such.
    Numbers,
    /// So, and all else as text.
    Any,
}

fn inner(arguments: &[Value]) -> &[Value] {
    arguments.first().and_then(Value::as_array).unwrap_or_default()
}

fn extreme(
    context: &mut Context<'_, '_>,
    values: &[Value],
    wanted: Ordering,
    coercion: Coercion,
) -> Result<Value, Stop> {
    let name = context.call.name;
    let Some((first, rest)) = values.split_first() else {
        if context.block().is_some() {
            return Ok(Value::UNDEF);
        }
        return Err(context.fail(format!("{name}(): Wrong number of arguments need at least one")));
    };
    let mut best = first;
    for value in rest {
        if order_of(context, value, best, coercion)? == wanted {
            best = value;
        }
    }
    Ok(best.clone())
}

fn order_of(
    context: &mut Context<'_, '_>,
    a: &Value,
    b: &Value,
    coercion: Coercion,
) -> Result<Ordering, Stop> {
    if context.block().is_some() {
        let answer = context.ask_block(vec![a.clone(), b.clone()])?;
        return ruby::as_ordering(&answer, a, b).map_err(|message| context.fail(message));
    }
    if coercion == Coercion::None {
        return ordered(context, &[a.clone(), b.clone()]);
    }
    let name = context.call.name;
    let (x, y) = (ruby::text::to_s(a), ruby::text::to_s(b));
    let order = if looks_numeric(&x) && looks_numeric(&y) {
        context.warn_once(
            &format!("{name}_function_numeric_coerce_string"),
            &format!(
                "The {name}() function's auto conversion of String to Numeric is deprecated - change to convert input \
                 before calling, or use lambda"
            ),
        );
        numbers::leading_float(&x).partial_cmp(&numbers::leading_float(&y)).unwrap_or(Ordering::Equal)
    } else {
        if coercion == Coercion::Any {
            context.warn_once(
                &format!("{name}_function_string_coerce_any"),
                &format!(
                    "The {name}() function's auto conversion of Any to String is deprecated - change to convert input \
                     before calling, or use lambda"
                ),
            );
        }
        x.as_bytes().cmp(y.as_bytes())
    };
    Ok(order)
}

/// `-?\d+([._eE]\d+)?`
fn looks_numeric(text: &str) -> bool {
    let text = text.strip_prefix('-').unwrap_or(text);
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.split_once(['.', '_', 'e', 'E']) {
        Some((before, after)) => digits(before) && digits(after),
        None => digits(text),
    }
}
