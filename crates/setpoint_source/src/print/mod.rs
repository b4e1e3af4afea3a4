//! Printers: each turns diagnostics or a report into text for one reader.

mod frame;
mod github;
mod gitlab;
mod json;
mod junit;
mod lines;
mod sarif;
mod text;
mod visible;

use crate::{Diagnostic, InputReport, Report};

pub use frame::{Frame, Mark, frames};
pub use github::github;
pub use gitlab::gitlab;
pub use json::{json, location};
pub use junit::junit;
pub use lines::{concise, statistics};
pub use sarif::sarif;
pub use text::{Detail, diagnostic, text};
pub use visible::{is_hidden, visible};

/// The name by which services recognise a finding in another run; the node is that of the finding's input.
pub type Fingerprint<'a> = &'a dyn Fn(&Diagnostic, Option<&str>) -> String;

/// The findings of a report, each with its input: what has no place of its own is shown at the input.
fn located(report: &Report) -> impl Iterator<Item = (&InputReport, &Diagnostic)> {
    report.inputs.iter().flat_map(|input| input.findings.iter().map(move |finding| (input, finding)))
}

/// A path as services compare it with those of a repository: without `./` before it.
fn relative(path: &str) -> &str {
    let mut path = path;
    while let Some(rest) = path.strip_prefix("./") {
        path = rest.trim_start_matches('/');
    }
    path
}
