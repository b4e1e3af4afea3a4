//! stdlib's conversions between truth, numbers and text, and its picks.

use setpoint_puppet_values::{Data, Value};

use super::arguments::Arguments;
use super::collections::to_i;
use crate::Stop;
use crate::context::Context;
use crate::function::Function;
use crate::ruby::{numbers, text};

pub(super) static ANY2BOOL: Function = Function::counted("any2bool", -1, any2bool);
pub(super) static BOOL2NUM: Function = Function::counted("bool2num", -1, bool2num);
pub(super) static BOOL2STR: Function = Function::counted("bool2str", -1, bool2str);
pub(super) static CONVERT_BASE: Function = Function::counted("convert_base", 2, convert_base);
pub(super) static NUM2BOOL: Function = Function::counted("num2bool", -1, num2bool);
pub(super) static PICK: Function = Function::counted("pick", -1, pick);
pub(super) static PICK_DEFAULT: Function = Function::counted("pick_default", -1, pick_default);
pub(super) static STR2BOOL: Function = Function::counted("str2bool", -1, str2bool);
pub(super) static TO_BYTES: Function = Function::counted("to_bytes", -1, to_bytes);
pub(super) static TYPE3X: Function = Function::counted("type3x", -1, type3x);

type Result<T> = std::result::Result<T, Stop>;

/// What `str2bool` makes of a value.
pub(crate) fn to_bool(context: &Context<'_, '_>, value: &Value) -> Result<bool> {
    let text = match &value.data {
        Data::Bool(flag) => return Ok(*flag),
        Data::String(text) => text,
        _ => return Err(context.fail("str2bool(): Requires string to work with")),
    };
    match text.to_ascii_lowercase().as_str() {
        "1" | "t" | "y" | "true" | "yes" => Ok(true),
        "" | "0" | "f" | "n" | "false" | "no" => Ok(false),
        _ if matches!(&**text, "undef" | "undefined") => Ok(false),
        _ => Err(context.fail("str2bool(): Unknown type of boolean given")),
    }
}

fn str2bool(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    match arguments.first() {
        Some(value) => to_bool(context, value).map(Value::from),
        None => Err(context.wrong_count(arguments, "1")),
    }
}

fn bool2num(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    match arguments.first() {
        Some(value) => Ok(Value::from(i64::from(to_bool(context, value)?))),
        None => Err(context.wrong_count(arguments, "1")),
    }
}

fn number_is_positive(context: &Context<'_, '_>, value: &Value) -> Result<bool> {
    match &value.data {
        Data::Integer(number) => Ok(*number > 0),
        Data::Float(number) => Ok(number.trunc() > 0.0),
        Data::String(given) => match numbers::parse_float(given) {
            Some(number) => Ok(number.trunc() > 0.0),
            None => Err(context.fail(format!(
                "num2bool(): '{given}' does not look like a number: invalid value for Float(): {}",
                text::inspect(value)
            ))),
        },
        _ => Ok(numbers::leading_integer(&text::to_s(value)) > 0),
    }
}

fn num2bool(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    match arguments {
        [value] => number_is_positive(context, value).map(Value::from),
        _ => Err(context.wrong_count(arguments, "1")),
    }
}

fn any2bool(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    let Some(value) = arguments.first() else { return Err(context.wrong_count(arguments, "1")) };
    let truth = match &value.data {
        Data::Bool(flag) => *flag,
        Data::Undef => false,
        Data::Integer(_) | Data::Float(_) => number_is_positive(context, value)?,
        Data::String(text) if numbers::parse_float(text).is_some() => number_is_positive(context, value)?,
        Data::String(_) => to_bool(context, value)?,
        _ => true,
    };
    Ok(Value::from(truth))
}

fn bool2str(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    if arguments.len() != 1 && arguments.len() != 3 {
        return Err(context.wrong_count(arguments, "3"));
    }
    let Data::Bool(flag) = arguments[0].data else {
        return Err(context.fail("bool2str(): Requires a boolean to work with"));
    };
    let word = |at: usize, usual: &str| {
        arguments.get(at).filter(|word| word.is_true()).cloned().unwrap_or_else(|| Value::from(usual))
    };
    let (yes, no) = (word(1, "true"), word(2, "false"));
    if yes.as_str().is_none() || no.as_str().is_none() {
        return Err(context.fail("bool2str(): Requires strings to convert to"));
    }
    Ok(if flag { yes } else { no })
}

fn convert_base(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    for (value, which) in arguments.iter().zip(["First", "Second"]) {
        match &value.data {
            Data::Integer(_) => {}
            Data::String(text) if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) => {}
            Data::String(_) => {
                return Err(context.fail(
                    "convert_base(): First argument must be an integer or a string corresponding to an integer in base 10",
                ));
            }
            _ => {
                return Err(context.fail(format!(
                    "convert_base(): {which} argument must be either a string or an integer"
                )));
            }
        }
    }
    let (number, base) = (to_i(&arguments[0]), to_i(&arguments[1]));
    let Some(base) = u32::try_from(base).ok().filter(|base| (2..=36).contains(base)) else {
        return Err(context.fail("convert_base(): base must be at least 2 and must not be greater than 36"));
    };
    let mut rest = number.unsigned_abs();
    let mut digits = Vec::new();
    loop {
        digits.extend(char::from_digit((rest % u64::from(base)) as u32, base));
        rest /= u64::from(base);
        if rest == 0 {
            break;
        }
    }
    let sign = if number < 0 { "-" } else { "" };
    Ok(Value::from(format!("{sign}{}", digits.iter().rev().collect::<String>())))
}

/// What `pick` passes over.
fn is_missing(value: &Value) -> bool {
    value.is_undef() || value.as_str() == Some("")
}

fn pick(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    arguments
        .iter()
        .find(|value| !is_missing(value))
        .cloned()
        .ok_or_else(|| context.fail("pick(): must receive at least one non empty value"))
}

fn pick_default(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    let Some((default, others)) = arguments.split_last() else {
        return Err(context.fail("Must receive at least one argument."));
    };
    Ok(others.iter().find(|value| !is_missing(value)).unwrap_or(default).clone())
}

fn to_bytes(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    let [size] = arguments else { return Err(context.wrong_count(arguments, "1")) };
    let Some(given) = size.as_str() else {
        return match size.data {
            Data::Integer(_) | Data::Float(_) => Ok(size.clone()),
            _ => Err(context.fail(text::no_conversion(size, "String"))),
        };
    };
    let end = given
        .find(|letter: char| !(letter.is_ascii_digit() || matches!(letter, '.' | 'e' | '+' | '-')))
        .unwrap_or(given.len());
    let number = numbers::leading_float(&given[..end]);
    let prefix = given[end..].trim_start().chars().next().filter(|letter| !matches!(letter, 'b' | 'B'));
    let power = match prefix {
        None => 0,
        Some('k') => 10,
        Some('M') => 20,
        Some('G') => 30,
        Some('T') => 40,
        Some('P') => 50,
        Some('E') => 60,
        Some(other) => return Err(context.fail(format!("to_bytes(): Unknown prefix {other}"))),
    };
    Ok(Value::from((number * (1_u64 << power) as f64) as i64))
}

fn type3x(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    let [value] = arguments else { return Err(context.wrong_count(arguments, "1")) };
    let name = match &value.data {
        Data::Bool(_) => "boolean",
        Data::Integer(_) => "integer",
        Data::Float(_) => "float",
        Data::Array(_) => "array",
        Data::Hash(_) => "hash",
        Data::String(given) => {
            if numbers::leading_integer(given).to_string() == **given {
                "integer"
            } else if numbers::float_to_s(numbers::leading_float(given)) == **given {
                "float"
            } else {
                "string"
            }
        }
        _ => return Err(context.fail("type3x(): Unknown type")),
    };
    Ok(Value::from(name))
}
