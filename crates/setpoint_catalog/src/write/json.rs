//! A writer of indented JSON that never builds a tree.

use std::fmt::{self, Write};

/// Writes JSON as Ruby's `JSON.pretty_generate` does: two blanks a level, empty collections as `[]` and `{}`.
#[derive(Debug)]
pub struct Json {
    out: String,
    depth: usize,
    /// Nothing has been written yet in the collection that is open.
    first: bool,
    /// A key has been written, and its value comes next.
    after_key: bool,
}

impl Json {
    pub fn with_capacity(bytes: usize) -> Self {
        Self { out: String::with_capacity(bytes), depth: 0, first: true, after_key: false }
    }

    /// The text, with a line end.
    pub fn finish(mut self) -> String {
        self.out.push('\n');
        self.out
    }

    fn line(&mut self) {
        const BLANKS: &str = "                                                                ";
        self.out.push('\n');
        let mut missing = 2 * self.depth;
        while missing > 0 {
            let now = missing.min(BLANKS.len());
            self.out.push_str(&BLANKS[..now]);
            missing -= now;
        }
    }

    /// What stands before an element or a key.
    fn separate(&mut self) {
        if std::mem::take(&mut self.after_key) {
            return;
        }
        if self.depth > 0 {
            if !self.first {
                self.out.push(',');
            }
            self.line();
        }
        self.first = false;
    }

    fn open(&mut self, bracket: char) {
        self.separate();
        self.out.push(bracket);
        self.depth += 1;
        self.first = true;
    }

    fn close(&mut self, bracket: char) {
        self.depth = self.depth.saturating_sub(1);
        if !self.first {
            self.line();
        }
        self.out.push(bracket);
        self.first = false;
    }

    pub fn open_object(&mut self) {
        self.open('{');
    }

    pub fn close_object(&mut self) {
        self.close('}');
    }

    pub fn open_array(&mut self) {
        self.open('[');
    }

    pub fn close_array(&mut self) {
        self.close(']');
    }

    pub fn key(&mut self, name: &str) {
        self.separate();
        quote(name, &mut self.out);
        self.out.push_str(": ");
        self.after_key = true;
    }

    pub fn string(&mut self, text: &str) {
        self.separate();
        quote(text, &mut self.out);
    }

    /// What `item` displays, as a string.
    pub fn display(&mut self, item: &dyn fmt::Display) {
        self.separate();
        self.out.push('"');
        // Writing to a string does not fail.
        let _ = write!(Escaped(&mut self.out), "{item}");
        self.out.push('"');
    }

    pub fn optional_string(&mut self, text: Option<&str>) {
        match text {
            Some(text) => self.string(text),
            None => self.null(),
        }
    }

    pub fn strings<'a>(&mut self, texts: impl Iterator<Item = &'a str>) {
        self.open_array();
        texts.for_each(|text| self.string(text));
        self.close_array();
    }

    fn raw(&mut self, text: &str) {
        self.separate();
        self.out.push_str(text);
    }

    pub fn null(&mut self) {
        self.raw("null");
    }

    pub fn bool(&mut self, value: bool) {
        self.raw(if value { "true" } else { "false" });
    }

    pub fn integer(&mut self, value: i64) {
        self.separate();
        let _ = write!(self.out, "{value}");
    }

    /// As Ruby writes floats: `1.0`, `1.0e+16`, `1.5e-05`. JSON has no infinity: `null`.
    pub fn float(&mut self, value: f64) {
        if value.is_finite() { self.raw(&ruby_float(value)) } else { self.null() }
    }
}

fn ruby_float(value: f64) -> String {
    if value == 0.0 {
        return if value.is_sign_negative() { "-0.0" } else { "0.0" }.to_owned();
    }
    let scientific = format!("{value:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..16).contains(&exponent) {
        let plain = format!("{value}");
        return if plain.contains('.') { plain } else { plain + ".0" };
    }
    let point = if mantissa.contains('.') { "" } else { ".0" };
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}{point}e{sign}{:02}", exponent.abs())
}

/// Appends a JSON string with its quotes.
pub fn quote(text: &str, out: &mut String) {
    out.push('"');
    escape(text, out);
    out.push('"');
}

struct Escaped<'a>(&'a mut String);

impl Write for Escaped<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        escape(text, self.0);
        Ok(())
    }
}

fn escape(text: &str, out: &mut String) {
    // Nearly every text is plain. Looking at all of its bytes without stopping is what a processor does many at a time.
    if !text.bytes().fold(false, |found, byte| found | is_special(byte)) {
        out.push_str(text);
        return;
    }
    let mut done = 0;
    for (at, byte) in text.bytes().enumerate() {
        if !is_special(byte) {
            continue;
        }
        out.push_str(&text[done..at]);
        done = at + 1;
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            0x08 => out.push_str("\\b"),
            0x0c => out.push_str("\\f"),
            _ => {
                let _ = write!(out, "\\u{byte:04x}");
            }
        }
    }
    out.push_str(&text[done..]);
}

fn is_special(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layout_is_that_of_pretty_generate() {
        let mut out = Json::with_capacity(0);
        out.open_object();
        out.key("a");
        out.strings(["x\"\u{1}\n\\"].into_iter());
        out.key("b");
        out.open_object();
        out.close_object();
        out.key("c");
        out.open_array();
        out.close_array();
        out.close_object();
        assert_eq!(
            out.finish(),
            "{\n  \"a\": [\n    \"x\\\"\\u0001\\n\\\\\"\n  ],\n  \"b\": {},\n  \"c\": []\n}\n"
        );
    }

    #[test]
    fn floats_are_written_as_ruby_does() {
        let text = |value| ruby_float(value);
        assert_eq!(text(1.0), "1.0");
        assert_eq!(text(-0.5), "-0.5");
        assert_eq!(text(1e15), "1000000000000000.0");
        assert_eq!(text(1e16), "1.0e+16");
        assert_eq!(text(0.0001), "0.0001");
        assert_eq!(text(0.000_015), "1.5e-05");
        assert_eq!(text(1.25e100), "1.25e+100");
    }
}
