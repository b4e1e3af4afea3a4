//! Text to tokens. Comments run from `#` to the end of the line and are kept for the formatter.

use setpoint_source::Range;

use super::syntax::Quoted;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    Word,
    /// A quoted text, quotes included in the range.
    Text,
    Open,
    Close,
    BraceOpen,
    BraceClose,
    Colon,
    Comma,
    Dot,
    Equals,
    NotEquals,
    Arrow,
    Bar,
    /// A character that the language does not have, or a text without its closing quote.
    Unknown,
    End,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) range: Range,
}

pub(super) struct Lexed {
    /// Ends with [`TokenKind::End`].
    pub(super) tokens: Vec<Token>,
    pub(super) comments: Vec<Quoted>,
}

pub(super) fn lex(text: &str) -> Lexed {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let mut comments = Vec::new();
    // Editors of Windows put a byte order mark before the text.
    let mut at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    while at < bytes.len() {
        let start = at;
        let next = bytes.get(at + 1).copied();
        let kind = match bytes[at] {
            b' ' | b'\t' | b'\r' | b'\n' => {
                at += 1;
                continue;
            }
            b'#' => {
                at += bytes[at..].iter().position(|&byte| byte == b'\n').unwrap_or(bytes.len() - at);
                let comment = text.get(start..at).unwrap_or("").trim_end().to_owned();
                comments.push(Quoted { range: Range::new(start, start + comment.len()), text: comment });
                continue;
            }
            b'"' => {
                let end = bytes[at + 1..].iter().position(|&byte| byte == b'"' || byte == b'\n');
                let closed = end.is_some_and(|offset| bytes[at + 1 + offset] == b'"');
                at = end.map_or(bytes.len(), |offset| at + 1 + offset + usize::from(closed));
                if closed { TokenKind::Text } else { TokenKind::Unknown }
            }
            b'-' if next == Some(b'>') => {
                at += 2;
                TokenKind::Arrow
            }
            b'!' if next == Some(b'=') => {
                at += 2;
                TokenKind::NotEquals
            }
            byte if is_word_start(byte) => {
                at += 1;
                while at < bytes.len() && is_word_part(bytes, at) {
                    at += 1;
                }
                TokenKind::Word
            }
            byte => {
                at += 1;
                match byte {
                    b'(' => TokenKind::Open,
                    b')' => TokenKind::Close,
                    b'{' => TokenKind::BraceOpen,
                    b'}' => TokenKind::BraceClose,
                    b':' => TokenKind::Colon,
                    b',' => TokenKind::Comma,
                    b'.' => TokenKind::Dot,
                    b'=' => TokenKind::Equals,
                    b'|' => TokenKind::Bar,
                    _ => {
                        while at < bytes.len() && !text.is_char_boundary(at) {
                            at += 1;
                        }
                        TokenKind::Unknown
                    }
                }
            }
        };
        tokens.push(Token { kind, range: Range::new(start, at) });
    }
    tokens.push(Token { kind: TokenKind::End, range: Range::new(bytes.len(), bytes.len()) });
    Lexed { tokens, comments }
}

fn is_word_start(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// A hyphen belongs to a word only between two of its letters, so that `a->b` is an arrow.
fn is_word_part(bytes: &[u8], at: usize) -> bool {
    let byte = bytes[at];
    is_word_start(byte) || (byte == b'-' && bytes.get(at + 1).is_some_and(|&next| is_word_start(next)))
}
