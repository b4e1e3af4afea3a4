//! Numbers as text, and texts as numbers.

use crate::value::{Data, Value};

/// An integer of any size that a text gave, or a float.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    Integer(i128),
    Float(f64),
}

impl Number {
    /// The number as a value; an integer beyond 64 bits has none.
    pub fn value(self) -> Option<Value> {
        match self {
            Self::Integer(number) => {
                i64::try_from(number).ok().map(|number| Value::new(Data::Integer(number)))
            }
            Self::Float(number) => Some(Value::new(Data::Float(number))),
        }
    }
}

/// The number that a text such as `10`, `0x1F`, `017` or `1.5e3` means, with blanks around it and a sign before it.
pub fn parse_number(text: &str) -> Option<Number> {
    let text = text.strip_prefix("::").unwrap_or(text);
    let blank = |letter: char| letter == '\t' || (letter.is_whitespace() && !letter.is_control());
    let text = text.trim_start_matches(blank);
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let text = text.trim_start_matches(blank).trim_end_matches(blank);
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        let number = integer(digits, 16)?;
        return Some(Number::Integer(if negative { -number } else { number }));
    }
    let digits_end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (whole, rest) = text.split_at(digits_end);
    if whole.is_empty() {
        return None;
    }
    if rest.is_empty() {
        let octal = whole.len() > 1 && whole.starts_with('0');
        let number = integer(whole, if octal { 8 } else { 10 })?;
        return Some(Number::Integer(if negative { -number } else { number }));
    }
    let number = float(whole, rest)?;
    Some(Number::Float(if negative { -number } else { number }))
}

fn integer(digits: &str, radix: u32) -> Option<i128> {
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return None;
    }
    i128::from_str_radix(digits, radix).ok()
}

/// A float from its digits and the rest: a fraction, an exponent or both.
fn float(whole: &str, rest: &str) -> Option<f64> {
    let (fraction, exponent) = match rest.find(['e', 'E']) {
        Some(at) => (&rest[..at], Some(&rest[at + 1..])),
        None => (rest, None),
    };
    let fraction_digits = match fraction.strip_prefix('.') {
        Some(digits) if !digits.is_empty() => digits,
        None if fraction.is_empty() => "",
        _ => return None,
    };
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_digits(fraction_digits) {
        return None;
    }
    if let Some(exponent) = exponent {
        let digits = exponent.strip_prefix('-').unwrap_or(exponent);
        if digits.is_empty() || !is_digits(digits) {
            return None;
        }
        // Zero raised to any power says nothing.
        if whole.bytes().chain(fraction_digits.bytes()).all(|byte| byte == b'0') {
            return None;
        }
    }
    // Ruby reads the digits before the point as an integer first: 08.5 is no octal number.
    if whole.len() > 1 && whole.starts_with('0') && exponent.is_some() && integer(whole, 8).is_none() {
        return None;
    }
    let number: f64 = format!("{whole}{rest}").parse().ok()?;
    number.is_finite().then_some(number)
}
