//! Text in which nothing hides: titles and messages come from inputs that anybody may have written.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Returns the text with control characters, and characters that turn the direction of writing, as escapes. Line ends and tabs
/// stay, and so do the colours of our own printers if the text has any. The escapes are those of JSON, so that JSON means the same
/// after it, and are mere letters in HTML, SVG and DOT.
pub fn visible(text: &str, is_coloured: bool) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let colour = if is_coloured { colour(rest) } else { 0 };
        let taken = if colour > 0 { colour } else { letter.len_utf8() };
        if colour == 0 && is_hidden(letter) {
            let _ = write!(out, "\\u{:04x}", u32::from(letter));
        } else {
            out.push_str(&rest[..taken]);
        }
        rest = &rest[taken..];
    }
    Cow::Owned(out)
}

/// Whether a character shows nothing itself and changes how others are shown.
pub fn is_hidden(letter: char) -> bool {
    let turns = matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let shows_nothing = matches!(letter, '\u{200b}' | '\u{2028}' | '\u{2029}' | '\u{2060}' | '\u{feff}');
    turns || shows_nothing || (letter.is_control() && !matches!(letter, '\n' | '\t'))
}

/// The length of the sequence that sets a colour at the start of a text; 0 without one.
fn colour(text: &str) -> usize {
    let Some(rest) = text.strip_prefix("\u{1b}[") else { return 0 };
    let digits = rest.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b';').count();
    if rest.as_bytes().get(digits) == Some(&b'm') { digits + 3 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::visible;

    #[test]
    fn what_hides_is_shown() {
        assert_eq!(visible("a\tb\n", false), "a\tb\n");
        assert_eq!(visible("a\u{1b}[2Jb\r\u{202e}c", false), "a\\u001b[2Jb\\u000d\\u202ec");
        assert_eq!(
            visible("\u{1b}[1;31mred\u{1b}[0m\u{1b}]0;title\u{7}", true),
            "\u{1b}[1;31mred\u{1b}[0m\\u001b]0;title\\u0007"
        );
    }
}
