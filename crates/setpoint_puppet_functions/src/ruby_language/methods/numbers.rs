//! Methods of numbers.

use super::enumerable::{compared, enumerator, order};
use super::{Given, MOST, integer_of};
use crate::ruby_language::interpreter::{
    Interpreter, Result, argument_error, beyond, limit, raise, type_error,
};
use crate::ruby_language::things::{MAX_INTEGER, Thing};

fn float(thing: &Thing) -> Option<f64> {
    match thing {
        Thing::Integer(number) => Some(*number as f64),
        Thing::Float(number) => Some(*number),
        _ => None,
    }
}

pub(super) fn from_float(number: f64) -> Result<Thing> {
    if number.is_nan() {
        return raise("FloatDomainError", "NaN");
    }
    if number.is_infinite() {
        return raise("FloatDomainError", if number > 0.0 { "Infinity" } else { "-Infinity" });
    }
    bounded(number as i128)
}

const TOO_LARGE: &str = "a number is too large";

/// An integer that may be computed with.
pub(super) fn bounded(number: i128) -> Result<Thing> {
    if (-MAX_INTEGER..=MAX_INTEGER).contains(&number) {
        Ok(Thing::Integer(number))
    } else {
        beyond(TOO_LARGE)
    }
}

#[expect(clippy::too_many_lines, reason = "one arm for each method")]
pub(super) fn number(
    interpreter: &mut Interpreter<'_, '_, '_>,
    receiver: &Thing,
    given: &Given<'_>,
) -> Result<Option<Thing>> {
    let own = float(receiver).unwrap_or_default();
    Ok(Some(match (receiver, given.name, given.arguments) {
        (Thing::Integer(_), "to_i" | "to_int" | "truncate" | "ord" | "numerator", _) => receiver.clone(),
        (Thing::Float(number), "to_i" | "to_int" | "truncate", []) => from_float(number.trunc())?,
        (_, "to_f", []) => Thing::Float(own),
        (_, "to_c" | "to_r" | "rationalize", _) => return beyond("it makes a fraction"),
        (Thing::Integer(number), "times", []) => {
            let Some(block) = given.block else { return Ok(Some(enumerator(receiver, given))) };
            for at in 0..*number {
                interpreter.call_block(block, vec![Thing::Integer(at)])?;
            }
            receiver.clone()
        }
        (Thing::Integer(from), "upto" | "downto", [end]) => {
            let Some(block) = given.block else { return Ok(Some(enumerator(receiver, given))) };
            let end = integer_of(end)?;
            let mut at = *from;
            while if given.name == "upto" { at <= end } else { at >= end } {
                interpreter.call_block(block, vec![Thing::Integer(at)])?;
                at += if given.name == "upto" { 1 } else { -1 };
            }
            receiver.clone()
        }
        (Thing::Integer(from), "step", [Thing::Integer(end), Thing::Integer(by)]) => {
            let Some(block) = given.block else { return Ok(Some(enumerator(receiver, given))) };
            if *by == 0 {
                return argument_error("step can't be 0");
            }
            let mut at = *from;
            while if *by > 0 { at <= *end } else { at >= *end } {
                interpreter.call_block(block, vec![Thing::Integer(at)])?;
                at += by;
            }
            receiver.clone()
        }
        (_, "zero?", []) => Thing::Bool(own == 0.0),
        (_, "nonzero?", []) => {
            if own == 0.0 {
                Thing::Nil
            } else {
                receiver.clone()
            }
        }
        (_, "positive?", []) => Thing::Bool(own > 0.0),
        (_, "negative?", []) => Thing::Bool(own < 0.0),
        (Thing::Integer(number), "even?", []) => Thing::Bool(number % 2 == 0),
        (Thing::Integer(number), "odd?", []) => Thing::Bool(number % 2 != 0),
        (Thing::Integer(number), "succ" | "next", []) => Thing::Integer(number + 1),
        (Thing::Integer(number), "pred", []) => Thing::Integer(number - 1),
        (Thing::Integer(number), "abs" | "magnitude", []) => Thing::Integer(number.abs()),
        (Thing::Float(number), "abs" | "magnitude", []) => Thing::Float(number.abs()),
        (Thing::Integer(_), "integer?" | "finite?", []) => Thing::Bool(true),
        (Thing::Integer(_), "nan?", []) => return Ok(None),
        (Thing::Integer(_), "infinite?", []) => Thing::Nil,
        (Thing::Float(_), "integer?", []) => Thing::Bool(false),
        (Thing::Float(number), "nan?", []) => Thing::Bool(number.is_nan()),
        (Thing::Float(number), "finite?", []) => Thing::Bool(number.is_finite()),
        (Thing::Float(number), "infinite?", []) => match number {
            number if number.is_infinite() => Thing::Integer(if *number > 0.0 { 1 } else { -1 }),
            _ => Thing::Nil,
        },
        (Thing::Integer(_), "floor" | "ceil" | "round", []) => receiver.clone(),
        (Thing::Integer(number), "floor" | "ceil" | "round", [Thing::Integer(places)]) => {
            if *places >= 0 {
                return Ok(Some(receiver.clone()));
            }
            let Some(unit) = u32::try_from(-places).ok().and_then(|power| 10_i128.checked_pow(power)) else {
                return Ok(Some(Thing::Integer(0)));
            };
            let down = number.div_euclid(unit) * unit;
            Thing::Integer(match given.name {
                "floor" => down,
                "ceil" if down == *number => down,
                "ceil" => down + unit,
                _ => {
                    let rest = number - down;
                    let up = rest > unit - rest || rest == unit - rest && *number >= 0;
                    if up { down + unit } else { down }
                }
            })
        }
        (Thing::Float(number), "floor", []) => from_float(number.floor())?,
        (Thing::Float(number), "ceil", []) => from_float(number.ceil())?,
        (Thing::Float(number), "round", []) => from_float(number.round())?,
        (Thing::Float(number), "truncate", [Thing::Integer(places)]) => {
            let name = if *number < 0.0 { "ceil" } else { "floor" };
            return crate::ruby_language::methods::call(
                interpreter,
                receiver,
                name,
                vec![Thing::Integer(*places)],
                None,
            )
            .map(Some);
        }
        (Thing::Float(number), "round" | "floor" | "ceil", [Thing::Integer(places)]) => {
            if *places <= 0 {
                let whole = match given.name {
                    "round" => number.round(),
                    "floor" => number.floor(),
                    _ => number.ceil(),
                };
                let whole = from_float(whole)?;
                return super::call(interpreter, &whole, given.name, vec![Thing::Integer(*places)], None)
                    .map(Some);
            }
            Thing::Float(rounded(*number, *places, given.name))
        }
        (Thing::Integer(number), "-@", []) => Thing::Integer(-number),
        (Thing::Float(number), "-@", []) => Thing::Float(-number),
        (_, "+@", []) => receiver.clone(),
        (Thing::Integer(number), "~", []) => Thing::Integer(!number),
        (Thing::Integer(a), "fdiv", [other]) => match float(other) {
            Some(b) => Thing::Float(*a as f64 / b),
            None => return type_error(format!("{} can't be coerced into Integer", super::kind(other))),
        },
        (Thing::Integer(a), "gcd", [Thing::Integer(b)]) => Thing::Integer(gcd(*a, *b)),
        (Thing::Integer(a), "lcm", [Thing::Integer(b)]) => {
            let divisor = gcd(*a, *b);
            if divisor == 0 { Thing::Integer(0) } else { integers((a / divisor).abs(), "*", b.abs())? }
        }
        (Thing::Integer(a), "pow", [Thing::Integer(b)]) => integers(*a, "**", *b)?,
        (Thing::Integer(a), "div", [Thing::Integer(b)]) => integers(*a, "/", *b)?,
        (Thing::Integer(a), "modulo", [Thing::Integer(b)]) => integers(*a, "%", *b)?,
        (Thing::Integer(a), "remainder", [Thing::Integer(b)]) if *b != 0 => Thing::Integer(a % b),
        (Thing::Integer(a), "divmod", [Thing::Integer(b)]) => {
            Thing::array(vec![integers(*a, "/", *b)?, integers(*a, "%", *b)?])
        }
        (Thing::Integer(a), "[]", [Thing::Integer(bit)]) => {
            let bit = u32::try_from(*bit).unwrap_or(127).min(127);
            Thing::Integer((a >> bit) & 1)
        }
        (Thing::Integer(a), "bit_length", []) => {
            let bits = if *a < 0 { 128 - (!a).leading_zeros() } else { 128 - a.leading_zeros() };
            Thing::Integer(i128::from(bits))
        }
        (
            Thing::Integer(a),
            "+" | "-" | "*" | "/" | "%" | "**" | "<<" | ">>" | "&" | "|" | "^",
            [Thing::Integer(b)],
        ) => integers(*a, given.name, *b)?,
        (_, "+" | "-" | "*" | "/" | "%" | "**" | "modulo" | "pow", [other]) => {
            let Some(b) = float(other) else {
                return type_error(format!(
                    "{} can't be coerced into {}",
                    super::kind(other),
                    receiver.class()
                ));
            };
            Thing::Float(match given.name {
                "+" => own + b,
                "-" => own - b,
                "*" => own * b,
                "/" => own / b,
                "%" | "modulo" => own - b * (own / b).floor(),
                _ => own.powf(b),
            })
        }
        (_, "<" | ">" | "<=" | ">=", [other]) => compared(receiver, given.name, other)?,
        (_, "between?", [low, high]) => {
            Thing::Bool(order(receiver, low)?.is_ge() && order(receiver, high)?.is_le())
        }
        (_, "clamp", [low, high]) => {
            if order(receiver, low)?.is_lt() {
                low.clone()
            } else if order(receiver, high)?.is_gt() {
                high.clone()
            } else {
                receiver.clone()
            }
        }
        (Thing::Integer(number), "to_s" | "inspect", [Thing::Integer(radix)]) => {
            let Some(radix) = u32::try_from(*radix).ok().filter(|radix| (2..=36).contains(radix)) else {
                return argument_error(format!("invalid radix {radix}"));
            };
            Thing::text(in_radix(*number, radix))
        }
        (Thing::Integer(number), "digits", []) => {
            let digits = number.to_string();
            Thing::array(
                digits
                    .chars()
                    .rev()
                    .filter_map(|digit| digit.to_digit(10))
                    .map(|digit| Thing::Integer(digit.into()))
                    .collect(),
            )
        }
        (Thing::Integer(number), "chr", _) => {
            match u32::try_from(*number)
                .ok()
                .filter(|code| *code < 128 || !given.arguments.is_empty())
                .and_then(char::from_u32)
            {
                Some(letter) => Thing::text(letter.to_string()),
                None => return beyond("it makes a letter of a number"),
            }
        }
        (Thing::Integer(_), "size", []) => Thing::Integer(8),
        (_, "coerce", [other]) => match float(other) {
            Some(other) => Thing::array(vec![Thing::Float(other), Thing::Float(own)]),
            None => return Ok(None),
        },
        (_, "step", _) => return beyond("it steps through numbers"),
        _ => return Ok(None),
    }))
}

fn rounded(number: f64, places: i128, how: &str) -> f64 {
    if places > 15 {
        return number;
    }
    let factor = 10_f64.powi(places as i32);
    let scaled = number * factor;
    let whole = match how {
        "floor" => scaled.floor(),
        "ceil" => scaled.ceil(),
        _ => {
            // Halves are decided by the number itself and not by its product.
            let near = scaled.round();
            if (scaled - scaled.trunc()).abs() == 0.5
                && (near / factor - number).abs() > (scaled.trunc() / factor - number).abs()
            {
                scaled.trunc()
            } else {
                near
            }
        }
    };
    whole / factor
}

fn in_radix(number: i128, radix: u32) -> String {
    let mut digits = Vec::new();
    let mut rest = number.unsigned_abs();
    loop {
        digits.push(char::from_digit((rest % u128::from(radix)) as u32, radix).unwrap_or('0'));
        rest /= u128::from(radix);
        if rest == 0 {
            break;
        }
    }
    if number < 0 {
        digits.push('-');
    }
    digits.into_iter().rev().collect()
}

fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.abs(), b.abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

fn integers(a: i128, name: &str, b: i128) -> Result<Thing> {
    let result = match name {
        "+" => a.checked_add(b),
        "-" => a.checked_sub(b),
        "*" => a.checked_mul(b),
        "/" | "%" if b == 0 => return raise("ZeroDivisionError", "divided by 0"),
        "/" => Some(a.div_euclid(b) - i128::from(b < 0 && a.rem_euclid(b) != 0)),
        "%" => Some(((a % b) + b) % b),
        "**" if b < 0 => return beyond("it makes a fraction"),
        "**" => u32::try_from(b).ok().and_then(|power| a.checked_pow(power)),
        "<<" | ">>" => {
            let left = if name == "<<" { b } else { -b };
            if left >= 0 {
                u32::try_from(left).ok().filter(|by| *by < 126).and_then(|by| a.checked_mul(1 << by))
            } else {
                Some(a >> left.unsigned_abs().min(127))
            }
        }
        "&" => Some(a & b),
        "^" => Some(a ^ b),
        _ => Some(a | b),
    };
    match result {
        Some(number) => bounded(number),
        None => beyond(TOO_LARGE),
    }
}

/// A count of repetitions that is not too large.
pub(super) fn repetitions(thing: &Thing, length: usize) -> Result<usize> {
    let number = integer_of(thing)?;
    let Ok(times) = usize::try_from(number) else { return argument_error("argument must be non-negative") };
    if length.saturating_mul(times) > MOST {
        return limit("it makes a text that is too long");
    }
    Ok(times)
}
