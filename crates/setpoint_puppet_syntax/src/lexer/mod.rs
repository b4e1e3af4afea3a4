//! Text to tokens.
//!
//! Tokens are made one at a time. What depends on context is kept here and not in the parser: whether `/` may begin
//! a regular expression, how many braces are open in an interpolation, where the text of a heredoc ends.

mod epp;
mod escape;
mod heredoc;
mod number;
mod regex;
mod string;

use std::collections::VecDeque;

use memchr::{memchr, memmem};
use setpoint_source::{Range, Severity};

use crate::token::{Kind, Token};
use epp::EppMode;
use escape::Escapes;

/// Something that is wrong with the text below the level of the grammar.
#[derive(Debug)]
pub(crate) struct LexError {
    pub(crate) range: Range,
    pub(crate) said: Said,
    pub(crate) severity: Severity,
}

/// What is told about a text, and what to do about it.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) message: String,
    pub(crate) help: Option<&'static str>,
    /// A limit of this lexer, and not of Puppet's.
    pub(crate) is_limit: bool,
}

impl<T: Into<String>> From<T> for Said {
    fn from(message: T) -> Self {
        Self { message: message.into(), help: None, is_limit: false }
    }
}

impl Said {
    fn with_help(message: impl Into<String>, help: &'static str) -> Self {
        Self { help: Some(help), ..Self::from(message) }
    }
}

const LOWER_CASE: &str = "After `::` the name goes on with a lower-case letter.";
const CAPITALS: &str = "Each part of the name of a type begins with a capital: `Foo::Bar`.";

/// A string that is open while the tokens of an interpolation are made.
#[derive(Debug)]
struct OpenString {
    start: u32,
    /// How many braces were open before `${`.
    braces: u32,
    /// Ends at a quote; else it is the text of a heredoc, which ends with the text.
    quoted: bool,
}

#[derive(Debug)]
pub(crate) struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    pos: usize,
    /// Tokens that are made already.
    queue: VecDeque<Token>,
    /// The kind of the token before, and where it stands.
    after: Kind,
    last: Range,
    braces: u32,
    open: Vec<OpenString>,
    /// The next token continues the innermost open string.
    resume: bool,
    /// Nothing but blanks stands between the start of the line and here.
    line_is_blank: bool,
    /// No `/` that could end a regular expression is left in the text.
    no_regex: bool,
    /// Where the line after a heredoc begins.
    newline_jump: Option<usize>,
    /// How many heredocs this text is nested in.
    heredocs: u32,
    /// For the text of a heredoc: its escapes, and whether it is interpolated.
    escapes: Escapes,
    interpolate: bool,
    epp: Option<EppMode>,
    pub(crate) errors: Vec<LexError>,
    /// The rest of the text could not be read at all, so that a missing end needs no second message.
    pub(crate) broken: bool,
    /// Where a string begins that does not end: what follows is text, whatever it looks like.
    pub(crate) unclosed: Option<u32>,
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let mut lexer = Self::over(text);
        if text.as_bytes().starts_with(b"\xEF\xBB\xBF") {
            lexer.fail(
                0,
                3,
                Said::with_help(
                    "Illegal UTF-8 Byte Order mark at beginning of input: [EF BB BF] - remove these from the puppet source",
                    "Save the file without a byte order mark.",
                ),
            );
            lexer.pos = 3;
        }
        lexer
    }

    fn over(text: &'a str) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            pos: 0,
            queue: VecDeque::new(),
            after: Kind::Eof,
            last: Range::default(),
            braces: 0,
            open: Vec::new(),
            resume: false,
            line_is_blank: true,
            no_regex: false,
            newline_jump: None,
            heredocs: 0,
            escapes: Escapes::NONE,
            interpolate: false,
            epp: None,
            errors: Vec::new(),
            broken: false,
            unclosed: None,
        }
    }

    pub(crate) fn next(&mut self) -> Token {
        let token = if !self.queue.is_empty()
            && let Some(token) = self.queue.pop_front()
        {
            token
        } else if self.resume {
            self.resume = false;
            self.string_tail()
        } else {
            self.scan()
        };
        self.line_is_blank = false;
        // An interpolation sees what stood before its string, as Puppet's lexer does.
        if !matches!(token.kind, Kind::DqPre | Kind::DqMid) {
            self.after = token.kind;
            self.last = token.range;
        }
        token
    }

    #[inline]
    fn byte(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(0)
    }

    #[inline]
    fn peek(&self, ahead: usize) -> u8 {
        self.byte(self.pos + ahead)
    }

    fn fail(&mut self, start: usize, end: usize, said: impl Into<Said>) {
        let range = Range::new(start, end);
        self.errors.push(LexError { range, said: said.into(), severity: Severity::Error });
    }

    /// Reports an error after which nothing can be read.
    fn give_up(&mut self, start: usize, end: usize, said: impl Into<Said>) -> Token {
        self.fail(start, end, said);
        self.stop();
        Token::new(Kind::Bad, start, end)
    }

    /// Makes no further tokens.
    pub(crate) fn stop(&mut self) {
        self.broken = true;
        self.queue.clear();
        self.open.clear();
        self.resume = false;
        self.pos = self.bytes.len();
    }

    fn take(&mut self, kind: Kind, length: usize) -> Token {
        let start = self.pos;
        self.pos += length;
        Token::new(kind, start, self.pos)
    }

    /// Makes the next token of code.
    fn scan(&mut self) -> Token {
        loop {
            let Some(&byte) = self.bytes.get(self.pos) else { return self.end() };
            match byte {
                b' ' | b'\t' | b'\r' => {
                    self.pos += 1;
                    while self.peek(0) == b' ' {
                        self.pos += 1;
                    }
                }
                b'\n' => {
                    self.pos = self.newline_jump.take().unwrap_or(self.pos + 1);
                    self.line_is_blank = true;
                }
                b'#' => {
                    self.pos =
                        memchr(b'\n', &self.bytes[self.pos..]).map_or(self.bytes.len(), |at| self.pos + at);
                }
                b'/' if self.peek(1) == b'*' => {
                    match memmem::find(self.bytes.get(self.pos + 2..).unwrap_or(b""), b"*/") {
                        Some(at) => {
                            self.pos += at + 4;
                            self.line_is_blank = false;
                        }
                        None => return self.give_up(self.pos, self.pos + 2, "Unclosed multiline comment"),
                    }
                }
                0x80.. => match self.blank_length(self.pos) {
                    0 => {
                        let length = self.text[self.pos..].chars().next().map_or(1, char::len_utf8);
                        return self.take(Kind::Other, length);
                    }
                    length => self.pos += length,
                },
                _ => {
                    if let Some(token) = self.token(byte) {
                        return token;
                    }
                }
            }
        }
    }

    /// The token that begins with a byte of ASCII. Nothing, where the text of a template was skipped.
    fn token(&mut self, byte: u8) -> Option<Token> {
        let next = self.peek(1);
        Some(match byte {
            b'a'..=b'z' | b'_' => self.word(),
            b'A'..=b'Z' => self.class_ref(),
            b'$' => self.variable(),
            b'\'' => self.single_quoted(),
            b'"' => self.string_head(true),
            b'0'..=b'9' => self.number(),
            b',' => self.take(Kind::Comma, 1),
            b';' => self.take(Kind::Semicolon, 1),
            b'.' => self.take(Kind::Dot, 1),
            b'?' => self.take(Kind::QMark, 1),
            b'*' => self.take(Kind::Times, 1),
            b')' => self.take(Kind::RParen, 1),
            b']' => self.take(Kind::RBrack, 1),
            b'[' => {
                let kind = if self.follows_space() { Kind::ListStart } else { Kind::LBrack };
                self.take(kind, 1)
            }
            b'(' => {
                let kind = if self.line_is_blank { Kind::WsLParen } else { Kind::LParen };
                self.take(kind, 1)
            }
            b'{' => {
                self.braces = self.braces.wrapping_add(1);
                let kind = if self.after == Kind::QMark { Kind::SelBrace } else { Kind::LBrace };
                self.take(kind, 1)
            }
            b'}' => {
                self.braces = self.braces.wrapping_sub(1);
                if self.open.last().is_some_and(|open| open.braces == self.braces) {
                    self.pos += 1;
                    self.after = Kind::RBrace;
                    return Some(self.string_tail());
                }
                self.take(Kind::RBrace, 1)
            }
            b'=' => match next {
                b'=' => self.take(Kind::IsEqual, 2),
                b'>' => self.take(Kind::FArrow, 2),
                b'~' => self.take(Kind::Match, 2),
                _ => self.take(Kind::Equals, 1),
            },
            b':' if next == b':' => self.qualified(),
            b':' => self.take(Kind::Colon, 1),
            b'|' => match (next, self.peek(2)) {
                (b'>', b'>') => self.take(Kind::RRCollect, 3),
                (b'>', _) => self.take(Kind::RCollect, 2),
                _ => self.take(Kind::Pipe, 1),
            },
            b'+' => match next {
                b'=' => self.take(Kind::Appends, 2),
                b'>' => self.take(Kind::PArrow, 2),
                _ => self.take(Kind::Plus, 1),
            },
            b'-' if self.epp.is_some() && next == b'%' && self.peek(2) == b'>' => return self.epp_close(3),
            b'-' => match next {
                b'>' => self.take(Kind::InEdge, 2),
                b'=' => self.take(Kind::Deletes, 2),
                _ => self.take(Kind::Minus, 1),
            },
            b'%' if self.epp.is_some() && next == b'>' => return self.epp_close(2),
            b'%' => self.take(Kind::Modulo, 1),
            b'!' => match next {
                b'=' => self.take(Kind::NotEqual, 2),
                b'~' => self.take(Kind::NoMatch, 2),
                _ => self.take(Kind::Not, 1),
            },
            b'~' if next == b'>' => self.take(Kind::InEdgeSub, 2),
            b'~' => self.take(Kind::Tilde, 1),
            b'/' => self.slash(),
            b'<' => match (next, self.peek(2)) {
                (b'<', b'|') => self.take(Kind::LLCollect, 3),
                (b'<', _) => self.take(Kind::LShift, 2),
                (b'=', _) => self.take(Kind::LessEqual, 2),
                (b'|', _) => self.take(Kind::LCollect, 2),
                (b'-', _) => self.take(Kind::OutEdge, 2),
                (b'~', _) => self.take(Kind::OutEdgeSub, 2),
                _ => self.take(Kind::Less, 1),
            },
            b'>' => match next {
                b'>' => self.take(Kind::RShift, 2),
                b'=' => self.take(Kind::GreaterEqual, 2),
                _ => self.take(Kind::Greater, 1),
            },
            b'@' => match next {
                b'@' => self.take(Kind::AtAt, 2),
                b'(' => self.heredoc(),
                _ => self.take(Kind::At, 1),
            },
            _ => self.take(Kind::Other, 1),
        })
    }

    fn end(&mut self) -> Token {
        let end = self.bytes.len();
        if self.open.is_empty() {
            if let Some(mode) = self.epp.take()
                && mode != EppMode::Text
                && !self.broken
            {
                let message = "Unbalanced epp tag, reached <eof> without closing tag.";
                return self.give_up(end, end, Said::with_help(message, "Close the tag with `%>`."));
            }
            return Token::new(Kind::Eof, end, end);
        }
        // An interpolation is open: its string is continued, which ends the text of a heredoc and fails for a quote.
        self.string_tail()
    }

    /// The length of the blank character at an offset: a space, a tab, or a space beyond ASCII.
    fn blank_length(&self, at: usize) -> usize {
        match self.byte(at) {
            b' ' | b'\t' => 1,
            0x80.. => {
                let char = self.text.get(at..).and_then(|rest| rest.chars().next());
                char.filter(|&char| is_blank(char)).map_or(0, char::len_utf8)
            }
            _ => 0,
        }
    }

    fn follows_space(&self) -> bool {
        let Some(before) = self.pos.checked_sub(1) else { return true };
        match self.bytes[before] {
            b' ' | b'\t' | b'\n' | b'\r' => true,
            byte if byte.is_ascii() => false,
            _ => self.text[..self.pos].chars().next_back().is_some_and(is_blank),
        }
    }

    /// The end of a word, and whether it is a name: all its parts begin with a letter and none has a hyphen.
    fn word_end(&self) -> Option<(usize, bool)> {
        let mut at = self.pos;
        let mut is_name = true;
        let mut end = None;
        loop {
            let start = if self.byte(at) == b':' && self.byte(at + 1) == b':' { at + 2 } else { at };
            if start == at && end.is_some() || !matches!(self.byte(start), b'a'..=b'z' | b'_') {
                return end.map(|end| (end, is_name));
            }
            is_name &= self.byte(start) != b'_';
            let mut last = self.word_run(start + 1);
            at = last;
            while self.byte(at) == b'-' {
                at += 1;
                let next = self.word_run(at);
                if next > at {
                    is_name = false;
                    last = next;
                    at = next;
                }
            }
            end = Some(last);
            if at != last {
                return Some((last, is_name));
            }
        }
    }

    fn word(&mut self) -> Token {
        // The first byte is a letter or `_`, so there is a word.
        let (end, is_name) = self.word_end().unwrap_or((self.pos + 1, false));
        let kind = if is_name {
            Kind::keyword(&self.bytes[self.pos..end]).unwrap_or(Kind::Name)
        } else {
            Kind::Word
        };
        self.take(kind, end - self.pos)
    }

    /// `::name` and `::Type`.
    fn qualified(&mut self) -> Token {
        let start = self.pos;
        if self.peek(2).is_ascii_uppercase() {
            let end = self.class_ref_end(start);
            if self.bytes[end..].starts_with(b"::") {
                return self.bad_name(
                    end,
                    3,
                    Said::with_help("Illegal fully qualified class reference", CAPITALS),
                );
            }
            return self.take(Kind::ClassRef, end - start);
        }
        match self.word_end() {
            Some((end, is_name)) => self.take(if is_name { Kind::Name } else { Kind::Word }, end - start),
            None => self.bad_name(start, 2, Said::with_help("Illegal fully qualified name", LOWER_CASE)),
        }
    }

    fn class_ref(&mut self) -> Token {
        let end = self.class_ref_end(self.pos);
        if self.bytes[end..].starts_with(b"::") {
            return self.bad_name(end, 1, Said::with_help("Illegal class reference", CAPITALS));
        }
        self.take(Kind::ClassRef, end - self.pos)
    }

    fn class_ref_end(&self, start: usize) -> usize {
        let mut end = start;
        loop {
            let part = if self.bytes[end..].starts_with(b"::") { end + 2 } else { end };
            if !self.byte(part).is_ascii_uppercase() {
                return end;
            }
            end = self.word_run(part);
        }
    }

    /// Reports a name that breaks off at `end`, at the place that Puppet names, and skips the whole of it.
    fn bad_name(&mut self, end: usize, beyond: usize, said: Said) -> Token {
        let start = self.pos;
        let at = (end + beyond).min(self.bytes.len());
        let mut stop = end;
        while is_word(self.byte(stop)) || self.byte(stop) == b':' {
            stop += 1;
        }
        self.fail(at, stop.max(at), said);
        self.pos = stop.max(start + 1);
        Token::new(Kind::Bad, start, self.pos)
    }

    fn word_run(&self, from: usize) -> usize {
        self.bytes[from..]
            .iter()
            .position(|&byte| !is_word(byte))
            .map_or(self.bytes.len(), |length| from + length)
    }

    /// The end of `(::)?(word::)*word` at an offset.
    fn variable_end(&self, from: usize) -> Option<usize> {
        let mut end = None;
        let mut at = if self.bytes[from..].starts_with(b"::") { from + 2 } else { from };
        loop {
            let part = self.word_run(at);
            if part == at {
                return end;
            }
            end = Some(part);
            if !self.bytes[part..].starts_with(b"::") {
                return end;
            }
            at = part + 2;
        }
    }

    fn variable(&mut self) -> Token {
        // A lone `$` is a variable without a name; validation refuses it.
        let end = self.variable_end(self.pos + 1).unwrap_or(self.pos + 1);
        self.take(Kind::Variable, end - self.pos)
    }

    /// A division, or a regular expression where one may stand and a second `/` follows.
    fn slash(&mut self) -> Token {
        let start = self.pos;
        if self.no_regex || self.after.ends_operand() {
            return self.take(Kind::Div, 1);
        }
        let mut at = start + 1;
        while let Some(length) = memchr(b'/', self.bytes.get(at..).unwrap_or(b"")) {
            let end = at + length;
            let slashes = self.bytes[start + 1..end].iter().rev().take_while(|&&byte| byte == b'\\').count();
            if slashes % 2 == 0 {
                let source = self.text[start + 1..end].replace("\\/", "/");
                self.pos = end + 1;
                if let Some(problem) = regex::problem(&source) {
                    // Over several lines it is more likely a stray slash: what follows is code.
                    let is_line = !source.contains('\n');
                    self.pos = if is_line { end + 1 } else { start + 1 };
                    let shown = source.replace('/', "\\/");
                    self.fail(
                        start,
                        self.pos,
                        format!("{problem}: /{}/", shown.lines().next().unwrap_or("")),
                    );
                    return Token::new(Kind::Bad, start, self.pos);
                }
                return Token::with_text(Kind::Regex, start, end + 1, source);
            }
            at = end + 1;
        }
        self.no_regex = true;
        self.take(Kind::Div, 1)
    }
}

#[inline]
fn is_word(byte: u8) -> bool {
    WORD[byte as usize]
}

/// Letters, digits and `_`.
static WORD: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = (byte as u8).is_ascii_alphanumeric() || byte as u8 == b'_';
        byte += 1;
    }
    table
};

/// Tabs and the space separators of Unicode.
fn is_blank(char: char) -> bool {
    matches!(
        char,
        ' ' | '\t' | '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}'
    )
}
