//! Escape sequences.

use super::Said;
use setpoint_source::Severity;

/// The escapes that a kind of string knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Escapes(u16);

impl Escapes {
    pub(super) const NONE: Self = Self(0);
    pub(super) const BACKSLASH: Self = Self(1);
    pub(super) const DOLLAR: Self = Self(1 << 1);
    pub(super) const QUOTES: Self = Self(1 << 2);
    pub(super) const CARRIAGE_RETURN: Self = Self(1 << 3);
    pub(super) const NEWLINE: Self = Self(1 << 4);
    pub(super) const TAB: Self = Self(1 << 5);
    pub(super) const SPACE: Self = Self(1 << 6);
    pub(super) const UNICODE: Self = Self(1 << 7);
    pub(super) const LINE_END: Self = Self(1 << 8);
    pub(super) const DOUBLE_QUOTED: Self = Self((1 << 9) - 1);

    pub(super) fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    pub(super) fn insert(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

/// An escape that is not one.
#[derive(Debug)]
pub(super) struct Problem {
    pub(super) at: usize,
    pub(super) length: usize,
    pub(super) said: Said,
    pub(super) severity: Severity,
}

/// `\\` and `\'`; all else stays.
pub(super) fn single_quoted(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        if after.starts_with(['\\', '\'']) {
            out.push_str(&after[..1]);
            rest = &after[1..];
        } else {
            out.push('\\');
            rest = after;
        }
    }
    out.push_str(rest);
    out
}

/// Replaces the escapes of a string. Unicode escapes come first, as in Puppet: a backslash that one of them gives
/// can be the start of another escape.
pub(super) fn unescape(raw: &str, escapes: Escapes, problems: &mut Vec<Problem>) -> String {
    if escapes.contains(Escapes::UNICODE) && raw.contains("\\u") {
        let mut ignored = Vec::new();
        let decoded = decode_unicode(raw, problems);
        // Places are those of the raw text, so what is unknown is looked for there.
        replace(raw, escapes, problems);
        return replace(&decoded, escapes, &mut ignored);
    }
    replace(raw, escapes, problems)
}

const BAD_UNICODE: &str =
    "Unicode escape '\\u' was not followed by 4 hex digits or 1-6 hex digits in {} or was > 10ffff";

/// The hexadecimal digits after `\u`, and how long the escape is after the backslash.
fn unicode_digits(after: &str) -> Option<(&str, usize)> {
    let rest = after.strip_prefix('u')?;
    let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if let Some(digits) = rest.get(..4)
        && is_hex(digits)
    {
        return Some((digits, 5));
    }
    let inner = rest.strip_prefix('{')?;
    let digits = &inner[..inner.bytes().take(7).position(|byte| byte == b'}')?];
    ((1..=6).contains(&digits.len()) && is_hex(digits)).then_some((digits, digits.len() + 3))
}

fn decode_unicode(raw: &str, problems: &mut Vec<Problem>) -> String {
    let mut out = String::with_capacity(raw.len());
    let mut done = 0;
    while let Some(found) = raw[done..].find('\\') {
        let at = done + found;
        out.push_str(&raw[done..at]);
        let after = &raw[at + 1..];
        if let Some((digits, length)) = unicode_digits(after) {
            match u32::from_str_radix(digits, 16).ok().and_then(char::from_u32) {
                Some(char) => out.push(char),
                None => problems.push(Problem {
                    at,
                    length: length + 1,
                    said: BAD_UNICODE.into(),
                    severity: Severity::Error,
                }),
            }
            done = at + 1 + length;
        } else {
            let next = after.chars().next().map_or(0, char::len_utf8);
            out.push_str(&raw[at..at + 1 + next]);
            done = at + 1 + next;
        }
    }
    out.push_str(&raw[done..]);
    out
}

fn replace(raw: &str, escapes: Escapes, problems: &mut Vec<Problem>) -> String {
    let mut out = String::with_capacity(raw.len());
    let mut done = 0;
    while let Some(found) = raw[done..].find('\\') {
        let at = done + found;
        out.push_str(&raw[done..at]);
        let after = &raw[at + 1..];
        let Some(next) = after.chars().next() else {
            out.push('\\');
            return out;
        };
        let length = if after.starts_with("\r\n") { 2 } else { next.len_utf8() };
        done = at + 1 + length;
        let known = |escape: Escapes| escapes.contains(escape);
        match next {
            '\r' if length == 1 => out.push_str("\\\r"),
            '\r' | '\n' if known(Escapes::LINE_END) => {}
            '\\' if known(Escapes::BACKSLASH) => out.push('\\'),
            '$' if known(Escapes::DOLLAR) => out.push('$'),
            '\'' | '"' if known(Escapes::QUOTES) => out.push(next),
            'r' if known(Escapes::CARRIAGE_RETURN) => out.push('\r'),
            'n' if known(Escapes::NEWLINE) => out.push('\n'),
            't' if known(Escapes::TAB) => out.push('\t'),
            's' if known(Escapes::SPACE) => out.push(' '),
            'u' if known(Escapes::UNICODE) => {
                out.push_str("\\u");
                if unicode_digits(after).is_none() {
                    let said = BAD_UNICODE.into();
                    problems.push(Problem { at, length: 2, said, severity: Severity::Warning });
                }
            }
            _ => {
                let help = "Write the backslash twice, or use single quotes.";
                let said = Said::with_help(format!("Unrecognized escape sequence '\\{next}'"), help);
                problems.push(Problem { at, length: 1 + length, said, severity: Severity::Warning });
                out.push_str(&raw[at..done]);
            }
        }
    }
    out.push_str(&raw[done..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn double(raw: &str) -> String {
        unescape(raw, Escapes::DOUBLE_QUOTED, &mut Vec::new())
    }

    #[test]
    fn escapes_of_double_quotes() {
        assert_eq!(double(r#"a\tb\s\"\'\$\\n\q"#), "a\tb \"'$\\n\\q");
        assert_eq!(double("a\\\nb\\\r\nc"), "abc");
        assert_eq!(double(r"\u00e9\u{1F600}\u12"), "é😀\\u12");
        assert_eq!(double(r"\\u00e9"), "\\u00e9");
        assert_eq!(double("\\"), "\\");
    }

    #[test]
    fn escapes_of_single_quotes() {
        assert_eq!(single_quoted(r"a\'b\\c\n"), r"a'b\c\n");
    }
}
