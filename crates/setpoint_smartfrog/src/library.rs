//! The files of SmartFrog's core that specifications include by name, as far as they are declarations.

/// Sections, each with the name of a file after [`HEADER`].
static STANDARD: &str = include_str!("library/standard.sf");
const HEADER: &str = "//- ";

/// Returns the text of the built-in file of a name on the class path.
pub(crate) fn file(name: &str) -> Option<&'static str> {
    sections().find(|(section, _)| *section == name).map(|(_, text)| text)
}

/// Returns the names of the built-in files, as they are included.
pub fn names() -> impl Iterator<Item = &'static str> {
    sections().map(|(name, _)| name)
}

fn sections() -> impl Iterator<Item = (&'static str, &'static str)> {
    STANDARD.split(HEADER).skip(1).filter_map(|section| section.split_once('\n'))
}
