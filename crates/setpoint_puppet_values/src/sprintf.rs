//! Ruby's `sprintf`, over Puppet's values.

use setpoint_source::Limit;

use crate::error::ValueError;
use crate::padding::{fill_after, fill_before};
use crate::ruby::numbers::{self, float_text};
use crate::ruby::text::{class_name, inspect, to_s};
use crate::value::{Data, Key, Value};

/// The format filled in with the arguments; a single hash supplies `%{name}` and `%<name>d`.
pub fn sprintf(format: &str, arguments: &[Value]) -> Result<String, ValueError> {
    fill(format, arguments).map_err(|problem| match problem {
        Problem::Ruby(message) => ValueError::new(message),
        Problem::Limit => {
            ValueError::limit(format!("sprintf() writes no field that is wider than {MAX_WIDTH} in Setpoint"))
        }
    })
}

/// Why a format cannot be filled in.
enum Problem {
    /// Ruby's own words.
    Ruby(String),
    /// Ruby writes fields that are wider than [`MAX_WIDTH`].
    Limit,
}

impl From<String> for Problem {
    fn from(message: String) -> Self {
        Self::Ruby(message)
    }
}

/// A width or precision that can be written.
fn bounded(size: Option<usize>, what: &str) -> Result<usize, Problem> {
    // Ruby takes what an `int` of C holds.
    let size = size.filter(|size| i32::try_from(*size).is_ok()).ok_or_else(|| format!("{what} too big"))?;
    if size > MAX_WIDTH { Err(Problem::Limit) } else { Ok(size) }
}

/// The format with the arguments in place, or Ruby's own words on why it cannot be.
fn fill(text: &str, arguments: &[Value]) -> Result<String, Problem> {
    let mut formatter =
        Formatter { rest: text, arguments, used: Used::Nothing, out: String::with_capacity(text.len()) };
    while let Some(at) = formatter.rest.find('%') {
        let (before, directive) = formatter.rest.split_at(at);
        formatter.out.push_str(before);
        formatter.rest = &directive[1..];
        formatter.directive()?;
    }
    formatter.out.push_str(formatter.rest);
    Ok(formatter.out)
}

struct Formatter<'a> {
    rest: &'a str,
    arguments: &'a [Value],
    used: Used,
    out: String,
}

/// How arguments were named so far: Ruby lets a format use one way only.
#[derive(Clone, Copy)]
enum Used {
    Nothing,
    InTurn(usize),
    Numbered,
    Named,
}

#[derive(Default)]
struct Directive {
    space: bool,
    alternative: bool,
    plus: bool,
    left: bool,
    zero: bool,
    width: Option<usize>,
    precision: Option<usize>,
}

/// Wider than anybody reads: a guard against formats that ask for gigabytes.
const MAX_WIDTH: Limit = Limit::new(1_000_000);

impl<'a> Formatter<'a> {
    fn directive(&mut self) -> Result<(), Problem> {
        let mut spec = Directive::default();
        let mut value: Option<&'a Value> = None;
        loop {
            let Some(letter) = self.rest.chars().next() else {
                return Err("incomplete format specifier; use %% (double %) instead".to_owned().into());
            };
            let start = self.rest;
            self.rest = &self.rest[letter.len_utf8()..];
            match letter {
                ' ' => spec.space = true,
                '#' => spec.alternative = true,
                '+' => spec.plus = true,
                '-' => spec.left = true,
                '0' => spec.zero = true,
                '1'..='9' => {
                    self.rest = start;
                    let number = self.number("width")?;
                    if let Some(after) = self.rest.strip_prefix('$') {
                        if value.is_some() {
                            return Err(format!("value given twice - {number}$").into());
                        }
                        self.rest = after;
                        value = Some(self.numbered(number)?);
                    } else {
                        spec.width = Some(number);
                    }
                }
                '*' => {
                    let (size, negative) = self.size_argument()?;
                    spec.left |= negative;
                    spec.width = Some(size);
                }
                '.' => {
                    if spec.precision.is_some() {
                        return Err("precision given twice".to_owned().into());
                    }
                    spec.precision = if let Some(after) = self.rest.strip_prefix('*') {
                        self.rest = after;
                        let (size, negative) = self.size_argument()?;
                        (!negative).then_some(size)
                    } else {
                        Some(self.number("precision")?)
                    };
                }
                '<' | '{' => {
                    let close = if letter == '<' { '>' } else { '}' };
                    let Some(end) = self.rest.find(close) else {
                        return Err("malformed name - unmatched parenthesis".to_owned().into());
                    };
                    let name = &self.rest[..end];
                    self.rest = &self.rest[end + 1..];
                    let found = self.named(name, letter, close)?;
                    if letter == '{' {
                        spec.text(&to_s(found), &mut self.out);
                        return Ok(());
                    }
                    value = Some(found);
                }
                '\n' | '\0' | '%' => {
                    let bare = start.len() == self.rest.len() + 1 && spec.is_bare() && value.is_none();
                    if !bare {
                        return Err("invalid format character - %".to_owned().into());
                    }
                    self.out.push('%');
                    if letter != '%' {
                        self.rest = start;
                    }
                    return Ok(());
                }
                's' | 'p' | 'c' | 'd' | 'i' | 'u' | 'o' | 'x' | 'X' | 'b' | 'B' | 'f' | 'g' | 'G' | 'e'
                | 'E' | 'a' | 'A' => {
                    let value = match value {
                        Some(value) => value,
                        None => self.next()?,
                    };
                    return Ok(spec.write(letter, value, &mut self.out)?);
                }
                other => return Err(format!("malformed format string - %{other}").into()),
            }
        }
    }

    fn number(&mut self, what: &str) -> Result<usize, Problem> {
        let end = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(end);
        self.rest = rest;
        if digits.is_empty() {
            return Ok(0);
        }
        bounded(digits.parse().ok(), what)
    }

    /// The width or precision that `*` takes from the arguments, and whether it is negative.
    fn size_argument(&mut self) -> Result<(usize, bool), Problem> {
        let number = integer(self.next()?)?;
        Ok((bounded(usize::try_from(number.unsigned_abs()).ok(), "width")?, number < 0))
    }

    fn next(&mut self) -> Result<&'a Value, String> {
        let at = match self.used {
            Used::Nothing => 0,
            Used::InTurn(count) => count,
            Used::Numbered => return Err("unnumbered(1) mixed with numbered".to_owned()),
            Used::Named => return Err("unnumbered(1) mixed with named".to_owned()),
        };
        self.used = Used::InTurn(at + 1);
        self.arguments.get(at).ok_or_else(|| "too few arguments".to_owned())
    }

    fn numbered(&mut self, number: usize) -> Result<&'a Value, String> {
        match self.used {
            Used::InTurn(count) => return Err(format!("numbered({number}) after unnumbered({count})")),
            Used::Named => return Err(format!("numbered({number}) after named")),
            Used::Nothing | Used::Numbered => self.used = Used::Numbered,
        }
        number
            .checked_sub(1)
            .and_then(|at| self.arguments.get(at))
            .ok_or_else(|| "too few arguments".to_owned())
    }

    fn named(&mut self, name: &str, open: char, close: char) -> Result<&'a Value, String> {
        match self.used {
            Used::InTurn(count) => return Err(format!("named{open}{name}{close} after unnumbered({count})")),
            Used::Numbered => return Err(format!("named{open}{name}{close} after numbered")),
            Used::Nothing | Used::Named => self.used = Used::Named,
        }
        let [Value { data: Data::Hash(entries), .. }] = self.arguments else {
            return Err("one hash required".to_owned());
        };
        entries.get(&Key::from(name)).ok_or_else(|| format!("key{open}{name}{close} not found"))
    }
}

impl Directive {
    fn is_bare(&self) -> bool {
        !(self.space || self.alternative || self.plus || self.left || self.zero)
            && self.width.is_none()
            && self.precision.is_none()
    }

    fn write(&self, letter: char, value: &Value, out: &mut String) -> Result<(), String> {
        match letter {
            's' => self.text(&to_s(value), out),
            'p' => self.text(&inspect(value), out),
            'c' => self.pad(&character(value)?, out),
            'd' | 'i' | 'u' => self.decimal(value, out)?,
            'o' => self.radix(8, "0", value, false, out)?,
            'x' => self.radix(16, "0x", value, false, out)?,
            'X' => self.radix(16, "0X", value, true, out)?,
            'b' => self.radix(2, "0b", value, false, out)?,
            'B' => self.radix(2, "0B", value, false, out)?,
            _ => self.float(letter, value, out)?,
        }
        Ok(())
    }

    fn text(&self, text: &str, out: &mut String) {
        match self.precision {
            Some(precision) => self.pad(&text.chars().take(precision).collect::<String>(), out),
            None => self.pad(text, out),
        }
    }

    fn pad(&self, text: &str, out: &mut String) {
        let width = self.width.unwrap_or(0);
        out.push_str(&if self.left { fill_after(text, width, ' ') } else { fill_before(text, width, ' ') });
    }

    fn sign(&self, negative: bool) -> &'static str {
        match () {
            () if negative => "-",
            () if self.plus => "+",
            () if self.space => " ",
            () => "",
        }
    }

    fn decimal(&self, value: &Value, out: &mut String) -> Result<(), String> {
        let number = integer(value)?;
        self.digits(self.sign(number < 0), "", &number.unsigned_abs().to_string(), out);
        Ok(())
    }

    /// Writes digits after a sign and a prefix, filled up with zeros to the precision or the width.
    fn digits(&self, sign: &str, prefix: &str, digits: &str, out: &mut String) {
        let fixed = sign.len() + prefix.len();
        let least = match self.precision {
            Some(precision) => precision,
            None if self.zero && !self.left => self.width.unwrap_or(0).saturating_sub(fixed),
            None => 0,
        };
        self.pad(&format!("{sign}{prefix}{}", fill_before(digits, least, '0')), out);
    }

    fn radix(
        &self,
        radix: u32,
        prefix: &str,
        value: &Value,
        upper: bool,
        out: &mut String,
    ) -> Result<(), String> {
        let number = integer(value)?;
        let prefix = if self.alternative && number != 0 { prefix } else { "" };
        if number < 0 && !self.plus && !self.space {
            self.complement(radix, prefix, number, upper, out);
            return Ok(());
        }
        let mut digits = in_radix(number.unsigned_abs(), radix);
        if upper {
            digits.make_ascii_uppercase();
        }
        self.digits(self.sign(number < 0), prefix, &digits, out);
        Ok(())
    }

    /// A negative number as `..f01`: the repeating digit once, after two dots.
    fn complement(&self, radix: u32, prefix: &str, number: i128, upper: bool, out: &mut String) {
        let bits = radix.trailing_zeros();
        let top = char::from_digit(radix - 1, radix).unwrap_or('f');
        let count = 128 / bits;
        let digits: String = (0..count)
            .rev()
            .filter_map(|at| {
                char::from_digit(((number >> (at * bits)) & i128::from(radix - 1)) as u32, radix)
            })
            .collect();
        let mut digits = format!("{top}{}", digits.trim_start_matches(top));
        let mut fill = top;
        if upper {
            digits.make_ascii_uppercase();
            fill = fill.to_ascii_uppercase();
        }
        // An octal prefix is a zero, which a negative number cannot start with.
        let prefix = if radix == 8 { "" } else { prefix };
        let least = match self.precision {
            Some(precision) => precision.saturating_sub(2),
            None if self.zero && !self.left => self.width.unwrap_or(0).saturating_sub(2 + prefix.len()),
            None => 0,
        };
        self.pad(&format!("{prefix}..{}", fill_before(&digits, least, fill)), out);
    }

    fn float(&self, letter: char, value: &Value, out: &mut String) -> Result<(), String> {
        if letter == 'f'
            && let Data::Integer(number) = value.data
        {
            let places = self.precision.unwrap_or(6);
            let point = if places > 0 || self.alternative { "." } else { "" };
            let digits = format!("{}{point}{}", number.unsigned_abs(), "0".repeat(places));
            self.signed(number < 0, &digits, out);
            return Ok(());
        }
        let number = to_float(value)?;
        if number.is_finite() {
            let digits = float_text(number.abs(), letter, self.precision, self.alternative);
            self.signed(number.is_sign_negative(), &digits, out);
        } else {
            let name = if number.is_nan() { "NaN" } else { "Inf" };
            self.pad(&format!("{}{name}", self.sign(number < 0.0)), out);
        }
        Ok(())
    }

    fn signed(&self, negative: bool, digits: &str, out: &mut String) {
        let sign = self.sign(negative);
        let (prefix, digits) = match digits.get(..2) {
            Some(prefix @ ("0x" | "0X")) => (prefix, &digits[2..]),
            _ => ("", digits),
        };
        let least = if self.zero && !self.left {
            self.width.unwrap_or(0).saturating_sub(sign.len() + prefix.len())
        } else {
            0
        };
        self.pad(&format!("{sign}{prefix}{}", fill_before(digits, least, '0')), out);
    }
}

fn character(value: &Value) -> Result<String, String> {
    match &value.data {
        Data::String(text) if text.chars().count() == 1 => Ok(text.to_string()),
        Data::String(_) => Err("%c requires a character".to_owned()),
        _ => {
            let code = integer(value)?;
            u32::try_from(code).ok().and_then(char::from_u32).map(String::from).ok_or_else(|| {
                if code < 0 { "invalid character".to_owned() } else { format!("{code} out of char range") }
            })
        }
    }
}

/// As Ruby's `Integer()` takes it; floats are cut at the point.
fn integer(value: &Value) -> Result<i128, String> {
    match &value.data {
        Data::Integer(number) => Ok(i128::from(*number)),
        Data::Float(number) if number.is_nan() => Err("NaN".to_owned()),
        Data::Float(number) if number.is_infinite() => {
            Err(if *number < 0.0 { "-Infinity".to_owned() } else { "Infinity".to_owned() })
        }
        Data::Float(number) => Ok(number.trunc() as i128),
        Data::String(text) => numbers::parse_integer(text)
            .ok_or_else(|| format!("invalid value for Integer(): {}", inspect(value))),
        _ => Err(format!("can't convert {} into Integer", class_name(value))),
    }
}

/// As Ruby's `Float()` takes it.
fn to_float(value: &Value) -> Result<f64, String> {
    match &value.data {
        Data::Integer(number) => Ok(*number as f64),
        Data::Float(number) => Ok(*number),
        Data::String(text) => {
            numbers::parse_float(text).ok_or_else(|| format!("invalid value for Float(): {}", inspect(value)))
        }
        _ => Err(format!("can't convert {} into Float", class_name(value))),
    }
}

fn in_radix(mut number: u128, radix: u32) -> String {
    let mut digits = Vec::new();
    loop {
        digits.push(char::from_digit((number % u128::from(radix)) as u32, radix).unwrap_or('0'));
        number /= u128::from(radix);
        if number == 0 {
            return digits.iter().rev().collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(format: &str, value: impl Into<Value>) -> String {
        sprintf(format, &[value.into()]).unwrap_or_else(|error| error.message)
    }

    /// The answers are those of Ruby 3.1.
    #[test]
    fn integers() {
        for (format, number, answer) in [
            ("%d", 42, "42"),
            ("%05d", -42, "-0042"),
            ("%+d", 5, "+5"),
            ("% d", 5, " 5"),
            ("%.3d", 5, "005"),
            ("%8.3d|", 5, "     005|"),
            ("%-5d|", 3, "3    |"),
            ("%x", -255, "..f01"),
            ("%o", -8, "..70"),
            ("%b", -5, "..1011"),
            ("%+x", -255, "-ff"),
            ("%#x", 255, "0xff"),
            ("%#X", 255, "0XFF"),
            ("%#o", 8, "010"),
            ("%#x", -255, "0x..f01"),
            ("%#o", -8, "..70"),
            ("%08x", -255, "..ffff01"),
            ("%.8x", -255, "..ffff01"),
            ("%10x|", -255, "     ..f01|"),
            ("%x", -1, "..f"),
            ("%#x", 0, "0"),
            ("%f", 3, "3.000000"),
            ("%c", 65, "A"),
        ] {
            assert_eq!(one(format, number), answer, "{format}");
        }
    }

    #[test]
    fn floats() {
        for (format, number, answer) in [
            ("%08.3f", 3.24159, "0003.242"),
            ("%.0f", 3.5, "4"),
            ("%.f", 2.5, "2"),
            ("%e", 12345.678, "1.234568e+04"),
            ("%g", 12345.678, "12345.7"),
            ("%g", 1e10, "1e+10"),
            ("%g", 0.00001, "1e-05"),
            ("%G", 1e-10, "1E-10"),
            ("%#.3g", 1.0, "1.00"),
            ("%a", 1.5, "0x1.8p+0"),
            ("%a", -0.1, "-0x1.999999999999ap-4"),
            ("%.2a", 1.999, "0x1.00p+1"),
            ("%f", f64::INFINITY, "Inf"),
            ("%5.1f|", f64::NEG_INFINITY, " -Inf|"),
            ("%d", -3.7, "-3"),
            ("%s", 1e16, "1.0e+16"),
            ("%s", 1e-4, "0.0001"),
        ] {
            assert_eq!(one(format, number), answer, "{format}");
        }
    }

    #[test]
    fn texts_and_complaints() {
        for (format, text, answer) in [
            ("%-8s|", "ab", "ab      |"),
            ("%5.1s|", "ab", "    a|"),
            ("%p", "a\n", "\"a\\n\""),
            ("%d", "0x1f", "31"),
            ("%d", "1_000", "1000"),
            ("%d", "12abc", "invalid value for Integer(): \"12abc\""),
            ("%f", "abc", "invalid value for Float(): \"abc\""),
            ("%c", "hello", "%c requires a character"),
            ("%y", "x", "malformed format string - %y"),
            ("abc%", "x", "incomplete format specifier; use %% (double %) instead"),
            ("%s %s", "a", "too few arguments"),
            ("%1$s %s", "a", "unnumbered(1) mixed with numbered"),
            ("%<b>d", "a", "one hash required"),
            ("% %", "a", "invalid format character - %"),
            ("%%", "a", "%"),
        ] {
            assert_eq!(one(format, text), answer, "{format}");
        }
    }
}
