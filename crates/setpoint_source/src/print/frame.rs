//! The pieces of source that a diagnostic is about.

use std::sync::Arc;

use crate::{Diagnostic, FileId, SourceFile, Sources, Span};

/// Longer stretches of source are not shown: they would be looked through for each finding in them.
const MAX_SHOWN_BYTES: usize = 256 * 1024;
/// A file of one line, as programs write JSON, would be shown whole for each finding in it.
const MAX_LINE_BYTES: usize = 16 * 1024;

/// The lines of one file that are shown, and what is marked in them.
#[derive(Debug)]
pub struct Frame<'a> {
    id: FileId,
    pub file: Arc<SourceFile>,
    pub first_line: usize,
    /// Nothing, as there are no marks, if it is too long.
    pub text: String,
    pub marks: Vec<Mark<'a>>,
}

/// A stretch of bytes of a frame's text, and what is said there.
#[derive(Debug)]
pub struct Mark<'a> {
    pub start: usize,
    pub end: usize,
    pub text: &'a str,
    pub primary: bool,
}

/// One frame a file, in the order in which the diagnostic names them. Only the lines between the first and the
/// last mark are copied, so that a finding in a large file costs little.
pub fn frames<'a>(diagnostic: &'a Diagnostic, sources: &Sources) -> Vec<Frame<'a>> {
    let primary = diagnostic.span.map(|span| (span, diagnostic.label.as_str(), true));
    let others = diagnostic.labels.iter().map(|label| (label.span, label.text.as_str(), false));
    let marked: Vec<(Span, &str, bool)> = primary.into_iter().chain(others).collect();
    let mut frames: Vec<Frame> = Vec::new();
    for &(span, ..) in &marked {
        if frames.iter().any(|frame| frame.id == span.file) {
            continue;
        }
        let of_file = || marked.iter().filter(|(other, ..)| other.file == span.file);
        let file = sources.shown(span.file);
        let text = file.text();
        let limit = |offset: u32| floor_boundary(text, offset as usize);
        let lines_of = |first: usize, last: usize| {
            let begin = text[..first].rfind('\n').map_or(0, |at| at + 1);
            (begin, text[last..].find('\n').map_or(text.len(), |at| last + at))
        };
        // What lies far from the first place is not shown beside it.
        let (near, _) = lines_of(limit(span.range.start), limit(span.range.start));
        let here = || {
            of_file().filter(|(other, ..)| {
                limit(other.range.start).abs_diff(near).max(limit(other.range.end).abs_diff(near))
                    < MAX_SHOWN_BYTES
            })
        };
        let first = here().map(|(span, ..)| limit(span.range.start)).min().unwrap_or(near);
        let last =
            here().map(|(span, ..)| limit(span.range.end).max(limit(span.range.start))).max().unwrap_or(near);
        let (begin, end) = lines_of(first, last);
        let is_long = |line: &str| line.len() > MAX_LINE_BYTES;
        if here().next().is_none()
            || end - begin > 2 * MAX_SHOWN_BYTES
            || text[begin..end].split('\n').any(is_long)
        {
            let first_line = file.line(limit(span.range.start) as u32) as usize;
            frames.push(Frame { id: span.file, first_line, text: String::new(), marks: Vec::new(), file });
            continue;
        }
        let marks: Vec<Mark> = here()
            .map(|&(span, text, primary)| {
                let start = limit(span.range.start) - begin;
                Mark { start, end: limit(span.range.end).saturating_sub(begin).max(start), text, primary }
            })
            .collect();
        let first_line = file.line(begin as u32) as usize;
        frames.push(Frame { id: span.file, first_line, text: text[begin..end].to_owned(), marks, file });
    }
    frames
}

/// The largest character boundary at or below `offset`.
fn floor_boundary(text: &str, offset: usize) -> usize {
    (0..=offset.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}
