//! Spans of time as text: `%D-%H:%M:%S.%-N`.

use super::{NANOS_PER_SECOND, Timespan};
use crate::error::ValueError;
use crate::padding::{fill_after, fill_before};

/// The formats that are tried in turn when none is given.
pub(crate) const DEFAULT_FORMATS: [&str; 8] =
    ["%D-%H:%M:%S.%-N", "%H:%M:%S.%-N", "%M:%S.%-N", "%S.%-N", "%D-%H:%M:%S", "%H:%M:%S", "%D-%H:%M", "%S"];

/// Units from the smallest; the largest in a format takes all that is left.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Unit {
    Nanosecond,
    Millisecond,
    Second,
    Minute,
    Hour,
    Day,
}

impl Unit {
    fn nanos(self) -> i128 {
        match self {
            Self::Nanosecond => 1,
            Self::Millisecond => 1_000_000,
            Self::Second => NANOS_PER_SECOND,
            Self::Minute => 60 * NANOS_PER_SECOND,
            Self::Hour => 3600 * NANOS_PER_SECOND,
            Self::Day => 86400 * NANOS_PER_SECOND,
        }
    }

    /// How many make one of the next unit.
    fn modulus(self) -> i128 {
        match self {
            Self::Nanosecond => NANOS_PER_SECOND,
            Self::Millisecond => 1000,
            Self::Second | Self::Minute => 60,
            Self::Hour => 24,
            Self::Day => i128::MAX,
        }
    }

    fn default_width(self) -> usize {
        match self {
            Self::Nanosecond => 9,
            Self::Millisecond => 3,
            Self::Second | Self::Minute | Self::Hour => 2,
            Self::Day => 1,
        }
    }

    /// After a decimal point: zeros in front count, zeros at the end do not.
    fn is_fraction(self) -> bool {
        self <= Self::Millisecond
    }
}

#[derive(Clone, Debug)]
enum Segment {
    Literal(String),
    Value { unit: Unit, pad: Option<char>, width: Option<usize>, total: bool },
}

impl Timespan {
    /// Formatted by `%D`, `%H`, `%M`, `%S`, `%L` and `%N`.
    pub fn format(self, format: &str) -> Result<String, ValueError> {
        let segments = parse_format(format)?;
        let total = self.nanos().abs();
        let mut out = String::new();
        if self.nanos() < 0 {
            out.push('-');
        }
        for segment in &segments {
            match segment {
                Segment::Literal(text) => out.push_str(text),
                Segment::Value { unit, pad, width, total: use_total } => {
                    out.push_str(&value_text(total, *unit, *pad, *width, *use_total));
                }
            }
        }
        Ok(out)
    }

    /// Read by the first of several formats that fits.
    pub fn parse(text: &str, formats: &[&str]) -> Result<Self, ValueError> {
        for format in formats {
            if let Ok(span) = Self::parse_one(text, format) {
                return Ok(span);
            }
        }
        let formats = formats.join(", ");
        Err(ValueError::new(format!("Unable to parse '{text}' using any of the formats {formats}")))
    }

    /// Read by one format.
    pub fn parse_one(text: &str, format: &str) -> Result<Self, ValueError> {
        let failed = || ValueError::new(format!("Unable to parse '{text}' using format '{format}'"));
        let segments = parse_format(format)?;
        let (negative, rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let letters: Vec<char> = rest.chars().collect();
        let mut groups = Vec::new();
        if !match_segments(&segments, &letters, 0, &mut groups) {
            return Err(failed());
        }
        let mut nanos: i128 = 0;
        let values = segments.iter().filter_map(|segment| match segment {
            Segment::Value { unit, total, .. } => Some((*unit, *total)),
            Segment::Literal(_) => None,
        });
        for ((unit, total), group) in values.zip(&groups) {
            let digits = group.trim_start();
            if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err(failed());
            }
            let number: i128 = digits.parse().map_err(|_| failed())?;
            nanos = nanos.saturating_add(if unit.is_fraction() {
                if total {
                    return Err(ValueError::new(
                        "Format specifiers %L and %N denotes fractions and must be used together with a specifier of \
                         higher magnitude",
                    ));
                }
                let missing = 9_usize.saturating_sub(digits.len());
                number.saturating_mul(10_i128.pow(missing as u32))
            } else {
                number.saturating_mul(unit.nanos())
            });
        }
        Self::from_nanos(if negative { -nanos } else { nanos }).ok_or_else(failed)
    }
}

fn value_text(total: i128, unit: Unit, pad: Option<char>, width: Option<usize>, use_total: bool) -> String {
    let shown = width.unwrap_or(unit.default_width());
    let mut number = if unit == Unit::Nanosecond {
        if shown < 9 {
            let scaled = total / 10_i128.pow((9 - shown) as u32);
            if use_total { scaled } else { scaled % 10_i128.pow(shown as u32) }
        } else if use_total {
            total
        } else {
            total % NANOS_PER_SECOND
        }
    } else if use_total || unit == Unit::Day {
        total / unit.nanos()
    } else {
        total / unit.nanos() % unit.modulus()
    };
    if unit.is_fraction() {
        if !use_total && pad != Some('0') {
            while number != 0 && number % 10 == 0 {
                number /= 10;
            }
        }
        return if pad.is_none() { number.to_string() } else { fill_after(&number.to_string(), shown, ' ') };
    }
    match pad {
        None => number.to_string(),
        Some(' ') => fill_before(&number.to_string(), shown, ' '),
        Some(_) => fill_before(&number.to_string(), shown, '0'),
    }
}

/// Matches the rest of the text against the rest of the segments, longest digits first.
fn match_segments(segments: &[Segment], text: &[char], at: usize, groups: &mut Vec<String>) -> bool {
    let Some((segment, rest)) = segments.split_first() else { return at == text.len() };
    match segment {
        Segment::Literal(literal) => {
            let literal: Vec<char> = literal.chars().collect();
            text.get(at..at + literal.len()) == Some(literal.as_slice())
                && match_segments(rest, text, at + literal.len(), groups)
        }
        Segment::Value { unit, pad, width, total } => {
            let blanks = *pad == Some(' ');
            let default = unit.default_width();
            let (min, max, skip) = match (width, pad) {
                (Some(width), None) => (1, *width, false),
                (Some(width), Some(_)) => (*width, *width, false),
                (None, Some(' ')) if *total => (1, usize::MAX, true),
                (None, _) if *total => (1, usize::MAX, false),
                (None, _) => (1, default, false),
            };
            let mut start = at;
            while skip && text.get(start).is_some_and(|letter| letter.is_whitespace()) {
                start += 1;
            }
            let fits = |letter: &char| letter.is_ascii_digit() || (blanks && !skip && letter.is_whitespace());
            let available =
                text[start.min(text.len())..].iter().take(max).take_while(|letter| fits(letter)).count();
            for count in (min..=available).rev() {
                groups.push(text[start..start + count].iter().collect());
                if match_segments(rest, text, start + count, groups) {
                    return true;
                }
                groups.pop();
            }
            false
        }
    }
}

fn parse_format(format: &str) -> Result<Vec<Segment>, ValueError> {
    let letters: Vec<char> = format.chars().collect();
    let mut segments: Vec<Segment> = Vec::new();
    let mut highest: Option<Unit> = None;
    let mut at = 0;
    let literal = |segments: &mut Vec<Segment>, letter: char| match segments.last_mut() {
        Some(Segment::Literal(text)) => text.push(letter),
        _ => segments.push(Segment::Literal(letter.to_string())),
    };
    while at < letters.len() {
        if letters[at] != '%' {
            literal(&mut segments, letters[at]);
            at += 1;
            continue;
        }
        let start = at;
        let (mut pad, mut width, mut at_pad) = (Some('0'), None::<usize>, true);
        let bad = |position: usize| {
            let expression: String = letters[start..position.min(letters.len())].iter().collect();
            ValueError::new(format!(
                "Bad format specifier '{expression}' in '{format}', at position {position}"
            ))
        };
        at += 1;
        loop {
            let Some(letter) = letters.get(at).copied() else { return Err(bad(letters.len() - 1)) };
            let unit = match letter {
                '%' => {
                    literal(&mut segments, '%');
                    at += 1;
                    break;
                }
                '-' | '_' => {
                    if !at_pad {
                        return Err(bad(at));
                    }
                    pad = (letter == '_').then_some(' ');
                    None
                }
                'D' => Some(Unit::Day),
                'H' => Some(Unit::Hour),
                'M' => Some(Unit::Minute),
                'S' => Some(Unit::Second),
                'L' => Some(Unit::Millisecond),
                'N' => Some(Unit::Nanosecond),
                '0'..='9' => {
                    if at_pad && letter == '0' {
                        pad = Some('0');
                    } else {
                        let digit = letter.to_digit(10).unwrap_or(0) as usize;
                        width = Some(width.unwrap_or(0).saturating_mul(10).saturating_add(digit).min(1000));
                    }
                    None
                }
                _ => return Err(bad(at)),
            };
            at_pad = false;
            at += 1;
            if let Some(unit) = unit {
                highest = highest.max(Some(unit));
                segments.push(Segment::Value { unit, pad, width, total: false });
                break;
            }
        }
    }
    for segment in &mut segments {
        if let Segment::Value { unit, total, .. } = segment
            && Some(*unit) == highest
        {
            *total = true;
            break;
        }
    }
    Ok(segments)
}
