//! A template as one sequence of tokens, with trim mode `-`.

use super::Beyond;
use super::lexer::{Lexed, Token, lex};

pub(super) fn template(text: &str) -> Result<Vec<Lexed>, Beyond> {
    let mut tokens = Vec::new();
    let mut literal = String::new();
    let mut rest = text;
    let mut lines = Lines { text, at: 0, line: 1 };
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
        let line = lines.of(rest);
        if kind == '-' {
            let kept = literal.trim_end_matches([' ', '\t']).len();
            if kept == 0 || literal[..kept].ends_with('\n') {
                literal.truncate(kept);
            }
        }
        let end = closing(rest).ok_or_else(|| Beyond::at("a tag is not closed", line))?;
        let mut code = rest[..end].replace("%%>", "%>");
        rest = &rest[end + 2..];
        let trims = code.ends_with('-');
        if trims {
            code.pop();
        }
        if !literal.is_empty() {
            push(&mut tokens, Token::Template(std::mem::take(&mut literal)), line);
        }
        if trims {
            rest = rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix('\n')).unwrap_or(rest);
        }
        match kind {
            '#' => {}
            '=' => {
                push(&mut tokens, Token::Output, line);
                tokens.extend(lex(&code, line)?);
                push(&mut tokens, Token::OutputEnd, line);
            }
            _ => {
                tokens.extend(lex(&code, line)?);
                push(&mut tokens, Token::Newline, line);
            }
        }
    }
    literal.push_str(rest);
    if !literal.is_empty() {
        push(&mut tokens, Token::Template(literal), lines.of(rest));
    }
    Ok(tokens)
}

/// Counts lines on the way through a text: to count from its begin at each tag takes the square of its length.
struct Lines<'t> {
    text: &'t str,
    at: usize,
    line: u32,
}

impl Lines<'_> {
    /// The line at which a rest of the text begins, which is no longer than the one before.
    fn of(&mut self, rest: &str) -> u32 {
        let at = self.text.len() - rest.len();
        self.line += self.text[self.at..at].bytes().filter(|byte| *byte == b'\n').count() as u32;
        self.at = at;
        self.line
    }
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

fn push(tokens: &mut Vec<Lexed>, token: Token, line: u32) {
    tokens.push(Lexed { token, spaced: true, line });
}
