//! The files that the production compiler ships and specifications include by name.

/// A file of the library.
pub(crate) struct LibraryFile {
    pub(crate) text: &'static str,
    /// How many of the names for `--` the file takes in the production compiler.
    pub(crate) unique_names: usize,
}

pub(crate) fn file(name: &str) -> Option<LibraryFile> {
    let (text, unique_names) = match name {
        "org/smartfrog/functions.sf" => (include_str!("library/functions.sf"), 21),
        "org/smartfrog/predicates.sf" => (include_str!("library/predicates.sf"), 0),
        _ => return None,
    };
    Some(LibraryFile { text, unique_names })
}
