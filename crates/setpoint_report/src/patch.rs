//! Repairs as patches.

use serde::Serialize;
use setpoint_source::{Fix, SourceFile, Sources};
use similar::TextDiff;

/// What changes in a file, as people and `git apply` read it.
pub fn patch(file: &SourceFile, changed: &str) -> String {
    let relative = file.path().trim_start_matches('/');
    let diff = TextDiff::from_lines(file.text(), changed);
    diff.unified_diff().header(&format!("a/{relative}"), &format!("b/{relative}")).to_string()
}

/// A line of a patch, and what it does.
#[derive(Debug, Serialize)]
pub(crate) struct PatchLine {
    class: &'static str,
    text: String,
}

/// The patch of one fix, over all files that it changes.
pub(crate) fn lines(fix: &Fix, sources: &Sources) -> Vec<PatchLine> {
    let mut out = Vec::new();
    for (file, edits) in Fix::by_file(&fix.edits) {
        let file = sources.file(file);
        let patch = sources.secrets().mask(&patch(&file, &Fix::apply(&edits, file.text()))).into_owned();
        out.extend(patch.lines().enumerate().map(|(at, line)| PatchLine {
            class: match line.as_bytes().first() {
                // The two lines that name the file.
                _ if at < 2 => "file",
                Some(b'@') => "hunk",
                Some(b'+') => "added",
                Some(b'-') => "removed",
                _ => "same",
            },
            text: line.to_owned(),
        }));
    }
    out
}
