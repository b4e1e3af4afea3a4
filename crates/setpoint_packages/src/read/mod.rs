//! The formats in which facts about packages are published.
