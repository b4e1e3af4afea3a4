//! The files that the production compiler ships and specifications include by name.

/// The text of a file of the library.
pub(crate) fn file(name: &str) -> Option<&'static str> {
    match name {
        "org/smartfrog/functions.sf" => Some(include_str!("library/functions.sf")),
        "org/smartfrog/predicates.sf" => Some(include_str!("library/predicates.sf")),
        _ => None,
    }
}

/// The names for `--` that a file of the library takes in the production compiler, on average.
pub(crate) const UNIQUE_NAMES: usize = 10;
