//! The pieces of source that a diagnostic is about.

use std::sync::Arc;

use crate::{Diagnostic, FileId, SourceFile, Sources, Span};

/// The lines of one file that are shown, and what is marked in them.
#[derive(Debug)]
pub struct Frame<'a> {
    id: FileId,
    pub file: Arc<SourceFile>,
    pub first_line: usize,
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
        let here = || marked.iter().filter(|(other, ..)| other.file == span.file);
        let file = sources.shown(span.file);
        let text = file.text();
        let limit = |offset: u32| floor_boundary(text, offset as usize);
        let first = here().map(|(span, ..)| limit(span.range.start)).min().unwrap_or(0);
        let last =
            here().map(|(span, ..)| limit(span.range.end).max(limit(span.range.start))).max().unwrap_or(0);
        let begin = text[..first].rfind('\n').map_or(0, |at| at + 1);
        let end = text[last..].find('\n').map_or(text.len(), |at| last + at);
        let marks = here()
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
