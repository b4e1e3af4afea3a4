//! Source lines with what is marked in them.

use minijinja::Value;
use serde::Serialize;
use setpoint_source::print::{Frame, Mark, frames};
use setpoint_source::{Diagnostic, Sources};

use crate::markup::{escaped, sentence};

/// Of a mark over many lines so many are shown at its begin and at its end.
const HEAD: usize = 5;
const TAIL: usize = 2;

/// Lines of one file.
#[derive(Debug, Serialize)]
pub(crate) struct Shown {
    path: String,
    lines: Vec<Line>,
}

#[derive(Debug, Serialize)]
struct Line {
    /// None where lines are left out.
    number: Option<usize>,
    html: Value,
    labels: Vec<Label>,
}

#[derive(Debug, Serialize)]
struct Label {
    class: &'static str,
    /// So that it stands below its mark.
    indent: String,
    html: Value,
}

pub(crate) fn shown(finding: &Diagnostic, sources: &Sources) -> Vec<Shown> {
    frames(finding, sources).iter().map(shown_frame).collect()
}

fn shown_frame(frame: &Frame<'_>) -> Shown {
    let text = frame.text.as_str();
    let mut starts: Vec<usize> = vec![0];
    starts.extend(text.match_indices('\n').map(|(at, _)| at + 1));
    let line_of = |offset: usize| starts.partition_point(|&start| start <= offset).saturating_sub(1);
    let mut kept = vec![false; starts.len()];
    for mark in &frame.marks {
        let (first, last) = (line_of(mark.start), line_of(mark.end.max(mark.start + 1) - 1));
        for at in (first..=last).filter(|&at| at < first + HEAD || at + TAIL > last) {
            kept[at] = true;
        }
    }
    // One line that is left out would take as much room as the line.
    for at in 1..kept.len().saturating_sub(1) {
        kept[at] |= kept[at - 1] && kept[at + 1];
    }
    let mut lines: Vec<Line> = Vec::new();
    for (at, &start) in starts.iter().enumerate() {
        if !kept[at] {
            if lines.last().is_some_and(|line| line.number.is_some()) {
                lines.push(Line { number: None, html: Value::from("⋯"), labels: Vec::new() });
            }
            continue;
        }
        let end = starts.get(at + 1).map_or(text.len(), |next| next - 1);
        let here = frame.marks.iter().filter(|mark| line_of(mark.start) == at && !mark.text.is_empty());
        let labels = here
            .map(|mark| Label {
                class: class(mark.primary),
                indent: blanks(&text[start..mark.start.clamp(start, end)]),
                html: sentence(mark.text),
            })
            .collect();
        lines.push(Line {
            number: Some(frame.first_line + at),
            html: Value::from_safe_string(marked(frame, start, end)),
            labels,
        });
    }
    Shown { path: frame.file.path().to_owned(), lines }
}

fn class(primary: bool) -> &'static str {
    if primary { "primary" } else { "other" }
}

/// As wide as the text.
fn blanks(text: &str) -> String {
    text.chars().map(|letter| if letter == '\t' { '\t' } else { ' ' }).collect()
}

/// One line, cut where marks begin and end. Where two overlap, the primary one is seen.
fn marked(frame: &Frame<'_>, start: usize, end: usize) -> String {
    let text = frame.text.as_str();
    let next = |at: usize| text[at..end].chars().next().map_or(at, |letter| at + letter.len_utf8());
    let mut ranges: Vec<(usize, usize, &Mark)> = Vec::new();
    for mark in &frame.marks {
        // A place between two letters is shown as the letter after it.
        let is_here = mark.start <= end && mark.end >= start;
        let (first, last) = (mark.start.clamp(start, end), mark.end.clamp(start, end));
        let last = if mark.start == mark.end && is_here { next(first) } else { last };
        if is_here && first < last {
            ranges.push((first, last, mark));
        }
    }
    let mut cuts: Vec<usize> =
        ranges.iter().flat_map(|range| [range.0, range.1]).chain([start, end]).collect();
    cuts.sort_unstable();
    cuts.dedup();
    let mut out = String::new();
    for pair in cuts.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        let piece = escaped(text[from..to].trim_end_matches('\r'));
        let over: Vec<&Mark> = ranges
            .iter()
            .filter(|(first, last, _)| *first <= from && to <= *last)
            .map(|(.., mark)| *mark)
            .collect();
        let seen = over.iter().find(|mark| mark.primary).or(over.first());
        match seen.filter(|_| !piece.trim().is_empty()) {
            None => out.push_str(&piece),
            Some(mark) => {
                // The blanks before marked text are no part of what is meant.
                let bare = piece.trim_start();
                let long = if text[mark.start..mark.end].contains('\n') { " long" } else { "" };
                out.push_str(&piece[..piece.len() - bare.len()]);
                out.push_str(&format!("<mark class=\"{}{long}\">{bare}</mark>", class(mark.primary)));
            }
        }
    }
    out
}
