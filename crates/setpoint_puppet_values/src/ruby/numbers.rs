//! Numbers as Ruby reads and writes them.

use crate::padding::fill_after;

/// `Integer(text)`: with sign, prefix (`0x`, `0b`, `0o`, `0`) and single underscores between digits.
pub fn parse_integer(text: &str) -> Option<i128> {
    parse_integer_in(text, None)
}

/// `Integer(text, radix)`: the prefix may name that radix, no other.
pub fn parse_integer_in(text: &str, given: Option<u32>) -> Option<i128> {
    let text = text.trim_matches(|c: char| c.is_ascii_whitespace() || c == '\u{b}');
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let lower = digits.to_ascii_lowercase();
    let (radix, digits) = if let Some(rest) = lower.strip_prefix("0x") {
        (16, rest)
    } else if let Some(rest) = lower.strip_prefix("0b") {
        (2, rest)
    } else if let Some(rest) = lower.strip_prefix("0o") {
        (8, rest)
    } else if let Some(rest) = lower.strip_prefix("0d") {
        (10, rest)
    } else if lower.len() > 1 && lower.starts_with('0') {
        (8, lower[1..].strip_prefix('_').unwrap_or(&lower[1..]))
    } else {
        (10, lower.as_str())
    };
    let (radix, digits) = match given {
        Some(given) if given != radix => (given, lower.as_str()),
        _ => (radix, digits),
    };
    let digits = without_underscores(digits)?;
    if !digits.chars().all(|digit| digit.is_digit(radix)) {
        return None;
    }
    let number = i128::from_str_radix(&digits, radix).ok()?;
    Some(if negative { -number } else { number })
}

/// `Float(text)`.
pub fn parse_float(text: &str) -> Option<f64> {
    let text = text.trim_matches(|c: char| c.is_ascii_whitespace() || c == '\u{b}');
    let unsigned = text.trim_start_matches(['+', '-']);
    if unsigned.starts_with("0x") || unsigned.starts_with("0X") {
        return parse_integer(text).map(|number| number as f64);
    }
    let first = unsigned.as_bytes().first()?;
    let digits_around_point = unsigned.split_once('.').is_none_or(|(before, after)| {
        before.ends_with(|c: char| c.is_ascii_digit()) && after.starts_with(|c: char| c.is_ascii_digit())
    });
    if !first.is_ascii_digit() || text.len() - unsigned.len() > 1 || !digits_around_point {
        return None;
    }
    without_underscores(text)?.parse().ok()
}

fn without_underscores(digits: &str) -> Option<String> {
    let misplaced = digits.starts_with(['_', '+', '-']) && !digits.starts_with(['+', '-'])
        || digits.starts_with('_')
        || digits.ends_with('_')
        || digits.contains("__")
        || digits.is_empty();
    (!misplaced).then(|| digits.replace('_', ""))
}

/// `String#to_i`: the number at the start, or zero.
pub fn leading_integer(text: &str) -> i128 {
    let text = text.trim_start();
    let (negative, digits) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    let mut number: i128 = 0;
    let mut underscore = true;
    for letter in digits.chars() {
        match letter.to_digit(10) {
            Some(digit) => {
                number = number.saturating_mul(10).saturating_add(i128::from(digit));
                underscore = false;
            }
            None if letter == '_' && !underscore => underscore = true,
            None => break,
        }
    }
    if negative { -number } else { number }
}

/// `String#to_f`: the number at the start, or zero.
pub fn leading_float(text: &str) -> f64 {
    let text = text.trim_start();
    let mut end = 0;
    let mut exponent = false;
    let mut point = false;
    let bytes = text.as_bytes();
    while let Some(byte) = bytes.get(end) {
        let next_digit = |skip: usize| bytes.get(end + skip).is_some_and(u8::is_ascii_digit);
        let last_digit = end > 0 && bytes[end - 1].is_ascii_digit();
        let taken = match byte {
            b'0'..=b'9' => true,
            b'+' | b'-' => end == 0 || matches!(bytes[end - 1], b'e' | b'E'),
            b'_' => last_digit && next_digit(1),
            b'.' => !point && !exponent && last_digit && next_digit(1),
            b'e' | b'E' => {
                !exponent
                    && last_digit
                    && (next_digit(1) || matches!(bytes.get(end + 1), Some(b'+' | b'-')) && next_digit(2))
            }
            _ => false,
        };
        if !taken {
            break;
        }
        point |= *byte == b'.';
        exponent |= matches!(byte, b'e' | b'E');
        end += 1;
    }
    text[..end].replace('_', "").parse().unwrap_or(0.0)
}

/// `Float#to_s`.
pub fn float_to_s(number: f64) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return if number < 0.0 { "-Infinity".to_owned() } else { "Infinity".to_owned() };
    }
    let exponent = if number == 0.0 { 0 } else { decimal_exponent(number) };
    // One digit more is written out if there is something after the point.
    let last = if number.fract() == 0.0 { 15 } else { 16 };
    if (-4..last).contains(&exponent) {
        let text = number.to_string();
        if text.contains('.') { text } else { text + ".0" }
    } else {
        let text = format!("{number:e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let point = if digits.contains('.') { "" } else { ".0" };
        format!("{digits}{point}e{}", signed_exponent(exponent))
    }
}

fn decimal_exponent(number: f64) -> i32 {
    format!("{number:e}").split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0)
}

/// An exponent with its sign and at least two digits.
fn signed_exponent(exponent: &str) -> String {
    let (sign, digits) = exponent.strip_prefix('-').map_or(('+', exponent), |digits| ('-', digits));
    format!("{sign}{digits:0>2}")
}

/// A number that is not negative in one of C's float formats: `f`, `e`, `g`, `a` and their capitals.
pub fn float_text(number: f64, letter: char, precision: Option<usize>, alternative: bool) -> String {
    let text = match letter.to_ascii_lowercase() {
        'f' => fixed(number, precision.unwrap_or(6), alternative),
        'e' => scientific(number, precision.unwrap_or(6), alternative),
        'g' => general(number, precision.unwrap_or(6).max(1), alternative),
        _ => hexadecimal(number, precision),
    };
    if letter.is_ascii_uppercase() { text.to_ascii_uppercase() } else { text }
}

/// No number has more digits behind the point that are not zero: the smallest one has 1,074.
const MAX_PLACES: usize = 1_100;

fn fixed(number: f64, places: usize, point: bool) -> String {
    let text =
        format!("{number:.*}", places.min(MAX_PLACES)) + &"0".repeat(places.saturating_sub(MAX_PLACES));
    if point && places == 0 { text + "." } else { text }
}

fn scientific(number: f64, places: usize, point: bool) -> String {
    let text = format!("{number:.*e}", places.min(MAX_PLACES));
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let zeros = "0".repeat(places.saturating_sub(MAX_PLACES));
    let point = if point && places == 0 { "." } else { "" };
    format!("{digits}{zeros}{point}e{}", signed_exponent(exponent))
}

fn general(number: f64, precision: usize, keep_zeros: bool) -> String {
    let rounded = format!("{number:.*e}", (precision - 1).min(MAX_PLACES));
    let exponent: i64 = rounded.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0);
    let trim = |text: String| {
        if keep_zeros || !text.contains('.') {
            return text;
        }
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    if exponent < -4 || exponent >= precision as i64 {
        let text = scientific(number, precision - 1, keep_zeros);
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "+00"));
        format!("{}e{exponent}", trim(digits.to_owned()))
    } else {
        let places = usize::try_from(precision as i64 - 1 - exponent).unwrap_or(0);
        trim(fixed(number, places, keep_zeros))
    }
}

fn hexadecimal(number: f64, precision: Option<usize>) -> String {
    let bits = number.to_bits();
    let mut exponent = ((bits >> 52) & 0x7ff) as i64;
    let mut fraction = bits & ((1 << 52) - 1);
    let mut lead = u64::from(exponent != 0);
    if exponent == 0 {
        exponent = if fraction == 0 { 1023 } else { 1 };
    }
    let digits = match precision {
        Some(places) if places < 13 => {
            let drop = 52 - 4 * places as u32;
            let whole = (lead << 52) | fraction;
            let (kept, rest, half) = (whole >> drop, whole & ((1 << drop) - 1), 1_u64 << (drop - 1));
            let kept = if rest > half || rest == half && kept & 1 == 1 { kept + 1 } else { kept };
            lead = kept >> (4 * places);
            if lead > 1 {
                exponent += 1;
                lead = 1;
            }
            fraction = kept & ((1_u64 << (4 * places)) - 1);
            if places == 0 { String::new() } else { format!("{fraction:0places$x}") }
        }
        Some(places) => fill_after(&format!("{fraction:013x}"), places, '0'),
        None => format!("{fraction:013x}").trim_end_matches('0').to_owned(),
    };
    let point = if digits.is_empty() { "" } else { "." };
    format!("0x{lead}{point}{digits}p{:+}", exponent - 1023)
}
