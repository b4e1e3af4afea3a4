//! YAML and JSON as one tree in which every node knows its place.
//!
//! CloudFormation, TOSCA and Hiera data are read through this crate. It keeps tags and the style of scalars, and leaves
//! their meaning to the reader: `yes` is the text `yes`. Reading never fails: what could be read is in the tree, the
//! rest in the diagnostics. The crate knows no schema and no input language.

mod json;
mod node;
mod yaml;

pub use node::{Document, Entry, Kind, Node, Style};

use setpoint_source::{FileId, Limit, Severity};
use yaml::Keys;
pub use yaml::UNKNOWN_ALIAS;

/// Deeper nesting is refused, so that readers may recurse over a tree.
pub const MAX_DEPTH: Limit = Limit::new(500);

/// Aliases may make a tree of at most so many nodes out of a small text.
pub const MAX_NODES: Limit = Limit::new(2_000_000);

/// Reads JSON where the text begins like JSON and is JSON, else YAML.
pub fn read(file: FileId, text: &str) -> Document {
    if text.trim_start_matches('\u{feff}').trim_start().starts_with(['{', '[']) {
        let document = json::read(file, text);
        if document.diagnostics.iter().all(|diagnostic| diagnostic.severity < Severity::Error) {
            return document;
        }
        let yaml = yaml::read(file, text, Keys::Merged);
        let readable = yaml.diagnostics.iter().all(|diagnostic| diagnostic.severity < Severity::Error);
        return if readable { yaml } else { document };
    }
    yaml::read(file, text, Keys::Merged)
}

/// Reads YAML, the last of several documents excluded: only the first counts.
pub fn read_yaml(file: FileId, text: &str) -> Document {
    yaml::read(file, text, Keys::Merged)
}

/// Reads YAML and leaves `<<` and keys that stand twice as they are written, for a reader with rules of its own.
pub fn read_yaml_as_written(file: FileId, text: &str) -> Document {
    yaml::read(file, text, Keys::AsWritten)
}

pub fn read_json(file: FileId, text: &str) -> Document {
    json::read(file, text)
}
