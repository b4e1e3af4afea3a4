//! Numbers, and what is wrong with them.

use super::{Lexer, Said, is_word};
use crate::token::{Kind, Token};

impl Lexer<'_> {
    pub(super) fn number(&mut self) -> Token {
        let start = self.pos;
        if let Some(end) = self.number_end() {
            if let Some(problem) = problem_of(&self.text[start..end]) {
                return self.bad_number(start, end, start, problem);
            }
            return self.take(Kind::Number, end - start);
        }
        let end = self.word_run(start);
        // A bad decimal number begins before its dot.
        let mut first = start;
        if start > 1 && self.bytes[start - 1] == b'.' {
            let digits =
                self.bytes[..start - 1].iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
            if digits > 0 {
                first = start - 1 - digits;
            }
        }
        let shown = &self.text[first..end];
        match problem_of(shown) {
            Some(problem) => self.bad_number(first, end, first, problem),
            None => self.bad_number(first, end, first + 1, format!("Illegal number '{shown}'").into()),
        }
    }

    fn bad_number(&mut self, start: usize, end: usize, at: usize, said: Said) -> Token {
        self.fail(at, end, said);
        self.pos = end;
        Token::new(Kind::Bad, start, end)
    }

    /// The longest number that ends at a word boundary.
    fn number_end(&self) -> Option<usize> {
        let start = self.pos;
        let run = |from: usize, part: fn(&u8) -> bool| {
            let length = self.bytes.get(from..).unwrap_or(b"").iter().take_while(|byte| part(byte)).count();
            (length > 0).then_some(from + length)
        };
        let boundary = |&end: &usize| !is_word(self.byte(end));
        if self.byte(start) == b'0'
            && matches!(self.byte(start + 1), b'x' | b'X')
            && let Some(end) = run(start + 2, u8::is_ascii_hexdigit).filter(boundary)
        {
            return Some(end);
        }
        let whole = run(start, u8::is_ascii_digit)?;
        let fraction = (self.byte(whole) == b'.').then(|| run(whole + 1, u8::is_ascii_digit)).flatten();
        let exponent = |from: usize| {
            let digits = from + 1 + usize::from(self.byte(from + 1) == b'-');
            matches!(self.byte(from), b'e' | b'E').then(|| run(digits, u8::is_ascii_digit)).flatten()
        };
        [fraction.and_then(exponent), fraction, exponent(whole), Some(whole)]
            .into_iter()
            .flatten()
            .find(boundary)
    }
}

/// Why a text is no number, in Puppet's words.
fn problem_of(text: &str) -> Option<Said> {
    let bytes = text.as_bytes();
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if text.starts_with("0x") || text.starts_with("0X") {
        let valid = text.len() > 2 && text[2..].bytes().all(|byte| byte.is_ascii_hexdigit());
        return (!valid).then(|| format!("Not a valid hex number {text}").into());
    }
    if text.len() > 1 && bytes[0] == b'0' && bytes[1] != b'.' {
        let valid = text[1..].bytes().all(|byte| (b'0'..=b'7').contains(&byte));
        let help = "A number that begins with 0 is octal. Drop the zero, or quote the value.";
        return (!valid).then(|| Said::with_help(format!("Not a valid octal number {text}"), help));
    }
    let whole = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if whole > 0 && matches!(bytes.get(whole), Some(b'e' | b'E' | b'.')) {
        let (mantissa, exponent) = match text.find(['e', 'E']) {
            Some(at) => (&text[..at], Some(&text[at + 1..])),
            None => (text, None),
        };
        let fraction = mantissa.split_once('.').map(|(_, fraction)| fraction);
        let valid = fraction.is_none_or(digits)
            && exponent.is_none_or(|exponent| digits(exponent.strip_prefix('-').unwrap_or(exponent)));
        return (!valid).then(|| format!("Not a valid decimal number {text}").into());
    }
    (!digits(text)).then(|| format!("Illegal number '{text}'").into())
}
