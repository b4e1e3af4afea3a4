//! Printers: each turns diagnostics or a report into text for one reader.

mod github;
mod json;
mod sarif;
mod text;

pub use github::github;
pub use json::{json, location};
pub use sarif::sarif;
pub use text::{diagnostic, text};
