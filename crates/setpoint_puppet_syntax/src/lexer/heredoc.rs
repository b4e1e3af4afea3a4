//! Heredocs: `@(END:json/nt)`, with their text on the lines that follow.

use std::sync::Arc;

use memchr::memchr;
use setpoint_source::{Limit, Range};

use super::escape::Escapes;
use super::{Lexer, Said, is_blank};
use crate::token::{Kind, Token};

/// Heredocs in interpolations of heredocs: nobody nests them this deep, and each level copies its text.
const MAX_NESTED: Limit = Limit::new(16);

/// What stands between `@(` and `)`.
struct Tag<'a> {
    end: &'a str,
    interpolate: bool,
    syntax: &'a str,
    escapes: Escapes,
}

/// The line that ends a heredoc.
struct EndLine<'a> {
    /// The blanks before `|`, which are taken from each line; none without `|`.
    margin: &'a str,
    remove_last_break: bool,
}

/// The text of a heredoc without its margin, and how to find its places in the file.
struct Body {
    text: String,
    /// Where the first line starts in the file, before its margin.
    start: u32,
    /// For each line: where it starts here, and where there.
    lines: Vec<(u32, u32)>,
}

impl Body {
    fn global(&self, local: u32) -> u32 {
        let index = self.lines.partition_point(|&(start, _)| start <= local).saturating_sub(1);
        self.lines.get(index).map_or(local, |&(start, there)| there + (local - start))
    }

    /// The margin before a token is not part of it, nor the one after its last line break.
    fn global_range(&self, range: Range) -> Range {
        let start = if range.start == 0 { self.start } else { self.global(range.start) };
        let end = if range.end > range.start { self.global(range.end - 1) + 1 } else { start };
        Range { start, end: end.max(start) }
    }
}

impl<'a> Lexer<'a> {
    pub(super) fn heredoc(&mut self) -> Token {
        let start = self.pos;
        let Some(length) = memchr(b')', &self.bytes[start..]) else {
            let message =
                format!("Unclosed parenthesis after '@(' followed by '{}'", self.followed_by(start));
            return self.give_up(start, start + 2, message);
        };
        let after_tag = start + length + 1;
        let tag = match parse_tag(&self.text[start + 2..after_tag - 1]) {
            Ok(tag) => tag,
            Err(message) => {
                self.fail(after_tag, after_tag, message);
                self.pos = after_tag;
                return Token::new(Kind::Bad, start, after_tag);
            }
        };
        let next_line = match self.newline_jump {
            Some(at) => Some(at),
            None => memchr(b'\n', &self.bytes[after_tag..]).map(|at| after_tag + at + 1),
        };
        let Some(body_start) = next_line else {
            self.fail(after_tag, after_tag, "Heredoc without any following lines of text");
            self.pos = after_tag;
            return Token::new(Kind::Bad, start, after_tag);
        };
        let Some((body, after_body)) = self.heredoc_body(body_start, &tag) else {
            let help = "The text ends with a line of its own that holds the tag, as in `| END`.";
            let said = Said::with_help("Heredoc without end-tagged line", help);
            return self.give_up(body_start, body_start, said);
        };
        self.newline_jump = Some(after_body);
        self.pos = after_tag;
        if self.heredocs == MAX_NESTED {
            let message = format!("Heredocs are nested more than {MAX_NESTED} deep");
            self.fail(start, after_tag, Said { is_limit: true, ..message.into() });
            return Token::new(Kind::Bad, start, after_tag);
        }
        self.heredoc_tokens(&body, &tag);
        Token::with_text(Kind::Heredoc, start, after_tag, tag.syntax)
    }

    /// Finds the line that ends the heredoc, and gives the text before it and the offset after it.
    fn heredoc_body(&self, start: usize, tag: &Tag<'_>) -> Option<(Body, usize)> {
        let mut raw_lines: Vec<(usize, &'a str)> = Vec::new();
        let mut at = start;
        while at < self.bytes.len() {
            let next = memchr(b'\n', &self.bytes[at..]).map_or(self.bytes.len(), |length| at + length + 1);
            let line = &self.text[at..next];
            if let Some(end_line) = parse_end_line(line, tag.end) {
                return Some((strip(&raw_lines, &end_line, start), next));
            }
            raw_lines.push((at, line));
            at = next;
        }
        None
    }

    /// Makes the tokens of the text, and puts them into the queue with their places in this text.
    fn heredoc_tokens(&mut self, body: &Body, tag: &Tag<'_>) {
        let mut inner = Lexer::over(&body.text);
        inner.line_is_blank = false;
        inner.heredocs = self.heredocs + 1;
        inner.escapes = tag.escapes;
        inner.interpolate = tag.interpolate;
        let first = inner.string_head(false);
        let mut tokens = vec![first];
        while !inner.open.is_empty() || inner.resume || !inner.queue.is_empty() {
            tokens.push(inner.next());
        }
        if inner.broken && tokens.first().is_some_and(|token| token.kind == Kind::DqPre) {
            let end = body.text.len();
            tokens.push(Token::with_text(Kind::DqPost, end, end, Arc::from("")));
        }
        for mut token in tokens {
            token.range = body.global_range(token.range);
            self.queue.push_back(token);
        }
        for mut error in inner.errors {
            error.range = body.global_range(error.range);
            self.errors.push(error);
        }
    }
}

/// Takes the margin from each line that has it; a line with text in its margin stays as it is.
fn strip(raw_lines: &[(usize, &str)], end_line: &EndLine<'_>, start: usize) -> Body {
    let mut text = String::with_capacity(raw_lines.iter().map(|(_, line)| line.len()).sum());
    let mut lines = Vec::with_capacity(raw_lines.len().max(1));
    for (at, line) in raw_lines {
        let stripped = line.strip_prefix(end_line.margin).unwrap_or(line);
        lines.push((text.len() as u32, (at + line.len() - stripped.len()) as u32));
        text.push_str(stripped);
    }
    if lines.is_empty() {
        lines.push((0, start as u32));
    }
    if end_line.remove_last_break && text.ends_with('\n') {
        text.pop();
        if text.ends_with('\r') {
            text.pop();
        }
    }
    Body { text, start: start as u32, lines }
}

/// `blanks | blanks - blanks TAG blanks`, with the parts before the tag optional. Text before all this is ignored,
/// as in Puppet.
fn parse_end_line<'a>(line: &'a str, tag: &str) -> Option<EndLine<'a>> {
    let content = line.strip_suffix('\n').unwrap_or(line);
    let content = content.strip_suffix('\r').unwrap_or(content);
    let before = content.trim_end_matches(is_blank).strip_suffix(tag)?;
    let trimmed = before.trim_end_matches(is_blank);
    let (remove_last_break, before) = match trimmed.strip_suffix('-') {
        Some(rest) => (true, rest),
        None => (false, before),
    };
    let margin = match before.trim_end_matches(is_blank).strip_suffix('|') {
        Some(rest) => &rest[rest.trim_end_matches(is_blank).len()..],
        None => "",
    };
    Some(EndLine { margin, remove_last_break })
}

/// Splits `END:syntax/escapes`.
fn parse_tag(text: &str) -> Result<Tag<'_>, String> {
    const INVALID: &str = "Invalid syntax in heredoc expected @(endtag[:syntax][/escapes])";
    let invalid = || INVALID.to_owned();
    let name_end = text.find([':', '/', '\r', '\n']).unwrap_or(text.len());
    let (name, mut rest) = text.split_at(name_end);
    if name.is_empty() {
        return Err(invalid());
    }
    let mut syntax = "";
    if let Some(after) = rest.strip_prefix(':') {
        let after = after.trim_start_matches(is_blank);
        let end = after.find(|char: char| !(char.is_ascii_alphanumeric() || char == '_' || char == '+'));
        let (word, after) = after.split_at(end.unwrap_or(after.len()));
        if word.len() < 2 || !word.starts_with(|char: char| char.is_ascii_lowercase()) {
            return Err(invalid());
        }
        syntax = word;
        rest = after.trim_start_matches(is_blank);
    }
    let mut escapes = Escapes::NONE;
    if let Some(after) = rest.strip_prefix('/') {
        let end = after.find(|char: char| !(char.is_ascii_alphanumeric() || char == '_' || char == '$'));
        let (letters, after) = after.split_at(end.unwrap_or(after.len()));
        escapes = parse_escapes(letters)?;
        rest = after.trim_start_matches(is_blank);
    }
    if !rest.is_empty() {
        return Err(invalid());
    }
    let name = name.trim();
    let quoted = name.strip_prefix('"').and_then(|name| name.strip_suffix('"'));
    let end = quoted.map_or(name, str::trim);
    if end.is_empty() {
        return Err("Heredoc with an empty endtag".to_owned());
    }
    Ok(Tag { end, interpolate: quoted.is_some(), syntax, escapes })
}

fn parse_escapes(letters: &str) -> Result<Escapes, String> {
    let letters = if letters.is_empty() { "trnsuL$" } else { letters };
    let repeated = letters.char_indices().any(|(at, char)| letters[..at].contains(char));
    if repeated {
        let list: Vec<String> = letters.chars().map(String::from).collect();
        return Err(format!("An escape char for @() may only appear once. Got '{}'", list.join(", ")));
    }
    let mut escapes = Escapes::BACKSLASH;
    for letter in letters.chars() {
        escapes.insert(match letter {
            't' => Escapes::TAB,
            'r' => Escapes::CARRIAGE_RETURN,
            'n' => Escapes::NEWLINE,
            's' => Escapes::SPACE,
            'u' => Escapes::UNICODE,
            '$' => Escapes::DOLLAR,
            'L' => Escapes::LINE_END,
            _ => {
                return Err(format!(
                    "Invalid heredoc escape char. Only t, r, n, s,  u, L, $ allowed. Got '{letter}'"
                ));
            }
        });
    }
    Ok(escapes)
}
