//! Bracket expressions.

use super::{Translator, posix, push_literal};

impl Translator<'_> {
    /// A bracket expression.
    pub(super) fn class(&mut self) -> Result<(), String> {
        self.at += 1;
        self.out.push('[');
        if self.peek(0) == Some('^') {
            self.out.push('^');
            self.at += 1;
        }
        let start = self.at;
        let mut empty = true;
        // The plain character before, which may start a range.
        let mut previous: Option<char> = None;
        loop {
            let Some(letter) = self.peek(0) else {
                return Err("premature end of char-class".to_owned());
            };
            let low = previous.take();
            match letter {
                // A bracket that comes first and is closed later stands for itself.
                ']' if self.at == start && self.letters[self.at + 1..].contains(&']') => {
                    self.out.push_str("\\]");
                    self.at += 1;
                }
                ']' => {
                    if empty {
                        return Err("empty char-class".to_owned());
                    }
                    self.out.push(']');
                    self.at += 1;
                    return Ok(());
                }
                '[' if self.peek(1) == Some(':') && self.posix_bracket()? => {}
                '[' => self.class()?,
                '&' if self.peek(1) == Some('&') => self.copy(2),
                '\\' => self.class_escape()?,
                '-' => {
                    let first = empty;
                    let last = self.peek(1) == Some(']');
                    let doubled = self.peek(1) == Some('-');
                    let range = !first && !last && !doubled;
                    self.out.push_str(if range { "-" } else { "\\-" });
                    self.at += 1;
                    if range {
                        self.range_end(low)?;
                    }
                }
                letter => {
                    push_literal(&mut self.out, letter);
                    self.at += 1;
                    previous = Some(letter);
                }
            }
            empty = false;
        }
    }

    /// Looks at what stands after the dash of a range.
    fn range_end(&self, low: Option<char>) -> Result<(), String> {
        match self.peek(0) {
            Some('\\') if matches!(self.peek(1), Some('d' | 'w' | 's' | 'h' | 'D' | 'W' | 'S' | 'H')) => {
                Err("char-class value at end of range".to_owned())
            }
            Some(high) if high != '\\' && high != '[' && low.is_some_and(|low| high < low) => {
                Err("empty range in char class".to_owned())
            }
            _ => Ok(()),
        }
    }

    /// `[:alpha:]` within a bracket expression; false if it is none.
    fn posix_bracket(&mut self) -> Result<bool, String> {
        let rest: String = self.letters[self.at + 2..].iter().take(12).collect();
        let Some(end) = rest.find(":]") else { return Ok(false) };
        let (negative, name) = match rest[..end].strip_prefix('^') {
            Some(name) => (true, name),
            None => (false, &rest[..end]),
        };
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphabetic()) {
            return Ok(false);
        }
        let Some(class) = posix(name) else { return Err("invalid POSIX bracket type".to_owned()) };
        self.emit(format_args!("[{}{class}]", if negative { "^" } else { "" }));
        self.at += 2 + rest[..end].chars().count() + 2;
        Ok(true)
    }

    fn class_escape(&mut self) -> Result<(), String> {
        let Some(letter) = self.peek(1) else {
            return Err("too short escape sequence".to_owned());
        };
        match letter {
            'h' => self.replace(2, "0-9a-fA-F"),
            'H' => self.replace(2, "[^0-9a-fA-F]"),
            'd' => self.replace(2, "0-9"),
            'D' => self.replace(2, "[^0-9]"),
            'w' => self.replace(2, "a-zA-Z0-9_"),
            'W' => self.replace(2, "[^a-zA-Z0-9_]"),
            's' => self.replace(2, r"\x20\t\r\n\f\v"),
            'S' => self.replace(2, r"[^\x20\t\r\n\f\v]"),
            'R' | 'X' => {
                push_literal(&mut self.out, letter);
                self.at += 2;
            }
            'b' => self.replace(2, r"\x08"),
            'p' | 'P' => self.property()?,
            '0'..='7' => {
                self.at += 1;
                let code = self.number(8, 3, 0)?;
                push_literal(&mut self.out, code);
            }
            _ => {
                let before = self.out.len();
                self.character_escape()?;
                let written: String = self.out.drain(before..).collect();
                let literal = written.strip_prefix('\\').unwrap_or(&written);
                let letter = if literal.starts_with("x{") {
                    let code = literal.trim_start_matches("x{").trim_end_matches('}');
                    u32::from_str_radix(code, 16).ok().and_then(char::from_u32)
                } else {
                    literal.chars().next()
                };
                push_literal(&mut self.out, letter.unwrap_or('\\'));
            }
        }
        Ok(())
    }
}
