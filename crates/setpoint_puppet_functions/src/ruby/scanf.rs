//! Ruby's `String#scanf`.

use setpoint_puppet_values::Value;

/// The values that a format finds in a text, up to the first that does not fit.
pub(crate) fn scanf(text: &str, format: &str) -> Vec<Value> {
    let mut scanner = Scanner { rest: text, found: Vec::new() };
    let mut rest = format;
    while let Some(letter) = rest.chars().next() {
        let fits = if letter == '%' {
            let (directive, after) = Directive::parse(&rest[1..]);
            rest = after;
            directive.is_some_and(|directive| scanner.directive(&directive))
        } else {
            rest = &rest[letter.len_utf8()..];
            scanner.literal(letter)
        };
        if !fits {
            break;
        }
    }
    scanner.found
}

struct Scanner<'t> {
    rest: &'t str,
    found: Vec<Value>,
}

struct Directive<'f> {
    suppressed: bool,
    width: usize,
    kind: Kind<'f>,
}

enum Kind<'f> {
    Percent,
    Letters,
    Word,
    Set { letters: &'f str, negated: bool },
    Integer(Radix),
    Float,
}

#[derive(Clone, Copy)]
enum Radix {
    Decimal,
    Octal,
    Hexadecimal,
    /// As the prefix says.
    Any,
}

impl<'f> Directive<'f> {
    /// What follows a `%`, and the rest of the format.
    fn parse(text: &'f str) -> (Option<Self>, &'f str) {
        let (suppressed, text) = text.strip_prefix('*').map_or((false, text), |rest| (true, rest));
        let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
        let (digits, text) = text.split_at(end);
        let width = digits.parse().ok();
        // The sizes of C's integers mean nothing here.
        let text = text.trim_start_matches(['h', 'l', 'L']);
        let Some(letter) = text.chars().next() else { return (None, text) };
        let mut rest = &text[letter.len_utf8()..];
        let kind = match letter {
            '%' => Kind::Percent,
            'c' => Kind::Letters,
            's' => Kind::Word,
            'd' | 'u' => Kind::Integer(Radix::Decimal),
            'i' => Kind::Integer(Radix::Any),
            'o' => Kind::Integer(Radix::Octal),
            'x' | 'X' => Kind::Integer(Radix::Hexadecimal),
            'f' | 'g' | 'e' | 'E' | 'a' | 'A' => Kind::Float,
            '[' => {
                let negated = rest.starts_with('^');
                let letters = if negated { &rest[1..] } else { rest };
                // A bracket that comes first is one of the letters.
                let from = usize::from(letters.starts_with(']'));
                let Some(end) = letters[from..].find(']').map(|end| end + from) else { return (None, rest) };
                rest = &letters[end + 1..];
                Kind::Set { letters: &letters[..end], negated }
            }
            _ => return (None, rest),
        };
        let width = width.unwrap_or(if matches!(kind, Kind::Letters) { 1 } else { usize::MAX });
        (Some(Self { suppressed, width, kind }), rest)
    }
}

impl Scanner<'_> {
    fn literal(&mut self, letter: char) -> bool {
        if letter.is_whitespace() {
            self.rest = self.rest.trim_start();
            return true;
        }
        match self.rest.strip_prefix(letter) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn directive(&mut self, directive: &Directive<'_>) -> bool {
        if !matches!(directive.kind, Kind::Letters | Kind::Set { .. }) {
            self.rest = self.rest.trim_start();
        }
        let limit = self.rest.char_indices().nth(directive.width).map_or(self.rest.len(), |(at, _)| at);
        let text = &self.rest[..limit];
        let (length, value) = match &directive.kind {
            Kind::Percent => return self.literal('%'),
            Kind::Letters => (text.len(), Some(Value::from(text))),
            Kind::Word => leading(text, |letter| !letter.is_whitespace()),
            Kind::Set { letters, negated } => leading(text, |letter| in_set(letters, letter) != *negated),
            Kind::Integer(radix) => integer(text, *radix),
            Kind::Float => float(text),
        };
        if length == 0 {
            return false;
        }
        self.rest = &self.rest[length..];
        if !directive.suppressed {
            self.found.extend(value);
        }
        true
    }
}

fn leading(text: &str, wanted: impl Fn(char) -> bool) -> (usize, Option<Value>) {
    let end = text.find(|letter| !wanted(letter)).unwrap_or(text.len());
    (end, Some(Value::from(&text[..end])))
}

/// Whether a set such as `a-z_` has a letter.
fn in_set(set: &str, letter: char) -> bool {
    let letters: Vec<char> = set.chars().collect();
    let mut at = 0;
    while let Some(from) = letters.get(at) {
        if let (Some('-'), Some(to)) = (letters.get(at + 1), letters.get(at + 2)) {
            if (*from..=*to).contains(&letter) {
                return true;
            }
            at += 3;
        } else {
            if *from == letter {
                return true;
            }
            at += 1;
        }
    }
    false
}

fn integer(text: &str, radix: Radix) -> (usize, Option<Value>) {
    let sign = usize::from(text.starts_with(['+', '-']));
    let after = text[sign..].to_ascii_lowercase();
    let (prefix, base) = match radix {
        Radix::Decimal => (0, 10),
        Radix::Octal => (0, 8),
        Radix::Hexadecimal | Radix::Any if after.starts_with("0x") => (2, 16),
        Radix::Hexadecimal => (0, 16),
        Radix::Any if after.len() > 1 && after.starts_with('0') => (0, 8),
        Radix::Any => (0, 10),
    };
    let digits = after[prefix..].find(|letter: char| !letter.is_digit(base)).unwrap_or(after.len() - prefix);
    if digits == 0 {
        return (0, None);
    }
    let number = i64::from_str_radix(&after[prefix..prefix + digits], base).unwrap_or(i64::MAX);
    let number = if text.starts_with('-') { -number } else { number };
    (sign + prefix + digits, Some(Value::from(number)))
}

fn float(text: &str) -> (usize, Option<Value>) {
    let bytes = text.as_bytes();
    let digits_from = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut end = usize::from(text.starts_with(['+', '-']));
    let whole = digits_from(end);
    end += whole;
    let mut fraction = 0;
    if bytes.get(end) == Some(&b'.') {
        fraction = digits_from(end + 1);
        end += 1 + fraction;
    }
    if whole + fraction == 0 {
        return (0, None);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = if end + 1 + sign <= bytes.len() { digits_from(end + 1 + sign) } else { 0 };
        if exponent > 0 {
            end += 1 + sign + exponent;
        }
    }
    (end, text[..end].parse::<f64>().ok().map(Value::from))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, format: &str) -> String {
        super::super::text::inspect(&Value::array(scanf(text, format)))
    }

    #[test]
    fn each_directive_takes_what_it_is_for() {
        assert_eq!(found("123 abc", "%d %s"), "[123, \"abc\"]");
        assert_eq!(found("0x1f 0x1f 017", "%i %x %o"), "[31, 31, 15]");
        assert_eq!(found("1.5e3 -2", "%f %f"), "[1500.0, -2.0]");
        assert_eq!(found("ab cd", "%c%c"), "[\"a\", \"b\"]");
        assert_eq!(found("key=value;", "%[a-z]=%[^;]"), "[\"key\", \"value\"]");
    }

    #[test]
    fn widths_limit_and_stars_drop() {
        assert_eq!(found("12345", "%2d%3d"), "[12, 345]");
        assert_eq!(found("1 2 3", "%d %*d %d"), "[1, 3]");
        assert_eq!(found("50%", "%d%%"), "[50]");
    }

    #[test]
    fn it_stops_at_what_does_not_fit() {
        assert_eq!(found("12 x", "%d %d"), "[12]");
        assert_eq!(found("x", "%d"), "[]");
        assert_eq!(found("1-2", "%d/%d"), "[1]");
        assert_eq!(found("1 %", "%d %y"), "[1]");
    }
}
