//! Quoted strings and their interpolations.

use std::sync::Arc;

use memchr::{memchr2, memchr3};
use setpoint_source::{Range, Severity};

use super::escape::{self, Escapes};
use super::{LexError, Lexer, OpenString, Said};
use crate::token::{Kind, Token};

const CLOSE: &str = "Close the string; a quote inside it is written with a backslash.";

impl Lexer<'_> {
    pub(super) fn single_quoted(&mut self) -> Token {
        let start = self.pos;
        let mut at = start + 1;
        let mut escaped = false;
        loop {
            let Some(length) = memchr2(b'\'', b'\\', self.bytes.get(at..).unwrap_or(b"")) else {
                let message =
                    format!("Unclosed quote after \"'\" followed by '{}'", self.followed_by(start + 1));
                return self.give_up(start + 1, self.bytes.len(), Said::with_help(message, CLOSE));
            };
            at += length;
            if self.bytes[at] == b'\'' {
                if at == start + 1 && self.second_end(at, b"'") {
                    at += 1;
                    continue;
                }
                break;
            }
            escaped = true;
            at += 2;
        }
        let raw = &self.text[start + 1..at];
        self.pos = at + 1;
        let value: Arc<str> = if escaped { escape::single_quoted(raw).into() } else { raw.into() };
        Token::with_text(Kind::String, start, self.pos, value)
    }

    /// A string from its beginning: a quote, or the start of the text of a heredoc.
    pub(super) fn string_head(&mut self, quoted: bool) -> Token {
        let start = self.pos;
        self.pos += usize::from(quoted);
        self.string_part(start, true, quoted)
    }

    /// What follows an interpolation.
    pub(super) fn string_tail(&mut self) -> Token {
        let quoted = self.open.last().is_some_and(|open| open.quoted);
        self.string_part(self.pos, false, quoted)
    }

    /// The text up to the next interpolation, or to the end of the string.
    fn string_part(&mut self, token_start: usize, first: bool, quoted: bool) -> Token {
        let start = self.pos;
        let escapes = if quoted { Escapes::DOUBLE_QUOTED } else { self.escapes };
        let mut at = start;
        // After the last `$` that begins no variable: Puppet names this place if the string does not end.
        let mut segment = start;
        let mut escaped = false;
        while let Some(length) = memchr3(b'"', b'$', b'\\', self.bytes.get(at..).unwrap_or(b"")) {
            at += length;
            match self.bytes[at] {
                b'"' if quoted && at == segment && self.second_end(at, b"\"$") => at += 1,
                b'"' if quoted => {
                    self.pos = at + 1;
                    return self.string_end(token_start, start..at, first, escapes, escaped);
                }
                b'\\' => {
                    escaped = true;
                    at += if escapes.contains(Escapes::DOLLAR) { 2 } else { 1 };
                }
                b'$' if quoted || self.interpolate => {
                    let kind = if first { Kind::DqPre } else { Kind::DqMid };
                    if self.byte(at + 1) == b'{' {
                        let text = self.text_value(start, at, escapes, escaped);
                        self.open_interpolation(token_start, first, quoted);
                        self.braces = self.braces.wrapping_add(1);
                        self.pos = at + 2;
                        return Token::with_text(kind, token_start, at + 2, text);
                    }
                    if let Some(end) = self.variable_end(at + 1) {
                        let text = self.text_value(start, at, escapes, escaped);
                        self.open_interpolation(token_start, first, quoted);
                        self.queue.push_back(Token::new(Kind::Variable, at, end));
                        self.resume = true;
                        self.pos = end;
                        return Token::with_text(kind, token_start, at, text);
                    }
                    at += 1;
                    segment = at;
                }
                _ => at += 1,
            }
        }
        let end = self.bytes.len();
        self.pos = end;
        if quoted {
            // Puppet shows what its scanner matched last.
            let after = match (segment == start, first) {
                (true, true) => "\"",
                (true, false) => self.last_text(),
                (false, _) => "",
            };
            let message =
                format!("Unclosed quote after '{after}' followed by '{}'", self.followed_by(segment));
            let outermost = self.open.first().map_or(token_start as u32, |open| open.start);
            self.unclosed = Some(outermost);
            return self.give_up(segment, end, Said::with_help(message, CLOSE));
        }
        self.string_end(token_start, start..end, first, escapes, escaped)
    }

    fn last_text(&self) -> &str {
        let text = self.text.get(self.last.start as usize..self.last.end as usize).unwrap_or("");
        text.trim_start_matches('$')
    }

    /// A quirk of Puppet's scanner: where a text begins with what could end it, and what could end it follows, the
    /// first belongs to the text.
    fn second_end(&self, at: usize, ends: &[u8]) -> bool {
        let mut next = at + 1;
        while self.byte(next) == b'\\' && self.byte(next + 1) == b'\\' {
            next += 2;
        }
        ends.contains(&self.byte(next))
    }

    fn open_interpolation(&mut self, start: usize, first: bool, quoted: bool) {
        let braces = self.braces;
        match self.open.last_mut() {
            Some(open) if !first => open.braces = braces,
            _ => self.open.push(OpenString { start: start as u32, braces, quoted }),
        }
    }

    fn string_end(
        &mut self,
        token_start: usize,
        text: std::ops::Range<usize>,
        first: bool,
        escapes: Escapes,
        escaped: bool,
    ) -> Token {
        let value = self.text_value(text.start, text.end, escapes, escaped);
        if first {
            return Token::with_text(Kind::String, token_start, self.pos, value);
        }
        self.open.pop();
        Token::with_text(Kind::DqPost, token_start, self.pos, value)
    }

    /// The text between two offsets; `escaped` says that there is a backslash in it.
    fn text_value(&mut self, start: usize, end: usize, escapes: Escapes, escaped: bool) -> Arc<str> {
        let raw = &self.text[start..end];
        if !escaped {
            return raw.into();
        }
        let mut problems = Vec::new();
        let value = escape::unescape(raw, escapes, &mut problems);
        for problem in problems {
            // A heredoc keeps what it does not know, without a word.
            if problem.severity == Severity::Error || escapes == Escapes::DOUBLE_QUOTED {
                let at = start + problem.at;
                let range = Range::new(at, at + problem.length);
                self.errors.push(LexError { range, said: problem.said, severity: problem.severity });
            }
        }
        value.into()
    }

    /// The next characters, as Puppet shows them where a quote is not closed.
    pub(super) fn followed_by(&self, at: usize) -> String {
        let rest = self.text.get(at..).unwrap_or("");
        if rest.is_empty() {
            return "<eof>".to_owned();
        }
        let mut shown = String::new();
        for char in rest.chars().take(5) {
            match char {
                '\t' => shown.push_str("\\t"),
                '\n' => shown.push_str("\\n"),
                '\r' => shown.push_str("\\r"),
                other => shown.push(other),
            }
        }
        shown + "..."
    }
}
