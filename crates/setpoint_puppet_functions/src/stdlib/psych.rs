//! What a plain scalar of YAML means to Ruby's Psych.

use setpoint_puppet_values::Value;

use crate::ruby::numbers;

/// The meaning of a scalar without quotes.
#[derive(Debug, Clone)]
pub enum Meaning {
    Text,
    Data(Value),
    /// `:name`
    Symbol,
    Date,
    Time,
}

/// What a plain scalar means.
pub fn meaning(text: &str) -> Meaning {
    if text.is_empty() {
        return Meaning::Data(Value::UNDEF);
    }
    if looks_like_text(text) {
        return word(text);
    }
    if is_time(text) {
        return Meaning::Time;
    }
    if is_date(text) {
        return Meaning::Date;
    }
    let lower = text.to_ascii_lowercase();
    match lower.as_str() {
        ".inf" | "+.inf" => return Meaning::Data(Value::from(f64::INFINITY)),
        "-.inf" => return Meaning::Data(Value::from(f64::NEG_INFINITY)),
        ".nan" => return Meaning::Data(Value::from(f64::NAN)),
        _ => {}
    }
    if text.len() > 1 && text.starts_with(':') {
        return Meaning::Symbol;
    }
    if let Some(number) = base_sixty(text).or_else(|| float(text)).or_else(|| integer(text)) {
        return Meaning::Data(number);
    }
    Meaning::Text
}

/// Letters and signs that no number, time or symbol starts with.
fn looks_like_text(text: &str) -> bool {
    let of_words = |letter: char| {
        letter.is_alphabetic() || letter.is_whitespace() || "_!@#$%^&*(){}<>|/\\~;=".contains(letter)
    };
    let mut letters = text.chars();
    let Some(first) = letters.next() else { return false };
    text.contains('\n')
        || of_words(first)
        || !(first.is_ascii_digit() || ".:-".contains(first)) && letters.next().is_some_and(of_words)
}

fn word(text: &str) -> Meaning {
    if text.chars().count() > 5 {
        return Meaning::Text;
    }
    Meaning::Data(match text.to_lowercase().as_str() {
        "~" | "null" => Value::UNDEF,
        "yes" | "true" | "on" => Value::from(true),
        "no" | "false" | "off" => Value::from(false),
        _ => return Meaning::Text,
    })
}

fn digits(text: &str, least: usize, most: usize) -> bool {
    (least..=most).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let within =
        |part: &str, most: u32| digits(part, 1, 2) && part.parse::<u32>().is_ok_and(|number| number <= most);
    matches!(parts.as_slice(), [year, month, day] if digits(year, 4, 4) && within(month, 12) && within(day, 31))
}

/// `2001-12-14t21:59:43.10-05:00` and its like.
fn is_time(text: &str) -> bool {
    let body = text.strip_prefix('-').unwrap_or(text);
    let Some((date, time)) = body.split_once(['t', 'T', ' ', '\t']) else { return false };
    let date: Vec<&str> = date.split('-').collect();
    let dated = matches!(date.as_slice(), [year, month, day] if digits(year, 4, 4) && digits(month, 1, 2) && digits(day, 1, 2));
    let clock: Vec<&str> = time.trim_start().splitn(3, ':').collect();
    let [hours, minutes, rest] = clock.as_slice() else { return false };
    dated
        && digits(hours, 1, 2)
        && digits(minutes, 2, 2)
        && rest.get(..2).is_some_and(|seconds| digits(seconds, 2, 2))
}

/// `12:30` and `1:02:03.5`: hours, minutes and seconds as one number.
fn base_sixty(text: &str) -> Option<Value> {
    let (sign, body) = sign_of(text);
    let (whole, fraction) =
        body.split_once('.').map_or((body, None), |(whole, fraction)| (whole, Some(fraction)));
    let parts: Vec<&str> = whole.split(':').collect();
    let (first, others) = parts.split_first()?;
    let starts = first.starts_with(|letter: char| letter.is_ascii_digit())
        && first.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
    let sixty = |part: &&str| digits(part, 1, 2) && (part.len() < 2 || part.as_bytes()[0] < b'6');
    if !(1..=2).contains(&others.len()) || !starts || !others.iter().all(sixty) {
        return None;
    }
    let exponents = [3600.0, 60.0, 1.0];
    let mut sum = 0.0;
    // The sign belongs to the first part alone.
    for (at, (part, factor)) in parts.iter().zip(exponents).enumerate() {
        let sign = if at == 0 { sign } else { 1.0 };
        sum += sign * numbers::leading_float(part) * factor;
    }
    match fraction {
        Some(fraction) if fraction.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_') => {
            let last = numbers::leading_float(&format!("0.{}", fraction.replace('_', "")));
            Some(Value::from(sum + last))
        }
        Some(_) => None,
        None => Some(Value::from(sum as i64)),
    }
}

fn sign_of(text: &str) -> (f64, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    }
}

/// A decimal number with a point.
fn float(text: &str) -> Option<Value> {
    let (sign, body) = sign_of(text);
    let (whole, rest) = body.split_once('.')?;
    let grouped = whole.is_empty()
        || whole.starts_with(|letter: char| letter.is_ascii_digit())
            && whole.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'_' | b','));
    let (fraction, exponent) = match rest.find(['e', 'E']) {
        Some(at) => (&rest[..at], Some(&rest[at + 1..])),
        None => (rest, None),
    };
    let signed = |exponent: &str| exponent.strip_prefix(['+', '-']).is_some_and(|power| digits(power, 1, 9));
    if !grouped || !digits(fraction, 0, usize::MAX) || !exponent.is_none_or(signed) || body == "." {
        return None;
    }
    let whole: String = whole.chars().filter(char::is_ascii_digit).collect();
    let text = format!("{whole}.{fraction}0e{}", exponent.unwrap_or("0"));
    text.parse::<f64>().ok().map(|number| Value::from(sign * number))
}

/// With the prefixes of other bases, and groups of digits.
fn integer(text: &str) -> Option<Value> {
    let (sign, body) = sign_of(text);
    let separator = |byte: u8| matches!(byte, b'_' | b',');
    let of_base = |digits: &str, radix: u32| {
        !digits.is_empty() && digits.bytes().all(|byte| char::from(byte).is_digit(radix) || separator(byte))
    };
    let (digits, radix) = if let Some(rest) = body.strip_prefix("0b").filter(|rest| of_base(rest, 2)) {
        (rest, 2)
    } else if let Some(rest) = body.strip_prefix("0x").filter(|rest| of_base(rest, 16)) {
        (rest, 16)
    } else if let Some(rest) = body.strip_prefix('0').filter(|rest| of_base(rest, 8)) {
        (rest, 8)
    } else if body == "0"
        || body.starts_with(|letter: char| ('1'..='9').contains(&letter)) && well_grouped(body)
    {
        (body, 10)
    } else {
        return None;
    };
    let digits: String = digits.chars().filter(|letter| !matches!(letter, '_' | ',')).collect();
    let number = i128::from_str_radix(&digits, radix).ok()?;
    i64::try_from(number * sign as i128).ok().map(Value::from)
}

/// Separators stand between digits only.
fn well_grouped(text: &str) -> bool {
    !text.ends_with(['_', ','])
        && !text.contains("__")
        && !text.contains(",,")
        && !text.contains("_,")
        && !text.contains(",_")
        && text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'_' | b','))
}
