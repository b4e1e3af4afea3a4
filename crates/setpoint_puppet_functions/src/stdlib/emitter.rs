//! The layout of YAML, as libyaml makes it: block style, with the scalar styles that it allows.

use std::fmt::Write;

use setpoint_puppet_values::{Data, Value};

use super::yaml::{Wish, scalar_text};

pub(super) struct Emitter {
    out: String,
    column: usize,
    /// The last thing written was white space.
    whitespace: bool,
    /// Nothing but indentation and indicators was written on this line.
    indention: bool,
    best_indent: usize,
    best_width: usize,
    line_width: Option<usize>,
}

/// Where a node stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Root,
    Item,
    Key,
    Entry,
}

/// What the letters of a scalar allow.
struct Analysis {
    multiline: bool,
    plain: bool,
    single_quoted: bool,
    block: bool,
}

impl Emitter {
    pub(super) fn new(indentation: Option<i64>, line_width: Option<i64>) -> Self {
        let best_indent = indentation
            .and_then(|indent| usize::try_from(indent).ok())
            .filter(|indent| (2..=9).contains(indent));
        let best_indent = best_indent.unwrap_or(2);
        let best_width = match line_width {
            Some(width) if width < 0 => usize::MAX,
            Some(width) if width as usize > best_indent * 2 => width as usize,
            _ => 80,
        };
        let line_width = line_width.and_then(|width| usize::try_from(width).ok()).filter(|width| *width > 0);
        Self {
            out: String::new(),
            column: 0,
            whitespace: true,
            indention: true,
            best_indent,
            best_width,
            line_width,
        }
    }

    pub(super) fn document(&mut self, value: &Value) {
        self.indicator("---", true, false, false);
        self.node(value, None, Place::Root);
        self.indent(0);
    }

    pub(super) fn finish(self) -> String {
        self.out
    }

    fn put(&mut self, letter: char) {
        self.out.push(letter);
        self.column += 1;
    }

    fn line_break(&mut self) {
        self.out.push('\n');
        self.column = 0;
    }

    fn indent(&mut self, indent: usize) {
        if !self.indention || self.column > indent || self.column == indent && !self.whitespace {
            self.line_break();
        }
        while self.column < indent {
            self.put(' ');
        }
        self.whitespace = true;
        self.indention = true;
    }

    fn indicator(&mut self, text: &str, needs_space: bool, is_space: bool, is_indention: bool) {
        if needs_space && !self.whitespace {
            self.put(' ');
        }
        text.chars().for_each(|letter| self.put(letter));
        self.whitespace = is_space;
        self.indention &= is_indention;
    }

    /// Writes a value; `indent` is that of the collection around it.
    fn node(&mut self, value: &Value, indent: Option<usize>, place: Place) {
        match &value.data {
            Data::Array(items) if items.is_empty() => {
                self.indicator("[", true, true, false);
                self.indicator("]", false, false, false);
            }
            Data::Hash(entries) if entries.is_empty() => {
                self.indicator("{", true, true, false);
                self.indicator("}", false, false, false);
            }
            Data::Array(items) => {
                let indentless = place == Place::Entry && !self.indention;
                let inner = match indent {
                    None => 0,
                    Some(indent) if indentless => indent,
                    Some(indent) => indent + self.best_indent,
                };
                for item in items.iter() {
                    self.indent(inner);
                    self.indicator("-", true, false, true);
                    self.node(item, Some(inner), Place::Item);
                }
            }
            Data::Hash(entries) => {
                let inner = indent.map_or(0, |indent| indent + self.best_indent);
                for (key, item) in entries.iter() {
                    self.indent(inner);
                    if is_simple_key(&key.0) {
                        self.node(&key.0, Some(inner), Place::Key);
                        self.indicator(":", false, false, false);
                    } else {
                        self.indicator("?", true, false, true);
                        self.node(&key.0, Some(inner), Place::Entry);
                        self.indent(inner);
                        self.indicator(":", true, false, true);
                    }
                    self.node(item, Some(inner), Place::Entry);
                }
            }
            _ => self.scalar(value, indent, place),
        }
    }

    fn scalar(&mut self, value: &Value, indent: Option<usize>, place: Place) {
        let (text, wish, tagged) = scalar_text(value, self.line_width);
        if tagged {
            self.indicator("!!str", true, false, false);
        }
        let analysis = analyze(&text);
        let key = place == Place::Key;
        let mut style = wish;
        if key && analysis.multiline {
            style = Wish::DoubleQuoted;
        }
        if style == Wish::Plain && (!analysis.plain || text.is_empty() && key) {
            style = Wish::SingleQuoted;
        }
        if style == Wish::SingleQuoted && !analysis.single_quoted {
            style = Wish::DoubleQuoted;
        }
        if matches!(style, Wish::Literal | Wish::Folded) && (!analysis.block || key) {
            style = Wish::DoubleQuoted;
        }
        let inner = indent.map_or(0, |indent| indent + self.best_indent);
        match style {
            Wish::Plain => self.plain(&text, inner, !key),
            Wish::SingleQuoted => self.single_quoted(&text, inner, !key),
            Wish::DoubleQuoted => self.double_quoted(&text, inner, !key),
            Wish::Literal => self.literal(&text, inner),
            Wish::Folded => self.folded(&text, inner),
        }
    }

    fn plain(&mut self, text: &str, indent: usize, breaks: bool) {
        if !self.whitespace && !text.is_empty() {
            self.put(' ');
        }
        let mut spaces = false;
        let mut letters = text.chars().peekable();
        while let Some(letter) = letters.next() {
            let space = letter == ' ';
            if space && breaks && !spaces && self.column > self.best_width && letters.peek() != Some(&' ') {
                self.indent(indent);
            } else {
                self.put(letter);
                if !space {
                    self.indention = false;
                }
            }
            spaces = space;
        }
        self.whitespace = false;
        self.indention = false;
    }

    fn single_quoted(&mut self, text: &str, indent: usize, breaks: bool) {
        self.indicator("'", true, false, false);
        let letters: Vec<char> = text.chars().collect();
        let (mut spaces, mut broken) = (false, false);
        for (at, letter) in letters.iter().copied().enumerate() {
            if letter == ' ' {
                let inside = at > 0 && at + 1 < letters.len() && letters[at + 1] != ' ';
                if breaks && !spaces && self.column > self.best_width && inside {
                    self.indent(indent);
                } else {
                    self.put(letter);
                }
                spaces = true;
            } else if letter == '\n' {
                if !broken {
                    self.line_break();
                }
                self.line_break();
                self.indention = true;
                broken = true;
            } else {
                if broken {
                    self.indent(indent);
                }
                if letter == '\'' {
                    self.put('\'');
                }
                self.put(letter);
                self.indention = false;
                (spaces, broken) = (false, false);
            }
        }
        if broken {
            self.indent(indent);
        }
        self.indicator("'", false, false, false);
    }

    fn double_quoted(&mut self, text: &str, indent: usize, breaks: bool) {
        self.indicator("\"", true, false, false);
        let letters: Vec<char> = text.chars().collect();
        let mut spaces = false;
        for (at, letter) in letters.iter().copied().enumerate() {
            if letter == ' ' {
                if breaks && !spaces && self.column > self.best_width && at > 0 && at + 1 < letters.len() {
                    self.indent(indent);
                    if letters[at + 1] == ' ' {
                        self.put('\\');
                    }
                } else {
                    self.put(letter);
                }
                spaces = true;
            } else {
                escaped(letter).chars().for_each(|letter| self.put(letter));
                spaces = false;
            }
        }
        self.indicator("\"", false, false, false);
    }

    /// What follows `|` or `>`: how deep, if the text starts with space, and how it ends.
    fn block_hints(&mut self, text: &str) {
        if text.starts_with([' ', '\n']) {
            let hint = self.best_indent.to_string();
            self.indicator(&hint, false, false, false);
        }
        let end = if !text.ends_with('\n') {
            "-"
        } else if text == "\n" || text.ends_with("\n\n") {
            "+"
        } else {
            return;
        };
        self.indicator(end, false, false, false);
    }

    fn literal(&mut self, text: &str, indent: usize) {
        self.indicator("|", true, false, false);
        self.block_hints(text);
        self.line_break();
        self.indention = true;
        self.whitespace = true;
        let mut broken = true;
        for letter in text.chars() {
            if letter == '\n' {
                self.line_break();
                self.indention = true;
                broken = true;
            } else {
                if broken {
                    self.indent(indent);
                }
                self.put(letter);
                self.indention = false;
                broken = false;
            }
        }
    }

    fn folded(&mut self, text: &str, indent: usize) {
        self.indicator(">", true, false, false);
        self.block_hints(text);
        self.line_break();
        self.indention = true;
        self.whitespace = true;
        let letters: Vec<char> = text.chars().collect();
        let mut broken = true;
        let mut leading_spaces = true;
        for (at, letter) in letters.iter().copied().enumerate() {
            if letter == '\n' {
                let blank = |letter: &char| matches!(letter, ' ' | '\n');
                if !broken && !leading_spaces && !letters.get(at + 1).is_none_or(blank) {
                    self.line_break();
                }
                self.line_break();
                self.indention = true;
                broken = true;
            } else {
                if broken {
                    self.indent(indent);
                    leading_spaces = letter == ' ';
                }
                let next_is_space = letters.get(at + 1) == Some(&' ');
                if !broken && letter == ' ' && !next_is_space && self.column > self.best_width {
                    self.indent(indent);
                } else {
                    self.put(letter);
                }
                self.indention = false;
                broken = false;
            }
        }
    }
}

/// Whether a key fits on the line of its value.
fn is_simple_key(key: &Value) -> bool {
    const LONGEST: usize = 128;
    match &key.data {
        Data::Array(items) => items.is_empty(),
        Data::Hash(entries) => entries.is_empty(),
        _ => {
            let (text, _, _) = scalar_text(key, None);
            text.len() <= LONGEST && !text.contains(is_break)
        }
    }
}

fn escaped(letter: char) -> String {
    let mut out = String::new();
    match letter {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\0' => out.push_str("\\0"),
        '\u{7}' => out.push_str("\\a"),
        '\u{8}' => out.push_str("\\b"),
        '\t' => out.push_str("\\t"),
        '\n' => out.push_str("\\n"),
        '\u{b}' => out.push_str("\\v"),
        '\u{c}' => out.push_str("\\f"),
        '\r' => out.push_str("\\r"),
        '\u{1b}' => out.push_str("\\e"),
        '\u{85}' => out.push_str("\\N"),
        '\u{a0}' => out.push_str("\\_"),
        '\u{2028}' => out.push_str("\\L"),
        '\u{2029}' => out.push_str("\\P"),
        _ if is_printable(letter) && letter != '\u{feff}' => out.push(letter),
        _ => {
            let code = u32::from(letter);
            let _ = match code {
                0..=0xff => write!(out, "\\x{code:02X}"),
                0x100..=0xffff => write!(out, "\\u{code:04X}"),
                _ => write!(out, "\\U{code:08X}"),
            };
        }
    }
    out
}

fn is_printable(letter: char) -> bool {
    matches!(letter, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}')
        && letter != '\u{feff}'
}

fn is_break(letter: char) -> bool {
    matches!(letter, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn analyze(text: &str) -> Analysis {
    let letters: Vec<char> = text.chars().collect();
    let (Some(first), Some(last)) = (letters.first(), letters.last()) else {
        return Analysis { multiline: false, plain: true, single_quoted: true, block: false };
    };
    let mut indicators = text.starts_with("---") || text.starts_with("...");
    let (mut special, mut breaks, mut break_space, mut space_break) = (false, false, false, false);
    let (mut after_space, mut after_break) = (false, false);
    let blank = |letter: char| matches!(letter, ' ' | '\t') || is_break(letter);
    let mut preceded = true;
    for (at, letter) in letters.iter().copied().enumerate() {
        let followed = letters.get(at + 1).is_none_or(|next| blank(*next));
        indicators |= match letter {
            '#' | ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@'
            | '`'
                if at == 0 =>
            {
                true
            }
            '?' | ':' | '-' if at == 0 => followed,
            ':' => followed,
            '#' => preceded,
            _ => false,
        };
        special |= !is_printable(letter);
        breaks |= is_break(letter);
        if letter == ' ' {
            break_space |= after_break;
            (after_space, after_break) = (true, false);
        } else if is_break(letter) {
            space_break |= after_space;
            (after_space, after_break) = (false, true);
        } else {
            (after_space, after_break) = (false, false);
        }
        preceded = blank(letter);
    }
    let edge = |letter: char| letter == ' ' || is_break(letter);
    let unusual = space_break || special;
    Analysis {
        multiline: breaks,
        plain: !(edge(*first) || edge(*last) || break_space || unusual || breaks || indicators),
        single_quoted: !(break_space || unusual),
        block: !(*last == ' ' || unusual),
    }
}
