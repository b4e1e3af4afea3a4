//! A report as one HTML page for people: what was asked, what was found and why, what was not decided.
//!
//! The page needs nothing else: no script, no network, no other file. It is made of a [`Report`] alone, so that it says
//! what the other printers say. All that comes from inputs is escaped in one place, by the template engine. It knows no
//! input language, reads no file and no clock.

mod findings;
mod frame;
mod graphs;
mod markup;
mod page;
mod patch;
mod story;
mod verdicts;

#[cfg(test)]
mod tests;

use setpoint_source::{Report, Sources};

pub use graphs::MAX_NODES;
pub use patch::patch;

/// What a page says besides what was found.
#[derive(Debug, Clone, Default)]
pub struct About {
    /// The version of the program.
    pub version: String,
    /// The inputs as the user named them.
    pub inputs: Vec<String>,
    /// The options that were given, with their values.
    pub options: Vec<(String, String)>,
    /// When it was made, in the user's own words.
    pub date: Option<String>,
}

/// The page. It fails only if the template is wrong.
pub fn html(report: &Report, sources: &Sources, about: &About) -> Result<String, String> {
    page::render(&page::Page::new(report, sources, about)).map_err(|error| format!("{error:#}"))
}

/// `1 error`, `2 errors`.
fn counted(count: usize, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}
