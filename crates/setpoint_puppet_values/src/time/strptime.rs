//! `strptime` in the manner of Ruby's `Date._strptime`.

use super::strftime::{day_names, month_names};

/// What a text said.
#[derive(Clone, Debug, Default)]
pub(super) struct Parsed {
    pub(super) year: Option<i64>,
    pub(super) month: Option<u32>,
    pub(super) day: Option<u32>,
    pub(super) hour: Option<u32>,
    pub(super) minute: Option<u32>,
    pub(super) second: Option<u32>,
    pub(super) nanos: Option<u32>,
    pub(super) zone: Option<String>,
    /// Nothing of the text was left over.
    pub(super) complete: bool,
    afternoon: Option<bool>,
}

pub(super) fn strptime(text: &str, format: &str) -> Option<Parsed> {
    let mut reader = Reader { rest: text, parsed: Parsed::default() };
    reader.read(format, 0)?;
    if let (Some(afternoon), Some(hour)) = (reader.parsed.afternoon, reader.parsed.hour) {
        reader.parsed.hour = Some(hour % 12 + if afternoon { 12 } else { 0 });
    }
    reader.parsed.complete = reader.rest.is_empty();
    Some(reader.parsed)
}

struct Reader<'a> {
    rest: &'a str,
    parsed: Parsed,
}

impl Reader<'_> {
    fn read(&mut self, format: &str, depth: usize) -> Option<()> {
        if depth > 4 {
            return None;
        }
        let mut letters = format.chars().peekable();
        while let Some(letter) = letters.next() {
            if letter.is_whitespace() {
                self.rest = self.rest.trim_start();
                continue;
            }
            if letter != '%' {
                self.rest = self.rest.strip_prefix(letter)?;
                continue;
            }
            let mut directive = letters.next()?;
            while matches!(directive, 'E' | 'O' | ':' | '-' | '0' | '^' | '#' | '_') {
                directive = letters.next()?;
            }
            // Digits follow directly: a number may not take them all.
            let adjacent = match letters.peek() {
                Some(next) if next.is_ascii_digit() => true,
                Some('%') => {
                    let mut ahead = letters.clone();
                    ahead.next();
                    matches!(
                        ahead.next(),
                        Some(
                            'C' | 'D'
                                | 'd'
                                | 'e'
                                | 'F'
                                | 'G'
                                | 'g'
                                | 'H'
                                | 'I'
                                | 'j'
                                | 'k'
                                | 'L'
                                | 'l'
                                | 'M'
                                | 'm'
                                | 'N'
                                | 'Q'
                                | 'R'
                                | 'r'
                                | 'S'
                                | 's'
                                | 'T'
                                | 'U'
                                | 'u'
                                | 'V'
                                | 'v'
                                | 'W'
                                | 'w'
                                | 'X'
                                | 'x'
                                | 'Y'
                                | 'y'
                        )
                    )
                }
                _ => false,
            };
            self.directive(directive, adjacent, depth)?;
        }
        Some(())
    }

    fn directive(&mut self, letter: char, adjacent: bool, depth: usize) -> Option<()> {
        match letter {
            'Y' => {
                let (negative, rest) = match self.rest.strip_prefix('-') {
                    Some(rest) => (true, rest),
                    None => (false, self.rest.strip_prefix('+').unwrap_or(self.rest)),
                };
                self.rest = rest;
                let year = self.digits(if adjacent { 4 } else { 18 })?;
                self.parsed.year = Some(if negative { -year } else { year });
            }
            'y' => {
                let year = self.bounded(2, 0, 99)?;
                self.parsed.year = Some(i64::from(year) + if year < 69 { 2000 } else { 1900 });
            }
            'm' => self.parsed.month = Some(self.bounded(2, 1, 12)?),
            'd' | 'e' => {
                self.rest = self.rest.strip_prefix(' ').unwrap_or(self.rest);
                self.parsed.day = Some(self.bounded(2, 1, 31)?);
            }
            'H' | 'k' => {
                self.rest = self.rest.strip_prefix(' ').unwrap_or(self.rest);
                self.parsed.hour = Some(self.bounded(2, 0, 24)?);
            }
            'I' | 'l' => {
                self.rest = self.rest.strip_prefix(' ').unwrap_or(self.rest);
                self.parsed.hour = Some(self.bounded(2, 1, 12)?);
            }
            'M' => self.parsed.minute = Some(self.bounded(2, 0, 59)?),
            'S' => self.parsed.second = Some(self.bounded(2, 0, 60)?),
            'j' => {
                self.bounded(3, 1, 366)?;
            }
            'L' => self.fraction(if adjacent { 3 } else { usize::MAX })?,
            'N' => self.fraction(if adjacent { 9 } else { usize::MAX })?,
            'B' | 'b' | 'h' => self.parsed.month = Some(self.name(month_names())? as u32 + 1),
            'A' | 'a' => {
                self.name(day_names())?;
            }
            'p' | 'P' => {
                let text: String = self.rest.chars().take(4).collect::<String>().to_ascii_lowercase();
                let (length, afternoon) = match text.as_str() {
                    text if text.starts_with("a.m.") => (4, false),
                    text if text.starts_with("p.m.") => (4, true),
                    text if text.starts_with("am") => (2, false),
                    text if text.starts_with("pm") => (2, true),
                    _ => return None,
                };
                self.rest = &self.rest[length..];
                self.parsed.afternoon = Some(afternoon);
            }
            'z' | 'Z' => self.zone()?,
            'F' => self.read("%Y-%m-%d", depth + 1)?,
            'T' | 'X' => self.read("%H:%M:%S", depth + 1)?,
            'R' => self.read("%H:%M", depth + 1)?,
            'D' | 'x' => self.read("%m/%d/%y", depth + 1)?,
            'r' => self.read("%I:%M:%S %p", depth + 1)?,
            'c' => self.read("%a %b %e %H:%M:%S %Y", depth + 1)?,
            'v' => self.read("%e-%b-%Y", depth + 1)?,
            '+' => self.read("%a %b %e %H:%M:%S %Z %Y", depth + 1)?,
            'n' | 't' => self.rest = self.rest.trim_start(),
            '%' => self.rest = self.rest.strip_prefix('%')?,
            _ => return None,
        }
        Some(())
    }

    fn digits(&mut self, max: usize) -> Option<i64> {
        let count = self.rest.bytes().take(max).take_while(u8::is_ascii_digit).count();
        let number = self.rest[..count].parse().ok()?;
        self.rest = &self.rest[count..];
        Some(number)
    }

    fn bounded(&mut self, max: usize, low: u32, high: u32) -> Option<u32> {
        let number = u32::try_from(self.digits(max)?).ok()?;
        (low..=high).contains(&number).then_some(number)
    }

    fn fraction(&mut self, max: usize) -> Option<()> {
        let count = self.rest.bytes().take(max).take_while(u8::is_ascii_digit).count();
        if count == 0 {
            return None;
        }
        let digits: String = self.rest[..count].chars().chain("000000000".chars()).take(9).collect();
        self.parsed.nanos = Some(digits.parse().ok()?);
        self.rest = &self.rest[count..];
        Some(())
    }

    /// A full name or its first three letters.
    fn name(&mut self, names: &[&str]) -> Option<usize> {
        let lower = self.rest.to_ascii_lowercase();
        for (index, name) in names.iter().enumerate() {
            let name = name.to_ascii_lowercase();
            let length = if lower.starts_with(&name) {
                name.len()
            } else if lower.starts_with(&name[..3]) {
                3
            } else {
                continue;
            };
            self.rest = &self.rest[length..];
            return Some(index);
        }
        None
    }

    fn zone(&mut self) -> Option<()> {
        let text = self.rest;
        let lower = text.to_ascii_lowercase();
        let prefix = if lower.starts_with("gmt") || lower.starts_with("utc") { 3 } else { 0 };
        let signed = text[prefix..].starts_with(['+', '-']);
        let end = if signed {
            prefix
                + 1
                + text[prefix + 1..]
                    .bytes()
                    .take_while(|byte| byte.is_ascii_digit() || matches!(byte, b':' | b',' | b'.'))
                    .count()
        } else {
            let word = text.bytes().take_while(|byte| byte.is_ascii_alphabetic() || *byte == b'.').count();
            // Some names have two words: `EST DST`, `Mountain Standard Time`.
            let rest = &lower[word..];
            match [" standard time", " daylight time", " dst"].into_iter().find(|tail| rest.starts_with(tail))
            {
                Some(tail) => word + tail.len(),
                None => word,
            }
        };
        if end == 0 {
            return None;
        }
        self.parsed.zone = Some(text[..end].to_owned());
        self.rest = &text[end..];
        Some(())
    }
}
