//! Methods of numbers.

use super::super::interpreter::{Interpreter, Result, beyond, failed};
use super::super::things::Thing;
use super::arrays::ordered;
use super::{MOST, integer_of, no_method};

pub(super) fn number(
    interpreter: &mut Interpreter<'_, '_, '_>,
    receiver: &Thing,
    name: &str,
    arguments: &[Thing],
    block: Option<&Thing>,
) -> Result<Thing> {
    let float = |thing: &Thing| match thing {
        Thing::Integer(number) => Some(*number as f64),
        Thing::Float(number) => Some(*number),
        _ => None,
    };
    match (receiver, name, arguments) {
        (_, "to_i" | "to_int" | "truncate", []) => Ok(Thing::Integer(integer_of(receiver)?)),
        (_, "to_f", []) => Ok(Thing::Float(float(receiver).unwrap_or_default())),
        (Thing::Integer(number), "times", []) => {
            let Some(block) = block else { return beyond("it keeps an enumerator") };
            for at in 0..(*number).min(MOST) {
                interpreter.call_block(block, vec![Thing::Integer(at)])?;
            }
            Ok(receiver.clone())
        }
        (Thing::Integer(number), "upto", [Thing::Integer(end)]) => {
            let Some(block) = block else { return beyond("it keeps an enumerator") };
            for at in (*number..=*end).take(MOST as usize) {
                interpreter.call_block(block, vec![Thing::Integer(at)])?;
            }
            Ok(receiver.clone())
        }
        (Thing::Integer(number), "zero?", []) => Ok(Thing::Bool(*number == 0)),
        (Thing::Integer(number), "even?", []) => Ok(Thing::Bool(number % 2 == 0)),
        (Thing::Integer(number), "odd?", []) => Ok(Thing::Bool(number % 2 != 0)),
        (Thing::Integer(number), "succ" | "next", []) => Ok(Thing::Integer(number.saturating_add(1))),
        (Thing::Integer(number), "abs", []) => Ok(Thing::Integer(number.saturating_abs())),
        (Thing::Integer(_), "floor" | "ceil" | "round", _) => Ok(receiver.clone()),
        (Thing::Float(number), "floor", []) => Ok(Thing::Integer(number.floor() as i64)),
        (Thing::Float(number), "ceil", []) => Ok(Thing::Integer(number.ceil() as i64)),
        (Thing::Float(number), "round", []) => Ok(Thing::Integer(number.round() as i64)),
        (Thing::Float(number), "round", [Thing::Integer(places)]) => {
            let factor = 10_f64.powi(i32::try_from(*places).unwrap_or(0));
            Ok(Thing::Float((number * factor).round() / factor))
        }
        (Thing::Integer(number), "-@", []) => Ok(Thing::Integer(number.saturating_neg())),
        (Thing::Float(number), "-@", []) => Ok(Thing::Float(-number)),
        (
            Thing::Integer(a),
            "+" | "-" | "*" | "/" | "%" | "**" | "<<" | ">>" | "&" | "|",
            [Thing::Integer(b)],
        ) => integers(*a, name, *b),
        (_, "+" | "-" | "*" | "/" | "%" | "**", [other]) => {
            let (Some(a), Some(b)) = (float(receiver), float(other)) else {
                return failed(format!("{} can't be coerced into {}", other.class(), receiver.class()));
            };
            Ok(Thing::Float(match name {
                "+" => a + b,
                "-" => a - b,
                "*" => a * b,
                "/" => a / b,
                "%" => a.rem_euclid(b),
                _ => a.powf(b),
            }))
        }
        (_, "<" | ">" | "<=" | ">=", [other]) => ordered(receiver, name, other),
        (_, "between?", [low, high]) => {
            let above = ordered(receiver, ">=", low)?.truth();
            Ok(Thing::Bool(above && ordered(receiver, "<=", high)?.truth()))
        }
        (Thing::Integer(number), "to_s", [Thing::Integer(16)]) => Ok(Thing::text(format!("{number:x}"))),
        (Thing::Integer(number), "chr", []) => {
            let letter = u32::try_from(*number).ok().and_then(char::from_u32);
            Ok(letter.map_or(Thing::Nil, |letter| Thing::text(letter.to_string())))
        }
        (_, "empty?" | "strip" | "split" | "each" | "join" | "length" | "gsub", _) => {
            failed(format!("undefined method `{name}' for {}:{}", receiver.inspect(), receiver.class()))
        }
        _ => no_method(receiver, name),
    }
}

pub(super) fn integers(a: i64, name: &str, b: i64) -> Result<Thing> {
    let result = match name {
        "+" => a.checked_add(b),
        "-" => a.checked_sub(b),
        "*" => a.checked_mul(b),
        "/" | "%" if b == 0 => return failed("divided by 0"),
        "/" => Some(a.div_euclid(b) - i64::from(b < 0 && a.rem_euclid(b) != 0)),
        "%" => Some(((a % b) + b) % b),
        "**" => u32::try_from(b).ok().and_then(|power| a.checked_pow(power)),
        "<<" => u32::try_from(b).ok().filter(|by| *by < 63).and_then(|by| a.checked_mul(1 << by)),
        ">>" => u32::try_from(b).ok().map(|by| a >> by.min(63)),
        "&" => Some(a & b),
        _ => Some(a | b),
    };
    match result {
        Some(number) => Ok(Thing::Integer(number)),
        None => beyond("a number is too large"),
    }
}
