//! Ruby code as tokens, and a template as one sequence of them.

use std::rc::Rc;

use super::Beyond;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// Text between tags, to be written out.
    Text(Rc<str>),
    /// `<%=` and its end.
    Output,
    OutputEnd,
    Newline,
    Integer(i64),
    Float(f64),
    Text_(Vec<Piece>),
    Regex(Vec<Piece>, String),
    Symbol(String),
    /// A local variable or a method; may end in `?` or `!`.
    Name(String),
    /// `name:` as a key.
    Label(String),
    Constant(String),
    Instance(String),
    Global(String),
    Word(&'static str),
    Sign(&'static str),
    End,
}

/// A part of a text with interpolation.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Piece {
    Literal(String),
    Code(Vec<Lexed>),
}

/// A token and whether space stands before it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Lexed {
    pub(super) token: Token,
    pub(super) spaced: bool,
}

const WORDS: &[&str] = &[
    "if", "unless", "elsif", "else", "end", "case", "when", "while", "until", "for", "in", "do", "then",
    "and", "or", "not", "nil", "true", "false", "self", "begin", "rescue", "ensure", "def", "next", "break",
    "return", "yield", "defined?",
];

const SIGNS: &[&str] = &[
    "**=", "<=>", "===", "...", "<<=", ">>=", "&&=", "||=", "**", "==", "!=", ">=", "<=", "&&", "||", "=~",
    "!~", "=>", "->", "..", "::", "<<", ">>", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "&.", "+", "-", "*",
    "/", "%", "=", "<", ">", "!", "&", "|", "^", "~", "?", ":", ",", ".", ";", "(", ")", "[", "]", "{", "}",
];

/// The tokens of a template with trim mode `-`.
pub(super) fn template(text: &str) -> Result<Vec<Lexed>, Beyond> {
    let mut tokens = Vec::new();
    let mut literal = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("<%") {
        literal.push_str(&rest[..at]);
        rest = &rest[at + 2..];
        if let Some(after) = rest.strip_prefix('%') {
            literal.push_str("<%");
            rest = after;
            continue;
        }
        let (kind, code_start) = match rest.chars().next() {
            Some('=') => ('=', 1),
            Some('#') => ('#', 1),
            Some('-') => ('-', 1),
            _ => (' ', 0),
        };
        rest = &rest[code_start..];
        if kind == '-' {
            let kept = literal.trim_end_matches([' ', '\t']).len();
            if kept == 0 || literal[..kept].ends_with('\n') {
                literal.truncate(kept);
            }
        }
        let end = closing(rest).ok_or_else(|| Beyond::new("a tag is not closed"))?;
        let mut code = rest[..end].replace("%%>", "%>");
        rest = &rest[end + 2..];
        let trims = code.ends_with('-');
        if trims {
            code.pop();
        }
        if !literal.is_empty() {
            push(&mut tokens, Token::Text(std::mem::take(&mut literal).into()));
        }
        if trims {
            rest = rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix('\n')).unwrap_or(rest);
        }
        match kind {
            '#' => {}
            '=' => {
                push(&mut tokens, Token::Output);
                tokens.extend(lex(&code)?);
                push(&mut tokens, Token::OutputEnd);
            }
            _ => {
                tokens.extend(lex(&code)?);
                push(&mut tokens, Token::Newline);
            }
        }
    }
    literal.push_str(rest);
    if !literal.is_empty() {
        push(&mut tokens, Token::Text(literal.into()));
    }
    Ok(tokens)
}

/// Where the tag ends; `%%>` is no end.
fn closing(text: &str) -> Option<usize> {
    let mut from = 0;
    loop {
        let at = text[from..].find("%>")? + from;
        if at > 0 && text.as_bytes()[at - 1] == b'%' {
            from = at + 2;
            continue;
        }
        return Some(at);
    }
}

fn push(tokens: &mut Vec<Lexed>, token: Token) {
    tokens.push(Lexed { token, spaced: true });
}

pub(super) fn lex(code: &str) -> Result<Vec<Lexed>, Beyond> {
    let mut lexer = Lexer { rest: code, tokens: Vec::new(), spaced: true };
    lexer.run()?;
    Ok(lexer.tokens)
}

struct Lexer<'c> {
    rest: &'c str,
    tokens: Vec<Lexed>,
    spaced: bool,
}

impl Lexer<'_> {
    fn run(&mut self) -> Result<(), Beyond> {
        while let Some(letter) = self.rest.chars().next() {
            match letter {
                ' ' | '\t' | '\r' => {
                    self.skip(1);
                    self.spaced = true;
                    continue;
                }
                '\\' if self.rest.starts_with("\\\n") => {
                    self.skip(2);
                    self.spaced = true;
                    continue;
                }
                '\n' | ';' => {
                    self.skip(1);
                    self.push(Token::Newline);
                    self.spaced = true;
                    continue;
                }
                '#' => {
                    let end = self.rest.find('\n').unwrap_or(self.rest.len());
                    self.skip(end);
                    continue;
                }
                '0'..='9' => self.number()?,
                '"' => {
                    self.skip(1);
                    let pieces = self.interpolated('"', None, Escapes::Text)?;
                    self.push(Token::Text_(pieces));
                }
                '\'' => {
                    self.skip(1);
                    let text = self.literal('\'', None)?;
                    self.push(Token::Text_(vec![Piece::Literal(text)]));
                }
                '@' => {
                    self.skip(1);
                    let name = self.word();
                    self.push(Token::Instance(name));
                }
                '$' => {
                    self.skip(1);
                    let name = if self.rest.starts_with('~') {
                        self.skip(1);
                        "~".to_owned()
                    } else {
                        self.word()
                    };
                    self.push(Token::Global(name));
                }
                ':' if self.symbol_follows() => self.symbol()?,
                '%' if self.value_may_follow() && self.percent()? => {}
                '/' if self.value_may_follow() => {
                    self.skip(1);
                    let pieces = self.interpolated('/', None, Escapes::Regex)?;
                    let flags = self.word();
                    self.push(Token::Regex(pieces, flags));
                }
                '`' => return Err(Beyond::new("it runs a program")),
                _ if letter.is_alphabetic() || letter == '_' => self.name(),
                _ => self.sign()?,
            }
            self.spaced = false;
        }
        Ok(())
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = &self.rest[bytes..];
    }

    fn push(&mut self, token: Token) {
        let spaced = self.spaced;
        self.tokens.push(Lexed { token, spaced });
    }

    fn word(&mut self) -> String {
        let end = self
            .rest
            .find(|letter: char| !(letter.is_alphanumeric() || letter == '_'))
            .unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word.to_owned()
    }

    /// Whether a `/` or `%` here starts a literal and is no division.
    fn value_may_follow(&self) -> bool {
        match self.tokens.last().map(|last| &last.token) {
            None => true,
            Some(Token::Sign(sign)) => !matches!(*sign, ")" | "]" | "}"),
            Some(Token::Word(word)) => !matches!(*word, "nil" | "true" | "false" | "self" | "end"),
            Some(Token::Newline | Token::Output | Token::Label(_)) => true,
            // `puts /x/`: space before and none after.
            Some(Token::Name(_)) => self.spaced && !self.rest[1..].starts_with([' ', '=']),
            Some(_) => false,
        }
    }

    fn number(&mut self) -> Result<(), Beyond> {
        let bytes = self.rest.as_bytes();
        let mut end = bytes.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
        let is_float = bytes.get(end) == Some(&b'.') && bytes.get(end + 1).is_some_and(u8::is_ascii_digit);
        if is_float {
            end += 1 + bytes[end + 1..]
                .iter()
                .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_')
                .count();
        }
        let text = &self.rest[..end];
        let token = if is_float {
            Token::Float(
                text.replace('_', "").parse().map_err(|_| Beyond::new("a number is not understood"))?,
            )
        } else {
            let number =
                crate::ruby::numbers::parse_integer(text).and_then(|number| i64::try_from(number).ok());
            Token::Integer(number.ok_or_else(|| Beyond::new("a number is not understood"))?)
        };
        self.skip(end);
        self.push(token);
        Ok(())
    }

    fn name(&mut self) {
        let name = self.word();
        let after_dot = matches!(self.tokens.last().map(|last| &last.token), Some(Token::Sign("." | "&.")));
        if !after_dot && self.rest.starts_with(':') && !self.rest.starts_with("::") && !self.in_ternary() {
            self.skip(1);
            self.push(Token::Label(name));
            return;
        }
        let suffix = self.rest.chars().next().filter(|letter| matches!(letter, '?' | '!'));
        let after = self.rest.get(1..).unwrap_or_default();
        let name = match suffix {
            // `a != b` and `x ? y : z` are no names with a suffix.
            Some(suffix) if !after.starts_with('=') || after.starts_with("==") || after.starts_with("=~") => {
                self.skip(1);
                format!("{name}{suffix}")
            }
            _ => name,
        };
        let token = match WORDS.iter().find(|word| **word == name) {
            Some(word) if !after_dot => Token::Word(word),
            _ if name.starts_with(|first: char| first.is_uppercase()) => Token::Constant(name),
            _ => Token::Name(name),
        };
        self.push(token);
    }

    /// `a ? b : c` is open on this line: a name before `:` is no label.
    fn in_ternary(&self) -> bool {
        let line = self.tokens.iter().rev().take_while(|token| token.token != Token::Newline);
        line.fold(0, |open, token| match token.token {
            Token::Sign("?") => open + 1,
            Token::Sign(":") => open - 1,
            _ => open,
        }) > 0
    }

    fn symbol_follows(&self) -> bool {
        let next = self.rest[1..].chars().next();
        !self.rest.starts_with("::")
            && next.is_some_and(|next| next.is_alphabetic() || matches!(next, '_' | '"'))
    }

    fn symbol(&mut self) -> Result<(), Beyond> {
        self.skip(1);
        if self.rest.starts_with('"') {
            self.skip(1);
            let text = self.literal('"', None)?;
            self.push(Token::Symbol(text));
            return Ok(());
        }
        let mut name = self.word();
        if let Some(suffix) = self.rest.chars().next().filter(|letter| matches!(letter, '?' | '!')) {
            self.skip(1);
            name.push(suffix);
        }
        self.push(Token::Symbol(name));
        Ok(())
    }

    /// `%w[a b]`, `%q(…)`, `%{…}`, `%r{…}`.
    fn percent(&mut self) -> Result<bool, Beyond> {
        let mut letters = self.rest[1..].chars();
        let Some(first) = letters.next() else { return Ok(false) };
        let (kind, open) = match first {
            'w' | 'W' | 'q' | 'Q' | 'i' | 'r' => (first, letters.next()),
            _ => ('Q', Some(first)),
        };
        let Some(open) = open.filter(|open| "([{<|!/".contains(*open)) else { return Ok(false) };
        let close = match open {
            '(' => ')',
            '[' => ']',
            '{' => '}',
            '<' => '>',
            other => other,
        };
        self.skip(if matches!(first, 'w' | 'W' | 'q' | 'Q' | 'i' | 'r') { 3 } else { 2 });
        let nested = (open != close).then_some(open);
        match kind {
            'w' | 'W' | 'i' => {
                let text = self.literal(close, nested)?;
                self.push(Token::Sign("["));
                for word in text.split_whitespace() {
                    let token = if kind == 'i' {
                        Token::Symbol(word.to_owned())
                    } else {
                        Token::Text_(vec![Piece::Literal(word.to_owned())])
                    };
                    self.push(token);
                    self.push(Token::Sign(","));
                }
                self.push(Token::Sign("]"));
            }
            'q' => {
                let text = self.literal(close, nested)?;
                self.push(Token::Text_(vec![Piece::Literal(text)]));
            }
            'r' => {
                let pieces = self.interpolated(close, nested, Escapes::Regex)?;
                let flags = self.word();
                self.push(Token::Regex(pieces, flags));
            }
            _ => {
                let pieces = self.interpolated(close, nested, Escapes::Text)?;
                self.push(Token::Text_(pieces));
            }
        }
        Ok(true)
    }

    /// A text without interpolation: only the end and the backslash can be escaped.
    fn literal(&mut self, close: char, open: Option<char>) -> Result<String, Beyond> {
        let mut text = String::new();
        let mut depth = 0;
        let mut letters = self.rest.char_indices();
        while let Some((at, letter)) = letters.next() {
            if letter == '\\' {
                match letters.next() {
                    Some((_, next)) if next == close || next == '\\' => text.push(next),
                    Some((_, next)) => text.extend(['\\', next]),
                    None => break,
                }
            } else if letter == close && depth == 0 {
                self.rest = &self.rest[at + letter.len_utf8()..];
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
        Err(Beyond::new("a text is not closed"))
    }

    fn interpolated(
        &mut self,
        close: char,
        open: Option<char>,
        escapes: Escapes,
    ) -> Result<Vec<Piece>, Beyond> {
        let mut pieces = Vec::new();
        let mut text = String::new();
        let mut depth = 0;
        loop {
            let Some(letter) = self.rest.chars().next() else {
                return Err(Beyond::new("a text is not closed"));
            };
            self.skip(letter.len_utf8());
            match letter {
                '\\' => {
                    let Some(next) = self.rest.chars().next() else { continue };
                    self.skip(next.len_utf8());
                    match escapes {
                        Escapes::Regex if next == '/' => text.push('/'),
                        Escapes::Regex => text.extend(['\\', next]),
                        Escapes::Text => Self::escape(next, &mut text)?,
                    }
                }
                '#' if self.rest.starts_with('{') => {
                    self.skip(1);
                    let end =
                        code_end(self.rest).ok_or_else(|| Beyond::new("an interpolation is not closed"))?;
                    if !text.is_empty() {
                        pieces.push(Piece::Literal(std::mem::take(&mut text)));
                    }
                    pieces.push(Piece::Code(lex(&self.rest[..end])?));
                    self.skip(end + 1);
                }
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

    fn escape(letter: char, text: &mut String) -> Result<(), Beyond> {
        text.push(match letter {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            's' => ' ',
            'e' => '\u{1b}',
            '0' => '\0',
            'a' => '\u{7}',
            'b' => '\u{8}',
            'u' | 'x' => return Err(Beyond::new("a text has an escape that is not understood")),
            '\n' => return Ok(()),
            other => other,
        });
        Ok(())
    }

    fn sign(&mut self) -> Result<(), Beyond> {
        let sign = SIGNS.iter().find(|sign| self.rest.starts_with(**sign));
        let sign = sign.ok_or_else(|| Beyond::new("a sign is not understood"))?;
        self.skip(sign.len());
        self.push(Token::Sign(sign));
        Ok(())
    }
}

#[derive(Clone, Copy)]
enum Escapes {
    Text,
    Regex,
}

/// Where the code of `#{…}` ends.
fn code_end(text: &str) -> Option<usize> {
    let mut depth = 0;
    let mut quote: Option<char> = None;
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match (quote, letter) {
            (Some(_), '\\') => {
                letters.next();
            }
            (Some(open), _) if letter == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(letter),
            (None, '{') => depth += 1,
            (None, '}') if depth == 0 => return Some(at),
            (None, '}') => depth -= 1,
            _ => {}
        }
    }
    None
}
