//! Texts, words, regular expressions and heredocs.

use setpoint_source::RAISE_LIMITS;

use super::{DEEPEST, Heredoc, Lexed, Lexer, Piece, Token};
use crate::ruby_language::Beyond;

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Escapes {
    Text,
    /// Only the closing letter is unescaped.
    Regex(char),
}

impl Lexer<'_> {
    /// `%w[a b]`, `%q(…)`, `%{…}`, `%r{…}`.
    pub(super) fn percent(&mut self) -> Result<bool, Beyond> {
        let mut letters = self.rest()[1..].chars();
        let Some(first) = letters.next() else { return Ok(false) };
        let is_kind = matches!(first, 'w' | 'W' | 'q' | 'Q' | 'i' | 'I' | 'r' | 's' | 'x');
        let (kind, open) = if is_kind { (first, letters.next()) } else { ('Q', Some(first)) };
        let Some(open) = open.filter(|open| "([{<|!/-^~#@*+,.:;_\"'".contains(*open)) else {
            return Ok(false);
        };
        if !is_kind && !"([{<|!".contains(open) {
            return Ok(false);
        }
        let close = match open {
            '(' => ')',
            '[' => ']',
            '{' => '}',
            '<' => '>',
            other => other,
        };
        self.skip(if is_kind { 3 } else { 2 });
        let nested = (open != close).then_some(open);
        match kind {
            'w' | 'W' | 'i' | 'I' => {
                if kind == 'W' {
                    let pieces = self.interpolated(close, nested, Escapes::Text)?;
                    self.push(Token::Sign("["));
                    for word in words_of(pieces) {
                        self.push(Token::Text(word));
                        self.push(Token::Sign(","));
                    }
                    self.push(Token::Sign("]"));
                    return Ok(true);
                }
                let text = self.literal(close, nested)?;
                if kind == 'I' && text.contains("#{") {
                    return self.beyond("words have an interpolation");
                }
                self.push(Token::Sign("["));
                for word in words(&text) {
                    let token = if matches!(kind, 'i' | 'I') {
                        Token::Symbol(word)
                    } else {
                        Token::Text(vec![Piece::Literal(word)])
                    };
                    self.push(token);
                    self.push(Token::Sign(","));
                }
                self.push(Token::Sign("]"));
            }
            'q' => {
                let text = self.literal(close, nested)?;
                self.push(Token::Text(vec![Piece::Literal(text)]));
            }
            's' => {
                let text = self.literal(close, nested)?;
                self.push(Token::Symbol(text));
            }
            'x' => {
                let _ = self.interpolated(close, nested, Escapes::Text)?;
                self.push(Token::Command);
            }
            'r' => {
                let pieces = self.interpolated(close, nested, Escapes::Regex(close))?;
                let flags = self.word();
                self.push(Token::Regex(pieces, flags));
            }
            _ => {
                let pieces = self.interpolated(close, nested, Escapes::Text)?;
                self.push(Token::Text(pieces));
            }
        }
        Ok(true)
    }

    /// A text without interpolation: only the end and the backslash can be escaped.
    pub(super) fn literal(&mut self, close: char, open: Option<char>) -> Result<String, Beyond> {
        let mut text = String::new();
        let mut depth = 0;
        loop {
            let Some(letter) = self.peek() else { return self.beyond("a text is not closed") };
            self.skip(letter.len_utf8());
            if letter == '\\' {
                match self.peek() {
                    Some(next) => {
                        self.skip(next.len_utf8());
                        if next == close || next == '\\' || Some(next) == open {
                            text.push(next);
                        } else {
                            text.extend(['\\', next]);
                        }
                    }
                    None => return self.beyond("a text is not closed"),
                }
            } else if letter == close && depth == 0 {
                return Ok(text);
            } else {
                if Some(letter) == open {
                    depth += 1;
                } else if letter == close {
                    depth -= 1;
                }
                text.push(letter);
            }
        }
    }

    pub(super) fn interpolated(
        &mut self,
        close: char,
        open: Option<char>,
        escapes: Escapes,
    ) -> Result<Vec<Piece>, Beyond> {
        let mut pieces = Vec::new();
        let mut text = String::new();
        let mut depth = 0;
        loop {
            let Some(letter) = self.peek() else { return self.beyond("a text is not closed") };
            self.skip(letter.len_utf8());
            match letter {
                '\\' => self.escaped(escapes, &mut text)?,
                '#' if self.peek() == Some('{') => self.interpolation(&mut pieces, &mut text)?,
                _ if letter == close && depth == 0 => break,
                _ => {
                    if Some(letter) == open {
                        depth += 1;
                    } else if letter == close {
                        depth -= 1;
                    }
                    text.push(letter);
                }
            }
        }
        if !text.is_empty() || pieces.is_empty() {
            pieces.push(Piece::Literal(text));
        }
        Ok(pieces)
    }

    /// The code of `#{…}`, after the `#`.
    fn interpolation(&mut self, pieces: &mut Vec<Piece>, text: &mut String) -> Result<(), Beyond> {
        self.skip(1);
        if !text.is_empty() {
            pieces.push(Piece::Literal(std::mem::take(text)));
        }
        self.depth += 1;
        if self.depth > DEEPEST {
            return self.beyond(format!("texts are nested too deeply: {RAISE_LIMITS}"));
        }
        let outer = std::mem::take(&mut self.tokens);
        let spaced = std::mem::replace(&mut self.spaced, true);
        let result = self.run(true);
        let code: Vec<Lexed> = std::mem::replace(&mut self.tokens, outer);
        self.spaced = spaced;
        self.depth -= 1;
        result?;
        self.skip(1);
        pieces.push(Piece::Code(code));
        Ok(())
    }

    /// What a backslash and the next letters mean.
    fn escaped(&mut self, escapes: Escapes, text: &mut String) -> Result<(), Beyond> {
        let Some(letter) = self.peek() else { return Ok(()) };
        self.skip(letter.len_utf8());
        if let Escapes::Regex(close) = escapes {
            if letter == '/' && close == '/' {
                text.push('/');
            } else {
                text.extend(['\\', letter]);
            }
            return Ok(());
        }
        let digits = |lexer: &Self, most: usize, radix: u32| -> usize {
            lexer.rest().chars().take(most).take_while(|letter| letter.is_digit(radix)).count()
        };
        text.push(match letter {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            's' => ' ',
            'e' => '\u{1b}',
            'a' => '\u{7}',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'v' => '\u{b}',
            'u' if self.peek() == Some('{') => {
                let end = self.rest().find('}').unwrap_or(1);
                let code = u32::from_str_radix(self.rest().get(1..end).unwrap_or_default().trim(), 16);
                self.skip(end + 1);
                match code.ok().and_then(char::from_u32) {
                    Some(letter) => letter,
                    None => return self.beyond("a text has an escape that is not understood"),
                }
            }
            'u' | 'x' => {
                let count = digits(self, if letter == 'u' { 4 } else { 2 }, 16);
                let code = u32::from_str_radix(&self.rest()[..count], 16);
                self.skip(count);
                match code.ok().filter(|code| letter == 'u' || *code < 128).and_then(char::from_u32) {
                    Some(letter) => letter,
                    None => return self.beyond("a text has an escape that is not understood"),
                }
            }
            '0'..='7' => {
                let count = digits(self, 2, 8);
                let code = u32::from_str_radix(&format!("{letter}{}", &self.rest()[..count]), 8);
                self.skip(count);
                match code.ok().filter(|code| *code < 128).and_then(char::from_u32) {
                    Some(letter) => letter,
                    None => return self.beyond("a text has an escape that is not understood"),
                }
            }
            'c' | 'C' | 'M' => return self.beyond("a text has an escape that is not understood"),
            '\n' => return Ok(()),
            other => other,
        });
        Ok(())
    }

    /// `<<~END`: its text follows in the next line.
    pub(super) fn heredoc(&mut self) -> Result<(), Beyond> {
        self.skip(2);
        let squiggly = self.peek() == Some('~');
        let indented = squiggly || self.peek() == Some('-');
        if indented {
            self.skip(1);
        }
        let quote = self.peek().filter(|letter| matches!(letter, '\'' | '"'));
        let end = match quote {
            Some(quote) => {
                self.skip(1);
                self.literal(quote, None)?
            }
            None => self.word(),
        };
        let token = self.tokens.len();
        self.heredocs.push(Heredoc { token, end, raw: quote == Some('\''), squiggly, indented });
        self.push(Token::Text(Vec::new()));
        Ok(())
    }

    pub(super) fn read_heredocs(&mut self) -> Result<(), Beyond> {
        for heredoc in std::mem::take(&mut self.heredocs) {
            let mut body = String::new();
            let line = self.line;
            loop {
                if self.rest().is_empty() {
                    return self.beyond("a heredoc is not closed");
                }
                let length = self.rest().find('\n').map_or(self.rest().len(), |at| at + 1);
                let text = &self.rest()[..length];
                let bare = text.trim_end_matches(['\n', '\r']);
                let is_end =
                    if heredoc.indented { bare.trim_start() == heredoc.end } else { bare == heredoc.end };
                let owned = text.to_owned();
                self.skip(length);
                if is_end {
                    break;
                }
                body.push_str(&owned);
            }
            if heredoc.squiggly {
                body = outdented(&body);
            }
            let pieces = if heredoc.raw {
                vec![Piece::Literal(body)]
            } else {
                let mut inner = Lexer {
                    text: &body,
                    at: 0,
                    line,
                    tokens: Vec::new(),
                    spaced: true,
                    heredocs: Vec::new(),
                    depth: self.depth + 1,
                };
                if inner.depth > DEEPEST {
                    return self.beyond(format!("texts are nested too deeply: {RAISE_LIMITS}"));
                }
                inner.whole()?
            };
            if let Some(place) = self.tokens.get_mut(heredoc.token) {
                place.token = Token::Text(pieces);
            }
        }
        Ok(())
    }

    /// All of the text, with its interpolations.
    fn whole(&mut self) -> Result<Vec<Piece>, Beyond> {
        let mut pieces = Vec::new();
        let mut text = String::new();
        while let Some(letter) = self.peek() {
            self.skip(letter.len_utf8());
            match letter {
                '\\' => self.escaped(Escapes::Text, &mut text)?,
                '#' if self.peek() == Some('{') => self.interpolation(&mut pieces, &mut text)?,
                _ => text.push(letter),
            }
        }
        if !text.is_empty() || pieces.is_empty() {
            pieces.push(Piece::Literal(text));
        }
        Ok(pieces)
    }
}

/// Words apart; a space after a backslash belongs to its word.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, letters.peek()) {
            ('\\', Some(next)) if next.is_whitespace() => word.extend(letters.next()),
            _ if letter.is_whitespace() => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            _ => word.push(letter),
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// Without the indentation that all lines with text have in common.
fn outdented(text: &str) -> String {
    let width = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let least =
        text.split_inclusive('\n').filter(|line| !line.trim().is_empty()).map(width).min().unwrap_or(0);
    text.split_inclusive('\n').map(|line| &line[width(line).min(least)..]).collect()
}

/// `%W[a#{b} c]`: words end at white space outside of code.
fn words_of(pieces: Vec<Piece>) -> Vec<Vec<Piece>> {
    let mut words: Vec<Vec<Piece>> = Vec::new();
    let mut is_open = false;
    for piece in pieces {
        let Piece::Literal(text) = piece else {
            match words.last_mut() {
                Some(word) if is_open => word.push(piece),
                _ => words.push(vec![piece]),
            }
            is_open = true;
            continue;
        };
        for part in text.split_inclusive(char::is_whitespace) {
            let bare = part.trim_end();
            if !bare.is_empty() {
                let piece = Piece::Literal(bare.to_owned());
                match words.last_mut() {
                    Some(word) if is_open => word.push(piece),
                    _ => words.push(vec![piece]),
                }
            }
            is_open = bare.len() == part.len();
        }
    }
    words
}
