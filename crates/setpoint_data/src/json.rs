//! JSON, with places and with several errors reported as one: JSON has no point at which to go on.

use std::sync::Arc;

use setpoint_source::{Diagnostic, FileId, Range, Rule, Severity, Span};

use crate::MAX_DEPTH;
use crate::node::{Document, Entry, Kind, Node, Style};

pub(crate) fn read(file: FileId, text: &str) -> Document {
    let mut reader = Reader { file, text, at: 0, diagnostics: Vec::new() };
    if text.starts_with('\u{feff}') {
        reader.at = '\u{feff}'.len_utf8();
    }
    let root = match reader.document() {
        Ok(root) => Some(root),
        Err((at, failure)) => {
            let place = Range::new(at, (at + 1).min(text.len())).in_file(file);
            reader.diagnostics.push(match failure {
                Failure::Syntax(message) => Diagnostic::new(Rule::InvalidData, message).at(place),
                Failure::Depth => {
                    limit_reached(format!("the data is nested more than {MAX_DEPTH} levels deep"), place)
                }
            });
            None
        }
    };
    Document { root, second: None, alias: None, diagnostics: reader.diagnostics }
}

struct Reader<'a> {
    file: FileId,
    text: &'a str,
    at: usize,
    diagnostics: Vec<Diagnostic>,
}

type Outcome<T> = Result<T, (usize, Failure)>;

enum Failure {
    Syntax(String),
    Depth,
}

/// Returns the finding that a limit ended the reading. It is an error: the tree is not that of the whole file.
pub(crate) fn limit_reached(message: String, place: Span) -> Diagnostic {
    Diagnostic::new(Rule::LimitReached, message).severity(Severity::Error).at(place)
}

impl Reader<'_> {
    fn document(&mut self) -> Outcome<Node> {
        let root = self.value(0)?;
        self.space();
        if self.at < self.text.len() {
            return Err((
                self.at,
                Failure::Syntax("there is text after the end of the JSON value".to_owned()),
            ));
        }
        Ok(root)
    }

    fn space(&mut self) {
        while matches!(self.byte(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn fail<T>(&self, wanted: &str) -> Outcome<T> {
        let found = match self.text.get(self.at..).and_then(|rest| rest.chars().next()) {
            None => "the end of the file".to_owned(),
            Some(found) => format!("`{found}`"),
        };
        Err((self.at, Failure::Syntax(format!("expected {wanted}, found {found}"))))
    }

    fn value(&mut self, depth: usize) -> Outcome<Node> {
        self.space();
        if depth > MAX_DEPTH {
            return Err((self.at, Failure::Depth));
        }
        let start = self.at;
        let kind = match self.byte() {
            Some(b'{') => self.object(depth)?,
            Some(b'[') => self.array(depth)?,
            Some(b'"') => Kind::Scalar { text: self.string()?.into(), style: Style::Quoted },
            Some(b'-' | b'0'..=b'9' | b'a'..=b'z') => self.word()?,
            _ => return self.fail("a value"),
        };
        Ok(Node { range: Range::new(start, self.at), tag: None, kind })
    }

    fn word(&mut self) -> Outcome<Kind> {
        let start = self.at;
        while matches!(self.byte(), Some(b'-' | b'+' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z')) {
            self.at += 1;
        }
        let text = &self.text[start..self.at];
        if matches!(text, "true" | "false" | "null") || is_number(text) {
            return Ok(Kind::Scalar { text: text.into(), style: Style::Plain });
        }
        self.at = start;
        self.fail("a value")
    }

    fn array(&mut self, depth: usize) -> Outcome<Kind> {
        self.at += 1;
        let mut items = Vec::new();
        self.space();
        if self.byte() == Some(b']') {
            self.at += 1;
            return Ok(Kind::Sequence(Arc::new(items)));
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.space();
            match self.byte() {
                Some(b',') => self.at += 1,
                Some(b']') => {
                    self.at += 1;
                    return Ok(Kind::Sequence(Arc::new(items)));
                }
                _ => return self.fail("`,` or `]`"),
            }
        }
    }

    fn object(&mut self, depth: usize) -> Outcome<Kind> {
        self.at += 1;
        let mut entries = Vec::new();
        self.space();
        if self.byte() == Some(b'}') {
            self.at += 1;
            return Ok(Kind::Mapping(Arc::new(entries)));
        }
        loop {
            self.space();
            let start = self.at;
            if self.byte() != Some(b'"') {
                return self.fail("a key in double quotes");
            }
            let text = self.string()?;
            let key = Node {
                range: Range::new(start, self.at),
                tag: None,
                kind: Kind::Scalar { text: text.into(), style: Style::Quoted },
            };
            self.space();
            if self.byte() != Some(b':') {
                return self.fail("`:`");
            }
            self.at += 1;
            let value = self.value(depth + 1)?;
            entries.push(Entry { key, value });
            self.space();
            match self.byte() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    let entries = unique(entries, self.file, &mut self.diagnostics);
                    return Ok(Kind::Mapping(Arc::new(entries)));
                }
                _ => return self.fail("`,` or `}`"),
            }
        }
    }

    fn string(&mut self) -> Outcome<String> {
        let open = self.at;
        self.at += 1;
        let mut out = String::new();
        loop {
            let start = self.at;
            while !matches!(self.byte(), None | Some(b'"' | b'\\' | 0..0x20)) {
                self.at += 1;
            }
            out.push_str(&self.text[start..self.at]);
            match self.byte() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => out.push(self.escape()?),
                Some(byte) if byte != b'\n' => {
                    let message = "a string of JSON holds no control characters: write `\\t` or `\\u0000`";
                    return Err((self.at, Failure::Syntax(message.to_owned())));
                }
                _ => return Err((open, Failure::Syntax("this string has no closing quote".to_owned()))),
            }
        }
    }

    fn escape(&mut self) -> Outcome<char> {
        let start = self.at;
        self.at += 2;
        Ok(match self.text.as_bytes().get(start + 1) {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode(start),
            _ => return Err((start, Failure::Syntax("this is not an escape that JSON knows".to_owned()))),
        })
    }

    fn unicode(&mut self, start: usize) -> Outcome<char> {
        let high = self.hex(start)?;
        if (0xd800..0xdc00).contains(&high) && self.text[self.at..].starts_with("\\u") {
            let second = self.at;
            self.at += 2;
            let low = self.hex(second)?;
            if (0xdc00..0xe000).contains(&low) {
                let code = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                return Ok(char::from_u32(code).unwrap_or('\u{fffd}'));
            }
            self.at = second;
        }
        let lone = || (start, Failure::Syntax("this half of a character has no other half".to_owned()));
        char::from_u32(high).ok_or_else(lone)
    }

    fn hex(&mut self, start: usize) -> Outcome<u32> {
        let digits = self.text.get(self.at..self.at + 4);
        // A number may begin with a sign, an escape may not.
        let digits = digits.filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        let code = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        self.at += 4;
        code.ok_or_else(|| (start, Failure::Syntax("`\\u` needs four hexadecimal digits".to_owned())))
    }
}

/// Whether a text is a number of JSON, which has no leading zeros, that is finite.
fn is_number(text: &str) -> bool {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    let whole = whole.strip_prefix('-').unwrap_or(whole);
    let are_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (whole == "0" || !whole.starts_with('0'))
        && are_digits(whole)
        && are_digits(fraction)
        && are_digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent))
        && text.parse::<f64>().is_ok_and(f64::is_finite)
}

/// Keys of one mapping that are reported one by one.
const MAX_REPORTED: usize = 100;

/// Reports keys that stand twice, and keeps the last value at the place of the first.
pub(crate) fn unique(entries: Vec<Entry>, file: FileId, diagnostics: &mut Vec<Diagnostic>) -> Vec<Entry> {
    let mut places = std::collections::HashMap::with_capacity(entries.len());
    let mut out: Vec<Entry> = Vec::with_capacity(entries.len());
    let (mut reported, mut unreported) = (0, None);
    for entry in entries {
        let Some(text) = entry.key.text().map(str::to_owned) else {
            out.push(entry);
            continue;
        };
        match places.entry(text) {
            std::collections::hash_map::Entry::Vacant(place) => {
                place.insert(out.len());
                out.push(entry);
            }
            std::collections::hash_map::Entry::Occupied(place) => {
                let first = &mut out[*place.get()];
                if reported == MAX_REPORTED {
                    let (count, _) = unreported.unwrap_or((0, entry.key.range));
                    unreported = Some((count + 1, entry.key.range));
                    *first = entry;
                    continue;
                }
                reported += 1;
                diagnostics.push(
                    Diagnostic::new(
                        Rule::DuplicateKey,
                        format!("the key `{}` stands here a second time", place.key()),
                    )
                    .at(entry.key.range.in_file(file))
                    .with_label(first.key.range.in_file(file), "it stands here first")
                    .with_help("Remove one of the two. Now the second value counts."),
                );
                *first = entry;
            }
        }
    }
    if let Some((count, last)) = unreported {
        let message = format!("{count} more keys of this mapping stand a second time, here the last of them");
        diagnostics.push(Diagnostic::new(Rule::DuplicateKey, message).at(last.in_file(file)));
    }
    out
}
