//! `Integer.new`, `Float.new` and `Numeric.new`.

use std::sync::LazyLock;

use super::constructor::{Constructor, cannot_convert};
use crate::error::ValueError;
use crate::number::{Number, parse_number};
use crate::ruby::numbers::{parse_float, parse_integer, parse_integer_in};
use crate::ruby::text::{inspect_text, to_s};
use crate::types::{Type, assert_instance};
use crate::value::{Data, Key, Value};

const INTEGER_CONVERTIBLE: &str = r"Variant[Numeric, Boolean, Pattern[/\A[+-]?\s*(?:(?:\d+)|(?:0[xX][0-9A-Fa-f]+)|(?:0[bB][01]+))\z/], Timespan, Timestamp]";
const FLOAT_CONVERTIBLE: &str = r"Variant[Numeric, Boolean, Pattern[/\A[+-]?\s*(?:(?:(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE]-?\d+)?)|(?:0[xX][0-9A-Fa-f]+)|(?:0[0-7]+)|(?:0[bB][01]+))\z/], Timespan, Timestamp]";
const NUMERIC_CONVERTIBLE: &str = r"Variant[Integer, Float, Boolean, Pattern[/\A[+-]?\s*(?:(?:(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE]-?\d+)?)|(?:0[xX][0-9A-Fa-f]+)|(?:0[0-7]+)|(?:0[bB][01]+))\z/], Timespan, Timestamp]";
const RADIX: &str = "Variant[Default, Integer[2,2], Integer[8,8], Integer[10,10], Integer[16,16]]";
const INTEGER_NAMED: &str =
    "Struct[{from => Convertible, Optional[radix] => Radix, Optional[abs] => Boolean}]";
const NAMED: &str = "Struct[{from => Convertible, Optional[abs] => Boolean}]";

pub(super) static INTEGER: LazyLock<Constructor> = LazyLock::new(|| {
    Constructor::new(
        "new",
        &[("Radix", RADIX), ("Convertible", INTEGER_CONVERTIBLE), ("NamedArgs", INTEGER_NAMED)],
        &[
            ("Convertible from, Radix radix?, Boolean abs?", |arguments| {
                integer(argument(arguments, 0), arguments.get(1), arguments.get(2))
            }),
            ("NamedArgs hash_args", |arguments| {
                let get = |name| named(arguments, name);
                integer(&get("from").unwrap_or(Value::UNDEF), get("radix").as_ref(), get("abs").as_ref())
            }),
        ],
        &[
            ("Hash hash_args", refuse_integer_hash),
            ("Any from, Integer radix?, Boolean abs?", |arguments| {
                match arguments.get(1).and_then(Value::as_integer) {
                    Some(radix) if ![2, 8, 10, 16].contains(&radix) => illegal_radix(&arguments[1]),
                    _ => cannot_convert("new", "Integer", argument(arguments, 0)),
                }
            }),
        ],
    )
});

pub(super) static FLOAT: LazyLock<Constructor> = LazyLock::new(|| {
    Constructor::new(
        "new_float",
        &[("Convertible", FLOAT_CONVERTIBLE), ("NamedArgs", NAMED)],
        &[
            ("Convertible from, Boolean abs?", |arguments| float(argument(arguments, 0), arguments.get(1))),
            ("NamedArgs hash_args", |arguments| {
                float(&named(arguments, "from").unwrap_or(Value::UNDEF), named(arguments, "abs").as_ref())
            }),
        ],
        &[("Any from, Boolean abs?", |arguments| {
            cannot_convert("new_float", "Float", argument(arguments, 0))
        })],
    )
});

pub(super) static NUMERIC: LazyLock<Constructor> = LazyLock::new(|| {
    Constructor::new(
        "new_numeric",
        &[("Convertible", NUMERIC_CONVERTIBLE), ("NamedArgs", NAMED)],
        &[
            ("Convertible from, Boolean abs?", |arguments| numeric(argument(arguments, 0), arguments.get(1))),
            ("NamedArgs hash_args", |arguments| {
                numeric(&named(arguments, "from").unwrap_or(Value::UNDEF), named(arguments, "abs").as_ref())
            }),
        ],
        &[("Any from, Boolean abs?", |arguments| {
            cannot_convert("new_numeric", "Numeric", argument(arguments, 0))
        })],
    )
});

fn argument(arguments: &[Value], index: usize) -> &Value {
    arguments.get(index).unwrap_or(&Value::UNDEF)
}

fn named(arguments: &[Value], name: &str) -> Option<Value> {
    arguments.first().and_then(Value::as_hash).and_then(|entries| entries.get(&Key::from(name))).cloned()
}

fn illegal_radix(radix: &Value) -> ValueError {
    let shown = to_s(radix);
    ValueError::new(format!("Illegal radix: {shown}, expected 2, 8, 10, 16, or default"))
}

fn refuse_integer_hash(arguments: &[Value]) -> ValueError {
    if let Some(from) = named(arguments, "from") {
        let convertible = INTEGER.signatures().first().and_then(|signature| {
            signature.callable.parameters.as_ref().and_then(|parameters| parameters.types.first().cloned())
        });
        if convertible.is_some_and(|of| !of.is_instance(&from)) {
            return cannot_convert("new", "Integer", &from);
        }
    }
    if let Some(radix) = named(arguments, "radix")
        && !matches!(radix.data, Data::Undef | Data::Default)
        && !matches!(radix.data, Data::Integer(2 | 8 | 10 | 16))
    {
        return illegal_radix(&radix);
    }
    let expected = INTEGER.signatures().get(1).and_then(|signature| {
        signature.callable.parameters.as_ref().and_then(|parameters| parameters.types.first().cloned())
    });
    match assert_instance("Integer.new", &expected.unwrap_or(Type::Any), argument(arguments, 0)) {
        Err(error) => error,
        Ok(()) => cannot_convert("new", "Integer", argument(arguments, 0)),
    }
}

fn is_set(flag: Option<&Value>) -> bool {
    flag.is_some_and(|flag| matches!(flag.data, Data::Bool(true)))
}

fn from_integer(number: i128, shown: &Value) -> Result<Value, ValueError> {
    i64::try_from(number).map(|number| Value::new(Data::Integer(number)).made_of(shown.prov)).map_err(|_| {
        ValueError::new(format!("The value '{}' lies outside of the range of integers", to_s(shown)))
    })
}

/// Without the blanks between a sign and the number.
fn joined_sign(text: &str) -> Option<String> {
    let sign = text.chars().next().filter(|sign| matches!(sign, '+' | '-'))?;
    let rest = &text[1..];
    let trimmed = rest.trim_start_matches([' ', '\t']);
    (trimmed.len() < rest.len()).then(|| format!("{sign}{trimmed}"))
}

fn integer(from: &Value, radix: Option<&Value>, abs: Option<&Value>) -> Result<Value, ValueError> {
    let number = match &from.data {
        Data::Integer(number) => i128::from(*number),
        Data::Float(number) if number.is_finite() => number.trunc() as i128,
        Data::Float(number) => return Err(ValueError::new(crate::ruby::numbers::float_to_s(*number))),
        Data::Bool(value) => i128::from(*value),
        Data::Timestamp(time) => i128::from(time.seconds()),
        Data::Timespan(span) => i128::from(span.seconds()),
        Data::String(text) => {
            let radix = radix.and_then(Value::as_integer).and_then(|radix| u32::try_from(radix).ok());
            let parse = |text: &str| parse_integer_in(text, radix);
            parse(text).or_else(|| joined_sign(text).and_then(|text| parse(&text))).ok_or_else(|| {
                ValueError::new(format!("invalid value for Integer(): {}", inspect_text(text)))
            })?
        }
        _ => return Err(cannot_convert("new", "Integer", from)),
    };
    from_integer(if is_set(abs) { number.abs() } else { number }, from)
}

fn float(from: &Value, abs: Option<&Value>) -> Result<Value, ValueError> {
    let number = match &from.data {
        Data::Integer(number) => *number as f64,
        Data::Float(number) => *number,
        Data::Bool(value) => f64::from(u8::from(*value)),
        Data::Timestamp(time) => time.as_seconds(),
        Data::Timespan(span) => span.as_seconds(),
        Data::String(text) => {
            let parse = |text: &str| {
                let binary = text.get(..2).is_some_and(|prefix| prefix.eq_ignore_ascii_case("0b"));
                if binary { parse_integer(text).map(|number| number as f64) } else { parse_float(text) }
            };
            parse(text).or_else(|| joined_sign(text).and_then(|text| parse(&text))).ok_or_else(|| {
                ValueError::new(format!("invalid value for Float(): {}", inspect_text(text)))
            })?
        }
        _ => return Err(cannot_convert("new_float", "Float", from)),
    };
    Ok(Value::new(Data::Float(if is_set(abs) { number.abs() } else { number })).made_of(from.prov))
}

fn numeric(from: &Value, abs: Option<&Value>) -> Result<Value, ValueError> {
    let abs = is_set(abs);
    match &from.data {
        Data::Integer(number) => {
            let number = i128::from(*number);
            from_integer(if abs { number.abs() } else { number }, from)
        }
        Data::Float(number) => {
            Ok(Value::new(Data::Float(if abs { number.abs() } else { *number })).made_of(from.prov))
        }
        Data::Bool(value) => Ok(Value::new(Data::Integer(i64::from(*value))).made_of(from.prov)),
        Data::Timestamp(_) | Data::Timespan(_) => float(from, Some(&Value::from(abs))),
        Data::String(text) => {
            let prefixed = text
                .get(..2)
                .is_some_and(|prefix| prefix.eq_ignore_ascii_case("0b") || prefix.eq_ignore_ascii_case("0x"));
            let number = if prefixed { parse_integer(text).map(Number::Integer) } else { parse_number(text) };
            match number {
                Some(Number::Integer(number)) => from_integer(if abs { number.abs() } else { number }, from),
                Some(Number::Float(number)) => {
                    Ok(Value::new(Data::Float(if abs { number.abs() } else { number })).made_of(from.prov))
                }
                // Puppet's own conversion gives nothing here, which is no number.
                None => Ok(Value::UNDEF),
            }
        }
        _ => Err(cannot_convert("new_numeric", "Numeric", from)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_signatures_are_read() {
        assert!(INTEGER.is_whole(2, 2));
        assert!(FLOAT.is_whole(2, 1));
        assert!(NUMERIC.is_whole(2, 1));
    }
}
