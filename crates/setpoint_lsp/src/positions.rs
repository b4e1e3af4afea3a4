//! Offsets in bytes, and the lines and columns of the protocol.

use lsp_types::{Position, PositionEncodingKind};
use setpoint_source::Range;

/// What a column counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Encoding {
    #[default]
    Utf16,
    Utf8,
}

impl Encoding {
    /// UTF-8 if the editor offers it: it needs no counting.
    pub(crate) fn of(offered: Option<&Vec<PositionEncodingKind>>) -> Self {
        let has_utf8 = offered.is_some_and(|offered| offered.contains(&PositionEncodingKind::UTF8));
        if has_utf8 { Self::Utf8 } else { Self::Utf16 }
    }

    pub(crate) fn kind(self) -> PositionEncodingKind {
        match self {
            Self::Utf16 => PositionEncodingKind::UTF16,
            Self::Utf8 => PositionEncodingKind::UTF8,
        }
    }

    fn width(self, letter: char) -> u32 {
        match self {
            Self::Utf16 => letter.len_utf16() as u32,
            Self::Utf8 => letter.len_utf8() as u32,
        }
    }
}

/// A text, cut into lines as the protocol cuts it: at `\n`, `\r\n` and `\r`.
#[derive(Debug)]
pub(crate) struct Lines<'t> {
    text: &'t str,
    encoding: Encoding,
    starts: Vec<usize>,
}

impl<'t> Lines<'t> {
    pub(crate) fn new(text: &'t str, encoding: Encoding) -> Self {
        let bytes = text.as_bytes();
        let ends_line = |at: usize| match bytes[at] {
            b'\n' => true,
            b'\r' => bytes.get(at + 1) != Some(&b'\n'),
            _ => false,
        };
        let after = (0..bytes.len()).filter(|at| ends_line(*at)).map(|at| at + 1);
        Self { text, encoding, starts: std::iter::once(0).chain(after).collect() }
    }

    /// The place of an offset; one beyond the text or within a letter is moved back.
    pub(crate) fn position(&self, offset: u32) -> Position {
        let mut offset = (offset as usize).min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.starts.partition_point(|start| *start <= offset).saturating_sub(1);
        let before = self.text.get(self.starts[line]..offset).unwrap_or("");
        let column = before.chars().map(|letter| self.encoding.width(letter)).sum();
        Position { line: line as u32, character: column }
    }

    /// The offset of a place; one beyond its line is the end of the line, one beyond the text its end.
    pub(crate) fn offset(&self, position: Position) -> u32 {
        let Some(&start) = self.starts.get(position.line as usize) else { return self.text.len() as u32 };
        let end = self.starts.get(position.line as usize + 1).copied().unwrap_or(self.text.len());
        let line = self.text.get(start..end).unwrap_or("").trim_end_matches(['\n', '\r']);
        let mut column = 0;
        for (at, letter) in line.char_indices() {
            column += self.encoding.width(letter);
            if column > position.character {
                return (start + at) as u32;
            }
        }
        (start + line.len()) as u32
    }

    pub(crate) fn range(&self, range: Range) -> lsp_types::Range {
        let start = self.position(range.start);
        lsp_types::Range { start, end: self.position(range.end).max(start) }
    }

    /// The offsets of a range; one that ends before it starts is empty.
    pub(crate) fn offsets(&self, range: lsp_types::Range) -> Range {
        let start = self.offset(range.start);
        Range { start, end: self.offset(range.end).max(start) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "aä😀z\r\nb\rc\n\ne😀";

    fn at(line: u32, character: u32) -> Position {
        Position { line, character }
    }

    #[test]
    fn columns_count_what_was_agreed_on() {
        let utf16 = Lines::new(TEXT, Encoding::Utf16);
        let utf8 = Lines::new(TEXT, Encoding::Utf8);
        let z = TEXT.find('z').expect("a z") as u32;
        assert_eq!(utf16.position(z), at(0, 4));
        assert_eq!(utf8.position(z), at(0, 7));
        assert_eq!(utf16.position(TEXT.find('c').expect("a c") as u32), at(2, 0));
        assert_eq!(utf16.position(999), at(4, 3));
    }

    #[test]
    fn every_offset_survives_the_way_to_a_place_and_back() {
        for encoding in [Encoding::Utf16, Encoding::Utf8] {
            let lines = Lines::new(TEXT, encoding);
            for (offset, letter) in TEXT.char_indices() {
                // Between `\r` and `\n` there is no place.
                if letter != '\n' || !TEXT[..offset].ends_with('\r') {
                    assert_eq!(lines.offset(lines.position(offset as u32)), offset as u32, "{offset}");
                }
            }
        }
    }

    #[test]
    fn a_place_that_is_none_is_the_nearest_before_it() {
        let lines = Lines::new(TEXT, Encoding::Utf16);
        assert_eq!(lines.offset(at(0, 99)), 8, "the end of the line");
        assert_eq!(lines.offset(at(99, 0)), TEXT.len() as u32);
        assert_eq!(lines.offset(at(0, 3)), 3, "half of a letter");
        assert_eq!(Lines::new("", Encoding::Utf16).offset(at(0, 5)), 0);
        let backwards = lsp_types::Range { start: at(2, 0), end: at(0, 0) };
        assert_eq!(lines.offsets(backwards), Range::new(12, 12));
    }
}
