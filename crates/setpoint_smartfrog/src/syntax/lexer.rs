//! Tokens: their kinds and their places; the text stays in the file.

use setpoint_source::Range;

use super::Dialect;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Word,
    String,
    MultilineString,
    Integer,
    Long,
    Float,
    Double,
    Bytes,
    Include,
    OptionalInclude,
    Codebase,
    LeftBrace,
    RightBrace,
    LeftBracket,
    RightBracket,
    LiteralVectorStart,
    LiteralVectorEnd,
    LeftParenthesis,
    RightParenthesis,
    Comma,
    Semicolon,
    Colon,
    Unique,
    Plus,
    PlusPlus,
    Minus,
    Times,
    Divide,
    Modulo,
    Append,
    Equal,
    NotEqual,
    LessOrEqual,
    GreaterOrEqual,
    Less,
    Greater,
    And,
    Or,
    Xor,
    Not,
    Implies,
    End,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) range: Range,
}

/// What the lexer could not read, and why.
#[derive(Debug)]
pub(super) struct LexicalError {
    pub(super) range: Range,
    pub(super) message: String,
}

/// Stands for a byte that is not UTF-8: a noncharacter of Unicode, which no text has.
pub(super) const NOT_UTF8: char = '\u{fdd0}';

pub(super) fn tokens(text: &str, dialect: Dialect) -> (Vec<Token>, Vec<LexicalError>) {
    let mut lexer = Lexer {
        text,
        bytes: text.as_bytes(),
        at: 0,
        comments_nest: dialect == Dialect::Core,
        tokens: Vec::with_capacity(text.len() / 4 + 1),
        errors: Vec::new(),
    };
    lexer.run();
    (lexer.tokens, lexer.errors)
}

struct Lexer<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    comments_nest: bool,
    tokens: Vec<Token>,
    errors: Vec<LexicalError>,
}

impl Lexer<'_> {
    fn run(&mut self) {
        loop {
            self.skip_blank();
            let start = self.at;
            if start >= self.bytes.len() {
                self.tokens.push(Token { kind: Kind::End, range: Range::new(start, start) });
                return;
            }
            if let Some(kind) = self.token() {
                debug_assert!(self.at > start, "the lexer advances");
                if self.text.get(start..self.at).is_some_and(|token| token.contains(NOT_UTF8)) {
                    self.error(start, "this is not valid UTF-8: save the file as UTF-8");
                }
                self.tokens.push(Token { kind, range: Range::new(start, self.at) });
            }
        }
    }

    fn byte(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn starts_with(&self, text: &str) -> bool {
        self.bytes[self.at..].starts_with(text.as_bytes())
    }

    fn error(&mut self, start: usize, message: impl Into<String>) {
        self.errors.push(LexicalError { range: Range::new(start, self.at), message: message.into() });
    }

    fn skip_blank(&mut self) {
        loop {
            match self.byte(0) {
                b' ' | b'\t' | b'\n' | b'\r' | 0x0c if self.at < self.bytes.len() => self.at += 1,
                b'/' if self.byte(1) == b'/' => {
                    let rest = &self.bytes[self.at..];
                    self.at += rest.iter().position(|&b| b == b'\n' || b == b'\r').unwrap_or(rest.len());
                }
                b'/' if self.byte(1) == b'*' => self.block_comment(),
                0xef if self.at == 0 && self.starts_with("\u{feff}") => self.at += 3,
                _ => return,
            }
        }
    }

    fn block_comment(&mut self) {
        let start = self.at;
        let inside = start + 2;
        let nested = self.comments_nest.then(|| nested_comment_end(self.bytes, inside)).flatten();
        // A comment whose inner openings are never closed does not nest, and nor do those after it.
        self.comments_nest = nested.is_some();
        let end = nested.or_else(|| {
            let rest = &self.bytes[inside.min(self.bytes.len())..];
            rest.windows(2).position(|pair| pair == b"*/").map(|at| inside + at + 2)
        });
        if let Some(end) = end {
            self.at = end;
        } else {
            self.at = self.bytes.len();
            let range = Range::new(start, start + 2);
            self.errors
                .push(LexicalError { range, message: "this comment is never closed with `*/`".into() });
        }
    }

    fn token(&mut self) -> Option<Kind> {
        let first = self.byte(0);
        if let Some(kind) = self.number() {
            return Some(kind);
        }
        if first == b'x' && self.byte(1) == b'|' && self.byte(2) != b']' {
            self.at += 2;
            return Some(Kind::Xor);
        }
        if self.word() {
            return Some(Kind::Word);
        }
        match first {
            b'"' => self.string(),
            b'#' => self.hash(),
            _ => self.punctuation(),
        }
    }

    /// Letters first; then also digits and the marks that production names may have: `web.running`, `a-b`.
    fn word(&mut self) -> bool {
        let Some(first) = self.text[self.at..].chars().next() else { return false };
        if !(first.is_alphabetic() || first == '_' || first == '$') {
            return false;
        }
        let rest = &self.text[self.at..];
        let is_part = |c: char| c.is_alphanumeric() || "._-+@#~$%^&".contains(c);
        // ASCII is the common case and needs no decoding.
        let mut length =
            rest.bytes().position(|b| !b.is_ascii() || !is_part(b as char)).unwrap_or(rest.len());
        if rest.as_bytes().get(length).is_some_and(|b| !b.is_ascii()) {
            length += rest[length..].find(|c: char| !is_part(c)).unwrap_or(rest.len() - length);
        }
        self.at += length;
        true
    }

    fn number(&mut self) -> Option<Kind> {
        let digits = |from: usize| {
            self.bytes.get(from..).map_or(0, |rest| rest.iter().take_while(|b| b.is_ascii_digit()).count())
        };
        let mut at = self.at + usize::from(self.byte(0) == b'-');
        let whole = digits(at);
        at += whole;
        let mut float = false;
        if self.bytes.get(at) == Some(&b'.') {
            let fraction = digits(at + 1);
            if whole > 0 || fraction > 0 {
                at += 1 + fraction;
                float = true;
            }
        }
        if whole == 0 && !float {
            return None;
        }
        if matches!(self.bytes.get(at), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(self.bytes.get(at + 1), Some(b'+' | b'-')));
            let exponent = digits(at + 1 + sign);
            if exponent > 0 {
                at += 1 + sign + exponent;
                float = true;
            }
        }
        let (kind, suffix) = match self.bytes.get(at) {
            Some(b'd' | b'D') => (Kind::Double, 1),
            Some(b'f' | b'F') => (Kind::Float, 1),
            Some(b'l' | b'L') if !float => (Kind::Long, 1),
            _ if float => (Kind::Float, 0),
            _ => (Kind::Integer, 0),
        };
        self.at = at + suffix;
        Some(kind)
    }

    fn string(&mut self) -> Option<Kind> {
        let start = self.at;
        self.at += 1;
        loop {
            match self.byte(0) {
                b'"' => {
                    self.at += 1;
                    return Some(Kind::String);
                }
                b'\\' => self.at += 1 + self.char_length(1),
                b'\n' | b'\r' | 0 if self.byte(0) != 0 || self.at >= self.bytes.len() => {
                    self.error(
                        start,
                        "this string is not closed on its line; `##…#` writes one of several lines",
                    );
                    return None;
                }
                _ => self.at += self.char_length(0),
            }
        }
    }

    /// The bytes of the character at an offset; none at the end.
    fn char_length(&self, ahead: usize) -> usize {
        self.text.get(self.at + ahead..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8)
    }

    fn hash(&mut self) -> Option<Kind> {
        let start = self.at;
        for (text, kind) in
            [("#include?", Kind::OptionalInclude), ("#include", Kind::Include), ("#codebase", Kind::Codebase)]
        {
            if self.starts_with(text) {
                self.at += text.len();
                return Some(kind);
            }
        }
        if ["#HEX#", "#DEC#", "#OCT#", "#BIN#", "#B64#"].iter().any(|start| self.starts_with(start)) {
            self.at += 5;
            while matches!(self.byte(0), b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'+' | b'/' | b'=' | b' ' | b'\n' | b'\r' | b'\t')
            {
                self.at += 1;
            }
            if self.byte(0) == b'#' {
                self.at += 1;
                return Some(Kind::Bytes);
            }
            self.error(start, "these bytes are never closed with `#`");
            return None;
        }
        if self.byte(1) == b'#' {
            self.at += 2;
            while self.at < self.bytes.len() {
                match self.byte(0) {
                    b'#' => {
                        self.at += 1;
                        return Some(Kind::MultilineString);
                    }
                    b'\\' => self.at += 1 + self.char_length(1),
                    _ => self.at += self.char_length(0),
                }
            }
            self.at = start + 2;
            self.error(start, "this string is never closed with `#`");
            self.at = self.bytes.len();
            return None;
        }
        self.at += 1;
        self.error(start, "`#` starts `#include`, `#HEX#…#` or `##…#`, and this is none of them");
        None
    }

    fn punctuation(&mut self) -> Option<Kind> {
        let pairs = [
            ("[|", Kind::LiteralVectorStart),
            ("|]", Kind::LiteralVectorEnd),
            ("--", Kind::Unique),
            ("->", Kind::Implies),
            ("++", Kind::PlusPlus),
            ("<>", Kind::Append),
            ("==", Kind::Equal),
            ("!=", Kind::NotEqual),
            ("<=", Kind::LessOrEqual),
            (">=", Kind::GreaterOrEqual),
            ("&&", Kind::And),
            ("||", Kind::Or),
        ];
        if let Some((text, kind)) = pairs.iter().find(|(text, _)| self.starts_with(text)) {
            self.at += text.len();
            return Some(*kind);
        }
        let kind = match self.byte(0) {
            b'{' => Kind::LeftBrace,
            b'}' => Kind::RightBrace,
            b'[' => Kind::LeftBracket,
            b']' => Kind::RightBracket,
            b'(' => Kind::LeftParenthesis,
            b')' => Kind::RightParenthesis,
            b',' => Kind::Comma,
            b';' => Kind::Semicolon,
            b':' => Kind::Colon,
            b'+' => Kind::Plus,
            b'-' => Kind::Minus,
            b'*' => Kind::Times,
            b'/' => Kind::Divide,
            b'%' => Kind::Modulo,
            b'<' => Kind::Less,
            b'>' => Kind::Greater,
            b'!' => Kind::Not,
            _ => {
                let start = self.at;
                let shown = self.text[start..].chars().next().unwrap_or('?');
                self.at += shown.len_utf8();
                self.error(
                    start,
                    if shown == NOT_UTF8 {
                        "this is not valid UTF-8: save the file as UTF-8".to_owned()
                    } else {
                        let shown =
                            if shown == '\'' { "'".to_owned() } else { shown.escape_debug().to_string() };
                        format!("`{shown}` has no meaning here")
                    },
                );
                return None;
            }
        };
        self.at += 1;
        Some(kind)
    }
}

/// The end of a comment whose inner comments are all closed.
pub(super) fn nested_comment_end(bytes: &[u8], inside: usize) -> Option<usize> {
    let mut open = 1;
    let mut at = inside;
    while at + 1 < bytes.len() {
        match (bytes[at], bytes[at + 1]) {
            (b'*', b'/') => {
                open -= 1;
                at += 2;
                if open == 0 {
                    return Some(at);
                }
            }
            (b'/', b'*') => {
                open += 1;
                at += 2;
            }
            _ => at += 1,
        }
    }
    None
}
