//! Printers: each turns diagnostics or a report into text for one reader.

mod frame;
mod github;
mod json;
mod sarif;
mod text;

pub use frame::{Frame, Mark, frames};
pub use github::github;
pub use json::{json, location};
pub use sarif::sarif;
pub use text::{diagnostic, text};
